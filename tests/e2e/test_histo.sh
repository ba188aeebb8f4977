#!/usr/bin/env bash
# histo counts what lives: by class and site the bytes that old space and the survivors have after each full collection,
# of a process that runs at the collection that it asks for. remembered shows what report does.
# shellcheck source=tests/e2e/common.sh
. "$(dirname "$0")/common.sh"
need_edenscope
enter_folder

# ---- each census is whole, and adds up to what the heap has in use

expect_status 0 "$scope" record --objects -o all.data -- "$exercise" 3
sqlite3 -separator ' ' all.data "
    SELECT h.name, count(*), sum(c.bytes = f.old_used + s.survivor_used - f.young_freed), sum(c.rows = max(c.classes, 1))
    FROM full__done AS f JOIN heap AS h USING (serial)
    JOIN scavenge__done AS s ON s.serial = f.serial AND s.seq = f.seq - 1
    LEFT JOIN (SELECT serial, seq, sum(bytes) AS bytes, count(*) AS rows, max(classes) AS classes
               FROM census GROUP BY serial, seq) AS c ON c.serial = f.serial AND c.seq = f.seq
    GROUP BY h.name" >sums
(($(wc -l <sums) >= 6)) || die "few heaps: $(cat sums)"
while read -r name collections equal whole; do
    [[ $whole == "$collections" ]] || die "$name: $whole of $collections full collections have a whole census"
    # Of the heap that runs out of memory, what was not promoted stays in eden.
    [[ $name == limit || $equal == "$collections" ]] || die "$name: $equal of $collections censuses add up"
done <sums
expect_status 0 "$scope" report --view histo --json -i all.data

# ---- a command: the last census of each heap

expect_status 0 "$scope" histo --json -o histo.json -- "$exercise" 3
cat >check.py <<'PYTHON'
import json, sys
seen = json.load(open(sys.argv[1]))
assert seen["view"] == "histo" and seen["lost"] == 0
counted = [heap for heap in seen["heaps"] if heap["census"]]
assert counted, seen
for heap in counted:
    whole, = heap["census"]
    for kind in "objects", "bytes":
        assert sum(row[kind] for row in heap["classes"]) == whole[kind], heap
    sizes = [row["bytes"] for row in heap["classes"]]
    assert sizes == sorted(sizes, reverse=True)
    by_class = {row["name"]: row for row in heap["classes"]}
    for row in heap["sites"]:
        assert row["objects"] <= by_class[row["name"].rsplit(" of ", 1)[1]]["objects"], row
first = next(heap for heap in counted if heap["heap"] == 1)
nodes = {row["name"]: row for row in first["classes"]}["Node"]
assert nodes["mean_bytes"] == 24 and nodes["bytes"] == 24 * nodes["objects"], nodes
assert any(row["name"].endswith(" of Node") for row in first["sites"]), first["sites"]
PYTHON
python3 check.py histo.json || die "histo of a command"

# With pause_goal the dead that a collection keeps are counted: the text must not pass them off as alive.
many=("$build/workloads/micro" survivors --live 50000 --objects 2000000 --one-in 2)
EDEN_OPTIONS=pause_goal=0.2 expect_status 0 "$scope" histo -- "${many[@]}"
grep -q 'With pause_goal a count may include what has died' err || die "the dead count as alive: $(cat err)"

# ---- a process: asked for, it comes soon; the word that asks is 0 again, and the process lives

"$exercise" 300000 >/dev/null 2>&1 &
target=$!
program=$scope
expect_error 1 '--collect asks a process that runs' histo --collect -- true
until_true "the process has a heap" bash -c '"$1" list -p "$2" | grep -q ages' - "$scope" "$target"
expect_status 0 "$scope" histo --collect --json -p "$target" 60
python3 check.py out || die "histo of a process: $(cat err)"
kill -0 "$target" || die "the process has ended"

# One that does not collect is waited for, as a message says, and named.
kill -STOP "$target"
for options in "-p $target 2" "--collect -p $target 2" "--collect -p $target"; do
    # shellcheck disable=SC2086
    expect_status 1 timeout 600 "$scope" histo $options
    grep -q 'waiting for a full collection of each heap' err || die "histo $options does not say that it waits: $(cat err)"
    grep -q "heap [0-9]* of process $target is not counted: it had no full collection meanwhile" err ||
        die "histo $options does not name the heap: $(cat err)"
done
kill -CONT "$target"

# ---- the remembered set

expect_status 0 "$scope" remembered --json -p "$target" 0.5
jq -e '.view == "remembered" and (.heaps | length) > 1 and any(.heaps[]; .scavenges != [])' out >/dev/null ||
    die "remembered: $(head -c 300 out)"
kill "$target"

# ---- a program without a full collection

expect_status 1 "$scope" histo -- "$build/workloads/micro" survivors --objects 1000
grep -q 'nothing was counted: the program had no full collection' err || die "no full collection: $(cat err)"
echo "each census adds up"
