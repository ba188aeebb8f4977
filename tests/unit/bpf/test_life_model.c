/* The model of lifetimes: batches added up, as cells and as records; names of classes; the words of --sampling. */
#include "eden_values.h"
#include "model/lifetimes/limit.h"
#include "model/lifetimes/model.h"
#include "model/lifetimes/names.h"
#include "model/lifetimes/options.h"
#include "model/lifetimes/replay.h"
#include "util/interrupt.h"
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "suite.h"

static const struct process_key process = {.start_ns = 10000000, .pid = 7};

static struct life_heap *new_heap(struct life_model *model) {
    struct life_heap *heap = life_model_heap(model, &process, (struct heap_ref){0x1000, 1, 0});
    assert_non_null(heap);
    return heap;
}

TEST(heaps_and_sites_are_found_again) {
    struct life_model model = {0};
    for (uint64_t i = 0; i < 100; i++) {
        assert_non_null(life_model_heap(&model, &process, (struct heap_ref){0x1000, i % 10, 0}));
    }
    assert_int_equal(model.heap_count, 10);
    struct life_heap *heap = new_heap(&model);
    for (uint32_t i = 0; i < 1000; i++) {
        uint32_t site = i * 7919 % 500 + 1; /* in no order, each twice */
        struct life_site *found = life_heap_site(heap, site);
        assert_int_equal(found->site, site);
        assert_int_equal(found->class_id, site);
        found->births.count++;
    }
    assert_int_equal(heap->site_count, 500);
    life_model_sort(&model);
    heap = new_heap(&model);
    assert_int_equal(model.heap_count, 10);
    for (uint32_t i = 0; i < 500; i++) {
        assert_int_equal(heap->sites[i].site, i + 1);
        assert_int_equal(heap->sites[i].births.count, 2);
    }
    life_model_clear(&model);
    assert_int_equal(model.heap_count, 0);
}

TEST(buckets_stay_in_order) {
    struct life_model model __attribute__((cleanup(life_model_clear))) = {0};
    struct life_heap *heap = new_heap(&model);
    struct life_site *site = life_heap_site(heap, 3);
    for (uint16_t i = 0; i < 300; i++) {
        struct life_bucket one = {(uint16_t)(i * 37 % 150), 1, EDEN_WEIGHT_ONE, 16};
        assert_true(life_site_bucket(heap, site, LIFE_DIED, LIFE_BYTES, &one));
    }
    const struct life_histogram *histogram = &site->histogram[LIFE_DIED][LIFE_BYTES];
    assert_int_equal(histogram->count, 150);
    for (size_t i = 0; i < 150; i++) {
        assert_int_equal(histogram->at[i].bucket, i);
        assert_int_equal(histogram->at[i].count, 2);
        assert_int_equal(histogram->at[i].weight, 2 * EDEN_WEIGHT_ONE);
        assert_int_equal(histogram->at[i].weight_bytes, 32);
    }
    assert_int_equal(site->histogram[LIFE_CENSORED][LIFE_BYTES].count, 0);
}

static const struct eden_birth_cell births[] = {
    {.site = 5, .count = 3, .bytes = 96, .weight = 6 * EDEN_WEIGHT_ONE, .weight_bytes = 192},
    {.site = 2, .count = 1, .bytes = 16, .weight = 2 * EDEN_WEIGHT_ONE, .weight_bytes = 32},
    {.site = 5, .count = 1, .bytes = 32, .weight = 2 * EDEN_WEIGHT_ONE, .weight_bytes = 64},
};

/* Two objects of site 5 that died alike, one of them tenured, and one that is alive. */
static struct eden_life_record record(uint64_t birth, uint32_t flags, uint32_t censored) {
    return (struct eden_life_record){
        .site = 5,
        .flags = flags,
        .bytes = 32,
        .birth_ns = birth,
        .birth_bytes = 10 * birth,
        .tenured_ns = flags & EDEN_LIFE_TENURED ? 900000 : 0,
        .tenured_bytes = flags & EDEN_LIFE_TENURED ? 9000000 : 0,
        .death_ns = 1000000,
        .death_bytes = 10000000,
        .scavenges = 20,
        .fulls = 2,
        .censored = censored,
        .weight = 2 * EDEN_WEIGHT_ONE,
    };
}

/* What the runtime would have made of a record; weights are 2. */
static struct eden_life_cell cell(const struct eden_life_record *from) {
    uint64_t ns = from->death_ns - from->birth_ns, bytes = from->death_bytes - from->birth_bytes;
    bool tenured = from->flags & EDEN_LIFE_TENURED;
    return (struct eden_life_cell){
        .site = from->site,
        .count = 1,
        .ns_bucket = (uint16_t)histogram_bucket(ns),
        .bytes_bucket = (uint16_t)histogram_bucket(bytes),
        .scavenges = (uint16_t)from->scavenges,
        .fulls = (uint16_t)from->fulls,
        .flags = from->flags,
        .bytes = from->bytes,
        .ns_sum = ns,
        .bytes_sum = bytes,
        .tenured_ns_sum = tenured ? from->death_ns - from->tenured_ns : 0,
        .tenured_bytes_sum = tenured ? from->death_bytes - from->tenured_bytes : 0,
        .weight = from->weight,
        .weight_bytes = 2 * from->bytes,
        .weight_us = (2 * ns + 500) / 1000,
        .weight_kib = (2 * bytes + 512) / 1024,
    };
}

