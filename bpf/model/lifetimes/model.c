/* The model of lifetimes: adding up cells and records.
 *
 * 1. Algorithm
 * A record of one object is a cell of one object, so both give the sums that the runtime would have computed itself
 * (runtime/profile/aggregator.c). Only a record's weight_bytes is computed from its weight, which is rounded to 1 /
 * EDEN_WEIGHT_ONE.
 *
 * 2. Invariants
 * I1. Records come from other processes or from files. Fields that name something (site, bucket, flags) are checked;
 *     the others are numbers to add. They may wrap around, and are then wrong, but do no harm. */
#include "model/lifetimes/model.h"
#include "eden_weight.h"
#include "model/lifetimes/batch.h"
#include "util/array.h"
#include <stdlib.h>
#include <string.h>

/* Samples arrive in the order of their births, so appending keeps the list sorted. Samples with a reported end stay as
 * gaps until most entries are gaps; then the list is compacted. So it holds at most twice as many as are alive, and
 * each costs the same in the long run. */

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

enum {
    MOST_SITES = 1 << 17, /* of a heap: as many as the kernel program keeps apart */
    MOST_HEAPS = 1 << 14,
};

static void clear_heap(struct life_heap *heap) {
    for (size_t i = 0; i < heap->site_count; i++) {
        for (int outcome = 0; outcome < LIFE_OUTCOMES; outcome++) {
            for (int clock = 0; clock < LIFE_CLOCKS; clock++) {
                free(heap->sites[i].histogram[outcome][clock].at);
            }
        }
    }
    free(heap->sites);
    life_decoder_clear(&heap->decoder);
    life_samples_clear(&heap->samples);
    heap->from_cells = false;
    heap->sites = NULL;
    heap->site_count = heap->site_room = 0;
}

void life_model_clear(struct life_model *model) {
    for (size_t i = 0; i < model->heap_count; i++) {
        clear_heap(&model->heaps[i]);
    }
    free(model->heaps);
    *model = (struct life_model){0};
}

struct life_heap *life_model_heap(struct life_model *model, const struct process_key *process, uint64_t address,
                                  uint64_t id) {
    for (size_t i = 0; i < model->heap_count; i++) {
        struct life_heap *heap = &model->heaps[i];
        if (heap->address == address && heap->id == id && process_is_same(&heap->process, process)) {
            return heap;
        }
    }
    if (model->heap_count == MOST_HEAPS ||
        !array_grow(&model->heaps, &model->heap_room, model->heap_count, sizeof *model->heaps)) {
        return NULL;
    }
    struct life_heap *heap = &model->heaps[model->heap_count++];
    *heap = (struct life_heap){.process = *process, .address = address, .id = id};
    return heap;
}

void life_model_choose(struct life_model *model, uint64_t pid, uint64_t id) {
    size_t kept = 0;
    for (size_t i = 0; i < model->heap_count; i++) {
        struct life_heap *heap = &model->heaps[i];
        if ((pid == 0 || heap->process.pid == pid) && (id == 0 || heap->id == id)) {
            model->heaps[kept++] = *heap;
        } else {
            clear_heap(heap);
        }
    }
    model->heap_count = kept;
}

static int by_process_and_id(const void *a, const void *b) {
    const struct life_heap *x = a, *y = b;
    const uint64_t first[] = {x->process.start_ns, x->process.pid, x->id, x->address};
    const uint64_t second[] = {y->process.start_ns, y->process.pid, y->id, y->address};
    for (size_t i = 0; i < sizeof first / sizeof *first; i++) {
        if (first[i] != second[i]) {
            return first[i] < second[i] ? -1 : 1;
        }
    }
    return 0;
}

void life_model_sort(struct life_model *model) {
    if (model->heap_count != 0) {
        qsort(model->heaps, model->heap_count, sizeof *model->heaps, by_process_and_id);
    }
}

struct life_site *life_heap_site(struct life_heap *heap, uint32_t site) {
    size_t from = 0, to = heap->site_count;
    while (from < to) {
        size_t middle = (from + to) / 2;
        if (heap->sites[middle].site < site) {
            from = middle + 1;
        } else {
            to = middle;
        }
    }
    if (from < heap->site_count && heap->sites[from].site == site) {
        return &heap->sites[from];
    }
    if (heap->site_count == MOST_SITES ||
        !array_grow(&heap->sites, &heap->site_room, heap->site_count, sizeof *heap->sites)) {
        return NULL;
    }
    struct life_site *at = &heap->sites[from];
    memmove(at + 1, at, (heap->site_count++ - from) * sizeof *at);
    *at = (struct life_site){.site = site, .origin = site, .class_id = site};
    return at;
}

