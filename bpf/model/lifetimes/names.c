/* Names of classes and sites: collected from events, applied to the model's sites at the end.
 *
 * 1. Algorithm
 * A heap is found by process and address, the last one created there. class__define adds a name to it, in order of
 * sites; a late heap, whose heap__create was not seen, is added with ID 0.
 *
 * 2. Invariants
 * I1. A site's first name stays: a late heap's class may be reported twice, by the header and by its definition.
 * I2. At most MOST_NAMES names and MOST_HEAPS heaps are stored: a program may define classes without end.
 * I3. A heap of the model gets the names of its own ID; only without those, the names of ID 0 at its address. */
#include "model/lifetimes/names.h"
#include "util/array.h"
#include <stdlib.h>
#include <string.h>

enum { MOST_NAMES = 1 << 20, MOST_HEAPS = 1 << 14 }; /* of a process that defines classes without end */

void life_names_clear(struct life_names *names) {
    for (size_t i = 0; i < names->heap_count; i++) {
        for (size_t j = 0; j < names->heaps[i].count; j++) {
            free(names->heaps[i].at[j].name);
        }
        free(names->heaps[i].at);
    }
    free(names->heaps);
    *names = (struct life_names){0};
}

/* The heap that is at this address now: the last one that was created there. */
static struct life_names_heap *find_heap(const struct life_names *names, const struct process_key *process,
                                         uint64_t address) {
    for (size_t i = names->heap_count; i > 0; i--) {
        struct life_names_heap *heap = &names->heaps[i - 1];
        if (heap->address == address && process_is_same(&heap->process, process)) {
            return heap;
        }
    }
    return NULL;
}

static struct life_names_heap *add_heap(struct life_names *names, const struct process_key *process, uint64_t address,
                                        uint64_t id) {
    struct life_names_heap *heap = names->heap_count < MOST_HEAPS
                                       ? array_grow(&names->heaps, &names->heap_room, names->heap_count, sizeof *heap)
                                       : NULL;
    if (heap) {
        *heap = (struct life_names_heap){.process = *process, .address = address, .id = id};
        names->heap_count++;
    }
    return heap;
}

static size_t place(const struct life_names_heap *heap, uint32_t site) {
    size_t from = 0, to = heap->count;
    while (from < to) {
        size_t middle = (from + to) / 2;
        if (heap->at[middle].site < site) {
            from = middle + 1;
        } else {
            to = middle;
        }
    }
    return from;
}

static const struct life_name *find(const struct life_names_heap *heap, uint32_t site) {
    size_t at = place(heap, site);
    return at < heap->count && heap->at[at].site == site ? &heap->at[at] : NULL;
}

static void define(struct life_names *names, struct life_names_heap *heap, uint32_t site, uint32_t class_id,
                   const char *text) {
    size_t at = place(heap, site);
    bool known = at < heap->count && heap->at[at].site == site;
    if (known || names->total == MOST_NAMES) {
        return; /* a late heap's class may be reported twice: by the header and by its definition */
    }
    char *name = array_grow(&heap->at, &heap->room, heap->count, sizeof *heap->at) ? strdup(text) : NULL;
    if (!name) {
        return;
    }
    memmove(&heap->at[at + 1], &heap->at[at], (heap->count++ - at) * sizeof *heap->at);
    heap->at[at] = (struct life_name){site, class_id, name};
    names->total++;
}

void life_names_event(struct life_names *names, const struct event *event) {
    const uint64_t *arg = event->arg;
    uint64_t address = event_heap(event);
    if (event->probe == EDEN_PROBE_heap__create) {
        add_heap(names, &event->process, address, EDEN_ARG(arg, heap__create, heap_id));
    } else if (event->probe == EDEN_PROBE_class__define && EDEN_ARG(arg, class__define, class_id) < EDEN_CLASS_LIMIT) {
        struct life_names_heap *heap = find_heap(names, &event->process, address);
        heap = heap ? heap : add_heap(names, &event->process, address, 0);
        uint32_t site = (uint32_t)EDEN_ARG(arg, class__define, class_id);
        uint64_t of = event_of_class(event);
        if (heap) {
            define(names, heap, site, of != 0 && of < EDEN_CLASS_LIMIT ? (uint32_t)of : site, event->text[0]);
        }
    }
}

static void copy(char to[64], const char *from) {
    size_t length = strnlen(from, 63);
    memcpy(to, from, length);
    to[length] = 0;
}

void life_names_apply(const struct life_names *names, struct life_heap *heap) {
    const struct life_names_heap *from = NULL, *late = NULL;
    for (size_t i = 0; i < names->heap_count; i++) {
        const struct life_names_heap *candidate = &names->heaps[i];
        if (candidate->address == heap->address && process_is_same(&candidate->process, &heap->process)) {
            from = candidate->id == heap->id ? candidate : from;
            late = candidate->id == 0 ? candidate : late; /* its creation was not seen */
        }
    }
    from = from ? from : late;
    for (size_t i = 0; from && i < heap->site_count; i++) {
        struct life_site *site = &heap->sites[i];
        const struct life_name *name = find(from, site->origin);
        if (name) {
            const struct life_name *class_name = find(from, name->class_id);
            site->class_id = name->class_id;
            copy(site->name, name->name);
            copy(site->class_name, class_name ? class_name->name : name->name);
        }
    }
}
