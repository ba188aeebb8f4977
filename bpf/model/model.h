/* The model: what the tool knows of the observed processes. Sources fill it, sinks (the subcommands) read it.
 *
 *     kernel maps --source--> model --+--> stat, top, export
 *     recording  --recording--> model +--> report, diff, tune
 *
 * A new runtime is a new source, a new report a new sink: neither knows the other. */
#ifndef EDEN_MODEL_H
#define EDEN_MODEL_H

#include "eden_histogram.h"
#include "kernel/event.h"
#include "kernel/pause_time.h"
#include "model/heap_ref.h"
#include "util/lookup.h"
#include <stdbool.h>
#include <stddef.h>

struct phase_model {
    uint64_t calls, total_ns, max_ns;
    uint64_t objects, bytes; /* sums of the done probes' arguments; 0 for scavenge and full */
    uint64_t outside_ns;     /* of total_ns, what is not in the observed time */
    uint64_t under_way_ns;   /* of the call that has not ended, so far: set by model_set_stopped, not in total_ns */
    uint64_t missing, missing_ns;        /* calls, and their time, that are not in buckets; not in recordings */
    uint64_t buckets[HISTOGRAM_BUCKETS]; /* of durations */
    /* Of a whole collection: what its thread did meanwhile, in all calls and in that of max_ns; what is missing there
     * of total_ns and max_ns is unknown. All 0: all of it. */
    struct pause_time pauses, longest;
};

/* The collection that a heap is in. */
struct collection_model {
    bool known;              /* false: attached late, and no event has said yet whether there is one */
    bool under_way;          /* the rest is 0 without */
    enum eden_phase phase;   /* the innermost */
    uint64_t since_ns;       /* when the collection began, CLOCK_MONOTONIC; 0: before its start could be seen */
    uint64_t phase_since_ns; /* when `phase` began; likewise */
    uint64_t until_ns;       /* when the snapshot was taken, or the end of the process was noticed */
    uint64_t observed_ns;    /* how long it has taken so far within the observed time */
};

/* How much of a heap's activity before its first observed event is in its figures. */
enum earlier {
    EARLIER_WHOLE,
    EARLIER_PARTIAL, /* up to the last collection before that: no later one was observed */
    EARLIER_UNKNOWN, /* nothing: the figures are since attach, and before[] is 0 */
    EARLIER_COUNT
};
extern const char *const earlier_names[EARLIER_COUNT];

/* Whole pauses have a place behind the phases: a full collection and the scavenges before it are one. */
enum { MODEL_PAUSE = EDEN_PHASE_COUNT, MODEL_PHASES };

struct heap_model {
    uint64_t address;
    uint64_t id;          /* heap_id; 0: unknown */
    uint64_t serial;      /* as in struct heap_ref */
    uint64_t suffix;      /* for heap_number_text: set by model_sort_heaps */
    char name[64];        /* "": unknown */
    bool late;            /* heap__create was not seen: the heap was alive at attach, or is a copy made by fork */
    enum earlier earlier; /* of a late heap; else EARLIER_WHOLE */
    bool destroyed;       /* heap__destroy was seen; from a recording: and heap_is_complete() */
    bool is_former;       /* its process has executed another program since and the heap ended with the old one */
    uint32_t owner;       /* as inspect_owner(), of its process when it was first seen; not in recordings */
    char command[64];     /* of a former one: /proc/PID/comm when it was first seen; "": unknown */
    uint64_t known;       /* bit i: figures[i] is known; an older runtime may lack the probe that reports it */
    uint64_t figures[EDEN_FIGURE_COUNT]; /* the heap's whole life: before + what was observed */
    uint64_t before[EDEN_FIGURE_COUNT];  /* late: before the first event that was seen; 0 otherwise and for gauges */
    uint64_t full_by_cause[EDEN_FULL_CAUSES];
    uint64_t full_by_cause_before[EDEN_FULL_CAUSES];
    struct phase_model *phase[MODEL_PHASES]; /* observed; owned; NULL: none; MODEL_PAUSE: not in recordings */
    struct collection_model collection;
    /* Observed time in collections, the one under way included. gc_ns counts a collection whole, when it is done. */
    uint64_t stopped_ns; /* see model_set_stopped */
    bool stopped_known;
};

