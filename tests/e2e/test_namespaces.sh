#!/usr/bin/env bash
# edenscope and what it observes in different namespaces: processes are shown by the pids that edenscope sees, with exact
# figures; where /proc or the clocks cannot be compared with the kernel's, it says so, and shows nothing.
# shellcheck source=tests/e2e/common.sh
. "$(dirname "$0")/common.sh"

[[ $EUID == 0 ]] || { echo "takes root"; exit 77; }
need_edenscope
unshare -p -T -f --mount-proc true 2>/dev/null || { echo "takes pid and time namespaces"; exit 77; }
enter_folder
program=$build/tests/children

# figures FILE: of each heap whose figures are complete; pids differ.
figures() {
    jq -r '.processes[].heaps[] | select(.complete) | "\(.scavenges) \(.allocated_bytes) \(.tenured_bytes)"' "$1" | sort
}
# is_exact WORDS COMMAND...: its children's figures are what they say themselves.
is_exact() {
    expect_status 0 "${@:2}"
    figures stat.json | diff - <(cut -d' ' -f2- out | sort) >differ || die "$1: $(cat differ err)"
}
stat=("$scope" stat --json -o stat.json --)
nested=(unshare -p -f --mount-proc)
is_exact "a command in a pid namespace" "${stat[@]}" "${nested[@]}" "$program" fork 3
is_exact "the tool in a pid namespace" "${nested[@]}" "${stat[@]}" "$program" fork 3
is_exact "a namespace in a namespace" "${nested[@]}" "${stat[@]}" "${nested[@]}" "$program" fork 3
echo "pid namespaces: figures are exact"

# All that the tool sees: what is outside its namespace has no pid there, and is nobody's.
mkfifo line within
"$program" wait <line >outside &
outside=$!
exec 4>line
# shellcheck disable=SC2016
expect_status 0 "${nested[@]}" bash -c '
    "$1" stay <within >inside &
    exec 7>within
    "$2" stat -v --json -o stat.json -a 2>attached &
    until [[ -e outside-ended ]]; do sleep 0.05; done
    kill -INT $!
    wait $!' bash "$program" "$scope" &
all=$!
until_true "stat is attached" grep -qs 'attached in' attached
echo >&4
echo >&4
wait "$outside"
exec 4>&-
touch outside-ended
wait "$all" || die "stat -a in a pid namespace: $(cat attached)"
jq -e '[.processes[].pid] | length >= 1 and all(. > 0)' stat.json >pids || die "outside the namespace: $(jq -c .processes stat.json)"
[[ $(jq '[.processes[].heaps[]] | length' stat.json) == 1 ]] || die "heaps from outside the namespace: $(jq -c .processes stat.json)"
echo "-a in a pid namespace observes what is in it"

expect_status 2 unshare -p -f "${stat[@]}" "$program" one
grep -q '/proc belongs to another PID namespace' err || die "another /proc is not named: $(cat err)"
expect_status 2 unshare -T --boottime 100000 -f "${stat[@]}" "$program" one
grep -q 'clocks of this time namespace' err || die "other clocks are not named: $(cat err)"
for command in list "stat --json -o stat.json -- $program one"; do
    # shellcheck disable=SC2016,SC2086
    expect_status 2 unshare -m sh -c 'umount -l /proc && exec "$@"' sh "$scope" $command
    grep -q '/proc is not mounted' err || die "$command does not miss /proc: $(cat err)"
done
# shellcheck disable=SC2016
expect_status 2 unshare -m sh -c 'umount -l /sys && exec "$@"' sh "${stat[@]}" "$program" one
grep -q 'mount -t sysfs' err || die "stat does not miss /sys: $(cat err)"
echo "what cannot be compared is said"

# A program of another user, where /proc hides such processes from users without rights.
install -m 755 "$build/tests/exercise" "$folder/exercise"
chmod 755 "$folder"
mkfifo go
setpriv --reuid 65534 --regid 65534 --clear-groups ./exercise --wait 1 <go >ready &
hidden=$!
exec 3>go
until_true "the hidden program is ready" grep -q ready ready
for other in "unshare -p -f" "unshare -T --boottime 100000 -f"; do
    # shellcheck disable=SC2086
    expect_status 0 $other "$scope" list
    grep -q "^ *$hidden " out || die "$other: list does not show what /proc has: $(cat out err)"
done
# shellcheck disable=SC2016
see=(unshare -m sh -c 'mount -t proc -o hidepid=4 proc /proc && exec "$@"' sh "$scope")
expect_status 0 "${see[@]}" list
grep -q "^ *$hidden " out || die "list does not show a process that /proc hides: $(cat out)"
expect_status 0 "${see[@]}" stat --json -o stat.json -p "$hidden" 0.1 1
[[ $(jq -r '.processes[0].heaps | length' stat.json) -ge 9 ]] || die "stat does not show it: $(cat stat.json)"
echo "hidden processes are shown"
