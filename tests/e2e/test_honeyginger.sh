#!/usr/bin/env bash
# honeyginger: the checksum of its answer at several sizes and seeds and whatever the heap does meanwhile; what must hold
# of larger runs; and the error cases.
# shellcheck source=tests/e2e/common.sh
. "$(dirname "$0")/common.sh"

program=$build/workloads/honeyginger

# water COLUMNS ROWS STEPS EVERY SEED JITTER: its JSON.
water() { "$program" --json --verify --columns "$1" --rows "$2" --steps "$3" --every "$4" --seed "$5" --jitter "$6"; }

# expect_water SUM COLUMNS ROWS STEPS EVERY SEED JITTER: at these heap sizes.
heaps=("" "eden_size=64K,grow_headroom=64K,full_gc_ratio=0.1")
expect_water() {
    local options
    for options in "${heaps[@]}"; do
        EDEN_OPTIONS=$options expect_sum "$1" water "${@:2}"
    done
}

# One particle, a lattice, no order at all, a tower, a puddle, and two seeds; the last step is sampled once.
expect_water 20d975b3dd8560019c7acbe382e1c40c 1 1 50 10 1 10
expect_water 5d922fd7ad2f8c539ca94f1a95806fbd 8 6 100 20 3 0
expect_water 90c52cafa49aebba800ccb9b1d77681c 8 6 100 30 4 100
expect_water 7d005372c1097bf4357e7ebee96ee40a 2 40 60 7 9 30
expect_water bd9a6114f075652b2ca19f2624914346 30 3 60 60 9223372036854775807 50
expect_water 58710e40c007f7340889a07d3c095022 12 12 120 50 1 10

tiny=eden_size=64K,grow_headroom=64K,full_gc_ratio=0.05
heaps=("" "$tiny" "$tiny,compactor=planning" "$tiny,compactor=none" "$tiny,remembered_set=object"
    "$tiny,tenure_criterion=never" "$tiny,tenure_criterion=remembered" "$tiny,tenure_proportion=1"
    "eden_size=256K,large_object=4K" "stress=1009")
expect_water e2a1f65f08ea15e5ef4f972540711965 12 12 120 50 2 10
heaps=(stress=1 "stress=1,compactor=planning,remembered_set=object" "stress=3,$tiny")
expect_water 39ea3e6cc9346a517f11b5e5a6958548 3 4 6 1 5 20

# Seeds and jitter matter.
[[ $(water 8 6 1 1 1 10) != "$(water 8 6 1 1 2 10)" ]] || die "the seed is ignored"
[[ $(water 8 6 1 1 1 10) != "$(water 8 6 1 1 1 20)" ]] || die "the jitter is ignored"
[[ $(water 8 6 1 1 1 0) == "$(water 8 6 1 1 2 0)" ]] || die "without jitter, the seed matters"

# What must hold of water, at the default size.
"$program" --json --verify >"$folder/whole.json"
python3 - "$folder/whole.json" <<'PYTHON' || die "the default run breaks a law"
import json, math, sys
run = json.load(open(sys.argv[1]))
first, last = run["samples"][0], run["samples"][-1]
mass = run["particles"] * 1000 / 32**2
energy = lambda sample: sample["kinetic"] + sample["potential"]
assert run["particles"] == 864 and run["steps"] == 1000
assert [sample["step"] for sample in run["samples"]] == list(range(0, 1001, 100))
assert first["kinetic"] == 0 and last["potential"] < 0.5 * first["potential"], "the dam does not break"
assert last["centre"][0] > 1.5 * first["centre"][0], "the water does not spread"
for sample in run["samples"]:
    for axis, force in enumerate((0, -9.81 * mass)):
        due = sample["wall_impulse"][axis] + force * sample["step"] / 512
        assert math.isclose(sample["momentum"][axis], due, rel_tol=1e-10, abs_tol=1e-10 * mass), sample
    # What stands at the beginning is compressed a little: that energy is not counted.
    assert energy(sample) <= 1.001 * energy(first), sample
    assert sample["kinetic"] >= 0 and sample["potential"] >= 0, sample
    assert all(0 <= centre <= end for centre, end in zip(sample["centre"], run["box"])), sample
    # A particle alone has a density of mass times poly6(0), 4 / (pi h^2) of 1/1024 m^2.
    assert 1000 / 1024 * 4 * 256 / math.pi * (1 - 1e-12) <= sample["density"][0] <= sample["density"][1] < 2000, sample
assert energy(last) < 0.6 * energy(first), "neither viscosity nor walls take energy"
PYTHON

# The table, and help.
"$program" --columns 4 --rows 4 --steps 20 --every 10 >"$folder/out"
[[ $(grep -cE '^ +[0-9]+  ' "$folder/out") == 3 ]] || die "the table has not three samples"
sum=$("$program" --columns 4 --rows 4 --steps 20 --every 10 --json | sed -E 's/.*"checksum": "([0-9a-f]+)".*/\1/')
grep -q "^checksum $sum\$" "$folder/out" || die "table and JSON have different checksums"
"$program" --help | grep -q '^usage: honeyginger' || die "--help does not show the usage"

for option in columns=0 columns=1001 rows=101 rows=x steps=-1 every=0 seed=0 seed=9223372036854775808 jitter=101; do
    expect_error 2 "--$option: must be a whole number from" "--$option"
done
expect_error 2 "unrecognized option" --no-such-option
expect_error 2 "usage: honeyginger" operand
EDEN_OPTIONS=no_such=1 expect_error 1 "the heap can't be made: .*no_such" --steps 1
# Memory ends while neighbors are gathered, or, with less of it, while the water is poured in.
exhausted="^honeyginger: the heap is exhausted: out of memory for an object of"
EDEN_OPTIONS=max_heap=4M,eden_size=1M expect_error 1 "$exhausted" --columns 100 --rows 60
EDEN_OPTIONS=max_heap=1M,eden_size=64K expect_error 1 "$exhausted" --columns 1000 --rows 100
for form in --json --verify; do
    expect_full_disk "$program" --columns 2 --rows 2 --steps 2 $form
done
