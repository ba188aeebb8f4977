/* The probe remembered__scan: of each large remembered object, whole or by cards, what a scavenge scanned of it. */
#include "support.h"
#include "young/card_scans.h"

extern volatile unsigned short eden_remembered__scan_semaphore;

enum { MOST_OBJECTS = 64 };
struct seen {
    const void *object;
    uint64_t events, slots, young, ns;
    uint32_t class_id;
};
static struct seen seen[MOST_OBJECTS];
static size_t seen_count;
static uint64_t seen_seq;

/* Instead of the probe's site: the linker leads the runtime's calls here. */
void __wrap_eden_probe_remembered__scan(const void *heap, uint64_t seq, const void *object, uint64_t class_id,
                                        uint64_t slots, uint64_t young_refs, uint64_t duration);
void __wrap_eden_probe_remembered__scan(const void *heap, uint64_t seq, const void *object, uint64_t class_id,
                                        uint64_t slots, uint64_t young_refs, uint64_t duration) {
    assert_int_equal(seq, ((const struct eden_heap_info *)heap)->seq + 1);
    assert_true(young_refs <= slots && slots != 0);
    seen_seq = seq;
    size_t i = 0;
    while (i < seen_count && seen[i].object != object) {
        i++;
    }
    assert_true(i < MOST_OBJECTS);
    if (i == seen_count) {
        seen[seen_count++] = (struct seen){.object = object, .class_id = (uint32_t)class_id};
    }
    assert_int_equal(seen[i].class_id, class_id);
    seen[i].events++;
    seen[i].slots += slots;
    seen[i].young += young_refs;
    seen[i].ns += duration;
}

static void watched_scavenge(const struct world *w) {
    seen_count = 0;
    eden_remembered__scan_semaphore = 1;
    eden_scavenge(w->m);
    eden_remembered__scan_semaphore = 0;
}

static const struct seen *seen_of(eden_value object) {
    for (size_t i = 0; i < seen_count; i++) {
        if (seen[i].object == (const void *)(uintptr_t)object) {
            return &seen[i];
        }
    }
    return NULL;
}

static void assert_seen(eden_value object, uint64_t events, uint64_t slots, uint64_t young) {
    const struct seen *of = seen_of(object);
    assert_non_null(of);
    assert_int_equal(of->class_id, eden_index_of(object));
    assert_int_equal(of->events, events);
    assert_int_equal(of->slots, slots);
    assert_int_equal(of->young, young);
}

static void store_pair(const struct world *w, const eden_value *object, size_t slot) {
    eden_value pair = eden_new(w->m, w->pair);
    eden_slot_set(w->m, *object, slot, pair);
}

#define PARAMETERS "eden_size=1M,full_gc_ratio=inf,tenure_criterion=never,large_object=4K,remembered_set="

TEST(objects_are_scanned_whole) {
    enum { SLOTS = 10000 };
    WORLD(w, PARAMETERS "object");
    EDEN_FRAME(w.m, local, 2);
    local[0] = eden_new_slots(w.m, w.array, SLOTS);
    local[1] = eden_pin(w.m, eden_new_slots(w.m, w.array, 300)); /* old, but not large */
    for (size_t i = 0; i < 7; i++) {
        store_pair(&w, &local[0], i * 1000);
        store_pair(&w, &local[1], i);
    }
    eden_slot_set(w.m, local[0], 5, eden_slot(local[0], 0)); /* a second reference to the same */
    eden_slot_set(w.m, local[0], 6, local[1]);               /* old */
    watched_scavenge(&w);
    assert_int_equal(seen_count, 1);
    assert_seen(local[0], 1, SLOTS, 8);
    /* They stay young, and so the array stays remembered. */
    watched_scavenge(&w);
    assert_seen(local[0], 1, SLOTS, 8);
    /* A scan that finds nothing is reported too; then the object is forgotten. */
    for (size_t i = 0; i < SLOTS; i++) {
        eden_slot_set(w.m, local[0], i, EDEN_NONE);
    }
    watched_scavenge(&w);
    assert_seen(local[0], 1, SLOTS, 0);
    watched_scavenge(&w);
    assert_int_equal(seen_count, 0);
    eden_unpin(w.m, local[1]);
}

