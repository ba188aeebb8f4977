#!/usr/bin/env bash
# Why a pause is long: what the collecting thread does meanwhile is distinguished by the kernel, adds up to the time of the
# collections but for a twentieth, and is in stat, in a recording, and in the metrics.
# shellcheck source=tests/e2e/common.sh
. "$(dirname "$0")/common.sh"

need_edenscope
program=$(readlink -f "$build/tests/pauses") crowds=$(readlink -f "$build/tests/crowds")
enter_folder

# The time of page faults is known where the kernel lets programs watch them, and otherwise null.
"$scope" doctor >doctor.text || true
if grep -q 'distinguished: .* sleep, page faults$' doctor.text; then
    measured=True
else
    measured=False
    echo "the kernel lets no program watch page faults: their time must be unknown"
fi

# says WHAT PYTHON: of `all` and `longest`, sums over scavenges and full collections, and the `visits` of the program, as
# stat's JSON in seen.json has it. Time without a cause is at most a twentieth.
says() {
    python3 -c "
import json
heap = json.load(open('seen.json'))['processes'][0]['heaps'][0]
phases = [heap['phases'][name] for name in ('scavenge', 'full')]
all = {key: sum(phase['time'][key] or 0 for phase in phases) for key in phases[0]['time']}
longest = {key: max(phase['longest'][key] or 0 for phase in phases) for key in all}
total = sum(phase['total_ns'] for phase in phases)
visits = int(open('out').read().split()[0])
assert visits >= 6, visits
for phase in phases:
    known = sum(value or 0 for key, value in phase['time'].items() if key.endswith('_ns') and key != 'unknown_ns')
    assert [phase[of]['faulting_ns'] is not None for of in ('time', 'longest')] == [$measured] * 2, phase
    assert phase['time']['unknown_ns'] == max(0, phase['total_ns'] - known), phase
assert all['unknown_ns'] * 20 <= total, (all, total)
assert $2, (all, longest, visits, total)" || die "$1"
}

observe=("$scope" stat --json -o seen.json --)

expect_status 0 "${observe[@]}" "$program" sleep 3
says sleep "all['asleep_ns'] >= visits * 20_000_000 and longest['asleep_ns'] >= 20_000_000 and all['throttled_ns'] == 0"
expect_status 0 "${observe[@]}" "$program" fault 3
says fault "all['faults'] >= visits * 256 and longest['faults'] >= 256 and all['asleep_ns'] < total / 2"
says "time in page faults" "not $measured or all['faulting_ns'] > longest['faulting_ns'] > 0"
expect_status 0 "${observe[@]}" "$program" write 3 "$folder/written"
says write "all['disk_ns'] > 0 or all['asleep_ns'] > 0"
expect_status 0 "${observe[@]}" "$program" read 3 "$folder/written" # of a file system in memory, nothing is read
says read "all['disk_faults'] == 0 or all['disk_ns'] > 0 or all['asleep_ns'] > 0"
expect_status 0 "${observe[@]}" "$program" fault 0
jq -e '[.processes[].heaps[].phases[]] == []' seen.json >/dev/null || die "no collection: $(cat seen.json)"
expect_status 0 "${observe[@]}" "$program" burn 3
says burn "all['working_ns'] >= visits * 95_000_000 and longest['working_ns'] >= 95_000_000"
echo "the causes of pauses are distinguished, and add up"

