/* Marking: finds everything reachable, in both generations.
 *
 * 1. Algorithm
 * The mark bit is in the header. Marked objects that are still to be scanned are on a bounded stack, which the
 * scavenger uses, too. Between a reference and the header of its object is a ring (heap/reach_ring.h).
 *
 * 2. Overflow
 * When the stack is full the object is marked grey instead. After the stack has drained, a walk over the heap scans the
 * grey objects. Each walk scans every object that was grey at its start, so it ends; it is slow, and rare.
 *
 * 3. Several threads
 * With gc_threads above 1, marking begins alone, and continues together (markers.c) when it has marked
 * heap->alone_bytes: who has spent a few times the cost of waking threads has lost little if the end was near, and
 * knows nothing better of what is left. Ephemerons and weak objects come back to this thread. With one thread, the
 * order is that of the stack.
 *
 * 4. Invariants
 * I1. An object that is marked, and neither grey, on the stack, nor deferred as an ephemeron, has been scanned. So at
 *     the end the stack is empty, nothing is grey, the ring is empty, and no key is pending.
 * I2. A pending key (heap/ephemerons.c) is unmarked and not grey, whatever bits its header has. */
#include "old/mark.h"
#include "heap/reach_ring.h"
#include "old/markers.h"

struct marking {
    eden_visit visit; /* first: root visitors get its address */
    struct tally marked;
    struct reach_ring ring;
    unsigned threads;         /* 1: alone to the end */
    bool has_taken;           /* the pool */
    uint64_t alone_bytes;     /* marked alone, before the rest is marked together */
    uint64_t alone_until;     /* bytes of `marked` */
    size_t left;              /* so much of the stack, from its bottom, the threads have left to this one */
    struct lazy_sweep *sweep; /* notes live pages; NULL: all is swept at once */
};

static void reach(struct marking *marking, eden_value v) {
    if (object_has(v, EDEN_HEADER_MARKED)) {
        if (!ephemerons_is_pending(eden_header(v))) {
            return;
        }
        ephemerons_release(marking->visit.heap, v);
    }
    object_set(v, EDEN_HEADER_MARKED);
    marking->marked.objects++;
    marking->marked.bytes += object_bytes(v);
    if (marking->sweep != NULL) {
        lazy_sweep_note(marking->sweep, v);
    }
    if (heap_reference_slots(marking->visit.heap, v) != 0) {
        mark_stack_push(&marking->visit.heap->mark_stack, v);
    }
}

static void reach_oldest(struct marking *marking) { reach(marking, reach_ring_take(&marking->ring)); }

static void visit_slots(eden_visit *visit, eden_value *slots, size_t count) {
    struct marking *marking = (struct marking *)visit;
    for (size_t i = 0; i < count; i++) {
        eden_value coming = slots[i];
        if (eden_is_object(coming)) {
            reach_ring_ask(coming);
            if (reach_ring_is_full(&marking->ring)) {
                reach_oldest(marking);
            }
            reach_ring_put(&marking->ring, coming);
        }
    }
}

/* Immediates live for ever. */
static bool is_marked(eden_value v) {
    return !eden_is_object(v) || (eden_header(v) & EDEN_HEADER_PENDING) == EDEN_HEADER_MARKED;
}

/* Scans the references from `from` on; a large object's next piece goes back on the stack. */
static void scan(struct marking *marking, eden_value object, size_t from) {
    eden_heap *heap = marking->visit.heap;
    size_t count = heap_strong_slots(heap, object);
    uint32_t format = eden_format_bits(object);
    if (format == EDEN_FORMAT_EPHEMERON && !is_marked(eden_slot(object, 0)) &&
        ephemerons_wait(heap, object, eden_slot(object, 0))) {
        return;
    }
    if (format == EDEN_FORMAT_WEAK && from == 0 && !ephemerons_note_weak(heap, object)) {
        /* Strong this once, and whole: a later piece would not know. */
        visit_slots(&marking->visit, eden_words_(object) + 1, heap_reference_slots(heap, object));
        return;
    }
    size_t to = mark_stack_piece(&heap->mark_stack, object, from, count);
    visit_slots(&marking->visit, eden_words_(object) + 1 + from, to - from);
}

/* Of the stack, only what is above the part that the threads have left. */
static bool is_any_for_others(const struct marking *marking) {
    return !reach_ring_is_empty(&marking->ring) || marking->visit.heap->mark_stack.count > marking->left;
}

/* Until nothing is left, or, if `is_bounded`, enough is done alone: false. Inline, so that one thread pays no test. */
static inline __attribute__((always_inline)) bool drain_alone(struct marking *marking, bool is_bounded) {
    struct mark_stack *stack = &marking->visit.heap->mark_stack;
    for (;;) {
        if (is_bounded && marking->marked.bytes >= marking->alone_until && is_any_for_others(marking)) {
            return false;
        }
        if (stack->count != 0) {
            size_t from;
            eden_value object = mark_stack_take(stack, &from);
            if (is_bounded && stack->count < marking->left) {
                marking->left = stack->count;
            }
            scan(marking, object, from);
        } else if (!reach_ring_is_empty(&marking->ring)) {
            reach_oldest(marking);
        } else {
            return true;
        }
    }
}

/* What is left now. */
static void drain_together(struct marking *marking) {
    eden_heap *heap = marking->visit.heap;
    if (!marking->has_taken) {
        marking->threads = workers_take(heap, marking->threads, heap->mark_stack.room);
        marking->has_taken = marking->threads > 1;
    }
    if (marking->has_taken) {
        eden_value references[REACH_RING];
        size_t count = 0;
        while (!reach_ring_is_empty(&marking->ring)) {
            references[count++] = reach_ring_take(&marking->ring);
        }
        mark_stack_settle(&heap->mark_stack); /* the memory hook is asked on the heap's thread only */
        bool is_list = markers_run(heap, marking->left, references, count, &marking->marked);
        mark_stack_may_grow(&heap->mark_stack, heap_old_used(heap));
        marking->left = heap->mark_stack.count;
        marking->alone_bytes *= is_list ? WORKERS_PATIENCE : 1;
        marking->alone_until = marking->marked.bytes + marking->alone_bytes;
    }
}

