/* The objects and roots of peer_whippet.h, for Whippet. Its own benchmarks' embedder does the rest; replaced here are
 * the parts that depend on the size of an object, which the tag holds, and on roots, which are frames. */
#ifndef WHIPPET_EMBEDDER_H
#define WHIPPET_EMBEDDER_H

#include <stddef.h>
#include <stdint.h>

#include "gc-config.h"
#include "gc-edge.h"
#include "gc-inline.h"
#include "gc-ref.h"

#define FOR_EACH_HEAP_OBJECT_KIND(M) M(slots, Slots, SLOTS) M(bytes, Bytes, BYTES)
#include "heap-objects.h"

/* Words of an object's body, above the kind and the bits of Whippet in its tag. Integers have the low bit set. */
enum { WHIPPET_SIZE_SHIFT = 8 };
struct Slots {
    uintptr_t tag, slots[];
};
struct Bytes {
    uintptr_t tag, words[];
};
struct whippet_frame {
    struct whippet_frame *previous;
    void **slots;
    size_t count;
};

static inline size_t whippet_size(uintptr_t tag) { return 8 + 8 * (tag >> WHIPPET_SIZE_SHIFT); }
static inline size_t slots_size(Slots *object) { return whippet_size(object->tag); }
static inline size_t bytes_size(Bytes *object) { return whippet_size(object->tag); }
static inline void visit_slots_fields(Slots *object, void (*visit)(struct gc_edge, struct gc_heap *, void *),
                                      struct gc_heap *heap, void *data) {
    for (size_t i = 0; i < object->tag >> WHIPPET_SIZE_SHIFT; i++) {
        if (object->slots[i] != 0 && (object->slots[i] & 1) == 0) {
            visit(gc_edge(&object->slots[i]), heap, data);
        }
    }
}
static inline void visit_bytes_fields(Bytes *object, void (*visit)(struct gc_edge, struct gc_heap *, void *),
                                      struct gc_heap *heap, void *data) {
    (void)object, (void)visit, (void)heap, (void)data;
}

#define gc_trace_mutator_roots simple_trace_mutator_roots
#define gc_atomic_forward_object_size simple_forward_object_size
#include "simple-gc-embedder.h"
#undef gc_trace_mutator_roots
#undef gc_atomic_forward_object_size

static inline void gc_trace_mutator_roots(struct gc_mutator_roots *roots,
                                          void (*visit)(struct gc_edge, struct gc_heap *, void *), struct gc_heap *heap,
                                          void *data) {
    for (struct whippet_frame *frame = *(struct whippet_frame **)roots; frame != NULL; frame = frame->previous) {
        for (size_t i = 0; i < frame->count; i++) {
            if (frame->slots[i] != NULL) {
                visit(gc_edge(&frame->slots[i]), heap, data);
            }
        }
    }
}
/* The header is busy: only the forwarding state knows the tag. */
static inline size_t gc_atomic_forward_object_size(struct gc_atomic_forward *forward) {
    return whippet_size(forward->data);
}

#endif
