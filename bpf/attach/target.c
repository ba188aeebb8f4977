/* Another process's memory and mapped files.
 *
 * 1. Purpose
 * Reads /proc of a process that may end, exec or be replaced by another at any moment, that may live in another mount
 * namespace, and that may be hostile; and writes to its memory.
 *
 * 2. Algorithm
 * /proc/PID/mem and /proc/PID/maps are opened once, and stay with the address space that the process had then. All
 * reading and writing of its memory uses that one descriptor: after an exec it reads and writes nothing, never another
 * program's memory.
 *
 * A mapped file is opened by what refers to the very file, never by the path in the process's mappings:
 * /proc/PID/map_files/RANGE (it needs CAP_SYS_ADMIN or CAP_CHECKPOINT_RESTORE); without that right by /proc/PID/exe (it
 * needs the right to trace the process), then by the path below /proc/PID/root, with each link resolved inside of it.
 * The file is first opened without any effect on it (O_PATH). It must be a regular file, and the one that is mapped;
 * only then it is opened to be read.
 *
 * 3. Invariants
 * I1. mem is opened before maps. If an exec comes between them, mem belongs to the former address space, which is gone
 *     or kept by those who share it (vfork). Former maps with newer mem would allow a write to the new program.
 * I2. Both belong to the process that started at the time given: its start is compared after they were opened.
 * I3. A write goes only to a page that these maps show private and writable. If the process replaces the page between
 *     check and write, the word still goes to its own memory.
 * I4. A page that is neither in memory nor in swap is not touched: its process may back it by a file system of its own,
 *     which never answers, and the kernel holds the process's mmap lock while it waits. An attempt to attach a uprobe
 *     to a file that this process maps then waits for that lock, and so does every fork() of the machine.
 *
 * 4. Failure
 * Each function fails with errno. Opening, reading and writing can wait for ever for the process (a page fault that it
 * answers itself): callers that trust no process call them in a process of their own.
 *
 * 5. What waits
 * While an exec is under way the kernel holds a lock of the process (exec_update_lock), and a process decides how long
 * that takes: an exec closes files, and their server may be the process's own (FUSE). These files of /proc/PID take
 * that lock, and only workers open them:
 *
 *     waits            environ, maps, mem, pagemap, io, stack, syscall; cmdline, for its page; in kernels since 2026
 *                      stat, wchan, map_files, exe, root, cwd, ns/
 *     does not wait    status, statm, schedstat, comm, timens_offsets, uid_map, cgroup (6.8), task/, task/TID/status,
 *                      task/TID/statm, task/TID/children, stat() of PID
 *
 * Nor do clock_gettime() of a process's CPU time, and what a pidfd says.
 *
 * 6. What costs
 * status lists the groups of the process, up to 65,536, which take the kernel 50 ms, however little of it is read. So
 * it is not read of processes that were not asked for by name: statm says whether there is memory, and a pidfd or the
 * owner of the folder whose process it is. Only finding its owner, which workers do, may need it before Linux 6.13. */
#include "attach/target.h"
#include "kernel/event.h"
#include "util/clock.h"
#include "util/hash.h"
#include "util/interrupt.h"
#include "util/pidfd.h"
#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <linux/nsfs.h>
#include <linux/openat2.h>
#include <mntent.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <time.h>
#include <unistd.h>

static FILE *open_proc(int pid, const char *name) {
    char path[128];
    snprintf(path, sizeof path, "/proc/%d/%s", pid, name);
    return fopen(path, "re");
}

/* Of /proc/PID/status. Reading it waits for nobody (5.), but takes time (6.). */
struct status {
    char state; /* a letter; 0: there is none, and all else is 0 */
    unsigned process, user;
};

static struct status read_status(int pid) {
    char line[256];
    struct status status = {0};
    FILE *file = open_proc(pid, "status");
    while (file && fgets(line, sizeof line, file)) { /* the process's name has no line's end: the kernel escapes it */
        sscanf(line, "State: %c", &status.state);
        sscanf(line, "Tgid: %u", &status.process);
        sscanf(line, "Uid: %u", &status.user);
    }
    if (file) {
        fclose(file);
    }
    return status;
}

