/* Objects that a scavenge has moved, on their way to a profile's lists.
 *
 * What became of an object stands in its copy, or, where survivors overflowed and were copied twice, in the copy's
 * copy. These lie in another order than the forwarded objects that lead to them, so each is a cache miss, and waiting
 * for them one after the other was most of what following a survivor took. So some are gathered first: a copy is
 * prefetched as it comes in, copies' copies all before the first is read. They leave in the order in which they came,
 * which is that of birth. */
#ifndef EDEN_PROFILE_SURVIVOR_BUFFER_H
#define EDEN_PROFILE_SURVIVOR_BUFFER_H

#include "heap/object.h"
#include "profile/tracked.h"

enum { SURVIVORS = 512 };
struct survivor {
    struct tracked tracked;
    eden_value now; /* its copy; itself, if it stayed in place */
};
struct survivor_buffer {
    size_t count;
    struct survivor at[SURVIVORS];
};

static inline bool survivor_buffer_is_full(const struct survivor_buffer *buffer) { return buffer->count == SURVIVORS; }

/* Where an object that has survived a scavenge is now. */
static inline eden_value survivor_place(eden_value object, uint64_t header) {
    return (header & EDEN_HEADER_FORWARDED) != 0 ? object_forwarded_to(header) : object;
}

/* There must be room. */
static inline void survivor_buffer_add(struct survivor_buffer *buffer, struct tracked tracked, eden_value now) {
    buffer->at[buffer->count++] = (struct survivor){tracked, now};
    __builtin_prefetch((const void *)(uintptr_t)now);
}

/* Before they arrive, after a scavenge of two passes: prefetches what the copies lead to. */
static inline void survivor_buffer_resolve(struct survivor_buffer *buffer) {
    for (size_t i = 0; i < buffer->count; i++) {
        uint64_t header = eden_header(buffer->at[i].now);
        if ((header & EDEN_HEADER_FORWARDED) != 0) {
            buffer->at[i].now = object_forwarded_to(header);
            __builtin_prefetch((const void *)(uintptr_t)buffer->at[i].now);
        }
    }
}

#endif
