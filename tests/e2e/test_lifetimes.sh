#!/usr/bin/env bash
# edenscope lifetimes: that every object is accounted for (births = deaths + censored, nothing lost) for each way of
# sampling, of attaching and of telling; exact counts where the program's own are known; that nothing samples unless
# lifetimes are asked for, and nothing stays behind in a process that was observed; what a hostile program can do.
# shellcheck source=tests/e2e/common.sh
. "$(dirname "$0")/common.sh"

here=$PWD/tests/e2e
gun=$build/tests/probe_gun
frame=$build/workloads/dataframe
seen=$folder/seen.json

# lifetimes ARGUMENT...: to $seen, with its messages in $folder/err.
lifetimes() {
    "$scope" lifetimes --json -o "$seen" "$@" >"$folder/out" 2>"$folder/err" ||
        die "lifetimes $* gave status $?: $(cat "$folder/err")"
}

# check WHAT PYTHON: the statements about what was `seen`, with the file names that follow in sys.argv.
check() {
    local what=$1 statements=$2
    shift 2
    PYTHONPATH=$folder:$here python3 -c "
import sys
from lives import *
seen = read('$seen')
$statements" "$@" || die "$what: $(cat "$folder/err")"
}

cat >"$folder/lives.py" <<'PYTHON'
import struct, subprocess
from lifetimes_json import *

class Process:
    """Semaphores and heap headers in the memory of a process."""
    def __init__(self, pid, program):
        self.memory = open(f"/proc/{pid}/mem", "rb")
        maps = open(f"/proc/{pid}/maps").read().splitlines()
        base = min(int(line.split("-")[0], 16) for line in maps if line.endswith(program))
        elf = subprocess.run(["readelf", "-hn", program], capture_output=True, text=True, check=True).stdout
        self.bias = base if "DYN" in elf else 0
        self.semaphores = {}
        name = None
        for line in elf.splitlines():
            if "Name:" in line:
                name = line.split()[-1]
            elif "Semaphore:" in line:
                self.semaphores[name] = int(line.split()[-1], 16)
    def at(self, address, form):
        self.memory.seek(address)
        return struct.unpack(form, self.memory.read(struct.calcsize(form)))[0]
    def semaphore(self, probe):
        return self.at(self.semaphores[probe] + self.bias, "<H")
    def control_words(self):
        MAILBOX = 440  # offset in struct eden_heap_info
        heap = self.at(self.semaphores["heap__create"] + self.bias + 16, "<Q")
        found = []
        while heap:
            assert self.at(heap, "<Q") == 0x31706165486e6445
            found.append(self.at(heap + MAILBOX, "<Q"))
            heap = self.at(heap + 24, "<Q")
        return found
PYTHON

need_edenscope

# Everything is accounted for.
for details in "" --details; do
    for sampling in all nth=7 1/3 1/50 bytes=8192 refill=8192 window=2/2; do
        lifetimes $details --sampling "$sampling" -- "$exercise" 2
        grep -q '^done$' "$folder/out" || die "the command's output is not its own"
        check "$details $sampling" "
whole(seen)
assert seen['sampling'] == '$sampling' and seen['mechanism'] == 'vm', seen['sampling']
assert len(seen['heaps']) == 10
assert all(heap['sampling'] == '$sampling' and heap['begun_bytes'] == 0 for heap in seen['heaps'])
if not '$sampling'.startswith('window'): # how much falls into windows is a matter of time
    assert total(seen, 'births') > 100 and total(seen, 'deaths') > 0, total(seen, 'births')
assert all(0 <= row['allocation_share'] <= 1 for row in seen['classes'])
if not '$sampling'.startswith('window'):
    assert abs(sum(row['allocation_share'] for row in seen['classes'] if row['heap'] == 1) - 1) < 1e-9"
    done
