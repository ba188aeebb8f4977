#!/usr/bin/env bash
# docs/operator.md: its commands run, one after the other, on the process that it starts, and print lines of the shape that
# it shows, and no others; numbers and the phase of the moment differ.
# shellcheck source=tests/e2e/common.sh
. "$(dirname "$0")/common.sh"

need_edenscope
open_page docs/operator.md

# begin OPTIONS: starts the program, and waits until its heap collects; sets $pid.
begin() {
    EDEN_OPTIONS=$1 build/workloads/queue 4000000000 300000 >/dev/null &
    pid=$!
    until_true "it collects" sh -c "edenscope list -p $pid --json 2>/dev/null |
        jq -e '.processes[0].heaps[0].collections > 20' >/dev/null"
}

# recorded OPTIONS FILE: a recording of some of its collections.
recorded() {
    begin "$1"
    edenscope record -p "$pid" -o "$2" 2>/dev/null &
    local recorder=$!
    until_true "collections are recorded" sh -c "edenscope script -i $2 --probe scavenge__done 2>/dev/null |
        grep -c . | grep -qE '[0-9]{2}'"
    kill -INT "$recorder"
    wait "$recorder" || die "record -o $2 failed"
    kill "$pid"
    wait "$pid" || true
}

grep -qF 'EDEN_OPTIONS=policy=fixed,eden_size=1M build/workloads/queue 4000000000 300000 >/dev/null &' "$page" ||
    die "the page starts another program"
recorded max_heap=128M yesterday.data
recorded policy=fixed,eden_size=64M,full_gc_ratio=4 after.data
begin policy=fixed,eden_size=1M
export PID=$pid
python3 - "$page" <<'PYTHON' || die "docs/operator.md shows something else"
import os, re, sys
from doc_examples import examples, output

NUMBER = r"[0-9][0-9.,]*[KMG%]?( ?([mun]?s|[KMG]iB|B))?(?![a-zA-Z.])"

def shapes(text):
    """Its lines without what differs from run to run, each once. Other processes of the machine are left out."""
    seen = []
    for line in text.splitlines():
        if re.match(r" *[0-9]+  [^ ]", line) and "queue" not in line:
            continue
        # Where the recording ended in a collection; where the machine is busy.
        if line.startswith(("   not ended ", "  machine.waits ")):
            continue
        line = re.sub(r"(in [a-z._]+ for ([0-9.]+ [mun]?s|\?)|  -)$", " NOW", line)
        line = re.sub(r"(^|(?<=[ (\[=]))" + NUMBER, "N", line)
        line = re.sub(r" +", " ", line).replace(": -", ": N")
        line = re.sub(r"(changed|noise|same)$", "VERDICT", line)
        if line.strip() and line not in seen:
            seen.append(line)
    return seen

def here(command):
    return re.sub(r"\bPID\b", os.environ["PID"], command)

page = open(sys.argv[1], encoding="utf-8").read()
output(here(re.search(r"^edenscope record .*$", page, re.M).group()))
blocks = examples(sys.argv[1], 7)
for command, shown in blocks:
    printed = output(here(command))
    wanted, found = shapes(shown), shapes(printed)
    for line in wanted:
        if line not in found:
            sys.exit(f"{command}\nprints no line like {line!r}, but\n{printed}\n{found}")
    for line in found:
        if line not in wanted:
            sys.exit(f"{command}\nprints {line!r}, which the page does not show:\n{printed}")
print(f"{len(blocks)} commands print what is shown")
PYTHON
kill "$pid"
wait "$pid" || true