# A thread that executes a program in a collection takes the first thread's id. Nothing is left of the one that it had.
cat >executes.sh <<'COMMAND'
"$1" exec 20 >&2 || exit
for id in $(sed -n 's/^map_id:[[:space:]]*//p' /proc/$PPID/fdinfo/*); do
    ! bpftool map show id "$id" | grep -qw 'name pausing' || bpftool map dump id "$id" -j
done
COMMAND
expect_status 0 "${observe[@]}" sh executes.sh "$program"
grep -q '^\[' out || die "the tool's map is not found: $(cat out err)"
! grep -q '"key"' out || die "threads that are no more have pauses: $(cat out)"
echo "a thread is forgotten with its program"

# Threads of one process that hit probes at the same moment take no more room than its heaps have, and spoil nobody else's
# figures.
cat >crowd.sh <<'COMMAND'
mkfifo input
"$1" "$2" "$3" <input >answer &
exec 4>input
until [[ -s answer ]]; do sleep 0.05; done
for id in $(sed -n 's/^map_id:[[:space:]]*//p' /proc/$PPID/fdinfo/*); do
    ! bpftool map show id "$id" | grep -qw "name $4" || bpftool map dump id "$id" -j
done
exec 4>&-
wait
rm input answer
COMMAND
expect_status 0 "${observe[@]}" bash crowd.sh "$crowds" begin 1000 pausing
[[ $(jq length out) == 1 ]] || die "threads that begin at once: $(jq length out) are in pauses, of one heap"
expect_status 0 "${observe[@]}" bash crowd.sh "$crowds" phases 200 users
jq -e '[.[].formatted.value.histograms] | add == 200 * 4' out >/dev/null || die "histograms of 200 heaps: $(cat out)"
expect_status 0 "${observe[@]}" "$crowds" turns 6
jq -e '[.processes[].heaps[] | select(.name == "victim") | .phases.scavenge] |
    length == 1 and .[0].time.faults == 0 and .[0].calls > 100 and (.[0].time.faulting_ns // 0) == 0' seen.json >/dev/null ||
    die "another process spoils the causes of pauses: $(cat seen.json)"
jq -e '[.processes[].heaps[].phases.scavenge | select(. != null).time | select(. != null).faults] | add < 10000000' seen.json >/dev/null ||
    die "what another process did is in one's own sums: $(cat seen.json)"
echo "a crowd of threads spoils its own figures only"

# Two programs that compute have one processor: each waits for the other.
one=$(taskset -pc $$ | sed 's/.*: //; s/[-,].*//')
taskset -c "$one" "$program" burn 100 >/dev/null &
other=$!
children+=("$other")
expect_status 0 "${observe[@]}" taskset -c "$one" "$program" burn 3
kill "$other" && wait "$other" || true
says "two programs on one processor" "all['no_cpu_ns'] > all['asleep_ns'] and all['no_cpu_ns'] > 0 and all['working_ns'] >= visits * 95_000_000"
echo "waiting for a processor is distinguished"

# A control group with a tenth of a processor, a millisecond at a time: less than the scheduler gives at once.
group= period=
for root in /sys/fs/cgroup /sys/fs/cgroup/cpu; do
    if [[ -e $root/cgroup.controllers ]] && grep -qw cpu "$root/cgroup.subtree_control"; then
        group=$root/eden-test-$$ limit=cpu.max text="1000 10000"
    elif [[ -e $root/cpu.cfs_quota_us ]]; then
        group=$root/eden-test-$$ limit=cpu.cfs_quota_us text=1000
        period=10000
    fi
done
if [[ -n $group ]] && mkdir "$group"; then
    [[ -z $period ]] || echo "$period" >"$group/cpu.cfs_period_us"
    echo "$text" >"$group/$limit"
    expect_status 0 "${observe[@]}" sh -c "echo \$\$ >$group/cgroup.procs && exec $program burn 3"
    rmdir "$group"
    says "a group's CPU limit" "all['throttled_ns'] > all['no_cpu_ns'] and all['throttled_ns'] > all['working_ns']"
    echo "time that a control group takes is distinguished"
else
    echo "no control group with CPU limits: not tried"
fi

# What the recording keeps is the same, and so is what people read.
expect_status 0 "$scope" record -o r.data -- "$program" sleep 3
visits=$(cut -d' ' -f1 out)
expect_status 0 "$scope" report -i r.data
grep -q '^# Where the time went .* Asleep .* Unknown' out || die "report: $(cat out)"
grep -q '^# Asleep: ' out || die "the report does not say what Asleep is: $(cat out)"
slept=$(sqlite3 r.data "SELECT sum(asleep_ns) FROM phase")
((slept >= visits * 20000000)) || die "recording: asleep for $slept in $visits visits"
expect_status 0 "$scope" stat -- "$program" sleep 3
grep -q 'Where the time went .* Asleep' err || grep -q 'Where the time went .* Asleep' out || die "stat: $(cat out err)"
echo "stat, a recording and its report have it"

# A moment has one cause: those of a pause add up to the time between its two probes, however often the thread waits and
# is in a page fault. Only if it is preempted in the kernel program of the second one do they have more.
for what in fault read; do
    rm -f all.data
    expect_status 0 "$scope" record -o all.data -- "$program" "$what" 10 "$folder/written"
    python3 - all.data $measured <<'PYTHON' || die "causes and pauses of $what differ"
import sqlite3, sys
file = sqlite3.connect(sys.argv[1])
causes = [name for _, name, *_ in file.execute("PRAGMA table_info(pause)") if name.endswith("_ns")]
assert len(causes) == 6, causes
rows = file.execute(f"SELECT done_ns - start_ns, {', '.join(causes)} FROM collection").fetchall()
assert len(rows) >= 20, rows
for row in rows:
    assert all(value >= 0 for value in row if value is not None), row
    assert (dict(zip(causes, row[1:]))["faulting_ns"] is not None) == (sys.argv[2] == "True"), row
    assert sum(filter(None, row[1:])) >= row[0], row
exact = sum(sum(filter(None, row[1:])) == row[0] for row in rows)
assert exact * 2 > len(rows), rows
PYTHON
done
echo "the causes of a pause add up to it"

# Each pause by itself: they add up to the same, and the unknown time is what is left.
expect_status 0 "$scope" report -i r.data --view stops --json
python3 - out r.data <<'PYTHON' || die "--view stops: $(cat out)"
import json, sqlite3, sys
(heap,) = json.load(open(sys.argv[1]))["heaps"]
stops = heap["stops"]
causes = "working_ns", "disk_ns", "no_cpu_ns", "throttled_ns", "asleep_ns", "faulting_ns"
assert len(stops) == 3 and all(stop["kind"] == "full collection" for stop in stops), stops
for stop in stops:
    assert stop["asleep_ns"] >= 2 * 20_000_000, stop # of the scavenge, and of the full collection
    assert stop["unknown_ns"] == max(0, stop["ns"] - sum(stop[name] or 0 for name in causes)), stop
file = sqlite3.connect(sys.argv[2])
for name in causes + ("faults", "disk_faults"):
    whole = file.execute(f"SELECT sum({name}) FROM phase WHERE phase IN ('scavenge', 'full')").fetchone()[0]
    singly = file.execute(f"SELECT sum({name}) FROM collection").fetchone()[0]
    assert whole == singly, (name, whole, singly)
    assert sum(stop[name] or 0 for stop in stops) == (whole or 0), (name, whole)
PYTHON
cp r.data older.data
sqlite3 older.data "DROP VIEW collection; ALTER TABLE pause DROP COLUMN faulting_ns;
    ALTER TABLE phase DROP COLUMN faulting_ns; ALTER TABLE phase DROP COLUMN longest_faulting_ns"
expect_status 0 "$scope" report -i older.data
grep -q '^# Where the time went .* Faulting' out || die "an older recording: $(cat out)"
grep -Eq '^  full .* \? ' out || die "page faults in an older recording: $(cat out)"
expect_status 0 "$scope" report -i older.data --view stops --json
jq -e '[.heaps[].stops[] | .faulting_ns == null and .working_ns > 0 and .asleep_ns > 0] | length == 3 and all' out >all ||
    die "page faults in an older recording: $(cat out)"
# Causes that are longer than their pauses are nobody's measurement.
cp r.data false.data
sqlite3 false.data "UPDATE pause SET working_ns = 1 << 62, disk_faults = -1; UPDATE phase SET working_ns = 1 << 62"
expect_status 0 "$scope" report -i false.data
grep -Eq '[0-9]{9} s' out && die "false causes: $(cat out)"
expect_status 0 "$scope" report -i false.data --view stops --json
jq -e '[.heaps[].stops[] | .working_ns == null and .asleep_ns == null and .unknown_ns == .ns and .disk_faults == 0]
    | length == 3 and all' out >all || die "false causes: $(cat out)"
sqlite3 r.data "DROP VIEW collection; DROP TABLE pause"
expect_status 0 "$scope" report -i r.data --view stops --json
jq -e '[.heaps[].stops[] | .asleep_ns == null and .unknown_ns == .ns] | length == 3 and all' out >all ||
    die "an older recording: $(cat out)"
echo "each pause is explained"

# A kernel that lets no program watch page faults: their time is unknown, not zero, and the rest is as before.
measured=False
switched NO_FAULTS=1 expect_status 0 "$build/tests/edenscope" stat --json -o seen.json -- "$program" fault 3
says "page faults that are not watched" "all['faults'] >= visits * 256 and all['working_ns'] > 0"
switched NO_FAULTS=1 expect_status 0 "$build/tests/edenscope" stat -o seen.text -- "$program" fault 3
grep -q 'Where the time went .* Faulting' seen.text || die "no column: $(cat seen.text)"
grep -Eq '^  full .* \? ' seen.text || die "not unknown: $(cat seen.text)"

# A kernel that cannot: nothing of it is said.
switched NO_PAUSES=1 expect_status 0 "$build/tests/edenscope" stat --json -o seen.json -- "$program" sleep 3
python3 -c "
import json
phases = json.load(open('seen.json'))['processes'][0]['heaps'][0]['phases']
assert phases['full']['calls'] == 3 and phases['full']['time'] is None and phases['full']['longest'] is None, phases
assert 'time' not in phases['full.mark']" || die "without kernel programs: $(cat seen.json)"
echo "where the kernel cannot say it, it is unknown"
