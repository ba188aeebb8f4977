/* Runs what the search asks for. The first run, of the command as it is, is made before the search, to know how large
 * its eden is and how long it takes: a run that takes three times as long, and a second, is ended, for its setting is
 * no good; and it is the search's first measurement. The budget is of time, or of runs, whichever is used up first; a
 * run that would not end within it is ended with it.
 *
 * The gain bound of an axis is read off the run's own figures: full_gc_ratio can at best spare the full collections
 * that growth has caused, and the scavenges before them. These are bounds, not promises. */
#include "advise/trials/search_trials.h"
#include "util/clock.h"
#include "util/format.h"
#include "util/interrupt.h"
#include "util/message.h"
#include "util/sheet.h"
#include "util/terminal.h"
#include "util/whole.h"
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

struct trials {
    const struct search_request *request;
    struct search_outcome *outcome;
    uint64_t started_ns;
    bool first_pending; /* the first run is made, and not yet asked for */
    size_t runs;
    struct failure last; /* why a run failed */
};

/* ---- figures ---------------------------------------------------------------------------------------------------- */

static uint64_t mix(uint64_t hash, uint64_t value) { return (hash ^ value) * 0x9e3779b97f4a7c15u; }

static double share(uint64_t part, uint64_t whole) { return whole ? (double)part / (double)whole : 0; }

static struct search_figures figures_of(const struct trial_figures *trial, bool rest) {
    const uint64_t *figure = trial->figure;
    double scavenges = (double)figure[EDEN_FIGURE_scavenge_ns] / 1e9, full = (double)figure[EDEN_FIGURE_full_ns] / 1e9;
    uint64_t fulls = figure[EDEN_FIGURE_full_collections];
    /* Each full collection has a scavenge of its own before it. */
    double with_scavenges = full + scavenges * share(fulls, figure[EDEN_FIGURE_scavenges]);
    double grown = with_scavenges * share(trial->full_by_cause[EDEN_FULL_RATIO], fulls);
    double asked = with_scavenges * share(trial->full_by_cause[EDEN_FULL_ALLOCATION], fulls);
    double copied = figure[EDEN_FIGURE_tenured_bytes] ? scavenges : 0;
    double cpu = (double)trial->cpu_ns / 1e9;
    double gc = (double)figure[EDEN_FIGURE_gc_ns] / 1e9 * fmin(share(trial->cpu_ns, trial->wall_ns), 1);
    struct search_figures figures = {.gc = gc,
                                     .own = cpu > gc ? cpu - gc : 0,
                                     .cpu = cpu,
                                     .wall = (double)trial->wall_ns / 1e9,
                                     .pause = (double)figure[EDEN_FIGURE_max_pause_ns] / 1e9,
                                     .memory = (double)trial->peak_bytes};
    figures.gain_bound[AXIS_EDEN] = figures.gc;
    figures.gain_bound[AXIS_RATIO] = grown;
    figures.gain_bound[AXIS_MIN_OLD] = 0.99 * grown; /* after the ratio, where both gain_bound the same */
    figures.gain_bound[AXIS_HEADROOM] = asked;
    figures.gain_bound[AXIS_SHRINK] = figure[EDEN_FIGURE_segments_unmapped] ? full : 0;
    figures.gain_bound[AXIS_PROPORTION] = 0.5 * copied;
    figures.gain_bound[AXIS_FILL] = 0.49 * copied;
    figures.gain_bound[AXIS_CRITERION] = 0.1 * copied;
    figures.gain_bound[AXIS_COMPACTOR] = (double)figure[EDEN_FIGURE_compact_ns] / 1e9 + 0.1 * full;
    figures.gain_bound[AXIS_REMEMBERED] = figure[EDEN_FIGURE_remembered] ? 0.1 * scavenges : 0;
    figures.gain_bound[AXIS_REST] = rest ? figures.gc : 0;
    const enum eden_figure work[] = {EDEN_FIGURE_scavenges, EDEN_FIGURE_full_collections, EDEN_FIGURE_survived_bytes,
                                     EDEN_FIGURE_tenured_bytes, EDEN_FIGURE_freed_bytes};
    for (size_t i = 0; i < sizeof work / sizeof *work; i++) {
        figures.work = mix(figures.work, figure[work[i]]);
    }
    return figures;
}

