#!/usr/bin/env bash
# Several heaps in several threads, and an observer that does what a tool does from outside: the thread sanitizer sees no
# race, and log and statistics have whole lines for every heap. TSAN_ROUNDS (3): heaps for each of four threads.
# setarch -R: the sanitizer of gcc 12 does not start where a kernel spreads addresses over 32 bits.
# shellcheck source=tests/e2e/common.sh
. "$(dirname "$0")/common.sh"
unset EDEN_OPTIONS EDEN_SAMPLING

rounds=${TSAN_ROUNDS:-3}
make --no-print-directory -s B="$build" tsan-program
EDEN_LOG=$folder/log EDEN_STATS=$folder/stats TSAN_OPTIONS="halt_on_error=0 exitcode=66" \
    setarch -R "$build/tsan/tests/threads" "$rounds" >"$folder/out" 2>"$folder/err" || die "races or failures: $(head -c 6000 "$folder/err")"
[[ $(jq -r .heap "$folder/stats" | sort -nu | wc -l) == $((4 * rounds)) ]] || die "EDEN_STATS lacks heaps"
jq -s -e --slurpfile stats "$folder/stats" \
    '(map(select(.kind == "scavenge" or .kind == "full")) | length) == ($stats | map(.scavenges + .full_collections) | add)' "$folder/log" >/dev/null ||
    die "EDEN_LOG lacks collections"
cat "$folder/out"
