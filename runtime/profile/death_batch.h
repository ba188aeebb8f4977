/* Batches of deaths that are alike. */
#ifndef EDEN_PROFILE_DEATH_BATCH_H
#define EDEN_PROFILE_DEATH_BATCH_H

#include "eden_allocation_clock.h"
#include "eden_batches.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { TALLIES = 256, NO_SITE = UINT32_MAX };
struct site_tally {
    uint32_t site, count; /* NO_SITE: it is free */
    uint64_t bytes;
    uint64_t births; /* their sum, modulo 2^64 */
};

struct profile;
struct death_batch {
    struct profile *profile;
    struct eden_anchor end; /* of the lifetimes */
    bool is_censored;
    bool is_alike;       /* the profile's ends may be reported by batches: as rows, and of one weight */
    bool has_births;     /* reports a birth with each end */
    double weight;       /* of each */
    uint64_t from, span; /* births [from, from + span); span 0: none yet */
    uint64_t tenured;    /* the epoch; 0: they were not */
    uint32_t flags;      /* EDEN_LIFE_..., but TENURED */
    double ns;           /* the lifetime at its start, */
    double ns_a_byte;    /* and what a byte further takes from it */
    uint64_t bytes, tenured_ns, tenured_bytes;
    struct eden_life_cell like; /* what they have in common */
    uint32_t used_count;
    uint16_t used[TALLIES];
    struct site_tally tallies[TALLIES];
};

void death_batch_init(struct death_batch *batch, struct profile *profile, struct eden_anchor end, bool censored);
/* Reports what the batch holds, and begins another, which has this birth. */
void death_batch_advance(struct death_batch *batch, uint64_t birth, uint64_t tenured, uint32_t flags);
/* Frees a tally that another site has, for this one. */
void death_batch_take_tally(struct death_batch *batch, struct site_tally *tally, uint32_t site);
void death_batch_end(struct death_batch *batch); /* reports what it holds */

/* Where a site is counted, unless another one is. */
static inline struct site_tally *death_batch_tally(struct death_batch *batch, uint32_t site) {
    return &batch->tallies[site % TALLIES];
}

static inline void site_tally_count(struct site_tally *tally, size_t bytes, uint64_t birth) {
    tally->count++;
    tally->bytes += bytes;
    tally->births += birth;
}

static inline void death_batch_add(struct death_batch *batch, uint32_t site, size_t bytes, uint64_t birth,
                                   uint64_t tenured, uint32_t flags) {
    if (birth - batch->from >= batch->span || tenured != batch->tenured || flags != batch->flags) {
        death_batch_advance(batch, birth, tenured, flags);
    }
    struct site_tally *tally = death_batch_tally(batch, site);
    if (__builtin_expect(tally->site != site, 0)) {
        death_batch_take_tally(batch, tally, site);
    }
    site_tally_count(tally, bytes, birth);
}

#endif
