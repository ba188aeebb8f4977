/* Cohorts: objects that are alike to a simulation, added up in bytes.
 *
 * Bytes are fractions, since the fate of objects is known in shares. Less than a thousandth of a byte is dropped. */
#include "simulate/cohort.h"
#include "util/array.h"
#include <stdlib.h>

static const double LEAST = 1e-3; /* bytes */

double cohort_alive(const struct cohort *cohort, uint64_t time) {
    if (cohort->held || time <= cohort->from) {
        return 1;
    }
    return time >= cohort->to ? 0 : (double)(cohort->to - time) / (double)(cohort->to - cohort->from);
}

struct cohort cohort_split(struct cohort *cohort, uint64_t time) {
    struct cohort first = *cohort;
    first.bytes *= 1 - cohort_alive(cohort, time);
    cohort->bytes -= first.bytes;
    if (time > cohort->from && time < cohort->to && !cohort->held) {
        first.to = cohort->from = time;
    }
    return first;
}

bool cohorts_add(struct cohorts *cohorts, const struct cohort *cohort) {
    if (cohort->bytes < LEAST) {
        return true;
    }
    struct cohort *added = array_grow(&cohorts->at, &cohorts->room, cohorts->count, sizeof *added);
    if (added) {
        *added = *cohort;
        cohorts->count++;
    }
    return added;
}

double cohorts_bytes(const struct cohorts *cohorts) {
    double bytes = 0;
    for (size_t i = 0; i < cohorts->count; i++) {
        bytes += cohorts->at[i].bytes;
    }
    return bytes;
}

double cohorts_expire(struct cohorts *cohorts, uint64_t time) {
    double dead = 0;
    size_t kept = 0;
    for (size_t i = 0; i < cohorts->count; i++) {
        struct cohort cohort = cohorts->at[i];
        double alive = cohort.held ? 0 : cohort.bytes * cohort_alive(&cohort, time);
        dead += cohort.bytes - alive;
        if (alive > 0) {
            cohort.bytes = alive;
            cohort.from = time > cohort.from ? time : cohort.from;
            cohorts->at[kept++] = cohort;
        }
    }
    cohorts->count = kept;
    return dead;
}

static int by_death(const void *a, const void *b) {
    const struct cohort *x = a, *y = b;
    if (x->held != y->held) {
        return x->held ? -1 : 1;
    }
    if (x->reached_last != y->reached_last) {
        return x->reached_last ? -1 : 1;
    }
    if (x->to != y->to) {
        return x->to < y->to ? -1 : 1;
    }
    return x->from < y->from ? -1 : x->from > y->from;
}

void cohorts_merge(struct cohorts *cohorts) {
    if (cohorts->count == 0) {
        return;
    }
    qsort(cohorts->at, cohorts->count, sizeof *cohorts->at, by_death);
    size_t last = 0; /* of those that stay */
    for (size_t i = 1; i < cohorts->count; i++) {
        if (by_death(&cohorts->at[last], &cohorts->at[i]) == 0) {
            cohorts->at[last].bytes += cohorts->at[i].bytes;
        } else {
            cohorts->at[++last] = cohorts->at[i];
        }
    }
    cohorts->count = last + 1;
}

void cohorts_clear(struct cohorts *cohorts) {
    free(cohorts->at);
    *cohorts = (struct cohorts){0};
}
