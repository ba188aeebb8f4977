/* The scavenger: Cheney's copying collection of new space.
 *
 * 1. Purpose
 * Live objects of eden and from-space (the semispace with the survivors) are copied to to-space (the other one), or
 * tenured: copied to old space. What stays behind is garbage.
 *
 * 2. Algorithm
 * The roots are the remembered set and the program's; from them on, whatever was copied is scanned until nothing is
 * left. Then ephemerons fire, weak slots are cleared, the spaces change roles, and the tenuring threshold of the next
 * scavenge is computed. tenure.c decides what is tenured; heap/ephemerons.c has ephemerons and weak objects.
 * The old header of a copied object is its forwarding address with the FORWARDED bit; the slot count stays.
 *
 *    what is to be scanned     where it is              how it is found
 *    survivors                 to-space, in order       a scan pointer follows the free pointer
 *    tenured objects           anywhere in old space    a list threaded through the forwarded objects' first slots
 *    objects left in place,    anywhere                 a bounded stack (heap/mark_stack.h); what does not fit is
 *    released ephemerons                                marked grey and found by walking
 *
 * 3. Where a live young object goes
 *
 *    reason to tenure   room in to-space   room in old space
 *    no                 yes                -                    to-space
 *    no                 no                 yes                  old space, by overflow (or section 5)
 *    yes                -                  yes                  old space
 *    yes                yes                no                   to-space
 *    -                  no                 no                   stays in place: promotion has failed
 *
 * 4. Promotion failure
 * An object that finds room nowhere stays in place, with the IN_PLACE bit until the scavenge ends. Then eden and
 * from-space still have objects; their dead become fillers, and the heap `is_mixed`. The next scavenge collects all
 * three spaces into old space. What finds no room there goes behind the objects of the emptier semispace, whose own
 * stay (residents). So new space recovers when objects die, even if old space stays full. A scavenge never fails: the
 * allocation that follows finds no room, tries a full collection, and returns an error (api/allocate.c).
 *
 * 5. Overflow
 * Where survivors do not fit into to-space, the last to be reached are tenured. With compat.overflow=oldest the oldest
 * survivors are tenured instead, in a second pass; objects of eden are deferred until then, in place (second_pass).
 *
 * 6. Tenured objects
 * The list gives the latest first; what then refers to young objects is remembered. Spur remembers an object that
 * refers to young ones when it is tenured. It scans the remembered set to its end, then to-space, then what was added
 * to the set meanwhile, and so on. So tenured objects are scanned in order, and the set grows to hold those that leave
 * it again.
 * compat.tenured_scan=set-order does the same: the list, reversed, is added to the set where Spur scans the set's end.
 *
 * 7. Several threads
 * With gc_threads above 1, a scavenge begins alone. When it has copied heap->alone_bytes, or where the remembered set
 * is large, the threads of the pool go on (copiers.c): who has spent a few times the cost of waking threads has lost
 * little if the end was near. Then this thread remembers what they have tenured and scans ephemerons and weak objects.
 *
 * 8. Invariants
 * I1. At the end nothing is left to scan: not in to-space, in the list of tenured objects, on the stack, or for a
 *     pending key.
 * I2. At the end no FORWARDED, IN_PLACE or GREY header is reachable. (The verifier checks it.)
 * I3. Each old object with a young reference is remembered, or the remembered set is_incomplete. (The verifier.)
 *
 * 9. Failure
 * A stale C pointer of the embedder into new space (the checked build poisons what is left behind); a missed barrier (a
 * dead young object that an old one refers to).
 *
 * 10. References
 * C. J. Cheney, "A Nonrecursive List Compacting Algorithm", CACM 13(11), 1970. D. Ungar, "Generation Scavenging", 1984.
 */
#include "young/scavenge.h"
#include "heap/policy.h"
#include "young/card_scans.h"
#include "young/cards.h"
#include "young/copiers.h"
#include "young/promote.h"
#include "young/remembered.h"
#include "young/tenure.h"

struct scavenge {
    eden_visit visit; /* first: root visitors get its address */
    eden_heap *heap;
    struct space *to;   /* to-space */
    uintptr_t resident; /* below it to-space has objects from before, after a promotion failure */
    uintptr_t ahead;    /* what objects of to-space below this refer to has been asked for */
    uintptr_t scan;     /* objects of to-space between resident and this have been scanned */
    eden_value tenured; /* forwarded object whose tenured copy is to be scanned next; EDEN_NONE: none */
    bool in_set_order;  /* compat.tenured_scan */
    bool at_once;       /* tenured objects are scanned before what the remembered set has next */
    bool has_failed;    /* some promotion: an object stays in place */
    uint64_t scattered; /* bytes that the remembered set reached, but for those in order */
    uint64_t in_order;  /* bytes tenured from where the object tenured before them had ended */
    uintptr_t next_at;  /* there it ended */
    uint64_t aged;      /* bytes of survivors that survived again, and stay young */
    uint64_t grown_old; /* bytes tenured by age */
    uint64_t owed;      /* bytes of deferred objects of eden */
    uint64_t found;     /* references to young objects, by scan_old */
    bool defers;        /* compat.overflow=oldest */
    bool is_second;     /* in the second pass of an overflow */
    struct tenure_policy policy;
    unsigned threads;     /* 1: alone to the end */
    uint64_t alone_bytes; /* copied alone, before the rest is copied together */
    uint64_t alone_until; /* by the phase that runs: bytes of `moved` */
    uint64_t filled;      /* bytes of to-space that are no objects */
    struct copiers copiers;
    struct tally moved; /* by the phase that runs */
    struct scavenge_pass pass;
    uint64_t seq;
};

