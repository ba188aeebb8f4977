#include "old.h"

void simulated_old_init(struct simulated_old *old, const struct simulate_parameters *parameters) {
    /* A first segment's worth is no growth: runtime/heap.c. */
    *old = (struct simulated_old){.parameters = parameters, .used_at_full = parameters->grow_headroom};
}

void simulated_old_clear(struct simulated_old *old) {
    portions_clear(&old->small);
    portions_clear(&old->large);
    portions_clear(&old->chunks);
}

/* The smallest stretch of at least so many bytes; NULL: none. */
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

static bool take(struct simulated_old *old, double bytes) {
    struct portion *chunk = best_fit(old, bytes);
    if (!chunk) {
        double headroom = old->parameters->grow_headroom;
        struct portion segment = {0, 0, headroom > bytes ? headroom : bytes};
        if (!portions_add(&old->chunks, &segment)) {
            return false;
        }
        chunk = best_fit(old, bytes);
    }
    if (chunk) {
        chunk->bytes -= bytes;
    }
    return true;
}

bool simulated_old_tenure(struct simulated_old *old, const struct portion *portion) {
    double bytes = portion->bytes, reused = bytes < old->pieces ? bytes : old->pieces;
    old->used += bytes;
    old->pieces -= reused;
    if (!portions_add(&old->small, portion)) {
        return false;
    }
    if (old->small.count > 2 * old->merged + 4096) {
        portions_merge(&old->small);
        old->merged = old->small.count;
    }
    return bytes - reused <= 0 || take(old, bytes - reused);
}

bool simulated_old_allocate(struct simulated_old *old, const struct portion *portion) {
    old->used += portion->bytes;
    return portions_add(&old->large, portion) && take(old, portion->bytes);
}

bool simulated_old_has_room(const struct simulated_old *old, uint64_t bytes) { return best_fit(old, (double)bytes); }

bool simulated_old_has_grown(const struct simulated_old *old) {
    const struct simulate_parameters *parameters = old->parameters;
    double base = old->used_at_full;
    return old->used > base + 0.5 && old->used >= parameters->full_gc_min_old &&
           old->used - base >= parameters->full_gc_ratio * base;
}

double simulated_old_collect(struct simulated_old *old, uint64_t time) {
    double freed = portions_bury(&old->small, time);
    old->pieces += freed;
    for (size_t i = 0; i < old->large.count; i++) {
        struct portion *large = &old->large.at[i];
        struct portion chunk = {0, 0, large->bytes * (1 - portion_alive(large, time))};
        portions_add(&old->chunks, &chunk);
    }
    freed += portions_bury(&old->large, time);
    portions_merge(&old->small);
    old->merged = old->small.count;
    old->used -= freed;
    old->used_at_full = old->used;
    return freed;
}

static double died(const struct portions *portions, uint64_t since, uint64_t until) {
    double bytes = 0;
    for (size_t i = 0; i < portions->count; i++) {
        const struct portion *portion = &portions->at[i];
        if (portion->from < until && portion->to > since) {
            bytes += portion->bytes * (portion_alive(portion, since) - portion_alive(portion, until));
        }
    }
    return bytes;
}

double simulated_old_died(const struct simulated_old *old, uint64_t since, uint64_t until) {
    return died(&old->small, since, until) + died(&old->large, since, until);
}
