/* A FUSE file system of one file, which answers whatever it takes to map the file, and a read of it never, or when
 * somebody says so. Below overlayfs it does not look like FUSE, and its server says who waits.
 *
 * Its server is a child. The mount is in a mount namespace of its own and is gone as soon as the file is open: nothing
 * is left of it but the mapping. The server ends with the process; its end ends the waits of others. */
#include "hostile_fuse.h"
#include "hostile.h"
#include <errno.h>
#include <fcntl.h>
#include <linux/fuse.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

enum { ROOT = FUSE_ROOT_ID, FILE_NODE = 2, FOR_EVER = 1000000 };
/* A process that waits for the file holds locks that stop others, ps and fork among them: so the server ends soon. */
enum { SERVER_SECONDS = 10, OVERLAY_SECONDS = 120 };

struct server {
    int fd;
    struct fuse_file *file;
    uint64_t reading; /* the read that waits for its page; 0: none */
};

static void answer(int fd, uint64_t unique, int error, const void *body, size_t bytes) {
    struct fuse_out_header header = {.len = (uint32_t)(sizeof header + bytes), .error = -error, .unique = unique};
    struct iovec parts[] = {{&header, sizeof header}, {(void *)(uintptr_t)body, bytes}};
    if (writev(fd, parts, bytes ? 2 : 1) < 0) {
        return; /* the client has ended */
    }
}

/* Says that the page is asked for. */
static void begin_read(struct server *server, uint64_t unique) {
    if (server->file->asked[1] > 0 && write(server->file->asked[1], "", 1) == 1) {
        server->reading = unique;
    }
}

/* Passes on what the page is to hold. */
static void end_read(struct server *server) {
    char page[HOSTILE_PAGE];
    if (read(server->file->supply[0], page, sizeof page) == sizeof page) {
        answer(server->fd, server->reading, 0, page, sizeof page);
        server->reading = 0;
    }
}

static bool is_below(const struct fuse_file *file) { return file->held_name || file->like; }

static struct fuse_attr attributes(const struct server *server, uint64_t node) {
    struct fuse_attr attributes = {.ino = node,
                                   .size = node == ROOT ? 0 : server->file->bytes,
                                   .mode = node == ROOT ? S_IFDIR | 0755 : S_IFREG | 0755,
                                   .nlink = 1,
                                   .blksize = HOSTILE_PAGE};
    const struct stat *like = server->file->like;
    if (like && node == FILE_NODE) {
        attributes.ino = like->st_ino;
        attributes.ctime = (uint64_t)like->st_ctim.tv_sec;
        attributes.ctimensec = (uint32_t)like->st_ctim.tv_nsec;
    }
    return attributes;
}

static bool is_held(const struct fuse_file *file, const struct fuse_in_header *request) {
    char path[32], name[32] = "";
    if (!file->held_name || request->opcode != file->held_kind) {
        return false;
    }
    snprintf(path, sizeof path, "/proc/%u/comm", request->pid);
    FILE *comm = fopen(path, "re");
    bool is_read = comm && fgets(name, sizeof name, comm);
    if (comm) {
        fclose(comm);
    }
    name[strcspn(name, "\n")] = 0;
    return is_read && strcmp(name, file->held_name) == 0;
}

static void read_content(int fd, const struct fuse_file *file, const struct fuse_in_header *request) {
    static const char zeros[65536];
    struct fuse_read_in wanted;
    memcpy(&wanted, request + 1, sizeof wanted);
    size_t left = wanted.offset < file->bytes ? file->bytes - wanted.offset : 0;
    left = left < wanted.size ? left : wanted.size;
    left = left < sizeof zeros ? left : sizeof zeros;
    answer(fd, request->unique, 0, file->content ? file->content + wanted.offset : zeros, left);
}

