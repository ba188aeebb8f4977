/* Files with probes: read once, and attached to.
 *
 * 1. Purpose
 * A file is read once, however many processes map it, and attached to once a process. For a command whose children the
 * kernel follows, it is attached to once for every process, and the kernel program counts the observed ones.
 *
 * 2. Terms
 * Site: a probe's place in a file (its note). Spec: what the kernel program must know of a site; all attachments to the
 * file share it. Cookie: a number that an attachment gives each site: target and spec.
 *
 * 3. Algorithm
 * The notes of a new file become specs in the kernel program's table. While batch or alloc__sample is attached to,
 * heaps sample, so these are attached to for one process: others must not sample. While batch__requested is, only heaps
 * with a request sample, which those of a command have from their environment. So where files are attached to for every
 * process, it takes the place of batch, and a child's profile is observed from its beginning.
 *
 * 4. Invariants
 * I1. While a file is attached to, its attachment holds its mount and its inode: device and inode identify it for every
 *     user, whatever its owner changes. Other files may be gone by now: their numbers are used again, and a user who
 *     mounts FUSE below overlayfs chooses inode and time of change. So of these only the absence of probes is kept, by
 *     device, inode and time of change, for one owner. A file with probes is read again before it is attached to again,
 *     and has its former number if all that was read is the same.
 * I2. A site with unreadable arguments is skipped with a message, and its figures are then unknown, never 0.
 * I3. A file takes no more sites than its branch and user have left (file_share); what finds no room is forgotten, and
 *     other branches can still use it. Attaching for every process is charged to the process that needs it, even if
 *     another one had the file first.
 * I4. A target is in use only while an attachment has it. That of an attachment which missed its deadline is never used
 *     again: the kernel may still complete it.
 *
 * 5. Failure
 * An attachment to a file that misses its deadline is tried again after a minute, then after twice as long,
 * MOST_RETRIES times in all. Where processes are attached to one by one because the file cannot be, a process that
 * misses it is not tried again, nor are others of its owner once MOST_MISSES have: each try costs a deadline. */
#include "attach/operand.h"
#include "model/probe_table.h"
#include "session/source_parts.h"
#include "util/array.h"
#include "util/clock.h"
#include "util/test_switch.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MOST_FILES = 16384 }; /* whose probes are remembered, or that they have none */

/* A file whose attachment has missed its deadline is tried again after a minute, then after twice as long each time.
 * Each try may cost another deadline. */
#define RETRY_NS 60000000000ull
enum { MOST_RETRIES = 3, MOST_MISSES = 3 };

/* Whether a probe is one of a list with commas; NULL: of none. */
static bool is_listed(const char *at, const char *probe) {
    size_t length = strlen(probe);
    while (at && *at) {
        size_t word = strcspn(at, ",");
        if (word == length && strncmp(at, probe, length) == 0) {
            return true;
        }
        at += word + (at[word] == ',');
    }
    return false;
}

static bool is_excluded(const struct source *source, const char *probe) {
    return is_listed(source->options.without, probe) || is_listed(test_switch("EDENSCOPE_WITHOUT"), probe);
}

/* While somebody listens to batch or alloc__sample, the heaps sample: not unless that is wanted. */
static bool is_wanted(const struct source *source, enum eden_probe_id probe) {
    switch (probe) {
    case EDEN_PROBE_alloc__sample:
        return source->options.stacks != NULL;
    case EDEN_PROBE_batch:
        return source->options.lifetimes;
    case EDEN_PROBE_batch__requested:
        return source->options.lifetimes && source_is_by_file(source);
    case EDEN_PROBE_heap__create:
    case EDEN_PROBE_heap__destroy:
    case EDEN_PROBE_class__define:
        return true;
    default:
        return !source_is_for_lifetimes(&source->options) &&
               (!probe_per_object(probe) || source->options.objects == OBJECTS_ALL ||
                (probe == EDEN_PROBE_remembered__scan && source->options.objects == OBJECTS_SCANS) ||
                (probe == EDEN_PROBE_census && source->options.objects == OBJECTS_CENSUS));
    }
}

