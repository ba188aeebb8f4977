/* tenure.threshold-outside: the old VM's bug, on batches that nearly fill the survivor semispace.
 *
 * The threshold below which survivors are tenured is computed in the semispace that they have just left. Where that one
 * lies higher, all of them are tenured at the next scavenge; where it lies lower none, and the scavenge after that
 * turns it round. So each batch is tenured whole, just before it ends, and full collections have to free it. Cure:
 * compat.threshold_bug=0: a tenth of each batch.
 *
 * The near miss is the same program without the bug. */
#include "all.h"
#include "batches.h"

static bool do_batches(struct run *run) {
    return batches_do(run, &(struct batches){.request = {.texts = 120, .bytes = 120, .readings = 1},
                                             .batches = 24,
                                             .orders = 780,
                                             .order_bytes = 1016,
                                             .lingers = 940,
                                             .indexed = 40000});
}

const struct pattern threshold_outside = {
    "tenure.threshold-outside", "fills a semispace under the old VM's bug",
    "eden_size=4M,grow_headroom=1M,full_gc_min_old=4M,full_gc_ratio=0.1,compat.threshold_bug=1",
    "eden.small tenure.premature", do_batches};
const struct pattern threshold_outside_near = {"tenure.threshold-outside-near", "does the same without the bug",
                                               "eden_size=4M,grow_headroom=1M,full_gc_min_old=4M,full_gc_ratio=0.1",
                                               "eden.small", do_batches};
