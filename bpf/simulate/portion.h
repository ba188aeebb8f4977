/* Objects that were allocated, and will die, at about the same time, as bytes: what a simulated heap holds. */
#ifndef EDEN_SIMULATE_PORTION_H
#define EDEN_SIMULATE_PORTION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* They die between `from` and `to`, spread evenly; `bytes` of them are alive at `from`. */
struct portion {
    uint64_t from, to;
    double bytes;
    bool reached_last; /* and tenured for it: they refer to nothing young */
    bool held;         /* they are dead, and dead old objects hold them until the next full collection */
};

struct portions {
    struct portion *at; /* owned */
    size_t count, room;
};

/* The share that is alive at a time. */
double portion_alive(const struct portion *portion, uint64_t time);
/* Takes out who dies by then; answers them. */
struct portion portion_split(struct portion *portion, uint64_t time);
/* Adds it at the end, unless it is next to nothing. False: no memory. */
bool portions_add(struct portions *portions, const struct portion *portion);
double portions_bytes(const struct portions *portions);
/* A full collection: those that are dead by then leave, of others the dead part. Answers what has left, in bytes. */
double portions_bury(struct portions *portions, uint64_t time);
/* Adds up those that die alike; loses their order. */
void portions_merge(struct portions *portions);
void portions_clear(struct portions *portions);

#endif
