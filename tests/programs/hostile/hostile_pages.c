/* Pages that come late, never, or when the process has become another program.
 *
 * A page of anonymous memory registered with a userfaultfd stays missing until its owner supplies it, and a page of a
 * FUSE file until its server does; a read from outside waits as long. (But through /proc/PID/mem a read of the
 * first kind fails at once.) The trick of `exec read`: the fault of the reader says when it reads, the process becomes
 * another program at that moment, and this program then supplies the page and so lets the reader go on. That of `exec
 * write`: a child shares its memory, as after vfork(), so that the memory with the heap stays when the process, asked
 * for lifetimes, becomes another program. A reader that names the process by its id reads or writes the new program's
 * memory from there on. */
#include "hostile.h"
#include "hostile_fuse.h"
#include <fcntl.h>
#include <linux/userfaultfd.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/personality.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Opened over exec, where it is wanted. */
static int watch_faults(void *at, size_t bytes, int flags) {
    int fd = (int)syscall(SYS_userfaultfd, flags);
    if (fd < 0) {
        hostile_skip("userfaultfd");
    }
    struct uffdio_api api = {.api = UFFD_API};
    struct uffdio_register range = {.range = {.start = hostile_address(at), .len = bytes},
                                    .mode = UFFDIO_REGISTER_MODE_MISSING};
    if (ioctl(fd, UFFDIO_API, &api) != 0 || ioctl(fd, UFFDIO_REGISTER, &range) != 0) {
        hostile_skip("userfaultfd");
    }
    return fd;
}

void hostile_uffd(struct hostile *hostile) {
    void *page = hostile_pages(HOSTILE_PAGE);
    watch_faults(page, HOSTILE_PAGE, O_CLOEXEC);
    hostile_register(page);
    hostile_ready(hostile);
    hostile_rest();
}

/* A read of the page waits for the disk; the page leaves memory again at once. */
void hostile_cold(struct hostile *hostile) {
    char path[512];
    snprintf(path, sizeof path, "%s/cold.XXXXXX", hostile_word(hostile, 0, "/var/tmp"));
    int fd = mkstemp(path);
    struct eden_heap_info header;
    hostile_header(&header, 1, "cold");
    if (fd < 0 || unlink(path) != 0 || pwrite(fd, &header, sizeof header, 0) != sizeof header || fsync(fd) != 0) {
        hostile_fail(path);
    }
    void *page = mmap(NULL, HOSTILE_PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (page == MAP_FAILED) {
        hostile_fail("mapping a file");
    }
    hostile_register(page);
    hostile_ready(hostile);
    for (;;) {
        madvise(page, HOSTILE_PAGE, MADV_DONTNEED);
        posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED);
        usleep(1000);
    }
}

/* ---- exec ------------------------------------------------------------------------------------------------------- */

enum { CLASSES = 64, NAME = 32, PAGE_CLASSES = 1 << EDEN_CLASS_PAGE_SHIFT };

/* At the same addresses in the program before and after exec, as no addresses are randomised. The name of the first
 * class may be in the second page, which is the one that is missing. */
static struct {
    struct eden_heap_info header;
    char missing[HOSTILE_PAGE] __attribute__((aligned(HOSTILE_PAGE)));
    char names[HOSTILE_PAGE];
} trap __attribute__((aligned(HOSTILE_PAGE)));

/* A full table whose pages are all the same. */
static struct eden_class_info class_page[PAGE_CLASSES];
static uint64_t class_pages[EDEN_CLASS_LIMIT / PAGE_CLASSES];

/* The content of the missing page, for both ways to supply it. */
static char supply[HOSTILE_PAGE] __attribute__((aligned(HOSTILE_PAGE))) = "first";

/* Whoever reads the names of a heap of the one program in the other one finds that one's. */
static void lay_names(const char *prefix, bool is_missing) {
    for (size_t i = 0; i < sizeof class_pages / sizeof *class_pages; i++) {
        class_pages[i] = hostile_address(class_page);
    }
    for (uint32_t i = 1; i < CLASSES; i++) {
        const char *name = i == 1 && is_missing ? trap.missing : trap.names + i * NAME;
        class_page[i] =
            (struct eden_class_info){.name = hostile_address(name), .name_length = NAME - 1, .class_index = i};
        snprintf(trap.names + i * NAME, NAME, "%s-%u", prefix, i);
    }
}

static void lay_trap(bool is_missing) {
    hostile_header(&trap.header, 1, "trap");
    trap.header.class_pages = hostile_address(class_pages);
    trap.header.class_limit = is_missing ? CLASSES : EDEN_CLASS_LIMIT;
    lay_names("class", is_missing);
    hostile_register(&trap.header);
}

