#!/usr/bin/env bash
# micro against a reference in Python, which shares no code with it: what is alive at the end, in order, whatever the
# heap does meanwhile; each pattern does to the heap what it is for; and the error cases.
# shellcheck source=tests/e2e/common.sh
. "$(dirname "$0")/common.sh"

micro=$build/workloads/micro
unset EDEN_OPTIONS EDEN_STATS EDEN_LOG

cat >"$folder/reference.py" <<'PYTHON'
import json, sys
pattern, (objects, live, one_in, seed) = sys.argv[1], map(int, sys.argv[2:])
MASK = 2**64 - 1

def splitmix(state):
    while True:
        state = state + 0x9E3779B97F4A7C15 & MASK
        z = (state ^ state >> 30) * 0xBF58476D1CE4E5B9 & MASK
        z = (z ^ z >> 27) * 0x94D049BB133111EB & MASK
        yield z ^ z >> 31

if pattern == "survivors":
    places, random = {}, splitmix(seed)
    for number in range(one_in, objects + 1, one_in):
        places[next(random) % live] = number
    alive = [number for _, number in sorted(places.items())]
elif pattern == "growth":
    alive = range(objects, 0, -1)
else:
    alive = sorted(range(max(1, objects - live + 1), objects + 1), key=lambda number: number % live)
checksum = 0
for number in alive:
    checksum = (checksum ^ number) * 0x100000001B3 & MASK
print(json.dumps({"pattern": pattern, "objects": objects, "alive": len(alive), "checksum": checksum}))
PYTHON

# expect_equal PATTERN OBJECTS LIVE ONE_IN SEED SIZE
expect_equal() {
    python3 "$folder/reference.py" "${@:1:5}" >"$folder/reference.json"
    local options other=remembered_set=object,compat.threshold_bug=1,survivors_to_keep=100
    for options in "" "eden_size=64K,grow_headroom=64K,full_gc_ratio=0.1,compactor=planning" \
        "eden_size=64K,grow_headroom=64K,large_object=4K,$other"; do
        EDEN_OPTIONS=$options "$micro" "$1" --objects "$2" --live "$3" --one-in "$4" --seed "$5" --size "$6" --json \
            --verify >"$folder/answer.json" || die "$* with '$options': exit status $?"
        cmp "$folder/reference.json" "$folder/answer.json" ||
            die "$* with '$options': $(cat "$folder/answer.json") is not $(cat "$folder/reference.json")"
    done
}
expect_equal survivors 100000 1000 10 1 64
expect_equal survivors 100000 3000 1 7 40
expect_equal survivors 50 1000 7 9223372036854775807 32
expect_equal growth 50000 1 1 1 64
expect_equal growth 1 1 1 1 4096
expect_equal large 100 100 1 1 20000
expect_equal large 100 7 1 1 1000000
expect_equal large 3 7 1 1 1000000

# By default: survivors die young, what grows is tenured, each large object finds no room.
figures() { # PATTERN FILTER
    EDEN_STATS=$folder/stats "$micro" "$1" >"$folder/out"
    jq -e "$2" "$folder/stats" >/dev/null || die "$1: $(cat "$folder/stats")"
    rm "$folder/stats"
}
figures survivors '.scavenges > 10 and .tenured_bytes == 0 and .survived_bytes > 10 * 20000 * 64'
figures growth '.tenured_bytes > 100e6 and .full_by_cause.ratio > 2 and .freed_bytes == 0'
figures large '.large_objects == 100 and .full_by_cause.allocation == 99 and .segments_mapped == 100'
grep -qE '^large: 100 objects, 100 alive at the end, checksum [0-9]+$' "$folder/out" || die "$(cat "$folder/out")"

expect_error() { # STATUS PATTERN ARGUMENT...
    expect_status "$1" "$micro" "${@:3}"
    [[ ! -s $folder/out ]] || die "${*:3}: wrote to stdout beside failing"
    grep -qE -- "$2" "$folder/err" || die "${*:3}: the message '$(cat "$folder/err")' does not match '$2'"
}
expect_error 2 "usage: micro"
expect_error 2 "usage: micro" growth large
expect_error 1 "nonesuch: not one of the patterns survivors, growth, large" nonesuch
expect_error 2 "--size=8: must be a whole number from 32 to" growth --size 8
expect_error 2 "--live=0: must be" survivors --live 0
EDEN_OPTIONS=max_heap=32M expect_error 1 "the heap is exhausted: .+" growth
EDEN_OPTIONS=max_heap=32M expect_error 1 "the heap is exhausted: .+" large
EDEN_OPTIONS=no_such=1 expect_error 1 "the heap can't be made: .*no_such" growth
"$micro" --help | grep -q '^usage: micro' || die "--help does not show the usage"
