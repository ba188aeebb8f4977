#!/usr/bin/env bash
# The ELF notes of libeden.so and of programs with the library linked in: each probe of eden_probes.def exactly once, with
# all its operands, in registers or constants; a semaphore for each, exported by none. Then what the probes cost where no
# probe stands: the inline allocation and store are the same instructions with and without them, and a library built
# with PROBES=0 has no notes.
# shellcheck source=tests/e2e/common.sh
. "$(dirname "$0")/common.sh"

make --no-print-directory -s B="$build" "$build/lib/libeden.so" "$build/tests/exercise" "$build/tests/exercise-shared"

# NAME OPERANDS of each probe, as declared.
cat >"$folder/declared.c" <<'SOURCE'
#include "eden_foreach.h"
#include <stdio.h>
#define EDEN_PROBE(name, doc, ...) printf("%s %d\n", #name, EDEN_COUNT(__VA_ARGS__));
int main(void) {
#include "eden_probes.def"
    return 0;
}
SOURCE
gcc -Iprobes -o "$folder/declared" "$folder/declared.c"
"$folder/declared" | sort >"$folder/declared.txt"
[[ $(wc -l <"$folder/declared.txt") -gt 30 ]] || die "the list of probes is short"

# What every linker and compiler makes of the sites.
gcc -static -o "$folder/static" "$build/tests/programs/exercise.o" "$build/lib/libeden.a" -lm
clang -std=gnu17 -O2 -fPIC -Iprobes -Iruntime/include -D_GNU_SOURCE -c probes/probes.c -o "$folder/clang.o"
gcc -std=gnu17 -O0 -fPIC -Iprobes -Iruntime/include -D_GNU_SOURCE -c probes/probes.c -o "$folder/gcc-O0.o"
gcc -std=gnu17 -O3 -fPIC -Iprobes -Iruntime/include -D_GNU_SOURCE -c probes/probes.c -o "$folder/gcc-O3.o"
files=("$build/lib/libeden.so" "$build/tests/exercise" "$folder/static" "$folder"/{clang,gcc-O0,gcc-O3}.o)
strip -o "$folder/stripped" "$build/tests/exercise"
files+=("$folder/stripped")

for file in "${files[@]}"; do
    # A static program has the C library's own probes too.
    readelf -n "$file" | grep -A3 'Provider: eden$' >"$folder/notes"
    awk '$1 == "Provider:" { provider = $2 } $1 == "Name:" { name = $2 }
        $1 == "Arguments:" && provider == "eden" { print name, NF - 1 }' "$folder/notes" | sort >"$folder/found.txt"
    diff "$folder/declared.txt" "$folder/found.txt" || die "$file: the probes differ from those declared"
    # -8@$5, 8@%rdi; not 8@8(%rsp), not 8@counter(%rip).
    operands=$(awk '$1 == "Arguments:" { for (i = 2; i <= NF; i++) print $i }' "$folder/notes" |
        grep -vxE -- '-?[1248]@(%[a-z0-9]+|\$-?[0-9]+)' || true)
    [[ -z $operands ]] || die "$file: operands that are neither registers nor constants: $operands"
    if [[ $file != *.o ]]; then
        sites=$(awk '$1 == "Location:" { print $2 }' "$folder/notes" | sort | uniq -d)
        [[ -z $sites ]] || die "$file: two probes at one place: $sites"
        [[ $(awk '$1 == "Location:" { print $6 }' "$folder/notes" | sort -u | wc -l) -eq $(wc -l <"$folder/declared.txt") ]] ||
            die "$file: semaphores are shared or missing"
        ! grep -q 'Semaphore: 0x0*$' "$folder/notes" || die "$file: a probe has no semaphore"
    fi
    [[ $file == *.o ]] || ! nm -D --defined-only "$file" 2>/dev/null | grep -E '_semaphore|eden_probe_|eden_registry' ||
        die "$file exports what should be hidden"
done
[[ $(nm "$build/lib/libeden.so" | grep -c '_semaphore$') -eq $(wc -l <"$folder/declared.txt") ]] ||
    die "libeden.so has another number of semaphores"

# The inline paths.
cat >"$folder/inline.c" <<'SOURCE'
#include <eden/eden.h>
eden_value allocate(eden_mutator *mutator, eden_class of);
eden_value allocate_slots(eden_mutator *mutator, eden_class of, size_t n);
eden_value allocate_raw(eden_mutator *mutator, eden_class of, size_t n);
void store(eden_mutator *mutator, eden_value object, size_t index, eden_value value);
eden_value allocate(eden_mutator *mutator, eden_class of) { return eden_new(mutator, of); }
eden_value allocate_slots(eden_mutator *mutator, eden_class of, size_t n) { return eden_new_slots(mutator, of, n); }
eden_value allocate_raw(eden_mutator *mutator, eden_class of, size_t n) { return eden_new_raw(mutator, of, n); }
void store(eden_mutator *mutator, eden_value object, size_t index, eden_value value) {
    eden_slot_set(mutator, object, index, value);
}
SOURCE
for compiler in gcc clang; do
    for level in -O0 -O2 -O3; do
        compile=("$compiler" -std=gnu17 "$level" -fPIC -Iprobes -Iruntime/include -c "$folder/inline.c")
        "${compile[@]}" -o "$folder/with.o"
        "${compile[@]}" -DEDEN_NO_PROBES -o "$folder/without.o"
        objdump -d "$folder/with.o" | tail -n +4 >"$folder/with.s"
        objdump -d "$folder/without.o" | tail -n +4 >"$folder/without.s"
        grep -q '<store>:' "$folder/with.s" || die "no disassembly"
        cmp -s "$folder/with.s" "$folder/without.s" || die "$compiler $level: the inline paths differ"
        ! readelf -n "$folder/with.o" | grep_all -q stapsdt || die "$compiler $level: a probe stands in the inline paths"
    done
done

# Tests of the runtime have no notes: nobody who observes all programs observes them.
for file in "$build"/tests/test_policy "$build"/tests/heap-fuzz; do
    ! readelf -n "$file" | grep_all -q 'Provider: eden' || die "a tool can observe $file"
done

# A whole library without probes; and the program on it, function by function.
make --no-print-directory -s PROBES=0 B="$folder/noprobes" "$folder/noprobes/tests/exercise" "$folder/noprobes/lib/libeden.so"
for file in "$folder/noprobes/tests/exercise" "$folder/noprobes/lib/libeden.so"; do
    ! readelf -n "$file" | grep_all -q 'Provider: eden' || die "PROBES=0 leaves notes in $file"
done
objdump -d "$build/tests/programs/exercise.o" | tail -n +4 >"$folder/with.s"
objdump -d "$folder/noprobes/tests/programs/exercise.o" | tail -n +4 >"$folder/without.s"
cmp -s "$folder/with.s" "$folder/without.s" || die "the exerciser's instructions differ without probes"
[[ $("$folder/noprobes/tests/exercise") == "done" ]] || die "the exerciser does not run without probes"
