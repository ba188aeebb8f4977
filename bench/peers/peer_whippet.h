/* peer.h on Whippet, with a heap of a fixed size, PEER_LIMIT. The first slot of a variant holds its class. */
#ifndef PEER_WHIPPET_H
#define PEER_WHIPPET_H

#include "gc-api.h"

#include "gc-allocate.h"
#include "gc-barrier.h"
#include "gc-null-event-listener.h"
#include "whippet_embedder.h"

typedef void *peer_ref;
typedef int64_t peer_class;

#define PEER_NONE NULL
enum { PEER_KIND = 1, PEER_HEADER = 8, PEER_FREES = 0 };

static struct gc_mutator *peer_mutator;
static struct whippet_frame *peer_frames;
static peer_class peer_classes;

#define PEER_CLASS(name, slots)                                                                                        \
    enum { name##_slots = (slots) };                                                                                   \
    static peer_class name##_class
#define PEER_VARIANT PEER_CLASS
#define PEER_DEFINE(name) (name##_class = ++peer_classes)
#define PEER_NEW(name) peer_array(name##_slots)
#define PEER_NEW_VARIANT(name) peer_new_variant(name##_slots, name##_class)

static inline void peer_leave(struct whippet_frame *frame) { peer_frames = frame->previous; }
#define PEER_FRAME(local, count)                                                                                       \
    peer_ref local[count] = {NULL};                                                                                    \
    __attribute__((cleanup(peer_leave))) struct whippet_frame local##_frame = {peer_frames, local, count};             \
    peer_frames = &local##_frame

static void *peer_no_memory(struct gc_heap *heap, size_t size) {
    (void)heap, (void)size;
    peer_die(PEER_NO_MEMORY, "out of memory");
}

static void peer_stopping(void *data) {
    (void)data;
    peer_pause_begin();
}
static void peer_restarting(void *data) {
    (void)data;
    peer_pause_end();
}

static inline void peer_open(void) {
    const char *limit = getenv("PEER_LIMIT");
    struct gc_options *options = gc_allocate_options();
    gc_options_set_int(options, GC_OPTION_HEAP_SIZE_POLICY, GC_HEAP_SIZE_FIXED);
    gc_options_set_size(options, GC_OPTION_HEAP_SIZE, limit == NULL ? 64 << 20 : strtoul(limit, NULL, 10));
    struct gc_event_listener listener = GC_NULL_EVENT_LISTENER;
    listener.requesting_stop = peer_stopping;
    listener.restarting_mutators = peer_restarting;
    struct gc_heap *heap;
    if (!gc_init(options, gc_empty_stack_addr(), &heap, &peer_mutator, listener, NULL)) {
        peer_die(1, "gc_init failed");
    }
    gc_heap_set_allocation_failure_handler(heap, peer_no_memory);
    gc_mutator_set_roots(peer_mutator, (struct gc_mutator_roots *)&peer_frames);
    peer_pauses_open();
}
static inline void peer_close(void) { peer_pauses_close(); }

static inline peer_ref peer_allocate(size_t words, uint8_t kind, enum gc_allocation_kind allocation) {
    uintptr_t *object = gc_allocate(peer_mutator, 8 + 8 * words, allocation);
    object[0] = tag_live(kind) | (uintptr_t)words << WHIPPET_SIZE_SHIFT;
    return object;
}
static inline peer_ref peer_array(size_t n) { return peer_allocate(n, ALLOC_KIND_SLOTS, GC_ALLOCATION_TAGGED); }
static inline peer_ref peer_bytes(size_t n) {
    return peer_allocate((n + 7) / 8, ALLOC_KIND_BYTES, GC_ALLOCATION_TAGGED_POINTERLESS);
}
static inline unsigned char *peer_data(peer_ref bytes) { return (unsigned char *)bytes + 8; }

static inline peer_ref peer_slot(peer_ref object, size_t i) { return ((peer_ref *)object)[1 + i]; }
static inline void peer_slot_set(peer_ref object, size_t i, peer_ref value) {
    peer_ref *slot = (peer_ref *)object + 1 + i;
    gc_write_barrier(peer_mutator, gc_ref_from_heap_object(object), whippet_size(*(uintptr_t *)object), gc_edge(slot),
                     gc_ref_from_heap_object_or_null(value));
    *slot = value;
}
static inline int64_t peer_int(peer_ref object, size_t i) { return ((int64_t *)object)[1 + i] >> 1; }
static inline void peer_int_set(peer_ref object, size_t i, int64_t n) {
    ((uint64_t *)object)[1 + i] = (uint64_t)n << 1 | 1;
}
static inline peer_ref peer_new_variant(size_t slots, peer_class kind) {
    peer_ref object = peer_array(slots);
    peer_int_set(object, 0, kind);
    return object;
}
#define peer_is(object, name) (peer_int(object, 0) == name##_class)

static inline void peer_free(peer_ref object) { (void)object; }

#endif
