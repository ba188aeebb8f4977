#include "views/heap_params.h"
#include "util/text.h"
#include <inttypes.h>

static const char *note_of(const struct heap_params *params, enum eden_param_id id) {
    bool is_auto = params->known >> EDEN_PARAM_policy & 1 && params->value[EDEN_PARAM_policy] == EDEN_POLICY_AUTO;
    bool is_set = params->set >> id & 1;
    return is_set                                                                     ? "  (set)"
           : is_auto && id == EDEN_PARAM_policy                                       ? "  (decides what is not set)"
           : params->known >> id & 1 && params->value[id] != eden_param(id)->fallback ? "  (decided by policy)"
                                                                                      : "";
}

static void print_param(FILE *out, const struct heap_params *params, enum eden_param_id id) {
    char value[256] = "?", escaped[TEXT_GROWTH * sizeof value];
    if (params->known >> id & 1 && eden_param(id)->kind == EDEN_KIND_size) {
        eden_param_show(eden_param(id), params->value[id], value, sizeof value);
    } else if (params->known >> id & 1) {
        heap_params_text(params, id, value);
    }
    fprintf(out, "%10s%-21s  %s%s\n", "", eden_param(id)->name, text_escape(escaped, sizeof escaped, value, ""),
            note_of(params, id));
}

/* Those that somebody has set come first. */
void heap_params_print(FILE *out, const struct heap_params *params) {
    if (!params) {
        fprintf(out, "%10s(its parameters were not read)\n", "");
        return;
    }
    for (unsigned set = 2; set-- > 0;) {
        for (enum eden_param_id id = 0; id < EDEN_PARAM_COUNT; id++) {
            if ((params->set >> id & 1) == set) {
                print_param(out, params, id);
            }
        }
    }
}

void heap_class_print(FILE *out, uint32_t index, uint32_t class_index, const char *name) {
    char text[TEXT_GROWTH * 64];
    fprintf(out, "%10s%7" PRIu32 "  %s", "", index, text_escape(text, sizeof text, name, ""));
    if (class_index != index) {
        fprintf(out, "  (a site of class %" PRIu32 ")", class_index);
    }
    fputc('\n', out);
}
