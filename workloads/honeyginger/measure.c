/* What the water does as a whole. Sums go over the particles in order, beginning with 0:
 *
 *   kinetic energy  0.5 m (vx vx + vy vy)    momentum  v m
 *   potential       m g y                    centre of mass  sum of x m, over the sum of m */
#include "collection.h"
#include "model.h"
#include "point.h"

struct totals {
    double mass, kinetic, potential, density_least, density_most;
};

static void add_particle(struct totals *totals, eden_value particle, bool is_first) {
    double mass = float_value(eden_slot(particle, PARTICLE_MASS));
    double density = float_value(eden_slot(particle, PARTICLE_DENSITY));
    eden_value velocity = eden_slot(particle, PARTICLE_VELOCITY);
    double vx = point_x(velocity), vy = point_y(velocity);
    totals->mass += mass;
    totals->kinetic += 0.5 * mass * (vx * vx + vy * vy);
    totals->potential += mass * gravity * point_y(eden_slot(particle, PARTICLE_POSITION));
    totals->density_least = is_first || density < totals->density_least ? density : totals->density_least;
    totals->density_most = is_first || density > totals->density_most ? density : totals->density_most;
}

/* The sum of a particle's point times its mass. *sum is a root. May collect. */
static bool sum_points(struct simulation *s, enum sph_site site, size_t slot, eden_value *sum) {
    EDEN_FRAME(s->mutator, local, 1);
    if (!point_new(s, site, 0.0, 0.0, sum)) {
        return false;
    }
    for (size_t i = 0; i < particle_count(s); i++) {
        eden_value particle = particle_at(s, i);
        if (!point_times(s, site, eden_slot(particle, slot), float_value(eden_slot(particle, PARTICLE_MASS)),
                         &local[0]) ||
            !point_plus(s, site, *sum, local[0], sum)) {
            return false;
        }
    }
    return true;
}

/* A Float into a slot of *object, a root. May collect. */
static bool set_float(struct simulation *s, const eden_value *object, size_t slot, double d) {
    eden_value value = EDEN_NONE;
    if (!float_new(s, d, &value)) {
        return false;
    }
    eden_slot_set(s->mutator, *object, slot, value);
    return true;
}

bool measure(struct simulation *s, int64_t step) {
    enum { MOMENTUM, CENTRE, SAMPLE, LOCALS };
    eden_mutator *m = s->mutator;
    EDEN_FRAME(m, local, LOCALS);
    struct totals totals = {0};
    for (size_t i = 0; i < particle_count(s); i++) {
        add_particle(&totals, particle_at(s, i), i == 0);
    }
    if (!sum_points(s, SITE_MOMENTUM, PARTICLE_VELOCITY, &local[MOMENTUM]) ||
        !sum_points(s, SITE_CENTRE, PARTICLE_POSITION, &local[CENTRE]) ||
        !point_over(s, SITE_CENTRE, local[CENTRE], totals.mass, &local[CENTRE])) {
        return false;
    }
    local[SAMPLE] = eden_new(m, s->sites[SITE_SAMPLE]);
    if (local[SAMPLE] == EDEN_NONE) {
        return program_exhausted(s->program, m);
    }
    eden_slot_set(m, local[SAMPLE], SAMPLE_STEP, eden_int(step));
    eden_slot_set(m, local[SAMPLE], SAMPLE_MOMENTUM, local[MOMENTUM]);
    eden_slot_set(m, local[SAMPLE], SAMPLE_CENTRE, local[CENTRE]);
    eden_slot_set(m, local[SAMPLE], SAMPLE_IMPULSE, s->roots[ROOT_IMPULSE]);
    return set_float(s, &local[SAMPLE], SAMPLE_KINETIC, totals.kinetic) &&
           set_float(s, &local[SAMPLE], SAMPLE_POTENTIAL, totals.potential) &&
           set_float(s, &local[SAMPLE], SAMPLE_DENSITY_LEAST, totals.density_least) &&
           set_float(s, &local[SAMPLE], SAMPLE_DENSITY_MOST, totals.density_most) &&
           list_add(s, &s->roots[ROOT_SAMPLES], &local[SAMPLE]);
}

static uint64_t hash_double(uint64_t hash, double d) {
    uint64_t bits;
    memcpy(&bits, &d, sizeof bits);
    for (unsigned shift = 0; shift < 64; shift += 8) {
        hash = (hash ^ (bits >> shift & 0xFF)) * 0x100000001b3u;
    }
    return hash;
}

uint64_t checksum(const struct simulation *s) {
    uint64_t hash = 0xcbf29ce484222325u;
    for (size_t i = 0; i < particle_count(s); i++) {
        eden_value position = eden_slot(particle_at(s, i), PARTICLE_POSITION);
        eden_value velocity = eden_slot(particle_at(s, i), PARTICLE_VELOCITY);
        hash = hash_double(hash_double(hash, point_x(position)), point_y(position));
        hash = hash_double(hash_double(hash, point_x(velocity)), point_y(velocity));
    }
    return hash;
}
