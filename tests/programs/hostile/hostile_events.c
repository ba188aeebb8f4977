/* What the probes say: more than anybody can take, in an order that cannot be, of children that come and go. */
#include "eden_batches.h"
#include "hostile.h"
#include <grp.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

enum { LIMIT_CHILDREN = 20000, AT_A_TIME = 8, MANY_GROUPS = 65536 };

/* A heap of its own address for each number: nothing is mapped there. */
static const void *heap_at(uint64_t number) { return (const void *)(uintptr_t)(0x100000 + 4096 * number); }

static bool is_watched(void) { return eden_watched_heap__create(); }

static void wait_for_watcher(void) {
    while (!is_watched()) {
        usleep(1000);
    }
}

static void scavenge(const void *heap, uint64_t seq, uint64_t duration) {
    eden_fire_scavenge__start(heap, seq, EDEN_SCAVENGE_EDEN, 4096, 0, 0, 0, 4096, 0, 0, 0);
    eden_fire_scavenge__done(heap, seq, duration, 0, 0, 0, 0, NULL, NULL, NULL, 0, 0);
}

void hostile_heaps(struct hostile *hostile) {
    uint64_t count = hostile_number(hostile, 0, 3000);
    struct eden_heap_info *heaps = hostile_pages(count * sizeof *heaps);
    for (uint64_t i = 0; i < count; i++) {
        hostile_header(&heaps[i], i + 1, "many");
        heaps[i].next = i + 1 < count ? hostile_address(&heaps[i + 1]) : 0;
    }
    hostile_register(heaps);
    hostile_ready(hostile);
    wait_for_watcher();
    for (uint64_t i = 0; i < count; i++) {
        eden_fire_heap__create(&heaps[i], i + 1, "many");
        scavenge(&heaps[i], 1, 1000);
    }
    hostile_print("done");
    hostile_rest();
}

void hostile_churn(struct hostile *hostile) {
    hostile_ready(hostile);
    for (uint64_t i = 1;; i++) {
        if (!is_watched()) {
            usleep(1000);
        }
        eden_fire_heap__create(heap_at(i % 100000), i, "churn");
        eden_fire_class__define(heap_at(i % 100000), 1 + i % 1000, "churned", 1);
        scavenge(heap_at(i % 100000), 1, 1000);
        eden_fire_heap__destroy(heap_at(i % 100000), i, 0, 0, 0, 0, 0, 0);
    }
}

void hostile_define(struct hostile *hostile) {
    hostile_ready(hostile);
    for (uint64_t i = 1;; i++) {
        if (!is_watched()) {
            usleep(1000);
        }
        eden_fire_class__define(heap_at(i), 1, "defined", 1);
    }
}

/* All there is of a child. */
_Noreturn static void be_child(uint64_t number) {
    eden_fire_heap__create(heap_at(number), 1, "child");
    scavenge(heap_at(number), 1, 1000);
    eden_fire_heap__destroy(heap_at(number), 1, 4096, 0, 0, 0, 0, 0);
    _exit(0);
}

void hostile_forks(struct hostile *hostile) {
    uint64_t count = hostile_number(hostile, 0, 2000);
    count = count < LIMIT_CHILDREN ? count : LIMIT_CHILDREN;
    hostile_ready(hostile);
    for (uint64_t i = 0; i < count; i++) {
        if (i >= AT_A_TIME) {
            wait(NULL);
        }
        pid_t child = fork();
        if (child < 0) {
            hostile_fail("fork");
        }
        if (child == 0) {
            be_child(i);
        }
    }
    while (wait(NULL) > 0) {
    }
    hostile_print("done");
}

/* Root sets the groups, as newgidmap lets an ordinary user do in a user namespace. The kernel lists them all whenever
 * /proc/PID/status is read. */
static void take_groups(uid_t user) {
    static gid_t group[MANY_GROUPS];
    for (size_t i = 0; i < MANY_GROUPS; i++) {
        group[i] = 4000000000u + (gid_t)i;
    }
    if (setgroups(MANY_GROUPS, group) != 0) {
        hostile_skip("setgroups");
    }
    if (user != 0 && (setresgid(user, user, user) != 0 || setresuid(user, user, user) != 0)) {
        hostile_fail("changing the user");
    }
    prctl(PR_SET_DUMPABLE, 1);
}

void hostile_groups(struct hostile *hostile) {
    static struct eden_heap_info header;
    uint64_t count = hostile_number(hostile, 0, 60);
    const pid_t parent = getpid();
    take_groups(hostile->user);
    hostile->user = 0; /* it is this user already, and keeps its groups */
    for (uint64_t i = 0; i < count && i < LIMIT_CHILDREN; i++) {
        pid_t child = fork();
        if (child < 0) {
            hostile_fail("fork");
        }
        if (child == 0) {
            prctl(PR_SET_PDEATHSIG, SIGKILL);
            if (getppid() == parent) {
                hostile_rest();
            }
            _exit(0);
        }
    }
    hostile_header(&header, 1, "groups");
    hostile_register(&header);
    hostile_ready(hostile);
    hostile_rest();
}

