/* The model of lifetimes: adding up cells and records.
 *
 * 1. Algorithm
 * A record of one object is a cell of one object, so both give the sums that the runtime would have computed itself
 * (runtime/profile/aggregator.c). Only a record's weight_bytes is computed from its weight, which is rounded to 1 /
 * EDEN_WEIGHT_ONE.
 * Sites are appended as they come, and found by a lookup: processes decide in what order they come. They are sorted
 * once, when all have come.
 *
 * 2. Invariants
 * I1. Records come from other processes or from files. Fields that name something (site, bucket, flags) are checked;
 *     the others are numbers to add. They may wrap around, and are then wrong, but do no harm.
 * I2. heap->by_site finds each of heap->sites, and by_key each heap.
 * I3. What a heap owns is taken of its process's share. What finds no room there is counted in heap->beyond: of a site
 *     that is in the model, all births and ends are, or are counted there. */
#include "model/lifetimes/model.h"
#include "eden_weight.h"
#include "model/lifetimes/batch.h"
#include "model/lifetimes/limit.h"
#include "util/array.h"
#include "util/interrupt.h"
#include "util/message.h"
#include <inttypes.h>
#include <stdio.h>
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
    SITE_BYTES = sizeof(struct life_site) + 32, /* with its place in the lookup */
};

/* ---- memory ----------------------------------------------------------------------------------------------------- */

static bool take(struct life_heap *heap, uint64_t bytes) {
    bool taken = !heap->share || life_share_take(heap->share, bytes);
    heap->bytes += heap->share && taken ? bytes : 0;
    return taken;
}

static void give(struct life_heap *heap, uint64_t bytes) {
    if (heap->share) {
        life_share_give(heap->share, bytes);
        heap->bytes -= bytes;
    }
}

void life_site_clear(struct life_site *site) {
    for (int outcome = 0; outcome < LIFE_OUTCOMES; outcome++) {
        for (int flags = 0; flags < EDEN_LIFE_FLAGS; flags++) {
            free(site->ended[outcome][flags]);
            site->ended[outcome][flags] = NULL;
        }
        for (int clock = 0; clock < LIFE_CLOCKS; clock++) {
            free(site->histogram[outcome][clock].at);
            site->histogram[outcome][clock] = (struct life_histogram){0};
        }
    }
}

/* All that came of its profile; the heap stays. */
static void clear_heap(struct life_heap *heap) {
    for (size_t i = 0; i < heap->site_count; i++) {
        life_site_clear(&heap->sites[i]);
    }
    free(heap->sites);
    lookup_clear(&heap->by_site);
    life_decoder_clear(&heap->decoder);
    life_samples_clear(&heap->samples);
    give(heap, heap->bytes);
    heap->from_cells = false;
    heap->sites = NULL;
    heap->site_count = heap->site_room = 0;
    heap->beyond = (struct life_beyond){0};
}

void life_model_clear(struct life_model *model) {
    for (size_t i = 0; i < model->heap_count; i++) {
        clear_heap(&model->heaps[i]);
    }
    free(model->heaps);
    lookup_clear(&model->by_key);
    life_shares_clear(&model->shares);
    *model = (struct life_model){0};
}

bool life_model_is_interrupted(const struct life_model *model, struct failure *why) {
    return interrupt_count() != model->interrupts &&
           !failure_set(why, 128 + interrupt_last(), "interrupted before the lifetimes were complete");
}

/* ---- heaps ------------------------------------------------------------------------------------------------------ */

static uint64_t hash_of_heap(const struct process_key *process, struct heap_ref ref) {
    const uint64_t words[] = {process->start_ns, process->pid, ref.serial, ref.serial ? 0 : ref.address,
                              ref.serial ? 0 : ref.id};
    return lookup_hash(words, sizeof words / sizeof *words);
}

static bool is_heap(const void *array, size_t place, const void *key) {
    const struct life_heap *heap = (const struct life_heap *)array + place, *wanted = key;
    return heap_is_same(HEAP_REF(heap), HEAP_REF(wanted)) && process_is_same(&heap->process, &wanted->process);
}

