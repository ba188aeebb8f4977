#!/usr/bin/env bash
# mobidyc: the checksum of its answer over several worlds and seeds, at ordinary and at tiny heap sizes; the balances of
# a larger run; and the error cases.
# shellcheck source=tests/e2e/common.sh
. "$(dirname "$0")/common.sh"

program=$build/workloads/mobidyc

# expect_world SUM WIDTH HEIGHT GOATS WOLVES STEPS SEED: a tiny eden collects all the time; with planning every full
# collection moves what is old.
heaps=("" "eden_size=64K,grow_headroom=64K" "eden_size=64K,grow_headroom=64K,compactor=planning,full_gc_ratio=0.05"
    "eden_size=128K,large_object=4096,full_gc_ratio=0.05,remembered_set=object" "eden_size=64K,tenure_criterion=never")
expect_world() {
    local options
    for options in "${heaps[@]}"; do
        EDEN_OPTIONS=$options expect_sum "$1" "$program" --verify --json --width "$2" --height "$3" --goats "$4" \
            --wolves "$5" --steps "$6" --seed "$7"
    done
}

# sees FILTER: a jq filter that must hold for a file of one result.
sees() { jq -e "$1" "$2" >"$folder/out" || die "$2: not so: $1"; }

expect_world 6b6f9832c312a5e03a02ad38b4c4e81a 20 18 90 9 120 1
expect_world 3a7f752f4fc9902c62cc6e769c941905 20 18 90 9 120 2
expect_world ccd68bda2ace8636406b2af062c84c13 33 3 60 8 80 9223372036854775807 # every way around the world is short
expect_world c22ec6f42492f6538ba9478d261e6a83 3 3 40 5 120 7                   # and all die
expect_world 6f715abd9c128a2ad768a5f66b60844a 5 4 0 3 30 1                     # nothing to eat
expect_world 9f9bd36c7adefa4a58dd152b8e684754 6 5 30 0 60 3                    # nothing to fear
expect_world 446141f12c821c48108744c9d34a1aeb 4 3 5 2 0 4
# So crowded that times, and distances, are equal now and then.
expect_world 11ef867f41b40a1ed8a93da3fad7f745 3 3 1500 100 6 27
# Every fifth allocation collects.
heaps=(stress=5 "stress=5,compactor=planning,remembered_set=object")
expect_world 997070378e8886c108be635e1dee3c43 8 6 40 4 25 5

# The default run: it swings, all three live on, and numbers and energy are kept to the last unit.
"$program" --json --verify >"$folder/default.json" || die "the default run: exit status $?"
sees '[.goats, .wolves] | all(.population.min > 100 and .population.swings >= 3)' "$folder/default.json"
sees '[.goats, .wolves] | all(.population.max > 3 * .population.min)' "$folder/default.json"
sees '[.goats, .wolves] | all(.population.first + .births - (.deaths | add) == .population.last)' "$folder/default.json"
sees '[.goats, .wolves] | all(.deaths.hunger > 0 and .deaths.age > 0)' "$folder/default.json"
sees '[.goats.energy, .wolves.energy] | all(.initial + .intake == .respired + (.lost | add) + .left)' "$folder/default.json"
sees '.goats.energy.lost.wolf == .wolves.energy.intake + .wasted' "$folder/default.json"
sees '.grass | .initial + .grown == .eaten + .left' "$folder/default.json"
sees '.grass.eaten == .goats.energy.intake and .grass.left == .grass.amount.last' "$folder/default.json"

# A short run: its result depends on the seed alone, and the table says the same.
"$program" --steps 20 --json >"$folder/short.json"
EDEN_OPTIONS=eden_size=1M,full_gc_ratio=0.1 "$program" --steps 20 --json | cmp - "$folder/short.json" ||
    die "the result depends on the heap"
! "$program" --steps 20 --json --seed 2 | cmp -s - "$folder/short.json" || die "the seed is ignored"
"$program" --steps 20 >"$folder/table"
goats=$(awk '$1 == "goats" {print $3; exit}' "$folder/table")
sees ".goats.population.last == $goats" "$folder/short.json"
[[ $(wc -l <"$folder/table") -eq 8 ]] || die "the table has not 8 lines"
"$program" --help | grep -q '^usage: mobidyc' || die "--help does not show the usage"

expect_error 2 "usage: mobidyc" something
expect_error 2 "unrecognized option" --no-such-option
expect_error 2 "--width=2: must be a whole number from 3 to 2048" --width 2
expect_error 2 "--seed=0: must be" --seed 0
expect_error 2 "--steps=1x: must be" --steps 1x
expect_error 2 "--goats=-1: must be" --goats=-1
EDEN_OPTIONS=no_such=1 expect_error 1 "the heap can't be made: .*no_such" --json
# Memory runs out at one place or another.
for ((limit = 1024; limit <= 8192; limit += 512)); do
    EDEN_OPTIONS=eden_size=64K,grow_headroom=64K,max_heap=${limit}K \
        expect_error 1 "^mobidyc: the heap is exhausted: .+" --json --goats 30000 --steps 20
done
expect_full_disk "$program" --json --steps 1
