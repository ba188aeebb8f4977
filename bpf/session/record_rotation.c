/* A recording without an end, in one file after the other.
 *
 * 1. Terms
 * Turn: one file, and the process that writes it. Supervisor: this process, which starts and ends turns, and observes
 * nothing itself.
 *
 * 2. Algorithm
 * A turn is a child process that runs record_run(), as for processes that run already. When its period is over, the
 * next turn starts; once that one observes, it writes to a pipe, and the supervisor ends the turn before by SIGINT. So
 * what happens while the turns change is in both files, and no moment is in none. A stop waits for a turn that is
 * about to observe; a second one does not.
 * A file's name is NAME.YYYYMMDDTHHMMSSZ, by the time in UTC at which its turn started. Six random digits follow where
 * a file of that name is, or one beside it; and in a folder to which others may write, for whoever knows the next name
 * can take it first.
 *
 * With conditions, a file goes away once the one after it has ended, and no condition has held in either: so what led
 * up to an event is in the file that has it, or in the one before. Those that stay are named at the end.
 *
 * 3. Invariants
 * I1. Only files of such names are removed that are the caller's recordings, and that no recorder writes.
 * I2. No turn takes the place of a file.
 * I3. No turn outlives the supervisor: if that is killed, the kernel ends the turn as Ctrl-C does.
 *
 * 4. Failure
 * A turn that fails ends the run, with its status. But one that fails before it observes is tried again after at most
 * AGAIN_SECONDS, while the one before continues; and where the next one observes already, as when a file was removed
 * meanwhile, the run continues, and has this status at its end. A turn that has reached --max-size is followed by the
 * next at once.
 *
 * 5. Cost
 * Attaching once a period: 0.2 s, in which each probe is observed twice. */
#include "session/record_rotation.h"
#include "attach/target.h"
#include "recording/recording.h"
#include "recording/recording_sql.h"
#include "util/array.h"
#include "util/clock.h"
#include "util/format.h"
#include "util/interrupt.h"
#include "util/message.h"
#include "util/place.h"
#include "util/whole.h"
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/pidfd.h>
#include <sys/prctl.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* How a file's name ends, and what may follow that. */
enum { STAMP = sizeof ".20000101T000000Z" - 1, DIGITS = 6, TAIL = 1 + DIGITS };
enum { NAMES_TRIED = 4, WAIT_MS = 250, AGAIN_SECONDS = 10 };

/* Exit statuses of a turn: its file has reached --max-size; a condition has held in it; both. Others are record_run's.
 */
enum { FULL = 128 + 100, HELD, FULL_HELD };

struct turn {
    pid_t pid; /* 0: none */
    int pidfd, begun;
    bool has_begun;
    bool is_relieved;    /* it ends, for the next one has begun */
    char path[PATH_MAX]; /* of its file */
};

struct supervisor {
    const struct record_request *request;
    const struct rotation *rotation;
    struct turn now, next;
    char first[PATH_MAX]; /* the first turn's file */
    bool is_shared;       /* others may write to the folder */
    /* The file before that of `now`, if it goes unless a condition holds in the next; "": none. */
    char before[PATH_MAX];
    char early[PATH_MAX]; /* that of `next`, which has ended before `now`; "": it has not */
    bool early_has_held;
    int status;        /* of the first turn that failed */
    uint64_t due, end; /* when the next turn starts, and the last one ends: counted from when the first observes */
    bool is_over;      /* no turn starts any more */
};

/* ---- files that go ---------------------------------------------------------------------------------------------- */

struct kept {
    char name[NAME_MAX + 1];
    struct timespec written;
    uint64_t bytes;
    bool is_live;
};

struct folder {
    const struct place *place; /* of the last turn's file */
    struct kept *kept;
    size_t count, room;
};

