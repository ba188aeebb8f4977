/* `edenscope list`: what can be observed. Looks only: nothing is attached to. What takes rights is done by workers.
 *
 * Processes are looked at twice. Each time every user gets an equal part of the time, and each process an equal part of
 * what is left of its user's: at first half of TOTAL_NS and little for each, then those that have missed it share the
 * rest. So a process that answers is shown, however many of another user do not; those are named. On a busy machine the
 * time that the tool and its workers wait for a processor does not count, up to MOST_QUEUE_NS; where they may, they go
 * before other processes. */
#include "attach/attach.h"
#include "attach/inspect/inspect.h"
#include "attach/libraries.h"
#include "attach/operand.h"
#include "cli/commands.h"
#include "cli/list_heap.h"
#include "cli/options.h"
#include "model/probe_table.h"
#include "util/array.h"
#include "util/format.h"
#include "util/json.h"
#include "util/message.h"
#include "util/priority.h"
#include "util/sandbox.h"
#include "util/text.h"
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <pwd.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const char usage[] = "list [-p PID] [--params] [--classes] [--json] [-v], or list FILE... [--json]\n\n"
                            "  Lists the processes that can be observed and their heaps, or the probes of each FILE.";

enum { MOST_HEAPS = 1024 };

/* ---- files ------------------------------------------------------------------------------------------------------ */

static json_t *note_to_json(const struct note *note) {
    struct operand operands[EDEN_PROBE_MAX_ARGS];
    char why[160] = "";
    int probe = probe_find(note->name);
    int count = operands_parse(note->args, operands, why, sizeof why);
    json_t *args = json_array();
    for (int i = 0; i < count; i++) {
        bool known = probe >= 0 && i < probe_table[probe].args;
        json_array_append_new(args, known ? json_string(probe_table[probe].arg[i].name) : json_null());
    }
    return json_pack("{s:o, s:o, s:b, s:o}", "probe", json_text(note->name, sizeof note->name), "arguments", args,
                     "semaphore", note->semaphore != 0, "problem",
                     count < 0 ? json_text(why, sizeof why) : json_null());
}

static void print_note(const struct note *note) {
    struct operand operands[EDEN_PROBE_MAX_ARGS];
    char why[160] = "", name[TEXT_GROWTH * sizeof note->name];
    int probe = probe_find(note->name);
    int count = operands_parse(note->args, operands, why, sizeof why);
    printf("  %s", text_column(name, sizeof name, note->name, "", 28, UINT_MAX));
    for (int i = 0; i < count; i++) {
        bool known = probe >= 0 && i < probe_table[probe].args;
        printf("%s%s", i ? ", " : "", known ? probe_table[probe].arg[i].name : "?");
    }
    printf("%s%s", probe < 0 ? "  # unknown to this version" : "", count < 0 ? "  # cannot attach: " : "");
    text_print(stdout, count < 0 ? why : "");
    putchar('\n');
}

/* Names those libraries of a program without probes that have some. Takes the file. */
static void point_to_libraries(struct inspect *inspect, const char *path, struct regular *program) {
    struct libraries libraries = {0};
    libraries_open(&libraries, inspect);
    libraries_add(&libraries, path, program, NULL);
    for (size_t i = 1; i < libraries.count; i++) {
        const struct library *file = &libraries.file[i];
        struct notes notes;
        char why[512];
        if (inspect_notes(inspect, &libraries.budget, &file->file, file->path, "eden", &notes, why, sizeof why) !=
            NOTES_READ) {
            continue;
        }
        if (notes.count != 0) {
            message_print("%s: its library %s has %zu probes of provider eden", path, file->path, notes.count);
        }
        notes_clear(&notes);
    }
    libraries_clear(&libraries);
}

