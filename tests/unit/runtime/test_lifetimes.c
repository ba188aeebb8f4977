/* Lifetimes as the collections find them, against the truth that the program knows. */
#include "life_truth.h"
#include <math.h>
#include <pthread.h>
#include <sys/mman.h>

static void every_object_is_reported(uint64_t flags) {
    for (size_t h = 0; h < HEAPS; h++) {
        run(heaps[h], mail(EDEN_SAMPLE_OBJECTS, 1, flags), objects_for(heaps[h]));
        assert_int_equal(truth.births, truth.count);
        for (size_t i = 0; i < truth.count; i++) {
            assert_true(truth.made[i].is_reported);
        }
        assert_true(truth.deaths > truth.count / 2);
        assert_true(truth.censored > 0);
    }
}

TEST(all_objects_one_by_one) { every_object_is_reported(EDEN_CONTROL_OBJECTS); }

TEST(short_forms_give_the_same_sums) {
    every_object_is_reported(EDEN_CONTROL_OBJECTS | EDEN_CONTROL_SHORT);
    life_decoder_clear(&decoder);
}

/* Objects that `pretenure` names count as born old, one by one; the births of those in eden between them are exact. */
TEST(pretenured_objects_are_born_old) {
    static const char names[] = "class Bytes\n";
    int fd = memfd_create("pretenure", MFD_CLOEXEC);
    assert_int_equal(write(fd, names, sizeof names - 1), sizeof names - 1);
    char parameters[100];
    snprintf(parameters, sizeof parameters, "eden_size=64K,grow_headroom=64K,pretenure=/proc/self/fd/%d", fd);
    run(parameters, mail(EDEN_SAMPLE_OBJECTS, 1, EDEN_CONTROL_OBJECTS), 60000);
    assert_int_equal(truth.births, truth.count);
    assert_true(truth.born_old > truth.count / 4);
    uint64_t pairs = 0;
    for (size_t i = 0; i < truth.count; i++) {
        assert_true(truth.made[i].is_reported);
        pairs += truth.made[i].bytes == 24 && truth.made[i].site == 2;
    }
    assert_int_equal(truth.born_old, truth.count - pairs - 1); /* and the table */
    /* Samplings that trap, and those that walk. */
    run(parameters, mail(EDEN_SAMPLE_BYTES, 500, EDEN_CONTROL_OBJECTS), 60000);
    assert_true(truth.born_old != 0);
    run(parameters, mail(EDEN_SAMPLE_NTH, 10, EDEN_CONTROL_OBJECTS), 60000);
    assert_true(truth.born_old != 0);
    run(parameters, mail(EDEN_SAMPLE_OBJECTS, 100, 0), 60000);
    close(fd);
}

TEST(cells_give_the_same_sums) {
    run(heaps[0], mail(EDEN_SAMPLE_OBJECTS, 1, 0), 60000);
    assert_int_equal(truth.births, truth.count);
    assert_int_equal(truth.weight, truth.count * EDEN_WEIGHT_ONE);
    assert_int_equal(truth.ended_weight, truth.weight);
}

TEST(each_sampling_is_unbiased) {
    static const struct {
        enum eden_sampling sampling;
        uint64_t rate;
        double tolerance; /* five standard errors, of the weights' sum over the number of objects */
    } ways[] = {
        {EDEN_SAMPLE_BYTES, 2000, 0.15}, {EDEN_SAMPLE_OBJECTS, 2, 0.012}, {EDEN_SAMPLE_OBJECTS, 100, 0.12},
        {EDEN_SAMPLE_NTH, 10, 0.001},    {EDEN_SAMPLE_REFILL, 2000, 0.2},
    };
    for (size_t i = 0; i < sizeof ways / sizeof ways[0]; i++) {
        run(heaps[1], mail(ways[i].sampling, ways[i].rate, 0), 200000);
        double estimate = (double)truth.weight / EDEN_WEIGHT_ONE, share = estimate / (double)truth.count;
        if (fabs(share - 1) > ways[i].tolerance) {
            fail_msg("sampling %d: %.0f objects are estimated to be %.0f", (int)ways[i].sampling, (double)truth.count,
                     estimate);
        }
        assert_int_equal(truth.ended_weight, truth.weight);
        run(heaps[1], mail(ways[i].sampling, ways[i].rate, EDEN_CONTROL_OBJECTS), 60000);
        run(heaps[1], mail(ways[i].sampling, ways[i].rate, EDEN_CONTROL_OBJECTS | EDEN_CONTROL_SHORT), 60000);
    }
}

