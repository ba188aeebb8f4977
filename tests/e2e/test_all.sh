#!/usr/bin/env bash
# All processes, those of a name, those of a control group, and several by their ids: each heap that they make is observed
# exactly, from its first instruction where its program was known before, and those of others are not.
# shellcheck source=tests/e2e/common.sh
. "$(dirname "$0")/common.sh"

need_edenscope
probes=$PWD/probes include=$PWD/runtime/include
library=$(readlink -f "$build/lib/libeden.so.1") shared=$(readlink -f "$build/tests/exercise-shared")
races=$(readlink -f "$build/tests/races")
enter_folder
program=$scope
# Copies under names of their own: others on this machine may run the program, too.
known=known-$$ fresh=fresh-$$
cp "$build/tests/children" "$known"
cp "$build/tests/children" "$fresh"

# What the model says of each heap of the program that was seen from its start to its end, as `children` prints it.
heaps() {
    jq -r --arg command "${2:0:15}" '.processes[] | select(.command == $command) | .pid as $pid | .heaps[] |
        select((.late | not) and .complete) | "\($pid) \(.scavenges) \(.allocated_bytes) \(.tenured_bytes)"' "$1" | sort
}

# begin NAME ARGUMENTS: `stat` in the background; it has attached when this returns.
begin() {
    local name=$1
    shift
    rm -f "$name.err"
    "$scope" stat -v --json -o "$name.json" "$@" 2>"$name.err" &
    tool=$!
    until_true "stat is attached ($*)" grep -q 'attached in' "$name.err"
}

end() {
    kill -INT "$tool"
    wait "$tool" || die "stat ended with status $?: $(cat "$1.err")"
}

# A program that runs when the tool starts: its file is attached to then.
mkfifo lines
"./$known" wait <lines >waiting &
waiting=$!
exec 9>lines

many() {
    for ((i = 0; i < 10; i++)); do
        for ((j = 0; j < 10; j++)); do
            "./$1" one >"own-$1-$i-$j" &
            pids+=($!)
        done
        wait "${pids[@]}"
        pids=()
    done
    sort own-"$1"-* >"own-$1"
    [[ $(wc -l <"own-$1") == 100 ]] || die "the programs did not run as they should"
    rm -f own-"$1"-*
}
pids=()

# A program that is new: its first processes may be attached to late, or missed and counted, the later ones may not.
become_known() {
    local first
    many "$1"
    mv "own-$1" "first-$1"
    rm -f until
    mkfifo until
    "./$1" wait <until >>"first-$1" & # long enough to be looked into
    first=$!
    exec 6>until
    until_true "the program is attached to" grep -qE "attached to .* of (.*/$1|/dev/fd/[0-9]+)$" "$2.err" # execveat names no file
    exec 6>&-
    wait "$first"
    many "$1"
}
check_new() {
    local missing
    heaps "$2.json" "$1" >seen
    [[ -z $(comm -13 seen "own-$1") ]] || die "$1, once it was known: $(comm -13 seen "own-$1" | wc -l) of 100 are not exact"
    [[ -z $(comm -23 seen <(sort "own-$1" "first-$1")) ]] || die "$1: other figures than its own"
    missing=$((201 - $(jq -r --arg command "${1:0:15}" '[.processes[] | select(.command == $command)] | length' "$2.json")))
    [[ $missing -le $(jq .missed_children "$2.json") ]] || die "$missing are missing, counted are $(jq .missed_children "$2.json")"
}

begin all -a
many "$known"
become_known "$fresh" all
end all
heaps all.json "$known" | diff - "own-$known" >differ || die "100 processes of a known program: $(head -n 5 differ; cat all.err)"
echo "100 processes of a program that was known are observed exactly by -a"
check_new "$fresh" all
echo "a new program is observed exactly by -a, its first processes perhaps late"