static int list_file(struct inspect *inspect, const char *path, json_t *files) {
    struct notes notes;
    char why[512];
    struct regular file;
    if (!inspect_open_path(inspect, NULL, 0, path, NULL, false, &file)) {
        const int error = errno;
        const bool is_number = *path != 0 && path[strspn(path, "0123456789")] == 0;
        message_print("%s: %s%s%s%s", path, error == EINVAL ? "not a regular file" : strerror(error),
                      is_number ? "; did you mean -p " : "", is_number ? path : "", is_number ? "?" : "");
        return 1;
    }
    enum notes_result result = inspect_notes(inspect, NULL, &file, path, "eden", &notes, why, sizeof why);
    if (result == NOTES_READ && notes.count == 0) {
        point_to_libraries(inspect, path, &file);
    } else {
        regular_close(&file);
    }
    if (result != NOTES_READ) {
        message_print("%s", why);
        return 1;
    }
    json_t *probes = json_array();
    if (!files) {
        text_print(stdout, path);
        printf(": %zu probes of provider eden\n", notes.count);
    }
    for (size_t i = 0; i < notes.count; i++) {
        if (files) {
            json_array_append_new(probes, note_to_json(&notes.note[i]));
        } else {
            print_note(&notes.note[i]);
        }
    }
    if (files) {
        json_array_append_new(files, json_pack("{s:o, s:o}", "file", json_text(path, strlen(path)), "probes", probes));
    } else {
        json_decref(probes);
    }
    notes_clear(&notes);
    return 0;
}

static int list_files(struct inspect *inspect, const struct options *options) {
    json_t *files = options->json ? json_array() : NULL;
    int status = 0;
    for (size_t i = 0; i < options->rest_count; i++) {
        status |= list_file(inspect, options->rest[i], files);
    }
    if (files) {
        status |= !json_print_as(stdout, "edenscope/list-files/1", json_pack("{s:o}", "files", files));
    }
    return status;
}

/* ---- processes -------------------------------------------------------------------------------------------------- */

/* A file that some process has mapped; most have no probes, and are mapped by many. What was read of it holds for the
 * processes of one owner: another one can make files that look the same (source_files.c, I1). */
struct seen_file {
    dev_t device;
    uint64_t inode;
    struct timespec changed; /* st_ctim */
    unsigned owner;          /* of the process */
    struct notes notes;
    uint64_t registry; /* 0: not Eden */
    bool is_malformed; /* whether it is Eden's is unknown */
};

/* A process to look at. */
struct process {
    int pid;
    unsigned user;     /* once it has been missed */
    unsigned owner;    /* whose share it has (inspect_owner) */
    uint64_t start_ns; /* 0: not known yet */
    unsigned shown;    /* its files that have been */
    enum unread_cause unread_cause;
};

struct processes {
    struct process *at; /* owned */
    size_t count, room;
};

/* A file that the process maps: most hostile processes map the same ones again and again. */
struct mapped_file {
    const struct mapping *mapping; /* NULL: none */
    size_t seen;                   /* index; SIZE_MAX: it cannot be looked into */
    uint64_t registry;             /* whose heaps were read last; 0: none */
};

enum { RECENT_FILES = 64 };

#define TOTAL_NS 4000000000u
#define FIRST_SHARE_NS 30000000u
#define MOST_QUEUE_NS 800000000u
enum { LIST_CLASSES = 100000 };

struct listing {
    struct inspect *inspect;
    json_t *processes;  /* NULL: a table is printed */
    FILE *users;        /* NULL: cannot be read */
    char user[64];      /* of the process: the name or the number; "?": unknown */
    bool has_user_name; /* ... the name */
    uint32_t user_id;   /* whose it is */
    struct seen_file *file;
    size_t files, file_room;
    int pid;
    struct target target;
    char command[64];
    struct mapped_file recent[RECENT_FILES]; /* of the process */
    size_t mapped;                           /* its files so far */
    json_t *heaps;
    size_t shown, refused;
    int first_refused;
    size_t failed; /* processes that the tool could not read, for another reason than rights or time */
    int first_failed, failure;
    struct process now;    /* the process that is looked at */
    unsigned files_before; /* that have been shown */
    struct processes missed;
    bool is_verbose, has_params, has_classes;
    struct message_kind cut;      /* processes that were not read, or not in full */
    uint64_t unread;              /* heaps of the process, */
    uint64_t unread_parts;        /* and those whose parameters or classes were not read in full */
    size_t classes, most_classes; /* that have been shown, and may be when its user's processes have been looked at */
    size_t refused_files;         /* of the process: not opened, or malformed */
    struct heapinfo *heap;
};

static bool is_seen(const struct seen_file *file, const struct stat *status, unsigned owner) {
    return file->owner == owner && owner != INSPECT_UNKNOWN_OWNER && file->device == status->st_dev &&
           file->inode == status->st_ino && file->changed.tv_sec == status->st_ctim.tv_sec &&
           file->changed.tv_nsec == status->st_ctim.tv_nsec;
}

