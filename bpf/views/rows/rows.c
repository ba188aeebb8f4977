#include "views/rows/rows.h"
#include "util/array.h"
#include "util/fold.h"
#include "util/format.h"
#include "util/sheet.h"
#include "util/text.h"
#include "views/phase_table.h"
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_COLUMNS = 32, CELL_FORM = 1600 };

struct row_list {
    struct cell *cells; /* owned; column_count a row */
    size_t count, room; /* rows */
};

struct kept {
    struct kept *next;
    char text[];
};

struct rows {
    const struct view *view;
    struct heap_places places; /* owned */
    struct row_list *lists;    /* owned; table_count a heap */
    struct kept *kept;         /* owned */
    bool is_out_of_memory;
};

/* What is printed: of the tables [table, end) these columns; for one table they may be chosen. */
struct choice {
    size_t table, end;
    size_t columns[MOST_COLUMNS], column_count; /* 0: all */
    size_t sort_table, sort_column;             /* SIZE_MAX: as they come */
};

/* ---- gathered --------------------------------------------------------------------------------------------------- */

struct heap_places *rows_places(struct rows *rows) {
    return &rows->places;
}

static struct row_list *list_of(const struct rows *rows, size_t heap, size_t table) {
    return &rows->lists[heap * rows->view->table_count + table];
}

void rows_add(struct rows *rows, size_t heap, size_t table, const struct cell *cells) {
    struct row_list *list = list_of(rows, heap, table);
    size_t bytes = rows->view->tables[table].column_count * sizeof *cells;
    void *added = rows->is_out_of_memory ? NULL : array_grow(&list->cells, &list->room, list->count, bytes);
    if (!added) {
        rows->is_out_of_memory = true;
        return;
    }
    memcpy(added, cells, bytes);
    list->count++;
}

const char *rows_keep(struct rows *rows, const char *text) {
    size_t bytes = strlen(text) + 1;
    struct kept *kept = malloc(sizeof *kept + bytes);
    if (!kept) {
        rows->is_out_of_memory = true;
        return NULL;
    }
    memcpy(kept->text, text, bytes);
    kept->next = rows->kept;
    rows->kept = kept;
    return kept->text;
}

void rows_free(struct rows *rows) {
    for (size_t i = 0; rows && rows->lists && i < rows->places.count * rows->view->table_count; i++) {
        free(rows->lists[i].cells);
    }
    while (rows && rows->kept) {
        struct kept *next = rows->kept->next;
        free(rows->kept);
        rows->kept = next;
    }
    if (rows) {
        free(rows->lists);
        heap_places_clear(&rows->places);
    }
    free(rows);
}

struct rows *rows_gather(const struct view *view, const struct viewed *viewed, struct failure *why) {
    struct rows *rows = calloc(1, sizeof *rows);
    bool good = rows;
    if (rows) {
        rows->view = view;
        if (heap_places(viewed->model, &rows->places)) {
            rows->lists = calloc(rows->places.count * view->table_count + 1, sizeof *rows->lists);
        }
        rows->is_out_of_memory = !rows->lists;
        good = rows->is_out_of_memory || view->gather(rows, viewed, why);
    }
    if (!rows || rows->is_out_of_memory) {
        good = failure_set(why, 1, "out of memory for the view %s", view->name);
    }
    if (!good) {
        rows_free(rows);
        return NULL;
    }
    return rows;
}

const struct cell *rows_cells(const struct rows *rows, size_t heap, size_t table, size_t *count) {
    const struct row_list *list = list_of(rows, heap, table);
    *count = list->count;
    return list->cells;
}

/* ---- which, and in which order ---------------------------------------------------------------------------------- */

/* SIZE_MAX: it has none of this name. */
static size_t find_column(const struct table *table, const char *name, size_t length) {
    for (size_t i = 0; i < table->column_count; i++) {
        if (strlen(table->columns[i].name) == length && memcmp(table->columns[i].name, name, length) == 0) {
            return i;
        }
    }
    return SIZE_MAX;
}

