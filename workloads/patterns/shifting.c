/* shifting: a program whose pattern changes half-way. It reads an index, which stays; then it serves requests
 * with sessions that outgrow the survivor semispace of the default eden, and end. What suits the first half (let old
 * space grow, tenure early) does not suit the second (a larger eden, tenure late). */
#include "all.h"
#include "sessions.h"

static bool read_and_serve(struct run *run) {
    return sessions_serve(run, &(struct sessions){.request = {.texts = 4, .bytes = 160, .readings = 4},
                                                  .requests = 150000,
                                                  .open = 30000,
                                                  .open_bytes = 136,
                                                  .last = 150000,
                                                  .indexed = 300000});
}

const struct pattern shifting = {
    "shifting", "reads what stays, then serves what ends: its pattern changes half-way", NULL,
    "eden.small full.growth program.allocates scavenge.copying scavenge.overflow tenure.premature", read_and_serve};
