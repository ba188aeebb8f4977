/* Native stacks: kept once each; joined to objects by their births; what is not known is of unknown stack, and nothing
 * is counted twice. */
#include "model/lifetimes/batch.h"
#include "model/lifetimes/options.h"
#include "stats/by_stack.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "suite.h"

TEST(a_stack_is_kept_once) {
    struct life_stacks stacks = {0};
    uint32_t names[300];
    for (int round = 0; round < 2; round++) {
        for (uint32_t i = 0; i < 300; i++) {
            char name[16];
            snprintf(name, sizeof name, "f%u", i);
            names[i] = life_stacks_name(&stacks, name);
            assert_int_equal(names[i], i);
        }
    }
    assert_int_equal(life_stacks_add(&stacks, 1, names, 0), 0);
    for (int round = 0; round < 2; round++) {
        for (uint32_t i = 1; i <= 200; i++) {
            assert_int_equal(life_stacks_add(&stacks, 1, names, i), i);
        }
    }
    assert_int_equal(life_stacks_add(&stacks, 1, names + 1, 5), 201);
    assert_int_equal(life_stacks_find(&stacks, 2, names, 5), 0);
    assert_int_equal(life_stacks_add(&stacks, 2, names, 5), 202); /* of another class */
    assert_int_equal(life_stacks_find(&stacks, 2, names, 5), 202);
    const struct life_stack *stack = life_stacks_get(&stacks, 202);
    assert_int_equal(stack->class_id, 2);
    assert_int_equal(stack->depth, 5);
    assert_string_equal(stacks.name[stack->frame[4]], "f4");
    assert_null(life_stacks_get(&stacks, 0));
    assert_null(life_stacks_get(&stacks, 203));
    assert_null(life_stacks_get(NULL, 1));
    life_stacks_clear(&stacks);
    assert_int_equal(stacks.count, 0);
}

TEST(a_label_shows_where_it_is_cut) {
    struct life_stacks stacks __attribute__((cleanup(life_stacks_clear))) = {0};
    const uint32_t frame[] = {life_stacks_name(&stacks, "make_leaf"), life_stacks_name(&stacks, "grow"),
                              life_stacks_name(&stacks, "main")};
    const struct life_stack *stack = life_stacks_get(&stacks, life_stacks_add(&stacks, 1, frame, 3));
    static const char *const wanted[] = {
        [0] = "",
        [4] = "make",
        [12] = "make_leaf",
        [14] = "make_leaf ...",
        [20] = "make_leaf < grow ...",
        [23] = "make_leaf < grow < main",
    };
    for (size_t size = 1; size <= 24; size++) {
        char text[32];
        memset(text, '#', sizeof text);
        life_stacks_label(&stacks, stack, text, size);
        assert_true(strlen(text) < size);
        assert_int_equal(text[size], '#');
        if (wanted[size - 1]) {
            assert_string_equal(text, wanted[size - 1]);
        }
    }
}

/* Against a list without gaps: any order of ends. */
TEST(samples_are_found_by_birth) {
    enum { MANY = 20000 };
    struct life_samples samples = {0};
    uint32_t *stack __attribute__((cleanup(free_at))) = calloc(MANY, sizeof *stack);
    uint32_t seed = 7;
    size_t alive = 0;
    assert_non_null(stack);
    for (uint32_t i = 0; i < MANY; i++) {
        stack[i] = 1 + i % 9;
        assert_true(life_samples_add(&samples, 100 + 16 * i, stack[i]));
        alive++;
        assert_false(life_samples_add(&samples, 100 + 16 * i, 1)); /* the same birth */
        assert_false(life_samples_add(&samples, 16 * (i / 2), 1)); /* an earlier one */
        for (int ends = 0; ends < (i % 16 == 15 ? 15 : 0); ends++) {
            seed = seed * 1664525 + 1013904223;
            uint32_t which = (seed >> 8) % (i + 1);
            assert_int_equal(life_samples_end(&samples, 100 + 16 * which), stack[which]);
            alive -= stack[which] != 0;
            stack[which] = 0;
        }
        assert_int_equal(samples.count - samples.ended, alive);
        assert_true(samples.count <= 2 * alive + 2048);
    }
    assert_int_equal(life_samples_end(&samples, 99), 0);
    assert_int_equal(life_samples_end(&samples, 101), 0);
    assert_int_equal(life_samples_end(&samples, UINT64_MAX), 0);
    life_samples_clear(&samples);
}

/* ---- in the model ------------------------------------------------------------------------------------------------ */

enum { CLASS = 5, SITE = 6, RATE = 100, BYTES = 24 };

