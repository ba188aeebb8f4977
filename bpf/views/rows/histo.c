/* What lived after the last full collection with a whole census (model/census.h), by class and by site. */
#include "model/census.h"
#include "util/sum.h"
#include "views/rows/class_list.h"
#include "views/rows/views.h"
#include <stdlib.h>

enum { WHOLE, CLASSES, SITES, TABLES };
enum figure { OBJECTS, BYTES, NEW_OBJECTS, NEW_BYTES }; /* new: of a census that has not ended */

static const struct column whole[] = {
    {"time_ns", "ended (s)", CELL_time}, {"seq", "collection", CELL_count}, {"objects", "objects", CELL_count},
    {"bytes", "bytes", CELL_bytes},      {"classes", "rows", CELL_count},
};
static const struct column classes[] = {
    {"class_id", "id", CELL_count}, {"name", "class", CELL_text},         {"objects", "objects", CELL_count},
    {"bytes", "bytes", CELL_bytes}, {"bytes_share", "share", CELL_share}, {"mean_bytes", "mean", CELL_bytes},
};
static const struct column sites[] = {
    {"class_id", "id", CELL_count}, {"name", "site", CELL_text},          {"objects", "objects", CELL_count},
    {"bytes", "bytes", CELL_bytes}, {"bytes_share", "share", CELL_share}, {"mean_bytes", "mean", CELL_bytes},
};

struct histo {
    struct class_list list;
    uint64_t seq, time_ns;  /* of the last whole census; seq 0: there is none */
    struct census received; /* of the last one that has begun */
};

struct gathering {
    struct rows *rows;
    struct histo *of; /* owned; one a heap */
    const struct viewed *viewed;
    bool is_out_of_memory;
};

static bool on_class(struct histo *histo, const struct event *event) {
    struct class_entry *entry = class_list_find(&histo->list, EDEN_ARG(event->arg, census, class_id));
    if (!entry) {
        return false;
    }
    if (census_add(&histo->received, event)) {
        for (size_t i = 0; i < histo->list.count; i++) {
            histo->list.at[i].figures[NEW_OBJECTS] = histo->list.at[i].figures[NEW_BYTES] = 0;
        }
    }
    entry->figures[NEW_OBJECTS] = EDEN_ARG(event->arg, census, objects);
    entry->figures[NEW_BYTES] = EDEN_ARG(event->arg, census, bytes);
    return true;
}

static void on_end(struct histo *histo, const struct event *event) {
    if (!census_is_whole(&histo->received, event)) {
        return;
    }
    histo->seq = histo->received.seq;
    histo->time_ns = event->time_ns;
    for (size_t i = 0; i < histo->list.count; i++) {
        struct class_entry *entry = &histo->list.at[i];
        entry->figures[OBJECTS] = entry->figures[NEW_OBJECTS];
        entry->figures[BYTES] = entry->figures[NEW_BYTES];
    }
}

static bool on_event(void *context, size_t heap, const struct event *event) {
    struct gathering *all = context;
    struct histo *histo = &all->of[heap];
    if (event->probe == EDEN_PROBE_class__define) {
        all->is_out_of_memory = !class_list_define(&histo->list, all->rows, event);
    } else if (viewed_has(all->viewed, event->time_ns)) {
        if (event->probe == EDEN_PROBE_full__done) {
            on_end(histo, event);
        } else {
            all->is_out_of_memory = !on_class(histo, event);
        }
    }
    return !all->is_out_of_memory;
}

static bool is_site(const struct class_entry *entry) { return entry->of_class != 0 && entry->of_class != entry->id; }

static int by_bytes(const void *one, const void *other) {
    const struct class_entry *a = one, *b = other;
    uint64_t x = a->figures[BYTES], y = b->figures[BYTES];
    return x != y ? (x < y) - (x > y) : (a->id > b->id) - (a->id < b->id);
}

