/* Reading heap headers out of another process's memory, and writing the one field of them that is ours to write.
 *
 * Nothing read here is trusted. The process may be broken or hostile, may have been built with another version, and
 * runs on while we read. So:
 * - sizes and counts are cut to what this build knows; addresses are only ever given to process_vm_readv, which fails
 *   for a bad one;
 * - the list of heaps may be a cycle: at most `most` are followed;
 * - a header is taken only with magic and version right, and unchanged while it was read: `lock` even, and the same
 *   before and after (a sequence lock; it is odd for less than a microsecond, so a few tries are enough);
 * - names are cut and terminated. */
#include "heapinfo.h"
#include <errno.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>

enum { TRIES = 100, MOST_CLASS_NAMES = 100000, PAGE_CLASSES = 1 << EDEN_CLASS_PAGE_SHIFT };

static bool read_memory(int pid, uint64_t address, void *to, size_t bytes) {
    struct iovec local = {to, bytes};
    struct iovec remote = {(void *)(uintptr_t)address, bytes};
    ssize_t got = process_vm_readv(pid, &local, 1, &remote, 1, 0);
    if (got >= 0 && (size_t)got != bytes) {
        errno = EFAULT;
    }
    return got == (ssize_t)bytes;
}

/* As many bytes as the header has, by its own account, and we know. The rest stays zero. */
static bool read_header(int pid, uint64_t address, struct eden_heap_info *header) {
    memset(header, 0, sizeof *header);
    if (!read_memory(pid, address, header, offsetof(struct eden_heap_info, heap_id)) ||
        header->magic != EDEN_HEAP_MAGIC || header->version != EDEN_ABI_VERSION) {
        return false;
    }
    size_t bytes = header->bytes < sizeof *header ? header->bytes : sizeof *header;
    return bytes >= offsetof(struct eden_heap_info, figures) && read_memory(pid, address, header, bytes);
}

static bool read_consistent(int pid, uint64_t address, struct eden_heap_info *header) {
    uint64_t lock_at = address + offsetof(struct eden_heap_info, lock);
    for (int i = 0; i < TRIES; i++) {
        uint64_t before, after;
        if (!read_memory(pid, lock_at, &before, sizeof before) || !read_header(pid, address, header) ||
            !read_memory(pid, lock_at, &after, sizeof after)) {
            return false;
        }
        if (before % 2 == 0 && before == after) {
            return true;
        }
        sched_yield();
    }
    return false;
}

bool heapinfo_read(int pid, uint64_t address, struct heapinfo *info) {
    struct eden_heap_info header;
    if (!read_consistent(pid, address, &header)) {
        return false;
    }
    *info = (struct heapinfo){
        .address = address,
        .id = header.heap_id,
        .seq = header.seq,
        .class_pages = header.class_pages,
        .class_limit = header.class_limit < EDEN_CLASS_LIMIT ? header.class_limit : EDEN_CLASS_LIMIT,
    };
    memcpy(info->name, header.name, sizeof info->name - 1);
    uint32_t count = header.figure_count < EDEN_FIGURE_COUNT ? header.figure_count : EDEN_FIGURE_COUNT;
    size_t there = sizeof header.figures / sizeof header.figures[0];
    if (header.bytes < sizeof header) {
        there = (header.bytes - offsetof(struct eden_heap_info, figures)) / sizeof header.figures[0];
    }
    for (uint32_t i = 0; i < count && i < there; i++) {
        info->known |= 1ull << i;
        info->figures[i] = header.figures[i];
    }
    memcpy(info->full_by_cause, header.full_by_cause, sizeof info->full_by_cause);
    return true;
}

int heapinfo_list(int pid, uint64_t registry_at, struct heapinfo *list, int most) {
    struct eden_registry_info registry;
    if (!read_memory(pid, registry_at, &registry, sizeof registry)) {
        return -1;
    }
    if (registry.magic != EDEN_REGISTRY_MAGIC || registry.version != EDEN_ABI_VERSION) {
        errno = EPROTO;
        return -1;
    }
    int count = 0;
    uint64_t at = registry.first;
    for (int steps = 0; at != 0 && count < most && steps < 4 * most; steps++) {
        uint64_t next;
        if (!read_memory(pid, at + offsetof(struct eden_heap_info, next), &next, sizeof next)) {
            break;
        }
        bool twice = false;
        for (int i = 0; i < count; i++) {
            twice = twice || list[i].address == at;
        }
        if (twice) {
            break; /* a cycle */
        }
        if (heapinfo_read(pid, at, &list[count])) {
            count++;
        }
        at = next;
    }
    return count;
}

static bool read_class_name(int pid, const struct eden_class_info *class, char name[64]) {
    size_t length = class->name_length < 63 ? class->name_length : 63;
    if (class->name == 0 || !read_memory(pid, class->name, name, length)) {
        return false;
    }
    name[length] = 0;
    return true;
}

void heapinfo_classes(int pid, const struct heapinfo *info,
                      bool (*on_class)(void *context, uint32_t index, uint32_t class_index, const char *name),
                      void *context) {
    struct eden_class_info *page = malloc(PAGE_CLASSES * sizeof *page);
    int names = 0;
    for (uint32_t first = 0; page && first < info->class_limit; first += PAGE_CLASSES) {
        uint64_t at, slot;
        if (__builtin_add_overflow(info->class_pages, (uint64_t)(first / PAGE_CLASSES) * sizeof at, &slot) ||
            !read_memory(pid, slot, &at, sizeof at)) {
            break;
        }
        if (at == 0 || !read_memory(pid, at, page, PAGE_CLASSES * sizeof *page)) {
            continue;
        }
        for (uint32_t i = 0; i < PAGE_CLASSES && first + i < info->class_limit; i++) {
            char name[64];
            if (page[i].class_index == 0 || !read_class_name(pid, &page[i], name)) {
                continue;
            }
            if (++names > MOST_CLASS_NAMES || !on_class(context, first + i, page[i].class_index, name)) {
                free(page);
                return;
            }
        }
    }
    free(page);
}

bool heapinfo_set_mailbox(int pid, uint64_t address, uint64_t value, uint64_t *former) {
    struct eden_heap_info header;
    uint64_t at = address + offsetof(struct eden_heap_info, sample_mailbox);
    if (!read_header(pid, address, &header) ||
        header.bytes < offsetof(struct eden_heap_info, sample_mailbox) + sizeof value) {
        return false;
    }
    *former = header.sample_mailbox;
    struct iovec local = {&value, sizeof value};
    struct iovec remote = {(void *)(uintptr_t)at, sizeof value};
    return process_vm_writev(pid, &local, 1, &remote, 1, 0) == (ssize_t)sizeof value;
}