/* Beyond the shares of processes and their children: heaps that are not counted, and their hits; and of all lost events
 * (the figures have them) those of these processes. */
struct model_losses {
    uint64_t heaps, hits, events;
};

struct process_model {
    struct process_key key;
    char command[64];    /* /proc/PID/comm */
    char unit[64];       /* as target_unit(); "" also where the source was not asked for it, and in recordings */
    const char *runtime; /* "eden" */
    bool late;           /* attached after its first instruction */
    bool ended;
    struct model_losses lost; /* of the process and its children */
    struct heap_model *heaps; /* owned */
    size_t heap_count, heap_room;
};

struct model {
    uint64_t wall_ns;                /* observed time */
    uint64_t lost;                   /* events lost, all kinds */
    uint64_t uncounted;              /* of these, hits that may be missing in the figures of any heap: the others found
                                        the ring buffer full, and figures count them */
    uint64_t lost_records;           /* of batches of lifetimes */
    uint64_t missed_children;        /* processes, the first one too, with a program that ended before it could be
                                        observed: whether it had heaps is unknown */
    bool has_status;                 /* the command has ended, and how is known: */
    int status;                      /* as a shell gives it */
    struct model_losses others;      /* of processes that are not listed one by one */
    struct process_model *processes; /* owned */
    size_t process_count, process_room;
    struct lookup by_key; /* of processes: there may be tens of thousands */
};

static inline uint64_t process_hash(const struct process_key *key) {
    return lookup_hash((const uint64_t[]){key->pid, key->start_ns}, 2);
}

/* All zero is an empty model. Adders return NULL where memory is refused. Pointers into arrays are good until the next
 * add to the same array. */
void model_clear(struct model *model);
struct process_model *model_process(struct model *model, const struct process_key *key);            /* finds or adds */
struct process_model *model_add_process(struct model *model, const struct process_key *key);        /* not there yet */
struct process_model *model_copy_process(struct model *model, const struct process_model *process); /* likewise */
struct heap_model *model_heap(struct process_model *process, struct heap_ref ref);                  /* finds or adds */
struct phase_model *model_phase(struct heap_model *heap, unsigned phase);                           /* finds or adds */

void model_clear_process(struct process_model *process); /* of its heaps */
void model_remove_last_heap(struct process_model *process);
void model_fit_heaps(struct process_model *process); /* keeps no room for more of them */

extern const char model_no_heap[]; /* what is said where there is none */

enum { MODEL_TEXT = 320, MODEL_NAMED_LOSERS = 8 };
bool model_has_lost(const struct model_losses *lost);
void model_add_losses(struct model_losses *sum, const struct model_losses *lost);
/* Reports each of the first MODEL_NAMED_LOSERS processes that lost something, and the sums of all others. */
void model_report_losses(const struct model *model, void (*report)(void *context, const char *text), void *context);
/* What is to be said of missed processes; "" where there are none. */
const char *model_missed_text(uint64_t missed, char text[MODEL_TEXT]);
/* Reports what the figures of a model lack: missed processes, what was before attach, losses of processes. */
void model_report_gaps(const struct model *model, void (*report)(void *context, const char *text), void *context);
/* The same at the end of observing; how many events were lost, too, and whether no heap was seen. had_others: of heaps
 * that the model no longer has. */
void model_report_end(const struct model *model, bool had_others, void (*report)(void *context, const char *text),
                      void *context);

size_t model_heap_count(const struct model *model); /* of all processes */

