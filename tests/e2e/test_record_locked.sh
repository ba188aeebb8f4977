#!/usr/bin/env bash
# Any reader can hold a recording locked for ever: the recorder names it, drains events as ever, counts
# those that find no room in memory, and ends in bounded time with what it had written.
# shellcheck source=tests/e2e/common.sh
. "$(dirname "$0")/common.sh"
need_edenscope
enter_folder
gun=$build/tests/probe_gun

meta() { sqlite3 "$1" "SELECT value FROM meta WHERE key = '$2'"; }

# A reader's lock, as the process that has it (POSIX) or as the open file.
cat >holder.py <<'PYTHON'
import fcntl, os, signal, struct, sys
file = os.open(sys.argv[1], os.O_RDONLY)
if os.geteuid() == 0:
    os.setuid(65534)
command = fcntl.F_SETLK if sys.argv[2] == "process" else fcntl.F_OFD_SETLK
fcntl.fcntl(file, command, struct.pack("hhqqi4x", fcntl.F_RDLCK, os.SEEK_SET, 0x40000002, 510, 0))
print("locked", flush=True)
signal.pause()
PYTHON

# hold FILE KIND: $holder holds it.
hold() {
    rm -f locked
    python3 holder.py "$1" "$2" >locked &
    holder=$!
    until_true "the recording is locked" test -s locked
}

# The command, which names the program that it runs, fires when the recording is locked, and ends when that is over.
cat >command <<COMMAND
until test -e go; do sleep 0.02; done
$gun heap__create:0x1000,7,demo 600000xscavenge__start:0x1000,1,0,0,0,0,0,3,4,5,6 600000xscavenge__done:0x1000,1,250,64,0,8,2
touch fired
until test -e over; do sleep 0.02; done
COMMAND
rm -f err
"$scope" record -o eden.data -- sh command "$gun" 2>err &
tool=$!
until_true "the recording is there" test -s eden.data
hold eden.data process
touch go
until_true "the command has fired" test -e fired
until_true "the holder is named" grep -q "eden.data: process $holder holds a lock on it" err
kill -0 "$tool" || die "the recorder has ended: $(cat err)"
kill "$holder"
touch over
status=0
wait "$tool" || status=$?
[[ $status == 0 ]] || die "the recorder gave status $status: $(cat err)"
[[ $(meta eden.data finished) == 1 ]] || die "the recording is not finished: $(cat err)"
rows=$(sqlite3 eden.data 'SELECT count(*) FROM event')
lost=$(meta eden.data lost)
((rows + lost == 1200001)) || die "of 1200001 events $rows were written and $lost are reported lost: $(cat err)"
grep -q 'events lost while another program held the recording locked' err || die "lost events are not reported: $(cat err)"
((rows >= 262144)) || die "events are lost that memory has room for: $(cat err)"
echo "a lock costs $lost of 1200001 events, and they are counted"

rm go fired over err
"$scope" record -o held.data -- sh command "$gun" >out 2>err &
tool=$!
until_true "the recording is there" test -s held.data
hold held.data file
touch go over
status=0
wait "$tool" || status=$?
kill -0 "$holder" || die "the lock is gone"
kill "$holder"
[[ $status == 1 ]] || die "a lock that stays gave status $status: $(cat err)"
[[ $(grep -n 'so nothing can be written: the last events' err | cut -d: -f1) -lt $(grep -n 'recording stopped' err | cut -d: -f1) ]] ||
    die "the lock is not named while the recorder waits for it: $(cat err)"
grep -q 'held.data: another program (`lsof` names it) holds a lock on it: its last [0-9,]* events' err ||
    die "what is lost is not reported: $(cat err)"
"$scope" report -i held.data >out 2>&1 || true
grep -Eq 'lost events: at least|no heap was created' out || die "what is lost is taken for all: $(cat out)"
grep -Eq 'cut short|no heap was created' out || die "it is taken for whole: $(cat out)"
[[ $(sqlite3 held.data 'PRAGMA integrity_check') == ok ]] || die "the recording is damaged"
echo "a lock that stays ends in bounded time"
