/* Cycles of records: strongly connected components (Robert Tarjan, Depth-First Search and Linear Graph Algorithms, SIAM
 * J. Comput. 1, 1972), of two records or more, or of one that refers to itself. An edge leads from a record to each of
 * its providers that is among the records in question.
 *
 * Each record has a node with its number in the order of discovery, `index`, and the lowest index known to be reached
 * from it, `low`. Iterative: the trail is the path of nodes from the root of the depth-first tree, each with the
 * provider that is `next`. A provider without an index joins the trail, and is looked at again, with its index, when
 * the trail has come back; of one that is on Tarjan's stack the low is taken, by a tree edge or not, which is at least
 * as low as the index that the paper takes for the others and of the same component. A node whose low is its index is
 * the root of a component: the stack down to it. */
#include "query.h"

enum { RECORDS, NODES, TRAIL, STACK, COMPONENTS, NODE, PROVIDERS, LOCALS };

/* A node for each record. */
static bool make_nodes(struct model *model, eden_value *local) {
    eden_mutator *m = model->mutator;
    for (size_t i = 0; i < list_size(local[RECORDS]); i++) {
        local[NODE] = object_new(model, SITE_NODE);
        if (local[NODE] == EDEN_NONE) {
            return false;
        }
        eden_value record = list_at(local[RECORDS], i);
        eden_slot_set(m, local[NODE], NODE_RECORD, record);
        int_at_put(m, local[NODE], NODE_STACKED, 0);
        int_at_put(m, local[NODE], NODE_NEXT, 0);
        if (dictionary_add(model, SITE_NODES, local[NODES], record, local[NODE]) == EDEN_NONE) {
            return false;
        }
    }
    return true;
}

static eden_value node_of(struct model *model, const eden_value *local, eden_value record) {
    eden_value pair = dictionary_find(model, local[NODES], record);
    return pair == EDEN_NONE ? EDEN_NONE : eden_slot(pair, PAIR_VALUE);
}

static bool discover(struct model *model, eden_value *local, eden_value node, int64_t *count) {
    local[NODE] = node;
    int_at_put(model->mutator, node, NODE_INDEX, *count);
    int_at_put(model->mutator, node, NODE_LOW, *count);
    int_at_put(model->mutator, node, NODE_STACKED, 1);
    ++*count;
    return list_add(model, SITE_TRAIL, local[TRAIL], local[NODE]) &&
           list_add(model, SITE_STACK, local[STACK], local[NODE]);
}

static bool refers_to_itself(const eden_value *local, eden_value record) {
    for (size_t i = 0; i < list_size(local[PROVIDERS]); i++) {
        if (list_at(local[PROVIDERS], i) == record) {
            return true;
        }
    }
    return false;
}

/* Takes the component whose root is local[NODE] off the stack; keeps it where it is a cycle. */
static bool pop_component(struct model *model, eden_value *local) {
    enum { COMPONENT, POPPED, SLOTS };
    eden_value last = list_at(local[STACK], list_size(local[STACK]) - 1);
    if (last == local[NODE] && !refers_to_itself(local, eden_slot(last, NODE_RECORD))) {
        int_at_put(model->mutator, list_remove_last(model, local[STACK]), NODE_STACKED, 0);
        return true;
    }
    EDEN_FRAME(model->mutator, own, SLOTS);
    own[COMPONENT] = list_new(model, SITE_COMPONENT, 0);
    if (own[COMPONENT] == EDEN_NONE) {
        return false;
    }
    do {
        own[POPPED] = list_remove_last(model, local[STACK]);
        int_at_put(model->mutator, own[POPPED], NODE_STACKED, 0);
        if (!list_add(model, SITE_COMPONENT, own[COMPONENT], eden_slot(own[POPPED], NODE_RECORD))) {
            return false;
        }
    } while (own[POPPED] != local[NODE]);
    return list_add(model, SITE_COMPONENTS, local[COMPONENTS], own[COMPONENT]);
}