/* The length of NAME, for such a name of a file; SIZE_MAX: it is none. */
static size_t length_before_stamp(const char *name) {
    static const char stamp[] = ".00000000T000000Z";
    size_t length = strlen(name);
    if (length > TAIL && name[length - TAIL] == '.' && strspn(name + length - DIGITS, "0123456789abcdef") == DIGITS) {
        length -= TAIL;
    }
    if (length <= STAMP) {
        return SIZE_MAX;
    }
    for (size_t i = 0; i < STAMP; i++) {
        const char letter = name[length - STAMP + i];
        if (stamp[i] == '0' ? letter < '0' || letter > '9' : letter != stamp[i]) {
            return SIZE_MAX;
        }
    }
    return length - STAMP;
}

/* The names of this recording's files differ in what follows NAME only. */
static bool is_of_rotation(const void *context, const char *name) {
    const struct place *place = context;
    const size_t length = length_before_stamp(place->name);
    return length != SIZE_MAX && length_before_stamp(name) == length && strncmp(name, place->name, length) == 0;
}

static void add_kept(void *context, const char *name, int file) {
    struct folder *folder = context;
    struct file_look look = file_look(file);
    struct stat status;
    if (look.kind != FILE_RECORDING || look.owner != geteuid() || fstat(file, &status) != 0) {
        return;
    }
    struct kept *kept = array_grow(&folder->kept, &folder->room, folder->count, sizeof *kept);
    if (kept) {
        *kept = (struct kept){
            .written = status.st_mtim, .bytes = (uint64_t)status.st_blocks * 512, .is_live = look.is_live};
        snprintf(kept->name, sizeof kept->name, "%s", name);
        folder->count++;
    }
}

/* Not by name: others may put files there, and so decide which names are free. */
static int by_time(const void *one, const void *other) {
    const struct timespec a = ((const struct kept *)one)->written, b = ((const struct kept *)other)->written;
    return a.tv_sec != b.tv_sec ? (a.tv_sec > b.tv_sec) - (a.tv_sec < b.tv_sec)
                                : (a.tv_nsec > b.tv_nsec) - (a.tv_nsec < b.tv_nsec);
}

static void remove_recording(const struct place *place, const char *name) {
    char journal[NAME_MAX + 1];
    struct stat status;
    if (unlinkat(place->folder, name, 0) == 0 && file_beside(journal, name, "-journal") &&
        fstatat(place->folder, journal, &status, AT_SYMLINK_NOFOLLOW) == 0 && S_ISREG(status.st_mode) &&
        status.st_uid == geteuid()) {
        unlinkat(place->folder, journal, 0); /* of a recorder that was killed: it is worth nothing by itself */
    }
}

static bool is_this(const void *context, const char *name) {
    const struct place *place = context;
    return strcmp(place->name, name) == 0;
}

/* A turn has ended, and its file is whole. */
static void keep_or_remove(struct supervisor *supervisor, const char *path, bool has_held) {
    struct place place;
    if (supervisor->rotation->condition_count == 0) {
        return;
    }
    if (!has_held && supervisor->before[0] != 0 && place_open(&place, supervisor->before)) {
        struct folder folder = {.place = &place};
        place_each_file(&place, is_this, false, add_kept, &folder); /* I1 */
        if (folder.count == 1 && !folder.kept->is_live) {
            remove_recording(&place, place.name);
        }
        free(folder.kept);
        place_close(&place);
    }
    snprintf(supervisor->before, sizeof supervisor->before, "%s", has_held ? "" : path);
}

static int by_name(const void *one, const void *other) {
    const struct kept *a = one, *b = other;
    return strcmp(a->name, b->name);
}

/* Which files stay: those of earlier runs have earlier times. */
static void report_kept(const struct supervisor *supervisor) {
    struct message_kind kept = {0};
    struct place place;
    if (supervisor->rotation->condition_count == 0 || !place_open(&place, supervisor->first)) {
        return;
    }
    struct folder folder = {.place = &place};
    const size_t length = length_before_stamp(place.name);
    place_each_file(&place, is_of_rotation, true, add_kept, &folder);
    if (folder.count != 0) {
        qsort(folder.kept, folder.count, sizeof *folder.kept, by_name);
    }
    for (size_t i = 0; i < folder.count; i++) {
        const char *name = folder.kept[i].name;
        if (strncmp(name, place.name, length + STAMP) >= 0 && !folder.kept[i].is_live) {
            message_few(&kept, "kept %s%s", supervisor->request->path, name + length);
        }
    }
    message_more(&kept, "kept files");
    if (kept.count == 0 && supervisor->status == 0) {
        message_print("kept no file");
    }
    free(folder.kept);
    place_close(&place);
}