/* Headers of young objects lie scattered, and waiting for them takes most of a scavenge: asked for early, they come in
 * time. The first references only: more lines than these are not on their way at once. */
static inline void ask_for(const eden_heap *heap, const eden_value *slots, size_t count) {
    enum { MOST = 8 };
    for (size_t i = 0; i < count && i < MOST; i++) {
        if (heap_is_young(heap, slots[i])) {
            __builtin_prefetch((const void *)(uintptr_t)slots[i], 1);
        }
    }
}

/* Most objects are small: a call of memcpy takes longer than the copying. */
static inline void copy_words(uintptr_t to, uintptr_t from, size_t bytes) {
    enum { PAIR = 16 };
    size_t at = 0;
    for (; at + PAIR <= bytes; at += PAIR) {
        memcpy((void *)(to + at), (const void *)(from + at), PAIR);
    }
    if (at < bytes) {
        memcpy((void *)(to + at), (const void *)(from + at), 8);
    }
}

static eden_value copy_to(eden_value object, uintptr_t start, size_t bytes) {
    uintptr_t from = object_start(object);
    eden_value copy = start + (object - from);
    memcpy((void *)start, (void *)from, bytes);
    object_forward(object, copy);
    return copy;
}

static eden_value survive(struct scavenge *s, eden_value object, size_t bytes) {
    uintptr_t start = s->to->used;
    s->to->used += bytes;
    return copy_to(object, start, bytes);
}

static eden_value tenure(struct scavenge *s, eden_value object, size_t bytes, uintptr_t start, int reason) {
    enum { LINE = 64 };
    bool scans = heap_reference_slots(s->heap, object) != 0;
    uintptr_t from = object_start(object);
    s->in_order += from - s->next_at < LINE ? bytes : 0;
    s->next_at = from + bytes;
    eden_value copy = copy_to(object, start, bytes);
    if (cycle_is_running(&s->heap->cycle)) {
        cycle_born(s->heap, copy);
    }
    if (scans) {
        eden_words_(object)[1] = s->tenured;
        s->tenured = object;
    }
    s->pass.tenured_objects++;
    s->pass.tenured_bytes += bytes;
    s->grown_old += reason == EDEN_TENURE_AGE ? bytes : 0;
    eden_fire_tenure(s->heap, s->seq, (const void *)(uintptr_t)copy, eden_index_of(copy), bytes, (uint64_t)reason);
    return copy;
}

static bool is_in(const struct space *space, eden_value object) {
    return object - space->start < space->limit - space->start;
}

/* Survivors overflow: may this object of eden be deferred to the second pass? */
static bool may_defer(struct scavenge *s, eden_value object, size_t bytes) {
    eden_heap *heap = s->heap;
    struct deferred *deferred = &heap->deferred;
    if (!s->defers || heap->is_mixed || s->is_second || !is_in(&heap->eden, object) || s->aged < s->owed + bytes ||
        !system_grow(&heap->system, (void **)&deferred->objects, &deferred->room, deferred->count,
                     sizeof *deferred->objects, "overflow")) {
        return false;
    }
    deferred->objects[deferred->count++] = object;
    return true;
}

/* Where a live young object of the spaces being collected goes, if it has not been moved. */
static eden_value evacuate_any(struct scavenge *s, eden_value object) {
    uint64_t header = eden_header(object);
    if (ephemerons_is_pending(header)) {
        ephemerons_release(s->heap, object);
        header = eden_header(object);
    }
    if ((header & EDEN_HEADER_IN_PLACE) != 0) {
        return object;
    }
    size_t bytes = object_bytes(object);
    int reason = tenure_reason(s->heap, &s->policy, object, header);
    if (s->policy.criterion == EDEN_BY_REMEMBERED) {
        object_clear(object, YOUNG_COUNT_BITS);
    }
    bool resident = object - s->to->start < s->resident - s->to->start;
    bool room = !resident && s->to->limit - s->to->used >= bytes;
    s->moved.objects++;
    s->moved.bytes += bytes;
    if (reason == NOT_TENURED && room) {
        s->aged += is_in(&s->heap->semi[s->heap->from], object) ? bytes : 0;
        return survive(s, object, bytes);
    }
    if (reason == NOT_TENURED && may_defer(s, object, bytes)) {
        object_set(object, EDEN_HEADER_IN_PLACE);
        mark_stack_push(&s->heap->mark_stack, object);
        s->owed += bytes;
        return object;
    }
    eden_value start = heap_old_room(s->heap, bytes);
    if (start != 0) {
        return tenure(s, object, bytes, start, reason == NOT_TENURED ? EDEN_TENURE_OVERFLOW : reason);
    }
    object_clear(object, EDEN_HEADER_PINNED); /* eden_pin learns by its absence that there was no room */
    if (room) {
        return survive(s, object, bytes);
    }
    object_set(object, EDEN_HEADER_IN_PLACE);
    mark_stack_push(&s->heap->mark_stack, object);
    s->has_failed |= !resident;
    return object;
}

/* Nearly all that is reached is small, stays young and finds room, or has been moved already. */
static inline eden_value evacuate(struct scavenge *s, eden_value object) {
    uint64_t header = eden_header(object), slots = header >> EDEN_HEADER_SLOTS_SHIFT;
    if ((header & EDEN_HEADER_PENDING) == EDEN_HEADER_FORWARDED) {
        return object_forwarded_to(header);
    }
    uintptr_t start = s->to->used;
    size_t bytes = 8 + 8 * (size_t)slots;
    if ((header & (EDEN_HEADER_FORWARDED | EDEN_HEADER_IN_PLACE | EDEN_HEADER_PINNED)) != 0 ||
        slots == EDEN_SLOTS_OVERFLOW || object < s->policy.young_from || s->to->limit - start < bytes) {
        return evacuate_any(s, object);
    }
    s->moved.objects++;
    s->moved.bytes += bytes;
    s->aged += object < s->heap->eden.start ? bytes : 0;
    s->to->used = start + bytes;
    copy_words(start, object, bytes);
    object_forward(object, start);
    return start;
}

