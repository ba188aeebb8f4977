#!/usr/bin/env bash
# A tool that a script has started in the background, so that SIGINT was ignored when it began, ends when SIGINT is sent to
# it; SIGHUP that nohup ignores stays ignored; signals that were blocked arrive, and so does SIGCHLD that was ignored. The
# command that it starts ignores and blocks what it would without it. Once it observes, a tool has no rights, and a command
# has those of its parent.
# shellcheck source=tests/e2e/common.sh
. "$(dirname "$0")/common.sh"

need_edenscope
mkfifo "$folder/go"
mkdir "$folder/tmp"
export TMPDIR=$folder/tmp
exec 7<>"$folder/go"
rm -f "$folder/ready"
"$exercise" --wait <&7 >"$folder/ready" &
target=$!
until_true "the program is ready" grep -q ready "$folder/ready"

has_ended() { [[ ! -e /proc/$1/status ]] || grep_all -q '^State:[[:space:]]*Z' "/proc/$1/status"; }
# has_only CAPABILITIES PID: these are all that it can ever use again.
has_only() {
    local of=/proc/$2/status
    grep -q "^CapPrm:.*[[:space:]]$1\$" "$of" && grep -q "^CapEff:.*[[:space:]]$1\$" "$of" &&
        grep -q '^NoNewPrivs:.*1$' "$of" && grep -q '^Seccomp:.*2$' "$of"
}
none=0000000000000000
is_attached() { grep -q 'attached in' "$folder/err"; }

for command in "record -o $folder/eden.data" "stat -o $folder/out" "lifetimes -o $folder/out" "tune -o $folder/out"; do
    : >"$folder/err"
    # shellcheck disable=SC2086
    "$scope" $command -v -p "$target" 2>"$folder/err" >"$folder/said" &
    tool=$!
    until_true "$command attaches" is_attached
    until_true "edenscope $command gives up its rights" has_only "$none" "$tool"
    grep -q '^SigCgt:.*[2367abef]$' "/proc/$tool/status" || die "edenscope $command does not catch SIGINT"
    kill -INT "$tool"
    until_true "edenscope $command ends by SIGINT" has_ended "$tool"
    status=0
    wait "$tool" || status=$?
    [[ $status == 0 ]] || die "edenscope $command gives status $status: $(cat "$folder/err")"
done
echo "SIGINT ends a tool in the background, which has no rights"

# The first SIGINT is for the command, the second leaves it alone. Two that come at once are one.
interrupt_until_it_ends() {
    kill -INT "$tool" 2>/dev/null || true
    has_ended "$tool"
}
for command in "record --force -o $folder/eden.data" "stat -o $folder/out" "lifetimes -o $folder/out" "tune -o $folder/out"; do
    : >"$folder/err"
    rm -f "$folder/pid"
    # shellcheck disable=SC2086,SC2016
        rm -f "$folder/said"
    "$scope" $command -v -- sh -c 'trap "" INT; echo $$ >"$1"; exec "$2" --wait' - "$folder/pid" "$exercise" \
        2>"$folder/err" >"$folder/said" <&7 &
    tool=$!
    until_true "$command attaches" is_attached
    until_true "the command runs" grep -q ready "$folder/said"
    until_true "edenscope $command ends" interrupt_until_it_ends
    status=0
    wait "$tool" || status=$?
    [[ $status == 130 ]] || die "edenscope $command gives status $status after a second SIGINT: $(cat "$folder/err")"
    kill "$(cat "$folder/pid")" || die "edenscope $command did not leave its command alone"
done
echo "a second SIGINT leaves the command alone"

# The recording's journal is to be removed from a folder in which root may write by CAP_DAC_OVERRIDE alone.
if [[ $(id -u) == 0 ]]; then
    mkdir "$folder/theirs"
    chown 65534 "$folder/theirs"
    "$scope" record -o "$folder/theirs/eden.data" -p "$target" 2>"$folder/err" &
    tool=$!
    until_true "record gives up its rights" has_only 0000000000000002 "$tool"
    kill -INT "$tool"
    wait "$tool" || die "record to another user's folder gives status $?: $(cat "$folder/err")"
    [[ $(ls "$folder/theirs") == eden.data ]] || die "the folder has $(ls "$folder/theirs")"
    echo "one right is kept where it is needed"
fi

: >"$folder/err"
nohup "$scope" stat -o "$folder/out" -v -p "$target" 2>"$folder/err" >"$folder/said" &
tool=$!
until_true "stat attaches" is_attached
grep -q '^SigIgn:.*[13579bdf]$' "/proc/$tool/status" || die "SIGHUP does not stay ignored"
kill -HUP "$tool"
kill -TERM "$tool"
wait "$tool" || die "SIGTERM gives status $?: $(cat "$folder/err")"

own='^(SigIgn|Cap...|NoNewPrivs|Seccomp):'
"$scope" stat -o "$folder/out" -- grep -E "$own" /proc/self/status >"$folder/with" &
wait "$!" || die "stat -- grep fails"
grep -E "$own" /proc/self/status >"$folder/without" &
wait "$!"
cmp "$folder/with" "$folder/without" || die "the command ignores other signals, or has other rights, than without edenscope"
echo "what else is ignored stays ignored, and the command has all rights"

# What is started with signals blocked, or with SIGCHLD ignored, ends by a signal and sees its command's end.
cat >"$folder/deaf.py" <<'end'
import os
import signal
import sys

signal.signal(signal.SIGCHLD, signal.SIG_IGN)
signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGCHLD, signal.SIGINT, signal.SIGTERM])
os.execv(sys.argv[1], sys.argv[1:])
end
: >"$folder/err"
python3 "$folder/deaf.py" "$scope" stat -o "$folder/out" -v -p "$target" 2>"$folder/err" >"$folder/said" &
tool=$!
until_true "stat attaches" is_attached
kill -TERM "$tool"
until_true "SIGTERM that was blocked ends stat" has_ended "$tool"
own='^Sig(Blk|Ign):'
for command in stat lifetimes; do
    status=0
    timeout -s KILL 120 python3 "$folder/deaf.py" "$scope" "$command" -o "$folder/out" -- \
        sh -c "grep -E '$own' /proc/self/status >'$folder/with'; exit 7" 2>"$folder/err" || status=$?
    [[ $status == 7 ]] || die "$command where SIGCHLD is ignored gives status $status: $(cat "$folder/err")"
done
python3 "$folder/deaf.py" /bin/sh -c "grep -E '$own' /proc/self/status" >"$folder/without"
cmp "$folder/with" "$folder/without" || die "the command blocks or ignores other signals than without edenscope"
echo "a tool that starts with signals blocked and children ignored hears of both"

kill "$target"
wait "$target" || true
for command in "stat -o $folder/out" "record -o $folder/eden.data" "lifetimes -o $folder/out" "tune -o $folder/out"; do
    rm -f "$folder/ready"
    # shellcheck disable=SC2086
    "$scope" $command -- "$exercise" --wait <&7 >"$folder/ready" 2>"$folder/err" &
    tool=$!
    until_true "edenscope $command gives up its rights" has_only "$none" "$tool"
    until_true "the command is ready" grep -q ready "$folder/ready"
    echo >&7
    wait "$tool" || die "edenscope $command -- gives status $?: $(cat "$folder/err")"
done
[[ -z $(ls "$folder/tmp") ]] || die "tune leaves $(ls "$folder/tmp")"
echo "so do tools that started a command"