/* ---- the search's ports ----------------------------------------------------------------------------------------- */

static double seconds_since(uint64_t start_ns) { return (double)(now_ns() - start_ns) / 1e9; }

static double left(void *context) {
    const struct trials *trials = context;
    double time = 1 - seconds_since(trials->started_ns) / trials->request->budget;
    double runs = trials->request->trials ? 1 - (double)trials->runs / (double)trials->request->trials : 1;
    return fmax(fmin(time, runs), 0);
}

static void report(const struct trials *trials, const char *options, const struct trial_figures *figures,
                   const char *problem) {
    char gc[FORMAT_MAX], wall[FORMAT_MAX], memory[FORMAT_MAX], result[3 * FORMAT_MAX + 24];
    if (!problem) {
        snprintf(result, sizeof result, "GC %s of %s, memory %s", format_ns(gc, figures->figure[EDEN_FIGURE_gc_ns]),
                 format_ns(wall, figures->wall_ns), format_bytes(memory, figures->peak_bytes));
    }
    message_print("run %zu, %.1f s: %s: %s", trials->runs, seconds_since(trials->started_ns),
                  *options ? options : "current options", problem ? problem : result);
}

/* A run may take three times as long as the first, and a second, within the budget. */
static uint64_t most_ns(const struct trials *trials) {
    uint64_t usual = 3 * trials->outcome->first.wall_ns + 1000000000u;
    double rest = trials->request->budget - seconds_since(trials->started_ns);
    uint64_t budget = rest > 0 ? whole_of(rest * 1e9) + 1 : 1;
    return usual < budget ? usual : budget;
}

static enum search_answer run(void *context, const struct search_point *point, struct search_figures *figures) {
    struct trials *trials = context;
    struct search_outcome *outcome = trials->outcome;
    char options[SEARCH_POINT_TEXT];
    struct trial_figures trial;
    bool rest = outcome->space.axis[AXIS_REST].count > 1;
    if (trials->first_pending) {
        trials->first_pending = false;
        *figures = figures_of(&outcome->first, rest);
        return SEARCH_RAN;
    }
    if (left(trials) <= 0 || interrupt_count() > 0) {
        outcome->interrupted = interrupt_count() > 0;
        return SEARCH_ENDED;
    }
    search_point_text(options, &outcome->space, point);
    trials->runs++;
    switch (trial_run(trials->request->command, options, most_ns(trials), &trial, &trials->last)) {
    case TRIAL_RAN:
        report(trials, options, &trial, NULL);
        *figures = figures_of(&trial, rest);
        return SEARCH_RAN;
    case TRIAL_INTERRUPTED:
        outcome->interrupted = true;
        report(trials, options, NULL, "interrupted");
        return SEARCH_ENDED;
    case TRIAL_TOO_LONG:
        report(trials, options, NULL,
               left(trials) > 0 ? "stopped: it takes too long" : "stopped: the budget is used up");
        return left(trials) > 0 ? SEARCH_FAILED : SEARCH_ENDED;
    default:
        report(trials, options, NULL, trials->last.message);
        return SEARCH_FAILED;
    }
}

/* ---- the whole -------------------------------------------------------------------------------------------------- */

/* Half of what the system can give without swapping; no limit where that is unknown. */
static double available_memory(void) {
    FILE *file = fopen("/proc/meminfo", "re");
    char line[128];
    double bytes = INFINITY;
    while (file && fgets(line, sizeof line, file)) {
        static const char name[] = "MemAvailable:";
        if (strncmp(line, name, sizeof name - 1) == 0) {
            bytes = strtod(line + sizeof name - 1, NULL) * 1024 / 2;
        }
    }
    if (file) {
        fclose(file);
    }
    return bytes;
}

static bool run_first(struct trials *trials, struct failure *why) {
    const struct search_request *request = trials->request;
    struct search_outcome *outcome = trials->outcome;
    trials->runs = 1;
    enum trial_outcome ran = trial_run(request->command, "", whole_of(request->budget * 1e9) + 1, &outcome->first, why);
    if (ran == TRIAL_TOO_LONG) {
        return failure_set(why, 1,
                           "%.200s did not end within the budget of %g s, and a search needs at least ten runs: raise "
                           "--budget SECONDS, or give the program less work",
                           request->command[0], request->budget);
    }
    trials->first_pending = ran == TRIAL_RAN;
    if (ran == TRIAL_RAN) {
        report(trials, "", &outcome->first, NULL);
    }
    return ran == TRIAL_RAN;
}

