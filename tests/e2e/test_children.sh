#!/usr/bin/env bash
# Children of the observed process are observed from their first instruction, exactly; others that run the same program
# are not counted and do not sample; children that ended before they could be observed are counted, never passed over.
# shellcheck source=tests/e2e/common.sh
. "$(dirname "$0")/common.sh"

need_edenscope
libeden=$(readlink -f "$build/lib/libeden.so.1")
for options in "-o $folder/shared" "-Wl,-rpath,\$ORIGIN/../place -o $folder/origin"; do
    # shellcheck disable=SC2086
    gcc -O1 -D_GNU_SOURCE -I probes -I runtime/include $options tests/programs/children.c "$libeden"
done
enter_folder
program=$build/tests/children

# What the model says of each heap that was seen from its start to its end, as `children` prints it.
heaps() {
    jq -r '.processes[] | .pid as $pid | .heaps[] | select((.late | not) and .complete) |
        "\($pid) \(.scavenges) \(.allocated_bytes) \(.tenured_bytes)"' "$1" | sort
}

# ---- from the first instruction, exactly ----

expect_status 0 "$scope" stat --json -o stat.json -- sh -c 'i=0; while [ $i -lt 100 ]; do '"$program"' one; i=$((i + 1)); done'
sort out >own
[[ $(wc -l <own) == 100 ]] || die "the command did not run as it should: $(cat err)"
heaps stat.json | diff - own >differ || die "100 children of a shell: $(head -n 5 differ; cat err)"
jq -e '.lost == 0 and .missed_children == 0' stat.json >out || die "100 children of a shell: $(jq -c '[.lost, .missed_children]' stat.json)"
echo "100 children of a shell are observed exactly"

# A heap that a child has inherited: its figures go on from its parent's.
expect_status 0 "$scope" stat --json -o stat.json -- "$program" fork 20
sort out >own
jq -r '.processes[] | .pid as $pid | .heaps[] | "\($pid) \(.scavenges) \(.allocated_bytes) \(.tenured_bytes)"' stat.json |
    sort | diff - own >differ || die "children with their parent's heap: $(head -n 5 differ; cat err)"
echo "children that inherit a heap are observed exactly"

# Copies go on from the moment of the fork, whatever their parents do later: `own` has what each heap counted itself.
export EDEN_STATS=$folder/own
rm -f own
expect_status 0 "$scope" stat --json -o stat.json -- "$program" copies
! grep -q 'another address' err || echo "not tried: a copy where another heap has its address"
compare own stat.json >count || die "copies of a heap: $(cat count)"
rm -f own
expect_status 0 "$scope" record -o copies.data -- "$program" copies
"$scope" report --json -i copies.data >report.json
compare own report.json >count || die "copies of a heap, recorded: $(cat count)"
unset EDEN_STATS
# Of a copy that ends without a collection only what had happened by the last one before the fork is certain.
for file in stat.json report.json; do
    jq -e '[.processes[].heaps[] | select(.complete | not)] | length == 1 and all(.late and .window.scavenges == 0)' "$file" >out ||
        die "copies of a heap in $file: $(jq -c '[.processes[].heaps[] | [.scavenges, .complete, .late]]' "$file")"
done
# What was before a fork is counted once.
collected=$(sqlite3 copies.data "SELECT count(*) FROM scavenge__done")
"$scope" report -i copies.data >report
grep -q "^  scavenges .*; while recorded: $collected\$" report || die "$collected scavenges were recorded: $(grep scavenges report)"
"$scope" stat 0.02 -o lines -- "$program" copies >out
[[ $(awk '!/#/ { sum += $4 } END { print sum }' lines) == "$collected" ]] || die "lines have not $collected scavenges: $(cat lines)"
echo "copies of a heap are observed exactly, and what was before them once"

# ---- what is not known before it runs: seen, or counted ----

