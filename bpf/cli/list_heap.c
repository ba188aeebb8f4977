#include "cli/list_heap.h"
#include "util/clock.h"
#include "util/format.h"
#include "util/json.h"
#include "util/sheet.h"
#include "util/text.h"
#include "views/heap_params.h"
#include "views/phase_table.h"
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* ---- what it does now ------------------------------------------------------------------------------------------- */

/* 0: not known. */
static uint64_t since(uint64_t begin_ns) {
    uint64_t now = now_ns();
    return begin_ns != 0 && begin_ns <= now ? now - begin_ns : 0;
}

static bool is_collecting(const struct heapinfo *heap) {
    return heap->activity == EDEN_ACTIVITY_STOPPED || heap->activity == EDEN_ACTIVITY_BESIDE;
}

static char *now_to_text(char text[PHASE_NOW_MAX], const struct heapinfo *heap) {
    if (!is_collecting(heap)) {
        snprintf(text, PHASE_NOW_MAX, "%s", heap->activity == EDEN_ACTIVITY_RUNNING ? "-" : "?");
        return text;
    }
    uint64_t ns = since(heap->phase_ns);
    phase_table_in(text, "in", heap->phase, ns != 0, ns);
    if (heap->activity == EDEN_ACTIVITY_BESIDE) {
        size_t length = strlen(text);
        snprintf(text + length, PHASE_NOW_MAX - length, ", program runs");
    }
    return text;
}

static json_t *time_or_null(uint64_t ns) { return ns ? json_number(ns) : json_null(); }

static void add_now(json_t *object, const struct heapinfo *heap) {
    bool collects = is_collecting(heap), known = heap->activity != EDEN_ACTIVITY_UNKNOWN;
    json_object_set_new(object, "activity", known ? json_string(eden_activity_name(heap->activity)) : json_null());
    json_object_set_new(object, "activity_for_ns", known ? time_or_null(since(heap->activity_ns)) : json_null());
    json_object_set_new(object, "phase", collects ? json_string(phase_names[heap->phase]) : json_null());
    json_object_set_new(object, "phase_for_ns", collects ? time_or_null(since(heap->phase_ns)) : json_null());
}

/* ---- parameters ------------------------------------------------------------------------------------------------- */

static bool read_params(struct list_heap *list, const struct heapinfo *heap, struct heap_params *params) {
    bool is_read = inspect_params(list->inspect, list->target, heap, params);
    list->unread += !is_read;
    return is_read;
}

static json_t *params_to_json(struct list_heap *list, const struct heapinfo *heap) {
    struct heap_params params;
    char value[256];
    if (!read_params(list, heap, &params)) {
        return json_null();
    }
    json_t *object = json_object();
    for (enum eden_param_id id = 0; id < EDEN_PARAM_COUNT; id++) {
        bool known = params.known >> id & 1;
        if (known) {
            heap_params_text(&params, id, value);
        }
        json_object_set_new(object, eden_param(id)->name,
                            json_pack("{s:o, s:b}", "value", known ? json_text(value, sizeof value) : json_null(),
                                      "set", (int)(params.set >> id & 1)));
    }
    return object;
}

/* ---- classes ---------------------------------------------------------------------------------------------------- */

struct shown {
    struct list_heap *list;
    json_t *classes; /* NULL: they are printed */
};

static bool show_class(void *context, uint32_t index, uint32_t class_index, const char *name) {
    const struct shown *shown = context;
    if (shown->classes) {
        json_array_append_new(shown->classes,
                              json_pack("{s:I, s:I, s:o}", "index", (json_int_t)index, "class", (json_int_t)class_index,
                                        "name", json_text(name, strlen(name))));
        return ++shown->list->classes < shown->list->most_classes;
    }
    heap_class_print(stdout, index, class_index, name);
    return ++shown->list->classes < shown->list->most_classes;
}

/* False: some were not read. */
static bool show_classes(struct list_heap *list, const struct heapinfo *heap, json_t *classes) {
    struct shown shown = {list, classes};
    uint32_t from = 0, unread = 0;
    bool all = true;
    while (all && from != UINT32_MAX) {
        all = list->classes < list->most_classes &&
              inspect_classes(list->inspect, list->target, heap, show_class, &shown, &from, &unread) && unread == 0;
    }
    list->unread += !all;
    return all;
}

/* ---- the heap --------------------------------------------------------------------------------------------------- */

static json_t *gauge_to_json(const struct heapinfo *heap, enum eden_figure figure) {
    return heap->known >> figure & 1 ? json_number(heap->figures[figure]) : json_null();
}

