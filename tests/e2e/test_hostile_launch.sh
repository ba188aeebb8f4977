#!/usr/bin/env bash
# `-- COMMAND` finds the files that a command maps without executing any of them, and without waiting for what is no
# regular file or does not answer; workers open and read them; libraries are found where the loader finds them, or shown as
# attached late.
# shellcheck source=tests/e2e/common.sh
. "$(dirname "$0")/common.sh"

libeden=$(readlink -f "$build/lib/libeden.so.1")
source=$PWD/tests/programs/exercise.c
includes=(-D_GNU_SOURCE -I "$PWD/probes" -I "$PWD/runtime/include" -I "$PWD/runtime")
need_edenscope
enter_folder

# ---- nothing is executed ----

cat >mark.c <<'SOURCE'
#include <fcntl.h>
#include <unistd.h>
int main(void) { close(open("executed", O_WRONLY | O_CREAT, 0600)); return 0; }
SOURCE
gcc -static -o mark mark.c
printf '#!/bin/sh\ntouch "%s/executed"\n' "$folder" >mark.sh
chmod +x mark.sh
echo 'int main(void) { return 0; }' >main.c
for loader in mark mark.sh; do
    gcc -Wl,--dynamic-linker="$folder/$loader" -o asks main.c
    for command in "stat -o out" "record --force -o out.data" "lifetimes -o out"; do
        # shellcheck disable=SC2086
        rm -f out.data # a recording that is there stays, for there is no heap
        expect_status 0 "$scope" $command -- true asks ./asks
        [[ ! -e executed ]] || die "edenscope $command executed $loader, the loader that an argument names"
    done
done
echo "nothing is executed to learn what it maps"

# ---- pipes and devices are not opened ----

# no_hang WORDS COMMAND...: edenscope stat ends by itself.
no_hang() {
    local words=$1 status=0
    shift
    timeout -k 5 60 "$scope" stat -o /dev/null -- true "$@" >out 2>err || status=$?
    [[ $status == 0 ]] || die "$words: status $status: $(cat err)"
}
mkfifo pipe
cat >opened.c <<'SOURCE'
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>
/* Prints whether the pipe is open for reading: else opening it for writing fails. */
int main(int count, char **argument) {
    for (int i = 0; i < 1000000; i++) {
        int fd = open(argument[count - 1], O_WRONLY | O_NONBLOCK);
        if (fd >= 0 || errno != ENXIO) {
            puts("opened");
            fflush(stdout);
            return 1;
        }
        usleep(100);
    }
    return 0;
}
SOURCE
gcc -o opened opened.c
./opened "$folder/pipe" >watch &
gcc -Wl,--dynamic-linker="$folder/pipe" -o asks main.c
no_hang "a pipe as the loader" ./asks
printf '#!%s/pipe\n' "$folder" >script
chmod +x script
no_hang "a pipe as a script's interpreter" ./script
gcc -Wl,--dynamic-linker=/dev/ptmx -o asks main.c
no_hang "a device as the loader" ./asks
# A library that was regular when the program was linked.
echo 'int thing(void) { return 0; }' >thing.c
echo 'int thing(void); int main(void) { return thing(); }' >uses.c
gcc -shared -fPIC -Wl,-soname,libthing.so -o libthing.so thing.c
gcc -o uses uses.c -L. -lthing -Wl,-rpath,"$folder"
rm libthing.so
mkfifo libthing.so
no_hang "a pipe as a library" ./uses
ln -sf pipe link
no_hang "a link to a pipe as an argument" ./link
expect_status 1 "$scope" list pipe link
grep -q 'pipe: not a regular file' err || die "list does not name the pipe: $(cat err)"
[[ ! -s watch ]] || die "a pipe was opened"
echo "pipes and devices are left alone"

# tracefs calls it regular, but closing it stops tracing and empties the buffer.
tracing=$folder/tracing
mkdir "$tracing"
mount -t tracefs tracefs "$tracing"
instance=$tracing/instances/eden$$
trap 'rmdir "$instance" 2>/dev/null; umount -l "$tracing"; cleanup' EXIT
mkdir "$instance"
echo 999 >"$instance/buffer_size_kb"
size=$(cat "$instance/buffer_size_kb")
gcc -Wl,--dynamic-linker="$instance/free_buffer" -o asks main.c
no_hang "a file of tracefs as the loader" ./asks
ln -sf "$instance/free_buffer" link
no_hang "a link to a file of tracefs as an argument" ./link
expect_status 1 "$scope" list link
grep -q 'link: not a regular file' err || die "list does not name what the link leads to: $(cat err)"
[[ $(cat "$instance/buffer_size_kb") == "$size" ]] || die "a file of tracefs was opened"
: <"$instance/free_buffer"
[[ $(cat "$instance/buffer_size_kb") != "$size" ]] || die "opening free_buffer leaves no trace: this shows nothing"
rmdir "$instance"
umount "$tracing"
trap cleanup EXIT
echo "files that the kernel makes up are left alone"