printf '#!/bin/sh\ni=0\nwhile [ $i -lt 50 ]; do %s one; i=$((i + 1)); done\n' "$program" >script
chmod +x script
# seen_or_counted FILE WORDS: each of 50 children is in the model, with a heap, or counted.
seen_or_counted() {
    local seen missed
    seen=$(jq '[.processes[] | select(.heaps | length > 0)] | length' "$1") # one that was attached to late may lack figures
    missed=$(jq .missed_children "$1")
    [[ $((seen + missed)) == 50 ]] || die "$2: $seen seen and $missed missed, of 50"
    heaps "$1" | sort - own | uniq -d | diff - <(heaps "$1") >differ || die "$2: $(head -n 5 differ)"
}
expect_status 0 "$scope" stat --json -o stat.json -- ./script
sort out >own
seen_or_counted stat.json "children of a script"
expect_status 0 "$scope" record -o script.data -- ./script
cp err said
sort out >own
missed=$(sqlite3 script.data "SELECT value FROM meta WHERE key = 'missed_children'")
"$scope" report -i script.data >report
if [[ $missed != 0 ]]; then
    grep -q "$missed process.* ended, .* before .* could be observed" said || die "record does not say that $missed were missed"
    grep -q "^# $missed process.* ended, .* before" report || die "report does not say that $missed were missed"
fi
# The loader is what the kernel executes: it says nothing of the program that it maps.
loader=$(readelf -lW "$program" | sed -nE 's/.*program interpreter: (.*)\]/\1/p')
printf '#!/bin/sh\ni=0\nwhile [ $i -lt 50 ]; do %s %s one; i=$((i + 1)); done\n' "$loader" "$program" >command
chmod +x command
expect_status 0 "$scope" stat --json -o stat.json -- ./command
sort out >own
seen_or_counted stat.json "children that the loader is executed for"
mkfifo go
exec 7<>go
: >ready
rm -f ready
"$program" spawn 50 <go >own 2>ready &
target=$!
until_true "the program is ready" grep -q ready ready
rm -f err
"$scope" stat -v --json -o stat.json -p "$target" 2>err &
tool=$!
until_true "attached" grep -q 'attached in' err
echo go >go
wait "$tool" || die "stat -p gives status $?: $(cat err)"
wait "$target"
sort own | grep -v "^$target " >sorted && mv sorted own
jq "del(.processes[] | select(.pid == $target))" stat.json >without.json
seen_or_counted without.json "children of a process"

# A child that shares its parent's memory, as after vfork(), is looked at; then it becomes another program.
copy_program "$program" another
for seconds in 0.5 2 8; do # nothing shows that the new program has been looked at, too
    : >ready
    rm -f err
    "$program" vfork ./another stay <go >own 2>ready &
    target=$!
    until_true "the program is ready" grep -q ready ready
    "$scope" stat -v --json -o stat.json -p "$target" 2>err &
    tool=$!
    until_true "attached" grep -q 'attached in' err
    echo go >go
    until_true "the new program is ready" eval '[[ $(grep -c ready ready) == 2 ]]'
    sleep $seconds
    echo work >go
    until_true "the new program has worked" eval '[[ $(grep -c ready ready) == 3 ]]'
    echo end >go
    wait "$tool" || die "stat -p gives status $?: $(cat err)"
    wait "$target"
    grep -v "^$target " own >child
    jq -r --argjson first "$target" '.processes[] | .pid as $pid | select($pid != $first) | .heaps[] |
        select(.ended_by_exec | not) | "\($pid) \(.scavenges) \(.allocated_bytes) \(.tenured_bytes)"' stat.json |
        diff - child >differ && break
