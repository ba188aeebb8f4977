/* The tool's side of its workers: requests, deadlines, and checks of the answers.
 *
 * 1. Terms
 * Opener, inspector, detacher: zygote.h. Deadline: when a call ends at the latest. Share: how long one process may keep
 * the tool in all. Link: what attaches a kernel program to a file. Owner: whose bytes an inspector parses.
 *
 * 2. Algorithm
 * A request goes to its worker, and the tool waits for the answer. At the deadline a worker that waits (for a page or a
 * lock that a stranger holds) is given up. One that computes, or waits for a processor, may use up the target's share,
 * so that a busy machine makes no process look hostile. What a worker, or the tool, waits for a processor can be left
 * out of all shares: the kernel says how long that was once it is over (/proc/PID/schedstat). Until then a worker that
 * is ready to run and uses no processor counts as waiting for one. A worker that is given up is killed and not waited
 * for; the next call starts another. Its answer up to then still counts: nothing can come after.
 *
 * A request about files goes to the opener, which opens them and passes it on to the inspector, which answers. Workers
 * that were given up and have not ended are counted by owner (target_owner): the user whose file made them hang pays,
 * with all user ids. No owner has more of them than an eighth of those that can still be started.
 *
 * Attaching and detaching wait for each process that maps the file, so both have a deadline of their own. The detacher
 * is not given up: after its first missed deadline it still gets links, but nobody waits for it until it has caught up.
 *
 * 3. Invariants
 * I1. No call lasts much longer than a deadline and a share, nor than the end of all reading.
 * I2. A target that has used up its share, or missed a deadline, costs nothing more.
 * I3. Every length and string of an answer is checked before it is used.
 * I4. The tool closes a link only if another process holds it, too: closing the last descriptor detaches.
 * I5. An inspector serves one owner: one that a user's file has taken over sees and answers nothing of another user.
 * I6. The tool reads and asks nothing of a file: it has O_PATH descriptors and what the opener says of them.
 *
 * 4. Failure
 * False with errno. Only a call whose worker had died before it is retried. */
#include "attach/inspect/inspect.h"
#include "attach/inspect/functions.h"
#include "attach/inspect/packet.h"
#include "attach/inspect/protocol.h"
#include "attach/inspect/zygote.h"
#include "util/clock.h"
#include "util/message.h"
#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#define CALL_NS 1000000000u
#define SHARE_NS 2000000000u
#define STOP_NS 20000000u
_Static_assert((int)INSPECT_LINKS <= (int)PACKET_DESCRIPTORS && (int)INSPECT_FILES < (int)PACKET_DESCRIPTORS,
               "they go in one packet");
#define LINK_NS (INSPECT_LINK_SECONDS * 1000000000ull)

/* Of a process: its user when it was opened, and now. Another process may keep the memory that was opened, while this
 * one goes on as a set-user-id program: both count. Of a file: its owner, and the user for whom it was opened, whose
 * file system may say that it is root's; ANYBODY where others may write it. */
struct owner {
    uint32_t user, also;
};
#define ANYBODY UINT32_MAX

/* How long a process of the tool has waited for a processor. */
struct queue {
    pid_t pid; /* whose figures these are */
    uint64_t cpu_ns, queue_ns;
    uint64_t ahead_ns; /* left out already, and not yet in what the kernel says */
};

struct server {
    enum worker_kind kind;
    struct worker worker;
    struct queue queue;
    struct owner owner; /* of an inspector */
    uint32_t payer;     /* whose shares that takes for which it was last asked (target_owner) */
    uint64_t used_ns;   /* when it was last asked */
};

/* A worker that was given up. */
struct hung {
    int pidfd;
    uint32_t payer;
};

/* A process and the files that it maps have up to three owners. */
enum { MOST_INSPECTORS = 8 };

struct inspect {
    struct zygote zygote;
    struct server opener, detacher, inspector[MOST_INSPECTORS];
    uint64_t call_ns, share_ns, end_ns;
    uint64_t queue_ns, most_queue_ns; /* left out of inspect_now() */
    uint64_t queue_read_ns;           /* when it was last added to, on CLOCK_MONOTONIC */
    uint64_t ended_queue_ns;          /* of openers that were given up, for inspect_queue_ns() */
    struct queue own_queue, zygote_queue;
    enum unread_cause unread_cause; /* of the last call that was not answered */
    uint64_t numbers;
    int folder; /* in which the tool was started, for relative paths: the workers are elsewhere; -1: not open */
    uint64_t unanswered; /* requests to the detacher */
    bool reported_fuse;
    struct hung hung[ZYGOTE_MOST];
    size_t hung_count;
};

/* How long a call may take while its worker waits, and in all. */
struct patience {
    uint64_t wait_ns, all_ns;
};

static bool start_server(struct inspect *inspect, struct server *server, uint64_t end_ns) {
    return zygote_start_worker(&inspect->zygote, server->kind, &server->worker, end_ns);
}

static void end_server(struct inspect *inspect, struct server *server) {
    zygote_end_worker(&inspect->zygote, &server->worker);
}

/* Ends it, and keeps in mind whose it was until it has ended. */
static void give_up(struct inspect *inspect, struct server *server) {
    if (server == &inspect->opener && server->worker.pid != 0) {
        inspect->ended_queue_ns += target_queue_ns(server->worker.pid);
    }
    if (server->worker.pid != 0 && server->worker.pidfd >= 0 && inspect->hung_count < ZYGOTE_MOST) {
        inspect->hung[inspect->hung_count++] = (struct hung){server->worker.pidfd, server->payer};
        server->worker.pidfd = -1;
    }
    end_server(inspect, server);
}

/* Whether too many workers hang for this owner. */
static bool is_crowded(struct inspect *inspect, uint32_t payer) {
    size_t left = 0, own = 0;
    for (size_t i = 0; i < inspect->hung_count; i++) {
        struct hung hung = inspect->hung[i];
        if (target_has_ended(hung.pidfd)) {
            close(hung.pidfd);
        } else {
            inspect->hung[left++] = hung;
            own += hung.payer == payer;
        }
    }
    inspect->hung_count = left;
    return own >= (ZYGOTE_MOST - left) / 8;
}

