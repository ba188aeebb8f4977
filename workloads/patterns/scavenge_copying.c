/* scavenge.copying: a cache that is filled once and fits the survivor semispace, but only just.
 *
 * It fills the semispace to less than tenure_fill, so that nothing is ever tenured, and each scavenge copies all of it
 * again. Cure: tenure_fill=0.1,tenure_proportion=1.
 *
 * The near miss has the same cache and tenures it. */
#include "all.h"
#include "parts.h"

enum { CACHED = 20000, CACHED_BYTES = 80, REQUESTS = 80000 };
enum { ROOT_CACHE, ROOTS };

static bool serve(struct run *run) {
    EDEN_FRAME(run->mutator, roots, ROOTS);
    struct request request = {
        .site = part_site(run, CLASS_TEXT, "Server>>render:"), .texts = 50, .bytes = 400, .readings = 0};
    if (request.site == 0 || !index_build(run, &roots[ROOT_CACHE], CACHED, CACHED_BYTES)) {
        return false;
    }
    for (int i = 0; i < REQUESTS; i++) {
        if (!request_serve(run, &request)) {
            return false;
        }
    }
    return index_check(run, roots[ROOT_CACHE]) && program_verify(run->program, run->mutator);
}

const struct pattern scavenge_copying = {"scavenge.copying", "keeps a cache that fills the survivor semispace", NULL,
                                         NULL, serve};
const struct pattern scavenge_copying_near = {"scavenge.copying-near", "keeps the same cache, which is tenured",
                                              "tenure_criterion=site", NULL, serve};
