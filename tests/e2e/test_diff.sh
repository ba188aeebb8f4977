#!/usr/bin/env bash
# edenscope diff: what differs is named, parameters first; what a busy neighbour does to times is noise, and what a change
# of the program does is not. The times are made up: each pause of one recording, changed as a busy machine or a slower
# collector would.
# shellcheck source=tests/e2e/common.sh
. "$(dirname "$0")/common.sh"

need_edenscope
workload=$(readlink -f "$build/workloads/micro")
enter_folder

run() { EDEN_OPTIONS=policy=fixed,eden_size=$1 "$scope" record -o "$2" -- "$workload" survivors >/dev/null 2>&1; }
run 256K a.data
run 256K again.data
run 128K small.data

# times FILE TIME WHERE: sets the duration of the scavenges for which WHERE is true.
times() {
    local scavenge_done=5
    sqlite3 "$1" "UPDATE event SET a2 = CAST($2 AS INTEGER) WHERE probe = $scavenge_done AND ($3);
        UPDATE heap SET scavenge_ns = (SELECT sum(a2) FROM event WHERE probe = $scavenge_done);
        UPDATE heap SET gc_ns = scavenge_ns + full_ns, stopped_ns = scavenge_ns + full_ns;"
}
[[ $(sqlite3 a.data "SELECT name FROM probe WHERE probe = 5") == scavenge__done ]] || die "probes have other numbers"
times a.data '1000000 + 1000 * (a1 % 97)' true
# A full collection stops the program together with the scavenge before it, whose changes shall not decide how long.
[[ $(sqlite3 a.data "SELECT name FROM probe WHERE probe = 15") == full__done ]] || die "probes have other numbers"
sqlite3 a.data "UPDATE event SET a2 = 20000000 + 1000 * a1 WHERE probe = 15;
    UPDATE heap SET full_ns = (SELECT sum(a2) FROM event WHERE probe = 15);
    UPDATE heap SET gc_ns = scavenge_ns + full_ns, stopped_ns = scavenge_ns + full_ns;"
cp a.data same.data
cp a.data neighbour.data
times neighbour.data 'a2 * 1.1' true
times neighbour.data 'a2 * 3' 'a1 % 3 = 1'
cp a.data slower.data
times slower.data 'a2 * 2' true

# verdicts FILES...: of all figures against the first, one a line.
verdicts() {
    "$scope" diff --json "$@" >diff.json
    python3 -c "
import json
for figure in json.load(open('diff.json'))['figures']:
    print(figure['name'], *figure['verdicts'], sep='\t')"
}

verdicts a.data same.data | grep -Pv '\t(same|None)$' && die "the same recording differs"
# Two runs of a program that does the same: only times may differ.
verdicts a.data again.data >seen
grep -Pv '_ns\t|^gc_share|^P[0-9]+ |\tsame$' seen && die "two runs of the same differ: $(cat seen)"
verdicts a.data neighbour.data >seen
grep -P '\tchanged$' seen && die "a busy neighbour is taken for a change"
grep -qP '^gc_ns\tnoise$' seen && grep -qP '^P25 of scavenges\tnoise$' seen || die "$(cat seen)"
verdicts a.data slower.data >seen
for figure in gc_ns scavenge_ns 'P25 of scavenges'; do
    grep -qP "^$figure\tchanged$" seen || die "$figure: $(cat seen)"
done
for figure in max_pause_ns 'P50 of scavenges' 'P99 of scavenges'; do
    grep -qP "^$figure\tNone$" seen || die "$figure of a single recording is judged: $(cat seen)"
done
# Of heaps that were observed in part, how long that was decides how much they did: sums count for each byte allocated.
cp a.data part.data
sqlite3 part.data "UPDATE heap SET $(for name in scavenges full_collections allocated_bytes survived_bytes tenured_objects \
    tenured_bytes freed_bytes remembered forgotten; do printf '%s = %s * 7 / 5, ' $name $name; done) late = 1, complete = 0,
    old_used = old_used * 2"
verdicts a.data part.data >seen
grep -P '\tchanged$' seen && die "a longer recording is taken for a change: $(cat seen)"
grep -qP '^scavenges\tnoise$' seen && grep -qP '^allocated_bytes\tNone$' seen || die "$(cat seen)"
grep -qP '^old_used\tNone$' seen || die "a size of the moment is judged: $(cat seen)"
sqlite3 part.data "UPDATE heap SET remembered = remembered * 2, max_pause_ns = 1000000000000, before_max_pause_ns = 1000000000000"
expect_status 0 "$scope" diff --json a.data part.data
python3 -c "
import json
figures = {figure['name']: figure for figure in json.load(open('out'))['figures']}
assert figures['remembered']['verdicts'] == ['changed'], figures['remembered']
assert abs(figures['remembered']['ratios'][0] - 2.8) < 0.01, figures['remembered']
assert abs(figures['remembered']['judged_ratios'][0] - 2) < 0.01, figures['remembered']
assert figures['eden_size']['judged_ratios'] == figures['eden_size']['ratios'], figures['eden_size']
assert figures['max_pause_ns']['values'][1] < 1e9, figures['max_pause_ns'] # not that before the recording"
expect_status 0 "$scope" diff a.data part.data
grep -Eq '^  remembered .* 2\.00\* changed$' out && grep -q '^# \*: per byte allocated' out &&
    grep -Eq '^  eden_size .* 1\.00  same$' out || die "the judged ratio is not shown: $(cat out)"
