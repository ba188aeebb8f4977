/* Recordings side by side.
 *
 * 1. Purpose
 * Says what differs between recordings of one program, and which differences mean something. The first side is the
 * base.
 *
 * 2. Terms
 * Side: one recording, or several of the same (A1,A2,A3), whose range is their noise. Its value is the median.
 *
 * 3. Verdicts
 * With several recordings on either side, a figure has changed where the ranges do not overlap.
 *
 * With one on each, nothing says how much it varies from run to run. Then
 *   - counts, sizes and bytes have changed where they differ by more than COUNT_NOISE. Where a heap was observed in
 * part, how much it did depends on how long that was: then sums count for each byte allocated, and have changed where
 * that differs by more than TIME_NOISE; allocated bytes themselves are not judged;
 *   - the time of single pauses has changed where the lower quartiles differ by more than TIME_NOISE, and their 95%
 *     intervals do not overlap; where pauses are too few for that end of an interval, it is not judged. Other load on
 * the machine lengthens some pauses, or all a little, and hardly doubles the shortest quarter;
 *   - the share of the time in collections has changed where it differs by more than TIME_NOISE, and so does how often
 *     there are scavenges, or the time in collections has changed;
 *   - sums of times have changed where the number of pauses or their quartile has;
 *   - wall time and the longest pause are not judged: each is a single observation. Neither are P50 and P99 of pauses,
 *     which other load lengthens, nor gauges of heaps that were observed in part: they are of the moment.
 *
 * Where no parameter differs, as much was done for each byte allocated, and only the quartiles have changed, all in one
 * direction, the machine is the first suspect, and is named.
 *
 * 4. Failure
 * What one side does not know is shown as unknown, and not judged. */
#include "views/diff.h"
#include "util/format.h"
#include "util/json.h"
#include "util/sheet.h"
#include "util/text.h"
#include "util/whole.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double COUNT_NOISE = 0.02, TIME_NOISE = 0.25;

enum verdict { VERDICT_SAME, VERDICT_NOISE, VERDICT_CHANGED, VERDICT_UNKNOWN, VERDICT_NOT_JUDGED };
static const char *const verdicts[] = {"same", "noise", "changed", "?", "-"};

/* ---- numbers ---------------------------------------------------------------------------------------------------- */

/* What is compared, of one run. */
typedef bool value_of(const struct side *run, int which, uint64_t *value);

static bool figure_of(const struct side *run, int which, uint64_t *value) {
    *value = run->figures[which];
    return run->known >> which & 1;
}

static bool wall_of(const struct side *run, int which, uint64_t *value) {
    (void)which;
    *value = run->wall_ns;
    return true;
}

/* The share of the time that collections took, in millionths. */
static bool share_of(const struct side *run, int which, uint64_t *value) {
    (void)which;
    double share = run->wall_ns ? (double)run->stopped_ns / (double)run->wall_ns : 0;
    *value = whole_of(1e6 * share); /* above 1: of heaps in several threads */
    return run->wall_ns != 0 && run->knows_stopped;
}

/* What a figure is for each MiB allocated, in millionths. */
static bool per_byte_of(const struct side *run, int which, uint64_t *value) {
    double allocated = (double)run->figures[EDEN_FIGURE_allocated_bytes];
    double part = allocated > 0 ? (double)run->figures[which] * 1e6 * 1048576 / allocated : 0;
    *value = whole_of(part);
    return allocated > 0 && run->known >> which & 1 && run->known >> EDEN_FIGURE_allocated_bytes & 1;
}

static bool marked_per_byte_of(const struct side *run, int which, uint64_t *value) {
    (void)which;
    double allocated = (double)run->figures[EDEN_FIGURE_allocated_bytes];
    *value = whole_of(allocated > 0 ? (double)run->marked_bytes * 1e6 / allocated : 0);
    return allocated > 0 && run->known >> EDEN_FIGURE_allocated_bytes & 1;
}

/* Scavenges in a second, in millionths. */
static bool pace_of(const struct side *run, int which, uint64_t *value) {
    double pace = run->wall_ns ? (double)run->figures[which] * 1e15 / (double)run->wall_ns : 0;
    *value = whole_of(pace);
    return run->wall_ns != 0 && run->known >> which & 1;
}

static const struct percentiles *percentiles_of(const struct side *run, int which) {
    return which == 0 ? &run->scavenges : &run->fulls;
}

