/* The source for provider `eden`: which processes of the machine it observes, where they are not given one by one.
 *
 * 1. Purpose
 *     processes that are there ---------------------------+
 *     files that are executed, and first hits (kernel) ---+-> candidates -- looks (source_follow.c) --> observed
 *     processes that have loaded a library since ---------+
 *
 * 2. Terms
 * Candidate: a process that may use Eden. It is observed once a look finds a file with probes, and forgotten if the
 * looks of its first second find none. Mark: what the size of a process's code, and its name, parent and user come to.
 *
 * 3. Algorithm
 * A file that is attached to needs no look any more: its hits report each process. A library that was never seen is
 * found in a process that has loaded it: again and again, all processes of /proc are read for their marks. One whose
 * mark is not known, or has changed, becomes a candidate. A scan goes on in steps of STEP_NS, each followed by a
 * rest of SCAN_REST times the processor time that it took: so it takes a hundredth of one, and no longer on a busy
 * machine, where steps wait.
 *
 * 4. Invariants
 * I1. A step is short, whatever the processes are: of each user at most AT_ONCE processes become candidates in a step.
 *     The others keep their old mark, and their turn in the next scan.
 * I2. A mark is read before the look: what is loaded later changes it.
 * I3. Reading a mark waits for nobody, but takes long if the process has many groups. Marks of selected processes only
 *     are read, and after a read of T not again for MARK_REST times T.
 * I4. A process that delays its exec delays the answer to when it started. An owner whose processes have made the tool
 *     wait too long (util/waits.h) has no more candidates for a while; the others' are found as before.
 *
 * 5. Failure
 * A library that takes the place of one with as much code is not noticed. */
#include "session/source_parts.h"
#include "util/array.h"
#include "util/clock.h"
#include "util/interrupt.h"
#include "util/lookup.h"
#include "util/waits.h"
#include <ctype.h>
#include <dirent.h>
#include <mntent.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define STEP_NS 2000000u
#define SCAN_NS 1000000000u /* the least time from the end of a scan to the next */
enum { SCAN_REST = 100, MARK_REST = 1000, AT_ONCE = 2, USERS = 64 };
#define ASK_NS 1000000u /* for an answer that nobody delays */

/* How long groups are looked for, and then selected processes looked at, before observing starts, all together. */
#define FIRST_LOOKS_NS 4000000000u
#define FIRST_MARKS_NS 1000000000u

struct marked {
    uint32_t pid, scan;    /* scan: the last one that has found it */
    uint64_t mark, due_ns; /* due_ns: when the mark may be read again */
    bool is_refused;       /* it was to be a candidate, and its start is not known (I4) */
};

struct selecting {
    char group[PATH_MAX]; /* as target_cgroup() has it; "": none, or it has no such path */
    DIR *processes;       /* NULL: no scan has begun; where the one under way goes on */
    uint64_t due_ns;
    uint64_t first_end_ns; /* marks are read until then, before observing starts */
    uint32_t scan;         /* which one is under way, or comes next: from 1 */
    struct marked *marked; /* owned */
    size_t count, room;
    struct lookup by_pid;
    struct waits waits;
    size_t refused; /* I4: of those that have ended */
};

/* ---- candidates -------------------------------------------------------------------------------------------------- */

static bool has_selected_name(const struct selection *selection, int pid) {
    char command[64];
    bool found = false;
    target_command(pid, command);
    for (size_t i = 0; i < selection->names && !found; i++) {
        found = strncmp(command, selection->name[i], KERNEL_NAME - 1) == 0;
    }
    return found;
}

/* An answer that a payer may delay. */
struct question {
    uint32_t payer;
    uint64_t begin, queue;
};

/* False: the payer has cost too much (I4). */
static bool may_ask(struct source *source, uint32_t payer, struct question *question) {
    *question = (struct question){payer, now_ns(), inspect_queue_ns(source->inspect)};
    return waits_allow(&source->selecting->waits, payer, question->begin);
}

static void charge(struct source *source, const struct question *question) {
    const uint64_t took = now_ns() - question->begin;
    if (took > ASK_NS) {
        waits_charge(&source->selecting->waits, question->payer,
                     waits_cost(took - ASK_NS, question->queue, inspect_queue_ns(source->inspect)));
    }
}

