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

static inline void build_bucket(struct life_histogram *histogram, uint64_t value, struct life_bucket add) {
    add.bucket = (uint16_t)histogram_bucket(value);
    size_t i = 0;
    while (i < histogram->count && histogram->at[i].bucket < add.bucket) {
        i++;
    }
    if (i == histogram->count || histogram->at[i].bucket != add.bucket) {
        if (histogram->count == histogram->room) {
            histogram->room = histogram->room * 2 + 8;
            histogram->at = realloc(histogram->at, histogram->room * sizeof *histogram->at);
            if (!histogram->at) {
                abort();
            }
        }
        memmove(histogram->at + i + 1, histogram->at + i, (histogram->count - i) * sizeof *histogram->at);
        histogram->count++;
        histogram->at[i] = (struct life_bucket){.bucket = add.bucket};
    }
    histogram->at[i].count += add.count;
    histogram->at[i].weight += add.weight;
    histogram->at[i].weight_bytes += add.weight_bytes;
}

static inline void build_end(struct life_site *site, struct build_end end) {
    uint64_t weight = (end.weight ? end.weight : 1) * end.count;
    struct life_sums *sums = &site->ended[end.outcome][end.flags];
    struct life_bucket bucket = {
        .count = end.count, .weight = weight * EDEN_WEIGHT_ONE, .weight_bytes = weight * end.bytes};
    uint64_t values[LIFE_CLOCKS] = {end.ns, end.allocated, end.scavenges, end.fulls};
    site->births.count += end.count;
    site->births.bytes += end.count * end.bytes;
    site->births.weight += bucket.weight;
    site->births.weight_bytes += bucket.weight_bytes;
    sums->count += end.count;
    sums->bytes += end.count * end.bytes;
    sums->weight += bucket.weight;
    sums->weight_bytes += bucket.weight_bytes;
    sums->ns_sum += end.count * end.ns;
    sums->bytes_sum += end.count * end.allocated;
    sums->weight_us += weight * end.ns / 1000;
    sums->weight_kib += weight * end.allocated / 1024;
    sums->scavenges += end.count * end.scavenges;
    sums->fulls += end.count * end.fulls;
    if (end.flags & EDEN_LIFE_TENURED) {
        sums->tenured_ns_sum += end.count * end.ns / 2;
        sums->tenured_bytes_sum += end.count * end.allocated / 2;
    }
    for (int clock = 0; clock < LIFE_CLOCKS; clock++) {
        build_bucket(&site->histogram[end.outcome][clock], values[clock], bucket);
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