enum memory_kept { MEMORY_UNKNOWN, MEMORY_NONE, MEMORY_SOME };

/* Of a thread. A thread of the kernel has no memory, nor has one that has ended. */
static enum memory_kept memory_of(int pid, int thread) {
    char name[64];
    unsigned long pages = 0;
    snprintf(name, sizeof name, "task/%d/statm", thread);
    FILE *file = open_proc(pid, name);
    bool is_read = file && fscanf(file, "%lu", &pages) == 1;
    if (file) {
        fclose(file);
    }
    return !is_read ? MEMORY_UNKNOWN : pages == 0 ? MEMORY_NONE : MEMORY_SOME;
}

/* Whether the process has several threads, the first one included if it has ended. */
static bool has_threads(int pid) {
    char path[64];
    struct stat status;
    snprintf(path, sizeof path, "/proc/%d/task", pid);
    return stat(path, &status) == 0 && status.st_nlink > 3; /* a folder for each, ".", and the one in /proc/PID */
}

bool target_is_over(int pid) {
    int pidfd = target_pidfd(pid);
    bool is_over = pidfd >= 0 ? target_has_ended(pidfd) : errno == ESRCH;
    if (pidfd >= 0) {
        close(pidfd);
    }
    return is_over;
}

bool target_are_hidden(void) {
    FILE *mounts = setmntent("/proc/self/mounts", "re");
    bool hidden = false;
    for (struct mntent *mount; mounts && (mount = getmntent(mounts));) {
        hidden =
            strcmp(mount->mnt_dir, "/proc") == 0 ? hasmntopt(mount, "hidepid") != NULL : hidden; /* the last holds */
    }
    if (mounts) {
        endmntent(mounts);
    }
    return hidden;
}

static bool has_folder(int pid, struct stat *status) {
    char path[32];
    snprintf(path, sizeof path, "/proc/%d", pid);
    return stat(path, status) == 0;
}

int target_process_of(int pid) {
    struct stat status;
    int pidfd = has_folder(pid, &status) ? target_pidfd(pid) : -1;
    if (pidfd < 0) { /* a thread's id */
        return (int)read_status(pid).process;
    }
    close(pidfd);
    return pid;
}

bool target_is_kernel_thread(int pid) {
    return memory_of(pid, pid) == MEMORY_NONE && !has_threads(pid) && !target_is_over(pid);
}

bool target_lacks_first_thread(int pid) {
    return memory_of(pid, pid) == MEMORY_NONE && (has_threads(pid) || target_is_over(pid));
}

char target_state(int pid) { return read_status(pid).state; }

/* The real user id, from where it takes no time. False: before Linux 6.13, or there is no such process. */
static bool quick_user(int pid, uint32_t *user) {
    enum { HAS_CREDENTIALS = 2 };
    struct pidfd_credentials found = {.mask = HAS_CREDENTIALS};
    int pidfd = target_pidfd(pid);
    bool is_known =
        pidfd >= 0 && ioctl(pidfd, PIDFD_GET_CREDENTIALS, &found) == 0 && (found.mask & HAS_CREDENTIALS) != 0;
    if (pidfd >= 0) {
        close(pidfd);
    }
    *user = found.ruid;
    return is_known;
}

unsigned target_user(int pid) {
    uint32_t user;
    return quick_user(pid, &user) ? user : target_user_now(pid, 0);
}

/* The folder is its effective user's; what is in it is root's where the process cannot be dumped. */
uint32_t target_user_now(int pid, uint32_t ended) {
    struct stat status;
    return has_folder(pid, &status) ? status.st_uid : ended;
}

int target_pidfd(int pid) { return (int)syscall(SYS_pidfd_open, pid, 0); }

