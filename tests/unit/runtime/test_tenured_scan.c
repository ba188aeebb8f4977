/* The order in which a scavenge scans what it tenures (compat.tenured_scan), against a model of a few lines. */
#include "support.h"

enum { NODES = 4000, HOLDERS = 24, SLOTS = 4 }; /* slot 0 of a node: its number */

/* Survivors overflow, and nothing else tenures, so that what is copied when decides what is old. */
#define PARAMETERS                                                                                                     \
    "eden_size=256K,grow_headroom=1M,full_gc_ratio=inf,remembered_set=object,compat.overflow=scan-order,"              \
    "tenure_proportion=0"

/* A scavenge of the model: nodes are in eden at first. References are numbers of nodes; -1: none. */
struct model {
    int slots[NODES][SLOTS], holders[HOLDERS], root;
    bool in_set_order;
    bool reached[NODES], tenured[NODES];
    size_t room; /* objects that the semispace still holds */
    int survivors[NODES], old[NODES];
    size_t survivor_count, scanned, old_count, list_count; /* old: in order of tenuring; the rest is for scans */
    int list[NODES];
    int set[NODES + HOLDERS]; /* remembered: nodes; holders from NODES on */
    size_t set_count, set_scanned;
};

static bool refers_to_node(const struct model *model, int node) {
    for (size_t i = 1; i < SLOTS; i++) {
        if (model->slots[node][i] >= 0) {
            return true;
        }
    }
    return false;
}

static void model_reach(struct model *model, int node) {
    if (node < 0 || model->reached[node]) {
        return;
    }
    model->reached[node] = true;
    if (model->survivor_count < model->room) {
        model->survivors[model->survivor_count++] = node;
        return;
    }
    model->tenured[node] = true;
    model->old[model->old_count++] = node;
    if (!model->in_set_order) {
        model->list[model->list_count++] = node;
    } else if (refers_to_node(model, node)) {
        model->set[model->set_count++] = node;
    }
}

/* Does it still refer to something young? */
static bool model_scan(struct model *model, int entry) {
    bool young = false;
    const int *slots = entry < NODES ? &model->slots[entry][1] : &model->holders[entry - NODES];
    for (size_t i = 0; i < (entry < NODES ? SLOTS - 1 : 1); i++) {
        model_reach(model, slots[i]);
        young |= slots[i] >= 0 && !model->tenured[slots[i]];
    }
    return young;
}

static void model_scan_set(struct model *model) {
    size_t kept = model->set_scanned;
    for (size_t i = kept; i < model->set_count; i++) {
        if (model_scan(model, model->set[i])) {
            model->set[kept++] = model->set[i];
        }
    }
    model->set_scanned = model->set_count = kept;
}

static void model_scavenge(struct model *model) {
    model_scan_set(model);
    model_reach(model, model->root);
    for (;;) {
        if (model->scanned < model->survivor_count) {
            model_scan(model, model->survivors[model->scanned++]);
        } else if (model->list_count != 0) {
            int node = model->list[--model->list_count];
            if (model_scan(model, node)) {
                model->set[model->set_count++] = node;
            }
        } else if (model->in_set_order && model->set_scanned < model->set_count) {
            model_scan_set(model);
        } else {
            return;
        }
    }
}

/* The number of a node; of a holder, NODES and its number. */
static int number_of(eden_value object) { return (int)eden_int_value(eden_slot(object, 0)); }

/* Old holders and a random graph of nodes, in the heap and in the model. */
static void make_graph(const struct world *w, eden_value *local, struct model *model, uint64_t seed) {
    make_old_array(w, &local[0], HOLDERS);
    for (int i = 0; i < HOLDERS; i++) {
        eden_value holder = eden_pin(w->m, eden_new_slots(w->m, w->array, 2));
        eden_slot_set(w->m, holder, 0, eden_int(NODES + i));
        eden_slot_set(w->m, local[0], (size_t)i, holder);
    }
    eden_scavenge(w->m);
    assert_int_equal(w->heap->remembered.count, 0);
    local[1] = eden_new_slots(w->m, w->array, NODES);
    for (int i = 0; i < NODES; i++) {
        eden_value node = eden_new_slots(w->m, w->array, SLOTS);
        eden_slot_set(w->m, node, 0, eden_int(i));
        eden_slot_set(w->m, local[1], (size_t)i, node);
    }
    for (int i = 0; i < NODES; i++) {
        for (size_t j = 1; j < SLOTS; j++) {
            bool none = next_random(&seed) % 4 == 0;
            int to = none ? -1 : (int)(next_random(&seed) % NODES);
            model->slots[i][j] = to;
            if (!none) {
                eden_slot_set(w->m, eden_slot(local[1], (size_t)i), j, eden_slot(local[1], (size_t)to));
            }
        }
    }
    for (int i = 0; i < HOLDERS; i++) {
        model->holders[i] = (int)(next_random(&seed) % NODES);
        eden_slot_set(w->m, eden_slot(local[0], (size_t)i), 1, eden_slot(local[1], (size_t)model->holders[i]));
        model->set[model->set_count++] = NODES + i;
    }
    model->root = (int)(next_random(&seed) % NODES);
    local[1] = eden_slot(local[1], (size_t)model->root);
}