done
# One of its heaps is filled up to max_heap: where there is no old space for ephemerons, there is eden.
for mechanism in ephemeron pretenured oracle; do
    lifetimes --sampling all --mechanism $mechanism -- "$exercise"
    check "$mechanism" "
whole(seen)
assert seen['mechanism'] == '$mechanism' and len(seen['heaps']) == 10
assert total(seen, 'births') > 100000 and total(seen, 'deaths') > 0, total(seen, 'births')"
done
lifetimes -- "$exercise"
check "the default" "
whole(seen)
assert seen['sampling'] == 'bytes=524288'"
echo "births = deaths + censored, by each sampling"

# What does not depend on time is the same each time: as sums, as records, by either way of attaching, and where another
# program starts it.
for sampling in all nth=7; do
    lifetimes --sampling "$sampling" -- "$exercise"
    mv "$seen" "$folder/sums.json"
    for way in "--details --" -- "-- env A=1 nice"; do
        # shellcheck disable=SC2086
        switched "NO_MULTI=$([[ $way != -- ]] || echo 1)" lifetimes --sampling "$sampling" $way "$exercise"
        check "$way $sampling is not as without" "
whole(seen)
for kind in 'classes', 'sites':
    one, other = rows(read(sys.argv[1]), kind), rows(seen, kind)
    assert one.keys() == other.keys() and len(one) > 10, (len(one), len(other))
    for name in one:
        for key in ('births', 'deaths', 'censored', 'bytes', 'memory_bytes', 'objects', 'mean_lifetime_bytes',
                    'mean_scavenges', 'mean_fulls', 'class_id'):
            assert one[name][key] == other[name][key], (name, key, one[name], other[name])" "$folder/sums.json"
    done
done
echo "sums and records, multi links and perf events agree to the unit, and nothing is missed behind env and nice"

# Known numbers: per cell two number parsers, fractions and streams and a string; an array a row, and some dozens for columns
# and for what grows.
rows=30000
"$build/workloads/mkdata" --rows $rows >"$folder/data.csv"
for sampling in all 1/10; do
    lifetimes --sampling $sampling -- "$frame" --image 0 "$folder/data.csv"
    check "dataframe $sampling" "
whole(seen)
row = {row['name']: row for row in seen['classes']}
wanted = {'NumberParser': (12, 27.9), 'Fraction': (12, 27.9), 'ReadStream': (12, 27.9), 'ByteString': (6, 13.95),
          'Array': (1, 2.3)}
for name, (each, share) in wanted.items():
    births, objects = row[name]['births'], each * $rows
    if '$sampling' == 'all':
        assert births == row[name]['objects'] and 0 <= births - objects < (100 if name == 'Array' else 1), (name, births)
        assert abs(100 * row[name]['allocation_share'] - share) < 0.06, row[name]
    else: # six standard errors of a coin an object, than which stretches are better here
        assert abs(births - objects / 10) < 6 * (objects * 0.1 * 0.9) ** 0.5, (name, births)
        assert row[name]['objects'] == 10 * births
sites = [site for site in seen['sites'] if site['class'] == 'NumberParser']
assert len(sites) == 2 and {site['class_id'] for site in sites} == {row['NumberParser']['class_id']}
read = [site['births'] for site in seen['sites'] if site['name'] == 'DataFrameCsvReader>>readRow']
assert '$sampling' != 'all' or read == [$rows], read"
done
echo "dataframe's objects are counted exactly"