/* path: of a file of this recording. */
static void remove_old(const struct supervisor *supervisor, const char *path) {
    const struct rotation *rotation = supervisor->rotation;
    struct place place;
    const bool removes = rotation->keep > 0 || rotation->keep_bytes != 0 || rotation->keep_files != 0;
    if (!removes || !place_open(&place, path)) {
        return;
    }
    struct folder folder = {.place = &place};
    place_each_file(&place, is_of_rotation, true, add_kept, &folder);
    if (folder.count != 0) {
        qsort(folder.kept, folder.count, sizeof *folder.kept, by_time);
    }
    uint64_t bytes = 0, files = folder.count;
    for (size_t i = 0; i < folder.count; i++) {
        bytes += folder.kept[i].bytes;
    }
    const time_t now = time(NULL);
    for (size_t i = 0; i < folder.count; i++) {
        const struct kept *kept = &folder.kept[i];
        bool is_old = rotation->keep > 0 && difftime(now, kept->written.tv_sec) > rotation->keep;
        const bool is_beyond = (rotation->keep_bytes != 0 && bytes > rotation->keep_bytes) ||
                               (rotation->keep_files != 0 && files > rotation->keep_files);
        if (!kept->is_live && (is_old || is_beyond)) {
            remove_recording(&place, kept->name);
            bytes -= kept->bytes;
            files--;
        }
    }
    free(folder.kept);
    place_close(&place);
}

/* ---- a turn ----------------------------------------------------------------------------------------------------- */

struct condition_turn {
    struct condition_watch *watch;
    const char *path, *before; /* before: the file before; "": none */
    bool has_held;
};

/* --keep may have removed the file before. */
static void report_held(struct condition_turn *turn, const char *what) {
    const bool has_before = turn->before[0] && (access(turn->before, F_OK) == 0 || errno != ENOENT);
    turn->has_held = true;
    message_print("%s; keeping %s%s%s%s", what, turn->path, has_before ? ", and " : "", has_before ? turn->before : "",
                  has_before ? ", the file before it" : "");
}

static void on_event(void *context, const struct event *event) {
    struct condition_turn *turn = context;
    const char *what;
    uint64_t ns;
    if (!turn->has_held && condition_holds(turn->watch, event, &what, &ns)) {
        char text[FORMAT_MAX], command[64], held[256];
        target_command((int)event->process.pid, command);
        snprintf(held, sizeof held, "process %u (%s): %s%s%s", event->process.pid, command[0] ? command : "?", what,
                 ns ? " of " : "", ns ? format_ns(text, ns) : "");
        report_held(turn, held);
    }
}

static _Noreturn void take_turn(const struct supervisor *supervisor, const struct turn *turn, const char *before,
                                int begun, pid_t parent) {
    struct record_request request = *supervisor->request;
    const struct rotation *rotation = supervisor->rotation;
    struct condition_turn condition = {.path = turn->path, .before = before};
    enum recording_cut cut = CUT_UNKNOWN;
    uint64_t lost = 0;
    setpgid(0, 0);            /* Ctrl-C is the supervisor's */
    signal(SIGTTOU, SIG_IGN); /* a terminal may stop what writes to it from another group than its own */
    if (prctl(PR_SET_PDEATHSIG, SIGINT) != 0 || getppid() != parent) {
        _exit(1);
    }
    request.path = turn->path;
    request.observed.next_file = supervisor->due != 0 ? turn->path : NULL;
    request.seconds = 0;
    request.begun = begun;
    request.cut = &cut;
    request.lost = &lost;
    if (rotation->condition_count != 0) {
        condition.watch = condition_watch(rotation->conditions, rotation->condition_count);
        request.on_event = on_event;
        request.context = &condition;
        request.quiet = true;
        if (!condition.watch) {
            message_print("out of memory");
            _exit(1);
        }
    }
    int status = record_run(&request, NULL);
    const bool is_full = cut == CUT_MAX_SIZE;
    if (lost != 0 && rotation->condition_count != 0 && !condition.has_held) {
        report_held(&condition, "events were lost");
    }
    _exit(!is_full && status != 0         ? status
          : is_full && condition.has_held ? FULL_HELD
          : is_full                       ? FULL
          : condition.has_held            ? HELD
                                          : 0);
}

