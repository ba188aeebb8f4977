/* What heaps did in each of some equal intervals of the observed time.
 *
 * 1. Algorithm
 * The interval is the shortest of 1, 2 and 5 times a power of ten nanoseconds that makes at most MOST_INTERVALS. A
 * collection counts in the interval where it ends; its time counts in each interval that it lies in. Bytes allocated
 * count where the next collection reports them, at its start. The sizes of spaces are the last ones reported by the end
 * of the interval.
 *
 * 2. Failure
 * Before the first report the size of old space is not known. Where events were lost, that is said. */
#include "views/timeline.h"
#include "util/format.h"
#include "util/json.h"
#include "util/sum.h"
#include "views/heap_events.h"
#include "views/phase_table.h"
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_INTERVALS = 40 };

struct interval {
    uint64_t scavenges, fulls, stopped_ns, longest_ns, allocated, survived, tenured, freed;
    uint64_t old_used, old_capacity;
    bool has_old, has_capacity;
};

struct heap_timeline {
    struct interval at[MOST_INTERVALS];
};

struct timeline {
    struct heap_places places;   /* owned */
    struct heap_timeline *heaps; /* owned; one a place */
    uint64_t start_ns, wall_ns, step_ns;
    uint64_t offset_ns; /* of the first interval, since the recording began */
    size_t intervals;
};

/* ---- from events ------------------------------------------------------------------------------------------------ */

static uint64_t step_of(uint64_t wall_ns) {
    static const uint64_t factors[] = {1, 2, 5};
    uint64_t power = 1;
    for (;; power *= 10) {
        for (int i = 0; i < 3; i++) {
            if (factors[i] * power >= (wall_ns + MOST_INTERVALS - 1) / MOST_INTERVALS || power > UINT64_MAX / 100) {
                return factors[i] * power;
            }
        }
    }
}

static size_t place_of(const struct timeline *all, uint64_t time_ns) {
    uint64_t since = time_ns > all->start_ns ? time_ns - all->start_ns : 0;
    size_t place = (size_t)(since / all->step_ns);
    return place < all->intervals ? place : all->intervals - 1;
}

/* Time in a collection that ended now, in each interval its share. */
static void add_pause(const struct timeline *all, struct heap_timeline *heap, uint64_t end_ns, uint64_t ns) {
    uint64_t start = end_ns > ns ? end_ns - ns : 0;
    start = start > all->start_ns ? start : all->start_ns;
    for (size_t i = place_of(all, start); start < end_ns && i < all->intervals; i++) {
        uint64_t border = i + 1 < all->intervals ? all->start_ns + (i + 1) * all->step_ns : end_ns;
        uint64_t until = border < end_ns ? border : end_ns;
        if (until > start) {
            sum_add(&heap->at[i].stopped_ns, until - start);
            start = until;
        }
    }
    struct interval *last = &heap->at[place_of(all, end_ns)];
    last->longest_ns = ns > last->longest_ns ? ns : last->longest_ns;
}

static bool on_event(void *context, size_t number, const struct event *event) {
    struct timeline *all = context;
    struct heap_timeline *heap = &all->heaps[number];
    struct interval *at = &heap->at[place_of(all, event->time_ns)];
    const uint64_t *arg = event->arg;
    switch (event->probe) {
    case EDEN_PROBE_scavenge__start:
        sum_add(&at->allocated, EDEN_ARG(arg, scavenge__start, allocated_since));
        at->old_used = EDEN_ARG(arg, scavenge__start, old_used);
        at->has_old = true;
        break;
    case EDEN_PROBE_scavenge__done:
        at->scavenges++;
        sum_add(&at->survived, EDEN_ARG(arg, scavenge__done, survivor_used));
        sum_add(&at->survived, EDEN_ARG(arg, scavenge__done, tenured_bytes));
        sum_add(&at->tenured, EDEN_ARG(arg, scavenge__done, tenured_bytes));
        add_pause(all, heap, event->time_ns, EDEN_ARG(arg, scavenge__done, duration));
        if (at->has_old) {
            sum_add(&at->old_used, EDEN_ARG(arg, scavenge__done, tenured_bytes));
        }
        break;
    case EDEN_PROBE_full__start:
        sum_add(&at->allocated, EDEN_ARG(arg, full__start, allocated_since));
        break;
    case EDEN_PROBE_full__done:
        at->fulls++;
        sum_add(&at->freed, EDEN_ARG(arg, full__done, freed_bytes));
        at->old_used = EDEN_ARG(arg, full__done, old_used);
        at->old_capacity = EDEN_ARG(arg, full__done, old_capacity);
        at->has_old = at->has_capacity = true;
        add_pause(all, heap, event->time_ns, EDEN_ARG(arg, full__done, duration));
        break;
    case EDEN_PROBE_heap__destroy:
        sum_add(&at->allocated, EDEN_ARG(arg, heap__destroy, allocated_since));
        break;
    default:
        break;
    }
    return true;
}

/* Sizes stay as they are until the next report. */
static void carry_sizes(const struct timeline *all, struct heap_timeline *heap) {
    for (size_t i = 1; i < all->intervals; i++) {
        struct interval *at = &heap->at[i], *before = at - 1;
        if (!at->has_old) {
            at->old_used = before->old_used;
            at->has_old = before->has_old;
        }
        if (!at->has_capacity) {
            at->old_capacity = before->old_capacity;
            at->has_capacity = before->has_capacity;
        }
    }
}

