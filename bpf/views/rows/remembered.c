/* The remembered set: what scanning it costs each scavenge, what is put there, and which objects take longest.
 *
 * What is put there, and the single scans of large objects, are recorded with `record --objects` only. An object is
 * known by its address: one that a full collection moves counts from then on as another. */
#include "eden_values.h"
#include "util/sum.h"
#include "views/rows/class_list.h"
#include "views/rows/views.h"
#include <stdlib.h>

enum { DEAREST = 10 };

static const struct column scavenges[] = {
    {"time_ns", "ended (s)", CELL_time},          {"seq", "seq", CELL_count},
    {"before", "set before", CELL_count},         {"remembered", "remembered since", CELL_count},
    {"forgotten", "forgotten since", CELL_count}, {"scanned_objects", "scanned", CELL_count},
    {"scanned_bytes", "their size", CELL_bytes},  {"scan_ns", "scan", CELL_ns},
    {"share", "of the scavenge", CELL_share},     {"remembered_now", "set after", CELL_count},
};

enum figure { BY_STORE, BY_TENURE, BY_RECOVERY, FORGOTTEN, SCANS, SLOTS, YOUNG_REFS, SCAN_NS };
_Static_assert((int)EDEN_REMEMBER_STORE == (int)BY_STORE && (int)EDEN_REMEMBER_TENURE == (int)BY_TENURE &&
                   (int)EDEN_REMEMBER_RECOVERY == (int)BY_RECOVERY && (int)EDEN_REMEMBER_ORIGINS == (int)FORGOTTEN,
               "origins count as figures");

static const struct column classes[] = {
    {"class_id", "id", CELL_count},
    {"name", "class or site", CELL_text},
    {"by_store", "by stores", CELL_count},
    {"by_tenure", "by tenuring", CELL_count},
    {"by_recovery", "by recovery", CELL_count},
    {"forgotten", "forgotten", CELL_count},
    {"scans", "large scanned", CELL_count},
    {"slots", "slots", CELL_count},
    {"young_refs", "to young", CELL_count},
    {"scan_ns", "scans", CELL_ns},
};

static const struct column objects[] = {
    {"address", "large object", CELL_address},
    {"name", "class or site", CELL_text},
    {"scans", "scans", CELL_count},
    {"slots", "slots", CELL_count},
    {"young_refs", "to young", CELL_count},
    {"scan_ns", "scans took", CELL_ns},
};
enum { SCAVENGES, CLASSES, OBJECTS, TABLES };

/* Of the scavenge under way. */
struct started {
    uint64_t before, remembered, forgotten, scanned, bytes, ns;
    bool is_known, is_scanned;
};

struct heap_sets {
    struct started started;
    struct class_list classes;
    struct class_list objects; /* by address; of_class: the id of its class */
};

struct sets {
    struct rows *rows;
    struct heap_sets *heaps; /* owned */
    const struct viewed *viewed;
    bool is_out_of_memory;
};

static void add_scavenge(const struct sets *all, size_t heap, const struct event *event) {
    struct started *started = &all->heaps[heap].started;
    const uint64_t *arg = event->arg;
    const struct cell cells[] = {
        cell_time(viewed_since_start(all->viewed, event->time_ns)),
        cell_number(EDEN_ARG(arg, scavenge__done, seq)),
        cell_if(started->is_known, started->before),
        cell_if(started->is_known, started->remembered),
        cell_if(started->is_known, started->forgotten),
        cell_if(started->is_scanned, started->scanned),
        cell_if(started->is_scanned, started->bytes),
        cell_if(started->is_scanned, started->ns),
        started->is_scanned ? cell_share((double)started->ns, (double)EDEN_ARG(arg, scavenge__done, duration))
                            : cell_text(NULL),
        cell_number(EDEN_ARG(arg, scavenge__done, remembered_now)),
    };
    *started = (struct started){0};
    if (viewed_has(all->viewed, event->time_ns) && EDEN_HAS(event->args, scavenge__done, remembered_now)) {
        rows_add(all->rows, heap, SCAVENGES, cells);
    }
}

static void add_scan(struct class_entry *entry, const uint64_t *arg) {
    sum_add(&entry->figures[SCANS], 1);
    sum_add(&entry->figures[SLOTS], EDEN_ARG(arg, remembered__scan, slots));
    sum_add(&entry->figures[YOUNG_REFS], EDEN_ARG(arg, remembered__scan, young_refs));
    sum_add(&entry->figures[SCAN_NS], EDEN_ARG(arg, remembered__scan, duration));
}

/* Events of single objects, and names. False: no memory. */
static bool on_object(struct sets *all, struct heap_sets *heap, const struct event *event) {
    const uint64_t *arg = event->arg;
    struct class_entry *entry, *object;
    switch (event->probe) {
    case EDEN_PROBE_class__define:
        return class_list_define(&heap->classes, all->rows, event);
    case EDEN_PROBE_remember:
        entry = class_list_find(&heap->classes, EDEN_ARG(arg, remember, class_id));
        uint64_t origin =
            EDEN_HAS(event->args, remember, origin) ? EDEN_ARG(arg, remember, origin) : EDEN_REMEMBER_STORE;
        if (entry && origin < EDEN_REMEMBER_ORIGINS) {
            sum_add(&entry->figures[origin], 1);
        }
        return entry;
    case EDEN_PROBE_forget:
        entry = class_list_find(&heap->classes, EDEN_ARG(arg, forget, class_id));
        if (entry) {
            sum_add(&entry->figures[FORGOTTEN], 1);
        }
        return entry;
    default:
        entry = class_list_find(&heap->classes, EDEN_ARG(arg, remembered__scan, class_id));
        object = class_list_find(&heap->objects, EDEN_ARG(arg, remembered__scan, object));
        if (entry && object) {
            object->of_class = entry->id;
            add_scan(entry, arg);
            add_scan(object, arg);
        }
        return entry && object;
    }
}