bool search_trials(const struct search_request *request, struct search_outcome *outcome, struct failure *why) {
    *outcome = (struct search_outcome){0};
    struct trials trials = {.request = request, .outcome = outcome, .started_ns = now_ns()};
    if (!run_first(&trials, why)) {
        return false;
    }
    const char *proposed = request->proposed && *request->proposed ? request->proposed : NULL;
    search_space_init(&outcome->space, outcome->first.figure[EDEN_FIGURE_eden_size], request->in_force);
    if (proposed && !search_space_add(&outcome->space, proposed)) {
        return failure_set(why, 1, "--options %.200s: too many options to search from", proposed);
    }
    struct search *search = &outcome->search;
    *search = (struct search){.space = &outcome->space,
                              .ports = {.context = &trials, .run = run, .left = left},
                              .memory_factor = request->memory_factor,
                              .memory_most = available_memory()};
    struct search_point start = search_point_of(&outcome->space, proposed ? proposed : "");
    if (!search_run(search, &start, proposed != NULL) || !search_find(search, &outcome->finding)) {
        search_outcome_clear(outcome);
        return failure_set(why, 1, "out of memory for the search");
    }
    outcome->took = seconds_since(trials.started_ns);
    return true;
}

void search_outcome_clear(struct search_outcome *outcome) {
    search_finding_clear(&outcome->finding);
    search_clear(&outcome->search);
}

/* What a search has found: the front as a table, what is recommended, and what was noticed; the same as JSON. */

struct view {
    const struct search_outcome *outcome;
    const struct search *search;
    const struct search_finding *finding;
};

static struct view view_of(const struct search_outcome *outcome) {
    return (struct view){outcome, &outcome->search, &outcome->finding};
}

static char *options_of(char text[SEARCH_POINT_TEXT], const struct view *view, size_t index) {
    return search_point_text(text, &view->outcome->space, &view->search->candidate[index].point);
}

static bool is_on_front(const struct view *view, size_t index) {
    for (size_t i = 0; i < view->finding->front_count; i++) {
        if (view->finding->front[i] == index) {
            return true;
        }
    }
    return false;
}

/* ---- as a table ------------------------------------------------------------------------------------------------- */

static const struct sheet_column point_columns[] = {{"", SHEET_WORDS, 1, 0},          {"memory", SHEET_NUMBER, 10, 1},
                                                    {"GC time", SHEET_NUMBER, 10, 1}, {"time", SHEET_NUMBER, 10, 1},
                                                    {"pause", SHEET_NUMBER, 10, 1},   {"runs", SHEET_NUMBER, 5, 1},
                                                    {"options", SHEET_WORDS, 0, 2}};

static void print_point(const struct sheet *sheet, const struct view *view, size_t index) {
    const struct candidate *candidate = &view->search->candidate[index];
    struct search_figures figures = search_medians(view->search, index);
    char memory[FORMAT_MAX], gc[FORMAT_MAX], wall[FORMAT_MAX], pause[FORMAT_MAX], count[FORMAT_MAX],
        options[SEARCH_POINT_TEXT];
    size_t runs = candidate->first_final < candidate->runs ? candidate->runs - candidate->first_final : candidate->runs;
    const enum style style = index == view->finding->recommended ? STYLE_GOOD : STYLE_PLAIN;
    options_of(options, view, index);
    snprintf(count, sizeof count, "%zu", runs);
    sheet_row(sheet, (const struct sheet_cell[]){
                         {index == view->finding->recommended ? "*" : "", style},
                         {format_bytes(memory, whole_of(figures.memory)), STYLE_PLAIN},
                         {format_ns(gc, whole_of(figures.gc * 1e9)), STYLE_PLAIN},
                         {format_ns(wall, whole_of(figures.wall * 1e9)), STYLE_PLAIN},
                         {format_ns(pause, whole_of(figures.pause * 1e9)), STYLE_PLAIN},
                         {count, STYLE_PLAIN},
                         {*options ? options : "(current)", style},
                     });
}

