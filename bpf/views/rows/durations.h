/* Some durations, and their percentiles: those of the single ones (nearest rank), not of a histogram. */
#ifndef EDEN_DURATIONS_H
#define EDEN_DURATIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct durations {
    uint64_t *ns; /* owned: free() */
    size_t count, room;
};

/* False: no memory. */
bool durations_add(struct durations *durations, uint64_t ns);
void durations_sort(struct durations *durations);
/* Of sorted ones; there is at least one. */
uint64_t durations_percentile(const struct durations *sorted, double percent);
uint64_t durations_total(const struct durations *durations);

#endif
