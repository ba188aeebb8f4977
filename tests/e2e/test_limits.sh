#!/usr/bin/env bash
# Programs with too little memory end in an error that names it, or with their right result: under limits of the address
# space, of the data segment, of the heap and of a cgroup, from hopeless to plenty. Each heap is verified at its end, by
# tests/programs/verify_at_end.c. A processor-time limit, far above what any run takes, ends a hang.
#
# LIMIT_SIZES (4): how many sizes of each limit; `make test-limits` tries 30.
# shellcheck source=tests/e2e/common.sh
. "$(dirname "$0")/common.sh"
unset EDEN_OPTIONS EDEN_STATS EDEN_LOG EDEN_SAMPLING
ulimit -c 0

count=${LIMIT_SIZES:-4}
seconds=20 # of processor time; none takes one
mkdir -p "$build/tests"
make --no-print-directory -s B="$build" "$build"/tests/limits-{mixed,queue,dataframe} "$build/workloads/mkdata"
"$build/workloads/mkdata" --rows 20000 --seed 1 >"$folder/data.csv"

programs=(dataframe queue mixed lifetimes)
declare -A command=(
    [dataframe]="$build/tests/limits-dataframe --image 1 $folder/data.csv"
    [queue]="$build/tests/limits-queue 2500000 2000000"
    [mixed]="$build/tests/limits-mixed 150000"
    [lifetimes]="$build/tests/limits-mixed --listen 150000"
)
declare -A figures=() # LIMIT RESULT: how often

# sizes FROM TO: in bytes, each a fixed factor above the one before.
sizes() { awk -v from="$1" -v to="$2" -v n="$count" 'BEGIN { for (i = 0; i < n; i++) printf "%d\n", from * (to / from) ^ (i / (n - 1)) }'; }

# run_limited LIMIT PROGRAM BYTES: its exit status is in $status, its output in $folder/out and $folder/err.
run_limited() {
    local options=max_heap=$3
    [[ $1 == heap ]] || options=
    # queue has a limit of its own.
    [[ $2 != queue || $1 == heap ]] || options=max_heap=none
    status=0
    # The shell's own word about a killed process is not wanted.
    {
        (
            ulimit -t "$seconds"
            case $1 in
            address) ulimit -S -v $(($3 / 1024)) ;;
            data) ulimit -S -d $(($3 / 1024)) ;;
            cgroup) echo $BASHPID >"$group/cgroup.procs" ;;
            esac
            # shellcheck disable=SC2086
            EDEN_OPTIONS=$options EDEN_SAMPLING=0 exec ${command[$2]}
        ) >"$folder/out" 2>"$folder/err" || status=$?
    } 2>/dev/null
}

# judge LIMIT PROGRAM BYTES: of the last run.
judge() {
    local result what="$2 with $1 limited to $3 bytes"
    case $status in
    0)
        result=done
        cmp -s "$folder/out" "$folder/$2.out" || die "$what prints something else: $(head -c 300 "$folder/out")"
        ;;
    1)
        result=refused
        grep -qE 'memory|max_heap|address space' "$folder/err" || die "$what: the error does not name memory: $(cat "$folder/err")"
        ;;
    137)
        result=killed
        [[ $1 == cgroup ]] || die "$what is killed: $(cat "$folder/err")"
        ;;
    *) die "$what ends with status $status: $(tail -c 500 "$folder/err")" ;;
    esac
    figures[$1 $result]=$((${figures[$1 $result]:-0} + 1))
}

for program in "${programs[@]}"; do
    run_limited none "$program" 0
    [[ $status == 0 && -s $folder/out ]] || die "$program fails without a limit: $(cat "$folder/err")"
    mv "$folder/out" "$folder/$program.out"
done
cmp -s "$folder/mixed.out" "$folder/lifetimes.out" || die "a listener changes what the program computes"

# try LIMIT FROM TO: all programs, at all sizes.
try() {
    local program bytes
    for bytes in $(sizes "$2" "$3"); do
        for program in "${programs[@]}"; do
            [[ $1 != cgroup ]] || echo "$bytes" >"$group/$group_limit"
            run_limited "$1" "$program" "$bytes"
            judge "$1" "$program" "$bytes"
        done
    done
    echo "$1: ${figures[$1 done]:-0} done, ${figures[$1 refused]:-0} refused, ${figures[$1 killed]:-0} killed"
    [[ ${figures[$1 done]:-0} -ge 4 ]] || die "$1: not even the largest size is enough"
    [[ $((${figures[$1 refused]:-0} + ${figures[$1 killed]:-0})) -ge 4 ]] || die "$1: not even the smallest size is too little"
}
try address 20000000 600000000 # below that, the dynamic loader fails
try data 4000000 400000000
try heap 1000000 300000000

# A cgroup of version 2, or of version 1's memory controller.
if mkdir "/sys/fs/cgroup/eden-limits-$$" 2>/dev/null && [[ -e /sys/fs/cgroup/eden-limits-$$/memory.max ]]; then
    group=/sys/fs/cgroup/eden-limits-$$ group_limit=memory.max
    echo 0 >"$group/memory.swap.max" 2>/dev/null || true
elif rmdir "/sys/fs/cgroup/eden-limits-$$" 2>/dev/null || true; mkdir "/sys/fs/cgroup/memory/eden-limits-$$" 2>/dev/null; then
    group=/sys/fs/cgroup/memory/eden-limits-$$ group_limit=memory.limit_in_bytes
else
    echo "cgroup: none can be made here with a memory limit: not tried"
    exit 0
fi
trap 'cleanup; for i in {1..50}; do rmdir "$group" 2>/dev/null && break; sleep 0.1; done' EXIT
try cgroup 3000000 300000000
