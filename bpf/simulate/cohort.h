/* Objects that were allocated, and will die, at about the same time, as bytes: what a simulated heap holds. */
#ifndef EDEN_SIMULATE_COHORT_H
#define EDEN_SIMULATE_COHORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* They die between `from` and `to`, spread evenly; `bytes` of them are alive at `from`. */
struct cohort {
    uint64_t from, to;
    double bytes;
    bool reached_last; /* and tenured for it: they refer to nothing young */
    bool held;         /* they are dead, and dead old objects hold them until the next full collection */
};

struct cohorts {
    struct cohort *at; /* owned */
    size_t count, room;
};

/* The share that is alive at a time. */
double cohort_alive(const struct cohort *cohort, uint64_t time);
/* Splits off the part that dies by then, and returns it. */
struct cohort cohort_split(struct cohort *cohort, uint64_t time);
/* Adds it at the end, unless it is smaller than a thousandth of a byte. False: no memory. */
bool cohorts_add(struct cohorts *cohorts, const struct cohort *cohort);
double cohorts_bytes(const struct cohorts *cohorts);
/* A full collection: removes cohorts that are dead by then, and the dead part of others. Returns the removed bytes. */
double cohorts_expire(struct cohorts *cohorts, uint64_t time);
/* Merges cohorts that die alike. Does not keep their order. */
void cohorts_merge(struct cohorts *cohorts);
void cohorts_clear(struct cohorts *cohorts);

#endif
