#include "model/process_index.h"

static bool is_process(const void *array, size_t place, const void *key) {
    const struct process_model *processes = array;
    return process_is_same(&processes[place].key, key);
}

bool process_index_make(struct process_index *index, const struct model *model) {
    *index = (struct process_index){.model = model};
    bool good = true;
    for (size_t i = 0; good && i < model->process_count; i++) {
        good = lookup_add(&index->by_key, process_hash(&model->processes[i].key), i);
    }
    return good;
}

const struct process_model *process_index_find(const struct process_index *index, const struct process_key *key) {
    uint32_t place = lookup_find(&index->by_key, process_hash(key), is_process, index->model->processes, key);
    return place == LOOKUP_NONE ? NULL : &index->model->processes[place];
}

void process_index_clear(struct process_index *index) { lookup_clear(&index->by_key); }
