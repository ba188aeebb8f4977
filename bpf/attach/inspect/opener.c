/* The opener: a worker that does whatever needs rights and can wait for a stranger.
 *
 * 1. Purpose
 * Opens a process's memory, the files that it maps, and those that a program names; writes a heap's control word;
 * attaches to files.
 *
 * 2. Algorithm
 * A file system's server, which may be a stranger's, decides when opening a file, asking for its size and closing it
 * end, also below another file system (overlayfs). So the tool gets descriptors opened with O_PATH, which ask no
 * server, and what fstat() says. A descriptor to read is opened for one request to the inspector, and sent there from
 * here.
 *
 * 3. Invariants
 * I1. It reads no byte of a file, and of memory only the one page that a write touches.
 * I2. It writes three values only, which it knew before any stranger's byte was read (opener_serve).
 * I3. It keeps nothing from one request to the next.
 * I4. A path that the user names is opened with the user's own rights, one that a stranger's file names with the
 *     stranger's (rights.h).
 * I5. A link goes to the tool in one piece with its head: the tool has it, or this process closes it.
 * I6. No descriptor from which a stranger's file can be read goes to the tool.
 * I7. Files are closed before the answer: a close that never ends costs the file's process its deadline, not the next
 *     one.
 *
 * 4. Failure
 * The answer to a request that fails is errno. One that never ends costs the worker: the tool has it killed. */
#include "attach/inspect/packet.h"
#include "attach/inspect/protocol.h"
#include "attach/inspect/zygote.h"
#include "attach/multi_link.h"
#include "eden_batches.h"
#include "util/clock.h"
#include "util/regular.h"
#include "util/rights.h"
#include <errno.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#define SEND_NS 1000000000u /* into a socket that has room */

static bool take(const struct packet *packet, void *request, size_t bytes) {
    errno = EPROTO;
    return packet->bytes == bytes && memcpy(request, packet->data, bytes);
}

/* What an answer points to. */
struct answer_data {
    struct process_answer opened;
    uint64_t start_ns;
    uint32_t owner[OPENER_PROCESSES];
    struct file_answer file[PACKET_DESCRIPTORS];
};

static bool open_process(const struct packet *packet, uint64_t control, struct packet *answer,
                         struct process_answer *opened) {
    struct process_request request;
    struct target target;
    if (!take(packet, &request, sizeof request) ||
        !target_open(&target, request.pid, request.start_ns, request.writable && control != 0)) {
        return false;
    }
    opened->mem_error = target.mem_error;
    opened->start_ns = target.start_ns;
    opened->user = target.user;
    answer->data = opened;
    answer->bytes = sizeof *opened;
    answer->descriptor[answer->descriptors++] = target.maps;
    /* In this order; the tool takes the second for mem. */
    if (target.memory.mem >= 0) {
        answer->descriptor[answer->descriptors++] = target.memory.mem;
    }
    if (target.memory.mem < 0 && target.memory.pagemap >= 0) {
        close(target.memory.pagemap);
    } else if (target.memory.pagemap >= 0) {
        answer->descriptor[answer->descriptors++] = target.memory.pagemap;
    }
    return true;
}

static bool read_start(const struct packet *packet, struct packet *answer, uint64_t *start_ns) {
    struct process_request request;
    if (!take(packet, &request, sizeof request)) {
        return false;
    }
    *start_ns = target_start_ns(request.pid);
    answer->data = start_ns;
    answer->bytes = sizeof *start_ns;
    return true;
}

static uint32_t owner_of(const struct owners_request *request, int pid) {
    uint32_t owner;
    return now_ns() >= request->end_ns         ? INSPECT_UNKNOWN_OWNER
           : request->may_wait                 ? target_owner(pid)
           : target_owner_at_once(pid, &owner) ? owner
                                               : INSPECT_UNKNOWN_OWNER;
}

/* Those that are not reached in time are unknown: so one that takes long does not cost the others their owner. */
static bool read_owners(const struct packet *packet, struct packet *answer, uint32_t *owner) {
    struct owners_request request;
    const size_t head = offsetof(struct owners_request, pid);
    const size_t count = packet->bytes > head ? (packet->bytes - head) / sizeof *request.pid : 0;
    if (count > OPENER_PROCESSES || !take(packet, &request, head + count * sizeof *request.pid)) {
        errno = EPROTO;
        return false;
    }
    for (size_t i = 0; i < count; i++) {
        owner[i] = owner_of(&request, request.pid[i]);
    }
    answer->data = owner;
    answer->bytes = count * sizeof *owner;
    return true;
}

static bool open_files(const struct packet *packet, struct packet *answer, struct file_answer *found) {
    struct files_request request;
    struct mapping mapping;
    size_t count = packet->bytes / sizeof mapping;
    if (packet->bytes != sizeof request + count * sizeof mapping || count > PACKET_DESCRIPTORS) {
        errno = EPROTO;
        return false;
    }
    memcpy(&request, packet->data, sizeof request);
    for (size_t i = 0; i < count; i++) {
        memcpy(&mapping, (const char *)packet->data + sizeof request + i * sizeof mapping, sizeof mapping);
        struct regular file;
        bool is_open = target_open_mapping(request.pid, &mapping, &file);
        found[i] = (struct file_answer){is_open ? 0 : errno, file.status};
        if (is_open) {
            answer->descriptor[answer->descriptors++] = file.fd;
        }
    }
    answer->data = found;
    answer->bytes = count * sizeof *found;
    return true;
}

