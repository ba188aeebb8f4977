/* The single pauses, and what the collecting thread did in each. */
#include "views/rows/pause_list.h"
#include "views/rows/views.h"

#define PAUSE_CAUSE(name, heading, meaning) {#name "_ns", heading, CELL_ns},
static const struct column columns[] = {
    {"time_ns", "began (s)", CELL_time}, {"ns", "took", CELL_ns},          {"kind", "pause", CELL_text},
    {"cause", "cause", CELL_text},
#include "kernel/pause_causes.def"
    {"unknown_ns", "Unknown", CELL_ns},  {"faults", "Faults", CELL_count}, {"disk_faults", "from disk", CELL_count}};
enum { COLUMNS = sizeof columns / sizeof *columns };

static const char *kind_of(const struct pause *pause) {
    return pause->is_full        ? pause->is_under_way ? "full collection, not ended" : "full collection"
           : pause->is_under_way ? "scavenge, not ended"
                                 : "scavenge";
}

static void add_pause(struct rows *rows, size_t heap, struct cell began, const struct pause *pause) {
    struct cell cells[COLUMNS] = {began, cell_number(pause->ns), cell_text(kind_of(pause)), cell_text(pause->cause)};
    struct cell *cell = &cells[4];
    for (int i = 0; i < PAUSE_CAUSES; i++) {
        *cell++ = cell_if(pause->is_explained && pause_time_is_measured(&pause->spent, i), pause->spent.ns[i]);
    }
    *cell++ = cell_number(pause_unknown_ns(&pause->spent, pause->ns));
    *cell++ = cell_if(pause->is_explained, pause->spent.faults);
    *cell = cell_if(pause->is_explained, pause->spent.disk_faults);
    rows_add(rows, heap, 0, cells);
}

static bool gather(struct rows *rows, const struct viewed *viewed, struct failure *why) {
    struct heap_places *places = rows_places(rows);
    struct pause_list *lists = pause_lists(viewed, places, why);
    for (size_t i = 0; lists && i < places->count; i++) {
        for (size_t j = 0; j < lists[i].count; j++) {
            const struct pause *pause = &lists[i].at[j];
            if (!pause->is_after || pause->is_under_way) {
                const struct cell began = cell_time(viewed_since_start(viewed, pause->began_ns));
                add_pause(rows, i, pause->began_ns ? began : (struct cell){.state = CELL_UNKNOWN}, pause);
            }
        }
    }
    bool good = lists;
    pause_lists_free(lists, places->count);
    return good;
}

static const struct table tables[] = {TABLE(
    "stops",
    "Working, Disk, No CPU, Throttled, Asleep, Faulting: what the collecting thread did. Faults: its page faults.",
    columns)};

const struct view view_stops = {"stops", "each pause: when, how long, why; --sort ns has the longest first", tables, 1,
                                gather};