/* The largest first; classes with what their sites have. False: no memory. */
static bool add_table(struct gathering *all, size_t heap, size_t table, const struct class_entry *total) {
    const struct class_list *list = &all->of[heap].list;
    struct class_list summed = {0};
    bool good = true;
    for (size_t i = 0; i < list->count && good; i++) {
        const struct class_entry *from = &list->at[i];
        if (table == SITES && !is_site(from)) {
            continue;
        }
        struct class_entry *to =
            class_list_find(&summed, table == CLASSES && is_site(from) ? from->of_class : from->id);
        good = to;
        if (good) {
            sum_add(&to->figures[OBJECTS], from->figures[OBJECTS]);
            sum_add(&to->figures[BYTES], from->figures[BYTES]);
        }
    }
    if (summed.count != 0) {
        qsort(summed.at, summed.count, sizeof *summed.at, by_bytes); /* none is found any more */
    }
    for (size_t i = 0; i < summed.count && good; i++) {
        const struct class_entry *entry = &summed.at[i];
        const uint64_t objects = entry->figures[OBJECTS], bytes = entry->figures[BYTES];
        if (objects != 0) {
            const struct class_entry *named = class_list_find(&all->of[heap].list, entry->id);
            const struct cell cells[] = {cell_number(entry->id),
                                         named ? class_list_label(all->rows, list, named) : cell_text(NULL),
                                         cell_number(objects),
                                         cell_number(bytes),
                                         cell_share((double)bytes, (double)total->figures[BYTES]),
                                         cell_number(bytes / objects)};
            rows_add(all->rows, heap, table, cells);
        }
    }
    class_list_clear(&summed);
    return good;
}

static bool add_heap(struct gathering *all, size_t heap) {
    const struct histo *histo = &all->of[heap];
    struct class_entry total = {0};
    uint64_t rows = 0;
    if (histo->seq == 0) {
        return true;
    }
    for (size_t i = 0; i < histo->list.count; i++) {
        const struct class_entry *entry = &histo->list.at[i];
        sum_add(&total.figures[OBJECTS], entry->figures[OBJECTS]);
        sum_add(&total.figures[BYTES], entry->figures[BYTES]);
        rows += entry->figures[OBJECTS] != 0;
    }
    const struct cell cells[] = {cell_time(viewed_since_start(all->viewed, histo->time_ns)), cell_number(histo->seq),
                                 cell_number(total.figures[OBJECTS]), cell_number(total.figures[BYTES]),
                                 cell_number(rows)};
    rows_add(all->rows, heap, WHOLE, cells);
    return add_table(all, heap, CLASSES, &total) && add_table(all, heap, SITES, &total);
}

static bool gather(struct rows *rows, const struct viewed *viewed, struct failure *why) {
    static const enum eden_probe_id wanted[] = {EDEN_PROBE_class__define, EDEN_PROBE_census, EDEN_PROBE_full__done};
    struct heap_places *places = rows_places(rows);
    struct gathering all = {rows, calloc(places->count + 1, sizeof *all.of), viewed, false};
    all.is_out_of_memory = !all.of;
    bool good = all.is_out_of_memory ||
                heap_events(viewed->recording, places, wanted, sizeof wanted / sizeof *wanted, on_event, &all, why);
    for (size_t i = 0; all.of && i < places->count; i++) {
        all.is_out_of_memory = all.is_out_of_memory || (good && !add_heap(&all, i));
        class_list_clear(&all.of[i].list);
    }
    free(all.of);
    return all.is_out_of_memory ? failure_set(why, 1, "out of memory for the classes") : good;
}

static const struct table tables[TABLES] = {
    [WHOLE] = TABLE("census", NULL, whole),
    [CLASSES] = TABLE("classes", NULL, classes),
    [SITES] = TABLE("sites",
                    "Counted by `edenscope histo`, and by `edenscope record --objects`. With pause_goal a count may "
                    "include what has died since marking began.",
                    sites),
};

const struct view view_histo = {"histo", "what lived after the last full collection, by class and by site", tables,
                                TABLES, gather};