/* The index of the file; SIZE_MAX: it cannot be looked into. */
static size_t look_into(struct listing *listing, const struct regular *regular, const char *name) {
    const struct stat *status = &regular->status;
    const unsigned owner = listing->now.owner;
    for (size_t i = 0; i < listing->files; i++) {
        if (is_seen(&listing->file[i], status, owner)) {
            return i;
        }
    }
    struct seen_file *file = array_grow(&listing->file, &listing->file_room, listing->files, sizeof *file);
    if (!file) {
        return SIZE_MAX;
    }
    listing->files++;
    *file = (struct seen_file){
        .device = status->st_dev, .inode = status->st_ino, .changed = status->st_ctim, .owner = owner};
    char why[512];
    const enum notes_result result =
        inspect_notes(listing->inspect, &listing->target, regular, name, "eden", &file->notes, why, sizeof why);
    file->is_malformed = result == NOTES_BAD;
    if (result == NOTES_READ) {
        for (size_t i = 0; i < file->notes.count; i++) {
            if (strcmp(file->notes.note[i].name, "heap__create") == 0) {
                file->registry = file->notes.note[i].semaphore_address;
            }
        }
        notes_forget_names(&file->notes);
    } else if (errno != 0) {
        listing->files--; /* not read to its end */
        return SIZE_MAX;
    } else if (file->is_malformed && listing->is_verbose) {
        message_print("%s", why);
    }
    return listing->files - 1;
}

static bool is_mapped_from(const struct mapping *mapping, const struct mapping *other) {
    return mapping->inode == other->inode && mapping->device == other->device &&
           strcmp(mapping->path, other->path) == 0;
}

/* The file that is mapped so, looked into if it is none of the last RECENT_FILES of this process. */
static struct mapped_file *find_mapped(struct listing *listing, const struct mapping *mapping) {
    for (size_t i = 0; i < RECENT_FILES && listing->recent[i].mapping; i++) {
        if (is_mapped_from(mapping, listing->recent[i].mapping)) {
            return &listing->recent[i];
        }
    }
    struct mapped_file *file = &listing->recent[listing->mapped++ % RECENT_FILES];
    *file = (struct mapped_file){.mapping = mapping, .seen = SIZE_MAX};
    struct regular regular;
    if (inspect_open_mapping(listing->inspect, &listing->target, mapping, &regular)) {
        file->seen = look_into(listing, &regular, mapping->path);
        listing->refused_files += file->seen != SIZE_MAX && listing->file[file->seen].is_malformed;
        regular_close(&regular);
    } else {
        listing->refused_files += !listing->target.is_unread && inspect_may_have_probes(errno);
    }
    return file;
}

static void show_heading(const struct listing *listing) {
    if (listing->shown == 0 && !listing->processes) {
        list_heap_heading();
    }
}

/* The name is that of /etc/passwd. Other sources of names, such as LDAP, may not answer in time and run foreign code:
 * their users are shown by number. Processes come user by user, so the last one is kept. */
static void set_user(struct listing *listing) {
    const uint32_t user = listing->target.user;
    const struct passwd *entry = NULL;
    if (listing->user[0] && listing->user_id == user) {
        return;
    }
    if (listing->users) {
        rewind(listing->users);
        do {
            entry = fgetpwent(listing->users);
        } while (entry && entry->pw_uid != user);
    }
    if (entry) {
        snprintf(listing->user, sizeof listing->user, "%s", entry->pw_name);
    } else {
        snprintf(listing->user, sizeof listing->user, user == UINT32_MAX ? "?" : "%" PRIu32, user);
    }
    listing->user_id = user;
    listing->has_user_name = entry;
}

