/* Collection hooks: functions of the program that are called after each collection. */
#ifndef EDEN_API_HOOKS_H
#define EDEN_API_HOOKS_H

#include "heap/heap.h"

struct collection_hook {
    eden_collection_hook call;
    void *context;
};

struct hooks {                /* in the order in which they were added */
    struct observer observer; /* first */
    struct collection_hook *entries;
    size_t count, room;
    bool is_running; /* nothing may allocate or collect */
};

void hooks_subscribe(struct hooks *hooks, eden_heap *heap); /* the last of all observers */
void hooks_destroy(struct hooks *hooks);
/* True, with last_error filled, if a hook runs: then `call`, which may collect, does nothing. */
bool hooks_refuse(eden_heap *heap, const char *call);

#endif
