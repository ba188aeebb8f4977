#!/usr/bin/env bash
# patterns: a program and a near miss for each key of `edenscope tune`; each verifies itself, answers the same whatever
# the heap's parameters, and does to its own heap, with policy=fixed, what its key says, which the heap's own counters show.
# shellcheck source=tests/e2e/common.sh
. "$(dirname "$0")/common.sh"

export program=$build/workloads/patterns folder
keys="full.growth full.headroom full.explicit scavenge.remembered scavenge.copying scavenge.overflow tenure.premature
    tenure.threshold-outside tenure.nepotism eden.small full.frequent heap.thrash heap.fragmented heap.limit heap.grows
    ephemeron.load program.allocates"

# The list is complete, and says of each pattern what it does, and what else is true of it.
for key in $keys; do
    printf '%s\n%s-near\n' "$key" "$key"
done >"$folder/wanted"
printf '%s\n' ok shifting >>"$folder/wanted"
"$program" --list >"$folder/list"
diff "$folder/wanted" <(cut -f 1 "$folder/list") || die "the list of patterns is not that of tune's keys"
known="$keys -"
while IFS=$'\t' read -r key also about rest; do
    [[ -n $about && -z $rest ]] || die "the list says nothing of $key"
    for other in $also; do
        grep -qw -- "$other" <<<"$known" || die "$key: no rule has the key $other, which is said to be true of it"
    done
done <"$folder/list"

# Each runs, in its own heap and in one that collects otherwise; two at a time.
run_one() {
    EDEN_STATS=$folder/$1.stats "$program" --verify "$1" >"$folder/$1.out" 2>&1 || echo "$1: exit status $?"
    EDEN_OPTIONS=policy=auto,eden_size=3M,compactor=planning,remembered_set=card,max_heap=none,full_gc_ratio=1,tenure_fill=0.9 \
        "$program" --verify --json "$1" >"$folder/$1.json" 2>&1 || echo "$1, in another heap: exit status $?"
}
export -f run_one
xargs -P 2 -I KEY bash -c 'run_one KEY' <"$folder/wanted" >"$folder/failed"
[[ ! -s $folder/failed ]] || die "$(cat "$folder/failed" "$folder"/*.out)"

python3 - "$folder" <<'PYTHON' || die "what the patterns did is not what they are for"
import json, re, sys
folder = sys.argv[1]
keys = open(f"{folder}/wanted").read().split()
wrong = []
stats = {}
for key in keys:
    line = open(f"{folder}/{key}.out").read()
    found = re.fullmatch(r"([a-z.-]+): ([0-9]+) operations, checksum ([0-9a-f]{16})\n", line)
    if not found or found[1] != key or int(found[2]) == 0:
        wrong.append(f"{key} printed {line!r}")
        continue
    other = json.load(open(f"{folder}/{key}.json"))
    if other != {"pattern": key, "operations": int(found[2]), "checksum": found[3]}:
        wrong.append(f"{key}: {other} in another heap, {line!r} in its own")
    stats[key] = json.load(open(f"{folder}/{key}.stats"))


# A fact that holds of the pattern, and not of its near miss.
def expect(key, what, holds):
    for name, wanted in (key, True), (key + "-near", False):
        if holds(stats[name]) != wanted:
            wrong.append(f"{name}: '{what}' is {not wanted}: {stats[name]}")


if not wrong:
    expect("full.growth", "ten full collections by growth that free nothing",
          lambda s: s["full_by_cause"]["ratio"] >= 10 and s["freed_bytes"] == 0)
    expect("full.headroom", "a full collection for nearly each large object",
          lambda s: s["full_by_cause"]["allocation"] >= 20 and s["freed_bytes"] == 0)
    expect("full.explicit", "ten full collections on request that free next to nothing",
          lambda s: s["full_by_cause"]["request"] >= 10 and s["freed_bytes"] < 1e6)
    expect("scavenge.copying", "each scavenge copies two megabytes",
          lambda s: s["survived_bytes"] > 2e6 * s["scavenges"])
    expect("scavenge.overflow", "a tenth of what survives is tenured, and little of it lives",
          lambda s: s["tenured_bytes"] > 0.1 * s["survived_bytes"] and s["freed_bytes"] > 0.8 * s["tenured_bytes"])
    expect("tenure.premature", "most of what is tenured dies", lambda s: s["freed_bytes"] > 0.8 * s["tenured_bytes"])
    expect("tenure.threshold-outside", "more than a tenth of a batch is tenured, in full collections as many as batches",
          lambda s: s["full_by_cause"]["ratio"] >= 20)
    expect("tenure.nepotism", "ten megabytes are tenured, and dead",
          lambda s: s["tenured_bytes"] > 10e6 and s["freed_bytes"] > 10e6)
    expect("eden.small", "hundreds of scavenges that find survivors",
          lambda s: s["scavenges"] > 200 and s["survived_bytes"] > 1e5 * s["scavenges"])
    expect("full.frequent", "ten full collections by growth that free more than a tenth of old space each",
          lambda s: s["full_by_cause"]["ratio"] >= 10 and s["freed_bytes"] > 1e6 * s["full_collections"])
    expect("heap.thrash", "a segment is mapped and one returned for nearly each large object",
          lambda s: s["segments_unmapped"] >= 20 and s["segments_mapped"] >= 20)
    expect("heap.fragmented", "allocations fail with most of old space free",
          lambda s: s["alloc_failures"] >= 10 and s["old_used"] < 0.5 * s["old_capacity"])
    expect("heap.limit", "full collections because of the limit", lambda s: s["full_by_cause"]["limit"] >= 10)
    expect("heap.grows", "more than twenty megabytes are alive at the end", lambda s: s["old_used"] > 20e6)
    expect("program.allocates", "a tenth of what is allocated survives",
          lambda s: s["survived_bytes"] > 0.1 * s["allocated_bytes"])
print(*wrong, sep="\n")
sys.exit(len(wrong) != 0)
PYTHON

expect_error 2 "usage: patterns"
expect_error 2 "usage: patterns" ok ok
expect_error 2 "no pattern 'no.such'; patterns --list" no.such
expect_error 2 "unrecognized option" --no-such-option ok
EDEN_OPTIONS=no_such=1 expect_error 1 "the heap can't be made: .*no_such" ok
EDEN_OPTIONS=eden_size=1M,max_heap=8M expect_error 1 "^patterns: the heap is exhausted: .+" full.growth
"$program" --help | grep_all -q '^usage: patterns' || die "--help does not show the usage"
