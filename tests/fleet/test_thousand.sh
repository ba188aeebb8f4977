#!/usr/bin/env bash
# `export -a` beside 5,000 processes with a heap each, 100 at a time, that start and end at random for two minutes: none of a
# program that was known is missed, nothing of them is left over, and the memory of the tool does not grow with them: they
# are more than the kernel's tables have room for at a time. Prints the processor time that it took. THOUSAND_SECONDS:
# another length.
# shellcheck source=tests/e2e/common.sh
. "$(dirname "$0")/../e2e/common.sh"

need_edenscope
program=$build/tests/children
cp "$program" "$folder/thousand-$$"
mkfifo "$folder/lines"
exec 9<>"$folder/lines"
"$folder/thousand-$$" wait <&9 >/dev/null 2>&1 & # so that the program is known
"$scope" export --listen 127.0.0.1:0 -a 2>"$folder/err" &
tool=$!
until_true "it serves" grep -q 'figures are at' "$folder/err"
address=$(grep -o 'http://[^ ]*' "$folder/err")
status=0
python3 tests/fleet/thousand.py "$folder/thousand-$$" "$address" "$tool" "${THOUSAND_SECONDS:-120}" || status=$?
kill -INT "$tool"
wait "$tool" || die "export ended with status $?: $(cat "$folder/err")"
[[ $status == 0 ]] || die "see above; $(cat "$folder/err")"
