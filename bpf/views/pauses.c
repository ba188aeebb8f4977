/* Pauses: their distribution, and how much of any window of time they leave to the program.
 *
 * 1. Terms
 * A pause is one stop of the program: a scavenge, or a full collection with the scavenge before it; so the longest is
 * the figure max_pause_ns. Minimum mutator utilisation (MMU) of a window: the smallest part of any window of that
 * length, within the observed time, in which the program ran.
 *
 * 2. Algorithm
 * Pauses come from single events, so percentiles are exact (nearest rank). The worst window of a length begins where a
 * pause begins, or ends where one ends: the time in pauses, as a function of where the window lies, has its maxima
 * there. Sums of all earlier pauses, and two binary searches, give the time in pauses of each such window.
 *
 * 3. Failure
 * A pause that began before the recording counts with its whole duration among the pauses, and with what was observed
 * in windows. Pauses whose end was not recorded are missing; where events were lost, that is said.
 *
 * 4. Cost
 * 24 bytes a pause, and for each window O(n log n).
 *
 * 5. References
 * P. Cheng and G. E. Blelloch, "A Parallel, Real-Time Garbage Collector", PLDI 2001: minimum mutator utilisation. */
#include "views/pauses.h"
#include "util/array.h"
#include "util/format.h"
#include "util/json.h"
#include "views/heap_events.h"
#include "views/phase_table.h"
#include "views/side.h"
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const uint64_t windows_ns[] = {1000000, 10000000, 100000000, 1000000000, 10000000000};
enum { WINDOWS = sizeof windows_ns / sizeof *windows_ns };
static const double percentiles[] = {50, 90, 95, 99, 99.9};
enum { PERCENTILES = sizeof percentiles / sizeof *percentiles };

struct pause {
    uint64_t start_ns, end_ns; /* CLOCK_MONOTONIC, within the observed time */
    uint64_t ns;
};

struct pauses {
    struct pause *at; /* owned */
    size_t count, room;
};

enum kind { KIND_SCAVENGE, KIND_FULL, KIND_ALL, KINDS };
static const char *const kind_names[] = {"scavenges", "full collections", "all"};

struct heap_pauses {
    struct pauses of[KINDS];
    uint64_t cause;      /* of the scavenge under way; EDEN_SCAVENGE_CAUSES: its start was not seen */
    struct pause before; /* the scavenge of the full collection that comes next; ns 0: none */
};

struct all_pauses {
    struct heap_places places; /* owned */
    struct heap_pauses *heaps; /* owned; one a place */
    uint64_t start_ns, end_ns; /* of the observed time */
    bool is_out_of_memory;
};

static void clear(struct all_pauses *all) {
    for (size_t i = 0; all->heaps && i < all->places.count; i++) {
        for (int kind = 0; kind < KINDS; kind++) {
            free(all->heaps[i].of[kind].at);
        }
    }
    free(all->places.at);
    free(all->heaps);
}

/* ---- from events ------------------------------------------------------------------------------------------------ */

static void add(struct all_pauses *all, struct pauses *pauses, struct pause pause) {
    struct pause *added = array_grow(&pauses->at, &pauses->room, pauses->count, sizeof *added);
    if (!added) {
        all->is_out_of_memory = true;
        return;
    }
    *added = pause;
    pauses->count++;
}

static void add_pause(struct all_pauses *all, struct heap_pauses *heap, enum kind kind, struct pause pause) {
    add(all, &heap->of[kind], pause);
    add(all, &heap->of[KIND_ALL], pause);
}

static struct pause pause_of(const struct all_pauses *all, const struct event *event, uint64_t ns) {
    uint64_t end = event->time_ns, start = end > ns ? end - ns : 0;
    return (struct pause){start > all->start_ns ? start : all->start_ns, end, ns};
}