/* Makes the spec of one site, but for its file's number. False: not attached, for a reason that is reported unless
 * is_again. */
static bool make_spec(struct source *source, const struct file *file, const struct note *note, bool is_again,
                      struct probe_spec *spec) {
    int found = probe_find(note->name);
    enum eden_probe_id probe = (enum eden_probe_id)found;
    if (found < 0 || is_excluded(source, note->name) || !is_wanted(source, probe)) {
        return false;
    }
    char why[160];
    int phase = probe_phase(probe), begins = probe_begins(probe);
    int parent = phase < 0 ? -1 : phase_parents[phase];
    *spec = (struct probe_spec){.probe = (uint16_t)probe,
                                .phase = KERNEL_NO_PHASE,
                                .begins = begins < 0 ? KERNEL_NO_PHASE : (uint8_t)begins,
                                .parent = parent < 0 ? KERNEL_NO_PHASE : (uint8_t)parent};
    int args = operands_parse(note->args, spec->arg, why, sizeof why);
    if (args <= 0 && !is_again) {
        message_few(&source->message[MESSAGE_PROBES], "%s: probe %s is skipped: %s", file->name, note->name,
                    args < 0 ? why : "it has no heap argument");
    }
    if (args <= 0) {
        return false;
    }
    spec->args = (uint8_t)args;
    if (phase >= 0 && EDEN_HAS((size_t)args, mark__done, duration)) {
        spec->phase = (uint8_t)phase;
        spec->two_more =
            phase != EDEN_PHASE_scavenge && phase != EDEN_PHASE_full && EDEN_HAS((size_t)args, mark__done, bytes);
    }
    for (int i = 0; i < args && i < probe_table[probe].args; i++) {
        if (probe_table[probe].arg[i].kind == ARG_string && spec->strings < EVENT_TEXTS) {
            spec->string_at[spec->strings++] = (uint8_t)i;
        }
    }
    return true;
}

static enum kernel_program program_for(const char *probe) {
    int found = probe_find(probe);
    return found == EDEN_PROBE_batch              ? KERNEL_ON_BATCH
           : found == EDEN_PROBE_alloc__sample    ? KERNEL_ON_SAMPLE
           : found == EDEN_PROBE_batch__requested ? KERNEL_ON_REQUESTED
                                                  : KERNEL_ON_PROBE;
}

static uint32_t sites_before(const struct file *file, enum kernel_program program) {
    uint32_t sites = 0;
    for (int i = 0; i < (int)program; i++) {
        sites += file->sites[i];
    }
    return sites;
}

uint32_t source_sites(const struct file *file) { return sites_before(file, KERNEL_PROGRAMS); }

/* How many more files, and probe sites, the process may add. */
static void file_share(const struct source *source, const struct observed *observed, uint32_t *files, uint32_t *sites) {
    uint32_t owner_files = 0, owner_sites = 0, branch_files = 0, branch_sites = 0;
    for (uint32_t i = 0; i < source->files; i++) {
        const struct file *file = &source->file[i];
        bool is_owner = file->owner == observed->owner, is_branch = process_is_same(&file->branch, &observed->branch);
        owner_files += is_owner;
        owner_sites += is_owner ? source_sites(file) : 0;
        branch_files += is_branch;
        branch_sites += is_branch ? source_sites(file) : 0;
    }
    *files = kernel_share_left(owner_files, branch_files, source->files, MOST_FILES);
    *sites = kernel_share_left(owner_sites, branch_sites, source->specs, KERNEL_SPECS);
}

static bool fail_share(const struct process_key *branch, const char *what, struct failure *why) {
    return failure_set(why, 1, "process %u and its descendants have used up their share of %s", branch->pid, what);
}

