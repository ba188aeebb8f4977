#!/usr/bin/env bash
# Each output for programs follows its schema of docs/schemas: of every command with JSON, live, late and from recordings, of
# EDEN_LOG and EDEN_STATS; with heaps without a name or a number, unknown figures, hostile names, and trials that fail.
# shellcheck source=tests/e2e/common.sh
. "$(dirname "$0")/common.sh"
need_edenscope

checker=$PWD/tests/e2e/schemas.py schemas=$PWD/docs/schemas
gun=$(readlink -f "$build/tests/probe_gun") hostile=$(readlink -f "$build/tests/hostile")
gcc -std=gnu17 -Iruntime/include -Iprobes -x c - -x none "$build/lib/libeden.a" -lm -lpthread -o "$folder/nameless" <<'SOURCE'
#include <eden/eden.h>
#include <stdio.h>

int main(void) {
    eden_heap *heap = eden_heap_create(&(eden_options){.name = ""}, NULL);
    eden_mutator *mutator = eden_mutator_attach(heap, NULL);
    puts("ready");
    fflush(stdout);
    int line = getchar();
    eden_full_collect(mutator);
    eden_heap_destroy(heap);
    return line == EOF;
}
SOURCE
enter_folder
mkdir outputs
export TMPDIR=$folder

# follows SCHEMA COMMAND...: that what it prints follows the schema is checked at the end, for all commands at once.
count=0
follows() {
    local at=outputs/$((++count))
    expect_status 0 "${@:2}"
    [[ -s out ]] || die "${*:2} printed nothing"
    cp out "$at.$1"
    printf '%s\n' "${*:2}" >"$at.command"
}

# begin COMMAND...: in the background, with $input open for a line; $target is its process, which is ready.
begin() {
    rm -f input
    mkfifo input
    "$@" <input >ready &
    target=$!
    exec {input}>input
    until_true "$1 is ready" grep -q ready ready
}
finish() {
    echo >&"$input"
    exec {input}>&-
    wait "$target" || die "the target failed"
}

# ---- of the runtime

export EDEN_LOG=$folder/log EDEN_STATS=$folder/stats
expect_status 0 "$exercise" 3
begin ./nameless
finish
unset EDEN_LOG EDEN_STATS
jq -e 'select(.name == null)' stats >/dev/null || die "EDEN_STATS: no heap without a name"
follows eden-log cat log
follows eden-stats cat stats

# ---- live and late

follows doctor "$scope" doctor --json
follows list-files "$scope" list --json "$exercise" "$scope"
begin ./nameless
follows list "$scope" list --json -p "$target" --params --classes
[[ $(jq -c '.processes[0].heaps[0].name' out) == null ]] || die "list: a heap without a name is called $(cat out)"
"$scope" stat -v --json -p "$target" >outputs/late.stat 2>err &
tool=$!
echo "stat --json -p, late" >outputs/late.command
until_true "stat is attached" grep -q "attached in" err
finish
wait "$tool" || die "stat: $(cat err)"
[[ $(jq -c '.processes[0].heaps[0] | [.name, .late]' outputs/late.stat) == '[null,true]' ]] || die "stat: $(cat outputs/late.stat)"

mkdir programs
begin "$hostile" names programs
follows list "$scope" list --json
follows list-files "$scope" list --json programs/*
follows stat "$scope" stat --json -p "$target" 0.1 2
follows lifetimes "$scope" lifetimes --sampling all --json -p "$target" 0.2
expect_status 0 "$scope" record --objects -o hostile.data -p "$target" 0.3
kill -KILL "$target"
wait "$target" 2>/dev/null || true
exec {input}>&-

# ---- recordings: of all that a heap does, of hostile names, of heaps without a number

expect_status 0 "$scope" record --lifetimes=details --sampling 1/20 -o all.data -- "$exercise"
expect_status 0 "$scope" record --objects -o made.data -- "$gun" heap__create:0x1000,1 scavenge__start:0x1000,1 \
    tenure:0x1000,1,0x10 remember:0x1000,1,0x10 remembered__scan:0x1000,1,0x10,7,9,1,5 forget:0x1000,1,0x10 \
    mourn:0x1000,1,0x10 census:0x1000,1,9,2,48,1 scavenge__done:0x1000,1,99 scavenge__start:0x2000,7 full__start:0x3000,1,9
follows views "$scope" report --view list --json
mapfile -t views < <(jq -r '.views[].name | select(. != "summary")' out)
for data in all.data hostile.data made.data; do
    for view in "${views[@]}"; do
        follows view "$scope" report --view "$view" --json -i $data
    done
    follows view "$scope" report --view classes -F name --json -i $data
    follows script "$scope" script --json -i $data
    follows script "$scope" script --json --label host=app1 --label service=cart -i $data
    follows chrome "$scope" script --chrome -i $data
    follows otlp "$scope" script --otlp -i $data
    follows tune "$scope" tune --json -i $data
    follows stat "$scope" report --json -i $data
done
[[ $(jq -c '[.processes[0].heaps[] | [.heap, .name]]' out) == '[[null,null],[null,null],[1,null]]' ]] ||
    die "heaps without a name and without a number: $(cat out)"
follows diff "$scope" diff --json all.data made.data
follows lifetimes "$scope" lifetimes --json -i all.data
follows lifetimes-ndjson "$scope" lifetimes --view ndjson --by-site -i all.data
follows lifetimes "$scope" lifetimes --stacks --sampling bytes=8K --json -- "$build/tests/allocators"

# ---- predictions and trials

micro=("$build/workloads/micro" survivors --objects 200000)
EDEN_OPTIONS=policy=fixed,eden_size=1M,full_gc_ratio=0,grow_headroom=64K,tenure_fill=0,tenure_proportion=0.02 \
    expect_status 0 "$scope" record --lifetimes=details --sampling all -o micro.data -- "${micro[@]}"
follows simulate "$scope" simulate --json -i micro.data eden_size=2M,4M
follows tune-verify "$scope" tune --verify --pairs 1 --json --options eden_size=2M -- "${micro[@]}"
follows tune-verify "$scope" tune --verify --json -- "${micro[@]}"
follows tune-search "$scope" tune --search --trials 3 --json --options max_heap=1M -- "${micro[@]}"

mapfile -t outputs < <(find outputs -type f ! -name "*.command")
python3 "$checker" "$schemas" "${outputs[@]}" || die "an output does not follow its schema, or a schema is open"
