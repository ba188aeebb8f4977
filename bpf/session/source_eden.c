/* The source for provider `eden`: whom it observes, what it attaches to, and how the kernel's sums become the model.
 *
 * 1. Purpose
 *     root process (-p or the command) -+- files with probes -- attachment (process, file) -> kernel program -> entries
 *     its children, from the kernel ----+                                                                        |
 *     headers of heaps that were alive at attach ------------------------------ totals up to a collection ----> model
 *
 * A heap whose heap__create was seen has its whole life in its entry. The figures of one that was alive at attach come
 * from its header and from later events (source_late.c).
 *
 * 2. Terms
 * Look: reading a process's mappings, and attaching to the files that are new among them. Round: ROUND_NS, in which
 * looks are made; between rounds intervals are printed and buffers drained.
 *
 * 3. Algorithm
 * A look that is not done when its round ends continues in another round, at the next mapping. The process whose turn
 * is next is the one that has waited longest, of the user after the last one: many processes of one user delay another
 * user's look by one look each, not by all of theirs. The pause after a look doubles up to LOOK_NS; a look that takes
 * longer is followed by LOOK_REST times as long without one.
 *
 * 4. Invariants
 * I1. The cost of reading a file is charged to a process that maps it.
 * I2. Each look compares the process's start time: a pid is used again.
 * I3. What an ended process held is given back, except perf events, which would take seconds.
 *
 * 5. Failure
 * A process ends during a look: any look may fail, and none is needed. A lost hit is counted and reported. */
#include "session/source_parts.h"
#include "util/array.h"
#include "util/clock.h"
#include "util/interrupt.h"
#include "util/sandbox.h"
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

/* How often a process's mappings are read: soon after its program has begun, then twice as long after each time. A look
 * that takes longer than LOOK_NS is followed by LOOK_REST times as long without one. */
enum { LOOK_FIRST_NS = 1000000, LOOK_YOUNG_NS = 20000000, LOOK_NS = 200000000, YOUNG_NS = 1000000000, LOOK_REST = 10 };

#define LOADED_NS 10000000u
#define SCAN_NS 5000000000u /* between looks for children, where the kernel reports them */
enum { SCAN_REST = 50 };

/* How often the mappings of a process are read that is selected, and how long those are looked at first, all together:
 * of files that are attached to it needs no look, for its hits are counted from its start. */
#define LOOK_SELECTED_NS 5000000000u
#define FIRST_LOOKS_NS 4000000000u

struct observed *source_observe(struct source *source, const struct process_key *key, const struct process_key *branch,
                                unsigned user, unsigned owner) {
    struct observed *observed =
        array_grow(&source->observed, &source->observed_room, source->observed_count, sizeof *observed);
    if (!observed) {
        return NULL;
    }
    source->observed_count++;
    *observed = (struct observed){.key = *key,
                                  .branch = *branch,
                                  .order = source->last_order++,
                                  .user = user,
                                  .owner = owner,
                                  .pidfd = -1,
                                  .target = {.memory = {-1, -1}, .maps = -1},
                                  .pause_ns = LOOK_FIRST_NS};
    source_open_pidfd(source, observed);
    return observed;
}

/* Those that came last are asked for most. */
struct observed *source_find(const struct source *source, const struct process_key *key) {
    for (size_t i = source->observed_count; i-- > 0;) {
        if (process_is_same(&source->observed[i].key, key)) {
            return &source->observed[i];
        }
    }
    return NULL;
}

/* Observes a process that was found by its id: a child of `parent`, or, where that is NULL, a root. */
static struct observed *observe(struct source *source, int pid, const struct observed *parent, bool late) {
    struct process_key key = {.start_ns = inspect_start(source->inspect, pid), .pid = (uint32_t)pid};
    bool is_branch = !parent || parent->is_root;
    struct process_key branch = is_branch ? key : parent->branch;
    struct observed *observed =
        key.start_ns ? source_observe(source, &key, &branch, target_user(pid), inspect_owner(source->inspect, pid))
                     : NULL;
    if (observed) {
        kernel_observe(source->kernel, &key, parent ? &branch : NULL);
        observed->is_root = !parent;
        observed->late = late;
        target_command(pid, observed->command);
    }
    return observed;
}

/* ---- following -------------------------------------------------------------------------------------------------- */

struct look {
    struct source *source;
    struct observed *observed;
    struct failure *why;
    uint64_t device, inode; /* of the file looked at last: a file is mapped in several parts */
    int files, refused;     /* refused: files that nobody knows the probes of */
    int refusal;            /* errno of the last one */
    uint64_t end_ns;        /* when it is cut short, to go on at the next one; 0: not at all */
    bool failed;
    bool is_gone;      /* what was mapped, with its process or by an exec: that it cannot be opened says nothing */
    bool is_unchanged; /* the mappings, since the last look */
    bool goes_on;      /* where the last look was cut short */
    bool is_cut;
};

