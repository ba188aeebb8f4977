#!/usr/bin/env bash
# What edenscope says of a collection that is under way: probe_gun plays a heap that stays in one for as long as the test
# wants. The lines of stat show the phase and the share of each interval, never more than all of it; the lines add up to
# gc_ns; what is not known is "?"; a process that is killed in a collection is in it to its end, in recordings too.
# shellcheck source=tests/e2e/common.sh
. "$(dirname "$0")/common.sh"

gun=$build/tests/probe_gun
need_edenscope

full=(full__start:0x1000,2,2 mark__start:0x1000,2 wait mark__done:0x1000,2,took compact__start:0x1000,2 wait
    compact__done:0x1000,2,took full__done:0x1000,2,took)

# lines PATTERN FILE: whether at least three lines have it.
lines() {
    [[ $(grep -cE "$1" "$2" 2>/dev/null) -ge 3 ]]
}

# start_gun SHOT...: sets $target; a line to descriptor 7 ends a wait.
start_gun() {
    rm -f "$folder/go"
    mkfifo "$folder/go"
    exec 7<>"$folder/go"
    "$gun" "$@" <"$folder/go" >"$folder/gun" 7>&- &
    target=$!
}

# ---- line by line, from the first instruction on ----

mkfifo "$folder/held"
exec 8<>"$folder/held"
"$scope" stat 0.05 -o "$folder/text" -- "$gun" heap__create:0x1000,1,demo "${full[@]}" wait heap__destroy:0x1000,1 \
    <"$folder/held" 8>&- &
tool=$!
until_true "the phase is shown" lines ' in full\.mark for [0-9.]+ ' "$folder/text"
echo >&8
until_true "the next phase is shown" lines ' in full\.compact for [0-9.]+ ' "$folder/text"
echo >&8
until_true "the end of the collection is shown" lines '  -$' "$folder/text"
echo >&8
wait "$tool" || die "stat failed"
python3 - "$folder/text" <<'PYTHON' || die "lines of stat: $(cat "$folder/text")"
import re, sys
lines = [line.rstrip() for line in open(sys.argv[1]) if not line.startswith("#")]
shares = [float(re.search(r" (\d+\.\d\d)% ", line)[1]) for line in lines]
assert all(0 <= share <= 100 for share in shares), shares
held = [i for i, line in enumerate(lines) if " in full." in line]
assert all(shares[i] == 100 for i in held[1:]), "the process did nothing but collect"
after = [shares[i] for i in range(held[-1] + 2, len(lines))]
assert after and not any(after), "nothing is left for the lines after it"
assert [line.split()[4] for line in lines].count("1") == 1
PYTHON
echo "each line has its own share"

"$scope" stat 0.05 --json -o "$folder/json" -- "$gun" heap__create:0x1000,1,demo "${full[@]}" wait \
    heap__destroy:0x1000,1 <"$folder/held" 8>&- &
tool=$!
until_true "the phase is in the JSON" lines '"phase":"full.mark"' "$folder/json"
echo >&8
until_true "the next phase is in the JSON" lines '"phase":"full.compact"' "$folder/json"
echo >&8
until_true "the end is in the JSON" lines '"full_collections":1,' "$folder/json"
echo >&8
wait "$tool" || die "stat --json failed"
exec 8>&-
python3 - "$folder/json" <<'PYTHON' || die "stat --json by interval"
import json, sys
wall = stopped = 0
for line in open(sys.argv[1]):
    model = json.loads(line)
    for heap in (heap for process in model["processes"] for heap in process["heaps"]):
        now = heap["collection"]
        assert now["known"] and heap["stopped_ns"] is not None
        assert 0 <= heap["stopped_ns"] - stopped <= model["wall_ns"] - wall, (heap["stopped_ns"], stopped)
        assert now["phase"] is None or now["since_ns"] <= now["phase_since_ns"] <= now["until_ns"], now
        assert (now["phase"] is None) == (now["since_ns"] is None) == (now["until_ns"] is None), now
        stopped = heap["stopped_ns"]
    wall = model["wall_ns"]
assert stopped == heap["gc_ns"] > 0 and heap["phases"]["full"]["observed_ns"] == heap["phases"]["full"]["total_ns"]
PYTHON
echo "the lines add up to gc_ns"

mkfifo "$folder/rest"
exec 9<>"$folder/rest"

# ---- the first collection of a heap: whatever it reports, it began after the heap ----

"$scope" stat --json -o "$folder/first" -- "$gun" wait heap__create:0x1000,1,demo scavenge__start:0x1000,1 \
    scavenge__done:0x1000,1,1000000000000 full__start:0x1000,2 full__done:0x1000,2,1000000000000 \
    heap__destroy:0x1000,1 <"$folder/rest" >"$folder/gun" &
tool=$!
until_true "the gun waits" grep -q waiting "$folder/gun"
sleep 1
echo >&9
wait "$tool" || die "stat --json failed"
jq -e '.wall_ns as $wall | .processes[0].heaps[0] | .scavenges == 1 and .full_collections == 1 and
    ([.phases.scavenge.observed_ns, .phases.full.observed_ns, .stopped_ns] | all($wall - . > 900000000))' \
    "$folder/first" >/dev/null || die "a collection that began before its heap: $(cat "$folder/first")"
echo "the first collection began after its heap"

# ---- attached late ----

