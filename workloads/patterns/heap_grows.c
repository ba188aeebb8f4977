/* heap.grows: a server that registers a listener for every second request, and never removes one.
 *
 * The listeners stay in a table, so each full collection leaves more alive than the one before, to the end. Cure: none
 * but to remove listeners; `edenscope lifetimes` names the class and the site of what is alive at the end.
 *
 * The near miss removes the oldest listener once 90,000 are registered: it grows for a third of its time, and then runs
 * at a steady size. In both, listeners are tenured at their first scavenge, since they will be old anyway. */
#include "all.h"
#include "parts.h"

enum { LISTENERS = 270000, KEPT = 90000, LISTENER_BYTES = 40, ROOT_REGISTRY = 0, ROOTS };

static bool serve(struct run *run, int kept) {
    EDEN_FRAME(run->mutator, roots, ROOTS);
    struct request request = {
        .site = part_site(run, CLASS_TEXT, "Server>>render:"), .texts = 2, .bytes = 160, .readings = 2};
    struct record_sites sites = record_sites(run, "Registry>>addListener:", "Listener>>name:");
    eden_class table = part_site(run, CLASS_ARRAY, "Registry class>>new:");
    if (request.site == 0 || sites.record == 0 || sites.text == 0 || table == 0 ||
        !table_new(run, &roots[ROOT_REGISTRY], table, (size_t)kept)) {
        return false;
    }
    for (int i = 0; i < LISTENERS; i++) {
        bool served = request_serve(run, &request) && request_serve(run, &request);
        eden_value listener = served ? record_new(run, sites, LISTENER_BYTES, i % kept) : EDEN_NONE;
        if (listener == EDEN_NONE) {
            return false;
        }
        eden_slot_set(run->mutator, roots[ROOT_REGISTRY], (size_t)(i % kept), listener);
    }
    return index_check(run, roots[ROOT_REGISTRY]) && program_verify(run->program, run->mutator);
}

static bool serve_all(struct run *run) { return serve(run, LISTENERS); }
static bool serve_some(struct run *run) { return serve(run, KEPT); }

#define PARAMETERS "eden_size=4M,grow_headroom=4M,tenure_criterion=site"

const struct pattern heap_grows = {"heap.grows", "registers listeners that it never removes", PARAMETERS,
                                   "full.growth program.allocates", serve_all};
const struct pattern heap_grows_near = {"heap.grows-near", "removes the oldest listener when there are enough",
                                        PARAMETERS, "full.growth full.frequent program.allocates", serve_some};