static void print_table(FILE *out, const struct view *view) {
    const struct search_finding *finding = view->finding;
    const struct sheet sheet = SHEET(out, "", point_columns);
    sheet_heading(&sheet);
    if (!is_on_front(view, 0)) {
        print_point(&sheet, view, 0);
    }
    if (!is_on_front(view, finding->recommended) && finding->recommended != 0) {
        print_point(&sheet, view, finding->recommended);
    }
    for (size_t i = 0; i < finding->front_count; i++) {
        print_point(&sheet, view, finding->front[i]);
    }
}

static void print_cache(FILE *out, const struct view *view) {
    const struct search_finding *finding = view->finding;
    char small[SEARCH_POINT_TEXT], large[SEARCH_POINT_TEXT];
    if (!finding->cache) {
        return;
    }
    options_of(small, view, finding->cache_small);
    fprintf(out,
            "\n"
            "eden.cache: with %s the command takes %.1f%% more CPU time (%.1f%% to %.1f%%) than with %s, although it "
            "collects less.\n"
            "  The program itself became slower: new objects leave the cache before they are used again, and the "
            "system has to supply fresh memory.\n",
            options_of(large, view, finding->cache_large), 100 * (finding->cache_cpu.median - 1),
            100 * (finding->cache_cpu.least - 1), 100 * (finding->cache_cpu.most - 1), *small ? small : "its own eden");
}

/* A point with less GC time that is slower in all is not kept back. */
static void print_refused(FILE *out, const struct view *view) {
    size_t least = view->finding->least_within;
    char options[SEARCH_POINT_TEXT];
    struct stats cpu = search_cpu_ratio(view->search, 0, least);
    if (least != view->finding->recommended && cpu.count > 0 && cpu.median > 1) {
        fprintf(out,
                "\n"
                "Not recommended: %s has less GC time, but takes %.1f%% more CPU time in total.\n",
                options_of(options, view, least), 100 * (cpu.median - 1));
    }
}

/* What looks better in the table, and is not recommended. Where it is slower in all, print_refused has said so. */
static void print_likely(FILE *out, const struct view *view) {
    const size_t likely = view->finding->likely;
    char options[SEARCH_POINT_TEXT], gc[FORMAT_MAX];
    if (likely == 0 || likely == view->finding->least_within) {
        return;
    }
    fprintf(out, "With %s GC time was %s, which noise may explain: a larger --budget may decide.\n",
            options_of(options, view, likely),
            format_change(gc, search_medians(view->search, 0).gc, search_medians(view->search, likely).gc));
}

static void print_recommended(FILE *out, const struct search_request *request, const struct view *view,
                              const char *command) {
    size_t chosen = view->finding->recommended;
    struct search_figures before = search_medians(view->search, 0);
    struct search_figures after = search_medians(view->search, chosen);
    char options[SEARCH_POINT_TEXT], within[64] = "";
    if (isfinite(request->memory_factor)) {
        snprintf(within, sizeof within, " within %g times its memory", request->memory_factor);
    }
    print_refused(out, view);
    if (view->search->runs == 1) {
        fprintf(out, "\nNothing was compared%s.\n",
                view->outcome->interrupted ? ""
                                           : ", as the budget was too small for another run: give a larger --budget");
        return;
    }
    if (chosen == 0) {
        fprintf(out,
                "\n"
                "Nothing better was found%s: keep the current parameters.\n",
                within);
        print_likely(out, view);
        return;
    }
    char gc[FORMAT_MAX], time[FORMAT_MAX], memory[FORMAT_MAX];
    fprintf(out,
            "\n"
            "Recommended (*): the least GC time%s: GC time %s, total time %s, memory %s.\n"
            "Run it with:\n",
            within, format_change(gc, before.gc, after.gc), format_change(time, before.wall, after.wall),
            format_change(memory, before.memory, after.memory));
    terminal_fold(false);
    fprintf(out, "  EDEN_OPTIONS=\"%s\" %s\n", options_of(options, view, chosen), command ? command : "PROGRAM");
    terminal_fold(true);
}

static bool has_repeats(const struct search *search) {
    for (size_t i = 0; i < search->count; i++) {
        if (search->candidate[i].runs > 1) {
            return true;
        }
    }
    return false;
}

