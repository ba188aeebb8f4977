/* Sites merged into classes and heaps. Sums add up; histograms, ordered lists of buckets, are merged as lists are. */
#include "stats/lifetimes.h"
#include "util/sum.h"
#include <stdlib.h>
#include <string.h>

struct life_sums life_sums_of(const struct life_site *site, enum life_outcome outcome, unsigned flags) {
    struct life_sums sums = {0};
    for (unsigned i = 0; i < EDEN_LIFE_FLAGS; i++) {
        if ((i & flags) == flags) {
            life_sums_add(&sums, life_site_ended(site, outcome, i));
        }
    }
    return sums;
}

/* How many buckets of `from` `into` lacks. */
static size_t missing_buckets(const struct life_histogram *into, const struct life_histogram *from) {
    size_t missing = 0;
    for (size_t i = 0, j = 0; j < from->count; j++) {
        while (i < into->count && into->at[i].bucket < from->at[j].bucket) {
            i++;
        }
        missing += i == into->count || into->at[i].bucket != from->at[j].bucket;
    }
    return missing;
}

/* From the back, so that what is there moves only once. */
static bool merge_histogram(struct life_histogram *into, const struct life_histogram *from) {
    size_t i = into->count, j = from->count, to = i + missing_buckets(into, from);
    if (!life_histogram_reserve(into, to)) {
        return false;
    }
    into->count = to;
    while (j > 0) {
        const struct life_bucket *add = &from->at[j - 1];
        if (i > 0 && into->at[i - 1].bucket > add->bucket) {
            into->at[--to] = into->at[--i];
            continue;
        }
        struct life_bucket sum = *add;
        j--;
        if (i > 0 && into->at[i - 1].bucket == add->bucket) {
            i--;
            sum_add(&sum.count, into->at[i].count);
            sum_add(&sum.weight, into->at[i].weight);
            sum_add(&sum.weight_bytes, into->at[i].weight_bytes);
        }
        into->at[--to] = sum;
    }
    return true;
}

static bool merge_ended(struct life_site *into, const struct life_site *from, enum life_outcome outcome, int flags) {
    struct life_sums **at = &into->ended[outcome][flags];
    if (!from->ended[outcome][flags]) {
        return true;
    }
    if (!*at) {
        *at = calloc(1, sizeof **at);
    }
    if (*at) {
        life_sums_add(*at, from->ended[outcome][flags]);
    }
    return *at;
}

bool life_site_merge(struct life_site *into, const struct life_site *from) {
    life_sums_add(&into->births, &from->births);
    for (enum life_outcome outcome = 0; outcome < LIFE_OUTCOMES; outcome++) {
        for (int flags = 0; flags < EDEN_LIFE_FLAGS; flags++) {
            if (!merge_ended(into, from, outcome, flags)) {
                return false;
            }
        }
        for (int clock = 0; clock < LIFE_CLOCKS; clock++) {
            if (!merge_histogram(&into->histogram[outcome][clock], &from->histogram[outcome][clock])) {
                return false;
            }
        }
    }
    return true;
}

static int by_class(const void *a, const void *b) {
    const struct life_site *const *first = a, *const *second = b;
    uint32_t x = (*first)->class_id, y = (*second)->class_id;
    return (x > y) - (x < y);
}

static int by_memory(const void *a, const void *b) {
    const struct life_site *const *first = a, *const *second = b;
    uint64_t x = (*first)->births.weight_bytes, y = (*second)->births.weight_bytes;
    uint32_t p = (*first)->site, q = (*second)->site;
    return x != y ? (x < y) - (x > y) : (p > q) - (p < q);
}

/* Takes over a class's name from the site that is the class itself, or else from what any of its sites says. */
static void name_class(struct life_site *class, const struct life_site *site) {
    const char *name = site->site == site->class_id && site->name[0] ? site->name : site->class_name;
    if (!class->name[0]) {
        memcpy(class->name, name, sizeof class->name);
        memcpy(class->class_name, name, sizeof class->class_name);
    }
}

/* groups->at holds the sites in order of their classes: turns it into one of the classes. */
static bool merge_classes(struct life_groups *groups) {
    groups->merged = calloc(groups->count + 1, sizeof *groups->merged);
    if (!groups->merged) {
        return false;
    }
    for (size_t i = 0; i < groups->count; i++) {
        const struct life_site *site = groups->at[i];
        bool first = groups->merged_count == 0 || groups->merged[groups->merged_count - 1].class_id != site->class_id;
        struct life_site *class = &groups->merged[groups->merged_count - !first];
        groups->merged_count += first;
        class->site = class->class_id = site->class_id;
        name_class(class, site);
        if (!life_site_merge(class, site)) {
            return false;
        }
    }
    groups->count = groups->merged_count;
    for (size_t i = 0; i < groups->count; i++) {
        groups->at[i] = &groups->merged[i];
    }
    return true;
}

bool life_groups_make(struct life_groups *groups, const struct life_heap *heap, bool by_site) {
    *groups = (struct life_groups){.count = heap->site_count};
    groups->at = calloc(heap->site_count + 1, sizeof(void *));
    bool good = groups->at != NULL;
    for (size_t i = 0; good && i < heap->site_count; i++) {
        groups->at[i] = &heap->sites[i];
        good = life_site_merge(&groups->total, &heap->sites[i]);
    }
    if (good && !by_site) {
        qsort(groups->at, groups->count, sizeof(void *), by_class);
        good = merge_classes(groups);
    }
    if (!good) {
        life_groups_clear(groups);
        return false;
    }
    qsort(groups->at, groups->count, sizeof(void *), by_memory);
    return true;
}

void life_groups_clear(struct life_groups *groups) {
    for (size_t i = 0; i < groups->merged_count; i++) {
        life_site_clear(&groups->merged[i]);
    }
    life_site_clear(&groups->total);
    free(groups->merged);
    free(groups->at);
    *groups = (struct life_groups){0};
}
