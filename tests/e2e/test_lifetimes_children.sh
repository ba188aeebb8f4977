#!/usr/bin/env bash
# edenscope lifetimes of children: births = deaths + censored in each process, and each object of a profile is born in it:
# in children that fork before there is a heap, and with a heap, and in later children of a shell. A child that is
# observed from its first instruction has its whole life in its profile. Where births cannot be observed, the heap is
# named, or its profile begins later, as begun_bytes says.
# shellcheck source=tests/e2e/common.sh
. "$(dirname "$0")/common.sh"

need_edenscope
here=$PWD/tests/e2e
enter_folder
program=$build/tests/children

# check WHAT PYTHON: the statements about `heaps`, which seen.json has by process, and `own`, the bytes that each process
# has allocated by its own account in `out`.
check() {
    PYTHONPATH=$here python3 -c "
from lifetimes_json import *
seen = read('seen.json')
own = {int(line.split()[0]): int(line.split()[2]) for line in open('out')}
heaps = {heap['pid']: heap for heap in seen['heaps']}
assert len(heaps) == len(seen['heaps']), 'a process has two heaps'
assert seen['lost'] == 0, seen['lost']
for row in seen['classes']:
    assert row['births'] == row['deaths'] + row['censored'] and row['unreported'] == 0, row
for pid, heap in heaps.items():
    rows = [row for row in seen['classes'] if row['pid'] == pid]
    assert heap['profiled'] or not rows, rows
    if heap['profiled']:
        assert heap['begun_bytes'] + heap['run_bytes'] == own[pid], (heap, own[pid])
        assert heap['sampling'] != 'all' or sum(row['bytes'] for row in rows) == heap['run_bytes'], (heap, rows)
$2" || die "$1: $(cat err)"
}

# whole_lives WHAT PROCESSES: so many processes have a heap with its whole life in its profile.
whole_lives() {
    check "$1" "
whole(seen)
assert heaps.keys() == own.keys() and len(own) == $2, (len(heaps), len(own))
assert all(heap['profiled'] and heap['begun_bytes'] == 0 for heap in heaps.values()), heaps"
}

# with_their_parents_heap WHAT: five children that fork with a heap, whose lives begin with their own first collection.
with_their_parents_heap() {
    check "$1" "
assert heaps.keys() == own.keys() and len(own) == 6 and all(heap['profiled'] for heap in heaps.values()), heaps
begun = sorted(heap['begun_bytes'] for heap in heaps.values())
assert begun[0] == 0 and min(own.values()) <= begun[1] and begun[5] <= min(own.values()) + 65536, (begun, own)"
}

later="$program one; i=0; while [ \$i -lt 10 ]; do $program one; i=\$((i + 1)); done"
# each_way WAY COMMAND...: observes three kinds of children with the command, which writes seen.json.
each_way() {
    local way=$1
    shift
    expect_status 0 "$@" "$program" before 20
    whole_lives "$way: children that fork before there is a heap" 21
    expect_status 0 "$@" sh -c "$later; :"
    whole_lives "$way: later children of a shell" 11
    expect_status 0 "$@" "$program" fork 5
    with_their_parents_heap "$way: children with their parent's heap"
    echo "children are profiled from their first instruction, or their own first collection: $way"
}
each_way sums "$scope" lifetimes --sampling all --json -o seen.json --
each_way details "$scope" lifetimes --details --sampling all --json -o seen.json --
each_way "samples by bytes" "$scope" lifetimes --sampling bytes=64 --json -o seen.json --
each_way "an ephemeron a sample" "$scope" lifetimes --sampling 1/10 --mechanism ephemeron --json -o seen.json --
switched NO_MULTI=1 each_way "perf events" "$build/tests/edenscope" lifetimes --sampling all --json -o seen.json --
cat >record <<COMMAND
#!/bin/sh
"$scope" record --lifetimes --sampling all --force -o life.data -- "\$@" && "$scope" lifetimes --json -o seen.json -i life.data
COMMAND
chmod +x record
each_way "a recording" ./record

# A child that drops the request from its environment is asked when it is seen, and so is what it has made by then.
for nodes in 1000000 4000000 16000000 64000000; do
    expect_status 0 "$scope" lifetimes --sampling all --json -o seen.json -- env -u EDEN_SAMPLING "$program" before 1 $nodes
    check "without a request" "assert all(heap['begun_bytes'] > 0 for heap in heaps.values() if heap['profiled'])"
    named=$(grep -c 'no profile of it began while it was observed' err || true)
    [[ $named == $(jq '[.heaps[] | select(.profiled | not)] | length' seen.json) ]] || die "who has no profile is not named: $(cat err)"
    [[ $named != 0 ]] || break
done
[[ $named == 0 ]] || die "a child without a request in its environment is never asked: $(cat err)"
jq -e 'all(.heaps[]; .sampling == "all")' seen.json >jq.out || die "a child that is asked samples as it likes: $(jq -c .heaps seen.json)"
echo "children without the request in their environment are asked"

# A runtime without batch__requested: each process is attached to for its profile, after its heaps have begun theirs.
for nodes in 20000 1000000 4000000 16000000 64000000; do
    switched WITHOUT=batch__requested expect_status 0 "$build/tests/edenscope" lifetimes --sampling all --json -o seen.json -- \
        "$program" before 2 $nodes
    check "without batch__requested" "assert sorted(heap['begun_bytes'] for heap in heaps.values() if heap['profiled'])[0] == 0"
    named=$(grep -c 'no profile of it began while it was observed' err || true)
    [[ $named == $(jq '[.heaps[] | select(.profiled | not)] | length' seen.json) ]] || die "who has no profile is not named: $(cat err)"
    [[ $named != 0 ]] || break
done
[[ $named == 0 ]] || die "a child that is attached to late is never asked: $(cat err)"
echo "a profile whose beginning was not observed counts for nothing, and another one is requested"
