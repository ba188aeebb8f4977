/* heap.fragmented: free memory in pieces, in a heap that never compacts.
 *
 * Buffers grow from step to step, each a little too large for the holes that the last step left, and between them stand
 * small blocks that stay. Then each request wants a buffer of 12 MB: three times as much is free, but no such piece,
 * and max_heap allows no more. Each attempt costs a full collection and fails, and the request does its work in parts.
 * Cure: compactor=selective, the default, which slides old space together before it gives up: then one attempt
 * succeeds.
 *
 * In the near miss no blocks stand between the buffers, so that the same collector finds the piece. */
#include "all.h"
#include "parts.h"

enum { STEPS = 4, FIRST_WORDS = 96 * 1024, A_STEP = 9 * 1024 * 1024, BLOCK_WORDS = 640 };
enum { BLOCKS = 512, BUFFERS = 16, WANTED_WORDS = 12 * 1024 * 1024 / 8, PARTS = 16, REQUESTS = 60, STRIDE = 4096 };
enum { ROOT_INDEX, ROOT_BLOCKS, ROOT_BUFFERS, ROOT_WANTED, ROOTS };

struct fragments {
    struct run *run;
    eden_value *roots;
    eden_class block, buffer, part;
    size_t blocks;
    bool blocks_between;
};

static bool add_words(struct fragments *f, eden_class site, size_t words, size_t root, size_t slot, int64_t number) {
    eden_value value = text_new(f->run, site, words * 8, number);
    if (value == EDEN_NONE) {
        return false;
    }
    eden_slot_set(f->run->mutator, f->roots[root], slot, value);
    return true;
}

/* One size of buffers, with blocks that stay in between, or after them. */
static bool step(struct fragments *f, size_t words) {
    size_t count = A_STEP / (words * 8);
    for (size_t i = 0; i < count; i++) {
        if (!add_words(f, f->buffer, words, ROOT_BUFFERS, i, (int64_t)i) ||
            (f->blocks_between && !add_words(f, f->block, BLOCK_WORDS, ROOT_BLOCKS, f->blocks, (int64_t)f->blocks))) {
            return false;
        }
        f->blocks += f->blocks_between;
    }
    for (size_t i = 0; i < count; i++) {
        if (!text_check(f->run, eden_slot(f->roots[ROOT_BUFFERS], i), (int64_t)i)) {
            return false;
        }
        eden_slot_set(f->run->mutator, f->roots[ROOT_BUFFERS], i, EDEN_NONE);
    }
    return true;
}

static void work_on(struct run *run, eden_value words, size_t from, size_t count) {
    uint64_t *raw = eden_raw(words);
    for (size_t i = 0; i < count; i += STRIDE) {
        raw[i] = from + i;
    }
    for (size_t i = 0; i < count; i += STRIDE) {
        checksum_word(&run->checksum, raw[i]);
    }
}

/* In the large buffer, once there is one; in parts where there is none. */
static bool request(struct fragments *f) {
    struct run *run = f->run;
    if (f->roots[ROOT_WANTED] == EDEN_NONE) {
        f->roots[ROOT_WANTED] = eden_new_raw(run->mutator, f->buffer, WANTED_WORDS * 8);
    }
    if (f->roots[ROOT_WANTED] != EDEN_NONE) {
        work_on(run, f->roots[ROOT_WANTED], 0, WANTED_WORDS);
        return true;
    }
    for (size_t part = 0; part < PARTS; part++) {
        eden_value words = eden_new_raw(run->mutator, f->part, WANTED_WORDS * 8 / PARTS);
        if (words == EDEN_NONE) {
            return program_exhausted(run->program, run->mutator);
        }
        work_on(run, words, part * (WANTED_WORDS / PARTS), WANTED_WORDS / PARTS);
    }
    return true;
}

static bool fragment(struct run *run, bool blocks_between) {
    EDEN_FRAME(run->mutator, roots, ROOTS);
    struct request parsing = {
        .site = part_site(run, CLASS_TEXT, "Request>>parse:"), .texts = 2000, .bytes = 120, .readings = 10};
    struct fragments f = {.run = run,
                          .roots = roots,
                          .block = part_site(run, CLASS_TEXT, "Store>>addBlock:"),
                          .buffer = part_site(run, CLASS_TEXT, "Buffer class>>new:"),
                          .part = part_site(run, CLASS_TEXT, "Buffer>>nextPart"),
                          .blocks_between = blocks_between};
    eden_class table = part_site(run, CLASS_ARRAY, "Store class>>new");
    if (parsing.site == 0 || f.block == 0 || f.buffer == 0 || f.part == 0 || table == 0 ||
        !index_build(run, &roots[ROOT_INDEX], 60000, 40) || !table_new(run, &roots[ROOT_BLOCKS], table, BLOCKS) ||
        !table_new(run, &roots[ROOT_BUFFERS], table, BUFFERS)) {
        return false;
    }
    size_t words = FIRST_WORDS;
    for (int i = 0; i < STEPS; i++, words += words / 2) {
        if (!step(&f, words)) {
            return false;
        }
    }
    for (int i = 0; i < REQUESTS; i++) {
        if (!request(&f) || !request_serve(run, &parsing)) {
            return false;
        }
    }
    for (size_t i = 0; i < f.blocks; i++) {
        if (!text_check(run, eden_slot(roots[ROOT_BLOCKS], i), (int64_t)i)) {
            return false;
        }
    }
    return index_check(run, roots[ROOT_INDEX]) && program_verify(run->program, run->mutator);
}

static bool fragment_between(struct run *run) { return fragment(run, true); }
static bool fragment_not(struct run *run) { return fragment(run, false); }

#define NEVER_COMPACTS                                                                                                 \
    "compactor=none,max_heap=64M,eden_size=4M,grow_headroom=16M,large_object=4K,tenure_fill=0,tenure_proportion=1"

const struct pattern heap_fragmented = {"heap.fragmented", "wants a large buffer where free memory is in pieces",
                                        NEVER_COMPACTS, NULL, fragment_between};
const struct pattern heap_fragmented_near = {
    "heap.fragmented-near", "wants the same buffer where free memory is in one", NEVER_COMPACTS, NULL, fragment_not};