static bool on_event(void *context, size_t number, const struct event *event) {
    struct all_pauses *all = context;
    struct heap_pauses *heap = &all->heaps[number];
    if (event->probe == EDEN_PROBE_scavenge__start) {
        heap->cause = EDEN_ARG(event->arg, scavenge__start, cause);
        heap->before.ns = heap->cause == EDEN_SCAVENGE_FULL ? heap->before.ns : 0;
    } else if (event->probe == EDEN_PROBE_scavenge__done && EDEN_HAS(event->args, scavenge__done, duration)) {
        struct pause pause = pause_of(all, event, EDEN_ARG(event->arg, scavenge__done, duration));
        if (heap->cause == EDEN_SCAVENGE_FULL) { /* the second, where the first found no room */
            pause.start_ns = heap->before.ns != 0 ? heap->before.start_ns : pause.start_ns;
            pause.ns += heap->before.ns;
            heap->before = pause;
        } else {
            add_pause(all, heap, KIND_SCAVENGE, pause);
        }
        heap->cause = EDEN_SCAVENGE_CAUSES;
    } else if (event->probe == EDEN_PROBE_full__done && EDEN_HAS(event->args, full__done, duration)) {
        struct pause pause = pause_of(all, event, EDEN_ARG(event->arg, full__done, duration));
        if (heap->before.ns != 0) {
            pause.start_ns = heap->before.start_ns;
            pause.ns += heap->before.ns;
        }
        heap->before.ns = 0;
        add_pause(all, heap, KIND_FULL, pause);
    }
    return !all->is_out_of_memory;
}

static int by_duration(const void *a, const void *b) {
    const struct pause *x = a, *y = b;
    return (x->ns > y->ns) - (x->ns < y->ns);
}

static bool collect(struct all_pauses *all, const struct viewed *viewed, struct failure *why) {
    static const enum eden_probe_id wanted[] = {EDEN_PROBE_scavenge__start, EDEN_PROBE_scavenge__done,
                                                EDEN_PROBE_full__done};
    *all = (struct all_pauses){.start_ns = viewed->from_ns, .end_ns = viewed->until_ns};
    all->heaps = heap_places(viewed->model, &all->places) ? calloc(all->places.count + 1, sizeof *all->heaps) : NULL;
    if (!all->heaps) {
        failure_set(why, 1, "out of memory for the pauses");
        return false;
    }
    for (size_t i = 0; i < all->places.count; i++) {
        all->heaps[i].cause = EDEN_SCAVENGE_CAUSES;
    }
    bool good = heap_events(viewed, &all->places, wanted, sizeof wanted / sizeof *wanted, on_event, all, why);
    return all->is_out_of_memory ? failure_set(why, 1, "out of memory for the pauses") : good;
}

/* ---- statistics ------------------------------------------------------------------------------------------------- */

/* The nearest rank, of pauses in order of duration; there is at least one. */
static uint64_t percentile(const struct pauses *sorted, double p) {
    double rank = ceil(p / 100 * (double)sorted->count - 1e-9);
    size_t place = rank < 1 ? 0 : (size_t)rank - 1;
    return sorted->at[place < sorted->count ? place : sorted->count - 1].ns;
}

struct summary {
    uint64_t total_ns, min_ns, mean_ns, max_ns, percentile_ns[PERCENTILES];
};

/* Sorts them by duration. There is at least one. */
static struct summary summarize(struct pauses *pauses) {
    struct summary summary = {0};
    qsort(pauses->at, pauses->count, sizeof *pauses->at, by_duration);
    for (size_t i = 0; i < pauses->count; i++) {
        summary.total_ns += pauses->at[i].ns;
    }
    summary.min_ns = pauses->at[0].ns;
    summary.max_ns = pauses->at[pauses->count - 1].ns;
    summary.mean_ns = summary.total_ns / pauses->count;
    for (int i = 0; i < PERCENTILES; i++) {
        summary.percentile_ns[i] = percentile(pauses, percentiles[i]);
    }
    return summary;
}

/* How much of the time up to `until` was pause; before[i]: of all pauses before the i-th. */
static uint64_t paused_until(const struct pauses *pauses, const uint64_t *before, uint64_t until) {
    size_t low = 0, high = pauses->count; /* the pauses below `low` begin before `until` */
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (pauses->at[middle].start_ns < until) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    if (low == 0) {
        return 0;
    }
    const struct pause *last = &pauses->at[low - 1];
    uint64_t end = last->end_ns < until ? last->end_ns : until;
    return before[low - 1] + (end - last->start_ns);
}

static int by_start(const void *a, const void *b) {
    const struct pause *x = a, *y = b;
    return (x->start_ns > y->start_ns) - (x->start_ns < y->start_ns);
}

/* Sorts them by time, and makes them disjoint: clocks may have been read in another order. NULL: no memory. */
static uint64_t *prepare(struct pauses *pauses) {
    uint64_t *before = calloc(pauses->count + 1, sizeof *before);
    if (pauses->count != 0) {
        qsort(pauses->at, pauses->count, sizeof *pauses->at, by_start);
    }
    for (size_t i = 0; before && i < pauses->count; i++) {
        struct pause *pause = &pauses->at[i];
        if (i != 0 && pause->start_ns < pauses->at[i - 1].end_ns) {
            pause->start_ns = pauses->at[i - 1].end_ns;
        }
        pause->end_ns = pause->end_ns > pause->start_ns ? pause->end_ns : pause->start_ns;
        before[i + 1] = before[i] + (pause->end_ns - pause->start_ns);
    }
    return before;
}

