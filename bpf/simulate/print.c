/* Predictions below the recorded run and its simulation: the difference of these two shows how far to trust the
 * predictions. */
#include "simulate/print.h"
#include "eden_values.h"
#include "util/format.h"
#include "util/json.h"
#include "util/text.h"
#include <math.h>

/* ---- a table ---------------------------------------------------------------------------------------------------- */

static const char *bytes_text(char text[FORMAT_MAX], double bytes) {
    return format_bytes(text, bytes > 0 ? (uint64_t)llround(bytes) : 0);
}

static void print_row(FILE *out, const struct simulate_figures *figures, const char *what) {
    char scavenges[FORMAT_MAX], copied[FORMAT_MAX], held[FORMAT_MAX], tenured[FORMAT_MAX];
    char fulls[FORMAT_MAX], peak[FORMAT_MAX];
    fprintf(out, "%11s %10s %10s %10s %7s", format_count(scavenges, figures->scavenges),
            bytes_text(copied, figures->survived_bytes), bytes_text(held, figures->held_bytes),
            bytes_text(tenured, figures->tenured_bytes), format_count(fulls, figures->full_collections));
    for (unsigned cause = 0; cause < EDEN_FULL_CAUSES; cause++) {
        char text[FORMAT_MAX];
        fprintf(out, " %10s", format_count(text, figures->full_by_cause[cause]));
    }
    fprintf(out, " %10s  %s\n", bytes_text(peak, figures->old_used_peak), what);
}

static void print_holding(FILE *out, const struct simulate_holding *holding) {
    bool known = !isnan(holding->share[SIMULATE_SEEN]) || !isnan(holding->share[SIMULATE_UNSEEN]);
    fprintf(out, "  held: dead objects that survive because dead old objects refer to them, %s\n\n",
            known ? "estimated from the recorded run" : "unknown: in the recorded run no dead object could be held");
}

void simulate_print_table(FILE *out, const struct simulate_trace *trace, const struct simulate_prediction *predictions,
                          size_t count) {
    char command[TEXT_GROWTH * sizeof trace->command], name[TEXT_GROWTH * sizeof trace->name], usual[400],
        recorded[400], bytes[FORMAT_MAX], objects[FORMAT_MAX];
    struct simulate_parameters parameters;
    simulate_parameters_usual(&parameters, &trace->parameters);
    simulate_parameters_text(&parameters, usual, sizeof usual);
    simulate_parameters_text(&trace->parameters, recorded, sizeof recorded);
    fprintf(out, "  %s[%u] heap %llu '%s': %s allocated, %s objects\n",
            text_escape(command, sizeof command, trace->command, ""), trace->process.pid, (unsigned long long)trace->id,
            text_escape(name, sizeof name, trace->name, "'"), format_bytes(bytes, trace->history.end),
            format_count(objects, trace->history.objects));
    fprintf(out, "  recorded with %s, else defaults\n  where nothing is given: %s, else defaults\n", recorded, usual);
    print_holding(out, &trace->holding);
    fprintf(out, "%11s %10s %10s %10s %7s", "scavenges", "copied", "held", "tenured", "fulls");
    for (unsigned cause = 0; cause < EDEN_FULL_CAUSES; cause++) {
        fprintf(out, " %10s", eden_full_cause_name(cause));
    }
    fprintf(out, " %10s  parameters\n", "old, most");
    print_row(out, &trace->recorded, "as recorded");
    print_row(out, &trace->again, "as recorded, simulated");
    for (size_t i = 0; i < count; i++) {
        print_row(out, &predictions[i].figures, predictions[i].options[0] ? predictions[i].options : "nothing given");
    }
}

/* ---- JSON ------------------------------------------------------------------------------------------------------- */

static json_t *bytes_json(double bytes) { return json_number(bytes > 0 ? (uint64_t)llround(bytes) : 0); }

static json_t *figures_json(const struct simulate_figures *figures) {
    json_t *causes = json_object();
    for (unsigned cause = 0; cause < EDEN_FULL_CAUSES; cause++) {
        json_object_set_new(causes, eden_full_cause_name(cause), json_number(figures->full_by_cause[cause]));
    }
    return json_pack("{s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "scavenges", json_number(figures->scavenges),
                     "full_collections", json_number(figures->full_collections), "full_by_cause", causes,
                     "survived_bytes", bytes_json(figures->survived_bytes), "held_bytes",
                     bytes_json(figures->held_bytes), "tenured_bytes", bytes_json(figures->tenured_bytes), "old_used",
                     bytes_json(figures->old_used), "old_used_peak", bytes_json(figures->old_used_peak));
}

static json_t *holding_json(const struct simulate_holding *holding) {
    double seen = holding->share[SIMULATE_SEEN], unseen = holding->share[SIMULATE_UNSEEN];
    return json_pack("{s:o, s:o}", "young", isnan(seen) ? json_null() : json_real(seen), "youngest",
                     isnan(unseen) ? json_null() : json_real(unseen));
}

bool simulate_print_json(FILE *out, const struct simulate_trace *trace, const struct simulate_prediction *predictions,
                         size_t count) {
    char usual[400], recorded[400];
    struct simulate_parameters parameters;
    simulate_parameters_usual(&parameters, &trace->parameters);
    simulate_parameters_text(&parameters, usual, sizeof usual);
    simulate_parameters_text(&trace->parameters, recorded, sizeof recorded);
    json_t *list = json_array();
    bool good = list != NULL;
    for (size_t i = 0; good && i < count; i++) {
        json_t *figures = figures_json(&predictions[i].figures);
        good = figures && json_object_set_new(figures, "options", json_string(predictions[i].options)) == 0 &&
               json_array_append_new(list, figures) == 0;
    }
    json_t *object = json_pack(
        "{s:o, s:o, s:o, s:o, s:s, s:o, s:s, s:o, s:o, s:o}", "pid", json_number(trace->process.pid), "heap",
        json_number(trace->id), "name", json_text(trace->name, sizeof trace->name), "command",
        json_text(trace->command, sizeof trace->command), "options", usual, "holding", holding_json(&trace->holding),
        "recorded_options", recorded, "recorded", figures_json(&trace->recorded), "recorded_simulated",
        figures_json(&trace->again), "predictions", list);
    good = good && object && json_print(out, object);
    json_decref(object);
    return good;
}
