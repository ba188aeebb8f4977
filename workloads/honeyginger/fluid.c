/* Density, pressure and forces, by the formulas and in the order of model.h. */
#include "collection.h"
#include "model.h"
#include "point.h"

static double number_of(eden_value particle, size_t slot) { return float_value(eden_slot(particle, slot)); }

static bool set_density(struct simulation *s, const eden_value *particle) {
    double density = 0.0;
    eden_value neighbors = eden_slot(*particle, PARTICLE_NEIGHBORS);
    for (size_t i = 0; i < list_size(neighbors); i++) {
        eden_value found = list_at(neighbors, i);
        double r = number_of(found, ASSOCIATION_VALUE);
        density += number_of(eden_slot(found, ASSOCIATION_KEY), PARTICLE_MASS) * kernel_poly6(r);
    }
    double excess = stiffness * (density - rest_density);
    eden_value value = EDEN_NONE;
    if (!float_new(s, density, &value)) {
        return false;
    }
    eden_slot_set(s->mutator, *particle, PARTICLE_DENSITY, value);
    if (!float_new(s, excess > 0.0 ? excess : 0.0, &value)) {
        return false;
    }
    eden_slot_set(s->mutator, *particle, PARTICLE_PRESSURE, value);
    return true;
}

bool find_densities(struct simulation *s) {
    EDEN_FRAME(s->mutator, local, 1);
    for (size_t i = 0; i < particle_count(s); i++) {
        local[0] = particle_at(s, i);
        if (!set_density(s, &local[0])) {
            return false;
        }
    }
    return true;
}

/* What a force is made of: slots of a frame. */
enum { PARTICLE, OTHER, FORCE, SUM, TERM, LOCALS };

static bool add_pressure(struct simulation *s, eden_value *local, double r) {
    if (r == 0.0) {
        return true; /* in the very same place: the force has no direction */
    }
    eden_value i = local[PARTICLE], j = local[OTHER];
    double pressures = number_of(i, PARTICLE_PRESSURE) + number_of(j, PARTICLE_PRESSURE);
    double densities = 2.0 * (number_of(i, PARTICLE_DENSITY) * number_of(j, PARTICLE_DENSITY));
    double masses = number_of(i, PARTICLE_MASS) * number_of(j, PARTICLE_MASS);
    double strength = masses * (pressures / densities) * kernel_spiky_slope(r);
    return point_minus(s, SITE_PRESSURE, eden_slot(i, PARTICLE_POSITION), eden_slot(j, PARTICLE_POSITION),
                       &local[TERM]) &&
           point_over(s, SITE_PRESSURE, local[TERM], r, &local[TERM]) &&
           point_times(s, SITE_PRESSURE, local[TERM], strength, &local[TERM]) &&
           point_plus(s, SITE_PRESSURE, local[SUM], local[TERM], &local[SUM]);
}

static bool add_viscosity(struct simulation *s, eden_value *local, double r) {
    eden_value i = local[PARTICLE], j = local[OTHER];
    double densities = number_of(i, PARTICLE_DENSITY) * number_of(j, PARTICLE_DENSITY);
    double masses = number_of(i, PARTICLE_MASS) * number_of(j, PARTICLE_MASS);
    double strength = viscosity * masses / densities * kernel_viscosity_laplacian(r);
    return point_minus(s, SITE_VISCOSITY, eden_slot(j, PARTICLE_VELOCITY), eden_slot(i, PARTICLE_VELOCITY),
                       &local[TERM]) &&
           point_times(s, SITE_VISCOSITY, local[TERM], strength, &local[TERM]) &&
           point_plus(s, SITE_VISCOSITY, local[SUM], local[TERM], &local[SUM]);
}

/* Adds to FORCE what all neighbors do to the particle; add makes SUM larger by what OTHER does. May collect. */
static bool add_of_neighbors(struct simulation *s, eden_value *local, enum sph_site site,
                             bool (*add)(struct simulation *s, eden_value *local, double r)) {
    if (!point_new(s, site, 0.0, 0.0, &local[SUM])) {
        return false;
    }
    size_t count = list_size(eden_slot(local[PARTICLE], PARTICLE_NEIGHBORS));
    for (size_t i = 0; i < count; i++) {
        eden_value found = list_at(eden_slot(local[PARTICLE], PARTICLE_NEIGHBORS), i);
        local[OTHER] = eden_slot(found, ASSOCIATION_KEY);
        if (local[OTHER] != local[PARTICLE] && !add(s, local, number_of(found, ASSOCIATION_VALUE))) {
            return false;
        }
    }
    return point_plus(s, site, local[FORCE], local[SUM], &local[FORCE]);
}

static bool add_gravity(struct simulation *s, eden_value *local) {
    return point_new(s, SITE_GRAVITY, 0.0, -gravity, &local[TERM]) &&
           point_times(s, SITE_GRAVITY, local[TERM], number_of(local[PARTICLE], PARTICLE_MASS), &local[TERM]) &&
           point_plus(s, SITE_GRAVITY, local[FORCE], local[TERM], &local[FORCE]);
}

bool find_forces(struct simulation *s) {
    EDEN_FRAME(s->mutator, local, LOCALS);
    for (size_t i = 0; i < particle_count(s); i++) {
        local[PARTICLE] = particle_at(s, i);
        if (!point_new(s, SITE_FORCE, 0.0, 0.0, &local[FORCE]) ||
            !add_of_neighbors(s, local, SITE_PRESSURE, add_pressure) ||
            !add_of_neighbors(s, local, SITE_VISCOSITY, add_viscosity) || !add_gravity(s, local)) {
            return false;
        }
        eden_slot_set(s->mutator, local[PARTICLE], PARTICLE_FORCE, local[FORCE]);
    }
    return true;
}