bool life_site_bucket(struct life_site *site, enum life_outcome outcome, enum life_clock clock,
                      const struct life_bucket *bucket) {
    struct life_histogram *histogram = &site->histogram[outcome][clock];
    size_t from = 0, to = histogram->count;
    while (from < to) {
        size_t middle = (from + to) / 2;
        if (histogram->at[middle].bucket < bucket->bucket) {
            from = middle + 1;
        } else {
            to = middle;
        }
    }
    if (from == histogram->count || histogram->at[from].bucket != bucket->bucket) {
        if (!array_grow(&histogram->at, &histogram->room, histogram->count, sizeof *histogram->at)) {
            return false;
        }
        struct life_bucket *at = &histogram->at[from];
        memmove(at + 1, at, (histogram->count++ - from) * sizeof *at);
        *at = (struct life_bucket){.bucket = bucket->bucket};
    }
    histogram->at[from].count += bucket->count;
    histogram->at[from].weight += bucket->weight;
    histogram->at[from].weight_bytes += bucket->weight_bytes;
    return true;
}

/* ---- batches ---------------------------------------------------------------------------------------------------- */

/* The group of objects that have this index in their headers; NULL: no memory, or no such index. */
static struct life_site *find_group(const struct life_model *model, struct life_heap *heap, uint32_t index) {
    struct life_site *group =
        index < EDEN_CLASS_LIMIT ? life_heap_site(heap, model->stacks ? LIFE_NO_STACK + index : index) : NULL;
    if (group && group->origin != index) { /* it is new */
        group->origin = group->class_id = index;
    }
    return group;
}

/* The group of those that were allocated on this stack; NULL: no memory, or no such stack. */
static struct life_site *find_stack(const struct life_model *model, struct life_heap *heap, uint32_t number) {
    const struct life_stack *stack = life_stacks_get(model->stacks, number);
    struct life_site *group =
        stack && number < EDEN_CLASS_LIMIT ? life_heap_site(heap, EDEN_CLASS_LIMIT + number) : NULL;
    if (group) {
        group->origin = group->class_id = stack->class_id;
    }
    return group;
}

static bool add_births(const struct life_model *model, struct life_heap *heap, const struct eden_birth_cell *cell) {
    struct life_site *site = find_group(model, heap, cell->site);
    if (!site) {
        return false;
    }
    site->births.count += cell->count;
    site->births.bytes += cell->bytes;
    site->births.weight += cell->weight;
    site->births.weight_bytes += cell->weight_bytes;
    return true;
}

/* A sample's stack, before its end is reported. Its birth is also counted by site: see stats/by_stack.c. What is not
 * known is of unknown stack, and lost to nobody. */
static void add_stack(const struct life_model *model, struct life_heap *heap, const struct life_stack_record *record) {
    bool sound = heap->begun && record->class_id < EDEN_CLASS_LIMIT;
    struct life_site *unknown = sound ? find_group(model, heap, record->site) : NULL;
    if (unknown) {
        unknown->class_id = record->class_id;
    }
    struct life_site *group = unknown ? find_stack(model, heap, record->stack) : NULL;
    if (group && life_samples_add(&heap->samples, record->birth_bytes, record->stack)) {
        double weight = eden_weight(heap->state.sampling, heap->state.rate, record->bytes);
        group->births.count++;
        group->births.bytes += record->bytes;
        group->births.weight += eden_weight_units(heap->state.sampling, heap->state.rate, record->bytes);
        group->births.weight_bytes += eden_weight_rounded(weight * (double)record->bytes);
    }
}

static bool add_ends(struct life_site *site, enum life_outcome outcome, const struct eden_life_cell *cell) {
    bool apart = eden_buckets_are_apart(cell);
    bool bucketed = cell->ns_bucket < HISTOGRAM_BUCKETS && cell->bytes_bucket < HISTOGRAM_BUCKETS;
    if (!site || cell->flags >= EDEN_LIFE_FLAGS || !(apart || bucketed)) {
        return false;
    }
    const struct life_sums ended = life_sums_of_cell(cell);
    life_sums_add(&site->ended[outcome][cell->flags], &ended);
    if (apart) {
        return true;
    }
    struct life_bucket bucket = {.count = cell->count, .weight = cell->weight, .weight_bytes = cell->weight_bytes};
    const uint32_t buckets[LIFE_CLOCKS] = {
        [LIFE_NS] = cell->ns_bucket,
        [LIFE_BYTES] = cell->bytes_bucket,
        [LIFE_SCAVENGES] = histogram_bucket(cell->scavenges),
        [LIFE_FULLS] = histogram_bucket(cell->fulls),
    };
    for (enum life_clock clock = 0; clock < LIFE_CLOCKS; clock++) {
        bucket.bucket = (uint16_t)buckets[clock];
        if (!life_site_bucket(site, outcome, clock, &bucket)) {
            return false;
        }
    }
    return true;
}

