#!/usr/bin/env bash
# edenscope as a command line: the examples of docs/edenscope.md run, and that page and --help name the same options; what
# goes wrong is reported by name, with the right status, and harms neither files nor the program that is observed.
# shellcheck source=tests/e2e/common.sh
. "$(dirname "$0")/common.sh"

page=$PWD/docs/edenscope.md
enter_folder

# ---- options ----

# The options of a subcommand: as the page has them, as --help has them.
documented() {
    awk -v command="$1" '/^## / { on = $2 == command } on && /^[|] `-/' "$page" | cut -d'|' -f2 |
        grep -oE -- '(^|[ `])--?[a-zA-Z][a-z-]*' | tr -d ' `' | sort -u
}
helped() {
    "$scope" "$1" --help | grep -oE '^  (-[a-zA-Z], )?--[a-z-]+' | tr -d ',' | tr ' ' '\n' | grep . |
        grep -vxE -- '-[hv]|--help|--verbose|--color' | sort -u
}
for command in list stat top record report script tune simulate; do
    diff <(documented "$command") <(helped "$command") || die "$command: the page and --help name different options"
    [[ $("$scope" help "$command") == "$("$scope" "$command" --help)" ]] || die "help $command is not $command --help"
done

# The usage, which is before the first empty line, has each option, by one of its names.
for command in list stat top record report script lifetimes tune simulate; do
    "$scope" help "$command" >help
    sed '/^$/q' help >usage
    grep -oE '^  (-[a-zA-Z], )?--[a-z-]+' help | grep -vE -- '--(help|color)' >options
    [[ -s options ]] || die "help $command lists no options"
    while read -r names; do
        grep -qE -- "(^|[^a-z-])(${names//, /|})([^a-z-]|$)" usage || die "the usage of $command lacks $names: $(cat usage)"
    done <options
    grep -qF "man edenscope-$command" help || die "help $command does not name its man page"
done

# refused STATUS WORDS ARGUMENT...: edenscope gives the status, and says these words on stderr.
refused() {
    expect_status "$1" "$scope" "${@:3}"
    grep -qF -- "$2" err || die "edenscope ${*:3} does not say '$2': $(cat err)"
}
refused 1 '-x: unknown option; `edenscope stat --help` shows the usage' stat -Txyz
refused 1 '--nonesuch: unknown option' list --nonesuch
refused 1 '-i: unknown option' list -i 1
refused 1 '--json=1: this option takes no value' report --json=1
refused 1 '-o: this option needs a value' record -o
refused 1 '-p: given twice; run edenscope once for each process' lifetimes -p 1 -p 1
refused 1 '--pid=2: given twice; run edenscope once for each process' report -p 1 --pid=2
for twice in 'stat -o a --output=b -- true' 'record --lifetimes --lifetimes=details -- true' 'tune --pairs 3 --pairs 4 -- true'; do
    # shellcheck disable=SC2086
    refused 1 ': given twice; give it once' $twice
done
[[ ! -e a && ! -e b ]] || die "an option given twice writes a file"
refused 1 '-p 0x10: give process ids, at most 1,024, with commas between; -n takes names' stat -p 0x10
refused 1 '-p 0: give the id of one process, a number from 1' list -p 0
refused 1 '-p -1: give the id of one process, a number from 1' list -p -1
refused 1 '-p abc: give the id of one process, a number from 1' report -p abc
refused 1 '--heap 0: not a heap number (from 1)' report --heap 0
refused 1 '--probe nonesuch: not a probe such as scavenge__done; docs/probes.md lists the probes' script --probe nonesuch
refused 1 'true: not an interval in seconds (0.001 to 1000000); put a program to run after --' stat true
refused 1 '0: not a number of intervals, from 1' stat -p 1 1 0
refused 1 'true: unexpected argument; put a program to run after --' stat 1 1 true
refused 1 'x: not a time in seconds' tune -p 1 x 1
refused 1 '2: unexpected argument' tune -p 1 1 2
refused 1 '--max-size 200K: too small; give at least 1M' record --max-size 200K -- true
refused 1 '--max-size 200x: not a size in bytes, such as 200M' record --max-size 200x -- true
refused 1 'either -p PID or -- PROGRAM, not both' lifetimes -p 1 -- true
refused 1 'give one of -p PID, -n NAME, --cgroup FOLDER, -a and -- PROGRAM' stat -p 1 -- true
refused 1 'the program after -- is missing' record --
refused 1 'not an interval; give a number of seconds, 0.001 to 1000000, without a unit' stat -p $$ 1s
refused 1 '1s: not a time in seconds (0.001 to 1000000); give a number without a unit' record -p $$ 1s
refused 1 'eden.data: unexpected argument; did you mean -i eden.data?' report eden.data
refused 1 'eden.data: give -p PID, -- PROGRAM or -i FILE;' lifetimes eden.data
refused 1 '12: give -p PID, -n NAME, --cgroup FOLDER, -a or -- PROGRAM;' record 12
refused 1 'eden.data: unexpected argument; give -i FILE, -p PID or -- PROGRAM' tune eden.data
refused 1 'eden.data: no such file; give -p PID, -- PROGRAM, or -i FILE' tune
refused 1 '123456: No such file or directory; did you mean -p 123456?' list 123456
refused 1 'not a regular file' list .
refused 1 'not an ELF file' list "$page"