/* When a process has started, and whose it is, where that can't be known at once: I4. 0: not known. */
static uint64_t find_start(struct source *source, int pid, uint32_t *owner) {
    struct question question;
    uint64_t start_ns = 0;
    const uint32_t payer = *owner = inspect_owner_at_once(source->inspect, pid);
    if (payer == INSPECT_UNKNOWN_OWNER && may_ask(source, payer, &question)) {
        *owner = inspect_owner(source->inspect, pid);
        charge(source, &question);
    }
    /* One that has delayed the first answer delays the second, too. */
    if (*owner != INSPECT_UNKNOWN_OWNER && may_ask(source, payer, &question)) {
        start_ns = inspect_start(source->inspect, pid);
        charge(source, &question);
    }
    return start_ns;
}

enum answer { ANSWERED, REFUSED, OVER }; /* refused: its start is not known; over: it has ended */

/* Of every process: so it asks for no more than whether it has memory. One that is refused is to be tried again later.
 */
static enum answer add_candidate(struct source *source, int pid) {
    const struct selection *selection = &source->options.selection;
    struct process_key key = {.pid = (uint32_t)pid};
    if (pid == getpid() || target_is_kernel_thread(pid) ||
        (selection->kind == SELECT_NAMES && !has_selected_name(selection, pid))) {
        return ANSWERED;
    }
    uint32_t owner;
    key.start_ns = find_start(source, pid, &owner);
    struct observed *observed = key.start_ns ? source_observe(source, &key, &key, target_user(pid), owner) : NULL;
    if (observed) {
        observed->is_candidate = observed->late = true;
        observed->inspected_ns = now_ns();
        target_command(pid, observed->command);
    }
    return key.start_ns != 0 ? ANSWERED : target_is_over(pid) ? OVER : REFUSED;
}

/* ---- again and again --------------------------------------------------------------------------------------------- */

static bool is_marked(const void *array, size_t place, const void *key) {
    const struct marked *marked = array;
    return marked[place].pid == *(const uint32_t *)key;
}

/* NULL: it is not known yet. */
static struct marked *find_mark(const struct selecting *selecting, uint32_t pid) {
    uint32_t place = lookup_find(&selecting->by_pid, lookup_hash_number(pid), is_marked, selecting->marked, &pid);
    return place != LOOKUP_NONE ? &selecting->marked[place] : NULL;
}

/* NULL: no memory. */
static struct marked *mark_of(struct selecting *selecting, uint32_t pid) {
    struct marked *marked = find_mark(selecting, pid);
    if (marked) {
        return marked;
    }
    marked = array_grow(&selecting->marked, &selecting->room, selecting->count, sizeof *marked);
    if (!marked || !lookup_add(&selecting->by_pid, lookup_hash_number(pid), selecting->count)) {
        return NULL;
    }
    *marked = (struct marked){.pid = pid};
    selecting->count++;
    return marked;
}

void source_is_looked_at(struct source *source, uint32_t pid) {
    struct marked *marked = source->selecting ? find_mark(source->selecting, pid) : NULL;
    if (marked) {
        marked->is_refused = false;
    }
}

/* Those that the last scan has not found have ended. */
static void forget_ended(struct selecting *selecting) {
    size_t kept = 0;
    lookup_empty(&selecting->by_pid);
    for (size_t i = 0; i < selecting->count; i++) {
        const struct marked marked = selecting->marked[i];
        if (marked.scan == selecting->scan && lookup_add(&selecting->by_pid, lookup_hash_number(marked.pid), kept)) {
            selecting->marked[kept++] = marked;
        } else {
            selecting->refused += marked.is_refused;
        }
    }
    selecting->count = kept;
}

static bool is_in_group(const struct selecting *selecting, int pid) {
    char path[PATH_MAX];
    const size_t length = strlen(selecting->group);
    return length != 0 && target_cgroup(pid, path, sizeof path) && strncmp(path, selecting->group, length) == 0 &&
           (path[length] == 0 || path[length] == '/');
}

/* How many of each user have become candidates in a step. */
struct step {
    unsigned user[USERS], count[USERS];
    size_t users;
};