static const char *gauge_to_text(char text[FORMAT_MAX], const struct heapinfo *heap, enum eden_figure figure) {
    return heap->known >> figure & 1 ? format_bytes(text, heap->figures[figure]) : "?";
}

static const struct sheet_column columns[] = {
    {"PID", SHEET_NUMBER, 8, 0},      {"USER", SHEET_TEXT, 8, 2},           {"COMMAND", SHEET_TEXT, 16, 2},
    {"HEAP", SHEET_NUMBER, 4, 1},     {"NAME", SHEET_TEXT, 16, 2},          {"EDEN", SHEET_NUMBER, 9, 1},
    {"OLD USED", SHEET_NUMBER, 9, 1}, {"COLLECTIONS", SHEET_NUMBER, 11, 1}, {"NOW", SHEET_WORDS, 0, 2}};
/* Of a process without heaps a reason takes the place of what is known of a heap. */
static const struct sheet_column columns_without[] = {{"", SHEET_NUMBER, 8, 0},
                                                      {"", SHEET_TEXT, 8, 2},
                                                      {"", SHEET_TEXT, 16, 2},
                                                      {"", SHEET_NUMBER, 4, 1},
                                                      {"", SHEET_WORDS, 0, 2}};

void list_heap_heading(void) {
    const struct sheet sheet = SHEET(stdout, "", columns);
    sheet_heading(&sheet);
}

void list_heap_print_none(const struct list_heap *list, const char *why) {
    const struct sheet sheet = SHEET(stdout, "", columns_without);
    char pid[16], command[TEXT_GROWTH * 64], user[TEXT_GROWTH * 64];
    snprintf(pid, sizeof pid, "%d", list->pid);
    sheet_row(&sheet,
              (const struct sheet_cell[]){{pid, STYLE_PLAIN},
                                          {text_escape(user, sizeof user, list->user, ""), STYLE_PLAIN},
                                          {text_escape(command, sizeof command, list->command, ""), STYLE_PLAIN},
                                          {"-", STYLE_PLAIN},
                                          {why, STYLE_PLAIN}});
}

void list_heap_print(struct list_heap *list, const struct heapinfo *heap) {
    const struct sheet sheet = SHEET(stdout, "", columns);
    char eden[FORMAT_MAX], old[FORMAT_MAX], collections[FORMAT_MAX], now[PHASE_NOW_MAX], pid[16], id[24];
    char name[TEXT_GROWTH * sizeof heap->name], command[TEXT_GROWTH * 64], user[TEXT_GROWTH * 64];
    snprintf(pid, sizeof pid, "%d", list->pid);
    snprintf(id, sizeof id, "%" PRIu64, heap->id);
    sheet_row(&sheet,
              (const struct sheet_cell[]){{pid, STYLE_PLAIN},
                                          {text_escape(user, sizeof user, list->user, ""), STYLE_PLAIN},
                                          {text_escape(command, sizeof command, list->command, ""), STYLE_PLAIN},
                                          {id, STYLE_PLAIN},
                                          {text_escape(name, sizeof name, heap->name, ""), STYLE_PLAIN},
                                          {gauge_to_text(eden, heap, EDEN_FIGURE_eden_size), STYLE_PLAIN},
                                          {gauge_to_text(old, heap, EDEN_FIGURE_old_used), STYLE_PLAIN},
                                          {format_count(collections, heap->seq), STYLE_PLAIN},
                                          {phase_table_add_stopped(now_to_text(now, heap), list->pid),
                                           is_collecting(heap) ? STYLE_WARNING : STYLE_PLAIN}});
    if (list->has_params) {
        struct heap_params params;
        heap_params_print(stdout, read_params(list, heap, &params) ? &params : NULL);
    }
    if (list->has_classes && !show_classes(list, heap, NULL)) {
        printf("%10s(not all classes were read)\n", "");
    }
}

json_t *list_heap_to_json(struct list_heap *list, const struct heapinfo *heap) {
    json_t *object =
        json_pack("{s:o, s:o, s:o, s:o, s:o}", "heap", json_known(heap->id), "name",
                  json_name(heap->name, sizeof heap->name), "eden_size", gauge_to_json(heap, EDEN_FIGURE_eden_size),
                  "old_used", gauge_to_json(heap, EDEN_FIGURE_old_used), "collections", json_number(heap->seq));
    add_now(object, heap);
    if (list->has_params) {
        json_object_set_new(object, "parameters", params_to_json(list, heap));
    }
    if (list->has_classes) {
        json_t *classes = json_array();
        bool all = show_classes(list, heap, classes);
        json_object_set_new(object, "classes", classes);
        json_object_set_new(object, "all_classes", json_boolean(all));
    }
    return object;
}
