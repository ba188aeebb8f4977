/* What pauses were for: scavenges and full collections by their cause. */
#include "eden_values.h"
#include "util/sum.h"
#include "views/rows/durations.h"
#include "views/rows/pause_list.h"
#include "views/rows/views.h"
#include <stdlib.h>
#include <string.h>

static const struct column columns[] = {
    {"kind", "pauses", CELL_text},  {"cause", "cause", CELL_text},
    {"count", "count", CELL_count}, {"share", "of wall time", CELL_share},
    {"total_ns", "total", CELL_ns}, {"mean_ns", "mean", CELL_ns},
    {"max_ns", "max", CELL_ns},     {"meaning", "meaning", CELL_text},
};

/* Of the pauses of one kind with one cause, if there are any; cause NULL: it is not known. */
static void add_row(struct rows *rows, size_t heap, const struct viewed *viewed, const struct pause_list *list,
                    bool is_full, const char *cause, const char *meaning) {
    uint64_t count = 0, total = 0, longest = 0, stopped = 0;
    for (size_t i = 0; i < list->count; i++) {
        const struct pause *pause = &list->at[i];
        if (pause->is_full == is_full &&
            (cause && pause->cause ? strcmp(pause->cause, cause) == 0 : pause->cause == cause)) {
            sum_add(&stopped, viewed_part(viewed, pause->start_ns, pause->end_ns));
            if (!pause->is_after) {
                count++;
                sum_add(&total, pause->ns);
                longest = pause->ns > longest ? pause->ns : longest;
            }
        }
    }
    uint64_t wall_ns = viewed->until_ns - viewed->from_ns;
    const struct cell cells[] = {cell_text(is_full ? "full collections" : "scavenges"),
                                 cell_text(cause),
                                 cell_number(count),
                                 cell_share((double)stopped, (double)wall_ns),
                                 cell_number(total),
                                 cell_number(count ? total / count : 0),
                                 cell_number(longest),
                                 cell_text(meaning)};
    if (count != 0 || stopped != 0) {
        rows_add(rows, heap, 0, cells);
    }
}

static bool gather(struct rows *rows, const struct viewed *viewed, struct failure *why) {
    struct heap_places *places = rows_places(rows);
    struct pause_list *lists = pause_lists(viewed, places, why);
    for (size_t i = 0; lists && i < places->count; i++) {
        for (uint64_t cause = 0; cause < EDEN_SCAVENGE_CAUSES; cause++) {
            add_row(rows, i, viewed, &lists[i], false, eden_scavenge_cause_name(cause),
                    eden_scavenge_cause_meaning(cause));
        }
        add_row(rows, i, viewed, &lists[i], false, NULL, "its start was not recorded");
        for (uint64_t cause = 0; cause < EDEN_FULL_CAUSES; cause++) {
            add_row(rows, i, viewed, &lists[i], true, eden_full_cause_name(cause), eden_full_cause_meaning(cause));
        }
        add_row(rows, i, viewed, &lists[i], true, NULL, "its start was not recorded");
    }
    bool good = lists;
    pause_lists_free(lists, places->count);
    return good;
}

static const struct table tables[] = {
    TABLE("causes", "A full collection and the scavenge before it are one pause.", columns)};

const struct view view_causes = {"causes", "why the program stood still: scavenges and full collections by cause",
                                 tables, 1, gather};
