#!/usr/bin/env bash
# bench/lifetimes.py: the JSON it writes, and that a profile that lost something fails it. Never how long anything took.
# shellcheck source=tests/e2e/common.sh
. "$(dirname "$0")/common.sh"

need_edenscope
make --no-print-directory -s B="$build" "$build/bench/selftime.so"
rows=30000
"$build/workloads/mkdata" --rows $rows >"$folder/data.csv"
unset EDEN_OPTIONS

# The bench: what it writes.
bench() {
    local builds=$1
    shift
    bench/lifetimes.py -B "$builds" --selftime "$build/bench/selftime.so" --programs dataframe -o "$folder/bench.json" "$@" \
        "$folder/data.csv"
}
check_bench() { python3 -c "
import json, sys
sys.path.insert(0, 'bench')
from lifetimes_table import flat
written = json.load(open('$folder/bench.json'))
assert len({(entry['program'], entry['mechanism'], entry['sampling']) for entry in written}) == len(written)
entries = {(entry['mechanism'] if entry['output'] == 'sums' else entry['output'], entry['sampling']): entry
           for entry in flat(written)}
$1" || die "bench: $(cat "$folder/bench.json")"; }
expect_status 0 bench "$build" -n 2 -e 1 --samplings all,1/1000
check_bench "
assert set(entries) == {(m, s) for m in ('vm', 'ephemeron', 'pretenured') for s in ('all', '1/1000')} | {('records', 'all')}
for (mechanism, sampling), entry in entries.items():
    ratio = entry['time_ratio']
    assert entry['program'] == 'dataframe' and set(ratio) == {'min', 'median', 'max'}, entry
    assert 0 < ratio['min'] <= ratio['median'] <= ratio['max'] and entry['memory_ratio'] > 0, entry
    assert entry['lost'] == 0 and entry['problems'] == [] and entry['tool_cpu_s'] > 0, entry
    assert len(entry['ratios']) == entry['pairs'] == (2 if entry['mechanism'] == 'vm' else 1), entry
    assert (entry['interval'] is None) == (entry['mechanism'] != 'vm') and ('gain' in entry) == (mechanism == 'pretenured'), entry
    assert (entry['ns_per_object'] is not None) == (sampling == 'all'), entry
frame = entries['vm', 'all']
assert entries['records', 'all']['objects'] == frame['objects'] and entries['records', 'all']['file_bytes'] > frame['objects']
assert 43 * $rows < frame['objects'] < 43 * $rows + 100, frame
assert abs(frame['paper_memory_ratio'] - 1 - 80 * frame['objects'] / frame['allocated_bytes']) < 1e-9, frame"
for heading in "1. CPU time" "2. Averages over dataframe" "3. Memory" "4. Ephemerons" "5. CPU time with every record"; do
    grep -qF "$heading" "$folder/out" || die "the bench does not print '$heading'"
done
bench/lifetimes_table.py "$folder/bench.json" | cmp - <(head -n -2 "$folder/out") || die "the file has not what is printed"

# A tool that loses something, and a program that prints something else, fail it.
mkdir -p "$folder/liar/bin"
ln -s "$(readlink -f "$build")/workloads" "$folder/liar/workloads"
cat >"$folder/liar/bin/edenscope" <<LIAR
#!/usr/bin/env bash
"$(readlink -f "$scope")" "\$@" || exit
while [[ \$1 != -o ]]; do shift; done
sed -i 's/"lost": *0/"lost": 3/' "\$2"
echo more
LIAR
chmod +x "$folder/liar/bin/edenscope"
expect_status 1 bench "$folder/liar" -n 1 -e 0 --samplings 1/100
check_bench "
entry = entries['vm', '1/100']
assert entry['lost'] == 3 and len(entry['problems']) == 2, entry"
grep -q 'WRONG: dataframe 1% vm: round 1: 3 lost' "$folder/out" || die "a loss is not reported"
grep -q 'WRONG: dataframe 1% vm: round 1: the program printed something else' "$folder/out" || die "output is not compared"
echo "the bench: its file, and what fails it"
