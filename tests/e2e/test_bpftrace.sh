#!/usr/bin/env bash
# The probes, as bpftrace sees them, say exactly what the heap itself counted (EDEN_STATS): figure by figure and heap by
# heap, for a program with the library linked in, for one with libeden.so, from the start and attached late. Every probe
# fires; names and parameters are readable.
# shellcheck source=tests/e2e/common.sh
. "$(dirname "$0")/common.sh"

# shellcheck source=tests/e2e/with_bpftrace.sh
. tests/e2e/with_bpftrace.sh

make --no-print-directory -s B="$build" "$exercise" "$shared"
need_bpftrace
unset EDEN_OPTIONS EDEN_LOG

# compare NAME COMMAND...: runs the command (traced or traced_late) with its script in place of SCRIPT, and compares.
compare() {
    local name=$1 file=$2
    readelf -n "$file" >"$folder/notes"
    tests/e2e/figures.py script '$1' "$folder/notes" >"$folder/figures.bt"
    rm -f "$folder/stats"
    EDEN_STATS=$folder/stats "$3" "$folder/sums" "${@:4}"
    tests/e2e/figures.py check "$folder/sums" "$folder/stats" || die "$name: see above"
}

script=$folder/figures.bt
compare "linked in, from the start" "$exercise" traced -f json -c "$exercise 2" "$script" "$exercise"
compare "linked in, attached late" "$exercise" traced_late "$exercise" -f json -p PID "$script"
compare "libeden.so, attached late" "$library" traced_late "$shared" -f json -p PID "$script"
compare "libeden.so, by its file" "$library" traced_late "$shared" -f json "$script" "$library"

# The comparison would notice a probe that does not fire: each clause left out makes it fail.
probes=$(sed -n 's/^usdt:.*:eden://p' "$script")
for probe in $probes; do
    jq -c --arg probe "$probe" 'select(.type == "map")' "$folder/sums" >"$folder/whole"
    awk -v probe="$probe" 'BEGIN { RS = ""; ORS = "\n\n" } $0 ~ "eden:" probe "\n"' "$script" |
        grep -o '@[a-z_]*\[[^]]*\] = [a-z]' | sed -n 's/\[.*= [csm]$//p' >"$folder/lost"
    jq -c --rawfile lost "$folder/lost" '.data |= with_entries(select(.key as $k | $lost / "\n" | index($k) | not))' \
        "$folder/whole" >"$folder/mutant"
    if tests/e2e/figures.py check "$folder/mutant" "$folder/stats" >/dev/null 2>&1; then
        die "the comparison does not notice that $probe is missing"
    fi
done

# Every probe of the list fires, and each start has its done.
mapfile -t names < <(sed -n 's/^EDEN_\(OBJECT_\)\?PROBE(\([a-z_0-9]*\),.*/\2/p' probes/eden_probes.def)
[[ ${#names[@]} -gt 30 ]] || die "the list of probes can't be read"
# Scavenges mark and sweep nothing while lifetimes are measured, as they are while a tool listens to batches: that is a run of its own.
for name in "${names[@]}"; do
    run=sampled
    [[ $name != scavenge__@(mark|sweep)__* ]] || run=plain
    echo "usdt:\$1:eden:$name { @fired[\"$name\"] = count(); }" >>"$folder/$run.bt"
done
# Default sampling, by request (eden_batches.h): else batch__requested does not fire.
EDEN_SAMPLING=0x800000010 traced "$folder/sampled" -f json -c "$exercise" "$folder/sampled.bt" "$exercise"
traced "$folder/plain" -f json -c "$exercise" "$folder/plain.bt" "$exercise"
jq -es 'map(select(.type == "map").data["@fired"]) | add' "$folder"/{sampled,plain} >"$folder/fired"
for name in "${names[@]}"; do
    jq -e --arg name "$name" '.[$name] > 0' "$folder/fired" >/dev/null || die "$name does not fire"
done
jq -e '. as $all | keys | map(select(endswith("__start"))) | all($all[.] == $all[.[:-7] + "__done"])' "$folder/fired" >/dev/null ||
    die "starts and dones differ"

# Strings.
traced "$folder/strings" -c "$exercise" -e 'usdt:$1:eden:heap__create { printf("heap %d %s\n", arg1, str(arg2)); }
    usdt:$1:eden:class__define { printf("class %d %s\n", arg1, str(arg2)); }
    usdt:$1:eden:param__set { printf("param %s %s\n", str(arg1), str(arg2)); }' "$exercise"
for line in "heap 1 ages" "heap 8 pretenuring" "heap 9 policy" "heap 10 rest" "class 1 Node" "class 4 Node in new_node" "param eden_size 262144" \
    "param compactor none" "param full_gc_ratio 2.5" "param max_heap 2097152"; do
    grep -qxF "$line" "$folder/strings" || die "no line '$line': $(cat "$folder/strings")"
done
