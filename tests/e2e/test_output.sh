#!/usr/bin/env bash
# -o of commands: a pipe without a reader is an error and not a wait, links and files of other users
# are left alone, and what a shell may name (/dev/stdout, a pipe with a reader, one's own link) works.
# shellcheck source=tests/e2e/common.sh
. "$(dirname "$0")/common.sh"
need_edenscope
enter_folder

not() { ! "$@" 2>/dev/null; }

# command_to NAME STATUS FILE: must end by itself; a minute is for ever.
command_to() {
    expect_status "$2" timeout 60 "$scope" "$1" -o "$3" -- "$build/tests/exercise"
}

mkfifo pipe
for name in stat lifetimes tune; do
    command_to $name 1 pipe
    grep -q 'pipe without a reader' err || die "$name: the pipe is not named: $(cat err)"
done

# What is no pipe has no reader to start.
python3 -c 'import socket; socket.socket(socket.AF_UNIX).bind("socket")'
command_to stat 1 socket
grep -q 'socket: No such device or address; name another file' err || die "the socket is not named: $(cat err)"

# No name in a folder that has been removed will do.
for arguments in "record -o x" "stat -o x" "lifetimes --pretenure x"; do
    mkdir removed
    # shellcheck disable=SC2086
    (cd removed && rmdir ../removed && exec timeout 60 "$scope" $arguments -- "$build/tests/exercise") >out 2>err && die "$arguments: written to no folder"
    grep -q 'x: .*its folder has been removed; name a file in another one' err || die "$arguments: the folder is not named: $(cat err)"
done

# Held open until the reader has it, too: it may be slow to begin.
exec 5<>pipe
cat pipe >piped 5>&- &
reader=$!
command_to stat 0 pipe
until_true "the reader opens the pipe" test -e "/proc/$reader/fd/3"
exec 5>&-
wait "$reader"
grep -q 'events lost' piped || die "a pipe with a reader gets nothing"
command_to stat 0 /dev/stdout
grep -q 'events lost' out || die "/dev/stdout gets nothing"

ln -s target own
command_to stat 0 own
[[ -L own && -s target ]] || die "the caller's own link is not followed"

ln -s loop loop
command_to stat 1 loop
grep -q 'loop: Too many levels of symbolic links; name the file itself' err || die "the loop is not named: $(cat err)"

# A recording can't be had again: no text takes its place, by whatever name, not even with --force.
expect_status 0 "$scope" record --lifetimes -o eden.data -- "$build/tests/exercise"
cp eden.data copy.data
ln -s eden.data link.data
ln eden.data hard.data
for name in eden.data link.data hard.data "$PWD/eden.data"; do
    for command in "lifetimes -i eden.data -o" "lifetimes -i eden.data --force --pretenure" "tune -i eden.data -o" "tune -o" \
        "report --html" "lifetimes -p $$ 0.1 -o" "stat -p $$ 0.1 1 -o" "tune -p $$ 0.1 -o" "lifetimes -p $$ 0.1 --force --pretenure"; do
        # shellcheck disable=SC2086
        expect_status 1 timeout 60 "$scope" $command "$name"
        grep -q "$name: a recording, so it is not replaced; name another file, or remove it first" err ||
            die "$command $name: the recording is not named: $(cat err)"
        cmp eden.data copy.data || die "$command $name costs the recording"
    done
done
# shellcheck disable=SC2016
expect_status 1 timeout 60 sh -c 'exec "$1" tune -o /dev/stdout 1<>eden.data' sh "$scope"
cmp eden.data copy.data || die "standard output costs the recording"
rm link.data hard.data

# Where there is no room, what cannot be written is named, and what to do, also where the last write is not the one that failed.
advice='cannot be written: No space left on device; free some space there, or name another file'
full_output() {
    expect_status 1 bash -c '"$@" >/dev/full' - "$scope" "${@:2}"
    grep -qx "edenscope: $1 on standard output: $advice" err || die "${*:2} does not name the full output: $(cat err)"
}
full_output 'the report' report -i copy.data
full_output 'the events' script -i copy.data
full_output 'the comparison' diff copy.data copy.data
full_output 'the report' tune -i copy.data
expect_status 1 bash -c '"$@" >/dev/full' - "$scope" stat --json 0.05 -- "$exercise"
grep -qx "edenscope: standard output: $advice" err || die "stat by interval does not say why it failed: $(cat err)"

