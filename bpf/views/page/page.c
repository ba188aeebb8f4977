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
 * rows is represented by the one with the largest number in the column `peak`; the page says so. */
struct drawn {
    const struct view *view;
    const char *peak; /* NULL: the table has few rows */
};
static const struct drawn drawn[] = {
    {&view_pauses, NULL},   {&view_histogram, NULL}, {&view_causes, NULL},     {&view_phases, NULL},
    {&view_timeline, NULL}, {&view_stops, "ns"},     {&view_heap, "old_used"}, {&view_tenuring, "survivor_bytes"},
};
enum { DRAWN = sizeof drawn / sizeof *drawn, MOST_ROWS = 20000 };

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

/* {"columns", "rows", "group"}: of how many consecutive rows each is the highest. */
static json_t *table_to_json(const struct table *table, const struct cell *cells, size_t count, const char *peak) {
    json_t *columns = json_array(), *rows = json_array();
    size_t group = peak ? (count + MOST_ROWS - 1) / MOST_ROWS : 1, column = peak ? column_of(table, peak) : 0;
    for (size_t i = 0; i < table->column_count; i++) {
        json_array_append_new(columns, json_string(table->columns[i].name));
    }
    for (size_t i = 0; i < count; i += group) {
        size_t highest = i;
        for (size_t j = i + 1; j < i + group && j < count; j++) {
            const struct cell *at = &cells[j * table->column_count + column],
                              *best = &cells[highest * table->column_count + column];
            highest = at->state == CELL_KNOWN && (best->state != CELL_KNOWN || at->number > best->number) ? j : highest;
        }
        json_array_append_new(rows, row_to_json(table, &cells[highest * table->column_count]));
    }
    return json_pack("{s:o, s:o, s:o}", "columns", columns, "rows", rows, "group", json_number(group ? group : 1));
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
            json_object_set_new(tables, name, table_to_json(table, cells, count, is->peak));
        }
    }
    rows_free(rows);
    return rows;
}

/* The heaps in the order of heap_places(). */
static json_t *heaps_to_json(const struct viewed *viewed, struct failure *why) {
    json_t *heaps = json_array();
    const struct model *model = viewed->model;
    for (size_t i = 0; i < model->process_count; i++) {
        for (size_t j = 0; j < model->processes[i].heap_count; j++) {
            const struct heap_model *heap = &model->processes[i].heaps[j];
            json_array_append_new(
                heaps, json_pack("{s:I, s:o, s:o, s:o}", "pid", (json_int_t)model->processes[i].key.pid, "place",
                                 json_pack("[I, I]", (json_int_t)i, (json_int_t)j), "serial",
                                 heap->serial ? json_number(heap->serial) : json_null(), "tables", json_object()));
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