done
[[ ! -s differ ]] || die "a child that shared its parent's memory, and became another program: $(cat differ)"
echo "a program is observed that shared its parent's memory before"
switched NO_DESCENT=1 expect_status 0 "$build/tests/edenscope" stat --json -o stat.json -- ./script
jq -e '.lost == 0' stat.json >out || die "without help of the kernel events are lost"
# The command's own process: what it executes, and what it executes and leaves for another program.
copy_program "$program" unknown
for last in one "exec true"; do
    printf '#!/bin/sh\nexec ./unknown %s\n' "$last" >replaced
    chmod +x replaced
    for command in ./replaced "sh -c ./replaced"; do
        for ((i = 0; i < 5; i++)); do
            # shellcheck disable=SC2086
            expect_status 0 "$scope" stat --json -o stat.json -- $command
            # On a busy machine the shell before it may be missed, too: a process counts once.
            jq -e '[.missed_children, ([.processes[].heaps[]] | length)] | .[0] == 1 or . == [0, 1]' stat.json >out ||
                die "$command, then unknown $last: neither seen nor counted: $(cat err)"
            [[ $(jq .missed_children stat.json) == 0 ]] || grep -q '^edenscope: 1 process ended, or executed' err ||
                die "stat does not say that a program was missed: $(cat err)"
        done
    done
done
expect_status 0 "$scope" stat --json -o stat.json -- "$program" exec "$program" one
jq -e '.missed_children == 0 and ([.processes[].heaps[]] | length == 2)' stat.json >out ||
    die "a known program that the command executes is not observed: $(cat stat.json err)"
echo "what could not be observed is counted"

# ---- libraries that depend on a child's environment ----

mkdir place
mkfifo pause
cp "$libeden" place/libeden.so.1
# run_shared PATH TRIES [BEFORE]: the first five children find out that the library is known; the last two run when it is, if ever.
run_shared() {
    cat >command <<COMMAND
#!/bin/bash
for i in 1 2 3 4 5; do ${3:-} LD_LIBRARY_PATH=$1 $folder/shared one; done
exec 3<>pause # waits without further children: each could be missed, too
for ((i = 0; i < $2; i++)); do
    [[ ! \$(<err) =~ attached\ to\ [^\$'\n']*libeden ]] || break
    read -rt 0.02 -u 3
done
for i in 6 7; do ${3:-} LD_LIBRARY_PATH=$1 $folder/shared one; done
COMMAND
    chmod +x command
    expect_status 0 "$scope" stat -v --json -o stat.json -- ./command
    sort out >own
    [[ $(wc -l <own) == 7 ]] || die "the command did not run as it should: $(cat err)"
    seen=$(jq '[.processes[] | select(.heaps | length > 0)] | length' stat.json)
    missed=$(jq .missed_children stat.json)
    # On a busy machine a process may be both: env was missed, and the program seen that it executed.
    ((seen + missed >= 7 && missed <= 7)) ||
        die "LD_LIBRARY_PATH=${1:0:40}: $seen seen and $missed missed, of 7: $(cat err)"
}
for before in '' "env $(printf 'variable%s=value ' {1..300}) LD_PRELOAD="; do
    run_shared "$folder/place" 3000 "$before"
    heaps stat.json | sort - own | uniq -d >same
    ((seen >= 2)) && [[ $(wc -l <same) -ge 2 ]] ||
        die "the library that a child's LD_LIBRARY_PATH leads to is not observed: $(cat err)"
done
run_shared "$(printf '/nowhere/%.0s' {1..40}):$folder/place" 0
run_shared place 0
echo "libraries are found by a child's environment, or its end is counted"

# A program that is also beside another library: in another folder, or where paths lead to other files.
mkdir bin false false/bin false/place
mv origin bin/
nm -D --undefined-only bin/origin | sed -nE 's/.* U (eden_[a-z_]+).*/int \1(void); int \1(void) { return 0; }/p' >false.c
cat >>false.c <<'SOURCE'
#include <unistd.h>
__attribute__((constructor)) static void begin(void) { write(1, "false\n", 6), usleep(500000), _exit(0); }
SOURCE
gcc -shared -fPIC -w -Wl,-soname,libeden.so.1 -o false/place/libeden.so.1 false.c
ln bin/origin false/bin/origin
places=("false/bin/origin")
if [[ $EUID -eq 0 ]]; then
    # What a child mounts stays in its namespace: unshare cannot make mounts private where the root folder is none.
    trap 'umount -l false place 2>/dev/null; cleanup' EXIT
    for place in false place; do
        mount --bind "$place" "$place"
        mount --make-private "$place"
    done
    own_mounts="unshare -m --propagation unchanged"
    places+=("$own_mounts sh -c 'mount --bind bin false/bin && exec false/bin/origin one'"
        "$own_mounts sh -c 'mount --bind false/place place && exec bin/origin one'")