static void serve_one(struct server *server, const struct fuse_in_header *request) {
    struct fuse_init_out init = {.major = FUSE_KERNEL_VERSION, .minor = 31, .max_write = 65536};
    struct fuse_entry_out entry = {.nodeid = FILE_NODE, .entry_valid = FOR_EVER, .attr_valid = FOR_EVER};
    struct fuse_attr_out attr = {.attr_valid = FOR_EVER, .attr = attributes(server, request->nodeid)};
    struct fuse_open_out open = {0};
    const struct fuse_statfs_out system = {.st = {.blocks = 8, .bsize = HOSTILE_PAGE, .namelen = 255}};
    entry.attr = attributes(server, FILE_NODE);
    if (is_held(server->file, request)) {
        return;
    }
    if (server->file->held_name) { /* to be asked again */
        entry.attr_valid = attr.attr_valid = 0;
        init.max_readahead = 0;
    }
    switch (request->opcode) {
    case FUSE_INIT:
        answer(server->fd, request->unique, 0, &init, sizeof init);
        break;
    case FUSE_LOOKUP:
        answer(server->fd, request->unique, 0, &entry, sizeof entry);
        break;
    case FUSE_GETATTR:
        answer(server->fd, request->unique, 0, &attr, sizeof attr);
        break;
    case FUSE_OPEN:
        if (server->file->opens-- > 0) {
            answer(server->fd, request->unique, 0, &open, sizeof open);
        }
        break;
    case FUSE_READ:
        if (is_below(server->file)) {
            read_content(server->fd, server->file, request);
        } else {
            begin_read(server, request->unique);
        }
        break;
    case FUSE_FORGET:
    case FUSE_BATCH_FORGET:
    case FUSE_INTERRUPT:
        break;
    case FUSE_FLUSH:
        if (!server->file->is_never_closed) {
            answer(server->fd, request->unique, 0, NULL, 0);
        }
        break;
    case FUSE_OPENDIR:
        answer(server->fd, request->unique, 0, &open, sizeof open);
        break;
    case FUSE_STATFS:
        answer(server->fd, request->unique, 0, &system, sizeof system);
        break;
    case FUSE_RELEASE:
    case FUSE_RELEASEDIR:
    case FUSE_ACCESS:
        answer(server->fd, request->unique, 0, NULL, 0);
        break;
    default:
        answer(server->fd, request->unique, ENOSYS, NULL, 0);
    }
}

_Noreturn static void serve(int fd, struct fuse_file *file) {
    static char request[FUSE_MIN_READ_BUFFER + 65536] __attribute__((aligned(8)));
    struct server server = {.fd = fd, .file = file};
    hostile_become(file->user, file->namespace);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    alarm(is_below(file) ? OVERLAY_SECONDS : file->seconds ? file->seconds : SERVER_SECONDS);
    for (;;) {
        struct pollfd from[] = {{.fd = fd, .events = POLLIN}, {.fd = file->supply[0], .events = POLLIN}};
        if (poll(from, server.reading ? 2 : 1, -1) < 0 || from[0].revents & POLLERR) {
            break;
        }
        if (server.reading && from[1].revents) {
            end_read(&server);
        }
        if (from[0].revents && read(fd, request, sizeof request) >= (ssize_t)sizeof(struct fuse_in_header)) {
            serve_one(&server, (const struct fuse_in_header *)(const void *)request);
        }
    }
    _exit(0);
}

/* Lays an overlay over what is mounted at a folder. Its own folders are in memory. */
static bool lay_over(const char *folder) {
    char options[160], path[64];
    static const char *const own[] = {"upper", "work"};
    if (mount("hostile", "/mnt", "tmpfs", 0, NULL) != 0) {
        return false;
    }
    for (size_t i = 0; i < sizeof own / sizeof *own; i++) {
        snprintf(path, sizeof path, "/mnt/%s", own[i]);
        mkdir(path, 0755);
    }
    snprintf(options, sizeof options, "lowerdir=%s,upperdir=/mnt/upper,workdir=/mnt/work", folder);
    return mount("hostile", folder, "overlay", 0, options) == 0;
}

int fuse_file_open(struct fuse_file *file) {
    char folder[] = "/tmp/hostile.XXXXXX", options[128], path[sizeof folder + 8];
    if (!mkdtemp(folder)) {
        hostile_fail(folder);
    }
    int server = open("/dev/fuse", O_RDWR | O_CLOEXEC);
    snprintf(options, sizeof options, "fd=%d,rootmode=40000,user_id=0,group_id=0,allow_other", server);
    if (server < 0 || unshare(CLONE_NEWNS) != 0 || mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) != 0 ||
        mount("hostile", folder, "fuse", 0, options) != 0) {
        rmdir(folder);
        hostile_skip("mounting a FUSE file system");
    }
    pid_t child = fork();
    if (child == 0) {
        serve(server, file);
    }
    close(server);
    if (child > 0 && is_below(file) && !lay_over(folder)) {
        rmdir(folder);
        hostile_skip("laying overlayfs over a FUSE file system");
    }
    snprintf(path, sizeof path, "%s/file", folder);
    int fd = child > 0 ? open(path, O_RDONLY | O_CLOEXEC) : -1;
    umount2(folder, MNT_DETACH);
    if (is_below(file)) {
        umount2(folder, MNT_DETACH);
        umount2("/mnt", MNT_DETACH);
    }
    rmdir(folder);
    if (fd < 0) {
        hostile_fail(path);
    }
    return fd;
}

