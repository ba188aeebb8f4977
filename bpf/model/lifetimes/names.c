/* Names of classes and sites: collected from events, applied to the model's sites at the end.
 *
 * 1. Algorithm
 * A heap is found by its process and serial. Where a recording has no serials it is found by process and address, the
 * last one created there, in `newest`, which is in their order: whatever addresses a process makes up, finding a heap
 * takes few steps. class__define adds a name to it, in whatever order the process defines them; a late heap, whose
 * heap__create was not seen, is added with ID 0.
 *
 * 2. Invariants
 * I1. A site's first name stays: a late heap's class may be reported twice, by the header and by its definition.
 * I2. At most MOST_NAMES names and MOST_HEAPS heaps are stored: a program may define classes without end.
 * I3. A heap of the model gets the names of its own serial. Without serials it gets those of its own ID; only without
 *     those, the names of ID 0 at its address. */
#include "model/lifetimes/names.h"
#include "util/array.h"
#include <stdlib.h>
#include <string.h>

enum {
    MOST_NAMES = 1 << 20,
    MOST_HEAPS = 1 << 14,
    NO_HEAP = MOST_HEAPS
}; /* of a process that defines classes without end */

void life_names_clear(struct life_names *names) {
    for (size_t i = 0; i < names->heap_count; i++) {
        for (size_t j = 0; j < names->heaps[i].count; j++) {
            free(names->heaps[i].at[j].name);
        }
        free(names->heaps[i].at);
        lookup_clear(&names->heaps[i].by_site);
    }
    free(names->heaps);
    free(names->newest);
    lookup_clear(&names->by_serial);
    *names = (struct life_names){0};
}

static int compare(const struct life_names_heap *heap, const struct process_key *process, uint64_t address) {
    const uint64_t left[] = {heap->process.pid, heap->process.start_ns, heap->address};
    const uint64_t right[] = {process->pid, process->start_ns, address};
    size_t i = 0;
    while (i < 2 && left[i] == right[i]) {
        i++;
    }
    return (left[i] > right[i]) - (left[i] < right[i]);
}

/* Where the heap at this address is among the newest ones, or would be. */
static size_t place_of_heap(const struct life_names *names, const struct process_key *process, uint64_t address) {
    size_t from = 0, to = names->newest_count;
    while (from < to) {
        size_t middle = (from + to) / 2;
        if (compare(&names->heaps[names->newest[middle]], process, address) < 0) {
            from = middle + 1;
        } else {
            to = middle;
        }
    }
    return from;
}

/* The heap that is at this address now: the last one that was created there. */
static struct life_names_heap *find_heap(const struct life_names *names, const struct process_key *process,
                                         uint64_t address) {
    size_t at = place_of_heap(names, process, address);
    struct life_names_heap *heap = at < names->newest_count ? &names->heaps[names->newest[at]] : NULL;
    return heap && compare(heap, process, address) == 0 ? heap : NULL;
}

static uint64_t hash_of_heap(const struct process_key *process, uint64_t serial) {
    const uint64_t words[] = {process->start_ns, process->pid, serial};
    return lookup_hash(words, sizeof words / sizeof *words);
}

static bool has_serial(const void *array, size_t place, const void *key) {
    const struct life_names_heap *heap = (const struct life_names_heap *)array + place, *wanted = key;
    return heap->serial == wanted->serial && process_is_same(&heap->process, &wanted->process);
}

static struct life_names_heap *find_serial(const struct life_names *names, const struct process_key *process,
                                           uint64_t serial) {
    const struct life_names_heap wanted = {.process = *process, .serial = serial};
    uint32_t place = lookup_find(&names->by_serial, hash_of_heap(process, serial), has_serial, names->heaps, &wanted);
    return place == LOOKUP_NONE ? NULL : &names->heaps[place];
}

