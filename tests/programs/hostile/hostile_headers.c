/* Headers of heaps that lie: about their lock, their successor, their size and their classes. */
#include "hostile.h"
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <unistd.h>

/* A list of `count` heaps, the first registered. */
static struct eden_heap_info *make_list(uint64_t count) {
    struct eden_heap_info *heaps = hostile_pages(count * sizeof *heaps);
    for (uint64_t i = 0; i < count; i++) {
        hostile_header(&heaps[i], i + 1, "listed");
        heaps[i].next = i + 1 < count ? hostile_address(&heaps[i + 1]) : 0;
    }
    hostile_register(heaps);
    return heaps;
}

void hostile_honest(struct hostile *hostile) {
    make_list(1);
    hostile_ready(hostile);
    hostile_rest();
}

static _Noreturn void *stay(void *nothing) {
    (void)nothing;
    hostile_rest();
}

_Noreturn void hostile_headless(struct hostile *hostile) {
    pthread_t thread;
    make_list(1);
    if (pthread_create(&thread, NULL, stay, NULL) != 0) {
        hostile_fail("starting a thread");
    }
    hostile_ready(hostile);
    pthread_exit(NULL);
}

static void *start_another(void *unused) {
    pthread_t thread;
    pthread_detach(pthread_self());
    usleep(200);
    while (pthread_create(&thread, NULL, start_another, unused) != 0) {
        usleep(200);
    }
    return NULL;
}

_Noreturn void hostile_threads(struct hostile *hostile) {
    pthread_t thread;
    make_list(1);
    hostile_ready(hostile);
    for (int i = 0; i < 3; i++) {
        if (pthread_create(&thread, NULL, start_another, NULL) != 0) {
            hostile_fail("starting a thread");
        }
    }
    pthread_exit(NULL);
}

void hostile_lock(struct hostile *hostile) {
    uint64_t count = hostile_number(hostile, 0, 65536);
    struct eden_heap_info *heaps = make_list(count);
    for (uint64_t i = 0; i < count; i++) {
        heaps[i].lock = 1;
    }
    hostile_ready(hostile);
    hostile_rest();
}

void hostile_cycle(struct hostile *hostile) {
    struct eden_heap_info *heaps = make_list(2);
    heaps[1].next = hostile_address(&heaps[0]);
    hostile_ready(hostile);
    hostile_rest();
}

void hostile_endless(struct hostile *hostile) {
    make_list(hostile_number(hostile, 0, 65536));
    hostile_ready(hostile);
    hostile_rest();
}

/* A list of heaps that share a full class table, with names from this address on, `apart` bytes apart. Every page of it
 * is the same page of the process: thousands of names cost it nothing. */
static void make_classes(uint64_t count, uint64_t name, uint64_t apart) {
    enum { ENTRIES = 1 << EDEN_CLASS_PAGE_SHIFT, PAGES = EDEN_CLASS_LIMIT / ENTRIES };
    struct eden_class_info *page = hostile_pages(ENTRIES * sizeof *page);
    uint64_t *pages = hostile_pages(PAGES * sizeof *pages);
    for (uint32_t i = 0; i < ENTRIES; i++) {
        page[i] = (struct eden_class_info){.name = name + i * apart, .name_length = 20, .class_index = 1};
    }
    for (uint32_t i = 0; i < PAGES; i++) {
        pages[i] = hostile_address(page);
    }
    struct eden_heap_info *heaps = make_list(count);
    for (uint64_t i = 0; i < count; i++) {
        heaps[i].class_pages = hostile_address(pages);
        heaps[i].class_limit = EDEN_CLASS_LIMIT;
    }
}

void hostile_classes(struct hostile *hostile) {
    make_classes(hostile_number(hostile, 0, 256), 0xdead0000ull, 1);
    hostile_ready(hostile);
    hostile_rest();
}

void hostile_family(struct hostile *hostile) {
    static const char name[] = "a name that is there";
    uint64_t children = hostile_number(hostile, 0, 60);
    make_classes(hostile_number(hostile, 1, 64), hostile_address(name), 0);
    hostile_become(hostile->user, hostile->namespace);
    hostile->user = 0; /* done */
    hostile->namespace = 0;
    pid_t parent = getpid();
    for (uint64_t i = 0; i < children; i++) {
        pid_t child = fork();
        if (child < 0) {
            hostile_fail("fork");
        }
        if (child == 0) {
            prctl(PR_SET_PDEATHSIG, SIGKILL);
            if (getppid() != parent) {
                _exit(0);
            }
            hostile_rest();
        }
    }
    hostile_ready(hostile);
    hostile_rest();
}

/* The last heap ends where memory does, long before the size that it claims. */
void hostile_lengths(struct hostile *hostile) {
    struct eden_heap_info *heaps = make_list(5);
    static struct eden_class_info page[1 << EDEN_CLASS_PAGE_SHIFT];
    static uint64_t pages[1];
    pages[0] = hostile_address(page);
    page[1] = (struct eden_class_info){.name = hostile_address(page), .name_length = UINT32_MAX, .class_index = 1};
    page[2] = (struct eden_class_info){.name = UINT64_MAX - 3, .name_length = 63, .class_index = UINT32_MAX};
    heaps[0].bytes = UINT32_MAX;
    heaps[0].figure_count = UINT32_MAX;
    heaps[0].class_pages = hostile_address(pages);
    heaps[0].class_limit = UINT32_MAX;
    memset(heaps[0].name, 'n', sizeof heaps[0].name);
    heaps[1].bytes = offsetof(struct eden_heap_info, heap_id);
    heaps[2].class_pages = UINT64_MAX - 8;
    heaps[2].class_limit = UINT32_MAX;
    heaps[3].version = EDEN_ABI_VERSION + 1;
    char *end = (char *)hostile_pages(2 * HOSTILE_PAGE) + HOSTILE_PAGE;
    munmap(end, HOSTILE_PAGE);
    memcpy(end - 128, &heaps[4], 128);
    heaps[3].next = hostile_address(end - 128);
    hostile_ready(hostile);
    hostile_rest();
}