static void look_at_file(struct look *look, const struct mapping *mapping, const struct regular *file,
                         bool can_have_probes) {
    look->files++;
    int64_t number = source_add_file(look->source, look->observed, source_budget(look->observed), file, mapping->path,
                                     can_have_probes, look->why);
    size_t before = look->observed->attachments;
    uint64_t registry;
    if (number < 0 || !source_attach(look->source, look->observed, (uint32_t)number, file, look->why)) {
        look->failed = true;
    } else if (look->observed->attachments > before) {
        source_read_headers(look->source, look->observed, (uint32_t)number, mapping);
        look->failed = !source_check_profiles(look->source, look->observed, look->why);
        if (look->failed) {
            return;
        }
        source_ask_heaps(look->source, look->observed);
        look->failed = !source_attach_batches(look->source, look->observed, (uint32_t)number, file, look->why);
    } else {
        source_find_registry(look->source, look->observed, (uint32_t)number, mapping, &registry);
    }
}

/* The next files that are mapped, at most INSPECT_FILES, from *next on, which goes on. */
static size_t take_mappings(struct look *look, const struct mappings *mappings, size_t *next, struct mapping *taken) {
    size_t count = 0;
    for (; *next < mappings->count && count < INSPECT_FILES; ++*next) {
        const struct mapping *mapping = &mappings->at[*next];
        if (mapping->inode != look->inode || mapping->device != look->device) {
            look->device = mapping->device;
            look->inode = mapping->inode;
            taken[count++] = *mapping;
        }
    }
    return count;
}

/* What does not lie in the file or the process: the next look tries again. */
static void fail_for_now(struct look *look, const char *path, int error) {
    if ((error == EMFILE || error == ENFILE) && !look->failed) {
        look->failed = true;
        failure_set(look->why, 1, "%.300s: %s (raise ulimit -n)", path, strerror(error));
    }
}

/* Whether the process has ended, or executed another program, since its mappings were read. */
static bool has_gone(const struct look *look) {
    struct mappings mappings;
    bool is_read = inspect_mappings(look->source->inspect, &look->observed->target, &mappings);
    int error = errno;
    free(mappings.at);
    return !is_read && (error == ESTALE || error == ESRCH);
}

static void look_at_files(struct look *look, const struct mapping *mapping, size_t count) {
    struct regular file[INSPECT_FILES];
    int error[INSPECT_FILES];
    bool can_have_probes[INSPECT_FILES];
    if (!inspect_open_mappings(look->source->inspect, &look->observed->target, mapping, count, file, error)) {
        fail_for_now(look, mapping->path, errno);
        return;
    }
    source_find_probes(look->source, look->observed, file, count, can_have_probes);
    for (size_t i = 0; i < count; i++) {
        bool is_lost = error[i] == ENOENT || error[i] == ESRCH;
        look->is_gone = look->is_gone || (is_lost && has_gone(look));
        if (inspect_may_have_probes(error[i]) && !(is_lost && look->is_gone)) {
            look->refused++;
            look->refusal = error[i];
        }
        fail_for_now(look, mapping[i].path, error[i]);
        if (file[i].fd >= 0 && !look->failed) {
            look_at_file(look, &mapping[i], &file[i], can_have_probes[i]);
        }
        regular_close(&file[i]);
    }
}

/* False with errno: the mappings cannot be read. A kernel thread, or a process that is ending, has none. */
static bool look_at_mappings(struct look *look) {
    struct mappings mappings;
    if (!source_map(look->source, look->observed, &mappings)) {
        int error = errno;
        fail_for_now(look, look->observed->command, error);
        source_let_go(look->source, look->observed);
        errno = error;
        return error == ESTALE;
    }
    uint64_t fingerprint = source_fingerprint(&mappings);
    look->is_unchanged = fingerprint == look->observed->mapped;
    look->goes_on = fingerprint == look->observed->cut_mapped;
    size_t next = look->goes_on ? look->observed->cut_next : 0;
    while (!look->is_unchanged && next < mappings.count && !look->failed && !look->is_cut) {
        struct mapping taken[INSPECT_FILES];
        size_t count = take_mappings(look, &mappings, &next, taken);
        if (count != 0) {
            look_at_files(look, taken, count);
        }
        look->is_cut = look->end_ns != 0 && next < mappings.count && now_ns() >= look->end_ns;
    }
    look->observed->mapped = look->failed || look->is_cut ? 0 : fingerprint;
    look->observed->cut_mapped = look->is_cut && !look->failed ? fingerprint : 0;
    look->observed->cut_next = next;
    source_let_go(look->source, look->observed);
    free(mappings.at);
    errno = 0;
    return true;
}

/* Whether the loader has mapped all libraries: it does not compute for that long before it maps the next. Wall time
 * would say nothing: the process may wait for a CPU. */
static bool is_loaded(const struct observed *observed, const struct look *look) {
    return look->is_unchanged && target_cpu_ns((int)observed->key.pid) >= observed->mapped_cpu_ns + LOADED_NS;
}

/* Attaches to the mapped files that are not attached yet. A failure is reported once per process; the other files are
 * still observed. A process that has ended meanwhile is no failure. */