# Somebody else executes a new program, without its path, and ends it before it can be looked into: that hides it from nobody.
cp "$build/tests/children" "hidden-$$"
cat >hide.py <<'PYTHON'
import ctypes, os, signal, sys
libc = ctypes.CDLL(None)
pid = os.fork()
if pid == 0:
    file = os.open(sys.argv[1], os.O_RDONLY)
    libc.ptrace(0, 0, 0, 0)
    arguments, environment = (ctypes.c_char_p * 2)(b"x", None), (ctypes.c_char_p * 1)(None)
    libc.syscall(322, file, b"", arguments, environment, 0x1000)  # execveat, AT_EMPTY_PATH
    os._exit(1)
_, status = os.waitpid(pid, 0)
os.kill(pid, signal.SIGKILL)
os.waitpid(pid, 0)
sys.exit(not os.WIFSTOPPED(status))
PYTHON
begin hidden -a
python3 hide.py "hidden-$$" || die "the program is not stopped as it begins"
become_known "hidden-$$" hidden
end hidden
check_new "hidden-$$" hidden
echo "nobody hides a program from -a"

begin name -n "$known"
many "$known"
many "$fresh"
end name
heaps name.json "$known" | diff - "own-$known" >differ || die "-n: $(head -n 5 differ; cat name.err)"
[[ $(heaps name.json "$fresh" | wc -l) == 0 ]] || die "-n observes a program of another name"
echo "-n observes the processes of a name, and no others"

# A name of no process is a failure, which -a is not: the machine may be idle.
for command in "stat -n none-$$ 0.1 2" "stat -n none-$$ -n none 0.1 2 --json" "record -o none.data -n none-$$ 0.1"; do
    # shellcheck disable=SC2086
    expect_status 1 "$scope" $command
    grep -q "no process named none-$$.* was observed" err || die "$command: the name is not reported: $(cat err)"
    ! grep -q 'no heap was created' err || die "$command: it is said twice: $(cat err)"
done
expect_status 0 "$scope" stat --json -a 0.1 1

# The name is that of the process, whatever the name of the thread that uses the heap.
cat >thread.py <<'PYTHON'
import ctypes, sys, threading
libc, eden = ctypes.CDLL(None), ctypes.CDLL(sys.argv[1])
eden.eden_heap_create.restype = ctypes.c_void_p
libc.prctl(15, sys.argv[2].encode(), 0, 0, 0)  # PR_SET_NAME
def use():
    libc.prctl(15, b"worker", 0, 0, 0)
    eden.eden_heap_destroy(ctypes.c_void_p(eden.eden_heap_create(None, None)))
thread = threading.Thread(target=use)
thread.start()
thread.join()
print("used", flush=True)
sys.stdin.readline()
PYTHON
mkfifo more
python3 thread.py "$library" "named-$$" <more >named &
named=$!
exec 5>more
until_true "the library is there to be attached to" grep -qs used named
begin thread -n "named-$$"
python3 thread.py "$library" "named-$$" </dev/null >/dev/null
python3 thread.py "$library" "other-$$" </dev/null >/dev/null
end thread
echo >&5
wait "$named"
[[ $(jq '[.processes[].heaps[] | select(.complete)] | length' thread.json) == 1 ]] ||
    die "-n and a thread of another name: $(jq -c '[.processes[] | {pid, command, heaps: (.heaps | length)}]' thread.json)"
echo "-n goes by the name of the process, not of its threads"

# What is known of a program is known of those who execute it plainly: nobody hides one that has another library.
cat >preloaded.c <<'C'
#include <eden/eden.h>
static eden_heap *heap;
__attribute__((constructor)) static void begin(void) { heap = eden_heap_create(NULL, NULL); }
__attribute__((destructor)) static void end(void) { eden_heap_destroy(heap); }
C
gcc -shared -fPIC -I "$include" -I "$probes" -o preloaded.so preloaded.c "$library"
cp /bin/sleep "plain-$$"
begin plain -n "plain-$$"
for i in 1 2 3; do
    mkdir "own-$i"
    cp "$library" "own-$i/libeden.so.1"
    "./plain-$$" 0.3 # is known by its end
    LD_PRELOAD=$folder/preloaded.so LD_LIBRARY_PATH=$folder/own-$i "./plain-$$" 0
