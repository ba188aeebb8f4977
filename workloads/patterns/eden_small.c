/* eden.small: a megabyte of eden for a program that allocates hundreds of megabytes.
 *
 * Each scavenge is short, but there are hundreds, and the sessions that are open when one happens are copied. Cure:
 * eden_size=16M, the default: as many are open, and they are copied 16 times more seldom.
 *
 * The near miss has the same eden, and next to nothing open. */
#include "all.h"
#include "sessions.h"

static const struct request answer = {.texts = 1, .bytes = 80, .readings = 1};

static bool serve_many(struct run *run) {
    return sessions_serve(
        run,
        &(struct sessions){.request = answer, .requests = 2500000, .open = 7200, .open_bytes = 16, .last = 2500000});
}
static bool serve_few(struct run *run) {
    return sessions_serve(
        run, &(struct sessions){.request = answer, .requests = 2500000, .open = 5, .open_bytes = 16, .last = 2500000});
}

const struct pattern eden_small = {"eden.small", "allocates fast from an eden of a megabyte", "eden_size=1M", NULL,
                                   serve_many};
const struct pattern eden_small_near = {"eden.small-near", "the same eden, in which all but nothing survives",
                                        "eden_size=1M", NULL, serve_few};
