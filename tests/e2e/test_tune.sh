#!/usr/bin/env bash
# edenscope tune, from a program to a line of options: the forms agree with each other, the runtime takes the options, the
# VM's old bug is named from the probes alone, and faults are reported and leave nothing behind.
# shellcheck source=tests/e2e/common.sh
. "$(dirname "$0")/common.sh"

need_edenscope
page=$PWD/docs/edenscope.md
"$build/workloads/mkdata" --rows 40000 >"$folder/data.csv"
enter_folder
frame=$build/workloads/dataframe
mkdir tmp
export TMPDIR=$folder/tmp
unset EDEN_OPTIONS

keys() { jq -r '.findings[].key' "$1"; }
has() { keys "$1" | grep_all -qxF "$2"; }

# ---- a program ----

# Standard output has the program's output, whole and nothing else; standard error has the report. The recording is gone.
"$frame" data.csv >plain
"$scope" tune -- "$frame" data.csv >out 2>err || die "tune fails: $(cat err)"
diff plain out || die "the program's output is not what it was"
grep -q 'was spent in collections' err || die "no report: $(cat err)"
[[ -z $(ls tmp) ]] || die "left behind: $(ls -R tmp)"

# A data frame in a small heap: old space grows by what stays.
export EDEN_OPTIONS=eden_size=256K,grow_headroom=64K,compat.threshold_bug=1
"$scope" tune --json -o first.json -- "$frame" data.csv >out 2>err || die "tune --json fails: $(cat err)"
diff plain out || die "with -o something else than the program's output is printed"
jq -e '(.findings | length > 0) and (.options | type == "string") and (.findings | all(
    (.key | type == "string") and (.severity | IN("note", "low", "medium", "high")) and
    (.evidence | length > 0 and all(type == "string")) and has("parameter") and has("value") and has("gain") and
    (.parameter == null) == (.value == null) and
    (.gain == null or (.gain.min >= 0 and .gain.min <= .gain.max and .gain.max <= 1)) and
    (.why | type == "string") and .heap == 1 and .name == "dataframe"))' first.json >/dev/null ||
    die "not the JSON of docs/edenscope.md: $(cat first.json)"
has first.json tenure.threshold-outside || die "the bug is not named: $(keys first.json)"
jq -e '.accounts | length == 1 and (.[0] | .heap == 1 and .max_pause_ns > 0 and
    (.explained_share + .unexplained_share - .gc_share | fabs) < 1e-9 and
    (.unexplained | .scavenge + .full) <= .unexplained_share + 1e-9)' first.json >/dev/null || die "no account: $(cat first.json)"
has first.json ok && die "ok beside other findings: $(keys first.json)"
jq -r '.findings[] | select(.parameter) | .parameter, (.also | keys[])' first.json | sort -u >wanted
jq -r .options first.json | tr ',' '\n' | cut -d= -f1 | sort -u | diff wanted - || die "the options are not those of the findings"

"$scope" tune --emit options -- "$frame" data.csv >out 2>err || die "--emit options fails: $(cat err)"
kept=$(tr ',' '\n' <<<"$EDEN_OPTIONS" | grep -vFf <(sed 's/$/=/' wanted) | paste -sd ,)
tail -n 1 out | grep_all -qF "EDEN_OPTIONS=$kept," || die "the options that were set are lost: $(tail -n 1 out)"

# The runtime takes them; the bug is gone then.
options=$EDEN_OPTIONS,$(jq -r .options first.json)
EDEN_OPTIONS=$options "$frame" data.csv | diff plain - || die "with $options the program does something else"
EDEN_OPTIONS=$options "$scope" tune --json -o second.json -- "$frame" data.csv >/dev/null 2>err || die "$(cat err)"
has second.json tenure.threshold-outside && die "the bug is named where it is not: $(keys second.json)"

# ---- a recording ----