/* Is v young, and in a space that is being collected? (Not: a survivor that was copied already.) */
static bool to_evacuate(const struct scavenge *s, eden_value v) {
    return heap_is_young(s->heap, v) && v - s->resident >= s->to->limit - s->resident;
}

static void scan_slots(struct scavenge *s, eden_value *slots, size_t count) {
    for (size_t i = 0; i < count; i++) {
        if (to_evacuate(s, slots[i])) {
            slots[i] = evacuate(s, slots[i]);
        }
    }
}

/* Has v been found alive so far? Old objects and immediates count as alive. */
static bool has_survived(const struct scavenge *s, eden_value v) {
    return !to_evacuate(s, v) || (eden_header(v) & EDEN_HEADER_PENDING) == EDEN_HEADER_FORWARDED ||
           (!ephemerons_is_pending(eden_header(v)) && object_has(v, EDEN_HEADER_IN_PLACE));
}

/* Ephemerons and weak objects: how many slots, from the first, to scan now. */
static size_t special_slots(struct scavenge *s, eden_value object, uint32_t format) {
    if (format == FORMAT_PENDING || (format == EDEN_FORMAT_EPHEMERON && !has_survived(s, eden_slot(object, 0)) &&
                                     ephemerons_wait(s->heap, object, eden_slot(object, 0)))) {
        return 0;
    }
    if (format == EDEN_FORMAT_WEAK && ephemerons_note_weak(s->heap, object)) {
        return heap_strong_slots(s->heap, object);
    }
    return heap_reference_slots(s->heap, object);
}

static inline size_t slots_to_scan(struct scavenge *s, eden_value object) {
    uint32_t format = eden_format_bits(object);
    return format < EDEN_FORMAT_WEAK ? eden_slot_count(object) : special_slots(s, object, format);
}

static bool refers_to_young(const struct scavenge *s, eden_value object, size_t from) {
    size_t count = heap_reference_slots(s->heap, object);
    for (; from < count; from++) {
        if (heap_is_young(s->heap, eden_slot(object, from))) {
            return true;
        }
    }
    return false;
}

/* Scans slots from..to of an old object; do they still refer to anything young? */
static bool scan_old(struct scavenge *s, eden_value object, size_t from, size_t to) {
    eden_value *slots = eden_words_(object) + 1;
    bool young = false;
    for (size_t i = from; i < to; i++) {
        if (heap_is_young(s->heap, slots[i])) {
            s->found++;
            if (to_evacuate(s, slots[i])) {
                slots[i] = evacuate(s, slots[i]);
            }
            young |= heap_is_young(s->heap, slots[i]);
        }
    }
    return young;
}

static size_t card_end(struct scavenge *s, struct card card) {
    size_t count = heap_reference_slots(s->heap, card.object);
    return count - card.first > CARD_SLOTS ? card.first + CARD_SLOTS : count;
}

/* Scans an old object that is not carded. What is not scanned yet, of ephemerons and weak objects, counts as it is:
 * they stay remembered while it may matter. A pending key is young. */
static bool scan_old_whole(struct scavenge *s, eden_value object) {
    size_t count = slots_to_scan(s, object);
    bool young = scan_old(s, object, 0, count);
    return young || eden_format_bits(object) == FORMAT_PENDING || refers_to_young(s, object, count);
}

/* Scans an old object whole and remembers what of it refers to young objects, unless that is known. */
static void scan_old_and_remember(struct scavenge *s, eden_value object, enum eden_remember_origin origin) {
    eden_heap *heap = s->heap;
    size_t count = heap_reference_slots(heap, object);
    if (!cards_apply(heap, object)) {
        if (scan_old_whole(s, object) && !object_has(object, EDEN_HEADER_REMEMBERED)) {
            remembered_add(heap, object, origin);
        }
        return;
    }
    for (struct card card = {object, 0}; card.first < count; card.first += CARD_SLOTS) {
        if (scan_old(s, object, card.first, card_end(s, card)) && !cards_is_dirty(heap, card)) {
            cards_add(heap, card, origin);
        }
    }
}

/* In a cycle, what it refers to in old space is to be marked. What is young is marked when it is tenured. */
static void mark_tenured(struct scavenge *s, eden_value object) {
    if (cycle_is_running(&s->heap->cycle)) {
        cycle_rescan(s->heap, object, 0, heap_reference_slots(s->heap, object));
    }
}

/* The latest of the tenured objects. */
static void scan_tenured(struct scavenge *s) {
    eden_value from = s->tenured, object = object_forwarded_to(eden_header(from));
    s->tenured = eden_words_(from)[1];
    scan_old_and_remember(s, object, EDEN_REMEMBER_TENURE);
    mark_tenured(s, object);
}

/* Those that the scan of a part of the remembered set has tenured: now they are in the cache, and later they would each
 * be waited for, twice, which took half of a scavenge of scattered objects. They may be remembered meanwhile. */
static inline void scan_at_once(struct scavenge *s) {
    while (s->at_once && s->tenured != EDEN_NONE) {
        scan_tenured(s);
    }
}

static void visit_root_slots(eden_visit *visit, eden_value *slots, size_t count) {
    scan_slots((struct scavenge *)visit, slots, count);
}

