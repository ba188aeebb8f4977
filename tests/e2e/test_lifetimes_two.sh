#!/usr/bin/env bash
# Two tools and one process: the second one that would profile it refuses, and the first one's profile is whole; what a
# killed tool left refuses nobody, and its objects are in no other profile.
# shellcheck source=tests/e2e/common.sh
. "$(dirname "$0")/common.sh"

need_edenscope
"$exercise" 300000 >/dev/null 2>&1 &
target=$!

# The profile of FILE is whole: some objects, and births = deaths + censored.
is_whole() {
    python3 - "$1" <<'PYTHON'
import json
import sys

rows = json.load(open(sys.argv[1]))["classes"]
assert sum(row["births"] for row in rows) > 100, rows
for row in rows:
    assert row["births"] == row["deaths"] + row["censored"], row
PYTHON
}

# starts_profile ARGUMENT...: a tool profiles the process by now; its id is in $tool.
starts_profile() {
    "$scope" lifetimes "$@" -v --json -o "$folder/first" -p "$target" 2>"$folder/first.err" &
    tool=$!
    local i
    for ((i = 0; i < 200; i++)); do
        ! grep -q 'attached in' "$folder/first.err" || break
        sleep 0.05
    done
    sleep 0.5
}

for how in "" "--sampling all"; do
    # shellcheck disable=SC2086
    starts_profile $how
    program=$scope
    expect_error 1 "is being profiled already, by another edenscope" lifetimes -p "$target" 1
    expect_error 1 "is being profiled already, by another edenscope" tune -p "$target" 1
    expect_status 0 "$scope" stat --json -p "$target" 0.2 1
    kill -INT "$tool"
    wait "$tool" || die "the first tool failed: $(cat "$folder/first.err")"
    is_whole "$folder/first" || die "the first tool's profile is not whole"
done

starts_profile
kill -KILL "$tool"
wait "$tool" 2>/dev/null || true
for again in 1 2; do
    expect_status 0 "$scope" lifetimes --json -o "$folder/second" -p "$target" 1
    is_whole "$folder/second" || die "profile $again after that of a killed tool is not whole"
done
echo "a process has one profile at a time"