start_gun heap__create:0x1000,1,demo "${full[@]}" wait heap__destroy:0x1000,1
until_true "the gun waits" grep -q waiting "$folder/gun"
rm -f "$folder/err"
"$scope" stat -v 0.05 -o "$folder/late" -p "$target" 2>"$folder/err" &
tool=$!
until_true "attached" grep -q 'attached in' "$folder/err"
echo >&7
until_true "a collection whose start was not seen is shown" lines ' in full\.compact for [0-9.]+ ' "$folder/late"
echo >&7
until_true "its end is shown" lines '  -$' "$folder/late"
printf '\n\n' >&7
wait "$tool" || die "stat -p failed: $(cat "$folder/err")"
grep -oE '[0-9.]+%' "$folder/late" | awk '$1 + 0 > 100 { exit 1 }' || die "more than all of the time: $(cat "$folder/late")"

# A heap at rest: only its header says that it does not collect.
"$exercise" --wait <"$folder/rest" >"$folder/out" &
rest=$!
until_true "the program is ready" grep -q ready "$folder/out"
"$scope" stat -p "$rest" 0.05 3 >"$folder/idle" || die "stat -p of a process at rest failed"
grep -v '^#' "$folder/idle" | awk '$6 != "0" || $8 != "0.00%" || $NF != "-" { exit 1 }' ||
    die "what the header says is not shown: $(cat "$folder/idle")"
"$scope" tune -p "$rest" 0.05 >"$folder/text" 2>"$folder/err" || die "tune -p of a process at rest failed: $(cat "$folder/err")"
grep -qE '^  no collection was observed in ' "$folder/text" ||
    die "tune judges what it did not see: $(cat "$folder/text")"
"$scope" tune --json -p "$rest" 0.05 2>"$folder/err" | jq -e '(.findings | length > 0 and all(.key == "unseen")) and
    (.accounts | length > 0 and all(.gc_share == 0 and .unexplained.full == 0))' >/dev/null ||
    die "tune --json judges what it did not see"
"$scope" lifetimes -p "$rest" 0.05 >/dev/null 2>"$folder/err" || die "lifetimes -p of a process at rest failed"
grep -qF "heap 1 of process $rest: no profile of it began while it was observed" "$folder/err" ||
    die "the heap is not named: $(cat "$folder/err")"
kill -STOP "$rest"
"$scope" tune -p "$rest" 0.05 >"$folder/text" 2>"$folder/err" || die "tune -p of a stopped process failed"
grep -q "process $rest (exercise) is stopped" "$folder/err" || die "the stopped process is not reported: $(cat "$folder/err")"
[[ $(grep -cE '^  [a-z.]+ \(' "$folder/text") == $(grep -c '^  unseen ' "$folder/text") ]] ||
    die "tune judges a stopped process: $(cat "$folder/text")"
kill -CONT "$rest"
rm -f "$folder/err"
"$scope" stat -v -p "$rest" >"$folder/idle" 2>"$folder/err" &
tool=$!
until_true "attached" grep -q 'attached in' "$folder/err"
echo >&9
wait "$rest"
wait "$tool" || die "stat -p of a process that ends failed"
grep -q "process $rest (exercise) has ended" "$folder/err" || die "the end is not reported: $(cat "$folder/err")"
exec 9>&-
echo "attached late: what was not seen is not known"

# ---- killed in a collection ----

for how in "stat 0.05 -o $folder/killed" "stat -o $folder/table" "record -o $folder/killed.data"; do
    rm -f "$folder/go" "$folder/gun"
    mkfifo "$folder/go"
    exec 7<>"$folder/go"
    began=$EPOCHREALTIME
    # shellcheck disable=SC2086
    "$scope" $how -- "$gun" heap__create:0x1000,1,demo "${full[@]}" <"$folder/go" >"$folder/gun" 2>"$folder/err" 7>&- &
    tool=$!
    until_true "the gun stands in a collection" grep -q waiting "$folder/gun"
    sleep "$(awk -v began="$began" -v now="$EPOCHREALTIME" 'BEGIN { print 4 * (now - began) }')"  # most of what is observed
    kill -9 "$(awk '{ print $2 }' "$folder/gun")"
    status=0
    wait "$tool" || status=$?
    [[ $status == 137 ]] || die "$how gave status $status: $(cat "$folder/err")"
done
tail -n 1 "$folder/killed" | grep_all -qE ' ended in full\.mark for [0-9.]+ ' || die "killed: $(cat "$folder/killed")"
grep -qE '^  ended in full\.mark for ' "$folder/table" || die "the table does not say it: $(cat "$folder/table")"
grep -E '^ +0 ns  gc_ns ' "$folder/table" | grep_all -q '[1-9].*% of the .* observed' || die "the share leaves it out"
"$scope" report -i "$folder/killed.data" >"$folder/report"
grep -qE '^  at the end +ended in full\.mark for ' "$folder/report" || die "report: $(cat "$folder/report")"
"$scope" report --json -i "$folder/killed.data" | python3 -c '
import json, sys
model = json.load(sys.stdin)
heap = model["processes"][0]["heaps"][0]
assert heap["collection"]["phase"] == "full.mark" and 0 < heap["stopped_ns"] <= model["wall_ns"], heap
' || die "report --json"
"$scope" tune -i "$folder/killed.data" >"$folder/text" 2>"$folder/err" || die "tune failed: $(cat "$folder/err")"
grep -qE '^  unfinished \(high' "$folder/text" && grep -q 'seen  in full\.mark for' "$folder/text" &&
    ! grep -qE 'observe it longer|longest pause' "$folder/text" || die "tune: $(cat "$folder/text")"
echo "killed in a collection: it counts to the end"
