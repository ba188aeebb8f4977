#!/usr/bin/env bash
# moose: the checksum of its answers at ordinary and at tiny heap sizes (it fails by itself where the model is not what the
# source says); the paper's counts and the shares of its classes; and the error cases.
# shellcheck source=tests/e2e/common.sh
. "$(dirname "$0")/common.sh"

program=$build/workloads/moose

# expect_answer SUM OPTION...: whatever the heap does. A tiny eden collects all the time; with planning every full
# collection moves what is old.
heaps=("" "eden_size=64K,grow_headroom=64K" "eden_size=1M,remembered_set=object" "eden_size=1M,tenure_criterion=never"
    "eden_size=64K,compactor=planning,full_gc_ratio=0.1" "large_object=4096,compactor=none")
expect_answer() {
    local options
    for options in "${heaps[@]}"; do
        EDEN_OPTIONS=$options expect_sum "$1" "$program" --json --verify "${@:2}"
    done
}

expect_answer 82b9dc1ca5db9b7a8d846728574a313d --classes 400 --seed 1
expect_answer 6dd9f4efff1347fa45f3b25e1355037e --classes 40 --seed 20241
# The only class, which has no superclass.
expect_answer 19178614de63ca03b06653d0ceaca53a --classes 1
# Each allocation collects.
heaps=(stress=1 "stress=7,compactor=planning" "stress=3,remembered_set=object,compactor=none")
expect_answer 55f22c0eb60144a1714e7cb4383e9c0c --classes 3 --seed 2

# The paper's counts; what a tenth of its classes allocate is a tenth of its bytes, within a factor of two.
EDEN_STATS=$folder/stats.json "$program" --json --classes 1352 >"$folder/tenth.json"
jq -e '.classes == 1352 and .methods == 4808 and .associations > 90 * .methods' "$folder/tenth.json" >/dev/null ||
    die "not a tenth of the paper's software: $(cat "$folder/tenth.json")"
jq -e '.allocated_bytes > 308195000 / 2 and .allocated_bytes < 308195000 * 2' "$folder/stats.json" >/dev/null ||
    die "not a tenth of the paper's 3,082 MB: $(cat "$folder/stats.json")"
if [[ $(id -u) == 0 && -x $scope ]]; then
    "$scope" lifetimes --sampling all --json -o "$folder/classes.json" -- "$program" --classes 400 >/dev/null
    jq -e '[.classes[] | {(.name): (100 * .allocation_share)}] | add |
        .WideString > 13.5 and .WideString < 16.5 and .ValueLink > 1.5 and .ValueLink < 1.9 and
        .Set > 1.2 and .Set < 1.6' "$folder/classes.json" >/dev/null ||
        die "the classes have not the paper's shares: $(cat "$folder/classes.json")"
fi

# What is kept changes nothing but memory.
"$program" --json --classes 40 >"$folder/plain.json"
"$program" --json --classes 40 --keep-class WideString,ValueLink,Set --verify | cmp - "$folder/plain.json" ||
    die "--keep-class changes the answer"

# Another seed, another answer; the table says what the JSON says.
[[ $("$program" --json --classes 4 --seed 1) != "$("$program" --json --classes 4 --seed 2)" ]] || die "the seed is ignored"
"$program" --classes 40 | grep_all -q "^checksum  *$(jq -r .checksum "$folder/plain.json")\$" ||
    die "the table has another checksum"
"$program" --help | grep_all -q '^usage: moose' || die "--help does not show the usage"

expect_error 2 "--classes=0: must be a whole number from 1" --classes 0
expect_error 2 "--seed=x: must be" --seed x
expect_error 2 "--keep-class=String: String is no class" --keep-class String
expect_error 2 "unrecognized option" --no-such-option
expect_error 2 "usage: moose" operand
# Wherever the memory runs out, in a body or, with many classes, in a declaration, it ends in the same way.
for classes in {40..60} 400 800 1600 3200 300000; do
    EDEN_OPTIONS=eden_size=64K,grow_headroom=64K,max_heap=1M \
        expect_error 1 "^moose: the heap is exhausted: .+" --json --classes "$classes"
done
EDEN_OPTIONS=no_such=1 expect_error 1 "the heap can't be made: .*no_such"
expect_full_disk "$program" --json --classes 1
