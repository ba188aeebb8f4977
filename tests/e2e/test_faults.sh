#!/usr/bin/env bash
# The checked build: each mistake of tests/programs/faults.c is found and named, in one line, and the process aborted; the
# same program without the mistake passes, also where each allocation collects. The address sanitizer and Valgrind see
# what only they can see: reads through stale C pointers. An ordinary build has no trace of all this.
set -euo pipefail
cd "$(dirname "$0")/../.."

build=${B:-build}
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
unset EDEN_OPTIONS

die() {
    echo "test_faults: $*"
    exit 1
}

# Runs a command without core files; its status in `status`, what it says in $folder/out.
try() {
    status=0
    # The shell's own word about an aborted process is not wanted.
    {
        (
            ulimit -c 0
            exec "$@"
        ) >"$folder/out" 2>&1 || status=$?
    } 2>/dev/null
}

make --no-print-directory -s B="$build" checked-faults "$build/lib/libeden.so"
# A program without a mistake is not accused, also where its survivors overflow at every turn. The heap is walked at each
# scavenge: with a small eden, few animals are enough.
not_accused() { # OPTIONS FILTER ARGUMENT...
    local options=$1 filter=$2
    shift 2
    EDEN_OPTIONS=$options EDEN_STATS=$folder/stats \
        try "$build/checked/workloads/mobidyc" --width 12 --height 10 --steps 12 "$@"
    [[ $status -eq 0 ]] || die "mobidyc with '$options' ended with $status: $(cat "$folder/out")"
    jq -e "$filter" "$folder/stats" >"$folder/out" || die "mobidyc with '$options': $(cat "$folder/stats")"
    rm "$folder/stats"
}
few=(--goats 500 --wolves 50)
not_accused "" '.scavenges > 0'
not_accused eden_size=64K '.scavenges > 100 and .tenured_bytes > 0' "${few[@]}"
not_accused eden_size=64K,compactor=planning,full_gc_ratio=0.33,grow_headroom=64K \
    '.full_collections > 10 and .freed_bytes > 0' "${few[@]}"

checked=$build/checked/tests/faults-run
sanitized=$build/checked-san/tests/faults-run

passes() {
    try "$@"
    [[ $status -eq 0 && $(cat "$folder/out") == "done" ]] || die "$* ended with $status: $(cat "$folder/out")"
}

found=0 seen_by_tools=0
while IFS=$'\t' read -r name options says; do
    [[ $options != - ]] || options=full_gc_ratio=0.33
    passes "$checked" "$name" right
    passes env EDEN_OPTIONS=stress=1 "$checked" "$name" right
    passes env ASAN_OPTIONS=detect_leaks=0 "$sanitized" "$name" right
    if [[ -n $says ]]; then
        try env EDEN_OPTIONS="$options" "$checked" "$name"
        [[ $status -eq 134 ]] || die "$name: not aborted ($status): $(cat "$folder/out")"
        [[ $(wc -l <"$folder/out") -eq 1 ]] || die "$name: not one line: $(cat "$folder/out")"
        grep -qE "^eden: checked build: heap '[a-z?]+', .*$says" "$folder/out" ||
            die "$name: should say '$says', says: $(cat "$folder/out")"
        found=$((found + 1))
    else
        try env ASAN_OPTIONS=detect_leaks=0 "$sanitized" "$name"
        [[ $status -ne 0 ]] && grep -q 'use-after-poison' "$folder/out" ||
            die "$name: not seen by the address sanitizer: $(cat "$folder/out")"
        # Valgrind copies text, with the breakpoints of whoever observes all processes.
        objcopy -R .note.stapsdt "$checked" "$folder/unseen"
        try valgrind -q --error-exitcode=9 "$folder/unseen" "$name"
        [[ $status -eq 9 ]] && grep -q 'Invalid read' "$folder/out" ||
            die "$name: not seen by Valgrind: $(cat "$folder/out")"
        try valgrind -q --error-exitcode=9 "$folder/unseen" "$name" right
        [[ $status -eq 0 ]] || die "$name right: Valgrind complains: $(cat "$folder/out")"
        seen_by_tools=$((seen_by_tools + 1))
    fi
done < <("$checked" list)
[[ $found -ge 12 && $seen_by_tools -ge 3 ]] || die "only $found found, $seen_by_tools seen by tools"

# Stress is what finds a root left out where nothing collects by itself.
try "$checked" root_left_out
[[ $status -eq 0 ]] || die "root_left_out was found without stress: the case shows nothing of it"

# The ordinary build: no names of the checked one, and inline paths as if the checks had never been written.
! nm "$build/lib/libeden.so" | grep -E 'eden_check_|check_(before|after)_|check_(class|segment)' || die "the ordinary library has checks"
cp -r runtime/include "$folder/include"
sed -i '/^ *EDEN_CHECK_[A-Z_]*(.*);$/d' "$folder/include/eden/object.h"
[[ $(diff runtime/include/eden/object.h "$folder/include/eden/object.h" | grep -c '^<') -eq 13 ]] ||
    die "the checks of object.h are not where this test looks"
cat >"$folder/inline.c" <<'SOURCE'
#include <eden/eden.h>
eden_value allocate(eden_mutator *mutator, eden_class of);
eden_value allocate_slots(eden_mutator *mutator, eden_class of, size_t n);
eden_value allocate_raw(eden_mutator *mutator, eden_class of, size_t n);
eden_value load(eden_value object, size_t index);
void store(eden_mutator *mutator, eden_value object, size_t index, eden_value value);
void *raw(eden_value object);
bool is_a(const eden_mutator *mutator, eden_value value, eden_class of);
eden_value allocate(eden_mutator *mutator, eden_class of) { return eden_new(mutator, of); }
eden_value allocate_slots(eden_mutator *mutator, eden_class of, size_t n) { return eden_new_slots(mutator, of, n); }
eden_value allocate_raw(eden_mutator *mutator, eden_class of, size_t n) { return eden_new_raw(mutator, of, n); }
eden_value load(eden_value object, size_t index) { return eden_slot(object, index); }
void store(eden_mutator *mutator, eden_value object, size_t index, eden_value value) {
    eden_slot_set(mutator, object, index, value);
}
void *raw(eden_value object) { return eden_raw(object); }
bool is_a(const eden_mutator *mutator, eden_value value, eden_class of) { return eden_is_a(mutator, value, of); }
SOURCE
for compiler in gcc clang; do
    for level in -O0 -O2; do
        "$compiler" -std=gnu17 "$level" -fPIC -Iprobes -Iruntime/include -c "$folder/inline.c" -o "$folder/with.o"
        "$compiler" -std=gnu17 "$level" -fPIC -Iprobes -I"$folder/include" -c "$folder/inline.c" -o "$folder/without.o"
        objdump -d "$folder/with.o" | tail -n +4 >"$folder/with.s"
        objdump -d "$folder/without.o" | tail -n +4 >"$folder/without.s"
        grep -q '<store>:' "$folder/with.s" || die "no disassembly"
        cmp -s "$folder/with.s" "$folder/without.s" || die "$compiler $level: the checks leave a trace"
    done
done
echo "$found mistakes found and named, $seen_by_tools seen by the address sanitizer and by Valgrind"
