/* The oracle: when objects die, exact to `step` bytes allocated. The truth that the other mechanisms are judged by.
 *
 * 1. Passes
 * A pass marks all that is reachable, young and old, and reports the death of every tracked object that it has not
 * reached: dated to the pass, with the pass before as the time when it was alive. Passes run before the allocation that
 * would go past the next multiple of `step` bytes since the last pass, and when a scavenge starts (a full collection
 * begins with one): places where the program must have all that it needs in roots. A death is reported once, because
 * the object leaves the profile's lists; the collector later finds the dead object without knowing. In between, objects
 * are moved on as `vm` does.
 *
 * 2. Reachable
 * Reachable is what a full collection now would keep. Weak slots are not followed. Ephemerons are followed as if they
 * were strong: a full collection that reaches the key keeps the value, and one that does not mourns, and keeps key and
 * value for the embedder to fetch. So an object that the program may still fetch from the queue of mourners is not
 * dead, and a pass needs no rounds.
 *
 * 3. Tables
 * Nothing in the heap changes. Marks are in a table beside it, a bit a word of new space and of old space up to the
 * last segment. Objects to scan are on a bounded stack; where it is full, a bit in a second table says that the object
 * is marked and not scanned, and a walk over that table finds it.
 *
 * 4. Cost
 * A pass takes as long as the marking of a full collection, and there are allocated / step of them. Counters and probes
 * do not count it; its time is in the profile's work_ns.
 *
 * 5. Failure
 * The system gives no memory for the tables. Then there is no pass, the next one comes a step later, and deaths between
 * are dated to it, or to the collection that finds them. */
#include "profile/baseline/oracle.h"

enum { STACK_ENTRIES = 32 * 1024 };

struct pass {
    eden_visit visit; /* first: root visitors get its address */
    struct profile *profile;
    struct eden_anchor now;
    uintptr_t base;
    uint64_t *marked, *unscanned; /* a bit a word; unscanned: marked, to be scanned, and not on the stack */
    size_t words;                 /* of each table */
    eden_value *stack;
    size_t count;
    bool overflowed;
};

static bool is_set(const struct pass *pass, const uint64_t *table, eden_value object) {
    size_t bit = (object - pass->base) / 8;
    return (table[bit / 64] >> (bit % 64) & 1) != 0;
}

static void set(const struct pass *pass, uint64_t *table, eden_value object) {
    size_t bit = (object - pass->base) / 8;
    table[bit / 64] |= 1ull << (bit % 64);
}

static void reach(eden_visit *visit, eden_value *slots, size_t count) {
    struct pass *pass = (struct pass *)visit;
    for (size_t i = 0; i < count; i++) {
        eden_value v = slots[i];
        if (!eden_is_object(v) || is_set(pass, pass->marked, v)) {
            continue;
        }
        set(pass, pass->marked, v);
        if (pass->count < STACK_ENTRIES) {
            pass->stack[pass->count++] = v;
        } else {
            set(pass, pass->unscanned, v);
            pass->overflowed = true;
        }
    }
}

static void scan(struct pass *pass, eden_value object) {
    reach(&pass->visit, eden_words_(object) + 1, heap_strong_slots(pass->visit.heap, object));
}

static void drain(struct pass *pass) {
    while (pass->count != 0) {
        scan(pass, pass->stack[--pass->count]);
    }
}

static void drain_all(struct pass *pass) {
    drain(pass);
    while (pass->overflowed) {
        pass->overflowed = false;
        for (size_t i = 0; i < pass->words; i++) {
            while (pass->unscanned[i] != 0) {
                size_t bit = i * 64 + (size_t)__builtin_ctzll(pass->unscanned[i]);
                pass->unscanned[i] &= pass->unscanned[i] - 1;
                scan(pass, pass->base + bit * 8);
                drain(pass);
            }
        }
    }
}

/* Reports and forgets those of a list that were not reached. */
static void keep_reached(void *context, struct tracked_list *list) {
    const struct pass *pass = context;
    struct profile *profile = pass->profile;
    size_t kept = 0;
    for (size_t i = 0; i < list->count; i++) {
        const struct tracked *tracked = &list->at[i];
        if (is_set(pass, pass->marked, lifetimes_place(profile, tracked))) {
            list->at[kept++] = *tracked;
        } else {
            lifetimes_report_death(profile, tracked, pass->now, profile->oracle.last);
        }
    }
    list->count = kept;
}

void oracle_pass(struct profile *profile) {
    eden_heap *heap = profile->heap;
    struct eden_anchor now = lifetimes_now(heap);
    uintptr_t top = heap_top(heap);
    struct pass pass = {.visit = {.heap = heap, .slots = reach},
                        .profile = profile,
                        .now = now,
                        .base = heap->reservation,
                        .words = (top - heap->reservation) / 512 + 1};
    size_t table = pass.words * sizeof *pass.marked,
           bytes = system_page_round(2 * table + STACK_ENTRIES * sizeof *pass.stack);
    profile->oracle.next = now.bytes + profile->oracle.step;
    pass.marked = system_map(&heap->system, bytes, "profile");
    if (pass.marked == NULL) {
        return;
    }
    pass.unscanned = pass.marked + pass.words;
    pass.stack = pass.unscanned + pass.words;
    roots_visit(&pass.visit);
    drain_all(&pass);
    keep_reached(&pass, &profile->pending);
    keep_reached(&pass, &profile->young);
    old_objects_each(profile, keep_reached, &pass);
    system_unmap(pass.marked, bytes);
    profile->oracle.last = now;
    profile->oracle.passes++;
    profile->work_ns += system_now_ns() - now.ns;
}