/* -1: no window of this length was observed. */
static double utilisation(const struct all_pauses *all, const struct pauses *pauses, const uint64_t *before,
                          uint64_t window_ns) {
    uint64_t most = 0, first = all->start_ns, end = all->end_ns;
    if (end - first < window_ns) {
        return -1;
    }
    for (size_t i = 0; i < pauses->count; i++) {
        uint64_t from_start = pauses->at[i].start_ns, to_end = pauses->at[i].end_ns;
        from_start = from_start < end - window_ns ? from_start : end - window_ns;
        to_end = to_end > first + window_ns ? to_end : first + window_ns;
        to_end = to_end < end ? to_end : end;
        const uint64_t starts[] = {from_start, to_end - window_ns};
        for (int j = 0; j < 2; j++) {
            uint64_t paused =
                paused_until(pauses, before, starts[j] + window_ns) - paused_until(pauses, before, starts[j]);
            most = paused > most ? paused : most;
        }
    }
    return most < window_ns ? 1 - (double)most / (double)window_ns : 0;
}

/* By ranks: the interval of the binomial distribution, approximated by the normal one. It has no lower end with less
 * than a dozen pauses, and no upper one with less than four. */
static struct quartile quartile_of(struct pauses *pauses) {
    struct quartile quartile = {.count = pauses->count};
    if (pauses->count != 0) {
        const double count = (double)pauses->count, around = 1.96 * sqrt(count * 0.25 * 0.75);
        qsort(pauses->at, pauses->count, sizeof *pauses->at, by_duration);
        quartile.ns = percentile(pauses, 25);
        const double low = 0.25 * count - around, high = 0.25 * count + around + 1;
        quartile.low_ns = low > 0 ? percentile(pauses, 100 * low / count) : 0;
        quartile.high_ns = high <= count ? percentile(pauses, 100 * high / count) : UINT64_MAX;
    }
    return quartile;
}

bool pauses_quartiles(const struct viewed *viewed, const struct heap_choice *choice, struct quartile *scavenges,
                      struct quartile *fulls, struct failure *why) {
    struct all_pauses all;
    struct pauses of[KIND_ALL] = {0};
    bool good = collect(&all, viewed, why);
    for (size_t i = 0; good && i < all.places.count; i++) {
        const struct heap_pauses *heap = &all.heaps[i];
        const struct heap_place *place = &all.places.at[i];
        bool chosen = heap_is_chosen(choice, place->process->key.pid, HEAP_REF(place->heap));
        for (int kind = 0; chosen && kind < KIND_ALL; kind++) {
            for (size_t j = 0; j < heap->of[kind].count; j++) {
                add(&all, &of[kind], heap->of[kind].at[j]);
            }
        }
    }
    *scavenges = quartile_of(&of[KIND_SCAVENGE]);
    *fulls = quartile_of(&of[KIND_FULL]);
    free(of[KIND_SCAVENGE].at);
    free(of[KIND_FULL].at);
    good = good && (!all.is_out_of_memory || failure_set(why, 1, "out of memory for the pauses"));
    clear(&all);
    return good;
}

/* ---- text ------------------------------------------------------------------------------------------------------- */

static void print_summary(FILE *out, const char *name, struct pauses *pauses) {
    char text[FORMAT_MAX];
    fprintf(out, "  %-17s %9s", name, format_count(text, pauses->count));
    if (pauses->count == 0) {
        fputc('\n', out);
        return;
    }
    const struct summary summary = summarize(pauses);
    fprintf(out, " %9s", format_ns(text, summary.total_ns));
    fprintf(out, " %9s", format_ns(text, summary.min_ns));
    fprintf(out, " %9s", format_ns(text, summary.mean_ns));
    for (int i = 0; i < PERCENTILES; i++) {
        fprintf(out, " %9s", format_ns(text, summary.percentile_ns[i]));
    }
    fprintf(out, " %9s\n", format_ns(text, summary.max_ns));
}

