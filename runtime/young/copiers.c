/* Scavenging by several threads.
 *
 * 1. Purpose
 * scavenge.c begins alone. When it has copied enough to be worth waking others (heap->alone_bytes), the threads of the
 * pool (heap/workers.c) copy what is left; a large remembered set they scan, too. Special objects (ephemerons and weak
 * ones), and the lists of the heap, are left to the collecting thread, which goes on where they end.
 *
 * 2. Terms
 * Original: an object of a space being collected that has been copied; its header leads to the copy. Special: ephemeron
 * or weak. Buffer: a part of to-space or of old space that one thread allocates in. Hole: a free chunk of just an
 * object's size.
 *
 * 3. Copying
 * A thread that reaches an object looks for room first, claims the object by compare-and-swap, which makes its header
 * the address of the copy, and copies then. Others may store the address of a copy that is not complete: nobody reads a
 * copy but the thread that scans it, which has it from a queue of the one that made it. Whoever loses takes the
 * winner's address, and has used no room. tenure.c decides by the header that is replaced, so what is tenured depends
 * on no thread, as long as there is room.
 *
 *    place of the copy    from                                              what is left of it
 *    to-space             a buffer of BUFFER_BYTES, or a share if little    a filler at its end, counted as such
 *    old space            holes, up to HOLES at a time; else a buffer       free chunks
 *    either, if large     the space itself, under the lock                  -
 *
 * 4. Scanning
 * Queues have originals, since an original can be threaded into a list that needs no memory: where a queue is full, for
 * special objects, and for tenured ones that refer to young ones afterwards. Young arrays are scanned a piece at a
 * time, as in old/markers.c.
 *
 * A list is copied by one thread, whichever has its front, and twice as slowly as by scavenge.c: claiming an object
 * takes longer than copying it. A thread that has kept all others idle for long leaves what it has to the collecting
 * thread, and the run ends.
 *
 * 5. The remembered set
 * Threads take CHUNK entries of it at a time. Tenured objects are scanned at once, as one thread does, so that what
 * counts as scattered (heap/policy.h) means the same; others stay in the queues for the next run.
 *
 * 6. Growth of old space
 * Only the collecting thread asks the system for memory, calls memory hooks and reports segments. A thread that finds
 * no room says how much it wants and waits; the collecting thread looks between two entries, and while it has none.
 *
 * 7. Who copies alone
 * A scavenge whose result depends on the order: compat.overflow=oldest where it is in force, compat.tenured_scan, a
 * census of references (tenure.c), new space after a promotion failure, a tool that listens to each object, a profile,
 * the checked build. One in a cycle of marking (heap/cycle.c), which marks what it tenures. And one while old space is
 * unswept (heap/lazy_sweep.c): sweeping writes headers that the threads read.
 *
 * 8. Invariants
 * I1. Each object is claimed once, and counted, queued and scanned by the thread that claims it or that takes the
 * entry. I2. While threads copy, headers of the spaces being collected change by atomic accesses only. I3. Between two
 * runs no buffer is open: to-space and old space can be walked. I4. Fillers of to-space are counted
 * (heap->survivor_fillers): no figure, and no decision of the policy, has them in it.
 *
 * 9. Failure
 * As with one thread: an object that finds room nowhere stays in place. It is claimed by its bit IN_PLACE and scanned
 * by the collecting thread.
 *
 * 10. Cost
 * A compare-and-swap an object. To-space is less full by at most an eighth of a buffer for each buffer. Survivors lie
 * in the order in which each thread reached them, a buffer at a time: where a share of them is tenured by age, that is
 * the share with the lowest addresses, as before, but not strictly the oldest.
 *
 * 11. References
 * C. Flood, D. Detlefs, N. Shavit, X. Zhang, "Parallel Garbage Collection for Shared Memory Multiprocessors", JVM 2001.
 */
#include "young/copiers.h"
#include "young/cards.h"
#include <sched.h>

enum {
    BUFFER_BYTES = 32 * 1024,
    BUFFER_LEAST = 1024,
    HOLES = 16,
    HOLE_SIZES = FREE_LIST_SIZES,
    CHUNK = 128,
    PIECE_SHIFT = 9
};

struct buffer {
    uintptr_t free, limit;
};

/* A list of originals. */
struct list {
    eden_value first, last;
};

