#!/usr/bin/env bash
# record --rotate: whatever happens is in a file, also while the files change; --keep removes the oldest recordings of
# this name and nothing else; however it ends, each file is whole.
# shellcheck source=tests/e2e/common.sh
. "$(dirname "$0")/common.sh"
need_edenscope
enter_folder

"$exercise" 300000 >/dev/null 2>&1 &
target=$!

tail='(\.[0-9a-f]{6})?' # where the second was taken
files() { find . -maxdepth 1 -regextype posix-extended -regex "\./$1\.[^.]*Z$tail" -printf '%f\n' | sort; }
has_files() { (($(files "$1" | wc -l) >= $2)); }
# rotate NAME ARGUMENT...: records it in the background, as $tool.
rotate() {
    "$scope" record -o "$1" --rotate 1 -p "$target" "${@:2}" 2>"$1.err" &
    tool=$!
}
stop() {
    kill -"${1:-INT}" "$tool"
    wait "$tool" || die "record --rotate gave status $?: $(cat ./*.err)"
}

finished() { sqlite3 "$1" "SELECT value FROM meta WHERE key = 'finished'"; }

# Files NAME.TIME are whole, and no collection of a heap is missing in them, or between two of them.
are_whole() {
    local name
    for name in $(files "$1"); do
        [[ $(finished "$name") == 1 ]] || die "$name is not whole"
    done
    files "$1" | python3 -c '
import sqlite3, sys
passes = "SELECT heap, heap_id, seq FROM scavenge__done UNION SELECT heap, heap_id, seq FROM full__done ORDER BY seq"
last = {}
for name in sys.stdin.read().split():
    for address, number, seq in sqlite3.connect(name).execute(passes).fetchall():
        heap = address, number
        if seq > last.get(heap, seq - 1) + 1:
            sys.exit(f"{name}: after collection {last[heap]} of heap {heap} comes {seq}")
        last[heap] = max(seq, last.get(heap, 0))
assert len(last) > 1, last
' || die "the files of a rotation do not hold all"
}

# ---- nothing is missed ------------------------------------------------------------------------------------------------

rotate whole.data
until_true "a fourth file" has_files whole.data 4
stop
are_whole whole.data
[[ ! -e whole.data ]] || die "whole.data was written, too"

