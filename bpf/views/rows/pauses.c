/* Pauses: their distribution, and how much of any window of time they leave to the program.
 *
 * 1. Terms
 * Minimum mutator utilisation (MMU) of a window: the smallest part of any window of that length, within the viewed
 * time, in which the program ran.
 *
 * 2. Algorithm
 * Pauses come from single events, so percentiles are exact (nearest rank). The worst window of a length begins where a
 * pause begins, or ends where one ends: the time in pauses, as a function of where the window lies, has its maxima
 * there. Sums of all earlier pauses, and two binary searches, give the time in pauses of each such window.
 *
 * 3. Failure
 * A pause that began before the viewed time counts with its whole duration among the pauses, and with what was observed
 * in windows; so does there one that ends later. Pauses whose end was not recorded are missing; where events were lost,
 * that is said.
 *
 * 4. Cost
 * 48 bytes a pause, and for each window O(n log n).
 *
 * 5. References
 * P. Cheng and G. E. Blelloch, "A Parallel, Real-Time Garbage Collector", PLDI 2001: minimum mutator utilisation. */
#include "views/rows/durations.h"
#include "views/rows/pause_list.h"
#include "views/rows/views.h"
#include <stdlib.h>
#include <string.h>

/* ---- their distribution ----------------------------------------------------------------------------------------- */

static const double percentiles[] = {50, 90, 95, 99, 99.9};
enum { PERCENTILES = sizeof percentiles / sizeof *percentiles, FIXED = 5 };

static const struct column distribution[] = {
    {"kind", "pauses", CELL_text},  {"count", "count", CELL_count}, {"total_ns", "total", CELL_ns},
    {"min_ns", "min", CELL_ns},     {"mean_ns", "mean", CELL_ns},   {"p50_ns", "P50", CELL_ns},
    {"p90_ns", "P90", CELL_ns},     {"p95_ns", "P95", CELL_ns},     {"p99_ns", "P99", CELL_ns},
    {"p99.9_ns", "P99.9", CELL_ns}, {"max_ns", "max", CELL_ns},
};

/* The pauses that a row is about. */
struct of_pauses {
    const char *name;
    bool scavenges, fulls;
};
static const struct of_pauses kinds[] = {
    {"scavenges", true, false}, {"full collections", false, true}, {"all", true, true}};
enum { KINDS = sizeof kinds / sizeof *kinds };

/* False: no memory. */
static bool durations_of(struct durations *durations, const struct pause_list *list, bool scavenges, bool fulls) {
    bool good = true;
    *durations = (struct durations){0};
    for (size_t i = 0; good && i < list->count; i++) {
        if (!list->at[i].is_after && (list->at[i].is_full ? fulls : scavenges)) {
            good = durations_add(durations, list->at[i].ns);
        }
    }
    durations_sort(durations);
    return good;
}

static bool add_distribution(struct rows *rows, size_t heap, const struct pause_list *list) {
    bool good = true;
    for (int i = 0; good && i < KINDS; i++) {
        struct durations of;
        good = durations_of(&of, list, kinds[i].scavenges, kinds[i].fulls);
        struct cell cells[FIXED + PERCENTILES + 1] = {cell_text(kinds[i].name), cell_number(of.count)};
        for (int j = 2; j <= FIXED + PERCENTILES; j++) {
            cells[j] = cell_none();
        }
        if (good && of.count != 0) {
            uint64_t total = durations_total(&of);
            cells[2] = cell_number(total);
            cells[3] = cell_number(of.ns[0]);
            cells[4] = cell_number(total / of.count);
            for (int j = 0; j < PERCENTILES; j++) {
                cells[FIXED + j] = cell_number(durations_percentile(&of, percentiles[j]));
            }
            cells[FIXED + PERCENTILES] = cell_number(of.ns[of.count - 1]);
        }
        free(of.ns);
        rows_add(rows, heap, 0, cells);
    }
    return good;
}

/* ---- what they leave to the program ----------------------------------------------------------------------------- */

static const uint64_t windows_ns[] = {1000000, 10000000, 100000000, 1000000000, 10000000000};
enum { WINDOWS = sizeof windows_ns / sizeof *windows_ns };

static const struct column mmu[] = {{"window_ns", "window", CELL_ns},
                                    {"utilisation", "minimum mutator utilisation", CELL_share}};

/* How much of the time up to `until` was pause; before[i]: of all pauses before the i-th. */
static uint64_t paused_until(const struct pause_list *pauses, const uint64_t *before, uint64_t until) {
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
static uint64_t *prepare(struct pause_list *pauses) {
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
static double utilisation(const struct viewed *viewed, const struct pause_list *pauses, const uint64_t *before,
                          uint64_t window_ns) {
    uint64_t most = 0, first = viewed->from_ns, end = viewed->until_ns;
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

/* What had not ended when the recording did: so far. */
static void add_not_ended(struct rows *rows, size_t heap, const struct pause_list *list) {
    const struct pause *last = list->count ? &list->at[list->count - 1] : NULL;
    if (last && last->is_under_way) {
        struct cell cells[FIXED + PERCENTILES + 1] = {cell_text("not ended"), cell_number(1), cell_number(last->ns)};
        for (int i = 3; i <= FIXED + PERCENTILES; i++) {
            cells[i] = cell_none();
        }
        rows_add(rows, heap, 0, cells);
    }
}

static bool add_utilisation(struct rows *rows, size_t heap, const struct viewed *viewed, struct pause_list *list) {
    uint64_t *before = prepare(list);
    for (int i = 0; before && i < WINDOWS; i++) {
        double part = utilisation(viewed, list, before, windows_ns[i]);
        const struct cell cells[] = {cell_number(windows_ns[i]), part < 0 ? cell_none() : cell_share(part, 1)};
        rows_add(rows, heap, 1, cells);
    }
    free(before);
    return before;
}

static bool gather(struct rows *rows, const struct viewed *viewed, struct failure *why) {
    struct heap_places *places = rows_places(rows);
    struct pause_list *lists = pause_lists(viewed, places, why);
    bool good = lists;
    for (size_t i = 0; good && i < places->count; i++) {
        good = add_distribution(rows, i, &lists[i]);
        add_not_ended(rows, i, &lists[i]);
        if (!good || !add_utilisation(rows, i, viewed, &lists[i])) {
            failure_set(why, 1, "out of memory for the pauses");
            good = false;
        }
    }
    pause_lists_free(lists, places->count);
    return good;
}

static const struct table tables[] = {
    TABLE(
        "pauses",
        "A full collection and the scavenge before it are one pause. Percentiles are of single pauses (nearest rank).",
        distribution),
    TABLE("minimum_mutator_utilisation",
          "Minimum mutator utilisation: of any window of that length, the program ran at least this part.", mmu),
};

const struct view view_pauses = {"pauses", "percentiles of pauses, minimum mutator utilisation", tables, 2, gather};