/* Whether nothing has this name, nor that of a file beside it, which a recording may not have. */
static bool is_free(const char *path) {
    static const char *const suffixes[] = {"", "-journal", "-wal", "-shm"};
    bool free_of_files = true;
    for (size_t i = 0; i < sizeof suffixes / sizeof *suffixes && free_of_files; i++) {
        char name[PATH_MAX + sizeof "-journal"];
        struct stat status;
        snprintf(name, sizeof name, "%s%s", path, suffixes[i]);
        free_of_files = lstat(name, &status) != 0 && errno == ENOENT;
    }
    return free_of_files;
}

/* `tail`: what follows the stamp. */
static bool write_path(const struct supervisor *supervisor, time_t time, const char *tail, char path[PATH_MAX],
                       struct failure *why) {
    struct tm utc;
    char stamp[STAMP + 1];
    if (!gmtime_r(&time, &utc) || strftime(stamp, sizeof stamp, ".%Y%m%dT%H%M%SZ", &utc) != STAMP) {
        return failure_set(why, 1, "--rotate: the clock of this machine has no year of four digits; set it");
    }
    const int length = snprintf(path, PATH_MAX, "%s%s%s", supervisor->request->path, stamp, tail);
    return (length >= 0 && length < PATH_MAX) ||
           failure_set(why, 1, "-o %.200s...: the name is too long", supervisor->request->path);
}

static bool make_tail(char tail[TAIL + 1], struct failure *why) {
    uint32_t random;
    if (getrandom(&random, sizeof random, 0) != (ssize_t)sizeof random) {
        return failure_set(why, 1, "--rotate: no random number for a file's name: %m");
    }
    snprintf(tail, TAIL + 1, ".%06" PRIx32, random & 0xffffff);
    return true;
}

/* For the turn that starts now: no other file has it. */
static bool choose_path(const struct supervisor *supervisor, char path[PATH_MAX], struct failure *why) {
    const time_t now = time(NULL);
    for (int i = 0; i < NAMES_TRIED; i++) {
        char tail[TAIL + 1] = "";
        if (((supervisor->is_shared || i > 0) && !make_tail(tail, why)) ||
            !write_path(supervisor, now, tail, path, why)) {
            return false;
        }
        if (is_free(path)) {
            return true;
        }
    }
    return failure_set(why, 1, "--rotate: all names tried for the next file are taken, the last one is %.300s", path);
}

/* before: the file of the turn before; "": there was none. */
static bool start_turn(struct supervisor *supervisor, struct turn *turn, const char *before) {
    struct failure why;
    int ends[2] = {-1, -1};
    const pid_t parent = getpid();
    *turn = (struct turn){.pidfd = -1, .begun = -1};
    if (!choose_path(supervisor, turn->path, &why)) {
        failure_report(&why);
        return false;
    }
    if (pipe2(ends, O_CLOEXEC) != 0 || (turn->pid = fork()) < 0) {
        failure_set(&why, 1, "--rotate: cannot start the next file's process: %m");
        failure_report(&why);
        turn->pid = 0;
    }
    if (turn->pid == 0 && getpid() != parent) {
        close(ends[0]);
        take_turn(supervisor, turn, before, ends[1], parent);
    }
    if (ends[1] >= 0) {
        close(ends[1]);
    }
    turn->begun = ends[0];
    turn->pidfd = turn->pid > 0 ? pidfd_open(turn->pid, 0) : -1; /* -1: poll passes over it, and time is what is left */
    return turn->pid > 0;
}

struct turn_end {
    int status; /* 0: as it should */
    bool has_held, is_full;
};