/* Sets *why to what there is: the view has no such column, or not in the table that has the others. */
static bool unknown_column(const struct view *view, const char *option, const char *name, size_t length,
                           struct failure *why) {
    char names[400] = "";
    size_t used = 0;
    bool is_apart = false;
    for (size_t i = 0; i < view->table_count; i++) {
        is_apart = is_apart || find_column(&view->tables[i], name, length) != SIZE_MAX;
        for (size_t j = 0; j < view->tables[i].column_count && used < sizeof names; j++) {
            used += (size_t)snprintf(names + used, sizeof names - used, "%s%s",
                                     j   ? ","
                                     : i ? "; "
                                         : "",
                                     view->tables[i].columns[j].name);
        }
    }
    return failure_set(why, 1,
                       is_apart ? "%s %.*s: name columns of one table; the tables of the view %s have %s"
                                : "%s %.*s: not a column of the view %s, which has %s",
                       option, (int)(length < 60 ? length : 60), name, view->name, names);
}

/* Chooses the columns of a table; what of the list is not in it, NULL: nothing. */
static const char *choose_columns(const struct table *table, const char *list, struct choice *choice) {
    choice->column_count = 0;
    for (const char *at = list, *end; at; at = *end ? end + 1 : NULL) {
        end = strchrnul(at, ',');
        size_t column = find_column(table, at, (size_t)(end - at));
        if (column == SIZE_MAX || choice->column_count == MOST_COLUMNS) {
            return at;
        }
        choice->columns[choice->column_count++] = column;
    }
    return NULL;
}

/* Objects of JSON cannot hold a column twice. */
static bool has_each_once(const struct table *table, const struct choice *choice, struct failure *why) {
    for (size_t i = 0; i < choice->column_count; i++) {
        for (size_t j = 0; j < i; j++) {
            if (choice->columns[i] == choice->columns[j]) {
                return failure_set(why, 1, "-F %s: given twice; give it once", table->columns[choice->columns[i]].name);
            }
        }
    }
    return true;
}

static bool choose(const struct view *view, const struct rows_format *format, struct choice *choice,
                   struct failure *why) {
    *choice = (struct choice){.end = view->table_count, .sort_column = SIZE_MAX};
    if (format->columns) {
        const char *missing = format->columns;
        for (size_t i = 0; missing && i < view->table_count; i++) {
            const char *seen = choose_columns(&view->tables[i], format->columns, choice);
            choice->table = i;
            missing = !seen || seen > missing ? seen : missing;
        }
        if (missing) {
            return unknown_column(view, "-F", missing, strcspn(missing, ","), why);
        }
        if (!has_each_once(&view->tables[choice->table], choice, why)) {
            return false;
        }
    }
    if (format->columns || format->separator) {
        choice->end = choice->table + 1;
    }
    for (size_t i = choice->table; format->sort && choice->sort_column == SIZE_MAX && i < choice->end; i++) {
        choice->sort_table = i;
        choice->sort_column = find_column(&view->tables[i], format->sort, strlen(format->sort));
    }
    return !format->sort || choice->sort_column != SIZE_MAX ||
           unknown_column(view, "--sort", format->sort, strlen(format->sort), why);
}

struct sorting {
    const struct cell *cells; /* of the column in the first row */
    size_t step;              /* from row to row */
    enum cell_kind kind;
};

/* The largest first, what is not known last, equal ones as they come: of two rows' numbers. */
static int by_cell(const void *a, const void *b, void *context) {
    const struct sorting *sorting = context;
    const size_t *rows[] = {a, b};
    const struct cell *x = &sorting->cells[*rows[0] * sorting->step], *y = &sorting->cells[*rows[1] * sorting->step];
    int sign = (y->state == CELL_KNOWN) - (x->state == CELL_KNOWN);
    if (sign == 0 && x->state == CELL_KNOWN) {
        sign = sorting->kind == CELL_text    ? strcmp(x->text, y->text)
               : sorting->kind == CELL_time  ? (y->time > x->time) - (y->time < x->time)
               : sorting->kind == CELL_share ? (y->share > x->share) - (y->share < x->share)
                                             : (y->number > x->number) - (y->number < x->number);
    }
    return sign ? sign : (*rows[0] > *rows[1]) - (*rows[0] < *rows[1]);
}