struct copier {
    struct copiers *all;
    eden_heap *heap;
    struct work_queue *queue;
    unsigned index;
    bool is_first; /* acts for the collecting thread */
    uintptr_t to_start, to_bytes;
    struct buffer young, old;
    uint64_t holes_left;         /* bit i: old space may have holes of 8 i bytes */
    uintptr_t holes[HOLE_SIZES]; /* a chain for each size, through the second word; 0: none */
    uintptr_t given;             /* the room that was found is no part of a buffer */
    bool is_hole;                /* it was, and this is the next of its size: */
    uintptr_t next_hole;
    bool at_once;      /* tenured objects go to the list, not to the queue */
    uintptr_t next_at; /* as in struct scavenge */
    struct list tenured, pending, left, remember;
    struct solitude solitude;
    struct copied sum;
};

static uint64_t header_now(eden_value object) { return __atomic_load_n(eden_words_(object), __ATOMIC_RELAXED); }

/* ---- lists ---- */

static void list_add(struct list *list, eden_value original) {
    eden_words_(original)[1] = list->first;
    list->first = original;
    list->last = list->last == EDEN_NONE ? original : list->last;
}

static eden_value list_take(struct list *list) {
    eden_value original = list->first;
    list->first = eden_words_(original)[1];
    list->last = list->first == EDEN_NONE ? EDEN_NONE : list->last;
    return original;
}

/* To the front of a list of all threads, under the lock. */
static void list_join(const struct list *list, eden_value *all) {
    if (list->first != EDEN_NONE) {
        eden_words_(list->last)[1] = *all;
        *all = list->first;
    }
}

static void queue_original(struct copier *c, eden_value original) {
    if (!work_put(c->queue, work_entry(original, 0))) {
        list_add(&c->pending, original);
    }
}

/* ---- growth of old space (section 6) ---- */

/* Answers in the place of a number of bytes, which is at least 8. */
enum { GROWN = 1, REFUSED = 2 };

static bool grow_now(struct copiers *all, size_t bytes) {
    pthread_mutex_lock(&all->lock);
    bool grown = old_space_grow(all->heap, bytes);
    pthread_mutex_unlock(&all->lock);
    return grown;
}

static void answer_growth(void *context) {
    struct copiers *all = ((struct copier *)context)->all;
    size_t bytes = __atomic_load_n(&all->wanted, __ATOMIC_RELAXED);
    if (bytes > REFUSED) {
        size_t answer = grow_now(all, bytes) ? GROWN : REFUSED;
        __atomic_store_n(&all->wanted, answer, __ATOMIC_RELEASE);
    }
}

/* Old space has no room for so much. False: nor will it have. */
static bool grow(struct copier *c, size_t bytes) {
    size_t *wanted = &c->all->wanted, none = 0, answer;
    if (c->is_first) {
        return grow_now(c->all, bytes);
    }
    if (!__atomic_compare_exchange_n(wanted, &none, bytes, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED)) {
        sched_yield(); /* somebody else has asked: what comes may be enough */
        return true;
    }
    while ((answer = __atomic_load_n(wanted, __ATOMIC_ACQUIRE)) > REFUSED) {
        sched_yield();
    }
    __atomic_store_n(wanted, 0, __ATOMIC_RELAXED);
    return answer == GROWN;
}

/* ---- room in to-space ---- */

/* The lock is held. */
static void close_young(struct copier *c) {
    struct space *to = c->all->to;
    if (c->young.limit == to->used) {
        to->used = c->young.free;
    } else if (c->young.free < c->young.limit) {
        object_fill(c->young.free, c->young.limit - c->young.free);
        c->sum.filled += c->young.limit - c->young.free;
    }
    c->young = (struct buffer){0, 0};
}

/* The rest of to-space is shared among the threads, where it is little. */
static size_t buffer_bytes(const struct copier *c) {
    size_t share = (c->all->to->limit - c->all->to->used) / (4 * (size_t)c->all->team) & ~(size_t)7;
    return share > BUFFER_BYTES ? BUFFER_BYTES : share > BUFFER_LEAST ? share : BUFFER_LEAST;
}