bool source_fail_files(const struct process_key *branch, struct failure *why) {
    return fail_share(branch, "open files (raise ulimit -n)", why);
}

static void add_sites(struct source *source, struct file *file, enum kernel_program program, bool is_again) {
    for (size_t i = 0; i < file->notes.count; i++) {
        const struct note *note = &file->notes.note[i];
        struct probe_spec spec;
        if (program_for(note->name) != program || !make_spec(source, file, note, is_again, &spec)) {
            continue;
        }
        uint32_t place = source_sites(file);
        if (place >= KERNEL_FILE_SPECS) {
            if (!is_again) {
                message_few(&source->message[MESSAGE_PROBES],
                            "%s: only %d of its probe sites are attached, the limit for a file", file->name,
                            KERNEL_FILE_SPECS);
            }
            return;
        }
        file->sites[program]++;
        file->site[place] = note->offset;
        file->semaphore[place] = note->semaphore;
        file->spec[place] = spec;
        file->args[spec.probe] = spec.args;
    }
}

static void *shrink(void *array, size_t bytes) {
    void *moved = bytes != 0 ? realloc(array, bytes) : NULL;
    if (bytes == 0) {
        free(array);
    }
    return bytes == 0 || moved ? moved : array;
}

/* Keeps no more than its sites: a file may name thousands of probes that nobody knows. */
static void trim(struct file *file) {
    const size_t sites = source_sites(file);
    file->site = shrink(file->site, sites * sizeof *file->site);
    file->semaphore = shrink(file->semaphore, sites * sizeof *file->semaphore);
    file->spec = shrink(file->spec, sites * sizeof *file->spec);
    notes_forget_names(&file->notes);
}

/* Finds the file's sites in its notes. is_again: what is skipped has been reported. */
static bool find_sites(struct source *source, struct file *file, bool is_again, struct failure *why) {
    size_t room = file->notes.count < KERNEL_FILE_SPECS ? file->notes.count + 1 : KERNEL_FILE_SPECS;
    file->site = calloc(room, sizeof *file->site);
    file->semaphore = calloc(room, sizeof *file->semaphore);
    file->spec = calloc(room, sizeof *file->spec);
    if (!file->site || !file->semaphore || !file->spec) {
        return failure_set(why, 1, "out of memory");
    }
    for (size_t i = 0; i < file->notes.count; i++) {
        if (strcmp(file->notes.note[i].name, "heap__create") == 0) {
            file->registry = file->notes.note[i].semaphore_address;
        }
    }
    for (enum kernel_program program = KERNEL_ON_PROBE; program < KERNEL_PROGRAMS; program++) {
        add_sites(source, file, program, is_again);
    }
    trim(file);
    return true;
}

/* Gives the specs of the file, the next one, to the kernel program; `share`: how many it may have. */
static bool give_specs(struct source *source, struct file *file, uint32_t share, struct failure *why) {
    const uint32_t sites = source_sites(file);
    file->first_spec = source->specs;
    if (sites > share) {
        return fail_share(&file->branch, "probe sites", why);
    }
    for (uint32_t i = 0; file->spec && i < sites; i++) {
        struct probe_spec spec = file->spec[i];
        spec.file = source->files;
        if (!kernel_set_spec(source->kernel, file->first_spec + i, &spec, why)) {
            return false;
        }
    }
    source->specs += sites;
    return true;
}

static struct attached *find_attached(const struct observed *observed, uint32_t file) {
    for (size_t i = 0; i < observed->attachments; i++) {
        if (observed->attached[i].file == file) {
            return &observed->attached[i];
        }
    }
    return NULL;
}

/* For every process, or for some. */
static bool is_attached_to(const struct source *source, uint32_t file) {
    bool found = source->file[file].attachment;
    for (size_t i = 0; i < source->observed_count && !found; i++) {
        const struct attached *attached = find_attached(&source->observed[i], file);
        found = attached && attached->by[KERNEL_ON_PROBE];
    }
    return found;
}