# Status, output, options.
expect_status 7 "$scope" lifetimes -- sh -c 'exit 7'
expect_status 0 "$scope" lifetimes --sampling all --long-lived 1 -- "$exercise"
grep -q 'Node in new_node' "$folder/err" || die "the table has no sites"
grep -q 'long-lived' "$folder/err" || die "the table has no verdicts"
grep -q 'excludes the' "$folder/err" && die "something was missed from the first instruction on"
expect_status 0 "$scope" lifetimes --sampling all --view csv -- "$exercise"
grep -q 'Node in new_node' "$folder/out" || die "no view is printed"
for bad in --sampling=some --sampling=1/0 --sampling=window=1 --mechanism=magic --mechanism=oracle=3 --long-lived=0 \
    --long-lived=x --view=nonesuch --top=-1; do
    expect_status 1 "$scope" lifetimes "$bad" -- "$exercise"
    grep -q -- "${bad#*=}" "$folder/err" || die "$bad is not named: $(cat "$folder/err")"
    [[ ! -s $folder/out ]] || die "$bad: the command was started"
done
for bad in "-p $$ 0" "-p $$ 1 2" "-p $$ x" "3 -- true" "" "--json --view csv -- true" "-p $$"; do
    # shellcheck disable=SC2086
    expect_status 1 "$scope" lifetimes $bad
    grep -q '^edenscope: ' "$folder/err" || die "'$bad' is not explained"
done
expect_status 1 "$scope" stat --sampling all -- true
grep -q sampling "$folder/err" || die "an option that is not stat's is not named"
# The heap reports its mechanism; if another one was requested, a message says so.
lifetimes --mechanism oracle=16K -- "$exercise"
check "mechanism" "
whole(seen)
assert seen['mechanism'] == 'oracle' or 'did not profile as requested' in open(sys.argv[1]).read()" "$folder/err"
# What is left out is missed.
switched WITHOUT=batch,batch__requested lifetimes --sampling all -- "$exercise"
check "without batch" "assert not seen['classes'] and not any(heap['profiled'] for heap in seen['heaps'])"
switched WITHOUT=class__define lifetimes --sampling all -- "$exercise"
check "without class__define" "assert seen['lost'] == 0 and not any(row['name'] for row in seen['classes'])"
switched WITHOUT=heap__destroy lifetimes --sampling all -- "$exercise"
check "without heap__destroy" "whole(seen)"
echo "statuses, options and what is left out"

# A running process: sampling begins with lifetimes, not with stat, and ends with them.
program=$(readlink -f "$exercise")
EDEN_LOG=$folder/collections "$exercise" 300000 >/dev/null &
target=$!
# collects: waits for a thousand collections of the program.
has_collected() { [[ $(wc -l <"$folder/collections") -gt $1 ]]; }
collects() { until_true "collections" has_collected $(($(wc -l <"$folder/collections") + 1000)); }
semaphore() {
    PYTHONPATH=$folder:$here python3 -c "
import sys
from lives import *
process = Process($target, '$program')
sys.exit(process.semaphore('batch') != $1 or process.semaphore('alloc__sample') != 0)"
}
until_true "the program runs" semaphore 0
"$scope" stat -v -p "$target" 60 >/dev/null 2>"$folder/stat" &
tool=$!
until_true "stat has attached" grep -q 'attached in' "$folder/stat"
semaphore 0 || die "stat makes the program sample"
kill -TERM "$tool"
wait "$tool" || die "stat failed"
for details in "" --details; do
    "$scope" lifetimes $details --sampling nth=3 --json -o "$seen" -p "$target" 2>"$folder/err" &
    tool=$!
    until_true "sampling is on" semaphore 1
    collects
    kill -TERM "$tool"
    wait "$tool" || die "lifetimes -p failed: $(cat "$folder/err")"
    semaphore 0 || die "sampling stays on"
    check "let go of $details" "
