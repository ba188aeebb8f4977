/* Names of classes and sites, from class__define and the heaps' headers. Small, for a program may define
 * hundreds of thousands: the model of lifetimes has only those that have samples. */
#ifndef EDEN_LIFE_NAMES_H
#define EDEN_LIFE_NAMES_H

#include "model/lifetimes/model.h"

struct life_name {
    uint32_t site;
    uint32_t class_id; /* site: a class, or its class is unknown */
    char *name;        /* owned */
};

/* The names of one heap. */
struct life_names_heap {
    struct process_key process;
    uint64_t address, id, serial; /* as in struct heap_ref */
    uint32_t earlier;             /* index of the one that was at this address before */
    struct life_name *at;         /* owned; as they came */
    size_t count, room;
    struct lookup by_site;
};

struct life_names {
    struct life_names_heap *heaps;
    size_t heap_count, heap_room;
    uint32_t *newest; /* indices of the last heap at each address, in order of process and address; owned */
    struct lookup by_serial;
    size_t newest_count, newest_room;
    size_t total;
};

/* All zero is empty. */
void life_names_clear(struct life_names *names);
/* Takes heap__create, from which on the names at that address are another heap's, and class__define; passes over all
 * else. Names that find no memory are missing. */
void life_names_event(struct life_names *names, const struct event *event);
/* Gives each site of the heap its names and its class. */
void life_names_apply(const struct life_names *names, struct life_heap *heap);

#endif
