#include "views/rows/pause_list.h"
#include "eden_values.h"
#include "util/array.h"
#include <stdlib.h>

/* What of the pause under way is known. */
struct under_way {
    uint64_t cause;         /* of the scavenge; EDEN_SCAVENGE_CAUSES: its start was not seen */
    const char *full_cause; /* likewise NULL */
    struct pause before;    /* the scavenge of the full collection that comes next; ns 0: none */
};

struct gathering {
    struct pause_list *lists; /* owned; one a place */
    struct under_way *under_way;
    const struct viewed *viewed;
    bool is_out_of_memory;
};

static void add(struct gathering *all, size_t heap, struct pause pause) {
    struct pause_list *list = &all->lists[heap];
    const uint64_t until_ns = all->viewed->until_ns;
    if (pause.end_ns > until_ns) {
        pause.is_after = true;
        pause.end_ns = until_ns;
        if (pause.start_ns >= until_ns) {
            return;
        }
    }
    struct pause *added = array_grow(&list->at, &list->room, list->count, sizeof *added);
    if (added) {
        *added = pause;
        list->count++;
    }
    all->is_out_of_memory = all->is_out_of_memory || !added;
}

static struct pause pause_of(const struct gathering *all, const struct event *event, uint64_t ns) {
    uint64_t end = event->time_ns, start = end > ns ? end - ns : 0;
    return (struct pause){
        .start_ns = start > all->viewed->from_ns ? start : all->viewed->from_ns, .end_ns = end, .ns = ns};
}

static void join(struct pause *pause, const struct pause *before) {
    if (before->ns != 0) {
        pause->start_ns = before->start_ns;
        pause->ns += before->ns;
    }
}

static bool on_event(void *context, size_t heap, const struct event *event) {
    struct gathering *all = context;
    struct under_way *under_way = &all->under_way[heap];
    if (event->probe == EDEN_PROBE_scavenge__start) {
        under_way->cause = EDEN_ARG(event->arg, scavenge__start, cause);
        under_way->before.ns = under_way->cause == EDEN_SCAVENGE_FULL ? under_way->before.ns : 0;
    } else if (event->probe == EDEN_PROBE_scavenge__done && EDEN_HAS(event->args, scavenge__done, duration)) {
        struct pause pause = pause_of(all, event, EDEN_ARG(event->arg, scavenge__done, duration));
        if (under_way->cause == EDEN_SCAVENGE_FULL) { /* the second, where the first found no room */
            join(&pause, &under_way->before);
            under_way->before = pause;
        } else {
            pause.cause = under_way->cause < EDEN_SCAVENGE_CAUSES ? eden_scavenge_cause_name(under_way->cause) : NULL;
            add(all, heap, pause);
        }
        under_way->cause = EDEN_SCAVENGE_CAUSES;
    } else if (event->probe == EDEN_PROBE_full__start) {
        under_way->full_cause = eden_full_cause_name(EDEN_ARG(event->arg, full__start, cause));
    } else if (event->probe == EDEN_PROBE_full__done && EDEN_HAS(event->args, full__done, duration)) {
        struct pause pause = pause_of(all, event, EDEN_ARG(event->arg, full__done, duration));
        join(&pause, &under_way->before);
        pause.is_full = true;
        pause.cause = under_way->full_cause;
        under_way->before.ns = 0;
        under_way->full_cause = NULL;
        add(all, heap, pause);
    }
    return !all->is_out_of_memory;
}

struct pause_list *pause_lists(const struct viewed *viewed, struct heap_places *places, struct failure *why) {
    static const enum eden_probe_id wanted[] = {EDEN_PROBE_scavenge__start, EDEN_PROBE_scavenge__done,
                                                EDEN_PROBE_full__start, EDEN_PROBE_full__done};
    struct gathering all = {.lists = calloc(places->count + 1, sizeof *all.lists),
                            .under_way = calloc(places->count + 1, sizeof *all.under_way),
                            .viewed = viewed};
    all.is_out_of_memory = !all.lists || !all.under_way;
    for (size_t i = 0; !all.is_out_of_memory && i < places->count; i++) {
        all.under_way[i].cause = EDEN_SCAVENGE_CAUSES;
    }
    bool good = !all.is_out_of_memory &&
                heap_events_on(viewed, places, wanted, sizeof wanted / sizeof *wanted, on_event, &all, why);
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
