#!/usr/bin/env bash
# bloc: the checksum of its answer at ordinary and at tiny heap sizes; that its pace takes the time and changes nothing; the
# classes that the paper names have its shares; and the error cases.
# shellcheck source=tests/e2e/common.sh
. "$(dirname "$0")/common.sh"

program=$build/workloads/bloc

# expect_answer SUM OPTION...: whatever the heap does. A tiny eden collects all the time; with planning every full
# collection moves what is old.
heaps=("" "eden_size=64K" "eden_size=64K,remembered_set=object" "eden_size=64K,compactor=planning,full_gc_ratio=0.05"
    "eden_size=256K,tenure_criterion=never" "eden_size=64K,large_object=4096,full_gc_ratio=0,compactor=selective")
expect_answer() {
    local options
    for options in "${heaps[@]}"; do
        EDEN_OPTIONS=$options expect_sum "$1" "$program" --json --verify "${@:2}"
    done
}

expect_answer fa578efa821d24d96e10b07bc0f2fa79 --boids 120 --frames 25 --seed 1
# Longer than a path is.
expect_answer 892e2a2c409956a116dfa8a7453769cd --boids 30 --frames 700 --seed 20241
expect_answer 8c0e287dbb8415134ec35d9e27a1f334 --boids 1 --frames 0
# One that nobody else steers.
expect_answer 1ba15f9d77d3e4bb337c8b9d9acf36ef --boids 1 --frames 40
# Each allocation collects.
heaps=(stress=1 stress=7)
expect_answer e9c42cd8e48c01c6866f9bd95b13a182 --boids 4 --frames 5 --seed 2

# A pace: frame 40 is due 0.4 seconds after frame 0.
"$program" --json --frames 41 >"$folder/fast.json"
start=$(date +%s%N)
"$program" --json --frames 41 --pace 100 | cmp - "$folder/fast.json" || die "the pace changes the answer"
(($(date +%s%N) - start >= 400000000)) || die "frames come before they are due"

# What ten seconds of the paper's program allocate: bytes within a factor of two, the shares of its classes.
EDEN_STATS=$folder/stats.json "$program" --json >/dev/null
if [[ $(id -u) == 0 && -x $scope ]]; then
    "$scope" lifetimes --sampling all --json -o "$folder/classes.json" -- "$program" >/dev/null
    jq -e '[.classes[] | {(.name): (100 * .allocation_share)}] | add |
        .BlChildrenSortedByElevation > 27 and .BlChildrenSortedByElevation < 33 and
        .BlVector2D > 1.4 and .BlVector2D < 1.8 and .WriteStream > 1.8 and .WriteStream < 2.2' \
        "$folder/classes.json" >/dev/null || die "the classes have not the paper's shares: $(cat "$folder/classes.json")"
fi
jq -e '.allocated_bytes > 9860000 / 2 and .allocated_bytes < 9860000 * 2' "$folder/stats.json" >/dev/null ||
    die "not the paper's 9.86 MB: $(cat "$folder/stats.json")"

# What is kept changes nothing but memory.
"$program" --json --frames 41 --keep-class BlVector2D,WriteStream --verify | cmp - "$folder/fast.json" ||
    die "--keep-class changes the answer"

# Another seed, another answer; the table says what the JSON says.
[[ $("$program" --json --frames 2 --seed 1) != "$("$program" --json --frames 2 --seed 2)" ]] || die "the seed is ignored"
"$program" --frames 41 | grep_all -q "^checksum  *$(jq -r .checksum "$folder/fast.json")\$" || die "the table has another checksum"
"$program" --help | grep_all -q '^usage: bloc' || die "--help does not show the usage"

expect_error 2 "--boids=0: must be a whole number from 1" --boids 0
expect_error 2 "--pace=-1: must be" --pace -1
expect_error 2 "--seed=x: must be" --seed x
expect_error 2 "--keep-class=Boid: Boid is no class" --keep-class Boid
expect_error 2 "unrecognized option" --no-such-option
expect_error 2 "usage: bloc" operand
# Wherever the memory runs out, in making the elements or in a frame, it ends in the same way.
for ((boids = 450; boids <= 650; boids += 10)); do
    EDEN_OPTIONS=eden_size=64K,grow_headroom=64K,max_heap=1M \
        expect_error 1 "^bloc: the heap is exhausted: .+" --json --boids "$boids" --frames 600
done
EDEN_OPTIONS=no_such=1 expect_error 1 "the heap can't be made: .*no_such"
expect_full_disk "$program" --json --boids 1 --frames 0