/* Where to count one more; NULL: the user has no more in this step. */
static unsigned *place_of(struct step *step, unsigned user) {
    size_t i = 0;
    while (i < step->users && step->user[i] != user) {
        i++;
    }
    if (i == USERS) {
        return NULL;
    }
    step->user[i] = user;
    step->users += i == step->users;
    return step->count[i] < AT_ONCE ? &step->count[i] : NULL;
}

static bool is_selected(const struct source *source, int pid) {
    const struct selection *selection = &source->options.selection;
    return selection->kind == SELECT_NAMES    ? has_selected_name(selection, pid)
           : selection->kind == SELECT_CGROUP ? is_in_group(source->selecting, pid)
                                              : true;
}

static struct target_code read_mark(int pid, uint64_t *due_ns) {
    const uint64_t begin = now_ns();
    const struct target_code code = target_code(pid);
    const uint64_t end = now_ns();
    *due_ns = end + (end - begin) * MARK_REST;
    return code;
}

static void examine(struct source *source, struct step *step, int pid) {
    struct selecting *selecting = source->selecting;
    struct marked *marked = find_mark(selecting, (uint32_t)pid);
    uint64_t due_ns;
    if (marked) { /* it is still there, selected or not */
        marked->scan = selecting->scan;
    }
    if ((marked && now_ns() < marked->due_ns) || !is_selected(source, pid)) {
        return;
    }
    const struct target_code code = read_mark(pid, &due_ns);
    marked = code.mark ? mark_of(selecting, (uint32_t)pid) : NULL;
    if (!marked) {
        return;
    }
    marked->scan = selecting->scan;
    marked->due_ns = due_ns;
    bool is_known = marked->mark == code.mark || source_is_followed(source, pid); /* which is looked at anyway */
    unsigned *place = is_known ? NULL : place_of(step, code.user);                /* I1 */
    if (place) {
        const enum answer answer = add_candidate(source, pid);
        if (answer == OVER) { /* one that was refused stays so */
            return;
        }
        is_known = answer == ANSWERED;
        *place += is_known; /* one that is refused leaves its place to others of the user */
    }
    marked->is_refused = !is_known && (place || marked->is_refused);
    marked->mark = is_known ? code.mark : marked->mark;
}

void source_select_again(struct source *source) {
    struct selecting *selecting = source->selecting;
    const uint64_t begin = now_ns();
    if (!selecting || begin < selecting->due_ns) {
        return;
    }
    struct step step = {.users = 0};
    struct dirent *entry = NULL;
    const uint64_t cpu_before_ns = clock_ns(CLOCK_THREAD_CPUTIME_ID);
    selecting->processes = selecting->processes ? selecting->processes : opendir("/proc");
    while (selecting->processes && now_ns() - begin < STEP_NS && (entry = readdir(selecting->processes))) {
        char *end;
        long pid = isdigit((unsigned char)entry->d_name[0]) ? strtol(entry->d_name, &end, 10) : 0;
        if (pid > 0 && *end == 0) {
            examine(source, &step, (int)pid);
        }
    }
    const uint64_t now = now_ns(), rest = (clock_ns(CLOCK_THREAD_CPUTIME_ID) - cpu_before_ns) * SCAN_REST;
    selecting->due_ns = now + (entry || rest > SCAN_NS ? rest : SCAN_NS);
    if (!entry) { /* this scan is over */
        forget_ended(selecting);
        selecting->scan++;
        if (selecting->processes) {
            rewinddir(selecting->processes);
        }
    }
}

uint64_t source_select_due(const struct source *source) { return source->selecting->due_ns; }

void source_close_selection(struct source *source) {
    struct selecting *selecting = source->selecting;
    if (selecting) {
        if (selecting->processes) {
            closedir(selecting->processes);
        }
        lookup_clear(&selecting->by_pid);
        free(selecting->marked);
        waits_clear(&selecting->waits);
        free(selecting);
    }
}

