/* Memory that runs out: errors that a program can read, a heap that stays sound, and going on when memory is back. */
#include "support.h"
#include <sys/resource.h>

/* ---- a whole program, with the n-th request refused, and every one from the n-th on ------------------------------ */

static void tolerate(const struct world *w, eden_value value, size_t *failures) {
    if (value == EDEN_NONE) {
        ++*failures;
        const eden_error *error = eden_last_error(w->m);
        assert_int_equal(error->status, EDEN_NO_MEMORY);
        assert_true(strstr(error->message, "out of memory") != NULL);
    }
}

/* Allocates in every way, pins, tenures, collects; counts the calls that failed. False: no heap was created. */
static bool program(struct refusal *refusal, size_t *failures) {
    enum { LIST = 3000 };
    eden_options options = {.parameters =
                                "eden_size=64K,grow_headroom=64K,large_object=8K,shrink_threshold=64K,tenure_fill=0.2",
                            .memory_hook = refuse_some,
                            .memory_hook_context = refusal};
    eden_error error = {EDEN_OK, ""};
    *failures = 0;
    struct world w = {.heap = eden_heap_create(&options, &error)};
    if (w.heap == NULL) {
        assert_int_equal(error.status, EDEN_NO_MEMORY);
        assert_true(error.message[0] != '\0');
        return false;
    }
    w.m = eden_mutator_attach(w.heap, &error);
    assert_non_null(w.m);
    const eden_class_definition definitions[] = {
        {"Pair", EDEN_FORMAT_FIXED, 2}, {"Array", EDEN_FORMAT_VARIABLE, 0}, {"Bytes", EDEN_FORMAT_BYTES, 0}};
    eden_class classes[3];
    for (size_t i = 0; i < 3; i++) {
        classes[i] = eden_class_define(w.heap, &definitions[i], &error);
        if (classes[i] == 0) {
            assert_int_equal(error.status, EDEN_NO_MEMORY);
            assert_non_null(strstr(error.message, definitions[i].name));
            ++*failures;
            eden_heap_destroy(w.heap);
            return true;
        }
    }
    static eden_value global;
    global = EDEN_NONE;
    *failures += !eden_root_add(w.heap, &global);
    {
        EDEN_FRAME(w.m, local, 6);
        for (int64_t i = 0; i < LIST; i++) {
            eden_value pair = eden_new(w.m, classes[0]);
            tolerate(&w, pair, failures);
            if (pair != EDEN_NONE) {
                eden_slot_set(w.m, pair, 0, eden_int(i));
                eden_slot_set(w.m, pair, 1, local[0]);
                local[0] = pair;
            }
            if (i % 500 == 0) {
                local[1] = eden_new_slots(w.m, classes[1], 2000);
                tolerate(&w, local[1], failures);
                if (local[1] != EDEN_NONE) {
                    eden_slot_set(w.m, local[1], 5, local[0]);
                }
                local[2] = eden_new_raw(w.m, classes[2], (size_t)(100 + i));
                tolerate(&w, local[2], failures);
                local[3] = local[2] == EDEN_NONE ? EDEN_NONE : eden_pin(w.m, local[2]);
                *failures += local[2] != EDEN_NONE && local[3] == EDEN_NONE;
                verify(&w);
            }
            if (i % 700 == 0) {
                eden_full_collect(w.m);
                verify(&w);
            }
        }
        int64_t before = LIST;
        for (eden_value at = local[0]; at != EDEN_NONE; at = eden_slot(at, 1)) {
            assert_true(eden_is_int(eden_slot(at, 0)) && eden_int_value(eden_slot(at, 0)) < before);
            before = eden_int_value(eden_slot(at, 0));
        }
        refusal->to = 0; /* memory is back: everything works */
        for (size_t i = 0; i < 6; i++) {
            local[i] = EDEN_NONE;
        }
        eden_full_collect(w.m);
        verify(&w);
        assert_int_equal(count_objects(&w), 0);
        for (size_t i = 0; i < 2000; i++) {
            local[i % 6] = eden_new_raw(w.m, classes[2], i);
            assert_true(local[i % 6] != EDEN_NONE);
        }
        local[0] = eden_new_slots(w.m, classes[1], 20000);
        assert_true(local[0] != EDEN_NONE);
        verify(&w);
    }
    eden_heap_destroy(w.heap);
    return true;
}

TEST(the_nth_request_is_refused) {
    struct refusal refusal = {1, 0, 0};
    size_t failures;
    assert_true(program(&refusal, &failures));
    assert_int_equal(failures, 0);
    long requests = refusal.seen;
    assert_true(requests > 20);
    long heaps = 0;
    for (long n = 1; n <= requests; n++) {
        refusal = (struct refusal){n, n, 0};
        heaps += program(&refusal, &failures);
    }
    assert_true(heaps > 0 && heaps < requests);
}

