/* Weak slots and ephemerons: which of them a collection clears or fires depends on what else it keeps alive (a scavenge
 * keeps what dead old objects refer to), so the model takes that over from the heap, and checks it from both sides.
 * Nothing too early: what a cleared slot referred to is nowhere to be found, and the key of a fired ephemeron was out
 * of the model's reach before. Nothing too late: what an intact slot refers to, and the key of an ephemeron not fired,
 * are in reach of the model, or else, after a scavenge, old, or in reach of some old object; but a collection that was
 * refused memory may keep them. A fired ephemeron is in the queue of mourners, once, and keeps what it refers to.
 */
#include "fuzz.h"
#include <sys/mman.h>

static bool is_reached(const struct value *value) {
    return value->kind != VALUE_NODE || value->node->reached == fuzz.reaches;
}

static void reach_value(const struct value *value) {
    if (!is_reached(value)) {
        value->node->reached = fuzz.reaches;
        add_pair(&fuzz.work, value->node, EDEN_NONE);
    }
}

static void reach_slots(const struct node *node) {
    for (size_t i = 0; i < node->strong; i++) {
        reach_value(&node->slots[i]);
    }
}

/* Marks what the model can reach from roots, pins and queue; ephemerons fired at `epoch` or later do not count. */
static void reach(uint64_t epoch) {
    fuzz.reaches++;
    fuzz.waiting.count = 0;
    for (size_t i = 0; i < ROOTS; i++) {
        reach_value(&fuzz.roots[i]);
    }
    for (size_t i = 0; i < PINS; i++) {
        reach_value(&fuzz.pins[i].value);
    }
    for (size_t i = 0; i < fuzz.mourning.count; i++) {
        if (fuzz.mourning.at[i].node->fired < epoch) {
            reach_value(&(struct value){.kind = VALUE_NODE, .node = fuzz.mourning.at[i].node});
        }
    }
    while (fuzz.work.count != 0) {
        while (fuzz.work.count != 0) {
            struct node *node = fuzz.work.at[--fuzz.work.count].node;
            if (node->ephemeron && (node->fired == 0 || node->fired >= epoch)) {
                add_place(&fuzz.waiting, node, KEY);
            } else {
                reach_slots(node);
            }
        }
        size_t still = 0;
        for (size_t i = 0; i < fuzz.waiting.count; i++) {
            if (is_reached(&fuzz.waiting.at[i].node->slots[KEY])) {
                reach_slots(fuzz.waiting.at[i].node);
            } else {
                fuzz.waiting.at[still++] = fuzz.waiting.at[i];
            }
        }
        fuzz.waiting.count = still;
    }
}

/* What a scavenge may keep: what is in reach of roots and old objects, dead or alive. In the heap itself, since the
 * model does not know the dead. */
struct closure {
    eden_visit visit; /* first: root visitors get its address */
    unsigned char *kept;
    struct value_list work, waiting;
};

static bool is_kept(const struct closure *c, eden_value v) {
    return !heap_is_young(fuzz.w.heap, v) || c->kept[(v - fuzz.w.heap->info.new_start) / 8] != 0;
}

static void keep_slots(eden_visit *closure, eden_value *slots, size_t count) {
    struct closure *c = (struct closure *)closure;
    for (size_t i = 0; i < count; i++) {
        if (!is_kept(c, slots[i])) {
            c->kept[(slots[i] - fuzz.w.heap->info.new_start) / 8] = 1;
            add_value(&c->work, slots[i]);
        }
    }
}

static void keep_strong(struct closure *c, eden_value object) {
    if (eden_format_bits(object) == EDEN_FORMAT_EPHEMERON && !is_kept(c, eden_slot(object, KEY))) {
        add_value(&c->waiting, object);
        return;
    }
    keep_slots(&c->visit, eden_words_(object) + 1, heap_strong_slots(fuzz.w.heap, object));
}

static void keep(struct closure *c) {
    eden_heap *heap = fuzz.w.heap;
    c->visit = (eden_visit){.heap = heap, .slots = keep_slots};
    /* Address space for all that is reserved for new space; little of it is ever touched. */
    c->kept = mmap(NULL, heap->info.new_bytes / 8, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE,
                   -1, 0);
    need(c->kept == MAP_FAILED ? NULL : c->kept);
    roots_visit(&c->visit);
    for (eden_value object = old_space_walk(heap, 0); object != EDEN_NONE;
         object = old_space_walk(heap, object_end(object))) {
        if (!object_is_free(object)) {
            keep_strong(c, object);
        }
    }
    for (size_t waited = SIZE_MAX; c->work.count != 0 || c->waiting.count < waited;) {
        while (c->work.count != 0) {
            keep_strong(c, c->work.at[--c->work.count]);
        }
        struct value_list again = c->waiting;
        waited = again.count;
        c->waiting = (struct value_list){NULL, 0, 0};
        for (size_t i = 0; i < again.count; i++) {
            keep_strong(c, again.at[i]);
        }
        free(again.at);
    }
}

/* Nothing was cleared or fired while its referent was alive. Takes over what was. */
void check_not_too_early(void) {
    const struct place_list *mourning = &fuzz.mourning, *cleared = &fuzz.cleared;
    if (mourning->count != 0 && mourning->at[mourning->count - 1].node->fired == fuzz.epoch) {
        reach(fuzz.epoch);
    }
    for (size_t i = mourning->count; i-- != 0 && mourning->at[i].node->fired == fuzz.epoch;) {
        const struct node *node = mourning->at[i].node;
        if (is_reached(&node->slots[KEY])) {
            broken("ephemeron %#llx: fired while its key was alive", (unsigned long long)node->place);
        }
    }
    for (size_t i = 0; i < cleared->count; i++) {
        const struct value *value = &cleared->at[i].node->slots[cleared->at[i].slot];
        if (value->node->epoch == fuzz.epoch) {
            broken("weak object %#llx, slot %zu: cleared, but its referent lives at %#llx",
                   (unsigned long long)cleared->at[i].node->place, cleared->at[i].slot,
                   (unsigned long long)value->node->place);
        }
    }
    for (size_t i = 0; i < cleared->count; i++) {
        cleared->at[i].node->slots[cleared->at[i].slot] = (struct value){.kind = VALUE_IMMEDIATE};
    }
}

/* Nothing dead is left in weak slots and keys. What the walk found alive has the number `alive`, or that of a reach()
 * since. */
void check_not_too_late(bool exact, uint64_t alive) {
    const struct place_list *intact = &fuzz.intact;
    struct closure c = {.kept = NULL};
    if (intact->count == 0 || fuzz.lenient || fuzz.refused != fuzz.refused_before) {
        return;
    }
    for (size_t i = 0; i < intact->count; i++) {
        const struct node *holder = intact->at[i].node, *node = holder->slots[intact->at[i].slot].node;
        if (node->reached >= alive) {
            continue;
        }
        if (!exact && c.kept == NULL && heap_is_young(fuzz.w.heap, node->place)) {
            keep(&c);
        }
        if (exact || !is_kept(&c, node->place)) {
            broken("%s %#llx, slot %zu: still refers to %#llx, which is dead", holder->ephemeron ? "ephemeron" : "weak",
                   (unsigned long long)holder->place, intact->at[i].slot, (unsigned long long)node->place);
        }
    }
    if (c.kept != NULL) {
        munmap(c.kept, fuzz.w.heap->info.new_bytes / 8);
    }
    free(c.work.at);
    free(c.waiting.at);
}
