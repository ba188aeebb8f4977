#!/usr/bin/env bash
# `top` shows the heaps of what it observes, in the order that is asked for, at any size of the terminal; a heap in detail has
# what the program says of itself; the terminal is given back as it was.
# shellcheck source=tests/e2e/common.sh
. "$(dirname "$0")/common.sh"

need_edenscope
root=$PWD
enter_folder
mkfifo lines-1 lines-2
copy_program "$build/tests/children" first-one
copy_program "$build/tests/children" second-one
./first-one stay <lines-1 >said-1 &
one=$!
exec 8>lines-1
./second-one stay <lines-2 >said-2 &
two=$!
exec 9>lines-2
"$exercise" --wait <>"$pipe" >said-3 &
three=$!
until_true "it has its heaps" grep -q ready said-3
PYTHONPATH=$root/tests/e2e /usr/bin/python3 "$root/tests/e2e/top.py" "$scope" "$one" "$two" "$three" || die "see above"
wait "$one" "$two"

expect_status 1 "$scope" top -p "$$" </dev/null
grep -q 'top needs a terminal' "$folder/err" || die "without a terminal: $(cat "$folder/err")"
echo "top shows heaps, sorts, filters, freezes and shows one in detail, at any size"