/* Not taken before it is used: use_young. 0: there is none. */
static uintptr_t find_young(struct copier *c, size_t bytes) {
    struct space *to = c->all->to;
    uintptr_t start = 0;
    if (c->young.limit - c->young.free >= bytes) {
        return c->young.free;
    }
    pthread_mutex_lock(&c->all->lock);
    if (bytes > buffer_bytes(c) / 8) {
        if (to->limit - to->used >= bytes) {
            start = c->given = to->used;
            to->used += bytes;
        }
    } else {
        close_young(c);
        size_t left = to->limit - to->used, wanted = buffer_bytes(c);
        if (left >= bytes) {
            c->young = (struct buffer){to->used, to->used + (left < wanted ? left : wanted)};
            to->used = c->young.limit;
            start = c->young.free;
        }
    }
    pthread_mutex_unlock(&c->all->lock);
    return start;
}

static void use_young(struct copier *c, size_t bytes) {
    c->young.free += c->given == 0 ? bytes : 0;
    c->given = 0;
}

static void return_young(struct copier *c, size_t bytes) {
    struct space *to = c->all->to;
    if (c->given != 0) {
        pthread_mutex_lock(&c->all->lock);
        if (to->used == c->given + bytes) {
            to->used = c->given;
        } else {
            object_fill(c->given, bytes);
            c->sum.filled += bytes;
        }
        pthread_mutex_unlock(&c->all->lock);
    }
    c->given = 0;
}

/* ---- room in old space ---- */

/* The lock is held. */
static void close_old(struct copier *c) {
    if (c->old.free < c->old.limit) {
        old_space_add_free(c->heap, c->old.free, c->old.limit - c->old.free);
    }
    c->old = (struct buffer){0, 0};
}

static uintptr_t next_hole(uintptr_t hole) { return ((uintptr_t *)hole)[1]; }

/* The lock is held. */
static void take_holes(struct copier *c, size_t bytes) {
    size_t index = bytes / 8;
    for (int i = 0; i < HOLES; i++) {
        uintptr_t hole = old_space_take_hole(c->heap, bytes);
        if (hole == 0) {
            c->holes_left &= ~(1ull << index);
            return;
        }
        ((uintptr_t *)hole)[1] = c->holes[index];
        c->holes[index] = hole;
    }
}

static uintptr_t find_small_hole(struct copier *c, size_t bytes) {
    size_t index = bytes / 8;
    if (index >= HOLE_SIZES || index < 2) {
        return 0;
    }
    if (c->holes[index] == 0 && (c->holes_left >> index & 1) != 0) {
        pthread_mutex_lock(&c->all->lock);
        take_holes(c, bytes);
        pthread_mutex_unlock(&c->all->lock);
    }
    return c->holes[index];
}

static uintptr_t allocate_old(struct copier *c, size_t bytes) {
    uintptr_t start = 0;
    pthread_mutex_lock(&c->all->lock);
    if (bytes > BUFFER_LEAST / 2) {
        start = c->given = old_space_allocate(c->heap, bytes);
    } else {
        size_t taken = 0;
        close_old(c);
        start = old_space_take_buffer(c->heap, bytes, BUFFER_BYTES, &taken);
        c->old = (struct buffer){start, start + taken};
    }
    pthread_mutex_unlock(&c->all->lock);
    return start;
}

static bool is_refused(struct copier *c, size_t bytes) {
    pthread_mutex_lock(&c->all->lock);
    bool refused = bytes >= c->heap->old.refused;
    pthread_mutex_unlock(&c->all->lock);
    return refused;
}

/* Not taken before it is used: use_old. 0: there is none. */
static uintptr_t find_old(struct copier *c, size_t bytes) {
    uintptr_t start = find_small_hole(c, bytes);
    c->is_hole = start != 0;
    if (start != 0) {
        c->next_hole = next_hole(start); /* the copy overwrites it */
        return start;
    }
    if (c->old.limit - c->old.free >= bytes) {
        return c->old.free;
    }
    do {
        start = allocate_old(c, bytes);
    } while (start == 0 && !is_refused(c, bytes) && grow(c, bytes));
    return start;
}

static void use_old(struct copier *c, size_t bytes) {
    if (c->is_hole) {
        c->holes[bytes / 8] = c->next_hole;
    } else if (c->given == 0) {
        c->old.free += bytes;
    }
    c->given = 0;
}

static void return_old(struct copier *c, size_t bytes) {
    if (c->given != 0) {
        pthread_mutex_lock(&c->all->lock);
        old_space_add_free(c->heap, c->given, bytes);
        pthread_mutex_unlock(&c->all->lock);
    }
    c->given = 0;
}

