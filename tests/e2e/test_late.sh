#!/usr/bin/env bash
# Heaps attached late: what is shown of each equals EDEN_STATS, figure by figure, or it is marked as incomplete.
# shellcheck source=tests/e2e/common.sh
. "$(dirname "$0")/common.sh"

need_edenscope
workload=$(readlink -f "$build/workloads/micro")
enter_folder
program=$build/tests/children
export EDEN_STATS=$folder/own

# equal_or_marked JSON: no heap is called complete that is not; prints how many are late, and how many of these complete.
equal_or_marked() {
    python3 - own "$1" <<'PYTHON'
import json, sys
own = {}
for line in open(sys.argv[1]):
    heap = json.loads(line)
    del heap["parameters"]
    own[heap.pop("pid"), heap.pop("heap")] = heap
seen = json.load(open(sys.argv[2]))
assert seen["lost"] == 0, "events were lost"
gauges = "eden_size", "survivor_used", "old_used", "old_capacity", "remembered_now"
late = complete = 0
for process in seen["processes"]:
    for heap in process["heaps"]:
        key = process["pid"], heap["heap"]
        late += heap["late"]
        complete += heap["late"] and heap["complete"]
        if heap["late"]:
            assert heap["earlier"] == "whole" or not heap["complete"], f"heap {key} is complete without a beginning"
        for name, value in own.get(key, {}).items():
            shown = heap[name]
            if heap["complete"]:
                assert shown == value, f"heap {key} {name}: {value} by its own count, shown {shown}"
            elif name not in gauges:
                parts = [(shown[cause], value[cause]) for cause in value] if name == "full_by_cause" else [(shown, value)]
                assert all(less <= more for less, more in parts), f"heap {key} {name} is not at least {shown}: {value}"
print(late, complete)
PYTHON
}

# check WORDS JSON: adds to $late and $complete.
check() {
    local counts
    counts=$(equal_or_marked "$2" 2>differ) || die "$1: $(tail -n 1 differ; cat err)"
    late=$((late + ${counts% *})) complete=$((complete + ${counts#* }))
    rm own
}

# ---- the first child that runs a program ----

late=0 complete=0
printf '#!/bin/sh\nfor i in 1 2; do %s survivors; done\n' "$workload" >command
chmod +x command
for _ in {1..8}; do
    expect_status 0 "$scope" stat --json -o stat.json -- ./command
    check "stat of a script" stat.json
done
for _ in {1..4}; do
    expect_status 0 "$scope" record -o late.data -- ./command
    "$scope" report --json -i late.data >report.json
    check "record of a script" report.json
done
((complete > 0)) || die "of $late heaps attached late none is complete"
echo "the first child of a program: $late heaps attached late, $complete complete"

# ---- children of a process that runs, which live some milliseconds ----

late=0 complete=0
mkfifo go
exec 7<>go
for _ in 1 2 3; do
    rm -f err ready
    "$program" spawn 20 2000000 <go >out 2>ready &
    target=$!
    until_true "the program is ready" grep -qs ready ready
    "$scope" stat -v --json -o stat.json -p "$target" 2>err &
    tool=$!
    until_true "attached" grep -qs 'attached in' err
    echo go >&7
    wait "$target" "$tool" || die "stat -p failed: $(cat err)"
    check "children of a process that runs" stat.json
done
((late > 3)) || die "no child was attached late"
echo "children that end soon: $late heaps attached late, $complete complete"

# ---- a pause of two collections, of which the first began before ----

late=0 complete=0
expect_status 0 "$scope" stat --json -o stat.json -- "$program" pause
check "a copy within a full collection" stat.json
((late == 1 && complete == 1)) || die "a copy within a full collection is not complete: $(cat stat.json)"
echo "a pause that began before attach is whole"

# ---- what is said of those that are marked ----

rm -f err ready
"$program" wait <go >out 2>ready &
target=$!
until_true "the program is ready" grep -qs ready ready
"$scope" record -v --events-only -o since.data -p "$target" 2>err &
tool=$!
until_true "attached" grep -qs 'attached in' err
printf 'go\ngo\n' >&7
wait "$target" "$tool" || die "record --events-only failed: $(cat err)"
said='^(edenscope:|#) 1 heap attached late: not all of the activity before is known; figures are "at least"$'
grep -qE "$said" err || die "record does not say that a heap is not whole: $(cat err)"
"$scope" report -i since.data >report
if ! grep -qE "$said" report || ! grep -q '"at least": attached late, and the activity before is unknown' report ||
    grep -q "heap's header" report; then
    die "report does not say that a heap is not whole: $(cat report)"
fi
"$scope" report --json -i since.data >report.json
jq -e '.processes[].heaps[] | (.complete | not) and .earlier == "unknown" and .window.scavenges == .scavenges' report.json >out ||
    die "the report's JSON does not say so: $(cat report.json)"
[[ $(sqlite3 since.data "SELECT complete, earlier, before_scavenges IS NULL, before_full_by_cause_ratio IS NULL,
    scavenges > 0 FROM heap") == '0|unknown|1|1|1' ]] || die "the recording does not say so: $(sqlite3 since.data .dump)"
echo "what is not whole is marked"
