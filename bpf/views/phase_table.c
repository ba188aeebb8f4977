#include "views/phase_table.h"
#include "attach/target.h"
#include "util/format.h"
#include "util/sheet.h"
#include "util/text.h"
#include <inttypes.h>
#include <string.h>

static int depth_of(enum eden_phase phase) {
    int depth = 0;
    for (int at = phase_parents[phase]; at >= 0; at = phase_parents[at]) {
        depth++;
    }
    return depth;
}

static const struct sheet_column phase_columns[] = {{"Overhead", SHEET_NUMBER, 9, 1}, {"Phase", SHEET_WORDS, 26, 2},
                                                    {"Calls", SHEET_NUMBER, 10, 1},   {"Total", SHEET_NUMBER, 9, 1},
                                                    {"Avg", SHEET_NUMBER, 9, 1},      {"P50 <=", SHEET_NUMBER, 9, 1},
                                                    {"P99 <=", SHEET_NUMBER, 9, 1},   {"Max", SHEET_NUMBER, 9, 1}};

/* What it took within the observed time. */
static uint64_t within_ns(const struct phase_model *phase) { return phase_observed_ns(phase) + phase->under_way_ns; }

static void print_line(const struct sheet *sheet, const struct phase_model *phase, enum eden_phase number,
                       uint64_t wall_ns) {
    char share[16] = "-", name[40], calls[FORMAT_MAX], total[FORMAT_MAX], average[FORMAT_MAX], p50[FORMAT_MAX],
         p99[FORMAT_MAX], max[FORMAT_MAX];
    double part = wall_ns ? (double)within_ns(phase) / (double)wall_ns : 0;
    if (wall_ns) {
        snprintf(share, sizeof share, "%.2f%%", 100 * part);
    }
    snprintf(name, sizeof name, "%*s%s", 2 * depth_of(number), "", phase_names[number]);
    sheet_row(sheet, (const struct sheet_cell[]){
                         {share, style_of_share(part)},
                         {name, STYLE_PLAIN},
                         {format_count(calls, phase->calls), STYLE_PLAIN},
                         {format_ns(total, phase->total_ns), STYLE_PLAIN},
                         {format_ns(average, phase->calls ? phase->total_ns / phase->calls : 0), STYLE_PLAIN},
                         {format_ns(p50, phase_percentile(phase, 50)), STYLE_PLAIN},
                         {format_ns(p99, phase_percentile(phase, 99)), STYLE_PLAIN},
                         {format_ns(max, phase->max_ns), STYLE_PLAIN},
                     });
}

bool phase_table_print(FILE *out, const struct heap_model *heap, uint64_t wall_ns) {
    const struct sheet sheet = SHEET(out, "#", phase_columns);
    bool any = false, is_other = false;
    for (int i = phase_next(-1); i < EDEN_PHASE_COUNT; i = phase_next(i)) {
        if (!heap->phase[i] || !heap->phase[i]->calls) {
            continue;
        }
        if (!any) {
            fputc('\n', out);
            sheet_heading(&sheet);
            any = true;
        }
        print_line(&sheet, heap->phase[i], (enum eden_phase)i, wall_ns);
        is_other = is_other || within_ns(heap->phase[i]) != heap->phase[i]->total_ns;
    }
    if (is_other && wall_ns) {
        fprintf(out, "# Overhead is of what lies within the time observed, Total of whole calls that ended.\n");
    }
    return any;
}

static const struct phase_model *collections(const struct heap_model *heap, enum eden_phase phase) {
    const struct phase_model *all = phase_parents[phase] < 0 ? heap->phase[phase] : NULL;
    return all && pause_time_ns(&all->pauses) != 0 ? all : NULL;
}

enum { PAUSE_COLUMNS = PAUSE_CAUSES + 4 };

/* `shown`: a bit for each cause that has a column. */
static void print_pauses(const struct sheet *sheet, const char *name, const struct pause_time *time, uint64_t ns,
                         unsigned shown) {
    char text[PAUSE_COLUMNS][FORMAT_MAX];
    struct sheet_cell cells[PAUSE_COLUMNS] = {{name, STYLE_PLAIN}};
    size_t count = 1;
    cells[count].form = format_ns(text[count], ns);
    count++;
    for (int i = 0; i < PAUSE_CAUSES; i++) {
        if (shown >> i & 1) {
            cells[count].form = pause_time_is_measured(time, i) ? format_ns(text[count], time->ns[i]) : "?";
            count++;
        }
    }
    cells[count].form = format_ns(text[count], pause_unknown_ns(time, ns));
    count++;
    cells[count].form = format_count(text[count], time->faults);
    sheet_row(sheet, cells);
}

