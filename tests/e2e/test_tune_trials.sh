#!/usr/bin/env bash
# edenscope tune --verify and --search: the counts and the form of their report, that trials are the command's own runs
# with the options merged in, that a program which prints something else is found, that nothing stays behind, and what is
# said of bad input.
# shellcheck disable=SC2016
# shellcheck source=tests/e2e/common.sh
. "$(dirname "$0")/common.sh"

small=("$build/workloads/honeyginger" --columns 10 --rows 10 --steps 20)
export TMPDIR=$folder/tmp
mkdir "$TMPDIR"

# check JSON-FILE EXPRESSION: of the object d, by Python.
check() {
    python3 -c 'import json, sys; d = json.load(open(sys.argv[1])); sys.exit(not eval(sys.argv[2]))' "$1" "$2" ||
        die "not so: $2: $(cat "$1")"
}

# ---- verify

# Each trial is a run of the command: one before the pairs, then alternating, with the options merged over the others.
cat >"$folder/logged" <<SCRIPT
#!/bin/sh
echo "\$EDEN_OPTIONS" >>"$folder/seen"
exec "\$@"
SCRIPT
chmod +x "$folder/logged"
expect_status 0 env EDEN_OPTIONS=eden_size=1M "$scope" tune --verify --pairs 2 --json --options eden_size=2M,full_gc_ratio=1 \
    -- "$folder/logged" "${small[@]}"
default=eden_size=1M tuned=eden_size=1M,eden_size=2M,full_gc_ratio=1
printf '%s\n' $default $default $tuned $tuned $default >"$folder/wanted"
cmp "$folder/seen" "$folder/wanted" || die "runs were made with other options: $(cat "$folder/seen")"
cp "$folder/out" "$folder/verify"
check "$folder/verify" 'd["pairs"] == 2 and d["options"] == "eden_size=2M,full_gc_ratio=1" and d["interrupted"] is False'
check "$folder/verify" 'd["same_output"] is True and d["seen"]["time_s"] is None'
check "$folder/verify" 'all(set(d[s]) >= {"time_s", "cpu_s", "gc_s", "gc_share", "max_pause_s", "memory_bytes"}
    for s in ("default", "tuned", "ratio"))'
check "$folder/verify" 'd["tuned"]["scavenges"] < d["default"]["scavenges"] and d["default"]["heaps"] == 1'
check "$folder/verify" 'all(v["min"] <= v["median"] <= v["max"] for v in d["ratio"].values() if v["max"] is not None)'
[[ $(grep -c 'pair . of 2' "$folder/err") == 2 ]] || die "no progress: $(cat "$folder/err")"

# The same as text, with enough pairs to say something.
expect_status 0 "$scope" tune --verify --options eden_size=2M -- "${small[@]}"
grep -q '^5 pairs of runs, with current options and with EDEN_OPTIONS=eden_size=2M$' "$folder/out" || die "$(cat "$folder/out")"
grep -q '^The output of the command is the same.$' "$folder/out" || die "$(cat "$folder/out")"
grep -Eq '^Total time: (no )?gain seen' "$folder/out" || die "$(cat "$folder/out")"

! grep -q 'not in force' "$folder/out" || die "options that arrived are missed: $(cat "$folder/out")"

# Options that do not arrive are named: none does, or one of them.
expect_status 0 "$scope" tune --verify --pairs 1 --options eden_size=2M,tenure_fill=0.6 -- env EDEN_OPTIONS=tenure_fill=0.6 "${small[@]}"
grep -q '^eden_size was not in force in 1 of 1 heap: EDEN_OPTIONS did not reach it' "$folder/out" || die "$(cat "$folder/out")"
! grep -q '^tenure_fill was not' "$folder/out" || die "$(cat "$folder/out")"
expect_status 0 "$scope" tune --verify --pairs 1 --json --options eden_size=2M,tenure_fill=0.6 -- \
    sh -c '"$@"; EDEN_OPTIONS= exec "$@"' sh "${small[@]}"
check "$folder/out" 'd["not_in_force"] == ["eden_size", "tenure_fill"]'

# A program that prints something else with the options, and one that never prints the same.
expect_status 0 "$scope" tune --verify --pairs 1 --json --options eden_size=2M -- sh -c '"$@"; echo "$EDEN_OPTIONS"' sh "${small[@]}"
check "$folder/out" 'd["same_output"] is False'
expect_status 0 "$scope" tune --verify --pairs 1 --json --options eden_size=2M -- sh -c '"$@"; date +%N; echo $$' sh "${small[@]}"
check "$folder/out" 'd["same_output"] is None'

