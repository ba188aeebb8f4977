#!/usr/bin/env bash
# Can one act on lifetimes? Keeping a class's instances alive raises its lifetimes at every rate, and leaves those of the
# long-lived classes within a few percent; the mechanisms agree on which class lives longer than which.
# shellcheck source=tests/e2e/common.sh
. "$(dirname "$0")/common.sh"

need_edenscope
"$build/workloads/mkdata" --rows 60000 >"$folder/data.csv"
"$build/workloads/mkdata" --rows 5000 >"$folder/small.csv"

# profile NAME ARGUMENTS... -- FILE KEEP
profile() {
    local name=$1 options=()
    shift
    while [[ $1 != -- ]]; do
        options+=("$1")
        shift
    done
    "$scope" lifetimes "${options[@]}" --json -o "$folder/$name.json" -- \
        "$build/workloads/dataframe" --json --keep "$3" "$2" >"$folder/$name.out"
}

export EDEN_OPTIONS=eden_size=1M
for rate in all 1/2 1/100 1/1000; do
    for keep in 0 50; do
        profile "${rate/\//-}.$keep" --sampling $rate -- "$folder/data.csv" $keep
    done
done
cmp "$folder/all.0.out" "$folder/all.50.out" || die "what is kept changes the answer"

export EDEN_OPTIONS=eden_size=256K
for mechanism in vm ephemeron pretenured oracle; do
    profile $mechanism --sampling all --mechanism $mechanism -- "$folder/small.csv" 50
done

PYTHONPATH=tests/e2e python3 - "$folder" <<'PYTHON'
import os, sys
import lifetimes_json

folder = sys.argv[1]

def classes(name):
    seen = lifetimes_json.read(os.path.join(folder, name + ".json"))
    lifetimes_json.whole(seen)
    for row in seen["classes"]:  # as share of what was allocated: that a machine is busy does not change it
        row["share"] = row["mean_lifetime_bytes"] / seen["heaps"][0]["run_bytes"]
    return {row["name"]: row for row in seen["classes"]}

for rate in "all", "1-2", "1-100", "1-1000":
    plain, kept = classes(rate + ".0"), classes(rate + ".50")
    assert plain["Fraction"]["verdict"] == "short-lived", (rate, plain["Fraction"])
    assert kept["Fraction"]["verdict"] == "long-lived", (rate, kept["Fraction"])
    # A quarter of all Fractions live from their birth to the end: from half of the run on, if they come evenly.
    assert kept["Fraction"]["share"] > 10 * plain["Fraction"]["share"], rate
    # None of these dies, so their mean is the age of the oldest that was sampled (docs/lifetimes.md, "Censored"). They come
    # evenly, the first of them at once: of N samples all are younger than a share S of the run with a probability of at
    # most S^N. At 1/1000 there are some 60 Arrays: S is 0.79 for one run in a million.
    for name in "ByteString", "Array":
        for row in plain[name], kept[name]:
            assert row["deaths"] == 0 and 1e-6 ** (1 / row["births"]) < row["share"] <= 1, (rate, row)
    assert plain["NumberParser"]["verdict"] == kept["NumberParser"]["verdict"] == "short-lived", rate

def order(name):
    found = classes(name)
    return sorted(("NumberParser", "Fraction", "ByteString"), key=lambda each: found[each]["mean_lifetime_bytes"])

for mechanism in "vm", "ephemeron", "pretenured", "oracle":
    assert order(mechanism) == ["NumberParser", "Fraction", "ByteString"], (mechanism, order(mechanism))
PYTHON
echo "a class that is kept shows at every rate; every mechanism reports the same order"
