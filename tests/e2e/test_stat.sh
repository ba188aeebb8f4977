#!/usr/bin/env bash
# edenscope stat against the heaps' own counters (EDEN_STATS): every figure of every heap must be equal, exactly, from the
# first instruction on, attached late, and by either way of attaching; with a probe left out, it must not be equal. Also
# made-up events in great number, exit statuses, and that a command outlives the tool.
# shellcheck source=tests/e2e/common.sh
. "$(dirname "$0")/common.sh"

gun=$build/tests/probe_gun

need_edenscope

# From the first instruction on.
attached_first() { EDEN_STATS=$folder/stats$1 "$scope" stat --json -o "$folder/seen$1" -- "$exercise" 5 >"$folder/out"; }
for way in "" NO_MULTI=1; do
    switched "$way" attached_first "$way"
    grep -q '^done$' "$folder/out" || die "the command's output is not its own"
    compare "$folder/stats$way" "$folder/seen$way" >"$folder/count" || die "attached first $way"
    echo "attached first $way: $(cat "$folder/count") figures equal"
done

# The same figures must differ when a probe that reports them is left out.
for probe in heap__create heap__destroy param__set scavenge__start scavenge__done full__start full__done mark__done \
    sweep__done compact__done alloc__large alloc__failed segment__map segment__unmap mourned \
    policy__decide; do
    rm -f "$folder/stats"
    EDEN_STATS=$folder/stats EDENSCOPE_WITHOUT=$probe \
        "$build/tests/edenscope" stat --events-only --json -o "$folder/seen" -- "$exercise" \
        >/dev/null 2>&1
    if compare "$folder/stats" "$folder/seen" >/dev/null 2>&1; then
        die "without $probe nothing differs"
    fi
done
echo "each probe left out is noticed"

# Attached late: to heaps at rest, and in the middle of their work.
mkfifo "$folder/go"
rm -f "$folder/out"
EDEN_STATS=$folder/late "$exercise" --wait 5 <"$folder/go" >"$folder/out" &
target=$!
exec 7>"$folder/go"
until_true "the program is ready" grep -q ready "$folder/out"
"$scope" list --json | grep_all -q "\"pid\":$target," || die "list does not show the process"
rm -f "$folder/err"
"$scope" stat -v --json -o "$folder/seen" -p "$target" 2>"$folder/err" &
tool=$!
until_true "attached" grep -q 'attached in' "$folder/err"
echo go >&7
exec 7>&-
wait "$target" && wait "$tool" || die "attached late to heaps at rest: it failed"
compare "$folder/late" "$folder/seen" >"$folder/count" || die "attached late to heaps at rest"
! grep -q 'Ctrl-C' "$folder/err" || die "where there is no terminal, Ctrl-C is named"
echo "attached late, heaps at rest: $(cat "$folder/count") figures equal"

EDEN_LOG=$folder/middle.log EDEN_STATS=$folder/middle "$exercise" 200 >/dev/null &
target=$!
until_true "the program works" test -s "$folder/middle.log"
"$scope" stat --json -o "$folder/seen" -p "$target" || die "attached in the middle: it failed"
wait "$target"
compare "$folder/middle" "$folder/seen" >"$folder/count" || die "attached in the middle"
echo "attached in the middle: $(cat "$folder/count") figures equal"

# On a terminal, what waits for Ctrl-C says so. The program is stopped after its first pauses, so none is observed.
EDEN_LOG=$folder/paused.log "$exercise" 100000 >/dev/null &
target=$!
until_true "the program works" test -s "$folder/paused.log"
kill -STOP "$target"
cat >"$folder/terminal.py" <<'PYTHON'
# terminal.py COMMAND...: runs it on a terminal, presses Ctrl-C when it waits for that, and prints what it printed.
import os, pty, signal, sys
child, terminal = pty.fork()
if child == 0:
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    os.execv(sys.argv[1], sys.argv[1:])
printed, pressed = b"", False
while True:
    try:
        printed += os.read(terminal, 4096)
    except OSError:  # the other end is closed
        break
    if b"Ctrl-C ends and reports" in printed and not pressed:
        pressed = os.write(terminal, b"\3") == 1
