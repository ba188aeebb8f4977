/* Two kinds of garbage that generational collection makes dear.
 *
 * Tenured garbage was promoted to old space and died there: copying it was in vain, and a full collection has to find
 * it. It died soon if it spent at most the rule's share of the run (5% of time) in old space: exactly so where objects
 * were recorded one by one; else only the mean is known.
 *
 * Nepotism (Ungar 1984): a young object that only a dead old object refers to is kept, and tenured in its turn, until a
 * full collection. The collector marks what it finds so (EDEN_LIFE_NEPOTISM). */
#include "util/fold.h"
#include "util/sheet.h"
#include "util/whole.h"
#include "views/lifetimes/view.h"
#include <math.h>
#include <stdlib.h>

struct garbage {
    const struct life_site *site;
    struct life_sums sums;
    double of;              /* its share, in objects, of what was tenured, or of what died */
    uint64_t details, soon; /* of its samples those recorded one by one; that died soon after being tenured */
};

struct heap_garbage {
    struct garbage *at; /* owned; most memory first */
    size_t count;
    struct life_sums all;
    double of_memory; /* share of the heap's estimated memory */
};

static int by_memory(const void *a, const void *b) {
    const struct garbage *x = a, *y = b;
    uint64_t p = x->sums.weight_bytes, q = y->sums.weight_bytes;
    return p != q ? (p < q) - (p > q) : (x->site->site > y->site->site) - (x->site->site < y->site->site);
}

/* Those that died with this flag, site by site, in their order. `whole` gives the total for the share of a site's
 * deaths. */
static bool gather(struct heap_garbage *garbage, const struct life_heap *heap, unsigned flag,
                   double (*whole)(const struct life_site *site)) {
    double memory = 0;
    *garbage = (struct heap_garbage){.at = calloc(heap->site_count + 1, sizeof *garbage->at)};
    if (!garbage->at) {
        return false;
    }
    for (size_t i = 0; i < heap->site_count; i++) {
        const struct life_site *site = &heap->sites[i];
        struct life_sums sums = life_sums_of(site, LIFE_DIED, flag);
        memory += (double)site->births.weight_bytes;
        if (sums.count != 0) {
            garbage->at[garbage->count++] =
                (struct garbage){.site = site, .sums = sums, .of = (double)sums.weight / whole(site)};
            life_sums_add(&garbage->all, &sums);
        }
    }
    garbage->of_memory = memory > 0 ? (double)garbage->all.weight_bytes / memory : NAN;
    return true;
}

enum { AMOUNTS = 3, TENURED_COLUMNS = AMOUNTS + 5, NEPOTISM_COLUMNS = AMOUNTS + 2 };

/* The first cells of a row. */
static void set_amount(struct sheet_cell *cells, char text[AMOUNTS][FORMAT_MAX], const struct life_sums *sums) {
    cells[0].form = format_count(text[0], sums->count);
    cells[1].form = format_count(text[1], whole_of(life_objects(sums) + 0.5));
    cells[2].form = format_bytes(text[2], sums->weight_bytes);
}

static void print_rest(FILE *out, const struct heap_garbage *garbage, size_t rows) {
    if (rows < garbage->count) {
        fprintf(out, "# and %zu more sites\n", garbage->count - rows);
    }
}

/* ---- tenured ----------------------------------------------------------------------------------------------------- */

static double tenured_objects(const struct life_site *site) {
    return (double)life_sums_of(site, LIFE_DIED, EDEN_LIFE_TENURED).weight +
           (double)life_sums_of(site, LIFE_CENSORED, EDEN_LIFE_TENURED).weight;
}

static int by_site(const void *key, const void *element) {
    const uint32_t *site = key;
    const struct garbage *garbage = element;
    return (*site > garbage->site->site) - (*site < garbage->site->site);
}

/* Of all heaps, for the objects come once for all of them; in order of sites while they come. */
struct all_garbage {
    const struct life_model *model;
    struct heap_garbage *heap;
    double share; /* of the run that is soon */
};

static double soon_limit(const struct life_heap *heap, double share) { return share * life_run(heap, LIFE_NS); }

static bool count_soon(void *context, const struct life_heap *heap, const struct eden_life_record *record) {
    const struct all_garbage *all = context;
    const struct heap_garbage *garbage = &all->heap[heap - all->model->heaps];
    double limit = soon_limit(heap, all->share);
    if (record->censored || !(record->flags & EDEN_LIFE_TENURED) || record->death_ns < record->tenured_ns ||
        limit <= 0) {
        return true;
    }
    struct garbage *at = bsearch(&record->site, garbage->at, garbage->count, sizeof *garbage->at, by_site);
    if (at) {
        at->details++;
        at->soon += (double)(record->death_ns - record->tenured_ns) <= limit;
    }
    return true;
}

static const struct sheet_column tenured_columns[] = {
    {"Samples", SHEET_NUMBER, 9, 1},     {"Objects", SHEET_NUMBER, 12, 1}, {"Memory", SHEET_NUMBER, 9, 1},
    {"of tenured", SHEET_NUMBER, 10, 1}, {"Time old", SHEET_NUMBER, 9, 1}, {"of run", SHEET_NUMBER, 8, 1},
    {"Soon", SHEET_NUMBER, 9, 1},        {"Class, site", SHEET_TEXT, 0, 2}};

