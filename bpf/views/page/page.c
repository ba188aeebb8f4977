#include "views/page/page.h"
#include "eden_version.h"
#include "views/model_json.h"
#include "views/rows/views.h"
#include <stdlib.h>
#include <string.h>

/* What make_page.py made: the page up to the data, and the rest. */
extern const char page_begin[] __asm__("_binary_page_begin_html_start"),
    page_begin_end[] __asm__("_binary_page_begin_html_end"), page_rest[] __asm__("_binary_page_rest_html_start"),
    page_rest_end[] __asm__("_binary_page_rest_html_end");

/* A view whose rows the page draws. Where there are more than MOST_ROWS of a table, each group of as many consecutive
 * rows is represented by the one with the largest number in the column `peak`, of each kind that is in it; the page
 * says so. */
struct drawn {
    const struct view *view;
    const char *peak, *kind; /* NULL: the table has few rows */
};
static const struct drawn drawn[] = {
    {&view_pauses, NULL, NULL},
    {&view_histogram, NULL, NULL},
    {&view_causes, NULL, NULL},
    {&view_phases, NULL, NULL},
    {&view_timeline, NULL, NULL},
    {&view_stops, "ns", "kind"},
    {&view_heap, "old_used", "collection"},
    {&view_tenuring, "survivor_bytes", "cause"},
};
enum { DRAWN = sizeof drawn / sizeof *drawn, MOST_ROWS = 20000, MOST_KINDS = 4 };

static json_t *row_to_json(const struct table *table, const struct cell *cells) {
    json_t *row = json_array();
    for (size_t i = 0; i < table->column_count; i++) {
        json_array_append_new(row, cell_to_json(table->columns[i].kind, &cells[i]));
    }
    return row;
}

static size_t column_of(const struct table *table, const char *name) {
    size_t column = 0;
    while (strcmp(table->columns[column].name, name) != 0) {
        column++;
    }
    return column;
}

static bool is_higher(const struct cell *cell, const struct cell *than) {
    return cell->state == CELL_KNOWN && (than->state != CELL_KNOWN || cell->number > than->number);
}

static bool is_of_kind(const struct cell *cell, const struct cell *other) {
    return cell->state == other->state && (cell->state != CELL_KNOWN || strcmp(cell->text, other->text) == 0);
}

/* Adds the highest of each kind of these rows, in their order. */
static void add_group(json_t *rows, const struct table *table, const struct cell *cells, size_t count,
                      const struct drawn *is) {
    size_t peak = column_of(table, is->peak), kind = column_of(table, is->kind), highest[MOST_KINDS], kinds = 0;
    for (size_t i = 0; i < count; i++) {
        const struct cell *row = &cells[i * table->column_count];
        size_t at = 0;
        while (at < kinds && !is_of_kind(&row[kind], &cells[highest[at] * table->column_count + kind])) {
            at++;
        }
        if (at == kinds && kinds < MOST_KINDS) {
            highest[kinds++] = i;
        } else if (at < kinds && is_higher(&row[peak], &cells[highest[at] * table->column_count + peak])) {
            highest[at] = i;
        }
    }
    for (size_t i = 0; i < count; i++) {
        for (size_t at = 0; at < kinds; at++) {
            if (highest[at] == i) {
                json_array_append_new(rows, row_to_json(table, &cells[i * table->column_count]));
            }
        }
    }
}

/* {"columns", "rows", "group"}: of how many consecutive rows each is the highest of its kind. */
static json_t *table_to_json(const struct table *table, const struct cell *cells, size_t count,
                             const struct drawn *is) {
    json_t *columns = json_array(), *rows = json_array();
    size_t group = is->peak && count > MOST_ROWS ? (count + MOST_ROWS - 1) / MOST_ROWS : 1;
    for (size_t i = 0; i < table->column_count; i++) {
        json_array_append_new(columns, json_string(table->columns[i].name));
    }
    for (size_t i = 0; i < count; i += group) {
        if (group == 1) {
            json_array_append_new(rows, row_to_json(table, &cells[i * table->column_count]));
        } else {
            add_group(rows, table, &cells[i * table->column_count], count - i < group ? count - i : group, is);
        }
    }
    return json_pack("{s:o, s:o, s:o}", "columns", columns, "rows", rows, "group", json_number(group));
}