sys.stdout.buffer.write(printed.replace(b"\r", b""))
sys.exit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
PYTHON
for command in "stat -p $target" "record -o $folder/terminal.data -p $target" "lifetimes -p $target"; do
    # shellcheck disable=SC2086 # words
    timeout 60 python3 "$folder/terminal.py" "$(command -v "$scope")" $command >"$folder/out" ||
        die "$command on a terminal: $(cat "$folder/out")"
    grep -qx "edenscope: observing process $target; Ctrl-C ends and reports" "$folder/out" ||
        die "$command does not say how it ends: $(cat "$folder/out")"
    [[ $command != stat* ]] || grep_all -Eq 'max_pause_ns +#  before attach$' "$folder/out" ||
        die "a pause before attach is not marked: $(cat "$folder/out")"
done
timeout 60 python3 "$folder/terminal.py" "$(command -v "$scope")" stat -p "$target" 0.1 1 >"$folder/out" ||
    die "stat by interval on a terminal: $(cat "$folder/out")"
! grep -q 'Ctrl-C' "$folder/out" || die "stat by interval names Ctrl-C"
kill -KILL "$target"
wait "$target" 2>/dev/null || true
echo "on a terminal, Ctrl-C is named"

# Made-up events, many.
"$scope" stat --json -o "$folder/seen" -- "$gun" heap__create:0x1000,7,demo \
    100000xscavenge__start:0x1000,1,0,0,0,0,0,3,4,5,6 100000xscavenge__done:0x1000,1,250,64,0,8,2 \
    heap__destroy:0x1000,7,1,1,1,1 heap__create:0x1000,8,again alloc__large:0x1000,0,0,99
python3 - "$folder/seen" <<'PYTHON' || die "made-up events"
import json, sys
seen = json.load(open(sys.argv[1]))
assert seen["lost"] == 0, seen["lost"]
first, again = seen["processes"][0]["heaps"]
wanted = {"heap": 7, "name": "demo", "scavenges": 100000, "scavenge_ns": 25000000, "allocated_bytes": 300001,
          "remembered": 400001, "forgotten": 500001, "tenured_objects": 800001, "survived_bytes": 7200000,
          "max_pause_ns": 250, "complete": True, "late": False, "eden_size": None}
for name, value in wanted.items():
    assert first[name] == value, (name, first[name], value)
assert first["phases"]["scavenge"]["p99_ns"] == 250
assert (again["heap"], again["name"], again["large_bytes"], again["complete"]) == (8, "again", 99, False)
PYTHON
echo "made-up events are counted exactly"

# The text has no blanks at the ends of lines, and of a heap without collections no table of phases.
"$scope" stat -- "$gun" heap__create:0x1000,7,demo alloc__large:0x1000,0,0,99 >"$folder/out" 2>"$folder/text"
grep -q " large_bytes$" "$folder/text" || die "no figures: $(cat "$folder/text")"
! grep -nE ' $|Overhead' "$folder/text" || die "blanks at the end of lines, or a table without rows"
"$exercise" >"$folder/plain"
"$scope" stat -- "$exercise" >"$folder/out" 2>"$folder/text"
diff "$folder/plain" "$folder/out" || die "standard output has more than the command's"
grep -q Overhead "$folder/text" || die "no phases: $(cat "$folder/text")"
! grep -n ' $' "$folder/text" || die "blanks at the end of lines"

# Of a command that runs one process after another, the table says which time it divides by; JSON has the same.
"$scope" stat -o "$folder/text" -- sh -c "$exercise 2; sleep 0.2; $exercise 2" >"$folder/out"
wall=$(sed -nE 's/^  ([0-9.]+ [mun]?s) observed, 0 events lost$/\1/p' "$folder/text")
[[ $(grep -cE "gc_ns .*#  [0-9.]+% of the $wall observed\$" "$folder/text") -ge 2 ]] ||
    die "the share does not say of which time: $(grep -E 'gc_ns|lost' "$folder/text")"
[[ $(grep -cE "allocated_bytes .*/s over the $wall observed\$" "$folder/text") -ge 2 ]] ||
    die "the rate does not say over which time: $(grep allocated_bytes "$folder/text")"
grep -q "^  Shares and rates are of the whole $wall, also" "$folder/text" || die "the table does not say its time"
echo "shares and rates name their time"

