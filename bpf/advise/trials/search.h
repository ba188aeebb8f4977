/* The search of `edenscope tune --search`, without the running: it asks for a point to be measured and reads figures.
 * So it can be tested on made-up cost functions. search.c describes the algorithm. */
#ifndef EDEN_TUNE_SEARCH_H
#define EDEN_TUNE_SEARCH_H

#include "advise/trials/search_space.h"
#include "advise/trials/stats.h"

/* What one run under a point took: seconds and bytes. */
struct search_figures {
    double gc;  /* CPU time in collections: the time in them, less the share that the machine gave to others */
    double own; /* CPU time of the program itself: all but gc */
    double cpu, wall, pause, memory;
    double gain_bound[SEARCH_AXES]; /* of the seconds in gc, those that the axis may change; 0: none */
    uint64_t work; /* equal for runs whose collections did the same: as many, and as many bytes copied and freed */
};

enum search_answer { SEARCH_RAN, SEARCH_FAILED /* this point does not work */, SEARCH_ENDED /* measure no more */ };

struct search_ports {
    void *context;
    enum search_answer (*run)(void *context, const struct search_point *point, struct search_figures *figures);
    double (*left)(void *context); /* of the budget, 1 to 0 */
};

enum { SEARCH_RUNS = 64, SEARCH_FINALISTS = 12 };

struct candidate {
    struct search_point point;
    bool failed;
    size_t runs, first_final; /* runs from first_final on were made in rounds, with those of finalists */
    struct search_figures figures[SEARCH_RUNS];
};

struct search {
    const struct search_space *space;
    struct search_ports ports;
    double memory_factor; /* the recommendation takes at most this many times the memory of the program as it is */
    double memory_most;   /* no larger eden is tried: bytes */
    struct candidate *candidate; /* the first is the program as it is; owned */
    size_t count, room;
    size_t runs;    /* in all, failed ones included */
    size_t repeats; /* how often a point is run when it is first come to */
    bool ended;
    double noise; /* relative deviation of gc from run to run */
    size_t finalist[SEARCH_FINALISTS], finalists;
    size_t rounds; /* that all finalists have finished; 0, or three at least */
};

/* What was found. Indices of candidates. */
struct search_finding {
    size_t recommended;  /* least gc of those within the memory, and not seen to be slower in all; 0: as it is */
    size_t least_within; /* least gc of those within the memory, even if it is slower in all */
    size_t least_gc;     /* least gc whatever the memory, not seen to be slower in all */
    size_t likely;       /* of the front, within the memory: less gc by what counts, noise or not; 0: none */
    size_t *front;       /* by rising memory, each with less gc than those before; owned */
    size_t front_count;
    bool cache; /* a larger eden made the program itself slower: eden.cache */
    size_t cache_small, cache_large;
    struct stats cache_cpu; /* ratios large / small */
};

/* Searches until the budget is used up, or no more is to be found. `starts` are points to begin with beside the
 * program as it is, which always comes first. The caller has set space, ports and the two memories. False: there is no
 * memory, or the program as it is could not be measured once. */
bool search_run(struct search *search, const struct search_point *starts, size_t start_count);
void search_clear(struct search *search);

bool search_is_finalist(const struct search *search, size_t index);

/* Medians of a candidate: of the rounds' runs where there are some, else of all runs. Its gc is corrected for the state
 * of the machine, as search.c describes. It must have run. */
struct search_figures search_medians(const struct search *search, size_t index);

/* The gc of one run of a candidate, so corrected. */
double search_gc(const struct search *search, size_t index, size_t run);

/* Ratios of two finalists' CPU time, b / a, round by round. */
struct stats search_cpu_ratio(const struct search *search, size_t a, size_t b);

/* False: there is no memory. */
bool search_find(const struct search *search, struct search_finding *finding);
void search_finding_clear(struct search_finding *finding);

#endif
