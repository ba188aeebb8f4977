#!/usr/bin/env bash
# bench/peers.py at a small size: the programs have the same checksums on eden, malloc and each peer that is installed,
# and on eden while it collects all the time; what the driver computes from times and pauses; what fails it. Never how
# long anything took.
# shellcheck source=tests/e2e/common.sh
. "$(dirname "$0")/common.sh"

make --no-print-directory -s B="$build" bench-peers-programs
unset EDEN_OPTIONS
systems="eden malloc"
for system in mimalloc libgc ocaml serial; do
    case $system in
    ocaml) file=ocaml/peers ;;
    serial) file=java/Peers.class ;;
    *) file=$system/gcbench ;;
    esac
    if [[ -e $build/bench/peers/$file ]]; then
        systems+=" $system"
    else
        echo "not compared with $system, which is not installed (scripts/setup peers)"
    fi
done

peers() { bench/peers.py -B "$build" --scale quick --passes 1 --json "$folder/peers.json" "$@"; }
check() { python3 -c "
import json, math
written = json.load(open('$folder/peers.json'))
rows = {row['name']: row['systems'] for row in written['rows']}
$1" || die "what it wrote: $(cat "$folder/peers.json")"; }

# The checksums, whatever the system, and whatever the heap does meanwhile.
stressed="eden:eden_size=64K,stress=50"
expect_status 0 peers --systems "$systems $stressed"
check "
expected = {'gcbench 10': 801521558, 'trees 10': 1524746800, 'queue 10000 300000 left': 3693111792,
            'queue 10000 300000 cleared': 3693111792, 'array 50000 200000 0': 1101916521,
            'array 50000 50000 8': 1684134464, 'alloc 16 1000000': 1783293664, 'alloc 32 1000000': 1783293664,
            'alloc 64 1000000': 1783293664, 'json 300 50 4': 2375442159, 'lisp program.lisp 3': 3269154920,
            'lru 5000 100000': 3900346874}
assert set(rows) == set(expected), set(rows)
for name, systems in rows.items():
    assert list(systems) == '$systems $stressed'.split(), (name, list(systems))
    for system, entry in systems.items():
        assert entry['checksum'] == expected[name], (name, system, entry)
        assert len(entry['times_s']) == 1 and 0 < entry['min_s'] == entry['median_s'] and entry['rss_bytes'] > 0, entry
    collectors = [entry for system, entry in systems.items() if 'malloc' not in system]
    assert min(entry['ratio'] for entry in collectors) == 1, (name, systems)
    assert systems['malloc']['pauses'] is None and systems['malloc']['overhead'] is None, (name, systems)
    assert min(entry['overhead'] for entry in collectors if entry['pauses']) >= 1, (name, systems)
    assert systems['$stressed']['pauses']['count'] > 2000, (name, systems)
    if 'serial' in systems and name == 'alloc 64 1000000':
        assert systems['serial']['pauses']['count'] > 0, 'pauses of a JVM that fills its heap are not found'
    for entry in collectors:
        assert entry['pauses'] is None or all(0 <= share <= 1 for share in entry['utilisation'].values()), entry
for system, mean in written['geometric_means'].items():
    logs = [math.log(systems[system]['ratio']) for systems in rows.values()]
    assert math.isclose(mean, math.exp(sum(logs) / len(logs))), (system, mean)
assert written['errors'] == [], written['errors']"
grep -q "^geometric means" "$folder/out" || die "no geometric means"

# Utilisation, of pauses that are known: 10 to 20 and 25 to 30 of 0 to 100.
PYTHONPATH=bench python3 -c "
from peers import least_utilisation, read_pauses
pauses = [(10, 20), (25, 30)]
assert [least_utilisation(pauses, 0, 100, window) for window in (5, 10, 20, 100, 1000)] == [0, 0, 0.25, 0.85, 0.85]
assert least_utilisation([], 0, 100, 10) == 1
assert least_utilisation([(90, 120)], 0, 100, 20) == 0.5
full = ['{\"kind\": \"scavenge\", \"time_ns\": 5, \"duration_ns\": 2}', '{\"kind\": \"full\", \"time_ns\": 8, \"duration_ns\": 4}']
assert read_pauses('eden', full) == [(5, 12)], 'a full collection and its scavenge are one pause'
java = '[50ns] Safepoint \"GenCollectForAllocation\", Time since last: 9 ns, Reaching safepoint: 1 ns, At safepoint: 3 ns, Total: 4 ns'
assert read_pauses('serial', [java, java.replace('GenCollectForAllocation', 'ICBufferFull')]) == [(46, 50)]
assert read_pauses('malloc', []) is None" || die "figures computed from known pauses"

# Memory that is not to be had is a result, not an error; it counts in no mean.
expect_status 0 peers --only "gcbench trees" --systems "eden:eden_size=64K,max_heap=2M malloc"
check "
assert rows['gcbench 10']['eden:eden_size=64K,max_heap=2M'] == {'failure': 'out of memory'}, rows
assert 'geometric_means' in written and written['errors'] == [], written"

# A program that prints something else, and one that fails, are errors.
mkdir -p "$folder/liar/bench/peers"
ln -s "$(readlink -f "$build/bench/selftime.so")" "$folder/liar/bench/selftime.so"
ln -s "$(readlink -f "$build/bench/peers/eden")" "$folder/liar/bench/peers/eden"
mkdir "$folder/liar/bench/peers/malloc"
cat >"$folder/liar/bench/peers/malloc/gcbench" <<'LIAR'
#!/usr/bin/env python3
print('{"checksum": 1, "start_ns": 1, "end_ns": 1000001}')
LIAR
printf '#!/bin/sh\necho broken >&2\nexit 1\n' >"$folder/liar/bench/peers/malloc/trees"
chmod +x "$folder/liar/bench/peers/malloc/"*
expect_status 1 peers -B "$folder/liar" --only "gcbench trees"
grep -q "^WRONG: gcbench 10: checksums differ: eden 801521558, malloc 1$" "$folder/out" || die "a wrong checksum passes"
grep -q "^WRONG: trees 10 on malloc: exit status 1: broken$" "$folder/out" || die "a failure passes"

expect_status 1 peers --systems "eden jvm"
grep -q "no system jvm" "$folder/err" || die "a system that does not exist: $(cat "$folder/err")"
echo "the programs agree on: $systems"