/* ---- copying ---- */

static bool replace(eden_value object, uint64_t *header, uint64_t by) {
    return __atomic_compare_exchange_n(eden_words_(object), header, by, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED);
}

/* header: the original's, which leads to the copy by now. */
static void copy_body(eden_value copy, eden_value object, uint64_t header) {
    uint64_t *to = eden_words_(copy);
    const uint64_t *from = eden_words_(object);
    size_t slots = (size_t)(header >> EDEN_HEADER_SLOTS_SHIFT);
    if (slots == EDEN_SLOTS_OVERFLOW) {
        to[-1] = from[-1];
        slots = (size_t)(from[-1] & EDEN_OVERFLOW_MASK);
    }
    to[0] = header;
    if (slots > 8) {
        memcpy(to + 1, from + 1, 8 * slots);
        return;
    }
    for (size_t i = 1; i <= slots; i++) {
        to[i] = from[i];
    }
}

/* Makes `object` lead to a copy at start. False: it has another header by now, which is *header. */
static bool forward(eden_value object, uint64_t *header, uintptr_t start, uint64_t cleared, eden_value *copy) {
    uint64_t before = *header;
    *copy = start + (before >> EDEN_HEADER_SLOTS_SHIFT == EDEN_SLOTS_OVERFLOW ? 8 : 0);
    if (!replace(object, header, *copy | EDEN_HEADER_FORWARDED | (before & EDEN_HEADER_SLOTS))) {
        return false;
    }
    copy_body(*copy, object, before & ~cleared);
    return true;
}

/* What a copied object refers to is asked for when the object is queued: it is scanned a little later. */
static inline void ask_for(const struct copier *c, eden_value copy, size_t slots) {
    enum { MOST = 8 };
    for (size_t i = 0; i < slots && i < MOST; i++) {
        eden_value v = eden_words_(copy)[1 + i];
        if (heap_is_young(c->heap, v)) {
            __builtin_prefetch((const void *)(uintptr_t)v, 1);
        }
    }
}

static void count_moved(struct copier *c, size_t bytes) {
    c->sum.moved.objects++;
    c->sum.moved.bytes += bytes;
}

static bool survive(struct copier *c, eden_value object, uint64_t *header, uintptr_t start, size_t bytes,
                    uint64_t cleared, eden_value *copy) {
    if (!forward(object, header, start, cleared, copy)) {
        return_young(c, bytes);
        return false;
    }
    use_young(c, bytes);
    count_moved(c, bytes);
    c->sum.aged += object < c->heap->eden.start ? bytes : 0;
    size_t slots = heap_reference_slots(c->heap, *copy);
    if (slots != 0) {
        ask_for(c, *copy, slots);
        queue_original(c, object);
    }
    return true;
}

static bool tenure(struct copier *c, eden_value object, uint64_t *header, uintptr_t start, size_t bytes, int reason,
                   eden_value *copy) {
    enum { LINE = 64 };
    uintptr_t from = object_start_by(*header, object);
    if (!forward(object, header, start, 0, copy)) {
        return_old(c, bytes);
        return false;
    }
    use_old(c, bytes);
    count_moved(c, bytes);
    c->sum.in_order += from - c->next_at < LINE ? bytes : 0;
    c->next_at = from + bytes;
    c->sum.tenured.objects++;
    c->sum.tenured.bytes += bytes;
    c->sum.grown_old += reason == EDEN_TENURE_AGE ? bytes : 0;
    size_t slots = heap_reference_slots(c->heap, *copy);
    if (slots != 0 && c->at_once) {
        list_add(&c->tenured, object);
    } else if (slots != 0) {
        ask_for(c, *copy, slots);
        queue_original(c, object);
    }
    return true;
}

static bool stay(struct copier *c, eden_value object, uint64_t *header, size_t bytes) {
    uint64_t by = (*header & ~EDEN_HEADER_PINNED) | EDEN_HEADER_IN_PLACE;
    if (!replace(object, header, by)) {
        return false;
    }
    count_moved(c, bytes);
    c->sum.has_failed = true;
    pthread_mutex_lock(&c->all->lock);
    mark_stack_push(&c->heap->mark_stack, object);
    pthread_mutex_unlock(&c->all->lock);
    return true;
}