static bool on_event(void *context, size_t number, const struct event *event) {
    struct sets *all = context;
    struct heap_sets *heap = &all->heaps[number];
    struct started *started = &heap->started;
    const uint64_t *arg = event->arg;
    switch (event->probe) {
    case EDEN_PROBE_scavenge__start:
        *started = (struct started){.before = EDEN_ARG(arg, scavenge__start, remembered_now),
                                    .remembered = EDEN_ARG(arg, scavenge__start, remembered_since),
                                    .forgotten = EDEN_ARG(arg, scavenge__start, forgotten_since),
                                    .is_known = EDEN_HAS(event->args, scavenge__start, forgotten_since)};
        return true;
    case EDEN_PROBE_scavenge__remembered__done: /* twice, where a scavenge runs in two rounds */
        sum_add(&started->scanned, EDEN_ARG(arg, scavenge__remembered__done, objects));
        sum_add(&started->bytes, EDEN_ARG(arg, scavenge__remembered__done, bytes));
        sum_add(&started->ns, EDEN_ARG(arg, scavenge__remembered__done, duration));
        started->is_scanned = true;
        return true;
    case EDEN_PROBE_scavenge__done:
        add_scavenge(all, number, event);
        return true;
    default:
        if (event->probe != EDEN_PROBE_class__define && !viewed_has(all->viewed, event->time_ns)) {
            return true;
        }
        all->is_out_of_memory = !on_object(all, heap, event);
        return !all->is_out_of_memory;
    }
}

static void add_classes(struct rows *rows, size_t number, const struct heap_sets *heap) {
    for (size_t i = 0; i < heap->classes.count; i++) {
        const struct class_entry *entry = &heap->classes.at[i];
        struct cell cells[sizeof classes / sizeof *classes] = {cell_number(entry->id),
                                                               class_list_label(rows, &heap->classes, entry)};
        bool any = false;
        for (enum figure j = BY_STORE; j <= SCAN_NS; j++) {
            cells[2 + j] = cell_number(entry->figures[j]);
            any = any || entry->figures[j] != 0;
        }
        if (any) {
            rows_add(rows, number, CLASSES, cells);
        }
    }
}

static int by_cost(const void *a, const void *b) {
    const struct class_entry *x = a, *y = b;
    return (y->figures[SCAN_NS] > x->figures[SCAN_NS]) - (y->figures[SCAN_NS] < x->figures[SCAN_NS]);
}

/* Sorts the objects: they can be found no more. */
static void add_objects(struct rows *rows, size_t number, struct heap_sets *heap) {
    if (heap->objects.count != 0) {
        qsort(heap->objects.at, heap->objects.count, sizeof *heap->objects.at, by_cost);
    }
    for (size_t i = 0; i < heap->objects.count && i < DEAREST; i++) {
        const struct class_entry *object = &heap->objects.at[i];
        const struct class_entry *of = class_list_find(&heap->classes, object->of_class);
        const struct cell cells[] = {
            cell_number(object->id),
            of ? class_list_label(rows, &heap->classes, of) : cell_text(NULL),
            cell_number(object->figures[SCANS]),
            cell_number(object->figures[SLOTS]),
            cell_number(object->figures[YOUNG_REFS]),
            cell_number(object->figures[SCAN_NS]),
        };
        rows_add(rows, number, OBJECTS, cells);
    }
}

static bool gather(struct rows *rows, const struct viewed *viewed, struct failure *why) {
    static const enum eden_probe_id wanted[] = {EDEN_PROBE_scavenge__start, EDEN_PROBE_scavenge__remembered__done,
                                                EDEN_PROBE_scavenge__done,  EDEN_PROBE_class__define,
                                                EDEN_PROBE_remember,        EDEN_PROBE_forget,
                                                EDEN_PROBE_remembered__scan};
    struct heap_places *places = rows_places(rows);
    struct sets all = {rows, calloc(places->count + 1, sizeof *all.heaps), viewed, false};
    all.is_out_of_memory = !all.heaps;
    bool good = all.is_out_of_memory ||
                heap_events(viewed->recording, places, wanted, sizeof wanted / sizeof *wanted, on_event, &all, why);
    if (all.is_out_of_memory) {
        failure_set(why, 1, "out of memory for the remembered sets");
        good = false;
    }
    for (size_t i = 0; all.heaps && i < places->count; i++) {
        if (good) {
            add_classes(rows, i, &all.heaps[i]);
            add_objects(rows, i, &all.heaps[i]);
        }
        class_list_clear(&all.heaps[i].classes);
        class_list_clear(&all.heaps[i].objects);
    }
    free(all.heaps);
    return good;
}

static const struct table tables[TABLES] = {
    [SCAVENGES] = TABLE("scavenges", NULL, scavenges),
    [CLASSES] = TABLE("classes", "Classes and objects are recorded with `edenscope record --objects` only.", classes),
    [OBJECTS] = TABLE("objects", NULL, objects),
};

const struct view view_remembered = {"remembered",
                                     "the remembered set: cost of its scans, classes, and objects that take longest",
                                     tables, TABLES, gather};