static void check_site(const struct life_heap *heap) {
    assert_int_equal(heap->site_count, 2);
    const struct life_site *site = &heap->sites[1];
    assert_int_equal(heap->sites[0].site, 2);
    assert_int_equal(site->site, 5);
    assert_int_equal(site->births.count, 4);
    assert_int_equal(site->births.bytes, 128);
    assert_int_equal(site->births.weight, 8 * EDEN_WEIGHT_ONE);
    assert_int_equal(site->births.weight_bytes, 256);
    const struct life_sums *plain = life_site_ended(site, LIFE_DIED, 0);
    const struct life_sums *tenured = life_site_ended(site, LIFE_DIED, EDEN_LIFE_TENURED);
    assert_int_equal(plain->count, 1);
    assert_int_equal(plain->ns_sum, 999000);
    assert_int_equal(plain->bytes_sum, 9990000);
    assert_int_equal(plain->weight_us, 1998);
    assert_int_equal(plain->weight_kib, 19512);
    assert_int_equal(plain->tenured_ns_sum, 0);
    assert_int_equal(plain->scavenges, 20);
    assert_int_equal(plain->fulls, 2);
    assert_int_equal(tenured->count, 1);
    assert_int_equal(tenured->tenured_ns_sum, 100000);
    assert_int_equal(tenured->tenured_bytes_sum, 1000000);
    assert_int_equal(life_site_ended(site, LIFE_CENSORED, 0)->count, 1);
    assert_int_equal(life_site_ended(site, LIFE_CENSORED, 0)->ns_sum, 500000);
    const struct life_histogram *died = site->histogram[LIFE_DIED];
    assert_int_equal(died[LIFE_NS].count, 1);
    assert_int_equal(died[LIFE_NS].at[0].bucket, histogram_bucket(999000));
    assert_int_equal(died[LIFE_NS].at[0].count, 2);
    assert_int_equal(died[LIFE_NS].at[0].weight, 4 * EDEN_WEIGHT_ONE);
    assert_int_equal(died[LIFE_NS].at[0].weight_bytes, 128);
    assert_int_equal(died[LIFE_SCAVENGES].at[0].bucket, histogram_bucket(20));
    assert_int_equal(died[LIFE_FULLS].at[0].bucket, 2);
    assert_int_equal(site->histogram[LIFE_CENSORED][LIFE_BYTES].at[0].bucket, histogram_bucket(5000000));
}

struct seen {
    size_t count;
    const struct life_heap *heap;
    struct eden_life_record last;
};

static bool see(void *context, const struct life_heap *heap, const struct eden_life_record *one) {
    struct seen *seen = context;
    seen->count++;
    seen->heap = heap;
    seen->last = *one;
    return true;
}

/* The same objects, reported as cells and as records, have the same sums. */
TEST(cells_and_records_agree) {
    const struct eden_life_record all[] = {record(1000, 0, 0), record(1000, EDEN_LIFE_TENURED, 0),
                                           record(500000, 0, 1)};
    const struct eden_life_cell cells[] = {cell(&all[0]), cell(&all[1]), cell(&all[2])};
    for (int details = 0; details < 3; details++) {
        struct seen seen = {0};
        struct life_model model __attribute__((cleanup(life_model_clear))) = {.on_object = details == 2 ? see : NULL,
                                                                              .object_context = &seen};
        struct life_heap *heap = new_heap(&model);
        assert_true(life_model_batch(&model, heap, EDEN_BATCH_BIRTHS, births, 3, sizeof *births));
        if (details) {
            assert_true(life_model_batch(&model, heap, EDEN_BATCH_OBJECTS, all, 3, sizeof *all));
        } else {
            assert_true(life_model_batch(&model, heap, EDEN_BATCH_DEATHS, cells, 2, sizeof *cells));
            assert_true(life_model_batch(&model, heap, EDEN_BATCH_CENSORED, cells + 2, 1, sizeof *cells));
        }
        life_model_sort(&model);
        check_site(heap);
        assert_int_equal(seen.count, details == 2 ? 3 : 0);
        if (details == 2) {
            assert_ptr_equal(seen.heap, heap);
            assert_memory_equal(&seen.last, &all[2], sizeof *all);
        }
    }
}

/* Longer records of a newer runtime, shorter ones of an older; kinds that are not known; no alignment. */
TEST(other_versions_are_read) {
    struct life_model model __attribute__((cleanup(life_model_clear))) = {0};
    struct life_heap *heap = new_heap(&model);
    char longer[1 + 2 * (sizeof(struct eden_birth_cell) + 24)];
    memset(longer, 0xff, sizeof longer);
    memcpy(longer + 1, &births[0], sizeof *births);
    memcpy(longer + 1 + sizeof *births + 24, &births[2], sizeof *births);
    assert_true(life_model_batch(&model, heap, EDEN_BATCH_BIRTHS, longer + 1, 2, sizeof *births + 24));
    assert_int_equal(heap->site_count, 1);
    assert_int_equal(heap->sites[0].births.weight_bytes, 256);
    struct eden_profile_record profile = {.begun_ns = 5, .rate = 9, .held_bytes = 77};
    assert_true(life_model_batch(&model, heap, EDEN_BATCH_PROFILE, &profile, 1,
                                 offsetof(struct eden_profile_record, held_bytes)));
    assert_true(heap->begun);
    assert_int_equal(heap->state.rate, 9);
    assert_int_equal(heap->state.held_bytes, 0);
    assert_int_equal(model.unknown, 0);
    assert_true(life_model_batch(&model, heap, 4711, longer, 2, 8));
    assert_int_equal(model.unknown, 1);
    assert_true(life_model_batch(&model, heap, EDEN_BATCH_DEATHS, NULL, 0, 0));
}