/* Eden is smaller than the distance of two samples. */
TEST(refills_are_counted_across_collections) {
    const uint64_t rate = 100000;
    run(heaps[0], mail(EDEN_SAMPLE_REFILL, rate, 0), 60000);
    uint64_t eden = 0, large = 0;
    for (size_t i = 0; i < truth.count; i++) {
        bool is_large = truth.made[i].bytes >= 4096;
        large += is_large;
        eden += is_large ? 0 : truth.made[i].bytes;
    }
    assert_true(eden / rate > 2 * large);
    assert_in_range(truth.births, eden / rate, eden / rate + large);
}

/* ---- the process exits ---- */

/* Heaps that are in use at the exit stay as they are. */
static void may_leak(void) {
#if TEST_SANITIZED
    __lsan_disable(); /* of this thread */
#endif
}

static void *allocate_for_ever(void *ready) {
    struct world w;
    may_leak();
    world_make(&w, "eden_size=1M");
    EDEN_FRAME(w.m, local, 1);
    for (size_t i = 0;; i++) {
        eden_value pair = eden_new(w.m, w.pair);
        eden_slot_set(w.m, pair, 0, i % 20000 == 0 ? EDEN_NONE : local[0]);
        local[0] = pair;
        if (i == 100000) {
            __atomic_store_n((bool *)ready, true, __ATOMIC_RELEASE);
        }
    }
    return NULL;
}

static void exit_beside(void) {
    static bool ready;
    pthread_t thread;
    pthread_create(&thread, NULL, allocate_for_ever, &ready);
    while (!__atomic_load_n(&ready, __ATOMIC_ACQUIRE)) {
        usleep(100);
    }
    exit(0);
}

static void visit_and_exit(void *context, eden_visit *visit) {
    (void)context;
    (void)visit;
    exit(0);
}

static void exit_within_a_collection(void) {
    struct world w;
    world_make(&w, "eden_size=1M");
    EDEN_FRAME(w.m, local, 1);
    for (size_t i = 0; i < 1000; i++) {
        eden_value pair = eden_new(w.m, w.pair);
        eden_slot_set(w.m, pair, 0, local[0]);
        local[0] = pair;
    }
    eden_visitor_add(w.heap, visit_and_exit, NULL);
    eden_scavenge(w.m);
}

/* With a profile, whose objects are not to be looked at then. */
static void exits_well(void (*run_and_exit)(void)) {
    pid_t pid = fork();
    if (pid == 0) {
        setenv("EDEN_SAMPLING", "0x10031", 1);
        eden_batch_semaphore = 1;
        must_not_end = true;
        alarm(300); /* it hangs */
        may_leak();
        run_and_exit();
        _exit(1);
    }
    int status = 0;
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_int_equal(status, 0);
}

TEST(exits_beside_and_within_collections_do_no_harm) {
    exits_well(exit_within_a_collection);
    for (int i = 0; i < 5; i++) {
        exits_well(exit_beside);
    }
}

/* ---- listeners of requested profiles ---------------------------------------------------------------------------- */

extern volatile unsigned short eden_batch__requested_semaphore;
void __wrap_eden_probe_batch__requested(const void *heap, uint64_t kind, const void *records, uint64_t count,
                                        uint64_t bytes);

static uint64_t requested_batches;

void __wrap_eden_probe_batch__requested(const void *heap, uint64_t kind, const void *records, uint64_t count,
                                        uint64_t bytes) {
    requested_batches++;
    if (eden_batch_semaphore == 0) { /* else it has come by the other probe */
        __wrap_eden_probe_batch(heap, kind, records, count, bytes);
    }
}

/* Two scavenges of 1,000 objects. Returns whether a profile runs after it. */
static bool is_profiled(uint64_t control) {
    struct world w;
    memset(&truth, 0, sizeof truth);
    requested_batches = 0;
    world_make(&w, "eden_size=64K");
    w.heap->info.sample_control = control;
    eden_scavenge(w.m);
    for (int i = 0; i < 1000; i++) {
        eden_new(w.m, w.pair);
    }
    eden_scavenge(w.m);
    bool is_there = profile_of(w.heap);
    eden_heap_destroy(w.heap);
    return is_there;
}

