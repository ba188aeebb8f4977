/* The model of lifetimes: what the tool knows of the sampled objects of each heap. Filled from the kernel maps (live,
 * where only sums are asked for) or from records (a recording, or live where details are); read by the views.
 *
 * Processes supply all of it, and may supply whatever they like: finding or adding a heap, a site or a bucket takes a
 * bounded number of steps, the memory of each process has a limit (share.h), and a signal ends the filling.
 *
 * All counts, weights and sums are those of probes/eden_batches.h; weights are in units of 1 / EDEN_WEIGHT_ONE. For
 * every site births.count = the deaths' and the censored's count together, once the profile has ended and nothing was
 * lost. */
#ifndef EDEN_LIFE_MODEL_H
#define EDEN_LIFE_MODEL_H

#include "eden_batches.h"
#include "eden_histogram.h"
#include "kernel/event.h"
#include "kernel/life_kernel.h"
#include "model/heap_ref.h"
#include "model/lifetimes/decode.h"
#include "model/lifetimes/share.h"
#include "model/lifetimes/stacks.h"
#include "util/failure.h"
#include "util/lookup.h"
#include "util/sum.h"
#include <stdbool.h>
#include <stddef.h>

/* Sampled objects of a heap with a known stack and no reported end, by birth. */
struct life_sample {
    uint64_t birth_bytes;
    uint32_t stack; /* its number; 0: the object's end was reported */
};

struct life_samples {
    struct life_sample *at; /* owned; in order of birth */
    size_t count, room, ended;
};

/* All zero is empty. */
void life_samples_clear(struct life_samples *samples);
/* False, and nothing is added: no memory, or it was not born after those that are there. */
bool life_samples_add(struct life_samples *samples, uint64_t birth_bytes, uint32_t stack);
/* The number of the stack of the object born then, which is forgotten; 0: not known. */
uint32_t life_samples_end(struct life_samples *samples, uint64_t birth_bytes);

/* What a lifetime is measured in. Scavenges and full collections are those survived; buckets as for the others. */
enum life_clock {
    LIFE_NS = EDEN_LIFE_NS,
    LIFE_BYTES = EDEN_LIFE_BYTES,
    LIFE_SCAVENGES = EDEN_LIFE_SCAVENGES,
    LIFE_FULLS = EDEN_LIFE_FULLS,
    LIFE_CLOCKS = EDEN_LIFE_CLOCKS
};

/* Each sum stays at the largest number rather than start anew: the counts are the process's. */
static inline void life_sums_add(struct life_sums *into, const struct life_sums *from) {
    for (int i = 0; i < LIFE_SUMS_WORDS; i++) {
        sum_add((uint64_t *)into + i, ((const uint64_t *)from)[i]);
    }
}

struct life_bucket {
    uint16_t bucket;
    uint64_t count, weight, weight_bytes;
};

/* A histogram of lifetimes: buckets in ascending order, none empty. */
struct life_histogram {
    struct life_bucket *at; /* owned */
    size_t count, room;
};

/* In a model with stacks these take the place of sites: life_site.site is EDEN_CLASS_LIMIT plus the number of a stack,
 * or, of objects whose stack is not known, this plus the index in their headers (stats/by_stack.h). */
enum { LIFE_NO_STACK = 2 * EDEN_CLASS_LIMIT };
static inline bool life_is_stack(uint32_t site) { return site >= EDEN_CLASS_LIMIT; }

struct life_site {
    uint32_t site;   /* the index in the objects' headers: a class's, or that of a class at a site */
    uint32_t origin; /* that index, where `site` is a stack's */
    uint32_t
        class_id;  /* the class's own index; == site where it is not allocated at a site, or where that is unknown */
    char name[64]; /* of the site; "": unknown */
    char class_name[64];
    const struct life_stack *stack; /* the model's; NULL: not grouped by stack, or not known (stats/by_stack.h) */
    struct life_sums births;        /* count, bytes, weight, weight_bytes alone */
    struct life_sums *ended[LIFE_OUTCOMES][EDEN_LIFE_FLAGS]; /* owned; NULL: none ended so, as most are */
    struct life_histogram histogram[LIFE_OUTCOMES][LIFE_CLOCKS];
};

/* What ended so: all zero where none did. */
static inline const struct life_sums *life_site_ended(const struct life_site *site, enum life_outcome outcome,
                                                      unsigned flags) {
    static const struct life_sums none;
    return site->ended[outcome][flags] ? site->ended[outcome][flags] : &none;
}

/* What found no room in its process's share, or no memory. */
struct life_beyond {
    uint64_t births, ends; /* sampled objects whose site is not in the model */
    uint64_t buckets;      /* objects missing in histograms, once for each clock */
};

