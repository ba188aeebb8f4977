/* The report for people: what was recorded, what collecting cost and why, where in it the time went.
 *
 * Who reads it may be on call and have never read about garbage collection: each line says in words what its number is.
 * Shares of wall time are of what was observed; other figures are of a heap's whole life, which for a heap that was
 * there before the recording comes partly from its own header. */
#include "views/report.h"
#include "eden_params.h"
#include "eden_policy.h"
#include "eden_values.h"
#include "util/command_line.h"
#include "util/fold.h"
#include "util/format.h"
#include "util/sheet.h"
#include "util/sum.h"
#include "util/text.h"
#include "util/whole.h"
#include "views/phase_table.h"
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* All heaps as one. */

static uint64_t larger(uint64_t a, uint64_t b) { return a > b ? a : b; }

static void add_figures(struct heap_model *total, const struct heap_model *heap) {
    total->known &= heap->known;
    sum_add(&total->stopped_ns, heap->stopped_ns);
    total->stopped_known = total->stopped_known && heap->stopped_known;
    total->late = total->late || heap->late;
    total->earlier = total->earlier > heap->earlier ? total->earlier : heap->earlier;
    total->destroyed = total->destroyed && heap->destroyed;
    total->is_former = total->is_former && (heap->destroyed || heap->is_former);
    for (int i = 0; i < EDEN_FIGURE_COUNT; i++) {
        bool max = figure_descriptions[i].kind == KIND_max;
        if (max) {
            total->figures[i] = larger(total->figures[i], heap->figures[i]);
            total->before[i] = larger(total->before[i], heap->before[i]);
        } else {
            sum_add(&total->figures[i], heap->figures[i]);
            sum_add(&total->before[i], heap->before[i]);
        }
    }
    for (int i = 0; i < EDEN_FULL_CAUSES; i++) {
        sum_add(&total->full_by_cause[i], heap->full_by_cause[i]);
        sum_add(&total->full_by_cause_before[i], heap->full_by_cause_before[i]);
    }
}

static bool add_phases(struct heap_model *total, const struct heap_model *heap) {
    for (int i = 0; i < EDEN_PHASE_COUNT; i++) {
        const struct phase_model *from = heap->phase[i];
        if (!from) {
            continue;
        }
        struct phase_model *to = model_phase(total, (enum eden_phase)i);
        if (!to) {
            return false;
        }
        sum_add(&to->calls, from->calls);
        sum_add(&to->total_ns, from->total_ns);
        sum_add(&to->outside_ns, from->outside_ns);
        sum_add(&to->under_way_ns, from->under_way_ns);
        pause_time_add(&to->pauses, &from->pauses);
        if (from->max_ns > to->max_ns) {
            to->max_ns = from->max_ns;
            to->longest = from->longest;
        }
        sum_add(&to->objects, from->objects);
        sum_add(&to->bytes, from->bytes);
        for (int j = 0; j < HISTOGRAM_BUCKETS; j++) {
            sum_add(&to->buckets[j], from->buckets[j]);
        }
    }
    return true;
}

bool report_total(const struct model *model, struct heap_model *total) {
    *total = (struct heap_model){.known = UINT64_MAX, .destroyed = true, .is_former = true, .stopped_known = true};
    for (size_t i = 0; i < model->process_count; i++) {
        for (size_t j = 0; j < model->processes[i].heap_count; j++) {
            add_figures(total, &model->processes[i].heaps[j]);
            if (!add_phases(total, &model->processes[i].heaps[j])) {
                report_total_clear(total);
                return false;
            }
        }
    }
    return true;
}

void report_total_clear(struct heap_model *total) {
    for (int i = 0; i < EDEN_PHASE_COUNT; i++) {
        free(total->phase[i]);
        total->phase[i] = NULL;
    }
}

enum { LABEL = 34, LINE_NAME = 64 * TEXT_GROWTH };

