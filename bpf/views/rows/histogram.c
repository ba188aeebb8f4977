/* How many pauses there are of each duration. */
#include "util/sum.h"
#include "views/rows/pause_list.h"
#include "views/rows/views.h"

static const struct column columns[] = {
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

static bool gather(struct rows *rows, const struct viewed *viewed, struct failure *why) {
    struct heap_places *places = rows_places(rows);
    struct pause_list *lists = pause_lists(viewed, places, why);
    for (size_t i = 0; lists && i < places->count; i++) {
        add_bins(rows, i, &lists[i]);
    }
    bool good = lists;
    pause_lists_free(lists, places->count);
    return good;
}

static const struct table tables[] = {
    TABLE("histogram", "A full collection and the scavenge before it are one pause.", columns)};

const struct view view_histogram = {"histogram", "how many pauses there are of each duration", tables, 1, gather};