static bool pause_of(const struct side *run, int which, uint64_t *value) {
    *value = percentiles_of(run, which)->p25_ns;
    return percentiles_of(run, which)->count != 0;
}

static bool median_of(const struct side *run, int which, uint64_t *value) {
    *value = percentiles_of(run, which)->p50_ns;
    return percentiles_of(run, which)->count != 0;
}

static bool tail_of(const struct side *run, int which, uint64_t *value) {
    *value = percentiles_of(run, which)->p99_ns;
    return percentiles_of(run, which)->count != 0;
}

struct range {
    bool is_known;
    uint64_t low, median, high;
};

static int by_size(const void *a, const void *b) {
    const uint64_t *x = a, *y = b;
    return (*x > *y) - (*x < *y);
}

static struct range range_of(const struct diff_side *side, value_of *value, int which) {
    uint64_t values[DIFF_FILES];
    struct range range = {.is_known = side->count != 0};
    for (size_t i = 0; i < side->count; i++) {
        range.is_known = value(&side->runs[i], which, &values[i]) && range.is_known;
    }
    if (range.is_known) {
        qsort(values, side->count, sizeof *values, by_size);
        range = (struct range){true, values[0], values[side->count / 2], values[side->count - 1]};
    }
    return range;
}

static bool overlap(uint64_t low, uint64_t high, uint64_t other_low, uint64_t other_high) {
    return low <= other_high && other_low <= high;
}

static bool differ_by(uint64_t a, uint64_t b, double most) {
    double larger = (double)(a > b ? a : b), less = (double)(a > b ? b : a);
    return larger - less > most * larger && larger - less >= 1;
}

static bool has_repeats(const struct diff_side *base, const struct diff_side *other) {
    return base->count > 1 || other->count > 1;
}

/* Of ranges; of single runs by the difference that counts as noise. */
static enum verdict judge(const struct diff_side *base, const struct diff_side *other, value_of *value, int which,
                          double noise) {
    const struct range a = range_of(base, value, which), b = range_of(other, value, which);
    if (!a.is_known || !b.is_known) {
        return VERDICT_UNKNOWN;
    }
    if (a.low == b.low && a.high == b.high && a.median == b.median) {
        return VERDICT_SAME;
    }
    bool changed =
        has_repeats(base, other) ? !overlap(a.low, a.high, b.low, b.high) : differ_by(a.median, b.median, noise);
    return changed ? VERDICT_CHANGED : VERDICT_NOISE;
}

/* Of single runs, by the intervals; where too few pauses leave the end open that matters, there is no verdict. */
static enum verdict judge_pauses(const struct diff_side *base, const struct diff_side *other, int which) {
    enum verdict verdict = judge(base, other, pause_of, which, TIME_NOISE);
    if (verdict != VERDICT_CHANGED || has_repeats(base, other)) {
        return verdict;
    }
    const struct percentiles *less = percentiles_of(base->runs, which), *more = percentiles_of(other->runs, which);
    if (less->p25_ns > more->p25_ns) {
        const struct percentiles *held = less;
        less = more;
        more = held;
    }
    return less->p25_high_ns < more->p25_low_ns                       ? VERDICT_CHANGED
           : less->p25_high_ns == UINT64_MAX || more->p25_low_ns == 0 ? VERDICT_NOT_JUDGED
                                                                      : VERDICT_NOISE;
}

/* Which pauses a sum of times adds up, a bit each: 1 scavenges, 2 full collections; 0: it is none. */
static unsigned parts_of(enum eden_figure figure) {
    switch (figure) {
    case EDEN_FIGURE_scavenge_ns:
        return 1;
    case EDEN_FIGURE_gc_ns:
    case EDEN_FIGURE_mark_ns:
    case EDEN_FIGURE_sweep_ns:
        return 3;
    case EDEN_FIGURE_full_ns:
    case EDEN_FIGURE_compact_ns:
        return 2;
    default:
        return 0;
    }
}

static bool is_part(const struct diff_side *side) {
    bool part = false;
    for (size_t i = 0; i < side->count; i++) {
        part = part || side->runs[i].is_part;
    }
    return part;
}

/* Whether it depends on how long a heap was observed, which differs. */
static bool is_per_byte(const struct diff_side *base, const struct diff_side *other, enum eden_figure figure) {
    if (figure_descriptions[figure].kind != KIND_sum || !(is_part(base) || is_part(other))) {
        return false;
    }
    enum verdict whole = judge(base, other, figure_of, (int)figure, 0);
    return whole != VERDICT_SAME && whole != VERDICT_UNKNOWN;
}

