/* Simulated old space: its use, when it requests a full collection, and whether a large object finds room.
 *
 * Free memory is of two kinds. Pieces are left by small objects: later small objects reuse them (they find chunks of
 * their size), large ones cannot. Chunks are the rest of segments and the space of dead large objects: large objects
 * take the best fit, small objects too once the pieces are used up.
 *
 * Failure. Compaction, which turns pieces into chunks, and the return of segments are not simulated. So a collection
 * caused by a large allocation may be predicted wrongly, or too late. */
#include "simulate/old.h"

enum { MERGE_FROM = 4096 };

void simulated_old_init(struct simulated_old *old, const struct simulate_parameters *parameters) {
    /* A first segment's worth is no growth: runtime/api/create.c. */
    *old = (struct simulated_old){.parameters = parameters, .used_at_full = parameters->grow_headroom};
}

void simulated_old_clear(struct simulated_old *old) {
    cohorts_clear(&old->tenured);
    cohorts_clear(&old->large);
    cohorts_clear(&old->chunks);
}

/* The smallest chunk of at least so many bytes; NULL: none. */
static struct cohort *best_fit(const struct simulated_old *old, double bytes) {
    struct cohort *best = NULL;
    for (size_t i = 0; i < old->chunks.count; i++) {
        struct cohort *chunk = &old->chunks.at[i];
        if (chunk->bytes >= bytes && (!best || chunk->bytes < best->bytes)) {
            best = chunk;
        }
    }
    return best;
}

/* From a chunk, or from a new segment. */
static bool take(struct simulated_old *old, double bytes) {
    struct cohort *chunk = best_fit(old, bytes);
    if (!chunk) {
        double headroom = old->parameters->grow_headroom;
        struct cohort segment = {.bytes = headroom > bytes ? headroom : bytes};
        if (!cohorts_add(&old->chunks, &segment)) {
            return false;
        }
        chunk = &old->chunks.at[old->chunks.count - 1];
    }
    chunk->bytes -= bytes;
    if (chunk->bytes < 16) { /* less than any object */
        *chunk = old->chunks.at[--old->chunks.count];
    }
    return true;
}

bool simulated_old_tenure(struct simulated_old *old, const struct cohort *cohort) {
    double reused = cohort->bytes < old->pieces ? cohort->bytes : old->pieces, more = cohort->bytes - reused;
    old->used += cohort->bytes;
    old->pieces -= reused;
    if (!cohorts_add(&old->tenured, cohort)) {
        return false;
    }
    if (old->tenured.count > 2 * old->merged + MERGE_FROM) {
        cohorts_merge(&old->tenured);
        old->merged = old->tenured.count;
    }
    return more <= 0 || take(old, more);
}

bool simulated_old_allocate(struct simulated_old *old, const struct cohort *cohort) {
    old->used += cohort->bytes;
    return cohorts_add(&old->large, cohort) && take(old, cohort->bytes);
}

bool simulated_old_has_room(const struct simulated_old *old, uint64_t bytes) { return best_fit(old, (double)bytes); }

/* Cohorts are parts of objects: growth of less than one is none. */
bool simulated_old_has_grown(const struct simulated_old *old) {
    const struct simulate_parameters *parameters = old->parameters;
    double growth = old->used - old->used_at_full;
    return growth >= 16 && old->used >= parameters->full_gc_min_old &&
           growth >= parameters->full_gc_ratio * old->used_at_full;
}

static double referrers_died(const struct cohorts *cohorts, uint64_t since, uint64_t until) {
    double bytes = 0;
    for (size_t i = 0; i < cohorts->count; i++) {
        const struct cohort *cohort = &cohorts->at[i];
        if (!cohort->reached_last && cohort->from < until && cohort->to > since) {
            bytes += cohort->bytes * (cohort_alive(cohort, since) - cohort_alive(cohort, until));
        }
    }
    return bytes;
}

double simulated_old_died(const struct simulated_old *old, uint64_t since, uint64_t until) {
    return referrers_died(&old->tenured, since, until) + referrers_died(&old->large, since, until);
}

bool simulated_old_collect(struct simulated_old *old, uint64_t time) {
    bool good = true;
    for (size_t i = 0; i < old->large.count; i++) {
        const struct cohort *large = &old->large.at[i];
        struct cohort chunk = {.bytes = large->bytes * (1 - cohort_alive(large, time))};
        good = cohorts_add(&old->chunks, &chunk) && good;
    }
    double pieces = cohorts_expire(&old->tenured, time), chunks = cohorts_expire(&old->large, time);
    cohorts_merge(&old->tenured);
    old->merged = old->tenured.count;
    old->pieces += pieces;
    old->used -= pieces + chunks;
    old->used_at_full = old->used;
    return good;
}
