#include "views/side.h"
#include "util/format.h"
#include "util/sum.h"
#include "views/rows/durations.h"
#include "views/rows/pause_list.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

static void add_figures(struct side *side, const struct heap_model *heap) {
    side->known &= heap->known;
    sum_add(&side->stopped_ns, heap->stopped_ns);
    side->knows_stopped = side->knows_stopped && heap->stopped_known;
    side->is_part = side->is_part || heap->late || !heap->destroyed;
    sum_add(&side->marked_bytes, heap->phase[EDEN_PHASE_mark] ? heap->phase[EDEN_PHASE_mark]->bytes : 0);
    for (int i = 0; i < EDEN_FIGURE_COUNT; i++) {
        uint64_t value = heap->figures[i] - heap->before[i]; /* since attach */
        if (figure_descriptions[i].kind == KIND_sum) {
            sum_add(&side->figures[i], value);
        } else if (i != EDEN_FIGURE_max_pause_ns || heap->figures[i] != heap->before[i] || !heap->late) {
            value = heap->figures[i]; /* of a late heap the longest pause may have come before: add_pauses() */
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

/* By ranks: the interval of the binomial distribution, approximated by the normal one. It has no lower end with less
 * than a dozen pauses, and no upper one with less than four. */
static struct percentiles percentiles_of(struct durations *pauses) {
    struct percentiles of = {.count = pauses->count};
    if (pauses->count != 0) {
        const double count = (double)pauses->count, around = 1.96 * sqrt(count * 0.25 * 0.75);
        durations_sort(pauses);
        of.p25_ns = durations_percentile(pauses, 25);
        of.p50_ns = durations_percentile(pauses, 50);
        of.p99_ns = durations_percentile(pauses, 99);
        const double low = 0.25 * count - around, high = 0.25 * count + around + 1;
        of.p25_low_ns = low > 0 ? durations_percentile(pauses, 100 * low / count) : 0;
        of.p25_high_ns = high <= count ? durations_percentile(pauses, 100 * high / count) : UINT64_MAX;
    }
    return of;
}

/* Of the pauses of all chosen heaps. */
static bool add_pauses(struct side *side, const struct viewed *viewed, const struct heap_choice *choice,
                       struct failure *why) {
    struct heap_places places;
    struct durations of[2] = {0}; /* scavenges, full collections */
    bool has_memory = heap_places(viewed->model, &places);
    struct pause_list *lists = has_memory ? pause_lists(viewed, &places, why) : NULL;
    for (size_t i = 0; lists && i < places.count; i++) {
        bool chosen = heap_is_chosen(choice, places.at[i].process->key.pid, HEAP_REF(places.at[i].heap));
        for (size_t j = 0; chosen && has_memory && j < lists[i].count; j++) {
            uint64_t ns = lists[i].at[j].ns, *longest = &side->figures[EDEN_FIGURE_max_pause_ns];
            has_memory = durations_add(&of[lists[i].at[j].is_full], ns);
            *longest = places.at[i].heap->late && ns > *longest ? ns : *longest;
        }
    }
    side->scavenges = percentiles_of(&of[0]);
    side->fulls = percentiles_of(&of[1]);
    bool good = lists && has_memory;
    if (!has_memory) {
        failure_set(why, 1, "out of memory for the pauses");
    }
    free(of[0].ns);
    free(of[1].ns);
    pause_lists_free(lists, places.count);
    heap_places_clear(&places);
    return good;
}

bool side_read(struct recording *recording, const struct heap_choice *choice, struct side *side, struct failure *why) {
    struct model model = {0};
    memset(side, 0, sizeof *side);
    side->known = (1ull << EDEN_FIGURE_COUNT) - 1;
    side->knows_stopped = true;
    bool good = recording_model(recording, &model, why);
    side->wall_ns = model.wall_ns;
    side->lost = model.lost;
    side->is_partial = recording_partial(recording_info(recording)) || model.uncounted;
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
    good = good && add_pauses(side, &viewed, choice, why);
    model_clear(&model);
    return good;
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
