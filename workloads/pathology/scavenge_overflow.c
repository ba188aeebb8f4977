/* scavenge.overflow: batches whose objects, 6 MB, live until the batch is done; the survivor semispace has 3.2 MB.
 *
 * A scavenge amid a batch finds more survivors than fit. What doesn't is tenured, dies with its batch, and fills old
 * space until a full collection. Cure: eden_size=64M (a semispace of 12.8 MB, and fewer scavenges amid batches).
 *
 * The near miss does the same work in batches that fit. */
#include "all.h"
#include "parts.h"

enum { ROOT_BATCH, ROOTS };

struct shape {
    int batches, records;
};

static bool do_batch(struct run *run, const struct shape *shape, struct record_sites sites,
                     const struct request *request, eden_value *batch) {
    for (int i = 0; i < shape->records; i++) {
        eden_value record = request_serve(run, request) ? record_new(run, sites, 64, i) : EDEN_NONE;
        if (record == EDEN_NONE) {
            return false;
        }
        eden_slot_set(run->mutator, *batch, (size_t)i, record);
    }
    bool ok = index_check(run, *batch);
    for (int i = 0; i < shape->records && ok; i++) {
        eden_slot_set(run->mutator, *batch, (size_t)i, EDEN_NONE);
    }
    return ok;
}

static bool do_batches(struct run *run, const struct shape *shape) {
    EDEN_FRAME(run->mutator, roots, ROOTS);
    struct request request = {
        .site = part_site(run, CLASS_TEXT, "Order>>parse:"), .texts = 2, .bytes = 80, .readings = 1};
    struct record_sites sites = {part_site(run, CLASS_RECORD, "Batch>>addOrder:"),
                                 part_site(run, CLASS_TEXT, "Batch>>readOrder")};
    eden_class table = part_site(run, CLASS_ARRAY, "Batch class>>new:");
    if (request.site == 0 || sites.record == 0 || sites.text == 0 || table == 0 ||
        !table_new(run, &roots[ROOT_BATCH], table, (size_t)shape->records)) {
        return false;
    }
    for (int batch = 0; batch < shape->batches; batch++) {
        if (!do_batch(run, shape, sites, &request, &roots[ROOT_BATCH])) {
            return false;
        }
    }
    return program_verify(run->program, run->mutator);
}

static bool do_large(struct run *run) { return do_batches(run, &(struct shape){.batches = 25, .records = 60000}); }
static bool do_small(struct run *run) { return do_batches(run, &(struct shape){.batches = 1500, .records = 1000}); }

const struct pattern scavenge_overflow = {"scavenge.overflow", "does batches that outgrow the survivor semispace", NULL,
                                          "tenure.premature", do_large};
const struct pattern scavenge_overflow_near = {"scavenge.overflow-near", "does the same work in small batches", NULL,
                                               NULL, do_small};
