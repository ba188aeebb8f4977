/* Portions: adding up objects that are alike to a simulation, as a fluid.
 *
 * Parts of bytes are kept, for what becomes of objects is known in shares; what is less than a thousandth of a byte is
 * dropped. */
#include "portion.h"
#include <stdlib.h>

static const double LEAST = 1e-3; /* bytes */

double portion_alive(const struct portion *portion, uint64_t time) {
    if (portion->held || time <= portion->from) {
        return 1;
    }
    return time >= portion->to ? 0 : (double)(portion->to - time) / (double)(portion->to - portion->from);
}

struct portion portion_split(struct portion *portion, uint64_t time) {
    struct portion first = *portion;
    first.bytes *= 1 - portion_alive(portion, time);
    portion->bytes -= first.bytes;
    if (time > portion->from && time < portion->to && !portion->held) {
        first.to = portion->from = time;
    }
    return first;
}

bool portions_add(struct portions *portions, const struct portion *portion) {
    if (portion->bytes < LEAST) {
        return true;
    }
    if (portions->count == portions->room) {
        size_t more = portions->room != 0 ? 2 * portions->room : 256;
        void *grown = reallocarray(portions->at, more, sizeof *portions->at);
        if (!grown) {
            return false;
        }
        portions->at = grown;
        portions->room = more;
    }
    portions->at[portions->count++] = *portion;
    return true;
}

double portions_bytes(const struct portions *portions) {
    double bytes = 0;
    for (size_t i = 0; i < portions->count; i++) {
        bytes += portions->at[i].bytes;
    }
    return bytes;
}

double portions_bury(struct portions *portions, uint64_t time) {
    double dead = 0;
    size_t kept = 0;
    for (size_t i = 0; i < portions->count; i++) {
        struct portion portion = portions->at[i];
        double alive = portion.held ? 0 : portion.bytes * portion_alive(&portion, time);
        dead += portion.bytes - alive;
        if (alive > 0) {
            portion.bytes = alive;
            portion.from = time > portion.from ? time : portion.from;
            portions->at[kept++] = portion;
        }
    }
    portions->count = kept;
    return dead;
}

static int by_death(const void *a, const void *b) {
    const struct portion *x = a, *y = b;
    if (x->held != y->held) {
        return x->held ? -1 : 1;
    }
    if (x->reached_last != y->reached_last) {
        return x->reached_last ? -1 : 1;
    }
    if (x->to != y->to) {
        return x->to < y->to ? -1 : 1;
    }
    return x->from < y->from ? -1 : x->from > y->from;
}

void portions_merge(struct portions *portions) {
    if (portions->count == 0) {
        return;
    }
    qsort(portions->at, portions->count, sizeof *portions->at, by_death);
    size_t last = 0; /* of those that stay */
    for (size_t i = 1; i < portions->count; i++) {
        if (by_death(&portions->at[last], &portions->at[i]) == 0) {
            portions->at[last].bytes += portions->at[i].bytes;
        } else {
            portions->at[++last] = portions->at[i];
        }
    }
    portions->count = last + 1;
}

void portions_clear(struct portions *portions) {
    free(portions->at);
    *portions = (struct portions){0};
}