/* Old objects that the remembered set had no room for: look at all of them. */
static struct tally scan_all_old(struct scavenge *s) {
    eden_heap *heap = s->heap;
    struct tally scanned = {0, 0};
    heap->remembered.is_incomplete = false;
    for (eden_value object = old_space_walk(heap, 0); object != EDEN_NONE;
         object = old_space_walk(heap, object_end(object))) {
        if (!object_is_free(object) && !object_has(object, EDEN_HEADER_REMEMBERED)) {
            scanned.objects++;
            scanned.bytes += object_bytes(object);
            scan_old_and_remember(s, object, EDEN_REMEMBER_RECOVERY);
        }
    }
    return scanned;
}

/* Dirty cards lie scattered, and waiting for their slots took 83% of a scan: those some cards ahead are asked for in
 * time, which made it 0.6 as long, and then what they refer to. A card has at most two lines, those of its first and
 * its last slot. The prefetches stand in the loop because gcc 12 drops the calls of a function that does nothing else.
 */
static void scan_cards(struct scavenge *s, struct tally *scanned) {
    enum { AHEAD = 8, NEXT = 4 };
    struct remembered_set *set = &s->heap->remembered;
    size_t kept = 0, count = set->card_count;
    bool watched = count != 0 && eden_watched_remembered__scan();
    struct card_scans scans;
    if (watched) {
        card_scans_begin(&scans, s->heap, s->seq);
    }
    for (size_t i = 0; i < count; i++) {
        struct card card = set->cards[i], ahead = set->cards[i + AHEAD < count ? i + AHEAD : i];
        const eden_value *coming = eden_words_(ahead.object) + 1 + ahead.first;
        __builtin_prefetch(coming);
        __builtin_prefetch(coming + CARD_SLOTS - 1);
        struct card next = set->cards[i + NEXT < count ? i + NEXT : i];
        ask_for(s->heap, eden_words_(next.object) + 1 + next.first, card_end(s, next) - next.first);
        size_t end = card_end(s, card);
        scanned->objects++;
        scanned->bytes += 8 * (end - card.first);
        if (watched && card.object != scans.object) {
            card_scans_change(&scans, card.object);
        }
        uint64_t found = s->found;
        if (scan_old(s, card.object, card.first, end)) {
            set->cards[kept++] = card;
        } else {
            cards_forget(s->heap, card, kept + (set->card_count - i - 1));
        }
        if (watched) {
            scans.slots += end - card.first;
            scans.young += s->found - found;
        }
        scan_at_once(s);
    }
    for (size_t i = count; i < set->card_count; i++) { /* remembered meanwhile */
        set->cards[kept++] = set->cards[i];
    }
    set->card_count = kept;
    if (watched) {
        card_scans_end(&scans);
    }
}

/* scan_old_whole, reported by remembered__scan where the object is large: that is tested first, and is all that other
 * objects pay. */
static bool scan_remembered_whole(struct scavenge *s, eden_value object, size_t bytes) {
    if (bytes <= s->heap->params.large_object || !eden_watched_remembered__scan()) {
        return scan_old_whole(s, object);
    }
    uint64_t start = system_now_ns(), found = s->found;
    bool young = scan_old_whole(s, object);
    eden_fire_remembered__scan(s->heap, s->seq, (const void *)(uintptr_t)object, eden_index_of(object),
                               heap_reference_slots(s->heap, object), s->found - found, system_now_ns() - start);
    return young;
}

/* in_set_order: the objects tenured since the last call, in that order, go to the end of the remembered set if they
 * refer to young ones and the scan of all old space has not added them. What can't be there (cards, or for want of
 * memory) is scanned at once. False: there are none. */
static bool remember_tenured(struct scavenge *s) {
    eden_heap *heap = s->heap;
    eden_value first = EDEN_NONE;
    for (eden_value from = s->tenured, next; from != EDEN_NONE; from = next) {
        next = eden_words_(from)[1];
        eden_words_(from)[1] = first;
        first = from;
    }
    s->tenured = EDEN_NONE;
    for (eden_value from = first; from != EDEN_NONE; from = eden_words_(from)[1]) {
        eden_value object = object_forwarded_to(eden_header(from));
        mark_tenured(s, object);
        if (refers_to_young(s, object, 0)) {
            if (!cards_apply(heap, object) && !object_has(object, EDEN_HEADER_REMEMBERED)) {
                remembered_add(heap, object, EDEN_REMEMBER_TENURE);
            }
            if (!object_has(object, EDEN_HEADER_REMEMBERED)) {
                scan_old_and_remember(s, object, EDEN_REMEMBER_TENURE);
            }
        }
    }
    return first != EDEN_NONE;
}

/* Entries from `i` on; in_set_order also those that are added meanwhile. */
static void scan_set(struct scavenge *s, size_t i, struct tally *scanned) {
    struct remembered_set *set = &s->heap->remembered;
    size_t kept = i;
    do {
        for (size_t count = set->count; i < count; i++) {
            eden_value object = set->objects[i];
            size_t bytes = object_bytes(object);
            scanned->objects++;
            scanned->bytes += bytes;
            if (scan_remembered_whole(s, object, bytes)) {
                set->objects[kept++] = object;
            } else {
                set->dropped++;
                remembered_forget(s->heap, object, heap_remembered(s->heap));
            }
            scan_at_once(s);
        }
    } while (s->in_set_order && remember_tenured(s));
    while (i < set->count) { /* remembered meanwhile */
        set->objects[kept++] = set->objects[i++];
    }
    set->count = kept;
    set->dropped = 0;
}