# Standard error that is closed leaves the report where it was; a file in the place of closed standard output is not for
# the command.
expect_status 0 bash -c '"$@" 2>&-' - "$scope" stat -- "$exercise"
grep -q gc_ns out || die "there is no report with standard error closed: $(cat out)"
expect_status 5 bash -c '"$@" >&-' - "$scope" stat -- bash -c 'true 3>&1 || exit 5'
grep -q 'no heap was created' err || die "there is no report with standard output closed: $(cat err)"

# Nor that of the journal that undoes half a transaction of one.
printf '\xd9\xd5\x05\xf9\x20\xa1\x63\xd7' >hot.data-journal
expect_status 1 "$scope" tune -o hot.data-journal
grep -q 'hot.data-journal: the journal of a recording, so it is not replaced' err && [[ $(wc -c <hot.data-journal) == 8 ]] || die "$(cat err)"

# What cannot be written is printed, and costs nothing that was there before.
if [[ $EUID == 0 ]] && unshare -m true 2>/dev/null; then
    mkdir disk
    cat >full <<FULL
set -e
mount -t tmpfs -o size=64k none disk
{ echo before; head -c 4089 /dev/zero; } >disk/figures # a whole page
dd if=/dev/zero of=disk/filler bs=4K >/dev/null 2>&1 || true
status=0
"\$@" -o disk/figures -- $build/tests/exercise || status=\$?
tr -d '\\0' <disk/figures >figures
exit \$status
FULL
    # full_disk STREAM PATTERN COMMAND...: that stream has what did not fit, and the other nothing of it.
    full_disk() {
        local other=out
        [[ $1 == error ]] || other=err
        expect_status 1 unshare -m --propagation private bash full "$scope" "${@:3}"
        grep -q "disk/figures: cannot be written: No space left on device; standard $1 has the rest" err ||
            die "${*:3}: the full disk is not named: $(cat err)"
        grep -q "$2" out err || die "${*:3}: the report is lost: $(cat out err)"
        ! grep -q "$2" $other || die "${*:3}: the report is in std$other: $(cat $other)"
        [[ $(head -n 1 figures) == before ]] || die "${*:3}: a full disk has cost what was there before"
    }
    full_disk error 'events lost' stat
    full_disk error 'was spent in collections' tune
    full_disk error 'exercise.[0-9]*. heap 1' lifetimes
    full_disk error 'exercise.[0-9]*. heap 1' remembered
    full_disk output '"wall_ns"' stat --json 0.05
    grep '^{' out | jq -es 'length > 0 and (last | .wall_ns > 0)' >/dev/null || die "lines are lost: $(cat out)"
    sed 's|.*-o disk/figures.*|"$@" --html disk/page.html \|\| status=$?|; s|^tr .*||' full >full-page
    expect_status 1 unshare -m --propagation private bash full-page "$scope" report -i eden.data
    grep -q 'page.html: .*No space left on device; free some space there, or name another file' err && ! grep -q '?' err || die "the page's full disk is guessed: $(cat err)"
fi
status=0
(
    ulimit -f 1
    exec "$scope" stat -o limited -- "$build/tests/exercise"
) 2>&1 >/dev/null | cat >err || status=$?
[[ $status == 1 ]] || die "ulimit -f gave status $status: $(cat err)"
grep -q 'limited: cannot be written: File too large' err || die "ulimit -f is not named: $(cat err)"
grep -q 'events lost' err || die "the figures are lost"
[[ ! -s limited ]] || die "half a piece is left in the file"

# Where a limit is in the way, no advice is about the disk.
(
    ulimit -f 16
    exec "$scope" record -o limited.data -- "$build/tests/exercise"
) >out 2>err && die "ulimit -f is no failure"
grep -q 'File too large: `ulimit -f` allows 16,384 bytes per file; raise it$' err || die "the limit is not named: $(cat err)"

# Standard output is no file for a recording.
expect_status 1 "$scope" record -o - -- true
grep -q -- '-o -: a recording is a file, .*edenscope script -i FILE' err && [[ ! -e - ]] || die "-o - makes a file: $(cat err)"