static void label(FILE *out, const char *text) { fprintf(out, "  %-*s", LABEL, text); }

/* The parameters of a heap that are not default.
 *
 * param__set passes values as EDEN_OPTIONS would take them, sizes in bytes; defaults are brought into the same form and
 * the texts compared. A parameter that this version doesn't know is shown: nobody can say it is default. */

struct shown {
    FILE *out;
    const char *lead;
    unsigned count;
    bool is_auto;  /* policy=auto */
    bool is_known; /* all are: from the heap's creation, or its header; only there is grow_headroom always reported */
};

static void look_through(void *context, const char *name, const char *value) {
    struct shown *shown = context;
    shown->is_known = shown->is_known || strcmp(name, eden_param(EDEN_PARAM_grow_headroom)->name) == 0;
    shown->is_auto = shown->is_auto || (strcmp(name, eden_param(EDEN_PARAM_policy)->name) == 0 &&
                                        strcmp(value, eden_policy_name(EDEN_POLICY_AUTO)) == 0);
}

static void print_value(FILE *out, const struct eden_param *param, double value, const char *text) {
    char form[FORMAT_MAX];
    fputs(param->kind == EDEN_KIND_size && isfinite(value) ? format_bytes(form, whole_of(value)) : text, out);
}

static void show(void *context, const char *name, const char *value) {
    struct shown *shown = context;
    enum eden_param_id id = eden_param_find(name);
    const struct eden_param *param = id < EDEN_PARAM_COUNT ? eden_param(id) : NULL;
    char fallback[FORMAT_MAX];
    double number;
    if (param) {
        eden_param_text(param, param->fallback, fallback, sizeof fallback);
        bool is_first = shown->is_auto && id == EDEN_PARAM_eden_size && eden_param_parse(param, value, &number) &&
                        number == EDEN_POLICY_FIRST; /* what the policy begins with */
        if (is_first || strcmp(fallback, value) == 0) {
            return;
        }
    }
    fputs(shown->count++ ? ", " : shown->lead, shown->out);
    text_print(shown->out, name);
    fputc('=', shown->out);
    if (param && param->kind == EDEN_KIND_size && eden_param_parse(param, value, &number)) {
        print_value(shown->out, param, number, value);
    } else {
        text_print(shown->out, value);
    }
    if (param && !(id == EDEN_PARAM_eden_size && shown->is_auto)) { /* that has no default then */
        fputs(" (default ", shown->out);
        print_value(shown->out, param, param->fallback, fallback);
        fputc(')', shown->out);
    }
}

/* The parameters of a heap that are not default, in one line; nothing where all are. Then whether others are unknown.
 */
static bool report_parameters(FILE *out, struct recording *recording, const struct process_key *process,
                              const struct heap_model *heap, bool *is_auto, struct failure *why) {
    struct shown shown = {.out = out, .lead = "  parameters other than defaults    "};
    bool good = recording_parameters(recording, process, HEAP_REF(heap), look_through, &shown, why) &&
                recording_parameters(recording, process, HEAP_REF(heap), show, &shown, why);
    if (shown.count) {
        fputc('\n', out);
    }
    if (good && heap->late && !shown.is_known) {
        label(out, shown.count ? "other parameters" : "parameters");
        fprintf(out, "unknown: set before the recording\n");
    }
    *is_auto = shown.is_auto;
    return good;
}

/* What policy=auto has decided in a heap: one pass over the recorded events. */

struct sizes {
    uint64_t count;
    uint64_t first, last; /* bytes, before the first decision and after the last */
    uint64_t least, most; /* of these and all in between */
};

struct decisions {
    const struct process_key *process;
    const struct heap_model *heap;
    struct sizes of[EDEN_DECISIONS];
};