static enum verdict judge_count(const struct diff_side *base, const struct diff_side *other, enum eden_figure figure) {
    return !is_per_byte(base, other, figure)       ? judge(base, other, figure_of, (int)figure, COUNT_NOISE)
           : figure == EDEN_FIGURE_allocated_bytes ? VERDICT_NOT_JUDGED
                                                   : judge(base, other, per_byte_of, (int)figure, TIME_NOISE);
}

/* Whether it says something of a moment only, of a heap that lives on. The size of eden does not where it is a
 * parameter.
 */
static bool is_of_moment(const struct diff_side *base, const struct diff_side *other, enum eden_figure figure) {
    bool is_set = figure == EDEN_FIGURE_eden_size && base->runs[0].has_param[EDEN_PARAM_eden_size] == SIDE_KNOWN &&
                  other->runs[0].has_param[EDEN_PARAM_eden_size] == SIDE_KNOWN;
    return !is_set && figure_descriptions[figure].kind == KIND_gauge && (is_part(base) || is_part(other)) &&
           judge(base, other, figure_of, (int)figure, 0) == VERDICT_CHANGED;
}

static enum verdict judge_figure(const struct diff_side *base, const struct diff_side *other, enum eden_figure figure) {
    unsigned parts = parts_of(figure);
    bool repeats = has_repeats(base, other);
    if (!repeats && (figure == EDEN_FIGURE_max_pause_ns || is_of_moment(base, other, figure))) {
        return VERDICT_NOT_JUDGED;
    }
    enum verdict verdict = judge_count(base, other, figure);
    if (parts == 0 || repeats || verdict != VERDICT_CHANGED) {
        return verdict;
    }
    static const enum eden_figure counts[] = {EDEN_FIGURE_scavenges, EDEN_FIGURE_full_collections};
    bool judges = true;
    for (int i = 0; i < 2; i++) {
        const enum verdict pauses = parts >> i & 1 ? judge_pauses(base, other, i) : VERDICT_SAME;
        if (parts >> i & 1 && (judge_count(base, other, counts[i]) == VERDICT_CHANGED || pauses == VERDICT_CHANGED)) {
            return VERDICT_CHANGED;
        }
        judges = judges && pauses != VERDICT_NOT_JUDGED;
    }
    return judges ? VERDICT_NOISE : VERDICT_NOT_JUDGED;
}

static enum verdict judge_share(const struct diff_side *base, const struct diff_side *other) {
    enum verdict verdict = judge(base, other, share_of, 0, TIME_NOISE);
    const enum verdict sum = judge_figure(base, other, EDEN_FIGURE_gc_ns);
    bool is_sole = verdict == VERDICT_CHANGED && !has_repeats(base, other) && sum != VERDICT_CHANGED &&
                   judge(base, other, pace_of, EDEN_FIGURE_scavenges, TIME_NOISE) != VERDICT_CHANGED;
    return !is_sole                    ? verdict
           : sum == VERDICT_NOT_JUDGED ? sum
                                       : VERDICT_NOISE; /* the same work took longer, as beside other load */
}

/* ---- rows ------------------------------------------------------------------------------------------------------- */

struct row {
    const char *name;
    value_of *value;
    int which;
    enum figure_unit unit;
};

static enum verdict judge_row(const struct row *row, const struct diff_side *base, const struct diff_side *other) {
    return row->value == figure_of    ? judge_figure(base, other, (enum eden_figure)row->which)
           : row->value == pause_of   ? judge_pauses(base, other, row->which)
           : row->value == share_of   ? judge_share(base, other)
           : has_repeats(base, other) ? judge(base, other, row->value, row->which, COUNT_NOISE)
                                      : VERDICT_NOT_JUDGED;
}

/* What the verdict is about: the value of the row, or what it is for each byte. */
static value_of *judged_value(const struct row *row, const struct diff_side *base, const struct diff_side *other) {
    return row->value == figure_of && row->which != EDEN_FIGURE_allocated_bytes &&
                   is_per_byte(base, other, (enum eden_figure)row->which)
               ? per_byte_of
               : row->value;
}

/* NAN: it has none. */
static double ratio_of(const struct diff_side *base, const struct diff_side *other, value_of *value, int which) {
    const struct range a = range_of(base, value, which), b = range_of(other, value, which);
    return a.is_known && b.is_known && a.median != 0 ? (double)b.median / (double)a.median : (double)NAN;
}