/* Their places have changed; there are no more of them than before. */
static void look_up_heaps(struct life_model *model) {
    lookup_empty(&model->by_key);
    for (size_t i = 0; i < model->heap_count; i++) {
        const struct life_heap *heap = &model->heaps[i];
        lookup_add(&model->by_key, hash_of_heap(&heap->process, HEAP_REF(heap)), i);
    }
}

struct life_heap *life_model_find(const struct life_model *model, const struct process_key *process,
                                  struct heap_ref ref) {
    const struct life_heap wanted = {.process = *process, .address = ref.address, .id = ref.id, .serial = ref.serial};
    uint32_t place = lookup_find(&model->by_key, hash_of_heap(process, ref), is_heap, model->heaps, &wanted);
    return place == LOOKUP_NONE ? NULL : &model->heaps[place];
}

struct life_heap *life_model_heap(struct life_model *model, const struct process_key *process, struct heap_ref ref) {
    struct life_heap *heap = life_model_find(model, process, ref);
    if (heap || model->heap_count == MOST_HEAPS) {
        return heap;
    }
    const unsigned user = model->user_of ? model->user_of(model->user_context, process) : 0;
    struct life_share *share = life_share_of(&model->shares, process, user);
    heap = share ? array_grow(&model->heaps, &model->heap_room, model->heap_count, sizeof *model->heaps) : NULL;
    if (!heap || !lookup_add(&model->by_key, hash_of_heap(process, ref), model->heap_count)) {
        return NULL;
    }
    *heap = (struct life_heap){
        .process = *process, .address = ref.address, .id = ref.id, .serial = ref.serial, .share = share};
    model->heap_count++;
    return heap;
}

void life_model_choose(struct life_model *model, const struct heap_choice *choice) {
    size_t kept = 0;
    for (size_t i = 0; i < model->heap_count; i++) {
        struct life_heap *heap = &model->heaps[i];
        if (heap_is_chosen(choice, heap->process.pid, HEAP_REF(heap))) {
            model->heaps[kept++] = *heap;
        } else {
            clear_heap(heap);
        }
    }
    model->heap_count = kept;
    look_up_heaps(model);
}

static int by_process_and_id(const void *a, const void *b) {
    const struct life_heap *x = a, *y = b;
    const uint64_t first[] = {x->process.start_ns, x->process.pid, x->id, x->serial, x->address};
    const uint64_t second[] = {y->process.start_ns, y->process.pid, y->id, y->serial, y->address};
    for (size_t i = 0; i < sizeof first / sizeof *first; i++) {
        if (first[i] != second[i]) {
            return first[i] < second[i] ? -1 : 1;
        }
    }
    return 0;
}

static bool has_same_number(const struct life_heap *one, const struct life_heap *other) {
    return one->id == other->id && process_is_same(&one->process, &other->process);
}

static int by_index(const void *a, const void *b) {
    const struct life_site *x = a, *y = b;
    return (x->site > y->site) - (x->site < y->site);
}

static void look_up_sites(struct life_heap *heap);

void life_model_sort(struct life_model *model) {
    if (model->heap_count != 0) {
        qsort(model->heaps, model->heap_count, sizeof *model->heaps, by_process_and_id);
    }
    look_up_heaps(model);
    for (size_t i = 0; i < model->heap_count; i++) {
        struct life_heap *heap = &model->heaps[i];
        bool is_alone = (i == 0 || !has_same_number(&heap[-1], heap)) &&
                        (i + 1 == model->heap_count || !has_same_number(heap, &heap[1]));
        heap->suffix = is_alone ? 0 : heap->serial;
        if (heap->site_count != 0) {
            qsort(heap->sites, heap->site_count, sizeof *heap->sites, by_index);
            look_up_sites(heap);
        }
    }
}