static bool on_decision(void *context, const struct event *event, uint64_t heap_id) {
    struct decisions *decisions = context;
    const struct heap_model *heap = decisions->heap;
    uint64_t decision = EDEN_ARG(event->arg, policy__decide, decision);
    if (decision < EDEN_DECISIONS && EDEN_HAS(event->args, policy__decide, to_bytes) &&
        heap_is_same(event_heap_ref(event, heap_id), HEAP_REF(heap)) &&
        process_is_same(&event->process, decisions->process)) {
        struct sizes *sizes = &decisions->of[decision];
        if (sizes->count++ == 0) {
            sizes->first = EDEN_ARG(event->arg, policy__decide, from_bytes);
            sizes->least = sizes->most = sizes->first;
        }
        sizes->last = EDEN_ARG(event->arg, policy__decide, to_bytes);
        sizes->least = sizes->last < sizes->least ? sizes->last : sizes->least;
        sizes->most = sizes->last > sizes->most ? sizes->last : sizes->most;
    }
    return true;
}

static void print_sizes(FILE *out, const struct sizes *sizes) {
    char text[FORMAT_MAX];
    fprintf(out, "from %s", format_bytes(text, sizes->first));
    fprintf(out, " to %s", format_bytes(text, sizes->last));
    bool is_rising = sizes->last >= sizes->first;
    if (sizes->least != (is_rising ? sizes->first : sizes->last) ||
        sizes->most != (is_rising ? sizes->last : sizes->first)) {
        fprintf(out, ", between %s", format_bytes(text, sizes->least));
        fprintf(out, " and %s", format_bytes(text, sizes->most));
    }
    fprintf(out, ", changes: %s\n", format_count(text, sizes->count));
}

static bool report_decisions(FILE *out, struct recording *recording, const struct process_key *process,
                             const struct heap_model *heap, struct failure *why) {
    static const char *const labels[EDEN_DECISIONS] = {
        [EDEN_DECISION_EDEN] = "eden, by policy=auto",
        [EDEN_DECISION_OLD_GOAL] = "goal of old space, by policy=auto",
        [EDEN_DECISION_SEMISPACE] = "semispaces, by policy=auto",
    };
    struct decisions decisions = {.process = process, .heap = heap};
    uint64_t probes[(EDEN_PROBE_COUNT + 63) / 64] = {0};
    probes[EDEN_PROBE_policy__decide / 64] |= 1ull << EDEN_PROBE_policy__decide % 64;
    bool good = recording_events(recording, probes, on_decision, &decisions, why);
    for (size_t i = 0; good && i < EDEN_DECISIONS; i++) {
        if (decisions.of[i].count) {
            label(out, labels[i]);
            print_sizes(out, &decisions.of[i]);
        }
    }
    return good;
}

static double percent(uint64_t part, uint64_t whole) { return whole ? 100 * (double)part / (double)whole : 0; }

/* ---- head ------------------------------------------------------------------------------------------------------- */

static char *wall_time(char text[64], uint64_t since_1970_ns) {
    time_t seconds = (time_t)(since_1970_ns / 1000000000);
    struct tm local;
    if (!localtime_r(&seconds, &local) || strftime(text, 64, "%Y-%m-%d %H:%M:%S %z", &local) == 0) {
        memcpy(text, "?", 2);
    }
    return text;
}

static void print_gap(void *out, const char *text) {
    fputs("# ", out);
    text_print(out, text);
    fputc('\n', out);
}

