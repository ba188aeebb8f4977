#include "model/model.h"
#include "util/array.h"
#include "util/format.h"
#include "util/sum.h"
#include "util/whole.h"
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *const phase_names[EDEN_PHASE_COUNT] = {
#define EDEN_PHASE(name, text, parent) text,
#include "eden_phases.def"
#undef EDEN_PHASE
};

const char *const pause_cause_names[PAUSE_CAUSES] = {
#define PAUSE_CAUSE(name, heading, meaning) #name,
#include "kernel/pause_causes.def"
};

const char *const pause_cause_headings[PAUSE_CAUSES] = {
#define PAUSE_CAUSE(name, heading, meaning) heading,
#include "kernel/pause_causes.def"
};

const char *const pause_cause_meanings[PAUSE_CAUSES] = {
#define PAUSE_CAUSE(name, heading, meaning) meaning,
#include "kernel/pause_causes.def"
};

const int phase_parents[EDEN_PHASE_COUNT] = {
#define EDEN_PHASE(name, text, parent) parent,
#include "eden_phases.def"
#undef EDEN_PHASE
};

enum eden_phase phase_whole(enum eden_phase phase) {
    while (phase_parents[phase] >= 0) {
        phase = (enum eden_phase)phase_parents[phase];
    }
    return phase;
}

static int next_part(int whole, int phase) {
    do {
        phase++;
    } while (phase < EDEN_PHASE_COUNT && phase_parents[phase] != whole);
    return phase;
}

int phase_next(int phase) {
    int next = next_part(phase, -1); /* the first of its parts */
    while (next == EDEN_PHASE_COUNT && phase >= 0) {
        next = next_part(phase_parents[phase], phase);
        phase = phase_parents[phase];
    }
    return next;
}

const char *const earlier_names[EARLIER_COUNT] = {"whole", "partial", "unknown"};

const char model_no_heap[] = "no heap was created, or none was seen: other messages may say why; or check that the "
                             "program uses libeden, and that this is the right process";

void model_remove_last_heap(struct process_model *process) {
    process->heap_count--;
    for (int phase = 0; phase < MODEL_PHASES; phase++) {
        free(process->heaps[process->heap_count].phase[phase]);
    }
}

void model_clear_process(struct process_model *process) {
    while (process->heap_count != 0) {
        model_remove_last_heap(process);
    }
    free(process->heaps);
    process->heaps = NULL;
    process->heap_room = 0;
}

void model_fit_heaps(struct process_model *process) {
    if (process->heap_count == 0) {
        model_clear_process(process);
        return;
    }
    struct heap_model *fitting = reallocarray(process->heaps, process->heap_count, sizeof *fitting);
    if (fitting) {
        process->heaps = fitting;
        process->heap_room = process->heap_count;
    }
}

void model_clear(struct model *model) {
    for (size_t i = 0; i < model->process_count; i++) {
        model_clear_process(&model->processes[i]);
    }
    free(model->processes);
    lookup_clear(&model->by_key);
    *model = (struct model){0};
}

size_t model_heap_count(const struct model *model) {
    size_t count = 0;
    for (size_t i = 0; i < model->process_count; i++) {
        count += model->processes[i].heap_count;
    }
    return count;
}

static bool is_process(const void *array, size_t place, const void *key) {
    const struct process_model *processes = array;
    return process_is_same(&processes[place].key, key);
}

const struct process_model *model_find_process(const struct model *model, const struct process_key *key) {
    uint32_t place = lookup_find(&model->by_key, process_hash(key), is_process, model->processes, key);
    return place == LOOKUP_NONE ? NULL : &model->processes[place];
}

const struct heap_model *model_find_heap(const struct process_model *process, struct heap_ref ref) {
    for (size_t i = 0; process && i < process->heap_count; i++) {
        if (heap_is_same(HEAP_REF(&process->heaps[i]), ref)) {
            return &process->heaps[i];
        }
    }
    return NULL;
}

struct process_model *model_process(struct model *model, const struct process_key *key) {
    const struct process_model *known = model_find_process(model, key);
    return known ? &model->processes[known - model->processes] : model_add_process(model, key);
}

struct process_model *model_add_process(struct model *model, const struct process_key *key) {
    struct process_model *process =
        array_grow(&model->processes, &model->process_room, model->process_count, sizeof *process);
    if (!process || !lookup_add(&model->by_key, process_hash(key), model->process_count)) {
        return NULL;
    }
    *process = (struct process_model){.key = *key, .runtime = "eden"};
    model->process_count++;
    return process;
}

