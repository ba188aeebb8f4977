#!/usr/bin/env bash
# Processes of an ordinary user that lie, hang and become others: edenscope, as root, shows those that answer, names those
# that do not, and ends; it writes to no other program, and reads none. tests/programs/hostile/hostile.c has the tricks.
# shellcheck source=tests/e2e/common.sh
. "$(dirname "$0")/common.sh"

[[ $EUID -eq 0 ]] || { echo "takes root"; exit 77; }
need_edenscope
# The process that answers is another file: attaching waits for the memory of each process that maps the same one.
install -m 755 "$build/tests/hostile" "$folder/honest"
chmod 755 "$folder"

declare -A pid
# start NAME PROGRAM MODE WORD...: a process of user nobody, in pid[NAME]; its output is in $folder/NAME.out.
start() {
    local name=$1
    shift
    "$1" --seconds 900 --user 65534 "${@:2}" >"$folder/$name.out" 2>"$folder/$name.err" &
    pid[$name]=$!
}
has_begun() { grep -q ready "$folder/$1.out" || ! kill -0 "${pid[$1]}" 2>/dev/null; }
is_there() { kill -0 "${pid[$1]}" 2>/dev/null; }

# With the hostile processes ends whatever hangs in their memory.
end_all() {
    local name
    for name in "${!pid[@]}"; do
        kill -9 "${pid[$name]}" 2>/dev/null || true
    done
    for name in "${!pid[@]}"; do
        wait "${pid[$name]}" 2>/dev/null || true
    done
    pid=()
}
trap 'end_all; cleanup' EXIT

has_ended() { ! kill -0 "$tool" 2>/dev/null; }
# run COMMAND...: ends within a minute; its status is in $status.
run() {
    "$@" >"$folder/out" 2>"$folder/err" &
    tool=$!
    until_true "$* ends" has_ended
    status=0
    wait "$tool" || status=$?
}

# ---- a hundred of them, and one that answers ------------------------------------------------------------------------

tricks=(lock endless classes cycle lengths uffd 'elf overlap' 'elf overlap 4' 'elf many' 'elf symbols' heaps lock classes lock
    endless heaps 'elf overlap' uffd lock 'fuse header')