static bool add_bucket(struct life_site *site, const struct eden_life_bucket *from) {
    if (!site || from->clock >= EDEN_LIFE_CLOCKS || from->bucket >= HISTOGRAM_BUCKETS) {
        return false;
    }
    const struct life_bucket bucket = {from->bucket, from->count, from->weight, from->weight_bytes};
    return life_site_bucket(site, from->censored ? LIFE_CENSORED : LIFE_DIED, (enum life_clock)from->clock, &bucket);
}

static bool add_object(struct life_model *model, struct life_heap *heap, const struct eden_life_record *record) {
    double weight = (double)record->weight / EDEN_WEIGHT_ONE;
    struct eden_life_cell cell = eden_life_cell_of(record, eden_weight_rounded(weight * (double)record->bytes));
    uint32_t stack = model->stacks ? life_samples_end(&heap->samples, record->birth_bytes) : 0;
    struct life_site *group = stack != 0 ? find_stack(model, heap, stack) : find_group(model, heap, record->site);
    if (!add_ends(group, record->censored ? LIFE_CENSORED : LIFE_DIED, &cell)) {
        return false;
    }
    if (model->on_object) {
        model->on_object(model->object_context, heap, record);
    }
    return true;
}

/* Another profile of a heap begins: what is known is of the one before, and is dropped. */
static void begin_anew(struct life_heap *heap) {
    heap->replaced++;
    clear_heap(heap);
}

union any_record {
    struct eden_profile_record profile;
    struct eden_birth_cell birth;
    struct eden_life_cell life;
    struct eden_life_bucket bucket;
    struct eden_life_record object;
    struct life_stack_record stack;
};

static bool add_record(struct life_model *model, struct life_heap *heap, uint32_t kind,
                       const union any_record *record) {
    const struct eden_life_cell *life = &record->life;
    switch (kind) {
    case EDEN_BATCH_PROFILE:
        if (heap->begun && heap->state.begun_ns != record->profile.begun_ns) {
            begin_anew(heap);
        }
        heap->begun = true;
        heap->state = record->profile;
        return true;
    case EDEN_BATCH_BIRTHS:
        return add_births(model, heap, &record->birth);
    case EDEN_BATCH_DEATHS:
    case EDEN_BATCH_CENSORED:
        heap->from_cells = true;
        return add_ends(find_group(model, heap, life->site), kind == EDEN_BATCH_CENSORED ? LIFE_CENSORED : LIFE_DIED,
                        life);
    case EDEN_BATCH_BUCKETS:
        return add_bucket(find_group(model, heap, record->bucket.site), &record->bucket);
    case EDEN_BATCH_OBJECTS:
        return add_object(model, heap, &record->object);
    case LIFE_BATCH_STACK:
        add_stack(model, heap, &record->stack);
        return true;
    default:
        return true;
    }
}

/* Others are of a runtime that knows more than we do. */
static bool is_known(const struct life_model *model, uint32_t kind) {
    return kind <= EDEN_BATCH_OBJECTS || kind == EDEN_BATCH_BUCKETS || life_decoder_knows(kind) ||
           (model->stacks && kind == LIFE_BATCH_STACK);
}

struct decoding {
    struct life_model *model;
    struct life_heap *heap;
    bool added;
};

static void add_decoded(void *context, const struct eden_life_record *record) {
    struct decoding *decoding = context;
    decoding->added = add_object(decoding->model, decoding->heap, record) && decoding->added;
}

/* Short forms hang together: what they say depends on those that came before. */
static bool add_short(struct life_model *model, struct life_heap *heap, uint32_t kind, const void *records,
                      uint64_t count, uint64_t record_bytes) {
    struct decoding decoding = {model, heap, true};
    bool decoded =
        life_decode(&heap->decoder, &heap->state, kind, records, count, record_bytes, add_decoded, &decoding);
    return decoded && decoding.added;
}

bool life_model_batch(struct life_model *model, struct life_heap *heap, uint32_t kind, const void *records,
                      uint64_t count, uint64_t record_bytes) {
    if (record_bytes < sizeof(uint64_t)) {
        return count == 0;
    }
    if (!is_known(model, kind)) {
        model->unknown++;
        return true;
    }
    if (life_decoder_knows(kind)) {
        return add_short(model, heap, kind, records, count, record_bytes);
    }
    bool added = true;
    for (uint64_t i = 0; i < count; i++) {
        union any_record record;
        memset(&record, 0, sizeof record);
        memcpy(&record, (const char *)records + i * record_bytes,
               record_bytes < sizeof record ? record_bytes : sizeof record);
        added = add_record(model, heap, kind, &record) && added;
    }
    return added;
}
