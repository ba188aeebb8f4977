/* How long the young live, seen through scavenges only.
 *
 * A scavenge looks at each object of eden once, at the age that it happens to have then, and tells whether it lives. Of
 * a death it tells nothing but that it came before: statisticians call this current status data, and the estimate of
 * most likelihood for the survival curve is the best non-increasing fit to the shares alive at each age (Groeneboom and
 * Wellner 1992), found by pooling neighbours that go up (the pool-adjacent-violators algorithm). Ages are pooled into
 * steps first, eight to a doubling.
 *
 * What can go wrong: the curve is that of the whole run. Where a program changes its ways it is a mean of them. It is
 * used for the ages within one recorded interval only: what lived longer is known by itself. */
#include "simulate/curve.h"
#include <math.h>

static unsigned step_of(uint64_t age) {
    if (age < 2ull * CURVE_STEPS) {
        return (unsigned)age;
    }
    unsigned power = 63 - (unsigned)__builtin_clzll(age), shift = power - 3;
    unsigned step = (power - 3) * CURVE_STEPS + (unsigned)(age >> shift);
    return step < CURVE_POINTS ? step : CURVE_POINTS - 1;
}
_Static_assert(CURVE_STEPS == 8, "step_of shifts by 3");

void simulate_curve_add(struct simulate_curve *curve, uint64_t age, uint64_t bytes, bool alive) {
    unsigned step = step_of(age);
    curve->bytes[step] += bytes;
    curve->alive[step] += alive ? bytes : 0;
}

void simulate_curve_finish(struct simulate_curve *curve) {
    struct pool {
        double bytes, alive;
        unsigned steps;
    } pools[CURVE_POINTS];
    unsigned count = 0;
    for (unsigned i = 0; i < CURVE_POINTS; i++) {
        pools[count++] = (struct pool){(double)curve->bytes[i], (double)curve->alive[i], 1};
        while (count > 1 &&
               pools[count - 1].alive * pools[count - 2].bytes >= pools[count - 2].alive * pools[count - 1].bytes) {
            count--;
            pools[count - 1].bytes += pools[count].bytes;
            pools[count - 1].alive += pools[count].alive;
            pools[count - 1].steps += pools[count].steps;
        }
    }
    unsigned at = 0;
    double last = 1;
    for (unsigned i = 0; i < count; i++) {
        last = pools[i].bytes > 0 ? pools[i].alive / pools[i].bytes : last;
        for (unsigned j = 0; j < pools[i].steps; j++) {
            curve->survival[at++] = last;
        }
    }
}

double simulate_curve_at(const struct simulate_curve *curve, uint64_t age) {
    return age == 0 ? 1 : curve->survival[step_of(age)];
}