void source_look(struct source *source, struct observed *observed, uint64_t end_ns) {
    struct failure why = {0};
    struct look look = {.source = source, .observed = observed, .why = &why, .end_ns = end_ns};
    look_at_mappings(&look);
    if (!look.is_unchanged) {
        observed->has_all = look.files > 0 && look.refused == 0 && !look.failed && !look.is_gone &&
                            (observed->has_all || !look.goes_on);
        observed->mapped_cpu_ns = target_cpu_ns((int)observed->key.pid);
    }
    bool has_all = observed->has_all && !look.is_cut;
    bool is_whole = has_all && (!observed->is_partial || is_loaded(observed, &look));
    observed->inspected =
        look.refused == 0 &&
        (observed->inspected || (has_all && (observed->attachments > 0 || (is_whole && !observed->expects_probes))));
    if (look.failed && why.message[0] && !observed->is_reported && !source_is_gone(observed)) {
        observed->is_reported = true;
        message_few(&source->message[MESSAGE_UNOBSERVED], "process %u is not observed in full: %s", observed->key.pid,
                    why.message);
    }
}

/* Gives back what a process that has ended held: of a program that starts many, all would be held to the end. By perf
 * events it would take seconds, in which nobody drains the ring buffer. */
static void detach_all(struct source *source, struct observed *observed) {
    for (size_t i = 0; kernel_uses_multi(source->kernel) && i < observed->attachments; i++) {
        source_detach(source, &observed->attached[i]);
    }
    kernel_detach(source->kernel);
}

void source_end(struct source *source, struct observed *observed, uint64_t ended_ns) {
    if (!observed->ended) {
        observed->ended = true;
        observed->ended_ns = ended_ns;
        detach_all(source, observed);
        source_release(observed);
        source_close_pidfd(observed);
        kernel_forget(source->kernel, &observed->key);
        source_count_missed(source, observed);
    }
}

/* A search for children. */
struct following {
    struct source *source;
    struct process_key parent;
    size_t skip;     /* the first ones, which have been looked at before */
    size_t seen;     /* so far */
    uint64_t end_ns; /* when it is cut short */
};

static bool is_followed(const struct source *source, int child) {
    for (size_t i = source->observed_count; i-- > 0;) {
        const struct observed *known = &source->observed[i];
        if (known->key.pid == (uint32_t)child && !known->ended && !source_is_gone(known)) {
            return true;
        }
    }
    return false;
}

/* While it attaches, nobody counts stops yet. */
static bool has_to_stop(const struct source *source) { return !source->started && interrupt_count() > 0; }

/* Followed in turn by the loop that called target_children. Those that are skipped take no time; of the others it
 * looks at one, at least. */
static bool follow_child(void *context, int child) {
    struct following *following = context;
    struct source *source = following->source;
    if (following->seen++ < following->skip) {
        return true;
    }
    struct process_key key = {.pid = (uint32_t)child};
    key.start_ns = is_followed(source, child) ? 0 : inspect_start(source->inspect, child);
    if (key.start_ns != 0 && !source_find(source, &key)) {
        observe(source, child, source_find(source, &following->parent), true);
    }
    return now_ns() < following->end_ns && !has_to_stop(source);
}

/* Children without a notice are those that were there before, and those whose notice was lost. Looking for them reads a
 * file a thread, so it takes at most a fiftieth of the time. What is not done when the round ends continues at the
 * process's next turn, after as many children as were seen; if some of these have ended, the next search finds who was
 * left out. */
bool source_look_for_children(struct source *source, size_t index, uint64_t end_ns) {
    struct observed *observed = &source->observed[index];
    uint64_t begin = now_ns();
    uint64_t lost = kernel_lost_kind(source->kernel, LOST_CHILDREN) + kernel_lost_kind(source->kernel, LOST_NOTICES);
    if (observed->scan_next == 0 && begin < observed->scan_ns && lost == observed->scan_lost) {
        return true;
    }
    observed->scan_lost = observed->scan_next == 0 ? lost : observed->scan_lost;
    struct following following = {
        .source = source, .parent = observed->key, .skip = observed->scan_next, .end_ns = end_ns};
    bool is_done = target_children((int)observed->key.pid, follow_child, &following); /* may move source->observed */
    uint64_t end = now_ns(), pause = kernel_follows(source->kernel) ? SCAN_NS : 0;
    observed = &source->observed[index];
    observed->scan_spent_ns += end - begin;
    observed->scan_next = is_done ? 0 : following.seen;
    if (is_done) {
        uint64_t rest = observed->scan_spent_ns * SCAN_REST;
        observed->scan_ns = end + (rest > pause ? rest : pause);
        observed->scan_spent_ns = 0;
    }
    return is_done;
}

/* A candidate that has mapped a file with probes is observed, and so are those that it will fork. One that has not is
 * forgotten: when it uses Eden after all, its first hit says so. */
static void review_candidate(const struct source *source, struct observed *observed, bool is_grown) {
    if (observed->is_candidate && observed->attachments > 0) {
        observed->is_candidate = false;
        kernel_observe(source->kernel, &observed->key, &observed->branch);
    }
    if (observed->is_candidate && is_grown && observed->cut_mapped == 0) {
        source_release(observed);
        source_close_pidfd(observed);
        observed->ended = observed->empty = true;
    }
}