static bool has_number_of(const struct file *file, const struct stat *status) {
    return file->device == status->st_dev && file->inode == status->st_ino;
}

static bool is_unchanged(const struct file *file, const struct stat *status) {
    return has_number_of(file, status) && file->changed.tv_sec == status->st_ctim.tv_sec &&
           file->changed.tv_nsec == status->st_ctim.tv_nsec;
}

/* Whether what is known of the file holds for the process. Those whose owner is not known are no user. */
static bool is_known_to(const struct file *file, const struct observed *observed) {
    return file->owner == observed->owner &&
           (file->owner != INSPECT_UNKNOWN_OWNER || process_is_same(&file->branch, &observed->branch));
}

/* A file that need not be read for the process (I1); -1: there is none. */
static int64_t find_file(const struct source *source, const struct observed *observed, const struct stat *status) {
    int64_t found = -1;
    for (uint32_t i = 0; i < source->files; i++) {
        const struct file *file = &source->file[i];
        const bool has_sites = source_sites(file) != 0;
        if (has_sites && has_number_of(file, status) && is_attached_to(source, i)) {
            return i;
        }
        if (!has_sites && is_unchanged(file, status) && is_known_to(file, observed)) {
            found = i;
        }
    }
    return found;
}

/* Whether a file with probes that looked like this one has been read. */
static bool has_read(const struct source *source, const struct stat *status) {
    bool found = false;
    for (uint32_t i = 0; i < source->files && !found; i++) {
        found = source_sites(&source->file[i]) != 0 && is_unchanged(&source->file[i], status);
    }
    return found;
}

static bool has_same_sites(const struct file *file, const struct file *other) {
    const uint32_t sites = source_sites(file);
    return sites > 0 && source_sites(other) == sites && file->site && other->site &&
           memcmp(other->site, file->site, sites * sizeof *file->site) == 0;
}

_Static_assert(sizeof(struct probe_spec) == 16 + EDEN_PROBE_MAX_ARGS * sizeof(struct operand) &&
                   sizeof(struct operand) == 16 && sizeof(struct note_segment) == 24,
               "no padding: bytes are compared");

/* The file among those that were read before, by its number and all that was read of it now; -1: it is none. */
static int64_t find_same(const struct source *source, const struct file *file) {
    for (uint32_t i = 0; i < source->files; i++) {
        const struct file *other = &source->file[i];
        const size_t sites = source_sites(file), segments = file->notes.segments;
        if (other->device == file->device && other->inode == file->inode && has_same_sites(file, other) &&
            memcmp(other->sites, file->sites, sizeof file->sites) == 0 && other->registry == file->registry &&
            other->is_malformed == file->is_malformed &&
            memcmp(other->semaphore, file->semaphore, sites * sizeof *file->semaphore) == 0 &&
            memcmp(other->spec, file->spec, sites * sizeof *file->spec) == 0 && other->notes.segments == segments &&
            memcmp(other->notes.segment, file->notes.segment, segments * sizeof *file->notes.segment) == 0) {
            return i;
        }
    }
    return -1;
}

struct target *source_budget(struct observed *observed) {
    if (observed->target.opened_ns == 0) {
        observed->target.opened_ns = now_ns(); /* its share grows from now on */
    }
    return &observed->target;
}

void source_find_probes(const struct source *source, struct observed *observed, const struct regular *regular,
                        size_t count, bool *can_have) {
    struct regular new[INSPECT_FILES];
    size_t place[INSPECT_FILES], news = 0;
    bool found[INSPECT_FILES];
    for (size_t i = 0; i < count; i++) {
        can_have[i] = true;
        if (regular[i].fd >= 0 && find_file(source, observed, &regular[i].status) < 0) {
            place[news] = i;
            new[news++] = regular[i];
        }
    }
    if (news > 1) {
        inspect_probes(source->inspect, source_budget(observed), new, news, "eden", found);
    }
    for (size_t i = 0; news > 1 && i < news; i++) {
        can_have[place[i]] = found[i];
    }
}