bool target_has_ended(int pidfd) {
    struct pollfd process = {.fd = pidfd, .events = POLLIN};
    return poll(&process, 1, 0) > 0;
}

enum { STAT_BYTES = 1024 };

/* The state, which is field 3 of its stat, and what follows; NULL: there is none. */
static const char *read_stat(int pid, char text[STAT_BYTES]) {
    FILE *file = open_proc(pid, "stat");
    if (!file) {
        return NULL;
    }
    size_t length = fread(text, 1, STAT_BYTES - 1, file);
    fclose(file);
    text[length] = 0;
    const char *at = strrchr(text, ')'); /* field 2 is the command in parentheses and may hold anything */
    return at && at[1] == ' ' ? at + 2 : NULL;
}

uint64_t target_start_ns(int pid) {
    char text[STAT_BYTES];
    const char *at = read_stat(pid, text); /* the start is field 22 */
    if (!at) {
        return 0;
    }
    bool gone = *at == 'Z' || *at == 'X';
    for (int field = 3; field < 22; field++) {
        at = strchr(at, ' ');
        if (!at) {
            return 0;
        }
        at++;
        /* A first thread that has left is a zombie, too, while others go on: field 20 counts them all. */
        if (field + 1 == 20 && gone && strtoul(at, NULL, 10) <= 1) {
            return 0;
        }
    }
    return strtoull(at, NULL, 10) * PROCESS_START_STEP_NS;
}

void target_command(int pid, char command[64]) {
    FILE *file = open_proc(pid, "comm");
    size_t length = file ? fread(command, 1, 63, file) : 0;
    if (file) {
        fclose(file);
    }
    while (length > 0 && command[length - 1] == '\n') {
        length--;
    }
    command[length] = 0;
}

static bool ends_with(const char *name, size_t length, const char *ending) {
    const size_t bytes = strlen(ending);
    return length > bytes && memcmp(name + length - bytes, ending, bytes) == 0;
}

/* Of /a.slice/b.service/c it is b.service, of /a/b it is b. What lies outside the tool's namespace begins with "..". */
static void find_unit(const char *path, char unit[64]) {
    bool is_unit = false;
    for (const char *name = path; *name; name += strspn(name, "/")) {
        const size_t length = strcspn(name, "/");
        const bool is_one = ends_with(name, length, ".service") || ends_with(name, length, ".scope");
        const bool is_outside = length == 2 && memcmp(name, "..", 2) == 0;
        if (length != 0 && !is_outside && (is_one || !is_unit)) {
            snprintf(unit, 64, "%.*s", (int)length, name);
        }
        is_unit = is_unit || is_one;
        name += length;
    }
}

bool target_unit(int pid, char unit[64]) {
    char path[PATH_MAX];
    unit[0] = 0;
    const bool is_read = target_cgroup(pid, path, sizeof path);
    if (is_read) {
        find_unit(path, unit);
    }
    return is_read;
}

/* How far the clock of a process's children is ahead of the first time namespace's; pid 0: of ours. It is the process's
 * own, unless it has put its children into another namespace: which one is its own, only rights would tell. */
static int64_t clock_offset(int pid) {
    char path[64] = "/proc/self/timens_offsets";
    long long seconds = 0, ns = 0;
    if (pid) {
        snprintf(path, sizeof path, "/proc/%d/timens_offsets", pid);
    }
    FILE *file = fopen(path, "re");
    if (file && fscanf(file, "monotonic %lld %lld", &seconds, &ns) != 2) {
        seconds = ns = 0;
    }
    if (file) {
        fclose(file);
    }
    return (int64_t)(seconds * 1000000000 + ns);
}

int64_t target_clock_ahead(int pid) { return clock_offset(pid) - clock_offset(0); }

/* ---- opening ---------------------------------------------------------------------------------------------------- */

static int open_proc_descriptor(int pid, const char *name, int flags) {
    char path[128];
    snprintf(path, sizeof path, "/proc/%d/%s", pid, name);
    return open(path, flags | O_CLOEXEC);
}