for ((i = 0; i < 100; i++)); do
    # shellcheck disable=SC2086
    start "$i" "$build/tests/hostile" ${tricks[i % ${#tricks[@]}]}
done
start honest "$folder/honest" honest
for name in "${!pid[@]}"; do
    until_true "$name is ready" has_begun "$name"
done
run "$scope" list -v
[[ $status == 0 ]] || die "list gave status $status: $(cat "$folder/err")"
grep -q "^ *${pid[honest]} .* listed " "$folder/out" || die "a process that answers was lost: $(cat "$folder/err")"
for ((i = 0; i < 100; i++)); do
    if [[ ${tricks[i % ${#tricks[@]}]} == lock ]] && is_there "$i"; then
        grep -q "^edenscope: process ${pid[$i]} (.*not read" "$folder/err" ||
            die "a process whose heaps cannot be read (${pid[$i]}) is not named: $(cat "$folder/err")"
    fi
done
end_all

# ---- a process whose children have more heaps and classes than can be read -------------------------------------------

start family "$build/tests/hostile" family
until_true "family is ready" has_begun family
has_classes() { [[ -n $(find "$folder" -name family -size +200k) ]]; } # without classes half as much
# How far the tool comes until then is the machine's: it is given more time where not all heaps had their turn.
for seconds in 0 10 60; do
    rm -f "$folder/family"
    "$scope" record -o "$folder/family" -p "${pid[family]}" >"$folder/out" 2>"$folder/err" &
    tool=$!
    until_true "classes are recorded" has_classes
    sleep "$seconds"
    kill -INT "$tool"
    until_true "record ends at once" has_ended
    wait "$tool" || die "record gave status $?: $(cat "$folder/err")"
    ! grep -q ' heaps\? beyond its share' "$folder/err" || break
done
grep -q 'not all class names are read' "$folder/err" || die "nothing is said of the classes that were left out: $(cat "$folder/err")"
grep -q ' heaps\? beyond its share' "$folder/err" || die "nothing is said of the heaps that were left out: $(cat "$folder/err")"
run "$scope" report -i "$folder/family"
[[ $status == 0 ]] || die "the recording cannot be read: $(cat "$folder/err")"
end_all

# ---- a semaphore below zero, in the file of the command ---------------------------------------------------------------

start semaphore "$folder/honest" semaphore
until_true "semaphore is ready" has_begun semaphore
run "$scope" stat --json -- "$folder/honest" --seconds 2 heaps 5
[[ $status == 142 ]] || die "stat gave status $status: $(cat "$folder/err")"
grep_all -q 'prevents attaching for all' "$folder/err" || die "nothing is said of the semaphores: $(cat "$folder/err")"
[[ $(tail -1 "$folder/out" | jq '[.processes[].heaps[]] | length') == 5 ]] || die "not all heaps were observed: $(cat "$folder/out")"
end_all

# ---- a program whose file was cut off before its section headers ---------------------------------------------------------

cp "$exercise" "$folder/cut"
truncate -s "$(readelf -h "$folder/cut" | awk '/Start of section headers/ { print $5 }')" "$folder/cut"
mkfifo "$folder/wait"
"$folder/cut" --wait <>"$folder/wait" >"$folder/cut.out" 2>"$folder/cut.err" &
pid[cut]=$!
until_true "cut is ready" has_begun cut
for command in "list $folder/cut" "list -p ${pid[cut]}" "list -v -p ${pid[cut]}" "stat -p ${pid[cut]} 1 1"; do
    # shellcheck disable=SC2086
    run "$scope" $command
    [[ $status == 1 ]] || die "$command gave status $status: $(cat "$folder/out")"
    grep_all -Eq 'its section|not read: 1 mapped file|whether it uses Eden is unknown' "$folder/err" ||
        die "$command says: $(cat "$folder/err")"
    ! grep -q 'does not use Eden\|: 0 probes' "$folder/out" "$folder/err" || die "$command takes it for a program without Eden"
done
run "$scope" stat -- "$folder/cut" 1
grep_all -q 'whether it used Eden is unknown' "$folder/err" || die "a command whose file cannot be read counts as observed: $(cat "$folder/err")"
end_all

# ---- another program in the same process, which goes on with the former one's heap ---------------------------------------

run "$scope" stat --json -- "$folder/honest" handover
[[ $status == 0 ]] || die "stat gave status $status: $(cat "$folder/err")"
[[ $(tail -1 "$folder/out" | jq -c '[.processes[].heaps[] | [.name, .scavenges, .gc_ns]] | sort') == '[[null,1,900000000],["handed",3,3000]]' ]] ||
    die "the former program's heap has changed: $(cat "$folder/out")"

# ---- two hundred that cost as much as they can, and another user's program ------------------------------------------

for ((i = 0; i < 200; i++)); do
    start "$i" "$build/tests/hostile" maps 1500 $((i % 2 == 0 ? 2 : 1500))
done
install -m 755 "$exercise" "$folder/exercise"
mkfifo "$folder/go"
setpriv --reuid 65533 --clear-groups "$folder/exercise" --wait <>"$folder/go" >"$folder/eden.out" 2>"$folder/eden.err" &
pid[eden]=$!
for name in "${!pid[@]}"; do
    until_true "$name is ready" has_begun "$name"
done
run "$scope" list -v
[[ $status == 0 ]] || die "list beside many mappings gave status $status: $(cat "$folder/err")"
grep -q "^ *${pid[eden]} .* pretenuring " "$folder/out" || die "an honest process was lost: $(grep "${pid[eden]}" "$folder/err")"
end_all

# ---- a user who keeps the processors busy, from many sessions, and another user's processes ------------------------------

for ((i = 0; i < 10; i++)); do
    "$folder/honest" --seconds 900 --user 65533 honest >"$folder/$i.out" 2>&1 &
    pid[$i]=$!
done
for name in "${!pid[@]}"; do until_true "$name is ready" has_begun "$name"; done
# They start together, since each that spins would delay the start of the next one, and end with their parent.
cat >"$folder/spin.py" <<'PYTHON'
import os, signal, sys
go, gone = os.pipe()
begun, begin = os.pipe()
parent, count = os.getpid(), int(sys.argv[1])
for i in range(count):
    if os.fork() == 0:
        os.close(gone)
        if sys.argv[2:] == ["sessions"]:
            os.setsid()
        os.setgroups([])
        os.setresuid(65534, 65534, 65534)
        os.read(go, 1)
        os.write(begin, b".")
        while os.getppid() == parent:
            pass
        os._exit(0)
os.close(gone)
while count > 0:
    count -= len(os.read(begun, count))
print("ready", flush=True)
signal.pause()
PYTHON
# spin [sessions]: 40 a processor, whose sessions have one part of the time each, or of this session.
spin() {
    rm -f "$folder/spin.out"
    python3 "$folder/spin.py" $((40 * $(nproc))) "$@" >"$folder/spin.out" 2>"$folder/spin.err" &
    pid[spin]=$!
    until_true "spin is ready" has_begun spin
    is_there spin || die "no process spins: $(cat "$folder/spin.err")"
}
end_spinning() {
    kill -9 "${pid[spin]}"
    wait "${pid[spin]}" 2>/dev/null || true
    unset 'pid[spin]'
}
if nice -n -20 true 2>"$folder/err" && [[ ! -s $folder/err ]]; then
    spin sessions
    run "$scope" list -v
    end_spinning
    [[ $status == 0 ]] || die "list on a busy machine gave status $status: $(cat "$folder/err")"
    for name in "${!pid[@]}"; do
        grep -q "^ *${pid[$name]} .* listed " "$folder/out" ||
            die "a busy user hides another one's process ${pid[$name]}: $(cat "$folder/err")"
    done
fi
# Where it was given a lower priority, it keeps that, and says whose processes it did not come to, and why. How low that
# must be is the machine's.
spin
for lower in 1 3 6 9; do
    run nice -n "$lower" "$scope" list
    [[ $status == 0 ]] || die "list with a lower priority gave status $status: $(cat "$folder/err")"
    ! grep -q "the machine was too busy" "$folder/err" || break
done
end_spinning
grep -q "the machine was too busy: [0-9]* process\(es were\| was\) not looked at, or not in full" "$folder/err" ||
    die "it does not say that the machine is too busy: $(cat "$folder/err")"
grep -Eq "^edenscope: not read, or not in full: .*[0-9]+ of user [0-9]+" "$folder/err" ||
    die "it does not say whose processes were not read: $(cat "$folder/err")"
end_all

# ---- processes with so many groups that the kernel takes long to show their status -------------------------------------

"$folder/honest" --seconds 900 --user 65533 honest >"$folder/honest.out" 2>&1 &
pid[honest]=$!
start groups "$build/tests/hostile" groups 600
for name in honest groups; do until_true "$name is ready" has_begun "$name"; done
if is_there groups; then
    run "$scope" list -v
    [[ $status == 0 ]] || die "list beside many groups gave status $status: $(cat "$folder/err")"
    grep -q "^ *${pid[honest]} .* listed " "$folder/out" || die "many groups hide an honest process: $(cat "$folder/err")"
    "$scope" stat -p "${pid[groups]}" 1 >"$folder/observed" 2>"$folder/err" & # out still has what list printed
    tool=$!
    until_true "a process whose children have many groups is observed" grep -q '^ *[0-9.]* ' "$folder/observed"
    kill -INT "$tool"
    until_true "many groups of children: ^C ends stat" has_ended
    wait "$tool" || die "stat of a process whose children have many groups: status $?: $(cat "$folder/err")"

    # A library that a selected process loads late is found: of the others no status is read again and again.
    cp "$build/tests/plugin.so" "$folder/libbeside.so"
    mkfifo "$folder/late"
    exec 8<>"$folder/late"
    "$build/tests/plugins" wait load "$folder/libbeside.so" begin late wait work 200000 end <&8 >"$folder/late.out" 2>&1 8>&- &
    late=$!
    "$scope" stat -n plugins -n honest 1 >"$folder/observed" 2>"$folder/err" 8>&- &
    tool=$!
    until_true "observing begins beside many groups" grep -q "^ *[0-9.]* *${pid[honest]} " "$folder/observed"
    sleep 2 # what is there then is looked at anyway
    echo >&8
    until_true "a library is found beside many groups" grep -q "^ *[0-9.]* *$late " "$folder/observed"
    echo >&8
    wait "$late" || die "the program with a late library failed: $(cat "$folder/late.out")"
    kill -INT "$tool"
    wait "$tool" || die "stat -n beside many groups: status $?: $(cat "$folder/err")"
    exec 8>&-
fi
end_all

# ---- another program takes the process's place while its memory is read ---------------------------------------------

# left_alone TRICK: fails where the recorder read or wrote the program that came.
left_alone() {
    ! grep -aqs victim-secret "$folder/one.data" || die "exec $1: the names of another program were read"
    ! grep -q written "$folder/one.out" || die "exec $1: another program was written to"
    rm -f "$folder/one.data"
}
start one "$build/tests/hostile" exec read
until_true "exec read is ready" has_begun one
if is_there one; then
    run timeout -s INT 2 "$scope" record -o "$folder/one.data" -p "${pid[one]}"
    left_alone read
fi
end_all
start one "$build/tests/hostile" exec write
until_true "exec write is ready" has_begun one
"$scope" record --lifetimes -o "$folder/one.data" -p "${pid[one]}" >"$folder/out" 2>"$folder/err" &
tool=$!
until_true "asked for lifetimes, exec write becomes another program" grep -q victim "$folder/one.out"
sleep 1 # names are read then
kill -INT "$tool"
until_true "exec write: the recorder ends" has_ended
wait "$tool" || die "record of exec write: status $?: $(cat "$folder/err")"
left_alone write
end_all

# ---- whatever a process says, the first ^C ends the recorder --------------------------------------------------------

for trick in classes lock uffd; do
    start one "$build/tests/hostile" "$trick"
    until_true "$trick is ready" has_begun one
    rm -f "$folder/two.data"
    "$scope" record -o "$folder/two.data" -p "${pid[one]}" >"$folder/out" 2>"$folder/err" &
    tool=$!
    until_true "$trick is recorded" test -e "$folder/two.data"
    kill -INT "$tool"
    until_true "$trick: the recorder ends" has_ended
    wait "$tool" || die "record of $trick: status $?: $(cat "$folder/err")"
    grep -q "process ${pid[one]}.* read" "$folder/err" || die "$trick: what was not read is not reported: $(cat "$folder/err")"
    end_all
done

# ---- however fast a process makes heaps or classes, ^C ends each command ---------------------------------------------

commands=(lifetimes stat "record --force -o $folder/three.data" "record --lifetimes=details --force -o $folder/three.data")
for command in "${commands[@]}"; do
    start one "$build/tests/hostile" define
    until_true "define is ready" has_begun one
    rm -f "$folder/err"
    # shellcheck disable=SC2086
    "$scope" $command -v -p "${pid[one]}" >"$folder/out" 2>"$folder/err" &
    tool=$!
    until_true "$command: attaches" grep -qs 'attached in' "$folder/err"
    sleep 1 # it is busy then
    kill -INT "$tool"
    until_true "$command: ^C ends it" has_ended
    wait "$tool" || die "$command of a process that defines classes without end: status $?: $(cat "$folder/err")"
    is_there one || die "$command: the process ended first"
    end_all
done

# ---- a process whose first thread has ended -------------------------------------------------------------------------

start headless "$folder/honest" headless
until_true "headless is ready" has_begun headless
run "$scope" list -v
grep -q "^ *${pid[headless]} .* listed " "$folder/out" || die "it is not in the list: $(cat "$folder/err")"
run "$scope" stat -p "${pid[headless]}" 1 1
[[ $status -eq 1 ]] && grep -q "${pid[headless]}: its first thread has ended" "$folder/err" ||
    die "it has no figures, and this is not reported (status $status): $(cat "$folder/out" "$folder/err")"
end_all

# ---- a file system that is hidden below another one, and does not answer ---------------------------------------------

start honest "$folder/honest" honest
until_true "honest is ready" has_begun honest
requests=(stat flush) # none where this file system cannot be mounted, as in a chroot, which has no user namespaces
for command in edenscope edenscope-open edenscope-read; do
    for request in stat open read flush; do
        start one "$build/tests/hostile" overlay "$request" "$command"
        until_true "overlay $request is ready" has_begun one
        is_there one || { requests=(); break 2; }
        run "$scope" list -v
        grep -q "^ *${pid[honest]} .* listed " "$folder/out" ||
            die "$request of $command is not answered: a process that answers was lost: $(cat "$folder/err")"
        kill -9 "${pid[one]}"
        wait "${pid[one]}" 2>/dev/null || true
    done
done
# In `stat` likewise, and ^C ends it: the first one is for the command.
stops() {
    kill -INT "$tool" 2>/dev/null || true
    has_ended
}
for request in "${requests[@]}"; do
    cat >"$folder/both.sh" <<END
"$build/tests/hostile" --seconds 900 --user 65534 overlay $request edenscope >"$folder/$request.out" &
echo \$! \$\$ >"$folder/$request.pids"
exec "$exercise" 1000000000 >/dev/null
END
    rm -f "$folder/err"
    "$scope" stat 1 -- sh "$folder/both.sh" >"$folder/out" 2>"$folder/err" &
    tool=$!
    until_true "overlay $request is ready" grep -qs ready "$folder/$request.out"
    read -r pid[one] pid[two] <"$folder/$request.pids"
    until_true "$request of edenscope is not answered: intervals are shown" grep -q '^ *[1-9][0-9]*\.[0-9]* ' "$folder/err"
    until_true "$request of edenscope is not answered: ^C ends it" stops
    kill -9 "${pid[one]}" "${pid[two]}" 2>/dev/null || true # they may have ended with the tool
done
end_all

# ---- a file without probes that looks like an honest one ---------------------------------------------------------------

# The honest one lies in an overlay that is mounted later, and gets the device number that the other one had.
mkdir "$folder/below" "$folder/nothing"
install -m 755 "$exercise" "$folder/below/program"
cat >"$folder/identity.sh" <<END
set -e
"$build/tests/hostile" --user 65534 identity "$folder/below/program" >"$folder/identity.out" 2>"$folder/identity.err" || exit 77
mkdir "$folder/at" "$folder/other"
for ((i = 0; i < 64; i++)); do
    mount -t overlay overlay -o "lowerdir=$folder/below:$folder/nothing" "$folder/at"
    [[ "device \$(stat -c %D "$folder/at/program")" != "\$(head -1 "$folder/identity.out")" ]] || break
    umount "$folder/at"
    mount -t tmpfs other "$folder/other" # takes a number
done
{ sleep 2; echo; } | "$folder/at/program" --wait >/dev/null
END
run "$scope" stat --json -o "$folder/identity.json" -- unshare -m bash "$folder/identity.sh"
if [[ $status == 77 ]]; then
    echo "not tried: another file's identity: $(cat "$folder/identity.err")"
else
    [[ $status == 0 ]] || die "a file that looks like another one: status $status: $(cat "$folder/err")"
    jq -e '[.processes[] | select(.command == "program") | .heaps[]] | length >= 9' "$folder/identity.json" >"$folder/out" ||
        die "a file that looks like another one hides it: $(jq -c . "$folder/identity.json")"
fi

# ---- an exec that does not end: it closes a file whose server does not answer -----------------------------------------

# end_exec NAME...: it waits for its server.
end_exec() {
    local name server
    for name in "$@"; do
        server=$(cat "/proc/${pid[$name]}/task/${pid[$name]}/children")
        # shellcheck disable=SC2086
        kill -9 $server "${pid[$name]}" 2>/dev/null || true
        wait "${pid[$name]}" 2>/dev/null || true
        unset "pid[$name]"
    done
}
# The program that it executes says that it is ready, too.
is_in_exec() { is_there one && [[ $(grep -c ready "$folder/one.out") == 1 ]]; }
start honest "$folder/honest" honest
until_true "honest is ready" has_begun honest
start one "$folder/honest" fuse exec 100
until_true "exec is ready" has_begun one
if is_there one; then
    run "$scope" list -v
    is_in_exec || die "list waits for the end of an exec"
    grep -q "^ *${pid[honest]} .* listed " "$folder/out" || die "an exec hides another process: $(cat "$folder/err")"
    grep -q "process ${pid[one]} (.*not read" "$folder/err" || die "a process in exec is not named: $(cat "$folder/err")"
    end_exec one
    start one "$folder/honest" fuse watch 100
    until_true "watch is ready" has_begun one
    run "$scope" stat -p "${pid[one]}" 1 1
    is_in_exec || die "stat waits for the end of an exec: $(cat "$folder/out" "$folder/err")"
    [[ $status == 0 ]] || die "stat of a process in exec gave status $status: $(cat "$folder/err")"
    end_exec one
    start one "$folder/honest" fuse watch 100
    until_true "watch is ready" has_begun one
    "$scope" stat -p "${pid[one]}" >"$folder/out" 2>"$folder/err" &
    tool=$!
    until_true "^C ends stat of a process in exec" stops
    is_in_exec || die "stat waits for the end of an exec: $(cat "$folder/out" "$folder/err")"
    end_exec one
    # A hundred of them: whose they are is known all the same, and observing the machine begins.
    for ((i = 0; i < 100; i++)); do
        start "$i" "$build/tests/hostile" fuse exec 300
    done
    for name in "${!pid[@]}"; do
        until_true "$name is ready" has_begun "$name"
    done
    run "$scope" list
    grep -q "^ *${pid[honest]} .* listed " "$folder/out" || die "many execs hide another process: $(cat "$folder/err")"
    grep -Eq "^edenscope: not read, or not in full: .*\b[0-9]+ of user 65534" "$folder/err" ||
        die "it does not say whose processes are in exec: $(cat "$folder/err")"
    ! grep -q "unknown users" "$folder/err" || die "processes in exec hide whose others are: $(cat "$folder/err")"
    setpriv --reuid=65533 --clear-groups "$build/tests/exercise" 10000000 >/dev/null &
    pid[busy]=$!
    run "$scope" stat -a --json -o "$folder/stat.json" 1 1 # it would wait for each
    for ((i = 0; i < 100; i++)); do
        [[ $(grep -c ready "$folder/$i.out") == 1 ]] || die "stat -a waits for the end of an exec"
    done
    theirs=$(stat -c %u /proc/[0-9]* 2>/dev/null | grep -c '^65534$')
    [[ $status == 0 ]] || die "stat -a beside processes in exec gave status $status: $(cat "$folder/err")"
    jq -e --argjson pid "${pid[busy]}" '[.processes[] | select(.pid == $pid) | .heaps[]] | length >= 1' \
        "$folder/stat.json" >"$folder/out" || die "processes in exec hide another: $(jq -c . "$folder/stat.json")"
    left=$(sed -nE 's/^edenscope: ([0-9]+) processes were not looked at: they or others .*/\1/p' "$folder/err")
    [[ -n $left && $left -le $theirs ]] || die "of $theirs processes it left out '$left': $(cat "$folder/err")"
    # export counts them while it observes, and at its end those that have ended, too.
    "$scope" export -a --listen 127.0.0.1:0 >"$folder/out" 2>"$folder/err" &
    tool=$!
    until_true "export observes" grep -q 'figures are at' "$folder/err"
    address=$(sed -nE 's/^edenscope: figures are at (.*)/\1/p' "$folder/err")
    shows_refused() {
        curl -sS --max-time 20 "$address" -o "$folder/metrics" &&
            refused=$(sed -n 's/^edenscope_processes_refused //p' "$folder/metrics") && [[ $refused -ge 1 ]]
    }
    until_true "export counts those that it has not looked at" shows_refused
    end_exec {0..99}
    pause 3 # nothing shows that scans have found them ended
    kill -INT "$tool"
    until_true "^C ends export" has_ended
    status=0
    wait "$tool" || status=$?
    [[ $status == 0 ]] || die "export beside processes in exec gave status $status: $(cat "$folder/err")"
    left=$(sed -nE 's/^edenscope: ([0-9]+) processes? w[a-z]+ not looked at: .*/\1/p' "$folder/err")
    # Half of them are in exec: where it ends before they do, their new program is looked at, or counts as missed.
    [[ -n $left && $left -ge $((refused / 4)) && $left -le $theirs ]] ||
        die "of $refused processes that it had not looked at, it knows '$left' once they have ended: $(cat "$folder/err")"
fi
end_all

# ---- workers that hang for ever: a user has a share of them, with all user ids ---------------------------------------

# hung_of GROUP: how many workers of a tool with this group hang. /proc/PID/status waits for no lock.
hung_of() {
    local status count=0
    for status in $(grep -lsx $'Name:\tedenscope-open' /proc/[0-9]*/status); do
        ! grep -qsE $'^Groups:\t'"$1"' ?$' "$status" || count=$((count + 1))
    done
    echo "$count"
}
mark=$((1000000000 + $$ * 10))
# hang_workers START...: 90 processes that hang workers, each begun by START with its number.
hang_workers() {
    local i
    for ((i = 0; i < 90; i++)); do
        "$1" "$i" overlay open edenscope-open
    done
    "$folder/honest" --seconds 900 --user 65533 honest >"$folder/honest.out" 2>&1 &
    pid[honest]=$!
    for name in "${!pid[@]}"; do
        [[ $name == namespace ]] || until_true "$name is ready" has_begun "$name"
    done
    is_there 0 || return 0
    mark=$((mark + 1))
    run setpriv --groups "$mark" "$scope" list -v # its workers have this group, and others' do not
    grep -q "^ *${pid[honest]} .* listed " "$folder/out" ||
        die "$1: another user's processes hang the workers: a process that answers was lost: $(cat "$folder/err")"
    hung=$(hung_of "$mark")
    ((hung > 0 && hung <= 64)) || die "$1: $hung workers hang for one user"
    for ((i = 0; i < 90; i++)); do
        grep -q "process ${pid[$i]} (.*not read" "$folder/err" || die "$1: process ${pid[$i]} is not named: $(cat "$folder/err")"
    done
}
start_of_nobody() { start "$1" "$build/tests/hostile" "${@:2}"; }
hang_workers start_of_nobody
if is_there 0; then
    run "$scope" list
    [[ $(grep -c "^edenscope: process .* not read" "$folder/err") == 8 ]] || die "not eight processes are named: $(cat "$folder/err")"
    more=$(sed -nE 's/^edenscope: ([0-9]+) more process(es were| was) not read, or not in full \(list -v names them\)$/\1/p' "$folder/err")
    ((more >= 82)) || die "the other processes are not counted: $(cat "$folder/err")"
    grep -Eq "^edenscope: not read, or not in full: .*\b[0-9]+ of user 65534" "$folder/err" ||
        die "it does not say whose processes were not read: $(cat "$folder/err")"
fi
end_all
setpriv --reuid=65534 --clear-groups unshare -U sleep 120 &
pid[namespace]=$!
has_namespace() { [[ $(readlink "/proc/${pid[namespace]}/ns/user") != "$(readlink /proc/self/ns/user)" ]] || ! is_there namespace; }
until_true "a namespace" has_namespace
start_in_namespace() {
    "$build/tests/hostile" --seconds 900 --user $(($1 + 1)) --namespace "${pid[namespace]}" "${@:2}" \
        >"$folder/$1.out" 2>"$folder/$1.err" &
    pid[$1]=$!
}
if is_there namespace; then
    for map in uid_map gid_map; do echo 0 100000 100 >"/proc/${pid[namespace]}/$map"; done
    hang_workers start_in_namespace
fi
end_all

# ---- threads that end before they are used --------------------------------------------------------------------------

start threads "$build/tests/hostile" threads
until_true "threads is ready" has_begun threads
until_true "its first thread ends" grep -q '^State:.*Z' "/proc/${pid[threads]}/status"
for ((i = 0; i < 10; i++)); do
    run "$scope" stat -p "${pid[threads]}" 1 1
    grep -q "${pid[threads]}.*: its first thread has ended\|${pid[threads]} .* cannot be read: its threads end too fast" "$folder/err" ||
        die "the reason why a process cannot be observed is not reported: $(cat "$folder/err")"
done
end_all

# ---- a file that cannot be opened -----------------------------------------------------------------------------------

cat >"$folder/lease.py" <<'PYTHON'
import fcntl, mmap, os, signal, sys
signal.signal(signal.SIGIO, signal.SIG_IGN)
file = os.open(sys.argv[1], os.O_RDWR | os.O_CREAT, 0o600)
os.ftruncate(file, 4096)
page = mmap.mmap(file, 4096, mmap.MAP_PRIVATE, mmap.PROT_READ | mmap.PROT_EXEC)
fcntl.fcntl(file, fcntl.F_SETLEASE, fcntl.F_WRLCK)  # an open of the file waits until the lease is given back
print("ready", flush=True)
signal.pause()
PYTHON
python3 "$folder/lease.py" "$folder/leased" >"$folder/lease.out" 2>"$folder/lease.err" &
pid[lease]=$!
until_true "lease is ready" has_begun lease
run "$scope" stat -p "${pid[lease]}"
[[ $status == 1 ]] && grep -q "whether it uses Eden is unknown, because 1 of its mapped files cannot be opened" "$folder/err" ||
    die "stat -p takes a file that it cannot open for one without probes: $(cat "$folder/err")"
run "$scope" list -v
grep -q "^edenscope: process ${pid[lease]} (.*): not read: 1 mapped file$" "$folder/err" ||
    die "list does not count a file that it cannot open: $(cat "$folder/err")"
end_all

# ---- heaps that cannot be read are not none -------------------------------------------------------------------------

start locked "$build/tests/hostile" lock
until_true "locked is ready" has_begun locked
run "$scope" list -p "${pid[locked]}"
grep -q "^ *${pid[locked]} .*(unreadable)" "$folder/out" || die "list takes heaps that it cannot read for none: $(cat "$folder/out")"
run "$scope" list --json -p "${pid[locked]}"
jq -e '.processes[0] | has("heaps") and .heaps == null' "$folder/out" >/dev/null || die "so does its JSON: $(cat "$folder/out")"
end_all

# ---- too little memory for the tool itself --------------------------------------------------------------------------

start honest "$folder/honest" honest
until_true "honest is ready" has_begun honest
# Enough to start with, and not to read a process.
for ((limit = 1200; limit < 4000; limit += 10)); do
    run bash -c "ulimit -d $limit && exec \"\$@\"" - "$scope" list
    ! grep -q 'could not read .* out of memory' "$folder/err" || break
    [[ $status != 0 ]] || die "list ends with status 0 with $limit KiB, and less is too little to start with"
done
[[ $status == 1 ]] && ! grep -q 'no process uses Eden' "$folder/err" ||
    die "list with too little memory gives status $status: $(cat "$folder/out" "$folder/err")"
run bash -c "ulimit -d $limit && exec \"\$@\"" - "$scope" stat -p "${pid[honest]}"
[[ $status == 2 ]] && grep -q 'too little memory' "$folder/err" || die "stat -p with too little memory: $(cat "$folder/err")"
end_all
