#include "cli/report_page.h"
#include "advise/facts/facts.h"
#include "advise/print.h"
#include "util/whole.h"
#include "views/lifetimes/survival.h"
#include "views/lifetimes/table.h"
#include "views/page/page.h"
#include <stdlib.h>

/* A text of JSON that something prints. */
struct printed {
    char *text; /* owned */
    size_t size;
    FILE *out; /* NULL: no memory */
};

static void begin(struct printed *printed) { printed->out = open_memstream(&printed->text, &printed->size); }

/* A new reference; NULL: no memory. */
static json_t *end(struct printed *printed) {
    bool good = printed->out && fclose(printed->out) == 0;
    json_t *json = good ? json_loadb(printed->text, printed->size, 0, NULL) : NULL;
    free(printed->text);
    return json;
}

/* As `tune -i` finds them. */
static json_t *findings_of(const struct viewed *viewed, const struct heap_choice *choice, struct failure *why) {
    struct tune_heaps heaps = {0};
    bool good = tune_heaps_read(&heaps, viewed->recording, choice, why);
    struct findings *findings = good ? calloc(heaps.count + 1, sizeof *findings) : NULL;
    struct printed printed = {0};
    bool has_memory = findings;
    for (size_t i = 0; has_memory && i < heaps.count; i++) {
        has_memory = tune_examine(&heaps.at[i], &findings[i]);
    }
    if (has_memory) {
        struct tune_report report = {.findings = findings, .heaps = heaps.count, .before = ""};
        tune_merge(findings, heaps.count, &report.options);
        begin(&printed);
        has_memory = printed.out && tune_print_json(printed.out, &report);
    }
    json_t *json = end(&printed);
    if (good && (!has_memory || !json)) {
        failure_set(why, 1, "out of memory for the findings");
    }
    for (size_t i = 0; findings && i < heaps.count; i++) {
        findings_clear(&findings[i]);
    }
    free(findings);
    tune_heaps_clear(&heaps);
    return json;
}

/* As json_number() has written it; null: 0. */
static uint64_t number_of(const json_t *row, const char *name) {
    const json_t *number = json_object_get(row, name);
    return json_is_real(number) ? whole_of(json_real_value(number)) : (uint64_t)json_integer_value(number);
}

/* Removes the rows of others. */
static void keep_chosen(json_t *lifetimes, const char *name, const struct heap_choice *choice) {
    json_t *rows = json_object_get(lifetimes, name);
    for (size_t i = json_array_size(rows); i-- > 0;) {
        const json_t *row = json_array_get(rows, i);
        const struct heap_ref heap = {.id = number_of(row, "heap"), .serial = number_of(row, "serial")};
        if (!heap_is_chosen(choice, (uint32_t)number_of(row, "pid"), heap)) {
            json_array_remove(rows, i);
        }
    }
}

/* What `lifetimes -i --json` prints, and the curves of those classes that a chart has room for. */
static bool add_lifetimes(struct page_extras *extras, const struct viewed *viewed, const struct heap_choice *choice,
                          struct failure *why) {
    enum { MOST_CURVES = 8 };
    struct life_model model = {0};
    struct printed printed = {0};
    bool good = recording_lifetimes(viewed->recording, &model, why);
    if (good) {
        begin(&printed);
        good = printed.out && life_json(printed.out, &model, &life_view_defaults, why);
    }
    extras->lifetimes = end(&printed);
    extras->survival = good ? life_survival_json(&model, MOST_CURVES) : NULL;
    if (good && (!extras->lifetimes || !extras->survival)) {
        good = failure_set(why, 1, "out of memory for the lifetimes");
    }
    life_model_clear(&model);
    static const char *const tables[] = {"heaps", "classes", "sites"};
    for (int i = 0; good && i < 3; i++) {
        keep_chosen(extras->lifetimes, tables[i], choice);
    }
    if (good) {
        keep_chosen(extras->survival, "curves", choice);
    }
    return good;
}

bool report_page(FILE *out, const char *path, const struct viewed *viewed, const struct heap_choice *choice,
                 struct failure *why) {
    struct page_extras extras = {.findings = findings_of(viewed, choice, why)};
    bool good = extras.findings;
    if (good && recording_info(viewed->recording)->lifetimes) {
        good = add_lifetimes(&extras, viewed, choice, why);
    }
    good = good && page_write(out, path, viewed, &extras, why);
    json_decref(extras.findings);
    json_decref(extras.lifetimes);
    json_decref(extras.survival);
    return good;
}
