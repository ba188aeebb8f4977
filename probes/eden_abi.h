/* What runtime, kernel programs and tool agree on: enumerations and records of fixed layout.
 *
 * The runtime and the tool are built apart and meet only here and in the memory of the traced process, perhaps years
 * apart. So: nothing is renumbered, fields are only appended (into `reserved` or at the end, with `bytes` telling a
 * reader how much there is), and a change that an old reader would misread raises EDEN_ABI_VERSION, which makes old
 * readers refuse. All fields are in the byte order and width of x86-64: addresses are 64-bit numbers. */
#ifndef EDEN_ABI_H
#define EDEN_ABI_H

#include "eden_enums.h"
#include <stdint.h>

#define EDEN_ABI_VERSION 1u
#define EDEN_HEAP_MAGIC 0x31706165486e6445ull   /* "EdnHeap1" */
#define EDEN_REGISTRY_MAGIC 0x316765526e6445ull /* "EdnReg1" */

enum eden_phase {
#define EDEN_PHASE(name, text, parent) EDEN_PHASE_##name,
#include "eden_phases.def"
#undef EDEN_PHASE
    EDEN_PHASE_COUNT
};

enum eden_figure {
#define EDEN_FIGURE(name, kind, unit, doc) EDEN_FIGURE_##name,
#include "eden_figures.def"
#undef EDEN_FIGURE
    EDEN_FIGURE_COUNT
};

enum eden_probe_id {
#define EDEN_PROBE(name, doc, ...) EDEN_PROBE_##name,
#include "eden_probes.def"
#undef EDEN_PROBE
    EDEN_PROBE_COUNT
};
#define EDEN_PROBE_MAX_ARGS 12

/* Values that eden_params.def names: a whole number that is not given, a size without limit. */
#define EDEN_UNSET (-1)
#define EDEN_NO_LIMIT UINT64_MAX

/* Class indices that are not the program's. */
enum {
    EDEN_CLASS_FREE = 0, /* a free chunk or filler, not an object */
    EDEN_CLASS_FIRST = 1,
    EDEN_CLASS_LIMIT = 1 << 22,
};

/* What parameter `pretenure` says of a class or site. */
enum eden_pretenured {
    EDEN_PRETENURED_NOT = 0,
    EDEN_PRETENURED_BORN = 1,   /* its objects are born in old space: a file names it */
    EDEN_PRETENURED_LEARNT = 2, /* its objects are tenured at their first scavenge: pretenure=auto has chosen it */
};

/* One class, or one site (a class at a place in the program: class_index is then another entry's). */
struct eden_class_info {
    uint64_t name; /* address of a NUL-terminated string */
    uint32_t name_length;
    uint32_t class_index; /* own index for a class; the class's for a site; 0: not defined */
    uint32_t format;
    uint32_t fixed_slots;
    uint32_t chosen;     /* to be tenured, where tenure_criterion is class or site */
    uint32_t pretenured; /* enum eden_pretenured */
};
#define EDEN_CLASS_PAGE_SHIFT 10 /* entries a page of the table: 1 << 10 */

/* Every heap starts with this; tools read it through /proc/PID/mem, or by a kernel program at a probe.
 *
 * `lock` is odd while fields change (a sequence lock: read lock, read the rest, read lock again; equal and even means
 * consistent). Figures change only at the end of a collection. They are what the probes had said by the end of
 * collection `seq`: add the events of later collections and nothing is counted twice. `activity` and what is with it
 * change with each phase, parameters when they are set or policy=auto decides. */
struct eden_heap_info {
    uint64_t magic; /* EDEN_HEAP_MAGIC */
    uint32_t version;
    uint32_t bytes; /* of this struct, as the runtime was built */
    uint64_t heap_id;
    uint64_t next; /* the next heap of the process; 0: last */
    uint64_t lock;
    uint64_t seq;
    char name[64];
    uint64_t created_ns; /* CLOCK_MONOTONIC */
    uint64_t new_start;  /* new space: address and size */
    uint64_t new_bytes;
    uint64_t class_pages; /* address of an array of addresses of pages of struct eden_class_info */
    uint32_t class_limit; /* indices below it may be defined */
    uint32_t figure_count;
    uint64_t full_by_cause[EDEN_FULL_CAUSES];
    uint64_t figures[32];         /* enum eden_figure; figure_count of them are valid */
    uint64_t sample_control;      /* written by tools to set a sampling rate; 0: the default */
    uint64_t batch_semaphore;     /* address of the batch probe's: not 0 there while a listener is attached */
    uint64_t requested_semaphore; /* likewise, of the probe batch__requested */
    uint64_t params;              /* address of param_count doubles (eden_params.h), all on one page; 0: shows none */
    uint64_t params_set;          /* bit i: the program, EDEN_OPTIONS or eden_heap_set has set parameter i */
    uint64_t pretenure_file;      /* where `pretenure` is a file: address of its name, NUL-terminated; 0: it is not */
    uint32_t param_count;
    uint32_t activity;    /* enum eden_activity */
    uint64_t phase;       /* the innermost enum eden_phase under way, where a collection is */
    uint64_t phase_ns;    /* when that began, on CLOCK_MONOTONIC */
    uint64_t activity_ns; /* when the stop or the collection began that the phase is a part of */
    /* Written by tools: not 0, the heap collects in full after its next scavenge. The runtime writes 0 when a full
     * collection begins. A runtime without the probe census takes no notice of it. */
    uint64_t collect_request;
    uint64_t reserved[5];
};

/* One a process and copy of the library, at the address of the heap__create semaphore, which is its first field: so
 * the ELF note leads to it even in a stripped binary. */
struct eden_registry_info {
    uint16_t heap_create_semaphore;
    uint16_t reserved16;
    uint32_t version; /* EDEN_ABI_VERSION */
    uint64_t magic;   /* EDEN_REGISTRY_MAGIC */
    uint64_t first;   /* address of the first heap's struct eden_heap_info; 0: none */
    uint64_t next_id; /* the id that the next heap will have */
};

#endif
