#!/usr/bin/env bash
# What is documented for bpftrace runs: each of scripts/bpftrace/, pointed at a process, at a file, at a command, prints what it
# says; every one-liner of docs/one-liners.md, taken from there, prints what is shown below it, other numbers aside.
# shellcheck source=tests/e2e/common.sh
. "$(dirname "$0")/common.sh"

# shellcheck source=tests/e2e/with_bpftrace.sh
. tests/e2e/with_bpftrace.sh

make --no-print-directory -s B="$build" "$exercise" "$shared"
need_bpftrace
unset EDEN_OPTIONS EDEN_LOG EDEN_STATS

# expected SCRIPT: what its output must hold, a regular expression a line.
expected() {
    local time='[0-9]{2}:[0-9]{2}:[0-9]{2}'
    case $1 in
    pauses) printf '%s\n' '@full_us: ' '@scavenge_us\[eden\]: ' '@scavenge_us\[full\]: ' '@scavenge_us\[pin\]: ' ;;
    scavenges) printf '%s\n' '@scavenges\[[0-9]+\]: [1-9]' '@scavenge_us\[[0-9]+\]: ' '@tenured_bytes\[[0-9]+\]: [1-9]' ;;
    tenured) printf '%s\n' '@objects\[4, Node in new_node, (age|pin)\]: [1-9]' '@objects\[3, Text, overflow\]: [1-9]' \
        '@bytes\[4, Node in new_node, retry\]: [1-9]' ;;
    remembered) printf '%s\n' '@remembered\[4, Node in new_node, store\]: [1-9]' '@forgotten\[4, Node in new_node\]: [1-9]' \
        '@remembered\[4, Node in new_node, recovery\]: [1-9]' '@entries: ' '@scan_us: ' '@scanned_bytes: [1-9]' \
        '@large_slots\[2, Table\]: [1-9]' '@large_young\[2, Table\]: [1-9]' ;;
    fulls) printf "$time [0-9]+ +%s +[0-9]+\\.[0-9]{3}( +[0-9]+){4}\n" ratio allocation request limit ;;
    phases) printf '@us\\[%s\\]: count [1-9][0-9]*, average [0-9]+, total [0-9]+\n' scavenge scavenge.{remembered,roots,copy,weak} \
        full full.{mark,sweep,compact,compact.plan,compact.update,compact.move} ;;
    compactions) printf '%s\n' '@compactions: [1-9]' '@live_objects: [1-9]' '@live_bytes: [1-9]' '@moved_objects: [1-9]' \
        '@moved_bytes: [1-9]' '@us\[plan\]: ' '@us\[update\]: ' '@us\[move\]: ' ;;
    segments) printf '%s\n' "$time [0-9]+ +[+] +1024 +2048$" "$time [0-9]+ +- +1024 +1024$" ;;
    large) printf '%s\n' '@objects\[Text, 3, Text\]: 64$' '@bytes\[Text, 3, Text\]: 6403264$' '@size_kb: ' ;;
    failed) printf '%s\n' "$time [0-9]+ +(24|32) +[1-9][0-9]* [34] +(Text|Node in new_node)$" ;;
    stuck) printf '%s\n' "$time [0-9]+ +(scavenge|full)[a-z.]* +[0-9]+$" '@samples\[(scavenge|full)[a-z.]*\]: [1-9]' ;;
    *) die "scripts/bpftrace/$1.bt is not tested: say what it prints" ;;
    esac
}

# check SCRIPT: its output is as expected.
check() {
    local pattern
    while read -r pattern; do
        grep -qE -- "^$pattern" "$folder/out" || die "scripts/bpftrace/$1.bt: no line like '$pattern': $(cat "$folder/out")"
    done < <(expected "$1")
}

count=0
for file in scripts/bpftrace/*.bt; do
    name=$(basename "$file" .bt)
    rounds=1
    [[ $name != stuck ]] || rounds=300 # it samples: give it something to find
    traced "$folder/out" -c "$exercise $rounds" "$file" "$exercise"
    check "$name"
    example=scripts/bpftrace/${name}_example.txt
    [[ -s $example ]] || die "$example is missing"
    grep -qF "scripts/bpftrace/$name.bt" "$example" || die "$example shows another script"
    # The maps that the example shows are those that the script has.
    for map in $(sed -nE 's/^(@[a-z_]+)(\[.*)?: ?.*/\1/p' "$example" | sort -u); do
        grep -qF "$map" "$file" || die "$example shows $map, which the script does not have"
    done
    count=$((count + 1))
done
[[ $count -ge 8 ]] || die "only $count scripts"

# The other two ways to point a script, with the library linked in and not.
traced_late "$folder/out" "$exercise" -p PID scripts/bpftrace/fulls.bt
check fulls
traced_late "$folder/out" "$shared" -p PID scripts/bpftrace/fulls.bt
check fulls
traced_late "$folder/out" "$exercise" scripts/bpftrace/fulls.bt "$exercise"
check fulls
traced_late "$folder/out" "$shared" scripts/bpftrace/fulls.bt "$library"
check fulls

# The one-liners: N.sh and N.txt are the two blocks below heading N.
awk -v folder="$folder" '/^## [0-9]+\. / { n = $2 + 0 } /^```$/ { file = "" } file != "" { print >file }
    /^```sh$/ { file = folder "/" n ".sh" } /^```text$/ { file = folder "/" n ".txt" }' docs/one-liners.md
count=0
# Words and numbers don't count.
shape() { sed -E 's/[A-Za-z_][A-Za-z_0-9>:.]*/a/g; s/-?[0-9][0-9.]*/9/g; s/9[KMG]/9/g; s/ +/ /g; s/@+ *\|$/|/; s/(a )+/a /g'; }
for file in "$folder"/[0-9]*.sh; do
    n=$(basename "$file" .sh)
    text=$(cat "$file")
    [[ $text == "bpftrace -p PID -e '"*"'" || $text == "bpftrace -c 'PROGRAM ARGS' -e '"*"' PROGRAM" ]] ||
        die "one-liner $n is of another form: $text"
    program=${text#*-e \'}
    program=${program%\'*}
    traced "$folder/out" -c "$exercise" -e "$program" "$exercise"
    maps=$(sed -nE 's/^(@[a-z_]+).*/\1/p' "$folder/$n.txt" | sort -u)
    for map in $maps; do
        grep -qE "^$map(\[|:)" "$folder/out" || die "one-liner $n prints no $map: $(cat "$folder/out")"
    done
    if [[ -z $maps ]]; then
        grep -v '^Attaching' "$folder/$n.txt" | shape | sort -u >"$folder/shown"
        shape <"$folder/out" | sort -u >"$folder/printed"
        [[ -n $(comm -12 "$folder/shown" "$folder/printed") ]] ||
            die "one-liner $n prints other lines than shown: $(cat "$folder/out")"
    fi
    count=$((count + 1))
done
[[ $count -ge 12 ]] || die "only $count one-liners"
