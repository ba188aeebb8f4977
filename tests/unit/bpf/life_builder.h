/* Models of lifetimes by hand, for the tests of what reads them. */
#ifndef EDEN_TESTS_LIFE_BUILDER_H
#define EDEN_TESTS_LIFE_BUILDER_H

#include "model/lifetimes/model.h"
#include "stats/lifetimes.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* `count` objects that ended alike; weight in whole objects. */
struct build_end {
    enum life_outcome outcome;
    unsigned flags;
    uint64_t count, bytes, ns, allocated, scavenges, fulls, weight;
};

static inline void build_end(struct life_site *site, struct build_end end) {
    struct life_heap anyone = {0}; /* has no limit */
    uint64_t weight = (end.weight ? end.weight : 1) * end.count;
    struct life_bucket bucket = {
        .count = end.count, .weight = weight * EDEN_WEIGHT_ONE, .weight_bytes = weight * end.bytes};
    uint64_t values[LIFE_CLOCKS] = {end.ns, end.allocated, end.scavenges, end.fulls};
    site->births.count += end.count;
    site->births.bytes += end.count * end.bytes;
    site->births.weight += bucket.weight;
    site->births.weight_bytes += bucket.weight_bytes;
    const bool tenured = end.flags & EDEN_LIFE_TENURED;
    const struct life_sums sums = {.count = end.count,
                                   .bytes = end.count * end.bytes,
                                   .weight = bucket.weight,
                                   .weight_bytes = bucket.weight_bytes,
                                   .ns_sum = end.count * end.ns,
                                   .bytes_sum = end.count * end.allocated,
                                   .weight_us = weight * end.ns / 1000,
                                   .weight_kib = weight * end.allocated / 1024,
                                   .scavenges = end.count * end.scavenges,
                                   .fulls = end.count * end.fulls,
                                   .tenured_ns_sum = tenured ? end.count * end.ns / 2 : 0,
                                   .tenured_bytes_sum = tenured ? end.count * end.allocated / 2 : 0};
    bool added = life_site_end(&anyone, site, end.outcome, end.flags, &sums);
    for (enum life_clock clock = 0; clock < LIFE_CLOCKS; clock++) {
        bucket.bucket = (uint16_t)histogram_bucket(values[clock]);
        added = added && life_site_bucket(&anyone, site, end.outcome, clock, &bucket);
    }
    if (!added) {
        abort();
    }
}

/* Adds a site without objects; valid until the next is added. */
static inline struct life_site *build_site(struct life_heap *heap, uint32_t site, uint32_t class_id, const char *name,
                                           const char *class_name) {
    heap->sites = realloc(heap->sites, (heap->site_count + 1) * sizeof *heap->sites);
    if (!heap->sites) {
        abort();
    }
    struct life_site *added = &heap->sites[heap->site_count++];
    *added = (struct life_site){.site = site, .class_id = class_id};
    snprintf(added->name, sizeof added->name, "%s", name);
    snprintf(added->class_name, sizeof added->class_name, "%s", class_name);
    return added;
}

static inline void build_clear(struct life_heap *heap) {
    for (size_t i = 0; i < heap->site_count; i++) {
        life_site_clear(&heap->sites[i]);
    }
    free(heap->sites);
}

/* Objects in memory, for struct life_objects: all are of the model's first heap. */
struct build_objects {
    const struct eden_life_record *at;
    size_t count;
};

static inline bool build_each_object(void *from, const struct life_model *model, life_object_fn *visit, void *context,
                                     struct failure *why) {
    const struct build_objects *objects = from;
    (void)why;
    for (size_t i = 0; i < objects->count && visit(context, &model->heaps[0], &objects->at[i]); i++) {
    }
    return true;
}

/* The heap's run, from 1,000 ns and 4,096 bytes on. */
static inline void build_run(struct life_heap *heap, uint64_t ns, uint64_t bytes) {
    heap->begun = true;
    heap->state = (struct eden_profile_record){.begun_ns = 1000,
                                               .time_ns = 1000 + ns,
                                               .begun_bytes = 4096,
                                               .allocated_bytes = 4096 + bytes,
                                               .rate = 1,
                                               .sampling = EDEN_SAMPLE_OBJECTS,
                                               .ended = 1};
}

#endif