# Of a command without heaps, that comes first.
"$scope" stat -- true >"$folder/text" 2>&1
head -n 1 "$folder/text" | grep -q '^edenscope: no heap was created' || die "what matters is not first: $(cat "$folder/text")"
[[ $(grep -c 'no heap' "$folder/text") == 1 ]] || die "it is said twice: $(cat "$folder/text")"

# Statuses, as a shell gives them.
expect_status 7 "$scope" stat -- sh -c 'exit 7'
expect_status 137 "$scope" stat -- sh -c 'kill -9 $$'
expect_status 127 "$scope" stat -- "$folder/nonesuch"
expect_status 126 "$scope" stat -- "$folder/seen"
expect_status 1 "$scope" stat -p $$
expect_status 1 "$scope" stat
expect_status 1 "$scope" nonesuch
grep -q nonesuch "$folder/err" || die "an unknown command is not named"
expect_status 1 "$scope" stat --nonesuch
grep -q nonesuch "$folder/err" || die "an unknown option is not named"

# Without rights: which is missing.
if command -v setpriv >/dev/null && [[ $(id -u) == 0 ]]; then
    expect_status 2 setpriv --bounding-set=-bpf,-sys_admin --inh-caps=-all "$scope" stat -- true
    grep -q CAP_BPF "$folder/err" || die "the missing right is not named"
fi

# A reader that has seen enough ends the observation of a process, and no command: neither is a failure.
# unread STATUS ARGUMENT...: `stat` of these, by interval, for a reader of one line.
mkfifo "$folder/unread" "$folder/still"
unread() {
    local reader
    head -n 1 <"$folder/unread" >"$folder/line" &
    reader=$!
    exec 9>"$folder/unread"
    expect_status "$1" timeout 60 sh -c '"$@" >&9' sh "$scope" stat "${@:2}"
    exec 9>&-
    wait "$reader"
    [[ -s $folder/line ]] || die "stat ${*:2} for a reader of one line: it gets none"
}
exec 8<>"$folder/still"
"$exercise" --wait 5 <&8 >"$folder/ready" &
target=$!
until_true "the program is ready" grep -q ready "$folder/ready"
unread 0 -p "$target" 0.05
unread 0 -p "$target" 0.05 -o "$folder/unread"
kill "$target"
wait "$target" 2>/dev/null || true
exec 8>&-
unread 7 0.05 -- sh -c "\"$exercise\"; sleep 0.5; echo done >$folder/done; exit 7"
[[ -s $folder/done ]] || die "a reader that leaves ends the command"

# The tool dies, the command goes on.
mkfifo "$folder/end"
"$scope" stat -- sh -c "echo started >$folder/started; read -r end <$folder/end; echo alive >$folder/alive" \
    >/dev/null 2>&1 &
tool=$!
until_true "the command has started" test -s "$folder/started"
kill -9 "$tool"
wait "$tool" 2>/dev/null || true
# Opened for both directions: a write does not wait when no reader is left.
exec 8<>"$folder/end"
echo end >&8
until_true "the command outlives the tool" test -s "$folder/alive"
exec 8>&-
echo "statuses are right, and a command outlives the tool"

# The tool is stopped while its command ends: the observed time ends with the command, as the kernel reported it.
cat >"$folder/stops" <<'COMMAND'
#!/bin/sh
# stops TOOL FILE: stops the tool; when this process has ended, writes the time, waits, and has the tool go on.
command=$$
setsid sh -c '
    until grep -q "^State:.*T" /proc/'"$1"'/status && ! grep -q "^State:[^Z]*$" /proc/'"$command"'/status; do sleep 0.01; done
    cut -d" " -f1 /proc/uptime >'"$2"'
    sleep 2
    kill -CONT '"$1"'' >/dev/null 2>&1 &
kill -STOP "$1"
COMMAND
before=$(cut -d' ' -f1 /proc/uptime)
expect_status 0 "$scope" stat --json -o "$folder/stops.json" -- sh -c "exec sh $folder/stops \$PPID $folder/stops.end"
jq -e --argjson before "$before" --argjson until "$(cat "$folder/stops.end")" \
    '.wall_ns / 1e9 < $until - $before + 0.02' "$folder/stops.json" >"$folder/out" ||
    die "the observed time goes on after the command's end: $(jq .wall_ns "$folder/stops.json"), $before to $(cat "$folder/stops.end")"
echo "the observed time ends with the command"