/* Whether another file has the same sites: the two may be one, seen through overlays of one folder. */
static bool has_twin(const struct source *source, const struct file *file) {
    bool found = false;
    for (uint32_t i = 0; i < source->files && !found; i++) {
        found = has_same_sites(file, &source->file[i]);
    }
    return found;
}

/* Reads the file's notes, and finds its sites. False and why: nothing is known of it. */
static bool read_file(struct source *source, struct target *budget, const struct regular *regular, bool is_again,
                      struct file *file, struct failure *why) {
    enum notes_result result = inspect_notes(source->inspect, budget, regular, file->name, "eden", &file->notes,
                                             why->message, sizeof why->message);
    if (result == NOTES_BAD && errno != 0) { /* not read to its end: at another's cost it may be */
        if (errno == EINTR) {                /* no fault of the file's */
            why->message[0] = 0;
        }
        return false;
    }
    file->is_malformed = result == NOTES_BAD;
    if (file->is_malformed && source->options.verbose) {
        message_print("%s", why->message);
    }
    return result != NOTES_READ || find_sites(source, file, is_again, why);
}

/* Adds the file, which lies behind the others. False and why: there is no room in its branch's share; to another branch
 * it may be of use. */
static bool keep_file(struct source *source, struct file *file, uint32_t files, uint32_t sites, struct failure *why) {
    if (files == 0) {
        return fail_share(&file->branch, "files", why);
    }
    if (!give_specs(source, file, sites, why)) {
        return false;
    }
    if (has_twin(source, file)) {
        kernel_expect_twins(source->kernel);
    }
    source->files++;
    return true;
}

int64_t source_add_file(struct source *source, const struct observed *observed, struct target *budget,
                        const struct regular *regular, const char *name, bool can_have_probes, struct failure *why) {
    const struct stat *status = &regular->status;
    int64_t known = find_file(source, observed, status);
    if (known >= 0) {
        return known;
    }
    uint32_t files, sites;
    file_share(source, observed, &files, &sites);
    const bool is_again = can_have_probes && has_read(source, status);
    if (!is_again && (files == 0 || (can_have_probes && sites == 0))) {
        fail_share(&observed->branch, files == 0 ? "files" : "probe sites", why);
        return -1;
    }
    struct file *file = array_grow(&source->file, &source->file_room, source->files, sizeof *file);
    if (!file) {
        failure_set(why, 1, "out of memory");
        return -1;
    }
    *file = (struct file){.device = status->st_dev,
                          .inode = status->st_ino,
                          .changed = status->st_ctim,
                          .user = status->st_uid,
                          .branch = observed->branch,
                          .owner = observed->owner,
                          .name = strdup(name)};
    if (!file->name) {
        failure_set(why, 1, "out of memory");
        return -1;
    }
    bool is_read = !can_have_probes || read_file(source, budget, regular, is_again, file, why);
    known = is_read ? find_same(source, file) : -1;
    if (is_read && known < 0 && keep_file(source, file, files, sites, why)) {
        return source->files - 1;
    }
    if (known >= 0) {
        source->file[known].changed = file->changed;
        source->file[known].user = file->user;
    }
    source_clear_file(file);
    return known;
}

void source_clear_file(struct file *file) {
    free(file->name);
    free(file->site);
    free(file->semaphore);
    free(file->spec);
    notes_clear(&file->notes);
}

/* A target that is not in use. It is taken when the attachment is made: a process that cannot be attached to is tried
 * again and again. */
static uint32_t next_target(const struct source *source) {
    return source->free_targets ? source->free_target[source->free_targets - 1] : source->targets;
}

static void use_target(struct source *source) {
    if (source->free_targets) {
        source->free_targets--;
    } else {
        source->targets++;
    }
}

