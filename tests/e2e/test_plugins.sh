#!/usr/bin/env bash
# Heaps with one address and one number in a process: of a library that holds libeden and is unloaded and loaded again,
# of two copies of it, and of the next program after an exec. Each is one heap, with the figures of EDEN_STATS, in every
# command, live and recorded.
# shellcheck source=tests/e2e/common.sh
. "$(dirname "$0")/common.sh"

need_edenscope
enter_folder
plugins=$build/tests/plugins
cp "$build/tests/plugin.so" one.so
cp "$build/tests/plugin.so" two.so

# compare STATS JSON NUMBER: as many heaps, each with every figure of its line of EDEN_STATS, and a serial of its own. Heaps
# are paired by name.
compare() {
    python3 - "$@" <<'PYTHON' || die "$1 and $2"
import json, sys
own = {heap["name"]: heap for heap in map(json.loads, open(sys.argv[1]))}
seen = json.load(open(sys.argv[2]))
heaps = [dict(heap, pid=process["pid"]) for process in seen["processes"] for heap in process["heaps"]]
assert seen["lost"] == 0 and seen["missed_children"] == 0, "something is lost"
assert len(heaps) == len(own) == int(sys.argv[3]), f"{len(heaps)} heaps, by their own count {len(own)}"
assert len({heap["serial"] for heap in heaps}) == len(heaps), "a serial comes twice"
for heap in heaps:
    for name, value in own[heap["name"]].items():
        assert name == "parameters" or heap[name] == value, f"heap {heap['name']} {name}: {value} by its own count, seen {heap[name]}"
    phases = heap["phases"]
    assert not heap["late"] or heap["complete"], f"heap {heap['name']}: its end is missing"
    if not heap["late"]:
        calls = phases["scavenge"]["calls"], phases["full"]["calls"] if "full" in phases else 0
        assert calls == (heap["scavenges"], heap["full_collections"]), f"heap {heap['name']}: {calls} calls of phases"
PYTHON
}

# The numbers of heaps and of scavenges are different in each; three have a full collection.
again=() both=(load ./one.so load ./two.so)
for i in 0 1 2 3; do
    heap=(begin "h$i" work $((20000 * (4 - i) + (i == 3))) end)
    again+=(load ./one.so "${heap[@]}" close)
    [[ $i == 2 ]] && both+=(close)
    both+=("${heap[@]}")
done

# ---- one after the other, and two libraries at a time ----

