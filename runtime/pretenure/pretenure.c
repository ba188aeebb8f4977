/* Pretenuring: objects of the classes and sites that a file names are born in old space. What lives long is then never
 * copied, and does not fill the survivors.
 *
 * 1. The value of a named class
 * Allocation is inlined into programs and must not pay for this. It reads nothing but the value of the class that the
 * program holds, and takes the slow path from EDEN_SLOTS_OVERFLOW slots on. So the value of a named class has that
 * number in place of its fixed slots, and the slow path, which is then always taken, finds the true number in the class
 * table (pretenure_reveal).
 * Raw classes: 255 added to a count of 64-bit words near SIZE_MAX would be a small number, for which there seems to be
 * room. So their value says BYTES, whatever they are made of: allocation turns n units into n / 8 slots and up to seven
 * unused bytes, whose sum cannot overflow, and the slow path computes n from them.
 * eden_raw_after needs the true number of fixed slots from the value alone: it is where headers have the identity hash,
 * which no value of a class has.
 *
 * 2. Room
 * Room comes from old space as for tenured objects. Old space that is full grows, as in scavenges, rather than being
 * collected. Its growth is checked every CHECK_BYTES, and asks for a full collection as growth by tenuring does. Where
 * it has no room and cannot grow, it is collected if a sixteenth of it is new since the last time. If that does not
 * help, the object is young, and so are others until a collection has ended.
 *
 * 3. Invariants
 * I1. A class's value does not change while its heap lives: EDEN_PRETENURED_BORN is set when it is defined.
 * I2. Objects larger than large_object are large, whatever the file says.
 *
 * 4. Failure
 * A file that names what dies young fills old space with garbage; `freed_bytes` of full collections shows it.
 *
 * 5. References
 * S. Blackburn, S. Singhai, M. Hertz, K. McKinley and E. Moss, "Pretenuring for Java", OOPSLA 2001. */
#include "pretenure/pretenure.h"
#include "old/full.h"
#include <stdlib.h>

enum { CHECK_BYTES = 64 * 1024 };

bool pretenure_create(struct pretenure *pretenure, eden_heap *heap, eden_error *error) {
    switch (heap->params.pretenure.choice) {
    case FILE_CHOICE:
        return pretenure_names_read(pretenure, heap, error);
    case EDEN_PRETENURE_AUTO:
        pretenure->automatic = pretenure_auto_create(heap, error);
        return pretenure->automatic != NULL;
    default:
        return true;
    }
}

void pretenure_destroy(struct pretenure *pretenure) {
    pretenure_names_free(pretenure->names);
    free(pretenure->automatic);
}

bool pretenure_reveal(const eden_heap *heap, uint64_t *header, size_t *slots) {
    uint32_t index = (uint32_t)(*header & EDEN_HEADER_CLASS_MASK);
    if (!heap->has_born_old || *slots < EDEN_SLOTS_OVERFLOW || index == EDEN_CLASS_FREE || index >= heap->next_class ||
        heap_class(heap, index)->pretenured != EDEN_PRETENURED_BORN) {
        return false;
    }
    const struct eden_class_info *class = heap_class(heap, index);
    /* Counts of references near SIZE_MAX came without EDEN_SLOTS_OVERFLOW added, and are beyond all memory without it.
     */
    size_t more = *slots - EDEN_SLOTS_OVERFLOW;
    if (class->format < EDEN_FORMAT_WORDS64) {
        *slots = class->fixed_slots + more;
        *header = index | (uint64_t) class->format << EDEN_HEADER_FORMAT_SHIFT;
        return true;
    }
    size_t units = more * 8 - ((*header >> EDEN_HEADER_FORMAT_SHIFT) & 7);
    unsigned shift = object_unit_shift(class->format);
    size_t unused = (0 - units) & ((1u << shift) - 1);
    *slots = class->fixed_slots + (units >> shift) + (unused != 0);
    *header = index | (class->format + unused) << EDEN_HEADER_FORMAT_SHIFT;
    return true;
}

/* Is so much of old space new since the last full collection that another may find something? */
static bool is_worth_collecting(const eden_heap *heap) {
    uint64_t before = heap->figures.full_collections == 0 ? 0 : heap->old.used_at_full;
    return heap_old_used(heap) > before && heap_old_used(heap) - before > heap->old.capacity / 16;
}

uintptr_t pretenure_room(struct pretenure *pretenure, eden_heap *heap, size_t bytes) {
    if (pretenure->refused_in == heap->info.seq + 1) {
        return 0;
    }
    if (pretenure->unchecked < bytes) {
        full_collect_if_grown(heap);
        pretenure->unchecked = CHECK_BYTES + bytes;
    }
    uintptr_t start = heap_old_room(heap, bytes);
    if (start == 0 && is_worth_collecting(heap)) {
        full_collect(heap, EDEN_FULL_LIMIT, bytes);
        start = heap_old_room(heap, bytes);
    }
    if (start == 0) {
        pretenure->refused_in = heap->info.seq + 1;
        return 0;
    }
    pretenure->unchecked -= bytes;
    return start;
}
