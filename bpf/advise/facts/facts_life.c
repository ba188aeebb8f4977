/* Facts from lifetimes: what was allocated, by whom, and what became of it.
 *
 * Sums tell what classes and sites allocate, and what of it was tenured. What only single objects tell needs their
 * records: how often scavenges copied an object, and whether tenuring it was in vain. It was, if the first full
 * collection after it found the object dead: no full collection had started in between. All are estimates, each sample
 * counting for what it stands for.
 *
 * Records tell when a collection started by the runtime's clock, passes when the probe that tells of it was hit, which
 * is always later: a collection that a record names is the first pass after that time. */
#include "advise/facts/facts_life.h"
#include "eden_weight.h"
#include "stats/lifetimes.h"
#include "util/text.h"
#include "views/lifetimes/parts.h"
#include <stdlib.h>
#include <string.h>

struct life_reader {
    struct tune_facts *facts;
    const struct life_heap *heap;
};

struct life_readers {
    struct life_reader *at;
    size_t count;
};

/* Collections of one kind that were told of after `from` and not after `to`; a thousand at most. */
static uint64_t passes_between(const struct tune_facts *facts, bool full, uint64_t from, uint64_t to) {
    size_t low = 0, high = facts->pass_count;
    uint64_t count = 0;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (facts->passes[middle].start_ns <= from) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    for (; low < facts->pass_count && facts->passes[low].start_ns <= to && count < 1000; low++) {
        count += facts->passes[low].full == full;
    }
    return count;
}

static int by_index(const void *a, const void *b) {
    const struct life_site *x = a, *y = b;
    return (x->site > y->site) - (x->site < y->site);
}

static void add_survivor(struct tune_survivors *survivors, const struct eden_life_record *record, bool tenured,
                         uint64_t copies, double bytes) {
    /* What is old and alive at the end counts as living for ever: that a run ends is no merit of its parameters. */
    uint64_t life = (record->death_bytes - record->birth_bytes) / 1024;
    uint32_t bucket = tenured && record->censored ? HISTOGRAM_BUCKETS - 1 : histogram_bucket(life);
    uint64_t place = copies < TUNE_COPIES ? copies : TUNE_COPIES - 1;
    if (bucket < HISTOGRAM_BUCKETS) {
        (tenured ? survivors->tenured : survivors->died_young)[bucket][place] += bytes;
    }
}

static void add_object(struct tune_facts *facts, struct tune_site *site, const struct eden_life_record *record) {
    double bytes = (double)record->weight / EDEN_WEIGHT_ONE * (double)record->bytes;
    bool tenured = record->flags & EDEN_LIFE_TENURED && !(record->flags & EDEN_LIFE_BORN_OLD) && record->tenured_ns;
    if (record->flags & EDEN_LIFE_BORN_OLD) {
        return;
    }
    uint64_t copies =
        tenured ? passes_between(facts, false, record->birth_ns, record->tenured_ns) + 1 : record->scavenges;
    bool in_vain =
        tenured && !record->censored && passes_between(facts, true, record->tenured_ns, record->death_ns) == 0;
    site->copied_bytes += bytes * (double)copies;
    site->survivor_bytes += copies ? bytes : 0;
    site->wasted_bytes += in_vain ? bytes : 0;
    site->old_bound_bytes += copies && !in_vain && (tenured || record->censored) ? bytes : 0;
    if (copies && record->death_bytes >= record->birth_bytes) {
        add_survivor(facts->survivors, record, tenured, copies, bytes);
    }
}

static bool on_object(void *context, const struct life_heap *heap, const struct eden_life_record *record) {
    const struct life_readers *readers = context;
    for (size_t i = 0; i < readers->count; i++) {
        struct tune_facts *facts = readers->at[i].facts;
        const struct life_site wanted = {.site = record->site};
        const struct life_site *found = readers->at[i].heap == heap && facts->survivors
                                            ? bsearch(&wanted, heap->sites, heap->site_count, sizeof wanted, by_index)
                                            : NULL;
        if (found) {
            add_object(facts, &facts->sites[found - heap->sites], record);
        }
    }
    return true;
}

