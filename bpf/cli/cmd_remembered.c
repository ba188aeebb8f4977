/* edenscope remembered: the remembered sets of a process. */
#include "cli/commands.h"
#include "cli/live_view.h"

int cmd_remembered(int argc, char **argv) {
    const struct live_view live = {
        .view = &view_remembered,
        .usage = "remembered [--json] [-o FILE] [-v] (-p PID [seconds] | -- PROGRAM arguments...)\n\n"
                 "  Shows the remembered sets: what each scan costs, which classes and sites they hold, and the\n"
                 "  objects whose scans take longest. Attaches probes that fire once an object: the program is slower "
                 "meanwhile.",
        .objects = OBJECTS_ALL};
    return live_view_run(&live, argc, argv);
}
