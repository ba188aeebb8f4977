/* heap.limit: a cache of 18 MB in a heap that may take 21 MB.
 *
 * The oldest entries make room for new ones. Nothing wants a full collection but the limit: as soon as a megabyte has
 * been replaced, survivors find no room in old space, and a full collection marks the whole cache for the little that
 * has died. Cure: max_heap=64M.
 *
 * The near miss has the same cache in a heap that may take so much. */
#include "all.h"
#include "parts.h"

enum { ENTRIES = 25000, ENTRY_BYTES = 696, REPLACED = 30000 };
enum { ROOT_CACHE, ROOTS };

/* Of the last entry that was put into a slot. */
static int64_t number_in(int64_t slot) {
    return slot >= REPLACED ? slot : ENTRIES + (REPLACED - 1 - slot) / ENTRIES * ENTRIES + slot;
}

static bool serve(struct run *run) {
    EDEN_FRAME(run->mutator, roots, ROOTS);
    struct request request = {
        .site = part_site(run, CLASS_TEXT, "Server>>answer:"), .texts = 16, .bytes = 200, .readings = 6};
    struct record_sites sites = record_sites(run, "Cache>>at:put:", "Cache>>readPage");
    if (request.site == 0 || sites.record == 0 || sites.text == 0 ||
        !index_build(run, &roots[ROOT_CACHE], ENTRIES, ENTRY_BYTES)) {
        return false;
    }
    for (int i = 0; i < REPLACED; i++) {
        eden_value entry =
            request_serve(run, &request) ? record_new(run, sites, ENTRY_BYTES, (int64_t)ENTRIES + i) : EDEN_NONE;
        if (entry == EDEN_NONE) {
            return false;
        }
        eden_slot_set(run->mutator, roots[ROOT_CACHE], (size_t)(i % ENTRIES), entry);
    }
    for (int64_t i = 0; i < ENTRIES; i++) {
        if (!record_check(run, eden_slot(roots[ROOT_CACHE], (size_t)i), number_in(i))) {
            return false;
        }
    }
    return program_verify(run->program, run->mutator);
}

const struct pattern heap_limit = {
    "heap.limit", "keeps a cache that nearly fills what the heap may take",
    "max_heap=21M,eden_size=2M,full_gc_min_old=64M,tenure_criterion=site,grow_headroom=1M",
    "program.allocates scavenge.copying", serve};
const struct pattern heap_limit_near = {
    "heap.limit-near", "keeps the same cache in a heap that may take more",
    "max_heap=64M,eden_size=2M,full_gc_min_old=64M,tenure_criterion=site,grow_headroom=1M", "program.allocates", serve};
