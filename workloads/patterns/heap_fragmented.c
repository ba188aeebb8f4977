/* heap.fragmented: free memory in pieces, in a heap that never compacts.
 *
 * Buffers grow from step to step, and every third stays: so the holes between those that stay are always too small for
 * the next step's. Then each request wants a buffer of 12 MB: twice as much is free, but in no such piece, and max_heap
 * allows no more. Each attempt costs a full collection and fails, and the request does its work in parts. Cure:
 * compactor=selective, the default, which slides old space together before it gives up: then one attempt succeeds.
 *
 * In the near miss those that stay are made before those that don't, so that the same collector finds the piece. */
#include "all.h"
#include "parts.h"

/* Of the steps: the first one's size of buffers, which grows by GROWTH / OF, and what all of a step take. */
enum { FIRST_BYTES = 512 * 1024 - 16, GROWTH = 5, OF = 2, STEPS = 3, A_STEP = 12 * 1024 * 1024 };
enum { MOST = 24, MOST_KEPT = MOST * STEPS }; /* buffers of a step; of all */
enum { WANTED_BYTES = 12 * 1024 * 1024, PARTS = 64, REQUESTS = 60, STRIDE = 4096 };
enum { ROOT_INDEX, ROOT_KEPT, ROOT_DROPPED, ROOT_WANTED, ROOTS };

struct store {
    struct run *run;
    eden_value *roots;
    eden_class buffer, part;
    size_t kept, dropped;
};

static bool add_buffer(struct store *store, size_t bytes, bool keep) {
    size_t number = keep ? store->kept : store->dropped;
    eden_value buffer = text_new(store->run, store->buffer, bytes, (int64_t)number);
    if (buffer == EDEN_NONE) {
        return false;
    }
    eden_slot_set(store->run->mutator, store->roots[keep ? ROOT_KEPT : ROOT_DROPPED], number, buffer);
    if (keep) {
        store->kept++;
    } else {
        store->dropped++;
    }
    return true;
}

/* Buffers of one size. Every third stays. */
static bool step(struct store *store, size_t bytes, bool mixed) {
    size_t count = A_STEP / bytes, keeps = count / 3;
    for (size_t i = 0; i < count; i++) {
        if (!add_buffer(store, bytes, mixed ? i % 3 == 2 : i < keeps)) {
            return false;
        }
    }
    for (; store->dropped > 0; store->dropped--) {
        size_t last = store->dropped - 1;
        if (!text_check(store->run, eden_slot(store->roots[ROOT_DROPPED], last), (int64_t)last)) {
            return false;
        }
        eden_slot_set(store->run->mutator, store->roots[ROOT_DROPPED], last, EDEN_NONE);
    }
    return true;
}

/* Words of a buffer, or of a part of one that begins at a word of it. */
static void work_on(struct run *run, eden_value buffer, size_t from, size_t bytes) {
    uint64_t *words = eden_raw(buffer);
    for (size_t i = 0; i < bytes / 8; i += STRIDE) {
        words[i] = from + i;
    }
    for (size_t i = 0; i < bytes / 8; i += STRIDE) {
        checksum_word(&run->checksum, words[i]);
    }
}

/* Works in the large buffer once there is one; in parts where there is none. */
static bool use_buffer(struct store *store) {
    struct run *run = store->run;
    eden_value *wanted = &store->roots[ROOT_WANTED];
    if (*wanted == EDEN_NONE) {
        *wanted = eden_new_raw(run->mutator, store->buffer, WANTED_BYTES);
    }
    if (*wanted != EDEN_NONE) {
        work_on(run, *wanted, 0, WANTED_BYTES);
        return true;
    }
    for (size_t part = 0; part < PARTS; part++) {
        eden_value buffer = eden_new_raw(run->mutator, store->part, WANTED_BYTES / PARTS);
        if (buffer == EDEN_NONE) {
            return program_exhausted(run->program, run->mutator);
        }
        work_on(run, buffer, part * (WANTED_BYTES / PARTS / 8), WANTED_BYTES / PARTS);
    }
    return true;
}

static bool fragment(struct run *run, bool mixed) {
    EDEN_FRAME(run->mutator, roots, ROOTS);
    struct request parsing = {
        .site = part_site(run, CLASS_TEXT, "Request>>parse:"), .texts = 2000, .bytes = 120, .readings = 20};
    struct store store = {.run = run,
                          .roots = roots,
                          .buffer = part_site(run, CLASS_TEXT, "Buffer class>>new:"),
                          .part = part_site(run, CLASS_TEXT, "Buffer>>nextPart")};
    eden_class table = part_site(run, CLASS_ARRAY, "Store class>>new");
    if (parsing.site == 0 || store.buffer == 0 || store.part == 0 || table == 0 ||
        !index_build(run, &roots[ROOT_INDEX], 40000, 40) || !table_new(run, &roots[ROOT_KEPT], table, MOST_KEPT) ||
        !table_new(run, &roots[ROOT_DROPPED], table, MOST)) {
        return false;
    }
    size_t bytes = FIRST_BYTES;
    for (int i = 0; i < STEPS; i++, bytes = bytes / 8 * GROWTH / OF * 8) {
        if (!step(&store, bytes, mixed)) {
            return false;
        }
    }
    for (int i = 0; i < REQUESTS; i++) {
        if (!use_buffer(&store) || !request_serve(run, &parsing)) {
            return false;
        }
    }
    for (size_t i = 0; i < store.kept; i++) {
        if (!text_check(run, eden_slot(roots[ROOT_KEPT], i), (int64_t)i)) {
            return false;
        }
    }
    return index_check(run, roots[ROOT_INDEX]) && program_verify(run->program, run->mutator);
}

static bool keep_between(struct run *run) { return fragment(run, true); }
static bool keep_first(struct run *run) { return fragment(run, false); }

static const char never_compacts[] = "compactor=none,max_heap=56M,eden_size=4M,large_object=256K,tenure_criterion=site";

const struct pattern heap_fragmented = {"heap.fragmented", "needs a large buffer where free memory is in pieces",
                                        never_compacts, "heap.limit", keep_between};
const struct pattern heap_fragmented_near = {
    "heap.fragmented-near", "wants the same buffer where free memory is in one", never_compacts, NULL, keep_first};
