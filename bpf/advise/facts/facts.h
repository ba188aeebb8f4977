/* The facts of one heap, as the rules of tuning need them. Rules read nothing else, so tests can make facts by hand.
 *
 * All facts are of the observed time: for a heap that was attached late, of the time since attach. Times are
 * nanoseconds of CLOCK_MONOTONIC, sizes bytes. */
#ifndef EDEN_TUNE_FACTS_H
#define EDEN_TUNE_FACTS_H

#include "model/model.h"
#include "model/parameters.h"
#include "recording/recording.h"
#include <stdbool.h>
#include <stddef.h>

/* One collection whose end was recorded. Values of its start probe are 0 unless `started`. */
struct tune_pass {
    bool full; /* else a scavenge; the one before a full collection is a pass of its own */
    bool started;
    uint64_t seq, cause;
    uint64_t start_ns, duration_ns;
    uint64_t allocated_since; /* since the start of the pass before */
    uint64_t old_before;      /* old space in use */
    /* Scavenges. */
    uint64_t eden_used, survivors_before, survivors_after;
    uint64_t remembered_before, remembered_after;
    uint64_t tenured_objects, tenured_bytes;
    uint64_t threshold, semispace_start, semispace_limit;
    /* Full collections. */
    uint64_t capacity_before, requested, old_after, capacity_after;
    uint64_t free_chunks, largest_free, segments, freed_bytes, young_freed;
    /* Parts, by enum eden_phase; 0 where there was none. part_ns has the whole, too: no part is longer. */
    uint64_t part_ns[EDEN_PHASE_COUNT], part_objects[EDEN_PHASE_COUNT], part_bytes[EDEN_PHASE_COUNT];
};

struct tune_allocation { /* of a large object, or one that failed */
    uint64_t time_ns, bytes;
    uint32_t class_id;
};

struct tune_segment { /* old space grew or shrank by a segment */
    uint64_t time_ns, bytes, capacity_after;
    bool mapped;
};

/* A large remembered object's scans, those of a class or site together. */
struct tune_scans {
    uint32_t class_id;
    uint64_t count, slots, young_references, duration_ns;
};

/* What the sampled objects of a class or site stand for. */
struct tune_site {
    char name[160]; /* "Class, site" */
    uint64_t samples, tenured_samples;
    double objects, bytes;  /* allocated */
    double tenured_bytes;   /* moved to old space; those born there are not among them */
    double wasted_bytes;    /* of these, dead at the first full collection after it */
    double nepotism_bytes;  /* kept by dead old objects alone */
    double alive_bytes;     /* not seen to die */
    double copied_bytes;    /* by scavenges: an object's size as often as it survived one */
    double survivor_bytes;  /* of the objects that survived a scavenge */
    double old_bound_bytes; /* of those, tenured and alive beyond the next full collection, or at the end */
};

/* Of the objects that survived a scavenge, how many bytes lived for how long on the clock of bytes allocated (buckets
 * of eden_histogram.h, KiB), and how often scavenges copied them; more often than the last counts as the last. */
enum { TUNE_COPIES = 16 };
struct tune_survivors {
    double tenured[HISTOGRAM_BUCKETS][TUNE_COPIES];    /* until it was moved to old space; lifetimes go on there */
    double died_young[HISTOGRAM_BUCKETS][TUNE_COPIES]; /* or were young at the end */
};

/* Kinds of collections, by which their time is accounted for. */
enum { TUNE_SCAVENGES, TUNE_FULLS, TUNE_KINDS };

struct tune_facts {
    struct process_key process;
    char command[64], heap_name[64];
    uint64_t address, id, serial, suffix; /* of the heap, as in struct heap_model */
    bool late, complete;                  /* there before the recording; its end was seen */
    struct collection_model collection;   /* under way at the end; it is in no figure and no pass */
    uint64_t lost;                        /* events and records of the recording */
    uint64_t wall_ns;                     /* for how long the heap was observed */
    uint64_t recorded_ns;                 /* for how long anything was */
    uint64_t start_ns;                    /* since when */
    uint64_t figures[EDEN_FIGURE_COUNT];  /* sums: of what was observed */
    uint64_t known;                       /* bit i: figures[i] is */
    uint64_t full_by_cause[EDEN_FULL_CAUSES];
    struct pause_time spent[TUNE_KINDS]; /* what the threads did that collected; 0: not known */

    struct tune_parameter parameters[EDEN_PARAM_COUNT];
    double ran_with_max_heap; /* where tune_ask_max_heap has changed the parameter: what it was; 0: it has not */

