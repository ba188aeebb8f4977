/* tenure.premature: a heap that tenures early, and sessions that live for two or three scavenges.
 *
 * Each session is tenured at its second scavenge and ends soon after, but its memory is free only after the next full
 * collection, and there is one after each few scavenges. Cure: tenure_fill=0.9,tenure_proportion=0.1, the defaults:
 * then sessions end in new space.
 *
 * In the near miss what is tenured lives on: sessions that are kept open. */
#include "all.h"
#include "sessions.h"

static bool serve_ending(struct run *run) {
    return sessions_serve(run, &(struct sessions){.request = {.texts = 56, .bytes = 200, .readings = 0},
                                                  .requests = 28000,
                                                  .open = 327,
                                                  .open_bytes = 1016,
                                                  .last = 28000,
                                                  .indexed = 40000});
}

static bool serve_keeping(struct run *run) {
    return sessions_serve(run, &(struct sessions){.request = {.texts = 56, .bytes = 200, .readings = 0},
                                                  .requests = 28000,
                                                  .open = 327,
                                                  .open_bytes = 1016,
                                                  .last = 327,
                                                  .indexed = 40000});
}

const struct pattern tenure_premature = {"tenure.premature", "ends sessions soon after they were tenured",
                                         "eden_size=2M,grow_headroom=1M,tenure_fill=0.1,tenure_proportion=1", NULL,
                                         serve_ending};
const struct pattern tenure_premature_near = {"tenure.premature-near", "tenures sessions that stay open",
                                              "eden_size=2M,grow_headroom=1M,tenure_fill=0.1,tenure_proportion=1", NULL,
                                              serve_keeping};
