#!/usr/bin/env bash
# make install: a program builds against the installed tree by pkg-config alone, as C and C++17, with the shared library,
# the static one and the checked one, and runs; man pages, completion and documentation are whole and say one version;
# DESTDIR stages the same tree elsewhere, and make uninstall removes it and nothing else.
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
    printf("%d %s %d\n", (int)kept, eden_version(), strcmp(eden_version(), EDEN_VERSION));
    return 0;
}
SOURCE
cp "$folder/pair.c" "$folder/pair.cpp"

export PKG_CONFIG_PATH=$prefix/lib/pkgconfig
read -ra cflags < <(pkg-config --cflags eden)
read -ra shared < <(pkg-config --libs eden)
read -ra static < <(pkg-config --static --libs eden)
version=$(pkg-config --modversion eden)
warnings=(-Wall -Wextra -Wshadow -Wconversion -Werror)

# check NAME COMMAND...: builds, then runs what was built.
check() {
    "${@:2}" -o "$folder/$1" || die "$1 does not build"
    local answer
    answer=$(LD_LIBRARY_PATH=$prefix/lib "$folder/$1") || die "$1 fails"
    [[ $answer == "42 $version 0" ]] || die "$1 prints '$answer'"
}
is_dynamic() { readelf -d "$folder/$1" 2>/dev/null | grep_all -q 'NEEDED.*\[libeden\.so\.1\]'; }

for compiler in gcc clang; do
    check "c-shared-$compiler" "$compiler" -std=gnu17 "${warnings[@]}" "${cflags[@]}" "$folder/pair.c" "${shared[@]}"
    is_dynamic "c-shared-$compiler" || die "c-shared-$compiler is not linked with libeden.so.1"
    check "c-static-$compiler" "$compiler" -std=gnu17 "${warnings[@]}" "${cflags[@]}" "$folder/pair.c" -static "${static[@]}"
done
check cpp-shared g++ -std=c++17 "${warnings[@]}" "${cflags[@]}" "$folder/pair.cpp" "${shared[@]}"
check cpp-static g++ -std=c++17 "${warnings[@]}" "${cflags[@]}" "$folder/pair.cpp" -static "${static[@]}"
read -ra checked < <(pkg-config --cflags --libs eden-checked)
check c-checked gcc -std=gnu17 "${warnings[@]}" "$folder/pair.c" "${checked[@]}"
sed 's/eden_slot(local\[0\], 0)/eden_slot(local[0], 7)/' "$folder/pair.c" >"$folder/wrong.c"
gcc -std=gnu17 -o "$folder/wrong" "$folder/wrong.c" "${checked[@]}"
! said=$("$folder/wrong" 2>&1 >/dev/null) || die "the checked library does not check"
[[ $said == *docs/embedding.md* ]] || die "the checked library says: $said"
# Each header stands on its own.
for header in "$prefix"/include/eden/{eden,heap,object,roots,value,eden_abi}.h; do
    echo "#include <eden/$(basename "$header")>" | gcc -std=gnu17 "${warnings[@]}" "${cflags[@]}" -fsyntax-only -x c - ||
        die "$(basename "$header") needs another header before it"
done

# One version.
scope=$prefix/bin/edenscope
is_version() { [[ $2 == "$version" ]] || die "$1 says version '$2', and pkg-config $version"; }
is_version edenscope "$("$scope" --version | sed 's/^edenscope //')"
is_version CHANGELOG.md "$(sed -nE 's/^## ([^ ]+) .*/\1/p' CHANGELOG.md | head -n 1)"
is_version debian/changelog "$(sed -nE '1s/^eden \(([^)]+)\) .*/\1/p' debian/changelog)"
is_version libeden.so "$(basename "$(readlink -f "$prefix/lib/libeden.so")" | sed 's/^libeden\.so\.//')"