static void show_process(struct listing *listing, int heaps, int error) {
    show_heading(listing);
    set_user(listing);
    listing->shown++;
    if (listing->processes) {
        listing->heaps = json_array();
    }
    struct list_heap list = {.inspect = listing->inspect,
                             .target = &listing->target,
                             .pid = listing->pid,
                             .user = listing->user,
                             .command = listing->command,
                             .has_params = listing->has_params,
                             .classes = listing->classes,
                             .most_classes = listing->most_classes,
                             .has_classes = listing->has_classes};
    for (int i = heaps - 1; i >= 0; i--) { /* the newest is first in the registry */
        if (listing->processes) {
            json_array_append_new(listing->heaps, list_heap_to_json(&list, &listing->heap[i]));
        } else {
            list_heap_print(&list, &listing->heap[i]);
        }
    }
    listing->unread_parts += list.unread;
    listing->classes = list.classes;
    if (heaps <= 0 && !listing->processes) {
        list_heap_print_none(&list, heaps == 0        ? "(no heap)"
                                    : error == EACCES ? "(unreadable: CAP_SYS_PTRACE or CAP_DAC_OVERRIDE is missing)"
                                    : error == EPROTO ? "(another version of the runtime)"
                                                      : "(unreadable)");
    }
    if (listing->processes) {
        json_t *process =
            json_pack("{s:i, s:o, s:o, s:s, s:o, s:o}", "pid", listing->pid, "uid",
                      listing->user_id == UINT32_MAX ? json_null() : json_number(listing->user_id), "user",
                      listing->has_user_name ? json_text(listing->user, sizeof listing->user) : json_null(), "runtime",
                      "eden", "command", json_name(listing->command, sizeof listing->command), "heaps",
                      heaps < 0 ? json_null() : json_incref(listing->heaps));
        json_array_append_new(listing->processes, process);
        json_decref(listing->heaps);
        listing->heaps = NULL;
    }
}

static void look_at_mapping(struct listing *listing, const struct mapping *mapping) {
    struct mapped_file *mapped = find_mapped(listing, mapping);
    const struct seen_file *file = mapped->seen != SIZE_MAX ? &listing->file[mapped->seen] : NULL;
    uint64_t bias, unread = 0;
    if (!file || file->registry == 0 || !notes_load_bias(&file->notes, mapping->offset, mapping->start, &bias) ||
        mapped->registry == file->registry + bias) { /* another part of the same copy */
        return;
    }
    mapped->registry = file->registry + bias;
    int heaps = inspect_heaps(listing->inspect, &listing->target, mapped->registry, listing->heap, MOST_HEAPS, &unread);
    int error = errno;
    if (listing->target.is_unread) {
        return;
    }
    listing->unread += unread;
    if (heaps == 0 && unread != 0) { /* there are some */
        heaps = -1;
        error = EBUSY;
    }
    if (listing->files_before++ < listing->now.shown) {
        return;
    }
    listing->now.shown++;
    show_process(listing, heaps, error);
}

static void add_process(struct processes *processes, struct process process) {
    struct process *added = array_grow(&processes->at, &processes->room, processes->count, sizeof *added);
    if (added) {
        *added = process;
        processes->count++;
    }
}

/* Names a process that was not read in full: the first MESSAGE_FEW, or all. */
__attribute__((format(printf, 2, 3))) static void report_cut(struct listing *listing, const char *format, ...) {
    char text[320];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    if (listing->is_verbose) {
        listing->cut.count++;
        message_print("%s", text);
    } else {
        message_few(&listing->cut, "%s", text);
    }
}

static bool has_lost_thread(const struct listing *listing) {
    return target_lacks_first_thread(listing->pid) && inspect_start(listing->inspect, listing->pid) != 0;
}

/* False with errno. Maps of a thread that is not the first one end with it: another one's are tried. */
static bool open_process(struct listing *listing, const struct process *process, struct mappings *mappings) {
    int error = ESRCH;
    for (int tries = 0; error == ESRCH && tries < TARGET_TRIES && (tries == 0 || has_lost_thread(listing)); tries++) {
        target_close(&listing->target);
        bool is_read = inspect_process(listing->inspect, process->pid, process->owner, process->start_ns, false,
                                       &listing->target) &&
                       inspect_mappings(listing->inspect, &listing->target, mappings);
        error = is_read ? 0 : errno;
    }
    errno = error == ESRCH && has_lost_thread(listing) ? EAGAIN : error;
    return error == 0;
}

/* A process that has ended, or has no memory of its own, is no failure. One that missed a deadline, or whose worker
 * gave no answer that fits (EIO), is looked at again, and then named: what the process did is no failure of the tool.
 */
