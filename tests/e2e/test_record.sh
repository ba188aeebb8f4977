#!/usr/bin/env bash
# edenscope record, report and script with a real program: the report's sums equal the heaps' own counters (EDEN_STATS),
# the events' counts equal the figures, a recorder that is killed or can't write leaves a readable file and a program
# that runs on to its end, and the examples of docs/recording.md give what they say.
# shellcheck source=tests/e2e/common.sh
. "$(dirname "$0")/common.sh"

root=$PWD
need_edenscope

enter_folder
expect_status 0 "$scope" record -- true
expect_status 1 "$scope" report
grep -q 'no heap was created' err || die "the lack of heaps is not reported"

# ---- the figures, and the events ----

# compare STATS REPORT EVENTS CSV
compare() {
    python3 - "$@" <<'PYTHON'
import collections, csv, json, sys
own = {}
for line in open(sys.argv[1]):
    heap = json.loads(line)
    del heap["parameters"]
    own[heap.pop("pid"), heap.pop("heap")] = heap
seen = json.load(open(sys.argv[2]))
assert seen["lost"] == 0, "events were lost"
compared = 0
for process in seen["processes"]:
    for heap in process["heaps"]:
        for name, value in own.pop((process["pid"], heap["heap"])).items():
            assert heap[name] == value, (heap["heap"], name, value, heap[name])
            compared += 1
assert not own and compared > 100, (own, compared)

# Each event of each heap, against what the report sums up.
count = collections.Counter()
sums = collections.Counter()
events = [json.loads(line) for line in open(sys.argv[3])]
for event in events:
    key = event["pid"], event["heap_id"]
    count[key, event["probe"]] += 1
    for name in "duration", "allocated_since", "tenured_objects", "freed_bytes", "count":
        sums[key, event["probe"], name] += event.get(name, 0)
assert all(a["time_ns"] <= b["time_ns"] for a, b in zip(events, events[1:]))
scans = [event for event in events if event["probe"] == "remembered__scan"]
# Without --objects no probe hits once an object: each hit makes the collection that is recorded longer.
per_object = {"tenure", "remember", "forget", "mourn", "remembered__scan", "census"} & {event["probe"] for event in events}
assert len(per_object) == (6 if sys.argv[5:] == ["--objects"] else 0), per_object
assert all(event["slots"] >= event["young_refs"] and event["duration"] > 0 for event in scans)
for process in seen["processes"]:
    for heap in process["heaps"]:
        key = process["pid"], heap["heap"]
        same = lambda figure, *probes: sum(count[key, probe] for probe in probes) == heap[figure]
        assert same("scavenges", "scavenge__done") and same("full_collections", "full__done")
        assert same("large_objects", "alloc__large") and same("alloc_failures", "alloc__failed")
        assert same("segments_mapped", "segment__map") and same("segments_unmapped", "segment__unmap")
        assert heap["mourned"] == sums[key, "mourned", "count"], heap["name"]
        if per_object:
            assert same("mourned", "mourn"), heap["name"]
            assert same("tenured_objects", "tenure"), heap["name"]
            assert same("remembered", "remember") and same("forgotten", "forget"), heap["name"]
        assert heap["gc_ns"] == sums[key, "scavenge__done", "duration"] + sums[key, "full__done", "duration"]
        assert heap["freed_bytes"] == sums[key, "full__done", "freed_bytes"]
        assert heap["allocated_bytes"] == sum(sums[key, probe, "allocated_since"] for probe in
                                              ("scavenge__start", "full__start", "heap__destroy"))

# CSV and JSON say the same.
rows = list(csv.DictReader(open(sys.argv[4], newline="")))
assert len(rows) == len(events)
for row, event in zip(rows, events):
    assert None not in row and {name: str(value) for name, value in event.items()} == \
        {name: value for name, value in row.items() if value != "" or name in event}, (row, event)
print(compared)
PYTHON
}