static void print_head(FILE *out, const char *path, const struct recording_info *info, const struct model *model) {
    char text[64], number[FORMAT_MAX];
    fputs("# recording: ", out);
    text_print(out, path);
    fprintf(out, ", of %s, over %s\n", wall_time(text, info->start_ns), format_ns(number, model->wall_ns));
    if (info->command[0]) {
        fprintf(out, "# command: ");
        command_line_print(out, info->command);
        if (model->has_status) {
            fprintf(out, "\n# exit status: %d", model->status);
        }
        fputc('\n', out);
    } else if (info->selected[0]) {
        fputs("# observed: ", out);
        text_print(out, info->selected);
        fputc('\n', out);
    } else {
        fprintf(out, "# process: %" PRIu64 ", attached while it ran\n", info->pid);
    }
    fprintf(out, "# events: %s\n", format_count(number, info->events));
    const enum style style = model->lost ? STYLE_WARNING : STYLE_PLAIN;
    const char *partial = recording_partial(info);
    fprintf(out, "# %slost events: %s%s%s\n", style_on(out, style), partial && !info->live ? "at least " : "",
            format_count(number, model->lost), style_off(out, style));
    if (model->lost_records) {
        fprintf(out, "# lost records of lifetimes: %s\n", format_count(number, model->lost_records));
    }
    model_report_gaps(model, print_gap, out);
    if (partial) {
        fprintf(out, "# %s%s\n", partial, info->live ? ": figures are as of now" : "");
    }
}

/* ---- sums ------------------------------------------------------------------------------------------------------- */

/* Why the sums may be too small; NULL: they are whole. */
static const char *why_at_least(const struct recording_info *info, const struct model *model,
                                const struct heap_model *heap) {
    if (model->uncounted) {
        return "events were lost, perhaps of this heap";
    }
    if (heap_is_complete(heap)) {
        return NULL;
    }
    if (heap_earlier_text(heap)) {
        return heap_earlier_text(heap);
    }
    if (heap->is_former) {
        return "a heap ended when its process executed another program; its activity after its last collection is not "
               "counted";
    }
    if (info->live) {
        return "the recording continues";
    }
    return info->finished
               ? "the end of the heap was not observed; its activity after its last collection is not counted"
               : "the recording was cut short; later events are missing";
}

static char *figure(char text[FORMAT_MAX], const struct heap_model *heap, enum eden_figure id) {
    return heap->known >> id & 1 ? format_figure(text, id, heap->figures[id])
                                 : memcpy(text, "unknown", sizeof "unknown");
}

static uint64_t observed(const struct heap_model *heap, enum eden_figure id) {
    return heap->figures[id] - heap->before[id];
}

static void print_figure(FILE *out, const char *text, const struct heap_model *heap, enum eden_figure id) {
    char value[FORMAT_MAX];
    label(out, text);
    fputs(figure(value, heap, id), out);
}

/* Of a heap that is older than the recording: what the recorded time adds to the figure. */
static void print_recorded(FILE *out, const struct heap_model *heap, enum eden_figure id) {
    char value[FORMAT_MAX];
    if (heap->before[id] && heap->known >> id & 1 && figure_descriptions[id].kind == KIND_sum) {
        fprintf(out, "; while recorded: %s", format_figure(value, id, observed(heap, id)));
    } else if (heap->before[id] && figure_descriptions[id].kind == KIND_max && heap->figures[id] == heap->before[id]) {
        fprintf(out, " (before it was recorded)");
    }
}

static void print_line(FILE *out, const char *text, const struct heap_model *heap, enum eden_figure id) {
    print_figure(out, text, heap, id);
    print_recorded(out, heap, id);
    fputc('\n', out);
}

static void print_causes(FILE *out, const struct heap_model *heap) {
    uint64_t with_cause = 0, all = heap->figures[EDEN_FIGURE_full_collections];
    for (unsigned i = 0; i < EDEN_FULL_CAUSES; i++) {
        char count[FORMAT_MAX];
        sum_add(&with_cause, heap->full_by_cause[i]);
        if (heap->full_by_cause[i]) {
            fprintf(out, "    cause: %-*s%s: %s", LABEL - 9, eden_full_cause_name(i),
                    format_count(count, heap->full_by_cause[i]), eden_full_cause_meaning(i));
            if (heap->full_by_cause_before[i]) {
                uint64_t recorded = heap->full_by_cause[i] - heap->full_by_cause_before[i];
                fprintf(out, "; while recorded: %s", format_count(count, recorded));
            }
            fputc('\n', out);
        }
    }
    if (heap->known >> EDEN_FIGURE_full_collections & 1 && all > with_cause) {
        char count[FORMAT_MAX];
        fprintf(out, "    cause: %-*s%s: recorded without its start, which has the cause\n", LABEL - 9, "?",
                format_count(count, all - with_cause));
    }
}