/* What is beyond the shares of the processes from heaps[*next] on: of one process, whose last heap *next is after. */
static struct life_beyond beyond_of(const struct life_model *model, size_t *next) {
    const struct process_key *process = &model->heaps[*next].process;
    struct life_beyond all = {0};
    for (; *next < model->heap_count && process_is_same(&model->heaps[*next].process, process); ++*next) {
        const struct life_beyond *beyond = &model->heaps[*next].beyond;
        sum_add(&all.births, beyond->births > beyond->ends ? beyond->births : beyond->ends);
        sum_add(&all.buckets, beyond->buckets);
    }
    return all;
}

static void report_beyond(const char *who, const struct life_beyond *beyond) {
    message_print("lost: %" PRIu64 " sampled objects, %" PRIu64 " entries of histograms: %s used up", beyond->births,
                  beyond->buckets, who);
}

void life_model_report_beyond(struct life_model *model) {
    enum { NAMED = 8 };
    struct life_beyond others = {0};
    size_t processes = 0;
    char who[80];
    for (size_t i = 0; i < model->heap_count;) {
        snprintf(who, sizeof who, "the share of sites of process %" PRIu32 " is", model->heaps[i].process.pid);
        const struct life_beyond beyond = beyond_of(model, &i);
        sum_add(&model->lost, beyond.births);
        sum_add(&model->lost, beyond.buckets);
        bool any = beyond.births || beyond.buckets;
        processes += any;
        if (any && processes <= NAMED) {
            report_beyond(who, &beyond);
        } else {
            sum_add(&others.births, beyond.births);
            sum_add(&others.buckets, beyond.buckets);
        }
    }
    if (processes > NAMED) {
        snprintf(who, sizeof who, "the shares of sites of %zu more processes are", processes - NAMED);
        report_beyond(who, &others);
    }
}

/* ---- sites ------------------------------------------------------------------------------------------------------ */

static bool is_site(const void *array, size_t place, const void *key) {
    const uint32_t *site = key;
    return ((const struct life_site *)array)[place].site == *site;
}

/* Their places have changed. */
static void look_up_sites(struct life_heap *heap) {
    lookup_empty(&heap->by_site);
    for (size_t i = 0; i < heap->site_count; i++) {
        lookup_add(&heap->by_site, lookup_hash_number(heap->sites[i].site), i);
    }
}

struct life_site *life_heap_find(const struct life_heap *heap, uint32_t site) {
    uint32_t place = lookup_find(&heap->by_site, lookup_hash_number(site), is_site, heap->sites, &site);
    return place == LOOKUP_NONE ? NULL : &heap->sites[place];
}

struct life_site *life_heap_site(struct life_heap *heap, uint32_t site) {
    struct life_site *at = life_heap_find(heap, site);
    if (at || heap->site_count == MOST_SITES || !take(heap, SITE_BYTES)) {
        return at;
    }
    at = array_grow(&heap->sites, &heap->site_room, heap->site_count, sizeof *heap->sites);
    if (!at || !lookup_add(&heap->by_site, lookup_hash_number(site), heap->site_count)) {
        give(heap, SITE_BYTES);
        return NULL;
    }
    *at = (struct life_site){.site = site, .origin = site, .class_id = site};
    heap->site_count++;
    return at;
}

bool life_site_end(struct life_heap *heap, struct life_site *site, enum life_outcome outcome, unsigned flags,
                   const struct life_sums *sums) {
    struct life_sums **at = &site->ended[outcome][flags];
    if (!*at && take(heap, sizeof **at)) {
        *at = calloc(1, sizeof **at);
        if (!*at) {
            give(heap, sizeof **at);
        }
    }
    if (*at) {
        life_sums_add(*at, sums);
    }
    return *at;
}

bool life_histogram_reserve(struct life_histogram *histogram, size_t room) {
    if (room <= histogram->room) {
        return true;
    }
    struct life_bucket *at = reallocarray(histogram->at, room, sizeof *at);
    if (!at) {
        return false;
    }
    histogram->at = at;
    histogram->room = room;
    return true;
}

