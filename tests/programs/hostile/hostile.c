/* hostile: a process that tries one trick on its observer.
 *
 *     hostile [--seconds N] [--user UID] [--namespace PID] MODE [WORD...]        hostile --list
 *
 * It carries Eden's probes, as any process that links libeden; what stands behind them is made by hand, to deceive.
 * "ready" on the standard output says that the trick is laid. The process ends after N seconds (300), or with its
 * parent. Some tricks need root to be laid (userfaultfd, a FUSE mount): with --user, root lays them and then becomes
 * that user, so that the process is an ordinary user's; with --namespace, the one of that id in the user namespace of
 * another process. A FUSE file is served for ten seconds, then it fails. Exit status 77: this kernel does not allow the
 * trick. */
#include "hostile.h"
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <unistd.h>

static const struct mode {
    const char *name, *help;
    void (*play)(struct hostile *hostile);
} modes[] = {
    {"honest", "one heap, as it should be", hostile_honest},
    {"headless", "one heap, as it should be, in a process whose first thread has ended", hostile_headless},
    {"threads", "one heap, in a process of threads that each start another and end", hostile_threads},
    {"lock", "[HEAPS]: 65,536 headers whose lock is odd for ever", hostile_lock},
    {"cycle", "two heaps, each the next of the other", hostile_cycle},
    {"endless", "[HEAPS]: a list of 65,536 heaps", hostile_endless},
    {"classes", "[HEAPS]: 256 heaps of 4.2 million classes with unreadable names", hostile_classes},
    {"family", "[CHILDREN [HEAPS]]: 60 children, each with 64 heaps of 4.2 million classes", hostile_family},
    {"lengths", "sizes, counts and lengths that lie", hostile_lengths},
    {"uffd", "a header in a page whose fault is never answered", hostile_uffd},
    {"fuse",
     "header|file|open|exec|watch [SECONDS]: a FUSE file, memory or a program, that is never read, opened again or "
     "closed by exec, which comes at once or when the process is attached to",
     hostile_fuse},
    {"overlay",
     "[stat|open|read|flush [COMMAND]]: a FUSE file below overlayfs that never answers this to processes of this name",
     hostile_overlay},
    {"cold", "[FOLDER]: a header in a page of a file that is never in memory", hostile_cold},
    {"exec",
     "write|read [FAULT] [uffd|fuse]: becomes another program: when its control word is written, while a child keeps "
     "its memory, or while its class names are read",
     hostile_exec},
    {"victim", "the program that exec becomes", hostile_victim},
    {"heaps", "[HEAPS]: 3,000 heaps at once, in the list and as events", hostile_heaps},
    {"churn", "heaps made and destroyed at full rate", hostile_churn},
    {"define", "classes of heaps that were never made, at full rate", hostile_define},
    {"forks", "[CHILDREN]: 2,000 children, eight at a time, each with a heap", hostile_forks},
    {"groups", "[CHILDREN]: one heap, in a process with 65,536 groups and 60 children that have them, too",
     hostile_groups},
    {"exit", "ends as soon as somebody attaches", hostile_exit},
    {"handover", "[after]: a heap with three scavenges, then another program that fires one more of it",
     hostile_handover},
    {"semaphore", "a semaphore below zero", hostile_semaphore},
    {"backwards", "times and numbers of collections that go back, figures of 2^64 - 1", hostile_backwards},
    {"batches", "records of lifetimes that lie", hostile_batches},
    {"elf", "overlap|many|few|symbols [FILES]: files with endless sections, probes or symbols", hostile_elf},
    {"identity", "[FILE [PROGRAM]]: runs a program whose file has the inode and the time of change of another file",
     hostile_identity},
    {"maps", "[MAPPINGS [FILES]]: 1,500 mappings of two files in turn", hostile_maps},
    {"names",
     "[FOLDER [ROUNDS]]: names of heaps, classes, parameters, process and files that hold every kind of escape",
     hostile_names},
};

_Noreturn void hostile_fail(const char *what) {
    fprintf(stderr, "hostile: %s: %s\n", what, strerror(errno));
    _exit(1);
}