struct fixture {
    struct life_stacks stacks;
    struct life_model model;
    struct life_heap *heap;
};

static void begin(struct fixture *fixture) {
    *fixture = (struct fixture){.model.stacks = &fixture->stacks};
    static const struct process_key process = {.start_ns = 10000000, .pid = 7};
    fixture->heap = life_model_heap(&fixture->model, &process, (struct heap_ref){0x1000, 1, 0});
    const uint32_t frame[] = {life_stacks_name(&fixture->stacks, "push"), life_stacks_name(&fixture->stacks, "main")};
    assert_int_equal(life_stacks_add(&fixture->stacks, CLASS, frame, 2), 1);
    assert_int_equal(life_stacks_add(&fixture->stacks, CLASS, frame + 1, 1), 2);
}

static void emit(struct fixture *fixture, uint32_t kind, const void *record, size_t bytes) {
    assert_true(life_model_batch(&fixture->model, fixture->heap, kind, record, 1, bytes));
}

static void report_profile(struct fixture *fixture, uint64_t begun) {
    struct eden_profile_record profile = {
        .begun_ns = begun, .time_ns = begun, .rate = RATE, .sampling = EDEN_SAMPLE_OBJECTS};
    emit(fixture, EDEN_BATCH_PROFILE, &profile, sizeof profile);
}

static void report_stack(struct fixture *fixture, uint64_t birth, uint32_t site, uint32_t stack) {
    struct life_stack_record record = {
        .birth_bytes = birth, .bytes = BYTES, .site = site, .class_id = CLASS, .stack = stack};
    emit(fixture, LIFE_BATCH_STACK, &record, sizeof record);
}

static void emit_births(struct fixture *fixture, uint32_t site, uint32_t count) {
    struct eden_birth_cell cell = {.site = site,
                                   .count = count,
                                   .bytes = (uint64_t)BYTES * count,
                                   .weight = (uint64_t)RATE * EDEN_WEIGHT_ONE * count,
                                   .weight_bytes = (uint64_t)RATE * BYTES * count};
    emit(fixture, EDEN_BATCH_BIRTHS, &cell, sizeof cell);
}

static void report_end(struct fixture *fixture, uint64_t birth, uint32_t site, bool censored) {
    struct eden_life_record record = {.site = site,
                                      .bytes = BYTES,
                                      .birth_bytes = birth,
                                      .death_bytes = birth + 1000,
                                      .death_ns = 10,
                                      .censored = censored,
                                      .weight = RATE * EDEN_WEIGHT_ONE};
    emit(fixture, EDEN_BATCH_OBJECTS, &record, sizeof record);
}

static const struct life_site *group_of(const struct fixture *fixture, uint32_t site) {
    for (size_t i = 0; i < fixture->heap->site_count; i++) {
        if (fixture->heap->sites[i].site == site) {
            return &fixture->heap->sites[i];
        }
    }
    return NULL;
}

static void expect(const struct fixture *fixture, uint32_t site, uint64_t births, uint64_t deaths, uint64_t censored) {
    const struct life_site *group = group_of(fixture, site);
    assert_non_null(group);
    assert_int_equal(group->births.count, births);
    assert_int_equal(group->births.bytes, births * BYTES);
    assert_int_equal(group->births.weight, births * RATE * EDEN_WEIGHT_ONE);
    assert_int_equal(group->births.weight_bytes, births * RATE * BYTES);
    assert_int_equal(life_site_ended(group, LIFE_DIED, 0)->count, deaths);
    assert_int_equal(life_site_ended(group, LIFE_CENSORED, 0)->count, censored);
    assert_int_equal(group->class_id, CLASS);
}

static void end(struct fixture *fixture) {
    life_model_clear(&fixture->model);
    life_stacks_clear(&fixture->stacks);
}