/* NULL: no memory. */
static struct slow_owner *slow_owner(struct source *source, unsigned owner) {
    for (size_t i = 0; i < source->slow_count; i++) {
        if (source->slow[i].owner == owner) {
            return &source->slow[i];
        }
    }
    struct slow_owner *added = array_grow(&source->slow, &source->slow_room, source->slow_count, sizeof *added);
    if (added) {
        source->slow_count++;
        *added = (struct slow_owner){.owner = owner};
    }
    return added;
}

/* Whether nobody waits for the kernel any more here: the file, or where it is attached to process by process, the
 * process and others of its owner, have made it miss its deadline. */
static bool is_too_slow(struct source *source, const struct observed *observed, const struct file *file,
                        struct failure *why) {
    const char *more = "";
    if (observed && file->by_process) {
        const struct slow_owner *slow = slow_owner(source, observed->owner);
        bool is_other = !observed->has_missed && slow && slow->misses >= MOST_MISSES && observed->owner != 0 &&
                        observed->owner != geteuid();
        if (!observed->has_missed && !is_other) {
            return false;
        }
        more = is_other ? " to more processes of this user" : ", and not retried";
    } else if (file->misses == 0 || (file->misses <= MOST_RETRIES && now_ns() >= file->retry_ns)) {
        return false;
    } else if (file->misses > MOST_RETRIES) {
        more = ", and not retried";
    }
    failure_set(why, 1, "%.300s: not attached%s: the kernel did not answer in %d s", file->name, more,
                INSPECT_LINK_SECONDS);
    errno = EAGAIN;
    return true;
}

static void count_miss(struct source *source, struct observed *observed, struct file *file) {
    if (observed && file->by_process) {
        struct slow_owner *slow = slow_owner(source, observed->owner);
        if (slow) {
            slow->misses++;
        }
        observed->has_missed = true;
    } else {
        file->retry_ns = now_ns() + (RETRY_NS << file->misses++);
    }
}

/* To the process, or, where observed is NULL, to every one. */
static struct attachment *attach_sites(struct source *source, struct observed *observed, uint32_t target,
                                       uint32_t number, const struct regular *regular, enum kernel_program program,
                                       struct failure *why) {
    struct file *file = &source->file[number];
    const uint32_t pid = observed ? observed->key.pid : 0;
    uint32_t first = sites_before(file, program), count = file->sites[program];
    if (is_too_slow(source, observed, file, why)) {
        return NULL;
    }
    uint64_t *cookie = calloc(count, sizeof *cookie);
    if (!cookie) {
        failure_set(why, 1, "out of memory");
        return NULL;
    }
    for (uint32_t i = 0; i < count; i++) {
        cookie[i] = kernel_cookie(target, file->first_spec + first + i);
    }
    struct attachment_request request = {.file = regular,
                                         .name = file->name,
                                         .pid = (int)pid,
                                         .site = file->site + first,
                                         .semaphore = file->semaphore + first,
                                         .cookie = cookie,
                                         .count = count,
                                         .program = program};
    struct attachment *attachment = kernel_attach(source->kernel, &request, why);
    if (attachment && pid != 0 && target_lacks_first_thread((int)pid)) {
        /* The kernel compares address spaces, and takes the process's for its first thread's: none. */
        kernel_let_go(source->kernel, attachment);
        attachment = NULL;
        failure_set(why, 1,
                    "process %u: its first thread has ended while others run, so the kernel cannot attach probes to "
                    "it; start the program with edenscope (-- PROGRAM)",
                    pid);
        errno = ENOTSUP;
    }
    if (attachment && !(observed && file->by_process)) {
        file->misses = 0;
    } else if (!attachment && errno == ETIMEDOUT) {
        count_miss(source, observed, file);
        if (program == KERNEL_ON_PROBE) {
            use_target(source); /* I4 */
        }
        errno = ETIMEDOUT;
    }
    free(cookie);
    return attachment;
}

static bool take_target(struct source *source, uint32_t target, struct failure *why) {
    use_target(source);
    return kernel_arm(source->kernel, target, true, why);
}