done
kill -INT "$tool"
status=0
wait "$tool" || status=$?
seen=$(jq '[.processes[] | select(.heaps | length > 0)] | length' plain.json)
[[ $status == $((seen == 0)) ]] || die "stat ended with status $status: $(cat plain.err)" # 1: it has seen none of them
((seen + $(jq .missed_children plain.json) >= 3)) || die "a program is hidden by those that were executed plainly: $(cat plain.json)"
echo "nobody hides a program that has another library"

# The tool comes to know of them when it stops, and they have ended. Each has another environment, and so is looked into.
cp "$build/tests/children" "stopped-$$"
begin stopped -n "stopped-$$"
kill -STOP "$tool"
for ((i = 0; i < 400; i++)); do
    LD_LIBRARY_PATH=$folder/other-$i "./stopped-$$" one >/dev/null
done
kill -INT "$tool"
kill -CONT "$tool"
wait "$tool" || [[ $? == 1 ]] || die "stat ended: $(cat stopped.err)" # 1: it has seen none of them
seen=$(jq '[.processes[] | select(.heaps | length > 0)] | length' stopped.json)
((seen + $(jq .missed_children stopped.json) == 400)) || die "$seen seen, and $(jq .missed_children stopped.json) missed, of 400"
echo "what is not known when the tool stops is counted"

# A known program that finds another library than before: the first process that does may be missed, the later ones not.
mkdir app lib
cp "$shared" "app/shared-$$"
cp "$library" lib/libeden.so.1
mkfifo before after
"app/shared-$$" --wait <before >waits-1 &
one=$!
exec 8>before
until_true "the program is ready" grep -qs ready waits-1
begin replaced -n "shared-$$"
"app/shared-$$" >/dev/null
cp "$library" lib/next
mv lib/next lib/libeden.so.1
sleep 1.1 # as long as what is known of the program's libraries holds
"app/shared-$$" --wait <after >waits-2 &
two=$!
exec 7>after
knows_both() { [[ $(grep -c 'attached to .*/libeden' replaced.err) -ge 2 ]]; }
until_true "the new library is attached to" knows_both
echo >&7
echo >&8
wait "$one" "$two"
for i in 1 2 3 4 5; do "app/shared-$$" >/dev/null; done
end replaced
[[ $(jq '[.processes[] | select([.heaps[] | .late | not] | all)] | length' replaced.json) -ge 6 ]] ||
    die "after its library was replaced: $(jq -c '[.processes[] | {pid, late: [.heaps[].late]}]' replaced.json)"
echo "a known program is observed with another library, too"

expect_error 1 '--cgroup: names no folder' stat --cgroup '' 1 1
expect_error 1 'no control group .*another file system' stat --cgroup /proc 1 1

# A control group: those in it and below it.
mkdir group
mount -t cgroup2 none group
leave() {
    rmdir "$folder/group/$known/below" "$folder/group/$known" 2>/dev/null || true
    umount "$folder/group" || true
    cleanup
}
trap leave EXIT
mkdir -p "group/$known/below"
echo "$waiting" >"group/$known/cgroup.procs"
begin group --cgroup "./group/$known"
for ((i = 0; i < 10; i++)); do
    sh -c "echo \$\$ >group/$known/below/cgroup.procs && exec ./$known one" >>in-group
    "./$known" one >>outside
done
end group
echo "$waiting" >group/cgroup.procs
heaps group.json "$known" | diff - <(sort in-group) >differ || die "--cgroup: $(head -n 5 differ; cat group.err)"
ln -s "group/$known" slice
expect_error 1 'slice: no control group ' stat --cgroup slice 0.1 1 # of a folder that may be a stranger's
echo "--cgroup observes the processes of a control group, and no others"

