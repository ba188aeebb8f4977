/* Limits of what processes say of their lifetimes: a program may have a clock of its own, or none that is right.
 *
 * Only durations are compared: a process in a time namespace has another clock than the kernel. Sums are limited as
 * if each of their objects had lived for the whole profile, for the kernel program has no single ones. */
#include "model/lifetimes/limit.h"
#include "util/sum.h"
#include "util/whole.h"

static void limit(uint64_t *value, uint64_t most) { *value = *value < most ? *value : most; }

void life_limit_object(const struct life_model *model, struct eden_life_record *record) {
    uint64_t lived = sum_less(record->death_ns, record->birth_ns);
    limit(&lived, model->wall_ns ? model->wall_ns : UINT64_MAX);
    record->death_ns = record->birth_ns + lived;
}

static void limit_sum(uint64_t *sum, uint64_t count, uint64_t most) {
    uint64_t all;
    if (!__builtin_mul_overflow(count, most, &all)) {
        limit(sum, all);
    }
}

static void limit_sums(struct life_sums *sums, const uint64_t most[LIFE_CLOCKS]) {
    double objects = (double)sums->weight / EDEN_WEIGHT_ONE;
    limit_sum(&sums->ns_sum, sums->count, most[LIFE_NS]);
    limit_sum(&sums->tenured_ns_sum, sums->count, most[LIFE_NS]);
    limit(&sums->weight_us, whole_of(objects * (double)most[LIFE_NS] / 1e3));
    limit_sum(&sums->bytes_sum, sums->count, most[LIFE_BYTES]);
    limit_sum(&sums->tenured_bytes_sum, sums->count, most[LIFE_BYTES]);
    limit(&sums->weight_kib, whole_of(objects * (double)most[LIFE_BYTES] / 1024));
}

/* The bucket of the longest one takes in those above it. */
static void limit_histogram(struct life_histogram *histogram, uint64_t most) {
    const uint16_t last = (uint16_t)histogram_bucket(most);
    for (size_t i = histogram->count; i > 0 && histogram->at[i - 1].bucket > last; i--) {
        struct life_bucket *from = &histogram->at[i - 1];
        if (i == 1 || from[-1].bucket < last) {
            from->bucket = last;
            return;
        }
        sum_add(&from[-1].count, from->count);
        sum_add(&from[-1].weight, from->weight);
        sum_add(&from[-1].weight_bytes, from->weight_bytes);
        histogram->count--;
    }
}

static void limit_site(struct life_site *site, const uint64_t most[LIFE_CLOCKS]) {
    for (int outcome = 0; outcome < LIFE_OUTCOMES; outcome++) {
        for (int flags = 0; flags < EDEN_LIFE_FLAGS; flags++) {
            if (site->ended[outcome][flags]) {
                limit_sums(site->ended[outcome][flags], most);
            }
        }
        for (int clock = 0; clock < LIFE_CLOCKS; clock++) {
            limit_histogram(&site->histogram[outcome][clock], most[clock]);
        }
    }
}

void life_limit(struct life_model *model) {
    for (size_t i = 0; i < model->heap_count; i++) {
        struct life_heap *heap = &model->heaps[i];
        struct eden_profile_record *state = &heap->state;
        uint64_t most[LIFE_CLOCKS] = {model->wall_ns, UINT64_MAX, UINT64_MAX, UINT64_MAX};
        if (heap->begun) {
            limit(&most[LIFE_NS], sum_less(state->time_ns, state->begun_ns));
            most[LIFE_BYTES] = sum_less(state->allocated_bytes, state->begun_bytes);
            state->time_ns = state->begun_ns + most[LIFE_NS];
        }
        for (size_t j = 0; j < heap->site_count; j++) {
            limit_site(&heap->sites[j], most);
        }
    }
}
