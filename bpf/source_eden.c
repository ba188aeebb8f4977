/* The source for provider `eden`: who is observed, what is attached to, and how the kernel's sums become the model.
 *
 *     root process (-p or the command) -+- files with probes -- attachment (process, file) -> kernel program -> entries
 *     its children, found by polling  --+                                                                        |
 *     headers of heaps that were alive at attach ------------------------------ totals up to a collection ----> model
 *
 * A heap whose heap__create was seen is simple: its entry holds the figures of its whole life.
 *
 * A heap that was alive at attach is known by its header and by what came after. The rule: the header says what had
 * happened when collection `seq` ended; the kernel program remembers its own sums as they stood at the ends of the last
 * few collections (checkpoints). With the checkpoint of the same seq,
 *
 *     total = header + (sums now - sums at that checkpoint)
 *
 * is exact: what the header includes is taken out of our sums, even where attaching fell into the middle of a
 * collection. Right after attaching there may be no such checkpoint, for no collection has ended since. Until then the
 * total is header + sums now, which may lack the large objects, segments and failures of the moments in which the
 * attachment was being made, or of a collection then under way. So the header is read again (a heap is then `settled`)
 * until a checkpoint fits; it takes one collection and one look, every 200 ms.
 *
 * What can go wrong: a process ends while it is looked at (every look may fail, and none is needed); a pid comes again
 * (each look compares start times); a hit is lost (counted, and told). */
#include "attach.h"
#include "heapinfo.h"
#include "launch.h"
#include "notes.h"
#include "operand.h"
#include "probe_table.h"
#include "target.h"
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { FOLLOW_NS = 200000000, FOLLOW_SOON_NS = 20000000, SOON_NS = 1000000000, MOST_LATE_HEAPS = 256 };

/* A file with probes, or one that has none and need not be looked at again. */
struct file {
    dev_t device;
    ino_t inode;
    char *name;
    uint32_t sites; /* 0: nothing for us */
    uint64_t *site, *semaphore;
    uint32_t first_spec;
    int args[EDEN_PROBE_COUNT]; /* how many arguments each probe passes; 0: not in this file */
    struct notes notes;
    uint64_t registry; /* address of the heap__create semaphore as linked */
};

struct late_heap {
    struct heapinfo first;  /* as attaching found it */
    struct heapinfo base;   /* as of the checkpoint that settled it; else `first` */
    struct checkpoint sums; /* ours at base.seq; zero where there was none */
    bool settled;
    uint32_t file;
};

struct observed {
    struct process_key key;
    char command[64];
    bool late; /* attached after its first instruction */
    bool ended;
    uint32_t *file; /* attached ones, owned */
    struct attachment **attachment;
    size_t attachments;
    struct late_heap *late_heap;
    size_t late_heaps;
};

struct source {
    struct source_options options;
    struct kernel_side *kernel;
    struct launch launch;
    struct file *file;
    uint32_t files;
    uint32_t specs, targets;
    struct observed *observed; /* the first is the root */
    size_t observed_count;
    int root_fd; /* pidfd of the root; -1: this kernel has none */
    bool started, finished, reaped;
    int exit_status;
    uint64_t attach_ns, start_ns, end_ns, followed_ns;
    volatile sig_atomic_t stops;
};

static uint64_t now_ns(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}

__attribute__((format(printf, 3, 4))) static bool fail(struct failure *why, int status, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    why->status = status;
    vsnprintf(why->message, sizeof why->message, format, arguments);
    va_end(arguments);
    return false;
}

/* ---- files ------------------------------------------------------------------------------------------------------ */

