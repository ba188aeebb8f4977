/* The parameters of a heap that are not default.
 *
 * param__set passes values as EDEN_OPTIONS would take them, sizes in bytes; defaults are brought into the same form and
 * the texts compared. A parameter that this version doesn't know is shown: nobody can say it is default. */
#include "eden_params.h"
#include "util/format.h"
#include "util/text.h"
#include "views/report.h"
#include <math.h>
#include <string.h>

struct shown {
    FILE *out;
    const char *lead;
    unsigned count;
};

static void print_value(FILE *out, const struct eden_param *param, double value, const char *text) {
    char form[FORMAT_MAX];
    fputs(param->kind == EDEN_KIND_size && isfinite(value) ? format_bytes(form, (uint64_t)value) : text, out);
}

static void show(void *context, const char *name, const char *value) {
    struct shown *shown = context;
    enum eden_param_id id = eden_param_find(name);
    const struct eden_param *param = id < EDEN_PARAM_COUNT ? eden_param(id) : NULL;
    char fallback[FORMAT_MAX];
    double number;
    if (param) {
        eden_param_text(param, param->fallback, fallback, sizeof fallback);
        if (strcmp(fallback, value) == 0) {
            return;
        }
    }
    fputs(shown->count++ ? ", " : shown->lead, shown->out);
    text_print(shown->out, name);
    fputc('=', shown->out);
    if (param && param->kind == EDEN_KIND_size && eden_param_parse(param, value, &number)) {
        print_value(shown->out, param, number, value);
    } else {
        text_print(shown->out, value);
    }
    if (param) {
        fputs(" (default ", shown->out);
        print_value(shown->out, param, param->fallback, fallback);
        fputc(')', shown->out);
    }
}

bool report_parameters(FILE *out, const char *lead, struct recording *recording, const struct process_key *process,
                       const struct heap_model *heap, struct failure *why) {
    struct shown shown = {.out = out, .lead = lead};
    bool good = recording_parameters(recording, process, heap->address, heap->id, show, &shown, why);
    if (shown.count) {
        fputc('\n', out);
    }
    return good;
}