/* Whoever inspects can raise its own limit, but starts with the one that it has. */
static bool has_files(struct failure *why) {
    enum { LEAST_FILES = 64, LEAST_TO_START = 16 };
    struct rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &limit) != 0 || (limit.rlim_max >= LEAST_FILES && limit.rlim_cur >= LEAST_TO_START)) {
        return true;
    }
    return failure_set(why, 2, "the limit of %ju open files is too low: edenscope needs %d or more (raise ulimit -n)",
                       (uintmax_t)limit.rlim_cur, LEAST_FILES);
}

struct inspect *inspect_open(uint64_t control, struct failure *why) {
    if (!has_files(why)) {
        return NULL;
    }
    struct inspect *inspect = calloc(1, sizeof *inspect);
    if (!inspect) {
        failure_set(why, 1, "out of memory");
        return NULL;
    }
    inspect_limit(inspect, CALL_NS, SHARE_NS, UINT64_MAX);
    inspect->folder = -1;
    if (!zygote_start(&inspect->zygote, control, why)) {
        free(inspect);
        return NULL;
    }
    inspect->opener.kind = WORKER_OPENER;
    inspect->detacher.kind = WORKER_DETACHER;
    for (size_t i = 0; i < MOST_INSPECTORS; i++) {
        inspect->inspector[i].kind = WORKER_INSPECTOR;
    }
    inspect->inspector[0].owner = (struct owner){geteuid(), geteuid()};
    inspect->inspector[0].used_ns = now_ns();
    /* Now, as entering a sandbox takes a moment, in which the tool has other things to do. */
    start_server(inspect, &inspect->opener, now_ns() + CALL_NS);
    start_server(inspect, &inspect->inspector[0], now_ns() + CALL_NS);
    start_server(inspect, &inspect->detacher, now_ns() + CALL_NS);
    inspect->folder = open(".", O_PATH | O_DIRECTORY | O_CLOEXEC);
    return inspect;
}

void inspect_close(struct inspect *inspect) {
    if (inspect) {
        end_server(inspect, &inspect->opener);
        end_server(inspect, &inspect->detacher);
        for (size_t i = 0; i < MOST_INSPECTORS; i++) {
            end_server(inspect, &inspect->inspector[i]);
        }
        zygote_end(&inspect->zygote);
        for (size_t i = 0; i < inspect->hung_count; i++) {
            close(inspect->hung[i].pidfd);
        }
        if (inspect->folder >= 0) {
            close(inspect->folder);
        }
        free(inspect);
    }
}

void inspect_limit(struct inspect *inspect, uint64_t call_ns, uint64_t share_ns, uint64_t end_ns) {
    inspect->call_ns = call_ns;
    inspect->share_ns = share_ns;
    inspect->end_ns = end_ns;
}

/* ---- time ------------------------------------------------------------------------------------------------------- */

uint64_t inspect_now(const struct inspect *inspect) { return now_ns() - inspect->queue_ns; }

/* By how much the wait of a process has grown. `ready_ns`: for how long it has been ready to run, as far as is known.
 */
static uint64_t growth_of_queue(struct queue *queue, pid_t pid, uint64_t ready_ns) {
    if (queue->pid != pid) { /* what is 0 for a new process */
        *queue = (struct queue){.pid = pid};
    }
    const uint64_t cpu_ns = pid ? target_cpu_ns(pid) : 0, queue_ns = pid ? target_queue_ns(pid) : 0;
    const uint64_t grown = queue_ns > queue->queue_ns ? queue_ns - queue->queue_ns : 0;
    const uint64_t known = grown < queue->ahead_ns ? grown : queue->ahead_ns;
    const uint64_t ahead = grown == 0 && cpu_ns == queue->cpu_ns ? ready_ns : 0;
    queue->ahead_ns += ahead - known;
    queue->cpu_ns = cpu_ns;
    queue->queue_ns = queue_ns;
    return grown - known + ahead;
}

/* Leaves out what was waited for processors until now; `server` has been ready to run for ready_ns. */
static void leave_out_queue(struct inspect *inspect, struct server *server, uint64_t ready_ns) {
    if (inspect->queue_ns >= inspect->most_queue_ns) {
        return;
    }
    const uint64_t now = now_ns(), most = now - inspect->queue_read_ns;
    uint64_t grown = growth_of_queue(&inspect->own_queue, getpid(), 0) +
                     growth_of_queue(&inspect->zygote_queue, inspect->zygote.pid, 0) +
                     growth_of_queue(&server->queue, server->worker.pid, ready_ns);
    if (server != &inspect->opener) {
        grown += growth_of_queue(&inspect->opener.queue, inspect->opener.worker.pid, 0);
    }
    grown = grown < most ? grown : most; /* two may have waited at once */
    inspect->queue_read_ns = now;
    inspect->queue_ns += grown;
    inspect->queue_ns = inspect->queue_ns < inspect->most_queue_ns ? inspect->queue_ns : inspect->most_queue_ns;
}

void inspect_leave_out_queue(struct inspect *inspect, uint64_t most_ns) {
    inspect->most_queue_ns = inspect->queue_ns + most_ns;
    inspect->queue_read_ns = now_ns();
    /* What was waited before does not count. */
    growth_of_queue(&inspect->own_queue, getpid(), 0);
    growth_of_queue(&inspect->zygote_queue, inspect->zygote.pid, 0);
    growth_of_queue(&inspect->opener.queue, inspect->opener.worker.pid, 0);
    for (size_t i = 0; i < MOST_INSPECTORS; i++) {
        growth_of_queue(&inspect->inspector[i].queue, inspect->inspector[i].worker.pid, 0);
    }
}

uint64_t inspect_queue_ns(const struct inspect *inspect) {
    const pid_t opener = inspect->opener.worker.pid; /* 0: none */
    return inspect->ended_queue_ns + target_queue_ns(getpid()) + target_queue_ns(inspect->zygote.pid) +
           (opener ? target_queue_ns(opener) : 0);
}

bool inspect_is_busy(const struct inspect *inspect) {
    return inspect->most_queue_ns != 0 && inspect->queue_ns >= inspect->most_queue_ns;
}

/* ---- inspectors ------------------------------------------------------------------------------------------------- */

/* Takes the one that was not asked for longest, where none serves this owner. */
static struct server *inspector_of(struct inspect *inspect, struct owner owner, uint32_t payer) {
    struct server *oldest = &inspect->inspector[0], *found = NULL;
    for (size_t i = 0; i < MOST_INSPECTORS; i++) {
        struct server *at = &inspect->inspector[i];
        bool is_own = at->owner.user == owner.user && at->owner.also == owner.also;
        found = is_own && !found ? at : found;
        oldest = at->used_ns < oldest->used_ns ? at : oldest;
    }
    if (!found) {
        end_server(inspect, oldest);
        oldest->owner = owner;
        found = oldest;
    }
    found->used_ns = now_ns();
    found->payer = payer;
    return found;
}

