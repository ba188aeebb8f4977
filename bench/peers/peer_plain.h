/* peer.h on memory without headers: of libgc (PEER_LIBGC), mimalloc (PEER_MIMALLOC) or malloc. The first slot of a
 * variant holds its class.
 *
 * For libgc, GC_MAXIMUM_HEAP_SIZE sets the limit; the file PEER_PAUSES receives the pauses, with EDEN_LOG's fields. */
#ifndef PEER_PLAIN_H
#define PEER_PLAIN_H

typedef union peer_word {
    union peer_word *ref;
    int64_t n;
} * peer_ref;
typedef int64_t peer_class;

#if defined(PEER_LIBGC)
#include <gc/gc.h>
#define PEER_ALLOCATE(size) GC_MALLOC(size)
#define PEER_ALLOCATE_BYTES(size) GC_MALLOC_ATOMIC(size)
#define PEER_RELEASE(memory) ((void)(memory))
enum { PEER_FREES = 0 };

static inline void peer_pause(GC_EventType event) {
    if (event == GC_EVENT_START) {
        peer_pause_begin();
    } else if (event == GC_EVENT_END) {
        peer_pause_end();
    }
}
static inline void peer_open(void) {
    GC_INIT();
    peer_pauses_open();
    GC_set_on_collection_event(peer_pause);
}
static inline void peer_close(void) { peer_pauses_close(); }
#else
#ifdef PEER_MIMALLOC
#include <mimalloc.h>
#define PEER_ALLOCATE(size) mi_malloc(size)
#define PEER_RELEASE(memory) mi_free(memory)
#else
#define PEER_ALLOCATE(size) malloc(size)
#define PEER_RELEASE(memory) free(memory)
#endif
#define PEER_ALLOCATE_BYTES PEER_ALLOCATE
enum { PEER_FREES = 1 };
static inline void peer_open(void) {}
static inline void peer_close(void) {}
#endif

#define PEER_NONE NULL
enum { PEER_KIND = 1, PEER_HEADER = 0 };

static peer_class peer_classes;

#define PEER_CLASS(name, slots)                                                                                        \
    enum { name##_slots = (slots) };                                                                                   \
    static peer_class name##_class
#define PEER_VARIANT PEER_CLASS
#define PEER_DEFINE(name) (name##_class = ++peer_classes)
#define PEER_NEW(name) peer_new(name##_slots)
#define PEER_NEW_VARIANT(name) peer_new_variant(name##_slots, name##_class)
#define PEER_FRAME(local, count) peer_ref local[count] = {NULL}

static inline peer_ref peer_checked(void *memory) {
    if (__builtin_expect(memory == NULL, 0)) {
        peer_die(PEER_NO_MEMORY, "out of memory");
    }
    return memory;
}

static inline peer_ref peer_new(size_t slots) {
    peer_ref object = peer_checked(PEER_ALLOCATE(slots * sizeof *object));
    for (size_t i = 0; PEER_FREES && i < slots; i++) { /* libgc clears its memory */
        object[i].ref = NULL;
    }
    return object;
}
static inline peer_ref peer_new_variant(size_t slots, peer_class kind) {
    peer_ref object = peer_new(slots);
    object[0].n = kind;
    return object;
}
static inline peer_ref peer_array(size_t n) {
    return peer_checked(PEER_FREES ? memset(peer_checked(PEER_ALLOCATE(n * 8)), 0, n * 8) : PEER_ALLOCATE(n * 8));
}
static inline peer_ref peer_bytes(size_t n) { return peer_checked(PEER_ALLOCATE_BYTES(n)); }
static inline unsigned char *peer_data(peer_ref bytes) { return (unsigned char *)bytes; }

static inline peer_ref peer_slot(peer_ref object, size_t i) { return object[i].ref; }
static inline void peer_slot_set(peer_ref object, size_t i, peer_ref value) { object[i].ref = value; }
static inline int64_t peer_int(peer_ref object, size_t i) { return object[i].n; }
static inline void peer_int_set(peer_ref object, size_t i, int64_t n) { object[i].n = n; }
#define peer_is(object, name) ((object)[0].n == name##_class)

static inline void peer_free(peer_ref object) { PEER_RELEASE(object); }

#endif
