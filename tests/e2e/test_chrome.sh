#!/usr/bin/env bash
# edenscope script --chrome: begins and ends match and nest, and there is a slice for each phase and a mark for each
# event, whatever part of the events is there.
# shellcheck source=tests/e2e/common.sh
. "$(dirname "$0")/common.sh"

need_edenscope
enter_folder

# trace OPTIONS...: checks the trace of eden.data; prints how many slices of each kind, and how many marks, it has.
trace() {
    "$scope" script --chrome "$@" >trace.json
    python3 - trace.json <<'PYTHON'
import collections, json, sys
trace = json.load(open(sys.argv[1]))
open_, last, slices, marks, names = collections.defaultdict(list), {}, collections.Counter(), 0, set()
ended = collections.defaultdict(float) # where the slices within the open ones have ended
for event in trace["traceEvents"]:
    track, time = (event["pid"], event["tid"]), event["ts"]
    assert time >= 0 and event["cat"] == "eden", event
    if event["ph"] == "M":
        assert event["name"] == "process_name" and event["pid"] not in names, event
        names.add(event["pid"])
        continue
    assert event["pid"] in names, event
    if event["ph"] == "X":
        assert event["dur"] >= 0 and not open_[track], event
        slices[event["name"]] += 1
        time += event["dur"]
    assert time + 0.002 >= last.get(track, 0), (event, last[track])
    last[track] = time
    if event["ph"] == "B":
        open_[track].append(event["name"])
        slices[event["name"]] += 1
    elif event["ph"] == "E":
        assert open_[track].pop() == event["name"], event
    elif event["ph"] == "i":
        marks += 1
        assert event["s"] == "t" and "heap" in event["args"], event
    else:
        assert event["ph"] in "XC", event
assert not any(open_.values()), open_
assert trace["otherData"]["events_left_out"] == 0
print(json.dumps({"slices": slices, "marks": marks}))
PYTHON
}

"$scope" record --objects -- "$exercise" >/dev/null 2>&1
trace >all
"$scope" report --json >report.json
"$scope" script --json >events.json
python3 - <<'PYTHON'
import collections, json
seen, calls = json.load(open("all")), collections.Counter()
for process in json.load(open("report.json"))["processes"]:
    for heap in process["heaps"]:
        for name, phase in heap["phases"].items():
            calls[name] += phase["calls"]
assert seen["slices"] == calls and calls["full.mark"] > 0, (seen, calls)
assert seen["marks"] == sum(1 for _ in open("events.json")), seen
PYTHON
echo "a slice for each phase, a mark for each event"

# Without starts a slice is made from its duration; without ends it ends where the next begins, or with the recording.
probes=(scavenge__done full__done mark__done)
trace "${probes[@]/#/--probe=}" >part
python3 -c "
import json
all, part = json.load(open('all'))['slices'], json.load(open('part'))
assert part['slices'] == {name: all[name] for name in ('scavenge', 'full', 'full.mark')}, part"
probes=(scavenge__start full__start mark__start compact__move__done)
trace "${probes[@]/#/--probe=}" >part
python3 -c "
import json
all, part = json.load(open('all'))['slices'], json.load(open('part'))['slices']
assert all['scavenge'] == part['scavenge'] and all['full'] == part['full'], part"
echo "also from a part of the events"

expect_status 1 "$scope" script --chrome --csv
grep -q 'give one of --json, --csv, --chrome and --otlp' err || die "$(cat err)"
expect_status 1 "$scope" script --chrome -i nothing.data
[[ ! -s out ]] || die "a trace of nothing: $(cat out)"
echo "mistakes are named"

# The kernel's release is the recorder's word.
cp eden.data bytes.data
sqlite3 bytes.data "UPDATE meta SET value = X'fffe0a22' WHERE key = 'kernel'"
trace -i bytes.data >part
python3 -c "
import json
kernel = json.load(open('trace.json'))['otherData']['kernel']
assert kernel == '\ufffd\ufffd\n\"', kernel
assert json.load(open('part')) == json.load(open('all'))"
echo "bytes that are no text break no trace"