for objects in "" --objects; do
    # On a busy machine, an event for each object can be too fast: then the loss must be reported.
    for ((i = 0; i < 10; i++)); do
        rm -f stats
        EDEN_STATS=$folder/stats "$scope" record $objects -- "$exercise" 2 >out 2>err || die "record $objects: $(cat err)"
        lost=$(sqlite3 eden.data "SELECT value FROM meta WHERE key = 'lost'")
        [[ $lost != 0 ]] || break
        grep -q 'lost' err || die "lost events are not reported: $(cat err)"
        [[ $("$scope" report | tr -d ,) == *"# lost events: $lost"* ]] || die "the report does not show what was lost"
    done
    grep -q '^done$' out || die "the command's output is not its own"
    events=$(sqlite3 eden.data 'SELECT count(*) FROM event')
    grep -Eq "^\[ edenscope record: [0-9,]+ events, [0-9,]+ scavenges, [0-9,]+ full collections, wrote eden.data \(" err ||
        die "the last line is not as it should be: $(cat err)"
    tr -d , <err | grep_all -q " $events events" || die "the last line counts otherwise: $(cat err)"
    "$scope" report --json >report.json
    "$scope" script --json >events.json
    "$scope" script --csv >events.csv
    compare stats report.json events.json events.csv $objects >count || die "record $objects: figures or events differ"
    [[ $("$scope" script | wc -l) == "$events" ]] || die "script does not print every event"
    echo "record $objects: $(cat count) figures and $events events agree"
done

