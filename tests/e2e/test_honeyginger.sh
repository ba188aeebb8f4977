#!/usr/bin/env bash
# honeyginger: the checksum of its pictures and motion at several sizes and seeds and whatever the heap does meanwhile;
# what must hold of water; the objects it draws with; and the error cases.
# shellcheck source=tests/e2e/common.sh
. "$(dirname "$0")/common.sh"

program=$build/workloads/honeyginger

# water COLUMNS ROWS STEPS SEED: its JSON.
water() { "$program" --json --verify --columns "$1" --rows "$2" --steps "$3" --seed "$4"; }

# expect_water SUM COLUMNS ROWS STEPS SEED: at these heap sizes.
expect_water() {
    local options
    for options in "${heaps[@]}"; do
        EDEN_OPTIONS=$options expect_sum "$1" water "${@:2}"
    done
}

# One particle, a tower, a puddle, and two seeds.
heaps=("" "eden_size=64K,grow_headroom=64K,full_gc_ratio=0.1")
expect_water 1abb8d75d9e06e58185ac2a8d9bbdd4c 1 1 50 1
expect_water bdaee64076af0a563aa2204597aab70c 2 40 60 9
expect_water 58e6a4bed22c99a611a864b58c89aa76 30 3 60 9223372036854775807
expect_water 554692679f5fb3ed42c77b9607bfa0d6 12 12 120 1
tiny=eden_size=64K,grow_headroom=64K,full_gc_ratio=0.05
heaps=("" "$tiny" "$tiny,compactor=planning" "$tiny,compactor=none" "$tiny,remembered_set=object"
    "$tiny,tenure_criterion=never" "$tiny,tenure_criterion=remembered" "$tiny,tenure_proportion=1"
    "eden_size=256K,large_object=4K" "stress=1009")
expect_water da6d8091e03b180bc31ad6eaeb61f8fc 12 12 120 2
heaps=(stress=1 "stress=1,compactor=planning,remembered_set=object" "stress=3,$tiny")
expect_water 4ec796c0b4b2bc64a71a28682f91e6f1 3 4 6 5

# What is kept changes nothing.
EDEN_OPTIONS=stress=101 "$program" --json --verify --columns 12 --rows 12 --steps 40 >"$folder/plain"
EDEN_OPTIONS=stress=101 "$program" --json --verify --columns 12 --rows 12 --steps 40 \
    --keep-class Rectangle,Array,Form >"$folder/kept"
cmp "$folder/plain" "$folder/kept" || die "what is kept changes the answer"

# What must hold of water, at the default size: momentum comes from gravity and the walls only, and the dam breaks.
"$program" --json --verify >"$folder/whole.json"
python3 - "$folder/whole.json" <<'PYTHON' || die "the default run breaks a law"
import json, math, sys
run = json.load(open(sys.argv[1]))
assert run["particles"] == 960 and run["steps"] == 1000
mass = run["particles"] * 1000 / 32**2
for momentum, due in zip(run["momentum"], run["due"]):
    assert math.isclose(momentum, due, rel_tol=1e-10, abs_tol=1e-10 * mass), run
    assert abs(momentum) > 1e-3 * mass, run  # which is no law, but else the law above says nothing
# It begins as a block of 24 by 40 in the left lower corner.
assert run["centre"][0] > 1.5 * 12 / 32 and run["centre"][1] < 0.5 * 20 / 32, run
# Each particle fills 9 pixels a frame, less what its tile cuts off: all but 4 in a corner.
assert 4 * run["particles"] * run["steps"] <= run["pixels"] < 9 * run["particles"] * run["steps"], run
PYTHON

# The seed matters; several lines say what one does; and help.
[[ $(water 8 6 1 1) != "$(water 8 6 1 2)" ]] || die "the seed is ignored"
water 4 4 20 1 >"$folder/line"
"$program" --columns 4 --rows 4 --steps 20 >"$folder/lines"
[[ $(wc -l <"$folder/line") == 1 && $(wc -l <"$folder/lines") -gt 7 ]] || die "--json does not make one line"
cmp <(jq -S . "$folder/line") <(jq -S . "$folder/lines") || die "with --json it says something else"
"$program" --help | grep_all -q '^usage: honeyginger' || die "--help does not show the usage"

for option in columns=0 columns=1001 rows=101 rows=x steps=-1 seed=0 seed=9223372036854775808; do
    expect_error 2 "--$option: must be a whole number from" "--$option"
done
expect_error 2 "unrecognized option" --no-such-option
expect_error 2 "usage: honeyginger" operand
EDEN_OPTIONS=no_such=1 expect_error 1 "the heap can't be made: .*no_such" --steps 1
# Memory ends in the midst of a step, or while the water is poured in.
exhausted="^honeyginger: the heap is exhausted: out of memory for an object of"
for ((limit = 2048; limit <= 6144; limit += 512)); do
    EDEN_OPTIONS=max_heap=${limit}K,eden_size=64K expect_error 1 "$exhausted" --columns 100 --rows 60
done
EDEN_OPTIONS=max_heap=1M,eden_size=64K expect_error 1 "$exhausted" --columns 1000 --rows 100
for form in --json --verify; do
    expect_full_disk "$program" --columns 2 --rows 2 --steps 2 $form
done
