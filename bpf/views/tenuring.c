/* Survivors against the threshold, scavenge by scavenge.
 *
 * A scavenge copies what lives to a semispace, and sets the threshold: the next one tenures survivors below it. So a
 * threshold of 0 tenures nothing by age, and one as large as the survivors tenures them all. Overflow tenures whatever
 * finds no room in the semispace. A line is printed as its event is read: it costs no memory, however many there are.
 */
#include "views/tenuring.h"
#include "eden_values.h"
#include "util/format.h"
#include "util/json.h"
#include "views/heap_events.h"
#include "views/phase_table.h"
#include <inttypes.h>
#include <stdlib.h>

struct pass {
    uint64_t time_ns, seq, allocated, survivors, semispace, threshold, tenured_bytes, tenured_objects;
    const char *cause; /* NULL: its start was not recorded */
    bool has_threshold;
};

struct heap_passes {
    const char *cause;
    uint64_t allocated;
    json_t *passes; /* owned; NULL: they are printed */
};

struct tenuring {
    struct heap_places places;
    struct heap_passes *heaps; /* owned; one a place */
    FILE *out;                 /* NULL: JSON */
    uint64_t start_ns;
    size_t wanted; /* the heap whose passes are printed */
};

static struct pass pass_of(const struct tenuring *all, const struct heap_passes *heap, const struct event *event) {
    const uint64_t *arg = event->arg;
    uint64_t start = EDEN_ARG(arg, scavenge__done, survivor_start),
             limit = EDEN_ARG(arg, scavenge__done, survivor_limit),
             threshold = EDEN_ARG(arg, scavenge__done, tenure_threshold);
    struct pass pass = {
        .time_ns = event->time_ns > all->start_ns ? event->time_ns - all->start_ns : 0,
        .seq = EDEN_ARG(arg, scavenge__done, seq),
        .allocated = heap->allocated,
        .survivors = EDEN_ARG(arg, scavenge__done, survivor_used),
        .semispace = limit > start ? limit - start : 0,
        .tenured_bytes = EDEN_ARG(arg, scavenge__done, tenured_bytes),
        .tenured_objects = EDEN_ARG(arg, scavenge__done, tenured_objects),
        .cause = heap->cause,
    };
    /* Outside of the semispace it is a fault of the runtime (compat.threshold_bug): then there is no such size. */
    pass.has_threshold = threshold == 0 || (threshold >= start && threshold <= limit);
    pass.threshold = threshold > start && threshold <= limit ? threshold - start : 0;
    return pass;
}

static void print_pass(FILE *out, const struct pass *pass) {
    char text[FORMAT_MAX];
    fprintf(out, "%12s %8" PRIu64 "  %-8s", format_ns(text, pass->time_ns), pass->seq, pass->cause ? pass->cause : "?");
    fprintf(out, " %10s", pass->cause ? format_bytes(text, pass->allocated) : "?");
    fprintf(out, " %10s", format_bytes(text, pass->survivors));
    fprintf(out, " %6.1f%%", pass->semispace ? 100 * (double)pass->survivors / (double)pass->semispace : 0.0);
    fprintf(out, " %10s", pass->has_threshold ? format_bytes(text, pass->threshold) : "outside");
    fprintf(out, " %10s", format_bytes(text, pass->tenured_bytes));
    fprintf(out, " %10s\n", format_count(text, pass->tenured_objects));
}

static json_t *pass_to_json(const struct pass *pass) {
    return json_pack("{s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "time_ns", json_number(pass->time_ns), "seq",
                     json_number(pass->seq), "cause", pass->cause ? json_string(pass->cause) : json_null(),
                     "allocated_bytes", pass->cause ? json_number(pass->allocated) : json_null(), "survivor_bytes",
                     json_number(pass->survivors), "semispace_bytes", json_number(pass->semispace), "threshold_bytes",
                     pass->has_threshold ? json_number(pass->threshold) : json_null(), "tenured_bytes",
                     json_number(pass->tenured_bytes), "tenured_objects", json_number(pass->tenured_objects));
}

