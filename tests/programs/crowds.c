/* crowds WHAT NUMBER: threads that hit probes of one heap at the same moment, for test_pauses.sh.
 *
 *   begin PAIRS    pairs of threads begin a collection of one heap, and stay
 *   phases HEAPS   two threads end the same phases of HEAPS heaps, each for the first time
 *   turns SECONDS  one thread ends collections of a heap, another one takes its place, and a second process, whose
 *                  thread is on the other's processor, has pauses without a page fault
 *
 * Prints a line when all has been done; `begin` and `phases` then wait for the end of standard input. */
#include "run_on.h"
#include "shoot.h"
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { HEAP = 0x100000, OTHER = 0x200000, APART = 64, STACK = 16384, PAGES = 5000 };
typedef uint64_t arguments[EDEN_PROBE_MAX_ARGS];

static atomic_int at[2], done;
static int number;

/* Both sides come to this round. */
static void meet(int side, int round) {
    at[side] = round;
    while (at[!side] < round) {
    }
}

static bool start(void *(*run)(void *), size_t argument) {
    pthread_t thread;
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    pthread_attr_setstacksize(&attributes, STACK + (size_t)PTHREAD_STACK_MIN);
    int error = pthread_create(&thread, &attributes, run, (void *)argument);
    if (error != 0) {
        fprintf(stderr, "crowds: %s\n", strerror(error));
    }
    return error == 0;
}

static int wait_for_end(int count) {
    printf("%d\n", count);
    fflush(stdout);
    while (getchar() != EOF) {
    }
    return 0;
}

/* ---- begin ---- */

static void *begin_one(void *argument) {
    const int own = (int)(size_t)argument, side = own & 1;
    run_on((size_t)side);
    meet(side, own / 2 + 1);
    shoot_scavenge__start((arguments){HEAP, (uint64_t)own});
    done++;
    for (;;) {
        pause();
    }
    return NULL;
}

static int begin(void) {
    shoot_heap__create((arguments){HEAP, 1, (uintptr_t) "crowd"});
    for (int i = 0; i < 2 * number; i += 2) {
        if (!start(begin_one, (size_t)i) || !start(begin_one, (size_t)i + 1)) {
            return 1;
        }
        while (done < i + 2) {
            usleep(20);
        }
    }
    return wait_for_end(done);
}

/* ---- phases ---- */

static void end_phases(int side) {
    int round = 0;
    run_on((size_t)side);
    for (int i = 0; i < number; i++) {
        const arguments of = {HEAP + (uint64_t)i * APART, 1, 1000, 1, 1};
        if (side == 0) {
            shoot_heap__create((arguments){of[0], (uint64_t)i + 1, (uintptr_t) "crowd"});
        }
        meet(side, ++round), shoot_scavenge__roots__done(of);
        meet(side, ++round), shoot_scavenge__copy__done(of);
        meet(side, ++round), shoot_mark__done(of);
        meet(side, ++round), shoot_sweep__done(of);
    }
    meet(side, ++round);
}

static void *end_phases_too(void *none) {
    end_phases(1);
    return none;
}

static int phases(void) {
    if (!start(end_phases_too, 0)) {
        return 1;
    }
    end_phases(0);
    return wait_for_end(number);
}

/* ---- turns ---- */

static void *take_turns(void *none) {
    run_on(1);
    for (;;) {
        shoot_scavenge__start((arguments){OTHER, 1});
        shoot_scavenge__start((arguments){HEAP, 1});
        sched_yield();
    }
    return none;
}

/* Interrupts the first thread now and then. */
static void *disturb(void *none) {
    run_on(0);
    for (;;) {
        nanosleep(&(struct timespec){.tv_nsec = 40000}, NULL);
        for (volatile int left = 30000; left > 0; left--) {
        }
    }
    return none;
}

static int suffer(time_t end) {
    const size_t bytes = (size_t)PAGES * 4096;
    void *pages = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (pages == MAP_FAILED) {
        return 1;
    }
    prctl(PR_SET_NAME, "victim");
    madvise(pages, bytes, MADV_NOHUGEPAGE);
    memset(pages, 1, bytes); /* page faults before all pauses */
    run_on(1);
    shoot_heap__create((arguments){HEAP, 1, (uintptr_t) "victim"});
    for (uint64_t i = 1; time(NULL) < end; i++) {
        shoot_scavenge__start((arguments){HEAP, i});
        for (volatile int left = 2000; left > 0; left--) {
        }
        shoot_scavenge__done((arguments){HEAP, i, 3000});
        sched_yield();
    }
    return 0;
}

static int turns(void) {
    const time_t end = time(NULL) + number;
    const pid_t victim = fork();
    if (victim == 0) {
        return suffer(end);
    }
    run_on(0);
    shoot_heap__create((arguments){HEAP, 1, (uintptr_t) "crowd"});
    shoot_heap__create((arguments){OTHER, 2, (uintptr_t) "other"});
    if (victim < 0 || !start(take_turns, 0) || !start(disturb, 0)) {
        return 1;
    }
    int ended = 0;
    for (; time(NULL) < end; ended++) {
        shoot_scavenge__start((arguments){HEAP, 1});
        shoot_scavenge__done((arguments){HEAP, 1, 1000});
    }
    printf("%d\n", ended);
    return waitpid(victim, NULL, 0) < 0;
}

int main(int argc, char **argv) {
    number = argc == 3 ? atoi(argv[2]) : 0;
    int (*const run)(void) = argc != 3                        ? NULL
                             : strcmp(argv[1], "begin") == 0  ? begin
                             : strcmp(argv[1], "phases") == 0 ? phases
                             : strcmp(argv[1], "turns") == 0  ? turns
                                                              : NULL;
    if (!run || number <= 0) {
        fputs("usage: crowds begin PAIRS | phases HEAPS | turns SECONDS\n", stderr);
        return 2;
    }
    const int status = run();
    fflush(stdout);
    _exit(status); /* threads go on until now */
}
