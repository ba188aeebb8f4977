/* A model with stacks has, in place of a site, one group for each stack on which its objects were allocated, and one
 * for those of unknown stack. The heaps tell births by site, though, and each sample's stack comes apart from that. So
 * until the end all births are in the group of unknown stack, and those of known stack in their own groups, too: here
 * they are taken out of the former. What is left there are the samples whose stack could not be taken, was lost, or
 * came before anybody listened; births = deaths + censored then holds for each group, as deaths are told by object. */
#include "life_by_stack.h"
#include <string.h>

static void take_out(uint64_t *from, uint64_t what) { *from -= what < *from ? what : *from; }

static bool is_empty(const struct life_site *group) {
    for (int outcome = 0; outcome < LIFE_OUTCOMES; outcome++) {
        for (int flags = 0; flags < EDEN_LIFE_FLAGS; flags++) {
            if (group->ended[outcome][flags].count != 0) {
                return false;
            }
        }
    }
    return group->births.count == 0;
}

/* Where births were not told by site (the heap did not come to it), they are known by stack alone. */
static void settle_births(struct life_heap *heap) {
    for (size_t i = 0; i < heap->site_count; i++) {
        struct life_site *group = &heap->sites[i];
        if (group->site >= LIFE_NO_STACK) {
            continue;
        }
        if (heap->told_by_cells) { /* ends are of unknown stack, so births are */
            group->births = (struct life_sums){0};
            continue;
        }
        struct life_site *rest = &heap->sites[heap->site_count - 1]; /* they come last, in order of origin */
        while (rest > group && rest->site > LIFE_NO_STACK + group->origin) {
            rest--;
        }
        if (rest->site == LIFE_NO_STACK + group->origin) {
            take_out(&rest->births.count, group->births.count);
            take_out(&rest->births.bytes, group->births.bytes);
            take_out(&rest->births.weight, group->births.weight);
            take_out(&rest->births.weight_bytes, group->births.weight_bytes);
        }
    }
}

static void name(const struct life_model *model, struct life_site *group) {
    group->stack = life_stacks_get(model->stacks, group->site < LIFE_NO_STACK ? group->site - EDEN_CLASS_LIMIT : 0);
    if (group->stack) {
        life_stacks_label(model->stacks, group->stack, group->name, sizeof group->name);
    } else {
        strcpy(group->name, "unknown stack");
    }
}

void life_by_stack_settle(struct life_model *model) {
    for (size_t i = 0; model->stacks && i < model->heap_count; i++) {
        struct life_heap *heap = &model->heaps[i];
        size_t kept = 0;
        settle_births(heap);
        for (size_t j = 0; j < heap->site_count; j++) {
            if (!is_empty(&heap->sites[j])) { /* else it has no histograms either */
                heap->sites[kept] = heap->sites[j];
                name(model, &heap->sites[kept++]);
            }
        }
        heap->site_count = kept;
    }
}

uint64_t life_by_stack_unknown(const struct life_heap *heap) {
    uint64_t unknown = 0;
    for (size_t i = 0; i < heap->site_count; i++) {
        unknown += heap->sites[i].site >= LIFE_NO_STACK ? heap->sites[i].births.count : 0;
    }
    return unknown;
}