static bool copy_phases(struct heap_model *to, const struct heap_model *from) {
    bool good = true;
    for (unsigned i = 0; i < MODEL_PHASES; i++) {
        to->phase[i] = NULL;
    }
    for (unsigned i = 0; i < MODEL_PHASES && good; i++) {
        struct phase_model *phase = from->phase[i] ? model_phase(to, i) : NULL;
        good = phase || !from->phase[i];
        if (phase) {
            *phase = *from->phase[i];
        }
    }
    return good;
}

struct process_model *model_copy_process(struct model *model, const struct process_model *process) {
    struct process_model *copy = model_add_process(model, &process->key);
    bool good = copy;
    if (copy) {
        *copy = *process;
        copy->heap_count = copy->heap_room = 0;
        copy->heaps = process->heap_count ? calloc(process->heap_count, sizeof *copy->heaps) : NULL;
        good = copy->heaps || process->heap_count == 0;
    }
    for (size_t i = 0; good && i < process->heap_count; i++) {
        copy->heaps[i] = process->heaps[i];
        copy->heap_count = copy->heap_room = i + 1;
        good = copy_phases(&copy->heaps[i], &process->heaps[i]);
    }
    return good ? copy : NULL;
}

struct heap_model *model_heap(struct process_model *process, struct heap_ref ref) {
    const struct heap_model *known = model_find_heap(process, ref);
    if (known) {
        return &process->heaps[known - process->heaps];
    }
    struct heap_model *heap = array_grow(&process->heaps, &process->heap_room, process->heap_count, sizeof *heap);
    if (heap) {
        *heap = (struct heap_model){.address = ref.address, .id = ref.id, .serial = ref.serial};
        process->heap_count++;
    }
    return heap;
}

/* Of those with one number, the ones that were alive at attach are the first. */
static int by_id(const void *a, const void *b) {
    const struct heap_model *x = a, *y = b;
    const uint64_t first[] = {x->id, !x->late, x->serial, x->address};
    const uint64_t second[] = {y->id, !y->late, y->serial, y->address};
    size_t i = 0;
    while (i < 3 && first[i] == second[i]) {
        i++;
    }
    return (first[i] > second[i]) - (first[i] < second[i]);
}

void model_sort_heaps(struct process_model *process) {
    if (process->heap_count != 0) {
        qsort(process->heaps, process->heap_count, sizeof *process->heaps, by_id);
    }
    for (size_t i = 0; i < process->heap_count; i++) {
        struct heap_model *heap = &process->heaps[i];
        bool is_alone = (i == 0 || heap[-1].id != heap->id) && (i + 1 == process->heap_count || heap[1].id != heap->id);
        heap->suffix = is_alone ? 0 : heap->serial;
    }
}

struct phase_model *model_phase(struct heap_model *heap, unsigned phase) {
    if (!heap->phase[phase]) {
        heap->phase[phase] = calloc(1, sizeof *heap->phase[phase]);
    }
    return heap->phase[phase];
}

static uint64_t smaller(uint64_t a, uint64_t b) { return a < b ? a : b; }

uint64_t pause_time_ns(const struct pause_time *time) {
    uint64_t ns = 0;
    for (int i = 0; i < PAUSE_CAUSES; i++) {
        sum_add(&ns, time->ns[i]);
    }
    return ns;
}

uint64_t pause_unknown_ns(const struct pause_time *time, uint64_t ns) { return sum_less(ns, pause_time_ns(time)); }

void pause_time_add(struct pause_time *sum, const struct pause_time *time) {
    for (int i = 0; i < PAUSE_CAUSES; i++) {
        sum_add(&sum->ns[i], time->ns[i]);
    }
    sum_add(&sum->faults, time->faults);
    sum_add(&sum->disk_faults, time->disk_faults);
    sum->unmeasured |= time->unmeasured;
}

bool pause_time_is_measured(const struct pause_time *time, int cause) { return (time->unmeasured >> cause & 1) == 0; }

uint64_t phase_observed_ns(const struct phase_model *phase) { return sum_less(phase->total_ns, phase->outside_ns); }

static uint64_t observed_ns(const struct heap_model *heap, enum eden_phase phase) {
    return heap->phase[phase] ? phase_observed_ns(heap->phase[phase]) : 0;
}

/* The clocks of program and tool are read at slightly different moments. What exceeds the time that has passed is left
 * to the next snapshot, so that the differences between snapshots add up to the total. */
static void set_stopped(struct heap_model *heap, const struct heap_model *before, uint64_t wall_ns,
                        uint64_t passed_ns) {
    uint64_t stopped = observed_ns(heap, EDEN_PHASE_scavenge) + observed_ns(heap, EDEN_PHASE_full);
    stopped += heap->collection.observed_ns;
    if (before && before->stopped_known) {
        stopped = stopped > before->stopped_ns ? stopped : before->stopped_ns;
        stopped = smaller(stopped, before->stopped_ns + passed_ns);
    }
    heap->stopped_ns = smaller(stopped, wall_ns);
    heap->stopped_known = heap->collection.known && heap->known >> EDEN_FIGURE_gc_ns & 1;
}

