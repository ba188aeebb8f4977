/* A FUSE file system of one file, which answers whatever it takes to map the file, and not a read of it.
 *
 * It is mounted in a mount namespace of the process's own and unmounted as soon as the file is open: nothing is left
 * of it but the mapping. Its server is a thread; its end ends the connection, and the waits of others with it. */
#include "hostile.h"
#include <errno.h>
#include <fcntl.h>
#include <linux/fuse.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

enum { ROOT = FUSE_ROOT_ID, FILE_NODE = 2, FILE_BYTES = 64 * HOSTILE_PAGE, FOR_EVER = 1000000 };

struct server {
    int fd;
    int opens; /* that are answered yet */
};

static void answer(int fd, uint64_t unique, int error, const void *body, size_t bytes) {
    struct fuse_out_header header = {.len = (uint32_t)(sizeof header + bytes), .error = -error, .unique = unique};
    struct iovec parts[] = {{&header, sizeof header}, {(void *)(uintptr_t)body, bytes}};
    if (writev(fd, parts, bytes ? 2 : 1) < 0) {
        return; /* who asked has gone */
    }
}

static struct fuse_attr attributes(uint64_t node) {
    return (struct fuse_attr){.ino = node,
                              .size = node == ROOT ? 0 : FILE_BYTES,
                              .mode = node == ROOT ? S_IFDIR | 0755 : S_IFREG | 0755,
                              .nlink = 1,
                              .blksize = HOSTILE_PAGE};
}

static void serve_one(struct server *server, const struct fuse_in_header *request) {
    struct fuse_init_out init = {.major = FUSE_KERNEL_VERSION, .minor = 31, .max_write = 65536};
    struct fuse_entry_out entry = {.nodeid = FILE_NODE, .entry_valid = FOR_EVER, .attr_valid = FOR_EVER};
    struct fuse_attr_out attr = {.attr_valid = FOR_EVER, .attr = attributes(request->nodeid)};
    struct fuse_open_out open = {0};
    entry.attr = attributes(FILE_NODE);
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
        if (server->opens-- > 0) {
            answer(server->fd, request->unique, 0, &open, sizeof open);
        }
        break;
    case FUSE_READ:
    case FUSE_FORGET:
    case FUSE_BATCH_FORGET:
    case FUSE_INTERRUPT:
        break;
    case FUSE_FLUSH:
    case FUSE_RELEASE:
    case FUSE_ACCESS:
        answer(server->fd, request->unique, 0, NULL, 0);
        break;
    default:
        answer(server->fd, request->unique, ENOSYS, NULL, 0);
    }
}

static void *serve(void *context) {
    static char request[FUSE_MIN_READ_BUFFER + 65536] __attribute__((aligned(8)));
    struct server *server = context;
    while (read(server->fd, request, sizeof request) >= (ssize_t)sizeof(struct fuse_in_header)) {
        serve_one(server, (const struct fuse_in_header *)(const void *)request);
    }
    return NULL;
}

/* Mounts, opens and unmounts. Returns the file. */
static int open_file(struct server *server) {
    char folder[] = "/tmp/hostile.XXXXXX", options[128], path[sizeof folder + 8];
    if (!mkdtemp(folder)) {
        hostile_fail(folder);
    }
    server->fd = open("/dev/fuse", O_RDWR | O_CLOEXEC);
    snprintf(options, sizeof options, "fd=%d,rootmode=40000,user_id=0,group_id=0,allow_other", server->fd);
    if (server->fd < 0 || unshare(CLONE_NEWNS) != 0 || mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) != 0 ||
        mount("hostile", folder, "fuse", 0, options) != 0) {
        rmdir(folder);
        hostile_skip("mounting a FUSE file system");
    }
    pthread_t thread;
    if (pthread_create(&thread, NULL, serve, server) != 0) {
        hostile_fail("starting a thread");
    }
    snprintf(path, sizeof path, "%s/file", folder);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    umount2(folder, MNT_DETACH);
    rmdir(folder);
    if (fd < 0) {
        hostile_fail(path);
    }
    return fd;
}

void hostile_fuse(struct hostile *hostile) {
    static struct server server;
    const char *what = hostile_word(hostile, 0, "header");
    bool is_header = strcmp(what, "header") == 0;
    server.opens = strcmp(what, "open") == 0 ? 1 : 1000000;
    int fd = open_file(&server);
    void *at = mmap(NULL, FILE_BYTES, is_header ? PROT_READ | PROT_WRITE : PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0);
    if (at == MAP_FAILED) {
        hostile_fail("mapping a FUSE file");
    }
    close(fd); /* while the server lives: at the end it would wait for itself */
    if (is_header) {
        hostile_register(at);
    }
    hostile_ready(hostile);
    hostile_rest();
}
