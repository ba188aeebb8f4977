/* tenure.threshold-outside: the old VM's bug, on sessions that nearly fill the survivor semispace.
 *
 * The threshold below which survivors are tenured is computed in the semispace that they have just left. Where that one
 * lies higher all of them are tenured at the next scavenge, where it lies lower none. Sessions that end soon are
 * tenured by the thousand, and full collections have to free them. Cure: compat.threshold_bug=0.
 *
 * The near miss is the same program without the bug. */
#include "all.h"
#include "sessions.h"

static bool serve(struct run *run) {
    return sessions_serve(run, &(struct sessions){.request = {.texts = 6, .bytes = 200, .readings = 1},
                                                  .requests = 300000,
                                                  .open = 1350,
                                                  .open_bytes = 104,
                                                  .last = 300000,
                                                  .indexed = 60000});
}

const struct pattern threshold_outside = {"tenure.threshold-outside", "fills a semispace under the old VM's bug",
                                          "eden_size=1M,grow_headroom=1M,compat.threshold_bug=1", "tenure.premature",
                                          serve};
const struct pattern threshold_outside_near = {"tenure.threshold-outside-near", "does the same without the bug",
                                               "eden_size=1M,grow_headroom=1M", NULL, serve};