static void look_again(struct source *source, struct observed *observed, uint64_t round_end_ns) {
    uint64_t begin = now_ns();
    source_look(source, observed, round_end_ns);
    uint64_t end = now_ns(), since = observed->image_ns ? observed->image_ns : source->start_ns;
    uint64_t most = end - since < YOUNG_NS ? LOOK_YOUNG_NS : source_selects(source) ? LOOK_SELECTED_NS : LOOK_NS;
    observed->pause_ns = observed->pause_ns * 2 < most ? observed->pause_ns * 2 : most;
    uint64_t pause = end - begin > LOOK_NS       ? (end - begin) * LOOK_REST
                     : observed->cut_mapped != 0 ? 0
                                                 : observed->pause_ns;
    observed->look_ns = end + pause;
    review_candidate(source, observed, end - since >= YOUNG_NS);
}

static void take_turn(struct source *source, size_t index, uint64_t round_end_ns) {
    struct observed *observed = &source->observed[index];
    unsigned user = target_user((int)observed->key.pid);
    uint32_t owner = inspect_owner(source->inspect, (int)observed->key.pid);
    char command[sizeof observed->command];
    target_command((int)observed->key.pid, command);
    if (source_is_gone(observed)) { /* perhaps since just now: what was read may be nobody's */
        /* All of them, so that what is forgotten here does not come back by its notice. */
        bool has_all = source_take_notices(source, round_end_ns);
        observed = &source->observed[index];
        observed->look_ns = now_ns() + LOOK_YOUNG_NS;
        if (has_all) {
            source_end(source, observed, now_ns());
        }
        return;
    }
    source->last_owner = observed->owner;
    if (command[0]) { /* without a pidfd its end is not seen */
        observed->user = user;
        observed->owner = owner == INSPECT_UNKNOWN_OWNER ? observed->owner : owner;
        source->last_owner = observed->owner;
        memcpy(observed->command, command, sizeof command);
    }
    bool has_all = source_selects(source) || source_look_for_children(source, index, round_end_ns);
    look_again(source, &source->observed[index], round_end_ns);
    observed = &source->observed[index];
    observed->look_ns = has_all ? observed->look_ns : now_ns();
}

struct observed *source_next_turn(const struct source *source, uint64_t now) {
    struct observed *next = NULL;
    for (size_t i = 0; i < source->observed_count; i++) {
        struct observed *observed = &source->observed[i];
        if (observed->ended || observed->look_ns > now) {
            continue;
        }
        /* Unsigned: the users after the last one come before those up to it. */
        unsigned turn = observed->owner - source->last_owner - 1,
                 before = next ? next->owner - source->last_owner - 1 : 0;
        if (!next || turn < before || (turn == before && observed->look_ns < next->look_ns)) {
            next = observed;
        }
    }
    return next;
}

/* A round: looks at those processes whose time has come, until it has taken its time. */
static void follow(struct source *source) {
    uint64_t begin = now_ns(), now = begin;
    struct observed *next;
    while (now - begin < ROUND_NS && (next = source_next_turn(source, begin))) {
        take_turn(source, (size_t)(next - source->observed), begin + ROUND_NS);
        now = now_ns();
    }
    bool is_young = !kernel_follows(source->kernel) && now - source->start_ns < YOUNG_NS;
    if (now - source->followed_ns >= (is_young ? LOOK_YOUNG_NS : LOOK_NS)) {
        source_reconcile(source, begin + ROUND_NS);
        source->followed_ns = now;
        source_forget_empty(source);
    }
}

/* Milliseconds until a process is to be looked at, at most timeout_ms. */
static int until_look(const struct source *source, int timeout_ms) {
    uint64_t now = now_ns(), next = timeout_ms < 0 ? UINT64_MAX : now + (uint64_t)timeout_ms * 1000000;
    for (size_t i = 0; i < source->observed_count; i++) {
        const struct observed *observed = &source->observed[i];
        next = !observed->ended && observed->look_ns < next ? observed->look_ns : next;
    }
    return next == UINT64_MAX ? -1 : next <= now ? 0 : (int)((next - now + 999999) / 1000000);
}

/* ---- descendants, for a message ---------------------------------------------------------------------------------- */

static bool has_probes(struct source *source, struct observed *observed) {
    struct mappings mappings;
    struct failure why;
    struct look look = {0};
    bool found = false;
    if (!source_map(source, observed, &mappings)) {
        return false;
    }
    for (size_t next = 0; next < mappings.count && !found;) {
        struct mapping taken[INSPECT_FILES];
        struct regular file[INSPECT_FILES];
        int error[INSPECT_FILES];
        bool can_have_probes[INSPECT_FILES];
        size_t count = take_mappings(&look, &mappings, &next, taken);
        if (count == 0 || !inspect_open_mappings(source->inspect, &observed->target, taken, count, file, error)) {
            break;
        }
        source_find_probes(source, observed, file, count, can_have_probes);
        for (size_t i = 0; i < count; i++) {
            int64_t number =
                file[i].fd >= 0 && can_have_probes[i] && !found
                    ? source_add_file(source, observed, source_budget(observed), &file[i], taken[i].path, true, &why)
                    : -1;
            found = found || (number >= 0 && source->file[number].sites[KERNEL_ON_PROBE] != 0);
            regular_close(&file[i]);
        }
    }
    source_let_go(source, observed);
    free(mappings.at);
    return found;
}