static int open_of_thread(int pid, int thread, const char *name, int flags) {
    char path[64];
    snprintf(path, sizeof path, "task/%d/%s", thread, name);
    return open_proc_descriptor(pid, path, flags);
}

/* A thread through which the address space is reached: where the first one has ended and others go on, the newest. */
static int living_thread(int pid) {
    char path[64];
    int found = memory_of(pid, pid) == MEMORY_SOME ? pid : 0;
    snprintf(path, sizeof path, "/proc/%d/task", pid);
    DIR *tasks = found ? NULL : opendir(path);
    struct dirent *entry;
    while (tasks && (entry = readdir(tasks))) {
        int thread = atoi(entry->d_name);
        found = thread > 0 && memory_of(pid, thread) == MEMORY_SOME ? thread : found;
    }
    if (tasks) {
        closedir(tasks);
    }
    return found ? found : pid;
}

/* The groups of a process are read here alone, and only of those of our own namespace. In another one any user may
 * have as many of them as there are. */
static uint32_t real_user(int pid) {
    uint32_t user;
    return quick_user(pid, &user) ? user : read_status(pid).user;
}

/* Reads a file of /proc to its end. 0: it cannot be read, or is longer. */
static size_t read_whole(int pid, const char *name, char *text, size_t most) {
    FILE *file = open_proc(pid, name);
    size_t length = file ? fread(text, 1, most, file) : 0;
    if (file) {
        fclose(file);
    }
    return length < most ? length : 0;
}

/* Whether its user namespace maps ids as ours does: it is ours, or one that root has made, with the same ids. */
static bool has_our_ids(int pid) {
    enum { MOST = 16384 }; /* 340 ranges, a line each */
    char own[MOST], its[MOST];
    const size_t length = read_whole(getpid(), "uid_map", own, MOST);
    if (length == 0 && access("/proc/self/uid_map", F_OK) != 0) {
        return errno == ENOENT; /* this kernel has no user namespaces */
    }
    return length != 0 && read_whole(pid, "uid_map", its, length + 1) == length && memcmp(own, its, length) == 0;
}

/* From a pidfd, since Linux 6.11, if the caller may trace the process; -1: not known. */
static int namespace_of(int pid) {
    int pidfd = target_pidfd(pid), namespace = pidfd >= 0 ? ioctl(pidfd, PIDFD_OPEN_USER_NAMESPACE, 0L) : -1;
    if (pidfd >= 0) {
        close(pidfd);
    }
    return namespace;
}

/* Takes the descriptor. */
static uint32_t owner_in(int namespace, int pid) {
    struct stat own, at;
    uid_t owner = 0;
    uint32_t number = 0;
    bool is_known = stat("/proc/self/ns/user", &own) == 0;
    while (is_known && namespace >= 0 && fstat(namespace, &at) == 0 &&
           (at.st_ino != own.st_ino || at.st_dev != own.st_dev)) {
        ioctl(namespace, NS_GET_OWNER_UID, &owner);
        number = (uint32_t)at.st_ino;
        int parent = ioctl(namespace, NS_GET_PARENT);
        close(namespace);
        namespace = parent;
    }
    if (namespace >= 0) {
        close(namespace);
    }
    if (number == 0) {
        return real_user(pid);
    }
    return owner == 0 ? number : owner;
}

bool target_owner_at_once(int pid, uint32_t *owner) {
    int namespace = namespace_of(pid);
    bool is_known = namespace >= 0 || has_our_ids(pid);
    *owner = is_known ? owner_in(namespace, pid) : 0;
    return is_known;
}

uint32_t target_owner(int pid) {
    uint32_t owner;
    return target_owner_at_once(pid, &owner) ? owner : owner_in(open_proc_descriptor(pid, "ns/user", O_RDONLY), pid);
}

bool target_is_stopped(int pid) {
    char state = target_state(pid);
    return state == 'T' || state == 't';
}