static struct server *inspector_of_process(struct inspect *inspect, const struct target *target) {
    return inspector_of(inspect, (struct owner){target->user, target_user_now(target->pid, target->user)},
                        target->owner);
}

static struct owner owner_of_file(const struct regular *file) {
    return (struct owner){file->status.st_uid, file->status.st_mode & (S_IWGRP | S_IWOTH) ? ANYBODY : file->user};
}

static struct server *inspector_of_file(struct inspect *inspect, const struct regular *file) {
    return inspector_of(inspect, owner_of_file(file), file->owner);
}

/* ---- asking ----------------------------------------------------------------------------------------------------- */

/* Whether a worker computes or wants to: it does not wait for a stranger. */
static bool is_running(const struct worker *worker) { return target_state(worker->pid) == 'R'; }

static uint64_t earlier(uint64_t a, uint64_t b) { return a < b ? a : b; }

/* A time of inspect_now() on CLOCK_MONOTONIC, for which others wait. */
static uint64_t monotonic(const struct inspect *inspect, uint64_t time) {
    return time < UINT64_MAX - inspect->queue_ns ? time + inspect->queue_ns : UINT64_MAX;
}

/* `end`: when the share is used up. */
static bool wait_for_answer(struct inspect *inspect, struct server *server, uint64_t wait_ns, uint64_t end) {
    const struct worker *worker = &server->worker;
    /* still_ns: since when it has not run, as far as is known. */
    uint64_t cpu_ns = target_cpu_ns(worker->pid), still_ns = now_ns();
    for (;;) {
        const uint64_t now = inspect_now(inspect), deadline = earlier(now + wait_ns, end);
        if (packet_wait(worker->socket, monotonic(inspect, deadline))) {
            return true;
        }
        if (errno == EINTR) {
            bool has_come = packet_wait(worker->socket, monotonic(inspect, earlier(now + STOP_NS, end)));
            errno = EINTR;
            return has_come;
        }
        const int error = errno;
        const bool runs = is_running(worker);
        const uint64_t used_ns = target_cpu_ns(worker->pid);
        still_ns = used_ns == cpu_ns ? still_ns : now_ns();
        cpu_ns = used_ns;
        leave_out_queue(inspect, server, runs && deadline > now ? deadline - now : 0);
        if (error != ETIMEDOUT || !runs || inspect_now(inspect) >= end) {
            inspect->unread_cause = runs || deadline == end ? UNREAD_TIME : UNREAD_WAITS;
            /* It waits for a processor now, which the kernel counts once that is over. */
            inspect->ended_queue_ns += runs && server == &inspect->opener ? now_ns() - still_ns : 0;
            errno = error;
            return false;
        }
    }
}

/* Has the worker run. False with errno. */
static bool prepare(struct inspect *inspect, struct server *server, struct patience patience, uint64_t end) {
    uint64_t now = inspect_now(inspect);
    if (now >= end || is_crowded(inspect, server->payer)) {
        inspect->unread_cause = now >= end ? UNREAD_TIME : UNREAD_WAITS;
        errno = ETIMEDOUT;
        return false;
    }
    inspect->unread_cause = UNREAD_TIME; /* also where no worker starts in time, or takes no request */
    return server->worker.pid != 0 ||
           start_server(inspect, server, monotonic(inspect, earlier(now + patience.wait_ns, end)));
}

/* Takes the answer to a request, if that was sent. */
static bool take_answer(struct inspect *inspect, struct server *server, bool sent, struct patience patience,
                        uint64_t end, size_t most, struct packet *answer) {
    struct worker *worker = &server->worker;
    if (sent && wait_for_answer(inspect, server, patience.wait_ns, end) &&
        packet_receive(worker->socket, answer, most, now_ns() + inspect->call_ns)) {
        return true;
    }
    int error = errno;
    bool is_late = error == ETIMEDOUT || error == EINTR;
    shutdown(worker->socket, SHUT_RD);
    bool has_come = is_late && packet_receive(worker->socket, answer, most, now_ns());
    inspect->unread_cause = is_late ? inspect->unread_cause : UNREAD_FAILS;
    give_up(inspect, server);
    errno = is_late ? error : EIO;
    return has_come;
}

static bool ask(struct inspect *inspect, struct server *server, struct patience patience, const struct packet *request,
                size_t most, struct packet *answer) {
    uint64_t end = earlier(inspect_now(inspect) + patience.all_ns, inspect->end_ns);
    return prepare(inspect, server, patience, end) &&
           take_answer(inspect, server, packet_send(server->worker.socket, request, monotonic(inspect, end)), patience,
                       end, most, answer);
}

/* By how much its share has grown. */
static uint64_t growth_of(const struct target *target) { return (now_ns() - target->opened_ns) / 10; }

void inspect_forfeit(struct target *target) {
    uint64_t growth = growth_of(target);
    target->spent_ns = target->spent_ns > growth ? target->spent_ns : growth;
}

/* What is left of the share of a target. */
static uint64_t share_of(const struct inspect *inspect, const struct target *target) {
    uint64_t share = inspect->share_ns + (target ? growth_of(target) : 0);
    uint64_t spent = target ? target->spent_ns : 0;
    return share > spent ? share - spent : 0;
}

bool inspect_has_share(const struct inspect *inspect, const struct target *target) {
    return share_of(inspect, target) != 0;
}

/* Asks, and asks a new worker where the one that was there had died before. */
static bool ask_twice(struct inspect *inspect, struct server *server, struct patience patience,
                      const struct packet *request, size_t most, struct packet *answer) {
    bool had_worker = server->worker.pid != 0;
    *answer = (struct packet){0};
    return ask(inspect, server, patience, request, most, answer) ||
           (errno == EIO && had_worker && ask(inspect, server, patience, request, most, answer));
}

/* The longest request about files. */
enum { MOST_ABOUT_FILES = sizeof(struct functions_request) };
_Static_assert((int)MOST_ABOUT_FILES >= (int)sizeof(struct notes_request), "all requests about files fit");

/* Has the opener send a request about files to an inspector. False with errno: EIO where the inspector has died, or may
 * have received it all the same; *error: why a file cannot be opened. */
