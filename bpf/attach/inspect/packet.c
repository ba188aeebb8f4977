/* Packets: a head of fixed size with the descriptors, then the data.
 *
 * The side that trusts the other less is the tool: it accepts no more bytes and descriptors than it asked for, and
 * waits no longer than its deadline. */
#include "attach/inspect/packet.h"
#include "util/clock.h"
#include "util/interrupt.h"
#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

struct head {
    uint32_t kind;
    int32_t error;
    uint32_t bytes;
    uint32_t descriptors;
};

union control {
    struct cmsghdr align;
    char bytes[CMSG_SPACE(PACKET_DESCRIPTORS * sizeof(int))];
};

/* False with ETIMEDOUT, or with EINTR for a signal. */
static bool wait_for(int socket, short event, uint64_t end_ns) {
    struct pollfd wait = {.fd = socket, .events = event};
    uint64_t now = now_ns(), left_ms = end_ns > now ? (end_ns - now) / 1000000 + 1 : 0;
    int ready = poll(&wait, 1, end_ns == UINT64_MAX ? -1 : left_ms < INT_MAX ? (int)left_ms : INT_MAX);
    if (ready == 0) {
        errno = ETIMEDOUT;
    }
    return ready > 0;
}

bool packet_wait(int socket, uint64_t end_ns) {
    int before = interrupt_count();
    while (!wait_for(socket, POLLIN, end_ns)) {
        if (errno != EINTR || interrupt_count() != before) {
            return false;
        }
    }
    return true;
}

/* After a call that would have waited, or was interrupted: waits. False: there is nothing to wait for. */
static bool can_go_on(int socket, short event, uint64_t end_ns) {
    if (errno == EINTR) {
        return true;
    }
    return errno == EAGAIN && (wait_for(socket, event, end_ns) || errno == EINTR);
}

static bool send_bytes(int socket, const char *from, size_t bytes, uint64_t end_ns) {
    while (bytes != 0) {
        ssize_t sent = send(socket, from, bytes, MSG_NOSIGNAL | MSG_DONTWAIT);
        if (sent > 0) {
            from += sent;
            bytes -= (size_t)sent;
        } else if (!can_go_on(socket, POLLOUT, end_ns)) {
            return false;
        }
    }
    return true;
}

bool packet_send(int socket, const struct packet *packet, uint64_t end_ns) {
    struct head head = {packet->kind, packet->error, (uint32_t)packet->bytes, (uint32_t)packet->descriptors};
    struct iovec parts[] = {{&head, sizeof head}, {(void *)packet->data, packet->bytes}};
    struct msghdr message = {.msg_iov = parts, .msg_iovlen = packet->bytes != 0 ? 2 : 1};
    union control control;
    if (packet->descriptors != 0) {
        memset(&control, 0, sizeof control);
        message.msg_control = &control;
        message.msg_controllen = CMSG_SPACE(packet->descriptors * sizeof(int));
        struct cmsghdr *rights = CMSG_FIRSTHDR(&message);
        rights->cmsg_level = SOL_SOCKET;
        rights->cmsg_type = SCM_RIGHTS;
        rights->cmsg_len = CMSG_LEN(packet->descriptors * sizeof(int));
        memcpy(CMSG_DATA(rights), packet->descriptor, packet->descriptors * sizeof(int));
    }
    ssize_t sent;
    do {
        sent = sendmsg(socket, &message, MSG_NOSIGNAL | MSG_DONTWAIT);
    } while (sent < 0 && can_go_on(socket, POLLOUT, end_ns));
    if (sent <= 0) {
        return false;
    }
    size_t done = (size_t)sent, of_head = done < sizeof head ? done : sizeof head, of_data = done - of_head;
    return send_bytes(socket, (const char *)&head + of_head, sizeof head - of_head, end_ns) &&
           (packet->bytes == of_data ||
            send_bytes(socket, (const char *)packet->data + of_data, packet->bytes - of_data, end_ns));
}

static bool receive_bytes(int socket, char *to, size_t bytes, uint64_t end_ns) {
    while (bytes != 0) {
        ssize_t got = recv(socket, to, bytes, MSG_DONTWAIT);
        if (got == 0) {
            errno = ECONNRESET;
            return false;
        }
        if (got > 0) {
            to += got;
            bytes -= (size_t)got;
        } else if (!can_go_on(socket, POLLIN, end_ns)) {
            return false;
        }
    }
    return true;
}

static void take_descriptors(struct packet *packet, struct msghdr *message) {
    for (struct cmsghdr *at = CMSG_FIRSTHDR(message); at; at = CMSG_NXTHDR(message, at)) {
        size_t count = (at->cmsg_len - CMSG_LEN(0)) / sizeof(int);
        for (size_t i = 0; at->cmsg_level == SOL_SOCKET && at->cmsg_type == SCM_RIGHTS && i < count; i++) {
            int descriptor;
            memcpy(&descriptor, CMSG_DATA(at) + i * sizeof descriptor, sizeof descriptor);
            if (packet->descriptors < PACKET_DESCRIPTORS) {
                packet->descriptor[packet->descriptors++] = descriptor;
            } else {
                close(descriptor);
            }
        }
    }
}

/* Head and descriptors. The kernel drops descriptors that find no room: then *is_cut. */
static bool receive_head(int socket, struct packet *packet, struct head *head, size_t most, uint64_t end_ns,
                         bool *is_cut) {
    union control control;
    struct iovec part = {head, sizeof *head};
    struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1};
    if (most != 0) {
        message.msg_control = &control;
        message.msg_controllen = sizeof control;
    }
    ssize_t got;
    do {
        got = recvmsg(socket, &message, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
    } while (got < 0 && can_go_on(socket, POLLIN, end_ns));
    if (got == 0) {
        errno = ECONNRESET;
    }
    if (got <= 0) {
        return false;
    }
    take_descriptors(packet, &message);
    *is_cut = message.msg_flags & MSG_CTRUNC;
    return receive_bytes(socket, (char *)head + got, sizeof *head - (size_t)got, end_ns);
}

bool packet_receive(int socket, struct packet *packet, size_t most, uint64_t end_ns) {
    struct head head;
    char *data = NULL;
    *packet = (struct packet){0};
    bool is_cut = false, received = receive_head(socket, packet, &head, most, end_ns, &is_cut);
    bool lacks_room = is_cut && head.descriptors > packet->descriptors && head.descriptors <= most;
    if (received && (head.bytes > PACKET_BYTES || (head.descriptors != packet->descriptors && !lacks_room) ||
                     packet->descriptors > most)) {
        errno = EPROTO;
        received = false;
    }
    if (received && head.bytes != 0) {
        data = malloc(head.bytes);
        received = data && receive_bytes(socket, data, head.bytes, end_ns);
    }
    packet->kind = received ? head.kind : 0;
    packet->error = received ? head.error : 0;
    packet->data = data;
    packet->bytes = received ? head.bytes : 0;
    if (!received || lacks_room) {
        int error = errno;
        packet_clear(packet);
        packet->error = received ? EMFILE : 0;
        errno = error;
    }
    return received;
}

void packet_clear(struct packet *packet) {
    for (size_t i = 0; i < packet->descriptors; i++) {
        close(packet->descriptor[i]);
    }
    free((void *)packet->data);
    *packet = (struct packet){0};
}
