/* The forms in which `edenscope script` prints events. Each is a sink for one event after the other. */
#ifndef EDEN_SCRIPT_H
#define EDEN_SCRIPT_H

#include "model/model.h"
#include "recording/recording.h"
#include "views/labels.h"
#include <jansson.h>
#include <stdio.h>

/* A column of an argument in CSV, and which argument that is of each probe; -1: none. */
struct script_column {
    const char *name;
    int8_t argument[EDEN_PROBE_COUNT];
};

struct script {
    FILE *out;
    const struct recording_info *info;
    const struct model *model;   /* for the names of processes */
    const uint64_t *probes;      /* those wanted, as for recording_events; NULL: all */
    bool wall_clock;             /* times of day instead of seconds since the recording began */
    const struct labels *labels; /* of lines of JSON; NULL: none */
    struct script_column column[EDEN_PROBE_COUNT * EDEN_PROBE_MAX_ARGS]; /* script_print_csv_head() sets them */
    size_t columns;
};

/* What the process of an event is called; empty: it is unknown. */
const char *script_command(const struct script *script, const struct event *event);
/* Its arguments, by name. */
void script_add_arguments(json_t *object, const struct event *event);

/* False where writing failed: errno says why. */
bool script_print_line(const struct script *script, const struct event *event, uint64_t heap_id);
bool script_print_json(const struct script *script, const struct event *event, uint64_t heap_id);
/* The last line of JSON with labels: for how long processes were observed, how many lines of events came before, how
 * many events were lost while they were recorded, and why the recording is not whole, if it is not. A store that has it
 * knows which lines it lacks. */
bool script_print_json_counts(const struct script *script, uint64_t observed_ns, uint64_t events, uint64_t lost);
bool script_print_csv_head(struct script *script);
bool script_print_csv(const struct script *script, const struct event *event, uint64_t heap_id);

#endif
