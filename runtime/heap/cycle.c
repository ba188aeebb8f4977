/* Cycles: marking ahead of a full collection, in steps (pause_goal).
 *
 * 1. Purpose
 * The time of a full collection is mostly that of marking, which grows with the live data. With pause_goal, old space
 * is marked beforehand: at the end of each scavenge a step marks for the time that the goal leaves. The full
 * collection, the last stop, marks only the rest. So the program sees scavenges of about pause_goal, and one full
 * collection that frees.
 *
 * 2. Terms
 * Cycle: from the first step to the full collection. White: an old object that is not marked. Grey: marked, but its
 * references are not all looked at. Black: marked, and they are. Special: ephemeron or weak object. Last stop: the full
 * collection that ends a cycle (old/full.c).
 *
 * 3. Algorithm
 * Incremental update (Dijkstra et al.): a store into a black object marks what it stores. Roots and young objects have
 * no barrier: the last stop visits the roots again, and marks young objects as always.
 *
 *    object                       is marked                      its references are looked at
 *    ordinary, old before         when a step reaches it         by a step
 *    tenured in the cycle         at once                        by the scavenge
 *    born old in the cycle        at once                        when they are stored, by the barrier
 *    special                      when a step reaches it         by the last stop: what they keep alive is known then
 *    young                        by the last stop               by the last stop
 *    old, was young (promote.c)   as one that was old before
 *
 * A cycle begins with the roots and all young objects, whose references to old objects are marked. When nothing is left
 * to scan, it looks through these again, and when nothing is left for the second time, all is marked. The next scavenge
 * marks nothing, and the full collection follows it: so no pause has both a step and the last stop.
 *
 * 4. The write barrier
 * eden_slot_set compares the value with young_start and barrier_words. Usually barrier_words is young_words, and young
 * references take the slow path. In a cycle it is BARRIER_ALL, and all references do. There is no other test, so the
 * barrier has as many instructions as without cycles (gcc 12, -O2; a store of what is not young):
 *
 *    before: store, load young_start, load young_words, subtract, rotate, compare, branch: 7
 *    now:    store, load young_start, subtract, rotate, compare with barrier_words in memory, branch: 6
 *
 * Whether the object is old is compared with young_words, as before. A store into a remembered object takes no slow
 * path: the last stop scans remembered objects again. Objects with cards never have the remembered bit, so all stores
 * of references into them take the slow path.
 *
 * 5. What the last stop scans
 * The roots; the marked objects of the remembered set; the slots of dirty cards; what is left on the stack; the special
 * objects. And all that these lead to and is not marked, among it all young objects.
 *
 * 6. When
 * A cycle begins when old space is so near the size at which it is collected that the scavenges until then are a
 * quarter more than the steps that marking needs: by what scavenges have promoted, and steps have marked, of late. If
 * marking is late nevertheless, the program gets less of eden until the next scavenge. If old space reaches its goal
 * first, or an old allocation finds no chunk, the last stop marks the rest. A full collection that the program or a
 * tool asks for, and one before an allocation fails, is to leave nothing dead: it clears all marks, and marks anew.
 *
 * With pause_goal, in a cycle or not, the program gets only as much of eden as a scavenge copies in half of the goal,
 * by the time that the last ones have taken; a quarter of a megabyte at least, two at first. A step has what is left of
 * seven eighths of the goal, for it ends a little late, but a quarter of the goal at least: so cycles end. Time decides
 * nothing else.
 *
 * No cycle runs while lifetimes are measured, or eden is promoted in place: each full collection marks all then.
 *
 * With pause_goal the full collection does not sweep either, where it moves nothing (lazy_sweep.c). The scavenges after
 * it do, each for as long as a step would take, and no cycle begins before all is swept: marks have two meanings until
 * then.
 *
 * 7. Invariants
 * I1. In a cycle, a marked ordinary old object refers to no white one, unless it is grey (on the stack, or by its bit),
 *     or remembered, or the last stop is to scan all again (`rescans`). (The verifier.)
 * I2. Young objects are not marked while the program runs. (The verifier.)
 * I3. Old objects do not move and are not freed in a cycle: only full collections do that, and each ends the cycle.
 * I4. No key is pending (ephemerons.c) when a step or the barrier runs.
 * I5. barrier_words is BARRIER_ALL in a cycle, and young_words otherwise.
 *
 * Why I1 holds. Whatever changes a reference of a black object, or takes it out of the exceptions:
 *
 *    a store, one or many         the barrier marks the value (cycle_rescan)
 *    a scavenge moves a referent  to old space: tenuring marks it, and what it refers to
 *    the object is forgotten      what it refers to is marked then (cycle_rescan)
 *    new space is promoted        its objects become white; what refers to them is forgotten. What the remembered set
 *                                 had no room for is unknown: the last stop scans all again
 *
 * 8. Failure
 * No memory for the stack: no cycle begins. The stack is full, or the list of special objects, and cannot grow: the
 * object gets the grey bit, and the last stop finds it by walking the heap.
 *
 * 9. Cost
 * In a cycle, each store of a reference into an old object calls a function. What dies after it was marked, and what is
 * tenured in the cycle and dies, lives until the next full collection. Scavenges in a cycle are done by one thread.
 *
 * 10. References
 * E. Dijkstra, L. Lamport, A. Martin, C. Scholten, E. Steffens, "On-the-Fly Garbage Collection", CACM 21(11), 1978.
 */