TEST(nonsense_is_refused) {
    struct seen seen = {0};
    struct life_model model __attribute__((cleanup(life_model_clear))) = {.on_object = see, .object_context = &seen};
    struct life_heap *heap = new_heap(&model);
    struct eden_birth_cell birth[2] = {births[0], births[1]};
    birth[0].site = EDEN_CLASS_LIMIT;
    assert_false(life_model_batch(&model, heap, EDEN_BATCH_BIRTHS, birth, 2, sizeof *birth));
    assert_int_equal(heap->site_count, 1); /* the sound one is there */
    struct eden_life_record good = record(1000, 0, 0);
    struct eden_life_cell bad[4];
    for (int i = 0; i < 4; i++) {
        bad[i] = cell(&good);
    }
    bad[0].site = UINT32_MAX;
    bad[1].flags = EDEN_LIFE_FLAGS;
    bad[2].ns_bucket = HISTOGRAM_BUCKETS;
    bad[3].bytes_bucket = UINT16_MAX;
    for (int i = 0; i < 4; i++) {
        assert_false(life_model_batch(&model, heap, EDEN_BATCH_DEATHS, &bad[i], 1, sizeof *bad));
    }
    good.flags = UINT32_MAX;
    assert_false(life_model_batch(&model, heap, EDEN_BATCH_OBJECTS, &good, 1, sizeof good));
    assert_int_equal(seen.count, 0);
    assert_false(life_model_batch(&model, heap, EDEN_BATCH_DEATHS, bad, 1, 0));
    /* A death before the birth counts as no time at all. */
    struct eden_life_record back = record(2000000, EDEN_LIFE_TENURED, 0);
    back.tenured_ns = UINT64_MAX;
    assert_true(life_model_batch(&model, heap, EDEN_BATCH_OBJECTS, &back, 1, sizeof back));
    const struct life_sums *sums = life_site_ended(life_heap_site(heap, 5), LIFE_DIED, EDEN_LIFE_TENURED);
    assert_int_equal(sums->ns_sum, 0);
    assert_int_equal(sums->tenured_ns_sum, 0);
}

TEST(another_profile_replaces_the_first) {
    struct life_model model __attribute__((cleanup(life_model_clear))) = {0};
    life_model_heap(&model, &process, (struct heap_ref){0x2000, 2, 0});
    struct life_heap *heap = new_heap(&model), *other = &model.heaps[0];
    struct eden_profile_record profile = {.begun_ns = 5};
    struct eden_life_record one = record(1000, 0, 0);
    assert_true(life_model_batch(&model, heap, EDEN_BATCH_PROFILE, &profile, 1, sizeof profile));
    assert_true(life_model_batch(&model, heap, EDEN_BATCH_OBJECTS, &one, 1, sizeof one));
    assert_true(life_model_batch(&model, other, EDEN_BATCH_OBJECTS, &one, 1, sizeof one));
    profile.ended = 1;
    assert_true(life_model_batch(&model, heap, EDEN_BATCH_PROFILE, &profile, 1, sizeof profile));
    assert_int_equal(heap->site_count, 1);
    profile = (struct eden_profile_record){.begun_ns = 6};
    assert_true(life_model_batch(&model, heap, EDEN_BATCH_PROFILE, &profile, 1, sizeof profile));
    assert_int_equal(heap->site_count, 0);
    assert_int_equal(heap->replaced, 1);
    assert_int_equal(other->site_count, 1);
    assert_int_equal(other->replaced, 0);
    assert_true(life_model_batch(&model, heap, EDEN_BATCH_BIRTHS, births, 3, sizeof *births));
    assert_int_equal(heap->site_count, 2);
}

/* Heaps come in whatever order, and some are not wanted. */
TEST(heaps_are_sorted_and_chosen) {
    struct life_model model __attribute__((cleanup(life_model_clear))) = {0};
    const struct process_key older = {.start_ns = process.start_ns - 10, .pid = process.pid + 5};
    const struct {
        const struct process_key *process;
        uint64_t id;
    } heaps[] = {{&process, 3}, {&older, 9}, {&process, 1}, {&older, 3}};
    for (size_t i = 0; i < 4; i++) {
        struct life_heap *heap =
            life_model_heap(&model, heaps[i].process, (struct heap_ref){0x1000 * (i + 1), heaps[i].id, 0});
        assert_true(life_model_batch(&model, heap, EDEN_BATCH_BIRTHS, births, 3, sizeof *births));
    }
    life_model_sort(&model);
    const uint64_t sorted[] = {3, 9, 1, 3};
    for (size_t i = 0; i < 4; i++) {
        assert_int_equal(model.heaps[i].id, sorted[i]);
        assert_int_equal(model.heaps[i].process.pid, i < 2 ? older.pid : process.pid);
        assert_ptr_equal(
            life_model_find(&model, heaps[i].process, (struct heap_ref){0x1000 * (i + 1), heaps[i].id, 0})->sites,
            life_model_heap(&model, heaps[i].process, (struct heap_ref){0x1000 * (i + 1), heaps[i].id, 0})->sites);
    }
    assert_int_equal(model.heap_count, 4);
    life_model_choose(&model, &(struct heap_choice){0, 0, 0});
    assert_int_equal(model.heap_count, 4);
    life_model_choose(&model, &(struct heap_choice){0, 3, 0});
    assert_int_equal(model.heap_count, 2);
    life_model_choose(&model, &(struct heap_choice){process.pid, 0, 0});
    assert_int_equal(model.heap_count, 1);
    assert_int_equal(model.heaps[0].address, 0x1000);
    assert_int_equal(model.heaps[0].site_count, 2);
    assert_ptr_equal(life_model_find(&model, &process, (struct heap_ref){0x1000, 3, 0}), model.heaps);
    assert_null(life_model_find(&model, &older, (struct heap_ref){0x4000, 3, 0}));
    life_model_choose(&model, &(struct heap_choice){0, 77, 0});
    assert_int_equal(model.heap_count, 0);
}

