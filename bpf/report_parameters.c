/* The parameters of a heap that are not default.
 *
 * param__set passes values as EDEN_OPTIONS would take them, sizes in bytes; defaults are brought into the same form and
 * the texts compared. A parameter that this version doesn't know is shown: nobody can say it is default. */
#include "format.h"
#include "report.h"
#include <stdlib.h>
#include <string.h>

enum parameter_kind { PARAMETER_size, PARAMETER_number, PARAMETER_whole, PARAMETER_choice, PARAMETER_file };

static const struct parameter {
    const char *name;
    enum parameter_kind kind;
    double fallback;
    const char *choices;
} parameters[] = {
#define EDEN_PARAM(id, name, kind, fallback, low, high, choices, doc)                                                  \
    {name, PARAMETER_##kind, (double)(fallback), choices},
#include "eden_params.def"
#undef EDEN_PARAM
};
enum { PARAMETERS = sizeof parameters / sizeof parameters[0] };

static bool has_no_limit(const struct parameter *parameter) {
    return parameter->kind == PARAMETER_size && parameter->fallback == (double)EDEN_NO_LIMIT;
}

static void default_text(const struct parameter *parameter, char *text, size_t size) {
    if (parameter->kind == PARAMETER_choice || parameter->kind == PARAMETER_file) {
        const char *word = parameter->choices;
        for (int i = 0; i < (int)parameter->fallback; i++) {
            word += strcspn(word, " ") + 1;
        }
        snprintf(text, size, "%.*s", (int)strcspn(word, " "), word);
    } else if (parameter->kind == PARAMETER_whole && parameter->fallback == EDEN_UNSET) {
        snprintf(text, size, "unset");
    } else if (has_no_limit(parameter)) {
        snprintf(text, size, "none");
    } else {
        snprintf(text, size, "%.15g", parameter->fallback);
    }
}

static const struct parameter *find(const char *name) {
    for (size_t i = 0; i < PARAMETERS; i++) {
        if (strcmp(parameters[i].name, name) == 0) {
            return &parameters[i];
        }
    }
    return NULL;
}

struct shown {
    FILE *out;
    const char *lead;
    unsigned count;
};

static void show(void *context, const char *name, const char *value) {
    struct shown *shown = context;
    const struct parameter *parameter = find(name);
    char text[64], safe[64];
    if (parameter) {
        default_text(parameter, text, sizeof text);
        if (strcmp(text, value) == 0) {
            return;
        }
    }
    fprintf(shown->out, "%s%s", shown->count++ ? ", " : shown->lead, format_name(safe, sizeof safe, name));
    char *end;
    uint64_t size = strtoull(value, &end, 10);
    if (parameter && parameter->kind == PARAMETER_size && end != value && *end == '\0') {
        fprintf(shown->out, "=%s", format_bytes(text, size));
    } else {
        fprintf(shown->out, "=%s", format_name(safe, sizeof safe, value));
    }
    if (parameter) {
        default_text(parameter, text, sizeof text);
        fprintf(shown->out, " (default %s)",
                parameter->kind == PARAMETER_size && !has_no_limit(parameter)
                    ? format_bytes(safe, (uint64_t)parameter->fallback)
                    : text);
    }
}

bool report_parameters(FILE *out, const char *lead, struct recording *recording, const struct process_key *process,
                       const struct heap_model *heap, struct failure *why) {
    struct shown shown = {out, lead, 0};
    bool good = recording_parameters(recording, process, heap->address, heap->id, show, &shown, why);
    if (shown.count) {
        fputc('\n', out);
    }
    return good;
}
