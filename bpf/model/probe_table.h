/* The probes of eden_probes.def as data: names, arguments and their kinds, for decoding and printing events. */
#ifndef EDEN_PROBE_TABLE_H
#define EDEN_PROBE_TABLE_H

#include "eden_abi.h"
#include <stdbool.h>

/* The kinds of eden_enums.def; from ARG_ENUMS on, the enumerations by number. */
enum probe_arg_kind {
#define EDEN_KIND(name, type, doc) ARG_##name,
#include "eden_enums.def"
    ARG_ENUMS,
    ARG_BEFORE_ENUMS = ARG_ENUMS - 1,
#define EDEN_ENUM(tag, kind, count, ...) ARG_##tag,
#include "eden_enums.def"
};
extern const char *const probe_kind_names[]; /* "bytes"; of enumerations "cause", "reason" */

struct probe_arg {
    const char *name;
    enum probe_arg_kind kind;
    const char *meaning;
};

struct probe_description {
    const char *name; /* as in ELF notes: scavenge__start */
    const char *meaning;
    int args;
    struct probe_arg arg[EDEN_PROBE_MAX_ARGS];
};
extern const struct probe_description probe_table[EDEN_PROBE_COUNT];

int probe_find(const char *name);                /* enum eden_probe_id, or -1 */
int probe_phase(enum eden_probe_id probe);       /* the enum eden_phase that it ends, or -1 */
int probe_begins(enum eden_probe_id probe);      /* the enum eden_phase that it begins, or -1 */
bool probe_per_object(enum eden_probe_id probe); /* fires once an object: not attached unless asked for */

/* The name of an argument's value ("ratio"). NULL: the argument is no enumeration, or the value has no name. */
const char *probe_value_name(enum eden_probe_id probe, int arg, uint64_t value);
/* The position of the argument with this name; -1: none. */
int probe_argument(enum eden_probe_id probe, const char *name);
/* Which of the probe's strings (struct event, text) a string argument is; -1: it is no string. */
int probe_text(enum eden_probe_id probe, int arg);

#endif