void search_print(FILE *out, const struct search_request *request, const struct search_outcome *outcome,
                  const char *command) {
    struct view view = view_of(outcome);
    const struct search *search = view.search;
    fprintf(out, "\n%zu run%s in %.1f s", search->runs, plural(search->runs), outcome->took);
    if (has_repeats(search)) { /* else the noise is assumed */
        fprintf(out, "; GC time varies by about %.0f%% from run to run", 100 * search->noise);
    }
    fprintf(out, "\n\n");
    print_table(out, &view);
    print_recommended(out, request, &view, command);
    print_cache(out, &view);
    if (search->rounds == 0 && search->runs > 1) {
        fprintf(out, "The budget left no time to compare the best options again: take this as a first estimate.\n");
    }
    trial_print_remarks(out, &outcome->first, outcome->first.peak_is_bound);
    if (outcome->interrupted) {
        fprintf(out, "Interrupted: these are the results so far.\n");
    }
}

/* ---- as JSON ---------------------------------------------------------------------------------------------------- */

static json_t *point_json(const struct view *view, size_t index) {
    const struct candidate *candidate = &view->search->candidate[index];
    char options[SEARCH_POINT_TEXT];
    if (candidate->runs == 0) {
        return json_pack("{s:s,s:i,s:b,s:n,s:n,s:n,s:n,s:n}", "options", options_of(options, view, index), "runs", 0,
                         "failed", 1, "gc_s", "time_s", "cpu_s", "max_pause_s", "memory_bytes");
    }
    struct search_figures figures = search_medians(view->search, index);
    return json_pack("{s:s,s:I,s:b,s:f,s:f,s:f,s:f,s:I}", "options", options_of(options, view, index), "runs",
                     (json_int_t)candidate->runs, "failed", candidate->failed, "gc_s", figures.gc, "time_s",
                     figures.wall, "cpu_s", figures.cpu, "max_pause_s", figures.pause, "memory_bytes",
                     (json_int_t)figures.memory);
}

static json_t *cache_json(const struct view *view) {
    const struct search_finding *finding = view->finding;
    const struct axis_values *eden = &view->outcome->space.axis[AXIS_EDEN];
    char small[SEARCH_POINT_TEXT], large[SEARCH_POINT_TEXT], evidence[3 * SEARCH_POINT_TEXT];
    snprintf(evidence, sizeof evidence, "%s takes %.3f of the CPU time of %s (%.3f to %.3f), although it collects less",
             options_of(large, view, finding->cache_large), finding->cache_cpu.median,
             *options_of(small, view, finding->cache_small) ? small : "the current options", finding->cache_cpu.least,
             finding->cache_cpu.most);
    return json_pack("{s:s,s:s,s:[s],s:s,s:s,s:n}", "key", "eden.cache", "severity", "note", "evidence", evidence,
                     "parameter", "eden_size", "value",
                     eden->text[view->search->candidate[finding->cache_small].point.choice[AXIS_EDEN]], "gain");
}

json_t *search_json(const struct search_request *request, const struct search_outcome *outcome) {
    struct view view = view_of(outcome);
    const struct search_finding *finding = view.finding;
    char options[SEARCH_POINT_TEXT];
    json_t *points = json_array(), *front = json_array(), *findings = json_array();
    for (size_t i = 0; i < view.search->count; i++) {
        json_array_append_new(points, point_json(&view, i));
    }
    for (size_t i = 0; i < finding->front_count; i++) {
        json_array_append_new(front, point_json(&view, finding->front[i]));
    }
    if (finding->cache) {
        json_array_append_new(findings, cache_json(&view));
    }
    return json_pack("{s:s,s:o,s:o,s:o,s:o,s:o,s:o,s:o,s:I,s:I,s:f,s:f,s:o,s:b}", "options",
                     options_of(options, &view, finding->recommended), "findings", findings, "default",
                     point_json(&view, 0), "recommended", point_json(&view, finding->recommended), "least_within",
                     point_json(&view, finding->least_within), "least_gc", point_json(&view, finding->least_gc),
                     "front", front, "points", points, "runs", (json_int_t)view.search->runs, "rounds",
                     (json_int_t)view.search->rounds, "noise", view.search->noise, "took_s", outcome->took,
                     "memory_factor",
                     isfinite(request->memory_factor) ? json_real(request->memory_factor) : json_null(), "interrupted",
                     outcome->interrupted);
}
