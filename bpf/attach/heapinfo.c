/* Reading heap headers from another process's memory.
 *
 * 1. Purpose
 * Nothing read here is trusted: the process may be broken or hostile, may have been built with another version, and
 * runs meanwhile.
 *
 * 2. Algorithm
 * A header is read between two readings of its `lock` (a sequence lock, odd for less than a microsecond; a few tries
 * are enough). The list of heaps is followed from the registry, class names from the table's pages.
 *
 * 3. Invariants
 * I1. Sizes and counts are cut to what this build knows; names are cut and terminated.
 * I2. Addresses are only ever passed to target_read, which fails for a bad one.
 * I3. A list takes at most MOST_STEPS steps, in all MOST_TRIES tries: it may be a cycle. A class table takes at most
 *     MOST_PAGES pages a call, and ends after MOST_UNREAD unreadable names.
 * I4. A header counts only if magic and version are right, and `lock` was even and the same before and after.
 *
 * 4. Failure
 * False or -1 with errno: EPROTO for another version of the runtime. Unreadable heaps and names are counted. */
#include "attach/heapinfo.h"
#include "attach/target.h"
#include <errno.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    TRIES = 100,       /* to find one heap's lock at rest */
    MOST_TRIES = 1000, /* for all heaps of a list */
    MOST_STEPS = 4096, /* along the list of heaps */
    MOST_PAGES = 256,  /* of a class table in one call */
    MOST_UNREAD = 64,  /* names: an honest process has none that can't be read */
    PAGE_CLASSES = 1 << EDEN_CLASS_PAGE_SHIFT
};

/* As many bytes as the header has, by its own account, and we know. The rest stays zero. */
static bool read_header(struct memory memory, uint64_t address, struct eden_heap_info *header) {
    memset(header, 0, sizeof *header);
    if (!target_read(memory, address, header, offsetof(struct eden_heap_info, heap_id)) ||
        header->magic != EDEN_HEAP_MAGIC || header->version != EDEN_ABI_VERSION) {
        return false;
    }
    size_t bytes = header->bytes < sizeof *header ? header->bytes : sizeof *header;
    if (bytes < offsetof(struct eden_heap_info, figures) || !target_read(memory, address, header, bytes)) {
        return false;
    }
    header->bytes = (uint32_t)bytes; /* the second reading may say another number */
    return true;
}

/* Takes the tries that it makes off *tries. */
static bool read_consistent(struct memory memory, uint64_t address, struct eden_heap_info *header, int *tries) {
    uint64_t lock_at = address + offsetof(struct eden_heap_info, lock);
    for (int i = 0; i<TRIES && * tries> 0; i++, --*tries) {
        uint64_t before, after;
        if (!target_read(memory, lock_at, &before, sizeof before) || !read_header(memory, address, header) ||
            !target_read(memory, lock_at, &after, sizeof after)) {
            return false;
        }
        if (before % 2 == 0 && before == after) {
            return true;
        }
        sched_yield();
    }
    return false;
}

static bool has_listener(struct memory memory, uint64_t semaphore) {
    uint16_t listeners;
    return semaphore != 0 && target_read(memory, semaphore, &listeners, sizeof listeners) && listeners != 0;
}