/* The sum counts pauses whole, when they end. The share is of the time in pauses that lies within the recording, which
 * is shown where it is another. */
static void print_stopped(FILE *out, const struct heap_model *heap, uint64_t wall_ns) {
    char recorded[FORMAT_MAX] = "?";
    print_figure(out, "paused for garbage collection", heap, EDEN_FIGURE_gc_ns);
    if (heap->before[EDEN_FIGURE_gc_ns] ||
        (heap->stopped_known && heap->stopped_ns != observed(heap, EDEN_FIGURE_gc_ns))) {
        fprintf(out, "; while recorded: %s", heap->stopped_known ? format_ns(recorded, heap->stopped_ns) : recorded);
    }
    if (wall_ns && heap->stopped_known) {
        const double share = percent(heap->stopped_ns, wall_ns);
        const enum style style = style_of_share(share / 100);
        fprintf(out, ", %s%.2f%% of wall time%s", style_on(out, style), share, style_off(out, style));
    } else if (wall_ns) {
        fprintf(out, ", ? of wall time");
    }
    fputc('\n', out);
}

/* A collection that was under way at the end. */
static void print_now(FILE *out, const struct process_model *process, const struct heap_model *heap) {
    char text[PHASE_NOW_MAX], took[FORMAT_MAX];
    if (!heap->collection.known) {
        label(out, "at the end");
        fprintf(out, "? (whether in a collection is unknown: the heap emitted no event)\n");
    } else if (heap->collection.under_way) {
        label(out, "at the end");
        fprintf(out, "%s; %s of this collection are in the time while recorded, not in the sums\n",
                phase_table_now(text, process, heap), format_ns(took, heap->collection.observed_ns));
    }
}

static void print_sums(FILE *out, const struct recording_info *info, const struct model *model,
                       const struct heap_model *heap) {
    char text[FORMAT_MAX];
    const char *why = why_at_least(info, model, heap);
    if (why) {
        fprintf(out, "  %sAll sums are \"at least\": %s.%s\n", style_on(out, STYLE_WARNING), why,
                style_off(out, STYLE_WARNING));
    }
    if (heap->late) {
        char since[64];
        fprintf(out,
                "  Recorded since %s; shares of wall time and the table of phases cover that time only.\n"
                "  %s\n",
                wall_time(since, info->start_ns),
                heap->earlier == EARLIER_UNKNOWN
                    ? "So do the sums of a heap whose activity before is unknown."
                    : "Sums cover each heap's whole life: counts of earlier collections come from the heap's header.");
    }
    label(out, "wall time");
    fprintf(out, "%s\n", format_ns(text, model->wall_ns));
    print_stopped(out, heap, model->wall_ns);
    print_line(out, "longest pause", heap, EDEN_FIGURE_max_pause_ns);
    print_line(out, "scavenges (of young objects)", heap, EDEN_FIGURE_scavenges);
    print_line(out, "full collections (of all objects)", heap, EDEN_FIGURE_full_collections);
    print_causes(out, heap);
    print_line(out, "allocated", heap, EDEN_FIGURE_allocated_bytes);
    print_figure(out, "copied by scavenges", heap, EDEN_FIGURE_survived_bytes);
    uint64_t both = 1ull << EDEN_FIGURE_survived_bytes | 1ull << EDEN_FIGURE_allocated_bytes;
    if ((heap->known & both) == both && heap->figures[EDEN_FIGURE_allocated_bytes]) {
        fprintf(out, ", %.1f%% of the allocated bytes",
                percent(heap->figures[EDEN_FIGURE_survived_bytes], heap->figures[EDEN_FIGURE_allocated_bytes]));
    }
    print_recorded(out, heap, EDEN_FIGURE_survived_bytes);
    fputc('\n', out);
    print_figure(out, "tenured (moved to old space)", heap, EDEN_FIGURE_tenured_bytes);
    fprintf(out, ", objects: %s", figure(text, heap, EDEN_FIGURE_tenured_objects));
    print_recorded(out, heap, EDEN_FIGURE_tenured_bytes);
    fputc('\n', out);
    print_line(out, "freed by full collections", heap, EDEN_FIGURE_freed_bytes);
    print_figure(out, "old space after last collection", heap, EDEN_FIGURE_old_used);
    fprintf(out, ", of %s mapped\n", figure(text, heap, EDEN_FIGURE_old_capacity));
    if (heap->known >> EDEN_FIGURE_alloc_failures & 1 && heap->figures[EDEN_FIGURE_alloc_failures]) {
        print_line(out, "allocations that failed", heap, EDEN_FIGURE_alloc_failures);
    }
}