static bool is_of_interest(const struct diff_side *sides, size_t count, const struct row *row) {
    bool any = false;
    for (size_t i = 0; i < count; i++) {
        const struct range range = range_of(&sides[i], row->value, row->which);
        any = any || (range.is_known && range.high != 0);
    }
    return any;
}

/* Calls on_row for each row in which some side has something. */
static void each_row(const struct diff_side *sides, size_t count,
                     void (*on_row)(void *context, const struct diff_side *sides, size_t count, const struct row *row),
                     void *context) {
    const struct row times[] = {{"wall_ns", wall_of, 0, UNIT_ns}, {"gc_share", share_of, 0, UNIT_count}};
    on_row(context, sides, count, &times[0]);
    on_row(context, sides, count, &times[1]);
    for (enum eden_figure i = 0; i < EDEN_FIGURE_COUNT; i++) {
        const struct row row = {figure_descriptions[i].name, figure_of, (int)i, figure_descriptions[i].unit};
        if (is_of_interest(sides, count, &row)) {
            on_row(context, sides, count, &row);
        }
    }
    static const struct row pauses[] = {
        {"P25 of scavenges", pause_of, 0, UNIT_ns},         {"P50 of scavenges", median_of, 0, UNIT_ns},
        {"P99 of scavenges", tail_of, 0, UNIT_ns},          {"P25 of full collections", pause_of, 1, UNIT_ns},
        {"P50 of full collections", median_of, 1, UNIT_ns}, {"P99 of full collections", tail_of, 1, UNIT_ns}};
    for (size_t i = 0; i < sizeof pauses / sizeof *pauses; i++) {
        if (is_of_interest(sides, count, &pauses[i])) {
            on_row(context, sides, count, &pauses[i]);
        }
    }
}

/* NULL: it is not the same in all runs, or not known in one. */
static const char *param_of(const struct diff_side *side, enum eden_param_id id) {
    const char *value = side->runs[0].param[id];
    for (size_t i = 0; i < side->count; i++) {
        if (side->runs[i].has_param[id] != SIDE_KNOWN || strcmp(side->runs[i].param[id], value) != 0) {
            return NULL;
        }
    }
    return value;
}

static bool params_differ(const struct diff_side *sides, size_t count, enum eden_param_id id) {
    const char *base = param_of(&sides[0], id);
    bool differ = false, any = base;
    for (size_t i = 1; i < count; i++) {
        const char *value = param_of(&sides[i], id);
        differ = differ || !base || !value || strcmp(base, value) != 0;
        any = any || value;
    }
    return any && differ;
}

/* 1: the same work took more time than in the base, -1: less; 0: neither, or other work. */
static int same_work_took(const struct diff_side *base, const struct diff_side *other) {
    static const enum eden_figure work[] = {EDEN_FIGURE_allocated_bytes, EDEN_FIGURE_scavenges,
                                            EDEN_FIGURE_full_collections, EDEN_FIGURE_survived_bytes,
                                            EDEN_FIGURE_tenured_bytes};
    const struct diff_side both[] = {*base, *other};
    enum verdict verdict = judge(base, other, marked_per_byte_of, 0, TIME_NOISE);
    bool is_same = verdict == VERDICT_SAME || verdict == VERDICT_NOISE;
    for (size_t i = 0; i < sizeof work / sizeof *work; i++) {
        verdict = judge_count(base, other, work[i]);
        is_same = is_same && verdict != VERDICT_CHANGED && verdict != VERDICT_UNKNOWN;
    }
    for (enum eden_param_id id = 0; id < EDEN_PARAM_COUNT; id++) {
        is_same = is_same && !params_differ(both, 2, id);
    }
    int took[3] = {0}; /* less, the same, more */
    for (int i = 0; is_same && i < 2; i++) {
        bool changed = judge_pauses(base, other, i) == VERDICT_CHANGED;
        took[changed ? ratio_of(base, other, pause_of, i) > 1 ? 2 : 0 : 1]++;
    }
    return took[2] && !took[0] ? 1 : took[0] && !took[2] ? -1 : 0;
}

/* ---- text ------------------------------------------------------------------------------------------------------- */

enum { NAME = 25, VALUE = 12 };

