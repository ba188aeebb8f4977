/* What each part of a collection cost, from single events: unlike the table of the summary, of a part of the time if
 * one is chosen, and with exact percentiles. Shares count the call that has not ended, as there; the other columns do
 * not. */
#include "model/model.h"
#include "util/sum.h"
#include "views/rows/durations.h"
#include "views/rows/views.h"
#include <stdlib.h>

static const struct column columns[] = {
    {"phase", "phase", CELL_text},  {"share", "of wall time", CELL_share},
    {"calls", "calls", CELL_count}, {"total_ns", "total", CELL_ns},
    {"mean_ns", "mean", CELL_ns},   {"p50_ns", "P50", CELL_ns},
    {"p90_ns", "P90", CELL_ns},     {"p99_ns", "P99", CELL_ns},
    {"max_ns", "max", CELL_ns},     {"objects", "objects", CELL_count},
    {"bytes", "bytes", CELL_bytes},
};

struct phase {
    struct durations durations;
    uint64_t inside_ns; /* of them, within the viewed time */
    uint64_t began_ns;  /* of the one that has not ended; 0: there is none, or its start was not seen */
    uint64_t objects, bytes;
    bool has_work; /* parts of a collection count objects and bytes */
};

struct heap_phases {
    struct phase of[EDEN_PHASE_COUNT];
    uint64_t ended_ns[EDEN_PHASE_COUNT]; /* by phase_in_turn(): when the last one ended */
};

struct phases {
    struct heap_phases *heaps; /* owned; one a heap */
    const struct viewed *viewed;
    bool is_out_of_memory;
};

static bool on_event(void *context, size_t heap, const struct event *event) {
    struct phases *all = context;
    if (event->probe == EDEN_PROBE_heap__create) { /* no phase of it has begun before */
        for (int i = 0; i < EDEN_PHASE_COUNT; i++) {
            all->heaps[heap].ended_ns[i] = event->time_ns;
        }
        return true;
    }
    int begins = probe_begins((enum eden_probe_id)event->probe), ends = probe_phase((enum eden_probe_id)event->probe);
    if (begins >= 0) {
        all->heaps[heap].of[begins].began_ns = event->time_ns;
        return true;
    }
    struct phase *phase = &all->heaps[heap].of[ends];
    phase->began_ns = 0;
    if (!EDEN_HAS(event->args, mark__done, duration)) {
        return true;
    }
    uint64_t ns = EDEN_ARG(event->arg, mark__done, duration);
    sum_add(&phase->inside_ns,
            viewed_part_since(all->viewed, &all->heaps[heap].ended_ns[phase_in_turn((enum eden_phase)ends)],
                              event->time_ns > ns ? event->time_ns - ns : 0, event->time_ns));
    if (!viewed_has(all->viewed, event->time_ns)) {
        return true;
    }
    if (phase_parents[ends] >= 0 && EDEN_HAS(event->args, mark__done, bytes)) {
        sum_add(&phase->objects, EDEN_ARG(event->arg, mark__done, objects));
        sum_add(&phase->bytes, EDEN_ARG(event->arg, mark__done, bytes));
        phase->has_work = true;
    }
    all->is_out_of_memory = !durations_add(&phase->durations, ns);
    return !all->is_out_of_memory;
}

/* Of phases that had not ended when the recording did: their time so far. */
static void add_under_way(struct phases *all, size_t heap, const struct collection_model *collection) {
    if (!collection->known || !collection->under_way) {
        return;
    }
    struct phase *whole = &all->heaps[heap].of[phase_whole(collection->phase)],
                 *now = &all->heaps[heap].of[collection->phase];
    uint64_t first = all->viewed->from_ns;
    whole->began_ns = whole->began_ns ? whole->began_ns : collection->since_ns ? collection->since_ns : first;
    now->began_ns = now->began_ns ? now->began_ns : collection->phase_since_ns ? collection->phase_since_ns : first;
    for (int i = 0; i < EDEN_PHASE_COUNT; i++) {
        struct phase *phase = &all->heaps[heap].of[i];
        if (phase->began_ns != 0) {
            sum_add(&phase->inside_ns,
                    viewed_part_since(all->viewed, &all->heaps[heap].ended_ns[phase_in_turn((enum eden_phase)i)],
                                      phase->began_ns, collection->until_ns));
        }
    }
}

