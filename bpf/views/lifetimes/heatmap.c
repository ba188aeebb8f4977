/* What is allocated where: a row a site, a column a class, the share of the heap's objects (or bytes) in each cell.
 *
 * A site is defined for a class, so the same place in a program has one site for each class that it allocates: those of
 * one name make one row. Classes allocated at no site have a row of their own. */
#include "util/plot.h"
#include "util/sheet.h"
#include "views/lifetimes/view.h"
#include <stdlib.h>
#include <string.h>

enum { ROWS = 12, COLUMNS = 10 };

struct row {
    char label[LIFE_LABEL];
    double cell[COLUMNS + 1], all; /* the last cell: of all other classes */
};

struct heatmap {
    char column[COLUMNS + 1][LIFE_LABEL];
    uint32_t class_id[COLUMNS];
    size_t columns;   /* of classes that have one of their own */
    bool others;      /* there is a column for the rest */
    struct row *rows; /* owned */
    size_t row_count;
    double all, most; /* of all cells; of one */
};

static int by_label(const void *a, const void *b) {
    const struct row *x = a, *y = b;
    return strcmp(x->label, y->label);
}

static int by_amount(const void *a, const void *b) {
    const struct row *x = a, *y = b;
    return x->all != y->all ? (x->all < y->all) - (x->all > y->all) : strcmp(x->label, y->label);
}

static void add_row(struct row *into, const struct row *from) {
    for (int i = 0; i <= COLUMNS; i++) {
        into->cell[i] += from->cell[i];
    }
    into->all += from->all;
}

static size_t column_of(const struct heatmap *map, uint32_t class_id) {
    for (size_t i = 0; i < map->columns; i++) {
        if (map->class_id[i] == class_id) {
            return i;
        }
    }
    return COLUMNS;
}

static void fill_row(struct heatmap *map, struct row *row, const struct life_site *site, enum life_measure by) {
    double amount = (double)(by == LIFE_BY_MEMORY ? site->births.weight_bytes : site->births.weight);
    if (site->site == site->class_id) {
        snprintf(row->label, sizeof row->label, "(no site)");
    } else {
        life_site_label(row->label, site);
    }
    row->cell[column_of(map, site->class_id)] = row->all = amount;
    map->all += amount;
}

/* Rows of the same label become one; the largest stay, the rest become one. */
static void fold_rows(struct heatmap *map) {
    size_t count = 0;
    qsort(map->rows, map->row_count, sizeof *map->rows, by_label);
    for (size_t i = 0; i < map->row_count; i++) {
        if (count != 0 && strcmp(map->rows[count - 1].label, map->rows[i].label) == 0) {
            add_row(&map->rows[count - 1], &map->rows[i]);
        } else {
            map->rows[count++] = map->rows[i];
        }
    }
    qsort(map->rows, count, sizeof *map->rows, by_amount);
    map->row_count = count > ROWS ? ROWS + 1 : count;
    for (size_t i = ROWS + 1; i < count; i++) {
        add_row(&map->rows[ROWS], &map->rows[i]);
    }
    if (count > ROWS) {
        snprintf(map->rows[ROWS].label, LIFE_LABEL, "(other sites)");
    }
    for (size_t i = 0; i < map->row_count; i++) {
        for (int j = 0; j <= COLUMNS; j++) {
            map->most = map->rows[i].cell[j] > map->most ? map->rows[i].cell[j] : map->most;
        }
    }
}

static bool make_heatmap(struct heatmap *map, const struct life_heap *heap, enum life_measure by) {
    struct life_groups classes;
    *map = (struct heatmap){.row_count = heap->site_count};
    map->rows = calloc(heap->site_count + 1, sizeof *map->rows);
    if (!map->rows || !life_groups_make(&classes, heap, false)) {
        free(map->rows);
        return false;
    }
    map->columns = classes.count < COLUMNS ? classes.count : COLUMNS;
    map->others = classes.count > COLUMNS;
    for (size_t i = 0; i < map->columns; i++) {
        map->class_id[i] = classes.at[i]->class_id;
        life_class_label(map->column[i], classes.at[i]);
    }
    snprintf(map->column[COLUMNS], LIFE_LABEL, "(other classes)");
    life_groups_clear(&classes);
    for (size_t i = 0; i < heap->site_count; i++) {
        fill_row(map, &map->rows[i], &heap->sites[i], by);
    }
    fold_rows(map);
    return true;
}

static size_t cell_of(const struct heatmap *map, size_t column) { return column < map->columns ? column : COLUMNS; }