/* Adds up what several threads have done. */
static void add_copied(struct scavenge *s, const struct copied *done) {
    s->moved.objects += done->moved.objects;
    s->moved.bytes += done->moved.bytes;
    s->pass.tenured_objects += done->tenured.objects;
    s->pass.tenured_bytes += done->tenured.bytes;
    s->aged += done->aged;
    s->grown_old += done->grown_old;
    s->in_order += done->in_order;
    s->filled += done->filled;
    s->has_failed |= done->has_failed;
    s->heap->delta.forgotten += done->forgotten;
    invariant_check(s->heap, !done->is_broken, "I1 of the remembered set: an entry that nothing else says is one");
}

/* Of those that the threads have skipped. */
static bool is_still_remembered(struct scavenge *s, eden_value object, bool skips, struct tally *scanned) {
    uint32_t format = skips ? eden_format_bits(object) : 0;
    if (format != EDEN_FORMAT_WEAK && format != EDEN_FORMAT_EPHEMERON && format != FORMAT_PENDING) {
        return true;
    }
    scanned->objects++;
    scanned->bytes += object_bytes(object);
    return scan_old_whole(s, object);
}

/* After the threads: takes out what they have dropped, and scans what they have skipped. */
static void finish_set(struct scavenge *s, struct tally *scanned) {
    struct remembered_set *set = &s->heap->remembered;
    const bool skips = s->copiers.sum.skips;
    size_t kept = 0, count = set->count;
    for (size_t i = 0; i < count; i++) {
        eden_value object = set->objects[i];
        if (object == EDEN_NONE) {
            set->dropped++;
        } else if (is_still_remembered(s, object, skips, scanned)) {
            set->objects[kept++] = object;
        } else {
            set->dropped++;
            remembered_forget(s->heap, object, heap_remembered(s->heap));
        }
    }
    for (size_t i = count; i < set->count; i++) { /* remembered meanwhile */
        set->objects[kept++] = set->objects[i];
    }
    set->count = kept;
    set->dropped = 0;
}

static void finish_cards(struct remembered_set *set, size_t count) {
    size_t kept = 0;
    for (size_t i = 0; i < set->card_count; i++) {
        if (i >= count || set->cards[i].object != EDEN_NONE) {
            set->cards[kept++] = set->cards[i];
        }
    }
    set->card_count = kept;
}

/* Tenured objects that refer to young ones, which the threads have found. */
static void remember_list(struct scavenge *s, eden_value original) {
    for (eden_value next; original != EDEN_NONE; original = next) {
        eden_value object = object_forwarded_to(eden_header(original));
        next = eden_words_(original)[1];
        if (cards_apply(s->heap, object)) {
            scan_old_and_remember(s, object, EDEN_REMEMBER_TENURE);
        } else if (!object_has(object, EDEN_HEADER_REMEMBERED)) {
            remembered_add(s->heap, object, EDEN_REMEMBER_TENURE);
        }
    }
}

static void scan_left(struct scavenge *s, eden_value original);

/* Empties the lists of a run. They come first: what is done here may tenure more. */
static void take_lists(struct scavenge *s) {
    eden_value remember = s->copiers.remember, left = s->copiers.left;
    s->copiers.remember = s->copiers.left = EDEN_NONE;
    remember_list(s, remember);
    for (eden_value next; left != EDEN_NONE; left = next) {
        next = eden_words_(left)[1];
        scan_left(s, left);
    }
}

/* Is the set so large that several threads scan it? What an entry leads to is taken for a line of memory. */
static bool scans_together(struct scavenge *s) {
    enum { ENTRY_BYTES = 64 };
    const struct remembered_set *set = &s->heap->remembered;
    size_t entries = set->count + set->card_count;
    return s->threads > 1 && !set->is_incomplete && entries != 0 && entries * ENTRY_BYTES >= s->heap->alone_bytes &&
           copiers_take(&s->copiers, s->threads);
}

static void scan_remembered_together(struct scavenge *s, struct tally *scanned) {
    size_t cards = s->heap->remembered.card_count;
    copiers_scan_remembered(&s->copiers);
    add_copied(s, &s->copiers.sum);
    *scanned = s->copiers.sum.scanned;
    s->scan = s->ahead = s->to->used; /* the queues have what is not scanned */
    finish_set(s, scanned);
    finish_cards(&s->heap->remembered, cards);
    take_lists(s);
}

static struct tally scan_remembered(struct scavenge *s) {
    struct remembered_set *set = &s->heap->remembered;
    struct tally scanned = {0, 0};
    if (scans_together(s)) {
        scan_remembered_together(s, &scanned);
        return scanned;
    }
    scan_set(s, 0, &scanned);
    scan_cards(s, &scanned);
    if (set->is_incomplete) {
        struct tally more = scan_all_old(s);
        scanned.objects += more.objects;
        scanned.bytes += more.bytes;
    }
    return scanned;
}

/* The objects that survivors soon to be scanned refer to. */
static inline void ask_ahead(struct scavenge *s) {
    enum { DISTANCE = 256 };
    s->ahead = s->ahead < s->scan ? s->scan : s->ahead;
    while (s->ahead < s->to->used && s->ahead - s->scan < DISTANCE) {
        eden_value object = object_at(s->ahead);
        s->ahead += object_bytes(object);
        ask_for(s->heap, eden_words_(object) + 1, heap_reference_slots(s->heap, object));
    }
}

static void scan_young(struct scavenge *s, eden_value object) {
    scan_slots(s, eden_words_(object) + 1, slots_to_scan(s, object));
}

/* The bytes of an object of a space being collected, alive, dead or moved. */
static size_t bytes_before_move(eden_value object) { return object_bytes_by(ephemerons_real_header(object), object); }

