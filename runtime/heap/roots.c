/* Roots: frames, global slots and ranges, visitors, the queue of mourners, and those of observers. Each
 * collection walks them all through one function. */
#include "heap/roots.h"
#include "heap/heap.h"
#include <stdlib.h>

bool eden_root_range_add(eden_heap *heap, eden_value *slots, size_t count) {
    struct roots *roots = &heap->roots;
    if (!system_grow(&heap->system, (void **)&roots->ranges, &roots->room, roots->count, sizeof *roots->ranges,
                     "roots")) {
        return false;
    }
    roots->ranges[roots->count++] = (struct root_range){slots, count};
    return true;
}

bool eden_root_range_remove(eden_heap *heap, eden_value *slots, size_t count) {
    struct roots *roots = &heap->roots;
    /* From the newest: roots are often removed in the reverse order. */
    for (size_t i = roots->count; i-- > 0;) {
        if (roots->ranges[i].slots == slots && roots->ranges[i].count == count) {
            roots->ranges[i] = roots->ranges[--roots->count];
            return true;
        }
    }
    return false;
}

bool eden_root_add(eden_heap *heap, eden_value *slot) { return eden_root_range_add(heap, slot, 1); }

bool eden_root_remove(eden_heap *heap, eden_value *slot) { return eden_root_range_remove(heap, slot, 1); }

bool eden_visitor_add(eden_heap *heap, eden_root_visitor visitor, void *context) {
    struct roots *roots = &heap->roots;
    if (!system_grow(&heap->system, (void **)&roots->visitors, &roots->visitor_room, roots->visitor_count,
                     sizeof *roots->visitors, "root visitors")) {
        return false;
    }
    roots->visitors[roots->visitor_count++] = (struct root_visitor){visitor, context};
    return true;
}

bool eden_visitor_remove(eden_heap *heap, eden_root_visitor visitor, void *context) {
    struct roots *roots = &heap->roots;
    for (size_t i = roots->visitor_count; i-- > 0;) {
        if (roots->visitors[i].visit == visitor && roots->visitors[i].context == context) {
            roots->visitors[i] = roots->visitors[--roots->visitor_count];
            return true;
        }
    }
    return false;
}

void eden_visit_slots(eden_visit *visit, eden_value *slots, size_t count) { visit->slots(visit, slots, count); }

void roots_visit(eden_visit *visit) {
    eden_heap *heap = visit->heap;
    for (struct eden_frame *frame = heap->mutator.frames; frame != NULL; frame = frame->previous) {
        visit->slots(visit, frame->slots, frame->count);
    }
    for (size_t i = 0; i < heap->roots.count; i++) {
        visit->slots(visit, heap->roots.ranges[i].slots, heap->roots.ranges[i].count);
    }
    if (heap->mourners.next < heap->mourners.end) {
        visit->slots(visit, heap->mourners.queue + heap->mourners.next, heap->mourners.end - heap->mourners.next);
    }
    const size_t ranges = heap->roots.count, visitors = heap->roots.visitor_count;
    for (size_t i = visitors; i-- > 0;) { /* from the newest: one that removes itself, though it must not, skips none */
        heap->roots.visitors[i].visit(heap->roots.visitors[i].context, visit);
    }
    OBSERVE(heap, roots_visited, ranges, visitors);
    OBSERVE(heap, visit_roots, visit);
}

void roots_destroy(struct roots *roots) {
    free(roots->ranges);
    free(roots->visitors);
}
