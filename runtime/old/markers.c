/* Marking by several threads.
 *
 * 1. Purpose
 * mark.c marks alone until it has marked enough to be worth waking others, and then leaves its stack to the threads of
 * the pool (heap/workers.c). When they have nothing left, it goes on alone with what they may not scan.
 *
 * 2. Algorithm
 * A thread that finds an unmarked object sets the mark bit by compare-and-swap; the one that succeeds counts the object
 * and queues it. An entry of a queue is an object's address and the number of a piece: large objects are scanned a
 * piece at a time, and the entry for the next piece is queued first, so that others may steal it. As in mark.c, a
 * reference goes through a ring while memory answers.
 *
 *    what is reached          what is done
 *    ordinary object          marked, queued, scanned by anybody
 *    ephemeron, weak object   marked, put on the heap's mark stack, under the lock: mark.c scans it
 *    pending key              under the lock: released (heap/ephemerons.c), what waited goes on the mark stack
 *
 * A weak object is scanned here if the list of weak objects has room for it, which it has unless there are more than
 * ever before.
 *
 * 3. Overflow
 * What finds no room in a queue goes on the heap's mark stack; what finds none there is grey, as in mark.c.
 *
 * 4. Invariants
 * I1. Each object is counted once, by the thread that has set its mark bit. So the sum is what one thread would count.
 * I2. While threads mark, headers change by atomic accesses only, which release: the mark bit by compare-and-swap, all
 *     else under the lock. Reading a header without one is right where this thread has set its mark bit, by an access
 *     that acquires, or has the object from a queue.
 * I3. Objects stay where they are, and no slot is written but the first ones of ephemerons that are released.
 *
 * 5. Failure
 * There is no lack of memory: the queues are there, the mark stack is bounded, and grey objects are found by walking.
 *
 * 6. Cost
 * An atomic instruction for each object that is marked. Everything that only weak objects or ephemerons lead to is
 * marked alone at first, and together again when that is enough work (mark.c). */
#include "old/markers.h"
#include "heap/reach_ring.h"

/* A piece has 64 references, more where the object has too many pieces for its number. */
enum { PIECE_SHIFT = 6 };

struct markers {
    eden_heap *heap;
    pthread_mutex_t lock; /* around the mark stack, the list of weak objects, and pending keys */
    size_t left;          /* of the mark stack: not for the threads */
    const eden_value *references;
    size_t reference_count;
    struct tally marked; /* under the lock */
    bool is_list;        /* under the lock */
};

struct marker {
    struct markers *all;
    eden_heap *heap;
    struct work_queue *queue;
    struct tally marked;
    struct reach_ring ring;
    struct solitude solitude;
    bool is_list;
    struct lazy_sweep *sweep; /* as in struct marking */
};

static uint64_t header_now(eden_value object) { return __atomic_load_n(eden_words_(object), __ATOMIC_ACQUIRE); }

/* For the collecting thread. */
static void leave(struct marker *marker, eden_value object) {
    pthread_mutex_lock(&marker->all->lock);
    mark_stack_push(&marker->heap->mark_stack, object);
    pthread_mutex_unlock(&marker->all->lock);
}

static void release(struct marker *marker, eden_value key) {
    pthread_mutex_lock(&marker->all->lock);
    if (ephemerons_is_pending(header_now(key))) { /* nobody else has */
        ephemerons_release(marker->heap, key);
    }
    pthread_mutex_unlock(&marker->all->lock);
}

/* Is the mark this thread's? */
static bool claim(struct marker *marker, eden_value v) {
    for (uint64_t header = header_now(v);;) {
        if (ephemerons_is_pending(header)) {
            release(marker, v);
            header = header_now(v);
        } else if ((header & EDEN_HEADER_MARKED) != 0) {
            return false;
        } else if (__atomic_compare_exchange_n(eden_words_(v), &header, header | EDEN_HEADER_MARKED, true,
                                               __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE)) {
            return true;
        }
    }
}

static void count(struct marker *marker, eden_value v) {
    marker->marked.objects++;
    marker->marked.bytes += object_bytes(v);
    if (marker->sweep != NULL) {
        lazy_sweep_note(marker->sweep, v);
    }
}

static void reach(struct marker *marker, eden_value v) {
    if (claim(marker, v)) {
        count(marker, v);
        if (heap_reference_slots(marker->heap, v) != 0 && !work_put(marker->queue, work_entry(v, 0))) {
            leave(marker, v);
        }
    }
}

static void reach_oldest(struct marker *marker) { reach(marker, reach_ring_take(&marker->ring)); }

static void reach_slots(struct marker *marker, const eden_value *slots, size_t slot_count) {
    for (size_t i = 0; i < slot_count; i++) {
        if (eden_is_object(slots[i])) {
            reach_ring_ask(slots[i]);
            if (reach_ring_is_full(&marker->ring)) {
                reach_oldest(marker);
            }
            reach_ring_put(&marker->ring, slots[i]);
        }
    }
}

