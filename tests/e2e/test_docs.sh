#!/usr/bin/env bash
# The documentation says what is so: reference pages, schemas and tables of scripts/ are what `make docs` writes; code shown is
# the code of the file named above it, and its output is shown as it is; the fields of EDEN_LOG and EDEN_STATS are
# those documented, in that order; the jq commands run; links lead to files and headings.
# shellcheck source=tests/e2e/common.sh
. "$(dirname "$0")/common.sh"

make --no-print-directory -s B="$build" "$build/gen/print_reference" "$build/tests/exercise"

for reference in probes parameters figures; do
    "$build/gen/print_reference" "$reference" >"$folder/$reference.md"
    diff "docs/$reference.md" "$folder/$reference.md" || die "docs/$reference.md is stale: make docs"
done

"$build/gen/print_reference" schema | diff docs/schemas/definitions.json - || die "docs/schemas is stale: make docs"
"$build/gen/print_reference" clickhouse | diff scripts/clickhouse/eden-events.sql - ||
    die "scripts/clickhouse is stale: make docs"
"$scope" report --view list --json | jq -rf bpf/views/rows/schema.jq | diff docs/schemas/view.json - ||
    die "docs/schemas is stale: make docs"

for script in scripts/bpftrace/*.bt; do
    "$build/gen/print_reference" script <"$script" | diff "$script" - || die "$script is stale: make docs"
done

# <!-- FILE --> above a block of code: the block is the file.
shown=0
while IFS=: read -r page line marker; do
    file=$(sed -E 's/^<!-- (.*) -->$/\1/' <<<"$marker")
    tail -n +"$((line + 2))" "$page" | sed '/^```$/,$d' | diff "$file" - || die "$page shows another $file"
    shown=$((shown + 1))
done < <(grep -nE '^<!-- [a-z_/]+\.(c|h|cpp) -->$' docs/*.md README.md /dev/null)
[[ $shown -gt 0 ]] || die "no page shows code"

# Fields.
unset EDEN_OPTIONS
EDEN_LOG=$folder/eden.log EDEN_STATS=$folder/eden.stats "$build/tests/exercise" >/dev/null
fields() { sed -n "/^$1/,/^## \|^A /{/^$1/d;/^## \|^A /q;p}" docs/log.md | sed -nE 's/^\| `([a-z_]+)`.*/\1/p'; }
for kind in scavenge full policy; do
    case $kind in
    scavenge) fields "A scavenge" ;;
    full) fields "A full" ;;
    policy) fields "A decision" ;;
    esac >"$folder/documented"
    # Lines of one kind have the same fields.
    jq -c --arg kind "$kind" 'select(.kind == $kind) | keys_unsorted' "$folder/eden.log" | sort -u | jq -r '.[]' |
        diff "$folder/documented" - || die "fields of a $kind line differ"
done
{
    printf 'pid\nheap\nname\n'
    sed -nE 's/^\| `([a-z_]+)`.*/\1/p' docs/figures.md
    echo parameters
} >"$folder/documented"
jq -c keys_unsorted "$folder/eden.stats" | sort -u | jq -r '.[]' |
    diff "$folder/documented" - || die "fields of EDEN_STATS differ"
# No cause or reason that is not documented.
for cause in $(jq -r '.cause // .reason' "$folder/eden.log" | sort -u); do
    grep -q "\`$cause\`" docs/log.md || die "cause or reason $cause is not documented"
done

# Commands.
awk -v folder="$folder" '/^```$/ { file = "" } file != "" { print >file } /^```sh$/ { file = folder "/" ++n ".sh" }' docs/log.md
count=0
for command in "$folder"/[0-9]*.sh; do
    (cd "$folder" && bash -o pipefail "$command") >"$folder/out" || die "fails: $(cat "$command")"
    [[ -s $folder/out ]] || die "prints nothing: $(cat "$command")"
    count=$((count + 1))
done
[[ $count -ge 5 ]] || die "only $count jq commands"

# Links to files of the tree, and to headings of pages.
while IFS=: read -r page link; do
    target=${link#](}
    target=${target%)}
    [[ $target != http* ]] || continue
    file=${target%%#*}
    path=$(dirname "$page")/$file
    [[ -n $file ]] || path=$page
    [[ -z $file || -e $path ]] || die "$page: no file for link $target"
    if [[ $target == *#* ]]; then
        grep -E '^#+ ' "${path%/}" | sed -E 's/^#+ //' | tr '[:upper:] ' '[:lower:]-' | tr -cd 'a-z0-9_\n-' |
            grep -qxF "${target#*#}" || die "$page: no heading for link $target"
    fi
done < <(grep -oHE '\]\([^)]+\)' docs/*.md ./*.md)

# Targets that the README names.
for target in $(grep -oE '^make [a-z]+' README.md | cut -d' ' -f2); do
    make --no-print-directory help | grep_all -qE "^  make $target " || die "README.md names make $target, which is not there"
done
