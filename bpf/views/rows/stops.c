/* The single pauses. */
#include "views/rows/pause_list.h"
#include "views/rows/views.h"

static const struct column columns[] = {{"time_ns", "began (s)", CELL_time},
                                        {"ns", "took", CELL_ns},
                                        {"kind", "pause", CELL_text},
                                        {"cause", "cause", CELL_text}};

static const char *kind_of(const struct pause *pause) {
    return pause->is_full        ? pause->is_under_way ? "full collection, not ended" : "full collection"
           : pause->is_under_way ? "scavenge, not ended"
                                 : "scavenge";
}

static bool gather(struct rows *rows, const struct viewed *viewed, struct failure *why) {
    struct heap_places *places = rows_places(rows);
    struct pause_list *lists = pause_lists(viewed, places, why);
    for (size_t i = 0; lists && i < places->count; i++) {
        for (size_t j = 0; j < lists[i].count; j++) {
            const struct pause *pause = &lists[i].at[j];
            const struct cell cells[] = {cell_number(viewed_since_start(viewed, pause->began_ns)),
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

static const struct table tables[] = {TABLE("stops", NULL, columns)};

const struct view view_stops = {"stops", "each pause: when, how long, why; --sort ns has the longest first", tables, 1,
                                gather};