fi
for place in "${places[@]}"; do
    cat >command <<COMMAND
$place one >false.out
i=0
until grep -q 'attached to .*libeden' err || [ \$i = 50 ]; do
    bin/origin one
    sleep 0.02
    i=\$((i + 1))
done
bin/origin one
bin/origin one
COMMAND
    expect_status 0 "$scope" stat -v --json -o stat.json -- sh ./command
    tail -n 2 out | sort >own
    [[ $(wc -l <own) == 2 && $(cat false.out) == false ]] || die "$place: the command did not run as it should: $(cat err)"
    heaps stat.json | sort - own | uniq -d | diff - own >differ || die "after $place the program is not observed: $(cat differ err)"
done
if [[ $EUID -eq 0 ]]; then
    umount -l false place
    trap cleanup EXIT
fi
echo "a program's libraries are those beside it, where its process sees it"

# ---- many ----

expect_status 0 "$scope" stat --json -o stat.json -- sh -c 'i=0; while [ $i -lt 1000 ]; do '"$program"' one; i=$((i + 1)); done'
sort out >own
heaps stat.json | diff - own >differ || die "1,000 children: $(head -n 5 differ; cat err)"
echo "1,000 children are observed exactly"

# ---- bystanders ----

mkfifo go2
exec 8<>go2
: >ready2
rm -f ready2
"$program" wait <go2 >bystander 2>ready2 &
bystander=$!
until_true "the bystander is ready" grep -q ready ready2
cat >semaphores.py <<'PYTHON'
# Prints the semaphores of a process's probes, by name: how many listen.
import os, re, subprocess, sys
program, pid = sys.argv[1:]
path = os.path.realpath(program)
notes = subprocess.run(["readelf", "-nW", program], capture_output=True, text=True, check=True).stdout
kind = subprocess.run(["readelf", "-hW", program], capture_output=True, text=True, check=True).stdout
maps = next(line for line in open(f"/proc/{pid}/maps") if line.split()[-1] == path)
bias = int(maps.split("-")[0], 16) if "DYN" in kind else 0
memory = open(f"/proc/{pid}/mem", "rb")
for name, address in re.findall(r"Name: (\w+)\s+Location: \w+, Base: \w+, Semaphore: (\w+)", notes):
    memory.seek(bias + int(address, 16))
    print(name, int.from_bytes(memory.read(2), "little"))
PYTHON
cat >command <<COMMAND
#!/bin/sh
echo go >go2
timeout 60 sh -c 'until grep -q . bystander; do sleep 0.02; done' || echo 'waited in vain: the bystander' >&2
$program one
python3 semaphores.py $program $bystander >semaphores
COMMAND
chmod +x command
expect_status 0 "$scope" stat --json -o stat.json -- ./command "$program"
jq -e --argjson pid "$bystander" 'all(.processes[]; .pid != $pid) and ([.processes[].heaps[]] | length) == 1' stat.json >out ||
    die "a bystander is counted: $(jq -c '[.processes[] | [.pid, (.heaps | length)]]' stat.json)"
[[ $(awk '$1 == "scavenge__done" { print $2 }' semaphores) == 1 ]] || die "the bystander's semaphores cannot be read: $(cat semaphores)"
printf '#!/bin/sh\n%s one\npython3 semaphores.py %s %s >semaphores\n' "$program" "$program" "$bystander" >command
expect_status 0 "$scope" lifetimes -o /dev/null --sampling 1/100 --stacks -- ./command "$program"
[[ $(awk '$1 == "heap__create" { print $2 }' semaphores) == 1 ]] || die "lifetimes does not attach by file: $(cat semaphores)"
grep -qx 'batch__requested 1' semaphores && grep -qx 'batch 0' semaphores && grep -qx 'alloc__sample 0' semaphores || die "a bystander samples: $(cat semaphores)"
echo >go2
wait "$bystander" || die "the bystander came to harm"
echo "bystanders are not counted and do not sample"

