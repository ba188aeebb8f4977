/* tenure.nepotism: a queue whose nodes keep their link when they are taken out.
 *
 * A burst at the beginning outgrew the survivor semispace, so that some nodes are old. A dead old node keeps its
 * successor alive, which is tenured in its turn and keeps the next: nothing that goes through the queue ever dies young
 * again, but is copied to old space and waits there for a full collection. Cure: eden_size=16M, in which the burst is
 * over before there is a scavenge; better, a program that clears the link.
 *
 * The near miss clears it. */
#include "all.h"
#include "parts.h"

enum { BURST = 68000, LIVE = 100, NODES = 1200000 };
enum { ROOT_FRONT, ROOT_BACK, ROOTS };

struct queue {
    struct run *run;
    eden_value *roots;
    eden_class node;
    int64_t put, taken;
    bool clears; /* a node's link when it is taken out */
};

static bool put(struct queue *queue) {
    eden_mutator *mutator = queue->run->mutator;
    eden_value node = eden_new(mutator, queue->node);
    if (node == EDEN_NONE) {
        return program_exhausted(queue->run->program, mutator);
    }
    eden_slot_set(mutator, node, RECORD_NUMBER, eden_int(queue->put++));
    if (queue->roots[ROOT_BACK] == EDEN_NONE) {
        queue->roots[ROOT_FRONT] = node;
    } else {
        eden_slot_set(mutator, queue->roots[ROOT_BACK], RECORD_LINK, node);
    }
    queue->roots[ROOT_BACK] = node;
    return true;
}

static bool take(struct queue *queue) {
    eden_value node = queue->roots[ROOT_FRONT];
    if (eden_slot(node, RECORD_NUMBER) != eden_int(queue->taken)) {
        return program_fail(queue->run->program, "node %lld has another number", (long long)queue->taken);
    }
    checksum_word(&queue->run->checksum, (uint64_t)queue->taken++);
    queue->roots[ROOT_FRONT] = eden_slot(node, RECORD_LINK);
    if (queue->clears) {
        eden_slot_set(queue->run->mutator, node, RECORD_LINK, EDEN_NONE);
    }
    return true;
}

static bool go_through(struct run *run, bool clears) {
    EDEN_FRAME(run->mutator, roots, ROOTS);
    struct request request = {
        .site = part_site(run, CLASS_TEXT, "Consumer>>handle:"), .texts = 1, .bytes = 160, .readings = 5};
    struct queue queue = {
        .run = run, .roots = roots, .node = part_site(run, CLASS_RECORD, "Queue>>put:"), .clears = clears};
    if (request.site == 0 || queue.node == 0) {
        return false;
    }
    while (queue.put < NODES) {
        if (!put(&queue)) {
            return false;
        }
        while (queue.put >= BURST && queue.put - queue.taken > LIVE) {
            if (!take(&queue) || !request_serve(run, &request)) {
                return false;
            }
        }
    }
    return program_verify(run->program, run->mutator);
}

static bool keep_links(struct run *run) { return go_through(run, false); }
static bool clear_links(struct run *run) { return go_through(run, true); }

const struct pattern tenure_nepotism = {"tenure.nepotism", "a queue whose dead old nodes keep their successors",
                                        "eden_size=2M", "eden.small scavenge.overflow tenure.premature", keep_links};
const struct pattern tenure_nepotism_near = {"tenure.nepotism-near", "the same queue, which clears a node's link",
                                             "eden_size=2M", NULL, clear_links};
