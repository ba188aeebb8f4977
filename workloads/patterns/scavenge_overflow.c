/* scavenge.overflow: batches whose objects, 8 MB, live until the batch is done; the survivor semispace has 3.2 MB.
 *
 * A scavenge amid a batch finds more survivors than fit. What doesn't is tenured, dies with its batch, and fills old
 * space until a full collection. Cure: eden_size=64M (a semispace of 12.8 MB, and fewer scavenges amid batches).
 *
 * The near miss does the same work in batches that fit. */
#include "all.h"
#include "batches.h"

static bool do_large(struct run *run) {
    return batches_do(run, &(struct batches){.request = {.texts = 2, .bytes = 80, .readings = 0},
                                             .batches = 24,
                                             .orders = 60000,
                                             .order_bytes = 128});
}
static bool do_small(struct run *run) {
    return batches_do(run, &(struct batches){.request = {.texts = 2, .bytes = 80, .readings = 0},
                                             .batches = 1440,
                                             .orders = 1000,
                                             .order_bytes = 128});
}

const struct pattern scavenge_overflow = {"scavenge.overflow", "does batches that outgrow the survivor semispace", NULL,
                                          "eden.small tenure.premature", do_large};
const struct pattern scavenge_overflow_near = {"scavenge.overflow-near", "does the same work in small batches", NULL,
                                               NULL, do_small};
