#!/usr/bin/env bash
# edenscope report --view pauses: its figures are those of the single events, worked out here in another way; the longest
# pause and their sum are the program's own. So are the sums of the timeline.
# shellcheck source=tests/e2e/common.sh
. "$(dirname "$0")/common.sh"

need_edenscope
enter_folder

EDEN_STATS=own "$scope" record -- "$exercise" >/dev/null 2>&1
"$scope" report --view pauses --json >pauses.json
"$scope" report --json >report.json
"$scope" script --json >events.json
python3 - <<'PYTHON'
import bisect, collections, json, math, sqlite3
own = {}
for line in open("own"):
    heap = json.loads(line)
    own[heap["pid"], heap["heap"]] = heap
start = int(sqlite3.connect("eden.data").execute("SELECT value FROM meta WHERE key = 'mono_ns'").fetchone()[0])
end = start + json.load(open("report.json"))["wall_ns"]
pauses, cause, before = collections.defaultdict(list), {}, {}
for line in open("events.json"):
    event = json.loads(line)
    key = event["pid"], event["heap_id"]
    if event["probe"] == "scavenge__start":
        cause[key] = event["cause"]
    elif event["probe"] == "scavenge__done":
        begin, ns = event["time_ns"] - event["duration"], event["duration"]
        if cause[key] == "full":
            before[key] = begin, ns
        else:
            pauses[key].append(("scavenges", begin, event["time_ns"], ns))
    elif event["probe"] == "full__done":
        begin, ns = before.pop(key)
        pauses[key].append(("full_collections", begin, event["time_ns"], ns + event["duration"]))

