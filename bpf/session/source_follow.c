/* The source for provider `eden`: the processes that it observes, and the looks at them.
 *
 * 1. Purpose
 *     root process (-p or the command) -+- looks: mappings -- files with probes --> attachment (process, file)
 *     its children, from the kernel ----+                                           headers of late heaps
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
 * A process ends during a look: any look may fail, and none is needed. */
#include "session/source_parts.h"
#include "util/array.h"
#include "util/clock.h"
#include "util/interrupt.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* How often a process's mappings are read: soon after its program has begun, then twice as long after each time. A look
 * that takes longer than LOOK_NS is followed by LOOK_REST times as long without one. */
enum { LOOK_FIRST_NS = 1000000, LOOK_YOUNG_NS = 20000000, LOOK_NS = 200000000, YOUNG_NS = 1000000000, LOOK_REST = 10 };

#define LOADED_NS 10000000u
#define SCAN_NS 5000000000u /* between looks for children, where the kernel reports them */
enum { SCAN_REST = 50 };

/* How often the mappings of a selected process are read: what of its files is attached to for every process needs no
 * look, for its hits are counted from its start. */
#define LOOK_SELECTED_NS 5000000000u

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
    source_is_looked_at(source, key->pid);
    if (source->options.units && (!target_unit((int)key->pid, observed->unit) || source_is_gone(observed))) {
        observed->unit[0] = 0;
    }
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

struct observed *source_observe_found(struct source *source, int pid, const struct observed *parent, bool late) {
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

static void look_at_file(struct look *look, const struct mapping *mapping, const struct regular *file,
                         bool can_have_probes) {
    look->files++;
    int64_t number = source_add_file(look->source, look->observed, source_budget(look->observed), file, mapping->path,
                                     can_have_probes, look->why);
    size_t before = look->observed->attachments;
    uint64_t registry;
    if (number >= 0 && look->source->file[number].is_malformed) {
        look->refused++;
        look->refusal = ENOEXEC;
    }
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

bool source_look_at_mappings(struct look *look) {
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
    source_look_at_mappings(&look);
    if (!look.is_unchanged) {
        observed->has_all = look.files > 0 && look.refused == 0 && !look.failed && !look.is_gone &&
                            (observed->has_all || !look.goes_on);
        observed->mapped_cpu_ns = target_cpu_ns((int)observed->key.pid);
    }
    bool has_all = observed->has_all && !look.is_cut;
    bool is_whole = has_all && (!observed->is_partial || is_loaded(observed, &look));
    if (look.refused != 0) {
        observed->inspected_ns = 0;
    } else if (observed->inspected_ns == 0 &&
               (observed->attachments > 0 ? has_all : is_whole && !observed->expects_probes)) {
        observed->inspected_ns = now_ns();
    }
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

bool source_is_followed(const struct source *source, int pid) {
    for (size_t i = source->observed_count; i-- > 0;) {
        const struct observed *known = &source->observed[i];
        if (known->key.pid == (uint32_t)pid && !known->ended && !source_is_gone(known)) {
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
    key.start_ns = source_is_followed(source, child) ? 0 : inspect_start(source->inspect, child);
    if (key.start_ns != 0 && !source_find(source, &key)) {
        source_observe_found(source, child, source_find(source, &following->parent), true);
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
    /* One that ended during the look is counted at its next turn. */
    if (observed->is_candidate && is_grown && observed->cut_mapped == 0 && !source_is_gone(observed)) {
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

void source_take_turn(struct source *source, size_t index, uint64_t round_end_ns) {
    struct observed *observed = &source->observed[index];
    unsigned user = target_user((int)observed->key.pid);
    uint32_t owner = inspect_owner_at_once(source->inspect, (int)observed->key.pid);
    char command[sizeof observed->command], unit[sizeof observed->unit] = "";
    target_command((int)observed->key.pid, command);
    const bool has_unit = source->options.units && target_unit((int)observed->key.pid, unit);
    source->last_owner = observed->owner; /* also where all of the round goes to notices */
    if (source_is_gone(observed)) {       /* perhaps since just now: what was read may be nobody's */
        /* All of them, so that what is forgotten here does not come back by its notice. */
        bool has_all = source_take_notices(source, round_end_ns);
        observed = &source->observed[index];
        observed->look_ns = now_ns() + LOOK_YOUNG_NS;
        if (has_all) {
            source_end(source, observed, now_ns());
        }
        return;
    }
    if (command[0]) { /* without a pidfd its end is not seen */
        observed->user = user;
        observed->owner = owner == INSPECT_UNKNOWN_OWNER ? observed->owner : owner;
        source->last_owner = observed->owner;
        memcpy(observed->command, command, sizeof command);
        if (has_unit && unit[0]) { /* a process that ends may be shown in the outermost group */
            memcpy(observed->unit, unit, sizeof unit);
        }
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

void source_follow(struct source *source) {
    source_select_again(source);
    uint64_t begin = now_ns(), now = begin;
    struct observed *next;
    while (now - begin < ROUND_NS && (next = source_next_turn(source, begin))) {
        source_take_turn(source, (size_t)(next - source->observed), begin + ROUND_NS);
        now = now_ns();
    }
    bool is_young = !kernel_follows(source->kernel) && now - source->start_ns < YOUNG_NS;
    if (now - source->followed_ns >= (is_young ? LOOK_YOUNG_NS : LOOK_NS)) {
        source_reconcile(source, begin + ROUND_NS);
        source->followed_ns = now;
        source_forget_empty(source);
    }
}

int source_until_look(const struct source *source, int timeout_ms) {
    uint64_t now = now_ns(), next = timeout_ms < 0 ? UINT64_MAX : now + (uint64_t)timeout_ms * 1000000;
    next = source->selecting && source_select_due(source) < next ? source_select_due(source) : next;
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

void source_name_descendant(struct source *source, size_t root, char *text, size_t size) {
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
