#!/usr/bin/env bash
# edenscope script --otlp: each collection is a trace with a span for each phase, within its parent's time, and the same
# ids each time; also of a part of the events.
# shellcheck source=tests/e2e/common.sh
. "$(dirname "$0")/common.sh"

need_edenscope
enter_folder

# spans OPTIONS...: checks the spans of eden.data; prints how many there are of each name, and of made-up ends.
spans() {
    "$scope" script --otlp "$@" >lines
    python3 - lines "$target" <<'PYTHON'
import collections, json, sys
names, unseen, spans, owner = collections.Counter(), collections.Counter(), {}, {}
for line in open(sys.argv[1]):
    (resource,) = json.loads(line)["resourceSpans"]
    about = {each["key"]: each["value"] for each in resource["resource"]["attributes"]}
    assert about["service.name"] == {"stringValue": "exercise"} and about["process.pid"] == {"intValue": sys.argv[2]}, about
    (scope,) = resource["scopeSpans"]
    for span in scope["spans"]:
        assert span["spanId"] not in spans and int(span["spanId"], 16) and int(span["traceId"], 16), span
        span["about"] = {each["key"]: each["value"] for each in span["attributes"]}
        spans[span["spanId"]] = span
        names[span["name"]] += 1
        for end in ("eden.start_unseen", "eden.end_unseen"):
            unseen[end] += span["about"].get(end) == {"boolValue": True}
roots = collections.Counter(span["traceId"] for span in spans.values() if "parentSpanId" not in span)
assert set(roots.values()) == {1} and set(roots) == {span["traceId"] for span in spans.values()}, roots
for span in spans.values():
    since, end = int(span["startTimeUnixNano"]), int(span["endTimeUnixNano"])
    parent = spans.get(span.get("parentSpanId"))
    assert since <= end and ("parentSpanId" in span) == (parent is not None), span
    if parent:
        assert parent["traceId"] == span["traceId"], (span, parent)
        assert int(parent["startTimeUnixNano"]) <= since and end <= int(parent["endTimeUnixNano"]), (span, parent)
tenured = sum(int(span["about"].get("eden.tenured_bytes", {"intValue": "0"})["intValue"]) for span in spans.values())
print(json.dumps({"names": names, "start_unseen": unseen["eden.start_unseen"], "end_unseen": unseen["eden.end_unseen"],
                  "tenured": tenured, "first": min(int(span["startTimeUnixNano"]) for span in spans.values())}))
PYTHON
}

before=$(date +%s%N)
"$scope" record -- "$exercise" >/dev/null 2>&1
after=$(date +%s%N)
target=$("$scope" report --json | jq '.processes[0].pid')
spans >all
cp lines first
"$scope" script --otlp | cmp - first || die "another time there are other ids"
"$scope" report --json >report.json
python3 - "$before" "$after" <<'PYTHON'
import collections, json, sys
seen, calls, tenured = json.load(open("all")), collections.Counter(), 0
for process in json.load(open("report.json"))["processes"]:
    for heap in process["heaps"]:
        tenured += heap["tenured_bytes"]
        for name, phase in heap["phases"].items():
            calls[name] += phase["calls"]
assert seen["names"] == calls and calls["full.mark"] > 0, (seen, calls)
assert seen["tenured"] == tenured > 0, (seen, tenured)
assert seen["start_unseen"] == seen["end_unseen"] == 0, seen
assert int(sys.argv[1]) <= seen["first"] <= int(sys.argv[2]), seen
PYTHON
echo "a span for each phase, with what its probe says, at the time of day"

spans --probe scavenge__done --probe full__done --probe mark__done >part
python3 -c "
import json
all, part = json.load(open('all'))['names'], json.load(open('part'))
assert part['names'] == {name: all[name] for name in ('scavenge', 'full', 'full.mark')}, part
assert part['start_unseen'] == sum(part['names'].values()) and part['end_unseen'] == 0, part"
spans --probe scavenge__start --probe full__start --probe mark__start >part
python3 -c "
import json
all, part = json.load(open('all'))['names'], json.load(open('part'))
assert part['names'] == {name: all[name] for name in ('scavenge', 'full', 'full.mark')}, part
assert part['end_unseen'] == sum(part['names'].values()) and part['start_unseen'] == 0, part"
echo "also from a part of the events"

expect_status 1 "$scope" script --otlp --chrome
grep -q 'give one of --json, --csv, --chrome and --otlp' err || die "$(cat err)"
"$scope" script --otlp >/dev/full 2>err && die "a full disk is not reported"
grep -q 'the events on standard output: cannot be written' err || die "$(cat err)"