"$scope" record --lifetimes=details -o lives.data -- "$frame" data.csv >/dev/null 2>err || die "$(cat err)"
"$scope" record -o plain.data -- "$frame" data.csv >/dev/null 2>err || die "$(cat err)"
"$scope" tune --json -i lives.data >lives.json || die "tune -i fails"
has lives.json tenure.threshold-outside || die "the bug is not named in a recording: $(keys lives.json)"
"$scope" tune --emit options -i lives.data >line
[[ $(cat line) == "EDEN_OPTIONS=$(jq -r .options lives.json)" ]] || die "--emit options is not .options: $(cat line)"
"$scope" tune -i lives.data >text
for key in $(keys lives.json); do
    grep -qF "  $key (" text || die "the text lacks $key"
done
# Within a limit: it is among the options, and the program runs with them.
"$scope" tune --json --max-heap 128M -i lives.data >bound.json || die "tune --max-heap fails"
jq -e '.options | split(",") | index("max_heap=128M")' bound.json >/dev/null || die "no limit: $(jq -r .options bound.json)"
EDEN_OPTIONS=$EDEN_OPTIONS,$(jq -r .options bound.json) "$frame" data.csv | diff plain - || die "within the limit it fails"
# Text to be pasted into a shell never comes from a file.
sqlite3 lives.data "UPDATE meta SET value = 'x; touch pwned' WHERE key = 'command'"
"$scope" tune -i lives.data >text
grep -qF "EDEN_OPTIONS=\"$(jq -r .options lives.json)\" PROGRAM" text || die "nothing to paste: $(tail -n 2 text)"
! grep -q pwned text || die "the line to paste is the recording's: $(tail -n 2 text)"
# Findings that need lifetimes are listed as unexamined, not guessed.
"$scope" tune --json -i plain.data >plain.json || die "tune -i fails without lifetimes"
has plain.json tenure.threshold-outside || die "it takes lifetimes to name the bug: $(keys plain.json)"
has plain.json scavenge.copying && die "copying is reported without lifetimes"
jq -e '.unexamined | any(.key == "scavenge.copying" and (.needs | contains("--lifetimes")))' plain.json >/dev/null ||
    die "what is not examined is not reported: $(jq -c .unexamined plain.json)"
"$scope" tune -i plain.data | grep_all -q 'not examined: .*scavenge.copying' || die "nor in the text"

# ---- a process ----

EDEN_OPTIONS='' "$build/workloads/honeyginger" --steps 1000000 >/dev/null & # which does not end meanwhile
pid=$!
until_true "a heap" bash -c "'$scope' list --json | jq -e '.processes[] | select(.pid == $pid) | .heaps | length > 0' >/dev/null"
"$scope" tune --json -p "$pid" 0.5 >late.json 2>err || die "tune -p fails: $(cat err)"
jq -e --argjson pid "$pid" '.findings | all(.pid == $pid) and length > 0' late.json >/dev/null || die "$(cat late.json)"
! grep -q 'was attached late' err || die "the parameters are in its header: $(cat err)"
"$scope" record --events-only -o unread.data -p "$pid" 0.5 2>err || die "record fails: $(cat err)"
"$scope" tune -i unread.data >out 2>err || die "tune -i fails: $(cat err)"
grep -q 'was attached late' err || die "the assumed defaults are not reported: $(cat err)"
"$scope" report -i unread.data | grep_all -q 'parameters  *unknown' || die "report knows parameters that nothing recorded"
"$scope" record -o known.data -p "$pid" 0.5 2>err || die "record fails: $(cat err)"
"$scope" report -i known.data >out
! grep -q 'parameters  *unknown' out || die "the parameters are in its header: $(cat out)"
kill "$pid" || die "the process did not survive"

# ---- what goes wrong ----