/* Room for one more bucket. Most histograms have few: they begin with one. */
static bool grow_histogram(struct life_heap *heap, struct life_histogram *histogram) {
    if (histogram->count < histogram->room) {
        return true;
    }
    const size_t room = histogram->room ? 2 * histogram->room : 1;
    const uint64_t bytes = (room - histogram->room) * sizeof *histogram->at;
    bool grown = take(heap, bytes);
    if (grown && !life_histogram_reserve(histogram, room)) {
        give(heap, bytes);
        grown = false;
    }
    return grown;
}

bool life_site_bucket(struct life_heap *heap, struct life_site *site, enum life_outcome outcome, enum life_clock clock,
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
        if (!grow_histogram(heap, histogram)) {
            return false;
        }
        struct life_bucket *at = &histogram->at[from];
        memmove(at + 1, at, (histogram->count++ - from) * sizeof *at);
        *at = (struct life_bucket){.bucket = bucket->bucket};
    }
    sum_add(&histogram->at[from].count, bucket->count);
    sum_add(&histogram->at[from].weight, bucket->weight);
    sum_add(&histogram->at[from].weight_bytes, bucket->weight_bytes);
    return true;
}

/* ---- batches ---------------------------------------------------------------------------------------------------- */

/* The group of objects that have this index in their headers; NULL: no room. The index is sound. */
static struct life_site *find_group(const struct life_model *model, struct life_heap *heap, uint32_t index) {
    struct life_site *group = life_heap_site(heap, model->stacks ? LIFE_NO_STACK + index : index);
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
    if (cell->site >= EDEN_CLASS_LIMIT) {
        return false;
    }
    struct life_site *site = find_group(model, heap, cell->site);
    if (!site) {
        sum_add(&heap->beyond.births, cell->count);
        return true;
    }
    sum_add(&site->births.count, cell->count);
    sum_add(&site->births.bytes, cell->bytes);
    sum_add(&site->births.weight, cell->weight);
    sum_add(&site->births.weight_bytes, cell->weight_bytes);
    return true;
}

/* A sample's stack, before its end is reported. Its birth is also counted by site: see stats/by_stack.c. What is not
 * known is of unknown stack, and lost to nobody. */
static void add_stack(const struct life_model *model, struct life_heap *heap, const struct life_stack_record *record) {
    bool sound = heap->begun && record->class_id < EDEN_CLASS_LIMIT && record->site < EDEN_CLASS_LIMIT;
    struct life_site *unknown = sound ? find_group(model, heap, record->site) : NULL;
    if (unknown) {
        unknown->class_id = record->class_id;
    }
    struct life_site *group = unknown ? find_stack(model, heap, record->stack) : NULL;
    if (group && life_samples_add(&heap->samples, record->birth_bytes, record->stack)) {
        double weight = eden_weight(heap->state.sampling, heap->state.rate, record->bytes);
        group->births.count++;
        sum_add(&group->births.bytes, record->bytes);
        sum_add(&group->births.weight, eden_weight_units(heap->state.sampling, heap->state.rate, record->bytes));
        sum_add(&group->births.weight_bytes, eden_weight_rounded(weight * (double)record->bytes));
    }
}

static bool is_cell_sound(const struct eden_life_cell *cell) {
    bool bucketed = cell->ns_bucket < HISTOGRAM_BUCKETS && cell->bytes_bucket < HISTOGRAM_BUCKETS;
    return cell->site < EDEN_CLASS_LIMIT && cell->flags < EDEN_LIFE_FLAGS && (eden_buckets_are_apart(cell) || bucketed);
}

/* site NULL: there is no room for it. The cell is sound. */
static void add_ends(struct life_heap *heap, struct life_site *site, enum life_outcome outcome,
                     const struct eden_life_cell *cell) {
    const struct life_sums ended = life_sums_of_cell(cell);
    if (!site || !life_site_end(heap, site, outcome, cell->flags, &ended)) {
        sum_add(&heap->beyond.ends, cell->count);
        return;
    }
    if (eden_buckets_are_apart(cell)) {
        return;
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
        if (!life_site_bucket(heap, site, outcome, clock, &bucket)) {
            sum_add(&heap->beyond.buckets, cell->count);
        }
    }
}