#include "heap/heap.h"
#include "heap/policy.h"
#include "heap/reach_ring.h"
#include <stdlib.h>

/* Of (v - young_start) rotated right by 3, all v that are multiples of 8 are less: references, and EDEN_NONE. */
static const uint64_t BARRIER_ALL = 1ull << 61;
/* What a step marks a millisecond, before one has. */
enum { BYTES_A_MS = 512 * 1024 };
/* What the program gets of eden before a scavenge has taken time. */
enum { FIRST_EDEN = 2 * 1024 * 1024 };

static bool is_special(eden_value object) {
    uint32_t format = eden_format_bits(object);
    return format == EDEN_FORMAT_WEAK || format == EDEN_FORMAT_EPHEMERON || format == FORMAT_PENDING;
}

/* ---- marking ---- */

static void leave(eden_heap *heap, eden_value object) {
    struct cycle *cycle = &heap->cycle;
    if (system_grow(&heap->system, (void **)&cycle->left, &cycle->left_room, cycle->left_count, sizeof *cycle->left,
                    "marking")) {
        cycle->left[cycle->left_count++] = object;
    } else {
        object_set(object, EDEN_HEADER_GREY);
        cycle->stack.overflowed = true;
    }
}

static void set_mark(eden_heap *heap, eden_value object) {
    object_set(object, EDEN_HEADER_MARKED);
    heap->cycle.marked.objects++;
    heap->cycle.marked.bytes += object_bytes(object);
    if (heap->old.sweep.pages != NULL) {
        lazy_sweep_note(&heap->old.sweep, object);
    }
}

static void shade(eden_heap *heap, eden_value object) {
    if (object_has(object, EDEN_HEADER_MARKED)) {
        return;
    }
    set_mark(heap, object);
    if (is_special(object)) {
        leave(heap, object);
    } else if (heap_reference_slots(heap, object) != 0) {
        mark_stack_push(&heap->cycle.stack, object);
    }
}

static bool is_old_object(const eden_heap *heap, eden_value v) { return eden_is_object(v) && !heap_is_young(heap, v); }

void cycle_shade(eden_heap *heap, eden_value v) {
    if (is_old_object(heap, v)) {
        shade(heap, v);
    }
}

void cycle_rescan(eden_heap *heap, eden_value object, size_t from, size_t to) {
    if (object_has(object, EDEN_HEADER_MARKED) && !is_special(object)) {
        for (; from < to; from++) {
            cycle_shade(heap, eden_slot(object, from));
        }
    }
}

void cycle_born(eden_heap *heap, eden_value object) {
    set_mark(heap, object);
    if (is_special(object)) {
        leave(heap, object);
    }
}

void cycle_forgets_all(eden_heap *heap) { heap->cycle.rescans |= heap->remembered.is_incomplete; }

/* ---- a step ---- */

struct step {
    eden_visit visit; /* first: root visitors get its address */
    struct reach_ring ring;
    uint64_t end_ns;
    uint64_t scanned, most; /* objects, or pieces of them */
};

static void reach_oldest(struct step *step) { shade(step->visit.heap, reach_ring_take(&step->ring)); }

