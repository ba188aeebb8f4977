/* The lifetimes of young objects, as scavenges see them.
 *
 * A scavenge sees each object of eden once, at the age that it has then, and whether it is alive. A death is only known
 * to have come before. This is current status data. Its maximum likelihood estimate of the survival curve is the best
 * non-increasing fit to the shares alive at each age (Groeneboom and Wellner 1992), computed by the
 * pool-adjacent-violators algorithm. Ages are first pooled into steps, eight to a doubling.
 *
 * Failure. The curve is that of the whole run: if the program changes its behaviour, it is a mean. It is used only for
 * ages within one recorded interval: longer lifetimes are known from the objects themselves. */
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
