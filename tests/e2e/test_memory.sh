#!/usr/bin/env bash
# Memory under limits, seen from outside: what a program drops goes back to the system (RSS), and a queue whose dead
# head keeps its young tail alive stays within its limit.
set -euo pipefail
cd "$(dirname "$0")/../.."
build=${B:-build}
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
make --no-print-directory -s B="$build" "$build/tests/giveback" "$build/workloads/queue"
die() {
    echo "test_memory.sh: $*"
    exit 1
}

rss_kib() { awk '/^VmRSS:/ { print $2 }' "/proc/$1/status"; }

for options in compactor=planning compactor=selective compactor=selective,remembered_set=card; do
    coproc program { EDEN_OPTIONS=$options exec "$build/tests/giveback"; }
    # shellcheck disable=SC2154
    pid=$program_PID
    read -r word <&"${program[0]}" && [[ $word == grown ]] || die "$options: does not grow"
    grown=$(rss_kib "$pid")
    echo go >&"${program[1]}"
    read -r word <&"${program[0]}" && [[ $word == dropped ]] || die "$options: does not drop"
    kept=$(rss_kib "$pid")
    echo go >&"${program[1]}"
    wait "$pid" || die "$options: the program failed"
    # 15 of 16 nodes of 176 bytes.
    dropped=$((1500000 * 176 / 1024 * 15 / 16))
    echo "$options: $grown KiB grown, $dropped KiB dropped, $((grown - kept)) KiB given back"
    ((grown - kept >= dropped * 9 / 10)) || die "$options: less than 90% of what was dropped was given back"
done

for options in "" compactor=none compactor=selective,remembered_set=card tenure_criterion=never; do
    EDEN_OPTIONS=$options "$build/workloads/queue" 5000000 1000000 >"$folder/out" || die "queue with '$options' failed"
    grep -q '^5000000 put, 4000000 taken, in order$' "$folder/out" || die "queue with '$options': $(cat "$folder/out")"
done
if EDEN_OPTIONS=max_heap=40M "$build/workloads/queue" 3000000 2000000 2>"$folder/err"; then
    die "two million nodes of 24 bytes do not fit into 40 MB, yet the queue ran"
fi
grep -q "out of memory for an object of 24 bytes of class 'Node'" "$folder/err" || die "the error is: $(cat "$folder/err")"
