#include "views/rows/pause_list.h"
#include "eden_values.h"
#include "util/array.h"
#include "util/sum.h"
#include <stdlib.h>

/* What of the pause under way is known. */
struct under_way {
    uint64_t cause;         /* of the scavenge; EDEN_SCAVENGE_CAUSES: its start was not seen */
    const char *full_cause; /* likewise NULL */
    struct pause before;    /* the scavenge of the full collection that comes next; ns 0: none */
    uint64_t ended_ns;      /* when the last pause ended */
    uint64_t began_ns;      /* the collection whose end has not come; 0: there is none, or its start was not seen */
};

struct gathering {
    struct pause_list *lists; /* owned; one a place */
    struct under_way *under_way;
    const struct viewed *viewed;
    bool is_out_of_memory;
};

/* Adds it, if some of it lies in the viewed time. Durations are what the process says: time that is in two pauses is
 * the first one's. */
static void add(struct gathering *all, size_t heap, struct pause pause) {
    const struct viewed *viewed = all->viewed;
    struct pause_list *list = &all->lists[heap];
    uint64_t *ended = &all->under_way[heap].ended_ns;
    *ended = *ended > viewed->from_ns ? *ended : viewed->from_ns;
    pause.start_ns = pause.began_ns > *ended ? pause.began_ns : *ended;
    pause.is_after = pause.is_under_way || pause.end_ns > viewed->until_ns;
    bool is_before = pause.end_ns < viewed->from_ns && !viewed->is_from_beginning;
    pause.end_ns = pause.end_ns < viewed->until_ns ? pause.end_ns : viewed->until_ns;
    pause.end_ns = pause.end_ns > viewed->from_ns ? pause.end_ns : viewed->from_ns;
    if (is_before || (pause.is_after && pause.start_ns >= pause.end_ns)) {
        return;
    }
    pause.start_ns = pause.start_ns < pause.end_ns ? pause.start_ns : pause.end_ns;
    *ended = pause.end_ns > *ended ? pause.end_ns : *ended;
    struct pause *added = array_grow(&list->at, &list->room, list->count, sizeof *added);
    if (added) {
        *added = pause;
        list->count++;
    }
    all->is_out_of_memory = all->is_out_of_memory || !added;
}

static struct pause pause_of(const struct event *event, uint64_t ns) {
    uint64_t end = event->time_ns;
    struct pause pause = {
        .began_ns = end > ns ? end - ns : 0, .end_ns = end, .ns = ns, .is_explained = event->has_pause};
    if (event->has_pause) {
        pause.spent = event->pause;
    }
    return pause;
}

static void join(struct pause *pause, const struct pause *before) {
    if (before->ns != 0) {
        pause->began_ns = before->began_ns;
        sum_add(&pause->ns, before->ns);
        pause->is_explained = pause->is_explained || before->is_explained;
        pause_time_add(&pause->spent, &before->spent);
    }
}

static const char *scavenge_cause(uint64_t cause) {
    return cause < EDEN_SCAVENGE_CAUSES ? eden_scavenge_cause_name(cause) : NULL;
}

static bool on_event(void *context, size_t heap, const struct event *event) {
    struct gathering *all = context;
    struct under_way *under_way = &all->under_way[heap];
    bool is_start = event->probe == EDEN_PROBE_scavenge__start || event->probe == EDEN_PROBE_full__start;
    under_way->began_ns = is_start ? event->time_ns : 0;
    if (event->probe == EDEN_PROBE_heap__create) { /* no pause of it has begun before */
        under_way->ended_ns = event->time_ns;
    }
    if (event->probe == EDEN_PROBE_scavenge__start) {
        under_way->cause = EDEN_ARG(event->arg, scavenge__start, cause);
        under_way->before.ns = under_way->cause == EDEN_SCAVENGE_FULL ? under_way->before.ns : 0;
    } else if (event->probe == EDEN_PROBE_scavenge__done && EDEN_HAS(event->args, scavenge__done, duration)) {
        struct pause pause = pause_of(event, EDEN_ARG(event->arg, scavenge__done, duration));
        if (under_way->cause == EDEN_SCAVENGE_FULL) { /* the second, where the first found no room */
            join(&pause, &under_way->before);
            under_way->before = pause;
        } else {
            pause.cause = scavenge_cause(under_way->cause);
            add(all, heap, pause);
        }
        under_way->cause = EDEN_SCAVENGE_CAUSES;
    } else if (event->probe == EDEN_PROBE_full__start) {
        under_way->full_cause = eden_full_cause_name(EDEN_ARG(event->arg, full__start, cause));
    } else if (event->probe == EDEN_PROBE_full__done && EDEN_HAS(event->args, full__done, duration)) {
        struct pause pause = pause_of(event, EDEN_ARG(event->arg, full__done, duration));
        join(&pause, &under_way->before);
        pause.is_full = true;
        pause.cause = under_way->full_cause;
        under_way->before.ns = 0;
        under_way->full_cause = NULL;
        add(all, heap, pause);
    }
    return !all->is_out_of_memory;
}

/* A collection that had not ended when the recording did. */
static void add_under_way(struct gathering *all, size_t heap, const struct collection_model *collection) {
    const struct under_way *under_way = &all->under_way[heap];
    if (!collection->known || !collection->under_way) {
        return;
    }
    uint64_t began = under_way->began_ns ? under_way->began_ns : collection->since_ns; /* 0: not known */
    uint64_t counted = began ? began : all->viewed->from_ns;
    bool is_full = under_way->cause == EDEN_SCAVENGE_FULL || phase_whole(collection->phase) == EDEN_PHASE_full;
    struct pause pause = {.began_ns = began,
                          .end_ns = collection->until_ns,
                          .ns = collection->until_ns > counted ? collection->until_ns - counted : 0,
                          .is_full = is_full,
                          .is_under_way = true,
                          .cause = is_full ? under_way->full_cause : scavenge_cause(under_way->cause)};
    if (is_full) {
        join(&pause, &under_way->before);
    }
    add(all, heap, pause);
}

struct pause_list *pause_lists(const struct viewed *viewed, struct heap_places *places, struct failure *why) {
    static const enum eden_probe_id wanted[] = {EDEN_PROBE_scavenge__start, EDEN_PROBE_scavenge__done,
                                                EDEN_PROBE_full__start, EDEN_PROBE_full__done, EDEN_PROBE_heap__create};
    struct gathering all = {.lists = calloc(places->count + 1, sizeof *all.lists),
                            .under_way = calloc(places->count + 1, sizeof *all.under_way),
                            .viewed = viewed};
    all.is_out_of_memory = !all.lists || !all.under_way;
    for (size_t i = 0; !all.is_out_of_memory && i < places->count; i++) {
        all.under_way[i].cause = EDEN_SCAVENGE_CAUSES;
    }
    bool good = !all.is_out_of_memory &&
                heap_events(viewed->recording, places, wanted, sizeof wanted / sizeof *wanted, on_event, &all, why);
    for (size_t i = 0; good && i < places->count; i++) {
        add_under_way(&all, i, &places->at[i].heap->collection);
    }
    if (all.is_out_of_memory) {
        failure_set(why, 1, "out of memory for the pauses");
    }
    if (!good || all.is_out_of_memory) {
        pause_lists_free(all.lists, places->count);
        all.lists = NULL;
    }
    free(all.under_way);
    return all.lists;
}

void pause_lists_free(struct pause_list *lists, size_t count) {
    for (size_t i = 0; lists && i < count; i++) {
        free(lists[i].at);
    }
    free(lists);
}