static bool print_utilisation(FILE *out, const struct all_pauses *all, struct pauses *pauses) {
    uint64_t *before = prepare(pauses);
    fprintf(out,
            "\n  Of any window of this length, the program ran at least this part (minimum mutator utilisation):\n ");
    for (int i = 0; before && i < WINDOWS; i++) {
        char text[FORMAT_MAX];
        double part = utilisation(all, pauses, before, windows_ns[i]);
        fprintf(out, "  %s: ", format_ns(text, windows_ns[i]));
        fprintf(out, part < 0 ? "-" : "%.1f%%", 100 * part);
    }
    fputc('\n', out);
    free(before);
    return before;
}

bool pauses_print(FILE *out, const struct viewed *viewed, struct failure *why) {
    struct all_pauses all;
    bool good = collect(&all, viewed, why);
    if (good && viewed->model->lost) {
        fprintf(out, "# %" PRIu64 " events were lost: pauses are missing\n", viewed->model->lost);
    }
    for (size_t i = 0; good && i < all.places.count; i++) {
        struct heap_pauses *heap = &all.heaps[i];
        fputs(i ? "\n" : "", out);
        phase_table_heading(out, all.places.at[i].process, all.places.at[i].heap);
        fprintf(out, "\n# %-17s %9s %9s %9s %9s %9s %9s %9s %9s %9s %9s\n", "pauses", "count", "total", "min", "mean",
                "P50", "P90", "P95", "P99", "P99.9", "max");
        for (int kind = 0; kind < KINDS; kind++) {
            print_summary(out, kind_names[kind], &heap->of[kind]);
        }
        good = print_utilisation(out, &all, &heap->of[KIND_ALL]) || failure_set(why, 1, "out of memory for the pauses");
    }
    if (good) {
        fprintf(out, "\nA full collection and the scavenge before it are one pause. Percentiles are of single pauses "
                     "(nearest rank).\n");
    }
    clear(&all);
    return good;
}

/* ---- JSON ------------------------------------------------------------------------------------------------------- */

static json_t *summary_to_json(struct pauses *pauses) {
    json_t *object = json_object();
    json_object_set_new(object, "count", json_number(pauses->count));
    if (pauses->count == 0) {
        return object;
    }
    const struct summary summary = summarize(pauses);
    json_object_set_new(object, "total_ns", json_number(summary.total_ns));
    json_object_set_new(object, "min_ns", json_number(summary.min_ns));
    json_object_set_new(object, "mean_ns", json_number(summary.mean_ns));
    for (int i = 0; i < PERCENTILES; i++) {
        char name[24];
        snprintf(name, sizeof name, "p%g_ns", percentiles[i]);
        json_object_set_new(object, name, json_number(summary.percentile_ns[i]));
    }
    json_object_set_new(object, "max_ns", json_number(summary.max_ns));
    return object;
}

static json_t *heap_to_json(const struct all_pauses *all, size_t number) {
    static const char *const names[] = {"scavenges", "full_collections", "all"};
    const struct heap_place *place = &all->places.at[number];
    struct heap_pauses *heap = &all->heaps[number];
    json_t *object = json_pack("{s:I, s:o, s:o}", "pid", (json_int_t)place->process->key.pid, "heap",
                               place->heap->id ? json_number(place->heap->id) : json_null(), "serial",
                               place->heap->serial ? json_number(place->heap->serial) : json_null());
    for (int kind = 0; kind < KINDS; kind++) {
        json_object_set_new(object, names[kind], summary_to_json(&heap->of[kind]));
    }
    json_t *mmu = json_array();
    uint64_t *before = prepare(&heap->of[KIND_ALL]);
    for (int i = 0; before && i < WINDOWS; i++) {
        double part = utilisation(all, &heap->of[KIND_ALL], before, windows_ns[i]);
        json_array_append_new(mmu, json_pack("{s:o, s:o}", "window_ns", json_number(windows_ns[i]), "utilisation",
                                             part < 0 ? json_null() : json_real(part)));
    }
    json_object_set_new(object, "minimum_mutator_utilisation", before ? mmu : json_null());
    if (!before) {
        json_decref(mmu);
    }
    free(before);
    return object;
}

json_t *pauses_to_json(const struct viewed *viewed, struct failure *why) {
    struct all_pauses all;
    json_t *heaps = NULL;
    if (collect(&all, viewed, why)) {
        heaps = json_array();
        for (size_t i = 0; i < all.places.count; i++) {
            json_array_append_new(heaps, heap_to_json(&all, i));
        }
    }
    clear(&all);
    return heaps ? json_pack("{s:o, s:o}", "lost", json_number(viewed->model->lost), "heaps", heaps) : NULL;
}
