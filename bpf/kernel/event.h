/* One probe hit as the kernel program saw it: what the ring buffer carries, what a recording stores, what `script`
 * prints. Shared by the kernel program and the tool, so plain types of fixed width only. */
#ifndef EDEN_EVENT_H
#define EDEN_EVENT_H

#include "eden_args.h"
#include "kernel/pause_time.h"
#include <stdbool.h>

#define EVENT_TEXT 64
enum { EVENT_TEXTS = 2 };

/* Names a process for good: pids come again, a pid with its start time does not. The start is rounded down to the
 * resolution of /proc/PID/stat, so that the kernel program's value and that of /proc can be compared. */
#define PROCESS_START_STEP_NS 10000000u
struct process_key {
    uint64_t start_ns; /* task start, CLOCK_BOOTTIME, a multiple of PROCESS_START_STEP_NS */
    uint32_t pid;      /* thread group id, as the tracer sees it */
    uint32_t reserved;
};

static inline bool process_is_same(const volatile struct process_key *one, const volatile struct process_key *other) {
    return one->pid == other->pid && one->start_ns == other->start_ns;
}

struct event {
    uint64_t time_ns; /* CLOCK_MONOTONIC */
    struct process_key process;
    uint32_t tid;
    uint16_t probe;  /* enum eden_probe_id */
    uint16_t args;   /* how many of arg[] the traced runtime passed */
    uint64_t serial; /* of the heap: no two heaps of an observation have the same; 0: there was no room for it */
    uint32_t entry;  /* of the heap: 1 + its number among the kernel program's entries; 0: none, or in a recording */
    uint32_t has_pause;
    uint64_t arg[EDEN_PROBE_MAX_ARGS];
    union {
        char text[EVENT_TEXTS]
                 [EVENT_TEXT];   /* the string arguments, in order; cut at 63 bytes; empty where unreadable */
        struct pause_time pause; /* if has_pause: of a collection that ends, whose probe has no strings */
    };
};

/* The first argument of every probe. */
static inline uint64_t event_heap(const struct event *event) { return EDEN_ARG(event->arg, heap__create, heap); }

/* Of class__define: a site's class, a class itself; 0: the runtime does not pass it. */
static inline uint64_t event_of_class(const struct event *event) {
    return EDEN_HAS(event->args, class__define, of_class) ? EDEN_ARG(event->arg, class__define, of_class) : 0;
}

#endif