static void reach_slots(eden_visit *visit, eden_value *slots, size_t count) {
    struct step *step = (struct step *)visit;
    for (size_t i = 0; i < count; i++) {
        if (is_old_object(visit->heap, slots[i])) {
            reach_ring_ask(slots[i]);
            if (reach_ring_is_full(&step->ring)) {
                reach_oldest(step);
            }
            reach_ring_put(&step->ring, slots[i]);
        }
    }
}

/* Not the references of ephemerons: the last stop scans all young objects in any case. */
static void visit_young(struct step *step) {
    eden_heap *heap = step->visit.heap;
    struct space *spaces[YOUNG_SPACES];
    heap_young_spaces(heap, spaces);
    for (int i = 0; i < YOUNG_SPACES; i++) {
        for (uintptr_t at = spaces[i]->start; at < spaces[i]->used;) {
            eden_value object = object_at(at);
            at += object_bytes(object);
            if (eden_format_bits(object) != EDEN_FORMAT_EPHEMERON) {
                reach_slots(&step->visit, eden_words_(object) + 1, heap_strong_slots(heap, object));
            }
        }
    }
}

static void visit_sources(struct step *step) {
    roots_visit(&step->visit);
    visit_young(step);
}

/* The next of the stack: an object, or a piece of a large one. */
static void scan_next(struct step *step) {
    struct mark_stack *stack = &step->visit.heap->cycle.stack;
    size_t from;
    eden_value object = mark_stack_take(stack, &from);
    size_t to = mark_stack_piece(stack, object, from, heap_reference_slots(step->visit.heap, object));
    step->scanned++;
    reach_slots(&step->visit, eden_words_(object) + 1 + from, to - from);
}

static bool is_over(struct step *step) {
    enum { OFTEN = 64 };
    if (step->most != 0) {
        return step->scanned >= step->most;
    }
    return step->scanned % OFTEN == OFTEN - 1 && system_now_ns() >= step->end_ns;
}

/* False: there is more. */
static bool drain(struct step *step) {
    const struct mark_stack *stack = &step->visit.heap->cycle.stack;
    while (stack->count != 0 || !reach_ring_is_empty(&step->ring)) {
        if (stack->count == 0) {
            reach_oldest(step);
        } else if (is_over(step)) {
            break;
        } else {
            scan_next(step);
        }
    }
    bool done = stack->count == 0;
    while (!reach_ring_is_empty(&step->ring)) {
        reach_oldest(step);
    }
    return done;
}

static uint64_t goal_ns(const eden_heap *heap) { return (uint64_t)(heap->params.pause_goal * 1e6); }

static uint64_t end_of_step(const eden_heap *heap, uint64_t start_ns) {
    uint64_t latest = start_ns + goal_ns(heap) / 8 * 7, least = system_now_ns() + goal_ns(heap) / 4;
    return latest > least ? latest : least;
}

static void mark_more(eden_heap *heap, uint64_t start_ns, bool begins) {
    struct cycle *cycle = &heap->cycle;
    struct step step = {
        .visit = {heap, reach_slots, NULL}, .end_ns = end_of_step(heap, start_ns), .most = cycle->step_objects};
    if (begins) {
        visit_sources(&step);
    }
    bool done = drain(&step);
    if (done && !cycle->has_revisited) {
        cycle->has_revisited = true;
        visit_sources(&step);
        done = drain(&step);
    }
    cycle->state = done ? CYCLE_MARKED : CYCLE_MARKS;
}

/* ---- when (section 6) ---- */

/* Are objects followed from their allocation to their death? */
static bool is_measured(const eden_heap *heap) {
    bool measured = heap->observer_class != 0;
    for (const struct observer *at = heap->allocation_observers; at != NULL; at = at->next_allocation) {
        measured |= at->calls->allocated != NULL;
    }
    return measured;
}

static bool is_wanted(const eden_heap *heap) { return heap->params.pause_goal > 0 && !is_measured(heap); }

/* Steps until all is marked, if all of old space lives; one more finds that it is. */
static uint64_t steps_needed(const eden_heap *heap) {
    const struct cycle *cycle = &heap->cycle;
    uint64_t used = heap_old_used(heap), done = cycle_is_running(cycle) ? cycle->reported.bytes : 0;
    return (used > done ? used - done : 0) / (cycle->bytes_a_step + 1) + 2;
}

