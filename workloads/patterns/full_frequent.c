/* full.frequent: a cache whose records are replaced at random, long after they were tenured.
 *
 * What is put in becomes old, what it replaces dies there, and each time old space has grown by a third, all that is in
 * the cache is marked to free that third. Cure: full_gc_ratio=2, for twice the old space.
 *
 * The near miss runs with a ratio of 2. In both, records are tenured at their first scavenge, since they will be old
 * anyway. */
#include "all.h"
#include "parts.h"

enum { CACHED = 100000, CACHED_BYTES = 40, REPLACED = 450000, ROOT_CACHE = 0, ROOTS };

static bool serve(struct run *run) {
    EDEN_FRAME(run->mutator, roots, ROOTS);
    struct request request = {
        .site = part_site(run, CLASS_TEXT, "Server>>render:"), .texts = 2, .bytes = 160, .readings = 2};
    struct record_sites sites = record_sites(run, "Cache>>at:put:", "Cache>>load:");
    if (request.site == 0 || sites.record == 0 || sites.text == 0 ||
        !index_build(run, &roots[ROOT_CACHE], CACHED, CACHED_BYTES)) {
        return false;
    }
    for (int i = 0; i < REPLACED; i++) {
        int64_t number = random_below(&run->random, CACHED);
        eden_value record = request_serve(run, &request) ? record_new(run, sites, CACHED_BYTES, number) : EDEN_NONE;
        if (record == EDEN_NONE) {
            return false;
        }
        eden_slot_set(run->mutator, roots[ROOT_CACHE], (size_t)number, record);
    }
    return index_check(run, roots[ROOT_CACHE]) && program_verify(run->program, run->mutator);
}

const struct pattern full_frequent = {"full.frequent", "replaces what it has cached, long after it was tenured",
                                      "eden_size=4M,grow_headroom=1M,tenure_criterion=site,full_gc_min_old=8M",
                                      "program.allocates", serve};
const struct pattern full_frequent_near = {
    "full.frequent-near", "the same cache, with room for what has died",
    "eden_size=4M,grow_headroom=1M,tenure_criterion=site,full_gc_min_old=8M,full_gc_ratio=2", "program.allocates",
    serve};
