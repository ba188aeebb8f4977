/* heap.limit: a cache of 40 MB in a heap that may take 50 MB.
 *
 * The oldest entries make room for new ones. Nothing wants a full collection but the limit: as soon as a few megabytes
 * have been replaced, survivors find no room in old space, and a full collection marks the whole cache for the little
 * that has died. Cure: max_heap=128M,full_gc_ratio=1.
 *
 * The near miss has the same cache and twice its room. */
#include "all.h"
#include "sessions.h"

static bool serve(struct run *run) {
    return sessions_serve(run, &(struct sessions){.request = {.texts = 6, .bytes = 200, .readings = 0},
                                                  .requests = 400000,
                                                  .open = 150000,
                                                  .open_bytes = 216,
                                                  .last = 400000});
}

const struct pattern heap_limit = {
    "heap.limit", "keeps a cache that nearly fills what the heap may take",
    "max_heap=50M,eden_size=4M,full_gc_ratio=3,tenure_fill=0,tenure_proportion=1,grow_headroom=2M", NULL, serve};
const struct pattern heap_limit_near = {
    "heap.limit-near", "keeps the same cache in a heap that may take more",
    "max_heap=192M,eden_size=4M,full_gc_ratio=3,tenure_fill=0,tenure_proportion=1,grow_headroom=2M", NULL, serve};
