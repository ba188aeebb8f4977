/* races TRIES: a process whose two threads race for the entry of a heap, beside one that makes heaps; for test_all.sh.
 *
 * In each try one thread reports the end of a full collection of a heap that has no entry yet, and the other one, at
 * about the same time, the end of a scavenge and of the heap. The victim then makes a heap and ends it, on the
 * processor of the second thread: the kernel gives it what the other heap has just left there. No victim has a full
 * collection. */
#include "run_on.h"
#include "shoot.h"
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { FIRST = 0x100000, APART = 64, LONGEST_WAIT = 1500 };

static struct shared {
    atomic_int began, answered; /* the try, by each of the two threads */
    atomic_bool is_over;
} * shared;
static int tries;

static void wait_a_little(unsigned *seed) {
    for (volatile int left = rand_r(seed) % LONGEST_WAIT; left > 0; left--) {
    }
}

static uint64_t heap_of(int try) { return FIRST + (uint64_t)try * APART; }

static void *answer(void *none) {
    unsigned seed = 1;
    run_on(0);
    for (int i = 1; i <= tries; i++) {
        while (shared->began < i) {
        }
        wait_a_little(&seed);
        shoot_full__done((uint64_t[EDEN_PROBE_MAX_ARGS]){heap_of(i), (uint64_t)i, 777});
        shared->answered = i;
    }
    return none;
}

/* Interrupts the first thread now and then. */
static void *disturb(void *none) {
    run_on(0);
    while (!shared->is_over) {
        nanosleep(&(struct timespec){.tv_nsec = 40000}, NULL);
        for (volatile int left = 30000; left > 0; left--) {
        }
    }
    return none;
}

static int attack(void) {
    pthread_t other, third;
    unsigned seed = 2;
    if (pthread_create(&other, NULL, answer, NULL) != 0 || pthread_create(&third, NULL, disturb, NULL) != 0) {
        return 1;
    }
    run_on(1);
    for (int i = 1; i <= tries; i++) {
        shared->began = i;
        wait_a_little(&seed);
        shoot_scavenge__done((uint64_t[EDEN_PROBE_MAX_ARGS]){heap_of(i), (uint64_t)i, 1});
        shoot_heap__destroy((uint64_t[EDEN_PROBE_MAX_ARGS]){heap_of(i), 1});
        do {
            sched_yield();
        } while (shared->answered < i);
    }
    shared->is_over = true;
    return 0;
}

static int suffer(void) {
    prctl(PR_SET_NAME, "victim");
    run_on(1);
    for (int last = 0; !shared->is_over; sched_yield()) {
        const int began = shared->began;
        if (began != last) {
            last = began;
            shoot_heap__create((uint64_t[EDEN_PROBE_MAX_ARGS]){heap_of(last), (uint64_t)last, (uintptr_t) "victim"});
            shoot_heap__destroy((uint64_t[EDEN_PROBE_MAX_ARGS]){heap_of(last), (uint64_t)last});
        }
    }
    return 0;
}

int main(int argc, char **argv) {
    tries = argc == 2 ? atoi(argv[1]) : 0;
    shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (tries <= 0 || shared == MAP_FAILED) {
        fputs("usage: races TRIES\n", stderr);
        return 2;
    }
    const pid_t victim = fork();
    if (victim == 0) {
        return suffer();
    }
    int status = victim < 0 || attack() != 0;
    shared->is_over = true;
    return waitpid(victim, NULL, 0) < 0 || status != 0;
}