# What has nothing to show says so.
python3 -c 'import ctypes, sys, time; ctypes.CDLL(sys.argv[1]); print("ready", flush=True); time.sleep(600)' "$build/lib/libeden.so" >without &
without=$!
until_true "the program without a heap is ready" grep -q ready without
for options in "0.1 2" "--json 0.1 1"; do
    # shellcheck disable=SC2086
    expect_status 0 "$scope" stat -p "$without" $options
    grep -q 'no heap' err || die "stat $options of a process without a heap says nothing: $(cat err)"
done
kill "$without"
sleep 0 &
wait $!
expect_status 1 "$scope" histo -p $!
grep -q waiting err && die "what does not exist is waited for: $(cat err)"

# A reader that stalls: one signal ends the command, which says that its output is cut.
mkfifo stalled orders
exec 6<>stalled 7<>orders
"$build/tests/children" wait <orders >/dev/null 2>ready &
target=$!
until_true "the program is ready" grep -q ready ready
for options in "0.01" "--json 0.01" ""; do
    dd if=/dev/zero of=stalled bs=4096 count=16 oflag=nonblock 2>dd || true # as much as it takes
    rm -f err
    # shellcheck disable=SC2086
    "$scope" stat -v -p "$target" $options >stalled 2>err &
    tool=$!
    until_true "attached" grep -q 'attached in' err
    sleep 0.2 # some lines
    kill -TERM "$tool"
    until_true "stat $options ends by one signal" not kill -0 "$tool"
    status=0
    wait "$tool" || status=$?
    [[ $status == 1 ]] && grep -q '^edenscope: standard output: not written in full' err ||
        die "stat $options: status $status, and says: $(cat err)"
done
printf 'go\ngo\n' >&7
wait "$target"
exec 6>&- 7>&-

if [[ $EUID == 0 ]]; then
    # uid 65534 made a link to root's file, a folder's link, and a file.
    echo precious >root.txt
    mkdir sticky other
    chmod 1777 sticky
    ln -s ../root.txt sticky/link
    ln -s ../other sticky/folder
    echo theirs >theirs.txt
    chown -h 65534 sticky/link sticky/folder theirs.txt
    for name in stat lifetimes tune; do
        command_to $name 1 sticky/link
        grep -q "another user's link" err || die "$name: the link is not named: $(cat err)"
        command_to $name 1 sticky/folder/new.txt
        command_to $name 1 theirs.txt
        grep -q 'belongs to another user' err || die "$name: the owner is not named: $(cat err)"
    done
    [[ $(cat root.txt) == precious && $(cat theirs.txt) == theirs && ! -e other/new.txt ]] || die "something was written"
    # A hard link of root's file, which uid 65534 can make with fs.protected_hardlinks=0; and where nobody else could.
    mkdir theirs
    chown 65534 theirs
    for place in sticky theirs; do
        ln root.txt "$place/hard"
        for name in stat lifetimes tune; do
            command_to $name 1 "$place/hard"
            grep -q 'has other hard links, in a folder that others may write to' err || die "$name: the link is not named: $(cat err)"
        done
        [[ $(cat root.txt) == precious && $(stat -c %h root.txt) == 2 ]] || die "something was written through a hard link"
        # What is replaced is not written to.
        expect_status 0 "$scope" record --force -o "$place/hard" -- "$build/tests/exercise"
        [[ $(cat root.txt) == precious && $(stat -c %h root.txt "$place/hard" | xargs) == "1 1" ]] || die "record writes through a hard link"
        rm "$place/hard"
    done
    ln root.txt sticky/hard
    chmod 666 root.txt
    expect_status 0 timeout 60 "$scope" lifetimes --force --pretenure sticky/hard -- "$build/tests/exercise"
    [[ $(cat root.txt) == precious && $(stat -c %a sticky/hard) == 644 ]] || die "a hard link has chosen the rights of a new file"
    echo old >two
    ln two one
    command_to stat 0 one
    grep -q 'events lost' two || die "the operator's own hard link is not written to"
    SUDO_UID=65534 command_to stat 0 theirs.txt
    # A pipe of theirs that is full would be waited for.
    mkfifo theirs.pipe
    chown 65534 theirs.pipe
    exec 5<>theirs.pipe
    command_to stat 1 theirs.pipe
    grep -q 'belongs to another user' err || die "the pipe's owner is not named: $(cat err)"
    exec 5>&-
fi
echo "output waits for nobody and follows nobody else's links"