/* ---- heaps ------------------------------------------------------------------------------------------------------ */

static const struct sheet_column heap_columns[] = {
    {"Overhead", SHEET_NUMBER, 9, 1}, {"PID", SHEET_NUMBER, 8, 2},      {"Heap", SHEET_NUMBER, 5, 1},
    {"Command", SHEET_TEXT, 16, 2},   {"Name", SHEET_TEXT, 16, 2},      {"Scavenges", SHEET_NUMBER, 10, 1},
    {"Full", SHEET_NUMBER, 6, 1},     {"Longest", SHEET_NUMBER, 10, 1}, {"Allocated", SHEET_NUMBER, 10, 1},
    {"", SHEET_WORDS, 0, 2}};

static void print_heap_line(const struct sheet *sheet, const struct model *model, const struct process_model *process,
                            const struct heap_model *heap) {
    char command[LINE_NAME], name[LINE_NAME], id[HEAP_NUMBER], pid[16],
        share[16] = "-", pause[FORMAT_MAX], scavenges[FORMAT_MAX], full[FORMAT_MAX], allocated[FORMAT_MAX],
        now[PHASE_NOW_MAX], note[PHASE_NOW_MAX + 32];
    const uint64_t wall_ns = model->wall_ns;
    const bool is_known = wall_ns && heap->stopped_known, has_all = model_has_all(model, heap);
    if (wall_ns) {
        snprintf(share, sizeof share, heap->stopped_known ? "%.2f%%" : "?", percent(heap->stopped_ns, wall_ns));
    }
    snprintf(pid, sizeof pid, "%u", process->key.pid);
    snprintf(note, sizeof note, "%s%s%s",
             has_all           ? ""
             : heap->is_former ? "at least, ended by exec"
                               : "at least",
             heap->collection.under_way && !has_all ? ", " : "",
             heap->collection.under_way ? phase_table_now(now, process, heap) : "");
    sheet_row(sheet, (const struct sheet_cell[]){
                         {share, is_known ? style_of_share(percent(heap->stopped_ns, wall_ns) / 100) : STYLE_PLAIN},
                         {pid, STYLE_PLAIN},
                         {heap_number_text(id, heap->id, heap->suffix), STYLE_PLAIN},
                         {text_escape(command, sizeof command, phase_table_command(process, heap), ""), STYLE_PLAIN},
                         {text_escape(name, sizeof name, heap->name, ""), STYLE_PLAIN},
                         {figure(scavenges, heap, EDEN_FIGURE_scavenges), STYLE_PLAIN},
                         {figure(full, heap, EDEN_FIGURE_full_collections), STYLE_PLAIN},
                         {figure(pause, heap, EDEN_FIGURE_max_pause_ns), STYLE_PLAIN},
                         {figure(allocated, heap, EDEN_FIGURE_allocated_bytes), STYLE_PLAIN},
                         {note, STYLE_PLAIN},
                     });
}

