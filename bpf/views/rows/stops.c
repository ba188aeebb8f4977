/* The single pauses, and how many there are of each duration. */
#include "util/sum.h"
#include "views/rows/pause_list.h"
#include "views/rows/views.h"

/* ---- one by one ------------------------------------------------------------------------------------------------- */

static const struct column stops[] = {{"time_ns", "began (s)", CELL_time},
                                      {"ns", "took", CELL_ns},
                                      {"kind", "pause", CELL_text},
                                      {"cause", "cause", CELL_text}};

static const char *kind_of(const struct pause *pause) {
    return pause->is_full        ? pause->is_under_way ? "full collection, not ended" : "full collection"
           : pause->is_under_way ? "scavenge, not ended"
                                 : "scavenge";
}

static bool gather_stops(struct rows *rows, const struct viewed *viewed, struct failure *why) {
    struct heap_places *places = rows_places(rows);
    struct pause_list *lists = pause_lists(viewed, places, why);
    const uint64_t start_ns = recording_info(viewed->recording)->mono_ns;
    for (size_t i = 0; lists && i < places->count; i++) {
        for (size_t j = 0; j < lists[i].count; j++) {
            const struct pause *pause = &lists[i].at[j];
            const struct cell cells[] = {cell_number(pause->began_ns > start_ns ? pause->began_ns - start_ns : 0),
                                         cell_number(pause->ns), cell_text(kind_of(pause)), cell_text(pause->cause)};
            if (!pause->is_after || pause->is_under_way) {
                rows_add(rows, i, 0, cells);
            }
        }
    }
    bool good = lists;
    pause_lists_free(lists, places->count);
    return good;
}

static const struct table stop_tables[] = {TABLE("stops", NULL, stops)};

const struct view view_stops = {"stops", "each pause: when, how long, why; --sort ns has the longest first",
                                stop_tables, 1, gather_stops};

/* ---- by duration ------------------------------------------------------------------------------------------------ */

static const struct column histogram[] = {
    {"from_ns", "from", CELL_ns},           {"to_ns", "to below", CELL_ns},
    {"scavenges", "scavenges", CELL_count}, {"full_collections", "full", CELL_count},
    {"total_ns", "together", CELL_ns},      {"share", "of the pause time", CELL_share},
};

/* The bins end at 1, 2 and 5 times a power of ten nanoseconds, from 1 us on; the last has no end. */
enum { BINS = 1 + 3 * 9 };

static uint64_t end_of(int bin) {
    static const uint64_t factors[] = {1, 2, 5};
    uint64_t power = 1000;
    for (int i = 0; i < bin / 3; i++) {
        power *= 10;
    }
    return bin + 1 < BINS ? factors[bin % 3] * power : UINT64_MAX;
}

struct bin {
    uint64_t count[2], total_ns; /* of scavenges and full collections */
};

/* Those between the first and the last that hold something. */
static void add_bins(struct rows *rows, size_t heap, const struct pause_list *list) {
    struct bin bins[BINS] = {0};
    uint64_t total = 0;
    int first = BINS, last = -1;
    for (size_t i = 0; i < list->count; i++) {
        int bin = 0;
        if (list->at[i].is_after) {
            continue;
        }
        while (list->at[i].ns >= end_of(bin) && bin + 1 < BINS) {
            bin++;
        }
        bins[bin].count[list->at[i].is_full]++;
        sum_add(&bins[bin].total_ns, list->at[i].ns);
        sum_add(&total, list->at[i].ns);
        first = bin < first ? bin : first;
        last = bin > last ? bin : last;
    }
    for (int i = first; i <= last; i++) {
        const struct cell cells[] = {
            cell_number(i ? end_of(i - 1) : 0), i + 1 < BINS ? cell_number(end_of(i)) : cell_none(),
            cell_number(bins[i].count[0]),      cell_number(bins[i].count[1]),
            cell_number(bins[i].total_ns),      cell_share((double)bins[i].total_ns, (double)total),
        };
        rows_add(rows, heap, 0, cells);
    }
}

static bool gather_histogram(struct rows *rows, const struct viewed *viewed, struct failure *why) {
    struct heap_places *places = rows_places(rows);
    struct pause_list *lists = pause_lists(viewed, places, why);
    for (size_t i = 0; lists && i < places->count; i++) {
        add_bins(rows, i, &lists[i]);
    }
    bool good = lists;
    pause_lists_free(lists, places->count);
    return good;
}

static const struct table histogram_tables[] = {
    TABLE("histogram", "A full collection and the scavenge before it are one pause.", histogram)};

const struct view view_histogram = {"histogram", "how many pauses there are of each duration", histogram_tables, 1,
                                    gather_histogram};