static void add_sums(struct tune_site *site, const struct life_site *from) {
    site->samples = from->births.count;
    site->objects = life_objects(&from->births);
    site->bytes = (double)from->births.weight_bytes;
    for (enum life_outcome outcome = 0; outcome < LIFE_OUTCOMES; outcome++) {
        for (unsigned flags = 0; flags < EDEN_LIFE_FLAGS; flags++) {
            const struct life_sums *sums = &from->ended[outcome][flags];
            if (flags & EDEN_LIFE_TENURED && !(flags & EDEN_LIFE_BORN_OLD)) {
                site->tenured_samples += sums->count;
                site->tenured_bytes += (double)sums->weight_bytes;
            }
            if (flags & EDEN_LIFE_NEPOTISM) {
                site->nepotism_bytes += (double)sums->weight_bytes;
            }
        }
    }
}

static void add_up(struct tune_site *all, const struct tune_site *site) {
    all->samples += site->samples;
    all->tenured_samples += site->tenured_samples;
    all->objects += site->objects;
    all->bytes += site->bytes;
    all->tenured_bytes += site->tenured_bytes;
    all->wasted_bytes += site->wasted_bytes;
    all->nepotism_bytes += site->nepotism_bytes;
    all->copied_bytes += site->copied_bytes;
    all->survivor_bytes += site->survivor_bytes;
    all->old_bound_bytes += site->old_bound_bytes;
}

static int by_bytes(const void *a, const void *b) {
    const struct tune_site *x = a, *y = b;
    return (x->bytes < y->bytes) - (x->bytes > y->bytes);
}

static bool begin(struct life_readers *readers, struct tune_heaps *heaps, const struct life_model *model) {
    for (size_t i = 0; i < model->heap_count; i++) {
        const struct life_heap *heap = &model->heaps[i];
        for (size_t j = 0; heap->begun && j < heaps->count; j++) {
            struct tune_facts *facts = &heaps->at[j];
            if (facts->process.pid != heap->process.pid || facts->process.start_ns != heap->process.start_ns ||
                facts->heap_id != heap->id || facts->sites) {
                continue;
            }
            facts->sites = calloc(heap->site_count + 1, sizeof *facts->sites);
            facts->survivors = model->objects.each ? calloc(1, sizeof *facts->survivors) : NULL;
            if (!facts->sites || (model->objects.each && !facts->survivors)) {
                return false;
            }
            facts->lifetimes = true;
            facts->details = model->objects.each;
            facts->site_count = heap->site_count;
            for (size_t k = 0; k < heap->site_count; k++) {
                char label[LIFE_HEAP_LABEL];
                struct tune_site *site = &facts->sites[k];
                text_copy(site->name, sizeof site->name, life_place_label(label, &heap->sites[k]));
                add_sums(site, &heap->sites[k]);
            }
            readers->at[readers->count++] = (struct life_reader){facts, heap};
        }
    }
    return true;
}

bool tune_facts_add_lifetimes(struct tune_heaps *heaps, struct recording *recording, struct failure *why) {
    struct life_model model = {0};
    struct life_readers readers = {0};
    if (!recording_info(recording)->lifetimes) {
        return true;
    }
    bool good = recording_lifetimes(recording, &model, why);
    readers.at = calloc(heaps->count + 1, sizeof *readers.at);
    if (good && (!readers.at || !begin(&readers, heaps, &model))) {
        good = failure_set(why, 1, "out of memory for the recorded lifetimes");
    }
    if (good && model.objects.each) {
        good = model.objects.each(model.objects.from, &model, on_object, &readers, why);
    }
    for (size_t i = 0; good && i < readers.count; i++) {
        struct tune_facts *facts = readers.at[i].facts;
        for (size_t j = 0; j < facts->site_count; j++) {
            add_up(&facts->all, &facts->sites[j]);
        }
        if (facts->site_count) {
            qsort(facts->sites, facts->site_count, sizeof *facts->sites, by_bytes);
        }
    }
    free(readers.at);
    life_model_clear(&model);
    return good;
}
