"""export_figures.py [--late] [--ended] STATS FILE...: compares what `edenscope export` answered with the lines of
EDEN_STATS: sums over all heaps are equal, exactly. --late: attached late, so histograms lack what was before. --ended: the
heaps have no sizes any more."""
import argparse
import collections
import json

from metrics import samples

GAUGES = {"eden_size": "_bytes", "survivor_used": "_bytes", "old_used": "_bytes", "old_capacity": "_bytes",
          "remembered_now": ""}
parser = argparse.ArgumentParser()
parser.add_argument("--late", action="store_true")
parser.add_argument("--ended", action="store_true")
parser.add_argument("stats")
parser.add_argument("files", nargs="+")
chosen = parser.parse_args()
sums, causes = collections.Counter(), collections.Counter()
with open(chosen.stats, encoding="utf-8") as lines:
    heaps = [json.loads(line) for line in lines]
for heap in heaps:
    del heap["pid"], heap["heap"]
    sums.update({name: value for name, value in heap.items() if isinstance(value, int)})
    causes.update(heap["full_by_cause"])
for file in chosen.files:
    found = collections.defaultdict(list)
    with open(file, encoding="utf-8") as text:
        for (name, labels), value in samples(text.read()).items():
            found[name].append((dict(labels), value))
    nanoseconds = {name: [round(float(value) * 1e9) for _, value in found[name]] for name in found if "_seconds" in name}
    for name, value in sums.items():
        if name in GAUGES:
            shown = found[f"eden_heap_{name}{GAUGES[name]}"]
            assert chosen.ended or int(shown[0][1]) == value, name
        elif name == "max_pause_ns":
            longest = max(nanoseconds["eden_heap_max_pause_seconds"])
            assert longest == max(heap[name] for heap in heaps), (name, longest)
        elif name.endswith("_ns"):
            seen = sum(nanoseconds[f"eden_{name[:-3]}_seconds_total"])
            assert seen == value, (file, name, value, seen)
        else:
            seen = sum(int(count) for _, count in found[f"eden_{name}_total"])
            assert seen == value, (file, name, value, seen)
    assert len(sums) > 20, sums
    by_cause = collections.Counter()
    for labels, value in found["eden_full_collections_by_cause_total"]:
        by_cause[labels["cause"]] += int(value)
    assert +by_cause == +causes, (file, by_cause, causes)
    calls = {labels["phase"]: int(value) for labels, value in found["eden_phase_seconds_count"]}
    assert chosen.late or len(heaps) > 1 or (calls["scavenge"], calls["full"]) == (
        sums["scavenges"], sums["full_collections"]), calls
    assert int(found["edenscope_events_lost_total"][0][1]) == 0
print(f"{len(heaps)} heaps agree")