/* Follows what steps mark. They differ: of one that has little left to mark nothing is known. */
static void measure_step(eden_heap *heap, uint64_t bytes) {
    struct cycle *cycle = &heap->cycle;
    if (cycle->state == CYCLE_MARKS) {
        cycle->bytes_a_step = (3 * cycle->bytes_a_step + bytes) / 4;
    }
}

/* How much old space may grow before it is collected. */
static uint64_t growth_left(const eden_heap *heap) {
    uint64_t goal = policy_full_at(heap), used = heap_old_used(heap) + heap->policy.rule.promoted;
    return goal > used ? goal - used : 0;
}

static bool begins(eden_heap *heap) {
    struct cycle *cycle = &heap->cycle;
    uint64_t used = heap_old_used(heap), live = heap->old.used_at_full;
    if (!is_wanted(heap) || heap->is_mixed || used == 0) {
        return false;
    }
    if (cycle->bytes_a_step == 0) {
        cycle->bytes_a_step = (uint64_t)(heap->params.pause_goal / 2 * BYTES_A_MS);
    }
    uint64_t needed = steps_needed(heap), scavenges = growth_left(heap) / (heap->policy.rule.promoted + 1);
    bool is_time =
        policy_full_at(heap) != EDEN_NO_LIMIT && used > live + live / 16 && scavenges <= needed + needed / 4 + 1;
    return (is_time || cycle->is_forced) &&
           (cycle->stack.entries != NULL || mark_stack_create(&cycle->stack, &heap->system));
}

static void begin(eden_heap *heap) {
    heap->cycle.has_revisited = heap->cycle.rescans = false;
    heap->cycle.steps = 0;
    heap->cycle.reported = (struct tally){0, 0};
    mark_stack_may_grow(&heap->cycle.stack, heap_old_used(heap));
    lazy_sweep_prepare(heap);
    heap->mutator.barrier_words = BARRIER_ALL;
}

/* Follows the time that scavenges take; half of the goal is for the step. Grows by a factor of two at most. */
static void measure_eden(eden_heap *heap, const struct scavenge_pass *pass) {
    enum { LEAST = 256 * 1024 };
    struct cycle *cycle = &heap->cycle;
    uint64_t ns = system_now_ns() - pass->start_ns, before = cycle->eden_bytes;
    if (pass->allocated < LEAST / 2 || pass->in_place || cycle->step_objects != 0) {
        return; /* little is known by that */
    }
    double fits = (double)pass->allocated * (double)goal_ns(heap) / 2 / (double)(ns + 1);
    double most = before == 0 ? 0x1p60 : 2.0 * (double)before;
    fits = fits < most ? fits : most;
    cycle->eden_bytes = fits > LEAST ? (uint64_t)fits : LEAST;
}

/* Where marking is late, the program gets a part of that: an eighth at least. */
static uint64_t share(const eden_heap *heap, uint64_t room) {
    uint64_t needed = steps_needed(heap), promoted = heap->policy.rule.promoted;
    uint64_t scavenges = promoted == 0 ? EDEN_NO_LIMIT : growth_left(heap) / promoted;
    if (scavenges >= needed) {
        return room;
    }
    uint64_t eighths = 8 * scavenges / needed;
    return room / 8 * (eighths > 1 ? eighths : 1);
}

/* Eden is empty, or promotion has failed. */
static void limit_eden(eden_heap *heap, bool marks_on) {
    struct cycle *cycle = &heap->cycle;
    uint64_t room = heap->eden.limit - heap->mutator.free, given = room;
    if (is_wanted(heap)) {
        uint64_t fits = cycle->eden_bytes != 0 ? cycle->eden_bytes : FIRST_EDEN;
        given = fits < room ? fits : room;
        given = marks_on ? share(heap, given) : given;
    }
    uintptr_t limit = given < room ? heap->mutator.free + given / 8 * 8 : UINTPTR_MAX;
    if (limit != UINTPTR_MAX || cycle->eden_limit != UINTPTR_MAX) {
        cycle->eden_limit = limit;
        heap_set_limit(heap);
    }
}

void cycle_create(eden_heap *heap) {
    heap->cycle.eden_limit = UINTPTR_MAX;
    limit_eden(heap, false);
}