struct life_heap {
    struct process_key process;
    char command[64];
    uint64_t address, id, serial; /* as in struct heap_ref */
    uint64_t suffix;              /* for heap_number_text: set by life_model_sort */
    char name[64];
    bool begun;                       /* `state` is known */
    struct eden_profile_record state; /* the last one that came; all else is of the profile that it is of */
    uint64_t replaced;                /* profiles whose place that one took */
    struct life_decoder decoder;      /* owned; of short forms of records */
    struct life_samples samples;      /* owned; where stacks are known */
    bool from_cells;                  /* ends, so that no stack of them can be known, though the model has stacks */
    struct life_site *sites;          /* owned; in order of `site` once the model is sorted */
    size_t site_count, site_room;
    struct lookup by_site;
    struct life_share *share; /* the model's; NULL: of a heap that is not a model's, without a limit */
    uint64_t bytes;           /* taken of it */
    struct life_beyond beyond;
};

/* Receives one object, as its end was reported. False: it wants no more of them. */
typedef bool life_object_fn(void *context, const struct life_heap *heap, const struct eden_life_record *record);

/* Where a model's objects can be had one by one, in the order in which they ended, as often as wanted: there may be
 * more of them than memory holds. */
struct life_model;
struct life_objects {
    /* NULL: they were not reported one by one. False and why: not all can be had. */
    bool (*each)(void *from, const struct life_model *model, life_object_fn *visit, void *context, struct failure *why);
    void *from;
};

struct life_model {
    uint64_t wall_ns;
    uint64_t lost; /* batches or records that did not arrive, and objects that the heaps themselves lost */
    struct life_heap *heaps;
    size_t heap_count, heap_room;
    struct lookup by_key;
    struct life_shares shares;
    /* Whose a process is (struct life_user); NULL: not known. */
    unsigned (*user_of)(const void *context, const struct process_key *process);
    const void *user_context;
    int interrupts;   /* signals that had come before (interrupt_count()): another one ends the filling */
    uint64_t unknown; /* batches of kinds that this version does not know */
    const struct life_stacks *stacks; /* not NULL: objects are grouped by them (LIFE_BATCH_STACK) */
    struct life_objects objects;
    life_object_fn *on_object; /* receives each object that life_model_batch adds; NULL: nobody is */
    void *object_context;
    bool is_of_objects; /* it hands objects on, and holds no sites */
};

/* All zero is an empty model, which stays where it is from the first heap on. Adders return NULL, or false, where
 * memory is refused, or where there is none left in the process's share; pointers into arrays are good until the next
 * add to the same array. */
void life_model_clear(struct life_model *model);
/* Whether a signal has come since filling began; *why says so. */
bool life_model_is_interrupted(const struct life_model *model, struct failure *why);
struct life_heap *life_model_heap(struct life_model *model, const struct process_key *process,
                                  struct heap_ref ref); /* finds or adds; there is a most */
struct life_heap *life_model_find(const struct life_model *model, const struct process_key *process,
                                  struct heap_ref ref);                        /* NULL: there is none */
struct life_site *life_heap_site(struct life_heap *heap, uint32_t site);       /* finds or adds */
struct life_site *life_heap_find(const struct life_heap *heap, uint32_t site); /* NULL: there is none */
/* Add to what is there. */
bool life_site_end(struct life_heap *heap, struct life_site *site, enum life_outcome outcome, unsigned flags,
                   const struct life_sums *sums);
bool life_site_bucket(struct life_heap *heap, struct life_site *site, enum life_outcome outcome, enum life_clock clock,
                      const struct life_bucket *bucket);
bool life_histogram_reserve(struct life_histogram *histogram, size_t room); /* as many buckets as `room` */
void life_site_clear(struct life_site *site);
void life_model_choose(struct life_model *model, const struct heap_choice *choice); /* leaves these alone */
/* Heaps in order of process and number, sites in order of their index, wherever they came from. */
void life_model_sort(struct life_model *model);
/* Adds to `lost` what found no room in its process's share, and reports it on stderr. The model is sorted. */
void life_model_report_beyond(struct life_model *model);
/* Adds one batch, as the probe handed it over, to a heap. Where a heap begins another profile, that takes the place of
 * the one before. What finds no room is left out and counted in heap->beyond. False: some of the records, which are
 * left out, make no sense, or the clock that they need found no room. */
bool life_model_batch(struct life_model *model, struct life_heap *heap, uint32_t kind, const void *records,
                      uint64_t count, uint64_t record_bytes);

#endif