/* The rows of a table, in the order in which they are printed. */
struct printed {
    const struct table *table;
    const struct cell *cells;
    size_t *order; /* owned; numbers of rows; NULL: no memory */
    size_t count;
};

static struct printed printed_of(const struct rows *rows, size_t heap, size_t table, const struct choice *choice) {
    const struct row_list *list = list_of(rows, heap, table);
    struct printed printed = {.table = &rows->view->tables[table],
                              .cells = list->cells,
                              .order = calloc(list->count + 1, sizeof *printed.order),
                              .count = list->count};
    for (size_t i = 0; printed.order && i < list->count; i++) {
        printed.order[i] = i;
    }
    if (printed.order && list->count != 0 && choice->sort_column != SIZE_MAX && choice->sort_table == table) {
        struct sorting sorting = {&list->cells[choice->sort_column], printed.table->column_count,
                                  printed.table->columns[choice->sort_column].kind};
        qsort_r(printed.order, list->count, sizeof *printed.order, by_cell, &sorting);
    }
    return printed;
}

static const struct cell *cell_of(const struct printed *printed, size_t row, size_t column) {
    return &printed->cells[printed->order[row] * printed->table->column_count + column];
}

static size_t shown_count(const struct table *table, const struct choice *choice) {
    return choice->column_count ? choice->column_count : table->column_count;
}

static size_t shown(const struct choice *choice, size_t place) {
    return choice->column_count ? choice->columns[place] : place;
}

/* ---- for people ------------------------------------------------------------------------------------------------- */

static const char *cell_to_text(char form[CELL_FORM], enum cell_kind kind, const struct cell *cell) {
    if (cell->state != CELL_KNOWN) {
        return cell->state == CELL_NONE ? "-" : "?";
    }
    const uint64_t distance = cell->time < 0 ? -cell->number : cell->number; /* of a time, from the beginning */
    switch (kind) {
    case CELL_ns:
        return format_ns(form, cell->number);
    case CELL_time:
        snprintf(form, CELL_FORM, "%s%" PRIu64 ".%06" PRIu64, cell->time < 0 ? "-" : "", distance / 1000000000,
                 distance / 1000 % 1000000);
        return form;
    case CELL_bytes:
        return format_bytes(form, cell->number);
    case CELL_count:
        return format_count(form, cell->number);
    case CELL_share:
        snprintf(form, CELL_FORM, "%.2f%%", 100 * cell->share);
        return form;
    case CELL_address:
        snprintf(form, CELL_FORM, "%#" PRIx64, cell->number);
        return form;
    case CELL_text:
        break;
    }
    return text_escape(form, CELL_FORM, cell->text, "");
}

static void print_table(FILE *out, const struct printed *printed, const struct choice *choice) {
    const struct table *table = printed->table;
    struct sheet_column columns[MOST_COLUMNS];
    const struct sheet sheet = {out, "#", columns, shown_count(table, choice)};
    char form[MOST_COLUMNS][CELL_FORM];
    for (size_t i = 0; i < sheet.count; i++) {
        const struct column *column = &table->columns[shown(choice, i)];
        columns[i] =
            (struct sheet_column){column->heading, column->kind == CELL_text ? SHEET_TEXT : SHEET_NUMBER, 0, 2};
        for (size_t j = 0; j < printed->count; j++) {
            const char *text = cell_to_text(form[i], column->kind, cell_of(printed, j, shown(choice, i)));
            unsigned width = text_columns(text, strlen(text));
            columns[i].width = width > columns[i].width ? width : columns[i].width;
        }
    }
    fputc('\n', out);
    sheet_heading(&sheet);
    for (size_t j = 0; j < printed->count; j++) {
        struct sheet_cell cells[MOST_COLUMNS];
        for (size_t i = 0; i < sheet.count; i++) {
            const size_t column = shown(choice, i);
            cells[i] = (struct sheet_cell){
                cell_to_text(form[i], table->columns[column].kind, cell_of(printed, j, column)), STYLE_PLAIN};
        }
        sheet_row(&sheet, cells);
    }
    fputs(printed->count ? "" : "  none\n", out);
}

