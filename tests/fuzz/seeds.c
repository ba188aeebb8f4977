/* Runs of random events by the number of their seed, many to a process, and in several processes at a time. */
#include "fuzz.h"
#include <stdatomic.h>
#include <sys/mman.h>

void make_events(struct event *events, size_t count, uint64_t seed) {
    uint64_t random = seed * 0x9e3779b97f4a7c15ull + 1;
    for (size_t i = 0; i < count; i++) {
        uint64_t x = next_random(&random), y = next_random(&random), z = next_random(&random);
        events[i] =
            (struct event){(uint32_t)(x >> 32), (uint32_t)x, (uint32_t)(y >> 32), (uint32_t)y, (uint32_t)(z >> 32)};
    }
}

/* What the processes of one run share. */
static struct shared {
    _Atomic bool failed;
    uint64_t seed[MAX_JOBS]; /* that runs, for each job */
} * shared;

struct range {
    uint64_t first, end, step;
    size_t events;
};

/* All seeds of a range, one after the other in this process. */
static void run_range(const struct range *range, size_t job) {
    struct event *events = need(malloc(range->events * sizeof *events));
    for (uint64_t seed = range->first; seed < range->end && !shared->failed; seed += range->step) {
        shared->seed[job] = seed;
        make_events(events, range->events, seed);
        alarm(SECONDS_A_RUN);
        run_events(events, range->events);
    }
    free(events);
}

/* A failing seed is run again by itself. */
static void report(const struct range *range, uint64_t seed) {
    struct event *events = need(malloc(range->events * sizeof *events));
    const char *options = getenv("EDEN_OPTIONS"), *sampling = getenv("EDEN_SAMPLING");
    char how[80];
    make_events(events, range->events, seed);
    options = options == NULL ? "" : options;
    if (fails(events, range->events, true, how, sizeof how)) {
        printf(
            "seed %llu fails: %s. Again: %s%s%s%s%sEDEN_OPTIONS='%s' heap-fuzz --first %llu --seeds 1 --events %zu\n",
            (unsigned long long)seed, how, sampling == NULL ? "" : "EDEN_SAMPLING=", sampling == NULL ? "" : sampling,
            sampling == NULL ? "" : " ", getenv("EDEN_FUZZ_LISTENERS") == NULL ? "" : "EDEN_FUZZ_LISTENERS=1 ",
            getenv("EDEN_FUZZ_SWEEPS_LATER") == NULL ? "" : "EDEN_FUZZ_SWEEPS_LATER=1 ", options,
            (unsigned long long)seed, range->events);
        explain(events, range->events);
    } else {
        printf("seed %llu fails, but not alone: EDEN_OPTIONS='%s', after seeds from %llu in steps of %llu, of %zu "
               "events\n",
               (unsigned long long)seed, options, (unsigned long long)range->first, (unsigned long long)range->step,
               range->events);
    }
    free(events);
}

/* Runs a range in a child. Of several processes, the first that finds a failure reports it. */
static bool run_in_child(const struct range *range, size_t job) {
    pid_t pid = fork_or_exit();
    if (pid == 0) {
        run_range(range, job);
        exit(0);
    }
    if (wait_for(pid) == 0) {
        return true;
    }
    if (!atomic_exchange(&shared->failed, true)) {
        report(range, shared->seed[job]);
    }
    return false;
}

bool run_seeds(uint64_t first, uint64_t seeds, size_t events, size_t jobs) {
    bool ok = true;
    pid_t pids[MAX_JOBS];
    if (shared == NULL) {
        void *memory = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
        shared = need(memory == MAP_FAILED ? NULL : memory);
    }
    jobs = jobs < seeds ? jobs : seeds;
    for (size_t i = 0; i < jobs; i++) {
        pids[i] = fork_or_exit();
        if (pids[i] == 0) {
            bool good = run_in_child(&(struct range){first + i, first + seeds, jobs, events}, i);
            fflush(NULL);
            _exit(good ? 0 : 1);
        }
    }
    for (size_t i = 0; i < jobs; i++) {
        ok = wait_for(pids[i]) == 0 && ok;
    }
    return ok;
}
