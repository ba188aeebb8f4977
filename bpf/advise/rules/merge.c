/* From findings to one line of options.
 *
 * Several findings may set the same parameter, and EDEN_OPTIONS applies to every heap of the process. All numbers that
 * rules set are lower bounds, so the larger of two satisfies both. tenure_fill is the exception: the smaller value
 * satisfies both, since earlier tenuring includes later tenuring. Of choices, that of the costliest finding wins. The
 * overruled finding is kept, for the report.
 *
 * A max_heap that is asked for is among the options, whether a finding sets it or not: the values fit no more than
 * that.
 *
 * What cures one heap must not stop another from being created. So max_heap is withheld if another examined heap
 * may take more or has no limit, and eden_size if new space of that size (7/5 of it) is more than a heap may take: such
 * a setting is for the program to make where it creates the heap. */
#include "advise/rules/rule.h"
#include <stdio.h>
#include <string.h>

static bool is_choice(enum eden_param_id id) { return eden_param(id)->choices != EDEN_ENUM_none; }

static bool needs_more(enum eden_param_id id, double number, double than) {
    return !is_choice(id) && (id == EDEN_PARAM_tenure_fill ? number < than : number > than);
}

static void want(struct tune_options *options, const struct tune_facts *facts, const struct finding *finding,
                 const struct setting *setting) {
    enum eden_param_id id = setting->parameter;
    const char *loser = NULL;
    if (!options->set[id]) {
        options->set[id] = true;
    } else if (needs_more(id, setting->number, options->number[id])) {
        loser = options->from[id];
    } else {
        options->overruled[id] = setting->number != options->number[id] ? finding->key : options->overruled[id];
        return;
    }
    options->overruled[id] = loser ? loser : options->overruled[id];
    options->from[id] = finding->key;
    options->of[id] = facts;
    options->number[id] = setting->number;
}

static void withhold(struct tune_options *options, enum eden_param_id id, const struct tune_facts *harmed) {
    options->set[id] = false;
    options->harmed[id] = harmed;
}

static void withhold_limit(struct tune_options *options, const struct findings *findings, size_t heaps) {
    for (size_t i = 0; i < heaps && options->set[EDEN_PARAM_max_heap]; i++) {
        if (tune_number(findings[i].facts, EDEN_PARAM_max_heap) > options->number[EDEN_PARAM_max_heap]) {
            withhold(options, EDEN_PARAM_max_heap, findings[i].facts);
        }
    }
}

/* After withhold_limit(): a limit that stays holds for every heap. */
static void withhold_eden(struct tune_options *options, const struct findings *findings, size_t heaps) {
    const double new_space = options->number[EDEN_PARAM_eden_size] / 5 * 7;
    for (size_t i = 0; i < heaps && options->set[EDEN_PARAM_eden_size]; i++) {
        const double limit = options->set[EDEN_PARAM_max_heap] ? options->number[EDEN_PARAM_max_heap]
                                                               : tune_number(findings[i].facts, EDEN_PARAM_max_heap);
        if (new_space >= limit) {
            withhold(options, EDEN_PARAM_eden_size, findings[i].facts);
        }
    }
}

void tune_merge(const struct findings *findings, size_t heaps, struct tune_options *options) {
    *options = (struct tune_options){0};
    for (size_t i = 0; i < heaps; i++) {
        for (size_t j = 0; j < findings[i].count; j++) {
            for (int k = 0; k < findings[i].at[j].setting_count; k++) {
                want(options, findings[i].facts, &findings[i].at[j], &findings[i].at[j].settings[k]);
            }
        }
    }
    for (size_t i = 0; i < heaps; i++) {
        const struct setting asked = {EDEN_PARAM_max_heap, tune_number(findings[i].facts, EDEN_PARAM_max_heap)};
        if (tune_asks_max_heap(findings[i].facts)) {
            want(options, findings[i].facts, &(const struct finding){.key = "--max-heap"}, &asked);
        }
    }
    if (heaps > 1) {
        withhold_limit(options, findings, heaps);
        withhold_eden(options, findings, heaps);
    }
}

char *tune_options_line(char line[TUNE_OPTIONS_LINE], const struct tune_options *options) {
    size_t length = 0;
    line[0] = 0;
    for (int i = 0; i < EDEN_PARAM_COUNT; i++) {
        char value[TUNE_VALUE];
        if (options->set[i] && length < TUNE_OPTIONS_LINE) {
            length += (size_t)snprintf(line + length, TUNE_OPTIONS_LINE - length, "%s%s=%s", length ? "," : "",
                                       eden_param((enum eden_param_id)i)->name,
                                       tune_value(value, (enum eden_param_id)i, options->number[i]));
        }
    }
    return line;
}
