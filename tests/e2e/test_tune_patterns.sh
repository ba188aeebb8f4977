#!/usr/bin/env bash
# `edenscope tune` on every pattern: the rule that a pattern is for speaks, on its near miss it is silent, and on none
# does a rule speak of what is not true of it (patterns --list says what else is). Recordings are put onto a virtual
# clock and samples are taken at fixed bytes, so that the findings are the same on any machine.
# shellcheck source=tests/e2e/common.sh
. "$(dirname "$0")/common.sh"
need_edenscope

export patterns=$build/workloads/patterns scope folder
"$patterns" --list >"$folder/list"
record_one() {
    "$scope" record --lifetimes=details --sampling refill=37K -o "$folder/$1.data" -- "$patterns" "$1" \
        >"$folder/$1.out" 2>"$folder/$1.err" || echo "record of $1: exit status $?: $(cat "$folder/$1.err")"
}
export -f record_one
cut -f 1 "$folder/list" | xargs -P 2 -I KEY bash -c 'record_one KEY' >"$folder/failed"
[[ ! -s $folder/failed ]] || die "$(cat "$folder/failed")"

PYTHONPATH=tests/e2e python3 - "$folder" "$scope" <<'PYTHON' || die "rules speak, or are silent, where they should not"
import json, subprocess, sys
from retime import retime
folder, scope = sys.argv[1:]
wrong = 0
for row in open(f"{folder}/list"):
    key, also, _ = row.rstrip("\n").split("\t")
    retime(f"{folder}/{key}.data")
    output = subprocess.run([scope, "tune", "--json", "-i", f"{folder}/{key}.data"], stdout=subprocess.PIPE, check=True).stdout
    report = json.loads(output)
    findings = report["findings"]
    found = {finding["key"] for finding in findings}
    wanted = set() if key.endswith("-near") or key == "shifting" else {key}
    true = wanted | set(also.split()) - {"-"} | {"unexplained"}
    (account,) = report["accounts"]
    parts = account["explained_share"] + sum(account["unexplained"].values())
    if abs(parts - account["gc_share"]) > 1e-9 or not 0 <= account["explained_share"] <= account["gc_share"] + 1e-9:
        print(f"{key}: the account does not add up: {account}")
        wrong += 1
    if "ok" in found and (account["gc_share"] > 0.1 or account["max_pause_ns"] > 5e8):
        print(f"{key}: ok, at {account['gc_share']:.1%} of the time in collections")
        wrong += 1
    left = account["unexplained_share"]
    if account["gc_share"] > 0.1 and ("unexplained" in found) != (left >= 0.02):
        print(f"{key}: {left:.1%} of the time is unexplained, and that is {'' if left < 0.02 else 'not '}said")
        wrong += 1
    for missing in sorted(wanted - found):
        print(f"{key}: {missing} is silent")
        wrong += 1
    for finding in findings:
        if finding["key"] == key == "heap.grows" and not any("Listener>>name:" in line for line in finding["evidence"]):
            print(f"{key}: does not name what is alive at the end: {finding['evidence']}")
            wrong += 1
        if finding["key"] not in true and (finding["key"] != "ok" or wanted):
            print(f"{key}: {finding['key']} speaks of what is not so:", *finding["evidence"], sep="\n    ")
            wrong += 1
sys.exit(wrong != 0)
PYTHON