static bool forward(struct inspect *inspect, struct server *server, struct patience patience,
                    const struct packet *request, int *error) {
    const struct forward_request head = {request->kind};
    char data[sizeof head + MOST_ABOUT_FILES];
    struct packet reply, onward = {.kind = OPENER_FORWARD,
                                   .data = data,
                                   .bytes = sizeof head + request->bytes,
                                   .descriptor = {server->worker.socket},
                                   .descriptors = 1 + request->descriptors};
    memcpy(data, &head, sizeof head);
    if (request->bytes != 0) {
        memcpy(data + sizeof head, request->data, request->bytes);
    }
    memcpy(onward.descriptor + 1, request->descriptor, request->descriptors * sizeof *request->descriptor);
    inspect->opener.payer = server->payer;
    bool is_answered = ask_twice(inspect, &inspect->opener, patience, &onward, 0, &reply);
    *error = is_answered ? reply.error : 0;
    packet_clear(&reply);
    if (is_answered && *error != EPIPE) {
        return true;
    }
    int reason = is_answered ? EIO : errno;
    end_server(inspect, server);
    errno = reason;
    return false;
}

static bool ask_about_files(struct inspect *inspect, struct server *server, struct patience patience,
                            const struct packet *request, struct packet *answer) {
    uint64_t end = earlier(inspect_now(inspect) + patience.all_ns, inspect->end_ns);
    int error;
    *answer = (struct packet){0};
    if (!prepare(inspect, server, patience, end) || !forward(inspect, server, patience, request, &error)) {
        return false;
    }
    if (error != 0) {
        answer->error = error;
        return true;
    }
    return take_answer(inspect, server, true, patience, end, 0, answer);
}

/* As ask_twice(). */
static bool ask_about_files_twice(struct inspect *inspect, struct server *server, struct patience patience,
                                  const struct packet *request, struct packet *answer) {
    bool had_worker = server->worker.pid != 0;
    return ask_about_files(inspect, server, patience, request, answer) ||
           (errno == EIO && had_worker && ask_about_files(inspect, server, patience, request, answer));
}

static bool is_about_files(const struct server *server, uint32_t kind) {
    return server->kind == WORKER_INSPECTOR && (kind == INSPECTOR_NOTES || kind == INSPECTOR_PROBES ||
                                                kind == INSPECTOR_NEEDS || kind == INSPECTOR_FUNCTIONS);
}

/* *is_answered: also where the answer is an error. */
static bool call_within(struct inspect *inspect, struct server *server, struct patience patience,
                        const struct packet *request, size_t most, struct packet *answer, bool *is_answered) {
    *is_answered = is_about_files(server, request->kind)
                       ? ask_about_files_twice(inspect, server, patience, request, answer)
                       : ask_twice(inspect, server, patience, request, most, answer);
    int error = *is_answered ? answer->error : errno;
    if (*is_answered && error) {
        packet_clear(answer);
    }
    errno = error;
    return error == 0;
}

/* Charges a target, if any, with what the call costs. */
static bool call(struct inspect *inspect, struct server *server, struct target *target, const struct packet *request,
                 size_t most, struct packet *answer) {
    *answer = (struct packet){0};
    if (target && target->is_unread) {
        errno = ETIMEDOUT;
        return false;
    }
    const struct patience patience = {inspect->call_ns, share_of(inspect, target)};
    uint64_t start = inspect_now(inspect);
    if (server == &inspect->opener) {
        server->payer = target ? target->owner : 0;
    }
    bool is_answered, done = call_within(inspect, server, patience, request, most, answer, &is_answered);
    int error = errno;
    leave_out_queue(inspect, server, 0);
    if (target) {
        const uint64_t now = inspect_now(inspect);
        target->spent_ns += now > start ? now - start : 0;
        target->is_unread = (!is_answered && error != EINTR) || error == ETIMEDOUT || share_of(inspect, target) == 0;
        target->unread_cause = !is_answered ? inspect->unread_cause : error == ETIMEDOUT ? UNREAD_WAITS : UNREAD_TIME;
    }
    errno = error;
    return done;
}

/* Asks for an answer of exactly `bytes`. */
static bool call_for(struct inspect *inspect, struct server *server, struct target *target,
                     const struct packet *request, void *to, size_t bytes) {
    struct packet answer;
    if (!call(inspect, server, target, request, 0, &answer)) {
        return false;
    }
    bool fits = answer.bytes == bytes;
    if (fits && bytes != 0) {
        memcpy(to, answer.data, bytes);
    }
    packet_clear(&answer);
    errno = fits ? 0 : EIO;
    return fits;
}

/* Asks for an answer of a head of `head_bytes` and at most `most` elements. Their number is in *count. */
static bool call_for_list(struct inspect *inspect, struct target *target, const struct packet *request,
                          struct packet *answer, size_t head_bytes, size_t element, size_t most, size_t *count) {
    if (!call(inspect, inspector_of_process(inspect, target), target, request, 0, answer)) {
        return false;
    }
    if (answer->bytes >= head_bytes && (answer->bytes - head_bytes) % element == 0 &&
        (answer->bytes - head_bytes) / element <= most) {
        *count = (answer->bytes - head_bytes) / element;
        return true;
    }
    packet_clear(answer);
    errno = EIO;
    return false;
}

/* ---- processes -------------------------------------------------------------------------------------------------- */

/* Of at most OPENER_PROCESSES. The opener has half of the time, and what it has by then counts. */
static void ask_owners(struct inspect *inspect, bool may_wait, const int *pid, size_t count, uint32_t *owner) {
    const uint64_t now = inspect_now(inspect), end = earlier(now + inspect->call_ns, inspect->end_ns);
    struct owners_request wanted = {.end_ns = now_ns() + (end > now ? (end - now) / 2 : 0), .may_wait = may_wait};
    memcpy(wanted.pid, pid, count * sizeof *pid);
    const struct packet request = {
        .kind = OPENER_OWNERS, .data = &wanted, .bytes = offsetof(struct owners_request, pid) + count * sizeof *pid};
    bool is_known = call_for(inspect, &inspect->opener, NULL, &request, owner, count * sizeof *owner);
    for (size_t i = 0; !is_known && i < count; i++) {
        owner[i] = INSPECT_UNKNOWN_OWNER;
    }
}

/* Those that did not answer at once have an equal part each of what is left: one that waits leaves the others theirs.
 */
