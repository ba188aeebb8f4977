/* The dam at the beginning: a block of water at the left end of a box four times as long and twice as high.
 *
 * Particles stand in rows from the bottom, each row from the left, in squares of the spacing; each is off the middle of
 * its square by at most half of `jitter` percent of the spacing, drawn for x, then y: u from 0 (included) to 1 is
 * (n + 0.5 + jitter / 100 (u - 0.5)) spacing. A particle's mass is that of its square of water.
 *
 * Random numbers: xorshift64*, S. Vigna, "An experimental exploration of Marsaglia's xorshift generators, scrambled"
 * (2016), the upper 53 bits. */
#include "collection.h"
#include "model.h"
#include "point.h"
#include "random.h"

static double jittered(const struct simulation *s, size_t index, struct random *random) {
    double off = (double)s->jitter / 100.0 * (random_uniform(random) - 0.5);
    return ((double)index + 0.5 + off) * spacing;
}

static bool add_particle(struct simulation *s, size_t index, double x, double y) {
    enum { PARTICLE, POSITION, VELOCITY, LOCALS };
    eden_mutator *m = s->mutator;
    EDEN_FRAME(m, local, LOCALS);
    if (!point_new(s, SITE_START_POSITION, x, y, &local[POSITION]) ||
        !point_new(s, SITE_START_VELOCITY, 0.0, 0.0, &local[VELOCITY])) {
        return false;
    }
    local[PARTICLE] = eden_new(m, s->sites[SITE_PARTICLE]);
    if (local[PARTICLE] == EDEN_NONE) {
        return program_exhausted(s->program, m);
    }
    eden_slot_set(m, local[PARTICLE], PARTICLE_POSITION, local[POSITION]);
    eden_slot_set(m, local[PARTICLE], PARTICLE_VELOCITY, local[VELOCITY]);
    eden_slot_set(m, local[PARTICLE], PARTICLE_MASS, eden_float(rest_density * (spacing * spacing)));
    eden_slot_set(m, s->roots[ROOT_PARTICLES], index, local[PARTICLE]);
    return true;
}

bool setup(struct simulation *s) {
    s->width = (double)(4 * s->columns) * spacing;
    s->height = (double)(2 * s->rows) * spacing;
    s->roots[ROOT_PARTICLES] = eden_new_slots(s->mutator, s->sites[SITE_PARTICLES], particle_count(s));
    if (s->roots[ROOT_PARTICLES] == EDEN_NONE) {
        return program_exhausted(s->program, s->mutator);
    }
    struct random random = {.state = s->seed};
    for (size_t i = 0; i < particle_count(s); i++) {
        double x = jittered(s, i % s->columns, &random);
        double y = jittered(s, i / s->columns, &random);
        if (!add_particle(s, i, x, y)) {
            return false;
        }
    }
    return point_new(s, SITE_REFLECTED, 0.0, 0.0, &s->roots[ROOT_IMPULSE]) &&
           list_new(s, SITE_SAMPLES, &s->roots[ROOT_SAMPLES]);
}