/* ---- for programs ----------------------------------------------------------------------------------------------- */

json_t *cell_to_json(enum cell_kind kind, const struct cell *cell) {
    char address[24];
    if (cell->state != CELL_KNOWN) {
        return json_null();
    }
    switch (kind) {
    case CELL_share:
        return json_real(cell->share);
    case CELL_text:
        return json_text(cell->text, SIZE_MAX);
    case CELL_address:
        snprintf(address, sizeof address, "%#" PRIx64, cell->number);
        return json_string(address);
    case CELL_time:
        return json_integer(cell->time);
    case CELL_ns:
    case CELL_bytes:
    case CELL_count:
        break;
    }
    return json_number(cell->number);
}

/* False: no memory, or writing failed. */
static bool print_json(FILE *out, const struct printed *printed, const struct choice *choice) {
    const struct table *table = printed->table;
    bool good = true;
    fprintf(out, ",\"%s\":[", table->name);
    for (size_t j = 0; good && j < printed->count; j++) {
        json_t *row = json_object();
        for (size_t i = 0; i < shown_count(table, choice); i++) {
            const struct column *column = &table->columns[shown(choice, i)];
            json_object_set_new(row, column->name, cell_to_json(column->kind, cell_of(printed, j, shown(choice, i))));
        }
        fputs(j ? "," : "", out);
        good = json_object_size(row) == shown_count(table, choice) && json_write(out, row);
        json_decref(row);
    }
    fputc(']', out);
    return good;
}

static void cell_to_value(char form[CELL_FORM], enum cell_kind kind, const struct cell *cell, const char *separator) {
    if (kind == CELL_text) {
        text_escape(form, CELL_FORM, cell->text, separator);
    } else if (kind == CELL_share) {
        snprintf(form, CELL_FORM, "%.6f", cell->share);
    } else if (kind == CELL_address) {
        snprintf(form, CELL_FORM, "%#" PRIx64, cell->number);
    } else if (kind == CELL_time) {
        snprintf(form, CELL_FORM, "%" PRId64, cell->time);
    } else {
        snprintf(form, CELL_FORM, "%" PRIu64, cell->number);
    }
}

static void print_separated(FILE *out, const struct printed *printed, const struct choice *choice,
                            const char *separator, const char *lead) {
    for (size_t j = 0; j < printed->count; j++) {
        fputs(lead, out);
        for (size_t i = 0; i < shown_count(printed->table, choice); i++) {
            enum cell_kind kind = printed->table->columns[shown(choice, i)].kind;
            const struct cell *cell = cell_of(printed, j, shown(choice, i));
            char form[CELL_FORM] = "";
            if (cell->state == CELL_KNOWN) {
                cell_to_value(form, kind, cell, separator);
            }
            fprintf(out, "%s%s", separator, form);
        }
        fputc('\n', out);
    }
}

static void print_separated_heading(FILE *out, const struct table *table, const struct choice *choice,
                                    const char *separator) {
    fprintf(out, "pid%sheap%sserial", separator, separator);
    for (size_t i = 0; i < shown_count(table, choice); i++) {
        fprintf(out, "%s%s", separator, table->columns[shown(choice, i)].name);
    }
    fputc('\n', out);
}

json_t *view_to_json(const struct view *view) {
    static const char *const kinds[] = {[CELL_ns] = "ns",       [CELL_time] = "ns since the beginning",
                                        [CELL_bytes] = "bytes", [CELL_count] = "count",
                                        [CELL_share] = "share", [CELL_address] = "address",
                                        [CELL_text] = "text"};
    json_t *tables = json_array();
    for (size_t i = 0; i < view->table_count; i++) {
        const struct table *table = &view->tables[i];
        json_t *columns = json_array();
        for (size_t j = 0; j < table->column_count; j++) {
            json_array_append_new(columns, json_pack("{s:s, s:s}", "name", table->columns[j].name, "kind",
                                                     kinds[table->columns[j].kind]));
        }
        json_array_append_new(tables, json_pack("{s:s, s:o}", "name", table->name, "columns", columns));
    }
    return json_pack("{s:s, s:s, s:o}", "name", view->name, "meaning", view->meaning, "tables", tables);
}

