/* Comparing heap and model, after a collection: each object that the roots lead to must be where exactly one node says,
 * with the same references, bytes, class, identity hash and pinned place. After a full collection the heap must hold
 * just as many objects as the model can reach. */
#include "fuzz.h"
#include <sys/mman.h>

/* A bit for each word of the heap: is a node there? All clear between walks, so that heaps can share it. */
static struct {
    uint64_t *bits;
    size_t bytes;
} taken;

static void note_place(eden_value object) {
    const eden_heap *heap = fuzz.w.heap;
    size_t word = (object - heap->reservation) / 8;
    if (object - heap->reservation >= heap->reservation_bytes) {
        broken("%#llx is no address of the heap", (unsigned long long)object);
    }
    if (taken.bytes < heap->reservation_bytes / 64 + 8) {
        if (taken.bytes != 0) {
            munmap(taken.bits, taken.bytes);
        }
        taken.bytes = heap->reservation_bytes / 64 + 8;
        taken.bits =
            mmap(NULL, taken.bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        need(taken.bits == MAP_FAILED ? NULL : taken.bits);
    }
    if ((taken.bits[word / 64] >> (word % 64) & 1) != 0) {
        broken("two nodes at one place, %#llx", (unsigned long long)object);
    }
    taken.bits[word / 64] |= 1ull << (word % 64);
    add_value(&fuzz.places, object);
}

static void clear_places(void) {
    for (size_t i = 0; i < fuzz.places.count; i++) {
        taken.bits[(fuzz.places.at[i] - fuzz.w.heap->reservation) / 8 / 64] = 0;
    }
}

static void meet(const struct value *value, eden_value object, const char *where, size_t index) {
    if (value->kind == VALUE_IMMEDIATE) {
        if (object != value->bits) {
            broken("%s %zu: %#llx, should be the immediate %#llx", where, index, (unsigned long long)object,
                   (unsigned long long)value->bits);
        }
        return;
    }
    struct node *node = value->node;
    if (!eden_is_object(object)) {
        broken("%s %zu: %#llx, should be an object", where, index, (unsigned long long)object);
    }
    if (node->epoch == fuzz.epoch) {
        if (node->place != object) {
            broken("%s %zu: one node at two places, %#llx and %#llx", where, index, (unsigned long long)node->place,
                   (unsigned long long)object);
        }
        return;
    }
    node->epoch = fuzz.epoch;
    node->place = object;
    node->reached = fuzz.reaching;
    note_place(object);
    add_pair(&fuzz.work, node, object);
}

static void compare_object(const struct node *node, eden_value object) {
    size_t slots = node->references + node->raw_bytes / 8;
    if (eden_index_of(object) != eden_class_index(node->of)) {
        broken("object %#llx: class index %u, should be %u", (unsigned long long)object, eden_index_of(object),
               eden_class_index(node->of));
    }
    if (eden_slot_count(object) != slots) {
        broken("object %#llx: %zu slots, should be %zu", (unsigned long long)object, eden_slot_count(object), slots);
    }
    if (node->raw_count != SIZE_MAX && eden_raw_count(object) != node->raw_count) {
        broken("object %#llx: %zu units, should be %zu", (unsigned long long)object, eden_raw_count(object),
               node->raw_count);
    }
    if (node->hash != 0 && eden_identity_hash(fuzz.w.m, object) != node->hash) {
        broken("object %#llx: its identity hash has changed", (unsigned long long)object);
    }
    if (node->raw_bytes != 0 && memcmp(eden_words_(object) + 1 + node->references, node->raw, node->raw_bytes) != 0) {
        broken("object %#llx: its raw bytes have changed", (unsigned long long)object);
    }
    if (object_has(object, EDEN_HEADER_PINNED) != (node->pins != 0)) {
        broken("object %#llx: pinned %u times, its header is %#llx", (unsigned long long)object, node->pins,
               (unsigned long long)eden_header(object));
    }
    if (node->ephemeron && (eden_format_bits(object) == EDEN_FORMAT_FIXED) != (node->fired != 0)) {
        broken("ephemeron %#llx: format %u, and %s the queue", (unsigned long long)object, eden_format_bits(object),
               node->fired != 0 ? "was in" : "never in");
    }
}

static void meet_slots(const struct node *node, eden_value object, size_t end) {
    for (size_t i = 0; i < end; i++) {
        meet(&node->slots[i], eden_slot(object, i), "slot", i);
    }
}

static void meet_weak_slots(struct node *node, eden_value object) {
    for (size_t i = node->strong; i < node->references; i++) {
        if (node->slots[i].kind == VALUE_NODE) {
            if (eden_slot(object, i) == EDEN_NONE) {
                add_place(&fuzz.cleared, node, i);
                continue;
            }
            add_place(&fuzz.intact, node, i);
        }
        meet(&node->slots[i], eden_slot(object, i), "slot", i);
    }
}

/* The references of an object that the walk has come to: those that keep something alive. */
static void meet_strong_slots(struct node *node, eden_value object) {
    bool keyed = node->ephemeron && node->fired == 0 && node->slots[KEY].kind == VALUE_NODE;
    if (keyed) {
        add_place(&fuzz.intact, node, KEY);
    }
    if (keyed && fuzz.reaching != 0 && node->slots[KEY].node->epoch != fuzz.epoch) {
        add_pair(&fuzz.unproven, node, object);
        return;
    }
    meet_slots(node, object, node->strong);
    if (node->strong != node->references) {
        add_pair(&fuzz.weak_holders, node, object);
    }
}

static void meet_all_strong(void) {
    while (fuzz.work.count != 0) {
        struct pair at = fuzz.work.at[--fuzz.work.count];
        compare_object(at.node, at.object);
        meet_strong_slots(at.node, at.object);
    }
}

/* From what was met so far. First what is alive, which gets the number `reaches`; then the rest, which only weak slots
 * and ephemerons with dead keys still refer to. */
static void walk(void) {
    for (size_t before = SIZE_MAX; fuzz.work.count != 0 || fuzz.unproven.count < before;) {
        meet_all_strong();
        before = fuzz.unproven.count;
        size_t still = 0;
        for (size_t i = 0; i < before; i++) {
            struct pair at = fuzz.unproven.at[i];
            if (at.node->slots[KEY].node->epoch == fuzz.epoch) {
                meet_slots(at.node, at.object, at.node->references);
            } else {
                fuzz.unproven.at[still++] = at;
            }
        }
        fuzz.unproven.count = still;
    }
    fuzz.reaching = 0;
    for (size_t i = 0; i < fuzz.unproven.count; i++) {
        meet_slots(fuzz.unproven.at[i].node, fuzz.unproven.at[i].object, EPHEMERON_SLOTS);
    }
    while (fuzz.weak_holders.count != 0 || fuzz.work.count != 0) {
        meet_all_strong();
        while (fuzz.weak_holders.count != 0) {
            struct pair at = fuzz.weak_holders.at[--fuzz.weak_holders.count];
            meet_weak_slots(at.node, at.object);
        }
    }
}

/* The queue of mourners: what the model knows to be there, then those that are new. */
static void meet_mourners(void) {
    const struct mourners *mourners = &fuzz.w.heap->mourners;
    size_t length = mourners->end - mourners->next;
    if (length < fuzz.mourning.count) {
        broken("the queue of mourners has %zu, had %zu", length, fuzz.mourning.count);
    }
    for (size_t i = 0; i < length; i++) {
        eden_value object = mourners->queue[mourners->next + i];
        if (i == fuzz.mourning.count) {
            if (!eden_is_object(object) || eden_index_of(object) != eden_class_index(fuzz.ephemeron)) {
                broken("mourner %zu: %#llx is no ephemeron", i, (unsigned long long)object);
            }
            struct node *node = fuzz.ephemerons.at[eden_int_value(eden_slot(object, ID))].node;
            if (node->fired != 0) {
                broken("ephemeron %#llx is mourned twice", (unsigned long long)object);
            }
            node->fired = fuzz.epoch;
            add_place(&fuzz.mourning, node, KEY);
            fuzz.mourned++;
        }
        meet(&(struct value){.kind = VALUE_NODE, .node = fuzz.mourning.at[i].node}, object, "mourner", i);
    }
    eden_figures figures = figures_of(&fuzz.w);
    if (figures.mourned != fuzz.mourned) {
        broken("%llu ephemerons were mourned, the figures say %llu", (unsigned long long)fuzz.mourned,
               (unsigned long long)figures.mourned);
    }
}

void compare(bool exact) {
    eden_error error = {EDEN_OK, ""};
    long refusing = fuzz.refusing;
    fuzz.refusing = 0;
    if (!eden_heap_verify(fuzz.w.heap, &error)) {
        broken("eden_heap_verify: %s", error.message);
    }
    fuzz.refusing = refusing;
    fuzz.epoch++;
    fuzz.work.count = fuzz.places.count = fuzz.cleared.count = fuzz.intact.count = 0;
    fuzz.unproven.count = fuzz.weak_holders.count = 0;
    const uint64_t alive = fuzz.reaching = ++fuzz.reaches;
    meet_mourners();
    for (size_t i = 0; i < ROOTS; i++) {
        meet(&fuzz.roots[i], *root_slot(i), "root", i);
    }
    for (size_t i = 0; i < PINS; i++) {
        meet(&fuzz.pins[i].value, fuzz.pins[i].slot, "pin", i);
        if (fuzz.pins[i].value.kind == VALUE_NODE && fuzz.pins[i].slot != fuzz.pins[i].place) {
            broken("pin %zu: moved from %#llx to %#llx", i, (unsigned long long)fuzz.pins[i].place,
                   (unsigned long long)fuzz.pins[i].slot);
        }
    }
    walk();
    clear_places();
    check_not_too_early();
    check_not_too_late(exact, alive);
    if (exact && count_objects(&fuzz.w) != fuzz.places.count) {
        broken("after a full collection: %zu objects in the heap, %zu are reachable", count_objects(&fuzz.w),
               fuzz.places.count);
    }
    fuzz.refused_before = fuzz.refused;
    fuzz.lenient = false;
}

void compare_if_collected(void) {
    if (fuzz.w.heap->info.seq != fuzz.seen_seq) {
        compare(false);
        fuzz.seen_seq = fuzz.w.heap->info.seq;
    }
}