# ---- outputs that can't be written ----

for command in help "list --help" "list --json" "list $exercise"; do
    # shellcheck disable=SC2086
    expect_status 1 bash -c '"$@" >/dev/full' - "$scope" $command
    # The write that fails may be one before the last.
    grep -q 'standard output: cannot be written: No space left on device; free some space there, or name another file$' err || die "$command: a full disk is not reported: $(cat err)"
    # shellcheck disable=SC2086
    expect_status 1 bash -c '"$@" >&-' - "$scope" $command
done

need_edenscope

# ---- the examples of the page ----

mkfifo go
rm -f ready
"$exercise" --wait <go >ready &
target=$!
exec 7>go
until_true "the program is ready" grep -q ready ready
count=0
while read -r line; do
    line=${line//PROGRAM/$exercise}
    line=${line//PID/$target}
    line=${line//\'/} # what is quoted has no blanks
    options=
    if [[ $line == EDEN_OPTIONS=* ]]; then
        options=${line%% *} line=${line#* }
    fi
    if [[ $line == *"record"*"-p $target"* || $line == *" histo "*"-p $target" ]]; then
        rm -f err
        # It ends on request.
        # shellcheck disable=SC2086
        "$scope" ${line#edenscope } -v 2>err &
        tool=$! status=0
        until_true "attached" grep -q 'attached in' err
        kill -TERM "$tool"
        wait "$tool" || status=$?
        if [[ $line == *" histo "* ]]; then # the program allocates nothing, so it does not collect
            [[ $status == 1 ]] && grep -q 'nothing was counted' err || die "'$line' gave status $status: $(cat err)"
        else
            [[ $status == 0 ]] || die "'$line' gave status $status: $(cat err)"
        fi
    else
        # shellcheck disable=SC2086
        expect_status 0 env $options "$scope" ${line#edenscope }
        [[ -s out || $line == *"-o "* || $line == *"--html "* || $line == *"edenscope export "* ]] || die "'$line' prints nothing"
        [[ $line != *--json* ]] || grep -v '^done$' out | jq -e . >/dev/null || die "'$line' prints no JSON"
    fi
    count=$((count + 1))
done < <(sed -n '/^```sh$/,/^```$/{/^\(EDEN_OPTIONS=[^ ]* \)\?edenscope /p}' "$page")
[[ $count -ge 18 ]] || die "only $count examples"
[[ $(sqlite3 objects.data 'SELECT count(*) FROM tenure') -gt 0 ]] || die "--objects records no objects"
echo "$count examples work"

# ---- what can't be observed ----

refused 127 'nonesuch: command not found' stat -- nonesuch
refused 127 "'': command not found" stat -- ''
refused 127 './nonesuch: No such file' record -- ./nonesuch
refused 126 './: Is a directory' record -- ./
touch plain
refused 126 './plain: not executable' stat -- ./plain
refused 1 "process $$ (" stat -p $$
refused 1 'process 4194304 does not exist' stat -p 4194304
# A process that has ended and was not waited for: it leaves its number behind.
python3 -c 'import os, sys, time
pid = os.fork()
if pid == 0:
    os._exit(0)
print(pid, flush=True)
time.sleep(600)' >zombie &
until_true "a process has ended" grep -qs '^State:.Z' "/proc/$(until_true "its id" test -s zombie && cat zombie)/status"
refused 1 "process $(cat zombie) has ended" stat -p "$(cat zombie)"
kernel_thread=$(grep -l '^PPid:.2$' /proc/[0-9]*/status 2>/dev/null | head -n 1 | cut -d/ -f3 || true)
if [[ -n $kernel_thread ]]; then
    refused 1 "runs no program" stat -p "$kernel_thread"
fi
echo 'int pause(void); int main(void) { return pause(); }' >alone.c
gcc -static -o alone alone.c
./alone &
alone=$!
until_true "a program without libraries runs" bash -c '[[ $(readlink "/proc/$1/exe") == */alone ]]' - "$alone"
refused 1 "process $alone (alone) does not use Eden: of its 1 readable mapped file none has probes" stat -p "$alone"
kill "$alone"
mkfifo held
exec 6<>held
: >ready
sh -c "'$build/tests/children' wait <held >/dev/null 2>ready; true" &
parent=$!
until_true "a child is ready" grep -q ready ready
child=$(tr -d " " <"/proc/$parent/task/$parent/children")
refused 1 "process $parent (sh) does not use Eden; its child $child (children) does: -p $child; to observe children that end soon, start it with edenscope: -- PROGRAM" \
    stat -p "$parent"
printf 'go\ngo\n' >&6
wait "$parent"

# ---- what can't begin costs nothing that is there ----

echo mine >mine
refused 127 'nonesuch: command not found' stat -o mine -- nonesuch
[[ $(cat mine) == mine ]] || die "stat has emptied a file for nothing"
refused 1 'exists and is not a recording' record -o mine -- true
[[ $(cat mine) == mine ]] || die "record has replaced a file that is no recording"
refused 1 'mine: not a recording' report -i mine
head -c 3000 eden.data >cut.data
expect_status 1 "$scope" report -i cut.data
grep -q '^edenscope: .*cut.data' err || die "a damaged recording is not named: $(cat err)"
for limit in "-n 4" "-n 8" "-n 16" "-n 32" "-n 63" "-Sn 8"; do
    for command in "stat -- true" "list"; do
        # shellcheck disable=SC2086
        expect_status 2 bash -c "ulimit $limit && exec \"\$@\"" - "$scope" $command
        [[ $(cat err) == "edenscope: the limit of ${limit#* } open files is too low: edenscope needs 64 or more (raise ulimit -n)" ]] ||
            die "$command does not report that only ${limit#* } files may be open: $(cat err)"
    done
done
expect_status 0 bash -c 'ulimit -n 64 && exec "$@"' - "$scope" stat -o /dev/null -- true
[[ $(bash -c 'ulimit -Sn 64 && exec "$@"' - "$scope" stat -o /dev/null -- sh -c 'ulimit -n') == 64 ]] ||
    die "the command got another limit"

# A signal before the command begins: it does not begin, and nothing is left. A preloaded library holds edenscope up where
# it loads its kernel programs, until it is signalled.
cat >hold.c <<'SOURCE'
#include <errno.h>
#include <fcntl.h>
#include <unistd.h>
void *libbpf_set_print(void *print) {
    close(open("held", O_WRONLY | O_CREAT, 0600));
    char byte;
    int fd;
    while ((fd = open("release", O_RDONLY)) < 0 && errno == EINTR) {
    }
    return fd < 0 || read(fd, &byte, 1) != 1 ? 0 : print;
}
SOURCE
gcc -shared -fPIC -o hold.so hold.c
mkfifo release
for signal in TERM HUP; do
    rm -f held
    status=0
    LD_PRELOAD=$folder/hold.so "$scope" record -o held.data -- touch begun >out 2>err &
    tool=$!
    until_true "edenscope prepares" test -e held
    kill -"$signal" "$tool"
    echo >release
    wait "$tool" || status=$?
    [[ $status -gt 128 ]] || die "SIG$signal before the command begins gave status $status: $(cat err)"
    [[ ! -e begun ]] || die "the command began after SIG$signal"
    [[ $(echo held.data*) == 'held.data*' ]] || die "SIG$signal leaves $(echo held.data*)"
done

echo go >&7
exec 7>&-
wait "$target" || die "the program that was observed came to harm"
echo "faults are reported, and cost nothing"
