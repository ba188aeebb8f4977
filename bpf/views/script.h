/* The forms in which `edenscope script` prints events. Each is a sink for one event after the other. */
#ifndef EDEN_SCRIPT_H
#define EDEN_SCRIPT_H

#include "model/process_index.h"
#include "recording/recording.h"
#include <jansson.h>
#include <stdio.h>

struct script {
    FILE *out;
    const struct recording_info *info;
    const struct process_index *processes; /* for their names */
    const uint64_t *probes;                /* those wanted, as for recording_events; NULL: all */
    bool wall_clock;                       /* times of day instead of seconds since the recording began */
};

/* What the process of an event is called; "?" where nobody knows. */
const char *script_command(const struct script *script, const struct event *event);
/* Its arguments, by name. */
void script_add_arguments(json_t *object, const struct event *event);

/* False where writing failed: errno says why. */
bool script_print_line(const struct script *script, const struct event *event, uint64_t heap_id);
bool script_print_json(const struct script *script, const struct event *event, uint64_t heap_id);
bool script_print_csv_head(const struct script *script);
bool script_print_csv(const struct script *script, const struct event *event, uint64_t heap_id);

#endif
