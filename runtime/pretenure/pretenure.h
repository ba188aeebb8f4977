/* Pretenuring: objects that do not begin in new space, or leave it at their first scavenge. */
#ifndef EDEN_PRETENURE_PRETENURE_H
#define EDEN_PRETENURE_PRETENURE_H

#include "heap/heap.h"

struct pretenure_names; /* names.c */
struct pretenure_auto;  /* auto.c */

struct pretenure {
    struct pretenure_names *names;    /* NULL: no file names any */
    struct pretenure_auto *automatic; /* NULL: pretenure is not auto */
    uint64_t unchecked;               /* bytes until old space's growth is checked again */
    uint64_t refused_in; /* the collection after which there was no room: no use in trying until the next */
};

/* Reads the file that the parameter names, or subscribes what pretenure=auto needs. False: the error says why. */
bool pretenure_create(struct pretenure *pretenure, eden_heap *heap, eden_error *error);
void pretenure_destroy(struct pretenure *pretenure);

/* ---- born old ---- */
bool pretenure_is_named(const struct pretenure *pretenure, bool site, const char *name);
/* Is this an allocation of a class whose objects are born old? Then header and slots become what is really wanted. */
bool pretenure_reveal(const eden_heap *heap, uint64_t *header, size_t *slots);
/* Room in old space; 0: there is none. May collect. */
uintptr_t pretenure_room(struct pretenure *pretenure, eden_heap *heap, size_t bytes);

/* ---- names.c ---- */
bool pretenure_names_read(struct pretenure *pretenure, eden_heap *heap, eden_error *error);
void pretenure_names_free(struct pretenure_names *names);

/* ---- auto.c ---- */
/* Subscribes; NULL: no memory. free() it when the heap is no more. */
struct pretenure_auto *pretenure_auto_create(eden_heap *heap, eden_error *error);

#endif