void phase_table_print_pauses(FILE *out, const struct heap_model *heap) {
    struct sheet_column columns[PAUSE_COLUMNS] = {{"Where the time went", SHEET_WORDS, 20, 1},
                                                  {"Total", SHEET_NUMBER, 9, 1}};
    struct sheet sheet = {out, "#", columns, 2};
    unsigned shown = 0;
    for (enum eden_phase i = 0; i < EDEN_PHASE_COUNT; i++) {
        const struct phase_model *phase = collections(heap, i);
        for (int j = 0; phase && j < PAUSE_CAUSES; j++) {
            const bool is_shown = phase->pauses.ns[j] != 0 || !pause_time_is_measured(&phase->pauses, j);
            shown |= (is_shown ? 1u : 0) << j;
        }
    }
    if (shown == 0) {
        return;
    }
    for (int j = 0; j < PAUSE_CAUSES; j++) {
        if (shown >> j & 1) {
            columns[sheet.count++] = (struct sheet_column){pause_cause_headings[j], SHEET_NUMBER, 9, 1};
        }
    }
    columns[sheet.count++] = (struct sheet_column){"Unknown", SHEET_NUMBER, 9, 1};
    columns[sheet.count++] = (struct sheet_column){"Faults", SHEET_NUMBER, 9, 1};
    fputc('\n', out);
    sheet_heading(&sheet);
    for (enum eden_phase i = 0; i < EDEN_PHASE_COUNT; i++) {
        const struct phase_model *phase = collections(heap, i);
        if (phase) {
            print_pauses(&sheet, phase_names[i], &phase->pauses, phase->total_ns, shown);
            print_pauses(&sheet, "  the longest", &phase->longest, phase->max_ns, shown);
        }
    }
    for (int j = 0; j < PAUSE_CAUSES; j++) {
        if (shown >> j & 1) {
            fprintf(out, "# %s: %s.\n", pause_cause_headings[j], pause_cause_meanings[j]);
        }
    }
}

char *phase_table_in(char text[PHASE_NOW_MAX], const char *how, enum eden_phase phase, bool is_known, uint64_t ns) {
    char took[FORMAT_MAX] = "?";
    if (is_known) {
        format_ns(took, ns);
    }
    snprintf(text, PHASE_NOW_MAX, "%s %s for %s", how, phase_names[phase], took);
    return text;
}

char *phase_table_now(char text[PHASE_NOW_MAX], const struct process_model *process, const struct heap_model *heap) {
    const struct collection_model *collection = &heap->collection;
    if (!collection->known || !collection->under_way) {
        snprintf(text, PHASE_NOW_MAX, "%s", collection->known ? "-" : "?");
        return text;
    }
    bool is_known = collection->phase_since_ns && collection->until_ns >= collection->phase_since_ns;
    return phase_table_in(text, process->ended || heap->is_former ? "ended in" : "in", collection->phase, is_known,
                          collection->until_ns - collection->phase_since_ns);
}

char *phase_table_add_stopped(char text[PHASE_NOW_MAX], int pid) {
    if (target_is_stopped(pid)) {
        const size_t length = strcmp(text, "-") == 0 ? 0 : strlen(text);
        snprintf(text + length, PHASE_NOW_MAX - length, "%sprocess stopped", length ? ", " : "");
    }
    return text;
}

const char *phase_table_command(const struct process_model *process, const struct heap_model *heap) {
    const char *command = heap->is_former ? heap->command : process->command;
    return command[0] ? command : "?";
}

void phase_table_heading(FILE *out, const struct process_model *process, const struct heap_model *heap) {
    char name[TEXT_GROWTH * sizeof heap->name], number[HEAP_NUMBER];
    fputs(style_on(out, STYLE_HEADING), out);
    text_print(out, phase_table_command(process, heap));
    fprintf(out, "[%u] heap %s", process->key.pid, heap_number_text(number, heap->id, heap->suffix));
    if (heap->name[0]) {
        fprintf(out, " '%s'", text_escape(name, sizeof name, heap->name, "'"));
    }
    fputs(style_off(out, STYLE_HEADING), out);
    const char *earlier = heap_earlier_text(heap);
    fprintf(out, "%s%s%s\n", heap->late ? ", " : "",
            earlier      ? earlier
            : heap->late ? "attached late"
                         : "",
            heap->destroyed   ? ""
            : heap->is_former ? ", ended when its process executed another program"
            : earlier         ? ""
                              : ", end not observed");
}
