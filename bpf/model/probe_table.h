/* The probes of eden_probes.def as data: names, arguments and their kinds, for whoever decodes or prints events. */
#ifndef EDEN_PROBE_TABLE_H
#define EDEN_PROBE_TABLE_H

#include "eden_abi.h"
#include <stdbool.h>

enum probe_arg_kind { ARG_address, ARG_count, ARG_bytes, ARG_ns, ARG_cause, ARG_reason, ARG_string };

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
int probe_phase(enum eden_probe_id probe);       /* enum eden_phase of which it is the done probe, or -1 */
int probe_begins(enum eden_probe_id probe);      /* enum eden_phase of which it is the start probe, or -1 */
bool probe_per_object(enum eden_probe_id probe); /* fires once an object: not attached unless asked for */

/* The name of a cause or reason argument's value ("ratio"); NULL where the argument is no enumeration or the value has
 * no name. */
const char *probe_value_name(enum eden_probe_id probe, int arg, uint64_t value);

#endif
