/* Addresses to functions: mapping -> file and offset in it -> function (inspect/functions.c, in a worker).
 *
 * 1. Algorithm
 * A process's mappings are read at its first address, and again for an address outside them, READ_AGAIN_NS later at the
 * earliest. The files are opened then, as the process may end. A file's symbols are read when an address lies in it,
 * once, however many processes of a user map it.
 *
 * 2. Invariants
 * I1. Users, and of a user the processes, have a share of the open files (kernel_share_left). A file beyond it is
 *     reported and its functions are unknown, until a process with a share left maps it.
 * I2. What was mapped stays known after the process has ended.
 *
 * 3. Failure
 * Functions in a file that cannot be opened or read are unknown, and the process is named. Where a file was read and
 * has no symbol, its label, [FILE], is the function. */
#include "attach/symbols.h"
#include "kernel/kernel.h"
#include "util/array.h"
#include "util/clock.h"
#include "util/message.h"
#include <errno.h>
#include <search.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define READ_AGAIN_NS 100000000u

/* A file is known by device, inode and time of change (the inode of a deleted file comes again), and by the user whose
 * processes map it: what cannot be read for one user can be for another. */
struct object {
    uint64_t device, inode;
    unsigned user;
    struct timespec changed; /* st_ctim; 0: it could not be opened, and device and inode are as mapped */
    char label[64];          /* "[FILE]" */
    struct regular file;     /* none: it has no symbols */
    bool is_beyond;          /* not kept open: it was beyond a share */
    size_t program;          /* index of the one that it is kept open for */
    uint64_t number;
};

struct region {
    uint64_t start, end, offset;
    struct object *object;
};

struct program {
    struct process_key key;
    uint64_t read_ns; /* when its mappings were */
    bool is_reported; /* that files are beyond its share */
    unsigned user;    /* its real user id: whose rights read its files */
    unsigned owner;   /* as target_owner(): whose shares it takes */
    uint32_t open;    /* files that are kept open for it */
    struct region *regions;
    size_t region_count, region_room;
};

