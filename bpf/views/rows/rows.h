/* Rows of figures, heap by heap: what the views of `edenscope report` gather, and how it is printed.
 *
 * A view describes its tables once; the text for people, JSON, separated values, and the choice and the order of
 * columns follow from that. Rows are kept in memory, 16 bytes a cell, until all are there: so nothing is printed of a
 * recording that turns out to be damaged, and columns are as wide as what is in them. */
#ifndef EDEN_ROWS_H
#define EDEN_ROWS_H

#include "util/json.h"
#include "views/heap_events.h"

enum cell_kind { CELL_ns, CELL_time, CELL_bytes, CELL_count, CELL_share, CELL_address, CELL_text };

/* CELL_time: nanoseconds since the recording began, signed; for people in seconds, as --since takes them. */
struct column {
    const char *name; /* in JSON, -F, --sort and -x: with its unit */
    const char *heading;
    enum cell_kind kind;
};

struct table {
    const char *name; /* of its rows in JSON */
    const char *note; /* for people, a line below it; NULL: none */
    const struct column *columns;
    size_t column_count;
};
#define TABLE(name, note, columns)                                                                                     \
    { name, note, columns, sizeof(columns) / sizeof *(columns) }

enum cell_state { CELL_UNKNOWN, CELL_KNOWN, CELL_NONE }; /* none: there is no such figure */
struct cell {
    union {
        uint64_t number;
        int64_t time;     /* CELL_time */
        double share;     /* 0 to 1 */
        const char *text; /* lives as long as the rows: static, or of rows_keep */
    };
    enum cell_state state;
};
static inline struct cell cell_number(uint64_t number) { return (struct cell){.number = number, .state = CELL_KNOWN}; }
static inline struct cell cell_if(bool is_known, uint64_t number) {
    return (struct cell){.number = number, .state = is_known ? CELL_KNOWN : CELL_UNKNOWN};
}
static inline struct cell cell_time(int64_t time) { return (struct cell){.time = time, .state = CELL_KNOWN}; }
/* NULL: not known. */
static inline struct cell cell_text(const char *text) {
    return (struct cell){.text = text, .state = text ? CELL_KNOWN : CELL_UNKNOWN};
}
/* Of nothing there is no share; no part is more than the whole, whatever processes say. */
static inline struct cell cell_share(double part, double whole) {
    return whole > 0 ? (struct cell){.share = part < whole ? part / whole : 1, .state = CELL_KNOWN}
                     : (struct cell){.state = CELL_NONE};
}
static inline struct cell cell_none(void) { return (struct cell){.state = CELL_NONE}; }

struct rows;

/* The heaps whose rows they are. */
struct heap_places *rows_places(struct rows *rows);
/* Adds a row to a table of a heap: a cell for each column. After a failure nothing is added; rows_print says so. */
void rows_add(struct rows *rows, size_t heap, size_t table, const struct cell *cells);
/* A copy that lives as long as the rows; NULL: no memory. */
const char *rows_keep(struct rows *rows, const char *text);

struct view {
    const char *name, *meaning;
    const struct table *tables;
    size_t table_count;
    bool (*gather)(struct rows *rows, const struct viewed *viewed, struct failure *why); /* false and why */
};

/* The rows of a view of a recording. NULL and why. */
struct rows *rows_gather(const struct view *view, const struct viewed *viewed, struct failure *why);
void rows_free(struct rows *rows);
/* The rows of a table of a heap, one after the other; the rows' own. */
const struct cell *rows_cells(const struct rows *rows, size_t heap, size_t table, size_t *count);
/* A new reference; what is not known, or does not exist, is null. */
json_t *cell_to_json(enum cell_kind kind, const struct cell *cell);

/* {"name", "meaning", "tables": [{"name", "columns": [{"name", "kind"}]}]}: what its JSON has. A new reference. */
json_t *view_to_json(const struct view *view);

struct rows_format {
    const char *columns;   /* the only ones, in this order: "name,name"; NULL: all */
    const char *sort;      /* by this one, the largest first, texts by letters; NULL: as they come */
    const char *separator; /* NULL, or a character */
    bool json;
};

/* Prints a view of a recording. False and why: nothing has been printed. */
bool rows_print(FILE *out, const struct view *view, const struct viewed *viewed, const struct rows_format *format,
                struct failure *why);

#endif