static bool on_event(void *context, size_t number, const struct event *event) {
    struct tenuring *all = context;
    struct heap_passes *heap = &all->heaps[number];
    if (event->probe == EDEN_PROBE_scavenge__start) {
        heap->cause = eden_scavenge_cause_name(EDEN_ARG(event->arg, scavenge__start, cause));
        heap->allocated = EDEN_ARG(event->arg, scavenge__start, allocated_since);
    } else if (EDEN_HAS(event->args, scavenge__done, survivor_limit)) {
        const struct pass pass = pass_of(all, heap, event);
        if (heap->passes) {
            json_array_append_new(heap->passes, pass_to_json(&pass));
        } else if (number == all->wanted) {
            print_pass(all->out, &pass);
        }
        heap->cause = NULL;
    }
    return true;
}

static const enum eden_probe_id wanted[] = {EDEN_PROBE_scavenge__start, EDEN_PROBE_scavenge__done};
enum { WANTED = sizeof wanted / sizeof *wanted };

static bool begin(struct tenuring *all, const struct viewed *viewed, struct failure *why) {
    all->start_ns = recording_info(viewed->recording)->mono_ns;
    all->heaps = heap_places(viewed->model, &all->places) ? calloc(all->places.count + 1, sizeof *all->heaps) : NULL;
    if (!all->heaps) {
        failure_set(why, 1, "out of memory for the scavenges");
        return false;
    }
    return true;
}

static void clear(struct tenuring *all) {
    free(all->places.at);
    free(all->heaps);
}

bool tenuring_print(FILE *out, const struct viewed *viewed, struct failure *why) {
    struct tenuring all = {.out = out};
    bool good = begin(&all, viewed, why);
    if (good && viewed->model->lost) {
        fprintf(out, "# %" PRIu64 " events were lost: scavenges are missing\n", viewed->model->lost);
    }
    for (size_t i = 0; good && i < all.places.count; i++) {
        fputs(i ? "\n" : "", out);
        phase_table_heading(out, all.places.at[i].process, all.places.at[i].heap);
        fprintf(out, "\n# %10s %8s  %-8s %10s %10s %7s %10s %10s %10s\n", "ended", "seq", "cause", "allocated",
                "survivors", "filled", "threshold", "tenured", "objects");
        all.wanted = i;
        good = heap_events(viewed, &all.places, wanted, WANTED, on_event, &all, why);
    }
    if (good) {
        fprintf(out, "\nThe next scavenge tenures survivors below the threshold; 0 B: none by age.\n");
    }
    clear(&all);
    return good;
}

json_t *tenuring_to_json(const struct viewed *viewed, struct failure *why) {
    struct tenuring all = {0};
    json_t *heaps = NULL;
    bool good = begin(&all, viewed, why);
    for (size_t i = 0; good && i < all.places.count; i++) {
        all.heaps[i].passes = json_array();
    }
    if (good && heap_events(viewed, &all.places, wanted, WANTED, on_event, &all, why)) {
        heaps = json_array();
    }
    for (size_t i = 0; good && i < all.places.count; i++) {
        const struct heap_place *place = &all.places.at[i];
        if (!heaps) {
            json_decref(all.heaps[i].passes);
            continue;
        }
        json_array_append_new(heaps,
                              json_pack("{s:I, s:o, s:o, s:o}", "pid", (json_int_t)place->process->key.pid, "heap",
                                        place->heap->id ? json_number(place->heap->id) : json_null(), "serial",
                                        place->heap->serial ? json_number(place->heap->serial) : json_null(),
                                        "scavenges", all.heaps[i].passes));
    }
    clear(&all);
    return heaps ? json_pack("{s:o, s:o}", "lost", json_number(viewed->model->lost), "heaps", heaps) : NULL;
}
