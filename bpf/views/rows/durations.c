#include "views/rows/durations.h"
#include "util/array.h"
#include "util/sum.h"
#include <math.h>
#include <stdlib.h>

bool durations_add(struct durations *durations, uint64_t ns) {
    uint64_t *added = array_grow(&durations->ns, &durations->room, durations->count, sizeof *added);
    if (added) {
        *added = ns;
        durations->count++;
    }
    return added;
}

static int by_size(const void *a, const void *b) {
    const uint64_t *x = a, *y = b;
    return (*x > *y) - (*x < *y);
}

void durations_sort(struct durations *durations) {
    if (durations->count != 0) {
        qsort(durations->ns, durations->count, sizeof *durations->ns, by_size);
    }
}

uint64_t durations_percentile(const struct durations *sorted, double percent) {
    double rank = ceil(percent / 100 * (double)sorted->count - 1e-9);
    size_t place = rank < 1 ? 0 : (size_t)rank - 1;
    return sorted->ns[place < sorted->count ? place : sorted->count - 1];
}

uint64_t durations_total(const struct durations *durations) {
    uint64_t total = 0;
    for (size_t i = 0; i < durations->count; i++) {
        sum_add(&total, durations->ns[i]);
    }
    return total;
}