/* Names a descendant of the root that uses Eden. "": none of the first ones does. */
static void name_descendant(struct source *source, size_t root, char *text, size_t size) {
    enum { MOST = 64 };
    const uint64_t end_ns = now_ns() + 1000000000u;
    size_t children = 0;
    text[0] = 0;
    for (size_t i = root; i < source->observed_count && i < root + MOST && now_ns() < end_ns && interrupt_count() == 0;
         i++) {
        struct following following = {.source = source, .parent = source->observed[i].key, .end_ns = end_ns};
        target_children((int)following.parent.pid, follow_child, &following);
        children = i == root ? source->observed_count - 1 : children;
        struct observed *observed = &source->observed[i];
        if (i != root && has_probes(source, observed)) {
            snprintf(text, size, "; its %s %u (%s) does: -p %u", i <= children ? "child" : "descendant",
                     observed->key.pid, observed->command, observed->key.pid);
            return;
        }
    }
}

/* ---- opening ---------------------------------------------------------------------------------------------------- */

static bool open_process(struct source *source, int id, struct failure *why) {
    int pid = target_process_of(id);
    struct observed *observed = pid > 0 ? observe(source, pid, NULL, true) : NULL;
    if (!observed) {
        return failure_set(why, 1, pid > 0 ? "process %d has ended" : "process %d does not exist", id);
    }
    errno = 0;
    struct look look;
    struct failure first = {0};
    look = (struct look){.source = source, .observed = observed, .why = &first};
    bool read = look_at_mappings(&look);
    if (look.failed) {
        *why = first;
        return false;
    }
    bool is_one = look.refused == 1;
    if (read && look.refused > 0 && look.files > 0 && observed->attachments == 0) {
        return failure_set(why, 1,
                           "process %d (%s): whether it uses Eden is unknown, because %d of its mapped files %s%s", pid,
                           observed->command, look.refused,
                           look.refusal != ENOTSUP ? "cannot be opened: "
                           : is_one                ? "is on FUSE"
                                                   : "are on FUSE",
                           look.refusal == ENOTSUP ? "" : strerror(look.refusal));
    }
    if (!read && errno == EAGAIN) {
        return failure_set(why, 1, "process %d (%s) cannot be read: its threads end too fast", pid, observed->command);
    }
    if (!read || (look.files == 0 && look.refused > 0)) {
        return failure_set(
            why, 2, "process %d (%s) cannot be read: %s; %s", pid, observed->command, strerror(errno ? errno : EACCES),
            kernel_may_read_others()
                ? "the system protects it even from root (a security module or a container?)"
                : "it belongs to another user, which needs CAP_SYS_PTRACE and CAP_DAC_OVERRIDE (run as root)");
    }
    if (look.files == 0) {
        return failure_set(why, 1, "process %d (%s) runs no program: it is a kernel thread, or has just ended", pid,
                           observed->command);
    }
    if (observed->attachments == 0) {
        char descendant[128];
        const size_t number = (size_t)(observed - source->observed);
        name_descendant(source, number, descendant, sizeof descendant); /* may move source->observed */
        observed = &source->observed[number];
        static const char hint[] = "to observe children that end soon, start it with edenscope: -- PROGRAM";
        return descendant[0]
                   ? failure_set(why, 1, "process %d (%s) does not use Eden%s; %s", pid, observed->command, descendant,
                                 hint)
                   : failure_set(why, 1,
                                 "process %d (%s) does not use Eden: none of its %d readable mapped files has probes "
                                 "of provider eden; %s",
                                 pid, observed->command, look.files, hint);
    }
    return true;
}

static bool open_processes(struct source *source, struct failure *why) {
    if (!kernel_follow(source->kernel, why)) {
        return false;
    }
    for (size_t i = 0; i < source->options.pids; i++) {
        if (!open_process(source, source->options.pid[i], why)) {
            return false;
        }
    }
    source_reconcile(source, now_ns() + ROUND_NS);
    return true;
}

/* ---- selecting --------------------------------------------------------------------------------------------------- */

static bool has_selected_name(const struct selection *selection, int pid) {
    char command[64];
    bool found = false;
    target_command(pid, command);
    for (size_t i = 0; i < selection->names && !found; i++) {
        found = strncmp(command, selection->name[i], KERNEL_NAME - 1) == 0;
    }
    return found;
}

