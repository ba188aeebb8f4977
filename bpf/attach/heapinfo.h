/* Heaps as they describe themselves in the memory of a running process. `mem` is its /proc/PID/mem, open. */
#ifndef EDEN_HEAPINFO_H
#define EDEN_HEAPINFO_H

#include "attach/target.h"
#include "eden_abi.h"
#include "eden_batches.h"
#include "eden_params.h"
#include <stdbool.h>
#include <stddef.h>

struct heapinfo {
    uint64_t address;
    uint64_t id;
    uint64_t seq;
    char name[64];  /* terminated */
    uint64_t known; /* bit i: figures[i] is there */
    uint64_t figures[EDEN_FIGURE_COUNT];
    uint64_t full_by_cause[EDEN_FULL_CAUSES];
    uint64_t class_pages;
    uint64_t control_word; /* address of sample_control; 0: a runtime that has none */
    uint64_t control;      /* what is in it */
    uint64_t collect_word; /* address of collect_request; 0: a runtime that has none */
    bool has_listener;     /* somebody is attached to its probe batch or, for requested profiles, batch__requested;
                              false too: a runtime that does not say so */
    uint32_t class_limit;
    enum eden_activity activity; /* EDEN_ACTIVITY_UNKNOWN also where what the header says is none */
    enum eden_phase phase;       /* under way, where a collection is */
    uint64_t phase_ns;           /* when that began, and when the stop or the collection did: CLOCK_MONOTONIC */
    uint64_t activity_ns;
};

/* The parameters in force. */
struct heap_params {
    uint64_t known;                 /* bit i: value[i] is there, and is one of the parameter's */
    uint64_t set;                   /* bit i: somebody has set it */
    double value[EDEN_PARAM_COUNT]; /* eden_params.h */
    char pretenure_file[256];       /* where `pretenure` is a file; empty: its name is not known */
};

/* As param__set reports a value that is known. */
void heap_params_text(const struct heap_params *params, enum eden_param_id id, char text[256]);

/* Whether a tool profiles it, or is ending its profile: a request that a killed tool has left has no listener. */
static inline bool heapinfo_is_profiled(const struct heapinfo *info) {
    return info->has_listener && (info->control & EDEN_CONTROL_ASKED) != 0;
}

/* What a header says that is copied already, but for has_listener. False: it is none. */
bool heapinfo_take(const struct eden_heap_info *header, uint64_t address, struct heapinfo *info);

/* One heap, consistent in itself. False: unreadable, no heap, or it changed all the time. */
bool heapinfo_read(struct memory memory, uint64_t address, struct heapinfo *info);

/* The heaps of the registry at `registry`, at most `most` of them. Returns how many, and in *unread how many more were
 * listed, and not read; -1 and errno where the process cannot be read or there is no registry of a known
 * version (EPROTO). */
int heapinfo_list(struct memory memory, uint64_t registry, struct heapinfo *list, int most, uint64_t *unread);

/* The parameters of the heap with this ID. False: unreadable, another heap, or a runtime that does not show them. */
bool heapinfo_params(struct memory memory, uint64_t address, uint64_t id, struct heap_params *params);

/* One heap that this registry lists. False: it does not, or the heap cannot be read. */
bool heapinfo_find(struct memory memory, uint64_t registry, uint64_t address, struct heapinfo *info);

/* The heap's classes and sites by name, from index `from` on. Stops where on_class returns false, or after as much work
 * as one call may do, and returns the index to go on with; 0: that was all, or too many names cannot be read. Adds to
 * *unread how many could not. */
uint32_t heapinfo_classes(struct memory memory, const struct heapinfo *info, uint32_t from,
                          bool (*on_class)(void *context, uint32_t index, uint32_t class_index, const char *name),
                          void *context, uint32_t *unread);

#endif