static const char *value_to_text(char text[FORMAT_MAX], const struct row *row, uint64_t value) {
    if (row->value == share_of) {
        snprintf(text, FORMAT_MAX, "%.1f%%", (double)value / 1e4);
        return text;
    }
    switch (row->unit) {
    case UNIT_ns:
        return format_ns(text, value);
    case UNIT_bytes:
        return format_bytes(text, value);
    case UNIT_count:
        break;
    }
    return format_count(text, value);
}

enum { CELLS = 1 + 3 * DIFF_SIDES, CELL = 64 };

/* Of the figures: for each side but the first its value, its ratio to the first, and a verdict. */
static size_t figure_columns(struct sheet_column columns[CELLS], char headings[CELLS][CELL], size_t count) {
    size_t used = 0;
    columns[used++] = (struct sheet_column){"figures", SHEET_WORDS, NAME, 1};
    for (size_t i = 0; i < count; i++) {
        snprintf(headings[used], CELL, "%c", 'A' + (char)i);
        columns[used] = (struct sheet_column){headings[used], SHEET_NUMBER, VALUE, 1};
        used++;
        if (i != 0) {
            snprintf(headings[used], CELL, "%c/A ", 'A' + (char)i); /* a mark may follow the ratio */
            columns[used] = (struct sheet_column){headings[used], SHEET_NUMBER, 9, 1};
            used++;
            columns[used++] = (struct sheet_column){"", SHEET_WORDS, i + 1 < count ? 8 : 0, 1};
        }
    }
    return used;
}

static void print_row(void *context, const struct diff_side *sides, size_t count, const struct row *row) {
    const struct sheet *sheet = context;
    char text[CELLS][CELL];
    struct sheet_cell cells[CELLS] = {{row->name, STYLE_PLAIN}};
    size_t used = 1;
    for (size_t i = 0; i < count; i++) {
        const struct range range = range_of(&sides[i], row->value, row->which);
        cells[used].form = range.is_known ? value_to_text(text[used], row, range.median) : "?";
        used++;
        if (i == 0) {
            continue;
        }
        value_of *judged = judged_value(row, &sides[0], &sides[i]);
        const double ratio = ratio_of(&sides[0], &sides[i], judged, row->which);
        const char mark = judged == row->value ? ' ' : '*';
        if (isnan(ratio)) {
            snprintf(text[used], CELL, "-%c", mark);
        } else {
            snprintf(text[used], CELL, "%.2f%c", ratio, mark);
        }
        cells[used].form = text[used];
        used++;
        const enum verdict verdict = judge_row(row, &sides[0], &sides[i]);
        cells[used++] =
            (struct sheet_cell){verdicts[verdict], verdict == VERDICT_CHANGED ? STYLE_WARNING : STYLE_PLAIN};
    }
    sheet_row(sheet, cells);
}

static void print_param(FILE *out, const struct diff_side *sides, size_t count, enum eden_param_id id) {
    struct sheet_column columns[1 + DIFF_SIDES] = {{"", SHEET_WORDS, NAME, 1}};
    struct sheet_cell cells[1 + DIFF_SIDES] = {{eden_param(id)->name, STYLE_PLAIN}};
    char forms[DIFF_SIDES][TEXT_GROWTH * CELL];
    for (size_t i = 0; i < count; i++) {
        char shown[CELL];
        const char *value = param_of(&sides[i], id);
        double number;
        snprintf(shown, sizeof shown, "%s", value ? value : "?");
        if (value && eden_param(id)->kind == EDEN_KIND_size && eden_param_parse(eden_param(id), value, &number)) {
            eden_param_show(eden_param(id), number, shown, sizeof shown);
        }
        /* Below the values of figures, between which are a ratio and a verdict. */
        columns[1 + i] = (struct sheet_column){"", SHEET_NUMBER, VALUE, i > 1 ? 20 : 1};
        cells[1 + i].form = text_escape(forms[i], sizeof forms[i], shown, "");
    }
    sheet_row(&(struct sheet){out, "#", columns, 1 + count}, cells);
}

