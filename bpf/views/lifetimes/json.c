/* The JSON object of `lifetimes --json`:
 *
 *     {"sampling", "mechanism", "lost", "wall_ns", "long_lived_share", "heaps": [...], "classes": [...], "sites":
 * [...]}
 *
 * Rows of classes and sites are of one heap each, named by "pid" and "heap". Counts and "bytes" are of samples,
 * "objects" and "memory_bytes" what they stand for; what is not known is null. With stacks, rows of sites are of one
 * stack each, which is "stack". */
#include "util/json.h"
#include "model/lifetimes/options.h"
#include "stats/by_stack.h"
#include "util/whole.h"
#include "views/lifetimes/table.h"
#include "views/lifetimes/view.h"
#include <math.h>
#include <string.h>

static void put(json_t *object, const char *key, json_t *value) { json_object_set_new(object, key, value); }
static void put_count(json_t *object, const char *key, uint64_t value) { put(object, key, json_number(value)); }
static void put_real(json_t *object, const char *key, double value) {
    put(object, key, isfinite(value) ? json_real(value) : json_null());
}
static void put_name(json_t *object, const char *key, const char *name) { put(object, key, json_name(name, 64)); }
static void put_mean(json_t *object, const char *key, const struct life_mean *mean) {
    put_real(object, key, mean->known ? mean->value : NAN);
}

static json_t *row(const struct life_heap *heap, const struct life_groups *groups, const struct life_site *group,
                   const struct life_view_options *options) {
    json_t *object = json_object();
    struct life_summary summary;
    struct life_curve curve;
    life_summarise(&summary, heap, group, &groups->total, &options->rule);
    life_curve_make(&curve, group, LIFE_NS, LIFE_BY_OBJECTS);
    struct life_percentile median = life_curve_percentile(&curve, 50);
    uint64_t unreported = life_unreported(group);
    put_count(object, "pid", heap->process.pid);
    put(object, "heap", json_known(heap->id));
    put(object, "serial", json_known(heap->serial));
    put_count(object, "births", summary.births);
    put_count(object, "deaths", summary.deaths);
    put_count(object, "censored", summary.censored + unreported);
    put_count(object, "unreported", unreported);
    put_count(object, "bytes", group->births.bytes);
    put_real(object, "objects", summary.objects);
    put_real(object, "memory_bytes", summary.bytes);
    put_real(object, "allocation_share", summary.allocation_share);
    put_real(object, "memory_share", summary.memory_share);
    put_mean(object, "mean_lifetime_ns", &summary.mean[LIFE_NS]);
    put_mean(object, "mean_lifetime_bytes", &summary.mean[LIFE_BYTES]);
    put_real(object, "mean_lifetime_share", summary.mean_share);
    put(object, "mean_is_lower_bound", json_boolean(summary.mean[LIFE_NS].restricted || unreported != 0));
    put(object, "median_lifetime_ns", curve.count != 0 && median.known ? json_number(median.value) : json_null());
    put_mean(object, "mean_scavenges", &summary.mean[LIFE_SCAVENGES]);
    put_mean(object, "mean_fulls", &summary.mean[LIFE_FULLS]);
    put(object, "verdict",
        summary.verdict == LIFE_UNKNOWN ? json_null() : json_string(life_verdict_name(summary.verdict)));
    put(object, "enough_samples", json_boolean(summary.enough));
    return object;
}

/* Innermost function first. */
static json_t *stack_json(const struct life_stacks *stacks, const struct life_stack *stack) {
    json_t *frames = stack ? json_array() : json_null();
    for (uint32_t i = 0; stack && i < stack->depth; i++) {
        const char *name = stacks->name[stack->frame[i]];
        json_array_append_new(frames, json_text(name, strlen(name)));
    }
    return frames;
}

