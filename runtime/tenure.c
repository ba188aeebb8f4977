/* Tenuring policy: which survivors the next scavenge moves to old space.
 *
 * After a scavenge, if the survivors fill more than tenure_fill of their semispace, the next one tenures those below an
 * address: the start of *the semispace that is then the source* plus tenure_proportion of the semispace's size.
 * Survivors are copied in order and eden lies above both semispaces, so low addresses are the oldest (tuning paper,
 * section 4; spur.md 2.4). The Pharo VM once computed the threshold in the other semispace, so that all or none were
 * tenured (tuning paper, section 5).
 *
 * survivors_to_keep is the papers' form: with n set, the share tenured is max(0, 1 - 64 n / semispace), 64 bytes being
 * taken for an average object; 0 means that only overflow tenures. */
#include "private.h"
#include <math.h>

double tenure_proportion(const eden_heap *heap) {
    if (heap->params.survivors_to_keep == EDEN_UNSET) {
        return heap->params.tenure_proportion;
    }
    double semispace = (double)(heap->semi[0].limit - heap->semi[0].start);
    double tenured = 1.0 - 64.0 * (double)heap->params.survivors_to_keep / semispace;
    return tenured > 0 ? tenured : 0;
}

uintptr_t tenure_threshold(const eden_heap *heap, const struct space *survivors) {
    double size = (double)(survivors->limit - survivors->start);
    double fill = (double)(survivors->used - survivors->start) / size;
    double proportion = tenure_proportion(heap);
    if (!(fill > heap->params.tenure_fill) || proportion == 0) {
        return 0;
    }
    return survivors->start + (uintptr_t)llround(size * proportion);
}
