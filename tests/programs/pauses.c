/* pauses WHAT COLLECTIONS [FILE]: makes full collections, in each visit of whose roots the program does WHAT; for
 * test_pauses.sh. Prints how many visits there were, and the nanoseconds of CPU that each burns at least.
 *
 *     sleep   sleeps for SLEEP_NS
 *     fault   touches FAULTS fresh pages
 *     read    reads the pages of FILE by page faults; none is in memory
 *     burn    computes for BURN_NS of its CPU time
 *     write   writes to FILE and waits until that is on the disk
 *     exec    in a thread that is not the first: executes the program anew, COLLECTIONS times in all */
#include <fcntl.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "node_list.h"

enum {
    NODES = 1000,
    SLOTS = 4,
    SLEEP_NS = 20000000,
    BURN_NS = 100000000,
    FAULTS = 256,
    PAGE = 4096,
    WRITTEN = 1 << 20
};

struct visits {
    const char *what;
    int file, left; /* left: how many collections, with the one under way */
    uint64_t count;
    bool failed;
};

static uint64_t cpu_ns(void) {
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

static void burn(void) {
    const uint64_t end = cpu_ns() + BURN_NS;
    while (cpu_ns() < end) {
    }
}

static bool fault(void) {
    char *pages = mmap(NULL, (size_t)FAULTS * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (pages == MAP_FAILED || madvise(pages, (size_t)FAULTS * PAGE, MADV_NOHUGEPAGE) != 0) {
        return false;
    }
    for (size_t i = 0; i < FAULTS; i++) {
        pages[i * PAGE] = 1;
    }
    return munmap(pages, (size_t)FAULTS * PAGE) == 0;
}

static bool read_pages(int file) {
    struct stat status;
    if (fstat(file, &status) != 0 || posix_fadvise(file, 0, 0, POSIX_FADV_DONTNEED) != 0) {
        return false;
    }
    const size_t bytes = (size_t)status.st_size;
    const volatile char *pages = mmap(NULL, bytes, PROT_READ, MAP_PRIVATE, file, 0);
    if (pages == MAP_FAILED || madvise((void *)pages, bytes, MADV_RANDOM) != 0) {
        return false;
    }
    for (size_t i = 0; i < bytes; i += PAGE) {
        (void)pages[i];
    }
    return munmap((void *)pages, bytes) == 0;
}

static bool write_through(int file) {
    static char bytes[WRITTEN];
    memset(bytes, 'x', sizeof bytes);
    return pwrite(file, bytes, sizeof bytes, 0) == (ssize_t)sizeof bytes && fdatasync(file) == 0;
}

static bool execute(int left) {
    char text[16];
    snprintf(text, sizeof text, "%d", left);
    return left == 0 || execl("/proc/self/exe", "pauses", "exec", text, (char *)NULL) == 0;
}

static void visit(void *context, eden_visit *roots) {
    struct visits *visits = context;
    bool ok = true;
    (void)roots;
    visits->count++;
    switch (visits->what[0]) {
    case 's':
        nanosleep(&(struct timespec){.tv_nsec = SLEEP_NS}, NULL);
        break;
    case 'f':
        ok = fault();
        break;
    case 'r':
        ok = read_pages(visits->file);
        break;
    case 'b':
        burn();
        break;
    case 'e':
        ok = execute(visits->left - 1);
        break;
    default:
        ok = write_through(visits->file);
    }
    visits->failed = visits->failed || !ok;
}

struct arguments {
    int count;
    char **at;
    int status;
};

static void *run(void *context) {
    struct arguments *arguments = context;
    char **at = arguments->at;
    struct node_list list;
    struct visits visits = {.what = at[1], .file = -1, .left = atoi(at[2])};
    bool ok = node_list_begin(&list, SLOTS);
    if (!ok) {
        arguments->status = 1;
        return NULL;
    }
    visits.file = arguments->count > 3 ? open(at[3], O_RDWR | O_CREAT | O_CLOEXEC, 0600) : -1;
    EDEN_FRAME(list.mutator, local, 1);
    ok = node_list_grow(&list, &local[0], NODES) && eden_visitor_add(list.heap, visit, &visits);
    for (; ok && visits.left > 0; visits.left--) {
        eden_full_collect(list.mutator);
    }
    printf("%" PRIu64 " visits\n", visits.count);
    arguments->status = node_list_end(&list, "pauses", ok && !visits.failed);
    return NULL;
}

int main(int argc, char **argv) {
    struct arguments arguments = {.count = argc, .at = argv, .status = 1};
    pthread_t thread;
    if (argc < 3) {
        fputs("usage: pauses sleep|fault|read|burn|write|exec COLLECTIONS [FILE]\n", stderr);
        return 2;
    }
    if (argv[1][0] != 'e') {
        run(&arguments);
    } else if (pthread_create(&thread, NULL, run, &arguments) == 0) {
        pthread_join(thread, NULL);
    }
    return arguments.status;
}
