/* What events add to the facts of a heap.
 *
 * A collection's probes are put together by number (seq): the start opens a pass, the parts fill it, the done probe
 * closes it. Collections don't nest, so one is open at a time; what opens while another is open replaces it. A pass
 * whose end lacks arguments, as an older runtime's or after losses, is counted as untold and left out: half a pass
 * would be taken for a small one. */
#include "advise/facts/facts_event.h"
#include <stdlib.h>
#include <string.h>

enum { SCAVENGE_DONE_ARGS = 10, FULL_DONE_ARGS = 10 };

/* Room for one more at the end of an array; NULL: no memory, which is noted. */
static void *more(bool *refused, void *array, size_t count, size_t *room, size_t size) {
    void **at = array;
    if (count == *room) {
        size_t wanted = *room ? *room * 2 : 64;
        void *grown = reallocarray(*at, wanted, size);
        if (!grown) {
            *refused = true;
            return NULL;
        }
        *at = grown;
        *room = wanted;
    }
    return (char *)*at + count * size;
}

static void open_pass(struct heap_reader *heap, const struct event *event) {
    const uint64_t *arg = event->arg;
    heap->open = (struct tune_pass){.started = true, .seq = arg[1], .cause = arg[2], .start_ns = event->time_ns};
    heap->is_open = true;
    if (event->probe == EDEN_PROBE_scavenge__start) {
        heap->open.eden_used = arg[3];
        heap->open.survivors_before = arg[4];
        heap->open.remembered_before = arg[5];
        heap->open.old_before = arg[6];
        heap->open.allocated_since = arg[7];
    } else {
        heap->open.full = true;
        heap->open.old_before = arg[3];
        heap->open.capacity_before = arg[4];
        heap->open.requested = arg[5];
        heap->open.allocated_since = arg[6];
    }
}

static void add_part(struct heap_reader *heap, const struct event *event, enum eden_phase phase) {
    if (heap->is_open && heap->open.seq == event->arg[1]) {
        heap->open.part_ns[phase] += event->arg[2];
        heap->open.part_objects[phase] += event->arg[3];
        heap->open.part_bytes[phase] += event->arg[4];
    }
}

static void close_pass(bool *refused, struct heap_reader *heap, const struct event *event) {
    const uint64_t *arg = event->arg;
    bool full = event->probe == EDEN_PROBE_full__done;
    struct tune_facts *facts = &heap->facts;
    bool started = heap->is_open && heap->open.seq == arg[1] && heap->open.full == full;
    if (!started || event->args < (full ? FULL_DONE_ARGS : SCAVENGE_DONE_ARGS)) {
        facts->untold_passes++;
        heap->is_open = false;
        return;
    }
    struct tune_pass *pass = more(refused, &facts->passes, facts->pass_count, &facts->pass_room, sizeof *facts->passes);
    if (!pass) {
        return;
    }
    *pass = heap->open;
    heap->is_open = false;
    facts->pass_count++;
    pass->duration_ns = arg[2];
    if (full) {
        pass->old_after = arg[3];
        pass->capacity_after = arg[4];
        pass->free_chunks = arg[5];
        pass->largest_free = arg[6];
        pass->segments = arg[7];
        pass->freed_bytes = arg[8];
        pass->young_freed = arg[9];
    } else {
        pass->survivors_after = arg[3];
        pass->remembered_after = arg[4];
        pass->tenured_bytes = arg[5];
        pass->tenured_objects = arg[6];
        pass->threshold = arg[7];
        pass->semispace_start = arg[8];
        pass->semispace_limit = arg[9];
    }
}

static void add_scan(bool *refused, struct tune_facts *facts, const uint64_t *arg) {
    struct tune_scans *scans = NULL;
    for (size_t i = 0; i < facts->scan_count && !scans; i++) {
        scans = facts->scans[i].class_id == (uint32_t)arg[3] ? &facts->scans[i] : NULL;
    }
    if (!scans) {
        scans = more(refused, &facts->scans, facts->scan_count, &facts->scan_room, sizeof *facts->scans);
        if (!scans) {
            return;
        }
        facts->scan_count++;
        *scans = (struct tune_scans){.class_id = (uint32_t)arg[3]};
    }
    scans->count++;
    scans->slots += arg[4];
    scans->young_references += arg[5];
    scans->duration_ns += arg[6];
    facts->scans_told = true;
}