# Times and durations have one zero point: all happens within the wall time from when the recording began.
is_within_wall_time() {
    [[ $(sqlite3 "$1" "SELECT min(time_ns) >= mono AND max(time_ns) <= mono + wall FROM event, (SELECT
        (SELECT value FROM meta WHERE key = 'mono_ns') AS mono, (SELECT value FROM meta WHERE key = 'wall_ns') AS wall)") == 1 ]]
}
is_within_wall_time eden.data || die "events are outside the recorded time"

"$scope" report >out
for words in 'lost events: 0' 'wall time' 'copied by scavenges' 'cause: request' 'Overhead  Phase' '  scavenge.copy' '6.25% wide'; do
    grep -q "$words" out || die "the report does not say '$words'"
done
[[ $("$scope" script --probe full__done --probe eden:full__start | grep -c ' eden:full__') == \
    "$("$scope" script | grep -c ' eden:full__')" ]] || die "--probe chooses other events"
expect_status 0 "$scope" report --heap 1
grep -q "eden_size=" out || die "the report does not show the parameters"
! grep -q 'by policy=auto' out || die "a heap with policy=fixed decides"
policy=$(jq -r 'select(.name == "policy" and .probe == "heap__create") | .heap_id' events.json)
address=$(jq -r 'select(.name == "policy" and .probe == "heap__create") | .heap' events.json)
expect_status 0 "$scope" report --heap "$policy"
for decision in eden old_goal; do
    read -r changes first last least most < <(jq -rs --arg decision $decision --arg heap "$address" \
        'map(select(.decision == $decision and (.heap | tostring) == $heap)) |
        [.[0].from_bytes, .[].to_bytes] as $sizes | [length, $sizes[0, -1], ($sizes | min, max)] | @tsv' events.json)
    name=${decision/old_goal/goal of old space}
    grep -E "^  $name, by policy=auto +from .*, changes: $changes$" out | grep -oE '[0-9.]+ [KM]iB' | tr -d ' iB' |
        numfmt --from=iec >shown || die "report does not show $changes decisions on $decision: $(cat out)"
    [[ $changes -gt 2 ]] || die "too few decisions on $decision: $changes"
    # The first and the last size; the least and the largest, if one of them is neither.
    awk -v sizes="$first $last $least $most" 'BEGIN { split(sizes, size) }
        { same += $1 / size[NR] > 0.99 && $1 / size[NR] < 1.01 }
        END {
            is_beyond = (size[3] < size[1] && size[3] < size[2]) || (size[4] > size[1] && size[4] > size[2])
            exit !(NR == (is_beyond ? 4 : 2) && same == NR)
        }' shown || die "report shows other sizes of $decision than $first $last $least $most: $(cat out)"
done
# Each begins with what the one before it decided, and the last on eden is the figure.
jq -es 'map(select(.probe == "policy__decide")) | group_by([.heap, .decision]) |
    all(. as $of | range(1; length) | $of[.].from_bytes == $of[. - 1].to_bytes)' events.json >out || die "decisions are missing"
[[ $(jq -s --arg heap "$address" 'map(select(.decision == "eden" and (.heap | tostring) == $heap))[-1].to_bytes' events.json) == \
    $(jq --argjson heap "$policy" '.processes[].heaps[] | select(.heap == $heap).eden_size' report.json) ]] ||
    die "the last decision is not the size of eden"
expect_status 1 "$scope" report --heap 99999
# A shell takes the command's line for the command.
# shellcheck disable=SC2016
expect_status 0 "$scope" record -o words.data -- bash -c '"$0" >"$1"' "$exercise" $'it\'s a "back\\slash" \e'
mv $'it\'s a "back\\slash" \e' first
bash -c "$("$scope" report -i words.data | sed -n 's/^# command: //p')"
cmp first $'it\'s a "back\\slash" \e' || die "the line of the command is another: $("$scope" report -i words.data)"
expect_status 1 "$scope" script --probe nonesuch
grep -q nonesuch err || die "the unknown probe is not named"
("$scope" script || echo "status $?" >pipe.err) | head -n 1 >/dev/null
[[ ! -s pipe.err ]] || die "a closed pipe is an error to script"
[[ $("$scope" script 2>/dev/null >/dev/full || echo $?) == 1 ]] || die "a full disk is no error to script"

# ---- the examples of the documentation ----

python3 - "$root/docs/recording.md" eden.data <<'PYTHON' || die "docs/recording.md"
import re, sqlite3, sys
page = open(sys.argv[1]).read()
db = sqlite3.connect(sys.argv[2])
examples = re.findall(r"```sql\n(.*?)```", page, re.S)
assert len(examples) >= 5
for example in examples:
    assert db.execute(example).fetchall(), example
for name, in db.execute("SELECT name FROM sqlite_schema WHERE type = 'table'"):
    assert re.search(rf"^### .*\b{name}\b", page, re.M), f"table {name} is not described"
    described = re.search(rf"^### [^\n]*\b{name}\b.*?(?=^##|\Z)", page, re.M | re.S).group()
    for row in db.execute(f"PRAGMA table_info({name})"):
        figure = name == "heap" and (row[0] > 6)
        assert figure or re.match(r"a\d+$", row[1]) or re.search(rf"\b{row[1]}\b", described), f"{name}.{row[1]}"
keys = {key for key, in db.execute("SELECT key FROM meta")}
assert all(f"`{key}`" in page for key in keys), keys
PYTHON
echo "the examples of docs/recording.md work"

# ---- statuses, files ----

# How the command ended is in the recording.
for end in "7 exit 7" '137 kill -9 $$' "0 true"; do
    expect_status "${end%% *}" "$scope" record -o end.data -- sh -c "'$exercise' >/dev/null; ${end#* }"
    [[ $("$scope" report --json -i end.data | jq .exit_status) == "${end%% *}" ]] || die "JSON lacks the status of '$end'"
    "$scope" report -i end.data | head -4 | grep_all -qx "# exit status: ${end%% *}" || die "the report lacks the status of '$end'"
done
expect_status 1 "$scope" record
echo letter >letter.txt
expect_status 1 "$scope" record -o letter.txt -- true
[[ $(cat letter.txt) == letter ]] || die "a file that is no recording was overwritten"
expect_status 1 "$scope" report -i letter.txt
expect_status 1 "$scope" report -i nonesuch.data
expect_status 0 "$scope" record --force -o letter.txt -- "$exercise"
expect_status 0 "$scope" report -i letter.txt
expect_status 1 "$scope" record -o /nonesuch/eden.data -- true
# What can't be started leaves the old recording.
"$scope" record -- "$exercise" >/dev/null 2>&1
before=$(cksum <eden.data)
expect_status 127 "$scope" record -- "$folder/nonesuch"
[[ $(cksum <eden.data) == "$before" ]] || die "a command that can't be started has cost the old recording"
[[ $(echo eden.data*) == eden.data ]] || die "there are other files: $(echo eden.data*)"

# So does what makes no heap: no program of Eden, one with an option that it does not know, a process ended by hand. The
# command's own status passes.
left_as_it_was() {
    grep -q '^edenscope: eden.data: was left as it was, because no heap was seen' err || die "$1: not reported: $(cat err)"
    grep -q 'no heap was created' err || die "$1: what to look at is not named: $(cat err)"
    ! grep -q 'wrote' err || die "$1: something is said to be written: $(cat err)"
    [[ $(cksum <eden.data) == "$before" ]] || die "$1 has cost the old recording"
    [[ $(echo eden.data*) == eden.data ]] || die "$1: there are other files: $(echo eden.data*)"
}
for force in "" --force; do
    expect_status 1 "$scope" record $force -- true
    left_as_it_was "a program without a heap"
done
expect_status 7 "$scope" record -- sh -c 'exit 7'
left_as_it_was "a program without a heap that fails"
expect_status 2 "$scope" record -- "$build/workloads/dataframe" --nonsense
left_as_it_was "wrong usage"
mkfifo none
LD_PRELOAD=$build/lib/libeden.so sh -c 'read -r line' <none &
target=$!
exec 5>none
rm -f err
"$scope" record -v -p "$target" 2>err &
tool=$!
until_true "attached" grep -q 'attached in' err
[[ $(cksum <eden.data) == "$before" ]] || die "attaching has cost the old recording"
kill -TERM "$tool"
status=0
wait "$tool" || status=$?
[[ $status == 1 ]] || die "a process without a heap gave status $status: $(cat err)"
left_as_it_was "a process without a heap"
exec 5>&-
# The first heap makes the recording take the old one's place, in the middle of the run.
expect_status 0 "$scope" record -- sh -c "cksum <eden.data >first; ls -x eden.data* >>first; '$exercise' >/dev/null"
[[ $(cat first) == "$before"$'\n'eden.data ]] || die "the old recording goes before the first heap: $(cat first)"
[[ $("$scope" report --json | jq -r '.processes | length') == 1 && $(cksum <eden.data) != "$before" ]] ||
    die "the new recording is not there"
: >eden.data
expect_status 0 "$scope" record -- true
[[ -s eden.data ]] || die "an empty file is kept"
echo "without a heap the old recording stays"

# ---- attached late, ended by hand ----

mkfifo go
rm -f out
EDEN_STATS=$folder/late "$exercise" --wait 3 <go >out &
target=$!
exec 7>go
until_true "the program is ready" grep -q ready out
rm -f err
"$scope" record -v -o late.data -p "$target" 2>err &
tool=$!
until_true "attached" grep -q 'attached in' err
echo go >&7
exec 7>&-
if ! wait "$target" || ! wait "$tool"; then
    die "attached late: it failed: $(cat err)"
fi
"$scope" report --json -i late.data >report.json
"$scope" script --json -i late.data >events.json
python3 - late report.json events.json <<'PYTHON' || die "attached late: figures differ"
import json, sys
own = {heap["heap"]: heap for heap in map(json.loads, open(sys.argv[1]))}
for heap in json.load(open(sys.argv[2]))["processes"][0]["heaps"]:
    wrong = {name: (value, heap[name]) for name, value in own.pop(heap["heap"]).items()
             if name not in ("pid", "heap", "parameters") and heap[name] != value}
    assert heap["late"] and not wrong, (heap["heap"], wrong)
assert not own
assert all(json.loads(line).get("heap_id") for line in open(sys.argv[3])), "an event without its heap's number"
PYTHON
[[ $(jq .exit_status report.json) == null ]] || die "attached late: an exit status: $(jq .exit_status report.json)"
is_within_wall_time late.data || die "attached late: events are outside the recorded time"
"$scope" report -i late.data >out
grep -q "come from the heap's header" out || die "the report does not say that it attached late"

mkfifo hold
exec 6<>hold # nobody writes to it
"$exercise" --wait <hold >/dev/null &
target=$!
until_true "heaps are there" sh -c "'$scope' list --json 2>/dev/null | grep -q '\"pid\":$target,'"
# In the background a shell ignores SIGINT for its commands; SIGTERM is handled alike.
rm err # what it says of another run is not waited for
"$scope" record -v -o hand.data -p "$target" 2>err &
tool=$!
until_true "attached" grep -q 'attached in' err
kill -TERM "$tool"
wait "$tool" || die "a recorder ended by hand gave status $?"
kill -0 "$target" || die "the program ended with the recorder"
[[ $(sqlite3 hand.data "SELECT value FROM meta WHERE key = 'finished'") == 1 ]] || die "ended by hand is not finished"
"$scope" report -i hand.data >out || die "report: a recording ended by hand"
grep -q 'at least' out || die "the report does not say that the heap's end was not seen"
kill "$target"
exec 6>&-
echo "late and ended by hand: figures agree"

# Ended while the program works: the last line counts what the recording has, as the report does.
EDEN_LOG=$folder/busy.log "$exercise" 100000 >/dev/null &
target=$!
until_true "the program works" test -s busy.log
"$scope" record -o busy.data -p "$target" 2>err &
tool=$!
until_true "events are recorded" sh -c \
    "test -s busy.data && sqlite3 busy.data 'SELECT count(*) > 0 FROM event' 2>/dev/null | grep -q 1"
kill -TERM "$tool"
wait "$tool" || die "a recorder of a busy program gave status $?"
kill -KILL "$target"
wait "$target" 2>/dev/null || true
read -r scavenges full < <(sqlite3 -separator ' ' busy.data 'SELECT sum(scavenges - before_scavenges),
    sum(full_collections - before_full_collections) FROM heap')
tr -d , <err | grep_all -q " $scavenges scavenges $full full" || die "not $scavenges scavenges, $full full: $(cat err)"
"$scope" report -i busy.data >out
tr -d , <out | grep_all -q "^  scavenges .*; while recorded: $scavenges\$" || die "not $scavenges while recorded: $(cat out)"
# Unknown (?) where no event says whether it ended within a collection.
grep -Eq '^  paused .*; while recorded: [^,]*, ([0-9.]+%|\?) of wall time$' out || die "pauses while recorded: $(cat out)"
echo "ended while the program works: the last line counts what is recorded"

# ---- kills ----

for delay in 0.05 0.2 0.31 0.47 0.6; do
    rm -f alive
    setsid "$scope" record -o killed.data -- sh -c "'$exercise' 40 && echo alive >alive" >/dev/null 2>&1 &
    tool=$!
    until_true "recording began" test -s killed.data
    sleep "$delay"
    kill -9 "$tool" 2>/dev/null || true
    wait "$tool" 2>/dev/null || true
    until_true "the program runs on to its end" test -s alive
    before=$(cat killed.data* | cksum)
    "$scope" script -i killed.data >out || die "script: a recording that was cut short"
    [[ $(cat killed.data* | cksum) == "$before" ]] || die "reading changed the files"
    [[ $(wc -l <out) == $(sqlite3 killed.data "SELECT value FROM meta WHERE key = 'events'") ]] ||
        die "a half transaction is in the file"
    status=0
    "$scope" report -i killed.data >out 2>err || status=$?
    if [[ $status == 0 ]]; then
        grep -Eq 'cut short|events: [1-9]' out || die "the report does not say that it was cut short"
    else
        grep -q 'no heap was created' err || die "report: $(cat err)"
    fi
    rm -f killed.data*
done
echo "killed recorders leave readable files, and programs run on"

# ---- full disk ----

# The limit holds for the tool alone: the command lifts it.
status=0
(
    ulimit -S -f 512
    exec "$scope" record -o full.data -- sh -c "ulimit -S -f unlimited; '$exercise' 100 && echo alive >full.alive"
) >out 2>err || status=$?
[[ $status != 0 ]] || die "a recording that could not be written gave status 0"
grep -q 'recording stopped' err || die "it does not say that recording ended: $(cat err)"
tr -d , <err | grep_all -q " $(sqlite3 full.data 'SELECT count(*) FROM event') events" || die "it reports other events: $(cat err)"
read -r scavenges full < <(sqlite3 -separator ' ' full.data 'SELECT total(scavenges) | 0, total(full_collections) | 0 FROM heap')
tr -d , <err | grep_all -Eq " $scavenges scavenges? $full full collections? wrote full.data \([0-9.]+ [KM]iB\) cut short \]$" ||
    die "the last line is not of the file, which has $scavenges scavenges, $full full collections: $(cat err)"
[[ -s full.alive ]] || die "the program did not run on to its end"
"$scope" report -i full.data >out || die "report: a recording that hit a full disk"
grep -q 'cut short' out || die "the report does not say that it was cut short"
echo "a full disk ends the recording alone"

# ---- a recording that goes away while it is made ---------------------------------------------------------------------

for command in 'rm gone.data' 'mv gone.data elsewhere.data; echo other >gone.data'; do
    rm -f gone.data
    expect_status 1 "$scope" record -o gone.data -- sh -c "$command"
    grep -q 'gone.data: was removed or replaced during the recording' err || die "$command: nothing is missed: $(cat err)"
    ! grep -q 'wrote gone.data' err || die "$command: it is said to be there: $(cat err)"
done
[[ $(cat gone.data) == other ]] || die "the file that took the name is not left alone"
mkdir shelf
expect_status 1 "$scope" record -o shelf/a.data -- sh -c "mv shelf moved; mkdir shelf; echo other >shelf/a.data; '$exercise' 1 >out"
grep -q "shelf/a.data: its folder was renamed or replaced during the recording; the recording is in $PWD/moved$" err ||
    die "another folder at the path is not noticed: $(cat err)"
! grep -q 'wrote shelf' err || die "it is said to be in the other folder: $(cat err)"
[[ $(cat shelf/a.data) == other && $(sqlite3 moved/a.data "SELECT value FROM meta WHERE key = 'finished'") == 1 ]] ||
    die "the recording is not whole where it is"
mkdir current
(cd current && "$scope" record -o a.data -- sh -c "mv ../current ../renamed; '$exercise' 1 >out" 2>../err) ||
    die "a current folder that was renamed: $(cat err)"
grep -q 'wrote a.data ' err || die "the recording is where a relative path leads: $(cat err)"
echo "a recording that is gone is no success"
