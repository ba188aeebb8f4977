/* The checked build: an observer of the heap, and the checks of what the embedder passes to the API. Nothing in other
 * builds. */
#ifndef EDEN_CHECK_CHECK_H
#define EDEN_CHECK_CHECK_H

#include "heap/heap.h"

#ifdef EDEN_CHECKED

enum { CHECKED_BUILD = 1 };

struct check {
    struct observer observer; /* first */
    pthread_t thread;         /* whose stack this is: */
    uintptr_t stack, stack_limit;
    uint64_t *starts; /* a bit for each word of the heap: a live object's header; NULL: no memory for it */
    size_t starts_bytes;
    uintptr_t eden_base;        /* eden.start moves: eden_emptied */
    uintptr_t high[3];          /* of each young space: the end of what was ever used */
    uintptr_t from[3], used[3]; /* what was used before the collection that runs */
    struct {
        uintptr_t start, end;
    } adopted[3]; /* the young spaces that become segments in it */
    size_t adopted_count;
};

void check_subscribe(struct check *check, eden_heap *heap); /* first of all observers; the spaces exist */
void check_destroy(struct check *check);
void check_object_of(const eden_heap *heap, eden_value object,
                     const char *call); /* an object is given to an API call */
void check_class_of(const eden_heap *heap, eden_class of, const char *call);
void check_call(const eden_heap *heap, const char *call);   /* a call that may collect */
void check_frames(const eden_heap *heap, const char *call); /* no frame may be open */
void check_hook(const eden_heap *heap, const char *call);   /* a call that no collection hook may make */
void check_loads(eden_value object, size_t index, size_t count, const char *call); /* a range of slots is read */
void check_stores(eden_mutator *mutator, eden_value object, size_t index, const eden_value *values, size_t count,
                  const char *call);

#else

enum { CHECKED_BUILD = 0 };

struct check {};

static inline void check_subscribe(struct check *check, eden_heap *heap) { (void)check, (void)heap; }
static inline void check_destroy(struct check *check) { (void)check; }
static inline void check_object_of(const eden_heap *heap, eden_value object, const char *call) {
    (void)heap, (void)object, (void)call;
}
static inline void check_class_of(const eden_heap *heap, eden_class of, const char *call) {
    (void)heap, (void)of, (void)call;
}
static inline void check_call(const eden_heap *heap, const char *call) { (void)heap, (void)call; }
static inline void check_frames(const eden_heap *heap, const char *call) { (void)heap, (void)call; }
static inline void check_hook(const eden_heap *heap, const char *call) { (void)heap, (void)call; }
static inline void check_loads(eden_value object, size_t index, size_t count, const char *call) {
    (void)object, (void)index, (void)count, (void)call;
}
static inline void check_stores(eden_mutator *mutator, eden_value object, size_t index, const eden_value *values,
                                size_t count, const char *call) {
    (void)mutator, (void)object, (void)index, (void)values, (void)count, (void)call;
}

#endif
#endif
