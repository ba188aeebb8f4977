/* Bounded drains of a ring buffer of the kernel programs.
 *
 * 1. Purpose
 * ring_buffer__consume() goes on as long as there are records: a producer that is as fast as its consumer keeps it for
 * ever. All that was there when a drain began fits into the buffer, so a drain ends after as many bytes.
 *
 * 2. Invariants
 * I1. A record is handed on once: libbpf (1.1 and later) moves the consumer's position beyond a record before it gives
 *     its caller the error of the function that got it.
 * I2. After ring_end(), at most one buffer's bytes are handed on.
 *
 * 3. Failure
 * What comes after the bytes of a drain stays for the next one; what finds no room, the kernel program counts. */
#include "attach/ring.h"
#include "util/clock.h"
#include <bpf/libbpf.h>
#include <errno.h>
#include <stdlib.h>

/* Before each record, and the unit of its bytes. */
enum { HEADER_BYTES = 8 };

struct ring {
    struct ring_buffer *buffer;
    size_t bytes;
    size_t left; /* of this drain; after ring_end(), of all drains */
    bool is_ending;
    uint64_t end_ns;
    ring_record_fn *on_record;
    void *context;
};

static int take(void *context, void *record, size_t bytes) {
    struct ring *ring = context;
    const size_t used = HEADER_BYTES + (bytes + HEADER_BYTES - 1) / HEADER_BYTES * HEADER_BYTES;
    ring->left -= used < ring->left ? used : ring->left;
    bool goes_on = ring->on_record(ring->context, record, bytes);
    return goes_on && ring->left != 0 && now_ns() < ring->end_ns ? 0 : -ECANCELED; /* I1 */
}

struct ring *ring_open(int map, size_t bytes, ring_record_fn *on_record, void *context) {
    struct ring *ring = malloc(sizeof *ring);
    if (!ring) {
        return NULL;
    }
    *ring = (struct ring){.bytes = bytes, .on_record = on_record, .context = context};
    ring->buffer = ring_buffer__new(map, take, ring, NULL);
    if (!ring->buffer) {
        int error = errno;
        free(ring);
        errno = error;
        return NULL;
    }
    return ring;
}

void ring_close(struct ring *ring) {
    if (ring) {
        ring_buffer__free(ring->buffer);
        free(ring);
    }
}

int ring_fd(const struct ring *ring) { return ring ? ring_buffer__epoll_fd(ring->buffer) : -1; }

bool ring_drain(struct ring *ring, uint64_t end_ns) {
    if (!ring) {
        return true;
    }
    ring->left = ring->is_ending ? ring->left : ring->bytes;
    ring->end_ns = end_ns;
    return ring->left == 0 || ring_buffer__consume(ring->buffer) != -ECANCELED || ring->left == 0;
}

void ring_end(struct ring *ring) {
    if (ring && !ring->is_ending) {
        ring->left = ring->bytes;
        ring->is_ending = true;
    }
}

void ring_count_rest(struct ring *ring, ring_record_fn *count, void *context) {
    if (!ring) {
        return;
    }
    ring_record_fn *const on_record = ring->on_record;
    void *const own = ring->context;
    ring->on_record = count;
    ring->context = context;
    ring_drain(ring, UINT64_MAX);
    ring->on_record = on_record;
    ring->context = own;
}
