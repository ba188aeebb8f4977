/* Which heap of its process, and what it is called.
 *
 * A process can have several heaps with one number: two copies of libeden in it, a library that holds one and is
 * unloaded and loaded again, and the next program after an exec each count from 1. Their addresses come again, too.
 * A serial does not: it is given once in an observation. */
#ifndef EDEN_HEAP_REF_H
#define EDEN_HEAP_REF_H

#include "kernel/event.h"

struct heap_ref {
    uint64_t address, id; /* id: heap_id; 0: unknown */
    uint64_t serial;      /* 0: of an older recording, or of a heap that is not in the figures */
};

/* Of what has these three fields. */
#define HEAP_REF(heap) ((struct heap_ref){(heap)->address, (heap)->id, (heap)->serial})

/* An id can become known later: it counts only where there is no serial. */
static inline bool heap_is_same(struct heap_ref one, struct heap_ref other) {
    return one.serial == other.serial && (one.serial != 0 || (one.address == other.address && one.id == other.id));
}

/* The heap of an event; heap_id: what its address meant then. */
static inline struct heap_ref event_heap_ref(const struct event *event, uint64_t heap_id) {
    return (struct heap_ref){event_heap(event), heap_id, event->serial};
}

/* What --pid and --heap choose; 0: any. */
struct heap_choice {
    uint64_t pid, id, serial;
};

static inline bool heap_is_chosen(const struct heap_choice *choice, uint32_t pid, struct heap_ref heap) {
    return (choice->pid == 0 || choice->pid == pid) && (choice->id == 0 || choice->id == heap.id) &&
           (choice->serial == 0 || choice->serial == heap.serial);
}

/* "3", or "3#7" with `suffix`, its serial, if other heaps of its process have this number (0: none has); "?": the
 * number is unknown. --heap takes it. */
enum { HEAP_NUMBER = 48 };
char *heap_number_text(char text[HEAP_NUMBER], uint64_t id, uint64_t suffix);

#endif
