#!/usr/bin/env bash
# mobidyc: the checksum of its answer over several worlds and seeds, at ordinary and at tiny heap sizes; the balances of
# a larger run; and the error cases.
# shellcheck source=tests/e2e/common.sh
. "$(dirname "$0")/common.sh"

program=$build/workloads/mobidyc

# world WIDTH HEIGHT GOATS WOLVES STEPS SEED: its JSON.
world() {
    "$program" --verify --json --width "$1" --height "$2" --goats "$3" --wolves "$4" --steps "$5" --seed "$6" "${@:7}"
}

# expect_world SUM WIDTH HEIGHT GOATS WOLVES STEPS SEED: a tiny eden collects all the time; with planning every full
# collection moves what is old.
heaps=("" "eden_size=64K,grow_headroom=64K" "eden_size=64K,grow_headroom=64K,compactor=planning,full_gc_ratio=0.05"
    "eden_size=128K,large_object=4096,full_gc_ratio=0.05,remembered_set=object" "eden_size=64K,tenure_criterion=never")
expect_world() {
    local options
    for options in "${heaps[@]}"; do
        EDEN_OPTIONS=$options expect_sum "$1" world "${@:2}"
    done
}

# sees FILTER FILE: a jq filter that must hold for a file of one result.
sees() { jq -e "$1" "$2" >"$folder/out" || die "$2: not so: $1"; }
# balances FILE GOATS WOLVES, so many at the start: neither animals nor energy are made or lost unseen.
balances() {
    sees "$2 + .goats.births - .goats.deaths == .goats.last" "$1"
    sees "$3 + .wolves.births - .wolves.deaths == .wolves.last" "$1"
    sees '.energy | .initial + .grown == .respired + .lost + .left' "$1"
}

expect_world 2bf8b57a4cdb18e90fb84e306a16a228 20 18 90 9 120 1
expect_world 38c90cc2bc44551ecd55dd197b11b88e 33 3 60 8 80 9223372036854775807
expect_world 7453c35204674845570f056f6fa3ef85 3 3 40 5 120 7 # and the wolves die out
expect_world 192e560d07122bea09ea219a5141df7c 5 4 0 3 30 1   # nothing to eat
expect_world 434eebcfbd4a931a07fb3066d9d51dfa 6 5 30 0 60 3  # nothing to fear
expect_world fcba37e609d5873c243401c875f9c99d 4 3 5 2 0 4
expect_world 88c1d481f04deb25c81e2b4cb310a12e 3 3 1500 100 6 27 # crowded
# Every fifth allocation collects.
heaps=(stress=5 "stress=5,compactor=planning,remembered_set=object")
expect_world 9fae4a125e1860c0943a4c201b00b18a 8 6 40 4 10 5

# What is kept changes nothing.
world 20 18 90 9 20 1 >"$folder/plain.json"
EDEN_OPTIONS=stress=1009 world 20 18 90 9 20 1 --keep-class Array,Dictionary,RMDFishmanMooreRandomGenerator \
    >"$folder/kept.json"
cmp "$folder/plain.json" "$folder/kept.json" || die "what is kept changes the answer"
! world 20 18 90 9 20 2 | cmp -s - "$folder/plain.json" || die "the seed is ignored"

# The default run: both species live on, are born, and die.
"$program" --json --verify >"$folder/default.json" || die "the default run: exit status $?"
balances "$folder/default.json" 5000 500
sees '[.goats, .wolves] | all(.last > 500 and .births > 1000 and .deaths > 1000)' "$folder/default.json"
sees '.energy.lost > 0' "$folder/default.json"
world 3 3 40 5 120 7 >"$folder/small.json"
balances "$folder/small.json" 40 5
sees '.wolves.last == 0 and .wolves.births == 0' "$folder/small.json"
world 5 4 0 3 300 1 >"$folder/hungry.json"
balances "$folder/hungry.json" 0 3
sees '.wolves.last == 0 and .wolves.deaths == 3 and .energy.left == 5 * 4 * 60' "$folder/hungry.json"

# Several lines say what one does.
"$program" --width 20 --height 18 --goats 90 --wolves 9 --steps 20 >"$folder/lines"
[[ $(wc -l <"$folder/plain.json") == 1 && $(wc -l <"$folder/lines") -gt 7 ]] || die "--json does not make one line"
cmp <(jq -S . "$folder/plain.json") <(jq -S . "$folder/lines") || die "with --json it says something else"
"$program" --help | grep_all -q '^usage: mobidyc' || die "--help does not show the usage"

expect_error 2 "usage: mobidyc" something
expect_error 2 "unrecognized option" --no-such-option
expect_error 2 "--width=2: must be a whole number from 3 to 2048" --width 2
expect_error 2 "--seed=0: must be" --seed 0
expect_error 2 "--steps=1x: must be" --steps 1x
expect_error 2 "--goats=-1: must be" --goats=-1
expect_error 2 "--keep-class=Cat: Cat is no class of this program" --keep-class Cat
EDEN_OPTIONS=no_such=1 expect_error 1 "the heap can't be made: .*no_such" --json
# Memory runs out at one place or another.
for ((limit = 1024; limit <= 8192; limit += 512)); do
    EDEN_OPTIONS=eden_size=64K,grow_headroom=64K,max_heap=${limit}K \
        expect_error 1 "^mobidyc: the heap is exhausted: .+" --json --goats 30000 --steps 20
done
expect_full_disk "$program" --json --steps 1