TEST(a_listener_of_requested_profiles_makes_no_other_heap_sample) {
    eden_batch__requested_semaphore = 1;
    assert_false(is_profiled(0));
    assert_false(is_profiled(mail(EDEN_SAMPLE_OBJECTS, 1, EDEN_CONTROL_END)));
    assert_int_equal(requested_batches, 0);
    assert_true(is_profiled(mail(EDEN_SAMPLE_OBJECTS, 1, 0)));
    assert_int_equal(truth.births, 1000);
    assert_int_equal(truth.deaths + truth.censored, 1000);
    assert_int_equal(truth.state.ended, 1);
    eden_batch_semaphore = 1; /* and who listens to all gets the same */
    assert_true(is_profiled(mail(EDEN_SAMPLE_OBJECTS, 1, 0)));
    assert_int_equal(truth.births, 1000);
    assert_true(requested_batches > 0);
    assert_true(is_profiled(0));
    assert_int_equal(requested_batches, 0);
    eden_batch__requested_semaphore = eden_batch_semaphore = 0;
}

/* In a child with a copy of a heap, and of its profile: what the parent has sent, or will send, is not sent again. */
static void live_on(const struct world *w, bool collects) {
    uint64_t before = bytes_now(w);
    memset(&truth, 0, sizeof truth);
    may_leak();
    for (int i = 0; i < 1000; i++) {
        eden_new(w->m, w->pair);
    }
    if (collects) {
        eden_scavenge(w->m);
        if (truth.turns != 1 || truth.births + truth.deaths != 0 || truth.state.begun_bytes <= before) {
            _exit(1); /* it begins anew at the end of that */
        }
        for (int i = 0; i < 500; i++) {
            eden_new(w->m, w->pair);
        }
        eden_scavenge(w->m);
    }
    eden_heap_destroy(w->heap);
    uint64_t all = collects ? 500 : 0;
    bool are_own = truth.births <= all && truth.births >= all * 9 / 10; /* samples of 8 bytes are nearly all */
    _exit(are_own && truth.births == truth.deaths + truth.censored && (truth.turns != 0) == collects ? 0 : 2);
}

TEST(a_forked_childs_copy_of_a_profile_reports_nothing) {
    for (int mode = 0; mode < 4; mode++) { /* with each sampling, births in rows and in eden */
        listen();
        struct world w;
        world_make(&w, "eden_size=1M");
        begin_anew(&w, mode / 2 ? mail(EDEN_SAMPLE_BYTES, 8, 0) : mail(EDEN_SAMPLE_OBJECTS, 1, 0));
        for (int i = 0; i < 1000; i++) {
            eden_new(w.m, w.pair);
        }
        pid_t pid = fork();
        if (pid == 0) {
            live_on(&w, mode % 2);
        }
        int status = 0;
        assert_int_equal(waitpid(pid, &status, 0), pid);
        assert_int_equal(status, 0);
        eden_heap_destroy(w.heap);
        assert_true(truth.births >= 900);
        assert_int_equal(truth.births, truth.deaths + truth.censored);
        eden_batch_semaphore = 0;
    }
}

/* Places beyond 2^36 granules do not fit into a life's bits: such heaps have no profile. */
TEST(heaps_too_large_have_no_profile) {
    eden_batch_semaphore = 1;
    struct world w;
    world_make(&w, "eden_size=64K,max_heap=1T");
    bool reserved = w.heap->reservation_bytes > 8ull << WHERE_BITS;
    assert_true(reserved == (profile_of(w.heap) == NULL));
    eden_heap_destroy(w.heap);
    eden_batch_semaphore = 0;
}

static bool refusing;
static bool refuse_profile(void *context, size_t bytes, const char *what) {
    (void)context;
    (void)bytes;
    return !refusing || strcmp(what, "profile") != 0;
}

/* The allocation clock has no memory to record a large object: the profile is dropped: later births would be wrong. */
TEST(a_jump_without_memory_ends_the_profile) {
    listen();
    struct world w;
    world_make_with(&w, &(eden_options){.name = "test",
                                        .parameters = "eden_size=64K,large_object=4096,grow_headroom=1M",
                                        .memory_hook = refuse_profile});
    assert_non_null(profile_of(w.heap));
    eden_new_raw(w.m, w.bytes, 5000);
    profile_of(w.heap)->clock.mark_room =
        profile_of(w.heap)->clock.mark_count + 1; /* for the mark before, not that after */
    refusing = true;
    eden_new_raw(w.m, w.bytes, 5000);
    refusing = false;
    assert_null(profile_of(w.heap));
    eden_scavenge(w.m);
    assert_non_null(profile_of(w.heap));
    eden_heap_destroy(w.heap);
    eden_batch_semaphore = 0;
}