/* Adds the tables of a view to the object of each heap. */
static bool add_view(json_t *heaps, const struct drawn *is, const struct viewed *viewed, struct failure *why) {
    struct rows *rows = rows_gather(is->view, viewed, why);
    for (size_t i = 0; rows && i < json_array_size(heaps); i++) {
        json_t *tables = json_object_get(json_array_get(heaps, i), "tables");
        for (size_t j = 0; j < is->view->table_count; j++) {
            size_t count;
            const struct cell *cells = rows_cells(rows, i, j, &count);
            const struct table *table = &is->view->tables[j];
            /* Two views may call their rows alike: a table is known by its view. */
            char name[64];
            snprintf(name, sizeof name, "%s.%s", is->view->name, table->name);
            json_object_set_new(tables, name, table_to_json(table, cells, count, is));
        }
    }
    rows_free(rows);
    return rows;
}

static void add_parameter(void *context, const char *name, const char *value) {
    json_t *object = context, *key = json_text(name, strlen(name));
    if (key) {
        json_object_set_new(object, json_string_value(key), json_text(value, strlen(value)));
    }
    json_decref(key);
}

/* {NAME: value}: as last set while it was observed. */
static json_t *parameters_of(const struct viewed *viewed, const struct process_model *process,
                             const struct heap_model *heap, struct failure *why) {
    json_t *object = json_object();
    if (!object ||
        !recording_parameters(viewed->recording, &process->key, HEAP_REF(heap), add_parameter, object, why)) {
        json_decref(object);
        return NULL;
    }
    return object;
}

/* The heaps in the order of heap_places(). */
static json_t *heaps_to_json(const struct viewed *viewed, struct failure *why) {
    json_t *heaps = json_array();
    const struct model *model = viewed->model;
    for (size_t i = 0; i < model->process_count; i++) {
        for (size_t j = 0; j < model->processes[i].heap_count; j++) {
            const struct heap_model *heap = &model->processes[i].heaps[j];
            json_t *parameters = parameters_of(viewed, &model->processes[i], heap, why);
            if (!parameters) {
                json_decref(heaps);
                return NULL;
            }
            json_array_append_new(
                heaps, json_pack("{s:I, s:o, s:o, s:o, s:o}", "pid", (json_int_t)model->processes[i].key.pid, "place",
                                 json_pack("[I, I]", (json_int_t)i, (json_int_t)j), "serial", json_known(heap->serial),
                                 "parameters", parameters, "tables", json_object()));
        }
    }
    bool good = true;
    for (size_t i = 0; good && i < DRAWN; i++) {
        good = add_view(heaps, &drawn[i], viewed, why);
    }
    if (!good) {
        json_decref(heaps);
        return NULL;
    }
    return heaps;
}

static json_t *data_to_json(const char *path, const struct viewed *viewed, const struct page_extras *extras,
                            struct failure *why) {
    const struct recording_info *info = recording_info(viewed->recording);
    const char *partial = recording_partial(info);
    json_t *heaps = heaps_to_json(viewed, why), *summary = heaps ? model_to_json(viewed->model) : NULL;
    if (!summary) {
        json_decref(heaps);
        return NULL;
    }
    json_t *data = json_object();
    json_object_set_new(data, "version", json_string(EDEN_VERSION));
    json_object_set_new(data, "recording", json_text(path, strlen(path)));
    json_object_set_new(data, "command", json_text(info->command, strlen(info->command)));
    json_object_set_new(data, "start_ns", json_number(info->start_ns));
    json_object_set_new(data, "events", json_number(info->events));
    json_object_set_new(data, "partial", partial ? json_string(partial) : json_null());
    json_object_set_new(data, "summary", summary);
    json_object_set_new(data, "heaps", heaps);
    json_object_set_new(data, "findings", extras->findings ? json_incref(extras->findings) : json_null());
    json_object_set_new(data, "lifetimes", extras->lifetimes ? json_incref(extras->lifetimes) : json_null());
    json_object_set_new(data, "survival", extras->survival ? json_incref(extras->survival) : json_null());
    return data;
}

bool page_write(FILE *out, const char *path, const struct viewed *viewed, const struct page_extras *extras,
                struct failure *why) {
    why->message[0] = 0;
    json_t *data = data_to_json(path, viewed, extras, why);
    if (!data) {
        return why->message[0] ? false : failure_set(why, 1, "out of memory for the page");
    }
    fwrite(page_begin, 1, (size_t)(page_begin_end - page_begin), out);
    bool good = json_write_for_html(out, data) || ferror(out) || failure_set(why, 1, "out of memory for the page");
    fwrite(page_rest, 1, (size_t)(page_rest_end - page_rest), out);
    json_decref(data);
    return good;
}
