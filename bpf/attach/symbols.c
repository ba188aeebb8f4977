/* Addresses to functions: mapping -> file and offset in it -> function (inspect/functions.c, in a worker).
 *
 * 1. Terms
 * Place: an offset of a file, at which a function may be. Group: the places of one file. Owner: target_owner().
 *
 * 2. Algorithm
 * A process's mappings are read at its first address, and again for an address outside them, READ_AGAIN_NS later at the
 * earliest. The files are opened then, as the process may end. No symbols are read then: a process can have large
 * files, and addresses in all of them. symbols_read() reads them, of each file once, for all places of its group.
 *
 * Its time is divided: equally among owners, where each gets what those before it have left, and equally among the
 * processes of an owner. Processes with places in one file pay for it together. In a first pass, half of the owner's
 * time is divided; in a second one the rest, among the processes of groups that were not read.
 *
 * 3. Invariants
 * I1. Users, and of a user the processes, have a share of open files, places and stacks (kernel_share_left). A file
 *     beyond it is reported and its functions are unknown, until a process with a share left maps it.
 * I2. What was mapped stays known after the process has ended.
 * I3. Reading mappings is charged to the process and to its owner: each has the share of a target (inspect.h).
 * I4. symbols_read() ends at its time, or at a signal that ends the tool (interrupt.h).
 *
 * 4. Failure
 * Functions in a file that cannot be opened or read are unknown, and the process is named. Where a file was read and
 * has no symbol, its label, [FILE], is the function. */
#include "attach/symbols.h"
#include "kernel/kernel.h"
#include "util/array.h"
#include "util/clock.h"
#include "util/interrupt.h"
#include "util/message.h"
#include <errno.h>
#include <search.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define READ_AGAIN_NS 100000000u

enum { MOST_PLACES = (1 << 18) - 1, MOST_STACKS = 1 << 18 };

/* What is kept for processes, and shared by them. */
enum kept { KEPT_FILES, KEPT_PLACES, KEPT_STACKS, KEPT_KINDS };

/* A file is known by device, inode and time of change (the inode of a deleted file comes again), and by the user whose
 * processes map it: what cannot be read for one user can be for another. */
struct object {
    uint64_t device, inode;
    unsigned user;
    uint32_t owner;          /* who pays for reading it */
    struct timespec changed; /* st_ctim; 0: it could not be opened, and device and inode are as mapped */
    char label[64];          /* "[FILE]" */
    struct regular file;     /* none: it has no symbols */
    bool is_beyond;          /* not kept open: it was beyond a share */
    uint64_t number;
};

struct region {
    uint64_t start, end, offset;
    struct object *object;
};

struct program {
    struct process_key key;
    uint64_t read_ns; /* when its mappings were */
    bool is_reported; /* that functions of it are unknown */
    unsigned user;    /* its real user id: whose rights read its files */
    uint32_t owner;   /* as target_owner(): whose shares it takes */
    size_t payer;     /* index of that one */
    uint32_t kept[KEPT_KINDS];
    struct target budget;   /* of reading its mappings */
    struct region *regions; /* owned; in order of address */
    size_t region_count, region_room;
    uint64_t spent_ns; /* of its part of symbols_read(), in this round */
    uint64_t round;
};

/* What the processes of an owner have taken. */
struct payer {
    uint32_t owner;
    uint32_t kept[KEPT_KINDS];
    struct target budget;
};

struct place {
    struct object *object;
    uint64_t offset;
    uint32_t number;
    uint32_t program; /* index of the one that had it first */
};

struct symbols {
    struct inspect *inspect;
    uint32_t kept[KEPT_KINDS], most[KEPT_KINDS];
    struct message_kind unknown;
    void *objects; /* tsearch(3), by_identity */
    struct program *programs;
    size_t program_count, program_room;
    size_t last; /* index of the program that was found last */
    struct payer *payers;
    size_t payer_count, payer_room;
    void *tree;            /* of places; tsearch(3), by_offset */
    struct place **places; /* each owned; all of the tree */
    size_t place_count, place_room;
    uint64_t rounds; /* of symbols_read() */
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
        owner = compare(a->owner, b->owner), second = compare((uint64_t)a->changed.tv_sec, (uint64_t)b->changed.tv_sec);
    return device   ? device
           : inode  ? inode
           : user   ? user
           : owner  ? owner
           : second ? second
                    : compare((uint64_t)a->changed.tv_nsec, (uint64_t)b->changed.tv_nsec);
}

