#!/usr/bin/env bash
# Can one act on lifetimes? Keeping a class's instances alive raises its lifetimes at every rate, and leaves those of the
# long-lived classes within a few percent; the mechanisms agree on which class lives longer than which.
# shellcheck source=tests/e2e/common.sh
. "$(dirname "$0")/common.sh"

need_edenscope
"$build/workloads/mkdata" --rows 60000 >"$folder/data.csv"
"$build/workloads/mkdata" --rows 5000 >"$folder/small.csv"
unset EDEN_OPTIONS

# profile NAME KEPT FILE ARGUMENTS...: KEPT is NAME,... or none.
profile() {
    local name=$1 keep=(--keep-class "$2") file=$3
    shift 3
    [[ ${keep[1]} != none ]] || keep=()
    "$scope" lifetimes "$@" --json -o "$folder/$name.json" -- \
        "$build/workloads/dataframe" --json --image 0 "${keep[@]}" "$file" >"$folder/$name.out"
    cmp "$folder/$name.out" "$folder/plain.${file##*/}.out" || die "$name: what is kept changes the answer"
}
for file in data small; do
    "$build/workloads/dataframe" --json "$folder/$file.csv" >"$folder/plain.$file.csv.out"
done

export EDEN_OPTIONS=eden_size=1M
for rate in all 1/2 1/100 1/1000; do
    for kept in none Fraction NumberParser,Fraction,ReadStream; do
        profile "${rate/\//-}.$kept" $kept "$folder/data.csv" --sampling $rate
    done
done

export EDEN_OPTIONS=eden_size=256K
for mechanism in vm ephemeron pretenured oracle; do
    profile $mechanism Fraction "$folder/small.csv" --sampling all --mechanism $mechanism
done

PYTHONPATH=tests/e2e python3 - "$folder" <<'PYTHON'
import os, sys
import lifetimes_json

folder = sys.argv[1]
PARSING = "NumberParser", "Fraction", "ReadStream"

def classes(name):
    seen = lifetimes_json.read(os.path.join(folder, name + ".json"))
    lifetimes_json.whole(seen)
    for row in seen["classes"]:  # as share of what was allocated: that a machine is busy does not change it
        row["share"] = row["mean_lifetime_bytes"] / seen["heaps"][0]["run_bytes"]
    return {row["name"]: row for row in seen["classes"]}

def overall(rows):
    return sum(row["objects"] * row["share"] for row in rows.values()) / sum(row["objects"] for row in rows.values())

for rate in "all", "1-2", "1-100", "1-1000":
    plain, one, all_three = (classes(f"{rate}.{kept}") for kept in ("none", "Fraction", ",".join(PARSING)))
    for name in PARSING:
        assert plain[name]["verdict"] == "short-lived", (rate, plain[name])
        assert one[name]["verdict"] == ("long-lived" if name == "Fraction" else "short-lived"), (rate, one[name])
        assert all_three[name]["verdict"] == "long-lived" and all_three[name]["deaths"] == 0, (rate, all_three[name])
        # They come evenly while columns are made, and live to the end.
        assert all_three[name]["share"] - plain[name]["share"] > 0.3, (rate, name)
    # The paper's Table 1: at least 32 points for the whole program, at each rate.
    assert overall(all_three) - overall(plain) > 0.3, (rate, overall(plain), overall(all_three))
    for rows in plain, one, all_three:
        for name in "ByteString", "Array":  # cells, and nearly all of these are rows: they live to the end anyway
            assert rows[name]["verdict"] == "long-lived" and rows[name]["share"] > 0.8, (rate, rows[name])
        assert rows["ByteString"]["deaths"] == 0, (rate, rows["ByteString"])

def order(name):
    found = classes(name)
    return sorted(("NumberParser", "Fraction", "ByteString"), key=lambda each: found[each]["mean_lifetime_bytes"])

for mechanism in "vm", "ephemeron", "pretenured", "oracle":
    assert order(mechanism) == ["NumberParser", "Fraction", "ByteString"], (mechanism, order(mechanism))
PYTHON
echo "a class that is kept shows at every rate; every mechanism reports the same order"