TEST(cards_are_added_up) {
    enum { SLOTS = 1004 }; /* the last card has 4 */
    WORLD(w, PARAMETERS "card");
    EDEN_FRAME(w.m, local, 3);
    local[0] = eden_new_slots(w.m, w.array, SLOTS);
    local[1] = eden_new_slots(w.m, w.array, SLOTS);
    local[2] = eden_pin(w.m, eden_new_slots(w.m, w.array, 300));
    /* In turns; two stores into the first card. */
    for (size_t i = 0; i < SLOTS; i += 100) {
        for (size_t j = 0; j < 2; j++) {
            store_pair(&w, &local[j], i);
        }
        store_pair(&w, &local[2], i / 10);
    }
    store_pair(&w, &local[1], 1);
    watched_scavenge(&w);
    /* Cards of slots 0, 100, ... 1000; the last is the short one. */
    assert_int_equal(seen_count, 2);
    assert_seen(local[0], 1, 10 * CARD_SLOTS + 4, 11);
    assert_seen(local[1], 1, 10 * CARD_SLOTS + 4, 12);
    assert_true(seen_of(local[0])->ns > 0);
    eden_slot_set(w.m, local[0], 1000, EDEN_NONE);
    watched_scavenge(&w);
    assert_seen(local[0], 1, 10 * CARD_SLOTS + 4, 10);
    watched_scavenge(&w);
    assert_seen(local[0], 1, 10 * CARD_SLOTS, 10);
    eden_unpin(w.m, local[2]);
    verify(&w);
}

TEST(parts_add_up) {
    enum { ARRAYS = 3 * CARD_SCANS, SLOTS = 600 };
    _Static_assert((int)ARRAYS <= (int)MOST_OBJECTS, "all are seen");
    WORLD(w, PARAMETERS "card");
    EDEN_FRAME(w.m, local, ARRAYS);
    for (size_t i = 0; i < ARRAYS; i++) {
        local[i] = eden_new_slots(w.m, w.array, SLOTS);
    }
    for (size_t slot = 0; slot < SLOTS; slot += CARD_SLOTS) {
        for (size_t i = 0; i < ARRAYS; i++) {
            if (slot <= i * CARD_SLOTS) {
                store_pair(&w, &local[i], slot);
            }
        }
    }
    watched_scavenge(&w);
    assert_int_equal(seen_count, ARRAYS);
    bool parts = false;
    for (size_t i = 0; i < ARRAYS; i++) {
        assert_seen(local[i], seen_of(local[i])->events, (i + 1) * CARD_SLOTS, i + 1);
        parts |= seen_of(local[i])->events > 1;
    }
    assert_true(parts);
    verify(&w);
}

TEST(weak_objects_are_cleared_as_a_whole) {
    enum { SLOTS = 2000 };
    WORLD(w, PARAMETERS "card");
    EDEN_FRAME(w.m, local, 2);
    eden_class weak = define_class(w.heap, "Weak", EDEN_FORMAT_WEAK, 3);
    local[0] = eden_new_slots(w.m, weak, SLOTS);
    for (size_t i = 0; i < 10; i++) {
        store_pair(&w, &local[0], i);
    }
    watched_scavenge(&w);
    assert_seen(local[0], 1, SLOTS + 3, 3); /* the weak ones keep nothing and are not followed */
    assert_int_equal(seen_seq, w.heap->info.seq);
    store_pair(&w, &local[0], 0);
    seen_count = 0;
    eden_scavenge(w.m);
    assert_int_equal(seen_count, 0);
}