# Several heaps and processes are added up; what still runs at the end is ended, and said.
expect_status 0 "$scope" tune --verify --pairs 1 --json --options eden_size=2M -- sh -c '"$@" & "$@"; wait' sh "${small[@]}"
check "$folder/out" 'd["default"]["heaps"] == 2 and d["default"]["processes"] == 2'
cp "$(command -v sleep)" "$folder/left-behind"
expect_status 0 "$scope" tune --verify --pairs 1 --options eden_size=2M -- \
    sh -c 'setsid "$0" 1000 & "$@"' "$folder/left-behind" "${small[@]}"
grep -q '^1 of its processes were still running' "$folder/out" || die "nothing is said of it: $(cat "$folder/out")"

# Input from a file is read by every run; an output file is replaced.
echo "something longer than what comes" >"$folder/input"
expect_status 0 "$scope" tune --verify --pairs 1 --json --options eden_size=2M -o "$folder/input.json" -- \
    sh -c 'wc -c; exec "$@"' sh "${small[@]}" <"$folder/input"
check "$folder/input.json" 'd["same_output"] is True'

# ---- search

for options in "" eden_size=3M,large_object=1M; do
    expect_status 0 "$scope" tune --search --trials 14 --json --options "${options:-eden_size=1M}" -- "${small[@]}"
    check "$folder/out" '3 <= d["runs"] <= 14 and len(d["points"]) >= 3 and d["interrupted"] is False'
    check "$folder/out" 'sum(p["runs"] for p in d["points"]) == d["runs"] and d["default"]["options"] == ""'
    check "$folder/out" '[p["memory_bytes"] for p in d["front"]] == sorted(p["memory_bytes"] for p in d["front"])'
    check "$folder/out" '[-p["gc_s"] for p in d["front"]] == sorted(-p["gc_s"] for p in d["front"])'
    check "$folder/out" 'd["options"] == d["recommended"]["options"] and isinstance(d["findings"], list)'
    check "$folder/out" 'd["recommended"]["memory_bytes"] <= 2 * d["default"]["memory_bytes"]'
    check "$folder/out" 'd["least_within"]["memory_bytes"] <= 2 * d["default"]["memory_bytes"]'
    check "$folder/out" "'$options' in [p['options'] for p in d['points']]"
    # Every setting that was tried is one that the runtime takes. (On a busy machine a run may take too long.)
    failed=$(jq '[.points[] | select(.failed)] | length' "$folder/out")
    [[ $(grep -c 'stopped: it takes too long' "$folder/err") == "$failed" ]] || die "settings fail: $(cat "$folder/err")"
done
expect_status 0 "$scope" tune --search --trials 6 --memory none --emit options --options eden_size=4M -- "${small[@]}"
grep -Eq '^EDEN_OPTIONS=[a-z0-9_.=,A-Z]*$' "$folder/out" || die "$(cat "$folder/out")"
expect_status 0 env "$(cat "$folder/out")" "${small[@]}"
expect_status 0 "$scope" tune --search --budget 2 --options eden_size=4M -- "${small[@]}"
grep -Eq '^[0-9]+ runs in [0-9.]+ s' "$folder/out" || die "$(cat "$folder/out")"

# Settings that the command does not survive are no answer.
expect_status 0 "$scope" tune --search --trials 8 --json --options eden_size=4M -- \
    sh -c 'case $EDEN_OPTIONS in *=*) exit 3;; esac; exec "$@"' sh "${small[@]}"
check "$folder/out" 'd["options"] == "" and all(p["failed"] == (p["options"] != "") for p in d["points"])'

# Ended by a signal: the report is of what was measured, and the trial goes with it. (A shell's background job ignores ^C.)
cp "$build/workloads/honeyginger" "$folder/honeyginger-long"
    rm -f "$folder/progress"
"$scope" tune --search --budget 100 --json --options eden_size=4M -o "$folder/ended" -- \
    "$folder/honeyginger-long" --steps 200 2>"$folder/progress" &
tool=$!
until_true "a second run" grep -q 'run 2,' "$folder/progress"
kill -TERM "$tool"
status=0
wait "$tool" || status=$?
[[ $status == 143 ]] || die "ended by SIGTERM it gave status $status: $(cat "$folder/progress")"
check "$folder/ended" 'd["interrupted"] is True and d["runs"] >= 2 and d["default"]["gc_s"] >= 0'

# ---- whose processes are whose