static void ask_unknown_owners(struct inspect *inspect, const int *pid, size_t count, uint32_t *owner) {
    const uint64_t call_ns = inspect->call_ns, end = earlier(inspect_now(inspect) + call_ns, inspect->end_ns);
    size_t unknown = 0;
    for (size_t i = 0; i < count; i++) {
        unknown += owner[i] == INSPECT_UNKNOWN_OWNER;
    }
    for (size_t i = 0; i < count; i++) {
        const uint64_t now = inspect_now(inspect);
        if (owner[i] == INSPECT_UNKNOWN_OWNER && now < end) {
            inspect->call_ns = (end - now) / unknown--;
            ask_owners(inspect, true, pid + i, 1, owner + i);
        }
    }
    inspect->call_ns = call_ns;
}

void inspect_owners(struct inspect *inspect, const int *pid, size_t count, uint32_t *owner) {
    for (size_t from = 0; from < count; from += OPENER_PROCESSES) {
        const size_t left = count - from;
        ask_owners(inspect, false, pid + from, left < OPENER_PROCESSES ? left : OPENER_PROCESSES, owner + from);
    }
    ask_unknown_owners(inspect, pid, count, owner);
}

uint32_t inspect_owner(struct inspect *inspect, int pid) {
    uint32_t owner;
    inspect_owners(inspect, &pid, 1, &owner);
    return owner;
}

uint32_t inspect_owner_at_once(struct inspect *inspect, int pid) {
    uint32_t owner;
    ask_owners(inspect, false, &pid, 1, &owner);
    return owner;
}

uint64_t inspect_start(struct inspect *inspect, int pid) {
    const struct process_request wanted = {.pid = pid};
    const struct packet request = {.kind = OPENER_START, .data = &wanted, .bytes = sizeof wanted};
    uint64_t start_ns;
    return call_for(inspect, &inspect->opener, NULL, &request, &start_ns, sizeof start_ns) ? start_ns : 0;
}

bool inspect_process(struct inspect *inspect, int pid, uint32_t owner, uint64_t start_ns, bool writable,
                     struct target *target) {
    const struct process_request wanted = {.pid = pid, .writable = writable, .start_ns = start_ns};
    const struct packet request = {.kind = OPENER_PROCESS, .data = &wanted, .bytes = sizeof wanted};
    struct process_answer opened;
    struct packet answer;
    *target = (struct target){.pid = pid,
                              .user = target_user_now(pid, 0),
                              .owner = owner,
                              .memory = {-1, -1},
                              .maps = -1,
                              .opened_ns = now_ns()};
    if (!call(inspect, &inspect->opener, target, &request, 3, &answer)) {
        return false;
    }
    bool whole = answer.bytes == sizeof opened && answer.descriptors >= 1;
    if (whole) {
        memcpy(&opened, answer.data, sizeof opened);
        target->maps = answer.descriptor[0];
        target->memory.mem = answer.descriptors > 1 ? answer.descriptor[1] : -1;
        target->memory.pagemap = answer.descriptors > 2 ? answer.descriptor[2] : -1;
        target->mem_error = opened.mem_error;
        target->start_ns = opened.start_ns;
        target->user = opened.user;
        answer.descriptors = 0;
    }
    packet_clear(&answer);
    errno = whole ? 0 : EIO;
    return whole;
}

bool inspect_mappings(struct inspect *inspect, struct target *target, struct mappings *mappings) {
    const struct packet request = {.kind = INSPECTOR_MAPPINGS, .descriptor = {target->maps}, .descriptors = 1};
    struct packet answer;
    struct mappings_answer head;
    *mappings = (struct mappings){0};
    if (!call_for_list(inspect, target, &request, &answer, sizeof head, sizeof *mappings->at, MOST_MAPPINGS,
                       &mappings->count)) {
        return false;
    }
    memcpy(&head, answer.data, sizeof head);
    mappings->left_out = head.left_out;
    mappings->at = calloc(mappings->count ? mappings->count : 1, sizeof *mappings->at);
    if (mappings->at) {
        memcpy(mappings->at, (const char *)answer.data + sizeof head, mappings->count * sizeof *mappings->at);
    }
    for (size_t i = 0; mappings->at && i < mappings->count; i++) {
        struct mapping *mapping = &mappings->at[i];
        mapping->path[sizeof mapping->path - 1] = 0;
        mapping->executable = true; /* a bool may hold any byte; the others are of no use here */
        mapping->writable = mapping->is_private = false;
    }
    packet_clear(&answer);
    errno = !mappings->at ? ENOMEM : head.lines == 0 ? ESTALE : 0;
    if (errno) {
        free(mappings->at);
        *mappings = (struct mappings){0};
    }
    return mappings->at;
}

/* Said once: what such a file holds is not known, which is another thing than that it has no probes. */
static void report_fuse(struct inspect *inspect, const char *path, int error) {
    if (error == ENOTSUP && !inspect->reported_fuse) {
        inspect->reported_fuse = true;
        message_print("%s: on FUSE; root opens no file there, so its programs and libraries are not observed", path);
    }
}

/* Takes an answer's files for a target, or NULL: each, or none and its *error. False: it does not fit. */
static bool take_files(struct packet *answer, size_t count, const struct target *target, struct regular *file,
                       int *error) {
    struct file_answer found[INSPECT_FILES];
    size_t next = 0;
    if (answer->bytes != count * sizeof *found) {
        return false;
    }
    memcpy(found, answer->data, count * sizeof *found);
    for (size_t i = 0; i < count; i++) {
        next += found[i].error == 0;
    }
    if (next != answer->descriptors) {
        return false;
    }
    next = 0;
    for (size_t i = 0; i < count; i++) {
        error[i] = found[i].error;
        file[i] = (struct regular){.fd = error[i] == 0 ? answer->descriptor[next++] : -1,
                                   .user = target ? target->user : 0,
                                   .owner = target ? target->owner : 0,
                                   .status = found[i].status};
    }
    answer->descriptors = 0;
    return true;
}

/* Asks for `count` files. False with errno, and none is open. */
static bool call_for_files(struct inspect *inspect, struct target *target, const struct packet *request, size_t count,
                           struct regular *file, int *error) {
    struct packet answer;
    for (size_t i = 0; i < count; i++) {
        file[i] = (struct regular){.fd = -1};
    }
    if (!call(inspect, &inspect->opener, target, request, count, &answer)) {
        return false;
    }
    bool taken = take_files(&answer, count, target, file, error);
    packet_clear(&answer);
    errno = taken ? 0 : EIO;
    return taken;
}

