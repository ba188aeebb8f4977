/* Observing a process or a command, and writing what is seen to a recording. */
#ifndef EDEN_RECORD_RUN_H
#define EDEN_RECORD_RUN_H

#include "recording/recording.h"
#include "session/source.h"
#include <sys/types.h>

struct record_request {
    const char *who;  /* the subcommand, for what is said on stderr */
    const char *path; /* of the recording */
    /* Whom to observe, and what of it; `events`, `on_batch` and `batch_context` are record_run's. */
    struct source_options observed;
    double seconds;      /* of a process: let go of it after so long; 0: when it ends */
    bool force;          /* replace a file at path that is not a recording */
    const uid_t *reader; /* as struct recorder_options */
    uint64_t most_bytes; /* the recording's largest size; 0: as struct recorder_options says */
    bool temporary;      /* a private temporary recording: its name is not reported */
    const char *waits;   /* printed after one second; NULL: nothing */
    bool quiet;          /* nothing is said of what was recorded, but what is lost */
    bool keeps_rights;   /* the caller goes on to what takes them */
    int folder;          /* of a temporary one: O_PATH, from which it is to be removed without rights; the caller's */
    uint64_t *lost;      /* where given: how many events the recording lacks; set once it has ended */
    int begun;           /* where not 0: a byte is written to it once all that is to be observed is; the caller's */
    enum recording_cut *cut;                                     /* where given: why the recording was cut short */
    void (*on_event)(void *context, const struct event *event);  /* where given: gets each event, too */
    bool (*is_enough)(void *context, const struct model *model); /* where given: whether to end; asked several times a
                                                                    second while something happens */
    void *context;
    int *interrupts; /* where given: interrupt_count() when observing ended; what comes later is the caller's */
};

/* Returns the status of the subcommand: the command's status, or that of a failure, which was reported. *published,
 * where it is given: the recording stands at its path. Installs the handling of signals. */
int record_run(const struct record_request *request, bool *published);

#endif