/* Of every process: so it asks for no more than whether it has memory. */
static void add_candidate(void *context, int pid) {
    struct source *source = context;
    const struct selection *selection = &source->options.selection;
    struct process_key key = {.pid = (uint32_t)pid};
    if (pid == getpid() || target_is_kernel_thread(pid) ||
        (selection->kind == SELECT_NAMES && !has_selected_name(selection, pid))) {
        return;
    }
    key.start_ns = inspect_start(source->inspect, pid);
    struct observed *observed =
        key.start_ns ? source_observe(source, &key, &key, target_user(pid), inspect_owner(source->inspect, pid)) : NULL;
    if (observed) {
        observed->is_candidate = observed->late = observed->inspected = true;
        target_command(pid, observed->command);
    }
}

/* Looks at the processes that are there, as far as there is time; the others have their turns later. */
static bool open_selection(struct source *source, struct failure *why) {
    if (!kernel_follows(source->kernel)) {
        return failure_set(why, 2,
                           "this kernel does not report new processes (it needs BTF and raw tracepoints): give "
                           "each process by -p");
    }
    if (!kernel_follow(source->kernel, why)) {
        return false;
    }
    const struct selection *selection = &source->options.selection;
    if (selection->kind == SELECT_CGROUP) {
        target_processes_of_cgroup(selection->cgroup, add_candidate, source);
    } else {
        target_processes(add_candidate, source);
    }
    const uint64_t end_ns = now_ns() + FIRST_LOOKS_NS, begin = now_ns();
    struct observed *next;
    while (now_ns() < end_ns && interrupt_count() == 0 && (next = source_next_turn(source, begin))) {
        take_turn(source, (size_t)(next - source->observed), now_ns() + ROUND_NS);
    }
    source_forget_empty(source);
    source_reconcile(source, now_ns() + ROUND_NS);
    return true;
}

static bool open_command(struct source *source, struct failure *why) {
    struct observed *observed =
        kernel_follow(source->kernel, why) ? observe(source, source->launch.pid, NULL, false) : NULL;
    if (!observed && !why->message[0]) {
        return failure_set(why, 1, "%.300s: was killed before it started", source->options.command[0]);
    }
    if (!observed) {
        return false;
    }
    size_t own = launch_find_files(&source->launch, source->options.command, &source->libraries);
    for (size_t i = 0; i < source->libraries.count && interrupt_count() == 0; i++) {
        const struct library *file = &source->libraries.file[i];
        int64_t number = source_add_file(source, observed, i < own ? NULL : &source->libraries.budget, &file->file,
                                         file->path, true, why);
        bool attached = number >= 0 && source_attach(source, observed, (uint32_t)number, &file->file, why) &&
                        source_attach_batches(source, observed, (uint32_t)number, &file->file, why);
        if (!attached && i < own) {
            return false;
        }
        if (!attached && number >= 0 && (source->file[number].misses || source->file[number].by_process)) {
            message_print("%s", why->message);
        }
    }
    libraries_empty(&source->libraries);
    return true;
}

/* Attaching takes a descriptor a process, or a probe where there are no uprobe_multi links. The command has been forked
 * with the limit that it is to have. */
static void allow_files(struct source *source) {
    enum { ENOUGH_FILES = 65536, MOST_OWN = 512 };
    struct rlimit limit;
    source->most_descriptors = ENOUGH_FILES;
    if (getrlimit(RLIMIT_NOFILE, &limit) != 0) {
        return;
    }
    rlim_t most = limit.rlim_max < ENOUGH_FILES ? limit.rlim_max : ENOUGH_FILES;
    if (limit.rlim_cur < most) {
        limit.rlim_cur = most;
        setrlimit(RLIMIT_NOFILE, &limit);
    }
    rlim_t own = limit.rlim_cur / 2 < MOST_OWN ? limit.rlim_cur / 2 : MOST_OWN;
    source->most_descriptors = limit.rlim_cur - own < INT_MAX ? (uint32_t)(limit.rlim_cur - own) : INT_MAX;
}

static bool prepare_command(struct source *source, struct failure *why) {
    char assignment[64];
    const struct source_options *options = &source->options;
    snprintf(assignment, sizeof assignment, "EDEN_SAMPLING=%#" PRIx64, options->control);
    return launch_prepare(&source->launch, options->command, options->lifetimes ? assignment : NULL, why);
}

static struct kernel_side *open_kernel(const struct source_options *options, struct inspect *inspect,
                                       struct failure *why) {
    const struct kernel_options kernel = {.events = options->events,
                                          .objects = options->objects != OBJECTS_NONE,
                                          .lifetimes = options->lifetimes,
                                          .records = options->on_batch != NULL,
                                          .stacks = options->stacks != NULL,
                                          .headers = !options->no_headers,
                                          .pauses = !source_is_for_lifetimes(options),
                                          .by_descent = options->command || options->selection.kind != SELECT_NONE,
                                          .selection = options->selection,
                                          .timed = options->timed,
                                          .verbose = options->verbose};
    return kernel_open(&kernel, inspect, why);
}

