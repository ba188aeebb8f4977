#!/usr/bin/env bash
# The checked build under AddressSanitizer, which finds what the one does not: programs that follow the rules run, with
# all that moves, promotes and returns memory. So does the heap fuzzer, which breaks none.
# shellcheck source=tests/e2e/common.sh
. "$(dirname "$0")/common.sh"

checked=$build/checked-san
make --no-print-directory -s CHECKED=1 SAN=1 B="$checked" "$checked/workloads/moose" "$checked/workloads/queue" "$checked/tests/tails" \
    "$checked/tests/heap-fuzz"
export ASAN_OPTIONS=detect_leaks=0

# runs OPTIONS COMMAND...: to its end, or to the limit.
runs() {
    local status=0
    EDEN_OPTIONS=$1 "${@:2}" >"$folder/out" 2>"$folder/err" || status=$?
    ! grep -q 'Sanitizer\|eden: check' "$folder/err" || die "$*: $(head -c 3000 "$folder/err")"
    [[ $status == 0 ]] || grep -q 'out of memory\|exhausted' "$folder/err" ||
        die "$* gave status $status: $(head -c 1000 "$folder/err")"
}

for limit in 8M 12M 16M 24M; do
    runs "max_heap=$limit" "$checked/workloads/moose" --classes 300
    runs "max_heap=$limit,compat.growth=refill" "$checked/workloads/queue" 20000 200000
done
runs policy=fixed,eden_size=256K,stress=2000 "$checked/workloads/moose" --classes 60
runs "" "$checked/tests/tails"
# Most of these find the heap nearly full, so that a census counts what full collections leave.
for options in compactor=none,policy=auto,max_heap=4M,grow_headroom=64K policy=auto,max_heap=6M \
    gc_threads=2,policy=auto,max_heap=3M pause_goal=1,policy=auto,max_heap=3M; do
    EDEN_OPTIONS=$options "$checked/tests/heap-fuzz" --seeds 3 --events 300 >"$folder/out" 2>&1 ||
        die "heap-fuzz with '$options': $(grep -v '^{' "$folder/out" | head -c 3000)"
done
echo "what follows the rules runs"
