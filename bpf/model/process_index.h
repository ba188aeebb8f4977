/* The processes of a model, found by their keys in a few steps: a recording may hold tens of thousands. */
#ifndef EDEN_PROCESS_INDEX_H
#define EDEN_PROCESS_INDEX_H

#include "model/model.h"
#include "util/lookup.h"

struct process_index {
    const struct model *model; /* which does not change meanwhile */
    struct lookup by_key;
};

static inline uint64_t process_hash(const struct process_key *key) {
    return lookup_hash((const uint64_t[]){key->pid, key->start_ns}, 2);
}

/* False: no memory. */
bool process_index_make(struct process_index *index, const struct model *model);
/* NULL: there is none. */
const struct process_model *process_index_find(const struct process_index *index, const struct process_key *key);
void process_index_clear(struct process_index *index);

#endif