static void scan_stacked(struct scavenge *s, eden_value object) {
    if (heap_is_young(s->heap, object)) {
        scan_young(s, object);
    } else {
        scan_old_and_remember(s, object, EDEN_REMEMBER_TENURE);
    }
}

static void scan_left(struct scavenge *s, eden_value original) {
    scan_stacked(s, object_forwarded_to(eden_header(original)));
}

/* In a cycle a marked object may be grey for the marker (heap/cycle.c), too: nobody knows, so it stays grey. */
static bool is_cycle_grey(const struct scavenge *s, uint64_t header) {
    return cycle_is_running(&s->heap->cycle) && (header & EDEN_HEADER_MARKED) != 0;
}

/* Only of what has been reached and is here does the bit mean grey: of a forwarded object or a pending key it is part
 * of an address, of others in the spaces being collected part of a count (tenure.c). */
static void scan_if_grey(struct scavenge *s, eden_value object) {
    uint64_t header = eden_header(object);
    bool here =
        (header & EDEN_HEADER_FORWARDED) == 0 && (!to_evacuate(s, object) || (header & EDEN_HEADER_IN_PLACE) != 0);
    if (here && (header & EDEN_HEADER_GREY) != 0) {
        if (is_cycle_grey(s, header)) {
            s->heap->cycle.stack.overflowed = true;
        } else {
            object_clear(object, EDEN_HEADER_GREY);
        }
        scan_stacked(s, object);
    }
}

/* What the stack had no room for stands grey: objects in place amid forwarded ones, released ephemerons anywhere. Old
 * space, which may be large, is walked as far as the highest only. */
static void scan_grey(struct scavenge *s) {
    eden_value highest = s->heap->mark_stack.highest;
    s->heap->mark_stack.highest = EDEN_NONE;
    struct space *spaces[YOUNG_SPACES];
    heap_young_spaces(s->heap, spaces);
    for (int i = 0; i < YOUNG_SPACES; i++) {
        for (uintptr_t at = spaces[i]->start; at < spaces[i]->used;) {
            eden_value object = object_at(at);
            at += bytes_before_move(object);
            scan_if_grey(s, object);
        }
    }
    for (eden_value object = old_space_walk(s->heap, 0); object != EDEN_NONE && object <= highest;
         object = old_space_walk(s->heap, object_end(object))) {
        scan_if_grey(s, object);
    }
}

/* Everything that the objects moved so far refer to, until nothing is left to scan; or, if it is bounded, enough is
 * done alone: false. Inline, so that the usual order costs no test for the others. */
static inline __attribute__((always_inline)) bool scan_moved_in(struct scavenge *s, bool set_order, bool is_bounded) {
    struct mark_stack *stack = &s->heap->mark_stack;
    for (;;) {
        while (s->scan < s->to->used) {
            if (is_bounded && s->moved.bytes >= s->alone_until) {
                return false;
            }
            eden_value object = object_at(s->scan);
            s->scan += object_bytes(object);
            ask_ahead(s);
            scan_young(s, object);
        }
        if (s->tenured != EDEN_NONE && set_order) {
            scan_set(s, s->heap->remembered.count, &(struct tally){0, 0});
        } else if (s->tenured != EDEN_NONE) {
            if (is_bounded && s->moved.bytes >= s->alone_until) {
                return false;
            }
            scan_tenured(s);
        } else if (stack->count != 0) {
            scan_stacked(s, stack->entries[--stack->count]);
        } else if (stack->overflowed) {
            stack->overflowed = false;
            scan_grey(s);
        } else {
            return true;
        }
    }
}

/* Of the objects that the threads were given, those that they have skipped. */
static void scan_skipped(struct scavenge *s, struct space space) {
    for (uintptr_t at = space.start; at < space.used;) {
        eden_value object = object_at(at);
        uint32_t format = eden_format_bits(object);
        at += object_bytes(object);
        if (format == EDEN_FORMAT_WEAK || format == EDEN_FORMAT_EPHEMERON) {
            scan_young(s, object);
        }
    }
}

/* What is left to scan now, but for the stack. */
static void scan_together(struct scavenge *s) {
    if (!copiers_take(&s->copiers, s->threads)) {
        s->threads = 1;
        return;
    }
    s->copiers.unscanned = (struct space){s->scan, s->to->used, s->to->used};
    eden_value pending = s->tenured;
    while (pending != EDEN_NONE) {
        eden_value next = eden_words_(pending)[1];
        eden_words_(pending)[1] = s->copiers.pending;
        s->copiers.pending = pending;
        pending = next;
    }
    s->tenured = EDEN_NONE;
    copiers_scan(&s->copiers);
    add_copied(s, &s->copiers.sum);
    s->scan = s->ahead = s->to->used;
    if (s->copiers.sum.skips) {
        scan_skipped(s, s->copiers.unscanned);
    }
    take_lists(s);
    s->alone_bytes *= s->copiers.sum.is_list ? WORKERS_PATIENCE : 1;
    s->alone_until = s->moved.bytes + s->alone_bytes;
}

static void scan_moved(struct scavenge *s) {
    while (s->threads > 1 && (s->copiers.has_queued || !scan_moved_in(s, false, true))) {
        scan_together(s);
    }
    if (s->in_set_order) {
        scan_moved_in(s, true, false);
    } else {
        scan_moved_in(s, false, false);
    }
}

static void scan_between(eden_visit *visit) { scan_moved((struct scavenge *)visit); }

static void reach_key(void *context, eden_value key) { evacuate(context, key); }

