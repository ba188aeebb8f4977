/* Where columns stand follows from their least widths alone, so that all rows of a table have the same lines, and those
 * that are still to come, too. What is wider in a row then is made to fit in its line. */
#include "util/sheet.h"
#include "util/terminal.h"
#include "util/text.h"
#include <stdbool.h>
#include <string.h>

enum { TEXT_LEAST = 12, INDENT = 4 };

struct layout {
    unsigned terminal; /* columns; 0: any number fits */
    unsigned mark;     /* columns of the mark */
    unsigned width[SHEET_COLUMNS];
    bool begins[SHEET_COLUMNS]; /* a further line */
};

/* Blanks before a column: the first ones of further lines are indented. */
static unsigned gap_of(const struct sheet *sheet, const struct layout *layout, size_t column) {
    return layout->begins[column] ? layout->mark + INDENT
           : column == 0          ? layout->mark + sheet->columns[0].gap
                                  : sheet->columns[column].gap;
}

static unsigned width_of_line(const struct sheet *sheet, const struct layout *layout, size_t from, size_t end) {
    unsigned all = 0;
    for (size_t i = from; i < end; i++) {
        all += gap_of(sheet, layout, i) + layout->width[i];
    }
    return all;
}

static unsigned *widest_text(const struct sheet *sheet, struct layout *layout, size_t from, size_t end) {
    unsigned *widest = NULL;
    for (size_t i = from; i < end; i++) {
        unsigned *width = &layout->width[i];
        if (sheet->columns[i].kind == SHEET_TEXT && *width > TEXT_LEAST && (!widest || *width > *widest)) {
            widest = width;
        }
    }
    return widest;
}

/* Makes the widest texts of a line smaller until it fits. False: with the least they can do with, it does not; then
 * they stay as they were. */
static bool shrink(const struct sheet *sheet, struct layout *layout, size_t from, size_t end) {
    const struct layout before = *layout;
    unsigned all = width_of_line(sheet, layout, from, end);
    for (unsigned *widest; all > layout->terminal && (widest = widest_text(sheet, layout, from, end)); all--) {
        --*widest;
    }
    if (all > layout->terminal) {
        *layout = before;
    }
    return all <= layout->terminal;
}

/* Further lines where columns do not fit; a text that is wider than a line is made as wide as that. */
static void break_lines(const struct sheet *sheet, struct layout *layout) {
    unsigned used = 0;
    for (size_t i = 0; i < sheet->count; i++) {
        const unsigned most = layout->terminal > layout->mark + INDENT ? layout->terminal - layout->mark - INDENT : 1;
        if (sheet->columns[i].kind == SHEET_TEXT && layout->width[i] > most) {
            layout->width[i] = most;
        }
        layout->begins[i] =
            layout->begins[i] || (i != 0 && used + sheet->columns[i].gap + layout->width[i] > layout->terminal);
        used = (layout->begins[i] ? 0 : used) + gap_of(sheet, layout, i) + layout->width[i];
    }
}

static struct layout layout_of(const struct sheet *sheet) {
    struct layout layout = {.terminal = terminal_columns(sheet->out), .mark = (unsigned)strlen(sheet->mark)};
    for (size_t i = 0; i < sheet->count; i++) {
        const unsigned heading = text_columns(sheet->columns[i].heading, strlen(sheet->columns[i].heading));
        layout.width[i] = heading > sheet->columns[i].width ? heading : sheet->columns[i].width;
    }
    if (layout.terminal != 0 && !shrink(sheet, &layout, 0, sheet->count)) {
        break_lines(sheet, &layout);
    }
    return layout;
}

/* The layout with room for the cells of a row. */
static struct layout layout_of_row(const struct sheet *sheet, const struct sheet_cell *cells) {
    struct layout layout = layout_of(sheet);
    for (size_t i = 0; i < sheet->count; i++) {
        const unsigned columns = text_columns(cells[i].form, strlen(cells[i].form));
        layout.width[i] = columns > layout.width[i] ? columns : layout.width[i];
    }
    for (size_t from = 0, end; layout.terminal != 0 && from < sheet->count; from = end) {
        for (end = from + 1; end < sheet->count && !layout.begins[end];) {
            end++;
        }
        shrink(sheet, &layout, from, end);
    }
    if (layout.terminal != 0) {
        break_lines(sheet, &layout);
    }
    return layout;
}

/* The last text of a line has no blanks behind it, nor has an empty one. */
static void print(const struct sheet *sheet, const struct layout *layout, const char *mark,
                  const struct sheet_cell *cells) {
    FILE *out = sheet->out;
    unsigned blanks = layout->mark - (unsigned)strlen(mark);
    fputs(mark, out);
    for (size_t i = 0; i < sheet->count; i++) {
        const char *form = cells[i].form;
        const bool is_number = sheet->columns[i].kind == SHEET_NUMBER;
        unsigned width = layout->width[i], columns = text_columns(form, strlen(form));
        if (layout->begins[i]) {
            fprintf(out, "\n%s", mark);
            blanks = layout->mark - (unsigned)strlen(mark) + INDENT;
        } else {
            blanks += sheet->columns[i].gap;
        }
        const bool is_cut = sheet->columns[i].kind == SHEET_TEXT && layout->terminal != 0 && columns > width;
        size_t length = is_cut ? text_fitting(form, strlen(form), width - 1, &columns) : strlen(form), behind = 0;
        columns += is_cut;
        while (!is_cut && length > 0 && form[length - 1] == ' ') {
            length--;
            behind++;
        }
        blanks += is_number && width > columns ? width - columns : 0;
        if (length > 0) {
            fprintf(out, "%*s%s", (int)blanks, "", style_on(out, cells[i].style));
            fprintf(out, "%.*s%s%s", (int)length, form, is_cut ? "…" : "", style_off(out, cells[i].style));
            blanks = 0;
        }
        blanks += (unsigned)behind + (!is_number && width > columns ? width - columns : 0);
    }
    fputc('\n', out);
}

void sheet_heading(const struct sheet *sheet) {
    const struct layout layout = layout_of(sheet);
    struct sheet_cell cells[SHEET_COLUMNS];
    for (size_t i = 0; i < sheet->count; i++) {
        cells[i] = (struct sheet_cell){sheet->columns[i].heading, STYLE_HEADING};
    }
    print(sheet, &layout, sheet->mark, cells);
}

void sheet_row(const struct sheet *sheet, const struct sheet_cell *cells) {
    const struct layout layout = layout_of_row(sheet, cells);
    print(sheet, &layout, "", cells);
}
