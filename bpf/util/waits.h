/* A budget, by owner, for the time that processes make the tool wait. */
#ifndef EDEN_WAITS_H
#define EDEN_WAITS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* An owner may be waited for while it has cost no more than WAITS_NS, and a WAITS_REST-th of the time brings that down.
 * Time without waiting adds nothing: a wait stops the tool. */
#define WAITS_NS 500000000u
enum { WAITS_REST = 100 };

struct waits {
    struct wait *of; /* owned */
    size_t count, room;
};

/* Whether the owner may be waited for now (now_ns()); false also where there is no memory. */
bool waits_allow(struct waits *waits, uint32_t owner, uint64_t now);

/* Of a wait, what is its process's doing: without the time that was waited for processors, by the clocks of those who
 * waited before and after. */
uint64_t waits_cost(uint64_t waited_ns, uint64_t queue_before, uint64_t queue_after);

/* What waiting for it has cost, after waits_allow(). */
void waits_charge(struct waits *waits, uint32_t owner, uint64_t ns);

void waits_clear(struct waits *waits);

#endif
