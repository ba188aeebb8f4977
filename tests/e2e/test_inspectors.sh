#!/usr/bin/env bash
# What processes of one user have brought is parsed by another process than what those of another user have.
# shellcheck source=tests/e2e/common.sh
. "$(dirname "$0")/common.sh"
[[ $EUID == 0 ]] || { echo "takes root"; exit 77; }
need_edenscope

copy_program "$exercise" "$folder/exercise"
chmod 755 "$folder" "$folder/exercise"
mkfifo "$folder/go" "$folder/go_too"
exec 5<>"$folder/go" 6<>"$folder/go_too"
# shellcheck disable=SC2016
"$scope" stat -- sh -c '"$0/exercise" --wait 1 <"$0/go" &
    setpriv --reuid 65534 --regid 65534 --clear-groups "$0/exercise" --wait 1 <"$0/go_too" & wait' "$folder" \
    >"$folder/out" 2>"$folder/err" 5>&- 6>&- &
observer=$!

# children_of PID NAME: its children of that name.
children_of() {
    local child
    for child in $(cat "/proc/$1/task/$1/children"); do
        [[ $(cat "/proc/$child/comm") != "$2" ]] || echo "$child"
    done
}
several_inspectors() {
    local zygote
    zygote=$(children_of "$observer" edenscope-start) && [[ $(children_of "$zygote" edenscope-read | wc -l) -gt 1 ]]
}
until_true "an inspector for each user" several_inspectors
echo >&5
echo >&6
wait "$observer" || die "stat: $(cat "$folder/err")"
grep -q "scavenge" "$folder/err" || die "nothing was observed: $(cat "$folder/err")"
echo "an inspector serves one user"