grep -q '^# changed: .*noise: .*-: .*?: ' out || die "the verdicts are not explained: $(cat out)"
expect_status 0 "$scope" diff a.data same.data
! grep -qF '*' out || die "whole heaps are judged for each byte: $(cat out)"
# The same work in other times: the machine is named.
for case in "a.data slower.data longer" "slower.data a.data shorter" "a.data neighbour.data null" "a.data small.data null"; do
    read -r base other took <<<"$case"
    expect_status 0 "$scope" diff --json "$base" "$other"
    [[ $(jq -r '.same_work_took[0]' out) == "$took" ]] || die "$case: $(cat out)"
done
expect_status 0 "$scope" diff a.data slower.data
grep -q '^# B: the same work took more time than in A: the machine may have been busier' out || die "$(cat out)"
# Five pauses do not tell a slower collector from a busy neighbour.
cp a.data few.data
sqlite3 few.data "UPDATE event SET a2 = a2 * 4 WHERE probe = 15"
verdicts a.data few.data >seen
grep -qP '^P25 of full collections\tNone$' seen || die "five pauses are judged: $(cat seen)"
verdicts a.data small.data >seen
for figure in scavenges eden_size; do
    grep -qP "^$figure\tchanged$" seen || die "$figure: $(cat seen)"
done
grep -qP '^allocated_bytes\tsame$' seen || die "$(cat seen)"
python3 -c "
import json
seen = json.load(open('diff.json'))
assert seen['parameters'] == [{'name': 'eden_size', 'values': ['262144', '131072']}], seen['parameters']
assert [f['ratios'] for f in seen['figures'] if f['name'] == 'eden_size'] == [[0.5]]"
echo "what changed is named, what a neighbour does is noise"

# Several recordings a side: their range is the noise.
verdicts a.data,slower.data neighbour.data,same.data >seen
grep -P '\tchanged$' seen && die "ranges that overlap: $(cat seen)"
verdicts a.data,same.data slower.data >seen
grep -qP '^gc_ns\tchanged$' seen && grep -qP '^P25 of scavenges\tchanged$' seen &&
    grep -qP '^P99 of scavenges\tchanged$' seen || die "ranges apart: $(cat seen)"
echo "several recordings a side"

expect_status 0 "$scope" diff a.data small.data slower.data
grep -q '^# parameters that differ$' out && grep -Eq '^  eden_size +256K +128K +256K' out || die "$(cat out)"
[[ $(grep -n 'parameters that differ' out | cut -d: -f1) -lt $(grep -n '# figures' out | cut -d: -f1) ]] ||
    die "parameters are not first"
expect_status 1 "$scope" diff a.data
expect_status 1 "$scope" diff a.data missing.data
grep -q 'missing.data: no such file' err || die "$(cat err)"
expect_status 1 "$scope" diff a.data,,same.data small.data
expect_status 1 "$scope" diff a.data,a.data small.data
grep -q 'named twice' err || die "$(cat err)"
cp a.data 'with,comma.data'
expect_status 0 "$scope" diff with,comma.data a.data
expect_status 1 "$scope" diff --heap 7 a.data small.data
grep -q 'a.data: it has no such heap' err || die "$(cat err)"
echo 'SQLite format 3' >broken.data
expect_status 1 "$scope" diff a.data broken.data
[[ ! -s out ]] || die "half a comparison: $(cat out)"
cp a.data torn.data
python3 - torn.data <<'PYTHON'
import sqlite3, sys
db = sqlite3.connect(sys.argv[1])
page, size = (db.execute(query).fetchone()[0] for query in (
    "SELECT rootpage FROM sqlite_schema WHERE name = 'phase_histogram'", "PRAGMA page_size"))
db.close()
with open(sys.argv[1], "r+b") as file:
    file.seek((page - 1) * size)
    file.write(bytes(size))
PYTHON
expect_status 1 "$scope" diff a.data torn.data
[[ $(cat err) == "edenscope: torn.data: cannot read table phase_histogram: "* ]] || die "$(cat err)"
echo "mistakes are named"