# ---- shares ----

# A child that makes more heaps than there is room for, before its sibling makes one: only its own are missing.
cat >command <<COMMAND
#!/bin/sh
rm -f many
$build/tests/hostile heaps 6000 >many &
timeout 60 sh -c 'until grep -qs done many; do sleep 0.02; done' || echo 'waited in vain: many heaps' >&2
$program one
kill \$!
COMMAND
expect_status 0 "$scope" record -o shares.data -- ./command "$program" "$build/tests/hostile"
cp err said
grep -E '^[0-9]+ [0-9]+ [0-9]+ [0-9]+$' out >own
expect_status 0 "$scope" stat --json -o stat.json -- ./command "$program" "$build/tests/hostile"
grep -E '^[0-9]+ [0-9]+ [0-9]+ [0-9]+$' out >own
heaps stat.json | grep "^$(cut -d' ' -f1 own) " | diff - own >differ || die "a sibling crowds out a heap: $(cat differ err)"
jq -e '.lost == 0 and ([.processes[] | select(.lost_heaps > 0)] | length == 1 and
    all((.heaps | length) + .lost_heaps == 6000 and (.command | startswith("hostile"))))' stat.json >out ||
    die "what was cut is not reported: $(jq -c '[.lost, [.processes[] | [.command, (.heaps | length), .lost_heaps]]]' stat.json)"
grep -q "^edenscope: process [0-9]* 'hostile': [0-9]* heaps beyond its share" err || die "stat does not name who was cut: $(cat err)"
grep -q "^edenscope: process [0-9]* 'hostile': [0-9]* heaps beyond its share" said || die "record does not name who was cut: $(cat said)"
"$scope" report -i shares.data >report
grep -q "^# process [0-9]* 'hostile': [0-9]* heaps beyond its share" report || die "report does not name who was cut: $(head report)"
sed -n '/^#.* Overhead .*PID/,/^# --heap/p' report | grep -v '^#' >rows
[[ $(wc -l <rows) -gt 2 ]] && awk '$1 == "?" { unknown = 1; next }
    unknown || (count++ && $1 + 0 > last) { exit 1 } { last = $1 + 0 }' rows || die "heaps are not in order: $(head -n 40 rows)"
[[ $(sqlite3 shares.data "SELECT value > 0 FROM meta WHERE key LIKE 'lost_heaps:%'") == 1 ]] ||
    die "the recording does not say what was cut"
# A grandchild that makes more heaps than there is room for when its parent, which began the branch, is long forgotten.
cat >command <<COMMAND
#!/bin/sh
rm -f many
sh -c 'first=\$\$; (while kill -0 \$first; do sleep 0.02; done; sleep 1; exec $build/tests/hostile heaps 6000 >many) 2>/dev/null &'
timeout 60 sh -c 'until grep -qs done many; do sleep 0.02; done' || echo 'waited in vain: many heaps' >&2
COMMAND
expect_status 0 "$scope" stat --json -o stat.json -- ./command "$build/tests/hostile"
jq -e '([.processes[].heaps | length] | add) + .other_processes.lost_heaps == 6000' stat.json >out ||
    die "what an orphan lost is not reported: $(jq -c '[.lost, [.processes[] | [.command, (.heaps | length), .lost_heaps]]]' stat.json)"
# A program seen through two overlays of one folder: two files to those who ask, one to the kernel.
mkdir below nothing first second
cp "$program" below/twin
cat >command <<COMMAND
#!/bin/sh
for at in first second; do
    unshare -m sh -c "mount -t overlay overlay -o lowerdir=$folder/below:$folder/nothing $folder/\$at || exit 77
        $folder/\$at/twin one"