/* ---- what a process may not do ---------------------------------------------------------------------------------- */

enum { MANY = 1 << 17 };

/* Sites in whatever order: descending, shuffled (7919 and 5 are no factors of the number), and far apart. */
static uint32_t nth_site(uint32_t i, int order) {
    const uint32_t orders[] = {MANY - 1 - i, (uint32_t)((uint64_t)i * 7919 % MANY),
                               (uint32_t)((uint64_t)i * 5 % MANY) * 32};
    return orders[order];
}

static uint64_t births_of(const struct life_heap *heap) {
    uint64_t sum = 0;
    for (size_t i = 0; i < heap->site_count; i++) {
        sum += heap->sites[i].births.count;
    }
    return sum;
}

/* A few steps a site, whatever the order: appended to the others, and found without them. */
TEST(sites_come_in_any_order_at_the_same_cost) {
    for (int order = 0; order < 3; order++) {
        struct life_model model __attribute__((cleanup(life_model_clear))) = {0};
        struct life_heap *heap = new_heap(&model);
        for (uint32_t i = 0; i < 2 * MANY; i++) {
            const struct eden_birth_cell cell = {.site = nth_site(i % MANY, order), .count = 1};
            assert_true(life_model_batch(&model, heap, EDEN_BATCH_BIRTHS, &cell, 1, sizeof cell));
            assert_int_equal(heap->sites[i % MANY].site, cell.site);
        }
        assert_int_equal(heap->site_count, MANY);
        assert_in_range(lookup_steps(&heap->by_site), MANY, 4 * MANY);
        life_model_sort(&model);
        for (uint32_t i = 0; i < MANY; i++) {
            assert_true(i == 0 || heap->sites[i - 1].site < heap->sites[i].site);
            assert_int_equal(heap->sites[i].births.count, 2);
            assert_ptr_equal(life_heap_find(heap, heap->sites[i].site), &heap->sites[i]);
        }
        assert_int_equal(heap->beyond.births, 0);
    }
}

TEST(names_come_in_any_order_at_the_same_cost) {
    for (int order = 0; order < 3; order++) {
        struct life_names names __attribute__((cleanup(life_names_clear))) = {0};
        for (uint32_t i = 0; i < MANY; i++) {
            struct event event = {.process = process,
                                  .probe = EDEN_PROBE_class__define,
                                  .args = 4,
                                  .arg = {0x1000, nth_site(i, order), 0, 1}};
            life_names_event(&names, &event);
            life_names_event(&names, &event);
            assert_int_equal(names.heaps[0].at[i].site, nth_site(i, order));
        }
        assert_int_equal(names.heaps[0].count, MANY);
        assert_in_range(lookup_steps(&names.heaps[0].by_site), MANY, 4 * MANY);
    }
}

static struct process_key nth_process(uint32_t i) { return (struct process_key){.start_ns = 1, .pid = 100 + i}; }

static unsigned by_parity(const void *context, const struct process_key *of) {
    ++*(int *)(uintptr_t)context;
    return of->pid % 2;
}

static void add_births_from(struct life_model *model, const struct process_key *of, uint32_t sites) {
    for (uint32_t i = 0; i < sites; i++) {
        const struct eden_birth_cell cell = {.site = i + 1, .count = 3};
        struct life_heap *heap = life_model_heap(model, of, (struct heap_ref){0x1000, 1 + i / MANY, 0});
        assert_non_null(heap);
        assert_true(life_model_batch(model, heap, EDEN_BATCH_BIRTHS, &cell, 1, sizeof cell));
    }
}

/* One process leaves as much as it takes, a user with many a quarter; what is refused is counted. */
TEST(no_process_takes_all_memory_for_sites) {
    enum { MOST = 1 << 24, SITES = 40000, PROCESSES = 40 };
    int asked = 0;
    struct life_model model __attribute__((cleanup(life_model_clear))) = {
        .shares.most = MOST, .user_of = by_parity, .user_context = &asked};
    for (uint32_t i = 0; i < PROCESSES; i++) { /* of one user */
        const struct process_key greedy = nth_process(2 * i);
        add_births_from(&model, &greedy, SITES);
        const struct life_heap *heap = life_model_find(&model, &greedy, (struct heap_ref){0x1000, 1, 0});
        assert_int_equal(births_of(heap) + heap->beyond.births, 3 * SITES);
        assert_true(heap->beyond.births > 0);
        assert_int_equal(heap->bytes, heap->share->bytes);
        assert_true(heap->bytes <= MOST / 2);
        assert_true(i != 0 || heap->bytes > MOST / 2 - 4096);
    }
    assert_true(model.shares.bytes <= MOST / 4 * 3);
    assert_int_equal(asked, PROCESSES);
    const struct process_key modest = nth_process(1);
    add_births_from(&model, &modest, 1000);
    struct life_heap *heap = life_model_find(&model, &modest, (struct heap_ref){0x1000, 1, 0});
    assert_int_equal(births_of(heap), 3000);
    assert_int_equal(heap->beyond.births, 0);
    life_model_sort(&model);
    const struct life_heap *first = &model.heaps[0], *second = &model.heaps[1];
    assert_int_equal(first->process.pid, 100);
    assert_int_equal(second->process.pid, 101);
    life_model_report_beyond(&model);
    uint64_t beyond = 0;
    for (size_t i = 0; i < model.heap_count; i++) {
        beyond += model.heaps[i].beyond.births;
    }
    assert_int_equal(model.lost, beyond);
    /* What another profile replaces leaves its memory to this one. */
    heap = life_model_heap(&model, &(struct process_key){.start_ns = 1, .pid = 100}, (struct heap_ref){0x1000, 1, 0});
    struct eden_profile_record profile = {.begun_ns = 5};
    assert_true(life_model_batch(&model, heap, EDEN_BATCH_PROFILE, &profile, 1, sizeof profile));
    profile.begun_ns = 6;
    assert_true(life_model_batch(&model, heap, EDEN_BATCH_PROFILE, &profile, 1, sizeof profile));
    assert_int_equal(heap->share->bytes, 0);
    assert_int_equal(heap->beyond.births, 0);
}

