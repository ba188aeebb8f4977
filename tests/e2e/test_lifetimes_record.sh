#!/usr/bin/env bash
# edenscope record --lifetimes and lifetimes -i: what was recorded says what a live run says, to the unit and in every
# view; nothing is sampled without --lifetimes; what is cut short can be read and says so; objects are not held in memory.
# shellcheck source=tests/e2e/common.sh
. "$(dirname "$0")/common.sh"

root=$PWD
need_edenscope
here=$PWD/tests/e2e
enter_folder
gun=$build/tests/probe_gun
frame=$build/workloads/dataframe

# check WHAT PYTHON ARGUMENT...
check() {
    local what=$1 statements=$2
    shift 2
    PYTHONPATH=$folder:$here python3 -c "
import sys
from lives import *
$statements" "$@" || die "$what: $(cat err)"
}

cat >lives.py <<'PYTHON'
import csv, json
from lifetimes_json import *

# What does not depend on when it happened.
KEYS = ("births", "deaths", "censored", "unreported", "bytes", "objects", "memory_bytes", "allocation_share",
        "memory_share", "mean_lifetime_bytes", "mean_scavenges", "mean_fulls", "class_id")

def same(one, other):
    assert one["lost"] == other["lost"] == 0
    assert one["sampling"] == other["sampling"] and one["mechanism"] == other["mechanism"]
    assert [heap["name"] for heap in one["heaps"]] == [heap["name"] for heap in other["heaps"]]
    for kind in "classes", "sites":
        a, b = rows(one, kind), rows(other, kind)
        assert a.keys() == b.keys() and len(a) > 10, (len(a), len(b))
        for name in a:
            for key in KEYS:
                assert a[name][key] == b[name][key], (name, key, a[name], b[name])

def objects(name):
    return sorted([row[key] for key in ("heap", "class", "index", "site", "censored", "bytes", "lifetime_bytes",
                   "birth_bytes", "end_bytes", "scavenges", "fulls", "born_old", "nepotism", "weight")]
                  for row in csv.DictReader(open(name, newline="")))
PYTHON

# The same as live, as sums and object by object.
for sampling in all nth=7 "all --mechanism ephemeron"; do
    for details in "" =details; do
        # shellcheck disable=SC2086
        expect_status 0 "$scope" record --lifetimes$details --sampling $sampling -- "$exercise"
        grep -q '^done$' out || die "the command's output is not its own"
        grep -q 'batches of lifetimes' err || die "the last line does not show lifetimes: $(cat err)"
        expect_status 0 "$scope" lifetimes --json -o recorded.json -i eden.data
        # shellcheck disable=SC2086
        "$scope" lifetimes ${details:+--details} --sampling $sampling --json -o live.json -- "$exercise" >out 2>err ||
            die "lifetimes: $(cat err)"
        check "$sampling $details" "
recorded = read('recorded.json')
whole(recorded)
same(recorded, read('live.json'))
assert recorded['sampling'] == '${sampling%% *}' and [heap['profiled'] for heap in recorded['heaps']] == [True] * len(recorded['heaps'])"
    done
done
echo "what is recorded is what live runs say"

# One recording of objects, in every view: the table and the plots are there, and the views of objects list the same objects.
"$scope" record --lifetimes=details --sampling all -- "$exercise" >out 2>err || die "record: $(cat err)"
for view in percentiles survival density histogram heatmap tenured nepotism ndjson csv folded pprof; do
    expect_status 0 "$scope" lifetimes --view $view -i eden.data
    [[ -s out && ! -s err ]] || die "view $view: $(cat err)"
    mv out recorded.$view