/* Whether it has ended; *end: how. */
static bool reap(struct turn *turn, struct turn_end *end) {
    int wait_status;
    if (turn->pid == 0 || waitpid(turn->pid, &wait_status, WNOHANG) != turn->pid) {
        return false;
    }
    const int exit_status = WIFEXITED(wait_status) ? WEXITSTATUS(wait_status) : 128 + WTERMSIG(wait_status);
    end->has_held = exit_status == HELD || exit_status == FULL_HELD;
    end->is_full = exit_status == FULL || exit_status == FULL_HELD;
    end->status = end->has_held || end->is_full ? 0 : exit_status;
    if (turn->pidfd >= 0) {
        close(turn->pidfd);
    }
    close(turn->begun);
    turn->pid = 0;
    return true;
}

static void end_turn(const struct turn *turn) {
    if (turn->pid != 0) {
        kill(turn->pid, SIGINT);
        kill(turn->pid, SIGCONT); /* if somebody has stopped it, it ends, too */
    }
}

/* ---- turn after turn -------------------------------------------------------------------------------------------- */

static uint64_t after(uint64_t ns, double seconds) { return seconds > 0 ? ns + whole_of(seconds * 1e9) : UINT64_MAX; }

static void take_beginning(struct supervisor *supervisor, struct turn *turn) {
    turn->has_begun = true;
    if (turn == &supervisor->next) {
        supervisor->now.is_relieved = true;
        end_turn(&supervisor->now);
    }
    if (supervisor->is_over) {
        end_turn(turn);
    } else if (supervisor->end == 0) {
        supervisor->end = after(now_ns(), supervisor->request->seconds);
        supervisor->due = after(now_ns(), supervisor->rotation->period);
    }
}

/* Until something has happened, or some time has passed. */
static void wait_for_turns(struct supervisor *supervisor) {
    uint64_t until = supervisor->due < supervisor->end ? supervisor->due : supervisor->end, now = now_ns();
    uint64_t left_ms = until > now && !supervisor->is_over ? (until - now) / 1000000 + 1 : WAIT_MS;
    struct turn *const turns[] = {&supervisor->now, &supervisor->next};
    struct pollfd of[4];
    for (size_t i = 0; i < 2; i++) {
        const struct turn *turn = turns[i];
        of[i] = (struct pollfd){.fd = turn->pid && !turn->has_begun ? turn->begun : -1, .events = POLLIN};
        of[2 + i] = (struct pollfd){.fd = turn->pid ? turn->pidfd : -1, .events = POLLIN};
    }
    poll(of, sizeof of / sizeof *of, left_ms < WAIT_MS ? (int)left_ms : WAIT_MS);
    for (size_t i = 0; i < 2; i++) {
        if (of[i].revents & POLLIN) {
            take_beginning(supervisor, turns[i]);
        }
    }
}

static void fail_with(struct supervisor *supervisor, int status) {
    supervisor->status = supervisor->status ? supervisor->status : status;
    supervisor->is_over = true;
}

/* Before the turn now: it has not begun, or ended early. */
static void take_end_of_next(struct supervisor *supervisor) {
    struct turn_end end;
    if (reap(&supervisor->next, &end)) {
        if (end.status == 0) {
            if (!supervisor->next.has_begun) { /* it was full as soon as it had begun */
                take_beginning(supervisor, &supervisor->next);
            }
            memcpy(supervisor->early, supervisor->next.path, sizeof supervisor->early);
            supervisor->early_has_held = end.has_held;
        }
        const bool may_try_again = !supervisor->next.has_begun && supervisor->now.pid != 0;
        if (end.status != 0 && !supervisor->is_over && !may_try_again) {
            fail_with(supervisor, end.status);
        } else if (end.status != 0 && !supervisor->is_over) {
            const uint64_t again = after(now_ns(), AGAIN_SECONDS);
            supervisor->due = supervisor->due < again ? supervisor->due : again;
            message_print("--rotate: the next file was not begun; the recording continues in %s, and tries again",
                          supervisor->now.path);
        }
        if (supervisor->is_over) {
            end_turn(&supervisor->now);
        }
    }
}