done
below/twin one
COMMAND
expect_status 0 "$scope" stat --json -o stat.json -- ./command below/twin
grep -E '^[0-9]+ [0-9]+ [0-9]+ [0-9]+$' out | sort >own
heaps stat.json | sort | diff - own >differ || die "twins are counted twice: $(cat differ err)"
[[ $(wc -l <own) != 1 ]] || echo "not tried: overlays cannot be mounted here"
# Thirteen branches of one user, each with more heaps than there is room for, before another user's process makes one.
chmod 755 "$folder"
copy_program "$build/tests/hostile" hostile
copy_program "$program" children
cat >command <<COMMAND
#!/bin/sh
for i in 1 2 3 4 5 6 7 8 9 10 11 12 13; do
    rm -f many
    setpriv --reuid=65534 --clear-groups $folder/hostile heaps 6000 >many &
    timeout 60 sh -c 'until grep -qs done many; do sleep 0.02; done' || echo 'waited in vain: many heaps' >&2
    kill \$!
    wait
done
setpriv --reuid=1 --clear-groups $folder/children one
COMMAND
expect_status 0 "$scope" stat --json -o stat.json -- ./command "$folder/children" "$folder/hostile"
grep -E '^[0-9]+ [0-9]+ [0-9]+ [0-9]+$' out >own
heaps stat.json | grep "^$(cut -d' ' -f1 own) " | diff - own >differ || die "a user's branches crowd out another's heap: $(cat differ err)"
jq -e '.lost == 0 and ([.processes[] | select(.command | startswith("hostile"))] | length == 13 and
    all(([.heaps[] | select(.late | not)] | length) + .lost_heaps == 6000))' stat.json >out ||
    die "heaps of one user's branches are not counted: $(jq -c '[.lost, [.processes[] | [.command, (.heaps | length), .lost_heaps]]]' stat.json)"
echo "no process, and no user, crowds out another"

# Thirteen uids in a user namespace likewise: they share as its owner, and where root made it, not with root.
# share_of_namespace OWNER OTHER: commands that become the namespace's owner, and the other user.
share_of_namespace() {
    cat >command <<COMMAND
#!/bin/sh
$1 unshare -U sleep 1000 &
first=\$!
until [ "\$(readlink /proc/\$first/ns/user)" != "\$(readlink /proc/self/ns/user)" ]; do sleep 0.02; done
for map in uid_map gid_map; do echo 0 100000 90 >/proc/\$first/\$map; done
for i in 1 2 3 4 5 6 7 8 9 10 11 12 13; do
    rm -f many
    nsenter --user=/proc/\$first/ns/user -S \$i -G \$i $folder/hostile heaps 6000 >many &
    timeout 60 sh -c 'until grep -qs done many; do sleep 0.02; done' || echo 'waited in vain: many heaps' >&2
    kill \$!
    wait \$!
done
kill \$first
$2 $folder/children one
COMMAND
    chmod +x command
    expect_status 0 "$scope" stat --json -o stat.json -- ./command "$folder/children" "$folder/hostile"
    grep -E '^[0-9]+ [0-9]+ [0-9]+ [0-9]+$' out >own
    heaps stat.json | grep "^$(cut -d' ' -f1 own) " | diff - own >differ || die "$1: uids of a namespace crowd out another's heap: $(cat differ err)"
    jq -e '[.processes[] | select((.command | startswith("hostile")) and .lost_heaps > 0)] | length == 13' stat.json >out ||
        die "$1: heaps of many uids are not counted: $(jq -c '[.processes[] | [.command, .lost_heaps]]' stat.json)"
}
if unshare -U true; then
    share_of_namespace 'setpriv --reuid=65534 --clear-groups' 'setpriv --reuid=1 --clear-groups'
    share_of_namespace 'env' 'env'
    echo "many uids in a user namespace have one share, which is not root's"
fi

# More processes of one user than there are descriptors, before another user's processes come.
cat >command <<COMMAND
#!/bin/sh
for i in \$(seq 300); do
    setpriv --reuid=65534 --clear-groups sleep 1000 &
    echo \$! >>sleepers