refused() {
    expect_status "$1" "$scope" tune "${@:3}"
    grep -qF -- "$2" err || die "tune ${*:3} does not say '$2': $(cat err)"
}
refused 1 'give either --json or --emit options' --json --emit options -i lives.data
refused 1 '--emit nonsense: give --emit options; there is no other value' --emit nonsense -i lives.data
refused 1 'cannot be combined with -i FILE' -i lives.data -- true
refused 1 'give either -p PID or -- PROGRAM' -p 1 -- true
refused 1 'true: unexpected argument; give -i FILE, -p PID or -- PROGRAM' true
refused 1 'not a size of a heap' --max-heap none -i lives.data
refused 1 'does not fit --max-heap 1.00 MiB' --max-heap 1M -i lives.data
refused 1 '--max-heap is for the rules' --max-heap 64M --verify --options eden_size=1M -- true
refused 1 'not a time in seconds' -p "$pid" never
refused 1 'eden.data' # which is not here
refused 1 'no heap with this number' -i lives.data --heap 7
echo kept >there
refused 1 'nowhere.data' -i nowhere.data -o there
[[ $(cat there) == kept ]] || die "a failure cost the file that was there"
# No heap is no failure of the command, as with stat, record and lifetimes.
no_heap() {
    expect_status 0 "$scope" tune "$@" -- true
    grep -q 'no heap was created' err || die "tune $* does not say that there is no heap: $(cat err)"
}
no_heap
! grep -qE 'was spent|Keep the current' err || die "a report of no heap: $(cat err)"
no_heap --json
jq -e '.findings == [] and .options == "" and .accounts == []' out >/dev/null || die "no heap as JSON: $(cat out)"
refused 1 'the recorded run: no heap was created' --verify -- true
refused 127 'nonesuch' -- ./nonesuch
[[ -z $(ls tmp) ]] || die "left behind: $(ls -R tmp)"
# What a tune left that was killed goes away with the next one; what is not its own, or in use, stays.
"$scope" tune -- sleep 600 >/dev/null 2>&1 &
tool=$!
until_true "it records" bash -c 'compgen -G "tmp/edenscope-*/eden.data-journal" >/dev/null'
no_heap
[[ $(ls tmp) == edenscope-* ]] || die "a folder in use is gone: $(ls -R tmp)"
read -ra started <"/proc/$tool/task/$tool/children" || [[ ${started[*]} ]] # it has no newline
children+=("${started[@]}") # what it runs, too
kill -9 "$tool"
wait "$tool" && die "it was not killed"
mkdir -m 700 tmp/edenscope-empty1 tmp/edenscope-inuse1 tmp/edenscope-other1 tmp/edenscope-other2 tmp/edenscope-longer12
echo kept >tmp/edenscope-other1/eden.data
cp plain.data tmp/edenscope-other2/eden.data
echo kept >tmp/edenscope-other2/kept
exec 9<tmp/edenscope-inuse1
flock -n 9
is_swept() {
    no_heap
    [[ $(echo tmp/*) == "tmp/edenscope-inuse1 tmp/edenscope-longer12 tmp/edenscope-other1 tmp/edenscope-other2" ]]
}
until_true "leftovers are swept, and nothing else" is_swept
[[ $(echo tmp/*/*) == "tmp/edenscope-other1/eden.data tmp/edenscope-other2/eden.data tmp/edenscope-other2/kept" ]] ||
    die "what is not its own is gone: $(ls -R tmp)"
exec 9<&-
rm -r tmp/*
TMPDIR=$folder/nowhere expect_status 1 "$scope" tune -- true
grep -q 'set TMPDIR' err || die "the missing folder is not reported: $(cat err)"
# Nor one in which another user can replace our folder.
mkdir open && chmod 777 open
TMPDIR=$folder/open expect_status 1 "$scope" tune -- true
grep -q 'open: other users can change files there' err || die "a folder open to all is used: $(cat err)"
if [[ $(id -u) == 0 ]]; then
    mkdir -p others/mine && chown 65534 others
    for place in others others/mine; do
        TMPDIR=$folder/$place expect_status 1 "$scope" tune -- true
        grep -q "$place: other users can change" err || die "another user's folder is used: $(cat err)"
    done
fi
chmod 1777 open
TMPDIR=$folder/open no_heap
expect_status 3 "$scope" tune -- sh -c "'$frame' data.csv >/dev/null; exit 3"

# The page has every key.
# shellcheck disable=SC2016
sed -n '/^| key | pattern/,/^$/p' "$page" | grep -oE '^\| `[a-z.-]+`' | tr -d '|` ' | sort >documented
grep -ohE '"[a-z]+(\.[a-z-]+)?", "' "$OLDPWD"/bpf/advise/rules/rules.c | cut -d'"' -f2 | sort | diff documented - ||
    die "docs/edenscope.md has other keys than the rules"
echo "tune names what is wrong, and the runtime takes its options"
