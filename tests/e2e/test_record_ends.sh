#!/usr/bin/env bash
# However a recorder ends, the path has the recording that was there before, or the new one, which opens and says
# whether it is whole: SIGKILL at 50 moments, each signal that a process can be ended with, a full disk, --max-size.
# shellcheck source=tests/e2e/common.sh
. "$(dirname "$0")/common.sh"
need_edenscope
enter_folder

meta() { sqlite3 "$1" "SELECT value FROM meta WHERE key = '$2'"; }
# Only the recording, and its journal where one may be.
only() {
    local file
    for file in "$1"*; do
        [[ $file == "$1" || $file == "$1-journal" && ${2:-} == journal ]] || die "left over: $file"
    done
}

# is_cut_short FILE REASON: a recording that ended before its first heap was written says that.
is_cut_short() {
    "$scope" report -i "$1" >out 2>err || true
    grep -Eq "cut short: .*$2|no heap was created" out err || die "$1: cut short by '$2' is not reported: $(head -5 out err)"
}

# ---- SIGKILL -----------------------------------------------------------------------------------------------------

"$scope" record -o old.data -- "$exercise" >/dev/null 2>&1
RANDOM=20
old=0 whole=0 cut=0 journals=0
for ((i = 0; i < 50; i++)); do
    # The next recorder finds what this one leaves, but for each tenth, which finds a whole recording.
    ((i % 10)) || { rm -f killed.data*; cp old.data killed.data; }
    before=$(cksum <killed.data)
    "$scope" record --lifetimes -o killed.data -- "$exercise" 2 >/dev/null 2>&1 &
    tool=$!
    sleep "0.$(printf %03d $((RANDOM % 450)))"
    kill -9 "$tool" 2>/dev/null || true
    wait "$tool" 2>/dev/null || true
    [[ ! -s killed.data-journal ]] || journals=$((journals + 1))
    for command in report "lifetimes -i"; do
        [[ $command != report ]] || command="report -i"
        status=0
        # shellcheck disable=SC2086
        "$scope" $command killed.data >out 2>err || status=$?
        [[ $status == 0 ]] || grep_all -Eq 'no heap was created|contains no lifetimes' err || die "kill $i: $command: $(cat err)"
    done
    if [[ $(cksum <killed.data) == "$before" ]]; then
        old=$((old + 1))
    else
        cp killed.data copy.data
        ! [[ -e killed.data-journal ]] || cp killed.data-journal copy.data-journal
        [[ $(sqlite3 copy.data 'PRAGMA integrity_check') == ok ]] || die "kill $i: the new recording is damaged"
        [[ $(meta copy.data events) == $(sqlite3 copy.data 'SELECT count(*) FROM event') ]] || die "kill $i: half a transaction"
        if [[ $(meta copy.data finished) == 1 ]]; then
            whole=$((whole + 1))
        else
            cut=$((cut + 1))
            is_cut_short killed.data 'the recorder was killed'
        fi
        rm -f copy.data*
    fi
    only killed.data journal
done
echo "SIGKILL: $old left the old recording, $cut a new one that was cut short ($journals with a journal), $whole a whole one"

# ---- signals -----------------------------------------------------------------------------------------------------

mkfifo go
"$exercise" --wait 3 <go >ready &
target=$!
exec 7>go
until_true "the program is ready" grep -q ready ready
for signal in INT TERM HUP QUIT ALRM VTALRM PROF XCPU USR1 USR2 IO PWR STKFLT PIPE XFSZ; do
    cp old.data "$signal.data"
    "$scope" record -v -o "$signal.data" -p "$target" 2>"$signal.err" &
    tool=$!
    until_true "attached" grep -qs "attached in" "$signal.err"
    kill "-$signal" "$tool"
    [[ $signal != PIPE && $signal != XFSZ ]] || kill -TERM "$tool" # those two end nothing
    status=0
    wait "$tool" || status=$?
    [[ $status == 0 ]] || die "$signal: status $status: $(cat "$signal.err")"
    only "$signal.data"
    [[ $(meta "$signal.data" finished) == 1 ]] || die "$signal: the recording is not finished"
    [[ $(meta "$signal.data" pid) == "$target" ]] || die "$signal: it is not the new recording"
