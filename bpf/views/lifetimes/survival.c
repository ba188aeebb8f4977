/* Survival curves, after Kaplan and Meier (stats/curve.c): a step a bucket in which something ended. */
#include "views/lifetimes/survival.h"
#include "util/csv.h"
#include "util/plot.h"
#include <inttypes.h>
#include <stdlib.h>

static void print_curve(FILE *out, const struct life_heap *heap, const struct life_site *group,
                        const struct life_view_options *options) {
    struct life_curve curve;
    life_curve_make(&curve, group, options->clock, options->by);
    for (size_t i = 0; i < curve.count; i++) {
        const struct life_point *point = &curve.at[i];
        life_csv_begin(out, heap);
        csv_field(out, group->class_name);
        fputc(',', out);
        if (options->by_site) {
            csv_field(out, group->name);
        }
        fprintf(out, ",%" PRIu32 ",%s,%" PRIu64 ",", group->site, life_clock_names[options->clock],
                histogram_lower(point->bucket));
        if (histogram_upper(point->bucket) != UINT64_MAX) {
            fprintf(out, "%" PRIu64, histogram_upper(point->bucket));
        }
        fprintf(out, ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%.9g,%.9g", point->at_risk, point->deaths, point->censored,
                point->survival, point->error);
        life_csv_end(out, heap);
    }
}

bool life_view_survival(FILE *out, const struct life_model *model, const struct life_view_options *options,
                        struct failure *why) {
    fputs("pid,heap,class,site,index,clock,lower,upper,at_risk,deaths,censored,survival,error,serial\r\n", out);
    for (size_t i = 0; i < model->heap_count; i++) {
        struct life_groups groups;
        if (!life_groups_make(&groups, &model->heaps[i], options->by_site)) {
            return life_no_memory(why);
        }
        for (size_t j = 0; j < life_rows(options, groups.count); j++) {
            print_curve(out, &model->heaps[i], groups.at[j], options);
        }
        life_groups_clear(&groups);
    }
    return true;
}

/* ---- JSON -------------------------------------------------------------------------------------------------------- */

static void put(json_t *object, const char *key, json_t *value) { json_object_set_new(object, key, value); }

static json_t *points_json(const struct life_site *group, enum life_clock clock) {
    struct life_curve curve;
    json_t *points = json_array();
    life_curve_make(&curve, group, clock, LIFE_BY_OBJECTS);
    if (curve.count != 0) {
        json_array_append_new(points, json_pack("[o, i]", json_number(histogram_lower(curve.at[0].bucket)), 1));
    }
    for (size_t i = 0; i < curve.count; i++) {
        uint64_t upper = histogram_upper(curve.at[i].bucket);
        json_array_append_new(
            points, json_pack("[o, f]", upper == UINT64_MAX ? json_null() : json_number(upper), curve.at[i].survival));
    }
    return points;
}

static json_t *curve_json(const struct life_heap *heap, const struct life_site *group) {
    json_t *object = json_object();
    put(object, "pid", json_number(heap->process.pid));
    put(object, "heap", json_known(heap->id));
    put(object, "serial", json_known(heap->serial));
    put(object, "class_id", json_number(group->class_id));
    put(object, "name", json_name(group->class_name, sizeof group->class_name));
    put(object, life_clock_names[LIFE_NS], points_json(group, LIFE_NS));
    put(object, life_clock_names[LIFE_BYTES], points_json(group, LIFE_BYTES));
    return object;
}

json_t *life_survival_json(const struct life_model *model, size_t top) {
    json_t *object = json_object(), *curves = json_array();
    for (size_t i = 0; i < model->heap_count; i++) {
        struct life_groups groups;
        if (!life_groups_make(&groups, &model->heaps[i], false)) {
            json_decref(curves);
            json_decref(object);
            return NULL;
        }
        for (size_t j = 0; j < groups.count && j < top; j++) {
            json_array_append_new(curves, curve_json(&model->heaps[i], groups.at[j]));
        }
        life_groups_clear(&groups);
    }
    put(object, "top", json_number(top));
    put(object, "curves", curves);
    return object;
}

/* ---- chart ------------------------------------------------------------------------------------------------------- */