bool inspect_open_mappings(struct inspect *inspect, struct target *target, const struct mapping *mapping, size_t count,
                           struct regular *file, int *error) {
    const struct files_request head = {.pid = target->pid};
    char data[sizeof head + INSPECT_FILES * sizeof *mapping];
    memcpy(data, &head, sizeof head);
    memcpy(data + sizeof head, mapping, count * sizeof *mapping);
    const struct packet request = {.kind = OPENER_FILES, .data = data, .bytes = sizeof head + count * sizeof *mapping};
    if (!call_for_files(inspect, target, &request, count, file, error)) {
        return false;
    }
    for (size_t i = 0; i < count; i++) {
        report_fuse(inspect, mapping[i].path, error[i]);
    }
    errno = 0;
    return true;
}

bool inspect_open_mapping(struct inspect *inspect, struct target *target, const struct mapping *mapping,
                          struct regular *file) {
    int error;
    if (!inspect_open_mappings(inspect, target, mapping, 1, file, &error)) {
        return false;
    }
    errno = error;
    return error == 0;
}

bool inspect_write(struct inspect *inspect, struct target *target, uint64_t address, uint64_t value) {
    const struct write_request wanted = {address, value};
    const struct packet request = {.kind = OPENER_WRITE,
                                   .data = &wanted,
                                   .bytes = sizeof wanted,
                                   .descriptor = {target->maps, target->memory.mem, target->memory.pagemap},
                                   .descriptors = target->memory.pagemap >= 0 ? 3 : 2};
    errno = target->mem_error;
    return target->memory.mem >= 0 && call_for(inspect, &inspect->opener, target, &request, NULL, 0);
}

/* ---- files ------------------------------------------------------------------------------------------------------ */

static bool take_notes(const struct packet *answer, struct notes_answer *head, struct notes *notes) {
    if (answer->bytes < sizeof *head) {
        return false;
    }
    memcpy(head, answer->data, sizeof *head);
    size_t bytes = answer->bytes - sizeof *head;
    head->why[sizeof head->why - 1] = 0;
    if (head->result > NOTES_BAD || bytes / sizeof(struct note) != head->notes.count || bytes % sizeof(struct note) ||
        head->notes.segments > sizeof notes->segment / sizeof *notes->segment) {
        return false;
    }
    *notes = head->notes;
    notes->note = malloc(bytes ? bytes : 1);
    if (!notes->note) {
        return false;
    }
    memcpy(notes->note, (const char *)answer->data + sizeof *head, bytes);
    for (size_t i = 0; i < notes->count; i++) {
        struct note *note = &notes->note[i];
        note->provider[sizeof note->provider - 1] = note->name[sizeof note->name - 1] =
            note->args[sizeof note->args - 1] = 0;
    }
    return true;
}

enum notes_result inspect_notes(struct inspect *inspect, struct target *target, const struct regular *file,
                                const char *name, const char *provider, struct notes *notes, char *why,
                                size_t why_size) {
    struct notes_request wanted = {0};
    struct notes_answer head = {.result = NOTES_BAD};
    snprintf(wanted.name, sizeof wanted.name, "%s", name);
    snprintf(wanted.provider, sizeof wanted.provider, "%s", provider ? provider : "");
    const struct packet request = {
        .kind = INSPECTOR_NOTES, .data = &wanted, .bytes = sizeof wanted, .descriptor = {file->fd}, .descriptors = 1};
    struct packet answer;
    *notes = (struct notes){0};
    if (!call(inspect, inspector_of_file(inspect, file), target, &request, 0, &answer)) {
        int error = errno;
        snprintf(why, why_size, "%.300s: %s", name,
                 error == ETIMEDOUT ? "reading its probes takes too long"
                 : error == EIO     ? "reading its probes fails, or takes too much memory"
                                    : strerror(error));
        errno = error;
        return NOTES_BAD;
    }
    if (!take_notes(&answer, &head, notes)) {
        *notes = (struct notes){0};
        head = (struct notes_answer){.result = NOTES_BAD};
        snprintf(head.why, sizeof head.why, "%.300s: its probes cannot be read", name);
    }
    packet_clear(&answer);
    snprintf(why, why_size, "%s", head.why);
    errno = 0;
    return head.result;
}

/* Of those files that have the owner of the first one not `done`. */
static void find_probes(struct inspect *inspect, struct target *target, const struct regular *file, size_t count,
                        const struct notes_request *wanted, bool *can_have, bool *done) {
    struct packet answer, request = {.kind = INSPECTOR_PROBES, .data = wanted, .bytes = sizeof *wanted};
    size_t place[INSPECT_FILES];
    struct owner first = {0};
    for (size_t i = 0; i < count; i++) {
        struct owner owner = owner_of_file(&file[i]);
        first = request.descriptors == 0 ? owner : first;
        if (!done[i] && owner.user == first.user && owner.also == first.also) {
            done[i] = true;
            place[request.descriptors] = i;
            request.descriptor[request.descriptors++] = file[i].fd;
        }
    }
    bool known = call(inspect, inspector_of(inspect, first, file[place[0]].owner), target, &request, 0, &answer) &&
                 answer.bytes == request.descriptors;
    for (size_t i = 0; i < request.descriptors; i++) {
        can_have[place[i]] = !known || ((const char *)answer.data)[i] != 0;
    }
    packet_clear(&answer);
}

void inspect_probes(struct inspect *inspect, struct target *target, const struct regular *file, size_t count,
                    const char *provider, bool *can_have) {
    struct notes_request wanted = {0};
    bool done[INSPECT_FILES] = {0};
    snprintf(wanted.provider, sizeof wanted.provider, "%s", provider);
    for (size_t i = 0; i < count; i++) {
        if (!done[i]) {
            find_probes(inspect, target, file + i, count - i, &wanted, can_have + i, done + i);
        }
    }
}

bool inspect_open_path(struct inspect *inspect, struct target *target, uint32_t rights, const char *path,
                       const struct file_identity *wanted, bool is_executable, struct regular *file) {
    struct path_request named = {.user = rights, .is_executable = is_executable};
    /* A stranger's relative path would lead into a folder that may be closed to the stranger. */
    bool has_folder = inspect->folder >= 0 && (rights == 0 || rights == getuid());
    if (wanted) {
        named.wanted = *wanted;
    }
    if (snprintf(named.path, sizeof named.path, "%s", path) >= (int)sizeof named.path) {
        *file = (struct regular){.fd = -1};
        errno = ENAMETOOLONG;
        return false;
    }
    const struct packet request = {.kind = OPENER_PATH,
                                   .data = &named,
                                   .bytes = sizeof named,
                                   .descriptor = {inspect->folder},
                                   .descriptors = has_folder};
    int error;
    bool is_open = call_for_files(inspect, target, &request, 1, file, &error) && file->fd >= 0;
    error = errno;
    report_fuse(inspect, path, error);
    errno = error;
    return is_open;
}

