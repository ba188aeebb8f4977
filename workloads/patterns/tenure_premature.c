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
    return sessions_serve(run, &(struct sessions){.request = {.texts = 56, .bytes = 200, .readings = 1},
                                                  .requests = 56000,
                                                  .open = 654,
                                                  .open_bytes = 1016,
                                                  .last = 56000,
                                                  .indexed = 40000});
}

static bool serve_keeping(struct run *run) {
    return sessions_serve(run, &(struct sessions){.request = {.texts = 56, .bytes = 200, .readings = 1},
                                                  .requests = 56000,
                                                  .open = 654,
                                                  .open_bytes = 1016,
                                                  .last = 654,
                                                  .indexed = 40000});
}

const struct pattern tenure_premature = {
    "tenure.premature", "ends sessions soon after they were tenured",
    "eden_size=4M,grow_headroom=1M,full_gc_min_old=4M,tenure_fill=0.1,tenure_proportion=1", "eden.small", serve_ending};
const struct pattern tenure_premature_near = {
    "tenure.premature-near", "tenures sessions that stay open",
    "eden_size=4M,grow_headroom=1M,full_gc_min_old=4M,tenure_fill=0.1,tenure_proportion=1", NULL, serve_keeping};