static void take_end_of_now(struct supervisor *supervisor) {
    struct turn_end end;
    if (!reap(&supervisor->now, &end)) {
        return;
    }
    char path[PATH_MAX], last[PATH_MAX];
    memcpy(path, supervisor->now.path, sizeof path);
    memcpy(last, supervisor->early[0] ? supervisor->early : path, sizeof last);
    const bool was_relieved = supervisor->now.is_relieved;
    /* A process that has ended cannot be attached to by the next turn. */
    const bool is_late = supervisor->is_over && supervisor->end != 0 && !supervisor->now.has_begun;
    if (end.status != 0 && was_relieved) {
        supervisor->status = supervisor->status ? supervisor->status : end.status;
    } else if (end.status != 0 && !is_late) {
        fail_with(supervisor, end.status);
    }
    if (end.status == 0) {
        keep_or_remove(supervisor, path, end.has_held);
    }
    if (supervisor->early[0] != 0) {
        keep_or_remove(supervisor, supervisor->early, supervisor->early_has_held);
        supervisor->early[0] = 0;
    }
    supervisor->is_over = supervisor->is_over || !(was_relieved || end.is_full);
    supervisor->now = supervisor->next;
    supervisor->next = (struct turn){0};
    if (supervisor->is_over) { /* also: the processes that were observed have ended */
        if (supervisor->now.has_begun) {
            end_turn(&supervisor->now);
        }
    } else if (supervisor->now.pid == 0 && !start_turn(supervisor, &supervisor->now, last)) {
        fail_with(supervisor, 1);
    }
    remove_old(supervisor, path);
}

/* A turn that attaches is not ended, for that would be a failure, and the one before goes on until then, for its file
 * would hold what happens after a gap. Unless they must end now. */
static void end_turns(struct supervisor *supervisor, bool at_once) {
    const bool attaches = supervisor->next.pid != 0 && !supervisor->next.has_begun;
    supervisor->is_over = true;
    if (!attaches || at_once) {
        end_turn(&supervisor->now);
        end_turn(&supervisor->next);
    }
}

/* While a turn attaches, or ends, what is due waits. */
static void look_at_clock(struct supervisor *supervisor) {
    const uint64_t now = now_ns();
    const bool may_be_relieved = supervisor->now.has_begun && !supervisor->now.is_relieved;
    if (supervisor->is_over || supervisor->end == 0) {
        return;
    }
    if (now >= supervisor->end) {
        end_turns(supervisor, false);
    } else if (now >= supervisor->due && supervisor->next.pid == 0 && may_be_relieved) {
        supervisor->due = after(now, supervisor->rotation->period);
        if (!start_turn(supervisor, &supervisor->next, supervisor->now.path)) {
            fail_with(supervisor, 1);
            end_turn(&supervisor->now);
        }
    }
}

/* Where there is no such folder, the first turn will say so. */
static bool is_shared(const char *path) {
    struct place place;
    if (!place_open(&place, path)) {
        return false;
    }
    const bool shared = place_is_shared(&place);
    place_close(&place);
    return shared;
}

int record_rotate(const struct record_request *request, const struct rotation *rotation) {
    struct supervisor supervisor = {.request = request, .rotation = rotation, .is_shared = is_shared(request->path)};
    int handled = 0;
    interrupt_install();
    if (!start_turn(&supervisor, &supervisor.now, "")) {
        return 1;
    }
    memcpy(supervisor.first, supervisor.now.path, sizeof supervisor.first);
    remove_old(&supervisor, supervisor.now.path);
    while (supervisor.now.pid != 0 || supervisor.next.pid != 0) {
        for (; handled < interrupt_count(); handled++) { /* a signal to the supervisor is one to its turns */
            end_turns(&supervisor, handled > 0);
        }
        look_at_clock(&supervisor);
        wait_for_turns(&supervisor);
        take_end_of_next(&supervisor);
        take_end_of_now(&supervisor);
    }
    if (supervisor.status == 0) {
        keep_or_remove(&supervisor, "", false); /* nothing comes after the last one */
    }
    report_kept(&supervisor);
    return supervisor.status;
}
