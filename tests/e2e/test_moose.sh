#!/usr/bin/env bash
# moose: the checksum of its answers for compiled and nasty types; what must hold of the kernel's; the same answers under
# other parameters of the heap; and the error cases.
# shellcheck source=tests/e2e/common.sh
. "$(dirname "$0")/common.sh"

program=$build/workloads/moose
kernel=/sys/kernel/btf/vmlinux

# expect_same OPTIONS ARGUMENT...: with these EDEN_OPTIONS the answers are those in $folder/plain.json.
expect_same() {
    EDEN_OPTIONS=$1 "$program" --json --verify "${@:2}" >"$folder/answer.json" || die "${*:2} with '$1': exit status $?"
    cmp -s "$folder/plain.json" "$folder/answer.json" || die "${*:2} with '$1': the answers differ from those without"
}

tests/e2e/make-nasty-btf.py "$folder/btf"

small=tests/fixtures/types.o
expect_answer() { expect_sum "$1" "$program" --json --verify "${@:2}"; }
expect_answer 6f154fc952e38c2f0bf3f16439a28194 --seed 1 --queries 12 "$small"
expect_answer 4d7c3569817dbc5f11ca544b8debf6e4 --seed 2 --queries 12 "$small"
expect_answer 3be56fc3d78d03a789d4fed2b58418a3 --seed 987654321987654321 --queries 12 "$small"
expect_answer 83fe0f9d102cb9ec43061ce3b100089b --queries 3 --top 0 "$small"
expect_answer e91e2e9da209e79199ded309b77279a0 --queries 3 --top 1000 "$small"
expect_answer e06532e4efba1fa32839e31a24660c78 --seed 3 --queries 12 "$folder/btf/kinds.btf"
expect_answer 12e99e33f31483a6961f5c83000adf3a --seed 3 --queries 12 "$folder/btf/none.btf"
[[ $("$program" --json --queries 5 --seed 1 "$small") != "$("$program" --json --queries 5 --seed 2 "$small")" ]] ||
    die "the seed does not matter"
# A name that is no C identifier.
"$program" "$folder/btf/odd_name.btf" --json | grep -q '???odd' || die "bytes that are not ASCII are not shown as '?'"

"$program" --json --queries 6 "$small" >"$folder/plain.json"
for options in stress=1 stress=7,compactor=planning stress=3,remembered_set=object,compactor=none; do
    expect_same "$options" --queries 6 "$small"
done

# The running kernel's: more than fits into the heap's young space.
if [[ -r $kernel ]]; then
    "$program" --json --verify --queries 2 >"$folder/plain.json" || die "the kernel's types: exit status $?"
    for options in eden_size=64K,grow_headroom=64K remembered_set=object,eden_size=1M \
        compactor=planning,eden_size=2M,full_gc_ratio=0.1 tenure_criterion=never large_object=4096; do
        expect_same "$options" --queries 2
    done
    python3 - "$folder/plain.json" <<'PYTHON' || die "the answers contradict each other"
import json, sys
a = json.load(open(sys.argv[1]))
assert a["entities"] == sum(a["counts"].values()) > 10000
assert sum(n for _, n in a["functions by parameters"]) == a["counts"]["Function"]
assert a["largest cycles"][0][2] <= a["records in cycles"] <= a["counts"]["Struct"] + a["counts"]["Union"]
for r in a["rounds"]:
    assert max(r["providers"], r["clients"]) <= r["scope"] < r["providers"] + r["clients"]
    assert sum(n for _, n in r["records by attributes"]) == r["scope"]
    assert r["takers"] <= r["functions"] and r["names"] <= r["attributes"]
PYTHON
    EDEN_OPTIONS=max_heap=8M,eden_size=1M expect_error 1 "^moose: the heap is exhausted: .+" --json
    EDEN_OPTIONS=max_heap=60M expect_error 1 "^moose: the heap is exhausted: .+" --json --queries 0
    # The table.
    "$program" --queries 1 >"$folder/out"
    grep -qE '^[0-9]+ entities, [0-9]+ references, [0-9]+ symbols$' "$folder/out" || die "the table does not show counts"
    grep -qE '^ +[0-9]+  task_struct$' "$folder/out" || die "the table does not name task_struct"
else
    echo "$kernel is not there: small files only"
fi
EDEN_OPTIONS=max_heap=1M,eden_size=64K "$program" --queries 2 "$small" >"$folder/out" || die "types.o needs 1M"
grep -qE '^ *providers' "$folder/out" || die "the table does not show rounds"
"$program" --help | grep -q '^usage: moose' || die "--help does not show the usage"

printf 'int main(void) { return 0; }\n' >"$folder/main.c"
"${CC:-cc}" -c "$folder/main.c" -o "$folder/main.o"
expect_error 1 "none.o: can't be opened: No such file" "$folder/none.o"
expect_error 1 "can't be read: Is a directory" "$folder"
expect_error 1 "main.o: has no BTF" "$folder/main.o"
expect_error 1 "main.c: is neither BTF nor an ELF object" "$folder/main.c"
expect_error 1 "bad_empty.btf: is empty" "$folder/btf/bad_empty.btf"
for name in cut cut_header; do
    expect_error 1 "bad_$name.btf: the BTF is malformed or cut short" "$folder/btf/bad_$name.btf"
done
expect_error 1 "bad_magic.btf: is neither BTF nor an ELF" "$folder/btf/bad_magic.btf"
malformed() { expect_error 1 "bad_$1.btf: the BTF is malformed: type $2" "$folder/btf/bad_$1.btf"; }
malformed struct_ring "27 contains itself"
malformed array_ring "3 contains itself"
for name in typedef_ring pointer_ring far_ring; do
    malformed "$name" "2 leads in a circle"
done
for name in dangling member function_type; do
    malformed "$name" "2 refers to one that is not there"
done
malformed function_member "4 refers to one that is not there"
malformed huge "3 is too large"
malformed name "1 has a name that is not in the file"
expect_error 2 "usage: moose" a b
expect_error 2 "unrecognized option" --no-such-option
expect_error 2 "--seed=0: must be a whole number from 1" --seed 0
expect_error 2 "--queries=-1: must be" --queries -1
expect_error 2 "--top=x: must be" --top x
EDEN_OPTIONS=no_such=1 expect_error 1 "the heap can't be made: .*no_such" "$small"
for format in --json --verify; do
    expect_full_disk "$program" "$format" "$small"
done
