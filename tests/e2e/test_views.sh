#!/usr/bin/env bash
# The views of edenscope report: their figures are those of the single events, worked out here in another way; their sums
# are the program's own.
# shellcheck source=tests/e2e/common.sh
. "$(dirname "$0")/common.sh"

need_edenscope
page=$PWD/docs/edenscope.md
gun=$(readlink -f "$build/tests/probe_gun")
enter_folder

EDEN_STATS=own "$scope" record --objects -- "$exercise" >/dev/null 2>&1
views="pauses phases causes timeline heap tenuring remembered segments classes"
for view in $views; do
    "$scope" report --view "$view" --json >"$view.json"
done
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
        pauses[key].append(("full collections", begin, event["time_ns"], ns + event["duration"]))

def compare(seen, lengths, key):
    assert seen.pop("count") == len(lengths), (key, seen)
    if not lengths:
        assert all(value is None for value in seen.values()), seen
    else:
        lengths.sort()
        rank = lambda p: lengths[max(0, math.ceil(round(p / 100 * len(lengths), 9)) - 1)]
        expected = {"total_ns": sum(lengths), "min_ns": lengths[0], "max_ns": lengths[-1],
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
    rows = {row.pop("kind"): row for row in heap["pauses"]}
    assert (rows["all"]["max_ns"] or 0) == own[key]["max_pause_ns"], key
    assert (rows["all"]["total_ns"] or 0) == own[key]["gc_ns"], key
    for kind in ("scavenges", "full collections"):
        compare(rows[kind], [ns for what, _, _, ns in mine if what == kind], key)
    compare(rows["all"], [ns for _, _, _, ns in mine], key)
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
    assert [i["from_ns"] for i in intervals] == [n * intervals[0]["length_ns"] for n in range(len(intervals))]
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
echo "the timeline adds up"

python3 - <<'PYTHON'
import collections, json
own = {}
for line in open("own"):
    heap = json.loads(line)
    own[heap["pid"], heap["heap"]] = heap
model = {(process["pid"], heap["heap"]): heap for process in json.load(open("report.json"))["processes"]
         for heap in process["heaps"]}
events = collections.defaultdict(list)
for line in open("events.json"):
    event = json.loads(line)
    events[event["pid"], event["heap_id"]].append(event)

def heaps(view):
    found = json.load(open(f"{view}.json"))["heaps"]
    assert len(found) == len(own), view
    return [((heap["pid"], heap["heap"]), heap) for heap in found]

def of(key, *probes):
    return [event for event in events[key] if event["probe"] in probes]

for key, heap in heaps("phases"):
    phases = {row["phase"]: row for row in heap["phases"]}
    assert set(phases) == set(model[key]["phases"]), (key, phases)
    for name, row in phases.items():
        assert model[key]["phases"][name]["observed_ns"] == row["total_ns"], (key, name) # each began after the one before
        for figure in ("calls", "total_ns", "max_ns"):
            assert row[figure] == model[key]["phases"][name][figure], (key, name, figure)
    for name, probe in (("full.mark", "mark__done"), ("scavenge.copy", "scavenge__copy__done")):
        for figure in ("objects", "bytes"):
            assert phases.get(name, {figure: 0})[figure] == sum(e[figure] for e in of(key, probe)), (key, name)

for key, heap in heaps("causes"):
    fulls = {row["cause"]: row["count"] for row in heap["causes"] if row["kind"] == "full collections"}
    assert fulls == {cause: count for cause, count in own[key]["full_by_cause"].items() if count}, key
    starts = collections.Counter(e["cause"] for e in of(key, "scavenge__start") if e["cause"] != "full")
    assert {row["cause"]: row["count"] for row in heap["causes"] if row["kind"] == "scavenges"} == starts, key
    assert sum(row["total_ns"] for row in heap["causes"]) == own[key]["gc_ns"], key

for key, heap in heaps("heap"):
    rows, done = heap["collections"], of(key, "scavenge__done", "full__done")
    assert [row["seq"] for row in rows] == [e["seq"] for e in done], key
    for row, event in zip(rows, done):
        assert row["collection"] == event["probe"].split("__")[0]
        assert row["remembered_now"] == event["remembered_now"]
        if row["collection"] == "full":
            for name in ("old_used", "old_capacity", "segments", "free_chunks", "largest_free"):
                assert row[name] == event[name], (key, row, event)
        else:
            assert row["survivor_used"] == event["survivor_used"] and row["eden_used"] is not None, row

for key, heap in heaps("remembered"):
    rows, done = heap["scavenges"], of(key, "scavenge__done")
    assert len(rows) == len(done) and [r["remembered_now"] for r in rows] == [e["remembered_now"] for e in done], key
    scans = of(key, "scavenge__remembered__done")
    for name, argument in (("scanned_objects", "objects"), ("scanned_bytes", "bytes"), ("scan_ns", "duration")):
        assert sum(r[name] for r in rows) == sum(e[argument] for e in scans), (key, name)
    classes = heap["classes"]
    assert sum(r["by_store"] + r["by_tenure"] + r["by_recovery"] for r in classes) == own[key]["remembered"], key
    assert sum(r["forgotten"] for r in classes) == own[key]["forgotten"], key
    single = of(key, "remembered__scan")
    by_object = collections.Counter()
    for event in single:
        by_object[event["object"]] += event["duration"]
    assert sum(r["scan_ns"] for r in classes) == sum(by_object.values()), key
    dearest = [ns for _, ns in by_object.most_common(10)]
    assert [r["scan_ns"] for r in heap["objects"]] == dearest, key
    assert all(r["name"] for r in classes + heap["objects"]), key

for key, heap in heaps("segments"):
    counts = collections.Counter(row["event"] for row in heap["segments"])
    assert counts["mapped"] == own[key]["segments_mapped"], key
    assert counts["returned"] == own[key]["segments_unmapped"], key

for key, heap in heaps("classes"):
    for name in ("large_objects", "large_bytes", "tenured_objects", "remembered", "forgotten", "mourned",
                 "alloc_failures"):
        assert sum(row[name] for row in heap["classes"]) == own[key][name], (key, name)
    tenured = sum(row["tenured_bytes"] for row in heap["classes"])
    assert tenured == sum(e["bytes"] for e in of(key, "tenure")), key
print("sums are the program's own")
PYTHON

for view in $views; do
    expect_status 0 "$scope" report --view "$view"
    grep -q '^#  ' out || die "$view: $(cat out)"
done

# ---- columns, order, separated values ----

expect_status 0 "$scope" report --view tenuring --heap 1 -F seq,cause,tenured_bytes --sort tenured_bytes -x ';'
head -1 out | grep -qx 'pid;heap;serial;seq;cause;tenured_bytes' || die "$(head -1 out)"
python3 - <<'PYTHON'
import json
lines = [line.rstrip("\n").split(";") for line in open("out")][1:]
rows = next(heap["scavenges"] for heap in json.load(open("tenuring.json"))["heaps"] if heap["heap"] == 1)
expected = sorted(rows, key=lambda row: -row["tenured_bytes"])
assert [line[3:] for line in lines] == [[str(row[name]) for name in ("seq", "cause", "tenured_bytes")] for row in expected]
assert len(lines) > 10 and len({line[5] for line in lines}) > 2
PYTHON
expect_status 0 "$scope" report --view pauses --heap 1 -F utilisation,window_ns --json
python3 - <<'PYTHON'
import json
heap, = json.load(open("out"))["heaps"]
assert set(heap) == {"pid", "heap", "serial", "minimum_mutator_utilisation"}, heap
assert all(list(row) == ["utilisation", "window_ns"] for row in heap["minimum_mutator_utilisation"]), heap
PYTHON
expect_status 1 "$scope" report --view pauses -F count,window_ns
grep -q -- '-F window_ns: name columns of one table; the tables of the view pauses have kind,count' err || die "$(cat err)"
for form in '' --json '-x ;'; do
    # shellcheck disable=SC2086
    expect_status 1 "$scope" report --view pauses -F count,kind,max_ns,kind $form
    grep -qx 'edenscope: -F kind: given twice; give it once' err && [[ ! -s out ]] || die "$(cat err)"
done
expect_status 1 "$scope" report --view pauses --sort nonesuch
grep -q -- '--sort nonesuch: not a column of the view pauses, which has kind,count' err || die "$(cat err)"
expect_status 1 "$scope" report --view pauses -x ab
grep -q 'not a separator' err || die "$(cat err)"
expect_status 1 "$scope" report --view pauses -x , --json
grep -q 'exclude each other' err || die "$(cat err)"
expect_status 1 "$scope" report -F seq
grep -q '^edenscope: -F: cannot be used with the summary; name a view' err || die "$(cat err)"
expect_status 1 "$scope" report --pid 4
grep -qE '^edenscope: .*: has no heap of process 4; .edenscope report. without --heap and --pid lists its heaps$' err ||
    die "$(cat err)"
echo "columns, order, separated values"

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
               else len(heap["scavenges"]) if view == "tenuring" else heap["pauses"][2]["count"] for heap in heaps)