/* Collections survived start at 0, which a logarithmic scale does not have. */
enum { MOST_LINES = 12 }; /* of a chart */

static double position(enum life_clock clock, uint64_t value) {
    return clock == LIFE_NS ? (double)(value ? value : 1) / 1e9 : (double)value;
}

static bool is_logarithmic(enum life_clock clock) { return clock == LIFE_NS || clock == LIFE_BYTES; }

/* From 1 at the beginning; the last step goes on to the end of its bucket, whether something was censored or not. */
static void print_steps(FILE *script, size_t number, const struct life_curve *curve) {
    double before = 1;
    fprintf(script, "$curve%zu << EOD\n", number);
    uint64_t lower = histogram_lower(curve->at[0].bucket);
    if (!is_logarithmic(curve->clock)) {
        lower = 0;
    }
    fprintf(script, "%.9g 1\n", position(curve->clock, lower ? lower : is_logarithmic(curve->clock)));
    for (size_t i = 0; i < curve->count; i++) {
        uint64_t upper = histogram_upper(curve->at[i].bucket);
        double at = position(curve->clock, upper == UINT64_MAX ? histogram_lower(curve->at[i].bucket) : upper);
        at = at <= 0 && is_logarithmic(curve->clock) ? 1 : at;
        fprintf(script, "%.9g %.9g\n%.9g %.9g\n", at, before, at, curve->at[i].survival);
        before = curve->at[i].survival;
    }
    fputs("EOD\n", script);
}

static void print_axes(FILE *script, const struct life_view_options *options, const char *title) {
    static const char *const axes[LIFE_CLOCKS] = {"lifetime, in seconds", "lifetime, in bytes allocated",
                                                  "scavenges survived", "full collections survived"};
    fputs("set title ", script);
    plot_string(script, title);
    fprintf(script,
            "\nset xlabel '%s'\nset ylabel 'share of %s alive'\nset yrange [0:1]\nset key outside below Left reverse\n",
            axes[options->clock], options->by == LIFE_BY_MEMORY ? "memory" : "objects");
    if (is_logarithmic(options->clock)) {
        fputs("set logscale x\nset format x '%.0s%c'\n", script);
    }
    fputs("set grid\n", script);
}

static bool collect(FILE *script, FILE *lines, const struct life_heap *heap, const struct life_view_options *options,
                    size_t *number) {
    struct life_groups groups;
    if (!life_groups_make(&groups, heap, options->by_site)) {
        return false;
    }
    for (size_t i = 0; i < life_rows(options, groups.count) && *number < MOST_LINES; i++) {
        struct life_curve curve;
        char label[LIFE_LABEL];
        life_curve_make(&curve, groups.at[i], options->clock, options->by);
        if (curve.count == 0) {
            continue;
        }
        print_steps(script, *number, &curve);
        fprintf(lines, "%s $curve%zu using 1:2 with lines lw 2 title ", *number ? ",\\\n" : "plot", *number);
        plot_string(lines, life_group_label(label, groups.at[i], options->by_site));
        ++*number;
    }
    life_groups_clear(&groups);
    return true;
}

bool life_view_survival_svg(FILE *out, const struct life_model *model, const struct life_view_options *options,
                            struct failure *why) {
    struct plot plot;
    char *text = NULL;
    size_t size = 0, number = 0;
    FILE *lines = open_memstream(&text, &size);
    if (!lines || !plot_begin(&plot, 900, 600, why)) {
        if (lines) {
            fclose(lines);
        }
        free(text);
        return life_no_memory(why);
    }
    bool good = true;
    print_axes(plot.script, options, "Survival of objects (Kaplan-Meier)");
    for (size_t i = 0; i < model->heap_count && good; i++) {
        good = collect(plot.script, lines, &model->heaps[i], options, &number);
    }
    good = fclose(lines) == 0 && good;
    if (!good || number == 0) {
        plot_clear(&plot);
        free(text);
        return good ? life_nothing_to_draw(why) : life_no_memory(why);
    }
    fprintf(plot.script, "%s\n", text);
    free(text);
    return plot_end(&plot, options->plotter, out, why);
}