/* Processes may report more for a part than for its whole. */
static void limit_parts(struct heap_phases *phases) {
    uint64_t ns[EDEN_PHASE_COUNT];
    for (int i = 0; i < EDEN_PHASE_COUNT; i++) {
        ns[i] = phases->of[i].inside_ns;
    }
    phase_limit_parts(ns);
    for (int i = 0; i < EDEN_PHASE_COUNT; i++) {
        phases->of[i].inside_ns = ns[i];
    }
}

static void add_row(struct rows *rows, size_t heap, enum eden_phase number, struct phase *phase, uint64_t wall_ns) {
    struct durations *of = &phase->durations;
    if (of->count == 0 && phase->inside_ns == 0) {
        return;
    }
    durations_sort(of);
    uint64_t total = durations_total(of);
    bool any = of->count != 0;
    const struct cell cells[] = {
        cell_text(phase_names[number]),
        cell_share((double)phase->inside_ns, (double)wall_ns),
        cell_number(of->count),
        cell_number(total),
        any ? cell_number(total / of->count) : cell_none(),
        any ? cell_number(durations_percentile(of, 50)) : cell_none(),
        any ? cell_number(durations_percentile(of, 90)) : cell_none(),
        any ? cell_number(durations_percentile(of, 99)) : cell_none(),
        any ? cell_number(of->ns[of->count - 1]) : cell_none(),
        phase->has_work ? cell_number(phase->objects) : cell_none(),
        phase->has_work ? cell_number(phase->bytes) : cell_none(),
    };
    rows_add(rows, heap, 0, cells);
}

static void clear(struct phases *all, size_t count) {
    for (size_t i = 0; all->heaps && i < count; i++) {
        for (int j = 0; j < EDEN_PHASE_COUNT; j++) {
            free(all->heaps[i].of[j].durations.ns);
        }
    }
    free(all->heaps);
}

static bool gather(struct rows *rows, const struct viewed *viewed, struct failure *why) {
    static const enum eden_probe_id wanted[] = {
#define EDEN_PHASE(name, text, parent) EDEN_PROBE_##name##__start, EDEN_PROBE_##name##__done,
#include "eden_phases.def"
#undef EDEN_PHASE
        EDEN_PROBE_heap__create,
    };
    struct heap_places *places = rows_places(rows);
    struct phases all = {.heaps = calloc(places->count + 1, sizeof *all.heaps), .viewed = viewed};
    all.is_out_of_memory = !all.heaps;
    bool good = all.is_out_of_memory ||
                heap_events(viewed->recording, places, wanted, sizeof wanted / sizeof *wanted, on_event, &all, why);
    if (all.is_out_of_memory) {
        failure_set(why, 1, "out of memory for the phases");
        good = false;
    }
    for (size_t i = 0; good && i < places->count; i++) {
        add_under_way(&all, i, &places->at[i].heap->collection);
        limit_parts(&all.heaps[i]);
        for (int j = phase_next(-1); j < EDEN_PHASE_COUNT; j = phase_next(j)) {
            add_row(rows, i, (enum eden_phase)j, &all.heaps[i].of[j], viewed->until_ns - viewed->from_ns);
        }
    }
    clear(&all, places->count);
    return good;
}

static const struct table tables[] = {TABLE(
    "phases", "A phase contains those whose names begin with its own. Percentiles are of single calls (nearest rank).",
    columns)};

const struct view view_phases = {"phases", "what each part of a collection took, and how much it worked on", tables, 1,
                                 gather};