/* How many descriptors an attachment to the file's sites takes. */
static uint32_t links_to(const struct source *source, const struct file *file, enum kernel_program program) {
    return kernel_uses_multi(source->kernel) && file->sites[program] ? 1 : file->sites[program];
}

/* Whether the process may have one more attachment. */
static bool has_target_share(const struct source *source, const struct observed *observed) {
    uint32_t owner = 0, branch = 0;
    for (size_t i = 0; i < source->observed_count; i++) {
        const struct observed *other = &source->observed[i];
        for (size_t j = 0; j < other->attachments; j++) {
            bool is_held = other->attached[j].by[KERNEL_ON_PROBE];
            owner += is_held && other->owner == observed->owner;
            branch += is_held && process_is_same(&other->branch, &observed->branch);
        }
    }
    return kernel_share_left(owner, branch, source->targets - (uint32_t)source->free_targets, KERNEL_TARGETS) != 0;
}

static void give_target_back(struct source *source, uint32_t target) {
    struct failure ignored;
    uint32_t *added = array_grow(&source->free_target, &source->free_room, source->free_targets, sizeof *added);
    if (added) {
        *added = target;
        source->free_targets++;
    }
    kernel_arm(source->kernel, target, false, &ignored);
}

/* Whether an error of the kernel comes from one of the processes that map the file: any of them can have changed its
 * own copy of the probes, have so many mappings that the kernel is busy with them, or have no memory left. */
static bool prevents_attaching(int error) {
    return error == EINVAL || error == EFAULT || error == ETIMEDOUT || error == ENOMEM || error == EBUSY;
}

/* error: errno of attaching for all. */
static void attach_by_process(struct source *source, struct file *file, int error, struct failure *why) {
    file->by_process = source->is_by_process = true;
    message_few(
        &source->message[MESSAGE_PROBES],
        "%s; %ssome process that maps it prevents attaching for all; attached process by process: children that "
        "end soon are missed",
        why->message, error == EINVAL ? "or " : "");
    why->message[0] = 0;
}

/* Whether attaching to another file of the same stranger, or to MOST_MISSES of strangers, has missed its deadline:
 * nobody waits for one more. A user may own files under many user ids. */
static bool has_missed(const struct source *source, const struct file *file) {
    unsigned missed = 0;
    if (file->user == 0 || file->user == geteuid()) {
        return false;
    }
    for (uint32_t i = 0; i < source->files; i++) {
        const struct file *other = &source->file[i];
        if (other != file && other->misses != 0 && other->user != 0 && other->user != geteuid()) {
            missed += other->user == file->user ? MOST_MISSES : 1;
        }
    }
    return missed >= MOST_MISSES;
}

/* Where that fails, processes are attached to for batch, one by one. */
static void attach_requested(struct source *source, const struct observed *observed, uint32_t number, uint32_t target,
                             const struct regular *regular) {
    struct file *file = &source->file[number];
    struct failure why;
    if (file->sites[KERNEL_ON_REQUESTED] != 0 &&
        source_may_keep(source, observed->owner, &observed->branch, links_to(source, file, KERNEL_ON_REQUESTED))) {
        file->requested = attach_sites(source, NULL, target, number, regular, KERNEL_ON_REQUESTED, &why);
    }
}

