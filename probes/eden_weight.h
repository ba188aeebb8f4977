/* How many objects a sample stands for, and what its end adds to sums: for the runtime, which reports both, and for
 * readers of records that leave them out. */
#ifndef EDEN_WEIGHT_H
#define EDEN_WEIGHT_H

#include "eden_batches.h"
#include "eden_histogram.h"
#include <math.h>
#include <stdbool.h>

/* 1 / the probability that an object of that size is sampled (runtime/profile/sampling.c). bytes: of some use with
 * samplings by bytes only. */
static inline double eden_weight(uint32_t sampling, uint64_t rate, uint64_t bytes) {
    double every = (double)rate;
    switch ((enum eden_sampling)sampling) {
    case EDEN_SAMPLE_BYTES:
        return 1.0 / -expm1(-(double)bytes / every);
    case EDEN_SAMPLE_OBJECTS:
    case EDEN_SAMPLE_NTH:
        return every;
    case EDEN_SAMPLE_REFILL:
        return (double)bytes < every ? every / (double)bytes : 1;
    case EDEN_SAMPLE_WINDOW:
        break;
    }
    uint64_t open = rate >> 24, closed = rate & 0xffffff;
    return open == 0 ? 1 : (double)(open + closed) / (double)open;
}

/* To the nearest number of 64 bits: what a stranger's record says may be beyond them. */
static inline uint64_t eden_weight_rounded(double number) {
    return number < 0x1p64 ? (uint64_t)(number + 0.5) : UINT64_MAX;
}

static inline uint64_t eden_weight_units(uint32_t sampling, uint64_t rate, uint64_t bytes) {
    return eden_weight_rounded(eden_weight(sampling, rate, bytes) * EDEN_WEIGHT_ONE);
}

static inline uint64_t eden_span(uint64_t from, uint64_t to) { return to > from ? to - from : 0; }

/* One object's record as a cell of one, bucketed. weight_bytes: its weight times its size, where that is known better
 * than from the weight in units. */
static inline struct eden_life_cell eden_life_cell_of(const struct eden_life_record *record, uint64_t weight_bytes) {
    uint64_t ns = eden_span(record->birth_ns, record->death_ns);
    uint64_t bytes = eden_span(record->birth_bytes, record->death_bytes);
    bool tenured = (record->flags & EDEN_LIFE_TENURED) != 0;
    double weight = (double)record->weight / EDEN_WEIGHT_ONE;
    return (struct eden_life_cell){
        .site = record->site,
        .count = 1,
        .ns_bucket = (uint16_t)histogram_bucket(ns),
        .bytes_bucket = (uint16_t)histogram_bucket(bytes),
        .scavenges = (uint16_t)(record->scavenges < UINT16_MAX ? record->scavenges : UINT16_MAX),
        .fulls = (uint16_t)(record->fulls < UINT16_MAX ? record->fulls : UINT16_MAX),
        .flags = record->flags,
        .bytes = record->bytes,
        .ns_sum = ns,
        .bytes_sum = bytes,
        .tenured_ns_sum = tenured ? eden_span(record->tenured_ns, record->death_ns) : 0,
        .tenured_bytes_sum = tenured ? eden_span(record->tenured_bytes, record->death_bytes) : 0,
        .weight = record->weight,
        .weight_bytes = weight_bytes,
        .weight_us = eden_weight_rounded(weight * (double)ns / 1e3),
        .weight_kib = eden_weight_rounded(weight * (double)bytes / 1024),
    };
}

#endif