static bool is_excluded(const struct source *source, const char *probe) {
    const char *at = source->options.without;
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

/* Makes the spec of one site. False: not attached to, for a reason that verbose tells. */
static bool make_spec(const struct source *source, const struct file *file, const struct note *note,
                      struct probe_spec *spec) {
    int probe = probe_find(note->name);
    if (probe < 0 || is_excluded(source, note->name) || (probe_per_object(probe) && !source->options.objects)) {
        return false;
    }
    char why[160];
    *spec = (struct probe_spec){.probe = (uint16_t)probe, .phase = KERNEL_NO_PHASE, .file = source->files};
    int args = operands_parse(note->args, spec->arg, why, sizeof why);
    if (args <= 0) {
        fprintf(stderr, "edenscope: %s: probe %s is left out: %s\n", file->name, note->name,
                args < 0 ? why : "it passes no heap");
        return false;
    }
    spec->args = (uint8_t)args;
    int phase = probe_phase(probe);
    if (phase >= 0 && args > 2) {
        spec->phase = (uint8_t)phase;
        spec->two_more = phase != EDEN_PHASE_scavenge && phase != EDEN_PHASE_full && args > 4;
    }
    for (int i = 0; i < args && i < probe_table[probe].args; i++) {
        if (probe_table[probe].arg[i].kind == ARG_string && spec->strings < 2) {
            spec->string_at[spec->strings++] = (uint8_t)i;
        }
    }
    return true;
}

static bool fill_file(struct source *source, struct file *file, struct failure *why) {
    size_t count = file->notes.count;
    file->site = calloc(count ? count : 1, sizeof *file->site);
    file->semaphore = calloc(count ? count : 1, sizeof *file->semaphore);
    if (!file->site || !file->semaphore) {
        return fail(why, 1, "out of memory");
    }
    file->first_spec = source->specs;
    for (size_t i = 0; i < count; i++) {
        const struct note *note = &file->notes.note[i];
        struct probe_spec spec;
        if (strcmp(note->name, "heap__create") == 0) {
            file->registry = note->semaphore_address;
        }
        if (!make_spec(source, file, note, &spec)) {
            continue;
        }
        if (!kernel_set_spec(source->kernel, source->specs, &spec, why)) {
            return false;
        }
        file->site[file->sites] = note->offset;
        file->semaphore[file->sites++] = note->semaphore;
        file->args[spec.probe] = spec.args;
        source->specs++;
    }
    return true;
}

/* The file's number, looked into if it was not yet. -1 and why where that fails. */
static int64_t add_file(struct source *source, int fd, const char *name, struct failure *why) {
    struct stat status;
    if (fstat(fd, &status) != 0) {
        fail(why, 1, "%.300s: %s", name, strerror(errno));
        return -1;
    }
    for (uint32_t i = 0; i < source->files; i++) {
        if (source->file[i].device == status.st_dev && source->file[i].inode == status.st_ino) {
            return i;
        }
    }
    struct file *grown = realloc(source->file, (source->files + 1) * sizeof *grown);
    if (!grown) {
        fail(why, 1, "out of memory");
        return -1;
    }
    source->file = grown;
    struct file *file = &grown[source->files];
    *file = (struct file){.device = status.st_dev, .inode = status.st_ino, .name = strdup(name)};
    if (!file->name) {
        fail(why, 1, "out of memory");
        return -1;
    }
    enum notes_result result = notes_read(fd, name, "eden", &file->notes, why->message, sizeof why->message);
    /* A broken file is told once and then left alone: the process can do without it, so can we. */
    if (result == NOTES_BAD && source->options.verbose) {
        fprintf(stderr, "edenscope: %s\n", why->message);
    }
    bool filled = result != NOTES_READ || fill_file(source, file, why);
    source->files++;
    return filled ? (int64_t)source->files - 1 : -1;
}

static void clear_file(struct file *file) {
    free(file->name);
    free(file->site);
    free(file->semaphore);
    notes_clear(&file->notes);
}

/* ---- attaching -------------------------------------------------------------------------------------------------- */

static bool is_attached(const struct observed *observed, uint32_t file) {
    for (size_t i = 0; i < observed->attachments; i++) {
        if (observed->file[i] == file) {
            return true;
        }
    }
    return false;
}

static bool attach(struct source *source, struct observed *observed, uint32_t number, int fd, struct failure *why) {
    const struct file *file = &source->file[number];
    if (file->sites == 0 || is_attached(observed, number)) {
        return true;
    }
    uint32_t *files = realloc(observed->file, (observed->attachments + 1) * sizeof *files);
    observed->file = files ? files : observed->file;
    struct attachment **attachments =
        realloc(observed->attachment, (observed->attachments + 1) * sizeof(struct attachment *));
    observed->attachment = attachments ? attachments : observed->attachment;
    uint64_t *cookie = calloc(file->sites, sizeof *cookie);
    if (!files || !attachments || !cookie) {
        free(cookie);
        return fail(why, 1, "out of memory");
    }
    uint32_t target = source->targets++;
    for (uint32_t i = 0; i < file->sites; i++) {
        cookie[i] = kernel_cookie(target, file->first_spec + i);
    }
    struct attachment_request request = {fd,     file->name, (int)observed->key.pid, file->site, file->semaphore,
                                         cookie, file->sites};
    struct attachment *attachment = kernel_attach(source->kernel, &request, why);
    free(cookie);
    if (!attachment) {
        return false;
    }
    observed->file[observed->attachments] = number;
    observed->attachment[observed->attachments++] = attachment;
    if (source->options.verbose) {
        fprintf(stderr, "edenscope: process %u: attached to %u probes of %s\n", observed->key.pid, file->sites,
                file->name);
    }
    return kernel_arm(source->kernel, target, why);
}

static struct observed *observe(struct source *source, int pid, bool late) {
    uint64_t start = target_start_ns(pid);
    struct observed *grown = realloc(source->observed, (source->observed_count + 1) * sizeof *grown);
    if (grown) {
        source->observed = grown;
    }
    if (!grown || start == 0) {
        return NULL;
    }
    struct observed *observed = &grown[source->observed_count++];
    *observed = (struct observed){.key = {.start_ns = start, .pid = (uint32_t)pid}, .late = late};
    target_command(pid, observed->command);
    return observed;
}

/* ---- heaps that were there before us ---------------------------------------------------------------------------- */

static struct late_heap *find_late(const struct observed *observed, uint64_t address, uint64_t id) {
    for (size_t i = 0; i < observed->late_heaps; i++) {
        struct late_heap *heap = &observed->late_heap[i];
        if (heap->first.address == address && (id == 0 || heap->first.id == id)) {
            return heap;
        }
    }
    return NULL;
}

static void add_late_heaps(struct observed *observed, uint32_t file, const struct heapinfo *list, int count) {
    struct late_heap *grown = realloc(observed->late_heap, (observed->late_heaps + (size_t)count) * sizeof *grown);
    if (!grown) {
        return;
    }
    observed->late_heap = grown;
    for (int i = 0; i < count; i++) {
        if (!find_late(observed, list[i].address, list[i].id)) {
            grown[observed->late_heaps++] = (struct late_heap){.first = list[i], .base = list[i], .file = file};
        }
    }
}

static void read_headers(struct source *source, struct observed *observed, uint32_t number,
                         const struct mapping *mapping) {
    const struct file *file = &source->file[number];
    uint64_t bias;
    if (source->options.no_headers || file->registry == 0 ||
        !notes_load_bias(&file->notes, mapping->offset, mapping->start, &bias)) {
        return;
    }
    struct heapinfo *list = calloc(MOST_LATE_HEAPS, sizeof *list);
    int count = list ? heapinfo_list((int)observed->key.pid, file->registry + bias, list, MOST_LATE_HEAPS) : 0;
    if (count < 0) {
        fprintf(stderr,
                "edenscope: process %u: its heaps' headers cannot be read (%s); figures are of what is seen from "
                "now on\n",
                observed->key.pid,
                errno == EPERM    ? "CAP_SYS_PTRACE is missing"
                : errno == EPROTO ? "another version of the runtime"
                                  : strerror(errno));
    } else if (count > 0) {
        add_late_heaps(observed, number, list, count);
    }
    free(list);
}

static const volatile struct heap_entry *find_entry(const struct source *source, const struct observed *observed,
                                                    uint64_t address) {
    uint32_t count;
    const volatile struct heap_entry *entry = kernel_heaps(source->kernel, &count);
    for (uint32_t i = 0; i < count; i++) {
        if ((entry[i].flags & (HEAP_USED | HEAP_CREATED)) == HEAP_USED && entry[i].key.address == address &&
            entry[i].key.process.pid == observed->key.pid && entry[i].key.process.start_ns == observed->key.start_ns) {
            return &entry[i];
        }
    }
    return NULL;
}

static bool read_checkpoint(const volatile struct heap_entry *entry, uint64_t seq, struct checkpoint *sums) {
    const volatile struct checkpoint *from = &entry->checkpoint[seq % KERNEL_CHECKPOINTS];
    if (seq == 0 || from->seq != seq) {
        return false;
    }
    *sums = *from;
    return from->seq == seq;
}

/* Reads the header of a heap again until it fits a checkpoint. */
static void settle(const struct source *source, const struct observed *observed, struct late_heap *heap) {
    const volatile struct heap_entry *entry = find_entry(source, observed, heap->first.address);
    for (int tries = 0; entry && !heap->settled && tries < 3; tries++) {
        struct heapinfo info;
        if (!heapinfo_read((int)observed->key.pid, heap->first.address, &info) || info.id != heap->first.id) {
            return;
        }
        if (read_checkpoint(entry, info.seq, &heap->sums)) {
            heap->base = info;
            heap->settled = true;
        }
    }
}

static void settle_all(struct source *source) {
    for (size_t i = 0; i < source->observed_count; i++) {
        struct observed *observed = &source->observed[i];
        for (size_t j = 0; !observed->ended && j < observed->late_heaps; j++) {
            if (!observed->late_heap[j].settled) {
                settle(source, observed, &observed->late_heap[j]);
            }
        }
    }
}

/* ---- following -------------------------------------------------------------------------------------------------- */

struct look {
    struct source *source;
    struct observed *observed;
    struct failure *why;
    uint64_t inode; /* of the file looked at last: a file is mapped in several parts */
    int files, refused;
    bool failed;
};

static bool look_at_mapping(void *context, const struct mapping *mapping) {
    struct look *look = context;
    if (!mapping->executable || mapping->inode == look->inode) {
        return true;
    }
    look->inode = mapping->inode;
    int fd = target_open_mapping((int)look->observed->key.pid, mapping);
    if (fd < 0) {
        look->refused += errno == EACCES || errno == EPERM;
        return true;
    }
    look->files++;
    int64_t number = add_file(look->source, fd, mapping->path, look->why);
    size_t before = look->observed->attachments;
    if (number < 0 || !attach(look->source, look->observed, (uint32_t)number, fd, look->why)) {
        look->failed = true;
    } else if (look->observed->attachments > before) {
        read_headers(look->source, look->observed, (uint32_t)number, mapping);
    }
    close(fd);
    return !look->failed;
}

/* Attaches to what the process has mapped and we are not attached to. */
static bool look_at_process(struct source *source, struct observed *observed, struct look *look) {
    struct failure ignored;
    *look = (struct look){.source = source, .observed = observed, .why = &ignored};
    return target_mappings((int)observed->key.pid, look_at_mapping, look) && !look->failed;
}

static void follow_child(void *context, int child) {
    struct source *source = context;
    uint64_t start = target_start_ns(child);
    for (size_t i = 0; i < source->observed_count; i++) {
        if (source->observed[i].key.pid == (uint32_t)child && source->observed[i].key.start_ns == start) {
            return;
        }
    }
    observe(source, child, true); /* followed in turn by the loop that called target_children */
}

static void follow(struct source *source) {
    for (size_t i = 0; i < source->observed_count; i++) {
        int pid = (int)source->observed[i].key.pid;
        if (source->observed[i].ended) {
            continue;
        }
        if (target_start_ns(pid) != source->observed[i].key.start_ns) {
            source->observed[i].ended = true;
            continue;
        }
        target_command(pid, source->observed[i].command);
        target_children(pid, follow_child, source); /* may move source->observed */
        struct look look;
        look_at_process(source, &source->observed[i], &look);
    }
    settle_all(source);
    source->followed_ns = now_ns();
}

/* ---- opening ---------------------------------------------------------------------------------------------------- */

static bool open_process(struct source *source, struct failure *why) {
    int pid = target_process_of(source->options.pid);
    struct observed *observed = pid > 0 ? observe(source, pid, true) : NULL;
    if (!observed) {
        return fail(why, 1, "there is no process %d", source->options.pid);
    }
    struct look look;
    struct failure first = {0};
    look = (struct look){.source = source, .observed = observed, .why = &first};
    bool read = target_mappings(pid, look_at_mapping, &look);
    if (look.failed) {
        *why = first;
        return false;
    }
    if (!read || (look.files == 0 && look.refused > 0)) {
        return fail(why, 2,
                    "process %d (%s) cannot be read: %s; being another user's, it needs CAP_SYS_PTRACE (run as root)",
                    pid, observed->command, strerror(errno ? errno : EACCES));
    }
    if (observed->attachments == 0) {
        return fail(why, 1,
                    "process %d (%s) does not use Eden: none of its %d mapped files has probes of provider eden", pid,
                    observed->command, look.files);
    }
    settle_all(source);
    return true;
}

static bool open_command(struct source *source, struct failure *why) {
    struct observed *observed = observe(source, source->launch.pid, false);
    if (!observed) {
        return fail(why, 1, "the command was killed before it started");
    }
    for (size_t i = 0; i < source->launch.files; i++) {
        int fd = open(source->launch.file[i], O_RDONLY | O_CLOEXEC);
        if (fd < 0) {
            continue;
        }
        int64_t number = add_file(source, fd, source->launch.file[i], why);
        bool attached = number >= 0 && attach(source, observed, (uint32_t)number, fd, why);
        close(fd);
        if (!attached) {
            return false;
        }
    }
    return true;
}

struct source *source_open(const struct source_options *options, struct failure *why) {
    struct source *source = calloc(1, sizeof *source);
    if (!source) {
        fail(why, 1, "out of memory");
        return NULL;
    }
    source->options = *options;
    source->exit_status = source->root_fd = -1;
    source->launch.go = source->launch.outcome = -1;
    if (options->command && !launch_prepare(&source->launch, options->command, why)) {
        source_close(source);
        return NULL;
    }
    uint64_t before = now_ns();
    source->kernel = kernel_open(options, why);
    if (!source->kernel || !(options->command ? open_command : open_process)(source, why)) {
        source_close(source);
        return NULL;
    }
    source->start_ns = now_ns();
    source->attach_ns = source->start_ns - before;
    source->root_fd = (int)syscall(SYS_pidfd_open, source->observed[0].key.pid, 0);
    return source;
}

bool source_start(struct source *source, struct failure *why) {
    source->started = true;
    source->start_ns = now_ns();
    if (!source->options.command) {
        return true;
    }
    if (!launch_go(&source->launch, source->options.command, why)) {
        return false;
    }
    target_command((int)source->observed[0].key.pid, source->observed[0].command);
    return true;
}

void source_close(struct source *source) {
    if (!source) {
        return;
    }
    for (size_t i = 0; i < source->observed_count; i++) {
        struct observed *observed = &source->observed[i];
        for (size_t j = 0; j < observed->attachments; j++) {
            attachment_close(observed->attachment[j]);
        }
        free(observed->attachment);
        free(observed->file);
        free(observed->late_heap);
    }
    free(source->observed);
    for (uint32_t i = 0; i < source->files; i++) {
        clear_file(&source->file[i]);
    }
    free(source->file);
    launch_clear(&source->launch);
    kernel_close(source->kernel);
    if (source->root_fd >= 0) {
        close(source->root_fd);
    }
    free(source);
}

/* ---- running ---------------------------------------------------------------------------------------------------- */

static void reap(struct source *source) {
    int status;
    if (!source->options.command || source->reaped ||
        waitpid((int)source->observed[0].key.pid, &status, WNOHANG) != (pid_t)source->observed[0].key.pid) {
        return;
    }
    source->reaped = true;
    source->exit_status = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

static bool root_has_ended(struct source *source) {
    reap(source);
    const struct process_key *key = &source->observed[0].key;
    return source->options.command ? source->reaped : target_start_ns((int)key->pid) != key->start_ns;
}

/* The first stop lets a command finish, as perf does: the terminal's ^C went to it as well. The second is for us. */
static bool must_stop(const struct source *source) { return source->stops > (source->options.command ? 1 : 0); }

bool source_poll(struct source *source, int timeout_ms, void (*on_event)(void *context, const struct event *event),
                 void *context) {
    if (source->finished) {
        return false;
    }
    struct pollfd fds[] = {{.fd = source->root_fd, .events = POLLIN},
                           {.fd = kernel_events_fd(source->kernel), .events = POLLIN}};
    if (source->root_fd < 0 && (timeout_ms < 0 || timeout_ms > 50)) {
        timeout_ms = 50; /* nothing tells the root's end */
    }
    bool ended = root_has_ended(source);
    if (!ended && !must_stop(source)) {
        poll(fds, 2, timeout_ms); /* a signal is as good an end of waiting as any */
        ended = root_has_ended(source);
    }
    uint64_t now = now_ns();
    uint64_t every = now - source->start_ns < SOON_NS ? FOLLOW_SOON_NS : FOLLOW_NS;
    if (!ended && now - source->followed_ns >= every) {
        follow(source);
    }
    bool done = ended || must_stop(source);
    /* What has ended fires no more: what is in the buffer now is all. */
    kernel_events(source->kernel, on_event, context);
    if (done) {
        source->finished = true;
        source->end_ns = now;
        source->observed[0].ended = ended;
    }
    return !done;
}

void source_stop(struct source *source) { source->stops++; }

int source_exit_status(const struct source *source) { return source->exit_status; }

uint64_t source_attach_ns(const struct source *source) { return source->attach_ns; }

/* ---- the model -------------------------------------------------------------------------------------------------- */

/* What tells a figure: all these probes, with at least so many arguments. */
struct evidence {
    uint8_t figure, probe, args;
};
static const struct evidence evidence[] = {
    {EDEN_FIGURE_scavenges, EDEN_PROBE_scavenge__done, 1},
    {EDEN_FIGURE_full_collections, EDEN_PROBE_full__done, 1},
    {EDEN_FIGURE_gc_ns, EDEN_PROBE_scavenge__done, 3},
    {EDEN_FIGURE_gc_ns, EDEN_PROBE_full__done, 3},
    {EDEN_FIGURE_scavenge_ns, EDEN_PROBE_scavenge__done, 3},
    {EDEN_FIGURE_full_ns, EDEN_PROBE_full__done, 3},
    {EDEN_FIGURE_mark_ns, EDEN_PROBE_mark__done, 3},
    {EDEN_FIGURE_sweep_ns, EDEN_PROBE_sweep__done, 3},
    {EDEN_FIGURE_compact_ns, EDEN_PROBE_compact__done, 3},
    {EDEN_FIGURE_max_pause_ns, EDEN_PROBE_scavenge__start, 3},
    {EDEN_FIGURE_max_pause_ns, EDEN_PROBE_scavenge__done, 3},
    {EDEN_FIGURE_max_pause_ns, EDEN_PROBE_full__done, 3},
    {EDEN_FIGURE_allocated_bytes, EDEN_PROBE_scavenge__start, 8},
    {EDEN_FIGURE_allocated_bytes, EDEN_PROBE_full__start, 7},
    {EDEN_FIGURE_allocated_bytes, EDEN_PROBE_heap__destroy, 3},
    {EDEN_FIGURE_survived_bytes, EDEN_PROBE_scavenge__done, 6},
    {EDEN_FIGURE_tenured_objects, EDEN_PROBE_scavenge__done, 7},
    {EDEN_FIGURE_tenured_objects, EDEN_PROBE_scavenge__start, 11},
    {EDEN_FIGURE_tenured_objects, EDEN_PROBE_full__start, 10},
    {EDEN_FIGURE_tenured_objects, EDEN_PROBE_heap__destroy, 6},
    {EDEN_FIGURE_tenured_bytes, EDEN_PROBE_scavenge__done, 6},
    {EDEN_FIGURE_freed_bytes, EDEN_PROBE_full__done, 9},
    {EDEN_FIGURE_remembered, EDEN_PROBE_scavenge__start, 9},
    {EDEN_FIGURE_remembered, EDEN_PROBE_full__start, 8},
    {EDEN_FIGURE_remembered, EDEN_PROBE_heap__destroy, 4},
    {EDEN_FIGURE_forgotten, EDEN_PROBE_scavenge__start, 10},
    {EDEN_FIGURE_forgotten, EDEN_PROBE_full__start, 9},
    {EDEN_FIGURE_forgotten, EDEN_PROBE_heap__destroy, 5},
    {EDEN_FIGURE_large_objects, EDEN_PROBE_alloc__large, 1},
    {EDEN_FIGURE_large_bytes, EDEN_PROBE_alloc__large, 4},
    {EDEN_FIGURE_segments_mapped, EDEN_PROBE_segment__map, 1},
    {EDEN_FIGURE_segments_unmapped, EDEN_PROBE_segment__unmap, 1},
    {EDEN_FIGURE_alloc_failures, EDEN_PROBE_alloc__failed, 1},
    {EDEN_FIGURE_eden_size, EDEN_PROBE_param__set, 3},
    {EDEN_FIGURE_survivor_used, EDEN_PROBE_scavenge__done, 4},
    {EDEN_FIGURE_old_used, EDEN_PROBE_scavenge__start, 7},
    {EDEN_FIGURE_old_used, EDEN_PROBE_scavenge__done, 6},
    {EDEN_FIGURE_old_used, EDEN_PROBE_full__done, 4},
    {EDEN_FIGURE_old_capacity, EDEN_PROBE_scavenge__done, 1},
    {EDEN_FIGURE_old_capacity, EDEN_PROBE_full__done, 5},
    {EDEN_FIGURE_old_capacity, EDEN_PROBE_segment__map, 4},
    {EDEN_FIGURE_old_capacity, EDEN_PROBE_segment__unmap, 4},
    {EDEN_FIGURE_remembered_now, EDEN_PROBE_scavenge__done, 5},
    {EDEN_FIGURE_remembered_now, EDEN_PROBE_full__done, 11},
};

/* `mourned` has no probe in this version of the list: a runtime without it has no ephemerons, so 0 is known. */
static uint64_t known_figures(const struct file *file) {
    uint64_t known = (1ull << EDEN_FIGURE_COUNT) - 1;
    for (size_t i = 0; i < sizeof evidence / sizeof *evidence; i++) {
        if (file->args[evidence[i].probe] < evidence[i].args) {
            known &= ~(1ull << evidence[i].figure);
        }
    }
    return known;
}

static uint64_t mask_of_kind(const char *kind) {
    static const char *const kinds[EDEN_FIGURE_COUNT] = {
#define EDEN_FIGURE(name, kind, unit, doc) #kind,
#include "eden_figures.def"
#undef EDEN_FIGURE
    };
    uint64_t mask = 0;
    for (int i = 0; i < EDEN_FIGURE_COUNT; i++) {
        mask |= strcmp(kinds[i], kind) == 0 ? 1ull << i : 0;
    }
    return mask;
}

static bool copy_phase(const struct source *source, const struct heap_entry *entry, enum eden_phase phase,
                       struct heap_model *heap) {
    const struct phase_sums *sums = &entry->phase[phase];
    struct phase_model *to = model_phase(heap, phase);
    if (!to) {
        return false;
    }
    to->calls = sums->calls;
    to->total_ns = sums->total_ns;
    to->max_ns = sums->max_ns;
    to->objects = sums->objects;
    to->bytes = sums->bytes;
    const volatile struct histogram *histogram =
        entry->histogram[phase] ? kernel_histogram(source->kernel, entry->histogram[phase] - 1) : NULL;
    for (uint32_t i = 0; histogram && i < HISTOGRAM_BUCKETS; i++) {
        to->buckets[i] = histogram->count[i];
    }
    return true;
}

/* Adds what a late heap's header knew to what was seen since. */
static void add_header(struct heap_model *heap, const struct heap_entry *entry, const struct late_heap *late) {
    uint64_t gauges = mask_of_kind("gauge"), maxima = mask_of_kind("max");
    for (int i = 0; i < EDEN_FIGURE_COUNT; i++) {
        uint64_t bit = 1ull << i;
        uint64_t base = late->base.figures[i], seen = entry ? entry->figures[i] : 0;
        if (!(late->base.known & bit)) {
            heap->known &= ~bit;
        }
        if (gauges & bit) {
            heap->figures[i] = entry && entry->gauges_set & bit ? seen : base;
        } else if (maxima & bit) {
            heap->figures[i] = seen > base ? seen : base;
            heap->before[i] = late->first.figures[i];
        } else {
            heap->figures[i] = base + seen - late->sums.figures[i];
            heap->before[i] = late->first.figures[i];
        }
    }
    for (int i = 0; i < EDEN_FULL_CAUSES; i++) {
        heap->full_by_cause[i] =
            late->base.full_by_cause[i] + (entry ? entry->full_by_cause[i] : 0) - late->sums.full_by_cause[i];
        heap->full_by_cause_before[i] = late->first.full_by_cause[i];
    }
    heap->id = late->first.id;
    memcpy(heap->name, late->first.name, sizeof heap->name);
}

static bool snapshot_entry(const struct source *source, struct process_model *process, const struct heap_entry *entry,
                           const struct observed *observed) {
    bool created = entry->flags & HEAP_CREATED;
    const struct late_heap *late = created ? NULL : find_late(observed, entry->key.address, entry->id);
    struct heap_model *heap = model_heap(process, entry->key.address, late ? late->first.id : entry->id);
    if (!heap) {
        return false;
    }
    uint32_t file = 0;
    while (file + 1 < source->files && entry->spec >= source->file[file].first_spec + source->file[file].sites) {
        file++;
    }
    heap->late = !created;
    heap->destroyed = entry->flags & HEAP_DESTROYED;
    heap->known = known_figures(&source->file[file]);
    memcpy(heap->name, entry->name, sizeof heap->name - 1);
    memcpy(heap->figures, entry->figures, sizeof heap->figures);
    memcpy(heap->full_by_cause, entry->full_by_cause, sizeof heap->full_by_cause);
    if (late) {
        add_header(heap, entry, late);
    } else if (created) {
        /* Gauges of a heap without collections are 0, but eden has a size from the first. */
        heap->known &= entry->gauges_set | ~(1ull << EDEN_FIGURE_eden_size);
    } else {
        heap->known &= entry->gauges_set | ~mask_of_kind("gauge");
    }
    for (int phase = 0; phase < EDEN_PHASE_COUNT; phase++) {
        if (entry->phase[phase].calls && !copy_phase(source, entry, phase, heap)) {
            return false;
        }
    }
    if (entry->command[0] && observed->command[0] == 0) {
        snprintf(process->command, sizeof process->command, "%.16s", entry->command);
    }
    return true;
}

/* Heaps known by their header alone: nothing has happened in them since. */
static bool snapshot_idle(const struct source *source, struct process_model *process, const struct observed *observed) {
    for (size_t i = 0; i < observed->late_heaps; i++) {
        const struct late_heap *late = &observed->late_heap[i];
        bool there = false;
        for (size_t j = 0; j < process->heap_count; j++) {
            there =
                there || (process->heaps[j].address == late->first.address && process->heaps[j].id == late->first.id);
        }
        struct heap_model *heap = there ? NULL : model_heap(process, late->first.address, late->first.id);
        if (heap) {
            heap->late = true;
            heap->known = known_figures(&source->file[late->file]);
            add_header(heap, NULL, late);
        } else if (!there) {
            return false;
        }
    }
    return true;
}

static bool snapshot_process(const struct source *source, struct model *model, const struct observed *observed) {
    if (observed->attachments == 0) {
        return true;
    }
    struct process_model *process = model_process(model, &observed->key);
    if (!process) {
        return false;
    }
    snprintf(process->command, sizeof process->command, "%s", observed->command);
    process->late = observed->late;
    process->ended = observed->ended;
    uint32_t count;
    const volatile struct heap_entry *entries = kernel_heaps(source->kernel, &count);
    for (uint32_t i = 0; i < count; i++) {
        if (!(entries[i].flags & HEAP_USED) || entries[i].key.process.pid != observed->key.pid ||
            entries[i].key.process.start_ns != observed->key.start_ns) {
            continue;
        }
        struct heap_entry entry = entries[i];
        if (!snapshot_entry(source, process, &entry, observed)) {
            return false;
        }
    }
    return snapshot_idle(source, process, observed);
}

bool source_snapshot(struct source *source, struct model *model, struct failure *why) {
    model_clear(model);
    settle_all(source);
    model->wall_ns = (source->finished ? source->end_ns : now_ns()) - source->start_ns;
    model->lost = kernel_lost(source->kernel);
    for (size_t i = 0; i < source->observed_count; i++) {
        if (!snapshot_process(source, model, &source->observed[i])) {
            return fail(why, 1, "out of memory");
        }
    }
    return true;
}