for way in again both; do
    declare -n steps=$way
    EDEN_STATS=$way.stats expect_status 0 "$scope" stat --json -o "$way.json" -- "$plugins" "${steps[@]}"
    compare "$way.stats" "$way.json" 4
    jq -e '[.processes[].heaps[].heap] | unique | length < 4' "$way.json" >out || die "$way: the numbers differ"
    EDEN_OPTIONS=policy=fixed EDEN_STATS=$way.recorded expect_status 0 "$scope" record --lifetimes=details --sampling all -o "$way.data" -- \
        "$plugins" "${steps[@]}"
    "$scope" report --json -i "$way.data" >"$way.json"
    compare "$way.recorded" "$way.json" 4
    # Each collection is a row, and each heap's objects are its own.
    rows=$(sqlite3 "$way.data" "SELECT count(*) FROM collection")
    wanted=$(jq '[.processes[].heaps[] | .scavenges + .full_collections] | add' "$way.json")
    [[ $rows == "$wanted" ]] || die "$way: $rows collections recorded, not $wanted"
    [[ $(sqlite3 "$way.data" "SELECT count(DISTINCT address) FROM heap") == 1 ]] ||
        echo "$way: the addresses differ, which tests less"
    "$scope" lifetimes --json -i "$way.data" >recorded.json
    expect_status 0 "$scope" lifetimes --json --sampling all -o live.json -- "$plugins" "${steps[@]}"
    expect_status 0 "$scope" lifetimes --json --details --sampling all -o details.json -- "$plugins" "${steps[@]}"
    for file in recorded live details; do
        jq -r '(.heaps | map({key: "\(.serial)", value: .name}) | from_entries) as $names |
            .classes[] | "\($names["\(.serial)"]) \(.name) \(.births) \(.deaths + .censored)"' $file.json | sort >out
        for i in 0 1 2 3; do
            echo "h$i Node $(((20000 * (4 - i) + (i == 3) + 99) / 100 * 100))" | sed 's/\([0-9]*\)$/\1 \1/'
        done | diff - out >differ || die "$way, lifetimes, $file: $(cat differ)"
    done
    # Their names differ in text, and each can be chosen.
    "$scope" report -i "$way.data" >out
    for i in 0 1 2 3; do
        number=$(awk -v name="h$i" '$5 == name { print $3 }' out)
        [[ $number == [12]#* ]] || die "$way: the heap is shown as '$number': $(cat out)"
        "$scope" report -i "$way.data" --heap "$number" | grep_all -q " heap $number 'h$i'$" || die "$way: --heap $number"
        "$scope" lifetimes -i "$way.data" --heap "$number" | grep_all -q " heap $number 'h$i'$" || die "$way: lifetimes"
        "$scope" simulate -i "$way.data" --heap "$number" | grep_all -q " heap $number 'h$i'" || die "$way: simulate"
    done
    "$scope" tune --json -i "$way.data" >out
    jq -e '[.accounts[] | [.serial, .max_pause_ns]] | unique | length == 4' out >/dev/null || die "$way: tune: $(cat out)"
    "$scope" script --json -i "$way.data" --probe scavenge__done >out
    [[ $(jq -r .serial out | sort | uniq -c | sort -rn | awk '{ print $1 }' | xargs) == \
        $(jq -r '[.processes[].heaps[].scavenges] | sort | reverse | map(tostring) | join(" ")' "$way.json") ]] ||
        die "$way: script: $(head -n 3 out)"
    echo "$way: four heaps with one address are four, live and recorded"
done

# ---- by intervals: what a later heap does is not taken for what an earlier one has done ----

mkfifo go
rm -f ready
"$plugins" load ./one.so wait begin h0 work 80000 end close load ./one.so wait begin h1 work 60000 end wait >ready <go &
target=$!
exec 7>go
until_true "the program is ready" grep -q ready ready
rm -f err
"$scope" stat -v -p "$target" 0.5 >lines 2>err &
tool=$!
has_lines() { [[ $(awk '$4 > 0' lines | grep -c "$target") == "$1" ]]; }
until_true "attached" grep -q 'attached in' err
echo >&7
until_true "the first heap is shown" has_lines 1
echo >&7
until_true "the second heap is shown" has_lines 2
echo >&7
wait "$target" "$tool" || die "by intervals: $(cat err)"
exec 7>&-
awk -v pid="$target" '$2 == pid && $4 > 0 { print $3, $4 }' lines | sed 's/#[0-9]*//' >out
[[ $(xargs <out) == "1 30 1 22" ]] || die "by intervals: $(cat lines)"
echo "by intervals: two heaps with one address are two"

# ---- attached late: heaps that are known by their headers, at rest and not ----

has_waited() { [[ $(wc -l <ready) == "$1" ]]; }
# The first ends before the second library is loaded, whose heap is there before the tool looks at it.
for command in stat record; do
    rm -f late.stats
        rm -f ready
    EDEN_STATS=late.stats "$plugins" load ./one.so begin h0 work 80000 wait wait work 20000 end close \
        load ./one.so begin h1 work 60001 end close load ./two.so begin h2 work 20000 wait work 20000 end close >ready <go &
    target=$!
    exec 7>go
    until_true "the program is ready" grep -q ready ready
    : >err
    case $command in
    stat) "$scope" stat -v --json -o late.json -p "$target" 2>err & ;;
    record) "$scope" record -v -o late.data -p "$target" 2>err & ;;
    esac
    tool=$!
    until_true "attached" grep -q 'attached in' err
    echo >&7
    until_true "the program is at rest" has_waited 2
    echo >&7
    until_true "the second library is loaded" has_waited 3
    until_true "attached to it" grep -q 'probes of .*two.so' err
    sleep 0.5 # its header is read
    echo >&7
    exec 7>&-
    wait "$target" "$tool" || die "attached late: $(cat err)"
    [[ $command == stat ]] || "$scope" report --json -i late.data >late.json
    compare late.stats late.json 3
done
echo "attached late: three heaps with one address are three"

# ---- another program ----

fixed() { setarch -R "$@"; }
fixed true 2>/dev/null || fixed() { "$@"; }
EDEN_STATS=exec.stats expect_status 0 fixed "$scope" stat --json -o exec.json -- "$plugins" load ./one.so begin before \
    work 80000 exec load ./one.so begin after work 20001 end
jq -e '[.processes[].heaps[] | [.name, .complete, .ended_by_exec, .scavenges]] |
    length == 2 and (sort == [["after", true, false, 7], ["before", false, true, 30]])' exec.json >out ||
    die "another program: $(jq -c '[.processes[].heaps[] | [.name, .complete, .ended_by_exec, .scavenges]]' exec.json)"
echo "a heap of the program before is kept"
