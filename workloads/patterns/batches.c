#include "batches.h"

enum { ROOT_INDEX, ROOT_BATCH, ROOTS };

static bool end_batch(struct run *run, eden_value batch) {
    for (size_t i = 0; i < eden_slot_count(batch); i++) {
        if (!text_check(run, eden_slot(batch, i), (int64_t)i)) {
            return false;
        }
        eden_slot_set(run->mutator, batch, i, EDEN_NONE);
    }
    return true;
}

static bool do_batch(struct run *run, const struct batches *batches, eden_class order, const struct request *request,
                     eden_value *batch) {
    for (int i = 0; i < batches->orders; i++) {
        eden_value text =
            request_serve(run, request) ? text_new(run, order, (size_t)batches->order_bytes, i) : EDEN_NONE;
        if (text == EDEN_NONE) {
            return false;
        }
        eden_slot_set(run->mutator, *batch, (size_t)i, text);
    }
    for (int i = 0; i < batches->lingers; i++) {
        if (!request_serve(run, request)) {
            return false;
        }
    }
    return end_batch(run, *batch);
}

bool batches_do(struct run *run, const struct batches *batches) {
    EDEN_FRAME(run->mutator, roots, ROOTS);
    struct request request = batches->request;
    request.site = part_site(run, CLASS_TEXT, "Order>>parse:");
    eden_class order = part_site(run, CLASS_TEXT, "Batch>>addOrder:");
    eden_class table = part_site(run, CLASS_ARRAY, "Batch class>>new:");
    if (request.site == 0 || order == 0 || table == 0 ||
        !index_build(run, &roots[ROOT_INDEX], (size_t)batches->indexed, 40) ||
        !table_new(run, &roots[ROOT_BATCH], table, (size_t)batches->orders)) {
        return false;
    }
    for (int i = 0; i < batches->batches; i++) {
        if (!do_batch(run, batches, order, &request, &roots[ROOT_BATCH])) {
            return false;
        }
    }
    return index_check(run, roots[ROOT_INDEX]) && program_verify(run->program, run->mutator);
}
