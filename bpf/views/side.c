#include "views/side.h"
#include "util/format.h"
#include "util/sum.h"
#include "views/pauses.h"
#include <string.h>

static void add_figures(struct side *side, const struct heap_model *heap) {
    side->known &= heap->known;
    for (int i = 0; i < EDEN_FIGURE_COUNT; i++) {
        uint64_t value = heap->figures[i] - heap->before[i]; /* since attach */
        if (figure_descriptions[i].kind == KIND_sum) {
            sum_add(&side->figures[i], value);
        } else {
            value = heap->figures[i];
            side->figures[i] = value > side->figures[i] ? value : side->figures[i];
        }
    }
}

static void on_parameter(void *context, const char *name, const char *value) {
    struct side *side = context;
    enum eden_param_id id = eden_param_find(name);
    const size_t bytes = strlen(value) + 1;
    if (id == EDEN_PARAM_COUNT || bytes > sizeof side->param[id]) {
        return;
    }
    if (side->has_param[id] == SIDE_UNKNOWN) {
        side->has_param[id] = SIDE_KNOWN;
        memcpy(side->param[id], value, bytes);
    } else if (strcmp(side->param[id], value) != 0) {
        side->has_param[id] = SIDE_VARIES;
    }
}

bool side_read(struct recording *recording, const struct heap_choice *choice, struct side *side, struct failure *why) {
    struct model model = {0};
    memset(side, 0, sizeof *side);
    side->known = (1ull << EDEN_FIGURE_COUNT) - 1;
    bool good = recording_model(recording, &model, why);
    side->wall_ns = model.wall_ns;
    side->lost = model.lost;
    side->is_partial = recording_partial(recording_info(recording)) || model.lost;
    for (size_t i = 0; good && i < model.process_count; i++) {
        const struct process_model *process = &model.processes[i];
        for (size_t j = 0; good && j < process->heap_count; j++) {
            const struct heap_model *heap = &process->heaps[j];
            if (heap_is_chosen(choice, process->key.pid, HEAP_REF(heap))) {
                side->heaps++;
                add_figures(side, heap);
                good = recording_parameters(recording, &process->key, HEAP_REF(heap), on_parameter, side, why);
            }
        }
    }
    const struct viewed viewed = viewed_whole(recording, &model);
    good = good && pauses_quartiles(&viewed, choice, &side->scavenges, &side->fulls, why);
    model_clear(&model);
    return good && (side->heaps != 0 || failure_set(why, 1, "it has no such heap"));
}

void side_check(struct side *side) {
    side->known &= (1ull << EDEN_FIGURE_COUNT) - 1;
    for (int i = 0; i < EDEN_PARAM_COUNT; i++) {
        side->param[i][sizeof side->param[i] - 1] = 0;
        if ((unsigned)side->has_param[i] > SIDE_VARIES) {
            side->has_param[i] = SIDE_UNKNOWN;
        }
    }
}
