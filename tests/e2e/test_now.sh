#!/usr/bin/env bash
# "It hangs: is it the collector?" A process that stands still in the middle of a collection, attached to then: list and
# stat say in which phase, and since when; the parameters in force and the classes are read from its header.
# shellcheck source=tests/e2e/common.sh
. "$(dirname "$0")/common.sh"

need_edenscope
held=$(readlink -f "$build/tests/held")
enter_folder
export EDEN_STATS=$folder/own

# hold OPTIONS PROGRAM...: starts it and waits until it stands still; sets $pid.
hold() {
    rm -f said
    mkfifo line
    EDEN_OPTIONS=$1 "${@:2}" <line >said &
    pid=$!
    exec 7>line
    rm line
    for _ in {1..6000}; do
        [[ -s said ]] && return
        sleep 0.01
    done
    die "the program does not stand still"
}

release() {
    echo >&7
    exec 7>&-
    wait "$pid" || die "the program failed"
}

# says PYTHON: of $heap, as the last JSON has it.
says() { python3 -c "
import json, sys
heap = json.load(open('out'))['processes'][0]['heaps'][0]
assert $1, heap"; }

# ---- in a phase of a full collection ----

hold policy=fixed,eden_size=1M,tenure_fill=0.5 "$held" 2
expect_status 0 "$scope" list -p "$pid"
grep -q 'NOW$' out && grep -Eq 'in full\.mark for [0-9.]+ [mun]?s$' out || die "list: $(cat out)"
expect_status 0 "$scope" list -p "$pid" --json
says "heap['activity'] == 'stopped' and heap['phase'] == 'full.mark'"
says "heap['activity_for_ns'] >= heap['phase_for_ns'] > 0" # it began with the scavenge
expect_status 0 "$scope" stat -p "$pid" 0.05 2
[[ $(grep -Ec 'in full\.mark for [0-9.]+ [mun]?s$' out) == 2 ]] || die "stat: $(cat out)"
expect_status 0 "$scope" stat -p "$pid" --json 0.05 1
says "heap['collection']['known'] and heap['collection']['phase'] == 'full.mark'"
says "heap['collection']['since_ns'] <= heap['collection']['phase_since_ns'] < heap['collection']['until_ns']"
says "heap['stopped_ns'] < heap['collection']['until_ns'] - heap['collection']['since_ns']" # only what was observed
echo "held in a phase: list and stat say in which"

# Stopped, too: the phase is that of its header, and nothing goes on in it.
kill -STOP "$pid"
expect_status 0 "$scope" list -p "$pid"
grep -Eq 'in full\.mark for [0-9.]+ [mun]?s, process stopped$' out || die "list of a stopped process: $(cat out)"
kill -CONT "$pid"

# ---- what it was before is known, too ----

expect_status 0 "$scope" list -p "$pid" --params --classes
for line in 'eden_size +1M  \(set\)' 'tenure_fill +0\.5  \(set\)' 'policy +fixed  \(set\)' 'max_heap +none' ' 1  Node'; do
    grep -Eq "$line\$" out || die "no $line: $(cat out)"
done
expect_status 0 "$scope" list -p "$pid" --params --classes --json
says "heap['parameters']['eden_size'] == {'value': '1048576', 'set': True}"
says "not heap['parameters']['max_heap']['set'] and len(heap['parameters']) > 15"
says "heap['classes'] == [{'index': 1, 'class': 1, 'name': 'Node'}] and heap['all_classes']"

"$scope" record -p "$pid" -o held.data 2>record.err &
recorder=$!
for _ in {1..600}; do
    "$scope" script -i held.data --probe class__define >out 2>err || true
    [[ -s out ]] && break
    sleep 0.05
done
release
wait "$recorder" || die "record: $(cat record.err)"
expect_status 0 "$scope" script -i held.data --probe param__set
grep -q "name='eden_size' value='1048576'" out && grep -q "name='policy' value='fixed'" out || die "script: $(cat out)"
expect_status 0 "$scope" report -i held.data --json
says "all(heap[name] == value for name, value in json.loads(open('own').readline()).items() if name not in ('pid', 'parameters'))"
# The collection under way at attach ended in the recording, and the later header has its cause: it is counted there.
says "heap['window']['full_collections'] == 2 == heap['window']['full_by_cause']['request']"
expect_status 0 "$scope" report -i held.data
grep -Eq '^    cause: request +3: .*; while recorded: 2$' out && ! grep -q 'cause: ?' out || die "causes: $(cat out)"
expect_status 0 "$scope" tune -i held.data
! grep -q "defaults are assumed" out err || die "tune: $(cat out err)"
rm own
echo "attached late: parameters and classes are known, figures as EDEN_STATS"

# ---- what a recording shows of a collection that has not ended ----

hold policy=fixed,eden_size=1M,tenure_fill=0.5 "$held" 2
rm -f record.err
"$scope" record -v -p "$pid" -o under.data 2>record.err &
recorder=$!
until_true "record is attached" grep -q 'attached in' record.err
sleep 0.1 # some time in which the program stands still
kill -INT "$recorder"
wait "$recorder" || die "record: $(cat record.err)"
for view in stops pauses timeline phases causes; do
    expect_status 0 "$scope" report -i under.data --view $view --json
    cp out under.$view
done
python3 - <<'PYTHON'
import json
rows = {view: json.load(open(f"under.{view}"))["heaps"][0] for view in ("stops", "pauses", "timeline", "phases", "causes")}
(stop,) = rows["stops"]["stops"]
assert stop["kind"] == "full collection, not ended" and stop["ns"] > 0, stop
assert [row["kind"] for row in rows["pauses"]["pauses"]] == ["scavenges", "full collections", "all", "not ended"]
assert rows["pauses"]["pauses"][2]["count"] == 0
parts = [row["utilisation"] for row in rows["pauses"]["minimum_mutator_utilisation"] if row["utilisation"] is not None]
assert parts and all(part == 0 for part in parts), parts
shares = [interval["stopped"] for interval in rows["timeline"]["intervals"]]
assert all(share > 0.9 for share in shares[:-1]), shares
phases = {row["phase"]: row for row in rows["phases"]["phases"]}
assert set(phases) == {"full", "full.mark"} and all(row["share"] > 0.8 and row["calls"] == 0 for row in phases.values()), phases
(cause,) = rows["causes"]["causes"]
assert cause["kind"] == "full collections" and cause["count"] == 0 and cause["share"] > 0.8, cause
PYTHON
release
rm own
echo "and so do the views of a recording"

# ---- in the scavenge before it, and in none ----

hold eden_size=2M "$held" 1
expect_status 0 "$scope" list -p "$pid"
grep -Eq 'in scavenge\.roots for ' out || die "list: $(cat out)"
release
rm own

hold "" "$build/tests/giveback"
expect_status 0 "$scope" list -p "$pid" --json
says "heap['activity'] == 'running' and heap['phase'] is None and heap['activity_for_ns'] > 0"
expect_status 0 "$scope" stat -p "$pid" 0.05 1
grep -Eq '  -$' out || die "stat: $(cat out)"
kill -STOP "$pid"
expect_status 0 "$scope" list -p "$pid"
grep -q '  process stopped$' out || die "list of a stopped process: $(cat out)"
expect_status 0 "$scope" stat -p "$pid" 0.05 1
grep -q '  process stopped$' out || die "stat of a stopped process: $(cat out)"
kill -CONT "$pid"
echo >&7 # it waits twice
echo "in a scavenge, and in no collection"

# ---- by another clock ----

release
rm own
if unshare -T --monotonic=-1000 --fork true 2>/dev/null; then
    hold eden_size=1M unshare -T --monotonic=-1000 --fork "$held" 1
    inner=$(cat "/proc/$pid/task/$pid/children")
    expect_status 0 "$scope" list -p "${inner% }" --json
    says "heap['phase'] == 'scavenge.roots' and 0 < heap['phase_for_ns'] < 900e9"
    expect_status 0 "$scope" stat -p "${inner% }" --json 0.05 1
    says "heap['collection']['until_ns'] - heap['collection']['since_ns'] < 900e9"
    release
    rm own
    echo "in another time namespace"
else
    echo "not tried: another time namespace, which this kernel refuses"
fi

# ---- many classes ----

# All are shown, or it is said that they are not; and one user's do not take the room of another's.
hold eden_size=1M "$held" 1 9000
for _ in {1..5}; do
    expect_status 0 "$scope" list -p "$pid" --classes --json
    if [[ -s err ]]; then
        grep -q "process $pid (held.*not read in full" err || die "$(cat err)"
        says "not heap['all_classes']"
    else
        says "heap['all_classes'] and len(heap['classes']) == 9001"
    fi
done
[[ ! -s err ]] || die "none of the looks was whole: $(cat err)"
chmod 755 . # the other user's program is run here
cp "$held" other
pids=()
for user in 0 0 65534 65530; do
    mkfifo "line.${#pids[@]}"
    env -u EDEN_STATS setpriv --reuid "$user" --clear-groups "$PWD/other" 1 "$([[ $user == 0 ]] && echo 60000 || echo 5)" \
        <"line.${#pids[@]}" >"said.${#pids[@]}" &
    pids+=($!)
done
exec 6>line.3 8>line.0 9>line.1 10>line.2
for said in said.0 said.1 said.2 said.3; do
    until_true "it stands still" test -s $said
done
expect_status 0 "$scope" list --classes --json
python3 - "${pids[@]}" <<'PYTHON'
import json, sys
processes = {process["pid"]: process for process in json.load(open("out"))["processes"] if process["heaps"]}
first, second, other, _ = (processes[int(pid)]["heaps"][0] if int(pid) in processes else None for pid in sys.argv[1:])
assert other["all_classes"] and len(other["classes"]) == 6, other
shown = sum(len(heap["classes"]) for heap in (first, second) if heap)
assert shown < 2 * 60001, shown # more than there is room for
PYTHON

# Whose a process is: by name where /etc/passwd has one, else by number.
[[ $(jq -c ".processes[] | select(.pid == ${pids[2]}, .pid == ${pids[3]}) | [.uid, .user]" out | sort) == \
    $'[65530,null]\n[65534,"nobody"]' ]] || die "users: $(jq -c '.processes[] | [.pid, .uid, .user]' out) $(cat err)"
expect_status 0 "$scope" list
for line in "${pids[0]}  root  " "${pids[2]}  nobody  " "${pids[3]}  65530  "; do
    grep -q "^ *$line *other  " out || die "no line with '$line': $(cat out)"
done
for stream in 6 8 9 10; do
    echo >&$stream
done
wait "${pids[@]}"
exec 6>&- 8>&- 9>&- 10>&-
echo "all classes, and those of each user, who are named"

# ---- mistakes ----

expect_status 1 "$scope" list -p 4194304
grep -q "process 4194304 does not exist" err || die "$(cat err)"
expect_status 1 "$scope" list --params "$held"
grep -q "give them without FILE" err || die "$(cat err)"
expect_status 1 "$scope" list -p $$
grep -q "does not use Eden" err || die "$(cat err)"
echo "mistakes are named"