static void run_step(eden_heap *heap, uint64_t start_ns, bool is_first) {
    struct cycle *cycle = &heap->cycle;
    uint64_t start = observer_phase_begin(heap, EDEN_PHASE_scavenge__mark);
    if (is_first) {
        begin(heap);
    }
    uint64_t before = cycle->marked.bytes; /* by stores and tenuring */
    mark_more(heap, start_ns, is_first);
    measure_step(heap, cycle->marked.bytes - before);
    observer_phase_end(heap, EDEN_PHASE_scavenge__mark, start, cycle->marked);
    cycle->steps++;
    cycle->reported.objects += cycle->marked.objects;
    cycle->reported.bytes += cycle->marked.bytes;
    cycle->marked = (struct tally){0, 0};
}

/* What the last full collection has left. Without a goal any more: all. */
static void sweep_on(eden_heap *heap, uint64_t start_ns) {
    enum { A_SCANNED_OBJECT = 1024 };
    size_t most = heap->cycle.step_objects * A_SCANNED_OBJECT;
    uint64_t start = observer_phase_begin(heap, EDEN_PHASE_scavenge__sweep);
    if (most != 0 || heap->params.pause_goal == 0) {
        lazy_sweep_bytes(heap, most != 0 ? most : SIZE_MAX);
    } else {
        lazy_sweep_step(heap, end_of_step(heap, start_ns));
    }
    observer_phase_end(heap, EDEN_PHASE_scavenge__sweep, start, (struct tally){0, 0});
}

void cycle_step(eden_heap *heap, const struct scavenge_pass *pass) {
    struct cycle *cycle = &heap->cycle;
    if (is_wanted(heap)) {
        measure_eden(heap, pass);
    }
    if (pass->cause != EDEN_SCAVENGE_FULL && cycle->state != CYCLE_ENDS && heap->broken_invariant == NULL) {
        const bool is_first = cycle->state == CYCLE_NONE;
        if (heap->old.sweep.unswept != 0) {
            if (!heap->old.sweeps_later) {
                sweep_on(heap, pass->start_ns);
            }
        } else if (cycle->state == CYCLE_MARKED || (!is_first && !is_wanted(heap))) {
            cycle->state = CYCLE_ENDS;
        } else if (!is_first || begins(heap)) {
            run_step(heap, pass->start_ns, is_first);
        }
    }
    limit_eden(heap, pass->cause != EDEN_SCAVENGE_FULL && cycle->state == CYCLE_MARKS);
}

/* ---- the last stop ---- */

static void end(eden_heap *heap) {
    struct cycle *cycle = &heap->cycle;
    cycle->stack.overflowed = false;
    mark_stack_settle(&cycle->stack);
    cycle->marked = (struct tally){0, 0};
    cycle->state = CYCLE_NONE;
    heap->mutator.barrier_words = heap->mutator.young_words;
}

struct tally cycle_take(eden_heap *heap) {
    struct cycle *cycle = &heap->cycle;
    const struct tally unreported = cycle->marked;
    if (cycle->state == CYCLE_NONE) {
        return unreported;
    }
    cycle->unfinished += cycle->state == CYCLE_MARKS;
    while (cycle->stack.count != 0) {
        size_t from; /* what comes before has been scanned, and is again */
        mark_stack_push(&heap->mark_stack, mark_stack_take(&cycle->stack, &from));
    }
    while (cycle->left_count != 0) {
        mark_stack_push(&heap->mark_stack, cycle->left[--cycle->left_count]);
    }
    heap->mark_stack.overflowed |= cycle->stack.overflowed;
    end(heap);
    return unreported;
}

void cycle_abandon(eden_heap *heap) {
    struct cycle *cycle = &heap->cycle;
    if (cycle->state == CYCLE_NONE) {
        return;
    }
    for (eden_value object = old_space_walk(heap, 0); object != EDEN_NONE;
         object = old_space_walk(heap, object_end(object))) {
        object_clear(object, EDEN_HEADER_MARKED | EDEN_HEADER_GREY);
    }
    cycle->unfinished += cycle->state == CYCLE_MARKS;
    cycle->stack.count = cycle->left_count = 0;
    lazy_sweep_cancel(heap);
    end(heap);
}

void cycle_destroy(struct cycle *cycle) {
    mark_stack_destroy(&cycle->stack);
    free(cycle->left);
}
