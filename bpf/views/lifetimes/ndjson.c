/* NDJSON: one JSON object per line, distinguished by "kind": a heap, then its classes, its sites, and its objects where
 * they were recorded one by one. Counts are of samples, "objects" and "memory_bytes" what they stand for; what is not
 * known is null. */
#include "eden_values.h"
#include "util/json.h"
#include "util/whole.h"
#include "views/lifetimes/view.h"
#include <math.h>

static void put(json_t *line, const char *key, json_t *value) { json_object_set_new(line, key, value); }
static void put_count(json_t *line, const char *key, uint64_t value) { put(line, key, json_number(value)); }
static void put_real(json_t *line, const char *key, double value) {
    put(line, key, isfinite(value) ? json_real(value) : json_null());
}
static void put_name(json_t *line, const char *key, const char *name) { put(line, key, json_name(name, 64)); }

/* jansson refuses to put into, or to print, what there was no memory for. */
static bool print_line(FILE *out, json_t *line) {
    bool good = line != NULL && (json_print(out, line) || ferror(out));
    json_decref(line);
    return good;
}

static json_t *begin(const char *kind, const struct life_heap *heap) {
    json_t *line = json_object();
    put(line, "kind", json_string(kind));
    put_count(line, "pid", heap->process.pid);
    put(line, "heap", json_known(heap->id));
    put(line, "serial", json_known(heap->serial));
    return line;
}

static json_t *word_or_null(const char *word) { return word ? json_string(word) : json_null(); }

static bool print_heap(FILE *out, const struct life_model *model, const struct life_heap *heap) {
    const struct eden_profile_record *state = &heap->state;
    json_t *line = begin("heap", heap);
    put_name(line, "command", heap->command);
    put_name(line, "name", heap->name);
    put(line, "sampling", word_or_null(heap->begun ? eden_sampling_name(state->sampling) : NULL));
    put(line, "rate", heap->begun ? json_number(state->rate) : json_null());
    put(line, "mechanism", word_or_null(heap->begun ? eden_mechanism_name(state->mechanism) : NULL));
    put(line, "run_ns", heap->begun ? json_number(whole_of(life_run(heap, LIFE_NS))) : json_null());
    put(line, "run_bytes", heap->begun ? json_number(whole_of(life_run(heap, LIFE_BYTES))) : json_null());
    put(line, "complete", json_boolean(heap->begun && state->ended));
    put_count(line, "lost", model->lost);
    return print_line(out, line);
}

static json_t *mean_json(const struct life_mean *mean) {
    return mean->known && isfinite(mean->value) ? json_real(mean->value) : json_null();
}

static void put_percentiles(json_t *line, const struct life_site *group, const struct life_view_options *options) {
    static const double percents[] = {25, 50, 75, 90, 99};
    struct life_curve curve;
    json_t *values = json_object();
    life_curve_make(&curve, group, options->clock, options->by);
    for (size_t i = 0; i < sizeof percents / sizeof *percents; i++) {
        char key[16];
        struct life_percentile found = life_curve_percentile(&curve, percents[i]);
        snprintf(key, sizeof key, "p%.0f", percents[i]);
        put(values, key, found.known ? json_number(found.value) : json_null());
    }
    put(line, "clock", json_string(life_clock_names[options->clock]));
    put(line, "percentiles", values);
}