static bool put_rows(json_t *rows, const struct life_heap *heap, const struct life_stacks *stacks,
                     const struct life_view_options *options, bool by_site) {
    struct life_groups groups;
    if (!life_groups_make(&groups, heap, by_site)) {
        return false;
    }
    for (size_t i = 0; i < groups.count; i++) {
        const struct life_site *group = groups.at[i];
        bool itself = group->site == group->class_id && !group->class_name[0];
        json_t *object = row(heap, &groups, group, options);
        put_name(object, "name", by_site || itself ? group->name : group->class_name);
        if (by_site) {
            put_name(object, "class", itself ? group->name : group->class_name);
            put_count(object, "site_id", group->origin);
        }
        put_count(object, "class_id", group->class_id);
        if (by_site && stacks) {
            put(object, "stack", stack_json(stacks, group->stack));
        }
        json_array_append_new(rows, object);
    }
    life_groups_clear(&groups);
    return true;
}

static json_t *heap_json(const struct life_heap *heap) {
    const struct eden_profile_record *state = &heap->state;
    char sampling[LIFE_SAMPLING_TEXT];
    json_t *object = json_object();
    put_count(object, "pid", heap->process.pid);
    put_name(object, "command", heap->command);
    put(object, "heap", json_known(heap->id));
    put(object, "serial", json_known(heap->serial));
    put_name(object, "name", heap->name);
    put(object, "profiled", json_boolean(heap->begun));
    if (!heap->begun) {
        return object;
    }
    put(object, "sampling", json_string(life_sampling_text(sampling, state->sampling, state->rate)));
    put_count(object, "rate", state->rate);
    put(object, "mechanism", json_string(life_mechanism_text(state->mechanism)));
    put(object, "ended", json_boolean(state->ended));
    put_count(object, "seq", state->seq);
    put_count(object, "run_ns", whole_of(life_run(heap, LIFE_NS)));
    put_count(object, "begun_bytes", state->begun_bytes);
    put_count(object, "run_bytes", whole_of(life_run(heap, LIFE_BYTES)));
    put_count(object, "lost", state->lost);
    put_count(object, "step", state->step);
    put_count(object, "passes", state->passes);
    put_count(object, "work_ns", state->work_ns);
    put_count(object, "held_bytes", state->held_bytes);
    return object;
}

/* What all heaps did; "mixed" where they differ, null where none profiled. */
static void put_setting(json_t *object, const struct life_model *model) {
    const struct eden_profile_record *first = NULL;
    bool sampling_differs = false, mechanism_differs = false;
    char text[LIFE_SAMPLING_TEXT];
    for (size_t i = 0; i < model->heap_count; i++) {
        const struct eden_profile_record *state = &model->heaps[i].state;
        if (!model->heaps[i].begun) {
            continue;
        }
        first = first ? first : state;
        sampling_differs = sampling_differs || state->sampling != first->sampling || state->rate != first->rate;
        mechanism_differs = mechanism_differs || state->mechanism != first->mechanism;
    }
    if (!first) {
        put(object, "sampling", json_null());
        put(object, "mechanism", json_null());
        return;
    }
    put(object, "sampling",
        json_string(sampling_differs ? "mixed" : life_sampling_text(text, first->sampling, first->rate)));
    put(object, "mechanism", json_string(mechanism_differs ? "mixed" : life_mechanism_text(first->mechanism)));
}

bool life_json(FILE *out, const struct life_model *model, const struct life_view_options *options,
               struct failure *why) {
    json_t *object = json_object(), *heaps = json_array(), *classes = json_array(), *sites = json_array();
    bool made = object && heaps && classes && sites;
    if (made) {
        put_setting(object, model);
        put_count(object, "lost", model->lost);
        put_count(object, "wall_ns", model->wall_ns);
        put_real(object, "long_lived_share", options->rule.share);
    }
    for (size_t i = 0; made && i < model->heap_count; i++) {
        json_t *heap = heap_json(&model->heaps[i]);
        if (model->stacks) {
            put_count(heap, "unknown_stacks", life_by_stack_unknown(&model->heaps[i]));
        }
        json_array_append_new(heaps, heap);
        made = put_rows(classes, &model->heaps[i], model->stacks, options, false) &&
               put_rows(sites, &model->heaps[i], model->stacks, options, true);
    }
    put(object, "heaps", heaps);
    put(object, "classes", classes);
    put(object, "sites", sites);
    if (!made) {
        json_decref(object);
        return life_no_memory(why);
    }
    return json_print_as(out, "edenscope/lifetimes/1", object) || ferror(out) || life_no_memory(why);
}