def compare(seen, lengths, key):
    assert seen["count"] == len(lengths), (key, seen)
    if lengths:
        lengths.sort()
        rank = lambda p: lengths[max(0, math.ceil(round(p / 100 * len(lengths), 9)) - 1)]
        expected = {"count": len(lengths), "total_ns": sum(lengths), "min_ns": lengths[0], "max_ns": lengths[-1],
                    "mean_ns": sum(lengths) // len(lengths)}
        expected.update({f"p{p:g}_ns": rank(p) for p in (50, 90, 95, 99, 99.9)})
        assert seen == expected, (key, seen, expected)

def worst(spans, window):
    """Of all windows that begin or end with a pause, by walking over the pauses."""
    most = 0
    for at in [s for s, _ in spans] + [e - window for _, e in spans]:
        at = min(max(at, start), end - window)
        most = max(most, sum(max(0, min(e, at + window) - max(s, at)) for s, e in spans))
    return 1 - most / window

compared = collections.Counter()
for heap in json.load(open("pauses.json"))["heaps"]:
    key = heap["pid"], heap["heap"]
    mine = pauses[key]
    for kind in ("scavenges", "full_collections"):
        compare(heap[kind], [ns for what, _, _, ns in mine if what == kind], key)
    compare(heap["all"], [ns for _, _, _, ns in mine], key)
    assert heap["all"].get("max_ns", 0) == own[key]["max_pause_ns"], key
    assert heap["all"].get("total_ns", 0) == own[key]["gc_ns"], key
    compared.update(pauses=len(mine))
    spans = [(s, e) for _, s, e, _ in mine]
    for entry in heap["minimum_mutator_utilisation"]:
        window, part = entry["window_ns"], entry["utilisation"]
        if end - start < window:
            assert part is None, entry
        else:
            assert abs(part - worst(spans, window)) < 1e-9, (key, entry, worst(spans, window))
            compared.update(windows=1)
assert compared["pauses"] > 20 and compared["windows"] > 4, compared
print(f"{compared['pauses']} pauses and {compared['windows']} windows agree")
PYTHON

"$scope" report --view timeline --json >timeline.json
"$scope" report --view tenuring --json >tenuring.json
python3 - <<'PYTHON'
import json
own = {}
for line in open("own"):
    heap = json.loads(line)
    own[heap["pid"], heap["heap"]] = heap
# The intervals of the timeline add up to the figures.
timeline = json.load(open("timeline.json"))
wall = json.load(open("report.json"))["wall_ns"]
for heap in timeline["heaps"]:
    intervals, figures = heap["intervals"], own[heap["pid"], heap["heap"]]
    assert 1 <= len(intervals) <= 40 and sum(i["length_ns"] for i in intervals) == wall, heap
    assert [i["from_ns"] for i in intervals] == [n * timeline["step_ns"] for n in range(len(intervals))]
    for name in ("scavenges", "full_collections", "allocated_bytes", "survived_bytes", "tenured_bytes", "freed_bytes"):
        assert sum(i[name] for i in intervals) == figures[name], (name, heap, figures[name])
    assert sum(i["stopped_ns"] for i in intervals) == figures["gc_ns"], heap
    if figures["full_collections"]:
        assert intervals[-1]["old_capacity"] is not None
assert len(timeline["heaps"]) == len(own) > 1

# So do the scavenges of the view of tenuring; each has the cause that its start probe reported.
starts = {}
for line in open("events.json"):
    event = json.loads(line)
    if event["probe"] == "scavenge__start":
        starts[event["heap_id"], event["seq"]] = event
heaps = json.load(open("tenuring.json"))["heaps"]
for heap in heaps:
    figures, passes = own[heap["pid"], heap["heap"]], heap["scavenges"]
    assert len(passes) == figures["scavenges"]
    assert sum(p["tenured_bytes"] for p in passes) == figures["tenured_bytes"], heap["heap"]
    for scavenge in passes:
        start = starts[heap["heap"], scavenge["seq"]]
        assert scavenge["cause"] == start["cause"] and scavenge["allocated_bytes"] == start["allocated_since"]
        assert scavenge["threshold_bytes"] is None or scavenge["threshold_bytes"] <= scavenge["semispace_bytes"]
assert any(p["threshold_bytes"] for heap in heaps for p in heap["scavenges"])
assert len(heaps) == len(own)
PYTHON
expect_status 0 "$scope" report --view tenuring
grep -q '^# *ended' out || die "$(cat out)"
expect_status 0 "$scope" report --view timeline
grep -q '^# in intervals of ' out || die "$(cat out)"
echo "the timeline adds up"

# Two parts of the time are the whole.
half=$(sqlite3 eden.data "SELECT (time_ns - (SELECT value FROM meta WHERE key = 'mono_ns') + 100) / 1e9
    FROM event WHERE probe = (SELECT probe FROM probe WHERE name = 'scavenge__done') ORDER BY time_ns LIMIT 1 OFFSET 20")
for view in timeline pauses tenuring; do
    "$scope" report --view $view --until "$half" --json >$view.first
    "$scope" report --view $view --since "$half" --json >$view.second
done
python3 - <<'PYTHON'
import json
def count(view, part):
    heaps = json.load(open(f"{view}.{part}"))["heaps"]
    return sum(sum(i["scavenges"] for i in heap["intervals"]) if view == "timeline"
               else len(heap["scavenges"]) if view == "tenuring" else heap["all"]["count"] for heap in heaps)
for view in ("timeline", "pauses", "tenuring"):
    first, second, whole = (count(view, part) for part in ("first", "second", "json"))
    # A full collection and its scavenge may lie on both sides: then they are two pauses.
    assert first + second in (whole, whole + (view == "pauses")), (view, first, second, whole)
    assert first and second, (view, first, second)
PYTHON
expect_status 1 "$scope" report --since 1
grep -q 'are of the other views' err || die "$(cat err)"
expect_status 1 "$scope" report --view pauses --since 2 --until 1
grep -q 'is not after' err || die "$(cat err)"
echo "parts of the time"

expect_status 0 "$scope" report --view pauses
grep -Eq '^  full collections +[0-9]+ ' out && grep -q 'minimum mutator utilisation' out || die "$(cat out)"
expect_status 0 "$scope" report --view list
[[ $(wc -l <out) == 4 ]] || die "$(cat out)"
expect_status 1 "$scope" report --view nonesuch
grep -q 'there is no such view' err || die "$(cat err)"
diff <("$scope" report) <("$scope" report --view summary) || die "the summary is another"
echo "views are listed, and a wrong one is named"
