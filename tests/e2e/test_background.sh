#!/usr/bin/env bash
# A tool that a script has started in the background, so that SIGINT was ignored when it began, ends when SIGINT is sent to
# it; SIGHUP that nohup ignores stays ignored; the command that it starts ignores what it would ignore without it.
# shellcheck source=tests/e2e/common.sh
. "$(dirname "$0")/common.sh"

need_edenscope
mkfifo "$folder/go"
exec 7<>"$folder/go"
"$exercise" --wait <&7 >"$folder/ready" &
target=$!
children+=("$target")
until_true "the program is ready" grep -q ready "$folder/ready"

has_ended() { [[ ! -e /proc/$1/stat || $(ps -o stat= -p "$1") == Z* ]]; }
is_attached() { grep -q 'attached in' "$folder/err"; }

for command in "record -o $folder/eden.data" "stat -o $folder/out" "lifetimes -o $folder/out"; do
    : >"$folder/err"
    # shellcheck disable=SC2086
    "$scope" $command -v -p "$target" 2>"$folder/err" >"$folder/said" &
    tool=$!
    children+=("$tool")
    until_true "$command attaches" is_attached
    grep -q '^SigCgt:.*[2367abef]$' "/proc/$tool/status" || die "edenscope $command does not catch SIGINT"
    kill -INT "$tool"
    until_true "edenscope $command ends by SIGINT" has_ended "$tool"
    status=0
    wait "$tool" || status=$?
    [[ $status == 0 ]] || die "edenscope $command gives status $status: $(cat "$folder/err")"
done
echo "SIGINT ends a tool in the background"

: >"$folder/err"
nohup "$scope" stat -o "$folder/out" -v -p "$target" 2>"$folder/err" >"$folder/said" &
tool=$!
children+=("$tool")
until_true "stat attaches" is_attached
grep -q '^SigIgn:.*[13579bdf]$' "/proc/$tool/status" || die "SIGHUP does not stay ignored"
kill -HUP "$tool"
kill -TERM "$tool"
wait "$tool" || die "SIGTERM gives status $?: $(cat "$folder/err")"

"$scope" stat -o "$folder/out" -- grep '^SigIgn' /proc/self/status >"$folder/with" &
wait "$!" || die "stat -- grep fails"
grep '^SigIgn' /proc/self/status >"$folder/without" &
wait "$!"
cmp "$folder/with" "$folder/without" || die "the command ignores other signals than without edenscope"
echo "what else is ignored stays ignored"
