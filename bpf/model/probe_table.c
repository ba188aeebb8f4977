#include "model/probe_table.h"
#include "eden_foreach.h"
#include "eden_values.h"
#include <stddef.h>
#include <string.h>

#define PROBE_ARG(name, kind, meaning)                                                                                 \
    { #name, ARG_##kind, meaning }
#define EDEN_PROBE(name, doc, ...)                                                                                     \
    [EDEN_PROBE_##name] = {#name, doc, EDEN_COUNT(__VA_ARGS__), {EDEN_EACH_COMMA(PROBE_ARG, __VA_ARGS__)}},
const struct probe_description probe_table[EDEN_PROBE_COUNT] = {
#include "eden_probes.def"
};
#undef EDEN_PROBE

int probe_find(const char *name) {
    for (int i = 0; i < EDEN_PROBE_COUNT; i++) {
        if (strcmp(probe_table[i].name, name) == 0) {
            return i;
        }
    }
    return -1;
}

int probe_phase(enum eden_probe_id probe) {
    switch (probe) {
#define EDEN_PHASE(name, text, parent)                                                                                 \
    case EDEN_PROBE_##name##__done:                                                                                    \
        return EDEN_PHASE_##name;
#include "eden_phases.def"
#undef EDEN_PHASE
    default:
        return -1;
    }
}

int probe_begins(enum eden_probe_id probe) {
    switch (probe) {
#define EDEN_PHASE(name, text, parent)                                                                                 \
    case EDEN_PROBE_##name##__start:                                                                                   \
        return EDEN_PHASE_##name;
#include "eden_phases.def"
#undef EDEN_PHASE
    default:
        return -1;
    }
}

bool probe_per_object(enum eden_probe_id probe) {
    switch (probe) {
#define EDEN_PROBE(name, doc, ...)
#define EDEN_OBJECT_PROBE(name, doc, ...) case EDEN_PROBE_##name:
#include "eden_probes.def"
#undef EDEN_PROBE
        return true;
    default:
        return false;
    }
}

const char *const probe_kind_names[] = {
#define EDEN_KIND(name, type, doc) #name,
#include "eden_enums.def"
#define EDEN_ENUM(tag, kind, count, ...) #kind,
#include "eden_enums.def"
};

const char *probe_value_name(enum eden_probe_id probe, int arg, uint64_t value) {
    if (arg < 0 || arg >= probe_table[probe].args || probe_table[probe].arg[arg].kind < ARG_ENUMS) {
        return NULL;
    }
    return eden_enum_name((enum eden_enum_id)(probe_table[probe].arg[arg].kind - ARG_ENUMS), value);
}

int probe_argument(enum eden_probe_id probe, const char *name) {
    for (int i = 0; i < probe_table[probe].args; i++) {
        if (strcmp(probe_table[probe].arg[i].name, name) == 0) {
            return i;
        }
    }
    return -1;
}

int probe_text(enum eden_probe_id probe, int arg) {
    int texts = 0;
    for (int i = 0; i < arg; i++) {
        texts += probe_table[probe].arg[i].kind == ARG_string;
    }
    return probe_table[probe].arg[arg].kind == ARG_string ? texts : -1;
}
