/* Samples arrive in the order of their births, so appending keeps the list sorted. Samples with a reported end stay as
 * gaps until most entries are gaps; then the list is compacted. So it holds at most twice as many as are alive, and
 * each costs the same in the long run. */
#include "model/lifetimes/samples.h"
#include "util/array.h"
#include <stdlib.h>

enum { LEAST_GAPS = 1024, MOST_SAMPLES = 1 << 24 }; /* a process that never reports an end must not exhaust memory */

void life_samples_clear(struct life_samples *samples) {
    free(samples->at);
    *samples = (struct life_samples){0};
}

static void close_gaps(struct life_samples *samples) {
    size_t kept = 0;
    for (size_t i = 0; i < samples->count; i++) {
        if (samples->at[i].stack != 0) {
            samples->at[kept++] = samples->at[i];
        }
    }
    samples->count = kept;
    samples->ended = 0;
}

bool life_samples_add(struct life_samples *samples, uint64_t birth_bytes, uint32_t stack) {
    if (stack == 0 || (samples->count != 0 && samples->at[samples->count - 1].birth_bytes >= birth_bytes)) {
        return false;
    }
    struct life_sample *sample =
        samples->count < MOST_SAMPLES ? array_grow(&samples->at, &samples->room, samples->count, sizeof *sample) : NULL;
    if (!sample) {
        return false;
    }
    *sample = (struct life_sample){birth_bytes, stack};
    samples->count++;
    return true;
}

uint32_t life_samples_end(struct life_samples *samples, uint64_t birth_bytes) {
    size_t from = 0, to = samples->count;
    while (from < to) {
        size_t middle = (from + to) / 2;
        if (samples->at[middle].birth_bytes < birth_bytes) {
            from = middle + 1;
        } else {
            to = middle;
        }
    }
    if (from == samples->count || samples->at[from].birth_bytes != birth_bytes || samples->at[from].stack == 0) {
        return 0;
    }
    uint32_t stack = samples->at[from].stack;
    samples->at[from].stack = 0;
    samples->ended++;
    if (samples->ended >= LEAST_GAPS && samples->ended > samples->count / 2) {
        close_gaps(samples);
    }
    return stack;
}