/* Ends and histograms count likewise: of each site that is there all ends are, and of the others all are counted. */
TEST(what_has_no_room_is_counted) {
    enum { MOST = 1 << 20, OBJECTS = 8000 };
    struct life_model model __attribute__((cleanup(life_model_clear))) = {.shares.most = MOST};
    struct life_heap *heap = new_heap(&model);
    for (uint32_t i = 0; i < OBJECTS; i++) {
        struct eden_life_record one = record(1000 + i, i % 3 ? 0 : EDEN_LIFE_TENURED, i % 5 == 0);
        one.site = i % (OBJECTS / 4) + 1;
        one.scavenges = i;
        const struct eden_birth_cell birth = {.site = one.site, .count = 1};
        assert_true(life_model_batch(&model, heap, EDEN_BATCH_BIRTHS, &birth, 1, sizeof birth));
        assert_true(life_model_batch(&model, heap, EDEN_BATCH_OBJECTS, &one, 1, sizeof one));
    }
    uint64_t ends = 0, entries = 0;
    for (size_t i = 0; i < heap->site_count; i++) {
        for (enum life_outcome outcome = 0; outcome < LIFE_OUTCOMES; outcome++) {
            for (unsigned flags = 0; flags < EDEN_LIFE_FLAGS; flags++) {
                ends += life_site_ended(&heap->sites[i], outcome, flags)->count;
            }
            for (enum life_clock clock = 0; clock < LIFE_CLOCKS; clock++) {
                const struct life_histogram *histogram = &heap->sites[i].histogram[outcome][clock];
                for (size_t j = 0; j < histogram->count; j++) {
                    entries += histogram->at[j].count;
                }
            }
        }
    }
    assert_true(heap->beyond.births > 0 && heap->beyond.ends > 0 && heap->beyond.buckets > 0);
    assert_int_equal(births_of(heap) + heap->beyond.births, OBJECTS);
    assert_int_equal(ends + heap->beyond.ends, OBJECTS);
    assert_int_equal(entries + heap->beyond.buckets, LIFE_CLOCKS * ends);
    assert_true(heap->bytes <= MOST / 2);
}

/* A clock without end is no way around the share: it is broken then, and what it should date is unsound. */
TEST(a_clock_is_of_its_process_share) {
    struct life_model model __attribute__((cleanup(life_model_clear))) = {.shares.most = 1 << 20};
    struct life_heap *heap = new_heap(&model);
    struct eden_epoch epoch = {0};
    while (epoch.number < 1 << 16 && life_model_batch(&model, heap, EDEN_BATCH_EPOCHS, &epoch, 1, sizeof epoch)) {
        epoch.number++;
    }
    assert_in_range(epoch.number, 1000, 1 << 14);
    assert_true(heap->bytes <= 1 << 19);
    assert_int_equal(heap->bytes, heap->decoder.epoch_room * sizeof epoch);
}

/* ---- durations --------------------------------------------------------------------------------------------------- */

/* A profile of 500,000 ns, by the process's clock, or of as many as were observed; what fits into it stays as it is. */
TEST(no_lifetime_is_longer_than_its_profile_and_no_profile_than_what_was_observed) {
    const struct eden_profile_record profile = {
        .begun_ns = 1000, .time_ns = 501000, .begun_bytes = 10000, .allocated_bytes = 5010000};
    const struct eden_life_record fits = record(600000, 0, 0), leaps = record(0, EDEN_LIFE_TENURED, 0);
    struct eden_life_cell cells[] = {cell(&fits), cell(&leaps), cell(&leaps)};
    cells[1].ns_sum = cells[2].weight_us = cells[2].tenured_bytes_sum = UINT64_MAX;
    for (uint64_t wall = 1000000; wall >= 250000; wall /= 4) {
        struct life_model model __attribute__((cleanup(life_model_clear))) = {.wall_ns = wall};
        struct life_heap *heap = new_heap(&model);
        const uint64_t most = wall < 500000 ? wall : 500000;
        assert_true(life_model_batch(&model, heap, EDEN_BATCH_PROFILE, &profile, 1, sizeof profile));
        assert_true(life_model_batch(&model, heap, EDEN_BATCH_DEATHS, cells, 3, sizeof *cells));
        life_limit(&model);
        assert_int_equal(heap->state.time_ns, 1000 + most);
        const struct life_site *site = life_heap_find(heap, 5);
        const struct life_sums *plain = life_site_ended(site, LIFE_DIED, 0);
        const struct life_sums *leapt = life_site_ended(site, LIFE_DIED, EDEN_LIFE_TENURED);
        assert_int_equal(plain->ns_sum, most < 400000 ? most : 400000);
        assert_int_equal(plain->weight_us, plain->ns_sum / 500);
        assert_int_equal(plain->bytes_sum, 4000000);
        assert_int_equal(plain->weight_kib, cells[0].weight_kib);
        assert_int_equal(leapt->ns_sum, 2 * most);
        assert_int_equal(leapt->weight_us, 4 * most / 1000);
        assert_int_equal(leapt->bytes_sum, 2 * 5000000);
        assert_int_equal(leapt->tenured_ns_sum, 200000);
        assert_int_equal(leapt->tenured_bytes_sum, 2 * 5000000);
        const struct life_histogram *ns = &site->histogram[LIFE_DIED][LIFE_NS];
        assert_int_equal(ns->at[ns->count - 1].bucket, histogram_bucket(most));
        assert_int_equal(ns->at[0].count, ns->count == 2 ? 1 : 3);
        assert_int_equal(ns->at[ns->count - 1].count, ns->count == 2 ? 2 : 3);
        assert_int_equal(ns->count, most > 400000 ? 2 : 1);
    }
}