/* Goes on with the last node of the trail: to its next provider, or back. */
static bool step(struct model *model, eden_value *local, int64_t *count) {
    eden_mutator *m = model->mutator;
    local[NODE] = list_at(local[TRAIL], list_size(local[TRAIL]) - 1);
    local[PROVIDERS] = record_providers(model, eden_slot(local[NODE], NODE_RECORD));
    if (local[PROVIDERS] == EDEN_NONE) {
        return false;
    }
    eden_value node = local[NODE]; /* nothing collects before it is used for the last time */
    for (size_t next = (size_t)int_at(node, NODE_NEXT); next < list_size(local[PROVIDERS]); next++) {
        eden_value provider = node_of(model, local, list_at(local[PROVIDERS], next));
        if (provider == EDEN_NONE) {
            continue;
        }
        if (eden_slot(provider, NODE_INDEX) == EDEN_NONE) {
            int_at_put(m, node, NODE_NEXT, (int64_t)next);
            return discover(model, local, provider, count);
        }
        if (int_at(provider, NODE_STACKED) != 0 && int_at(provider, NODE_LOW) < int_at(node, NODE_LOW)) {
            int_at_put(m, node, NODE_LOW, int_at(provider, NODE_LOW));
        }
    }
    (void)list_remove_last(model, local[TRAIL]);
    return int_at(node, NODE_LOW) != int_at(node, NODE_INDEX) || pop_component(model, local);
}

static bool traverse(struct model *model, eden_value *local) {
    int64_t count = 0;
    for (size_t i = 0; i < list_size(local[RECORDS]); i++) {
        eden_value node = node_of(model, local, list_at(local[RECORDS], i));
        if (eden_slot(node, NODE_INDEX) != EDEN_NONE) {
            continue;
        }
        if (!discover(model, local, node, &count)) {
            return false;
        }
        while (list_size(local[TRAIL]) > 0) {
            if (!step(model, local, &count)) {
                return false;
            }
        }
    }
    return true;
}

eden_value cycles_find(struct model *model, eden_value records) {
    EDEN_FRAME(model->mutator, local, LOCALS);
    local[RECORDS] = records;
    if ((local[NODES] = hashed_new(model, SITE_NODES)) == EDEN_NONE ||
        (local[TRAIL] = list_new(model, SITE_TRAIL, 0)) == EDEN_NONE ||
        (local[STACK] = list_new(model, SITE_STACK, 0)) == EDEN_NONE ||
        (local[COMPONENTS] = list_new(model, SITE_COMPONENTS, 0)) == EDEN_NONE || !make_nodes(model, local) ||
        !traverse(model, local)) {
        return EDEN_NONE;
    }
    return local[COMPONENTS];
}

/* The record of the lowest id, by which a cycle is named. */
static eden_value lowest(eden_value component) {
    eden_value record = list_at(component, 0);
    for (size_t i = 1; i < list_size(component); i++) {
        eden_value other = list_at(component, i);
        record = entity_id(other) < entity_id(record) ? other : record;
    }
    return record;
}

bool cycles_put(struct model *model, eden_value report, eden_value records) {
    enum { REPORT, CYCLES, RANKING, SLOTS };
    EDEN_FRAME(model->mutator, local, SLOTS);
    local[REPORT] = report;
    local[CYCLES] = cycles_find(model, records);
    if (local[CYCLES] == EDEN_NONE || (local[RANKING] = ranking_new(model)) == EDEN_NONE) {
        return false;
    }
    int64_t total = 0;
    for (size_t i = 0; i < list_size(local[CYCLES]); i++) {
        eden_value cycle = list_at(local[CYCLES], i);
        int64_t size = (int64_t)list_size(cycle);
        total += size;
        if (!ranking_add(model, local[RANKING], size, lowest(cycle))) {
            return false;
        }
    }
    return report_put(model, local[REPORT], "cycles", eden_int((int64_t)list_size(local[CYCLES]))) &&
           report_put(model, local[REPORT], "records in cycles", eden_int(total)) &&
           ranking_put(model, local[REPORT], "largest cycles", local[RANKING]);
}