for view in ("timeline", "pauses", "tenuring"):
    first, second, whole = (count(view, part) for part in ("first", "second", "json"))
    # A full collection and its scavenge may lie on both sides: then they are two pauses.
    assert first + second in (whole, whole + (view == "pauses")), (view, first, second, whole)
    assert first and second, (view, first, second)
PYTHON
# Times that begin and end anywhere: the pauses that end in them, each whole, and with its cause.
cat >windows.py <<'PYTHON'
import collections, json, sqlite3, subprocess, sys
scope = sys.argv[1]
start = int(sqlite3.connect("eden.data").execute("SELECT value FROM meta WHERE key = 'mono_ns'").fetchone()[0])
pauses, cause, full, before, times = collections.defaultdict(list), {}, {}, {}, []
for line in open("events.json"):
    event = json.loads(line)
    key, probe = event["heap_id"], event["probe"]
    if probe == "scavenge__start":
        cause[key] = event["cause"]
    elif probe == "scavenge__done":
        begin, ns = event["time_ns"] - event["duration"], event["duration"]
        if cause[key] == "full":
            before[key] = (before[key][0], before[key][1] + ns) if before.get(key) else (begin, ns)
        else:
            pauses[key].append((event["time_ns"], begin, ns, "scavenge", cause[key]))
    elif probe == "full__start":
        full[key] = event["cause"]
    elif probe == "full__done":
        begin, ns = before.pop(key)
        pauses[key].append((event["time_ns"], begin, ns + event["duration"], "full collection", full[key]))
    else:
        continue
    times.append(event["time_ns"])
