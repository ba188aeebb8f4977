/* What a search has found: the front as a table, what is recommended, and what was noticed; the same as JSON. */
#include "advise/trials/search_trials.h"
#include "util/format.h"
#include <math.h>
#include <string.h>

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

static void print_point(FILE *out, const struct view *view, size_t index) {
    const struct candidate *candidate = &view->search->candidate[index];
    struct search_figures figures = search_medians(view->search, index);
    char memory[FORMAT_MAX], gc[FORMAT_MAX], wall[FORMAT_MAX], pause[FORMAT_MAX], options[SEARCH_POINT_TEXT];
    size_t runs = candidate->first_final < candidate->runs ? candidate->runs - candidate->first_final : candidate->runs;
    options_of(options, view, index);
    fprintf(out, "%c %10s %10s %10s %10s %5zu  %s\n", index == view->finding->recommended ? '*' : ' ',
            format_bytes(memory, (uint64_t)figures.memory), format_ns(gc, (uint64_t)(figures.gc * 1e9)),
            format_ns(wall, (uint64_t)(figures.wall * 1e9)), format_ns(pause, (uint64_t)(figures.pause * 1e9)), runs,
            *options ? options : "(current)");
}

static void print_table(FILE *out, const struct view *view) {
    const struct search_finding *finding = view->finding;
    fprintf(out, "  %10s %10s %10s %10s %5s  %s\n", "memory", "GC time", "time", "pause", "runs", "options");
    if (!is_on_front(view, 0)) {
        print_point(out, view, 0);
    }
    if (!is_on_front(view, finding->recommended) && finding->recommended != 0) {
        print_point(out, view, finding->recommended);
    }
    for (size_t i = 0; i < finding->front_count; i++) {
        print_point(out, view, finding->front[i]);
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
    struct spread cpu = search_cpu_ratio(view->search, 0, least);
    if (least != view->finding->recommended && cpu.count > 0 && cpu.median > 1) {
        fprintf(out,
                "\n"
                "Not recommended: %s has less GC time, but takes %.1f%% more CPU time in total.\n",
                options_of(options, view, least), 100 * (cpu.median - 1));
    }
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
    if (chosen == 0) {
        fprintf(out,
                "\n"
                "Nothing better was found%s: keep the current parameters.\n",
                within);
        return;
    }
    fprintf(out,
            "\n"
            "Recommended (*): the least GC time%s, %.2f of the current one",
            within, before.gc > 0 ? after.gc / before.gc : 1);
    fprintf(out,
            "; total time %.3f, memory %.2f.\n"
            "Run it with:\n"
            "  EDEN_OPTIONS=\"%s\" %s\n",
            after.wall / before.wall, after.memory / before.memory, options_of(options, view, chosen),
            command ? command : "PROGRAM");
}

void search_print(FILE *out, const struct search_request *request, const struct search_outcome *outcome,
                  const char *command) {
    struct view view = view_of(outcome);
    const struct search *search = view.search;
    fprintf(out,
            "\n"
            "%zu runs in %.1f s; GC time varies by about %.0f%% from run to run\n\n",
            search->runs, outcome->took, 100 * search->noise);
    print_table(out, &view);
    print_recommended(out, request, &view, command);
    print_cache(out, &view);
    if (search->rounds == 0) {
        fprintf(out, "The budget left no time to compare the best options again: take this as a first estimate.\n");
    }
    if (outcome->first.heaps > 1) {
        fprintf(out, "Figures are sums of %u heaps in %u process%s; memory is that of the largest process.\n",
                outcome->first.heaps, outcome->first.processes, outcome->first.processes == 1 ? "" : "es");
    }
    if (outcome->first.left_behind) {
        fprintf(out, "%u of its processes were still running when the command ended, and were killed.\n",
                outcome->first.left_behind);
    }
    if (outcome->first.peak_is_bound) {
        fprintf(out, "Memory is an upper bound: it is too small to distinguish from edenscope's own.\n");
    }
    if (outcome->interrupted) {
        fprintf(out, "Interrupted: these are the results so far.\n");
    }
}

/* ---- as JSON ---------------------------------------------------------------------------------------------------- */

static json_t *point_json(const struct view *view, size_t index) {
    const struct candidate *candidate = &view->search->candidate[index];
    char options[SEARCH_POINT_TEXT];
    if (candidate->runs == 0) {
        return json_pack("{s:s,s:i,s:b}", "options", options_of(options, view, index), "runs", 0, "failed", 1);
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