static void note_failure(struct listing *listing, int error) {
    if (error == EIO && !listing->target.is_unread) {
        listing->target.is_unread = true;
        listing->target.unread_cause = UNREAD_FAILS;
    }
    if (error == EACCES) {
        listing->first_refused = listing->refused == 0 ? listing->pid : listing->first_refused;
        listing->refused++;
        return;
    }
    if (error == EAGAIN) {
        report_cut(listing, "process %d (%s) was not read: its threads end too fast", listing->pid, listing->command);
        return;
    }
    if (error == ESTALE || error == ESRCH || error == ENOENT || listing->target.is_unread) {
        return;
    }
    if (listing->failed++ == 0) {
        listing->first_failed = listing->pid;
        listing->failure = error;
    }
}

/* What of the process was not read: heaps, mapped files, or both. */
static void report_parts(struct listing *listing, size_t files) {
    char heaps[48] = "", mapped[48] = "";
    if (listing->unread != 0) {
        snprintf(heaps, sizeof heaps, " %" PRIu64 " heap%s", listing->unread, plural(listing->unread));
    }
    if (files != 0) {
        snprintf(mapped, sizeof mapped, " %zu mapped file%s", files, plural(files));
    }
    report_cut(listing, "process %d (%s): not read:%s%s%s", listing->pid, listing->command, heaps,
               heaps[0] && mapped[0] ? " and" : "", mapped);
}

static void look_at_process(struct listing *listing, struct process process) {
    struct mappings mappings = {0};
    listing->now = process;
    listing->pid = process.pid;
    memset(listing->recent, 0, sizeof listing->recent);
    listing->mapped = 0;
    listing->files_before = 0;
    listing->unread = listing->unread_parts = listing->refused_files = 0;
    target_command(process.pid, listing->command);
    if (!open_process(listing, &process, &mappings)) {
        note_failure(listing, errno);
    }
    for (size_t i = 0; i < mappings.count && !listing->target.is_unread; i++) {
        look_at_mapping(listing, &mappings.at[i]);
    }
    const size_t files = mappings.left_out + listing->refused_files;
    if (listing->target.is_unread && target_process_of(process.pid) != 0) {
        listing->now.start_ns = listing->target.start_ns;
        listing->now.user = target_user(process.pid);
        listing->now.unread_cause = listing->target.unread_cause;
        add_process(&listing->missed, listing->now);
    } else if ((listing->unread != 0 || files != 0) && target_process_of(process.pid) != 0) {
        report_parts(listing, files);
    } else if (listing->unread_parts != 0 && target_process_of(process.pid) != 0) {
        report_cut(listing, "process %d (%s): parameters or classes of its heaps were not read in full", process.pid,
                   listing->command);
    }
    free(mappings.at);
    target_close(&listing->target);
}

/* Of every process: so it asks for no more than whether it has memory. */
static void add_found(void *context, int pid) {
    if (!target_is_kernel_thread(pid)) {
        add_process(context, (struct process){.pid = pid});
    }
}

static int compare_users(const void *left, const void *right) {
    const struct process *a = left, *b = right;
    return a->owner != b->owner ? (a->owner > b->owner) - (a->owner < b->owner) : (a->pid > b->pid) - (a->pid < b->pid);
}

/* Looks at some processes of one user until end_ns, at most most_ns at each. */
static void look_at_user(struct listing *listing, const struct process *process, size_t count, uint64_t end_ns,
                         uint64_t most_ns) {
    for (size_t i = 0; i < count; i++) {
        uint64_t now = inspect_now(listing->inspect), part = end_ns > now ? (end_ns - now) / (count - i) : 0;
        uint64_t share_ns = part < most_ns ? part : most_ns;
        inspect_limit(listing->inspect, share_ns / 4, share_ns, end_ns);
        look_at_process(listing, process[i]);
    }
}

/* Takes the processes, and looks at them until end_ns. Those that miss it are in listing->missed. */
static void look_at_all(struct listing *listing, struct processes all, uint64_t end_ns, uint64_t most_ns) {
    size_t users = 0;
    listing->missed = (struct processes){0};
    if (all.count != 0) {
        qsort(all.at, all.count, sizeof *all.at, compare_users);
    }
    for (size_t i = 0; i < all.count; i++) {
        users += i == 0 || all.at[i].owner != all.at[i - 1].owner;
    }
    for (size_t i = 0, next = 0; i < all.count; i = next, users--) {
        while (next < all.count && all.at[next].owner == all.at[i].owner) {
            next++;
        }
        uint64_t now = inspect_now(listing->inspect);
        listing->most_classes = listing->classes + (LIST_CLASSES - listing->classes) / users;
        look_at_user(listing, &all.at[i], next - i, end_ns > now ? now + (end_ns - now) / users : now, most_ns);
    }
    free(all.at);
}