uint64_t target_cpu_ns(int pid) {
    clockid_t clock;
    struct timespec used;
    bool is_known = clock_getcpuclockid(pid, &clock) == 0 && clock_gettime(clock, &used) == 0;
    return is_known ? (uint64_t)used.tv_sec * 1000000000u + (uint64_t)used.tv_nsec : 0;
}

uint64_t target_queue_ns(int pid) {
    uint64_t ran_ns, queue_ns;
    FILE *file = open_proc(pid, "schedstat");
    bool is_read = file && fscanf(file, "%" SCNu64 " %" SCNu64, &ran_ns, &queue_ns) == 2;
    if (file) {
        fclose(file);
    }
    return is_read ? queue_ns : 0;
}

/* Opens the address space through a living thread. errno is that of maps. *is_lost: the thread has ended meanwhile, the
 * process has not. */
static void open_through_thread(struct target *target, int pid, bool writable, bool *is_lost) {
    int thread = living_thread(pid);
    target->memory.mem = open_of_thread(pid, thread, "mem", writable ? O_RDWR : O_RDONLY); /* I1 */
    target->mem_error = target->memory.mem < 0 ? errno : 0;
    target->memory.pagemap = open_of_thread(pid, thread, "pagemap", O_RDONLY);
    target->maps = open_of_thread(pid, thread, "maps", O_RDONLY);
    int error = errno;
    *is_lost =
        (target->memory.mem < 0 || target->maps < 0) && target_lacks_first_thread(pid) && target_start_ns(pid) != 0;
    errno = *is_lost ? EAGAIN : error;
}

bool target_open(struct target *target, int pid, uint64_t start_ns, bool writable) {
    *target = (struct target){.pid = pid, .user = target_user_now(pid, UINT32_MAX), .memory = {-1, -1}, .maps = -1};
    bool is_lost = true;
    for (int tries = 0; is_lost && tries < TARGET_TRIES; tries++) {
        target_close(target);
        open_through_thread(target, pid, writable, &is_lost);
    }
    int error = errno;
    target->start_ns = target->maps >= 0 ? target_start_ns(pid) : 0;
    if (target->maps >= 0 && !is_lost && target->start_ns != 0 &&
        (start_ns == 0 || target->start_ns == start_ns)) { /* I2 */
        return true;
    }
    error = target->maps >= 0 && !is_lost ? ESRCH : error;
    target_close(target);
    errno = error;
    return false;
}

void target_close(struct target *target) {
    const int descriptors[] = {target->memory.mem, target->memory.pagemap, target->maps};
    for (size_t i = 0; i < sizeof descriptors / sizeof *descriptors; i++) {
        if (descriptors[i] >= 0) {
            close(descriptors[i]);
        }
    }
    target->memory = (struct memory){-1, -1};
    target->maps = -1;
}

/* ---- mappings --------------------------------------------------------------------------------------------------- */

static bool parse_mapping(const char *line, struct mapping *mapping) {
    char rights[5] = "";
    int path = 0;
    *mapping = (struct mapping){0};
    uint32_t major, minor;
    if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %4s %" SCNx64 " %" SCNx32 ":%" SCNx32 " %" SCNu64 " %n", &mapping->start,
               &mapping->end, rights, &mapping->offset, &major, &minor, &mapping->inode, &path) < 7) {
        return false;
    }
    mapping->device = makedev(major, minor);
    mapping->writable = rights[1] == 'w';
    mapping->executable = rights[2] == 'x';
    mapping->is_private = rights[3] == 'p';
    if (path > 0) {
        snprintf(mapping->path, sizeof mapping->path, "%.*s", (int)strcspn(line + path, "\n"), line + path);
    }
    return true;
}

