/* Addresses to functions: mapping -> file and offset in it -> function (inspect/functions.c, in a worker).
 *
 * 1. Algorithm
 * A process's mappings are read at its first address, and again for an address outside them, READ_AGAIN_NS later at the
 * earliest. The files are opened then, as the process may end. A file's symbols are read when an address lies in it,
 * once, however many processes map it.
 *
 * 2. Invariants
 * I1. Users, and of a user the processes, have a share of the open files (kernel_share_left). A file beyond it is
 *     reported and its functions are unknown, until a process with a share left maps it.
 * I2. What was mapped stays known after the process has ended.
 *
 * 3. Failure
 * A file that costs too much, or whose reading does not end, has no symbols: its label, [FILE], is the function. */
#include "attach/symbols.h"
#include "kernel/kernel.h"
#include "util/array.h"
#include "util/clock.h"
#include "util/message.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define READ_AGAIN_NS 100000000u

struct object {
    uint64_t device, inode;
    char label[64];      /* "[FILE]" */
    struct regular file; /* none: it has no symbols */
    bool is_beyond;      /* not opened: it was beyond a share */
    unsigned user;       /* of the process that it was opened for */
    struct process_key process;
    uint64_t number;
};

struct region {
    uint64_t start, end, offset;
    size_t object;
};

struct program {
    struct process_key key;
    uint64_t read_ns; /* when its mappings were */
    bool is_reported; /* that files are beyond its share */
    struct region *regions;
    size_t region_count, region_room;
};

struct symbols {
    struct inspect *inspect;
    uint32_t most_files;
    struct message_kind beyond;
    struct object *objects;
    size_t object_count, object_room;
    struct program *programs;
    size_t program_count, program_room;
    char name[1024];
};

/* One more element, zeroed; NULL: no memory. */
static void *add(void *array, size_t *room, size_t *count, size_t bytes) {
    void *added = array_grow(array, room, *count, bytes);
    *count += added != NULL;
    return added ? memset(added, 0, bytes) : NULL;
}

/* ---- processes -------------------------------------------------------------------------------------------------- */

static bool has_share(const struct symbols *symbols, unsigned user, const struct process_key *process) {
    uint32_t taken = 0, by_user = 0, by_process = 0;
    for (size_t i = 0; i < symbols->object_count; i++) {
        const struct object *object = &symbols->objects[i];
        bool is_open = object->file.fd >= 0;
        taken += is_open;
        by_user += is_open && object->user == user;
        by_process += is_open && process_is_same(&object->process, process);
    }
    return kernel_share_left(by_user, by_process, taken, symbols->most_files) != 0;
}

/* Opens an object that was not, for a process that maps it. */
static void open_object(struct symbols *symbols, struct object *object, struct target *target,
                        const struct process_key *process, const struct mapping *mapping) {
    object->is_beyond = !has_share(symbols, target->user, process);
    if (object->is_beyond) {
        return;
    }
    object->user = target->user;
    object->process = *process;
    inspect_open_mapping(symbols->inspect, target, mapping, &object->file);
}

/* The object's number plus 1; 0: no memory. */
static size_t object_of(struct symbols *symbols, struct target *target, const struct process_key *process,
                        const struct mapping *mapping) {
    for (size_t i = 0; i < symbols->object_count; i++) {
        if (symbols->objects[i].inode == mapping->inode && symbols->objects[i].device == mapping->device) {
            if (symbols->objects[i].is_beyond) {
                open_object(symbols, &symbols->objects[i], target, process, mapping);
            }
            return i + 1;
        }
    }
    struct object *object = add(&symbols->objects, &symbols->object_room, &symbols->object_count, sizeof *object);
    if (!object) {
        return 0;
    }
    const char *slash = strrchr(mapping->path, '/');
    object->device = mapping->device;
    object->inode = mapping->inode;
    snprintf(object->label, sizeof object->label, "[%.60s]", slash ? slash + 1 : mapping->path);
    object->number = inspect_number(symbols->inspect);
    object->file.fd = -1;
    open_object(symbols, object, target, process, mapping);
    return symbols->object_count;
}