void hostile_fuse(struct hostile *hostile) {
    const char *what = hostile_word(hostile, 0, "header");
    bool is_header = strcmp(what, "header") == 0, is_watched = strcmp(what, "watch") == 0;
    struct fuse_file file = {.user = hostile->user,
                             .namespace = hostile->namespace,
                             .bytes = 64 * HOSTILE_PAGE,
                             .opens = strcmp(what, "open") == 0 ? 1 : FOR_EVER,
                             .seconds = (unsigned)hostile_number(hostile, 1, 0),
                             .is_never_closed = strcmp(what, "exec") == 0 || is_watched};
    int fd = fuse_file_open(&file);
    void *at = mmap(NULL, file.bytes, is_header ? PROT_READ | PROT_WRITE : PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0);
    if (at == MAP_FAILED) {
        hostile_fail("mapping a FUSE file");
    }
    if (file.is_never_closed) { /* a look at a process during exec waits for the end of exec */
        hostile_ready(hostile);
        while (is_watched && !eden_watched_heap__create()) {
        }
        execl("/proc/self/exe", "honest", "honest", (char *)NULL);
        hostile_fail("becoming another program");
    }
    close(fd);
    if (is_header) {
        hostile_register(at);
    }
    hostile_ready(hostile);
    hostile_rest();
}

void hostile_overlay(struct hostile *hostile) {
    static const struct {
        const char *word;
        unsigned kind;
    } kinds[] = {{"stat", FUSE_GETATTR}, {"open", FUSE_OPEN}, {"read", FUSE_READ}, {"flush", FUSE_FLUSH}};
    const char *word = hostile_word(hostile, 0, "stat");
    struct fuse_file file = {.user = hostile->user,
                             .namespace = hostile->namespace,
                             .bytes = 64 * HOSTILE_PAGE,
                             .opens = FOR_EVER,
                             .held_name = hostile_word(hostile, 1, "edenscope")};
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        file.held_kind = strcmp(kinds[i].word, word) == 0 ? kinds[i].kind : file.held_kind;
    }
    int fd = fuse_file_open(&file);
    if (mmap(NULL, file.bytes, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0) == MAP_FAILED) {
        hostile_fail("mapping a file");
    }
    close(fd);
    hostile_ready(hostile);
    hostile_rest();
}

void hostile_identity(struct hostile *hostile) {
    const char *like_name = hostile_word(hostile, 0, "/proc/self/exe"), *name = hostile_word(hostile, 1, "/bin/sleep");
    struct stat like, status, shown;
    int program = open(name, O_RDONLY | O_CLOEXEC);
    if (stat(like_name, &like) != 0 || program < 0 || fstat(program, &status) != 0) {
        hostile_fail(like_name);
    }
    struct fuse_file file = {.user = hostile->user,
                             .namespace = hostile->namespace,
                             .bytes = (size_t)status.st_size,
                             .opens = FOR_EVER,
                             .like = &like,
                             .content = mmap(NULL, (size_t)status.st_size, PROT_READ, MAP_PRIVATE, program, 0)};
    int fd = file.content != MAP_FAILED ? fuse_file_open(&file) : -1;
    if (fd < 0 || fstat(fd, &shown) != 0) {
        hostile_fail(name);
    }
    pid_t child = fork();
    if (child == 0) {
        char *const arguments[] = {(char[]){"sleep"}, (char[]){"1"}, NULL}; /* time to look into it */
        hostile_become(hostile->user, hostile->namespace);
        fexecve(fd, arguments, (char *const[]){NULL});
        hostile_fail("becoming the program");
    }
    int result;
    bool is_same = shown.st_ino == like.st_ino && shown.st_ctim.tv_sec == like.st_ctim.tv_sec &&
                   shown.st_ctim.tv_nsec == like.st_ctim.tv_nsec;
    if (child < 0 || waitpid(child, &result, 0) != child || result != 0 || !is_same) {
        hostile_fail("showing the program");
    }
    close(fd);
    printf("device %jx\n", (uintmax_t)shown.st_dev);
    hostile_ready(hostile);
}