void diff_print(FILE *out, const struct diff_side *sides, size_t count) {
    for (size_t i = 0; i < count; i++) {
        fprintf(out, "# %c: ", 'A' + (char)i);
        text_print(out, sides[i].names);
        bool is_partial = false, is_lossy = false;
        for (size_t j = 0; j < sides[i].count; j++) {
            is_partial = is_partial || sides[i].runs[j].is_partial;
            is_lossy = is_lossy || sides[i].runs[j].lost != 0;
        }
        fprintf(out, "%s%s\n", is_partial ? " (a part only: figures are \"at least\")" : "",
                is_lossy ? " (events were lost: percentiles lack their pauses)" : "");
    }
    bool any = false;
    for (enum eden_param_id id = 0; id < EDEN_PARAM_COUNT; id++) {
        if (params_differ(sides, count, id)) {
            fputs(any ? "" : "\n# parameters that differ\n", out);
            print_param(out, sides, count, id);
            any = true;
        }
    }
    struct sheet_column columns[CELLS];
    char headings[CELLS][CELL];
    struct sheet sheet = {out, "#", columns, figure_columns(columns, headings, count)};
    fputs(any ? "\n" : "\n# no parameter is known to differ\n\n", out);
    sheet_heading(&sheet);
    each_row(sides, count, print_row, &sheet);
    fputs("\n# " DIFF_VERDICTS "\n# " DIFF_TIMES "\n", out);
    bool any_part = false;
    for (size_t i = 0; i < count; i++) {
        any_part = any_part || is_part(&sides[i]);
    }
    fputs(any_part ? "# " DIFF_PER_BYTE "\n" : "", out);
    for (size_t i = 1; i < count; i++) {
        const int took = same_work_took(&sides[0], &sides[i]);
        if (took != 0) {
            fprintf(out, "# %c: the same work took %s than in A: the machine may have been %s\n", 'A' + (char)i,
                    took > 0 ? "more time" : "less time", took > 0 ? "busier, or slower" : "less busy, or faster");
        }
    }
}

/* ---- JSON ------------------------------------------------------------------------------------------------------- */

static json_t *ratio_to_json(double ratio) { return isnan(ratio) ? json_null() : json_real(ratio); }

static void add_row(void *context, const struct diff_side *sides, size_t count, const struct row *row) {
    json_t *values = json_array(), *ratios = json_array(), *judged = json_array(), *about = json_array();
    for (size_t i = 0; i < count; i++) {
        const struct range range = range_of(&sides[i], row->value, row->which);
        json_t *value = row->value == share_of ? json_real((double)range.median / 1e6) : json_number(range.median);
        json_array_append_new(values, range.is_known ? json_incref(value) : json_null());
        json_decref(value);
        if (i != 0) {
            enum verdict verdict = judge_row(row, &sides[0], &sides[i]);
            value_of *value_judged = judged_value(row, &sides[0], &sides[i]);
            json_array_append_new(ratios, ratio_to_json(ratio_of(&sides[0], &sides[i], row->value, row->which)));
            json_array_append_new(about, ratio_to_json(ratio_of(&sides[0], &sides[i], value_judged, row->which)));
            json_array_append_new(judged, verdict == VERDICT_UNKNOWN || verdict == VERDICT_NOT_JUDGED
                                              ? json_null()
                                              : json_string(verdicts[verdict]));
        }
    }
    json_array_append_new(context, json_pack("{s:s, s:o, s:o, s:o, s:o}", "name", row->name, "values", values, "ratios",
                                             ratios, "judged_ratios", about, "verdicts", judged));
}

json_t *diff_to_json(const struct diff_side *sides, size_t count) {
    json_t *names = json_array(), *parameters = json_array(), *figures = json_array(), *same_work = json_array();
    for (size_t i = 0; i < count; i++) {
        json_array_append_new(names, json_text(sides[i].names, strlen(sides[i].names)));
    }
    for (enum eden_param_id id = 0; id < EDEN_PARAM_COUNT; id++) {
        if (!params_differ(sides, count, id)) {
            continue;
        }
        json_t *values = json_array();
        for (size_t i = 0; i < count; i++) {
            const char *value = param_of(&sides[i], id);
            json_array_append_new(values, value ? json_text(value, strlen(value)) : json_null());
        }
        json_array_append_new(parameters, json_pack("{s:s, s:o}", "name", eden_param(id)->name, "values", values));
    }
    each_row(sides, count, add_row, figures);
    for (size_t i = 1; i < count; i++) {
        const int took = same_work_took(&sides[0], &sides[i]);
        json_array_append_new(same_work, took == 0 ? json_null() : json_string(took > 0 ? "longer" : "shorter"));
    }
    return json_pack("{s:o, s:o, s:o, s:o}", "sides", names, "parameters", parameters, "figures", figures,
                     "same_work_took", same_work);
}
