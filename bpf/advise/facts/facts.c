/* What rules ask of facts, and the end of them. */
#include "advise/facts/facts.h"
#include "util/text.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

void tune_facts_clear(struct tune_facts *facts) {
    free(facts->passes);
    free(facts->large);
    free(facts->failures);
    free(facts->segments);
    free(facts->scans);
    free(facts->sites);
    free(facts->survivors);
    free(facts->classes);
    *facts = (struct tune_facts){0};
}

const struct tune_site *tune_most(const struct tune_facts *facts, double (*measure)(const struct tune_site *site)) {
    const struct tune_site *most = NULL;
    for (size_t i = 0; i < facts->site_count; i++) {
        const struct tune_site *site = &facts->sites[i];
        if (measure(site) > (most ? measure(most) : 0)) {
            most = site;
        }
    }
    return most;
}

uint64_t tune_figure(const struct tune_facts *facts, enum eden_figure figure) { return facts->figures[figure]; }

double tune_number(const struct tune_facts *facts, enum tune_parameter_id id) { return facts->parameters[id].number; }

bool tune_has_collections(const struct tune_facts *facts) {
    return tune_figure(facts, EDEN_FIGURE_scavenges) || tune_figure(facts, EDEN_FIGURE_full_collections);
}

double tune_gc_share(const struct tune_facts *facts) {
    return facts->wall_ns ? (double)tune_figure(facts, EDEN_FIGURE_gc_ns) / (double)facts->wall_ns : 0;
}

double tune_share_of_gc(const struct tune_facts *facts, double ns) {
    uint64_t all = tune_figure(facts, EDEN_FIGURE_gc_ns);
    return all ? ns / (double)all : 0;
}

double tune_share_of_time(const struct tune_facts *facts, double ns) {
    return facts->wall_ns ? ns / (double)facts->wall_ns : 0;
}

double tune_old_peak(const struct tune_facts *facts) {
    double most = (double)tune_figure(facts, EDEN_FIGURE_old_capacity);
    for (size_t i = 0; i < facts->pass_count; i++) {
        most = fmax(most, (double)facts->passes[i].capacity_before);
    }
    for (size_t i = 0; i < facts->segment_count; i++) {
        most = fmax(most, (double)facts->segments[i].capacity_after);
    }
    return most;
}

const struct tune_class *tune_class(const struct tune_facts *facts, uint32_t id) {
    size_t low = 0, high = facts->class_count;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (facts->classes[middle].id < id) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low < facts->class_count && facts->classes[low].id == id ? &facts->classes[low] : NULL;
}

char *tune_class_label(char text[TUNE_LABEL], const struct tune_facts *facts, uint32_t class_id) {
    const struct tune_class *class = tune_class(facts, class_id);
    const struct tune_class *of = class && class->of != class_id ? tune_class(facts, class->of) : NULL;
    char name[TUNE_LABEL / 2 - 1], owner[TUNE_LABEL / 2 - 1];
    if (!class || !class->name[0]) {
        snprintf(text, TUNE_LABEL, "class %u", (unsigned)class_id);
    } else if (of && of->name[0]) {
        snprintf(text, TUNE_LABEL, "%s, %s", text_escape(owner, sizeof owner, of->name, ""),
                 text_escape(name, sizeof name, class->name, ""));
    } else {
        text_escape(text, TUNE_LABEL, class->name, "");
    }
    return text;
}