/* Does the list have room? It does not grow here: the threads of the pool allocate nothing. */
static bool note_weak(struct marker *marker, eden_value object) {
    struct weak_list *weak = &marker->heap->weak;
    pthread_mutex_lock(&marker->all->lock);
    bool noted = weak->count < weak->room && ephemerons_note_weak(marker->heap, object);
    pthread_mutex_unlock(&marker->all->lock);
    return noted;
}

/* How many of its references may be scanned here, of an object that is no ordinary one. */
static size_t special_slots(struct marker *marker, eden_value object, uint32_t format, bool first) {
    if (format == EDEN_FORMAT_WEAK && (!first || note_weak(marker, object))) {
        return heap_strong_slots(marker->heap, object);
    }
    if (format == EDEN_FORMAT_WEAK || format == EDEN_FORMAT_EPHEMERON || format == FORMAT_PENDING) {
        leave(marker, object);
        return 0;
    }
    return heap_reference_slots(marker->heap, object);
}

static void scan(struct marker *marker, uint64_t entry) {
    eden_value object = work_object(entry);
    size_t piece = work_piece(entry);
    uint32_t format = eden_format_bits(object);
    size_t slots =
        format < EDEN_FORMAT_WEAK ? eden_slot_count(object) : special_slots(marker, object, format, piece == 0);
    unsigned shift = work_piece_shift(slots, PIECE_SHIFT);
    size_t from = piece << shift, to = (piece + 1) << shift;
    if (to >= slots || !work_put(marker->queue, work_entry(object, piece + 1))) {
        to = slots; /* the last piece, or no room to go on later */
    }
    if (from < to) {
        reach_slots(marker, eden_words_(object) + 1 + from, to - from);
    }
}

/* What mark.c has left on its stack: objects, and above an object the integer of the reference to go on with. What has
 * no room stays there. */
static void take_stack(struct marker *marker) {
    struct mark_stack *stack = &marker->heap->mark_stack;
    while (stack->count > marker->all->left && marker->queue->end - marker->queue->first < marker->queue->room) {
        uint64_t entry = stack->entries[--stack->count];
        if (eden_is_int(entry)) {
            eden_value object = stack->entries[--stack->count];
            size_t from = (size_t)eden_int_value(entry);
            work_put(marker->queue, work_entry(object, from >> work_piece_shift(heap_strong_slots(marker->heap, object),
                                                                                PIECE_SHIFT)));
        } else {
            work_put(marker->queue, work_entry(entry, 0));
        }
    }
}

/* Leaves to the collecting thread what this one alone has had for long (copiers.c, section 4). */
static void leave_list(struct marker *marker) {
    uint64_t entry;
    while (!reach_ring_is_empty(&marker->ring)) {
        reach_oldest(marker);
    }
    while (work_take(marker->queue, &entry)) {
        if (work_piece(entry) == 0) {
            leave(marker, work_object(entry));
        } else {
            scan(marker, entry);
            while (!reach_ring_is_empty(&marker->ring)) {
                reach_oldest(marker);
            }
        }
    }
    marker->solitude = (struct solitude){0, 0};
    marker->is_list = true;
}

static void run(void *context, unsigned index) {
    struct markers *all = context;
    struct lazy_sweep *sweep = &all->heap->old.sweep;
    struct marker marker = {.all = all, .heap = all->heap, .queue = workers_queue(index)};
    marker.sweep = sweep->pages != NULL ? sweep : NULL;
    if (index == 0) {
        pthread_mutex_lock(&all->lock);
        take_stack(&marker);
        pthread_mutex_unlock(&all->lock);
        for (size_t i = 0; i < all->reference_count; i++) {
            reach(&marker, all->references[i]);
        }
    }
    for (uint64_t entry;;) {
        if (workers_is_solitary(&marker.solitude)) {
            leave_list(&marker);
        }
        if (work_take(marker.queue, &entry) ||
            (reach_ring_is_empty(&marker.ring) && workers_steal(index, &entry, NULL, NULL))) {
            scan(&marker, entry);
        } else if (!reach_ring_is_empty(&marker.ring)) {
            reach_oldest(&marker);
        } else {
            break;
        }
    }
    pthread_mutex_lock(&all->lock);
    all->marked.objects += marker.marked.objects;
    all->marked.bytes += marker.marked.bytes;
    all->is_list |= marker.is_list;
    pthread_mutex_unlock(&all->lock);
}

bool markers_run(eden_heap *heap, size_t left, const eden_value *references, size_t count, struct tally *marked) {
    struct markers all = {.heap = heap,
                          .lock = PTHREAD_MUTEX_INITIALIZER,
                          .left = left,
                          .references = references,
                          .reference_count = count};
    workers_run(run, &all);
    marked->objects += all.marked.objects;
    marked->bytes += all.marked.bytes;
    return all.is_list;
}