static void print_tenured(const struct sheet *sheet, const struct life_heap *heap, const struct garbage *garbage,
                          double limit) {
    char text[TENURED_COLUMNS][FORMAT_MAX], who[LIFE_HEAP_LABEL];
    double old = (double)garbage->sums.tenured_ns_sum / (double)garbage->sums.count, run = life_run(heap, LIFE_NS);
    struct sheet_cell cells[TENURED_COLUMNS] = {{NULL, STYLE_PLAIN}};
    set_amount(cells, text, &garbage->sums);
    cells[3].form = life_percent(text[3], garbage->of);
    cells[4].form = life_format(text[4], LIFE_NS, old);
    cells[5].form = life_percent(text[5], run > 0 ? old / run : NAN);
    cells[6].form = garbage->details ? life_percent(text[6], (double)garbage->soon / (double)garbage->details)
                    : run <= 0       ? "unknown"
                    : old <= limit   ? "on average"
                                     : "no";
    cells[7].form = life_place_label(who, garbage->site);
    sheet_row(sheet, cells);
}

static void print_all_tenured(FILE *out, const struct life_heap *heap, struct heap_garbage *garbage,
                              const struct life_view_options *options) {
    char text[FORMAT_MAX], share[FORMAT_MAX], count[FORMAT_MAX];
    qsort(garbage->at, garbage->count, sizeof *garbage->at, by_memory);
    life_heading(out, heap, "tenured garbage: promoted, and dead by the end");
    fprintf(out, "# total: %s samples, about %s, %s of the allocated bytes\n", format_count(count, garbage->all.count),
            format_bytes(text, garbage->all.weight_bytes), life_percent(share, garbage->of_memory));
    const struct sheet sheet = SHEET(out, "#", tenured_columns);
    sheet_heading(&sheet);
    size_t rows = life_rows(options, garbage->count);
    for (size_t i = 0; i < rows; i++) {
        print_tenured(&sheet, heap, &garbage->at[i], soon_limit(heap, options->rule.share));
    }
    print_rest(out, garbage, rows);
}

static bool gather_tenured(struct all_garbage *all, struct failure *why) {
    const struct life_model *model = all->model;
    for (size_t i = 0; i < model->heap_count; i++) {
        if (!gather(&all->heap[i], &model->heaps[i], EDEN_LIFE_TENURED, tenured_objects)) {
            return life_no_memory(why);
        }
    }
    return !model->objects.each || model->objects.each(model->objects.from, model, count_soon, all, why);
}

bool life_view_tenured(FILE *out, const struct life_model *model, const struct life_view_options *options,
                       struct failure *why) {
    struct all_garbage all = {
        .model = model, .heap = calloc(model->heap_count + 1, sizeof *all.heap), .share = options->rule.share};
    if (!all.heap) {
        return life_no_memory(why);
    }
    bool gathered = gather_tenured(&all, why);
    for (size_t i = 0; i < model->heap_count; i++) {
        if (gathered) {
            print_all_tenured(out, &model->heaps[i], &all.heap[i], options);
        }
        free(all.heap[i].at);
    }
    free(all.heap);
    if (!gathered) {
        return false;
    }
    fold_paragraph(out, "# ",
                   "Soon: share of the samples that died within %.3g%% of the run after they were tenured; without "
                   "details, whether the mean did.",
                   100 * options->rule.share);
    return true;
}

/* ---- nepotism ---------------------------------------------------------------------------------------------------- */

static const struct sheet_column nepotism_columns[] = {{"Samples", SHEET_NUMBER, 9, 1},
                                                       {"Objects", SHEET_NUMBER, 12, 1},
                                                       {"Memory", SHEET_NUMBER, 9, 1},
                                                       {"of deaths", SHEET_NUMBER, 10, 1},
                                                       {"Class, site", SHEET_TEXT, 0, 2}};

static double dead_objects(const struct life_site *site) { return (double)life_sums_of(site, LIFE_DIED, 0).weight; }

bool life_view_nepotism(FILE *out, const struct life_model *model, const struct life_view_options *options,
                        struct failure *why) {
    for (size_t i = 0; i < model->heap_count; i++) {
        struct heap_garbage garbage;
        char text[FORMAT_MAX], share[FORMAT_MAX], count[FORMAT_MAX];
        if (!gather(&garbage, &model->heaps[i], EDEN_LIFE_NEPOTISM, dead_objects)) {
            return life_no_memory(why);
        }
        qsort(garbage.at, garbage.count, sizeof *garbage.at, by_memory);
        life_heading(out, &model->heaps[i], "nepotism: kept alive only by dead old objects");
        fprintf(out, "# total: %s samples, about %s, %s of the allocated bytes\n",
                format_count(count, garbage.all.count), format_bytes(text, garbage.all.weight_bytes),
                life_percent(share, garbage.of_memory));
        const struct sheet sheet = SHEET(out, "#", nepotism_columns);
        sheet_heading(&sheet);
        size_t rows = life_rows(options, garbage.count);
        for (size_t j = 0; j < rows; j++) {
            char amount[AMOUNTS][FORMAT_MAX], who[LIFE_HEAP_LABEL];
            struct sheet_cell cells[NEPOTISM_COLUMNS] = {{NULL, STYLE_PLAIN}};
            set_amount(cells, amount, &garbage.at[j].sums);
            cells[3].form = life_percent(text, garbage.at[j].of);
            cells[4].form = life_place_label(who, garbage.at[j].site);
            sheet_row(&sheet, cells);
        }
        print_rest(out, &garbage, rows);
        free(garbage.at);
    }
    return true;
}