bool target_mappings(int maps, bool (*on_mapping)(void *context, const struct mapping *mapping), void *context) {
    int descriptor = fcntl(maps, F_DUPFD_CLOEXEC, 0);
    FILE *file = descriptor >= 0 ? fdopen(descriptor, "re") : NULL;
    if (!file) {
        int error = errno;
        if (descriptor >= 0) {
            close(descriptor);
        }
        errno = error;
        return false;
    }
    rewind(file);
    char *line = NULL;
    size_t size = 0;
    errno = 0;
    while (getline(&line, &size, file) > 0) {
        struct mapping mapping;
        if (parse_mapping(line, &mapping) && !on_mapping(context, &mapping)) {
            break;
        }
    }
    bool read = !ferror(file);
    int error = errno;
    free(line);
    fclose(file);
    errno = error;
    return read;
}

/* ---- mapped files ----------------------------------------------------------------------------------------------- */

struct own_look {
    const void *at;
    const struct file_identity *wanted;
    bool is_same;
};

static bool on_own_mapping(void *context, const struct mapping *mapping) {
    struct own_look *look = context;
    if (mapping->start != (uintptr_t)look->at) {
        return true;
    }
    look->is_same = mapping->device == look->wanted->device && mapping->inode == look->wanted->inode;
    return false;
}

/* Some file systems (btrfs, overlayfs) have one device number in fstat and another in maps. So the file is mapped here,
 * and its numbers are compared in maps. */
static bool is_same_when_mapped(int fd, const struct file_identity *wanted) {
    struct own_look look = {.at = mmap(NULL, 1, PROT_READ, MAP_PRIVATE, fd, 0), .wanted = wanted};
    int maps = look.at != MAP_FAILED ? open("/proc/self/maps", O_RDONLY | O_CLOEXEC) : -1;
    if (maps >= 0) {
        target_mappings(maps, on_own_mapping, &look);
        close(maps);
    }
    if (look.at != MAP_FAILED) {
        munmap((void *)look.at, 1);
    }
    return look.is_same;
}

static bool is_same(const struct stat *status, int fd, const struct file_identity *wanted) {
    return (status->st_ino == wanted->inode && status->st_dev == wanted->device) || is_same_when_mapped(fd, wanted);
}

bool target_is_file(const struct regular *file, const struct file_identity *wanted) {
    struct stat status;
    int fd = regular_read(file->fd, &status);
    bool is_wanted = fd >= 0 && is_same(&status, fd, wanted);
    if (fd >= 0) {
        close(fd);
    }
    return is_wanted;
}

/* Takes `path`, opened with O_PATH. False with errno: it is not the mapped file. */
static bool take_same(int path, const struct mapping *mapping, struct regular *file) {
    const struct file_identity wanted = {mapping->device, mapping->inode};
    *file = (struct regular){.fd = path};
    int fd = path >= 0 ? regular_read(path, &file->status) : -1, error = errno;
    bool is_mapped = fd >= 0 && is_same(&file->status, fd, &wanted);
    if (fd >= 0) {
        close(fd);
        error = ENOENT;
    }
    if (!is_mapped) {
        regular_close(file);
    }
    errno = error;
    return is_mapped;
}

static int open_below_root(int pid, const char *path) {
    int root = open_proc_descriptor(pid, "root", O_PATH | O_DIRECTORY);
    struct open_how how = {.flags = O_PATH | O_CLOEXEC, .resolve = RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS};
    int fd = root >= 0 ? (int)syscall(SYS_openat2, root, path, &how, sizeof how) : -1;
    int error = errno;
    if (root >= 0) {
        close(root);
    }
    errno = error;
    return fd;
}