static void free_object(void *freed) {
    struct object *object = freed;
    regular_close(&object->file);
    free(object);
}

/* Takes one more of a kind for the process, if its share allows that. */
static bool take(struct symbols *symbols, struct program *program, enum kept kind) {
    struct payer *payer = program->payer < symbols->payer_count ? &symbols->payers[program->payer] : NULL;
    if (!payer ||
        kernel_share_left(payer->kept[kind], program->kept[kind], symbols->kept[kind], symbols->most[kind]) == 0) {
        return false;
    }
    payer->kept[kind]++;
    program->kept[kind]++;
    symbols->kept[kind]++;
    return true;
}

/* Finds who pays for the process; asks again where that was not known in time. False: no memory. */
static bool find_payer(struct symbols *symbols, struct program *program) {
    if (program->budget.opened_ns != 0 && program->owner != INSPECT_UNKNOWN_OWNER) {
        return true;
    }
    program->owner = inspect_owner(symbols->inspect, (int)program->key.pid);
    for (program->payer = 0; program->payer < symbols->payer_count; program->payer++) {
        if (symbols->payers[program->payer].owner == program->owner) {
            return true;
        }
    }
    struct payer *payer = add(&symbols->payers, &symbols->payer_room, &symbols->payer_count, sizeof *payer);
    if (payer) {
        payer->owner = program->owner;
        payer->budget.opened_ns = now_ns();
    }
    return payer;
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
                                    .owner = program->owner,
                                    .changed = is_open ? status->st_ctim : (struct timespec){0},
                                    .file = {.fd = -1},
                                    .is_beyond = is_open};
    struct object *const *found = tfind(&identity, &symbols->objects, by_identity);
    struct object *object = found ? *found : add_object(symbols, &identity, mapping);
    if (object && object->is_beyond && take(symbols, program, KEPT_FILES)) {
        object->is_beyond = false;
        object->file = *file;
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
static void read_files_of(struct symbols *symbols, struct program *program, struct target *target) {
    struct mappings mappings = {0};
    struct program fresh = {0};
    inspect_mappings(symbols->inspect, target, &mappings);
    for (size_t i = 0; i < mappings.count; i += INSPECT_FILES) {
        size_t left = mappings.count - i;
        read_files(symbols, program, target, &mappings.at[i], left < INSPECT_FILES ? left : INSPECT_FILES, &fresh);
    }
    free(mappings.at);
    if (fresh.region_count != 0) {
        free(program->regions);
        program->regions = fresh.regions;
        program->region_count = fresh.region_count;
        program->region_room = fresh.region_room;
    }
}

/* Once a process. */
static void report_unknown(struct symbols *symbols, struct program *program, const char *where, const char *why) {
    if (!program->is_reported) {
        message_few(&symbols->unknown, "process %u: functions in %s are unknown: %s", program->key.pid, where, why);
    }
    program->is_reported = true;
}

static void read_mappings(struct symbols *symbols, struct program *program) {
    struct target target;
    const int pid = (int)program->key.pid;
    const uint64_t start = now_ns();
    program->read_ns = start;
    if (!find_payer(symbols, program)) {
        return;
    }
    struct payer *payer = &symbols->payers[program->payer];
    program->budget.opened_ns = program->budget.opened_ns ? program->budget.opened_ns : start;
    if (!inspect_has_share(symbols->inspect, &payer->budget) ||
        !inspect_has_share(symbols->inspect, &program->budget)) {
        report_unknown(symbols, program, "what it maps", "reading its mappings takes too long");
        return;
    }
    if (inspect_process(symbols->inspect, pid, program->owner, program->key.start_ns, false, &target)) {
        target.opened_ns = program->budget.opened_ns;
        target.spent_ns += program->budget.spent_ns;
        program->user = target.user;
        read_files_of(symbols, program, &target);
        target_close(&target);
    }
    program->budget.spent_ns += now_ns() - start;
    payer->budget.spent_ns += now_ns() - start;
}

/* NULL: no memory. */
static struct program *program_of(struct symbols *symbols, const struct process_key *key) {
    if (symbols->last < symbols->program_count && process_is_same(&symbols->programs[symbols->last].key, key)) {
        return &symbols->programs[symbols->last];
    }
    for (size_t i = symbols->program_count; i-- > 0;) {
        if (process_is_same(&symbols->programs[i].key, key)) {
            symbols->last = i;
            return &symbols->programs[i];
        }
    }
    struct program *program = add(&symbols->programs, &symbols->program_room, &symbols->program_count, sizeof *program);
    if (program) {
        program->key = *key;
        program->owner = INSPECT_UNKNOWN_OWNER;
        symbols->last = symbols->program_count - 1;
        read_mappings(symbols, program);
    }
    return program;
}

static int by_region(const void *key, const void *element) {
    const uint64_t address = *(const uint64_t *)key;
    const struct region *region = element;
    return address < region->start ? -1 : address >= region->end;
}

static const struct region *region_at(const struct program *program, uint64_t address) {
    return program->region_count == 0
               ? NULL
               : bsearch(&address, program->regions, program->region_count, sizeof *program->regions, by_region);
}

struct symbols *symbols_open(struct inspect *inspect, uint32_t most_files) {
    struct symbols *symbols = calloc(1, sizeof *symbols);
    if (symbols) {
        symbols->inspect = inspect;
        symbols->most[KEPT_FILES] = most_files;
        symbols->most[KEPT_PLACES] = MOST_PLACES;
        symbols->most[KEPT_STACKS] = MOST_STACKS;
    }
    return symbols;
}

static void leave(void *node) { (void)node; }

void symbols_close(struct symbols *symbols) {
    if (!symbols) {
        return;
    }
    message_more(&symbols->unknown, "processes have functions that are unknown");
    tdestroy(symbols->tree, leave);
    for (size_t i = 0; i < symbols->place_count; i++) {
        free(symbols->places[i]);
    }
    for (size_t i = 0; i < symbols->program_count; i++) {
        free(symbols->programs[i].regions);
    }
    tdestroy(symbols->objects, free_object);
    free(symbols->places);
    free(symbols->programs);
    free(symbols->payers);
    free(symbols);
}

/* ---- places ----------------------------------------------------------------------------------------------------- */

static int by_offset(const void *left, const void *right) {
    const struct place *a = left, *b = right;
    int object = compare(a->object->number, b->object->number);
    return object ? object : compare(a->offset, b->offset);
}

/* 0: no memory, or it is beyond the share of the program. */
static uint32_t place_of(struct symbols *symbols, struct program *program, struct object *object, uint64_t offset) {
    const struct place key = {.object = object, .offset = offset};
    struct place *const *found = tfind(&key, &symbols->tree, by_offset);
    if (found) {
        return (*found)->number;
    }
    if (!take(symbols, program, KEPT_PLACES)) {
        report_unknown(symbols, program, object->label, "it has too many");
        return 0;
    }
    struct place *place = malloc(sizeof *place);
    if (!place || !array_grow(&symbols->places, &symbols->place_room, symbols->place_count, sizeof(void *))) {
        free(place);
        return 0;
    }
    *place = (struct place){object, offset, (uint32_t)symbols->place_count + 1, (uint32_t)symbols->last};
    if (!tsearch(place, &symbols->tree, by_offset)) {
        free(place);
        return 0;
    }
    symbols->places[symbols->place_count++] = place;
    return place->number;
}

uint32_t symbols_place(struct symbols *symbols, const struct process_key *process, uint64_t address) {
    struct program *program = program_of(symbols, process);
    const struct region *region = program ? region_at(program, address) : NULL;
    if (program && !region && now_ns() - program->read_ns >= READ_AGAIN_NS) {
        read_mappings(symbols, program);
        region = region_at(program, address);
    }
    return region ? place_of(symbols, program, region->object, address - region->start + region->offset) : 0;
}

bool symbols_take_stack(struct symbols *symbols, const struct process_key *process) {
    struct program *program = program_of(symbols, process);
    bool taken = program && take(symbols, program, KEPT_STACKS);
    if (program && !taken) {
        report_unknown(symbols, program, "further stacks", "it has too many");
    }
    return taken;
}

size_t symbols_places(const struct symbols *symbols) { return symbols->place_count; }

/* ---- reading symbols -------------------------------------------------------------------------------------------- */

struct group {
    struct place **at;
    size_t count, done;
    uint32_t programs; /* how many have places in it */
    int error;         /* of reading it */
};

struct reading {
    struct symbols *symbols;
    int interrupts; /* before it began */
    bool is_stopped;
    const struct group *group;
    symbols_function_fn *on_function;
    void *context;
};

/* Of one owner the places of one file are together, and of these those of one program. */
static int by_group(const void *left, const void *right) {
    const struct place *a = *(struct place *const *)left, *b = *(struct place *const *)right;
    int owner = compare(a->object->owner, b->object->owner), object = compare(a->object->number, b->object->number),
        program = compare(a->program, b->program);
    return owner ? owner : object ? object : program ? program : compare(a->offset, b->offset);
}

/* The program of a place of the group, where it is the first of this program; else NULL. */
static struct program *program_at(const struct symbols *symbols, const struct group *group, size_t i) {
    bool is_first = i == 0 || group->at[i]->program != group->at[i - 1]->program;
    return is_first ? &symbols->programs[group->at[i]->program] : NULL;
}

static bool is_missing(const struct group *group) {
    return group->at[0]->object->file.fd >= 0 && group->done < group->count;
}

/* How many programs have places in groups that are missing; in this round they have spent nothing. */
static uint64_t begin_round(struct reading *reading, const struct group *group, size_t count) {
    uint64_t programs = 0;
    const uint64_t round = ++reading->symbols->rounds;
    for (size_t i = 0; i < count; i++) {
        for (size_t j = 0; is_missing(&group[i]) && j < group[i].count; j++) {
            struct program *program = program_at(reading->symbols, &group[i], j);
            if (program && program->round != round) {
                program->round = round;
                program->spent_ns = 0;
                programs++;
            }
        }
    }
    return programs;
}

/* What the programs of a group have left of their parts. */
static uint64_t left_for(const struct reading *reading, const struct group *group, uint64_t part_ns) {
    uint64_t left = 0;
    for (size_t i = 0; i < group->count; i++) {
        const struct program *program = program_at(reading->symbols, group, i);
        left += program && program->spent_ns < part_ns ? part_ns - program->spent_ns : 0;
    }
    return left;
}

static void charge(const struct reading *reading, const struct group *group, uint64_t spent_ns) {
    for (size_t i = 0; i < group->count; i++) {
        struct program *program = program_at(reading->symbols, group, i);
        if (program) {
            program->spent_ns += spent_ns / group->programs;
        }
    }
}

static void take_function(void *context, size_t index, const char *name) {
    struct reading *reading = context;
    const struct place *place = reading->group->at[reading->group->done + index];
    reading->on_function(reading->context, place->number, name ? name : place->object->label);
}

/* The next places of a group, as many as go at once. False with errno. */
static bool read_some(struct reading *reading, struct group *group, uint64_t most_ns) {
    uint64_t offset[INSPECT_FUNCTIONS];
    size_t left = group->count - group->done, some = left < INSPECT_FUNCTIONS ? left : INSPECT_FUNCTIONS;
    const struct object *object = group->at[0]->object;
    for (size_t i = 0; i < some; i++) {
        offset[i] = group->at[group->done + i]->offset;
    }
    reading->group = group;
    if (!inspect_functions(reading->symbols->inspect, most_ns, object->number, &object->file, offset, some,
                           take_function, reading)) {
        return false;
    }
    group->done += some;
    return true;
}

/* A signal ends it all: what is not read then is no file's fault. */
static void read_group(struct reading *reading, struct group *group, uint64_t part_ns) {
    const uint64_t start = now_ns(), most_ns = left_for(reading, group, part_ns);
    bool goes_on = true;
    while (goes_on && group->done < group->count) {
        uint64_t spent_ns = now_ns() - start;
        errno = ETIMEDOUT;
        goes_on = spent_ns < most_ns && read_some(reading, group, most_ns - spent_ns);
        group->error = goes_on ? 0 : errno;
        reading->is_stopped =
            reading->is_stopped || (!goes_on && errno == EINTR) || interrupt_count() != reading->interrupts;
        goes_on = goes_on && !reading->is_stopped;
    }
    charge(reading, group, now_ns() - start);
}

static void report_group(const struct reading *reading, const struct group *group) {
    const struct object *object = group->at[0]->object;
    const char *why = object->is_beyond           ? "files beyond its share are not read"
                      : object->file.fd < 0       ? "it cannot be read, or not in time"
                      : group->error == ETIMEDOUT ? "reading its symbols takes too long"
                                                  : "its symbols cannot be read";
    for (size_t i = 0; i < group->count; i++) {
        struct program *program = program_at(reading->symbols, group, i);
        if (program) {
            report_unknown(reading->symbols, program, object->label, why);
        }
    }
}

/* The groups of one owner. */
static void read_groups(struct reading *reading, struct group *group, size_t count, uint64_t time_ns) {
    const uint64_t start = now_ns();
    for (int last = 0; last <= 1 && !reading->is_stopped; last++) {
        const uint64_t spent_ns = now_ns() - start, left_ns = spent_ns < time_ns ? time_ns - spent_ns : 0;
        const uint64_t programs = begin_round(reading, group, count);
        for (size_t i = 0; programs != 0 && i < count && !reading->is_stopped; i++) {
            if (is_missing(&group[i])) {
                read_group(reading, &group[i], left_ns / (last ? 1 : 2) / programs);
            }
        }
    }
    for (size_t i = 0; i < count && !reading->is_stopped; i++) {
        if (group[i].done < group[i].count) {
            report_group(reading, &group[i]);
        }
    }
}

/* The places by file; returns how many files, and of how many owners. */
static size_t make_groups(const struct symbols *symbols, struct group *group, uint64_t *owners) {
    size_t count = 0;
    *owners = 0;
    for (size_t i = 0; i < symbols->place_count; i++) {
        struct place **at = &symbols->places[i];
        const struct object *object = at[0]->object;
        if (i == 0 || object != at[-1]->object) {
            *owners += i == 0 || object->owner != at[-1]->object->owner;
            group[count++] = (struct group){.at = at};
        }
        group[count - 1].count++;
        group[count - 1].programs += program_at(symbols, &group[count - 1], group[count - 1].count - 1) != NULL;
    }
    return count;
}

void symbols_read(struct symbols *symbols, uint64_t time_ns, symbols_function_fn *on_function, void *context) {
    struct reading reading = {symbols, interrupt_count(), .on_function = on_function, .context = context};
    struct group *group = calloc(symbols->place_count ? symbols->place_count : 1, sizeof *group);
    const uint64_t end = now_ns() + time_ns;
    uint64_t owners;
    if (!group) {
        message_print("out of memory: all functions are unknown");
        return;
    }
    if (symbols->place_count != 0) {
        qsort(symbols->places, symbols->place_count, sizeof(void *), by_group);
    }
    const size_t count = make_groups(symbols, group, &owners);
    for (size_t i = 0, next; i < count && !reading.is_stopped; i = next) {
        const uint32_t owner = group[i].at[0]->object->owner;
        const uint64_t now = now_ns();
        for (next = i; next < count && group[next].at[0]->object->owner == owner; next++) {
        }
        read_groups(&reading, group + i, next - i, now < end ? (end - now) / owners : 0);
        owners--;
    }
    free(group);
    if (reading.is_stopped) {
        message_print("interrupted: functions that were not read by then are unknown");
    }
}
