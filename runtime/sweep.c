/* Sweeping: what marking did not reach becomes free.
 *
 * Old space is walked once, in order of addresses; each maximal run of dead objects and free chunks becomes one free
 * chunk, so neighbours coalesce both ways. New space is walked too: its dead (kept alive until now by dead old objects
 * alone) become fillers, because their references may lead to what has just been freed. */
#include "private.h"

struct tally sweep_old(eden_heap *heap) {
    struct tally freed = {0, 0};
    old_retire_buffer(heap);
    old_reset_free(heap);
    for (size_t i = 0; i < heap->old.segment_count; i++) {
        struct segment segment = heap->old.segments[i];
        uintptr_t gap = segment.start;
        for (uintptr_t at = segment.start; at < segment.limit;) {
            eden_value object = object_at(at);
            uintptr_t next = at + object_bytes(object);
            if (header_has(object, EDEN_HEADER_MARKED)) {
                header_clear(object, EDEN_HEADER_MARKED);
                if (gap < at) {
                    old_add_free(heap, gap, at - gap);
                }
                gap = next;
            } else if (!object_is_free(object)) {
                freed.objects++;
                freed.bytes += next - at;
            }
            at = next;
        }
        if (gap < segment.limit) {
            old_add_free(heap, gap, segment.limit - gap);
        }
    }
    return freed;
}

uint64_t sweep_young(eden_heap *heap) {
    struct space *spaces[YOUNG_SPACES];
    uint64_t dead = 0;
    heap_young_spaces(heap, spaces);
    for (int i = 0; i < YOUNG_SPACES; i++) {
        uintptr_t gap = spaces[i]->start;
        for (uintptr_t at = spaces[i]->start; at < spaces[i]->used;) {
            eden_value object = object_at(at);
            uintptr_t next = at + object_bytes(object);
            if (header_has(object, EDEN_HEADER_MARKED)) {
                header_clear(object, EDEN_HEADER_MARKED);
                if (gap < at) {
                    fill_free(gap, at - gap);
                }
                gap = next;
            } else if (!object_is_free(object)) {
                dead += next - at;
            }
            at = next;
        }
        if (gap < spaces[i]->used) {
            fill_free(gap, spaces[i]->used - gap);
        }
    }
    return dead;
}
