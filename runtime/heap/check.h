/* What the runtime calls in the checked build (check.c); nothing in any other. */
#ifndef EDEN_CHECK_H
#define EDEN_CHECK_H

#ifdef EDEN_CHECKED

enum { CHECKED_BUILD = 1 };

struct check_state {
    pthread_t thread; /* whose stack this is: */
    uintptr_t stack, stack_limit;
    uint64_t *starts; /* a bit for each word of the heap: a live object's header; NULL: no memory for it */
    size_t starts_bytes;
    uintptr_t eden_base;        /* eden.start moves: check_roll_eden */
    uintptr_t high[3];          /* of each young space: the end of what was ever used */
    uintptr_t from[3], used[3]; /* what was used before the collection that runs */
};

void check_create(eden_heap *heap);
void check_destroy(eden_heap *heap);
void check_class(eden_heap *heap, uint64_t header, size_t slots); /* an allocation is asked for */
void check_object_of(const eden_heap *heap, eden_value object,
                     const char *call); /* an object is given to an API call */
void check_class_of(const eden_heap *heap, eden_class of, const char *call);
void check_call(eden_heap *heap, const char *call);                   /* a call that may collect */
void check_frames(eden_heap *heap, const char *call);                 /* no frame may be open */
void check_visitors(eden_heap *heap, size_t ranges, size_t visitors); /* all were called; so many roots were there */
void check_hook(eden_heap *heap, const char *call);                   /* a call that no collection hook may make */
void check_loads(eden_value object, size_t index, size_t count, const char *call); /* a range of slots is read */
void check_stores(eden_mutator *mutator, eden_value object, size_t index, const eden_value *values, size_t count,
                  const char *call);
void check_eden_used(eden_heap *heap, uintptr_t start, size_t bytes);
void check_allocated(eden_heap *heap, eden_value object); /* the object is there, or EDEN_NONE */
void check_before_scavenge(eden_heap *heap);
void check_second_round(eden_heap *heap); /* the space copied to so far will be left */
void check_after_scavenge(eden_heap *heap);
void check_before_full(eden_heap *heap);
void check_after_full(eden_heap *heap);
void check_roll_eden(eden_heap *heap);
void check_segment(eden_heap *heap, uintptr_t start, size_t bytes, bool mapped);
void check_chunk_added(uintptr_t start, size_t bytes);
void check_chunk_used(uintptr_t start, size_t bytes);

#else

enum { CHECKED_BUILD = 0 };

struct check_state {};

static inline void check_create(eden_heap *heap) { (void)heap; }
static inline void check_destroy(eden_heap *heap) { (void)heap; }
static inline void check_class(eden_heap *heap, uint64_t header, size_t slots) {
    (void)heap, (void)header, (void)slots;
}
static inline void check_object_of(const eden_heap *heap, eden_value object, const char *call) {
    (void)heap, (void)object, (void)call;
}
static inline void check_class_of(const eden_heap *heap, eden_class of, const char *call) {
    (void)heap, (void)of, (void)call;
}
static inline void check_call(eden_heap *heap, const char *call) { (void)heap, (void)call; }
static inline void check_frames(eden_heap *heap, const char *call) { (void)heap, (void)call; }
static inline void check_visitors(eden_heap *heap, size_t ranges, size_t visitors) {
    (void)heap, (void)ranges, (void)visitors;
}
static inline void check_hook(eden_heap *heap, const char *call) { (void)heap, (void)call; }
static inline void check_loads(eden_value object, size_t index, size_t count, const char *call) {
    (void)object, (void)index, (void)count, (void)call;
}
static inline void check_stores(eden_mutator *mutator, eden_value object, size_t index, const eden_value *values,
                                size_t count, const char *call) {
    (void)mutator, (void)object, (void)index, (void)values, (void)count, (void)call;
}
static inline void check_eden_used(eden_heap *heap, uintptr_t start, size_t bytes) {
    (void)heap, (void)start, (void)bytes;
}
static inline void check_allocated(eden_heap *heap, eden_value object) { (void)heap, (void)object; }
static inline void check_before_scavenge(eden_heap *heap) { (void)heap; }
static inline void check_second_round(eden_heap *heap) { (void)heap; }
static inline void check_after_scavenge(eden_heap *heap) { (void)heap; }
static inline void check_before_full(eden_heap *heap) { (void)heap; }
static inline void check_after_full(eden_heap *heap) { (void)heap; }
static inline void check_roll_eden(eden_heap *heap) { (void)heap; }
static inline void check_segment(eden_heap *heap, uintptr_t start, size_t bytes, bool mapped) {
    (void)heap, (void)start, (void)bytes, (void)mapped;
}
static inline void check_chunk_added(uintptr_t start, size_t bytes) { (void)start, (void)bytes; }
static inline void check_chunk_used(uintptr_t start, size_t bytes) { (void)start, (void)bytes; }

#endif
#endif
