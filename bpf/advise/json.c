/* Findings as JSON. What is not known, or does not apply, is null. */
#include "util/json.h"
#include "advise/print.h"
#include "advise/rules/account.h"

static void put(json_t *object, const char *key, json_t *value) { json_object_set_new(object, key, value); }

/* Names in it have the form that they have in text. */
static json_t *words(const char *text) { return json_name(text, TUNE_TEXT); }

static json_t *finding_json(const struct tune_facts *facts, const struct finding *finding) {
    char value[TUNE_VALUE];
    const struct setting *setting = finding->settings;
    json_t *object = json_object(), *evidence = json_array();
    put(object, "key", json_string(finding->key));
    put(object, "severity", json_string(tune_severity_names[finding->severity]));
    for (int i = 0; i < finding->evidence_count; i++) {
        json_array_append_new(evidence, words(finding->evidence[i]));
    }
    put(object, "evidence", evidence);
    bool set = finding->setting_count > 0;
    put(object, "parameter", set ? json_string(eden_param(setting->parameter)->name) : json_null());
    put(object, "value", set ? json_string(tune_value(value, setting->parameter, setting->number)) : json_null());
    put(object, "gain",
        finding->gains ? json_pack("{s:f,s:f}", "min", finding->gain_min, "max", finding->gain_max) : json_null());
    put(object, "why", words(finding->why));
    put(object, "how", words(finding->how));
    put(object, "cost", words(finding->cost));
    put(object, "time_share", json_real(finding->time_share));
    json_t *also = json_object();
    for (int i = 1; i < finding->setting_count; i++) {
        setting = &finding->settings[i];
        put(also, eden_param(setting->parameter)->name,
            json_string(tune_value(value, setting->parameter, setting->number)));
    }
    put(object, "also", also);
    put(object, "pid", json_number(facts->process.pid));
    put(object, "heap", json_known(facts->id));
    put(object, "serial", json_known(facts->serial));
    put(object, "name", json_name(facts->heap_name, sizeof facts->heap_name));
    return object;
}

static json_t *share(bool is_known, double number) { return is_known ? json_real(number) : json_null(); }

static json_t *account_json(const struct findings *findings) {
    struct account account;
    struct account_shares shares;
    account_make(&account, findings);
    account_shares(&shares, &account, findings->facts);
    bool is_known = tune_has_collections(findings->facts) || tune_is_at_rest(findings->facts) ||
                    tune_unfinished_ns(findings->facts) != 0;
    json_t *object = json_object(), *rest = json_object();
    put(object, "pid", json_number(findings->facts->process.pid));
    put(object, "heap", json_known(findings->facts->id));
    put(object, "serial", json_known(findings->facts->serial));
    put(object, "gc_share", share(is_known, shares.gc));
    put(object, "explained_share", share(is_known, shares.explained));
    put(object, "unexplained_share", share(is_known, shares.unexplained));
    for (int kind = 0; kind < TUNE_KINDS; kind++) {
        put(rest, account_kinds[kind], share(is_known, shares.rest[kind]));
    }
    put(object, "unexplained", rest);
    put(object, "max_pause_ns", json_number(tune_figure(findings->facts, EDEN_FIGURE_max_pause_ns)));
    return object;
}

/* What is for one heap alone. */
static json_t *withheld_json(const struct tune_options *options) {
    json_t *list = json_array();
    for (int i = 0; i < EDEN_PARAM_COUNT; i++) {
        const struct tune_facts *of = options->of[i], *harmed = options->harmed[i];
        char value[TUNE_VALUE];
        if (harmed) {
            json_array_append_new(
                list, json_pack("{s:s,s:s,s:s,s:I,s:o,s:o,s:o}", "parameter", eden_param((enum eden_param_id)i)->name,
                                "value", tune_value(value, (enum eden_param_id)i, options->number[i]), "key",
                                options->from[i], "pid", (json_int_t)of->process.pid, "heap", json_known(of->id),
                                "serial", json_known(of->serial), "harms_heap", json_known(harmed->id)));
        }
    }
    return list;
}

bool tune_print_json(FILE *out, const struct tune_report *report) {
    char line[TUNE_OPTIONS_LINE];
    json_t *object = json_object(), *findings = json_array(), *unexamined = json_array(), *accounts = json_array();
    for (size_t i = 0; i < report->heaps; i++) {
        const struct findings *of = &report->findings[i];
        json_array_append_new(accounts, account_json(of));
        for (size_t j = 0; j < of->count; j++) {
            json_array_append_new(findings, finding_json(of->facts, &of->at[j]));
        }
        for (int j = 0; j < of->unexamined_count; j++) {
            json_array_append_new(unexamined,
                                  json_pack("{s:s,s:s,s:I,s:o,s:o}", "key", of->unexamined[j].key, "needs",
                                            of->unexamined[j].needs, "pid", (json_int_t)of->facts->process.pid, "heap",
                                            json_known(of->facts->id), "serial", json_known(of->facts->serial)));
        }
    }
    put(object, "findings", findings);
    put(object, "options", json_string(tune_options_line(line, &report->options)));
    put(object, "withheld", withheld_json(&report->options));
    put(object, "accounts", accounts);
    put(object, "unexamined", unexamined);
    return json_print_as(out, "edenscope/tune/1", object) || ferror(out);
}