static void add_class(bool *refused, struct tune_facts *facts, const struct event *event) {
    struct tune_class *class =
        more(refused, &facts->classes, facts->class_count, &facts->class_room, sizeof *facts->classes);
    if (class) {
        facts->class_count++;
        *class = (struct tune_class){.id = (uint32_t)event->arg[1],
                                     .of = (uint32_t)(event->args > 3 ? event->arg[3] : event->arg[1])};
        memcpy(class->name, event->text[0], sizeof class->name);
    }
}

static void add_segment(bool *refused, struct tune_facts *facts, const struct event *event) {
    struct tune_segment *segment =
        more(refused, &facts->segments, facts->segment_count, &facts->segment_room, sizeof *facts->segments);
    if (segment) {
        facts->segment_count++;
        *segment = (struct tune_segment){event->time_ns, event->arg[2], event->arg[3],
                                         event->probe == EDEN_PROBE_segment__map};
    }
}

/* A large object was born. */
static void add_large(bool *refused, struct tune_facts *facts, const struct event *event) {
    struct tune_allocation *large = more(refused, &facts->large, facts->large_count, &facts->large_room, sizeof *large);
    if (large) {
        facts->large_count++;
        *large = (struct tune_allocation){event->time_ns, event->arg[3], (uint32_t)event->arg[2]};
    }
}

static void add_failure(bool *refused, struct tune_facts *facts, const struct event *event) {
    struct tune_allocation *failure =
        more(refused, &facts->failures, facts->failure_count, &facts->failure_room, sizeof *failure);
    if (failure) {
        facts->failure_count++;
        *failure = (struct tune_allocation){event->time_ns, event->arg[2], (uint32_t)event->arg[1]};
    }
}

bool facts_take(struct heap_reader *heap, const struct event *event) {
    bool out_of_memory = false, *refused = &out_of_memory;
    struct tune_facts *facts = &heap->facts;
    switch (event->probe) {
    case EDEN_PROBE_heap__create:
        facts->wall_ns -= event->time_ns > facts->start_ns ? event->time_ns - facts->start_ns : 0;
        facts->start_ns = event->time_ns;
        break;
    case EDEN_PROBE_heap__destroy:
        facts->wall_ns = event->time_ns - facts->start_ns;
        break;
    case EDEN_PROBE_class__define:
        add_class(refused, facts, event);
        break;
    case EDEN_PROBE_scavenge__start:
    case EDEN_PROBE_full__start:
        open_pass(heap, event);
        break;
    case EDEN_PROBE_scavenge__done:
    case EDEN_PROBE_full__done:
        close_pass(refused, heap, event);
        break;
#define EDEN_PHASE(probe, name, parent)
#define EDEN_PART(part, name, parent)                                                                                  \
    case EDEN_PROBE_##part##__done:                                                                                    \
        add_part(heap, event, EDEN_PHASE_##part);                                                                      \
        break;
#include "eden_phases.def"
#undef EDEN_PHASE
    case EDEN_PROBE_remembered__scan:
        add_scan(refused, facts, event->arg);
        break;
    case EDEN_PROBE_alloc__large:
        add_large(refused, facts, event);
        break;
    case EDEN_PROBE_alloc__failed:
        add_failure(refused, facts, event);
        break;
    case EDEN_PROBE_segment__map:
    case EDEN_PROBE_segment__unmap:
        add_segment(refused, facts, event);
        break;
    default:
        break;
    }
    return !out_of_memory;
}

void facts_probes(uint64_t probes[FACTS_PROBE_WORDS]) {
    static const int wanted[] = {
        EDEN_PROBE_heap__create,   EDEN_PROBE_heap__destroy, EDEN_PROBE_class__define, EDEN_PROBE_scavenge__start,
        EDEN_PROBE_scavenge__done, EDEN_PROBE_full__start,   EDEN_PROBE_full__done,    EDEN_PROBE_remembered__scan,
        EDEN_PROBE_alloc__large,   EDEN_PROBE_alloc__failed, EDEN_PROBE_segment__map,  EDEN_PROBE_segment__unmap,
#define EDEN_PHASE(probe, name, parent)
#define EDEN_PART(part, name, parent) EDEN_PROBE_##part##__done,
#include "eden_phases.def"
#undef EDEN_PHASE
    };
    memset(probes, 0, FACTS_PROBE_WORDS * sizeof *probes);
    for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++) {
        probes[wanted[i] / 64] |= 1ull << wanted[i] % 64;
    }
}