done
for i in \$(seq 20); do setpriv --reuid=1 --clear-groups $folder/children one; done
kill \$(cat sleepers)
COMMAND
expect_status 0 bash -c 'ulimit -n 256 && exec "$@"' - "$scope" stat --json -o stat.json -- ./command "$folder/children"
sort out >own
[[ $(wc -l <own) == 20 ]] || die "the command did not run as it should: $(cat err)"
heaps stat.json | diff - own >differ || die "a user's processes take others' descriptors: $(head -n 5 differ; cat err)"
jq -e '.lost == 0 and .missed_children == 0' stat.json >out || die "with few descriptors: $(jq -c '[.lost, .missed_children]' stat.json)"
! grep -q 'too long\|in time' err || die "with few descriptors: $(head -n 5 err)"
echo "no user takes another's descriptors"

# A child that maps files with more probe sites than there is room for, before its sibling's program is seen.
cat >command <<COMMAND
#!/bin/sh
$build/tests/hostile elf few 120 >many &
until grep -q 'not observed in full' err; do sleep 0.02; done
i=0
until grep -q 'attached to .* probes of .*/children\$' err || [ \$i = 100 ]; do
    $program one >/dev/null
    sleep 0.02
    i=\$((i + 1))
done
$program one
kill \$!
COMMAND
expect_status 0 "$scope" stat -v --json -o stat.json -- ./command
grep -v ready out >own
heaps stat.json | grep "^$(cut -d' ' -f1 own) " | diff - own >differ || die "a sibling's files crowd out a program: $(cat differ err)"
grep -q 'process [0-9]* is not observed in full: .* have used up their share of probe sites$' err ||
    die "stat does not name whose files were cut: $(cat err)"
echo "no file crowds out another's"

# Twenty such processes: the first eight are named, the others counted.
cat >command <<COMMAND
#!/bin/sh
sleep 0.01
i=0
while [ \$i -lt 20 ]; do
    $build/tests/hostile --seconds 60 elf few 120 >>many &
    echo \$! >>pids
    i=\$((i + 1))
done
until [ "\$(grep -c ready many)" = 20 ]; do sleep 0.02; done
until [ "\$(grep -c 'is not observed in full' err)" -ge 8 ]; do sleep 0.02; done
sleep \$1
kill \$(cat pids)
COMMAND
for seconds in 0.5 2 8; do # nothing shows that the others have been looked at, too
    rm -f many pids
    expect_status 0 "$scope" stat -- ./command $seconds
    grep -q 'more processes are not observed' err && break
done
[[ $(grep -c 'is not observed in full' err) == 8 ]] || die "not eight processes are named: $(cat err)"
all=$(sed -nE 's/^edenscope: [0-9]+ more processes are not observed in full \(([0-9]+) in all\)$/\1/p' err)
((all > 8 && all <= 20)) && grep -q "^edenscope: $((all - 8)) more processes are" err || die "the others are not counted: $(cat err)"
echo "the first processes beyond a share are named, the others counted"

# A heap ends with the program that it is of, which is the one that is named.
expect_status 0 "$scope" stat -o replaced -- "$program" exec true
grep -qE "^children\\[[0-9]+\\] heap 1 'children', ended when its process executed another program$" replaced ||
    die "a heap outlives its program: $(cat replaced)"
grep -q 'alive' replaced && die "it is called alive: $(cat replaced)"
expect_status 0 "$scope" stat --json -o replaced.json -- "$program" exec true
[[ $(jq -c '.processes[0].heaps[] | [.ended_by_exec, .former_command]' replaced.json) == '[true,"children"]' ]] ||
    die "JSON does not say that a heap ended by exec: $(cat replaced.json)"
expect_status 0 "$scope" record -o replaced.data -- "$program" exec true
"$scope" report -i replaced.data >replaced
grep -q "^children\[[0-9]*\] heap 1 'children', ended when its process executed another program$" replaced ||
    die "a report does not say that a heap ended by exec: $(cat replaced)"