/* A profile that goes back lasts for no time, and one that is not known for as long as was observed. */
TEST(profiles_that_go_back_or_are_unknown_limit_lifetimes) {
    const struct eden_profile_record back = {.begun_ns = 1000, .time_ns = 999, .begun_bytes = 7, .allocated_bytes = 6};
    const struct eden_life_record one = record(0, 0, 0);
    for (int known = 0; known < 2; known++) {
        struct seen seen = {0};
        struct life_model model
            __attribute__((cleanup(life_model_clear))) = {.wall_ns = 400000, .on_object = see, .object_context = &seen};
        struct life_heap *heap = new_heap(&model);
        if (known) {
            assert_true(life_model_batch(&model, heap, EDEN_BATCH_PROFILE, &back, 1, sizeof back));
        }
        assert_true(life_model_batch(&model, heap, EDEN_BATCH_OBJECTS, &one, 1, sizeof one));
        assert_int_equal(seen.last.death_ns - seen.last.birth_ns, 400000);
        life_limit(&model);
        const struct life_sums *sums = life_site_ended(life_heap_find(heap, 5), LIFE_DIED, 0);
        assert_int_equal(sums->ns_sum, known ? 0 : 400000);
        assert_int_equal(sums->bytes_sum, known ? 0 : 10000000);
    }
}

/* Else an object would die before a collection that it survived. */
TEST(epochs_that_go_back_break_the_clock) {
    const struct eden_epoch epochs[] = {{{0, 1000}, 0, 0, 0, 0}, {{10, 2000}, 1, 0, 0, 1}, {{20, 1999}, 2, 0, 0, 2},
                                        {{0, 1000}, 0, 0, 0, 0}, {{10, 2000}, 1, 0, 0, 1}, {{9, 2000}, 2, 0, 0, 2}};
    struct life_model model __attribute__((cleanup(life_model_clear))) = {0};
    struct life_heap *heap = new_heap(&model);
    for (size_t i = 0; i < sizeof epochs / sizeof *epochs; i++) {
        bool sound = life_model_batch(&model, heap, EDEN_BATCH_EPOCHS, &epochs[i], 1, sizeof *epochs);
        assert_int_equal(sound, epochs[i].number < 2);
    }
}

/* ---- replays ----------------------------------------------------------------------------------------------------- */

enum { BATCHES = 100 };

struct stream {
    int sent, interrupt_at; /* a signal comes before this batch; 0: none */
};

static bool send_batches(void *from, life_batch_fn *on_batch, void *context, struct failure *why) {
    struct stream *stream = from;
    (void)why;
    bool more = true;
    for (stream->sent = 0; more && stream->sent < BATCHES; stream->sent++) {
        const struct eden_life_record one = record(1000 + (uint64_t)stream->sent, 0, 0);
        const struct life_batch batch = {.process = process,
                                         .address = 0x1000,
                                         .id = 1,
                                         .kind = EDEN_BATCH_OBJECTS,
                                         .count = 1,
                                         .record_bytes = sizeof one,
                                         .records = &one};
        if (stream->interrupt_at && stream->sent == stream->interrupt_at) {
            raise(SIGTERM);
        }
        more = on_batch(context, &batch);
    }
    return true;
}

/* A signal that came before is none; the next one ends a replay, and any pass over its objects, at once. */
TEST(a_signal_ends_a_replay) {
    struct stream stream = {0};
    struct life_replay replay = {send_batches, &stream};
    struct failure why = {0};
    interrupt_install();
    raise(SIGINT);
    struct life_model model __attribute__((cleanup(life_model_clear))) = {.interrupts = interrupt_count()};
    assert_true(life_replay_model(&replay, &model, &why));
    assert_int_equal(stream.sent, BATCHES);
    struct seen seen = {0};
    assert_true(life_replay_objects(&replay, &model, see, &seen, &why));
    assert_int_equal(seen.count, BATCHES);
    assert_ptr_equal(seen.heap, model.heaps);
    stream.interrupt_at = 30;
    seen.count = 0;
    assert_false(life_replay_objects(&replay, &model, see, &seen, &why));
    assert_int_equal(seen.count, 30);
    assert_int_equal(why.status, 128 + SIGTERM);
    struct life_model second __attribute__((cleanup(life_model_clear))) = {.interrupts = interrupt_count()};
    assert_false(life_replay_model(&replay, &second, &why));
    assert_int_equal(stream.sent, 31);
    assert_int_equal(life_site_ended(life_heap_find(second.heaps, 5), LIFE_DIED, 0)->count, 30);
    interrupt_uninstall();
}