done
"$scope" lifetimes --details --sampling all --view csv -o live.csv -- "$exercise" >out 2>err || die "live: $(cat err)"
"$scope" lifetimes --json -o recorded.json -i eden.data
check "objects" "
one, other = objects('recorded.csv'), objects('live.csv')
assert len(one) == len(other) > 100000 and one == other
seen = read('recorded.json')
assert len(one) == total(seen, 'births') == total(seen, 'deaths') + total(seen, 'censored')
lines = [json.loads(line) for line in open('recorded.ndjson', encoding='utf-8')]
assert sum(line['kind'] == 'object' for line in lines) == len(one)"
expect_status 0 "$scope" lifetimes -i eden.data
grep -q 'Node in new_node' out || die "the table has no sites"
# By heap and process.
expect_status 0 "$scope" lifetimes --heap 2 --json -i eden.data
mv out heap.json
check "--heap" "
seen, part = read('recorded.json'), read('heap.json')
assert [heap['heap'] for heap in part['heaps']] == [2] and part['classes']
assert part['classes'] == [row for row in seen['classes'] if row['heap'] == 2]"
pid=$(sqlite3 eden.data 'SELECT pid FROM process')
expect_status 0 "$scope" lifetimes --heap 2 --pid "$pid" --json -i eden.data
cmp out heap.json || die "--pid chooses another heap"
expect_status 0 "$scope" lifetimes --heap 2 --view csv -i eden.data
[[ $(tail -n +2 out | cut -d, -f2 | sort -u) == 2 ]] || die "--heap leaves objects of others"
expect_status 0 "$scope" lifetimes --pid 1 -i eden.data
grep -q 'has heaps, but none' err || die "the missing heap is not reported: $(cat err)"
echo "every view, and heaps apart"

# Without --lifetimes nothing is sampled, and a message says so. (With them no heap marks ahead of a full collection.)
expect_status 0 "$scope" record -- env EDEN_OPTIONS=pause_goal=0 "$exercise"
[[ $(sqlite3 eden.data 'SELECT count(*) FROM life_batch') == 0 ]] || die "record has sampled unasked"
[[ $(sqlite3 eden.data "SELECT sum(value) FROM meta WHERE key IN ('lifetimes', 'lost_records')") == 0 ]] || die "meta"
expect_status 1 "$scope" lifetimes -i eden.data
grep -q -- '--lifetimes' err || die "that there are no lifetimes is not explained: $(cat err)"
events=$(sqlite3 eden.data "SELECT group_concat(name || n) FROM (SELECT probe.name, count(*) AS n FROM event
    JOIN probe USING (probe) GROUP BY probe ORDER BY probe)")
# With them, all else is recorded as without.
"$scope" record --lifetimes --sampling all -- env EDEN_OPTIONS=pause_goal=0 "$exercise" >out 2>err ||
    die "record: $(cat err)"