/* Whose processes were missed, and how many: so no user's stay unnamed behind the many of another one. They stand user
 * by user, as they were looked at; ids of a namespace count as its owner, who cannot be many. */
static void report_users(const struct processes *missed) {
    char text[512];
    size_t length = 0, others = 0;
    for (size_t i = 0, next = 0; i < missed->count; i = next) {
        const unsigned owner = missed->at[i].owner;
        char user[32] = "unknown users";
        while (next < missed->count && missed->at[next].owner == owner) {
            next++;
        }
        if (owner != INSPECT_UNKNOWN_OWNER) {
            snprintf(user, sizeof user, "user %u", owner);
        }
        if (length < sizeof text - 64) {
            length += (size_t)snprintf(text + length, sizeof text - length, "%s%zu of %s", length ? ", " : "", next - i,
                                       user);
        } else {
            others += next - i;
        }
    }
    if (others != 0) {
        snprintf(text + length, sizeof text - length, ", %zu of others", others);
    }
    message_print("not read, or not in full: %s", text);
}

/* `is_one`: it was asked for alone, and so has had all of the time. On a busy machine those that had too little are
 * counted, for it says nothing about them. */
static void report_missed(struct listing *listing, bool is_one) {
    static const char *const causes[] = {
        [UNREAD_TIME] = "its share of the time was too short",
        [UNREAD_WAITS] = "its memory or files do not answer in time",
        [UNREAD_FAILS] = "reading its memory or files fails",
    };
    const bool is_busy = inspect_is_busy(listing->inspect);
    size_t unnamed = 0;
    for (size_t i = 0; i < listing->missed.count; i++) {
        const struct process *process = &listing->missed.at[i];
        const bool had_no_time = is_busy && process->unread_cause == UNREAD_TIME;
        char advice[64] = "try again";
        if (had_no_time && !is_one && !listing->is_verbose) {
            unnamed++;
            continue;
        }
        if (!is_one) {
            snprintf(advice, sizeof advice, "`edenscope list -p %d` gives it more", process->pid);
        }
        target_command(process->pid, listing->command);
        report_cut(listing, "process %d (%s, user %u) was not read%s: %s; %s", process->pid, listing->command,
                   process->user, process->shown ? " in full" : "",
                   had_no_time ? "the machine was too busy" : causes[process->unread_cause], advice);
    }
    const bool is_cut = listing->cut.count > MESSAGE_FEW;
    if (is_cut) {
        const uint64_t more = listing->cut.count - MESSAGE_FEW;
        message_print("%" PRIu64 " more process%s not read, or not in full (list -v names them)", more,
                      more == 1 ? " was" : "es were");
    }
    if (unnamed != 0) {
        message_print("the machine was too busy: %zu process%s not looked at, or not in full (list -v names them); "
                      "try again, or -p PID",
                      unnamed, unnamed == 1 ? " was" : "es were");
    }
    if (listing->missed.count != 0 && (is_cut || unnamed != 0)) {
        report_users(&listing->missed);
    }
}

/* Of processes that the tool could not read at all. */
static void report_unread(const char *verb, size_t count, int first, const char *link, const char *why) {
    if (count == 1) {
        message_print("could not %s process %d%s%s", verb, first, link, why);
    } else {
        message_print("could not %s %zu processes (the first is process %d)%s%s", verb, count, first, link, why);
    }
}

/* Where there is no memory, they share as one. */
static void find_owners(struct inspect *inspect, const struct processes *found) {
    int *pid = calloc(found->count + 1, sizeof *pid);
    uint32_t *owner = calloc(found->count + 1, sizeof *owner);
    for (size_t i = 0; pid && owner && i < found->count; i++) {
        pid[i] = found->at[i].pid;
    }
    if (pid && owner) {
        inspect_owners(inspect, pid, found->count, owner);
    }
    for (size_t i = 0; i < found->count; i++) {
        found->at[i].owner = pid && owner ? owner[i] : INSPECT_UNKNOWN_OWNER;
    }
    free(pid);
    free(owner);
}