done
exec 7>&-
kill "$target" 2>/dev/null || true
wait "$target" 2>/dev/null || true
echo "each signal ends a recording properly"

# ---- full disks --------------------------------------------------------------------------------------------------

status=0
cp old.data limited.data
before=$(cksum <limited.data)
(
    ulimit -f 16
    exec "$scope" record -o limited.data -- "$exercise"
) >out 2>err || status=$?
[[ $status == 1 ]] || die "no room for a recording gave status $status"
grep -q 'File too large: `ulimit -f` allows 16,384 bytes' err || die "the limit is not named: $(cat err)"
[[ $(cksum <limited.data) == "$before" ]] || die "no room for a new recording has cost the old one"
only limited.data

expect_status 1 "$scope" record --max-size 1M --objects -o limited.data -- "$exercise" 3
grep -q -- '--max-size' err || die "--max-size is not named: $(cat err)"
grep -q '^done$' out || die "the program did not run on to its end"
read -r events scavenges < <(sqlite3 -separator ' ' limited.data 'SELECT (SELECT count(*) FROM event), total(scavenges) | 0 FROM heap')
tr -d , <err | grep_all -Eq "^\[ edenscope record: $events events $scavenges scavenges? .* cut short \]$" ||
    die "the last line is not of the file, which has $events events, $scavenges scavenges: $(cat err)"
(($(stat -c %s limited.data) <= 1 << 20)) || die "--max-size was exceeded"
only limited.data
is_cut_short limited.data 'the size limit set by --max-size'
[[ $(meta limited.data cut_short_by) == max-size ]] || die "why it was cut short is not recorded"

status=0
(
    ulimit -f 512
    exec "$scope" record --objects -o limited.data -- "$exercise" 3
) >out 2>err || status=$?
[[ $status == 1 ]] || die "a limit on file sizes gave status $status"
grep -q 'File too large: `ulimit -f` allows 524,288 bytes' err || die "the limit is not named: $(cat err)"
only limited.data
is_cut_short limited.data 'the file size limit ..ulimit -f..'

# What others write to: no signal ends the tool.
for command in "script" "lifetimes --json" "report"; do
    [[ $command != life* ]] || "$scope" record --lifetimes -o old.data -- "$exercise" >out 2>&1
    status=0
    # shellcheck disable=SC2086
    (
        ulimit -f 1
        exec "$scope" $command -i old.data
    ) >limited 2>err || status=$?
    [[ $status == 1 ]] || die "$command: a limit on file sizes gave status $status: $(cat err)"
    grep -q 'File too large: `ulimit -f` allows 1,024 bytes' err || die "$command: the limit is not named: $(cat err)"
done
echo "ulimit -f is named"

mkdir disk
if [[ $EUID == 0 ]] && mount -t tmpfs -o size=4m none disk 2>err; then
    trap 'umount disk; cleanup' EXIT
    expect_status 0 "$scope" record -o disk/eden.data -- "$exercise"
    expect_status 1 "$scope" record --objects -o disk/eden.data -- "$exercise" 3
    grep -q 'recording stopped' err || die "it does not say that recording ended: $(cat err)"
    grep -q '^done$' out || die "the program did not run on to its end"
    only disk/eden.data
    is_cut_short disk/eden.data 'the file system was almost full'

    rm disk/*
    cp old.data disk/eden.data
    dd if=/dev/zero of=disk/filler bs=64K >/dev/null 2>&1 || true
    expect_status 1 "$scope" record -o disk/eden.data -- "$exercise"
    grep -q 'reserve' err && die "a reserve is named that this file system has not: $(cat err)"
    cmp old.data disk/eden.data || die "a full disk has cost the old recording"
    [[ $(echo disk/*) == "disk/eden.data disk/filler" ]] || die "left over: $(ls disk)"
    echo "full disks, quotas and limits: what was recorded stays"
fi
