/* ok: a server that works more than it allocates, in a heap with the default of each parameter: nothing to cure. */
#include "all.h"
#include "sessions.h"

static bool serve(struct run *run) {
    return sessions_serve(run, &(struct sessions){.request = {.texts = 10, .bytes = 200, .readings = 4},
                                                  .requests = 50000,
                                                  .open = 500,
                                                  .open_bytes = 128,
                                                  .last = 50000,
                                                  .indexed = 2000});
}

const struct pattern healthy = {"ok", "works more than it allocates, and little survives", NULL, NULL, serve};