static void print_heatmap(FILE *out, const struct heatmap *map) {
    size_t columns = map->columns + map->others;
    for (size_t i = 0; i < columns; i++) {
        fprintf(out, "#   %c: %s\n", (char)('A' + i), map->column[cell_of(map, i)]);
    }
    struct sheet_column described[COLUMNS + 3];
    char headings[COLUMNS + 1][2], text[COLUMNS + 2][FORMAT_MAX];
    const struct sheet sheet = {out, "#", described, columns + 2};
    for (size_t i = 0; i < columns; i++) {
        snprintf(headings[i], sizeof headings[i], "%c", (char)('A' + i));
        described[i] = (struct sheet_column){headings[i], SHEET_NUMBER, 7, 1};
    }
    described[columns] = (struct sheet_column){"all", SHEET_NUMBER, 7, 1};
    described[columns + 1] = (struct sheet_column){"Site", SHEET_TEXT, 0, 2};
    sheet_heading(&sheet);
    for (size_t i = 0; i < map->row_count; i++) {
        struct sheet_cell cells[COLUMNS + 3] = {{NULL, STYLE_PLAIN}};
        for (size_t j = 0; j < columns; j++) {
            double cell = map->rows[i].cell[cell_of(map, j)];
            snprintf(text[j], FORMAT_MAX, "%.2f%%", 100 * cell / map->all);
            cells[j].form = cell > 0 ? text[j] : ".";
        }
        snprintf(text[columns], FORMAT_MAX, "%.2f%%", map->all > 0 ? 100 * map->rows[i].all / map->all : 0);
        cells[columns].form = text[columns];
        cells[columns + 1].form = map->rows[i].label;
        sheet_row(&sheet, cells);
    }
}

bool life_view_heatmap(FILE *out, const struct life_model *model, const struct life_view_options *options,
                       struct failure *why) {
    for (size_t i = 0; i < model->heap_count; i++) {
        struct heatmap map;
        if (!make_heatmap(&map, &model->heaps[i], options->by)) {
            return life_no_memory(why);
        }
        life_heading(out, &model->heaps[i],
                     options->by == LIFE_BY_MEMORY ? "memory by site and class" : "objects by site and class");
        print_heatmap(out, &map);
        free(map.rows);
    }
    return true;
}

/* ---- chart ------------------------------------------------------------------------------------------------------- */

static void print_ticks(FILE *script, const struct heatmap *map) {
    fputs("set xtics (", script);
    for (size_t i = 0; i < map->columns + map->others; i++) {
        fputs(i ? "," : "", script);
        plot_tick(script, map->column[cell_of(map, i)]);
        fprintf(script, " %zu", i);
    }
    fputs(") rotate by -45\nset ytics (", script);
    for (size_t i = 0; i < map->row_count; i++) {
        fputs(i ? "," : "", script);
        plot_tick(script, map->rows[i].label);
        fprintf(script, " %zu", i);
    }
    fputs(")\n", script);
}

static void print_cells(FILE *script, const struct heatmap *map, const char *title) {
    fputs("set title ", script);
    plot_string(script, title);
    fputc('\n', script);
    print_ticks(script, map);
    fprintf(script, "set xrange [-0.5:%zu.5]\nset yrange [%zu.5:-0.5]\n$cells << EOD\n", map->columns + map->others - 1,
            map->row_count - 1);
    for (size_t i = 0; i < map->row_count; i++) {
        for (size_t j = 0; j < map->columns + map->others; j++) {
            fprintf(script, "%zu %zu %.9g\n", j, i, 100 * map->rows[i].cell[cell_of(map, j)] / map->all);
        }
    }
    fputs("EOD\nplot $cells using 1:2:($1-0.5):($1+0.5):($2-0.5):($2+0.5):3 with boxxyerror fs solid fc palette "
          "notitle\n",
          script);
}

bool life_view_heatmap_svg(FILE *out, const struct life_model *model, const struct life_view_options *options,
                           struct failure *why) {
    struct plot plot;
    size_t drawn = 0, panels = model->heap_count < 8 ? model->heap_count : 8;
    if (!plot_begin(&plot, 1000, 40 + 600 * (int)panels, why)) {
        return false;
    }
    fprintf(plot.script,
            "set multiplot layout %zu,1\nset palette defined (0 'white', 1 '#f0c060', 2 '#c03020')\n"
            "set cbrange [0:*]\nset cblabel '%% of %s'\n",
            panels, options->by == LIFE_BY_MEMORY ? "memory" : "objects");
    for (size_t i = 0; i < model->heap_count && drawn < panels; i++) {
        struct heatmap map;
        char label[LIFE_HEAP_LABEL];
        if (!make_heatmap(&map, &model->heaps[i], options->by)) {
            plot_clear(&plot);
            return life_no_memory(why);
        }
        if (map.all > 0) {
            print_cells(plot.script, &map, life_heap_label(label, &model->heaps[i]));
            drawn++;
        }
        free(map.rows);
    }
    fputs("unset multiplot\n", plot.script);
    if (drawn == 0) {
        plot_clear(&plot);
        return life_nothing_to_draw(why);
    }
    return plot_end(&plot, options->plotter, out, why);
}