/* ---- a heap, and all -------------------------------------------------------------------------------------------- */

static void print_heap_begin(FILE *out, const struct heap_place *place, bool is_first, const struct rows_format *format,
                             char lead[64]) {
    const struct heap_model *heap = place->heap;
    char id[24] = "", serial[24] = "";
    if (format->json) {
        json_t *object = json_pack("{s:I, s:o, s:o}", "pid", (json_int_t)place->process->key.pid, "heap",
                                   json_known(heap->id), "serial", json_known(heap->serial));
        char *text = json_dumps(object, JSON_COMPACT);
        if (text) { /* the tables follow in it */
            fprintf(out, "%s%.*s", is_first ? "" : ",", (int)strlen(text) - 1, text);
        }
        free(text);
        json_decref(object);
    } else if (format->separator) {
        if (heap->id) {
            snprintf(id, sizeof id, "%" PRIu64, heap->id);
        }
        if (heap->serial) {
            snprintf(serial, sizeof serial, "%" PRIu64, heap->serial);
        }
        snprintf(lead, 64, "%" PRIu32 "%s%s%s%s", place->process->key.pid, format->separator, id, format->separator,
                 serial);
    } else {
        fputs(is_first ? "" : "\n", out);
        phase_table_heading(out, place->process, heap);
    }
}

static bool print_heap(FILE *out, const struct rows *rows, size_t heap, const struct choice *choice,
                       const struct rows_format *format) {
    char lead[64];
    bool good = true;
    print_heap_begin(out, &rows->places.at[heap], heap == 0, format, lead);
    for (size_t i = choice->table; good && i < choice->end; i++) {
        struct printed printed = printed_of(rows, heap, i, choice);
        good = printed.order;
        if (good && format->json) {
            good = print_json(out, &printed, choice);
        } else if (good && format->separator) {
            print_separated(out, &printed, choice, format->separator, lead);
        } else if (good) {
            print_table(out, &printed, choice);
        }
        free(printed.order);
    }
    fputs(format->json ? "}" : "", out);
    return good;
}

/* A damaged recording may say more than readers of JSON take for a whole number. */
static bool print_lost(FILE *out, uint64_t lost) {
    json_t *number = json_number(lost);
    bool good = json_dumpf(number, out, JSON_ENCODE_ANY) == 0;
    json_decref(number);
    return good;
}

static bool print_all(FILE *out, const struct rows *rows, uint64_t lost, const struct choice *choice,
                      const struct rows_format *format) {
    const struct view *view = rows->view;
    bool good = true;
    if (format->json) {
        fprintf(out, "{\"schema\":\"edenscope/view/1\",\"view\":\"%s\",\"lost\":", view->name);
        good = print_lost(out, lost);
        fputs(",\"heaps\":[", out);
    } else if (format->separator) {
        print_separated_heading(out, &view->tables[choice->table], choice, format->separator);
    } else if (lost) {
        fprintf(out, "# %s%" PRIu64 " event%s lost: rows are missing, and figures are \"at least\"%s\n",
                style_on(out, STYLE_WARNING), lost, lost == 1 ? " was" : "s were", style_off(out, STYLE_WARNING));
    }
    for (size_t i = 0; good && i < rows->places.count; i++) {
        good = print_heap(out, rows, i, choice, format);
    }
    if (format->json) {
        fputs("]}\n", out);
    }
    for (size_t i = choice->table; !format->json && !format->separator && i < choice->end; i++) {
        if (view->tables[i].note) {
            fprintf(out, "%s%s\n", i == choice->table ? "\n" : "", view->tables[i].note);
        }
    }
    return good;
}

bool rows_print(FILE *out, const struct view *view, const struct viewed *viewed, const struct rows_format *format,
                struct failure *why) {
    struct choice choice;
    struct rows *rows = choose(view, format, &choice, why) ? rows_gather(view, viewed, why) : NULL;
    bool good = rows;
    if (rows && !print_all(out, rows, viewed->model->lost, &choice, format) && !ferror(out)) {
        good = failure_set(why, 1, "out of memory for the view %s", view->name);
    }
    rows_free(rows);
    return good;
}