static bool take_needs(const struct packet *answer, struct needs *needs) {
    *needs = (struct needs){0};
    if (answer->bytes <= offsetof(struct needs, text) || answer->bytes > sizeof *needs) {
        return false;
    }
    memcpy(needs, answer->data, answer->bytes);
    bool sound = needs->used != 0 && answer->bytes == needs_bytes(needs) && needs->text[needs->used - 1] == 0 &&
                 needs->interpreter < needs->used && needs->rpath < needs->used && needs->runpath < needs->used &&
                 needs->libraries <= NEEDS_LIBRARIES;
    for (uint32_t i = 0; sound && i < needs->libraries; i++) {
        sound = needs->library[i] < needs->used;
    }
    return sound;
}

bool inspect_needs(struct inspect *inspect, struct target *target, const struct regular *file, struct needs *needs) {
    const struct packet request = {.kind = INSPECTOR_NEEDS, .descriptor = {file->fd}, .descriptors = 1};
    struct packet answer;
    if (!call(inspect, inspector_of_file(inspect, file), target, &request, 0, &answer)) {
        return false;
    }
    bool sound = take_needs(&answer, needs);
    packet_clear(&answer);
    errno = sound ? 0 : EIO;
    return sound;
}

uint64_t inspect_number(struct inspect *inspect) { return ++inspect->numbers; }

/* Whether an answer is as many names of functions, each ended and no longer than FUNCTION_NAME. */
static bool is_names(const struct packet *answer, size_t count) {
    const char *at = answer->data, *end = at + answer->bytes;
    for (size_t i = 0; i < count; i++) {
        size_t length = at < end ? strnlen(at, (size_t)(end - at)) : 0;
        if (at >= end || at + length == end || length >= FUNCTION_NAME) {
            return false;
        }
        at += length + 1;
    }
    return at == end;
}

bool inspect_functions(struct inspect *inspect, uint64_t most_ns, uint64_t number, const struct regular *file,
                       const uint64_t *offset, size_t count, inspect_function_fn *on_function, void *context) {
    struct functions_request wanted = {.number = number, .count = count};
    memcpy(wanted.offset, offset, count * sizeof *offset);
    const struct packet request = {.kind = INSPECTOR_FUNCTIONS,
                                   .data = &wanted,
                                   .bytes = offsetof(struct functions_request, offset) + count * sizeof *offset,
                                   .descriptor = {file->fd},
                                   .descriptors = 1};
    const struct patience patience = {earlier(inspect->call_ns, most_ns), most_ns};
    struct packet answer;
    bool is_answered;
    if (!call_within(inspect, inspector_of_file(inspect, file), patience, &request, 0, &answer, &is_answered)) {
        return false;
    }
    bool sound = answer.data && is_names(&answer, count);
    const char *name = answer.data;
    for (size_t i = 0; sound && i < count; i++) {
        on_function(context, i, name[0] ? name : NULL);
        name += strlen(name) + 1;
    }
    packet_clear(&answer);
    errno = sound ? 0 : EIO;
    return sound;
}

/* ---- links ------------------------------------------------------------------------------------------------------ */

/* Has the detacher run (I1 of detacher.c). */
static bool start_detacher(struct inspect *inspect) {
    struct server *detacher = &inspect->detacher;
    return detacher->worker.pid != 0 || start_server(inspect, detacher, now_ns() + inspect->call_ns);
}

int inspect_attach(struct inspect *inspect, int program, const struct regular *file,
                   const struct multi_link_sites *sites, int pid) {
    const struct patience patience = {LINK_NS, LINK_NS};
    const struct attach_request head = {pid, sites->count};
    const size_t bytes = sites->count * sizeof(uint64_t);
    char *data = start_detacher(inspect) ? malloc(sizeof head + 3 * bytes) : NULL;
    if (!data) {
        return -1;
    }
    memcpy(data, &head, sizeof head);
    memcpy(data + sizeof head, sites->offset, bytes);
    memcpy(data + sizeof head + bytes, sites->semaphore, bytes);
    memcpy(data + sizeof head + 2 * bytes, sites->cookie, bytes);
    const struct packet request = {.kind = OPENER_ATTACH,
                                   .data = data,
                                   .bytes = sizeof head + 3 * bytes,
                                   .descriptor = {program, file->fd},
                                   .descriptors = 2};
    struct packet answer;
    int link = -1;
    inspect->opener.payer = file->owner;
    bool done = ask_twice(inspect, &inspect->opener, patience, &request, 1, &answer);
    int error = done ? answer.error : errno;
    if (done && answer.descriptors == 1) {
        link = answer.descriptor[0];
        answer.descriptors = 0;
    }
    packet_clear(&answer);
    free(data);
    errno = link >= 0 ? 0 : error ? error : EIO;
    return link;
}

/* Takes what the detacher has answered, until `end`. False with errno where it has not answered everything. */
static bool catch_up(struct inspect *inspect, uint64_t end) {
    const struct worker *detacher = &inspect->detacher.worker;
    struct packet answer;
    while (inspect->unanswered != 0 && packet_wait(detacher->socket, end) &&
           packet_receive(detacher->socket, &answer, 0, now_ns() + inspect->call_ns)) {
        packet_clear(&answer);
        inspect->unanswered--;
    }
    return inspect->unanswered == 0;
}

/* Sends links to the detacher, and takes its answers so far: *is_behind, if one is missing. */
static bool hand_over(struct inspect *inspect, const struct packet *request, bool *is_behind) {
    struct worker *detacher = &inspect->detacher.worker;
    *is_behind = !catch_up(inspect, now_ns());
    if (start_detacher(inspect) && packet_send(detacher->socket, request, now_ns() + inspect->call_ns)) {
        inspect->unanswered++;
        return true;
    }
    if (detacher->pid != 0 && errno != ETIMEDOUT) { /* it has died */
        zygote_end_worker(&inspect->zygote, detacher);
        inspect->unanswered = 0;
    }
    return false;
}

