#include "model/probe_table.h"
#include "eden_foreach.h"
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
    return probe == EDEN_PROBE_tenure || probe == EDEN_PROBE_remember || probe == EDEN_PROBE_forget ||
           probe == EDEN_PROBE_mourn || probe == EDEN_PROBE_remembered__scan;
}

const char *probe_value_name(enum eden_probe_id probe, int arg, uint64_t value) {
    static const char *const scavenge_causes[] = EDEN_SCAVENGE_CAUSE_NAMES;
    static const char *const full_causes[] = EDEN_FULL_CAUSE_NAMES;
    static const char *const tenure_reasons[] = EDEN_TENURE_REASON_NAMES;
    static const char *const origins[] = EDEN_REMEMBER_ORIGIN_NAMES;
    if (arg < 0 || arg >= probe_table[probe].args) {
        return NULL;
    }
    enum probe_arg_kind kind = probe_table[probe].arg[arg].kind;
    if (kind != ARG_cause && kind != ARG_reason) {
        return NULL;
    }
    switch (probe) {
    case EDEN_PROBE_scavenge__start:
        return value < sizeof scavenge_causes / sizeof *scavenge_causes ? scavenge_causes[value] : NULL;
    case EDEN_PROBE_full__start:
        return value < sizeof full_causes / sizeof *full_causes ? full_causes[value] : NULL;
    case EDEN_PROBE_tenure:
        return value < sizeof tenure_reasons / sizeof *tenure_reasons ? tenure_reasons[value] : NULL;
    case EDEN_PROBE_remember:
        return value < sizeof origins / sizeof *origins ? origins[value] : NULL;
    default:
        return NULL;
    }
}