TEST(ends_go_to_the_stack_of_their_birth) {
    struct fixture fixture;
    begin(&fixture);
    report_stack(&fixture, 8, CLASS, 1); /* before its profile: whose it is, is unknown */
    report_profile(&fixture, 1000);
    report_stack(&fixture, 16, CLASS, 1);
    report_stack(&fixture, 48, SITE, 2);    /* another site of the class */
    report_stack(&fixture, 80, CLASS, 0);   /* could not be taken */
    report_stack(&fixture, 112, CLASS, 77); /* is none */
    report_stack(&fixture, 144, CLASS, 1);
    emit_births(&fixture, CLASS, 5);
    emit_births(&fixture, SITE, 2); /* one of them of lost stack */
    report_end(&fixture, 144, CLASS, false);
    report_end(&fixture, 48, SITE, false);
    report_end(&fixture, 176, SITE, false);
    report_end(&fixture, 80, CLASS, false);
    report_end(&fixture, 16, CLASS, true);
    report_end(&fixture, 112, CLASS, true);
    report_end(&fixture, 208, CLASS, true);
    assert_true(life_by_stack_reconcile(&fixture.model));
    assert_int_equal(fixture.heap->site_count, 3);
    expect(&fixture, EDEN_CLASS_LIMIT + 1, 2, 1, 1);
    expect(&fixture, EDEN_CLASS_LIMIT + 2, 1, 1, 0);
    expect(&fixture, LIFE_NO_STACK + CLASS, 4, 2, 2);
    assert_int_equal(life_by_stack_unknown(fixture.heap), 4);
    assert_string_equal(group_of(&fixture, EDEN_CLASS_LIMIT + 1)->name, "push < main");
    assert_string_equal(group_of(&fixture, EDEN_CLASS_LIMIT + 2)->name, "main");
    assert_string_equal(group_of(&fixture, LIFE_NO_STACK + CLASS)->name, "unknown stack");
    assert_int_equal(fixture.model.lost + fixture.model.unknown, 0);
    end(&fixture);
}

TEST(nothing_of_a_former_profile_stays) {
    struct fixture fixture;
    begin(&fixture);
    report_profile(&fixture, 1000);
    report_stack(&fixture, 16, CLASS, 1);
    report_profile(&fixture, 2000);
    report_end(&fixture, 16, CLASS, false); /* another object: this profile reported no stack */
    emit_births(&fixture, CLASS, 1);
    assert_true(life_by_stack_reconcile(&fixture.model));
    assert_int_equal(fixture.heap->site_count, 1);
    expect(&fixture, LIFE_NO_STACK + CLASS, 1, 1, 0);
    end(&fixture);
}

/* A heap that was not asked in time reports no objects: then no stack can be joined to one. */
TEST(cells_are_of_unknown_stack) {
    struct fixture fixture;
    begin(&fixture);
    report_profile(&fixture, 1000);
    report_stack(&fixture, 16, CLASS, 1);
    emit_births(&fixture, CLASS, 2);
    struct eden_life_cell cell = {.site = CLASS, .count = 2, .bytes = 2 * BYTES};
    emit(&fixture, EDEN_BATCH_DEATHS, &cell, sizeof cell);
    assert_true(life_by_stack_reconcile(&fixture.model));
    assert_int_equal(fixture.heap->site_count, 1);
    expect(&fixture, LIFE_NO_STACK + CLASS, 2, 2, 0);
    end(&fixture);
}

/* A killed process reported no births: they are known by stack alone. */
TEST(births_are_never_below_zero) {
    struct fixture fixture;
    begin(&fixture);
    report_profile(&fixture, 1000);
    report_stack(&fixture, 16, CLASS, 1);
    report_stack(&fixture, 48, CLASS, 1);
    emit_births(&fixture, CLASS, 1);
    assert_true(life_by_stack_reconcile(&fixture.model));
    assert_int_equal(fixture.heap->site_count, 1);
    expect(&fixture, EDEN_CLASS_LIMIT + 1, 2, 0, 0);
    end(&fixture);
}

TEST(a_model_without_stacks_knows_no_such_batch) {
    struct life_model model __attribute__((cleanup(life_model_clear))) = {0};
    static const struct process_key process = {.start_ns = 10000000, .pid = 7};
    struct life_heap *heap = life_model_heap(&model, &process, (struct heap_ref){0x1000, 1, 0});
    struct life_stack_record record = {.birth_bytes = 8, .bytes = 16, .site = 1, .class_id = 1, .stack = 1};
    assert_true(life_model_batch(&model, heap, LIFE_BATCH_STACK, &record, 1, sizeof record));
    assert_int_equal(model.unknown, 1);
    assert_int_equal(heap->site_count, 0);
}

TEST(dense_samplings_are_refused) {
    static const char *const good[] = {NULL, "1/100", "1/1000", "bytes=8K", "refill=1M"};
    static const char *const bad[] = {"all", "1/99", "nth=1000", "bytes=8191", "refill=4K", "window=1/1000"};
    struct failure why = {0};
    uint64_t mail;
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        struct life_request request = {.sampling = good[i], .stacks = true};
        assert_true(life_request_encode(&request, &mail, &why));
        assert_true(mail & EDEN_CONTROL_OBJECTS);
    }
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct life_request request = {.sampling = bad[i], .stacks = true};
        assert_false(life_request_encode(&request, &mail, &why));
        assert_non_null(strstr(why.message, "--stacks"));
        assert_int_equal(why.status, 1);
    }
}