static void drain(struct marking *marking) {
    while (marking->threads > 1 && !drain_alone(marking, true)) {
        drain_together(marking);
    }
    drain_alone(marking, false);
}

static void scan_if_grey(struct marking *marking, eden_value object) {
    uint64_t header = eden_header(object);
    if (!ephemerons_is_pending(header) && (header & EDEN_HEADER_GREY) != 0) {
        object_clear(object, EDEN_HEADER_GREY);
        scan(marking, object, 0);
        drain(marking);
    }
}

static void scan_grey(struct marking *marking) {
    eden_heap *heap = marking->visit.heap;
    struct space *spaces[YOUNG_SPACES];
    heap_young_spaces(heap, spaces);
    for (int i = 0; i < YOUNG_SPACES; i++) {
        for (uintptr_t at = spaces[i]->start; at < spaces[i]->used;) {
            eden_value object = object_at(at);
            at += object_bytes_by(ephemerons_real_header(object), object);
            scan_if_grey(marking, object);
        }
    }
    for (eden_value object = old_space_walk(heap, 0); object != EDEN_NONE;) {
        bool long_count = ephemerons_real_header(object) >> EDEN_HEADER_SLOTS_SHIFT == EDEN_SLOTS_OVERFLOW;
        uintptr_t start = object - (long_count ? 8 : 0);
        uintptr_t next = start + object_bytes_by(ephemerons_real_header(object), object);
        scan_if_grey(marking, object);
        object = old_space_walk(heap, next);
    }
}

/* Until nothing marked is left to scan. */
static void drain_all(struct marking *marking) {
    eden_heap *heap = marking->visit.heap;
    for (;;) {
        drain(marking);
        if (!heap->mark_stack.overflowed) {
            return;
        }
        heap->mark_stack.overflowed = false;
        heap->mark_stack.highest = 0;
        scan_grey(marking);
    }
}

static void reach_key(void *context, eden_value key) { reach(context, key); }

static eden_value keep_if_marked(void *context, eden_value v) {
    (void)context;
    return is_marked(v) ? v : EDEN_NONE;
}

static void drain_between(eden_visit *visit) { drain_all((struct marking *)visit); }

/* Their references may have changed since a cycle marked them. */
static void scan_remembered(struct marking *marking) {
    const struct remembered_set *set = &marking->visit.heap->remembered;
    for (size_t i = 0; i < set->count; i++) {
        if (object_has(set->objects[i], EDEN_HEADER_MARKED)) {
            mark_stack_push(&marking->visit.heap->mark_stack, set->objects[i]);
        }
    }
    for (size_t i = 0; i < set->card_count; i++) {
        eden_value object = set->cards[i].object;
        if (object_has(object, EDEN_HEADER_MARKED)) {
            size_t first = set->cards[i].first, left = heap_reference_slots(marking->visit.heap, object) - first;
            visit_slots(&marking->visit, eden_words_(object) + 1 + first, left < CARD_SLOTS ? left : CARD_SLOTS);
        }
    }
}

/* Where some marked objects are to be scanned again, and nobody knows which. */
static void make_marked_grey(eden_heap *heap) {
    heap->mark_stack.overflowed = true;
    for (eden_value object = old_space_walk(heap, 0); object != EDEN_NONE;
         object = old_space_walk(heap, object_end(object))) {
        object_set(object, object_has(object, EDEN_HEADER_MARKED) ? EDEN_HEADER_GREY : 0);
    }
}

/* What a cycle has marked (heap/cycle.c) is not reached again: what it has left to scan is, and what refers to young
 * objects. Returns what no phase has reported. */
static struct tally take_cycle(struct marking *marking) {
    eden_heap *heap = marking->visit.heap;
    if (!cycle_is_running(&heap->cycle)) {
        return (struct tally){0, 0};
    }
    if (heap->cycle.rescans || heap->remembered.is_incomplete) {
        make_marked_grey(heap);
    }
    scan_remembered(marking);
    return cycle_take(heap);
}

struct tally mark(eden_heap *heap) {
    struct marking marking = {.visit = {heap, visit_slots, drain_between},
                              .threads = workers_wanted(heap),
                              .alone_bytes = heap->alone_bytes,
                              .alone_until = heap->alone_bytes,
                              .sweep = heap->old.sweep.pages != NULL ? &heap->old.sweep : NULL};
    mark_stack_may_grow(&heap->mark_stack, heap_old_used(heap));
    struct tally before = take_cycle(&marking);
    roots_visit(&marking.visit);
    drain_all(&marking);
    while (ephemerons_fire(heap, reach_key, &marking)) {
        drain_all(&marking);
    }
    invariant_check(heap,
                    reach_ring_is_empty(&marking.ring) && heap->mark_stack.count == 0 && !heap->mark_stack.overflowed &&
                        heap->pending.count == 0,
                    "I1 of marking: something marked was not scanned");
    mark_stack_settle(&heap->mark_stack);
    if (marking.has_taken) {
        workers_give_back();
    }
    ephemerons_clear_weak(heap, keep_if_marked, NULL);
    OBSERVE(heap, reached, true, keep_if_marked, NULL);
    return (struct tally){before.objects + marking.marked.objects, before.bytes + marking.marked.bytes};
}
