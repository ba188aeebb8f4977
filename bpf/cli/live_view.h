/* A view of `edenscope report` of what is recorded for it alone:
 *
 *     a process or a command --record_run()--> a recording that goes away --view--> output
 */
#ifndef EDEN_LIVE_VIEW_H
#define EDEN_LIVE_VIEW_H

#include "cli/options.h"
#include "session/record_run.h"
#include "views/rows/views.h"

struct live_view {
    const struct view *view;
    const char *usage;
    unsigned accept;                                             /* options beside those of each such view */
    enum object_probes objects;                                  /* what to attach */
    void (*on_event)(void *context, const struct event *event);  /* as struct record_request has it */
    bool (*is_enough)(void *context, const struct model *model); /* of a process; as struct record_request has it */
    /* Where given: says what the output lacks, before it. False and why: everything. */
    bool (*report_missing)(void *context, const struct options *options, const struct model *model,
                           struct failure *why);
    void *context;
};

/* Returns the status of the subcommand. */
int live_view_run(const struct live_view *live, int argc, char **argv);

#endif
