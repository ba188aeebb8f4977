#!/usr/bin/env bash
# The kernel that attaches to a file, or detaches, waits for each process that maps it, perhaps for ever. edenscope waits
# ten seconds, says so, and continues. A preloaded library acts as such a kernel: it never returns from attaching to
# $STUCK_FILE ($STUCK is attach), from closing the last descriptor of a link (detach), or from fork() after the former
# (fork); $STUCK_MARK is there once it has begun.
# shellcheck source=tests/e2e/common.sh
. "$(dirname "$0")/common.sh"

need_edenscope
"$scope" stat -v -- true >"$folder/out" 2>"$folder/err"
grep -q 'by uprobe_multi links' "$folder/err" || { echo "no uprobe_multi links here"; exit 77; }

cat >"$folder/stuck.c" <<'SOURCE'
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <linux/bpf.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

static char shared[1 << 16], received[1 << 16]; /* descriptors that another process has, too; that came from one */
static dev_t anonymous;

static int mode_is(const char *mode) { return strcmp(getenv("STUCK"), mode) == 0; }

static void hang(void) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    open(getenv("STUCK_MARK"), O_WRONLY | O_CREAT, 0600);
    for (;;) {
        pause();
    }
}

__attribute__((constructor)) static void begin(void) {
    struct stat status;
    int fd = epoll_create1(0);
    fstat(fd, &status);
    anonymous = status.st_dev;
    syscall(SYS_close, fd);
}

/* In a sandbox, what was received and has no file system. */
static int is_link(int fd) {
    struct stat status;
    char path[64], text[512] = "";
    snprintf(path, sizeof path, "/proc/self/fdinfo/%d", fd);
    int info = open(path, O_RDONLY);
    if (info < 0) {
        return received[fd] && fstat(fd, &status) == 0 && status.st_dev == anonymous;
    }
    read(info, text, sizeof text - 1);
    syscall(SYS_close, info);
    return strstr(text, "uprobe_multi") != NULL;
}

long syscall(long number, ...) {
    static long (*next)(long number, ...);
    next = next ? next : (long (*)(long number, ...))dlsym(RTLD_NEXT, "syscall");
    long word[6];
    va_list words;
    va_start(words, number);
    for (int i = 0; i < 6; i++) {
        word[i] = va_arg(words, long);
    }
    va_end(words);
    if (number == SYS_bpf && word[0] == BPF_LINK_CREATE && !mode_is("detach")) {
        struct {
            unsigned program, target, type, flags;
            const char *path;
        } const *link = (void *)word[1];
        struct stat wanted, status;
        if (link->type == 48 && stat(link->path, &status) == 0 && stat(getenv("STUCK_FILE"), &wanted) == 0 &&
            status.st_ino == wanted.st_ino && status.st_dev == wanted.st_dev) {
            hang();
        }
    }
    return next(number, word[0], word[1], word[2], word[3], word[4], word[5]);
}

static void mark(ssize_t bytes, const struct msghdr *message, char *marks) {
    const struct cmsghdr *rights = bytes > 0 ? CMSG_FIRSTHDR(message) : NULL;
    for (size_t i = 0; rights && i < (rights->cmsg_len - CMSG_LEN(0)) / sizeof(int); i++) {
        int fd;
        memcpy(&fd, CMSG_DATA(rights) + i * sizeof fd, sizeof fd);
        marks[fd] = 1;
    }
}

ssize_t sendmsg(int socket, const struct msghdr *message, int flags) {
    static ssize_t (*next)(int socket, const struct msghdr *message, int flags);
    next = next ? next : (ssize_t (*)(int, const struct msghdr *, int))dlsym(RTLD_NEXT, "sendmsg");
    ssize_t sent = next(socket, message, flags);
    mark(sent, message, shared);
    return sent;
}

ssize_t recvmsg(int socket, struct msghdr *message, int flags) {
    static ssize_t (*next)(int socket, struct msghdr *message, int flags);
    next = next ? next : (ssize_t (*)(int, struct msghdr *, int))dlsym(RTLD_NEXT, "recvmsg");
    ssize_t got = next(socket, message, flags);
    mark(got, message, received);
    return got;
}

int close(int fd) {
    if (mode_is("detach") && fd >= 0 && !shared[fd] && is_link(fd)) {
        hang();
    }
    if (fd >= 0) {
        shared[fd] = received[fd] = 0;
    }
    return (int)syscall(SYS_close, fd);
}

pid_t fork(void) {
    static pid_t (*next)(void);
    next = next ? next : (pid_t (*)(void))dlsym(RTLD_NEXT, "fork");
    if (mode_is("fork") && access(getenv("STUCK_MARK"), F_OK) == 0) {
        hang();
    }
    return next();
}
SOURCE
gcc -O -shared -fPIC -w -o "$folder/stuck.so" "$folder/stuck.c"