bool source_attach_file(struct source *source, const struct observed *observed, uint32_t number,
                        const struct regular *regular, struct failure *why) {
    struct file *file = &source->file[number];
    if (file->sites[KERNEL_ON_PROBE] == 0 || file->attachment) {
        return true;
    }
    if (!file->by_process && has_missed(source, file)) {
        failure_set(why, 1, "cannot attach to %.200s: other users' files took too long", file->name);
        attach_by_process(source, file, ETIMEDOUT, why);
    }
    if (file->by_process) {
        return false;
    }
    if (!source_may_keep(source, observed->owner, &observed->branch, links_to(source, file, KERNEL_ON_PROBE))) {
        return source_fail_files(&observed->branch, why);
    }
    uint32_t target = next_target(source);
    file->attachment = attach_sites(source, NULL, target, number, regular, KERNEL_ON_PROBE, why);
    if (!file->attachment && prevents_attaching(errno)) {
        attach_by_process(source, file, errno, why);
    }
    if (!file->attachment || !take_target(source, target, why)) {
        return false;
    }
    attach_requested(source, observed, number, target, regular);
    file->attached_ns = now_ns();
    file->branch = observed->branch;
    file->owner = observed->owner;
    if (source->options.verbose) {
        message_print("attached to %u probes of %s", file->sites[KERNEL_ON_PROBE], file->name);
    }
    return true;
}

bool source_attach(struct source *source, struct observed *observed, uint32_t number, const struct regular *regular,
                   struct failure *why) {
    const struct file *file = &source->file[number];
    if (file->sites[KERNEL_ON_PROBE] == 0 || find_attached(observed, number)) {
        return true;
    }
    if (!array_grow(&observed->attached, &observed->attached_room, observed->attachments, sizeof *observed->attached)) {
        return failure_set(why, 1, "out of memory");
    }
    bool by_file = source_is_by_file(source) && !file->by_process;
    uint32_t links = by_file ? 0 : links_to(source, file, KERNEL_ON_PROBE);
    if (source->options.lifetimes) {
        links += file->requested ? 0 : links_to(source, file, KERNEL_ON_BATCH);
        links += links_to(source, file, KERNEL_ON_SAMPLE);
    }
    if (!source_may_keep(source, observed->owner, &observed->branch, links) ||
        (source->options.lifetimes && !source_may_hold(source, observed))) {
        return source_fail_files(&observed->branch, why);
    }
    struct attached attached = {.file = number};
    bool taken = true;
    if (by_file && !source_attach_file(source, observed, number, regular, why)) {
        if (!file->by_process) {
            return false;
        }
        by_file = false;
    }
    if (!by_file) {
        if (!has_target_share(source, observed)) {
            return fail_share(&observed->branch, "attachments", why);
        }
        attached.target = next_target(source);
        attached.by[KERNEL_ON_PROBE] =
            attach_sites(source, observed, attached.target, number, regular, KERNEL_ON_PROBE, why);
        if (!attached.by[KERNEL_ON_PROBE]) {
            return false;
        }
        taken = take_target(source, attached.target, why);
        if (source->options.verbose) {
            message_print("process %u: attached to %u probes of %s", observed->key.pid, file->sites[KERNEL_ON_PROBE],
                          file->name);
        }
    }
    attached.since_ns = by_file ? file->attached_ns : now_ns();
    observed->attached[observed->attachments++] = attached;
    if (observed->image_ns != 0 && attached.since_ns > observed->image_ns) {
        observed->late = observed->image_late = true;
    }
    return taken;
}

bool source_attach_batches(struct source *source, struct observed *observed, uint32_t number,
                           const struct regular *regular, struct failure *why) {
    struct attached *attached = find_attached(observed, number);
    const struct file *file = &source->file[number];
    for (enum kernel_program program = KERNEL_ON_BATCH; attached && program <= KERNEL_ON_SAMPLE; program++) {
        if (file->sites[program] == 0 || attached->by[program] || (program == KERNEL_ON_BATCH && file->requested)) {
            continue;
        }
        attached->by[program] = attach_sites(source, observed, 0, number, regular, program, why);
        if (!attached->by[program]) {
            return false;
        }
    }
    return true;
}

void source_detach(struct source *source, struct attached *attached) {
    bool had_target = attached->by[KERNEL_ON_PROBE];
    for (int program = KERNEL_PROGRAMS; program-- > 0;) {
        kernel_let_go(source->kernel, attached->by[program]);
        attached->by[program] = NULL;
    }
    if (had_target) {
        give_target_back(source, attached->target);
    }
}