static int list_processes(struct inspect *inspect, const struct options *options) {
    struct failure why;
    if (access("/proc/self", F_OK) != 0) {
        message_print("/proc is not mounted; mount -t proc proc /proc");
        return 2;
    }
    const bool may_read_others = kernel_may_read_others();
    FILE *users = fopen("/etc/passwd", "re"); /* before the sandbox, which opens no file */
    if (!target_are_hidden() && !sandbox_enter(&(struct sandbox){.profile = SANDBOX_OBSERVER}, &why)) {
        return failure_report(&why);
    }
    struct listing listing = {.inspect = inspect,
                              .target = {.memory = {-1, -1}, .maps = -1},
                              .processes = options->json ? json_array() : NULL,
                              .users = users,
                              .is_verbose = options->verbose,
                              .has_params = options->params,
                              .has_classes = options->classes,
                              .heap = calloc(MOST_HEAPS, sizeof *listing.heap)};
    if (!listing.heap) {
        message_print("out of memory");
        return 1;
    }
    struct processes found = {0};
    inspect_leave_out_queue(inspect, MOST_QUEUE_NS);
    const uint64_t start_ns = inspect_now(inspect);
    if (options->pid) {
        add_process(&found, (struct process){.pid = options->pid});
    } else {
        target_processes(add_found, &found);
    }
    inspect_limit(inspect, TOTAL_NS / 4, TOTAL_NS / 4, start_ns + TOTAL_NS / 4);
    find_owners(inspect, &found);
    /* What is shown of a process is shown once: parameters and classes need more than a first look gives. */
    bool is_short = !listing.has_params && !listing.has_classes;
    look_at_all(&listing, found, start_ns + (is_short ? TOTAL_NS / 2 : TOTAL_NS), is_short ? FIRST_SHARE_NS : TOTAL_NS);
    if (is_short) {
        look_at_all(&listing, listing.missed, start_ns + TOTAL_NS, TOTAL_NS);
    }
    report_missed(&listing, options->pid != 0);
    int status = options->pid && listing.shown == 0 ? listing.refused ? 2 : 1 : 0;
    if (listing.processes) {
        json_t *object = json_pack("{s:o}", "processes", listing.processes);
        status = json_print_as(stdout, "edenscope/list/1", object) ? status : 1;
    }
    if (listing.shown == 0 && !options->json) {
        const bool has_unread = listing.failed + listing.refused + listing.missed.count + listing.cut.count != 0;
        if (!options->pid) {
            message_print(has_unread ? "no process that could be read uses Eden" : "no process uses Eden");
        } else if (!has_unread) {
            message_print("process %d does not use Eden", options->pid);
        }
    }
    if (listing.failed) {
        status = 1;
        report_unread("read", listing.failed, listing.first_failed, ": ",
                      listing.failure == ENOMEM ? "out of memory (ulimit -d, ulimit -v)" : strerror(listing.failure));
    }
    if (listing.refused) {
        report_unread("inspect", listing.refused, listing.first_refused, "; ",
                      may_read_others
                          ? "the system protects such processes even from root (a security module or a container?)"
                          : "processes of other users need CAP_SYS_PTRACE and CAP_DAC_OVERRIDE (run as root)");
    }
    for (size_t i = 0; i < listing.files; i++) {
        notes_clear(&listing.file[i].notes);
    }
    if (users) {
        fclose(users);
    }
    free(listing.file);
    free(listing.missed.at);
    free(listing.heap);
    return status;
}

int cmd_list(int argc, char **argv) {
    struct options options;
    int status;
    if (!options_parse(&options, ACCEPT_PID | ACCEPT_LIST | ACCEPT_JSON | ACCEPT_REST, usage, argc, argv, &status)) {
        return status;
    }
    if (options.rest_count && (options.pid || options.params || options.classes)) {
        message_print("-p, --params and --classes are of processes; give them without FILE");
        return 1;
    }
    if (options.pid && target_process_of(options.pid) != options.pid) {
        message_print("process %d does not exist; `edenscope list` shows the processes that use Eden", options.pid);
        return 1;
    }
    /* Before the workers are forked, which are to have it, too. */
    if (!options.rest_count && !priority_raise(&status)) {
        return status;
    }
    struct failure why;
    struct inspect *inspect = inspect_open(0, &why);
    if (!inspect) {
        return failure_report(&why);
    }
    status = (options.rest_count ? list_files : list_processes)(inspect, &options);
    inspect_close(inspect);
    return status;
}
