#!/usr/bin/env bash
# examples/ and docs/embedding.md show the same: the page has each program, whole, and no other code (test_docs.sh compares
# the code); its output is the output shown. Every compiler builds it without a warning. Linked with the checked library it
# prints the same, also where each allocation collects, and Valgrind finds neither leaks nor wrong accesses.
# shellcheck source=tests/e2e/common.sh
. "$(dirname "$0")/common.sh"

page=docs/embedding.md
warnings=(-Wall -Wextra -Wshadow -Wconversion -Wpedantic -Werror)
make --no-print-directory -s B="$build" "$build/lib/libeden.a"
make --no-print-directory -s CHECKED=1 SAN=0 B="$build/checked" "$build/checked/lib/libeden.a"
unset EDEN_OPTIONS

blocks=$(grep -cE '^```(c|cpp)$' "$page")
marked=$(grep -A1 -E '^<!-- examples/[a-z_]+\.(c|cpp) -->$' "$page" | grep -cE '^```(c|cpp)$')
[[ $blocks == "$marked" ]] || die "$page has code that is of no example"

# compile NAME COMPILER LIBRARY FLAG...
compile() {
    local standard=gnu17
    [[ $2 != *++ ]] || standard=c++17
    "$2" "-std=$standard" "${warnings[@]}" "${@:4}" -Iprobes -Iruntime/include "$source" "$3" -lm -lpthread -o "$folder/$1" ||
        die "$2 does not build $source"
}

# prints NAME: runs the commands shown, of the program $folder/NAME.
prints() {
    while read -r command; do
        echo "\$ $command"
        PATH=$folder:$PATH bash -o pipefail -c "${command//build\/examples\/$name/$1}" 2>&1 || die "$1 fails: $command"
    done < <(sed -n 's/^\$ //p' "$folder/shown") >"$folder/printed"
    cat "$folder/printed"
}

count=0
for source in examples/*.c examples/*.cpp; do
    name=$(basename "${source%.*}")
    awk -v marker="<!-- $source -->" '$0 == marker { found = 1 } found && /^```text$/ { shown = 1; next } shown && /^```$/ { exit }
        shown' "$page" >"$folder/shown"
    grep -q "^\$ .*build/examples/$name" "$folder/shown" || die "$page does not show $source and its output"
    compilers=(gcc clang)
    [[ $source != *.cpp ]] || compilers=(g++ clang++)
    for compiler in "${compilers[@]}"; do
        for level in -O0 -O2; do
            compile "$name-$compiler" "$compiler" "$build/lib/libeden.a" "$level"
            prints "$name-$compiler" | diff "$folder/shown" - || die "$source, built by $compiler $level, prints something else"
        done
    done
    compile "$name-checked" "${compilers[0]}" "$build/checked/lib/libeden.a" -DEDEN_CHECKED -O1 -g
    prints "$name-checked" | diff "$folder/shown" - || die "$source prints something else with the checked library"
    stress=1
    [[ $name != out_of_memory ]] || stress=100 # it fills a heap
    EDEN_OPTIONS=stress=$stress prints "$name-checked" >"$folder/stressed"
    # The collections that list counts are more.
    diff <(sed '/ bytes allocated/d' "$folder/shown") <(sed '/ bytes allocated/d' "$folder/stressed") ||
        die "$source prints something else where each allocation collects"
    # Valgrind copies text, with the breakpoints of whoever observes all processes: nobody sees a program without notes.
    objcopy -R .note.stapsdt "$folder/$name-${compilers[0]}" "$folder/$name-unseen"
    echo 'exec valgrind -q --leak-check=full --error-exitcode=9 "$(dirname "$0")/'"$name-unseen"'"' >"$folder/valgrind-$name"
    chmod +x "$folder/valgrind-$name"
    prints "valgrind-$name" | diff "$folder/shown" - || die "Valgrind complains of $source"
    count=$((count + 1))
done

[[ $(seq 1 20000 | "$folder/list-gcc" | sed '$d' | sha256sum) == $(seq 20000 -1 1 | sha256sum) ]] || die "list loses words"
EDEN_OPTIONS=eden_size=nonsense "$folder/list-gcc" </dev/null 2>"$folder/message" && die "list ignores errors"
grep -q eden_size "$folder/message" || die "list does not state what is wrong: $(cat "$folder/message")"
echo "$count examples"