struct source *source_open(const struct source_options *options, struct failure *why) {
    struct source *source = calloc(1, sizeof *source);
    if (!source) {
        failure_set(why, 1, "out of memory");
        return NULL;
    }
    source->options = *options;
    struct timespec now;
    clock_gettime(CLOCK_BOOTTIME, &now);
    source->open_ns = (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
    source->exit_status = source->root_fd = -1;
    source->launch.go = source->launch.outcome = -1;
    source->inspect = inspect_open(options->lifetimes ? options->control : options->collects ? SOURCE_COLLECT : 0, why);
    if (!source->inspect) {
        source_close(source);
        return NULL;
    }
    if (options->command && !prepare_command(source, why)) {
        source_close(source);
        return NULL;
    }
    uint64_t before = now_ns();
    libraries_open(&source->libraries, source->inspect);
    allow_files(source);
    source->kernel = open_kernel(options, source->inspect, why);
    bool is_open = source->kernel && (options->command         ? open_command
                                      : source_selects(source) ? open_selection
                                                               : open_processes)(source, why);
    if (interrupt_count() > 0) {
        is_open = failure_set(why, 128 + interrupt_last(), "interrupted while attaching: nothing was observed%s",
                              options->command ? ", and the program was not started" : "");
    }
    if (!is_open) {
        source_close(source);
        return NULL;
    }
    source->start_ns = now_ns();
    source->attach_ns = source->start_ns - before;
    source->roots = options->command ? 1 : options->pids;
    source->root_fd = source->roots == 1 ? (int)syscall(SYS_pidfd_open, source->observed[0].key.pid, 0) : -1;
    return source;
}

static bool can_use_maps(const void *context) { return kernel_can_use_maps(context); }

bool source_give_up_rights(struct source *source, int folder, struct failure *why) {
    const struct sandbox sandbox = {.profile = SANDBOX_OBSERVER,
                                    .folder = {folder},
                                    .folders = folder >= 0,
                                    .can_use_maps = can_use_maps,
                                    .context = source->kernel};
    if (!kernel_uses_multi(source->kernel) || target_are_hidden()) {
        return true;
    }
    tzset(); /* reads a file */
    return sandbox_enter(&sandbox, why);
}

static void report_start(const struct source *source) {
    if (!source->options.until_interrupt || !message_is_on_terminal()) {
        return;
    }
    if (source->roots == 1) {
        message_print("observing process %u; Ctrl-C ends and reports", source->observed[0].key.pid);
    } else {
        message_print("observing %zu processes%s; Ctrl-C ends and reports", source->observed_count,
                      source_selects(source) ? ", and those that start" : "");
    }
}

bool source_start(struct source *source, struct failure *why) {
    source->started = true;
    source->start_ns = now_ns();
    kernel_observe_since(source->kernel, source->start_ns);
    for (size_t i = 0; !source->options.command && i < source->roots; i++) {
        const struct observed *root = &source->observed[i];
        if (target_is_stopped((int)root->key.pid)) {
            message_print("process %u (%s) is stopped (state T): nothing happens in it until it is continued",
                          root->key.pid, root->command);
        }
    }
    if (!source->options.command) {
        report_start(source);
        return true;
    }
    if (!launch_go(&source->launch, source->options.command, why)) {
        return false;
    }
    target_command((int)source->observed[0].key.pid, source->observed[0].command);
    return true;
}

static void report_more(const struct source *source) {
    static const char *const kinds[MESSAGES] = {
        [MESSAGE_UNOBSERVED] = "processes are not observed in full",
        [MESSAGE_UNREAD] = "processes whose memory or files take too long to read",
        [MESSAGE_HEADERS] = "times the headers of a process's heaps cannot be read",
        [MESSAGE_UNNAMED] = "processes have unreadable class names",
        [MESSAGE_PROBES] = "times probes of a file are skipped"};
    for (enum source_message kind = 0; kind < MESSAGES; kind++) {
        message_more(&source->message[kind], kinds[kind]);
    }
}

void source_close(struct source *source) {
    if (!source) {
        return;
    }
    report_more(source);
    if (source->kernel) {
        kernel_detach_by(source->kernel, now_ns() + CLOSE_NS);
    }
    for (size_t i = 0; i < source->observed_count; i++) {
        struct observed *observed = &source->observed[i];
        for (size_t j = 0; j < observed->attachments; j++) {
            source_detach(source, &observed->attached[j]);
        }
        free(observed->attached);
    }
    for (uint32_t i = 0; i < source->files; i++) {
        kernel_let_go(source->kernel, source->file[i].requested);
        kernel_let_go(source->kernel, source->file[i].attachment);
    }
    if (source->kernel) {
        kernel_detach(source->kernel);
    }
    source_close_lifetimes(source);
    for (size_t i = 0; i < source->observed_count; i++) {
        source_release(&source->observed[i]);
        source_close_pidfd(&source->observed[i]);
        free(source->observed[i].late_heap);
    }
    free(source->observed);
    source_clear_ended(source);
    for (uint32_t i = 0; i < source->files; i++) {
        source_clear_file(&source->file[i]);
    }
    free(source->file);
    free(source->free_target);
    free(source->slow);
    source_clear_children(&source->children);
    libraries_clear(&source->libraries);
    launch_clear(&source->launch);
    kernel_close(source->kernel);
    inspect_close(source->inspect);
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
    bool all = source->roots != 0;
    for (size_t i = 0; i < source->roots && all && !source->options.command; i++) {
        all = source_is_gone(&source->observed[i]);
    }
    return source->options.command ? source->reaped : all;
}

/* The first stop lets a command finish, as perf does: the terminal's ^C went to it as well. The second is for us. */
static bool must_stop(struct source *source) {
    int enough = source->options.command ? 2 : 1;
    return source->stops >= enough &&
           (!source->options.lifetimes || source_end_lifetimes(source, source->stops > enough));
}

/* Takes what is in the buffers, until end_ns. False: not all that was there. */
static bool take_records(struct source *source, uint64_t end_ns,
                         void (*on_event)(void *context, const struct event *event), void *context) {
    bool has_all = !source->options.lifetimes || source_follow_lifetimes(source, end_ns);
    if (source_is_for_lifetimes(&source->options)) {
        return source_take_names(source, end_ns) && has_all;
    }
    if (source->options.events && on_event) {
        /* Classes take half of the round, so that events, which may be lost, have theirs. */
        uint64_t now = now_ns();
        has_all =
            source_report_late(source, now < end_ns ? now + (end_ns - now) / 2 : now, on_event, context) && has_all;
    }
    return source_events(source, end_ns, on_event, context) && has_all;
}

/* Whether what is left in the buffers at the end is given up: a stop waits no longer for it. */
static bool has_waited(const struct source *source) {
    int enough = source->options.command ? 2 : 1;
    return source->stops > enough || (source->stops == enough && now_ns() - source->done_ns >= ENDING_NS);
}

static void finish(struct source *source, bool ended) {
    source->finished = true;
    source->end_ns = ended ? 0 : source->done_ns;
    for (size_t i = 0; i < source->roots; i++) {
        struct observed *root = &source->observed[i];
        if (ended) {
            source_end(source, root, source->done_ns); /* unless the kernel's notice has said when */
        }
        root->ended_ns = root->ended_ns ? root->ended_ns : source->done_ns;
        root->ended = ended || (root->ended && source->roots > 1);
        source->end_ns = root->ended_ns > source->end_ns ? root->ended_ns : source->end_ns;
        if (ended && !source->options.command) {
            message_print("process %u (%s) has ended", root->key.pid, root->command);
        }
    }
    source->end_ns = source->end_ns > source->start_ns ? source->end_ns : source->start_ns; /* it ended meanwhile */
}

bool source_poll(struct source *source, int timeout_ms, void (*on_event)(void *context, const struct event *event),
                 void *context) {
    if (source->finished) {
        return false;
    }
    struct pollfd fds[] = {{.fd = source->root_fd, .events = POLLIN},
                           {.fd = kernel_events_fd(source->kernel), .events = POLLIN},
                           {.fd = kernel_chunks_fd(source->kernel), .events = POLLIN},
                           {.fd = kernel_notices_fd(source->kernel), .events = POLLIN},
                           {.fd = source->options.wake_fd ? source->options.wake_fd : -1, .events = POLLIN}};
    if (source->root_fd < 0 && (timeout_ms < 0 || timeout_ms > 50)) {
        timeout_ms = 50; /* nothing reports the root's end */
    }
    bool ended = root_has_ended(source);
    if (!ended && !must_stop(source)) {
        timeout_ms = source->life.ending_ns && timeout_ms > 10 ? 10 : timeout_ms;
        timeout_ms = source->is_behind ? 0 : timeout_ms;
        poll(fds, sizeof fds / sizeof *fds,
             until_look(source, timeout_ms)); /* a signal is as good an end of waiting as any */
        ended = root_has_ended(source);
    }
    bool has_notices = source_take_notices(source, now_ns() + ROUND_NS);
    if (!ended) {
        follow(source);
    }
    bool done = ended || must_stop(source);
    if (done && source->done_ns == 0) {
        source->done_ns = now_ns();
        kernel_end(source->kernel); /* what has ended fires no more: what is in the buffers now is all */
        has_notices = source_take_notices(source, now_ns() + ROUND_NS);
    }
    source_ready_ended(source);
    bool has_records = take_records(source, now_ns() + ROUND_NS, on_event, context);
    source->is_behind = !has_notices || !has_records;
    if (has_records) {
        source_close_ended(source);
    }
    if (!done) {
        return true;
    }
    if (source->is_behind && !has_waited(source)) {
        return true;
    }
    if (source->is_behind) {
        kernel_lose_rest(source->kernel);
        source_lose_classes(source);
    }
    finish(source, ended);
    return false;
}

void source_stop(struct source *source) { source->stops++; }

bool source_programs_ns(const struct source *source, uint64_t *ns) { return kernel_programs_ns(source->kernel, ns); }

int source_exit_status(const struct source *source) { return source->exit_status; }

uint64_t source_began_ns(const struct source *source) { return source->start_ns; }

uint64_t source_attach_ns(const struct source *source) { return source->attach_ns; }
