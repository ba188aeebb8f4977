#!/usr/bin/env bash
# libeden.a takes no name of the program that embeds it: only the API's are global. A program that has every internal
# name of the library for functions of its own, and probes of its own, links with it, and none of them is called.
# shellcheck source=tests/e2e/common.sh
. "$(dirname "$0")/common.sh"

make --no-print-directory -s B="$build" "$build/lib/libeden.a" "$build/lib/libeden-internals.a" "$build/tests/exercise"
make --no-print-directory -s CHECKED=1 SAN=0 B="$build/checked" "$build/checked/lib/libeden.a"

# _.stapsdt.base: <sys/sdt.h> defines it, weak and hidden, in each object with probes; all of a program share one.
global_names() { nm -g --defined-only "$1" | awk 'NF == 3 { print $3 }' | grep -v '^_\.stapsdt\.base$' | sort -u; }
nm -D --defined-only "$build/lib/libeden.so" | awk '{ print $3 }' | sort -u >"$folder/api"
grep -qx eden_heap_create "$folder/api" || die "the shared library has no API"
! grep -v '^eden_' "$folder/api" || die "the shared library has names without eden_"
global_names "$build/lib/libeden.a" | diff "$folder/api" - || die "libeden.a has other global names than libeden.so"
global_names "$build/checked/lib/libeden.a" | sed '/^eden_check_/d' | diff "$folder/api" - ||
    die "the checked libeden.a has other global names"

# The names inside, as they are and as they have been.
{
    global_names "$build/lib/libeden-internals.a" | comm -23 - "$folder/api"
    tr ' ' '\n' <tests/fixtures/archive_names.txt
} | sort -u >"$folder/names"
[[ $(wc -l <"$folder/names") -gt 180 ]] || die "these are not all names: $(cat "$folder/names")"
{
    echo '#include <stdio.h>'
    echo '#include <stdlib.h>'
    echo '#include <sys/sdt.h>'
    echo 'void called(const char *name) { fprintf(stderr, "%s is called\n", name); abort(); }'
    while read -r name; do
        echo "void $name(void) { DTRACE_PROBE(embedder, taken); called(\"$name\"); }"
    done <"$folder/names"
} >"$folder/names.c"
cat >"$folder/refused.c" <<'SOURCE'
#include <eden/eden.h>
#include <stdio.h>
int main(void) {
    eden_error error = {EDEN_OK, ""};
    const eden_options options = {.name = "refused", .parameters = "eden_size=nonsense"};
    eden_heap *heap = eden_heap_create(&options, &error);
    puts(heap == NULL ? error.message : "a heap was made");
    return heap == NULL && error.status == EDEN_BAD_PARAMETER ? 0 : 1;
}
SOURCE
cat >"$folder/fail.c" <<'SOURCE'
#include <stdio.h>
int fail(const char *message);
int fail(const char *message) { return puts(message) == EOF || 1; }
SOURCE
for file in names refused fail; do
    gcc -std=gnu17 -w -fno-builtin -Iprobes -Iruntime/include -c "$folder/$file.c" -o "$folder/$file.o"
done

# runs NAME OBJECT...: links and runs it, in a process that leaves no core file.
runs() {
    gcc -o "$folder/$1" "${@:2}" -lm -lpthread || die "$1 does not link"
    (ulimit -c 0 && EDEN_LOG=$folder/$1.log EDEN_STATS=$folder/$1.stats "$folder/$1") >"$folder/$1.out" 2>&1 ||
        die "$1 fails: $(cat "$folder/$1.out")"
}
for library in "$build/lib/libeden.a" "$build/checked/lib/libeden.a"; do
    runs one_name "$folder/refused.o" "$folder/fail.o" "$library"
    grep -q 'eden_size=nonsense: must be a size' "$folder/one_name.out" || die "the error is: $(cat "$folder/one_name.out")"
    runs all_names "$folder/refused.o" "$folder/names.o" "$library"
    grep -q 'eden_size=nonsense: must be a size' "$folder/all_names.out" || die "the error is: $(cat "$folder/all_names.out")"
done
for order in "$folder/names.o $build/lib/libeden.a" "$build/lib/eden.o $folder/names.o"; do
    # shellcheck disable=SC2086
    runs worker "$build/tests/programs/exercise.o" $order
    grep -qx 'done' "$folder/worker.out" || die "exercise does not work: $(cat "$folder/worker.out")"
    [[ -s $folder/worker.log && -s $folder/worker.stats ]] || die "no log or no statistics"
    # All probes refer to the one base that the program has: tools correct addresses by it.
    base=$(readelf -SW "$folder/worker" | sed -nE 's/.* \.stapsdt\.base +PROGBITS +([0-9a-f]+) .*/0x\1/p')
    readelf -n "$folder/worker" | grep -oE 'Base: 0x[0-9a-f]+' | sort -u >"$folder/bases"
    [[ $(cat "$folder/bases") == "Base: $base" ]] || die "probes refer to other bases than $base: $(cat "$folder/bases")"
    count() { readelf -n "$1" | grep -c 'Provider: eden$'; }
    [[ $(count "$folder/worker") == $(count "$build/lib/libeden.so") ]] || die "probes are missing"
done

# What fork() calls goes with the library that dlclose() removes: the shared one, and a plugin that holds the archive.
cat >"$folder/plugin.c" <<'SOURCE'
#include <eden/eden.h>
__attribute__((visibility("default"))) void *create(void *options, void *error) { return eden_heap_create(options, error); }
SOURCE
cat >"$folder/host.c" <<'SOURCE'
#include <dlfcn.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>
static int forks(void) {
    int status = 1;
    if (fork() == 0) exit(0);
    wait(&status);
    return status == 0;
}
int main(int argc, char **argv) {
    (void)argc;
    for (int i = 0; i < 3; i++) {
        void *library = dlopen(argv[1], RTLD_NOW | RTLD_LOCAL);
        void *(*create)(void *, void *) = library ? (void *(*)(void *, void *))dlsym(library, argv[2]) : NULL;
        if (!create || !create(NULL, NULL) || !forks() || dlclose(library) != 0) return 1;
        if (dlopen(argv[1], RTLD_NOW | RTLD_NOLOAD)) return 2;
        if (!forks()) return 3;
    }
    return 0;
}
SOURCE
gcc -w -shared -fPIC -Iprobes -Iruntime/include -o "$folder/plugin.so" "$folder/plugin.c" "$build/lib/libeden.a" -lm -lpthread
gcc -w -o "$folder/host" "$folder/host.c"
"$folder/host" "$folder/plugin.so" create || die "a plugin with libeden.a, after fork() and dlclose(): status $?"
"$folder/host" "$(readlink -f "$build/lib/libeden.so")" eden_heap_create || die "libeden.so, after fork() and dlclose(): status $?"
echo "$(wc -l <"$folder/names") names, none taken"