bool heapinfo_take(const struct eden_heap_info *header, uint64_t address, struct heapinfo *info) {
    const size_t first = offsetof(struct eden_heap_info, figures);
    if (header->magic != EDEN_HEAP_MAGIC || header->version != EDEN_ABI_VERSION || header->bytes < first) {
        return false;
    }
    *info = (struct heapinfo){
        .address = address,
        .id = header->heap_id,
        .seq = header->seq,
        .class_pages = header->class_pages,
        .control_word = header->bytes >= offsetof(struct eden_heap_info, batch_semaphore)
                            ? address + offsetof(struct eden_heap_info, sample_control)
                            : 0,
        .control = header->sample_control,
        .collect_word = header->bytes >= offsetof(struct eden_heap_info, reserved)
                            ? address + offsetof(struct eden_heap_info, collect_request)
                            : 0,
        .class_limit = header->class_limit < EDEN_CLASS_LIMIT ? header->class_limit : EDEN_CLASS_LIMIT,
    };
    memcpy(info->name, header->name, sizeof info->name - 1);
    uint32_t count = header->figure_count < EDEN_FIGURE_COUNT ? header->figure_count : EDEN_FIGURE_COUNT;
    size_t there = sizeof header->figures / sizeof header->figures[0];
    if (header->bytes < sizeof *header) {
        there = (header->bytes - first) / sizeof header->figures[0];
    }
    for (uint32_t i = 0; i < count && i < there; i++) {
        info->known |= 1ull << i;
        info->figures[i] = header->figures[i];
    }
    memcpy(info->full_by_cause, header->full_by_cause, sizeof info->full_by_cause);
    if (header->bytes >= offsetof(struct eden_heap_info, reserved) && header->activity < EDEN_ACTIVITIES &&
        header->phase < EDEN_PHASE_COUNT) {
        info->activity = (enum eden_activity)header->activity;
        info->phase = (enum eden_phase)header->phase;
        info->phase_ns = header->phase_ns;
        info->activity_ns = header->activity_ns;
    }
    return true;
}

static bool read_heap(struct memory memory, uint64_t address, struct heapinfo *info, int *tries) {
    struct eden_heap_info header;
    if (!read_consistent(memory, address, &header, tries) || !heapinfo_take(&header, address, info)) {
        return false;
    }
    info->has_listener =
        has_listener(memory, header.batch_semaphore) || has_listener(memory, header.requested_semaphore);
    return true;
}

bool heapinfo_read(struct memory memory, uint64_t address, struct heapinfo *info) {
    int tries = TRIES;
    return read_heap(memory, address, info, &tries);
}

void heap_params_text(const struct heap_params *params, enum eden_param_id id, char text[256]) {
    if (eden_param(id)->kind == EDEN_KIND_file && isnan(params->value[id])) {
        snprintf(text, 256, "%s", params->pretenure_file[0] ? params->pretenure_file : "?");
    } else {
        eden_param_text(eden_param(id), params->value[id], text, 256);
    }
}

static void take_params(const struct eden_heap_info *header, const double *value, uint32_t count,
                        struct heap_params *params) {
    params->known = params->set = 0;
    for (uint32_t i = 0; i < count; i++) {
        params->value[i] = value[i];
        params->known |= eden_param_is_value(eden_param((enum eden_param_id)i), value[i]) ? 1ull << i : 0;
    }
    params->set = header->params_set & params->known;
}

/* Its name is as long as a page's end lets it be. */
static void read_file_name(struct memory memory, uint64_t address, char name[256]) {
    size_t length = 0;
    while (address != 0 && length < 255 && target_read(memory, address + length, &name[length], 1) && name[length]) {
        length++;
    }
    name[length] = 0;
}

bool heapinfo_params(struct memory memory, uint64_t address, uint64_t id, struct heap_params *params) {
    for (int tries = TRIES; tries > 0;) {
        struct eden_heap_info header;
        double value[EDEN_PARAM_COUNT];
        uint64_t lock;
        if (!read_consistent(memory, address, &header, &tries) || header.heap_id != id ||
            header.bytes < offsetof(struct eden_heap_info, reserved) || header.params == 0) {
            return false;
        }
        uint32_t count = header.param_count < EDEN_PARAM_COUNT ? header.param_count : EDEN_PARAM_COUNT;
        if (!target_read(memory, header.params, value, count * sizeof *value) ||
            !target_read(memory, address + offsetof(struct eden_heap_info, lock), &lock, sizeof lock)) {
            return false;
        }
        if (count == 0 || value[0] == 0) { /* eden_size is never 0: the page is not there */
            return false;
        }
        if (lock == header.lock) {
            take_params(&header, value, count, params);
            read_file_name(memory, header.pretenure_file, params->pretenure_file);
            return true;
        }
        tries--;
    }
    return false;
}