static void release(struct copier *c, eden_value key) {
    pthread_mutex_lock(&c->all->lock);
    if (ephemerons_is_pending(header_now(key))) { /* nobody else has */
        ephemerons_release(c->heap, key);
    }
    pthread_mutex_unlock(&c->all->lock);
}

/* The object had this header. Where it is now; EDEN_NONE: it has another one, look again. */
static eden_value move(struct copier *c, eden_value object, uint64_t header) {
    size_t bytes = object_bytes_by(header, object);
    int reason = object >= c->all->policy->young_from && (header & EDEN_HEADER_PINNED) == 0
                     ? NOT_TENURED
                     : tenure_reason(c->heap, c->all->policy, object, header);
    eden_value copy = EDEN_NONE;
    uintptr_t start = reason == NOT_TENURED ? find_young(c, bytes) : 0;
    if (start != 0) {
        return survive(c, object, &header, start, bytes, 0, &copy) ? copy : EDEN_NONE;
    }
    start = find_old(c, bytes);
    if (start != 0) {
        reason = reason == NOT_TENURED ? EDEN_TENURE_OVERFLOW : reason;
        return tenure(c, object, &header, start, bytes, reason, &copy) ? copy : EDEN_NONE;
    }
    start = reason == NOT_TENURED ? 0 : find_young(c, bytes);
    if (start != 0) { /* eden_pin learns by the bit's absence that there was no room */
        return survive(c, object, &header, start, bytes, EDEN_HEADER_PINNED, &copy) ? copy : EDEN_NONE;
    }
    return stay(c, object, &header, bytes) ? object : EDEN_NONE;
}

static eden_value evacuate(struct copier *c, eden_value object) {
    for (;;) {
        uint64_t header = header_now(object);
        if ((header & EDEN_HEADER_PENDING) == EDEN_HEADER_FORWARDED) {
            return object_forwarded_to(header);
        }
        if (ephemerons_is_pending(header)) {
            release(c, object);
        } else if ((header & EDEN_HEADER_IN_PLACE) != 0) {
            return object;
        } else {
            eden_value now = move(c, object, header);
            if (now != EDEN_NONE) {
                return now;
            }
        }
    }
}

/* ---- scanning ---- */

static bool to_evacuate(const struct copier *c, eden_value v) {
    return heap_is_young(c->heap, v) && v - c->to_start >= c->to_bytes;
}

/* Does anything young remain? */
static bool scan_slots(struct copier *c, eden_value *slots, size_t count) {
    bool young = false;
    for (size_t i = 0; i < count; i++) {
        if (heap_is_young(c->heap, slots[i])) {
            if (to_evacuate(c, slots[i])) {
                slots[i] = evacuate(c, slots[i]);
            }
            young |= heap_is_young(c->heap, slots[i]);
        }
    }
    return young;
}

static bool is_special(uint32_t format) {
    return format == EDEN_FORMAT_WEAK || format == EDEN_FORMAT_EPHEMERON || format == FORMAT_PENDING;
}

static void scan_survivor(struct copier *c, eden_value original, eden_value copy, size_t piece) {
    size_t slots = heap_reference_slots(c->heap, copy);
    unsigned shift = work_piece_shift(slots, PIECE_SHIFT);
    size_t from = piece << shift, to = (piece + 1) << shift;
    if (to >= slots || !work_put(c->queue, work_entry(original, piece + 1))) {
        to = slots;
    }
    scan_slots(c, eden_words_(copy) + 1 + from, to - from);
}

static void scan_original(struct copier *c, eden_value original, size_t piece) {
    eden_value copy = object_forwarded_to(header_now(original));
    if (is_special(eden_format_bits(copy))) {
        list_add(&c->left, original);
    } else if (heap_is_young(c->heap, copy)) {
        scan_survivor(c, original, copy, piece);
    } else if (scan_slots(c, eden_words_(copy) + 1, heap_reference_slots(c->heap, copy))) {
        list_add(&c->remember, original);
    }
}

