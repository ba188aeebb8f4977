/* Building blocks for findings, and the order in which findings are reported. */
#include "advise/rules/rule.h"
#include "util/array.h"
#include "util/format.h"
#include "util/style.h"
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const double TUNE_MATTERS = 0.02, TUNE_WORTH_MEMORY = 0.04;
const char *const tune_severity_names[] = {"note", "low", "medium", "high"};

struct finding *finding_add(struct findings *findings, const char *key, double time_share) {
    struct finding *finding = array_grow(&findings->at, &findings->room, findings->count, sizeof *finding);
    findings->out_of_memory = findings->out_of_memory || !finding;
    findings->count += finding != NULL;
    finding = finding ? finding : &findings->spare;
    enum tune_severity severity = time_share >= STYLE_SHARE_HIGH     ? TUNE_HIGH
                                  : time_share >= STYLE_SHARE_MEDIUM ? TUNE_MEDIUM
                                  : time_share >= TUNE_MATTERS       ? TUNE_LOW
                                                                     : TUNE_NOTE;
    *finding = (struct finding){.key = key, .severity = severity, .time_share = time_share};
    return finding;
}

void finding_evidence(struct finding *finding, const char *format, ...) {
    va_list list;
    va_start(list, format);
    if (finding->evidence_count < TUNE_EVIDENCE) {
        vsnprintf(finding->evidence[finding->evidence_count++], TUNE_TEXT, format, list);
    }
    va_end(list);
}

void finding_why(struct finding *finding, const char *format, ...) {
    va_list list;
    va_start(list, format);
    vsnprintf(finding->why, sizeof finding->why, format, list);
    va_end(list);
}

void finding_how(struct finding *finding, const char *format, ...) {
    va_list list;
    va_start(list, format);
    vsnprintf(finding->how, sizeof finding->how, format, list);
    va_end(list);
}

void finding_cost(struct finding *finding, const char *format, ...) {
    va_list list;
    va_start(list, format);
    vsnprintf(finding->cost, sizeof finding->cost, format, list);
    va_end(list);
}

void finding_set(struct finding *finding, enum eden_param_id parameter, double number) {
    if (finding->setting_count < TUNE_SETTINGS) {
        finding->settings[finding->setting_count++] = (struct setting){parameter, number};
    }
}

void finding_explains(struct finding *finding, double scavenges_ns, double fulls_ns) {
    finding->explained_ns[TUNE_SCAVENGES] = fmax(scavenges_ns, 0);
    finding->explained_ns[TUNE_FULLS] = fmax(fulls_ns, 0);
}

void finding_gain(struct finding *finding, double min, double max) {
    finding->gain_min = fmin(fmax(fmin(min, max), 0), 1);
    finding->gain_max = fmin(fmax(fmax(min, max), 0), 1);
    finding->gains = finding->gain_max > 0;
}

void tune_not_examined(struct findings *findings, const char *key, const char *needs) {
    if (findings->unexamined_count < TUNE_UNEXAMINED) {
        findings->unexamined[findings->unexamined_count++] = (struct unexamined){key, needs};
    }
}

void tune_needs_lifetimes(struct findings *findings, const char *key) {
    if (tune_gc_share(findings->facts) >= TUNE_MATTERS) {
        tune_not_examined(findings, key,
                          findings->facts->details ? "needs more samples"
                                                   : "needs record --lifetimes=details, or tune -p");
    }
}

bool finding_is_of_tenuring(const struct finding *finding) {
    return strcmp(finding->key, "tenure.premature") == 0 || strcmp(finding->key, "tenure.nepotism") == 0 ||
           strcmp(finding->key, "scavenge.overflow") == 0;
}

char *tune_when(char text[TUNE_WHEN], const struct tune_facts *facts, uint64_t time_ns) {
    uint64_t since = time_ns > facts->start_ns ? time_ns - facts->start_ns : 0;
    snprintf(text, TUNE_WHEN, "%.3g s", (double)since / 1e9);
    return text;
}

char *tune_phase(char text[PHASE_NOW_MAX], const struct tune_facts *facts) {
    const struct collection_model *collection = &facts->collection;
    const bool is_known = collection->phase_since_ns && collection->until_ns >= collection->phase_since_ns;
    return phase_table_in(text, "in", collection->phase, is_known, collection->until_ns - collection->phase_since_ns);
}

/* What a parameter cures comes first. */
static int by_time(const void *a, const void *b) {
    const struct finding *x = a, *y = b;
    if (!x->setting_count != !y->setting_count) {
        return !x->setting_count - !y->setting_count;
    }
    if (x->severity != y->severity) {
        return (x->severity < y->severity) - (x->severity > y->severity);
    }
    return (x->time_share < y->time_share) - (x->time_share > y->time_share);
}

/* With pause_goal the time that scavenges take decides how much of eden the program gets, whatever its size. */
static void leave_eden(struct finding *finding) {
    bool sets_eden = false;
    for (int i = 0; i < finding->setting_count; i++) {
        sets_eden = sets_eden || finding->settings[i].parameter == EDEN_PARAM_eden_size;
    }
    if (sets_eden) {
        finding->setting_count = 0;
        finding->gains = false;
        finding->cost[0] = '\0';
        finding_how(finding,
                    "a larger eden would spare this, but pause_goal decides how much of eden the program uses: "
                    "another goal has to be measured (edenscope tune --verify --options pause_goal=...)");
    }
}

bool tune_examine(const struct tune_facts *facts, struct findings *findings) {
    *findings = (struct findings){.facts = facts};
    for (const struct rule *rule = tune_rules; rule->key; rule++) {
        if (rule->look) {
            rule->look(facts, findings);
        }
    }
    for (size_t i = 0; tune_number(facts, EDEN_PARAM_pause_goal) > 0 && i < findings->count; i++) {
        leave_eden(&findings->at[i]);
    }
    if (findings->count) {
        qsort(findings->at, findings->count, sizeof *findings->at, by_time);
    }
    return !findings->out_of_memory;
}

void findings_clear(struct findings *findings) {
    free(findings->at);
    *findings = (struct findings){0};
}