checked = 0
for i in range(3, len(times) - 20, len(times) // 12):
    since, until = times[i] + 1500, times[i + 11] - 700 # within phases, too
    seen = json.loads(subprocess.run([scope, "report", "--view", "stops", "--json", "--since", f"{(since - start) / 1e9:.9f}",
                                      "--until", f"{(until - start) / 1e9:.9f}"], check=True, capture_output=True).stdout)
    for heap in seen["heaps"]:
        stops = [{key: stop[key] for key in ("time_ns", "ns", "kind", "cause")} for stop in heap["stops"]]
        expected = [{"time_ns": begin - start, "ns": ns, "kind": kind, "cause": why}
                    for end, begin, ns, kind, why in pauses[heap["heap"]] if since - 1 <= end <= until + 1]
        assert stops == expected, (since, until, heap, expected)
        checked += len(expected)
assert checked > 20, checked
PYTHON
python3 windows.py "$scope"
for view in classes remembered; do
    "$scope" report --view $view --since "$half" --json >$view.late
done
python3 - <<'PYTHON'
import json
for view in ("classes", "remembered"):
    rows = [row for heap in json.load(open(f"{view}.late"))["heaps"] for row in heap["classes"]]
    assert rows and all(row["name"] for row in rows), (view, rows)
PYTHON
# A time that ends within the longest pause: all of the pause before that counts as stopped, and in no distribution.
"$scope" report --view stops -F time_ns,ns -x ';' | tail -n +2 | sort -t ';' -k 5 -n | tail -1 >longest
IFS=';' read -r _ _ _ began ns <longest
until=$(python3 -c "print(($began + $ns / 2) / 1e9)")
expect_status 0 "$scope" report --view timeline --since "$(python3 -c "print(($began + $ns / 4) / 1e9)")" --until "$until" --json
python3 - <<'PYTHON'
import json
heaps = json.load(open("out"))["heaps"]
assert any(0.9 < interval["stopped"] <= 1 for heap in heaps for interval in heap["intervals"]), heaps
PYTHON
for view in pauses stops phases causes histogram; do
    expect_status 0 "$scope" report --view $view --since "$(python3 -c "print(($began + $ns / 4) / 1e9)")" --until "$until" --json
    cp out $view.cut
done
python3 - "$ns" <<'PYTHON'
import json, sys
cut = {view: json.load(open(f"{view}.cut"))["heaps"] for view in ("pauses", "stops", "phases", "causes", "histogram")}
assert all(stop["ns"] < int(sys.argv[1]) for heap in cut["stops"] for stop in heap["stops"])
place = next(i for i, heap in enumerate(cut["phases"]) if any(row["share"] > 0.8 for row in heap["phases"]))
assert sum(row["count"] for row in cut["causes"][place]["causes"]) == 0
assert cut["pauses"][place]["pauses"][2]["count"] == 0 and not cut["histogram"][place]["histogram"]
parts = [row["utilisation"] for row in cut["pauses"][place]["minimum_mutator_utilisation"] if row["utilisation"] is not None]
assert all(part < 0.1 for part in parts), parts
PYTHON
expect_status 1 "$scope" report --since 1
grep -q '^edenscope: --since and --until: cannot be used with the summary; name a view' err || die "$(cat err)"
expect_status 1 "$scope" report --view pauses --since 2 --until 1
grep -q 'is not after' err || die "$(cat err)"
echo "parts of the time"

expect_status 0 "$scope" report --view pauses
grep -Eq '^   full collections +[0-9]+ ' out && grep -q 'minimum mutator utilisation' out || die "$(cat out)"
expect_status 0 "$scope" report --view list
[[ $(wc -l <out) == 13 ]] || die "$(cat out)"
# The page names the tables and columns that there are.
expect_status 0 "$scope" report --view list --json
python3 - "$page" <<'PYTHON'
import json, re, sys
known = [(view["name"], table["name"], [column["name"] for column in table["columns"]])
        for view in json.load(open("out"))["views"] for table in view["tables"]]
page, view, written = open(sys.argv[1], encoding="utf-8").read(), None, []
for name, table, columns in re.findall(r"^\| (`\w+`)? ?\| `(\w+)`[^|]*\| (`[^|]*) \|$", page[page.index("| view | table |"):], re.M):
    view = name.strip("`") or view
    written.append((view, table, re.findall(r"`([\w.]+)`", columns)))
assert sorted(written) == sorted(known), [row for row in known if row not in written]
PYTHON
expect_status 1 "$scope" report --view nonesuch
grep -q 'there is no such view' err || die "$(cat err)"
diff <("$scope" report) <("$scope" report --view summary) || die "the summary is another"
echo "views are listed, and a wrong one is named"

# Durations are what a process says: no heap was stopped for longer than it was observed, in whole or in an interval.
mkfifo line
"$scope" record -o lies.data -- "$gun" heap__create:0x1000,1,lies full__start:0x1000,1 \
    '50xfull__done:0x1000,1,900000000' '50xmark__done:0x1000,1,900000000' '50xscavenge__done:0x1000,1,900000000' \
    full__start:0x1000,51 mark__start:0x1000,51 wait <line >said 2>/dev/null &
tool=$!
exec 7>line
until_true "all probes have fired" grep -q waiting said
echo >&7
exec 7>&-
wait "$tool" || die "record gave status $?"
for view in timeline phases causes pauses remembered; do
    "$scope" report -i lies.data --view $view --json >$view.lies
done
"$scope" report -i lies.data >report.lies
"$scope" report -i lies.data --json >model.lies
"$scope" tune -i lies.data --json >tune.lies 2>/dev/null
python3 - <<'PYTHON'
import json, re
model = json.load(open("model.lies"))
phases = model["processes"][0]["heaps"][0]["phases"]
assert phases["full"]["total_ns"] == 50 * 900000000, phases # a total is the process's own
for name, phase in phases.items():
    assert 0 < phase["observed_ns"] <= model["wall_ns"] < phase["total_ns"], (name, phase)
shares = 0
def check(value, key=""):
    """Each share, wherever it is."""
    global shares
    for name, part in value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ():
        check(part, str(name))
        if part is not None and ("share" in str(name) or name in ("stopped", "utilisation")):
            assert 0 <= part <= 1, (name, value)
            shares += 1
for file in ("timeline", "phases", "causes", "pauses", "remembered", "tune"):
    check(json.load(open(f"{file}.lies")))
assert shares > 20, shares
intervals = json.load(open("timeline.lies"))["heaps"][0]["intervals"]
assert all(i["stopped_ns"] <= i["length_ns"] for i in intervals), intervals
percents = [float(text) for text in re.findall(r"([0-9.]+)% ", open("report.lies").read())]
assert len(percents) > 2 and max(percents) <= 100, percents
assert re.search(r"^ +cause: \? +49: recorded without its start", open("report.lies").read(), re.M)
# A part is within its whole; and the summary and the view, which count what had not ended, have the same shares.
rows = {row["phase"]: row["share"] for row in json.load(open("phases.lies"))["heaps"][0]["phases"]}
assert 0 < rows["full.mark"] <= rows["full"], rows
summary = {name: share for share, name in re.findall(r"^ +([0-9.]+)% +([a-z.]+) ", open("report.lies").read(), re.M)}
assert summary.keys() == rows.keys(), (summary, rows)
assert all(abs(float(summary[name]) - 100 * rows[name]) < 0.1 for name in rows), (summary, rows)
PYTHON
echo "no more time than was observed"
