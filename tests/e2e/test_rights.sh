#!/usr/bin/env bash
# An ordinary user runs edenscope by capabilities of its file: they open other users' processes, and no file that the
# user may not open without them.
# shellcheck source=tests/e2e/common.sh
. "$(dirname "$0")/common.sh"
[[ $EUID == 0 ]] || { echo "takes root"; exit 77; }
need_edenscope
libeden=$(readlink -f "$build/lib/libeden.so.1")

top=$PWD
chmod 755 "$folder"
enter_folder
mkdir mine
chown 65534 mine
chmod 700 mine
cp "$scope" edenscope
cp "$exercise" exercise
setcap cap_bpf,cap_perfmon,cap_sys_ptrace,cap_dac_override+ep edenscope
as_user() { setpriv --reuid 65534 --regid 65534 --clear-groups "$@"; }
expect_status 0 "$scope" record -o roots.data -- ./exercise
chmod 600 roots.data
echo precious >roots.txt
chmod 600 roots.txt
mkdir -p shut/open
cp roots.data shut/open/r.data
chmod 644 shut/open/r.data
chmod 777 shut/open
chmod 700 shut
# Root's process in a folder that is closed to the user: /proc/PID/cwd leads there.
(cd shut/open && exec sleep 600) &
inside=/proc/$!/cwd
until_true "the process is in its folder" test "$inside" -ef shut/open
sha256sum roots.data roots.txt shut/open/r.data >before

# refused WORDS...: the user's own rights do not reach so far.
refused() {
    status=0
    as_user ./edenscope "$@" >out 2>err || status=$?
    [[ $status != 0 ]] && grep -qi 'permission denied' err || die "edenscope $* gave status $status: $(cat err)"
}
refused stat -o new.txt -- ./exercise
refused stat -o roots.txt -- ./exercise
refused lifetimes -o new.txt -- ./exercise
refused tune -o new.txt -- ./exercise
refused record -o new.data -- ./exercise
refused record --force -o roots.txt -- ./exercise
refused record --force -o roots.data -- ./exercise
refused report --force -i roots.data
refused script --force -i roots.data
refused list roots.txt
refused report --force -i "$inside/r.data"
refused list "$inside/r.data"
refused stat -o "$inside/new.txt" -- ./exercise
refused record -o "$inside/new.data" -- ./exercise
# Without capabilities, no other file would help.
cp "$scope" bare
expect_status 2 as_user ./bare record -o new.data -- ./exercise
grep -q 'CAP_BPF is missing' err || die "the missing right is not named first: $(cat err)"
expect_status 2 as_user ./bare lifetimes -- ./exercise
grep -q 'cannot load the kernel programs: CAP_BPF is missing' err || die "lifetimes names another cause, too: $(cat err)"
sha256sum --quiet -c before || die "root's files were changed"
[[ ! -e new.txt && ! -e new.data && ! -e shut/open/new.txt && ! -e shut/open/new.data ]] || die "a file was made in root's folder"

# What they are for: root's process, a command, and a recording of one's own.
mkfifo go
./exercise --wait 1 <go >ready &
program=$!
exec 5>go
until_true "the program is ready" test -s ready
cp edenscope plain # capabilities are not copied
as_user ./plain list >out 2>err || die "list without capabilities: $(cat err)"
grep -q "could not inspect [0-9]* processes (the first is process [1-9][0-9]*); processes of other users need CAP_SYS_PTRACE" err ||
    die "list does not say what it takes: $(cat err)"
! as_user ./plain list -p "$program" >out 2>err || die "list -p of a process that it may not read succeeds"
[[ $(cat err) == "edenscope: could not inspect process $program; processes of other users need CAP_SYS_PTRACE and CAP_DAC_OVERRIDE (run as root)" ]] ||
    die "list -p does not say that it may not read the process, and nothing else: $(cat err)"
as_user ./edenscope list >out 2>err || die "list: $(cat err)"
grep -q "^ *$program .* [0-9]" out || die "list does not show root's process: $(cat out err)"
as_user ./edenscope stat -p "$program" 0.1 1 >out 2>err || die "stat -p: $(cat err)"
as_user ./edenscope record -o mine/own.data -- ./exercise >out 2>err || die "record: $(cat err)"
as_user ./edenscope report -i mine/own.data >out 2>err || die "report: $(cat err)"
grep -q scavenge out || die "the recording is empty: $(cat out)"
exec 5>&-
echo "capabilities open processes, not files"

# What a stranger's file names is opened by the stranger's rights, also for root; what root's names, by root's.
mkdir closed
chmod 700 closed
cp "$libeden" closed/libeden.so.1
echo 'int main(void) { return 0; }' >main.c
gcc -Wl,--no-as-needed -o names main.c closed/libeden.so.1 -Wl,-rpath,"$folder/closed"
found="names: its library $folder/closed/libeden.so.1 has "
"$scope" list names >out 2>err || true
grep -qF "$found" err || die "a library of root's program is not found: $(cat err)"
chmod 777 names
"$scope" list names >out 2>err || true
! grep -qF "$found" err || die "root's rights open what a file names that others may write: $(cat err)"
chmod 755 names
chown 65534 names
"$scope" list names >out 2>err || true
! grep -qF "$found" err || die "root's rights open what a stranger's file names: $(cat err)"
chmod 755 closed
"$scope" list names >out 2>err || true
grep -qF "$found" err || die "a library that a stranger's program may open is not found: $(cat err)"
echo "a stranger's file leads no further than its owner may go"

