/* Drains of a ring buffer that a process fills faster than it is drained: libbpf's part is played here (--wrap). */
#include "attach/ring.h"
#include "util/clock.h"
#include <bpf/libbpf.h>
#include <errno.h>
#include <stdint.h>

#include "suite.h"

enum { RECORD = 24, USED = 32, RECORDS = 100, BYTES = USED * RECORDS };

/* A buffer with this many further records; SIZE_MAX: they never end. */
static struct {
    ring_buffer_sample_fn take;
    void *context;
    size_t left;
    uint64_t next; /* what the next record holds */
} buffer;

struct ring_buffer *__wrap_ring_buffer__new(int map, ring_buffer_sample_fn take, void *context,
                                            const struct ring_buffer_opts *options);
struct ring_buffer *__wrap_ring_buffer__new(int map, ring_buffer_sample_fn take, void *context,
                                            const struct ring_buffer_opts *options) {
    (void)map, (void)options;
    buffer.take = take;
    buffer.context = context;
    return (struct ring_buffer *)&buffer;
}

void __wrap_ring_buffer__free(struct ring_buffer *freed);
void __wrap_ring_buffer__free(struct ring_buffer *freed) { (void)freed; }

/* As libbpf does: a record is behind the consumer before the error of `take` counts. */
int __wrap_ring_buffer__consume(struct ring_buffer *consumed);
int __wrap_ring_buffer__consume(struct ring_buffer *consumed) {
    enum { HANGS = 1000 * RECORDS };
    (void)consumed;
    int count = 0;
    for (; buffer.left != 0; count++) {
        uint64_t record[RECORD / sizeof(uint64_t)] = {buffer.next++};
        buffer.left -= buffer.left != SIZE_MAX;
        int error = buffer.take(buffer.context, record, sizeof record);
        if (error < 0) {
            return error;
        }
        if (count == HANGS) {
            fail_msg("a drain goes on as long as records come");
        }
    }
    return count;
}

static uint64_t taken, stop_after;

/* Each record comes once, in order. */
static bool take(void *context, const void *record, size_t bytes) {
    assert_ptr_equal(context, &taken);
    assert_int_equal(bytes, RECORD);
    assert_int_equal(*(const uint64_t *)record, taken);
    taken++;
    return taken != stop_after;
}

static struct ring *open_ring(size_t records) {
    taken = stop_after = buffer.next = 0;
    buffer.left = records;
    struct ring *ring = ring_open(-1, BYTES, take, &taken);
    assert_non_null(ring);
    return ring;
}

TEST(a_drain_takes_what_was_there) {
    struct ring *ring = open_ring(RECORDS);
    assert_true(ring_drain(ring, UINT64_MAX));
    assert_int_equal(taken, RECORDS);
    assert_true(ring_drain(ring, UINT64_MAX));
    assert_int_equal(taken, RECORDS);
    ring_close(ring);
}

TEST(a_drain_ends_while_records_come) {
    struct ring *ring = open_ring(SIZE_MAX);
    assert_true(ring_drain(ring, UINT64_MAX));
    assert_int_equal(taken, RECORDS);
    assert_true(ring_drain(ring, UINT64_MAX));
    assert_int_equal(taken, 2 * RECORDS);
    ring_close(ring);
}

TEST(a_drain_ends_at_its_time) {
    struct ring *ring = open_ring(RECORDS);
    assert_false(ring_drain(ring, now_ns()));
    assert_int_equal(taken, 1);
    assert_true(ring_drain(ring, UINT64_MAX)); /* goes on where it was */
    assert_int_equal(taken, RECORDS);
    ring_close(ring);
}

TEST(who_takes_records_ends_a_drain) {
    struct ring *ring = open_ring(RECORDS);
    stop_after = 7;
    assert_false(ring_drain(ring, UINT64_MAX));
    assert_int_equal(taken, 7);
    assert_true(ring_drain(ring, UINT64_MAX));
    assert_int_equal(taken, RECORDS);
    ring_close(ring);
}

/* All drains at the end take as much as the buffer holds, then none is left. */
TEST(the_end_comes_while_records_come) {
    struct ring *ring = open_ring(SIZE_MAX);
    assert_true(ring_drain(ring, UINT64_MAX));
    ring_end(ring);
    stop_after = RECORDS + 40;
    assert_false(ring_drain(ring, UINT64_MAX));
    ring_end(ring);
    assert_true(ring_drain(ring, UINT64_MAX));
    assert_int_equal(taken, 2 * RECORDS);
    assert_true(ring_drain(ring, UINT64_MAX));
    assert_int_equal(taken, 2 * RECORDS);
    ring_close(ring);
}

static bool count(void *context, const void *record, size_t bytes) {
    (void)record, (void)bytes;
    ++*(size_t *)context;
    return true;
}

TEST(the_rest_is_counted) {
    size_t rest = 0;
    struct ring *ring = open_ring(SIZE_MAX);
    ring_end(ring);
    stop_after = 60;
    assert_false(ring_drain(ring, UINT64_MAX));
    ring_count_rest(ring, count, &rest);
    assert_int_equal(taken, 60);
    assert_int_equal(rest, RECORDS - 60);
    assert_true(ring_drain(ring, UINT64_MAX));
    assert_int_equal(rest, RECORDS - 60);
    ring_close(ring);
}