[[ $(sqlite3 eden.data "SELECT group_concat(name || n) FROM (SELECT probe.name, count(*) AS n FROM event
    JOIN probe USING (probe) GROUP BY probe ORDER BY probe)") == "$events" ]] || die "other events with lifetimes"
expect_status 0 "$scope" report
# Bad words.
for bad in --lifetimes=everything "--lifetimes --sampling=some" "--lifetimes --mechanism=magic" --sampling=all \
    --mechanism=oracle; do
    # shellcheck disable=SC2086
    expect_status 1 "$scope" record $bad -- "$exercise"
    [[ ! -s out && -s err ]] || die "$bad: the command was started"
done
for bad in --sampling=all --mechanism=vm --details "3" "-- true"; do
    # shellcheck disable=SC2086
    expect_status 1 "$scope" lifetimes -i eden.data $bad
    grep -q 'cannot be combined with -i' err || die "-i $bad is not explained: $(cat err)"
done
expect_status 1 "$scope" lifetimes -i nonesuch.data
expect_status 1 "$scope" lifetimes -i lives.py
echo "nothing is sampled unasked"

# A running process, attached to late: its classes have their names, and what it was asked for is taken back.
"$exercise" 300000 >/dev/null &
target=$!
until_true "its heaps are there" sh -c "'$scope' list --json 2>/dev/null | grep -q '\"pid\":$target,'"
# has_batches FILE: its sampled objects have begun to be written.
has_batches() {
    local count
    count=$(sqlite3 "$1" 'SELECT count(*) FROM life_batch' 2>/dev/null) || return 1 # it is being written
    [[ $count -gt 1000 ]]
}
rm -f err
"$scope" record -v --lifetimes --sampling nth=3 -o late.data -p "$target" >out 2>err &
tool=$!
until_true "attached" grep -q 'attached in' err # before sqlite3, which would make a file of this name
until_true "batches are written" has_batches late.data
kill -TERM "$tool"
wait "$tool" || die "record -p failed: $(cat err)"
expect_status 0 "$scope" lifetimes --json -o late.json -i late.data
check "late" "
seen = read('late.json')
whole(seen)
assert seen['sampling'] == 'nth=3' and total(seen, 'births') > 100
assert any(site['class_id'] != site['site_id'] for site in seen['sites'])"

rm -f err
# A killed recorder: what it wrote can be read, and is reported as incomplete.
"$scope" record -v --lifetimes=details --sampling nth=3 -o killed.data -p "$target" >out 2>err &
tool=$!
until_true "attached" grep -q 'attached in' err
until_true "batches are written" has_batches killed.data
kill -KILL "$tool"
wait "$tool" 2>wait.err || true
expect_status 0 "$scope" lifetimes --json -o killed.json -i killed.data
grep -q 'recorder was killed' err || die "the recorder's death is not reported: $(cat err)"
grep -q 'did not report the objects alive' err || die "the missing end is not reported: $(cat err)"
check "killed" "
seen = read('killed.json')
assert total(seen, 'births') > 1000 and total(seen, 'unreported') > 0 and seen['lost'] == 0
assert not all(heap['ended'] for heap in seen['heaps'])
for row in seen['classes']:
    assert row['unreported'] <= row['censored'] and row['births'] <= row['deaths'] + row['censored'], row"
kill "$target"
echo "late, and cut short"

# Millions of objects: none is lost, none is held. Each is a record of 104 bytes; what reads them has not half that room.
rows=60000
"$build/workloads/mkdata" --rows $rows >data.csv
"$scope" record --lifetimes=details --sampling all -o many.data -- "$frame" --image 0 data.csv >out 2>err || die "many: $(cat err)"
expect_status 0 "$scope" lifetimes --json -o many.json -i many.data
check "many" "
seen = read('many.json')
whole(seen)
births = {row['name']: row['births'] for row in seen['classes']}
assert births['NumberParser'] == 12 * $rows and 0 < births['Array'] - $rows < 100, births
assert total(seen, 'births') > 2500000"
if ! ldd "$scope" | grep_all -q asan; then
    (
        ulimit -v 120000
        "$scope" lifetimes --view csv -i many.data | wc -l >lines
    ) || die "it takes as much memory as the objects would"
    [[ $(cat lines) == $(($(jq '[.classes[].births] | add' many.json) + 1)) ]] || die "rows are missing: $(cat lines)"
fi
echo "millions of objects, none lost, none held"

# Three million at once, while the recorder does not run: the kernel keeps them until it does.
mkfifo words
rm -f out
"$scope" record --lifetimes=details --sampling all -o burst.data -- "$build/tests/burst" <words >out 2>err &
tool=$!
exec 4>words
until_true "the list has grown" grep -q grown out
kill -STOP "$tool"
echo >&4
until_true "the heap has ended" grep -q ended out
kill -CONT "$tool"
exec 4>&-
wait "$tool" || die "record: $(cat err)"
expect_status 0 "$scope" lifetimes --json -o burst.json -i burst.data
check "burst" "
seen = read('burst.json')
whole(seen)
assert total(seen, 'censored') == total(seen, 'births') == 3000000"
echo "three million at once"

# What a program says that lies is counted, and what is of no known kind is kept.
"$scope" record --lifetimes -o lies.data -- "$gun" heap__create:0x1000,7,demo \
    batch__requested:0x1000,2,0x10,5,112 batch__requested:0x1000,4,0x10,100000,120 batch__requested:0x1000,1,0x10,3,0 \
    heap__destroy:0x1000,7,1,1,1,1 >out 2>err ||
    die "lies: $(cat err)"
grep -q 'records of lifetimes lost' err || die "lost records are not reported: $(cat err)"
expect_status 0 "$scope" lifetimes --json -i lies.data
[[ $(jq .lost out) == 100008 ]] || die "lost records are not in the recording: $(cat out)"
expect_status 0 "$scope" report -i lies.data
grep -q 'lost records of lifetimes' out || die "the report does not show lost records"
sqlite3 eden.data "UPDATE life_batch SET kind = 99 WHERE batch % 2 = 0;
    UPDATE life_batch SET data = substr(data, 2) WHERE batch % 3 = 0"
expect_status 0 "$scope" lifetimes --json -i eden.data
grep -q 'batches are of unknown kinds' err || die "unknown kinds are not reported: $(cat err)"
grep -q 'batches with wrong sizes are skipped' err || die "what is left out is not reported: $(cat err)"
[[ $(jq .lost out) -gt 0 ]] || die "what is left out is not counted"
echo "false records are reported"
