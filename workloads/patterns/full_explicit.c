/* full.explicit: a server requests a full collection after each batch of requests.
 *
 * What a batch allocates is dead already when it is asked for, and a scavenge frees that at no cost; the full
 * collection marks the server's index each time and finds it alive. Cure: no parameter; the call goes.
 *
 * The near miss asks at the end of a phase, when the index of that phase is dropped, for a collection that frees all of
 * it. */
#include "all.h"
#include "parts.h"

enum { ROOT_INDEX, ROOTS };

struct shape {
    int phases, batches, requests; /* batches a phase, requests a batch */
    int indexed;
    bool after_batch; /* collect; else after the phase */
};

static bool serve_phase(struct run *run, const struct shape *shape, const struct request *request, eden_value *index) {
    if (!index_build(run, index, (size_t)shape->indexed, 40)) {
        return false;
    }
    for (int batch = 0; batch < shape->batches; batch++) {
        for (int i = 0; i < shape->requests; i++) {
            if (!request_serve(run, request)) {
                return false;
            }
        }
        if (shape->after_batch) {
            eden_full_collect(run->mutator);
        }
    }
    bool ok = index_check(run, *index) && program_verify(run->program, run->mutator);
    *index = EDEN_NONE;
    return ok;
}

static bool serve(struct run *run, const struct shape *shape) {
    EDEN_FRAME(run->mutator, roots, ROOTS);
    struct request request = {
        .site = part_site(run, CLASS_TEXT, "Server>>answer:"), .texts = 50, .bytes = 200, .readings = 10};
    for (int phase = 0; phase < shape->phases; phase++) {
        if (request.site == 0 || !serve_phase(run, shape, &request, &roots[ROOT_INDEX])) {
            return false;
        }
        if (!shape->after_batch) {
            eden_full_collect(run->mutator);
        }
    }
    return true;
}

static bool serve_and_collect(struct run *run) {
    return serve(run,
                 &(struct shape){.phases = 1, .batches = 20, .requests = 200, .indexed = 70000, .after_batch = true});
}
static bool serve_phases(struct run *run) {
    return serve(run,
                 &(struct shape){.phases = 2, .batches = 20, .requests = 200, .indexed = 40000, .after_batch = false});
}

const struct pattern full_explicit = {"full.explicit", "requests a full collection after each batch of requests",
                                      "tenure_criterion=site", NULL, serve_and_collect};
const struct pattern full_explicit_near = {"full.explicit-near", "asks for one when a whole index has been dropped",
                                           "tenure_criterion=site", NULL, serve_phases};