/* Its objects are lost in the first pass: no view shows them. */
TEST(objects_beyond_the_share_are_not_replayed) {
    struct stream stream = {0};
    struct life_replay replay = {send_batches, &stream};
    struct failure why = {0};
    struct life_model model
        __attribute__((cleanup(life_model_clear))) = {.shares.most = 1024, .interrupts = interrupt_count()};
    assert_true(life_replay_model(&replay, &model, &why));
    assert_int_equal(model.heaps[0].site_count, 0);
    assert_int_equal(model.heaps[0].beyond.ends, BATCHES);
    struct seen seen = {0};
    assert_true(life_replay_objects(&replay, &model, see, &seen, &why));
    assert_int_equal(seen.count, 0);
}

/* ---- names ------------------------------------------------------------------------------------------------------- */

static void define_at(struct life_names *names, struct process_key of_process, uint64_t address, uint64_t index,
                      const char *name, uint64_t of, uint16_t args) {
    struct event event = {.process = of_process,
                          .probe = EDEN_PROBE_class__define,
                          .args = args,
                          .arg = {address, index, 0, args > 3 ? of : 0}};
    snprintf(event.text[0], EVENT_TEXT, "%s", name);
    life_names_event(names, &event);
}

static void define(struct life_names *names, uint64_t index, const char *name, uint64_t of, uint16_t args) {
    define_at(names, process, 0x1000, index, name, of, args);
}

static void create_at(struct life_names *names, struct process_key of_process, uint64_t address, uint64_t id) {
    struct event event = {.process = of_process, .probe = EDEN_PROBE_heap__create, .args = 3, .arg = {address, id}};
    life_names_event(names, &event);
}

static void create(struct life_names *names, uint64_t id) { create_at(names, process, 0x1000, id); }

/* Heaps with one address and number have their own names by their serials, in whichever order these come. */
TEST(names_are_given_by_serial) {
    struct life_names names __attribute__((cleanup(life_names_clear))) = {0};
    struct life_model model __attribute__((cleanup(life_model_clear))) = {0};
    static const char *const texts[] = {"Of 3", "Of 4", "Of 5"};
    for (uint64_t i = 0; i < 6; i++) {
        struct event event = {.process = process, .args = 4, .serial = 3 + i % 3, .arg = {0x1000, 1}};
        event.probe = i < 2 ? EDEN_PROBE_heap__create : EDEN_PROBE_class__define; /* of 3 and 4 alone */
        snprintf(event.text[0], EVENT_TEXT, "%s", texts[i % 3]);
        life_names_event(&names, &event);
    }
    define(&names, 1, "Of none", 1, 4); /* there was no room for its heap */
    for (uint64_t serial = 3; serial <= 6; serial++) {
        struct life_heap *heap = life_model_heap(&model, &process, (struct heap_ref){0x1000, 1, serial});
        life_heap_site(heap, 1);
        life_names_apply(&names, heap);
        assert_string_equal(heap->sites[0].name, serial < 6 ? texts[serial - 3] : "");
    }
    assert_int_equal(model.heap_count, 4);
    life_model_sort(&model);
    life_model_choose(&model, &(struct heap_choice){0, 1, 5});
    assert_int_equal(model.heap_count, 1);
    assert_int_equal(model.heaps[0].serial, 5);
    assert_int_equal(model.heaps[0].suffix, 5);
}

/* In whichever order heaps come: each process, and each heap at an address, has its own names. */
TEST(many_heaps_have_their_own_names) {
    enum { ADDRESSES = 251, STEP = 100, PIDS = 3, TIMES = 3 };
    struct life_names names = {0};
    struct life_model model = {0};
    char name[EVENT_TEXT];
    for (uint64_t id = 1; id <= TIMES; id++) {
        for (uint64_t i = 0; i < ADDRESSES * PIDS; i++) {
            struct process_key of = {.pid = (uint32_t)(i % PIDS), .start_ns = 7 - i % PIDS};
            uint64_t address = 0x1000 * (i * STEP % ADDRESSES);
            create_at(&names, of, address, id);
            snprintf(name, sizeof name, "%" PRIu64 " %u %" PRIu64, id, of.pid, address);
            define_at(&names, of, address, 5, name, 5, 4);
        }
    }
    for (uint64_t i = 0; i < ADDRESSES * PIDS * TIMES; i++) {
        struct process_key of = {.pid = (uint32_t)(i % PIDS), .start_ns = 7 - i % PIDS};
        uint64_t address = 0x1000 * (i / PIDS % ADDRESSES), id = 1 + i / PIDS / ADDRESSES;
        struct life_heap *heap = life_model_heap(&model, &of, (struct heap_ref){address, id, 0});
        assert_non_null(heap);
        assert_non_null(life_heap_site(heap, 5));
        life_names_apply(&names, heap);
        snprintf(name, sizeof name, "%" PRIu64 " %u %" PRIu64, id, of.pid, address);
        assert_string_equal(heap->sites[0].name, name);
    }
    life_names_clear(&names);
    life_model_clear(&model);
}