/* Objects of to-space that were copied by one thread, and are scanned by one. */
static void scan_unscanned(struct copier *c) {
    enum { AHEAD = 256 };
    const struct space *space = &c->all->unscanned;
    uintptr_t ahead = space->start;
    for (uintptr_t at = space->start; at < space->used;) {
        while (ahead < space->used && (ahead < at || ahead - at < AHEAD)) {
            eden_value coming = object_at(ahead);
            ahead += object_bytes(coming);
            ask_for(c, coming, heap_reference_slots(c->heap, coming));
        }
        eden_value object = object_at(at);
        at += object_bytes(object);
        if (object_is_free(object)) {
            continue;
        }
        if (is_special(eden_format_bits(object))) {
            c->sum.skips = true;
        } else {
            scan_slots(c, eden_words_(object) + 1, heap_reference_slots(c->heap, object));
        }
        answer_growth(c);
    }
}

static void scan_tenured_at_once(struct copier *c) {
    while (c->tenured.first != EDEN_NONE) {
        scan_original(c, list_take(&c->tenured), 0);
    }
}

static void scan_remembered_object(struct copier *c, eden_value *entry) {
    eden_value object = *entry;
    size_t bytes = object_bytes(object);
    if (is_special(eden_format_bits(object))) {
        c->sum.skips = true;
        return;
    }
    c->sum.scanned.objects++;
    c->sum.scanned.bytes += bytes;
    if (!scan_slots(c, eden_words_(object) + 1, heap_reference_slots(c->heap, object))) {
        c->sum.is_broken |= !object_has(object, EDEN_HEADER_REMEMBERED);
        object_clear(object, EDEN_HEADER_REMEMBERED);
        c->sum.forgotten++;
        *entry = EDEN_NONE;
    }
}

static size_t card_slots(const struct copier *c, struct card card) {
    size_t count = heap_reference_slots(c->heap, card.object) - card.first;
    return count > CARD_SLOTS ? CARD_SLOTS : count;
}

/* The byte may be that of another object's card, too. */
static void clean_card(struct copier *c, struct card *card) {
    uint8_t bit = cards_bit(*card);
    uint8_t before = __atomic_fetch_and(cards_byte(c->heap, *card), (uint8_t)~bit, __ATOMIC_RELAXED);
    c->sum.is_broken |= (before & bit) == 0;
    c->sum.forgotten++;
    card->object = EDEN_NONE;
}

/* From..end of the list, with the prefetches of scan_cards (scavenge.c). */
static void scan_cards(struct copier *c, size_t from, size_t end) {
    enum { AHEAD = 8, NEXT = 4 };
    struct card *cards = c->heap->remembered.cards;
    for (size_t i = from; i < end; i++) {
        struct card ahead = cards[i + AHEAD < end ? i + AHEAD : i], next = cards[i + NEXT < end ? i + NEXT : i];
        const eden_value *coming = eden_words_(ahead.object) + 1 + ahead.first;
        __builtin_prefetch(coming);
        __builtin_prefetch(coming + CARD_SLOTS - 1);
        ask_for(c, next.object + 8 * next.first, card_slots(c, next));
        size_t slots = card_slots(c, cards[i]);
        c->sum.scanned.objects++;
        c->sum.scanned.bytes += 8 * slots;
        if (!scan_slots(c, eden_words_(cards[i].object) + 1 + cards[i].first, slots)) {
            clean_card(c, &cards[i]);
        }
        scan_tenured_at_once(c);
    }
}

static void scan_remembered_part(struct copier *c, size_t from, size_t end) {
    struct remembered_set *set = &c->heap->remembered;
    for (; from < end && from < set->count; from++) {
        scan_remembered_object(c, &set->objects[from]);
        scan_tenured_at_once(c);
    }
    if (from < end) {
        scan_cards(c, from - set->count, end - set->count);
    }
}

/* ---- runs ---- */

static void begin(struct copier *c, struct copiers *all, unsigned index) {
    *c = (struct copier){.all = all,
                         .heap = all->heap,
                         .queue = workers_queue(index),
                         .index = index,
                         .is_first = workers_is_first(index),
                         .to_start = all->to->start,
                         .to_bytes = all->to->limit - all->to->start};
    pthread_mutex_lock(&all->lock);
    c->holes_left = c->heap->old.free.filled;
    pthread_mutex_unlock(&all->lock);
}

static void add_tally(struct tally *sum, struct tally more) {
    sum->objects += more.objects;
    sum->bytes += more.bytes;
}

