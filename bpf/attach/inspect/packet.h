/* What goes over the socket between the tool and one of its workers: a kind, data, and descriptors. */
#ifndef EDEN_PACKET_H
#define EDEN_PACKET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { PACKET_DESCRIPTORS = 17, PACKET_BYTES = 4 << 20 }; /* 16 files and a socket */

struct packet {
    uint32_t kind;
    int32_t error; /* of an answer: errno; 0: none */
    const void *data;
    size_t bytes; /* at most PACKET_BYTES */
    int descriptor[PACKET_DESCRIPTORS];
    size_t descriptors;
};

/* Sends a packet before end_ns (CLOCK_MONOTONIC). The descriptors stay the caller's. False with errno: ETIMEDOUT, or
 * the other side has gone. */
bool packet_send(int socket, const struct packet *packet, uint64_t end_ns);

/* Receives a packet with at most `most` descriptors. Its data and descriptors are the caller's: packet_clear.
 * If this process may not open that many more files, it is a packet with the error EMFILE and nothing else. False with
 * errno: ETIMEDOUT, EPROTO for what is no packet, or the other side has gone. */
bool packet_receive(int socket, struct packet *packet, size_t most, uint64_t end_ns);
void packet_clear(struct packet *packet);

/* Waits until there is something to receive. A signal that the tool counts (interrupt.h) ends it early: false with
 * EINTR. */
bool packet_wait(int socket, uint64_t end_ns);

#endif
