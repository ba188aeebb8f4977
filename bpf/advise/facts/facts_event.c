/* What events add to the facts of a heap.
 *
 * A collection's probes are put together by number (seq): the start opens a pass, the parts fill it, the done probe
 * closes it. Collections don't nest, so one is open at a time; what opens while another is open replaces it. A pass
 * whose end lacks arguments, as an older runtime's or after losses, is counted as untold and left out: half a pass
 * would be taken for a small one. */
#include "advise/facts/facts_event.h"
#include <stdlib.h>
#include <string.h>

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
    heap->open = (struct tune_pass){.started = true,
                                    .seq = EDEN_ARG(arg, scavenge__start, seq),
                                    .cause = EDEN_ARG(arg, scavenge__start, cause),
                                    .start_ns = event->time_ns};
    heap->is_open = true;
    if (event->probe == EDEN_PROBE_scavenge__start) {
        heap->open.eden_used = EDEN_ARG(arg, scavenge__start, eden_used);
        heap->open.survivors_before = EDEN_ARG(arg, scavenge__start, survivor_used);
        heap->open.remembered_before = EDEN_ARG(arg, scavenge__start, remembered_now);
        heap->open.old_before = EDEN_ARG(arg, scavenge__start, old_used);
        heap->open.allocated_since = EDEN_ARG(arg, scavenge__start, allocated_since);
    } else {
        heap->open.full = true;
        heap->open.old_before = EDEN_ARG(arg, full__start, old_used);
        heap->open.capacity_before = EDEN_ARG(arg, full__start, old_capacity);
        heap->open.requested = EDEN_ARG(arg, full__start, requested_bytes);
        heap->open.allocated_since = EDEN_ARG(arg, full__start, allocated_since);
    }
}

static void add_part(struct heap_reader *heap, const struct event *event, enum eden_phase phase) {
    if (heap->is_open && heap->open.seq == EDEN_ARG(event->arg, mark__done, seq)) {
        heap->open.part_ns[phase] += EDEN_ARG(event->arg, mark__done, duration);
        heap->open.part_objects[phase] += EDEN_ARG(event->arg, mark__done, objects);
        heap->open.part_bytes[phase] += EDEN_ARG(event->arg, mark__done, bytes);
    }
}

static void close_pass(bool *refused, struct heap_reader *heap, const struct event *event) {
    const uint64_t *arg = event->arg;
    bool full = event->probe == EDEN_PROBE_full__done;
    struct tune_facts *facts = &heap->facts;
    bool started = heap->is_open && heap->open.seq == EDEN_ARG(arg, mark__done, seq) && heap->open.full == full;
    if (!started || !(full ? EDEN_HAS(event->args, full__done, young_freed)
                           : EDEN_HAS(event->args, scavenge__done, survivor_limit))) {
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
    pass->duration_ns = EDEN_ARG(arg, mark__done, duration);
    if (full) {
        pass->old_after = EDEN_ARG(arg, full__done, old_used);
        pass->capacity_after = EDEN_ARG(arg, full__done, old_capacity);
        pass->free_chunks = EDEN_ARG(arg, full__done, free_chunks);
        pass->largest_free = EDEN_ARG(arg, full__done, largest_free);
        pass->segments = EDEN_ARG(arg, full__done, segments);
        pass->freed_bytes = EDEN_ARG(arg, full__done, freed_bytes);
        pass->young_freed = EDEN_ARG(arg, full__done, young_freed);
    } else {
        pass->survivors_after = EDEN_ARG(arg, scavenge__done, survivor_used);
        pass->remembered_after = EDEN_ARG(arg, scavenge__done, remembered_now);
        pass->tenured_bytes = EDEN_ARG(arg, scavenge__done, tenured_bytes);
        pass->tenured_objects = EDEN_ARG(arg, scavenge__done, tenured_objects);
        pass->threshold = EDEN_ARG(arg, scavenge__done, tenure_threshold);
        pass->semispace_start = EDEN_ARG(arg, scavenge__done, survivor_start);
        pass->semispace_limit = EDEN_ARG(arg, scavenge__done, survivor_limit);
    }
}

static void add_scan(bool *refused, struct tune_facts *facts, const uint64_t *arg) {
    struct tune_scans *scans = NULL;
    uint32_t class_id = (uint32_t)EDEN_ARG(arg, remembered__scan, class_id);
    for (size_t i = 0; i < facts->scan_count && !scans; i++) {
        scans = facts->scans[i].class_id == class_id ? &facts->scans[i] : NULL;
    }
    if (!scans) {
        scans = more(refused, &facts->scans, facts->scan_count, &facts->scan_room, sizeof *facts->scans);
        if (!scans) {
            return;
        }
        facts->scan_count++;
        *scans = (struct tune_scans){.class_id = class_id};
    }
    scans->count++;
    scans->slots += EDEN_ARG(arg, remembered__scan, slots);
    scans->young_references += EDEN_ARG(arg, remembered__scan, young_refs);
    scans->duration_ns += EDEN_ARG(arg, remembered__scan, duration);
    facts->scans_told = true;
}

static void add_class(bool *refused, struct tune_facts *facts, const struct event *event) {
    struct tune_class *class =
        more(refused, &facts->classes, facts->class_count, &facts->class_room, sizeof *facts->classes);
    if (class) {
        facts->class_count++;
        uint32_t id = (uint32_t)EDEN_ARG(event->arg, class__define, class_id), of = (uint32_t)event_of_class(event);
        *class = (struct tune_class){.id = id, .of = of ? of : id};
        memcpy(class->name, event->text[0], sizeof class->name);
    }
}

static void add_segment(bool *refused, struct tune_facts *facts, const struct event *event) {
    struct tune_segment *segment =
        more(refused, &facts->segments, facts->segment_count, &facts->segment_room, sizeof *facts->segments);
    if (segment) {
        facts->segment_count++;
        *segment = (struct tune_segment){event->time_ns, EDEN_ARG(event->arg, segment__map, bytes),
                                         EDEN_ARG(event->arg, segment__map, old_capacity),
                                         event->probe == EDEN_PROBE_segment__map};
    }
}

/* A large object was born. */
static void add_large(bool *refused, struct tune_facts *facts, const struct event *event) {
    struct tune_allocation *large = more(refused, &facts->large, facts->large_count, &facts->large_room, sizeof *large);
    if (large) {
        facts->large_count++;
        *large = (struct tune_allocation){event->time_ns, EDEN_ARG(event->arg, alloc__large, bytes),
                                          (uint32_t)EDEN_ARG(event->arg, alloc__large, class_id)};
    }
}

static void add_failure(bool *refused, struct tune_facts *facts, const struct event *event) {
    struct tune_allocation *failure =
        more(refused, &facts->failures, facts->failure_count, &facts->failure_room, sizeof *failure);
    if (failure) {
        facts->failure_count++;
        *failure = (struct tune_allocation){event->time_ns, EDEN_ARG(event->arg, alloc__failed, bytes),
                                            (uint32_t)EDEN_ARG(event->arg, alloc__failed, class_id)};
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
