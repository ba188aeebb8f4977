/* Groups by stack. In a model with stacks, a group is a stack on which objects of a class were allocated, or the
 * class's objects of unknown stack.
 *
 * Heaps report births by site, and the stack of each sample comes apart from that. So until the end all births are in
 * groups of unknown stack, one a site, and births of known stack also in their own groups. This file merges the former
 * into one group a class, and subtracts the births of known stack. What is left are samples whose stack could not be
 * taken, was lost, or came before the profile was observed. Then births = deaths + censored holds for each group, since
 * deaths are reported by object. */
#include "stats/by_stack.h"
#include "stats/lifetimes.h"
#include "util/sum.h"
#include <stdlib.h>
#include <string.h>

static bool is_unknown(const struct life_site *group) { return group->site >= LIFE_NO_STACK; }

static int by_class(const void *a, const void *b) {
    const struct life_site *x = a, *y = b;
    if (is_unknown(x) != is_unknown(y)) {
        return is_unknown(x) - is_unknown(y);
    }
    uint32_t first = is_unknown(x) ? x->class_id : x->site, second = is_unknown(y) ? y->class_id : y->site;
    return (first > second) - (first < second);
}

/* The groups of unknown stack come last, one a class. False: no memory. */
static bool merge_unknown(struct life_heap *heap) {
    size_t kept = 0;
    bool merged = true;
    if (heap->site_count != 0) {
        qsort(heap->sites, heap->site_count, sizeof *heap->sites, by_class);
    }
    for (size_t i = 0; i < heap->site_count; i++) {
        struct life_site *group = &heap->sites[i], *last = kept != 0 ? &heap->sites[kept - 1] : NULL;
        if (last && is_unknown(last) && last->class_id == group->class_id) {
            merged = life_site_merge(last, group) && merged;
            life_site_clear(group);
            continue;
        }
        heap->sites[kept] = *group;
        if (is_unknown(group)) {
            heap->sites[kept].origin = heap->sites[kept].class_id;
            heap->sites[kept].site = LIFE_NO_STACK + heap->sites[kept].class_id;
        }
        kept++;
    }
    heap->site_count = kept;
    return merged;
}

static int by_site(const void *key, const void *element) {
    const uint32_t *site = key;
    const struct life_site *group = element;
    return (*site > group->site) - (*site < group->site);
}

static void take_out(uint64_t *from, uint64_t what) { *from -= what < *from ? what : *from; }

static bool is_empty(const struct life_site *group) {
    for (enum life_outcome outcome = 0; outcome < LIFE_OUTCOMES; outcome++) {
        for (int flags = 0; flags < EDEN_LIFE_FLAGS; flags++) {
            if (life_site_ended(group, outcome, (unsigned)flags)->count != 0) {
                return false;
            }
        }
    }
    return group->births.count == 0;
}

/* If the heap did not report births by site, they are known by stack alone. */
static void take_known(struct life_heap *heap) {
    for (size_t i = 0; i < heap->site_count && !is_unknown(&heap->sites[i]); i++) {
        struct life_sums *births = &heap->sites[i].births;
        uint32_t site = LIFE_NO_STACK + heap->sites[i].class_id;
        struct life_site *unknown = bsearch(&site, heap->sites, heap->site_count, sizeof *heap->sites, by_site);
        if (heap->from_cells) { /* ends are of unknown stack, so births are */
            *births = (struct life_sums){0};
        } else if (unknown) {
            take_out(&unknown->births.count, births->count);
            take_out(&unknown->births.bytes, births->bytes);
            take_out(&unknown->births.weight, births->weight);
            take_out(&unknown->births.weight_bytes, births->weight_bytes);
        }
    }
}

static void name(const struct life_model *model, struct life_site *group) {
    group->stack = life_stacks_get(model->stacks, is_unknown(group) ? 0 : group->site - EDEN_CLASS_LIMIT);
    if (group->stack) {
        life_stacks_label(model->stacks, group->stack, group->name, sizeof group->name);
    } else {
        strcpy(group->name, "unknown stack");
    }
}

static bool reconcile(const struct life_model *model, struct life_heap *heap) {
    size_t kept = 0;
    lookup_clear(&heap->by_site); /* sites become groups, and nobody looks for one */
    if (!merge_unknown(heap)) {
        return false;
    }
    take_known(heap);
    for (size_t i = 0; i < heap->site_count; i++) {
        if (is_empty(&heap->sites[i])) {
            life_site_clear(&heap->sites[i]);
        } else {
            heap->sites[kept] = heap->sites[i];
            name(model, &heap->sites[kept++]);
        }
    }
    heap->site_count = kept;
    return true;
}

bool life_by_stack_reconcile(struct life_model *model) {
    bool done = true;
    for (size_t i = 0; model->stacks && done && i < model->heap_count; i++) {
        done = reconcile(model, &model->heaps[i]);
    }
    return done;
}

uint64_t life_by_stack_unknown(const struct life_heap *heap) {
    uint64_t unknown = 0;
    for (size_t i = 0; i < heap->site_count; i++) {
        sum_add(&unknown, is_unknown(&heap->sites[i]) ? heap->sites[i].births.count : 0);
    }
    return unknown;
}