bool target_open_mapping(int pid, const struct mapping *mapping, struct regular *file) {
    char range[64];
    snprintf(range, sizeof range, "map_files/%" PRIx64 "-%" PRIx64, mapping->start, mapping->end);
    int path = open_proc_descriptor(pid, range, O_PATH);
    const int process = pid;
    for (int tries = 0;
         tries < TARGET_TRIES && path < 0 && (errno == ESRCH || errno == ENOENT) && target_lacks_first_thread(process);
         tries++) {
        pid = living_thread(process); /* its own folder has map_files, task/ has not */
        path = open_proc_descriptor(pid, range, O_PATH);
    }
    /* With the right to this one no other is tried: the process says what is mapped, and could have any file opened. */
    bool is_refused = path < 0 && (errno == EPERM || errno == EACCES);
    bool is_open = take_same(path, mapping, file);
    if (is_refused) {
        is_open = take_same(open_proc_descriptor(pid, "exe", O_PATH), mapping, file);
    }
    if (is_refused && !is_open && errno != ENOTSUP) {
        is_open = take_same(open_below_root(pid, mapping->path), mapping, file);
    }
    return is_open;
}

/* ---- memory ----------------------------------------------------------------------------------------------------- */

/* Whether the page of an address is in memory or in swap. Between this look and a read the process can take it away:
 * the reader's deadline is for that. False with errno: the address space is gone. */
static bool look_for_page(struct memory memory, uint64_t address, bool *is_there) {
    const uint64_t present = 1ull << 63, swapped = 1ull << 62, page_bytes = (uint64_t)sysconf(_SC_PAGESIZE);
    uint64_t entry = present;
    if (memory.pagemap >= 0 && pread(memory.pagemap, &entry, sizeof entry,
                                     (off_t)(address / page_bytes * sizeof entry)) != (ssize_t)sizeof entry) {
        errno = ESRCH;
        return false;
    }
    *is_there = entry & (present | swapped);
    return true;
}

bool target_read(struct memory memory, uint64_t address, void *to, size_t bytes) {
    const uint64_t page_bytes = (uint64_t)sysconf(_SC_PAGESIZE);
    for (size_t done = 0; done < bytes;) {
        uint64_t at, left = bytes - done;
        if (__builtin_add_overflow(address, done, &at) || at > INT64_MAX) {
            errno = EFAULT;
            return false;
        }
        uint64_t piece = page_bytes - at % page_bytes;
        piece = piece < left ? piece : left;
        bool is_there;
        if (!look_for_page(memory, at, &is_there)) {
            return false;
        }
        if (!is_there) {
            memset((char *)to + done, 0, piece); /* I4 */
        } else if (pread(memory.mem, (char *)to + done, piece, (off_t)at) != (ssize_t)piece) {
            errno = EFAULT;
            return false;
        }
        done += piece;
    }
    return true;
}

struct page_look {
    uint64_t address;
    bool is_writable;
};

static bool on_page(void *context, const struct mapping *mapping) {
    struct page_look *look = context;
    if (look->address < mapping->start || look->address >= mapping->end) {
        return true;
    }
    look->is_writable = mapping->writable && mapping->is_private && mapping->end - look->address >= sizeof(uint64_t);
    return false;
}

bool target_write(const struct target *target, uint64_t address, uint64_t value) {
    struct page_look look = {.address = address};
    bool is_there = false;
    if (!target_mappings(target->maps, on_page, &look) || !look.is_writable ||
        !look_for_page(target->memory, address, &is_there) || !is_there) {
        errno = EFAULT;
        return false;
    }
    return pwrite(target->memory.mem, &value, sizeof value, (off_t)address) == (ssize_t)sizeof value;
}

/* ---- other processes -------------------------------------------------------------------------------------------- */

static bool children_of_task(int pid, const char *task, bool (*on_child)(void *context, int child), void *context) {
    char name[64];
    snprintf(name, sizeof name, "task/%.20s/children", task);
    FILE *file = open_proc(pid, name);
    bool goes_on = true;
    int child;
    while (goes_on && file && fscanf(file, "%d", &child) == 1) {
        goes_on = on_child(context, child);
    }
    if (file) {
        fclose(file);
    }
    return goes_on;
}

bool target_children(int pid, bool (*on_child)(void *context, int child), void *context) {
    char path[64];
    snprintf(path, sizeof path, "/proc/%d/task", pid);
    DIR *tasks = opendir(path);
    struct dirent *entry;
    bool goes_on = true;
    while (goes_on && tasks && (entry = readdir(tasks))) {
        goes_on = !isdigit((unsigned char)entry->d_name[0]) || children_of_task(pid, entry->d_name, on_child, context);
    }
    if (tasks) {
        closedir(tasks);
    }
    return goes_on;
}

