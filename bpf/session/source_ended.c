/* Processes that have ended: what their heaps have counted is taken out of the kernel program's entries, which are
 * given back.
 *
 * 1. Purpose
 * Entries are for the heaps that live, however many processes come and go.
 *
 * 2. Algorithm
 * A process whose end has been noticed hits no probe any more. Once everything that was in the buffers then has been
 * handed on, its heaps are put into a model. It goes to options.on_ended, or is kept for the
 * snapshots. Then the entries are given back, and the process is forgotten.
 *
 * 3. Invariants
 * I1. What is given back has been copied, and no event of it is in a buffer.
 * I2. Of MOST_ENDED processes and MOST_ENDED_HEAPS heaps that are kept no branch and no user takes more than is his
 *     (kernel_share_left). What is beyond is counted as lost, and reported.
 * I3. The roots are not given back: they are what was asked for. Nor is a heap with lifetimes, whose maps have it by
 * its number.
 *
 * 4. Failure
 * Without memory for the model, the process stays where it is, and so do its entries. */
#include "session/source_parts.h"
#include "util/array.h"
#include "util/clock.h"
#include "util/sum.h"
#include <stdlib.h>

enum { MOST_ENDED = 65536, MOST_ENDED_HEAPS = 4096 };

void source_ready_ended(struct source *source) {
    for (size_t i = 0; i < source->observed_count; i++) {
        source->observed[i].has_come_in = source->observed[i].ended;
    }
}

static bool can_be_closed(const struct source *source, const struct observed *observed) {
    return kernel_follows(source->kernel) && !source->options.lifetimes && observed->has_come_in &&
           !observed->is_root && !observed->empty;
}

struct kept {
    uint32_t owner, branch, all;
};

static void count_kept(struct kept *kept, uint32_t count, bool is_owner, bool is_branch) {
    kept->owner += is_owner ? count : 0;
    kept->branch += is_branch ? count : 0;
    kept->all += count;
}

/* Whether one more process may be kept, and how many more heaps of it. */
static bool find_room(const struct source *source, const struct observed *observed, uint32_t *heaps) {
    struct kept processes = {0}, of_them = {0};
    for (size_t i = 0; i < source->ended_count; i++) {
        const struct ended_process *ended = &source->ended[i];
        bool is_owner = ended->owner == observed->owner, is_branch = process_is_same(&ended->branch, &observed->branch);
        count_kept(&processes, 1, is_owner, is_branch);
        count_kept(&of_them, (uint32_t)ended->process.heap_count, is_owner, is_branch);
    }
    *heaps = kernel_share_left(of_them.owner, of_them.branch, of_them.all, MOST_ENDED_HEAPS);
    return kernel_share_left(processes.owner, processes.branch, processes.all, MOST_ENDED);
}

/* Leaves `most` heaps. Returns how many of the others no loss of the kernel program's counts: a late heap may be one of
 * those that found no room there. */
static uint64_t cut(struct process_model *process, uint32_t most, uint64_t lost) {
    uint64_t created = 0, late = 0;
    while (process->heap_count > most) {
        const struct heap_model *last = &process->heaps[process->heap_count - 1];
        created += !last->late;
        late += last->late;
        model_remove_last_heap(process);
    }
    return created + sum_less(late, lost);
}

/* Takes the process out of the model, with as many heaps as may be kept. False: no memory. */
static bool keep(struct source *source, struct observed *observed, struct model *model) {
    struct process_model *process = model->processes;
    uint32_t heaps;
    if (!find_room(source, observed, &heaps)) {
        sum_add(&source->children.forgotten_heaps, process->heap_count);
        return true;
    }
    if (!array_grow(&source->ended, &source->ended_room, source->ended_count, sizeof *source->ended)) {
        return false;
    }
    const uint64_t lost = observed->lost_heaps + cut(process, heaps, process->lost.heaps);
    model_fit_heaps(process); /* tens of thousands may be kept, most with a heap or none */
    size_t place = source->ended_count;
    for (; place > 0 && source->ended[place - 1].order > observed->order; place--) {
        source->ended[place] = source->ended[place - 1];
    }
    source->ended[place] = (struct ended_process){*process, observed->branch, observed->owner, observed->order};
    source->ended[place].process.lost = (struct model_losses){.heaps = lost};
    source->ended_count++;
    model->process_count = 0;
    observed->lost_heaps = 0;
    return true;
}

static void give_back(struct source *source, const struct observed *observed) {
    uint32_t count;
    const volatile struct heap_entry *entry = kernel_heaps(source->kernel, &count);
    for (uint32_t i = 0; i < count; i++) {
        if (entry[i].flags & HEAP_USED && process_is_same(&entry[i].key.process, &observed->key)) {
            kernel_give_back(source->kernel, i);
            source->serial[i] = 0;
        }
    }
}

/* False: no memory. */
static bool close_process(struct source *source, struct observed *observed) {
    struct model model = {.wall_ns = now_ns() - source->start_ns};
    bool good = source_snapshot_process(source, &model, observed, now_ns(), UINT64_MAX);
    if (good && model.process_count != 0) {
        good = source->options.on_ended ? source->options.on_ended(source->options.ended_context, &model)
                                        : keep(source, observed, &model);
    }
    model_clear(&model);
    if (good) {
        give_back(source, observed);
        observed->empty = true;
    }
    return good;
}

void source_close_ended(struct source *source) {
    bool any = false, good = true;
    for (size_t i = 0; i < source->observed_count && good; i++) {
        if (can_be_closed(source, &source->observed[i])) {
            good = close_process(source, &source->observed[i]);
            any = true;
        }
    }
    if (any) {
        source_forget_empty(source);
    }
}

bool source_snapshot_ended(const struct source *source, struct model *model, size_t *next, uint64_t order) {
    bool good = true;
    for (; *next < source->ended_count && source->ended[*next].order < order && good; ++*next) {
        const struct process_model *process = &source->ended[*next].process;
        struct process_model *copy = model_copy_process(model, process);
        struct share share;
        good = copy;
        if (copy && kernel_share(source->kernel, &process->key, &share)) {
            model_add_losses(&copy->lost, &(struct model_losses){share.lost_heaps, share.lost_hits, share.lost_events});
        }
    }
    return good;
}

void source_clear_ended(struct source *source) {
    for (size_t i = 0; i < source->ended_count; i++) {
        model_clear_process(&source->ended[i].process);
    }
    free(source->ended);
}