static bool open_path(const struct packet *packet, struct packet *answer, struct file_answer *found) {
    struct path_request request;
    if (!take(packet, &request, sizeof request)) {
        return false;
    }
    request.path[sizeof request.path - 1] = 0;
    int folder = packet->descriptors != 0 ? packet->descriptor[0] : -1;
    pid_t zygote = getppid();
    bool is_limited = request.user != 0 ? rights_files_of_stranger(request.user) : rights_files_of_user();
    struct regular file = {.fd = -1};
    bool is_open = is_limited && regular_open(folder, request.path, request.wanted.inode, request.is_executable,
                                              request.user != 0, &file);
    if (is_open && request.wanted.inode != 0 && !target_is_file(&file, &request.wanted)) {
        regular_close(&file);
        is_open = false;
        errno = ENOENT;
    }
    int error = errno;
    if (is_open) {
        answer->descriptor[answer->descriptors++] = file.fd;
        found->status = file.status;
        answer->data = found;
        answer->bytes = sizeof *found;
    }
    /* The kernel forgets it with a change of users. */
    if (!rights_files_of_all() || prctl(PR_SET_PDEATHSIG, SIGKILL) != 0 || getppid() != zygote) {
        _exit(1);
    }
    errno = error;
    return is_open;
}

/* The rights to read them were needed when they were opened with O_PATH. */
static bool forward(const struct packet *packet) {
    struct forward_request request;
    if (packet->bytes < sizeof request || packet->descriptors < 2) {
        errno = EPROTO;
        return false;
    }
    memcpy(&request, packet->data, sizeof request);
    struct packet onward = {.kind = request.kind,
                            .data = (const char *)packet->data + sizeof request,
                            .bytes = packet->bytes - sizeof request};
    struct stat status;
    int fd = 0;
    for (size_t i = 1; fd >= 0 && i < packet->descriptors; i++) {
        fd = regular_read(packet->descriptor[i], &status);
        if (fd >= 0) {
            onward.descriptor[onward.descriptors++] = fd;
        }
    }
    int error = fd < 0 ? errno : packet_send(packet->descriptor[0], &onward, now_ns() + SEND_NS) ? 0 : EPIPE;
    for (size_t i = 0; i < onward.descriptors; i++) {
        close(onward.descriptor[i]); /* I7 */
    }
    errno = error;
    return error == 0;
}

static bool write_word(const struct packet *packet, uint64_t control) {
    struct write_request request;
    if (!take(packet, &request, sizeof request) || packet->descriptors < 2) {
        return false;
    }
    const uint64_t end = EDEN_CONTROL_ASKED | EDEN_CONTROL_END;
    bool is_request = control != 0 && (request.value & ~EDEN_CONTROL_TURN) == control;
    if (request.value != 0 && !is_request && request.value != end) { /* I2 */
        errno = EPERM;
        return false;
    }
    const struct target target = {
        .maps = packet->descriptor[0],
        .memory = {packet->descriptor[1], packet->descriptors > 2 ? packet->descriptor[2] : -1}};
    return target_write(&target, request.address, request.value);
}

/* The file is named by /proc/self/fd/N of a descriptor that is open already: what was looked into is what is attached
 * to, whatever happens to its path, and it does not matter from which mount namespace it came. */
static bool attach(const struct packet *packet, struct packet *answer) {
    struct attach_request request;
    char path[64];
    errno = EPROTO;
    if (packet->bytes < sizeof request || packet->descriptors != 2) {
        return false;
    }
    memcpy(&request, packet->data, sizeof request);
    const size_t count = request.count;
    if (packet->bytes - sizeof request != count * 3 * sizeof(uint64_t)) {
        return false;
    }
    const uint64_t *word = (const uint64_t *)((const char *)packet->data + sizeof request);
    const struct multi_link_sites sites = {
        .offset = word, .semaphore = word + count, .cookie = word + 2 * count, .count = request.count};
    snprintf(path, sizeof path, "/proc/self/fd/%d", packet->descriptor[1]);
    int link = multi_link_create(packet->descriptor[0], path, &sites, request.pid);
    if (link >= 0) {
        answer->descriptor[answer->descriptors++] = link;
    }
    return link >= 0;
}

static bool answer_one(const struct packet *packet, uint64_t control, struct packet *answer, struct answer_data *data) {
    switch ((enum opener_request)packet->kind) {
    case OPENER_START:
        return read_start(packet, answer, &data->start_ns);
    case OPENER_OWNERS:
        return read_owners(packet, answer, data->owner);
    case OPENER_PROCESS:
        return open_process(packet, control, answer, &data->opened);
    case OPENER_FILES:
        return open_files(packet, answer, data->file);
    case OPENER_PATH:
        return open_path(packet, answer, data->file);
    case OPENER_FORWARD:
        return forward(packet);
    case OPENER_WRITE:
        return write_word(packet, control);
    case OPENER_ATTACH:
        return attach(packet, answer);
    }
    errno = EPROTO;
    return false;
}

void opener_serve(int socket, uint64_t control) {
    struct packet packet;
    prctl(PR_SET_NAME, "edenscope-open");
    if (!rights_files_of_all()) {
        return;
    }
    while (packet_receive(socket, &packet, PACKET_DESCRIPTORS, UINT64_MAX)) {
        struct answer_data data = {0};
        struct packet answer = {.kind = packet.kind};
        if (!answer_one(&packet, control, &answer, &data)) {
            answer.error = errno;
        }
        bool sent = packet_send(socket, &answer, UINT64_MAX);
        for (size_t i = 0; i < answer.descriptors; i++) {
            close(answer.descriptor[i]);
        }
        packet_clear(&packet);
        if (!sent) {
            return;
        }
    }
}