# ---- workers open and read what a command names ----

# Stands for a file system that does not answer, below stuck/, and notes where the tool itself reads an ELF file.
cat >stuck.c <<'SOURCE'
#include <dlfcn.h>
#include <fcntl.h>
#include <stdarg.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>
static int next(const char *call, int folder, const char *path, int flags, mode_t mode) {
    int (*real)(int, const char *, int, ...) = (int (*)(int, const char *, int, ...))dlsym(RTLD_NEXT, call);
    while (strstr(path, "stuck/")) {
        pause();
    }
    return real(folder, path, flags, mode);
}
#define MODE(flags) va_list list; va_start(list, flags); mode_t mode = va_arg(list, mode_t); va_end(list)
int open(const char *path, int flags, ...) { MODE(flags); return next("openat", AT_FDCWD, path, flags, mode); }
int open64(const char *path, int flags, ...) { MODE(flags); return next("openat64", AT_FDCWD, path, flags, mode); }
int openat(int folder, const char *path, int flags, ...) { MODE(flags); return next("openat", folder, path, flags, mode); }
int openat64(int folder, const char *path, int flags, ...) { MODE(flags); return next("openat64", folder, path, flags, mode); }
void *elf_begin(int fd, int how, void *reference) {
    void *(*real)(int, int, void *) = (void *(*)(int, int, void *))dlsym(RTLD_NEXT, "elf_begin");
    char name[16];
    if (prctl(PR_GET_NAME, name) == 0 && strcmp(name, "edenscope") == 0) {
        close(open("parsed", O_WRONLY | O_CREAT, 0600));
    }
    return real(fd, how, reference);
}
SOURCE
gcc -shared -fPIC -o stuck.so stuck.c -ldl
mkdir stuck
gcc -shared -fPIC -Wl,-soname,libwaits.so -o stuck/libwaits.so thing.c
gcc -o waits uses.c -Lstuck -lwaits -Wl,-rpath,"$folder/stuck"
cp waits stuck/program
for argument in ./waits "$folder/stuck/program"; do
    LD_PRELOAD=$folder/stuck.so no_hang "a file system that does not answer" "$argument"
    grep -q "^edenscope: .*stuck/.*takes too long" err || die "the file that does not answer is not named: $(cat err)"
done
[[ ! -e parsed ]] || die "the tool itself has parsed an ELF file"
echo "what a command names is opened and read by workers"

# ---- libraries are found where the loader finds them ----

# complete WORDS COMMAND...: the heaps of the command are seen from their first instruction.
complete() {
    local words=$1
    shift
    expect_status 0 "$scope" stat --json -o stat.json -- "$@"
    jq -e '[.processes[] | select(.command | startswith("exercise")) | .heaps[]] | length > 0 and all(.late == false)' \
        stat.json >out || die "$words: libeden.so is not attached from the first instruction: $(cat err)"
}
link() {
    gcc -O1 "${includes[@]}" -o "$1" "$source" "$libeden" "${@:2}"
}
mkdir -p place/lib64 place/glibc-hwcaps/x86-64-v2 other
cp "$libeden" place/libeden.so.1
link exercise-runpath -Wl,--enable-new-dtags,-rpath,'$ORIGIN/place'
complete "RUNPATH with \$ORIGIN" ./exercise-runpath
expect_status 0 "$scope" list ./exercise-runpath
grep -q "^edenscope: ./exercise-runpath: its library .*place/libeden.so.1 has [1-9]" err ||
    die "list does not name the library that has the probes: $(cat out err)"
ln -s ../exercise-runpath other/exercise-link
complete "\$ORIGIN through a link" other/exercise-link
link exercise-rpath -Wl,--disable-new-dtags,-rpath,"\${ORIGIN}/nowhere:$folder/place"
complete "RPATH" ./exercise-rpath
link exercise-plain
LD_LIBRARY_PATH=nowhere:place complete "LD_LIBRARY_PATH" ./exercise-plain
mv place/libeden.so.1 place/glibc-hwcaps/x86-64-v2/
if ./exercise-runpath >out 2>&1; then
    complete "glibc-hwcaps" ./exercise-runpath
fi
mv place/glibc-hwcaps/x86-64-v2/libeden.so.1 place/libeden.so.1
# A library that another library needs: the program's RPATH holds for it, too.
gcc -shared -fPIC -Wl,--no-as-needed -o libthrough.so thing.c place/libeden.so.1
gcc -O1 "${includes[@]}" -o exercise-through "$source" -Wl,--no-as-needed -L. -lthrough -Lplace -l:libeden.so.1 \
    -Wl,--disable-new-dtags,-rpath,"$folder:$folder/place"
complete "a library of a library" ./exercise-through
echo "libraries are found where the loader finds them"