# A stop while the next file's recorder attaches: until it observes, the one before does not end. It is stopped before it
# has made its file: the look must come at once, so it starts no process, and does not sleep.
begins_next() {
    local end=$((SECONDS + 60))
    while ((SECONDS < end)); do
        read -ra recorders <"/proc/$tool/task/$tool/children" || true # its line has no end
        if ((${#recorders[@]} == 2)); then
            kill -STOP "${recorders[1]}"
            return
        fi
    done
    die "no second recorder"
}
has_children() { (($(wc -w <"/proc/$tool/task/$tool/children") == $1)); }
# begin_next NAME: rotates it, until a recorder of a next file is stopped in recorders[1].
begin_next() {
    rotate "$1"
    until_true "a first file" has_files "$1" 1
    while true; do
        until_true "a recorder alone" has_children 1
        count=$(files "$1" | wc -l)
        begins_next
        (($(files "$1" | wc -l) > count)) || break
        kill -CONT "${recorders[1]}"
    done
}
begin_next stopped.data
kill -INT "$tool"
for ((i = 0; i < 10; i++)); do
    sleep 0.1
    kill -0 "${recorders[0]}" 2>/dev/null || die "a stop ended a recorder before the next one observed"
done
kill -CONT "${recorders[1]}"
wait "$tool" || die "a stop while the next file's recorder attached gave status $?: $(cat stopped.data.err)"
are_whole stopped.data

# A second stop does not wait for it: that file is not begun, and the message is about it alone.
begin_next twice.data
kill -INT "$tool"
sleep 0.1
kill -INT "$tool"
has_gone() { ! kill -0 "${recorders[0]}" 2>/dev/null; }
until_true "the recorder of the last file ends" has_gone
kill -CONT "${recorders[1]}"
wait "$tool" || die "a second stop gave status $?: $(cat twice.data.err)"
are_whole twice.data
tail -1 twice.data.err | grep -Eq '^edenscope: interrupted while attaching: twice\.data\.[^ ]*Z was not begun; the files before it are complete$' ||
    die "a second stop does not say which file was not begun: $(cat twice.data.err)"

# A second stop ends a recorder that stays stopped, too.
begin_next still.data
kill -INT "$tool"
sleep 0.5 # two signals at once are one
kill -0 "$tool" 2>/dev/null || die "a stop did not wait for the next file's recorder"
stop

# On a terminal that stops what writes to it from another group (stty tostop), recorders say what they wrote, and end.
cat >tostop.py <<'PYTHON'
import os, pty, sys, termios
child, terminal = pty.fork()
if child == 0:
    how = termios.tcgetattr(0)
    how[3] |= termios.TOSTOP
    termios.tcsetattr(0, 0, how)
    os.execv(sys.argv[1], sys.argv[1:])
said, signs = b"", 0
while True:
    try:
        part = os.read(terminal, 4096)
    except OSError:  # it has ended
        break
    said += part
    if said.count(b" wrote tostop.data.") > signs:
        signs += 1
        if signs == 2:
            os.write(terminal, b"\x03")
sys.exit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) or said.count(b" wrote tostop.data.") < 3)
PYTHON
expect_status 0 timeout 60 python3 tostop.py "$scope" record -o tostop.data --rotate 1 -p "$target"
are_whole tostop.data

# The time is that of the whole recording, not of a file.
expect_status 0 "$scope" record -o timed.data --rotate 1 -p "$target" 5
has_files timed.data 2 || die "5 s were not recorded: $(files timed.data)"

# ---- what goes -----------------------------------------------------------------------------------------------------------

"$scope" record -o old.data.20200101T000000Z -p "$target" 0.2 2>/dev/null
for name in old.data.20200102T000000Z{,.a3f19c,.a3f19,.a3f19g,.a3f19c0} other.data.20200101T000000Z{,.a3f19c} old.data.20200101 old.data.20200103T000000Z; do
    cp old.data.20200101T000000Z "$name"
done
touch -d '8 days ago' ./old.data.* ./other.data.*
touch -d '6 days ago' old.data.20200103T000000Z
echo 'a text' >old.data.20200104T000000Z # of this name, and no recording
cp old.data.20200101T000000Z old.data.20200105T000000Z
chown nobody old.data.20200105T000000Z
touch -d '8 days ago' old.data.2020010[45]T000000Z
: >old.data.20200101T000000Z-journal
expect_status 0 "$scope" record -o old.data --rotate 1h --keep 7d -p "$target" 0.5
for name in old.data.20200101T000000Z old.data.20200101T000000Z-journal old.data.20200102T000000Z{,.a3f19c}; do
    [[ ! -e $name ]] || die "--keep 7d left $name of 8 days ago"
done
for name in other.data.20200101T000000Z{,.a3f19c} old.data.20200102T000000Z.a3f19{,g,c0} old.data.20200101 old.data.20200103T000000Z old.data.2020010{4,5}T000000Z; do
    [[ -e $name ]] || die "--keep 7d removed $name"
done
has_files old.data 4 || die "--keep 7d removed what was recorded now: $(files old.data)"

# By size: the oldest go first, the one that is written never.
for i in 1 2 3; do
    cp old.data.20200103T000000Z "big.data.2020010${i}T000000Z"
    sqlite3 "big.data.2020010${i}T000000Z" "CREATE TABLE filler AS SELECT zeroblob(30000000) AS bytes"
done
expect_status 0 "$scope" record -o big.data --rotate 1h --keep 1d,70M -p "$target" 0.5
[[ ! -e big.data.20200101T000000Z && -e big.data.20200102T000000Z && -e big.data.20200103T000000Z ]] || die "--keep 70M left: $(files big.data)"
has_files big.data 3 || die "--keep 70M removed what is written: $(files big.data)"

# By their number.
for i in 1 2 3; do
    cp old.data.20200103T000000Z "many.data.2020010${i}T000000Z"
    touch -d "$((9 - i)) hours ago" "many.data.2020010${i}T000000Z"
done
expect_status 0 "$scope" record -o many.data --rotate 1h --keep 3files -p "$target" 0.5
[[ ! -e many.data.20200101T000000Z && -e many.data.20200102T000000Z ]] || die "--keep 3files left: $(files many.data)"
has_files many.data 3 || die "--keep 3files removed what is written: $(files many.data)"

# Those of another recorder of this name count, too; the one that it writes stays.
"$scope" record -o many.data --rotate 1h -p "$target" 2>many.data.err &
tool=$!
until_true "another recorder's file" has_files many.data 4
expect_status 0 "$scope" record -o many.data --rotate 1h --keep 1files -p "$target" 0.5
[[ $(files many.data | wc -l) == 1 ]] || die "--keep 1files beside another recorder left: $(files many.data)"
stop
are_whole many.data

# By the time of writing, whatever their names say: a stranger who may put files there decides which names are free.
for i in 1 2; do
    cp old.data.20200103T000000Z "late.data.2099010${i}T000000Z"
    sqlite3 "late.data.2099010${i}T000000Z" "CREATE TABLE filler AS SELECT zeroblob(30000000) AS bytes"
    touch -d '1 hour ago' "late.data.2099010${i}T000000Z"
done
expect_status 0 "$scope" record -o late.data --rotate 1 --keep 31M -p "$target" 2.5
[[ ! -e late.data.20990101T000000Z ]] || die "--keep 31M left: $(files late.data)"
(($(files late.data | grep -vc '\.2099') >= 2)) || die "--keep 31M removed what was recorded last: $(files late.data)"

# ---- a stranger's files beside the next ones -------------------------------------------------------------------------

mkdir -m 1777 shared
chmod 755 .
own() { find shared -regextype posix-extended -regex "shared/eden\.data\.[^.]*Z$tail" -user root; }
own_are() { (($(own | wc -l) >= $1)); }
cat >leased.py <<'PYTHON'
import fcntl, os, signal
os.setuid(65534)
file = os.open("shared/eden.data.20000101T000000Z", os.O_RDWR | os.O_CREAT, 0o644)
signal.signal(signal.SIGIO, lambda *_: print("opened", flush=True))
fcntl.fcntl(file, fcntl.F_SETLEASE, fcntl.F_WRLCK)  # whoever opens the file is reported, and waits
print("ready", flush=True)
while True:
    signal.pause()
PYTHON
python3 leased.py >leased &
leased=$!
until_true "the lease is ready" grep -q ready leased
"$scope" record -o shared/eden.data --rotate 1 --keep 1d -p "$target" 2>shared.err &
tool=$!
until_true "a first file" own_are 1
now=$(date +%s)
for ((i = 0; i < 40; i++)); do
    suffix=$([[ $((i % 2)) == 0 ]] && echo -journal || echo -wal)
    stamp=$(date -u -d "@$((now + i))" +%Y%m%dT%H%M%SZ)
    setpriv --reuid=65534 --clear-groups touch "shared/eden.data.$stamp$suffix" 2>/dev/null || true # root has it already
done
until_true "a third file beside a stranger's" own_are 3
stop
for name in $(own); do
    [[ $(finished "$name") == 1 ]] || die "$name is not whole"
    [[ $name =~ Z\.[0-9a-f]{6}$ ]] || die "a stranger could have known the name of $name"
done
! grep -q opened leased || die "a stranger's file was opened"
kill "$leased"

# However many seconds to come he has taken, files have the time at which they were begun, --keep knows them, and ^C ends.
cat >taken.py <<'PYTHON'
import os, sys, time
os.setuid(65534)
os.chdir("shared")
now = int(time.time())
for at in range(now, now + 20000):
    with open("taken.data." + time.strftime("%Y%m%dT%H%M%SZ", time.gmtime(at)), "w"):
        pass
PYTHON
python3 taken.py
own() { find shared -regextype posix-extended -regex "shared/taken\.data\..*" -user root -printf '%f\n' | sort; }
began=$(date -u +%Y%m%dT%H%M%SZ)
"$scope" record -o shared/taken.data --rotate 1 --on 'pause>0ns' --keep 1d -p "$target" 2>shared.err &
tool=$!
until_true "a third file where names are taken" own_are 3
stop
ended=$(date -u +%Y%m%dT%H%M%SZ)
for name in $(own); do
    [[ $name =~ ^taken\.data\.([0-9TZ]*)\.[0-9a-f]{6}$ && ! ${BASH_REMATCH[1]} < $began && ! ${BASH_REMATCH[1]} > $ended ]] ||
        die "$name does not have the time at which it was begun, from $began to $ended"
    [[ $(finished "shared/$name") == 1 ]] || die "$name is not whole"
    grep -qx "edenscope: kept shared/$name" shared.err || die "$name is not named: $(cat shared.err)"
done
touch -d '2 days ago' "shared/$name"
expect_status 0 "$scope" record -o shared/taken.data --rotate 1h --keep 1d -p "$target" 0.2
[[ ! -e shared/$name ]] || die "--keep 1d left shared/$name of two days ago"

# The owner of the folder removes a file: the next ones are recorded.
mkdir strangers
chown 65534 strangers
own() { find strangers -regextype posix-extended -regex "strangers/eden\.data\.[^.]*Z$tail" -user root; }
"$scope" record -o strangers/eden.data --rotate 1 -p "$target" 2>strangers.err &
tool=$!
until_true "a first file" own_are 1
rm "$(own)"
until_true "three more files" own_are 3
kill -INT "$tool"
status=0
wait "$tool" || status=$?
[[ $status == 1 ]] && grep -q 'was removed or replaced during the recording' strangers.err ||
    die "a lost file gave status $status: $(cat strangers.err)"
for name in $(own); do
    [[ $(finished "$name") == 1 ]] || die "$name is not whole"
done

# ---- ends ---------------------------------------------------------------------------------------------------------------

rotate killed.data
until_true "a second file" has_files killed.data 2
turns=$(cat "/proc/$tool/task/$tool/children")
kill -KILL "$tool"
wait "$tool" 2>/dev/null || true
ended() { ! kill -0 $turns 2>/dev/null; }
until_true "the recorder whose supervisor was killed ends" ended
for name in $(files killed.data); do
    [[ $(finished "$name") == 1 ]] || die "$name is not whole"
done

# A full file is followed by the next.
rotate full.data --max-size 1M --objects
until_true "a third file" has_files full.data 3
stop TERM

# A file is full while the recorder of the one before has not ended yet: recording goes on.
mkdir group
if mount -t cgroup2 none group && mkdir "group/slow-$$"; then
    leave_group() {
        echo 0 >"$folder/group/slow-$$/cgroup.freeze"
        for ((i = 0; i < 500; i++)); do
            rmdir "$folder/group/slow-$$" 2>/dev/null && break
            sleep 0.02
        done
        umount "$folder/group" || true
    }
    trap 'leave_group; cleanup' EXIT
    rotate slow.data --max-size 40M --objects
    # By then the supervisor knows that it observes: a file without events may be there before.
    freezes_one() {
        has_files slow.data 1 && has_children 1 && (($(stat -c %s "$(files slow.data | tail -n 1)") >= 1048576)) &&
            cat "/proc/$tool/task/$tool/children" >"group/slow-$$/cgroup.procs" && echo 1 >"group/slow-$$/cgroup.freeze"
    }
    until_true "a recorder is frozen" freezes_one
    recorders_are() {
        read -ra recorders <"/proc/$tool/task/$tool/children" || true # its line has no end
        ((${#recorders[@]} == $1))
    }
    until_true "a next recorder" recorders_are 2
    next=${recorders[1]}
    # Were another to begin when the next file is full, the frozen one would end while that attaches.
    end=$((SECONDS + 60)) due=
    while ((SECONDS < end)) && ! { recorders_are 1 && ((SECONDS >= ${due:=$((SECONDS + 2))})); }; do
        if recorders_are 2 && [[ ${recorders[1]} != "$next" ]]; then
            kill -STOP "${recorders[1]}"
            break
        fi
    done
    echo 0 >"group/slow-$$/cgroup.freeze"
    until_true "the frozen recorder has ended" has_gone
    ((${#recorders[@]} == 1)) || kill -CONT "${recorders[1]}"
    until_true "a fourth file" has_files slow.data 4
    stop TERM
    leave_group
    trap cleanup EXIT
else
    echo "not tried: a recorder that is slow to end (no control groups here)"
fi

# With the process the recording ends.
rotate ended.data
until_true "a file" has_files ended.data 1
kill "$target"
wait "$tool" || die "the end of the process gave status $?: $(cat ended.data.err)"

program=$scope
expect_error 1 '--keep: needs --rotate' record --keep 7d -a
expect_error 1 '--rotate: cannot start a program: give -p PID' record --rotate 1h -- true
expect_error 1 '--rotate: not with --lifetimes' record --rotate 1h --lifetimes -p $$
expect_error 1 '--rotate 1w: not a time' record --rotate 1w -a
expect_error 1 '--rotate 0: not a time' record --rotate 0 -a
expect_error 1 '--keep 7d,8d: give an age' record --rotate 1h --keep 7d,8d -a
expect_error 1 '--keep 7d,: give an age' record --rotate 1h --keep 7d, -a
expect_error 1 '--keep 1K: give an age' record --rotate 1h --keep 1K -a
expect_error 1 '--keep 0files: give an age' record --rotate 1h --keep 0files -a
expect_error 1 '--keep 3: give an age' record --rotate 1h --keep 3 -a
expect_error 1 '--keep 1files,2files: give an age' record --rotate 1h --keep 1files,2files -a
expect_error 1 'x/y: cannot|x/y.*: No such file' record --rotate 1h -o x/y -p $$
echo "files followed one another, and held all"