void target_processes(void (*on_process)(void *context, int pid), void *context) {
    DIR *directory = opendir("/proc");
    struct dirent *entry;
    while (directory && (entry = readdir(directory))) {
        char *end;
        long pid = strtol(entry->d_name, &end, 10);
        if (pid > 0 && *end == 0) {
            on_process(context, (int)pid);
        }
    }
    if (directory) {
        closedir(directory);
    }
}

static bool has_time(uint64_t end_ns) { return now_ns() < end_ns && interrupt_count() == 0; }

static void processes_in(int folder, uint64_t end_ns, unsigned depth, void (*on_process)(void *context, int pid),
                         void *context) {
    enum { DEEPEST = 64 };
    if (!has_time(end_ns)) {
        return;
    }
    int list = openat(folder, "cgroup.procs", O_RDONLY | O_CLOEXEC);
    FILE *file = list >= 0 ? fdopen(list, "r") : NULL;
    int pid;
    while (file && has_time(end_ns) && fscanf(file, "%d", &pid) == 1) {
        if (pid > 0) { /* 0: of a pid namespace that is not below ours */
            on_process(context, pid);
        }
    }
    if (file) {
        fclose(file);
    }
    int again = depth < DEEPEST ? openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;
    DIR *directory = again >= 0 ? fdopendir(again) : NULL;
    struct dirent *entry;
    while (directory && has_time(end_ns) && (entry = readdir(directory))) {
        int below = entry->d_type == DT_DIR && entry->d_name[0] != '.'
                        ? openat(folder, entry->d_name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
                        : -1;
        if (below >= 0) {
            processes_in(below, end_ns, depth + 1, on_process, context);
            close(below);
        }
    }
    if (directory) {
        closedir(directory);
    }
}

void target_processes_of_cgroup(int folder, uint64_t end_ns, void (*on_process)(void *context, int pid),
                                void *context) {
    processes_in(folder, end_ns, 0, on_process, context);
}

/* /proc/PID/status: reading it waits for no lock that a process can hold. */
struct target_code target_code(int pid) {
    static const char *const fields[] = {"Name:", "PPid:", "Uid:", "VmExe:", "VmLib:"};
    struct target_code code = {.mark = HASH_EMPTY};
    FILE *file = open_proc(pid, "status");
    char line[256];
    bool has_code = false;
    while (file && fgets(line, sizeof line, file)) {
        for (size_t i = 0; i < sizeof fields / sizeof *fields; i++) {
            if (strncmp(line, fields[i], strlen(fields[i])) == 0) {
                for (const char *at = line; *at; at++) {
                    code.mark = hash_add(code.mark, (unsigned char)*at);
                }
            }
        }
        has_code = has_code || strncmp(line, "VmLib:", 6) == 0; /* kernel threads have none, nor have zombies */
        code.user = strncmp(line, "Uid:", 4) == 0 ? (unsigned)strtoul(line + 4, NULL, 10) : code.user;
    }
    if (file) {
        fclose(file);
    }
    code.mark = has_code ? code.mark | 1 : 0;
    return code;
}

bool target_cgroup(int pid, char *path, size_t size) {
    FILE *file = open_proc(pid, "cgroup");
    char *line = NULL; /* read whole: else the end of a long path could pass for a line of version 2 */
    size_t room = 0;
    bool found = false;
    while (file && !found && getline(&line, &room, file) > 0) {
        found = strncmp(line, "0::/", 4) == 0;
    }
    if (file) {
        fclose(file);
    }
    if (found) {
        line[strcspn(line, "\n")] = 0;
        found = (size_t)snprintf(path, size, "%s", line + 3) < size;
    }
    free(line);
    return found;
}
