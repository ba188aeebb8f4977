#!/usr/bin/env bash
# `edenscope tune` on every pattern: the rule that a pattern is for speaks, on its near miss it is silent, and on none
# does a rule speak of what is not true of it (patterns --list says what else is).
# shellcheck source=tests/e2e/common.sh
. "$(dirname "$0")/common.sh"
need_edenscope

export patterns=$build/workloads/patterns scope folder
"$patterns" --list >"$folder/list"
tune_one() {
    "$scope" tune --json -o "$folder/$1.json" -- "$patterns" "$1" >"$folder/$1.out" 2>"$folder/$1.err" ||
        echo "tune of $1: exit status $?: $(cat "$folder/$1.err")"
}
export -f tune_one
cut -f 1 "$folder/list" | xargs -P 2 -I KEY bash -c 'tune_one KEY' >"$folder/failed"
[[ ! -s $folder/failed ]] || die "$(cat "$folder/failed")"

python3 - "$folder" <<'PYTHON' || die "rules speak, or are silent, where they should not"
import json, sys
folder = sys.argv[1]
wrong = 0
for row in open(f"{folder}/list"):
    key, also, _ = row.rstrip("\n").split("\t")
    findings = json.load(open(f"{folder}/{key}.json"))["findings"]
    found = {finding["key"] for finding in findings}
    wanted = set() if key.endswith("-near") or key == "shifting" else {key}
    true = wanted | set(also.split()) - {"-"}
    if found != {"ok"} or key == "ok":  # that nothing is wrong may be said of near misses
        for missing in sorted(wanted - found):
            print(f"{key}: {missing} is silent")
            wrong += 1
    elif wanted:
        print(f"{key}: nothing is said to be wrong")
        wrong += 1
    for finding in findings:
        if finding["key"] not in true and (finding["key"] != "ok" or len(found) > 1):
            print(f"{key}: {finding['key']} speaks of what is not so:", *finding["evidence"], sep="\n    ")
            wrong += 1
sys.exit(wrong != 0)
PYTHON
