/* Promotion in place: a scavenge that copies nothing.
 *
 * 1. Purpose
 * Where most of eden survives, copying it costs time, and the room to copy it to costs half of the memory. So where
 * policy=auto finds that most survives, it lets eden take all that the limit leaves. When such an eden is full, all of
 * new space becomes segments of old space, the dead included, and a full collection, which finds them, follows.
 *
 * 2. Algorithm
 * A new space, as small as can be, is mapped elsewhere in the reservation. What is mapped of the three spaces, up to
 * their last objects, is adopted as segments; the rest goes back to the system. Objects stay where they are. Nothing is
 * young then, so nothing is remembered. Ephemerons and weak slots are left to the full collection.
 *
 * 3. Invariants
 * I1. Either all is done, or nothing: whatever can be refused comes first.
 *
 * 4. Failure
 * There is no address range or memory for another new space, or no table: the caller scavenges by copying. */
#include "young/promote.h"
#include "heap/new_space.h"
#include "heap/policy.h"
#include "young/remembered.h"

/* Of each space, what is mapped up to its last object. */
static void find_parts(eden_heap *heap, struct space *const spaces[YOUNG_SPACES], struct space parts[YOUNG_SPACES]) {
    const uintptr_t starts[YOUNG_SPACES] = {spaces[0]->start, spaces[1]->start, heap->new_space.eden_start};
    for (int i = 0; i < YOUNG_SPACES; i++) {
        bool is_empty = spaces[i]->used == spaces[i]->start;
        parts[i] = (struct space){.start = starts[i], .used = spaces[i]->used, .limit = starts[i]};
        parts[i].limit = is_empty ? starts[i] : system_page_round(spaces[i]->used);
    }
}

static void add_free(eden_heap *heap, uintptr_t start, uintptr_t end) {
    if (start < end) {
        old_space_add_free(heap, start, end - start);
    }
}

/* from: the first object; below it, the checked build leaves memory unused. */
static void adopt(eden_heap *heap, struct scavenge_pass *pass, const struct space *part, uintptr_t from) {
    enum { AHEAD = 1024 };
    uint64_t seq = heap->info.seq + 1;
    old_space_adopt(heap, part->start, part->limit);
    add_free(heap, part->start, from);
    for (uintptr_t at = from; at < part->used;) {
        __builtin_prefetch((const void *)(at + AHEAD));
        eden_value object = object_at(at);
        size_t bytes = object_bytes(object);
        if (object_is_free(object)) {
            add_free(heap, at, at + bytes);
        } else {
            pass->tenured_objects++;
            pass->tenured_bytes += bytes;
            eden_fire_tenure(heap, seq, (const void *)(uintptr_t)object, eden_index_of(object), bytes,
                             EDEN_TENURE_IN_PLACE);
        }
        at += bytes;
    }
    add_free(heap, part->used, part->limit);
}

static void pass_over(eden_heap *heap, enum eden_phase phase) {
    uint64_t start = observer_phase_begin(heap, phase);
    observer_phase_end(heap, phase, start, (struct tally){0, 0});
}

bool promote_in_place(eden_heap *heap, struct scavenge_pass *pass) {
    struct new_space other;
    struct space *spaces[YOUNG_SPACES], parts[YOUNG_SPACES];
    heap_young_spaces(heap, spaces);
    find_parts(heap, spaces, parts);
    if (!old_space_prepare(heap, parts, YOUNG_SPACES) || !new_space_prepare(heap, &other)) {
        return false;
    }
    pass_over(heap, EDEN_PHASE_scavenge__remembered);
    pass_over(heap, EDEN_PHASE_scavenge__roots);
    uint64_t start = observer_phase_begin(heap, EDEN_PHASE_scavenge__copy);
    uintptr_t ends[YOUNG_SPACES] = {spaces[0]->limit, spaces[1]->limit, heap->new_space.eden_end};
    new_space_turn(heap, &other);
    remembered_clear(heap);
    for (int i = 0; i < YOUNG_SPACES; i++) {
        new_space_cut(heap, parts[i].limit, ends[i]);
        if (parts[i].limit != parts[i].start) {
            adopt(heap, pass, &parts[i], spaces[i]->start);
        }
    }
    observer_phase_end(heap, EDEN_PHASE_scavenge__copy, start,
                       (struct tally){pass->tenured_objects, pass->tenured_bytes});
    pass_over(heap, EDEN_PHASE_scavenge__weak);
    pass->in_place = true;
    OBSERVE(heap, copied, pass);
    new_space_move(heap, &other);
    heap->from = 0;
    heap->is_mixed = false;
    heap->tenure_threshold = 0;
    heap->survivor_fillers = 0;
    OBSERVE(heap, young_moved);
    return true;
}