static eden_value where_now(void *context, eden_value v) {
    const struct scavenge *s = context;
    if (!to_evacuate(s, v)) {
        return v;
    }
    /* Forwarded comes first: the bits of an address say nothing. */
    if (object_has(v, EDEN_HEADER_FORWARDED)) {
        return object_forwarded_to(eden_header(v));
    }
    return object_has(v, EDEN_HEADER_IN_PLACE) ? v : EDEN_NONE;
}

/* After a promotion failure: what does not stay in place becomes filler, so that new space can be walked. Returns the
 * end of the last object that stays. */
static uintptr_t fill_rest(struct space *space) {
    uintptr_t end = space->start, gap = space->start;
    for (uintptr_t at = space->start; at < space->used;) {
        eden_value object = object_at(at);
        bool forwarded = object_has(object, EDEN_HEADER_FORWARDED);
        uintptr_t next = at + bytes_before_move(object);
        if (!forwarded && object_has(object, EDEN_HEADER_IN_PLACE)) {
            if (gap < at) {
                object_fill(gap, at - gap);
            }
            object_clear(object, EDEN_HEADER_IN_PLACE);
            gap = end = next;
        }
        at = next;
    }
    return end;
}

/* Residents that died become fillers too; the copied lie behind them. */
static void finish_residents(struct scavenge *s) {
    struct space residents = {s->to->start, s->resident, s->resident};
    uintptr_t end = fill_rest(&residents);
    if (s->to->used == s->resident) {
        s->to->used = end;
    } else if (end < s->resident) {
        object_fill(end, s->resident - end);
    }
}

/* Allocation goes on where eden's objects end. */
static void begin_eden(eden_heap *heap) {
    heap->mutator.free = heap->delta.allocated_from = heap->eden.used;
    heap_set_limit(heap);
}

static void finish_spaces(struct scavenge *s) {
    eden_heap *heap = s->heap;
    struct space *from[] = {&heap->eden, &heap->semi[s->to == &heap->semi[0]]};
    const struct scavenged scavenged = {.allocated = heap->eden.used - heap->eden.start,
                                        .survivors = from[1]->used - from[1]->start - heap->survivor_fillers,
                                        .survived = s->to->used - s->to->start - s->filled + s->pass.tenured_bytes,
                                        .survived_again = s->aged + s->grown_old,
                                        .promoted = s->pass.tenured_bytes,
                                        .scattered = s->scattered};
    for (size_t i = 0; i < sizeof from / sizeof from[0]; i++) {
        from[i]->used = s->has_failed ? fill_rest(from[i]) : from[i]->start;
    }
    if (s->resident != s->to->start) {
        finish_residents(s);
    }
    heap->is_mixed = s->has_failed;
    heap->survivor_fillers = s->filled;
    heap->from = s->to == &heap->semi[1];
    policy_scavenged(heap, &scavenged);
    if (!s->has_failed) {
        OBSERVE(heap, eden_emptied);
    }
    heap->tenure_threshold = s->has_failed ? 0 : tenure_threshold(heap, s->to, from[1]);
    begin_eden(heap);
}

/* The other semispace, which is empty; where promotion failed, the one with more room behind its objects. */
static struct space *to_space(eden_heap *heap) {
    struct space *from = &heap->semi[heap->from], *other = &heap->semi[!heap->from];
    return heap->is_mixed && from->limit - from->used > other->limit - other->used ? from : other;
}

/* Everything that remembered set and roots have reached, and what ephemerons whose keys have died refer to. */
static void scan_all_moved(struct scavenge *s) {
    scan_moved(s);
    while (ephemerons_fire(s->heap, reach_key, s)) {
        scan_moved(s);
    }
}

/* compat.overflow=oldest: survivors did not fit, and objects of eden are deferred. The oldest survivors of from-space
 * are tenured, in order of age (they still lie in order of addresses), until there is room; then a second pass copies
 * what is left, and the deferred, to the semispace that was from-space.
 *
 * Cost, in scavenges that overflow only: roots and remembered set are scanned twice, survivors copied twice. Gain: an
 * object of eden, most likely to die soon, is not tenured for having been reached last. */
static void second_pass(struct scavenge *s) {
    eden_heap *heap = s->heap;
    struct deferred *deferred = &heap->deferred;
    struct space *from = &heap->semi[heap->from];
    uint64_t freed = 0;
    ephemerons_clear_weak(heap, where_now, s);
    OBSERVE(heap, reached, false, where_now, s);
    OBSERVE(heap, second_pass, &s->pass);
    for (uintptr_t at = from->start; at < from->used && freed < s->owed;) {
        eden_value object = object_at(at);
        bool forwarded = object_has(object, EDEN_HEADER_FORWARDED);
        eden_value copy = forwarded ? object_forwarded_to(eden_header(object)) : object;
        size_t bytes = bytes_before_move(object);
        at += bytes;
        if (forwarded && is_in(s->to, copy)) {
            eden_value start = heap_old_room(heap, bytes);
            if (start == 0) {
                break; /* what has no room then is tenured, or stays in place, in the second pass */
            }
            tenure(s, copy, bytes, start, EDEN_TENURE_OVERFLOW);
            freed += bytes;
        }
    }
    for (size_t i = 0; i < deferred->count; i++) {
        object_clear(deferred->objects[i], EDEN_HEADER_IN_PLACE | EDEN_HEADER_GREY);
    }
    deferred->count = 0;
    s->is_second = true;
    s->policy = (struct tenure_policy){.criterion = EDEN_BY_NOTHING, .young_from = UINTPTR_MAX};
    s->pass.to = s->to = from;
    s->to->used = s->scan = s->ahead = s->resident = from->start;
    scan_remembered(s);
    roots_visit(&s->visit);
    scan_all_moved(s);
}

