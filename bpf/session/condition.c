#include "session/condition.h"
#include "eden_enums.h"
#include "eden_probes.h"
#include "kernel/kernel.h"
#include "util/sum.h"
#include <stdlib.h>
#include <string.h>

/* Room for every observed heap. Each user has a share of these heaps, so one process cannot displace the pauses of
 * others. */
enum { PAUSES = KERNEL_HEAPS };

static const char *const kinds[] = {[CONDITION_pause] = "pause",
                                    [CONDITION_scavenge] = "scavenge",
                                    [CONDITION_full] = "full",
                                    [CONDITION_failure] = "failure"};

/* A pause that ends with a full collection: from the start of its scavenge. */
struct going_on {
    struct process_key process;
    uint64_t serial; /* of the heap */
    uint64_t ns;     /* so far */
    bool is_scavenging;
};

struct condition_watch {
    const struct condition *conditions;
    size_t count;
    struct going_on pause[PAUSES];
    size_t pauses; /* that go on */
    size_t next;   /* the one that gives way where there is no room */
};

static bool parse_ns(const char *text, uint64_t *ns) {
    static const struct {
        const char *name;
        double ns;
    } units[] = {{"ns", 1}, {"us", 1e3}, {"ms", 1e6}, {"s", 1e9}};
    char *end;
    double value = strtod(text, &end);
    if (strspn(text, "0123456789.e") < (size_t)(end - text)) { /* no blank, sign or letters */
        return false;
    }
    for (size_t i = 0; end != text && i < sizeof units / sizeof *units; i++) {
        double all = value * units[i].ns;
        if (strcmp(end, units[i].name) == 0 && all >= 0 && all < 1e18) {
            *ns = (uint64_t)all;
            return true;
        }
    }
    return false;
}

bool condition_parse(const char *text, struct condition *condition) {
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        const size_t length = strlen(kinds[i]);
        *condition = (struct condition){.kind = (enum condition_kind)i};
        if (strncmp(text, kinds[i], length) == 0 &&
            (i == CONDITION_failure ? text[length] == 0
                                    : text[length] == '>' && parse_ns(text + length + 1, &condition->ns))) {
            return true;
        }
    }
    return false;
}

struct condition_watch *condition_watch(const struct condition *conditions, size_t count) {
    struct condition_watch *watch = calloc(1, sizeof *watch);
    if (watch) {
        watch->conditions = conditions;
        watch->count = count;
    }
    return watch;
}

void condition_watch_free(struct condition_watch *watch) { free(watch); }

/* NULL: there is none. */
static struct going_on *find(struct condition_watch *watch, const struct event *event) {
    for (size_t i = 0; i < watch->pauses; i++) {
        struct going_on *pause = &watch->pause[i];
        if (pause->serial == event->serial && process_is_same(&pause->process, &event->process)) {
            return pause;
        }
    }
    return NULL;
}

static void end(struct condition_watch *watch, struct going_on *pause) {
    if (pause) {
        *pause = watch->pause[--watch->pauses];
    }
}

/* A full collection can have two scavenges before it. One of a heap that is not in the figures is not remembered. */
static void begin(struct condition_watch *watch, const struct event *event) {
    struct going_on *pause = find(watch, event);
    if (event->serial == 0) {
        return;
    }
    if (!pause) {
        bool is_full = watch->pauses == PAUSES;
        pause = &watch->pause[is_full ? watch->next++ % PAUSES : watch->pauses++];
        *pause = (struct going_on){.process = event->process, .serial = event->serial};
    }
    pause->is_scavenging = true;
}

static bool holds(const struct condition_watch *watch, enum condition_kind kind, uint64_t ns, const char **what,
                  uint64_t *how_long) {
    for (size_t i = 0; i < watch->count; i++) {
        const struct condition *condition = &watch->conditions[i];
        if (condition->kind == kind && (kind == CONDITION_failure || ns > condition->ns)) {
            *what = kinds[kind];
            *how_long = ns;
            return true;
        }
    }
    return false;
}

bool condition_holds(struct condition_watch *watch, const struct event *event, const char **what, uint64_t *ns) {
    const enum eden_probe_id probe = event->probe;
    if (probe == EDEN_PROBE_alloc__failed) {
        return holds(watch, CONDITION_failure, 0, what, ns);
    }
    const bool is_done = (probe == EDEN_PROBE_scavenge__done && EDEN_HAS(event->args, scavenge__done, duration)) ||
                         (probe == EDEN_PROBE_full__done && EDEN_HAS(event->args, full__done, duration));
    if (probe == EDEN_PROBE_heap__destroy) {
        end(watch, find(watch, event));
    }
    if (probe == EDEN_PROBE_scavenge__start) {
        if (EDEN_ARG(event->arg, scavenge__start, cause) == EDEN_SCAVENGE_FULL) {
            begin(watch, event);
        } else {
            end(watch, find(watch, event));
        }
    }
    if (!is_done) {
        return false;
    }
    struct going_on *before = find(watch, event);
    const bool is_full = probe == EDEN_PROBE_full__done, goes_on = !is_full && before && before->is_scavenging;
    const uint64_t own =
        is_full ? EDEN_ARG(event->arg, full__done, duration) : EDEN_ARG(event->arg, scavenge__done, duration);
    uint64_t pause = own;
    sum_add(&pause, before ? before->ns : 0);
    if (goes_on) {
        before->ns = pause;
        before->is_scavenging = false;
    } else {
        end(watch, before);
    }
    return (!goes_on && holds(watch, CONDITION_pause, pause, what, ns)) ||
           holds(watch, is_full ? CONDITION_full : CONDITION_scavenge, own, what, ns);
}
