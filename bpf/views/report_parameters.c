/* The parameters of a heap that are not default.
 *
 * param__set passes values as EDEN_OPTIONS would take them, sizes in bytes; defaults are brought into the same form and
 * the texts compared. A parameter that this version doesn't know is shown: nobody can say it is default. */
#include "model/parameters.h"
#include "util/format.h"
#include "util/text.h"
#include "views/report.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

struct shown {
    FILE *out;
    const char *lead;
    unsigned count;
    struct tune_parameter defaults[TUNE_PARAMETERS];
};

static void show(void *context, const char *name, const char *value) {
    struct shown *shown = context;
    enum tune_parameter_id id = tune_parameter_find(name);
    bool known = id < TUNE_PARAMETERS;
    const struct tune_parameter *fallback = &shown->defaults[known ? id : 0];
    char text[FORMAT_MAX];
    if (known && strcmp(fallback->text, value) == 0) {
        return;
    }
    bool is_size = known && tune_parameter_is_size(id);
    fputs(shown->count++ ? ", " : shown->lead, shown->out);
    text_print(shown->out, name);
    fputc('=', shown->out);
    char *end;
    uint64_t size = strtoull(value, &end, 10);
    if (is_size && end != value && *end == '\0') {
        fputs(format_bytes(text, size), shown->out);
    } else {
        text_print(shown->out, value);
    }
    if (known) {
        fprintf(shown->out, " (default %s)",
                is_size && isfinite(fallback->number) ? format_bytes(text, (uint64_t)fallback->number)
                                                      : fallback->text);
    }
}

bool report_parameters(FILE *out, const char *lead, struct recording *recording, const struct process_key *process,
                       const struct heap_model *heap, struct failure *why) {
    struct shown shown = {.out = out, .lead = lead};
    tune_parameters_default(shown.defaults);
    bool good = recording_parameters(recording, process, heap->address, heap->id, show, &shown, why);
    if (shown.count) {
        fputc('\n', out);
    }
    return good;
}
