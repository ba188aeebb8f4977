#!/usr/bin/env bash
# bloc: the checksum of its answer at ordinary and at tiny heap sizes; --verify looks at the invariants after each frame,
# in larger runs, too; and the error cases.
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

expect_answer 9f62390c59bcd8c4d85122554a6986e7 --boids 120 --frames 25 --seed 1
expect_answer 6463fc31ac693e17a4b6c55caabe25ef --boids 60 --frames 40 --seed 20241 --trail 5 --moves 60
expect_answer b5a13271a30df638f2ac30066945c95f --boids 1 --frames 0
# A flock so dense that boids hide each other, and the order of sums counts; short trails, which die young.
expect_answer 5c79c189aaccefa610e1eddf6ba606ac --boids 300 --frames 4 --seed 3 --trail 1 --moves 150
# Speeds below what immediate floats hold, down to 0: these Points hold BoxedFloat64s.
expect_answer 4b1b6ac2dc098643b7045ed8cd99e587 --boids 1 --frames 400 --seed 5 --moves 0 --drag 90
# Each allocation collects.
heaps=(stress=1)
expect_answer 0008a03f89a99604a21c160bae34ec54 --boids 4 --frames 3 --moves 2 --seed 2
heaps=(stress=7)
expect_answer c9870d155d54e6d41c2d79f9de1ef8b6 --boids 2 --frames 60 --moves 0 --drag 90

# A larger run: its invariants hold, and the heap's parameters change nothing.
"$program" --json --verify --boids 1500 --frames 20 >"$folder/large.json" || die "a large run: exit status $?"
for options in "eden_size=1M,compactor=planning,full_gc_ratio=0.05" "eden_size=1M,remembered_set=object"; do
    EDEN_OPTIONS=$options EDEN_STATS=$folder/stats.json "$program" --json --verify --boids 1500 --frames 20 |
        cmp - "$folder/large.json" || die "'$options' changes the answer of a large run"
    grep -qE '"scavenges": [0-9]{3}' "$folder/stats.json" || die "'$options' makes a large run scavenge too seldom"
    grep -qE '"tenured_objects": [0-9]{4}' "$folder/stats.json" || die "'$options' tenures nothing in a large run"
done

# Another seed, another answer; the table says what the JSON says.
[[ $("$program" --json --boids 9 --frames 2 --seed 1) != "$("$program" --json --boids 9 --frames 2 --seed 2)" ]] ||
    die "the seed is ignored"
sum=$("$program" --json --boids 9 --frames 2 | sed 's/.*"checksum": "\([0-9a-f]*\)".*/\1/')
"$program" --boids 9 --frames 2 | grep -qE "^checksum of what was drawn +$sum\$" || die "the table does not show the checksum"
"$program" --help | grep -q '^usage: bloc' || die "--help does not show the usage"

expect_error 2 "--boids=0: must be a whole number from 1" --boids 0
expect_error 2 "--drag=100: must be" --drag 100
expect_error 2 "--seed=x: must be" --seed x
expect_error 2 "unrecognized option" --no-such-option
expect_error 2 "usage: bloc" operand
# Wherever the memory runs out, in making the tree or in a frame, as trails grow, it ends in the same way.
for ((boids = 190; boids <= 400; boids += 7)); do
    EDEN_OPTIONS=eden_size=64K,grow_headroom=64K,max_heap=1M \
        expect_error 1 "^bloc: the heap is exhausted: .+" --json --boids "$boids" --frames 100 --trail 200
done
EDEN_OPTIONS=no_such=1 expect_error 1 "the heap can't be made: .*no_such"
expect_full_disk "$program" --json --boids 1 --frames 0