void phase_limit_parts(uint64_t ns[EDEN_PHASE_COUNT]) {
    uint64_t left[EDEN_PHASE_COUNT] = {0};
    for (int i = 0; i < EDEN_PHASE_COUNT; i++) { /* a whole comes before its parts */
        if (phase_parents[i] >= 0) {
            uint64_t *of_whole = &left[phase_parents[i]];
            ns[i] = smaller(ns[i], *of_whole);
            *of_whole -= ns[i];
        }
        left[i] = ns[i];
    }
}

static bool is_within(enum eden_phase phase, enum eden_phase whole) {
    int at = (int)phase;
    while (at >= 0 && at != (int)whole) {
        at = phase_parents[at];
    }
    return at >= 0;
}

/* How long the call of a phase that has not ended has taken so far. Of a part that contains the innermost, only that
 * one's time is known. */
static uint64_t under_way_ns(const struct collection_model *collection, enum eden_phase phase) {
    if (!collection->known || !collection->under_way || !is_within(collection->phase, phase)) {
        return 0;
    }
    bool is_whole = phase_parents[phase] < 0 || collection->phase_since_ns == 0;
    uint64_t so_far = is_whole ? UINT64_MAX : sum_less(collection->until_ns, collection->phase_since_ns);
    return smaller(so_far, collection->observed_ns);
}

/* What processes and recordings say may be more. */
static void limit_phases(struct heap_model *heap, uint64_t wall_ns) {
    uint64_t under_way[EDEN_PHASE_COUNT], ns[EDEN_PHASE_COUNT];
    for (enum eden_phase i = 0; i < EDEN_PHASE_COUNT; i++) {
        under_way[i] = smaller(under_way_ns(&heap->collection, i), wall_ns);
        ns[i] = smaller(smaller(observed_ns(heap, i), wall_ns) + under_way[i], wall_ns);
    }
    phase_limit_parts(ns);
    for (int i = 0; i < EDEN_PHASE_COUNT; i++) {
        struct phase_model *phase = heap->phase[i];
        if (phase) {
            phase->under_way_ns = smaller(under_way[i], ns[i]);
            ns[i] -= phase->under_way_ns;
            phase->outside_ns = phase_observed_ns(phase) > ns[i] ? phase->total_ns - ns[i] : phase->outside_ns;
        }
    }
}

void model_set_stopped(struct model *model, const struct model *before) {
    uint64_t passed_ns = model->wall_ns - (before ? before->wall_ns : 0);
    for (size_t i = 0; i < model->process_count; i++) {
        struct process_model *process = &model->processes[i];
        const struct process_model *last = before ? model_find_process(before, &process->key) : NULL;
        for (size_t j = 0; j < process->heap_count; j++) {
            struct heap_model *heap = &process->heaps[j];
            limit_phases(heap, model->wall_ns);
            set_stopped(heap, model_find_heap(last, HEAP_REF(heap)), model->wall_ns, passed_ns);
        }
    }
}

bool heap_figure_since(const struct heap_model *heap, const struct heap_model *before, enum eden_figure figure,
                       uint64_t *value) {
    *value = heap->figures[figure];
    if (figure_descriptions[figure].kind == KIND_sum) { /* more of what was before may have become known meanwhile */
        *value -= heap->before[figure] + (before ? before->figures[figure] - before->before[figure] : 0);
    }
    return heap->known >> figure & 1;
}

bool heap_stopped_since(const struct heap_model *heap, const struct heap_model *before, uint64_t wall_ns,
                        uint64_t *ns) {
    *ns = heap->stopped_ns - (before && before->stopped_known ? before->stopped_ns : 0);
    *ns = smaller(*ns, wall_ns); /* it was not known until now: of what it was, this interval's part */
    return heap->stopped_known && wall_ns != 0;
}

uint64_t phase_percentile(const struct phase_model *phase, double p) {
    uint64_t counted = 0; /* the histogram's own total: it may lag behind `calls` by a hit under way */
    for (uint32_t i = 0; i < HISTOGRAM_BUCKETS; i++) {
        sum_add(&counted, phase->buckets[i]);
    }
    if (counted == 0) {
        return 0;
    }
    double exact = p / 100 * (double)counted;
    uint64_t rank = whole_of(exact);
    rank += (double)rank < exact; /* nearest rank: rounded up, 1 at least */
    rank = rank < 1 ? 1 : rank > counted ? counted : rank;
    uint64_t below = 0;
    for (uint32_t i = 0; i < HISTOGRAM_BUCKETS; i++) {
        sum_add(&below, phase->buckets[i]);
        if (below >= rank) {
            uint64_t edge = histogram_upper(i);
            return edge < phase->max_ns ? edge : phase->max_ns;
        }
    }
    return phase->max_ns;
}