_Noreturn void hostile_skip(const char *what) {
    fprintf(stderr, "hostile: %s: %s: not allowed here\n", what, strerror(errno));
    _exit(HOSTILE_SKIP);
}

const char *hostile_word(const struct hostile *hostile, int index, const char *word) {
    for (int i = 0; i <= index; i++) {
        if (!hostile->words[i]) {
            return word;
        }
    }
    return hostile->words[index];
}

uint64_t hostile_number(const struct hostile *hostile, int index, uint64_t value) {
    const char *word = hostile_word(hostile, index, NULL);
    return word ? strtoull(word, NULL, 0) : value;
}

void hostile_print(const char *line) {
    if (puts(line) == EOF || fflush(stdout) != 0) {
        _exit(1);
    }
}

/* A change of user makes the process unreadable to others and forgets the signal: both come after it. */
void hostile_become(uid_t user, int namespace) {
    char path[32];
    snprintf(path, sizeof path, "/proc/%d/ns/user", namespace);
    int found = namespace ? open(path, O_RDONLY | O_CLOEXEC) : -1;
    if (namespace && setns(found, CLONE_NEWUSER) != 0) {
        hostile_fail(path);
    }
    if (user && (setgroups(0, NULL) != 0 || setresgid(user, user, user) != 0 || setresuid(user, user, user) != 0)) {
        hostile_fail("changing the user");
    }
    prctl(PR_SET_DUMPABLE, 1);
}

void hostile_ready(const struct hostile *hostile) {
    hostile_become(hostile->user, hostile->namespace);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    hostile_print("ready");
}

_Noreturn void hostile_rest(void) {
    for (;;) {
        pause();
    }
}

void *hostile_pages(size_t bytes) {
    void *at = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (at == MAP_FAILED) {
        hostile_fail("mapping memory");
    }
    return at;
}

void hostile_header(struct eden_heap_info *header, uint64_t id, const char *name) {
    *header = (struct eden_heap_info){
        .magic = EDEN_HEAP_MAGIC,
        .version = EDEN_ABI_VERSION,
        .bytes = sizeof *header,
        .heap_id = id,
        .created_ns = 1,
        .figure_count = EDEN_FIGURE_COUNT,
    };
    size_t length = strnlen(name, sizeof header->name - 1);
    memcpy(header->name, name, length);
}

void hostile_register(const struct eden_heap_info *header) {
    __atomic_store_n(&eden_registry.first, hostile_address(header), __ATOMIC_RELEASE);
}

static int list(void) {
    for (size_t i = 0; i < sizeof modes / sizeof *modes; i++) {
        printf("%-10s %s\n", modes[i].name, modes[i].help);
    }
    return 0;
}

static const struct mode *find(const char *name) {
    for (size_t i = 0; name && i < sizeof modes / sizeof *modes; i++) {
        if (strcmp(modes[i].name, name) == 0) {
            return &modes[i];
        }
    }
    return NULL;
}

int main(int argc, char **argv) {
    struct hostile hostile = {.argv = argv, .seconds = 300};
    int at = 1;
    for (; at + 1 < argc && strncmp(argv[at], "--", 2) == 0; at += 2) {
        if (strcmp(argv[at], "--seconds") == 0) {
            hostile.seconds = (unsigned)strtoul(argv[at + 1], NULL, 10);
        } else if (strcmp(argv[at], "--user") == 0) {
            hostile.user = (uid_t)strtoul(argv[at + 1], NULL, 10);
        } else if (strcmp(argv[at], "--namespace") == 0) {
            hostile.namespace = atoi(argv[at + 1]);
        }
    }
    if (at < argc && strcmp(argv[at], "--list") == 0) {
        return list();
    }
    const struct mode *mode = find(argv[at]);
    if (!mode) {
        fprintf(stderr, "hostile: no such mode; type: hostile --list\n");
        return 2;
    }
    hostile.words = &argv[at + 1];
    alarm(hostile.seconds); /* goes on over exec */
    mode->play(&hostile);
    return 0;
}
