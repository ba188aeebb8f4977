/* peer.h on eden. EDEN_OPTIONS sets the limit, EDEN_LOG receives the pauses. */
#ifndef PEER_EDEN_H
#define PEER_EDEN_H

#include <eden/eden.h>

typedef eden_value peer_ref;
typedef eden_class peer_class;

#define PEER_NONE EDEN_NONE
enum { PEER_KIND = 0, PEER_HEADER = 8, PEER_FREES = 0 };

static eden_heap *peer_heap;
static eden_mutator *peer_mutator;
static peer_class peer_array_class, peer_bytes_class;

static inline peer_class peer_define(const char *name, enum eden_format format, uint32_t slots) {
    eden_error error;
    peer_class class = eden_class_define(peer_heap, &(eden_class_definition){name, format, slots}, &error);
    return class != 0 ? class : (peer_die(1, error.message), class);
}

#define PEER_CLASS(name, slots)                                                                                        \
    enum { name##_slots = (slots) };                                                                                   \
    static peer_class name##_class
#define PEER_VARIANT PEER_CLASS
#define PEER_DEFINE(name) (name##_class = peer_define(#name, EDEN_FORMAT_FIXED, name##_slots))
#define PEER_NEW(name) peer_checked(eden_new_fixed(peer_mutator, name##_class, name##_slots))
#define PEER_NEW_VARIANT PEER_NEW
#define PEER_FRAME(local, count) EDEN_FRAME(peer_mutator, local, count)

static inline void peer_open(void) {
    eden_error error;
    peer_heap = eden_heap_create(&(eden_options){.name = "peer"}, &error);
    peer_mutator = peer_heap == NULL ? NULL : eden_mutator_attach(peer_heap, &error);
    if (peer_mutator == NULL) {
        peer_die(1, error.message);
    }
    peer_array_class = peer_define("array", EDEN_FORMAT_VARIABLE, 0);
    peer_bytes_class = peer_define("bytes", EDEN_FORMAT_BYTES, 0);
}

static inline void peer_close(void) { eden_heap_destroy(peer_heap); }

static inline peer_ref peer_checked(peer_ref object) {
    if (__builtin_expect(object == EDEN_NONE, 0)) {
        peer_die(PEER_NO_MEMORY, eden_last_error(peer_mutator)->message);
    }
    return object;
}

static inline peer_ref peer_array(size_t n) { return peer_checked(eden_new_slots(peer_mutator, peer_array_class, n)); }
static inline peer_ref peer_bytes(size_t n) { return peer_checked(eden_new_raw(peer_mutator, peer_bytes_class, n)); }
static inline unsigned char *peer_data(peer_ref bytes) { return eden_raw(bytes); }

static inline peer_ref peer_slot(peer_ref object, size_t i) { return eden_slot(object, i); }
static inline void peer_slot_set(peer_ref object, size_t i, peer_ref v) { eden_slot_set(peer_mutator, object, i, v); }
static inline int64_t peer_int(peer_ref object, size_t i) { return eden_int_value(eden_slot(object, i)); }
static inline void peer_int_set(peer_ref object, size_t i, int64_t n) {
    eden_slot_set(peer_mutator, object, i, eden_int(n));
}

/* No object has a site, so its index is that of its class. */
#define peer_is(object, name) (eden_index_of(object) == eden_class_index(name##_class))

static inline void peer_free(peer_ref object) { (void)object; }

#endif