/* The heap that an event is of; NULL: nothing is known of it yet. */
static struct life_names_heap *find_heap_of(const struct life_names *names, const struct event *event) {
    struct life_names_heap *heap = event->serial ? find_serial(names, &event->process, event->serial)
                                                 : find_heap(names, &event->process, event_heap(event));
    return heap && heap->serial == event->serial ? heap : NULL;
}

static struct life_names_heap *add_heap(struct life_names *names, const struct process_key *process, uint64_t address,
                                        uint64_t id, uint64_t serial) {
    const struct life_names_heap *before = find_heap(names, process, address);
    bool has_room = names->heap_count < MOST_HEAPS &&
                    array_grow(&names->newest, &names->newest_room, names->newest_count, sizeof *names->newest);
    size_t at = place_of_heap(names, process, address);
    uint32_t earlier = before ? names->newest[at] : NO_HEAP;
    struct life_names_heap *heap =
        has_room ? array_grow(&names->heaps, &names->heap_room, names->heap_count, sizeof *heap) : NULL;
    if (!heap || (serial && !lookup_add(&names->by_serial, hash_of_heap(process, serial), names->heap_count))) {
        return NULL;
    }
    if (!before) {
        memmove(&names->newest[at + 1], &names->newest[at], (names->newest_count++ - at) * sizeof *names->newest);
    }
    names->newest[at] = (uint32_t)names->heap_count++;
    *heap = (struct life_names_heap){
        .process = *process, .address = address, .id = id, .serial = serial, .earlier = earlier};
    return heap;
}

static bool is_site(const void *array, size_t place, const void *key) {
    const uint32_t *site = key;
    return ((const struct life_name *)array)[place].site == *site;
}

static const struct life_name *find(const struct life_names_heap *heap, uint32_t site) {
    uint32_t place = lookup_find(&heap->by_site, lookup_hash_number(site), is_site, heap->at, &site);
    return place == LOOKUP_NONE ? NULL : &heap->at[place];
}

static void define(struct life_names *names, struct life_names_heap *heap, uint32_t site, uint32_t class_id,
                   const char *text) {
    if (find(heap, site) || names->total == MOST_NAMES) {
        return; /* a late heap's class may be reported twice: by the header and by its definition */
    }
    char *name = array_grow(&heap->at, &heap->room, heap->count, sizeof *heap->at) ? strdup(text) : NULL;
    if (!name || !lookup_add(&heap->by_site, lookup_hash_number(site), heap->count)) {
        free(name);
        return;
    }
    heap->at[heap->count++] = (struct life_name){site, class_id, name};
    names->total++;
}

void life_names_event(struct life_names *names, const struct event *event) {
    const uint64_t *arg = event->arg;
    uint64_t address = event_heap(event);
    if (event->probe == EDEN_PROBE_heap__create && !(event->serial && find_heap_of(names, event))) {
        add_heap(names, &event->process, address, EDEN_ARG(arg, heap__create, heap_id), event->serial);
    } else if (event->probe == EDEN_PROBE_class__define && EDEN_ARG(arg, class__define, class_id) < EDEN_CLASS_LIMIT) {
        struct life_names_heap *heap = find_heap_of(names, event);
        heap = heap ? heap : add_heap(names, &event->process, address, 0, event->serial);
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

static const struct life_names_heap *find_without_serial(const struct life_names *names, const struct life_heap *heap) {
    const struct life_names_heap *from = NULL, *late = NULL;
    const struct life_names_heap *candidate = find_heap(names, &heap->process, heap->address);
    while (candidate && !from) {
        from = candidate->id == heap->id ? candidate : NULL;
        late = candidate->id == 0 && !late ? candidate : late; /* its creation was not seen */
        candidate = candidate->earlier == NO_HEAP ? NULL : &names->heaps[candidate->earlier];
    }
    return from ? from : late;
}

void life_names_apply(const struct life_names *names, struct life_heap *heap) {
    const struct life_names_heap *from =
        heap->serial ? find_serial(names, &heap->process, heap->serial) : find_without_serial(names, heap);
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
