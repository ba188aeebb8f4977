#!/usr/bin/env bash
# make install: a program builds against the installed tree by pkg-config alone, as C and C++17, with the shared library and
# the static one, and runs; DESTDIR stages the same tree elsewhere.
# shellcheck source=tests/e2e/common.sh
. "$(dirname "$0")/common.sh"

prefix=$folder/prefix

make --no-print-directory -s install B="$build" PREFIX="$prefix"
cat >"$folder/pair.c" <<'SOURCE'
#include <eden/eden.h>
#include <stdio.h>

int main(void) {
    eden_error error;
    eden_heap *heap = eden_heap_create(NULL, &error);
    eden_mutator *mutator = heap == NULL ? NULL : eden_mutator_attach(heap, &error);
    if (mutator == NULL) {
        fprintf(stderr, "%s\n", error.message);
        return 1;
    }
    const eden_class_definition definition = {"Pair", EDEN_FORMAT_FIXED, 2};
    eden_class pair = eden_class_define(heap, &definition, &error);
    int64_t kept = 0;
    {
        EDEN_FRAME(mutator, local, 1);
        local[0] = eden_new(mutator, pair);
        eden_slot_set(mutator, local[0], 0, eden_int(42));
        eden_full_collect(mutator);
        kept = eden_int_value(eden_slot(local[0], 0));
    }
    eden_heap_destroy(heap);
    printf("%d\n", (int)kept);
    return 0;
}
SOURCE
cp "$folder/pair.c" "$folder/pair.cpp"

export PKG_CONFIG_PATH=$prefix/lib/pkgconfig
read -ra cflags < <(pkg-config --cflags eden)
read -ra shared < <(pkg-config --libs eden)
read -ra static < <(pkg-config --static --libs eden)
warnings=(-Wall -Wextra -Wshadow -Wconversion -Werror)

# check NAME COMMAND...: builds, then runs what was built.
check() {
    "${@:2}" -o "$folder/$1" || die "$1 does not build"
    local answer
    answer=$(LD_LIBRARY_PATH=$prefix/lib "$folder/$1") || die "$1 fails"
    [[ $answer == 42 ]] || die "$1 prints '$answer'"
}
is_dynamic() { readelf -d "$folder/$1" 2>/dev/null | grep -q 'NEEDED.*\[libeden\.so\.0\]'; }

for compiler in gcc clang; do
    check "c-shared-$compiler" "$compiler" -std=gnu17 "${warnings[@]}" "${cflags[@]}" "$folder/pair.c" "${shared[@]}"
    is_dynamic "c-shared-$compiler" || die "c-shared-$compiler is not linked with libeden.so.0"
    check "c-static-$compiler" "$compiler" -std=gnu17 "${warnings[@]}" "${cflags[@]}" "$folder/pair.c" -static "${static[@]}"
done
check cpp-shared g++ -std=c++17 "${warnings[@]}" "${cflags[@]}" "$folder/pair.cpp" "${shared[@]}"
check cpp-static g++ -std=c++17 "${warnings[@]}" "${cflags[@]}" "$folder/pair.cpp" -static "${static[@]}"
# Each header stands on its own.
for header in "$prefix"/include/eden/{eden,heap,object,roots,value,eden_abi}.h; do
    echo "#include <eden/$(basename "$header")>" | gcc -std=gnu17 "${warnings[@]}" "${cflags[@]}" -fsyntax-only -x c - ||
        die "$(basename "$header") needs another header before it"
done

make --no-print-directory -s install B="$build" DESTDIR="$folder/stage" PREFIX=/usr
(cd "$folder/stage/usr" && find . | sort) >"$folder/staged"
(cd "$prefix" && find . | sort) | diff - "$folder/staged" || die "DESTDIR installs other files"
[[ $(PKG_CONFIG_PATH=$folder/stage/usr/lib/pkgconfig pkg-config --variable=prefix eden) == /usr ]] ||
    die "the pkg-config file names the staging folder"
[[ ! -e $build/bin/edenscope || -x $prefix/bin/edenscope ]] || die "edenscope is not installed"