[[ $("$scope" report --json -i replaced.data | jq -c '.processes[0].heaps[] | [.ended_by_exec, .former_command]') == \
    '[true,"children"]' ]] || die "a recording does not hold that a heap ended by exec"
expect_status 0 "$scope" stat 0.02 -o lines -- "$program" exec sleep 2
(($(grep -c '  -$' lines) < 50)) || die "a heap has lines after its end: $(cat lines)"
echo "a heap ends with its program"

# ---- programs and libraries on FUSE, where root opens no file ----

mkdir files mounted
if [[ $EUID -eq 0 ]] && bindfs --no-allow-other files mounted; then
    trap 'umount -l "$folder/mounted"; cleanup' EXIT
    cp "$program" files/
    echo 'int thing(void) { return 0; }' >thing.c
    printf '#include <unistd.h>\nint thing(void);\nint main(void) { char c; return read(0, &c, 1) == 1 ? thing() : 1; }\n' >uses.c
    gcc -shared -fPIC -Wl,-soname,libthing.so -o files/libthing.so thing.c
    gcc -o uses uses.c -Lfiles -lthing -Wl,-rpath,"$folder/mounted"
    # What was looked into while it ran is not seen in full either.
    for child in "mounted/children wait" ./uses; do
        expect_status 0 "$scope" stat --json -o stat.json -- sh -c "(sleep 0.3; echo; echo) | $child; true"
        [[ $(jq .missed_children stat.json) == 1 ]] || die "$child is not counted: $(cat err)"
        grep -q ': on FUSE; root opens no file there' err || die "$child: FUSE is not named: $(cat err)"
    done
    rm -f ready
    mounted/children wait <go >out 2>ready &
    target=$!
    until_true "the program on FUSE is ready" grep -q ready ready
    expect_status 1 "$scope" stat -p "$target"
    grep -q "process $target (children): whether it uses Eden is unknown" err || die "stat -p of a program on FUSE: $(cat err)"
    "$scope" list -v >out 2>err || die "list: $(cat err)"
    grep -qx "edenscope: process $target (children): not read: 1 mapped file" err ||
        die "list does not count a program on FUSE: $(cat err)"
    printf 'go\ngo\n' >&7
    wait "$target"
    umount -l mounted
    trap cleanup EXIT
    echo "programs and libraries on FUSE are named and counted"
fi

# A child that floods the ring buffer while the tool is stopped, after another one.
cat >command <<COMMAND
#!/bin/sh
$exercise
kill -STOP \$PPID
$build/tests/hostile heaps 20000 >many &
i=0
until grep -qs done many || [ \$i = 1500 ]; do
    sleep 0.02
    i=\$((i + 1))
done
kill -CONT \$PPID
kill \$!
COMMAND
expect_status 0 "$scope" record -o flood.data -- ./command "$build/tests/hostile" "$exercise"
lost=$(sqlite3 flood.data "SELECT value FROM meta WHERE key = 'lost'")
said=$(sqlite3 flood.data "SELECT sum(value) FROM meta WHERE key LIKE 'lost_events:%'")
((lost > 0 && lost == said)) || die "of $lost lost events, $said are somebody's"
"$scope" report -i flood.data >report
for file in err report; do
    grep -q "process [0-9]* 'hostile' and its descendants: $lost of the lost events" "$file" ||
        die "$file does not name whose events were lost: $(head -n 20 "$file")"
done
# Its events are lost, and nothing of figures.
[[ $(sqlite3 flood.data "SELECT value FROM meta WHERE key = 'uncounted'") == 0 ]] || die "figures lack something"
"$scope" report --json -i flood.data >flood.json
jq -e '[.processes[].heaps[].complete] | any' flood.json >out || die "no heap is complete: $(cat report)"
[[ $(grep -c '  at least' report) == $(jq '[.processes[].heaps[] | select(.complete | not)] | length' flood.json) ]] ||
    die "the report and its JSON differ on what is complete: $(head -n 40 report)"
echo "the process that floods the ring buffer is named"
