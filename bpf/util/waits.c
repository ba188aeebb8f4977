#include "util/waits.h"
#include "util/array.h"
#include <stdlib.h>

struct wait {
    uint32_t owner;
    uint64_t cost_ns, since_ns; /* since_ns: until then, time has brought the cost down */
};

static struct wait *find(const struct waits *waits, uint32_t owner) {
    for (size_t i = 0; i < waits->count; i++) {
        if (waits->of[i].owner == owner) {
            return &waits->of[i];
        }
    }
    return NULL;
}

bool waits_allow(struct waits *waits, uint32_t owner, uint64_t now) {
    struct wait *wait = find(waits, owner);
    if (!wait) {
        wait = array_grow(&waits->of, &waits->room, waits->count, sizeof *wait);
        if (!wait) {
            return false;
        }
        waits->count++;
        *wait = (struct wait){.owner = owner, .since_ns = now};
    }
    const uint64_t paid = (now - wait->since_ns) / WAITS_REST;
    wait->cost_ns -= paid < wait->cost_ns ? paid : wait->cost_ns;
    wait->since_ns = now;
    return wait->cost_ns <= WAITS_NS;
}

uint64_t waits_cost(uint64_t waited_ns, uint64_t queue_before, uint64_t queue_after) {
    const uint64_t queued = queue_after > queue_before ? queue_after - queue_before : 0;
    return waited_ns > queued ? waited_ns - queued : 0;
}

void waits_charge(struct waits *waits, uint32_t owner, uint64_t ns) {
    struct wait *wait = find(waits, owner);
    if (wait) {
        wait->cost_ns += ns;
    }
}

void waits_clear(struct waits *waits) {
    free(waits->of);
    *waits = (struct waits){0};
}