struct heap_line {
    const struct process_model *process;
    const struct heap_model *heap;
    size_t number; /* in the model's order */
};

/* The most time in collections first. What is unknown comes last: it must not hide others. */
static int by_overhead(const void *first, const void *second) {
    const struct heap_line *a = first, *b = second;
    const uint64_t x = a->heap->stopped_ns, y = b->heap->stopped_ns;
    if (a->heap->stopped_known != b->heap->stopped_known) {
        return a->heap->stopped_known ? -1 : 1;
    }
    if (a->heap->stopped_known && x != y) {
        return x > y ? -1 : 1;
    }
    return (a->number > b->number) - (a->number < b->number);
}

/* False: no memory. */
static bool print_heap_lines(FILE *out, const struct model *model, bool late) {
    const struct sheet sheet = SHEET(out, "#", heap_columns);
    struct heap_line *lines = calloc(model_heap_count(model) + 1, sizeof *lines);
    size_t count = 0;
    for (size_t i = 0; lines && i < model->process_count; i++) {
        const struct process_model *process = &model->processes[i];
        for (size_t j = 0; j < process->heap_count; j++, count++) {
            lines[count] = (struct heap_line){process, &process->heaps[j], count};
        }
    }
    if (!lines) {
        return false;
    }
    qsort(lines, count, sizeof *lines, by_overhead);
    sheet_heading(&sheet);
    for (size_t i = 0; i < count; i++) {
        print_heap_line(&sheet, model, lines[i].process, lines[i].heap);
    }
    free(lines);
    if (late) {
        fprintf(out, "# Overhead covers the recorded time, the other columns each heap's whole life\n");
    }
    fprintf(out, "# --heap ID and --pid PID show one of them in full\n");
    return true;
}

static void print_phases(FILE *out, const struct heap_model *heap, uint64_t wall_ns) {
    if (phase_table_print(out, heap, wall_ns)) {
        fold_paragraph(out, "# ", "%s",
                       "Overhead is the share of wall time. Half of the calls took no longer than P50, and 99% no "
                       "longer than P99. Both come from histograms with buckets at most 6.25% wide: they may be too "
                       "large by so much, and are never too small. --view phases has those of the single calls.");
    }
    phase_table_print_pauses(out, heap);
}

static const struct process_model *only_heap(const struct model *model) {
    const struct process_model *owner = NULL;
    for (size_t i = 0; i < model->process_count; i++) {
        const struct process_model *process = &model->processes[i];
        if (process->heap_count > 1 || (process->heap_count && owner)) {
            return NULL;
        }
        owner = process->heap_count ? process : owner;
    }
    return owner;
}

bool report_text(FILE *out, const char *path, struct recording *recording, const struct model *model,
                 struct failure *why) {
    const struct recording_info *info = recording_info(recording);
    const struct process_model *process = only_heap(model);
    print_head(out, path, info, model);
    fputc('\n', out);
    if (process) {
        phase_table_heading(out, process, process->heaps);
        print_sums(out, info, model, process->heaps);
        print_now(out, process, process->heaps);
        bool is_auto;
        bool good = report_parameters(out, recording, &process->key, process->heaps, &is_auto, why);
        if (good && (is_auto || process->heaps->late)) { /* of a late heap the policy is unknown */
            good = report_decisions(out, recording, &process->key, process->heaps, why);
        }
        print_phases(out, process->heaps, model->wall_ns);
        return good;
    }
    struct heap_model total;
    if (!report_total(model, &total)) {
        return failure_set(why, 1, "out of memory for the report");
    }
    fprintf(out, "all heaps together: times add up, also of heaps that ran at once, so shares can exceed 100%%\n");
    print_sums(out, info, model, &total);
    print_phases(out, &total, model->wall_ns);
    fputc('\n', out);
    const bool good = print_heap_lines(out, model, total.late) || failure_set(why, 1, "out of memory for the report");
    report_total_clear(&total);
    return good;
}
