/* The recorded run of one heap: its parameters, its history, and what its collections did. */
#ifndef EDEN_SIMULATE_TRACE_H
#define EDEN_SIMULATE_TRACE_H

#include "recording/recording.h"
#include "simulate/collector.h"

struct simulate_trace {
    const char *path; /* of the recording */
    struct process_key process;
    uint64_t address, id, serial, suffix; /* of the heap, as in struct heap_model */
    char name[64], command[64];
    struct simulate_parameters parameters;
    struct simulate_history history; /* owned */
    struct simulate_figures recorded;
    bool met_limit;                /* max_heap, or an allocation failed */
    uint64_t recorded_bytes;       /* allocated */
    struct simulate_figures again; /* the same, simulated */
    struct simulate_holding holding;
};

/* Of the recording at `path`, and the chosen heap; there must be just one. False and why where the recording lacks what
 * a simulation needs. Clear its history in any case. */
bool simulate_trace_read(struct simulate_trace *trace, struct recording *recording, const char *path,
                         const struct heap_choice *choice, struct failure *why);

/* Simulates the run under other parameters. False and why if the recording does not suffice. */
bool simulate_trace_predict(const struct simulate_trace *trace, const struct simulate_parameters *parameters,
                            struct simulate_figures *figures, struct failure *why);

#endif
