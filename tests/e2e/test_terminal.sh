#!/usr/bin/env bash
# On a terminal the output of each command fits its width, and has all that a pipe gets, numbers whole; what is cut ends
# with an ellipsis. Colours come where there is a terminal, or are asked for, and NO_COLOR, TERM=dumb and --color are
# obeyed. Names of strangers emit no sequence. A pipe gets neither colours nor folded lines.
# shellcheck source=tests/e2e/common.sh
. "$(dirname "$0")/common.sh"

need_edenscope
root=$PWD
hostile=$(readlink -f "$build/tests/hostile")
enter_folder
record() { expect_status 0 env EDEN_OPTIONS="$1" "$scope" record "${@:2}"; }
workload=$build/workloads/micro
every=full_gc_ratio=0,grow_headroom=64K,tenure_fill=0,tenure_proportion=0.02
record "" --objects --lifetimes=details -o one.data -- "$exercise"
record policy=fixed,eden_size=256K --objects -o two.data -- "$workload" survivors --objects 100000
record "policy=fixed,eden_size=1M,$every" --lifetimes=details --sampling all -o all.data -- "$workload" survivors --objects 100000

mkfifo lines
cp "$build/tests/children" a-name-of-fifteen
./a-name-of-fifteen stay <lines >said &
still=$!
exec 8>lines
has_heap() { "$scope" list -p "$still" 2>/dev/null | grep_all -q ' 1  children'; }
until_true "the other process has its heap" has_heap
PYTHONPATH=$root/tests/e2e /usr/bin/python3 "$root/tests/e2e/terminal.py" "$scope" "$exercise" "$hostile" "$still" \
    "$workload" survivors --objects 100000 || die "see above"