const char *model_missed_text(uint64_t missed, char text[MODEL_TEXT]) {
    text[0] = 0;
    if (missed > 0) {
        snprintf(text, MODEL_TEXT,
                 "%" PRIu64
                 " process%s ended, or executed another program, before %s could be observed: whether %s used "
                 "Eden is unknown",
                 missed, missed == 1 ? "" : "es", missed == 1 ? "it" : "they", missed == 1 ? "it" : "they");
    }
    return text;
}

const char *heap_earlier_text(const struct heap_model *heap) {
    static const char *const texts[EARLIER_COUNT] = {
        [EARLIER_PARTIAL] = "attached late, and not all of the activity before is known",
        [EARLIER_UNKNOWN] = "attached late, and the activity before is unknown",
    };
    return texts[heap->earlier];
}

const char *model_earlier_text(const struct model *model, char text[MODEL_TEXT]) {
    size_t count = 0;
    for (size_t i = 0; i < model->process_count; i++) {
        for (size_t j = 0; j < model->processes[i].heap_count; j++) {
            count += model->processes[i].heaps[j].earlier != EARLIER_WHOLE;
        }
    }
    text[0] = 0;
    if (count > 0) {
        snprintf(text, MODEL_TEXT,
                 "%zu heap%s attached late: not all of the activity before is known; figures are "
                 "\"at least\"",
                 count, plural(count));
    }
    return text;
}

bool model_has_lost(const struct model_losses *lost) { return (lost->heaps | lost->hits | lost->events) != 0; }

void model_add_losses(struct model_losses *sum, const struct model_losses *lost) {
    sum_add(&sum->heaps, lost->heaps);
    sum_add(&sum->hits, lost->hits);
    sum_add(&sum->events, lost->events);
}

static void name_loss(const struct process_model *process, char text[MODEL_TEXT]) {
    const struct model_losses *lost = &process->lost;
    text[0] = 0;
    if (lost->heaps + lost->hits > 0) {
        snprintf(text, MODEL_TEXT,
                 "process %" PRIu32 " '%.63s': %" PRIu64 " heap%s beyond its share (%" PRIu64
                 " hit%s) %s not in the figures",
                 process->key.pid, process->command, lost->heaps, plural(lost->heaps), lost->hits, plural(lost->hits),
                 lost->heaps == 1 ? "is" : "are");
    }
    if (lost->events > 0) {
        size_t length = strlen(text);
        snprintf(text + length, MODEL_TEXT - length,
                 "%sprocess %" PRIu32 " '%.63s' and its descendants: %" PRIu64 " of the lost events",
                 length ? "; " : "", process->key.pid, process->command, lost->events);
    }
}

void model_report_losses(const struct model *model, void (*report)(void *context, const char *text), void *context) {
    struct model_losses others = model->others;
    unsigned named = 0;
    char text[MODEL_TEXT];
    for (size_t i = 0; i < model->process_count; i++) {
        const struct process_model *process = &model->processes[i];
        name_loss(process, text);
        if (text[0] && named < MODEL_NAMED_LOSERS) {
            named++;
            report(context, text);
        } else {
            model_add_losses(&others, &process->lost);
        }
    }
    if (model_has_lost(&others)) {
        snprintf(text, sizeof text,
                 "other processes: %" PRIu64 " heap%s beyond their shares (%" PRIu64
                 " hit%s) %s not in the figures, and %" PRIu64 " of the lost events",
                 others.heaps, plural(others.heaps), others.hits, plural(others.hits), others.heaps == 1 ? "is" : "are",
                 others.events);
        report(context, text);
    }
}

void model_report_gaps(const struct model *model, void (*report)(void *context, const char *text), void *context) {
    char text[MODEL_TEXT];
    if (model->missed_children) {
        report(context, model_missed_text(model->missed_children, text));
    }
    if (model_earlier_text(model, text)[0]) {
        report(context, text);
    }
    model_report_losses(model, report, context);
}

void model_report_end(const struct model *model, bool had_others, void (*report)(void *context, const char *text),
                      void *context) {
    if (model_heap_count(model) == 0 && !had_others) {
        report(context, model_no_heap);
    }
    model_report_gaps(model, report, context);
    if (model->lost) {
        char text[MODEL_TEXT];
        snprintf(text, sizeof text, "%" PRIu64 " event%s lost%s", model->lost, model->lost == 1 ? " was" : "s were",
                 model->uncounted ? "; figures are \"at least\"" : "");
        report(context, text);
    }
}