static void end(struct copier *c) {
    struct copiers *all = c->all;
    struct copied *sum = &all->sum;
    pthread_mutex_lock(&all->lock);
    close_young(c);
    close_old(c);
    for (size_t i = 0; i < HOLE_SIZES; i++) {
        for (uintptr_t hole = c->holes[i], next; hole != 0; hole = next) {
            next = next_hole(hole);
            old_space_add_free(c->heap, hole, 8 * i);
        }
    }
    list_join(&c->pending, &all->pending);
    list_join(&c->left, &all->left);
    list_join(&c->remember, &all->remember);
    add_tally(&sum->moved, c->sum.moved);
    add_tally(&sum->tenured, c->sum.tenured);
    add_tally(&sum->scanned, c->sum.scanned);
    sum->aged += c->sum.aged;
    sum->grown_old += c->sum.grown_old;
    sum->in_order += c->sum.in_order;
    sum->filled += c->sum.filled;
    sum->forgotten += c->sum.forgotten;
    sum->has_failed |= c->sum.has_failed;
    sum->is_broken |= c->sum.is_broken;
    sum->skips |= c->sum.skips;
    sum->is_list |= c->sum.is_list;
    pthread_mutex_unlock(&all->lock);
}

static void run_remembered(void *context, unsigned index) {
    struct copiers *all = context;
    struct copier c;
    begin(&c, all, index);
    c.at_once = true;
    size_t count = all->heap->remembered.count + all->heap->remembered.card_count;
    for (size_t from; (from = __atomic_fetch_add(&all->next, CHUNK, __ATOMIC_RELAXED)) < count;) {
        scan_remembered_part(&c, from, count - from > CHUNK ? from + CHUNK : count);
        if (c.is_first) {
            answer_growth(&c);
        }
    }
    workers_arrive(index, answer_growth, &c);
    end(&c);
}

/* Of this thread: from its queue, or from its list, of what the queue had no room for. */
static bool scan_one(struct copier *c) {
    uint64_t entry;
    if (work_take(c->queue, &entry)) {
        scan_original(c, work_object(entry), work_piece(entry));
        return true;
    }
    while (c->pending.first != EDEN_NONE && work_put(c->queue, work_entry(c->pending.first, 0))) {
        list_take(&c->pending);
    }
    return c->queue->end != c->queue->first;
}

/* Leaves to the collecting thread what this one alone has had for long. */
static void leave_list(struct copier *c) {
    uint64_t entry;
    while (work_take(c->queue, &entry)) {
        if (work_piece(entry) == 0) {
            list_add(&c->left, work_object(entry));
        } else {
            scan_original(c, work_object(entry), work_piece(entry));
        }
    }
    c->solitude = (struct solitude){0, 0};
    c->sum.is_list = true;
}

static void run_copy(void *context, unsigned index) {
    struct copiers *all = context;
    struct copier c;
    begin(&c, all, index);
    if (index == 0) {
        for (eden_value original = all->pending, next; original != EDEN_NONE; original = next) {
            next = eden_words_(original)[1];
            queue_original(&c, original);
        }
        all->pending = EDEN_NONE;
        scan_unscanned(&c);
    }
    for (uint64_t entry;;) {
        if (c.is_first) {
            answer_growth(&c);
        }
        if (workers_is_solitary(&c.solitude)) {
            leave_list(&c);
        }
        if (!scan_one(&c)) {
            if (!workers_steal(index, &entry, answer_growth, &c)) {
                break;
            }
            scan_original(&c, work_object(entry), work_piece(entry));
        }
    }
    end(&c);
}

static void run(struct copiers *all, void (*part)(void *context, unsigned index), bool has_queued) {
    all->sum = (struct copied){.filled = 0};
    all->left = all->remember = EDEN_NONE;
    all->next = 0;
    workers_run(part, all);
    all->has_queued = has_queued;
}

bool copiers_take(struct copiers *copiers, unsigned wanted) {
    if (copiers->team == 0) {
        unsigned team = workers_take(copiers->heap, wanted, copiers->heap->mark_stack.room);
        copiers->team = team > 1 ? team : 0;
        copiers->lock = (pthread_mutex_t)PTHREAD_MUTEX_INITIALIZER;
    }
    return copiers->team != 0;
}

void copiers_scan_remembered(struct copiers *copiers) { run(copiers, run_remembered, true); }

void copiers_scan(struct copiers *copiers) { run(copiers, run_copy, false); }

void copiers_give_back(struct copiers *copiers) {
    if (copiers->team != 0) {
        workers_give_back();
    }
    copiers->team = 0;
}