void hostile_handover(struct hostile *hostile) {
    const void *heap = heap_at(1); /* nobody reads it */
    hostile_ready(hostile);
    if (hostile_word(hostile, 0, NULL)) {
        scavenge(heap, 4, 900000000);
        return;
    }
    eden_fire_heap__create(heap, 1, "handed");
    for (uint64_t seq = 1; seq <= 3; seq++) {
        scavenge(heap, seq, 1000);
    }
    char *const after[] = {hostile->argv[0], "handover", "after", NULL};
    execv("/proc/self/exe", after);
    hostile_fail("exec");
}

/* Of the file's data it writes its own copy only, but the kernel counts in all copies, and takes none below zero. */
void hostile_semaphore(struct hostile *hostile) {
    eden_registry.heap_create_semaphore = (uint16_t)-5;
    hostile_ready(hostile);
    hostile_rest();
}

void hostile_exit(struct hostile *hostile) {
    static struct eden_heap_info header;
    hostile_header(&header, 1, "leaving");
    hostile_register(&header);
    hostile_ready(hostile);
    while (!is_watched()) {
        usleep(20);
    }
    _exit(0);
}

void hostile_backwards(struct hostile *hostile) {
    static struct eden_heap_info header;
    hostile_header(&header, 1, "backwards");
    for (int i = 0; i < EDEN_FIGURE_COUNT; i++) {
        header.figures[i] = UINT64_MAX - (uint64_t)i;
    }
    memset(header.full_by_cause, 0xff, sizeof header.full_by_cause);
    header.seq = UINT64_MAX;
    header.created_ns = UINT64_MAX;
    hostile_register(&header);
    hostile_ready(hostile);
    for (uint64_t seq = UINT64_MAX;; seq -= 3) {
        if (!is_watched()) {
            usleep(1000);
        }
        const void *heap = seq % 2 ? (const void *)&header : heap_at(seq % 7);
        eden_fire_scavenge__done(heap, seq, UINT64_MAX, UINT64_MAX, UINT64_MAX, UINT64_MAX, UINT64_MAX, NULL, NULL, 0,
                                 UINT64_MAX, UINT64_MAX);
        eden_fire_scavenge__start(heap, seq - 1, UINT64_MAX, UINT64_MAX, 0, 0, 0, UINT64_MAX, UINT64_MAX, UINT64_MAX,
                                  UINT64_MAX);
        eden_fire_full__start(heap, seq + 2, EDEN_FULL_CAUSES + seq % 9, 0, 0, 0, UINT64_MAX, 0, 0, 0);
        eden_fire_compact__done(heap, seq, UINT64_MAX, UINT64_MAX, UINT64_MAX);
        eden_fire_mark__start(heap, seq);
        eden_fire_full__done(heap, seq - 5, UINT64_MAX, 0, 0, 0, 0, 0, UINT64_MAX, UINT64_MAX, 0);
        eden_fire_heap__destroy(heap, UINT64_MAX, UINT64_MAX, UINT64_MAX, UINT64_MAX, UINT64_MAX, UINT64_MAX,
                                UINT64_MAX);
        usleep(100);
    }
}

/* As either probe hands it over. */
static void fire_batch(const void *heap, uint64_t kind, const void *records, uint64_t count, uint64_t bytes) {
    eden_fire_batch(heap, kind, records, count, bytes);
    eden_fire_batch__requested(heap, kind, records, count, bytes);
}

/* Profiles that lost 2^64 - 1 samples and end before they begin, then records of every kind whose bytes are noise. */
void hostile_batches(struct hostile *hostile) {
    static struct eden_heap_info header;
    hostile_header(&header, 1, "batches");
    hostile_register(&header);
    struct eden_profile_record profile = {.seq = 1,
                                          .time_ns = 1,
                                          .allocated_bytes = 1,
                                          .begun_ns = UINT64_MAX,
                                          .begun_bytes = UINT64_MAX,
                                          .rate = UINT64_MAX,
                                          .lost = UINT64_MAX,
                                          .passes = UINT64_MAX,
                                          .work_ns = UINT64_MAX,
                                          .held_bytes = UINT64_MAX};
    static unsigned char noise[65536];
    uint32_t random = 1;
    hostile_ready(hostile);
    for (uint64_t i = 0;; i++) {
        if (!is_watched()) {
            usleep(1000);
        }
        eden_fire_heap__create(&header, 1, "batches");
        profile.sampling = (uint32_t)(i % 7);
        profile.mechanism = (uint32_t)(i % 5);
        fire_batch(&header, EDEN_BATCH_PROFILE, &profile, 1, sizeof profile);
        for (size_t j = 0; j < sizeof noise; j++) {
            random = random * 1103515245 + 12345;
            noise[j] = i % 3 == 0 ? 0xff : (unsigned char)(random >> 16 & (i % 3 == 1 ? 3 : 255));
        }
        for (uint64_t kind = 0; kind <= EDEN_BATCH_BUCKETS + 2; kind++) {
            fire_batch(&header, kind, noise, 40, 8 * (i % 32));
            fire_batch(&header, kind, noise, UINT64_MAX, 64);
            fire_batch(&header, kind, (const void *)1, 10, UINT64_MAX);
        }
        profile.ended = (uint32_t)(i % 2);
        fire_batch(&header, EDEN_BATCH_PROFILE, &profile, 1, sizeof profile);
        usleep(1000);
    }
}