static void compare(const struct world *w, const struct model *model, uintptr_t old_from) {
    const struct space *survivors = &w->heap->semi[w->heap->from];
    size_t count = 0;
    for (uintptr_t at = survivors->start; at < survivors->used; at = object_end(object_at(at))) {
        assert_true(count < model->survivor_count);
        assert_int_equal(number_of(object_at(at)), model->survivors[count++]);
    }
    assert_int_equal(count, model->survivor_count);
    count = 0;
    for (eden_value object = old_space_walk(w->heap, old_from); count < model->old_count;
         object = old_space_walk(w->heap, object_end(object))) {
        assert_int_equal(number_of(object), model->old[count++]);
    }
    assert_int_equal(w->heap->remembered.count, model->set_count);
    for (size_t i = 0; i < model->set_count; i++) {
        assert_int_equal(number_of(w->heap->remembered.objects[i]), model->set[i]);
    }
}

static size_t tenured_in_order(uint64_t seed, bool in_set_order, int *old) {
    WORLD(w, PARAMETERS);
    set_parameter(&w, "compat.tenured_scan", in_set_order ? "set-order" : "latest-first");
    EDEN_FRAME(w.m, local, 2);
    struct model *model = calloc(1, sizeof *model);
    assert_non_null(model);
    model->in_set_order = in_set_order;
    make_graph(&w, local, model, seed);
    const struct space *to = &w.heap->semi[!w.heap->from];
    model->room = (to->limit - to->start) / (8 + 8 * SLOTS);
    uintptr_t old_from = w.heap->old.buffer_free;
    eden_scavenge(w.m);
    verify(&w);
    model_scavenge(model);
    compare(&w, model, old_from);
    eden_figures figures = figures_of(&w);
    assert_int_equal(figures.remembered - figures.forgotten, model->set_count);
    assert_int_equal(figures.remembered_now, model->set_count);
    size_t count = model->old_count;
    memcpy(old, model->old, count * sizeof *old);
    free(model);
    for (size_t i = 0; i < HOLDERS; i++) {
        eden_unpin(w.m, eden_slot(local[0], i));
    }
    return count;
}

TEST(both_orders_are_the_models) {
    static int latest[NODES], in_order[NODES];
    for (uint64_t seed = 1; seed <= 20; seed++) {
        size_t count = tenured_in_order(seed, false, latest);
        assert_true(count > 500);
        assert_int_equal(tenured_in_order(seed, true, in_order), count);
        assert_memory_not_equal(latest, in_order, count * sizeof *latest);
    }
}

/* In the set's order what is tenured is remembered until it is scanned, and the set keeps the room that this took. */
TEST(the_set_grows_for_what_leaves_it) {
    enum { PAIRS = 1500 };
    for (int in_order = 0; in_order <= 1; in_order++) {
        WORLD(w, "eden_size=1M,full_gc_ratio=inf,tenure_fill=0,tenure_proportion=1");
        set_parameter(&w, "compat.tenured_scan", in_order ? "set-order" : "latest-first");
        EDEN_FRAME(w.m, local, 1);
        for (size_t i = 0; i < PAIRS; i++) {
            eden_value pair = eden_new(w.m, w.pair);
            eden_slot_set(w.m, pair, 0, local[0]);
            local[0] = pair;
        }
        eden_scavenge(w.m);
        assert_false(is_old(&w, local[0]));
        eden_scavenge(w.m);
        assert_true(is_old(&w, local[0]));
        eden_figures figures = figures_of(&w);
        assert_int_equal(figures.tenured_objects, PAIRS);
        /* The list's first pair refers to nothing. Each of the others is remembered, scanned and forgotten. */
        assert_int_equal(figures.remembered, in_order ? PAIRS - 1 : 0);
        assert_int_equal(figures.forgotten, figures.remembered);
        assert_int_equal(w.heap->remembered.room, in_order ? 2048 : 0);
    }
}

/* The set cannot grow: what would be remembered is scanned all the same. */
TEST(a_set_that_cannot_grow_loses_nothing) {
    struct refusal refusal = {0, 0, 0};
    WORLD_REFUSING(w, "eden_size=1M,full_gc_ratio=inf,tenure_fill=0,tenure_proportion=1,compat.tenured_scan=set-order",
                   &refusal);
    EDEN_FRAME(w.m, local, 1);
    make_old(&w, (local[0] = eden_new(w.m, w.pair), &local[0])); /* old space has room */
    local[0] = EDEN_NONE;
    for (int i = 0; i < 1000; i++) {
        eden_value pair = eden_new(w.m, w.pair);
        eden_slot_set(w.m, pair, 0, local[0]);
        eden_slot_set(w.m, pair, 1, eden_int(i));
        local[0] = pair;
    }
    eden_scavenge(w.m);
    refusal = (struct refusal){1, LONG_MAX, 0};
    eden_scavenge(w.m);
    assert_true(refusal.seen > 0);
    refusal.to = 0;
    eden_value at = local[0];
    for (int i = 1000; i-- > 0; at = eden_slot(at, 0)) {
        assert_true(is_old(&w, at) && eden_int_value(eden_slot(at, 1)) == i);
    }
    assert_int_equal(w.heap->remembered.count, 0);
}