bool inspect_detach(struct inspect *inspect, const int *link, size_t count, uint64_t end_ns) {
    struct packet request = {.kind = DETACHER_CLOSE, .descriptors = count};
    memcpy(request.descriptor, link, count * sizeof *link);
    bool is_behind, sent = hand_over(inspect, &request, &is_behind) || hand_over(inspect, &request, &is_behind);
    for (size_t i = 0; i < count; i++) {
        close(link[i]);
    }
    return !sent || is_behind || catch_up(inspect, earlier(now_ns() + LINK_NS, end_ns)) || errno == EINTR;
}

/* ---- heaps ------------------------------------------------------------------------------------------------------ */

static struct packet memory_packet(enum inspector_request kind, const struct target *target, const void *wanted,
                                   size_t bytes) {
    return (struct packet){.kind = kind,
                           .data = wanted,
                           .bytes = bytes,
                           .descriptor = {target->memory.mem, target->memory.pagemap},
                           .descriptors = target->memory.pagemap >= 0 ? 2 : 1};
}

static struct packet heap_packet(enum inspector_request kind, const struct target *target,
                                 const struct heap_request *wanted) {
    return memory_packet(kind, target, wanted, sizeof *wanted);
}

static void check_heap(struct heapinfo *heap) {
    heap->name[sizeof heap->name - 1] = 0;
    heap->known &= (1ull << EDEN_FIGURE_COUNT) - 1;
    if ((unsigned)heap->activity >= EDEN_ACTIVITIES || (unsigned)heap->phase >= EDEN_PHASE_COUNT) {
        heap->activity = EDEN_ACTIVITY_UNKNOWN;
        heap->phase = EDEN_PHASE_scavenge;
    }
}

/* No value that could not be one of its parameter's. */
static void check_params(struct heap_params *params) {
    params->known &= (1ull << EDEN_PARAM_COUNT) - 1;
    for (enum eden_param_id id = 0; id < EDEN_PARAM_COUNT; id++) {
        params->known &= ~(eden_param_is_value(eden_param(id), params->value[id]) ? 0 : 1ull << id);
    }
    params->set &= params->known;
    params->pretenure_file[sizeof params->pretenure_file - 1] = 0;
}

/* Its times on our clock. */
static void set_clock(struct target *target, struct heapinfo *heap) {
    if (!target->knows_clock) {
        target->clock_ahead_ns = target_clock_ahead(target->pid);
        target->knows_clock = true;
    }
    heap->phase_ns -= heap->phase_ns ? (uint64_t)target->clock_ahead_ns : 0;
    heap->activity_ns -= heap->activity_ns ? (uint64_t)target->clock_ahead_ns : 0;
}

int inspect_heaps(struct inspect *inspect, struct target *target, uint64_t registry, struct heapinfo *list, int most,
                  uint64_t *unread) {
    const struct heap_request wanted = {.registry = registry, .most = most};
    const struct packet request = heap_packet(INSPECTOR_HEAPS, target, &wanted);
    struct heaps_answer head;
    struct packet answer;
    size_t count;
    errno = target->mem_error;
    if (target->memory.mem < 0 ||
        !call_for_list(inspect, target, &request, &answer, sizeof head, sizeof *list, (size_t)most, &count)) {
        return -1;
    }
    memcpy(&head, answer.data, sizeof head);
    memcpy(list, (const char *)answer.data + sizeof head, count * sizeof *list);
    for (size_t i = 0; i < count; i++) {
        check_heap(&list[i]);
        set_clock(target, &list[i]);
    }
    *unread = head.unread;
    packet_clear(&answer);
    return (int)count;
}

static bool get(struct inspect *inspect, enum inspector_request kind, struct target *target,
                const struct heap_request *wanted, void *answer, size_t bytes) {
    const struct packet request = heap_packet(kind, target, wanted);
    errno = target->mem_error;
    return target->memory.mem >= 0 &&
           call_for(inspect, inspector_of_process(inspect, target), target, &request, answer, bytes);
}

static bool get_heap(struct inspect *inspect, enum inspector_request kind, struct target *target,
                     const struct heap_request *wanted, struct heapinfo *heap) {
    if (!get(inspect, kind, target, wanted, heap, sizeof *heap)) {
        return false;
    }
    check_heap(heap);
    set_clock(target, heap);
    return true;
}

bool inspect_params(struct inspect *inspect, struct target *target, const struct heapinfo *heap,
                    struct heap_params *params) {
    const struct heap_request wanted = {.address = heap->address, .id = heap->id};
    if (!get(inspect, INSPECTOR_PARAMS, target, &wanted, params, sizeof *params)) {
        return false;
    }
    check_params(params);
    return true;
}

bool inspect_find_heap(struct inspect *inspect, struct target *target, uint64_t registry, uint64_t address,
                       struct heapinfo *heap) {
    return get_heap(inspect, INSPECTOR_FIND, target, &(struct heap_request){.registry = registry, .address = address},
                    heap);
}

bool inspect_heap(struct inspect *inspect, struct target *target, uint64_t address, struct heapinfo *heap) {
    return get_heap(inspect, INSPECTOR_HEAP, target, &(struct heap_request){.address = address}, heap);
}

bool inspect_classes(struct inspect *inspect, struct target *target, const struct heapinfo *heap,
                     bool (*on_class)(void *context, uint32_t index, uint32_t class_index, const char *name),
                     void *context, uint32_t *from, uint32_t *unread) {
    const struct classes_request wanted = {.heap = *heap, .from = *from};
    const struct packet request = memory_packet(INSPECTOR_CLASSES, target, &wanted, sizeof wanted);
    struct packet answer;
    struct classes_answer head;
    struct class_name class;
    size_t count;
    bool more = true;
    *unread = 0;
    if (target->memory.mem < 0 || !call_for_list(inspect, target, &request, &answer, sizeof head, sizeof class,
                                                 PACKET_BYTES / sizeof class, &count)) {
        return false;
    }
    memcpy(&head, answer.data, sizeof head);
    *unread = head.unread;
    for (size_t i = 0; more && i < count; i++) {
        memcpy(&class, (const char *)answer.data + sizeof head + i * sizeof class, sizeof class);
        class.name[sizeof class.name - 1] = 0;
        more = on_class(context, class.index, class.class_index, class.name);
    }
    packet_clear(&answer);
    *from = !more ? class.index + 1 : head.next > *from ? head.next : UINT32_MAX;
    return target->memory.mem >= 0;
}