/* Reports an access to the missing page, and supplies it: a userfaultfd, or the server of a FUSE file. */
struct pager {
    bool is_fuse;
    int asked, supply, file;
};

static struct pager make_pager(bool is_fuse) {
    if (!is_fuse) {
        int fd = watch_faults(trap.missing, HOSTILE_PAGE, 0);
        return (struct pager){.asked = fd, .supply = fd};
    }
    struct fuse_file file = {.bytes = HOSTILE_PAGE, .opens = 1000000};
    if (pipe(file.asked) != 0 || pipe(file.supply) != 0) {
        hostile_fail("pipe");
    }
    int fd = fuse_file_open(&file);
    if (mmap(trap.missing, HOSTILE_PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_FIXED, fd, 0) == MAP_FAILED) {
        hostile_fail("mapping a FUSE file");
    }
    return (struct pager){.is_fuse = true, .asked = file.asked[0], .supply = file.supply[1], .file = fd};
}

static bool is_asked(const struct pager *pager) {
    struct uffd_msg message;
    size_t bytes = pager->is_fuse ? 1 : sizeof message;
    return read(pager->asked, &message, bytes) == (ssize_t)bytes;
}

static bool supply_page(const struct pager *pager) {
    struct uffdio_copy copy = {
        .dst = hostile_address(trap.missing), .src = hostile_address(supply), .len = HOSTILE_PAGE};
    return pager->is_fuse ? write(pager->supply, supply, HOSTILE_PAGE) == HOSTILE_PAGE
                          : ioctl(pager->supply, UFFDIO_COPY, &copy) == 0;
}

/* Supplies the page each time but the last; the next reader finds it missing again. */
static void wait_for_reader(const struct pager *pager, uint64_t times) {
    while (is_asked(pager)) {
        if (--times == 0) {
            return;
        }
        supply_page(pager);
        usleep(200);
        madvise(trap.missing, HOSTILE_PAGE, MADV_DONTNEED);
        if (pager->is_fuse) {
            posix_fadvise(pager->file, 0, 0, POSIX_FADV_DONTNEED);
        }
    }
    hostile_fail("waiting for a reader");
}

static int keep_memory(void *unused) {
    (void)unused;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    hostile_rest();
}

/* The names are read while the other program begins, and the control word is written once more at the end. */
static void wait_for_request(void) {
    static char stack[16 * HOSTILE_PAGE] __attribute__((aligned(16)));
    if (clone(keep_memory, stack + sizeof stack, CLONE_VM, NULL) < 0) {
        hostile_fail("sharing memory");
    }
    while (__atomic_load_n(&trap.header.sample_control, __ATOMIC_ACQUIRE) == 0) {
        usleep(100);
    }
}

void hostile_exec(struct hostile *hostile) {
    if (!(personality(0xffffffff) & ADDR_NO_RANDOMIZE)) {
        personality(ADDR_NO_RANDOMIZE);
        execv("/proc/self/exe", hostile->argv);
        hostile_fail("starting again");
    }
    const char *how = hostile_word(hostile, 2, "uffd");
    bool reads = strcmp(hostile_word(hostile, 0, "write"), "read") == 0;
    struct pager pager = {0};
    lay_trap(reads);
    if (reads) {
        pager = make_pager(strcmp(how, "fuse") == 0);
    }
    hostile_ready(hostile);
    if (reads) {
        wait_for_reader(&pager, hostile_number(hostile, 1, 1));
    } else {
        wait_for_request();
    }
    char number[16];
    snprintf(number, sizeof number, "%d", pager.supply);
    execl("/proc/self/exe", "victim", "victim", number, how, (char *)NULL);
    hostile_fail("becoming another program");
}

/* Its secrets lie where the other program's class names lay, and zeros where its header lay. */
void hostile_victim(struct hostile *hostile) {
    static const struct eden_heap_info nothing;
    struct pager pager = {.is_fuse = strcmp(hostile_word(hostile, 1, "uffd"), "fuse") == 0,
                          .supply = (int)hostile_number(hostile, 0, 0)};
    lay_names("victim-secret", pager.supply > 2);
    hostile_print("victim");
    if (pager.supply > 2 && !supply_page(&pager)) {
        hostile_print("nobody waits");
    }
    while (memcmp(&trap.header, &nothing, sizeof nothing) == 0) {
        usleep(1000);
    }
    hostile_print("written");
    hostile_rest();
}