# Man pages: one for each command, with each option of its --help, and nothing that mandoc complains about but long lines.
mapfile -t commands < <("$scope" help | sed -nE 's/^  ([a-z]+)  .*/\1/p')
[[ ${#commands[@]} -ge 8 ]] || die "edenscope help lists ${commands[*]}"
options() { "$scope" help "$1" | sed -nE 's/^  (-.*)/\1/p' | sed -E 's/  .*//' | grep -oE -- '--?[a-zA-Z][a-z-]*' | sort -u; }
render() { mandoc -T ascii "$1" | sed 's/.\x08//g'; }
man1=$prefix/share/man/man1
for page in "$man1"/edenscope.1 "${commands[@]/#/$man1/edenscope-}" "$prefix/share/man/man3/eden.3"; do
    [[ $page == *.[13] ]] || page=$page.1
    [[ -e $page ]] || die "no $page"
    mandoc -T lint "$page" >"$folder/lint" || true
    ! grep -v 'STYLE: input text line longer than 80 bytes' "$folder/lint" || die "$page: mandoc complains"
    is_version "$page" "$(render "$page" | sed -nE '$s/^Eden ([^ ]+) .*/\1/p')"
done
for command in "${commands[@]}"; do
    render "$man1/edenscope-$command.1" >"$folder/page"
    for option in $(options "$command"); do
        grep -qE -- "^ +([^ ]+ [A-Z]+, )?$option\\b|, $option\\b" "$folder/page" || die "edenscope-$command(1) has no $option"
    done
done
render "$prefix/share/man/man3/eden.3" >"$folder/page"
for call in $(nm -D --defined-only "$prefix/lib/libeden.so" | awk '{ print $3 }'); do
    grep -q "$call(" "$folder/page" || die "eden(3) has no $call"
done

# Completion, as bash does it: completed WORD... prints what the last word may become.
completed() {
    bash -c '. "$1"; shift
        COMP_WORDS=("$@") COMP_CWORD=$(($# - 1))
        "$(complete -p edenscope | sed "s/.*-F //; s/ .*//")"
        printf "%s\n" "${COMPREPLY[@]}"' bash "$prefix/share/bash-completion/completions/edenscope" "$@"
}
is_completed() { [[ $(completed "${@:2}" | tr '\n' ' ') == "$1 " ]] || die "${*:2} becomes $(completed "${@:2}")"; }
is_completed "stat script simulate" edenscope s
is_completed "record report remembered" edenscope re
is_completed "top tune" edenscope t
is_completed "top tune" edenscope help t
is_completed "survival survival-svg" edenscope lifetimes --view surv
is_completed "vm" edenscope record --mechanism v
is_completed "details" edenscope record --lifetimes = d
is_completed "details" edenscope record --lifetimes =
is_completed "README.md" edenscope report -i READ
completed edenscope stat -p "${$:0:1}" | grep -x $$ >"$folder/out" || die "no process is completed"
completed edenscope stat -T -- bas | grep -x bash >"$folder/out" || die "no program is completed"
[[ -z $(completed edenscope stat --heap) ]] || die "stat completes --heap, which it does not have"
for command in "${commands[@]}"; do
    completed edenscope "$command" - | grep '^-.' | grep -vx -- -- | sed 's|=$||' | sort -u | diff <(options "$command") - ||
        die "completion of $command has other options than its --help"
done
status=0
"$scope" lifetimes --view none -- true 2>"$folder/err" || status=$?
diff <(sed 's/.* one of //; s/, /\n/g' "$folder/err") <(completed edenscope lifetimes --view '') || die "other views are completed"
diff <("$scope" list --json "$prefix/lib/libeden.so" | jq -r '.files[0].probes[].probe' | sort) \
    <(completed edenscope script --probe '' | sort) || die "other probes are completed"

# Documentation: links lead to files, and what messages name is there.
doc=$prefix/share/doc/eden
while IFS=: read -r page link; do
    target=${link#](}
    target=${target%)}
    [[ $target == http* || $target == '#'* || -e $(dirname "$page")/${target%%#*} ]] || die "$page: no file for $target"
done < <(grep -oHE '\]\([^) ]+\)' "$doc"/*.md "$doc"/docs/*.md)
for named in $(strings "$scope" "$prefix/lib/libeden.so" "$prefix/lib/libeden-checked.a" | grep -oE '\b(docs|examples|scripts)/[a-z./-]+[a-z]' | sort -u); do
    [[ -e $doc/$named ]] || die "a message names $named, which is not installed"
done

make --no-print-directory -s install B="$build" DESTDIR="$folder/stage" PREFIX=/usr
(cd "$folder/stage/usr" && find . | sort) >"$folder/staged"
(cd "$prefix" && find . | sort) | diff - "$folder/staged" || die "DESTDIR installs other files"
[[ $(PKG_CONFIG_PATH=$folder/stage/usr/lib/pkgconfig pkg-config --variable=prefix eden) == /usr ]] ||
    die "the pkg-config file names the staging folder"
# Files of others in the same folders stay, and these with them; nothing else does.
(cd "$folder/stage/usr" && find . -type d -exec touch {}/another \; && find . -name another -o -type d | sort) >"$folder/others"
make --no-print-directory -s uninstall B="$build" DESTDIR="$folder/stage" PREFIX=/usr
(cd "$folder/stage/usr" && find . | sort) | diff "$folder/others" - || die "uninstall leaves or removes something"
find "$folder/stage/usr" -name another -delete
make --no-print-directory -s uninstall B="$build" DESTDIR="$folder/stage" PREFIX=/usr
[[ -z $(find "$folder/stage/usr" ! -type d -o -path '*eden*') ]] || die "uninstall leaves $(find "$folder/stage/usr" -path '*eden*')"