# A library that was never seen, loaded by a process that nobody looks at any more.
loads=loads-$$
cp "$(dirname "$races")/plugins" "$loads"
mkfifo plug
# loads WAY SECONDS SELECTION...: whether the library's heap is observed exactly SECONDS later.
finds_loaded() {
    local copy=plugin-$1-$2.so loading status
    cp "$(dirname "$races")/plugin.so" "$copy"
    rm -f plugged.stats
    EDEN_STATS=plugged.stats "./$loads" wait load "./$copy" begin late work 30001 wait work 20000 end <plug >plugged &
    loading=$!
    exec 6>plug
    until_true "the program is ready" grep -q ready plugged
    [[ $1 != group ]] || echo "$loading" >"group/$known/below/cgroup.procs"
    begin plugged "${@:3}"
    sleep 2 # it is no longer looked at
    echo >&6
    until_true "the plugin has worked" eval '[[ $(grep -c ready plugged) == 2 ]]'
    sleep "$2"
    echo >&6
    wait "$loading" || die "the program gives status $?"
    exec 6>&-
    kill -INT "$tool"
    status=0
    wait "$tool" || status=$? # 1: -n has found no heap
    ((status <= 1)) || die "stat ended with status $status: $(cat plugged.err)"
    jq -c '[.name, .scavenges, .allocated_bytes, .full_collections]' plugged.stats >own
    jq -c --argjson pid "$loading" '.processes[] | select(.pid == $pid) | .heaps[] | select(.late and .complete) |
        [.name, .scavenges, .allocated_bytes, .full_collections]' plugged.json | diff - own >differ
}
ways=(all name)
[[ ! -e group/$known/below/cgroup.procs ]] || ways+=(group)
for way in "${ways[@]}"; do
    declare -A selects=([all]=-a [name]="-n $loads" [group]="--cgroup $PWD/group/$known")
    for seconds in 2 8 30; do # nothing shows that it has been looked at again
        # shellcheck disable=SC2086
        finds_loaded "$way" $seconds ${selects[$way]} && break
    done
    [[ -s own && ! -s differ ]] || die "a library that a process has loaded later, ${selects[$way]}: $(cat differ plugged.err)"
done
echo "a library that a running process loads is found: ${ways[*]}"

# A process whose threads race for an entry gets none of another process.
for i in 1 2 3; do
    expect_status 0 "$scope" stat --json -o races.json -- "$races" 1000
    jq -e '[.processes[] | select(.command == "victim").heaps[].full_collections] | length > 500 and add == 0' races.json >all ||
        die "one process counts in another one's heaps: $(cat races.json)"
    jq -e '.lost + ([.processes[] | select(.command == "races") | .lost_hits, .heaps[].full_collections] | add) >= 1000' \
        races.json >all || die "hits are neither counted nor lost: $(cat races.json)"
done
echo "threads that race count in their own heaps"

# Several by their ids: those alone.
mkfifo second third
"./$known" wait <second >waiting-2 2>ready-2 &
two=$!
"./$known" wait <third >waiting-3 2>ready-3 &
three=$!
exec 8>second 7>third
until_true "two programs are ready" grep -qs ready ready-2
until_true "three programs are ready" grep -qs ready ready-3
begin pids -p "$waiting,$two"
echo >&9; echo >&8; echo >&7
until_true "three have worked" [ -s waiting-3 ]
"./$known" one >/dev/null
echo >&9; echo >&8; echo >&7
wait "$tool" || die "stat -p A,B ended with status $?: $(cat pids.err)"
wait "$waiting" "$two" "$three"
[[ $(jq -r '[.processes[].pid] | sort | join(" ")' pids.json) == "$(printf '%s\n' "$waiting" "$two" | sort -n | paste -sd' ')" ]] ||
    die "-p A,B observes $(jq -c '[.processes[].pid]' pids.json)"
echo "-p observes several processes, those alone, and ends with them"