# What the shell, whose place it took, has started is not edenscope's to end: a process, and the reader of its output.
for trials in "--verify --pairs 1" "--search --trials 3"; do
    # shellcheck disable=SC2086
    expect_status 0 bash -c '"$1" 1000 & echo $! >"$2"; exec > >(sleep 0.2; cat >"$3"); shift 3; exec "$@"' bash \
        "$folder/left-behind" "$folder/pid" "$folder/log" "$scope" tune $trials --options eden_size=2M -- "${small[@]}"
    children+=("$(cat "$folder/pid")")
    [[ $(readlink "/proc/$(cat "$folder/pid")/exe") == "$folder/left-behind" ]] || die "tune $trials ended the shell's process"
    until_true "the report in the log" grep -q 'runs' "$folder/log"
    kill "$(cat "$folder/pid")"
done

# Killed, it takes the trial with it, and what has left the trial's group.
"$scope" tune --verify --options eden_size=2M -- sh -c 'setsid "$0" 1000 & echo $! >"$1"; wait' \
    "$folder/left-behind" "$folder/pid-of-trial" 2>"$folder/progress" &
tool=$!
until_true "the trial's process" test -s "$folder/pid-of-trial"
kill -KILL "$tool"
wait "$tool" || true
has_ended() { ! kill -0 "$(cat "$folder/pid-of-trial")" 2>/dev/null; }
until_true "the end of the trial" has_ended

# ---- errors: what, and what to do

# refused PATTERN OPTION...
refused() {
    local pattern=$1
    shift
    expect_status 1 "$scope" tune "$@"
    grep -Eq -- "$pattern" "$folder/err" || die "tune $*: $(cat "$folder/err")"
    [[ ! -s $folder/out ]] || die "tune $* printed: $(cat "$folder/out")"
}

refused 'true.* reported no Eden heap: it must use libeden' --verify --options eden_size=2M -- true
refused 'ended with status 7; its last output: oh no' --verify --options eden_size=2M -- sh -c 'echo oh no >&2; exit 7'
refused 'killed by signal 9' --search --options eden_size=2M -- sh -c 'kill -9 $$'
for trials in --verify --search; do # before anything runs
    refused '^edenscope: --options edn_size: unknown parameter' $trials --options edn_size=2M -- "$folder/nothing"
    refused '^edenscope: --options eden_size=x: .*not a value' $trials --options full_gc_ratio=1,eden_size=x -- "$folder/nothing"
    refused '^edenscope: --options eden_size: give name=value' $trials --options eden_size -- "$folder/nothing"
    refused '^edenscope: --options: give name=value' $trials --options , -- "$folder/nothing"
done
refused 'with EDEN_OPTIONS=eden_size=16M,max_heap=1M ended' --verify --options eden_size=16M,max_heap=1M -- "${small[@]}"
refused 'did not end within the budget of 0.2 s.*--budget' --search --budget 0.2 --options eden_size=2M -- "$folder/left-behind" 999
for budget in 0 -1 x 1e9 nan ""; do
    refused 'not a time in seconds' --search --budget "$budget" -- true
done
refused 'not a number of pairs' --verify --pairs 0 -- true
refused 'not a number of pairs' --verify --pairs 101 -- true
refused 'not a number of runs' --search --trials 2 -- true
refused 'not a memory factor' --search --memory 0.5 -- true
refused 'give either --verify or --search' --verify --search -- true
refused '--pairs needs --verify' --search --pairs 2 -- true
refused '--budget, --trials and --memory need --search' --verify --budget 2 -- true
refused '--options needs' --options eden_size=2M -- true
refused '--verify needs a program' --verify --options eden_size=2M
refused 'cannot be combined with --verify' --verify --emit options -- true
expect_status 127 "$scope" tune --verify --options eden_size=2M -- "$folder/nothing"
expect_status 126 "$scope" tune --search --options eden_size=2M -- "$folder/input"

# Nothing of all this is left, neither files nor processes.
[[ -z $(ls "$TMPDIR") ]] || die "files are left: $(ls "$TMPDIR")"
for exe in /proc/[0-9]*/exe; do
    case $(readlink "$exe" 2>/dev/null || true) in
    "$folder"/*) die "$exe still runs: $(readlink "$exe")" ;;
    esac
done

# With the rules' own proposal, where this machine lets record.
if "$scope" stat -- true >/dev/null 2>&1; then
    expect_status 0 "$scope" tune --verify --pairs 1 --json -- "$build/workloads/honeyginger" --steps 20
    check "$folder/out" 'd["pairs"] == (1 if d["options"] else 0)'
fi
echo "trials are reported, and leave nothing"