# A relative path of a stranger's file starts from the folder of the stranger's process, not from the operator's; and
# it leads through no descriptor of the tool.
mkdir -p secret/inside
cp "$libeden" secret/inside/libeden.so.1
chmod 755 secret/inside
chmod 700 secret
for path in . /proc/self/cwd $(seq -f '/proc/self/fd/%g' 3 20); do echo "$path"; done | paste -sd : >paths
for path in . "$(cat paths)"; do
    gcc -Wl,--no-as-needed -o relative main.c "$libeden" -Wl,-rpath,"$path"
    chown 65534 relative
    cat >relative.sh <<END
for i in 1 2 3; do setpriv --reuid 65534 --regid 65534 --clear-groups '$folder/relative' stays; done
END
    (cd secret/inside && expect_status 0 "$scope" stat -v -- sh ../../relative.sh)
    ! grep -q 'attached to .* probes of [^/]\|attached to .* probes of /proc' err ||
        die "a stranger's file leads to the operator's folder by $path: $(cat err)"
done
echo "a stranger's relative path does not lead to the operator's folder"

# A library that only the groups of the user who executes the program may open: another of its name is not the answer.
mkdir groups groups/bin groups/first groups/second
cp "$libeden" groups/first/libeden.so.1
chgrp 2000 groups/first
chmod 750 groups/first
echo 'void nothing(void) {}' | gcc -shared -Wl,-soname,libeden.so.1 -x c -o groups/second/libeden.so.1 -
# shellcheck disable=SC2016 # $ORIGIN is the loader's
gcc -O1 -D_GNU_SOURCE -I "$top/probes" -I "$top/runtime/include" -o groups/bin/program "$top/tests/programs/children.c" \
    "$libeden" -Wl,-rpath,'$ORIGIN/../first:$ORIGIN/../second'
cat >groups.sh <<END
i=0
while [ \$i -lt 20 ]; do
    setpriv --reuid 65534 --regid 65534 --groups 2000 '$folder/groups/bin/program' one
    i=\$((i + 1))
done
END
expect_status 0 "$scope" stat --json -o stat.json -- sh groups.sh
[[ $(wc -l <out) == 20 ]] || die "the command did not run as it should: $(cat out err)"
jq -e '([.processes[] | select(.heaps | length > 0)] | length) + .missed_children == 20' stat.json >out ||
    die "a library that cannot be opened hides children: $(jq -c '[(.processes | length), .missed_children]' stat.json)"
echo "a library that cannot be opened is unknown, not absent"

# A stranger who executes root's program chooses the folder that it lies in, and so what its $ORIGIN leads to.
mkdir -p sys/bin sys/lib evil/bin evil/lib
cp "$libeden" sys/lib/libeden.so.1
cp "$libeden" closed/libeden.so.1
chmod 700 closed
echo 'int main(int count, char **argument) { return count > 1 && sleep(3) && argument; }' >main.c
# shellcheck disable=SC2016 # $ORIGIN is the loader's
gcc -include unistd.h -Wl,--no-as-needed -o sys/bin/program main.c sys/lib/libeden.so.1 -Wl,-rpath,'$ORIGIN/../lib'
ln -s "$folder/closed/libeden.so.1" evil/lib/libeden.so.1
chown -R 65534 evil
cat >run.sh <<END
mount --bind '$folder/sys/bin' '$folder/evil/bin'
exec env "LD_LIBRARY_PATH=\$1" '$folder/evil/bin/program' stays
END
if as_user unshare --user --map-root-user --mount true; then
    "$scope" stat -v -- setpriv --reuid 65534 --regid 65534 --clear-groups \
        unshare --user --map-root-user --mount sh "$folder/run.sh" "$folder/sys/lib" >out 2>err || die "stat: $(cat err)"
    ! grep -q "attached to .* probes of .*/evil/" err ||
        die "root's rights open what a stranger has put beside root's program: $(cat err)"
    # What the stranger's look has found, or not, is not what root's own run of the program gets.
    rm evil/lib/libeden.so.1
    echo 'void nothing(void) {}' | gcc -shared -x c -o evil/lib/libeden.so.1 -
    chmod 755 closed
    cat >both.sh <<END
setpriv --reuid 65534 --regid 65534 --clear-groups unshare --user --map-root-user --mount sh '$folder/run.sh' ''
'$folder/sys/bin/program' stays
END
    "$scope" stat -v -- sh both.sh >out 2>err || die "stat: $(cat err)"
    grep -q "attached to .* probes of .*sys/bin/\.\./lib/libeden" err ||
        die "a stranger's run of root's program hides its library: $(cat err)"
    echo "a stranger who executes root's program gets the stranger's rights"
fi