static bool add_cell(const struct life_model *model, struct life_heap *heap, enum life_outcome outcome,
                     const struct eden_life_cell *cell) {
    bool sound = is_cell_sound(cell);
    heap->from_cells = true;
    if (sound) {
        add_ends(heap, find_group(model, heap, cell->site), outcome, cell);
    }
    return sound;
}

static bool add_bucket(const struct life_model *model, struct life_heap *heap, const struct eden_life_bucket *from) {
    if (from->site >= EDEN_CLASS_LIMIT || from->clock >= EDEN_LIFE_CLOCKS || from->bucket >= HISTOGRAM_BUCKETS) {
        return false;
    }
    const struct life_bucket bucket = {from->bucket, from->count, from->weight, from->weight_bytes};
    struct life_site *site = find_group(model, heap, from->site);
    if (!site || !life_site_bucket(heap, site, from->censored ? LIFE_CENSORED : LIFE_DIED, (enum life_clock)from->clock,
                                   &bucket)) {
        sum_add(&heap->beyond.buckets, from->count);
    }
    return true;
}

static bool add_object(struct life_model *model, struct life_heap *heap, const struct eden_life_record *reported) {
    struct eden_life_record record = *reported;
    double weight = (double)record.weight / EDEN_WEIGHT_ONE;
    life_limit_object(model, &record);
    struct eden_life_cell cell = eden_life_cell_of(&record, eden_weight_rounded(weight * (double)record.bytes));
    if (!is_cell_sound(&cell)) {
        return false;
    }
    if (!model->is_of_objects) {
        uint32_t stack = model->stacks ? life_samples_end(&heap->samples, record.birth_bytes) : 0;
        struct life_site *group = stack != 0 ? find_stack(model, heap, stack) : find_group(model, heap, record.site);
        add_ends(heap, group, record.censored ? LIFE_CENSORED : LIFE_DIED, &cell);
    }
    if (model->on_object) {
        model->on_object(model->object_context, heap, &record);
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
    if (model->is_of_objects && kind != EDEN_BATCH_PROFILE && kind != EDEN_BATCH_OBJECTS) {
        return true;
    }
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
        return add_cell(model, heap, kind == EDEN_BATCH_CENSORED ? LIFE_CENSORED : LIFE_DIED, &record->life);
    case EDEN_BATCH_BUCKETS:
        return add_bucket(model, heap, &record->bucket);
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

/* The memory of its clock and of its samples, which only grow. */
static uint64_t clock_bytes(const struct life_heap *heap) {
    return heap->decoder.epoch_room * sizeof *heap->decoder.epochs +
           heap->decoder.mark_room * sizeof *heap->decoder.marks + heap->samples.room * sizeof *heap->samples.at;
}

static bool add_all(struct life_model *model, struct life_heap *heap, uint32_t kind, const void *records,
                    uint64_t count, uint64_t record_bytes) {
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

/* Its arrays may double: so much is taken before, and what was not needed is given back. False: there is not so much
 * left, and nothing of the batch is taken. */
static bool add_to_clock(struct life_model *model, struct life_heap *heap, uint32_t kind, const void *records,
                         uint64_t count, uint64_t record_bytes) {
    enum { FIRST = 4096 }; /* bytes of the first arrays */
    const uint64_t before = clock_bytes(heap), most = before + 2 * count * sizeof(struct life_stack_record) + FIRST;
    if (!take(heap, most)) {
        return false;
    }
    bool added = add_all(model, heap, kind, records, count, record_bytes);
    const uint64_t grown = clock_bytes(heap) - before;
    give(heap, grown < most ? most - grown : 0);
    return added;
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
    bool is_clock = kind == EDEN_BATCH_EPOCHS || kind == EDEN_BATCH_MARKS || kind == LIFE_BATCH_STACK;
    return (is_clock ? add_to_clock : add_all)(model, heap, kind, records, count, record_bytes);
}