whole(seen)
assert seen['sampling'] == 'nth=3', seen
assert any(heap['profiled'] and heap['begun_bytes'] > 0 for heap in seen['heaps']) and total(seen, 'births') > 100
boxes = Process($target, '$program').control_words()
assert boxes == [0] * 10, boxes"
done
"$scope" lifetimes -p "$target" 1 >"$folder/out" 2>"$folder/err" || die "lifetimes -p failed: $(cat "$folder/err")"
grep -q 'excludes the .* allocated before' "$folder/out" || die "what came before is not reported: $(cat "$folder/out")"
rm -f "$folder/err"
# A signal is an end like another; a process that collects no more is not waited for.
"$scope" lifetimes -v --sampling all --json -o "$seen" -p "$target" 2>"$folder/err" &
tool=$!
until_true "attached" grep -q 'attached in' "$folder/err"
collects
kill -STOP "$target"
kill -TERM "$tool"
wait "$tool" || die "interrupted: it failed"
kill -CONT "$target"
check "stopped" "
whole(seen, False)
assert total(seen, 'unreported') > 0 and total(seen, 'unreported') <= total(seen, 'censored')
assert 'did not report the objects alive' in open(sys.argv[1]).read()
assert Process($target, '$program').control_words() == [0] * 10" "$folder/err"
semaphore 0 || die "sampling stays on after a signal"
kill "$target"

# Heaps that do nothing.
mkfifo "$folder/go"
"$exercise" --wait <"$folder/go" >"$folder/rest" &
target=$!
exec 7>"$folder/go"
until_true "the program is ready" grep -q ready "$folder/rest"
lifetimes --sampling all -p "$target" 0.2
check "at rest" "assert not seen['classes'] and seen['lost'] == 0"
rm -f "$folder/err"
# Heaps that collect while the tool is attached read the control word, and report everything.
"$scope" lifetimes -v --sampling all --json -o "$seen" -p "$target" 2>"$folder/err" &
tool=$!
until_true "attached" grep -q 'attached in' "$folder/err"
echo go >&7
exec 7>&-
wait "$target" && wait "$tool" || die "attached to heaps at rest: it failed"
check "woken" "
whole(seen)
assert seen['sampling'] == 'all' and total(seen, 'births') > 1000"
echo "a running process: on, off, and nothing stays"

# What a program says that lies.
for how in "batch__requested" "batch__requested --details" "batch" "batch --details"; do
    read -r batch details <<<"$how"
    # shellcheck disable=SC2086
    switched WITHOUT="$([[ $batch != batch ]] || echo batch__requested)" lifetimes $details -- "$gun" heap__create:0x1000,7,demo \
        $batch:0x1000,2,0x10,5,112 $batch:0x1000,4,0x10,18446744073709551615,120 $batch:0x1000,1,0x10,3,0 \
        $batch:0x1000,0,0x10,1,112 100x$batch:0x1000,3,0x10,7,4000000000 $batch:0x1000,77,0x10,2,16 heap__destroy:0x1000,7,1,1,1,1
    check "lies $how" "assert seen['lost'] > 700 and not seen['classes'], seen"
    grep -q 'unreadable or invalid' "$folder/err" || die "what was lost is not reported"
done
echo "lies are counted as lost"

# A clock that leaps by eleven days and back.
for how in "bytes=8K" "all" "all --details" "all --mechanism=oracle"; do
    # shellcheck disable=SC2086
    lifetimes --sampling $how -- "$build/tests/leaps"
    check "leaps $how" "
assert seen['classes'] and total(seen, 'deaths') > 1000
for heap in seen['heaps']:
    assert 0 < heap['run_ns'] <= seen['wall_ns'], (heap, seen['wall_ns'])
for row in seen['classes'] + seen['sites']:
    assert row['mean_lifetime_ns'] <= heap['run_ns'] and row['mean_lifetime_share'] <= 1, (row, heap)"
done
"$scope" record --lifetimes=details -o "$folder/leaps.data" -- "$build/tests/leaps" 2>"$folder/err"
"$scope" lifetimes -i "$folder/leaps.data" --view csv | python3 -c "
import csv, sys
rows = list(csv.DictReader(sys.stdin))
assert rows and all(0 <= int(row['lifetime_ns']) < 1e11 for row in rows)" || die "an object outlives the observation"
echo "a clock that leaps makes no lifetime longer than its profile"