TEST(every_request_from_the_nth_on_is_refused) {
    struct refusal refusal = {1, 0, 0};
    size_t failures, failed = 0;
    program(&refusal, &failures);
    long requests = refusal.seen;
    for (long n = 1; n <= requests; n++) {
        refusal = (struct refusal){n, LONG_MAX, 0};
        if (program(&refusal, &failures)) {
            failed += failures;
        }
    }
    assert_true(failed > 0);
}

/* ---- max_heap ---------------------------------------------------------------------------------------------------- */

/* Fills the heap until an allocation fails; how many went in. */
static size_t fill(const struct world *w, eden_value *list, size_t n) {
    size_t count = 0;
    for (;;) {
        eden_value node = eden_new_raw(w->m, w->compound, n);
        if (node == EDEN_NONE) {
            return count;
        }
        eden_slot_set(w->m, node, 0, *list);
        *list = node;
        count++;
    }
}

TEST(a_program_that_fills_max_heap_goes_on) {
    const char *const parameters[] = {"eden_size=64K,max_heap=1M,grow_headroom=64K", "eden_size=256K,max_heap=2M",
                                      "eden_size=64K,max_heap=1M,compactor=none,grow_headroom=64K",
                                      "eden_size=64K,max_heap=1M,grow_headroom=1G,large_object=4096"};
    const size_t sizes[] = {0, 100, 3000, 20000};
    for (size_t p = 0; p < 4; p++) {
        for (size_t s = 0; s < 4; s++) {
            WORLD(w, parameters[p]);
            EDEN_FRAME(w.m, local, 1);
            size_t least = 0;
            for (int round = 0; round < 4; round++) {
                size_t count = fill(&w, &local[0], sizes[s]);
                verify(&w);
                const eden_error *error = eden_last_error(w.m);
                assert_int_equal(error->status, EDEN_NO_MEMORY);
                assert_non_null(strstr(error->message, "'Compound'"));
                assert_non_null(strstr(error->message, "max_heap"));
                uint64_t mapped = w.heap->info.new_bytes + w.heap->old.capacity;
                assert_true(mapped <= w.heap->params.max_heap);
                if (round == 0) {
                    least = count;
                    /* What the program got is most of what it may have. */
                    assert_true(count * (sizes[s] + 32) > w.heap->params.max_heap * 6 / 10);
                }
                assert_true(count >= least * 9 / 10);
                assert_true(figures_of(&w).alloc_failures == (uint64_t)round + 1);
                local[0] = EDEN_NONE;
            }
            eden_full_collect(w.m);
            assert_int_equal(count_objects(&w), 0);
        }
    }
}

TEST(absurd_sizes_fail_cleanly) {
    WORLD(w, "eden_size=64K,max_heap=1M");
    EDEN_FRAME(w.m, local, 1);
    const size_t sizes[] = {2 * MIB,        (size_t)1 << 40, SIZE_MAX / 8, SIZE_MAX / 8 - 2,
                            SIZE_MAX - 300, SIZE_MAX - 1,    SIZE_MAX};
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        assert_int_equal(eden_new_slots(w.m, w.array, sizes[i]), EDEN_NONE);
        assert_int_equal(eden_new_slots(w.m, w.mixed, sizes[i]), EDEN_NONE);
        assert_int_equal(eden_new_raw(w.m, w.bytes, sizes[i]), EDEN_NONE);
        assert_int_equal(eden_new_raw(w.m, w.compound, sizes[i]), EDEN_NONE);
        assert_int_equal(eden_new_raw(w.m, w.words16, sizes[i]), EDEN_NONE);
        assert_int_equal(eden_new_raw(w.m, w.words32, sizes[i]), EDEN_NONE);
        assert_int_equal(eden_new_raw(w.m, w.words64, sizes[i]), EDEN_NONE);
        assert_int_equal(eden_last_error(w.m)->status, EDEN_NO_MEMORY);
        verify(&w);
    }
    local[0] = eden_new(w.m, w.pair);
    assert_true(local[0] != EDEN_NONE);
    assert_int_equal(figures_of(&w).alloc_failures, 7 * sizeof sizes / sizeof sizes[0]);
}

/* Old space is full for good, but new space has room for what lives there: a program may go on for ever, if it wants to
 * spend nearly all of its time in collections. */
TEST(a_full_old_space_leaves_new_space_usable) {
    WORLD(w, "eden_size=64K,max_heap=1M,grow_headroom=64K,tenure_proportion=0,overhead_limit=1");
    EDEN_FRAME(w.m, local, 3);
    fill(&w, &local[0], 100);
    fill(&w, &local[0], 0);
    size_t dropped = 0; /* the newest, which are in new space, and some more */
    for (; dropped < 300 && local[0] != EDEN_NONE; dropped++) {
        local[0] = eden_slot(local[0], 0);
    }
    uint64_t failures = figures_of(&w).alloc_failures;
    for (int i = 0; i < 20000; i++) {
        eden_value pair = eden_new(w.m, w.pair);
        if (pair == EDEN_NONE) {
            fail_msg("allocation %d: %s", i, eden_last_error(w.m)->message);
        }
        eden_slot_set(w.m, pair, 0, i % 100 == 0 ? EDEN_NONE : local[1]);
        local[1] = pair;
    }
    assert_int_equal(figures_of(&w).alloc_failures, failures);
}