static bool is_all_scanned(const struct scavenge *s) {
    const eden_heap *heap = s->heap;
    return s->scan == s->to->used && s->tenured == EDEN_NONE && heap->mark_stack.count == 0 &&
           !heap->mark_stack.overflowed && heap->pending.count == 0;
}

/* Nothing is copied, and nothing else is done (promote.c). */
static bool collect_in_place(eden_heap *heap, struct scavenge_pass *pass) {
    if (!promote_in_place(heap, pass)) {
        return false;
    }
    const struct scavenged scavenged = {.promoted = pass->tenured_bytes, .in_place = true};
    policy_scavenged(heap, &scavenged);
    begin_eden(heap);
    return true;
}

/* Where the order of copying shows, what is tenured is to be marked, or sweeping writes headers, one thread copies
 * (copiers.c, section 7). */
static bool needs_order(const struct scavenge *s) {
    return s->defers || s->in_set_order || s->heap->is_mixed || s->policy.criterion == EDEN_BY_REMEMBERED ||
           cycle_is_running(&s->heap->cycle) || s->heap->old.sweep.unswept != 0 || eden_watched_tenure() ||
           eden_watched_remember() || eden_watched_forget() || eden_watched_remembered__scan() || eden_watched_mourn();
}

static void begin_threads(struct scavenge *s) {
    s->threads = needs_order(s) ? 1 : workers_wanted(s->heap);
    s->alone_bytes = s->heap->alone_bytes;
    s->copiers = (struct copiers){.heap = s->heap, .to = s->to, .policy = &s->policy};
}

/* For the phase that begins: what lies there to be scanned is as much as copied. */
static void begin_alone(struct scavenge *s) {
    uint64_t left = s->to->used - s->scan, most = s->alone_bytes;
    s->moved = (struct tally){0, 0};
    s->alone_until = most > left ? most - left : 0;
}

static void collect_by_copying(struct scavenge *s) {
    eden_heap *heap = s->heap;
    s->defers = heap->params.compat_overflow == EDEN_OVERFLOW_OLDEST &&
                !params_decide(&heap->params, EDEN_PARAM_compat_overflow);
    s->in_set_order = heap->params.compat_tenured_scan == EDEN_TENURED_SCAN_SET;
    s->at_once = params_decide(&heap->params, EDEN_PARAM_compat_tenured_scan) && !heap->is_mixed;
    s->policy = tenure_policy(heap, s->pass.cause);
    s->pass.to = s->to = to_space(heap);
    s->scan = s->resident = s->to->used;
    begin_threads(s);

    uint64_t start = observer_phase_begin(heap, EDEN_PHASE_scavenge__remembered);
    observer_phase_end(heap, EDEN_PHASE_scavenge__remembered, start, scan_remembered(s));
    s->scattered = s->moved.bytes - s->in_order;

    start = observer_phase_begin(heap, EDEN_PHASE_scavenge__roots);
    begin_alone(s);
    roots_visit(&s->visit);
    observer_phase_end(heap, EDEN_PHASE_scavenge__roots, start, s->moved);

    start = observer_phase_begin(heap, EDEN_PHASE_scavenge__copy);
    begin_alone(s);
    scan_all_moved(s);
    if (s->owed != 0 && !s->has_failed) {
        second_pass(s);
    }
    copiers_give_back(&s->copiers);
    invariant_check(heap, is_all_scanned(s), "I1 of the scavenge: something was left to scan");
    s->has_failed |= heap->deferred.count != 0;
    heap->deferred.count = 0;
    observer_phase_end(heap, EDEN_PHASE_scavenge__copy, start, s->moved);

    start = observer_phase_begin(heap, EDEN_PHASE_scavenge__weak);
    observer_phase_end(heap, EDEN_PHASE_scavenge__weak, start, ephemerons_clear_weak(heap, where_now, s));

    OBSERVE(heap, reached, false, where_now, s);
    OBSERVE(heap, copied, &s->pass);
    finish_spaces(s);
}

static void collect(eden_heap *heap, enum eden_scavenge_cause cause) {
    struct scavenge s = {.visit = {heap, visit_root_slots, scan_between}, .heap = heap, .tenured = EDEN_NONE};
    int cancellation = system_hold_cancellation();
    heap->is_collecting = true;
    pages_keep(&heap->pages);
    heap->old.refused = SIZE_MAX;
    heap->thread = pthread_self();
    OBSERVE(heap, before_scavenge);
    s.pass.cause = cause;
    s.pass.start_ns = system_now_ns();
    OBSERVE(heap, scavenge_begin, &s.pass);
    s.seq = heap->info.seq + 1;
    heap->eden.used = heap->mutator.free;
    s.pass.allocated = heap->eden.used - heap->eden.start;
    if (!policy_promotes_in_place(heap) || !collect_in_place(heap, &s.pass)) {
        collect_by_copying(&s);
    }
    heap->old.objects += s.pass.tenured_objects;
    cycle_step(heap, &s.pass);
    pages_return(&heap->pages);
    OBSERVE(heap, scavenge_end, &s.pass);
    heap->is_collecting = false;
    OBSERVE(heap, after_scavenge);
    system_restore_cancellation(cancellation);
}

void scavenge(eden_heap *heap, enum eden_scavenge_cause cause) {
    if (heap->broken_invariant == NULL) {
        collect(heap, cause);
    }
    if (heap->is_mixed && heap->broken_invariant == NULL && policy_promotes_in_place(heap)) {
        collect(heap, cause); /* what found no room becomes old where it is */
    }
}