static bool print_group(FILE *out, const struct life_heap *heap, const struct life_groups *groups,
                        const struct life_site *group, const struct life_view_options *options, bool by_site) {
    struct life_summary summary;
    life_summarise(&summary, heap, group, &groups->total, &options->rule);
    json_t *line = begin(by_site ? "site" : "class", heap);
    put_count(line, "index", group->site);
    put_name(line, "name", group->name);
    if (by_site) {
        put_count(line, "class_index", group->class_id);
        put_name(line, "class", group->class_name);
    }
    put_count(line, "births", summary.births);
    put_count(line, "deaths", summary.deaths);
    put_count(line, "censored", summary.censored);
    put_count(line, "bytes", group->births.bytes);
    put_real(line, "objects", summary.objects);
    put_real(line, "memory_bytes", summary.bytes);
    put_real(line, "allocation_share", summary.allocation_share);
    put_real(line, "memory_share", summary.memory_share);
    put(line, "mean_lifetime_ns", mean_json(&summary.mean[LIFE_NS]));
    put(line, "mean_lifetime_bytes", mean_json(&summary.mean[LIFE_BYTES]));
    put(line, "mean_lifetime_scavenges", mean_json(&summary.mean[LIFE_SCAVENGES]));
    put(line, "mean_lifetime_fulls", mean_json(&summary.mean[LIFE_FULLS]));
    put_real(line, "mean_lifetime_share", summary.mean_share);
    put(line, "mean_restricted", json_boolean(summary.mean[options->rule.clock].restricted));
    put_percentiles(line, group, options);
    put_real(line, "long_lived_objects_share", summary.long_share);
    put_real(line, "long_lived_memory_share", summary.long_memory);
    put(line, "verdict", word_or_null(summary.verdict == LIFE_UNKNOWN ? NULL : life_verdict_name(summary.verdict)));
    put(line, "enough_samples", json_boolean(summary.enough));
    return print_line(out, line);
}

static bool print_groups(FILE *out, const struct life_heap *heap, const struct life_view_options *options,
                         bool by_site) {
    struct life_groups groups;
    bool good = life_groups_make(&groups, heap, by_site);
    for (size_t i = 0; good && i < groups.count; i++) {
        good = print_group(out, heap, &groups, groups.at[i], options, by_site);
    }
    life_groups_clear(&groups);
    return good;
}

struct printing {
    FILE *out;
    bool failed; /* no memory */
};

static bool print_object(void *context, const struct life_heap *heap, const struct eden_life_record *record) {
    struct printing *printing = context;
    json_t *line = begin("object", heap);
    put_count(line, "site", record->site);
    put_count(line, "bytes", record->bytes);
    put_count(line, "birth_ns", record->birth_ns);
    put_count(line, "birth_bytes", record->birth_bytes);
    put(line, "tenured_ns", record->tenured_ns ? json_number(record->tenured_ns) : json_null());
    put(line, "tenured_bytes", record->tenured_bytes ? json_number(record->tenured_bytes) : json_null());
    put_count(line, "end_ns", record->death_ns);
    put_count(line, "end_bytes", record->death_bytes);
    put(line, "last_seen_ns", record->last_ns ? json_number(record->last_ns) : json_null());
    put(line, "last_seen_bytes", record->last_bytes ? json_number(record->last_bytes) : json_null());
    put_count(line, "scavenges", record->scavenges);
    put_count(line, "fulls", record->fulls);
    put(line, "born_old", json_boolean(record->flags & EDEN_LIFE_BORN_OLD));
    put(line, "nepotism", json_boolean(record->flags & EDEN_LIFE_NEPOTISM));
    put(line, "censored", json_boolean(record->censored));
    put_real(line, "weight", (double)record->weight / EDEN_WEIGHT_ONE);
    printing->failed = !print_line(printing->out, line);
    return !printing->failed && !ferror(printing->out);
}

bool life_view_ndjson(FILE *out, const struct life_model *model, const struct life_view_options *options,
                      struct failure *why) {
    for (size_t i = 0; i < model->heap_count; i++) {
        const struct life_heap *heap = &model->heaps[i];
        if (!print_heap(out, model, heap) || !print_groups(out, heap, options, false) ||
            !print_groups(out, heap, options, true)) {
            return life_no_memory(why);
        }
    }
    struct printing printing = {.out = out};
    if (model->objects.each && !model->objects.each(model->objects.from, model, print_object, &printing, why)) {
        return false;
    }
    return !printing.failed || life_no_memory(why);
}