static bool collect(struct timeline *all, const struct viewed *viewed, struct failure *why) {
    static const enum eden_probe_id wanted[] = {EDEN_PROBE_scavenge__start, EDEN_PROBE_scavenge__done,
                                                EDEN_PROBE_full__start, EDEN_PROBE_full__done,
                                                EDEN_PROBE_heap__destroy};
    *all = (struct timeline){.start_ns = viewed->from_ns,
                             .offset_ns = viewed->from_ns - recording_info(viewed->recording)->mono_ns,
                             .wall_ns = viewed->until_ns - viewed->from_ns,
                             .step_ns = step_of(viewed->until_ns - viewed->from_ns)};
    all->intervals = (size_t)((all->wall_ns + all->step_ns - 1) / all->step_ns);
    all->intervals = all->intervals == 0 ? 1 : all->intervals > MOST_INTERVALS ? MOST_INTERVALS : all->intervals;
    all->heaps = heap_places(viewed->model, &all->places) ? calloc(all->places.count + 1, sizeof *all->heaps) : NULL;
    if (!all->heaps) {
        failure_set(why, 1, "out of memory for the timeline");
        return false;
    }
    bool good = heap_events(viewed, &all->places, wanted, sizeof wanted / sizeof *wanted, on_event, all, why);
    for (size_t i = 0; i < all->places.count; i++) {
        carry_sizes(all, &all->heaps[i]);
    }
    return good;
}

static void clear(struct timeline *all) {
    free(all->places.at);
    free(all->heaps);
}

/* ---- shown ------------------------------------------------------------------------------------------------------ */

/* The last interval may be cut by the end. */
static uint64_t length_of(const struct timeline *all, size_t place) {
    uint64_t start = place * all->step_ns;
    uint64_t left = all->wall_ns > start ? all->wall_ns - start : 0;
    return left < all->step_ns && place + 1 == all->intervals ? left : all->step_ns;
}

static double share_of(const struct timeline *all, size_t place, const struct interval *at) {
    uint64_t length = length_of(all, place);
    double share = length ? (double)at->stopped_ns / (double)length : 0;
    return share < 1 ? share : 1;
}

static void print_interval(FILE *out, const struct timeline *all, size_t place, const struct interval *at) {
    char text[FORMAT_MAX];
    fprintf(out, "%12s", format_ns(text, all->offset_ns + place * all->step_ns));
    fprintf(out, " %7.2f%%", 100 * share_of(all, place, at));
    fprintf(out, " %9s", format_count(text, at->scavenges));
    fprintf(out, " %6s", format_count(text, at->fulls));
    fprintf(out, " %9s", format_ns(text, at->longest_ns));
    fprintf(out, " %10s", format_bytes(text, at->allocated));
    fprintf(out, " %10s", format_bytes(text, at->survived));
    fprintf(out, " %10s", format_bytes(text, at->tenured));
    fprintf(out, " %10s", format_bytes(text, at->freed));
    fprintf(out, " %10s\n", at->has_old ? format_bytes(text, at->old_used) : "?");
}

bool timeline_print(FILE *out, const struct viewed *viewed, struct failure *why) {
    struct timeline all;
    char text[FORMAT_MAX];
    bool good = collect(&all, viewed, why);
    if (good && viewed->model->lost) {
        fprintf(out, "# %" PRIu64 " events were lost: figures are \"at least\"\n", viewed->model->lost);
    }
    for (size_t i = 0; good && i < all.places.count; i++) {
        const struct heap_timeline *heap = &all.heaps[i];
        fputs(i ? "\n" : "", out);
        phase_table_heading(out, all.places.at[i].process, all.places.at[i].heap);
        fprintf(out, "\n# in intervals of %s\n", format_ns(text, all.step_ns));
        fprintf(out, "# %10s %8s %9s %6s %9s %10s %10s %10s %10s %10s\n", "from", "stopped", "scavenges", "full",
                "longest", "allocated", "survived", "tenured", "freed", "old");
        for (size_t j = 0; j < all.intervals; j++) {
            print_interval(out, &all, j, &heap->at[j]);
        }
    }
    clear(&all);
    return good;
}

static json_t *interval_to_json(const struct timeline *all, size_t place, const struct interval *at) {
    return json_pack("{s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "from_ns",
                     json_number(all->offset_ns + place * all->step_ns), "length_ns",
                     json_number(length_of(all, place)), "stopped_ns", json_number(at->stopped_ns), "scavenges",
                     json_number(at->scavenges), "full_collections", json_number(at->fulls), "longest_ns",
                     json_number(at->longest_ns), "allocated_bytes", json_number(at->allocated), "survived_bytes",
                     json_number(at->survived), "tenured_bytes", json_number(at->tenured), "freed_bytes",
                     json_number(at->freed), "old_used", at->has_old ? json_number(at->old_used) : json_null(),
                     "old_capacity", at->has_capacity ? json_number(at->old_capacity) : json_null());
}

json_t *timeline_to_json(const struct viewed *viewed, struct failure *why) {
    struct timeline all;
    json_t *heaps = NULL;
    if (collect(&all, viewed, why)) {
        heaps = json_array();
        for (size_t i = 0; i < all.places.count; i++) {
            const struct heap_place *place = &all.places.at[i];
            json_t *intervals = json_array();
            for (size_t j = 0; j < all.intervals; j++) {
                json_array_append_new(intervals, interval_to_json(&all, j, &all.heaps[i].at[j]));
            }
            json_array_append_new(heaps,
                                  json_pack("{s:I, s:o, s:o, s:o}", "pid", (json_int_t)place->process->key.pid, "heap",
                                            place->heap->id ? json_number(place->heap->id) : json_null(), "serial",
                                            place->heap->serial ? json_number(place->heap->serial) : json_null(),
                                            "intervals", intervals));
        }
    }
    free(all.heaps);
    return heaps ? json_pack("{s:o, s:o, s:o}", "lost", json_number(viewed->model->lost), "step_ns",
                             json_number(all.step_ns), "heaps", heaps)
                 : NULL;
}
