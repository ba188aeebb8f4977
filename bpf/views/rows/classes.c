/* What the recorded events say of each class and site.
 *
 * Large objects and failures are always recorded; what moves and what is remembered, object by object, only with
 * `record --objects`. How long objects of a class live, `edenscope lifetimes` measures. */
#include "util/sum.h"
#include "views/rows/class_list.h"
#include "views/rows/views.h"
#include <stdlib.h>

enum figure { LARGE, LARGE_BYTES, TENURED, TENURED_BYTES, REMEMBERED, FORGOTTEN, MOURNED, FAILED };

static const struct column columns[] = {
    {"class_id", "id", CELL_count},
    {"name", "class or site", CELL_text},
    {"large_objects", "large", CELL_count},
    {"large_bytes", "large bytes", CELL_bytes},
    {"tenured_objects", "tenured", CELL_count},
    {"tenured_bytes", "tenured bytes", CELL_bytes},
    {"remembered", "remembered", CELL_count},
    {"forgotten", "forgotten", CELL_count},
    {"mourned", "mourned", CELL_count},
    {"alloc_failures", "failures", CELL_count},
};

struct classes {
    struct rows *rows;
    struct class_list *lists; /* owned; one a heap */
    const struct viewed *viewed;
    bool is_out_of_memory;
};

/* Which class an event is about, and what it adds. */
struct addition {
    uint64_t id, bytes;
    enum figure count, size; /* size LARGE: it adds no bytes */
};

static struct addition addition_of(const struct event *event) {
    const uint64_t *arg = event->arg;
    switch (event->probe) {
    case EDEN_PROBE_alloc__large:
        return (struct addition){EDEN_ARG(arg, alloc__large, site), EDEN_ARG(arg, alloc__large, bytes), LARGE,
                                 LARGE_BYTES};
    case EDEN_PROBE_tenure:
        return (struct addition){EDEN_ARG(arg, tenure, class_id), EDEN_ARG(arg, tenure, bytes), TENURED, TENURED_BYTES};
    case EDEN_PROBE_remember:
        return (struct addition){EDEN_ARG(arg, remember, class_id), 0, REMEMBERED, LARGE};
    case EDEN_PROBE_forget:
        return (struct addition){EDEN_ARG(arg, forget, class_id), 0, FORGOTTEN, LARGE};
    case EDEN_PROBE_mourn:
        return (struct addition){EDEN_ARG(arg, mourn, key_class_id), 0, MOURNED, LARGE};
    default:
        return (struct addition){EDEN_ARG(arg, alloc__failed, class_id), 0, FAILED, LARGE};
    }
}

static bool on_event(void *context, size_t heap, const struct event *event) {
    struct classes *all = context;
    struct class_list *list = &all->lists[heap];
    if (event->probe == EDEN_PROBE_class__define) {
        all->is_out_of_memory = !class_list_define(list, all->rows, event);
        return !all->is_out_of_memory;
    }
    if (!viewed_has(all->viewed, event->time_ns)) {
        return true;
    }
    const struct addition addition = addition_of(event);
    struct class_entry *entry = class_list_find(list, addition.id);
    if (entry) {
        sum_add(&entry->figures[addition.count], 1);
        if (addition.size != LARGE) {
            sum_add(&entry->figures[addition.size], addition.bytes);
        }
    }
    all->is_out_of_memory = !entry;
    return entry;
}

static void add_rows(struct rows *rows, size_t heap, const struct class_list *list, bool objects) {
    for (size_t i = 0; i < list->count; i++) {
        const struct class_entry *entry = &list->at[i];
        struct cell cells[sizeof columns / sizeof *columns] = {cell_number(entry->id),
                                                               class_list_label(rows, list, entry)};
        for (enum figure j = LARGE; j <= FAILED; j++) {
            bool is_known = objects || j == LARGE || j == LARGE_BYTES || j == FAILED;
            cells[2 + j] = cell_if(is_known, entry->figures[j]);
        }
        rows_add(rows, heap, 0, cells);
    }
}

static bool gather(struct rows *rows, const struct viewed *viewed, struct failure *why) {
    static const enum eden_probe_id wanted[] = {
        EDEN_PROBE_class__define, EDEN_PROBE_alloc__large, EDEN_PROBE_alloc__failed, EDEN_PROBE_tenure,
        EDEN_PROBE_remember,      EDEN_PROBE_forget,       EDEN_PROBE_mourn};
    struct heap_places *places = rows_places(rows);
    struct classes all = {rows, calloc(places->count + 1, sizeof *all.lists), viewed, false};
    all.is_out_of_memory = !all.lists;
    bool good = all.is_out_of_memory ||
                heap_events(viewed->recording, places, wanted, sizeof wanted / sizeof *wanted, on_event, &all, why);
    if (all.is_out_of_memory) {
        failure_set(why, 1, "out of memory for the classes");
        good = false;
    }
    for (size_t i = 0; all.lists && i < places->count; i++) {
        if (good) {
            add_rows(rows, i, &all.lists[i], recording_info(viewed->recording)->objects);
        }
        class_list_clear(&all.lists[i]);
    }
    free(all.lists);
    return good;
}

static const struct table tables[] = {TABLE("classes", "?: recorded only with `edenscope record --objects`.", columns)};

const struct view view_classes = {
    "classes", "large objects, failures and, with record --objects, tenured and remembered ones by class", tables, 1,
    gather};