/* What was mapped is kept where the process has ended. */
static void read_mappings(struct symbols *symbols, struct program *program) {
    struct target target;
    struct mappings mappings = {0};
    program->read_ns = now_ns();
    if (!inspect_process(symbols->inspect, (int)program->key.pid, program->key.start_ns, false, &target)) {
        return;
    }
    inspect_mappings(symbols->inspect, &target, &mappings);
    struct program fresh = {.key = program->key, .read_ns = program->read_ns, .is_reported = program->is_reported};
    for (size_t i = 0; i < mappings.count; i++) {
        const struct mapping *mapping = &mappings.at[i];
        size_t object = object_of(symbols, &target, &program->key, mapping);
        struct region *region =
            object ? add(&fresh.regions, &fresh.region_room, &fresh.region_count, sizeof *region) : NULL;
        if (region) {
            *region = (struct region){mapping->start, mapping->end, mapping->offset, object - 1};
        }
    }
    free(mappings.at);
    target_close(&target);
    if (fresh.region_count != 0) {
        free(program->regions);
        *program = fresh;
    }
}

static struct program *program_of(struct symbols *symbols, const struct process_key *key) {
    for (size_t i = symbols->program_count; i-- > 0;) { /* the latest is likely to be asked for again */
        if (process_is_same(&symbols->programs[i].key, key)) {
            return &symbols->programs[i];
        }
    }
    struct program *program = add(&symbols->programs, &symbols->program_room, &symbols->program_count, sizeof *program);
    if (program) {
        program->key = *key;
        read_mappings(symbols, program);
    }
    return program;
}

static const struct region *region_at(const struct program *program, uint64_t address) {
    for (size_t i = 0; i < program->region_count; i++) {
        if (address - program->regions[i].start < program->regions[i].end - program->regions[i].start) {
            return &program->regions[i];
        }
    }
    return NULL;
}

struct symbols *symbols_open(struct inspect *inspect, uint32_t most_files) {
    struct symbols *symbols = calloc(1, sizeof *symbols);
    if (symbols) {
        symbols->inspect = inspect;
        symbols->most_files = most_files;
    }
    return symbols;
}

void symbols_close(struct symbols *symbols) {
    for (size_t i = 0; symbols && i < symbols->object_count; i++) {
        regular_close(&symbols->objects[i].file);
    }
    for (size_t i = 0; symbols && i < symbols->program_count; i++) {
        free(symbols->programs[i].regions);
    }
    if (symbols) {
        message_more(&symbols->beyond, "processes have functions in files beyond their share");
        free(symbols->objects);
        free(symbols->programs);
        free(symbols);
    }
}

const char *symbols_find(struct symbols *symbols, const struct process_key *process, uint64_t address) {
    struct program *program = program_of(symbols, process);
    const struct region *region = program ? region_at(program, address) : NULL;
    if (program && !region && now_ns() - program->read_ns >= READ_AGAIN_NS) {
        read_mappings(symbols, program);
        region = region_at(program, address);
    }
    if (!region) {
        return NULL;
    }
    struct object *object = &symbols->objects[region->object];
    uint64_t offset = address - region->start + region->offset;
    bool is_open = object->file.fd >= 0;
    if (is_open && inspect_function(symbols->inspect, object->number, &object->file, offset, symbols->name,
                                    sizeof symbols->name)) {
        return symbols->name;
    }
    if (object->is_beyond) {
        if (!program->is_reported) {
            message_few(&symbols->beyond,
                        "process %u: files beyond its share are not read: functions in %s are unknown", process->pid,
                        object->label);
        }
        program->is_reported = true;
        return NULL;
    }
    if (is_open && (errno == ETIMEDOUT || errno == EIO)) {
        regular_close(&object->file);
    }
    return object->label;
}