struct symbols {
    struct inspect *inspect;
    uint32_t most_files;
    struct message_kind unknown;
    void *objects; /* tsearch(3), by_identity */
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

static int compare(uint64_t left, uint64_t right) { return (left > right) - (left < right); }

static int by_identity(const void *left, const void *right) {
    const struct object *a = left, *b = right;
    int device = compare(a->device, b->device), inode = compare(a->inode, b->inode), user = compare(a->user, b->user),
        second = compare((uint64_t)a->changed.tv_sec, (uint64_t)b->changed.tv_sec);
    return device   ? device
           : inode  ? inode
           : user   ? user
           : second ? second
                    : compare((uint64_t)a->changed.tv_nsec, (uint64_t)b->changed.tv_nsec);
}

static void free_object(void *freed) {
    struct object *object = freed;
    regular_close(&object->file);
    free(object);
}

static bool has_share(const struct symbols *symbols, const struct program *program) {
    uint32_t taken = 0, by_owner = 0;
    for (size_t i = 0; i < symbols->program_count; i++) {
        const struct program *other = &symbols->programs[i];
        taken += other->open;
        by_owner += other->owner == program->owner ? other->open : 0;
    }
    return kernel_share_left(by_owner, program->open, taken, symbols->most_files) != 0;
}

/* One that is not known yet. NULL: no memory. */
static struct object *add_object(struct symbols *symbols, const struct object *identity,
                                 const struct mapping *mapping) {
    struct object *object = malloc(sizeof *object);
    if (!object) {
        return NULL;
    }
    const char *slash = strrchr(mapping->path, '/');
    *object = *identity;
    snprintf(object->label, sizeof object->label, "[%.60s]", slash ? slash + 1 : mapping->path);
    object->number = inspect_number(symbols->inspect);
    if (!tsearch(object, &symbols->objects, by_identity)) {
        free(object);
        return NULL;
    }
    return object;
}

/* Takes the file, which is kept open if it was not and the program has a share left. NULL: no memory. */
static struct object *object_of(struct symbols *symbols, struct program *program, const struct mapping *mapping,
                                struct regular *file) {
    const struct stat *status = &file->status;
    bool is_open = file->fd >= 0;
    const struct object identity = {.device = is_open ? status->st_dev : mapping->device,
                                    .inode = is_open ? status->st_ino : mapping->inode,
                                    .user = program->user,
                                    .changed = is_open ? status->st_ctim : (struct timespec){0},
                                    .file = {.fd = -1},
                                    .is_beyond = is_open};
    struct object *const *found = tfind(&identity, &symbols->objects, by_identity);
    struct object *object = found ? *found : add_object(symbols, &identity, mapping);
    if (object && object->is_beyond && has_share(symbols, program)) {
        object->is_beyond = false;
        object->program = (size_t)(program - symbols->programs);
        object->file = *file;
        program->open++;
    } else {
        regular_close(file);
    }
    return object;
}

static void read_files(struct symbols *symbols, struct program *program, struct target *target,
                       const struct mapping *mapping, size_t count, struct program *fresh) {
    struct regular file[INSPECT_FILES];
    int error[INSPECT_FILES];
    inspect_open_mappings(symbols->inspect, target, mapping, count, file, error);
    for (size_t i = 0; i < count; i++) {
        struct object *object = object_of(symbols, program, &mapping[i], &file[i]);
        struct region *region =
            object ? add(&fresh->regions, &fresh->region_room, &fresh->region_count, sizeof *region) : NULL;
        if (region) {
            *region = (struct region){mapping[i].start, mapping[i].end, mapping[i].offset, object};
        }
    }
}

/* What was mapped is kept where the process has ended. */
static void read_mappings(struct symbols *symbols, struct program *program) {
    struct target target;
    struct mappings mappings = {0};
    struct program fresh = {0};
    const int pid = (int)program->key.pid;
    program->read_ns = now_ns();
    if (!inspect_process(symbols->inspect, pid, inspect_owner(symbols->inspect, pid), program->key.start_ns, false,
                         &target)) {
        return;
    }
    program->user = target.user;
    program->owner = target.owner;
    inspect_mappings(symbols->inspect, &target, &mappings);
    for (size_t i = 0; i < mappings.count; i += INSPECT_FILES) {
        size_t left = mappings.count - i;
        read_files(symbols, program, &target, &mappings.at[i], left < INSPECT_FILES ? left : INSPECT_FILES, &fresh);
    }
    free(mappings.at);
    target_close(&target);
    if (fresh.region_count != 0) {
        free(program->regions);
        program->regions = fresh.regions;
        program->region_count = fresh.region_count;
        program->region_room = fresh.region_room;
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
    for (size_t i = 0; symbols && i < symbols->program_count; i++) {
        free(symbols->programs[i].regions);
    }
    if (symbols) {
        message_more(&symbols->unknown, "processes have functions in files that are not read");
        tdestroy(symbols->objects, free_object);
        free(symbols->programs);
        free(symbols);
    }
}

/* Once a process. */
static void report_unknown(struct symbols *symbols, struct program *program, const struct object *object) {
    if (!program->is_reported) {
        message_few(&symbols->unknown, "process %u: functions in %s are unknown: %s", program->key.pid, object->label,
                    object->is_beyond ? "files beyond its share are not read" : "it cannot be read, or not in time");
    }
    program->is_reported = true;
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
    struct object *object = region->object;
    uint64_t offset = address - region->start + region->offset;
    bool is_open = object->file.fd >= 0;
    if (is_open && inspect_function(symbols->inspect, object->number, &object->file, offset, symbols->name,
                                    sizeof symbols->name)) {
        return symbols->name;
    }
    if (is_open && errno == 0) {
        return object->label;
    }
    if (is_open && (errno == ETIMEDOUT || errno == EIO)) {
        regular_close(&object->file);
        symbols->programs[object->program].open--;
    }
    report_unknown(symbols, program, object);
    return NULL;
}
