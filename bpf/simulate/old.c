/* Simulated old space: how much is in it, when it asks for a full collection, and whether a large object finds room.
 *
 * Free memory is known in two kinds. Pieces are what small objects left behind: later small ones take it (they find
 * chunks of their size), large ones can't. Chunks are the rest of segments, and what large objects left: large ones
 * take the best fit; so do small ones once the pieces are used up.
 *
 * What can go wrong: compaction, which makes chunks of pieces, and segments that are given back, are left out. So a
 * collection caused by a large allocation may be predicted where there is none, or come later. */
#include "old.h"

enum { MERGE_FROM = 4096 };

void simulated_old_init(struct simulated_old *old, const struct simulate_parameters *parameters) {
    /* A first segment's worth is no growth: runtime/api/create.c. */
    *old = (struct simulated_old){.parameters = parameters, .used_at_full = parameters->grow_headroom};
}

void simulated_old_clear(struct simulated_old *old) {
    portions_clear(&old->tenured);
    portions_clear(&old->large);
    portions_clear(&old->chunks);
}

/* The smallest chunk of at least so many bytes; NULL: none. */
static struct portion *best_fit(const struct simulated_old *old, double bytes) {
    struct portion *best = NULL;
    for (size_t i = 0; i < old->chunks.count; i++) {
        struct portion *chunk = &old->chunks.at[i];
        if (chunk->bytes >= bytes && (!best || chunk->bytes < best->bytes)) {
            best = chunk;
        }
    }
    return best;
}

/* From a chunk, or from a new segment. */
static bool take(struct simulated_old *old, double bytes) {
    struct portion *chunk = best_fit(old, bytes);
    if (!chunk) {
        double headroom = old->parameters->grow_headroom;
        struct portion segment = {.bytes = headroom > bytes ? headroom : bytes};
        if (!portions_add(&old->chunks, &segment)) {
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

bool simulated_old_tenure(struct simulated_old *old, const struct portion *portion) {
    double reused = portion->bytes < old->pieces ? portion->bytes : old->pieces, more = portion->bytes - reused;
    old->used += portion->bytes;
    old->pieces -= reused;
    if (!portions_add(&old->tenured, portion)) {
        return false;
    }
    if (old->tenured.count > 2 * old->merged + MERGE_FROM) {
        portions_merge(&old->tenured);
        old->merged = old->tenured.count;
    }
    return more <= 0 || take(old, more);
}

bool simulated_old_allocate(struct simulated_old *old, const struct portion *portion) {
    old->used += portion->bytes;
    return portions_add(&old->large, portion) && take(old, portion->bytes);
}

bool simulated_old_has_room(const struct simulated_old *old, uint64_t bytes) { return best_fit(old, (double)bytes); }

/* Portions are parts of objects: growth of less than one is none. */
bool simulated_old_has_grown(const struct simulated_old *old) {
    const struct simulate_parameters *parameters = old->parameters;
    double growth = old->used - old->used_at_full;
    return growth >= 16 && old->used >= parameters->full_gc_min_old &&
           growth >= parameters->full_gc_ratio * old->used_at_full;
}

static double referrers_died(const struct portions *portions, uint64_t since, uint64_t until) {
    double bytes = 0;
    for (size_t i = 0; i < portions->count; i++) {
        const struct portion *portion = &portions->at[i];
        if (!portion->reached_last && portion->from < until && portion->to > since) {
            bytes += portion->bytes * (portion_alive(portion, since) - portion_alive(portion, until));
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
        const struct portion *large = &old->large.at[i];
        struct portion chunk = {.bytes = large->bytes * (1 - portion_alive(large, time))};
        good = portions_add(&old->chunks, &chunk) && good;
    }
    double pieces = portions_bury(&old->tenured, time), chunks = portions_bury(&old->large, time);
    portions_merge(&old->tenured);
    old->merged = old->tenured.count;
    old->pieces += pieces;
    old->used -= pieces + chunks;
    old->used_at_full = old->used;
    return good;
}