/* The address of the first heap's header; false with errno. */
static bool read_registry(struct memory memory, uint64_t address, uint64_t *first) {
    struct eden_registry_info registry;
    if (!target_read(memory, address, &registry, sizeof registry)) {
        return false;
    }
    if (registry.magic == 0 && registry.version == 0) { /* never written, so there was never a heap */
        *first = 0;
        return true;
    }
    if (registry.magic != EDEN_REGISTRY_MAGIC || registry.version != EDEN_ABI_VERSION) {
        errno = EPROTO;
        return false;
    }
    *first = registry.first;
    return true;
}

static bool read_next(struct memory memory, uint64_t address, uint64_t *next) {
    return target_read(memory, address + offsetof(struct eden_heap_info, next), next, sizeof *next);
}

int heapinfo_list(struct memory memory, uint64_t registry, struct heapinfo *list, int most, uint64_t *unread) {
    int count = 0, tries = MOST_TRIES;
    *unread = 0;
    uint64_t at, next;
    if (!read_registry(memory, registry, &at)) {
        return -1;
    }
    for (int steps = 0; at != 0 && steps < MOST_STEPS && read_next(memory, at, &next); steps++) {
        bool twice = false;
        for (int i = 0; i < count; i++) {
            twice = twice || list[i].address == at;
        }
        if (twice) {
            break; /* a cycle */
        }
        if (count < most && read_heap(memory, at, &list[count], &tries)) {
            count++;
        } else {
            ++*unread;
        }
        at = next;
    }
    return count;
}

bool heapinfo_find(struct memory memory, uint64_t registry, uint64_t address, struct heapinfo *info) {
    uint64_t at;
    bool listed = read_registry(memory, registry, &at);
    for (int steps = 0; listed && at != address && steps < MOST_STEPS; steps++) {
        listed = at != 0 && read_next(memory, at, &at);
    }
    return listed && at == address && heapinfo_read(memory, address, info);
}

static bool read_class_name(struct memory memory, const struct eden_class_info *class, char name[64]) {
    size_t length = class->name_length < 63 ? class->name_length : 63;
    if (class->name == 0 || !target_read(memory, class->name, name, length)) {
        return false;
    }
    name[length] = 0;
    return length == 0 || name[0] != 0; /* zeros are what a page holds that is not there */
}

/* A page of the table. False: it is not there, or *unread is one more. */
static bool read_page(struct memory memory, const struct heapinfo *info, uint32_t first, struct eden_class_info *page,
                      uint32_t *unread) {
    uint64_t at = 0, slot;
    bool is_read = !__builtin_add_overflow(info->class_pages, (uint64_t)(first / PAGE_CLASSES) * sizeof at, &slot) &&
                   target_read(memory, slot, &at, sizeof at) &&
                   (at == 0 || target_read(memory, at, page, PAGE_CLASSES * sizeof *page));
    *unread += !is_read;
    return is_read && at != 0;
}

uint32_t heapinfo_classes(struct memory memory, const struct heapinfo *info, uint32_t from,
                          bool (*on_class)(void *context, uint32_t index, uint32_t class_index, const char *name),
                          void *context, uint32_t *unread) {
    struct eden_class_info *page = malloc(PAGE_CLASSES * sizeof *page);
    uint32_t next = from, limit = info->class_limit < EDEN_CLASS_LIMIT ? info->class_limit : EDEN_CLASS_LIMIT;
    bool more = page;
    *unread += !page;
    for (int pages = 0; more && next < limit && pages < MOST_PAGES; pages++) {
        uint32_t first = next - next % PAGE_CLASSES;
        bool is_there = read_page(memory, info, first, page, unread);
        uint32_t end = limit - first < PAGE_CLASSES ? limit : first + PAGE_CLASSES;
        for (; is_there && more && next < end; next++) {
            const struct eden_class_info *class = &page[next - first];
            char name[64];
            if (class->class_index == 0) {
                continue;
            }
            bool is_read = read_class_name(memory, class, name);
            *unread += !is_read;
            more = is_read ? on_class(context, next, class->class_index, name) : *unread < MOST_UNREAD;
        }
        more = more && *unread < MOST_UNREAD;
        next = more ? end : next;
    }
    free(page);
    return *unread < MOST_UNREAD && page && next < limit ? next : 0;
}
