/* The threads that help a collection: one pool a process. */
#ifndef EDEN_HEAP_WORKERS_H
#define EDEN_HEAP_WORKERS_H

#include "heap/heap.h"
#include "heap/work_queue.h"

/* For heap->alone_bytes: what takes ten times as long as waking threads. */
enum { WORKERS_ALONE_BYTES = 512 * 1024 };
/* What a collection of this heap may have, its own thread included: gc_threads, and what it says of `unset`. 1 where
 * somebody watches objects one by one, in order. */
unsigned workers_wanted(const eden_heap *heap);
/* Takes the pool for one collection, and starts threads that it lacks; their queues are empty. `room`: of each queue.
 * Returns how many will work, this thread included; 1: nothing is taken, there is nobody else. */
unsigned workers_take(eden_heap *heap, unsigned wanted, size_t room);
/* Calls run(context, index) in each of them, 0 being the thread that has taken the pool, and waits for all. Queues keep
 * what is left in them for the next run. */
void workers_run(void (*run)(void *context, unsigned index), void *context);
void workers_give_back(void);

/* ---- within a run ---- */
struct work_queue *workers_queue(unsigned index);
/* An entry of somebody else, when this thread has none. False: nobody has any, and the work is done. `poll`: what
 * thread 0 does while it waits. */
bool workers_steal(unsigned index, uint64_t *entry, void (*poll)(void *context), void *context);
/* Instead, where a run ends with something in the queues: thread 0 waits for the others and polls. */
void workers_arrive(unsigned index, void (*poll)(void *context), void *context);
/* Asked once an entry: has this thread had so little in its queue for so long that the others have had nothing? A list
 * is such work: one thread alone is faster than one of several, which has to claim what it reaches. */
struct solitude {
    unsigned entries, times;
};
bool workers_is_solitary(struct solitude *solitude);
enum { WORKERS_PATIENCE = 8 }; /* the factor by which the work done alone grows before others are woken again */
/* Does this thread act for the one that collects? It may allocate memory and report. */
bool workers_is_first(unsigned index);

#endif
