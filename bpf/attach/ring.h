/* A ring buffer of the kernel programs, drained in bounded time however fast it is filled. */
#ifndef EDEN_RING_H
#define EDEN_RING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct ring;

/* Takes a record of the ring. False: the drain ends after this one. */
typedef bool ring_record_fn(void *context, const void *record, size_t bytes);

/* `map`: its descriptor, which the ring does not own; `bytes`: how many it holds. NULL with errno. */
struct ring *ring_open(int map, size_t bytes, ring_record_fn *on_record, void *context);
/* Here and below, NULL is a ring without records. */
void ring_close(struct ring *ring);

/* For poll(); -1 for NULL. */
int ring_fd(const struct ring *ring);

/* Hands on each record that was there when the drain began, once and in order; the record at end_ns (CLOCK_MONOTONIC)
 * is the last one. True: those were all. False: the next drain goes on. */
bool ring_drain(struct ring *ring, uint64_t end_ns);

/* From now on, all drains together hand on what is there now. */
void ring_end(struct ring *ring);

/* Hands on the rest of what ring_drain() would hand on, to another function, without a limit of time: it only counts.
 */
void ring_count_rest(struct ring *ring, ring_record_fn *count, void *context);

#endif