    /* Owned arrays, in order of time. */
    struct tune_pass *passes;
    size_t pass_count, pass_room;
    size_t unreported_passes; /* passes whose end, or some of its values, is missing */
    struct tune_allocation *large;
    size_t large_count, large_room;
    struct tune_allocation *failures;
    size_t failure_count, failure_room;
    struct tune_segment *segments;
    size_t segment_count, segment_room;

    /* Most time first. */
    bool scans_reported; /* remembered__scan was recorded */
    struct tune_scans *scans;
    size_t scan_count, scan_room;

    /* Most bytes allocated first. */
    bool lifetimes; /* objects were sampled, */
    bool details;   /* and recorded one by one: without, the fate of a site's tenured objects is 0 */
    struct tune_site *sites;
    size_t site_count;
    struct tune_site all;             /* all of them together; no name */
    struct tune_survivors *survivors; /* owned; NULL: no details */

    struct tune_class *classes; /* by id */
    size_t class_count, class_room;
};

struct tune_class {
    uint32_t id, of; /* of: the class of a site; a class's own id */
    char name[64];
};

/* NULL: it was not recorded. */
const struct tune_class *tune_class(const struct tune_facts *facts, uint32_t id);
/* "Class, site", "Class", or "class 17" where there is no name. */
enum { TUNE_LABEL = 160 };
char *tune_class_label(char text[TUNE_LABEL], const struct tune_facts *facts, uint32_t class_id);

void tune_facts_clear(struct tune_facts *facts);

/* The class or site with the largest measure; NULL: all are 0. */
const struct tune_site *tune_most(const struct tune_facts *facts, double (*measure)(const struct tune_site *site));

/* Whether a collection ended while the heap was observed: without one, its time in collections is not judged. */
bool tune_has_collections(const struct tune_facts *facts);

/* How long the pause took that ends with this pass: a full collection and the scavenges before it are one. 0: it goes
 * on with the next pass. */
uint64_t tune_pause_ns(const struct tune_facts *facts, size_t pass);
/* At the end: it is known that no collection was under way. */
bool tune_is_at_rest(const struct tune_facts *facts);
/* The observed time in the collection under way at the end; 0: there was none, or it is not known. */
uint64_t tune_under_way_ns(const struct tune_facts *facts);
/* The same of one that took most of the observed time: it hangs, rather than that the recording happened to end in it.
 */
uint64_t tune_unfinished_ns(const struct tune_facts *facts);
/* Its kind. */
int tune_unfinished_kind(const struct tune_facts *facts);

/* Shares, 0 where there is no time. */
double tune_gc_share(const struct tune_facts *facts);                 /* of wall time */
double tune_share_of_gc(const struct tune_facts *facts, double ns);   /* of the time in collections */
double tune_share_of_time(const struct tune_facts *facts, double ns); /* of wall time */
uint64_t tune_figure(const struct tune_facts *facts, enum eden_figure figure);
double tune_old_peak(const struct tune_facts *facts);  /* the most of old space that was mapped, bytes */
double tune_heap_peak(const struct tune_facts *facts); /* the same with new space */
/* The most that a full collection left in old space, bytes. 0: there was no full collection. */
double tune_alive(const struct tune_facts *facts);
/* The least that the heap needs, bytes: that, and new space, or the smallest new space where policy=auto sizes it. */
double tune_least_heap(const struct tune_facts *facts);
/* Sets max_heap, in bytes: rules then propose values that fit it. */
void tune_ask_max_heap(struct tune_facts *facts, uint64_t bytes);
bool tune_asks_max_heap(const struct tune_facts *facts);
double tune_ran_with_max_heap(const struct tune_facts *facts);
double tune_number(const struct tune_facts *facts,
                   enum eden_param_id id); /* its value; policy=auto: eden_size on average */
/* Does policy=auto decide what this parameter is for? A program that sets the default looks like one that sets
 * nothing. */
bool tune_is_decided(const struct tune_facts *facts, enum eden_param_id id);
/* Whether the defaults are assumed: the heap was attached late, and its header shows no parameters. */
bool tune_assumes_defaults(const struct tune_facts *facts);
bool tune_is_old_decided(const struct tune_facts *facts);      /* when old space is collected for growth */
bool tune_is_tenuring_decided(const struct tune_facts *facts); /* which survivors are tenured */
/* The share of what lives by which old space grows before it is collected; policy=auto: without a limit. */
double tune_growth(const struct tune_facts *facts);

/* The heaps of a recording. */
struct tune_heaps {
    struct tune_facts *at; /* owned; in order of process and number */
    size_t count;
};

/* The chosen heaps. False and why where the recording can't be read, or there is no memory; *heaps is then empty. No
 * heap is no failure. */
bool tune_heaps_read(struct tune_heaps *heaps, struct recording *recording, const struct heap_choice *choice,
                     struct failure *why);
void tune_heaps_clear(struct tune_heaps *heaps);

#endif