/* The control group by the path that /proc/PID/cgroup has for it: what is below the mount. */
static void name_group(struct selecting *selecting, int folder) {
    char link[64], path[PATH_MAX];
    snprintf(link, sizeof link, "/proc/self/fd/%d", folder);
    ssize_t length = readlink(link, path, sizeof path - 1);
    FILE *mounts = setmntent("/proc/self/mounts", "re");
    const struct mntent *mount;
    while (length > 0 && mounts && selecting->group[0] == 0 && (mount = getmntent(mounts))) {
        path[length] = 0;
        const size_t root = strlen(mount->mnt_dir);
        if (strcmp(mount->mnt_type, "cgroup2") == 0 && strncmp(path, mount->mnt_dir, root) == 0 && path[root] == '/') {
            snprintf(selecting->group, sizeof selecting->group, "%s", path + root);
        }
    }
    if (mounts) {
        endmntent(mounts);
    }
}

static void add_first(void *context, int pid) {
    struct source *source = context;
    struct selecting *selecting = source->selecting;
    struct target_code code = {.mark = 0};
    uint64_t due_ns = 0;
    if (interrupt_count() != 0) {
        return;
    }
    if (now_ns() < selecting->first_end_ns && is_selected(source, pid)) {
        code = read_mark(pid, &due_ns); /* I2 */
    }
    /* Without its mark, a scan looks at it again. */
    const enum answer answer = add_candidate(source, pid);
    const bool is_known = answer == ANSWERED, is_refused = answer == REFUSED;
    struct marked *marked = (is_known && code.mark) || is_refused ? mark_of(selecting, (uint32_t)pid) : NULL;
    if (marked) {
        *marked = (struct marked){.pid = (uint32_t)pid,
                                  .scan = selecting->scan,
                                  .mark = is_known ? code.mark : 0,
                                  .due_ns = due_ns,
                                  .is_refused = is_refused};
    }
}

/* Looks at the processes that are there, as far as there is time; the others have their turns later. */
bool source_open_selection(struct source *source, struct failure *why) {
    if (!kernel_follows(source->kernel)) {
        return failure_set(why, 2,
                           "this kernel does not report new processes (it needs BTF and raw tracepoints): give "
                           "each process by -p");
    }
    if (!kernel_follow(source->kernel, why)) {
        return false;
    }
    source->selecting = calloc(1, sizeof *source->selecting);
    if (!source->selecting) {
        return failure_set(why, 1, "out of memory");
    }
    source->selecting->scan = 1;
    source->selecting->due_ns = now_ns() + SCAN_NS;
    source->selecting->first_end_ns = now_ns() + FIRST_MARKS_NS;
    const struct selection *selection = &source->options.selection;
    if (selection->kind == SELECT_CGROUP) {
        name_group(source->selecting, selection->cgroup);
        target_processes_of_cgroup(selection->cgroup, now_ns() + FIRST_LOOKS_NS, add_first, source);
    } else {
        target_processes(add_first, source);
    }
    const uint64_t end_ns = now_ns() + FIRST_LOOKS_NS, begin = now_ns();
    struct observed *next;
    while (now_ns() < end_ns && interrupt_count() == 0 && (next = source_next_turn(source, begin))) {
        source_take_turn(source, (size_t)(next - source->observed), now_ns() + ROUND_NS);
    }
    source_forget_empty(source);
    source_reconcile(source, now_ns() + ROUND_NS);
    return true;
}

/* Asks nothing of the processes: a stranger may have very many of them. */
size_t source_refused(const struct source *source) {
    const struct selecting *selecting = source->selecting;
    size_t refused = selecting ? selecting->refused : 0;
    for (size_t i = 0; selecting && i < selecting->count; i++) {
        refused += selecting->marked[i].is_refused;
    }
    return refused;
}

void source_report_refused(const struct source *source) {
    const size_t refused = source_refused(source);
    if (refused != 0) {
        message_print("%zu process%s not looked at: %s or others of %s made the tool wait too long", refused,
                      refused == 1 ? " was" : "es were", refused == 1 ? "it" : "they",
                      refused == 1 ? "its user" : "their users");
    }
}

/* A name may be mistyped, and its processes may all have ended; a control group, or the machine, may well be idle. */
int source_report_unseen(const struct selection *selection, bool has_heap) {
    if (selection->kind != SELECT_NAMES || has_heap) {
        return 0;
    }
    message_print("no process named %s%s was observed; `edenscope list` shows those that use Eden now",
                  selection->name[0], selection->names > 1 ? ", nor of another -n," : "");
    return 1;
}
