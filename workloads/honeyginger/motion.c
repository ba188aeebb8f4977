/* A step in time (model.h), and the walls. */
#include "model.h"
#include "point.h"

enum { PARTICLE, POSITION, VELOCITY, TERM, LOCALS };

/* v += F (dt / m), x += v dt */
static bool integrate(struct simulation *s, eden_value *local) {
    double factor = time_step / float_value(eden_slot(local[PARTICLE], PARTICLE_MASS));
    return point_times(s, SITE_ACCELERATED, eden_slot(local[PARTICLE], PARTICLE_FORCE), factor, &local[TERM]) &&
           point_plus(s, SITE_ACCELERATED, eden_slot(local[PARTICLE], PARTICLE_VELOCITY), local[TERM],
                      &local[VELOCITY]) &&
           point_times(s, SITE_MOVED, local[VELOCITY], time_step, &local[TERM]) &&
           point_plus(s, SITE_MOVED, eden_slot(local[PARTICLE], PARTICLE_POSITION), local[TERM], &local[POSITION]);
}

/* Throws one coordinate back from the walls at 0 and `wall`; true where it was beyond one. */
static bool reflect_axis(double wall, double *place, double *speed) {
    double beyond = *place < 0.0 ? 0.0 : wall;
    if (*place >= 0.0 && *place <= wall) {
        return false;
    }
    *place = (*place - beyond) * -reflection + beyond;
    *speed = *speed * -reflection;
    return true;
}

/* Throws the particle back, and notes what the walls have given it. */
static bool reflect(struct simulation *s, eden_value *local) {
    double x = point_x(local[POSITION]), y = point_y(local[POSITION]);
    double vx = point_x(local[VELOCITY]), vy = point_y(local[VELOCITY]);
    bool at_side = reflect_axis(s->width, &x, &vx), at_end = reflect_axis(s->height, &y, &vy);
    if (!at_side && !at_end) {
        return true;
    }
    local[TERM] = local[VELOCITY];
    return point_new(s, SITE_REFLECTED, x, y, &local[POSITION]) &&
           point_new(s, SITE_REFLECTED, vx, vy, &local[VELOCITY]) &&
           point_minus(s, SITE_REFLECTED, local[VELOCITY], local[TERM], &local[TERM]) &&
           point_times(s, SITE_REFLECTED, local[TERM], float_value(eden_slot(local[PARTICLE], PARTICLE_MASS)),
                       &local[TERM]) &&
           point_plus(s, SITE_REFLECTED, s->roots[ROOT_IMPULSE], local[TERM], &s->roots[ROOT_IMPULSE]);
}

/* A particle so fast that one reflection leaves it outside (or that is nowhere: not a number) is no water any more. */
static bool is_inside(const struct simulation *s, eden_value position) {
    double x = point_x(position), y = point_y(position);
    return x >= 0.0 && x <= s->width && y >= 0.0 && y <= s->height;
}

bool move(struct simulation *s, int64_t step) {
    EDEN_FRAME(s->mutator, local, LOCALS);
    for (size_t i = 0; i < particle_count(s); i++) {
        local[PARTICLE] = particle_at(s, i);
        if (!integrate(s, local) || !reflect(s, local)) {
            return false;
        }
        if (!is_inside(s, local[POSITION])) {
            return program_fail(s->program, "particle %zu leaves the box at step %lld: the simulation is unstable", i,
                                (long long)step);
        }
        eden_slot_set(s->mutator, local[PARTICLE], PARTICLE_VELOCITY, local[VELOCITY]);
        eden_slot_set(s->mutator, local[PARTICLE], PARTICLE_POSITION, local[POSITION]);
    }
    return true;
}