cp "$build/tests/children" "$folder/stuck"
cp "$build/tests/children" "$folder/good"
# start NAME PROGRAM: `children wait` in the background; its process is $program, and writing to descriptor 7 lets it go.
start() {
    mkfifo "$folder/$1.go"
    "$2" wait <"$folder/$1.go" >"$folder/$1.out" 2>&1 &
    program=$!
    exec 7>"$folder/$1.go"
}
# begin NAME MODE COMMAND...: in the background; its process is $tool, its output $folder/NAME.out and NAME.err.
begin() {
    local name=$1 mode=$2
    shift 2
    STUCK=$mode STUCK_FILE=$folder/stuck STUCK_MARK=$folder/$name.mark LD_PRELOAD=$folder/stuck.so "$@" \
        >"$folder/$name.out" 2>"$folder/$name.err" &
    tool=$!
}
has_ended() { ! kill -0 "$1" 2>/dev/null; }
# finish NAME PROCESS STATUS: it ends within a minute.
finish() {
    local status=0
    until_true "$1 ends" has_ended "$2"
    wait "$2" || status=$?
    [[ $status == "$3" ]] || die "$1 gave status $status, not $3: $(cat "$folder/$1.err")"
}

# ---- attaching ------------------------------------------------------------------------------------------------------

start one "$folder/stuck"
begin process attach "$scope" stat -p "$program"
process=$tool
begin forkless fork "$scope" stat -p "$program"
forkless=$tool
begin command attach "$scope" stat -- sh -c "$folder/stuck one; $folder/good one"
command=$tool

# ^C does not wait for the deadline.
begin stopped attach "$scope" stat -p "$program"
until_true "edenscope attaches" test -e "$folder/stopped.mark"
kill -INT "$tool"
finish stopped "$tool" 130
grep -qx 'edenscope: interrupted while attaching: nothing was observed' "$folder/stopped.err" ||
    die "the end of attaching by ^C is not reported, or it waited for the deadline: $(cat "$folder/stopped.err")"
for kind in stat record lifetimes; do
    begin $kind-stopped attach "$scope" $kind -o "$folder/$kind-kept" -- "$folder/stuck" one
    until_true "edenscope attaches" test -e "$folder/$kind-stopped.mark"
    kill -INT "$tool"
    finish $kind-stopped "$tool" 130
    grep -qx 'edenscope: interrupted while attaching: nothing was observed, and the program was not started' \
        "$folder/$kind-stopped.err" || die "$kind: what ^C cost is not reported: $(cat "$folder/$kind-stopped.err")"
    [[ ! -s $folder/$kind-kept ]] || die "$kind: writes an output though nothing was observed"
done

for name in process forkless; do
    finish $name "${!name}" 1
    grep -q "^edenscope: cannot attach to $folder/stuck in process $program: the kernel did not answer in 10 s" \
        "$folder/$name.err" || die "$name: the file is not named: $(cat "$folder/$name.err")"
done
# What can be attached to is observed.
finish command "$command" 0
grep -q "^edenscope: cannot attach to $folder/stuck: the kernel did not answer in 10 s" "$folder/command.err" ||
    die "the file is not named: $(cat "$folder/command.err")"
grep -q '^good\[' "$folder/command.err" || die "the other program was not observed: $(cat "$folder/command.err")"
! grep -q '^stuck\[' "$folder/command.out" || die "what cannot be attached to was observed"

# ---- detaching ------------------------------------------------------------------------------------------------------

begin detach detach "$scope" record -o "$folder/detach.data" -p "$program"
until_true "it is recorded" test -e "$folder/detach.data"
detach=$tool
begin lifetimes detach "$scope" lifetimes -p "$program" 0.1
kill -INT "$detach"
finish lifetimes "$tool" 0
finish detach "$detach" 0
grep -q '^edenscope: the kernel has not detached all probes' "$folder/detach.err" ||
    die "the hang in detaching is not reported: $(cat "$folder/detach.err")"
"$scope" report -i "$folder/detach.data" >"$folder/out" || die "the recording is not whole"

echo go >&7
echo go >&7
exec 7>&-
wait "$program" || die "the program that was observed came to harm"
echo "a kernel that does not come back from attaching or detaching holds nobody up"

# ---- a file that is rewritten in place while the kernel holds probes of it -----------------------------------------------

# It then has another semaphore at an old place.
cp "$build/tests/probe_gun" "$folder/gun"
mkfifo "$folder/held"
exec 7<>"$folder/held"
# shellcheck disable=SC2016
"$scope" stat -- sh -c '"$0" heap__create:0x1000,1,demo && echo ended && read -r line' "$folder/gun" \
    <"$folder/held" >"$folder/table" 7>&- &
tool=$!
until_true "it has ended" grep -q ended "$folder/table"
python3 - "$folder/gun" <<'PYTHON'
import sys
with open(sys.argv[1], "r+b") as file:
    data = file.read()
    at, other = (data.index(b"eden\0" + name + b"\0") - 8 for name in (b"scavenge__done", b"full__done"))
    file.seek(at)
    file.write(data[other : other + 8])
PYTHON
expect_status 1 "$scope" stat -- "$folder/gun" heap__create:0x1000,1,demo
grep -q "^edenscope: cannot attach to $folder/gun: the kernel may still hold probes of an earlier content" \
    "$folder/err" || die "what the kernel holds is not named: $(cat "$folder/err")"
cp "$folder/gun" "$folder/new"
mv "$folder/new" "$folder/gun"
expect_status 0 "$scope" stat -- "$folder/gun" heap__create:0x1000,1,demo
echo >&7
exec 7>&-
wait "$tool" || die "the first stat failed"
echo "a file that was rewritten in place is named, and a new one attached to"