/* Whether it is there no more: destroyed, or ended with its process or the program that had it. */
static inline bool heap_has_ended(const struct process_model *process, const struct heap_model *heap) {
    return process->ended || heap->destroyed || heap->is_former;
}
/* Whether the heap was observed for its whole life. */
static inline bool heap_is_complete(const struct heap_model *heap) {
    return heap->destroyed && heap->earlier == EARLIER_WHOLE;
}
/* Whether its figures are those of its whole life; else they are "at least". */
static inline bool model_has_all(const struct model *model, const struct heap_model *heap) {
    return model->uncounted == 0 && heap_is_complete(heap);
}
/* Why earlier activity is missing in the figures of a heap; NULL: none is. */
const char *heap_earlier_text(const struct heap_model *heap);
/* What is to be said of the heaps where some is missing; "" where there are none. */
const char *model_earlier_text(const struct model *model, char text[MODEL_TEXT]);

/* NULL where there is none; so is the heap of no process. */
const struct process_model *model_find_process(const struct model *model, const struct process_key *key);
const struct heap_model *model_find_heap(const struct process_model *process, struct heap_ref ref);

/* In the order of their making, as far as their numbers tell it. */
void model_sort_heaps(struct process_model *process);

/* Sets stopped_ns of each heap from its other figures. It stays within the time that has passed: since the observation
 * began (before: NULL), or since an earlier snapshot. What of phases is observed stays within the observed time, and
 * parts within their whole. */
void model_set_stopped(struct model *model, const struct model *before);

/* What has been added since an earlier snapshot of the heap (NULL: since it was seen), or, of a gauge or a maximum, its
 * value. False: it is not known. */
bool heap_figure_since(const struct heap_model *heap, const struct heap_model *before, enum eden_figure figure,
                       uint64_t *value);
/* Observed time in collections, likewise, of the wall_ns that have passed. */
bool heap_stopped_since(const struct heap_model *heap, const struct heap_model *before, uint64_t wall_ns, uint64_t *ns);

/* How much of a time the causes explain; the rest, which is unknown. */
uint64_t pause_time_ns(const struct pause_time *time);
uint64_t pause_unknown_ns(const struct pause_time *time, uint64_t ns);
/* Sums with a part whose time of a cause is not measured have it not measured. */
void pause_time_add(struct pause_time *sum, const struct pause_time *time);
bool pause_time_is_measured(const struct pause_time *time, int cause);

/* What the calls that have ended took within the observed time. */
uint64_t phase_observed_ns(const struct phase_model *phase);

/* Limits each part, by enum eden_phase, to what its whole leaves after the parts before it: processes may report more.
 */
void phase_limit_parts(uint64_t ns[EDEN_PHASE_COUNT]);

/* The p-th percentile (0 < p < 100) of a phase's durations: the upper edge of the bucket that holds the nearest-rank
 * value, at most 6.25% above the true one and never above max_ns. 0 where there were no calls. */
uint64_t phase_percentile(const struct phase_model *phase, double p);

/* The names of the vocabulary, by enum. */
extern const char *const phase_names[EDEN_PHASE_COUNT];
extern const char *const pause_cause_names[PAUSE_CAUSES], *const pause_cause_headings[PAUSE_CAUSES],
                                                              *const pause_cause_meanings[PAUSE_CAUSES];
extern const int phase_parents[EDEN_PHASE_COUNT];   /* enum eden_phase, or -1: a whole collection */
enum eden_phase phase_whole(enum eden_phase phase); /* the collection that it is a part of */
/* The order of tables, in which parts follow their whole: the phase after this one, or EDEN_PHASE_COUNT. Before the
 * first is -1. */
int phase_next(int phase);
/* One of those that follow one another in a heap: all whole collections do, and the calls of one part. */
static inline enum eden_phase phase_in_turn(enum eden_phase phase) {
    return phase_parents[phase] < 0 ? EDEN_PHASE_scavenge : phase;
}

#endif