/* ---- the system itself ------------------------------------------------------------------------------------------- */

struct under {
    uint64_t bytes;
    const char *parameters;
};

static void under_ulimit(void *context) {
    const struct under *under = context;
    struct rlimit limit = {under->bytes, under->bytes};
    CHILD_CHECK(setrlimit(RLIMIT_AS, &limit) == 0);
    eden_error error = {EDEN_OK, ""};
    eden_options options = {.parameters = under->parameters};
    eden_heap *heap = eden_heap_create(&options, &error);
    if (heap == NULL) {
        CHILD_CHECK(error.status == EDEN_NO_MEMORY && error.message[0] != '\0');
        _exit(7);
    }
    eden_mutator *m = eden_mutator_attach(heap, NULL);
    eden_class pair = eden_class_define(heap, &(eden_class_definition){"Node", EDEN_FORMAT_FIXED, 30}, &error);
    CHILD_CHECK(pair != 0);
    for (int round = 0; round < 2; round++) {
        EDEN_FRAME(m, local, 1);
        for (;;) {
            eden_value node = eden_new(m, pair);
            if (node == EDEN_NONE) {
                break;
            }
            eden_slot_set(m, node, 0, local[0]);
            local[0] = node;
        }
        CHILD_CHECK(eden_last_error(m)->status == EDEN_NO_MEMORY);
        CHILD_CHECK(eden_heap_verify(heap, &error));
        local[0] = EDEN_NONE;
        eden_full_collect(m);
        CHILD_CHECK(eden_heap_verify(heap, &error));
    }
    eden_heap_destroy(heap);
    _exit(0);
}

TEST(memory_refused_by_ulimit_is_an_error) {
    if (TEST_SANITIZED) {
        skip(); /* the sanitizer itself needs the address space */
    }
    static const char *const parameters[] = {"eden_size=1M,grow_headroom=1M,remembered_set=object",
                                             "eden_size=1M,grow_headroom=1M,remembered_set=card"};
    for (int i = 0; i < 2; i++) {
        struct under under = {100 * MIB, parameters[i]};
        assert_child_ok(run_child(under_ulimit, &under));
        under.bytes = 48 * MIB;
        assert_child_ok(run_child(under_ulimit, &under));
        under.bytes = 12 * MIB;
        int status = run_child(under_ulimit, &under);
        assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 7);
    }
}

TEST(an_error_lasts_until_it_is_cleared) {
    WORLD(w, "eden_size=64K,max_heap=1M");
    assert_int_equal(eden_last_error(w.m)->status, EDEN_OK);
    assert_true(eden_new_slots(w.m, w.array, 1 << 20) == EDEN_NONE);
    assert_int_equal(eden_last_error(w.m)->status, EDEN_NO_MEMORY);
    assert_true(eden_new(w.m, w.pair) != EDEN_NONE);
    assert_int_equal(eden_last_error(w.m)->status, EDEN_NO_MEMORY);
    eden_error_clear(w.m);
    assert_int_equal(eden_last_error(w.m)->status, EDEN_OK);
    assert_string_equal(eden_last_error(w.m)->message, "");
}

TEST(creation_without_memory_returns_an_error) {
    struct refusal refusal = {1, LONG_MAX, 0};
    eden_options options = {.memory_hook = refuse_some, .memory_hook_context = &refusal};
    eden_error error = {EDEN_OK, ""};
    assert_null(eden_heap_create(&options, &error));
    assert_int_equal(error.status, EDEN_NO_MEMORY);
    assert_non_null(strstr(error.message, "heap"));
    assert_null(eden_heap_create(&options, NULL));
}

static uint64_t system_total(void) {
    FILE *in = fopen("/proc/meminfo", "r");
    assert_non_null(in);
    uint64_t total = 0;
    char line[128], unit[8];
    unsigned long long kilobytes;
    while (fgets(line, sizeof line, in) != NULL) {
        bool counts = strncmp(line, "MemTotal:", 9) == 0 || strncmp(line, "SwapTotal:", 10) == 0;
        if (counts && sscanf(strchr(line, ':'), ": %llu %7s", &kilobytes, unit) == 2) {
            total += kilobytes * 1024;
        }
    }
    fclose(in);
    return total;
}

/* It would end the process when it is written. */
TEST(what_the_system_can_never_have_is_refused) {
    FILE *in = fopen("/proc/sys/vm/overcommit_memory", "r");
    int mode = in != NULL ? fgetc(in) : '0';
    if (in != NULL) {
        fclose(in);
    }
    WORLD(w, "");
    eden_value object = eden_new_raw(w.m, w.bytes, system_total() + 1024 * MIB);
    assert_true(mode == '1' || object == EDEN_NONE);
    if (object == EDEN_NONE) {
        assert_int_equal(eden_last_error(w.m)->status, EDEN_NO_MEMORY);
    }
}
