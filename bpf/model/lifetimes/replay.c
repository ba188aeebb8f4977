/* From batches to the model, and to objects.
 *
 * 1. Algorithm
 * Batches are read once to fill the model, and once more each time the objects are wanted: a hundred million objects
 * fit into no memory, but their sums do. The second pass fills another model in the same way, but for its sites.
 *
 * 2. Invariants
 * I1. Objects of a profile that a later one of the same heap replaced are not reported: the first model has the number
 *     of replaced profiles, the second one counts up to it.
 * I2. Losses are counted in the first pass only.
 * I3. Objects whose site is not in the first model are not reported: they are counted as lost there.
 * I4. A signal ends either pass with the batch at hand. */
#include "model/lifetimes/replay.h"
#include <string.h>

struct run {
    struct life_model *model;
    bool is_over; /* there is no memory, or a signal has come: *why says so */
    struct failure *why;
    /* Of the second time. */
    const struct life_model *whole; /* the first model */
    const struct life_heap *heap;   /* that model's heap of the batch at hand */
    life_object_fn *visit;
    void *context;
    bool enough;
};

static bool add_batch(struct run *run, struct life_heap *heap, const struct life_batch *batch) {
    return life_model_batch(run->model, heap, batch->kind, batch->records, batch->count, batch->record_bytes);
}

/* NULL: there is no memory, or a signal has come. */
static struct life_heap *heap_of(struct run *run, const struct life_batch *batch) {
    if (life_model_is_interrupted(run->model, run->why)) {
        run->is_over = true;
        return NULL;
    }
    struct life_heap *heap = life_model_heap(run->model, &batch->process, HEAP_REF(batch));
    if (!heap) {
        failure_set(run->why, 1, "out of memory for the lifetimes, or too many heaps");
        run->is_over = true;
    }
    return heap;
}

static bool on_batch(void *context, const struct life_batch *batch) {
    struct run *run = context;
    struct life_heap *heap = heap_of(run, batch);
    if (heap && !add_batch(run, heap, batch)) {
        sum_add(&run->model->lost, batch->count);
    }
    return heap;
}

bool life_replay_model(const struct life_replay *replay, struct life_model *model, struct failure *why) {
    struct run run = {.model = model, .why = why};
    return replay->batches(replay->from, on_batch, &run, why) && !run.is_over;
}

/* ---- objects ---------------------------------------------------------------------------------------------------- */

static bool on_object(void *context, const struct life_heap *heap, const struct eden_life_record *record) {
    struct run *run = context;
    if (!run->enough && run->heap && run->heap->replaced == heap->replaced && life_heap_find(run->heap, record->site)) {
        run->enough = !run->visit(run->context, run->heap, record);
    }
    return !run->enough;
}

static bool on_batch_again(void *context, const struct life_batch *batch) {
    struct run *run = context;
    struct life_heap *heap = heap_of(run, batch);
    /* NULL: of a heap that is not wanted */
    run->heap = life_model_find(run->whole, &batch->process, HEAP_REF(batch));
    if (heap) {
        add_batch(run, heap, batch); /* losses were reported already */
    }
    return heap && !run->enough;
}

bool life_replay_objects(void *from, const struct life_model *model, life_object_fn *visit, void *context,
                         struct failure *why) {
    const struct life_replay *replay = from;
    struct life_model again = {
        .on_object = on_object, .is_of_objects = true, .wall_ns = model->wall_ns, .interrupts = model->interrupts};
    struct run run = {.model = &again, .why = why, .whole = model, .visit = visit, .context = context};
    again.object_context = &run;
    bool good = replay->batches(replay->from, on_batch_again, &run, why) && !run.is_over;
    life_model_clear(&again);
    return good;
}