TEST(names_are_given) {
    struct life_names names __attribute__((cleanup(life_names_clear))) = {0};
    struct life_model model __attribute__((cleanup(life_model_clear))) = {0};
    define(&names, 1, "Before", 1, 4);
    create(&names, 1);
    define(&names, 9, "Point at 9", 2, 4);
    define(&names, 2, "Point", 2, 4);
    define(&names, 2, "again", 2, 4);
    define(&names, 3, "old runtime's", 0, 3);
    define(&names, 1ull << 40, "out of bounds", 0, 4);
    create(&names, 2);
    define(&names, 2, "Line", 2, 4);
    struct life_heap *heap = new_heap(&model);
    const uint32_t sites[] = {1, 2, 3, 9};
    for (size_t i = 0; i < 4; i++) {
        life_heap_site(heap, sites[i]);
    }
    life_names_apply(&names, heap);
    assert_string_equal(life_heap_site(heap, 1)->name, "");
    assert_string_equal(life_heap_site(heap, 2)->name, "Point");
    assert_string_equal(life_heap_site(heap, 2)->class_name, "Point");
    assert_string_equal(life_heap_site(heap, 3)->class_name, "old runtime's");
    assert_string_equal(life_heap_site(heap, 9)->name, "Point at 9");
    assert_string_equal(life_heap_site(heap, 9)->class_name, "Point");
    assert_int_equal(life_heap_site(heap, 9)->class_id, 2);
    /* Of the heap that was there later, and of one whose creation was not seen. */
    struct life_heap *second = life_model_heap(&model, &process, (struct heap_ref){0x1000, 2, 0});
    life_heap_site(second, 2);
    life_names_apply(&names, second);
    assert_string_equal(second->sites[0].name, "Line");
    struct life_heap *late = life_model_heap(&model, &process, (struct heap_ref){0x1000, 3, 0});
    life_heap_site(late, 1);
    life_names_apply(&names, late);
    assert_string_equal(late->sites[0].name, "Before");
}

/* ---- what is asked ----------------------------------------------------------------------------------------------- */

TEST(words_become_requests) {
    static const struct {
        const char *words;
        uint32_t sampling;
        uint64_t rate;
        const char *text;
    } good[] = {
        {"all", EDEN_SAMPLE_OBJECTS, 1, "all"},
        {"1/1", EDEN_SAMPLE_OBJECTS, 1, "all"},
        {"1/1000", EDEN_SAMPLE_OBJECTS, 1000, "1/1000"},
        {"nth=100", EDEN_SAMPLE_NTH, 100, "nth=100"},
        {"bytes=512K", EDEN_SAMPLE_BYTES, 512 * 1024, "bytes=524288"},
        {"bytes=1M", EDEN_SAMPLE_BYTES, 1 << 20, "bytes=1048576"},
        {"refill=4096", EDEN_SAMPLE_REFILL, 4096, "refill=4096"},
        {"window=10/990", EDEN_SAMPLE_WINDOW, 10 << 24 | 990, "window=10/990"},
        {"window=8388607/16777215", EDEN_SAMPLE_WINDOW, (1ull << 47) - 1, "window=8388607/16777215"},
        {NULL, EDEN_SAMPLE_BYTES, EDEN_SAMPLE_DEFAULT_BYTES, "bytes=524288"},
    };
    static const char *const bad[] = {"",
                                      "al",
                                      "1/0",
                                      "1/",
                                      "1/x",
                                      "-1/2",
                                      "1/-2",
                                      "2/3",
                                      "nth=",
                                      "nth=0",
                                      "nth=1K",
                                      "bytes",
                                      "bytes=0",
                                      "bytes=1P",
                                      "bytes=1KK",
                                      "bytes= 1",
                                      "objects=2",
                                      "refill=-1",
                                      "window=1",
                                      "window=1/",
                                      "window=/1",
                                      "window=0/1",
                                      "window=1/0",
                                      "window=1/2/3",
                                      "bytes=281474976710656",
                                      "allx",
                                      "window=16777216/1"};
    struct failure why;
    uint64_t control;
    char text[LIFE_SAMPLING_TEXT];
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        struct life_request request = {.sampling = good[i].words};
        assert_true(life_request_encode(&request, &control, &why));
        assert_int_equal(control & 15, good[i].sampling);
        assert_int_equal(control >> EDEN_CONTROL_RATE_SHIFT, good[i].rate);
        assert_int_equal(control & 0xfff0, EDEN_CONTROL_ASKED);
        assert_string_equal(life_sampling_text(text, good[i].sampling, good[i].rate), good[i].text);
    }
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct life_request request = {.sampling = bad[i]};
        assert_false(life_request_encode(&request, &control, &why));
        assert_int_equal(why.status, 1);
        assert_non_null(strstr(why.message, bad[i]));
    }
}

TEST(mechanisms_become_requests) {
    static const char *const bad[] = {"", "v", "vmx", "vm=1", "oracle=", "oracle=3", "oracle=8", "oracle=0", "Oracle"};
    struct failure why;
    uint64_t control;
    for (uint64_t i = 0; i < EDEN_MECHANISMS; i++) {
        struct life_request request = {.mechanism = eden_mechanism_name(i), .details = true};
        assert_true(life_request_encode(&request, &control, &why));
        assert_int_equal(control >> EDEN_CONTROL_MECHANISM_SHIFT & 3, i);
        assert_int_equal(control >> EDEN_CONTROL_STEP_SHIFT & 63, 0);
        assert_int_equal(control & 0xf0, EDEN_CONTROL_ASKED | EDEN_CONTROL_OBJECTS | EDEN_CONTROL_SHORT);
        assert_string_equal(life_mechanism_text((uint32_t)i), eden_mechanism_name(i));
    }
    struct life_request request = {.mechanism = "oracle=64K"};
    assert_true(life_request_encode(&request, &control, &why));
    assert_int_equal(control >> EDEN_CONTROL_STEP_SHIFT & 63, 16);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        request.mechanism = bad[i];
        assert_false(life_request_encode(&request, &control, &why));
    }
}
