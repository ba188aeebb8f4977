/* Objects that were allocated, and will die, at about the same time, as bytes: what a simulated heap holds. */
#ifndef EDEN_SIMULATE_PORTION_H
#define EDEN_SIMULATE_PORTION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* They die at a moment between `from` and `to`, spread evenly; none has died until `from`. `bytes`: alive then. */
struct portion {
    uint64_t from, to;
    double bytes;
    bool held; /* dead, but dead old objects hold them until the next full collection; `from` and `to` are of no use */
};

struct portions {
    struct portion *at; /* owned */
    size_t count, room;
};

/* The share that is alive at a time. */
double portion_alive(const struct portion *portion, uint64_t time);
/* Adds it at the end, unless it is next to nothing. False: no memory. */
bool portions_add(struct portions *portions, const struct portion *portion);
double portions_bytes(const struct portions *portions);
/* Those that are dead by then leave; of others the dead part. What has left. */
double portions_bury(struct portions *portions, uint64_t time);
/* Adds up those that die alike; loses their order. */
void portions_merge(struct portions *portions);
void portions_clear(struct portions *portions);

#endif
