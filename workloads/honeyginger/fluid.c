/* A step: map of cells, picture, contacts and densities, forces, motion. */
#include "fluid.h"
#include "random.h"

#include <math.h>

static const double rest_density = 1000.0; /* kg/m^2: rho_0 */
static const double stiffness = 100.0;     /* m^2/s^2: k */
static const double viscosity = 5.0;       /* kg/s: mu */
static const double reflection = 0.5;      /* of a wall */
static const double pi = 3.141592653589793;

static double pi_h5(void) { return pi * (support * support * support * support * support); }
/* poly6, at the square of a distance. */
static double poly6(double square) {
    double d = support * support - square;
    return 4.0 / (pi_h5() * support * support * support) * (d * d * d);
}

static eden_value vector(struct fluid *fluid, enum fluid_site site, double x, double y) {
    return fluid_pair(fluid, site, number(x), number(y));
}

/* *sum, a root, becomes the vector sum. */
static bool add(struct fluid *fluid, enum fluid_site site, eden_value *sum, double x, double y) {
    *sum = vector(fluid, site, point_x(*sum) + x, point_y(*sum) + y);
    return *sum != EDEN_NONE;
}

static bool particle_make(struct fluid *fluid, size_t index, double x, double y) {
    enum { PLACE, SPEED, LOCALS };
    eden_mutator *m = fluid->mutator;
    EDEN_FRAME(m, local, LOCALS);
    local[PLACE] = vector(fluid, SITE_START, x, y);
    local[SPEED] = local[PLACE] == EDEN_NONE ? EDEN_NONE : vector(fluid, SITE_START, 0.0, 0.0);
    eden_value particle =
        local[SPEED] == EDEN_NONE ? EDEN_NONE : fluid_new(fluid, eden_new(m, fluid->sites[SITE_PARTICLE]));
    if (particle == EDEN_NONE) {
        return false;
    }
    eden_slot_set(m, particle, PARTICLE_POSITION, local[PLACE]);
    eden_slot_set(m, particle, PARTICLE_VELOCITY, local[SPEED]);
    eden_slot_set(m, fluid->roots[ROOT_PARTICLES], index, particle);
    return true;
}

bool fluid_make(struct fluid *fluid, uint64_t seed) {
    struct random random = {.state = seed};
    fluid->roots[ROOT_PARTICLES] =
        fluid_new(fluid, eden_new_slots(fluid->mutator, fluid->sites[SITE_PARTICLES], fluid_count(fluid)));
    bool done = fluid->roots[ROOT_PARTICLES] != EDEN_NONE;
    for (size_t i = 0; done && i < fluid_count(fluid); i++) {
        size_t column = i % fluid->columns, row = i / fluid->columns;
        double x = (double)column + 0.45 + 0.1 * random_uniform(&random);
        double y = (double)row + 0.45 + 0.1 * random_uniform(&random);
        done = particle_make(fluid, i, x * spacing, y * spacing);
    }
    return done;
}

/* ---- the map ------------------------------------------------------------------------------------------------------
 */

static size_t cell_of(double coordinate) { return (size_t)(coordinate / support); }

static bool map_add(struct fluid *fluid, const eden_value *particle) {
    eden_mutator *m = fluid->mutator;
    eden_value position = eden_slot(*particle, PARTICLE_POSITION);
    size_t column = cell_of(point_x(position)), row = cell_of(point_y(position));
    size_t index = row * fluid_cells_wide(fluid) + column;
    if (fluid_pair(fluid, SITE_INDEX, eden_int((int64_t)column), eden_int((int64_t)row)) == EDEN_NONE) {
        return false;
    }
    eden_value cell = eden_slot(fluid->roots[ROOT_MAP], index);
    size_t count = cell == EDEN_NONE ? 0 : (size_t)eden_int_value(eden_slot(cell, 0));
    if (cell == EDEN_NONE || count + 1 == eden_slot_count(cell)) { /* full: twice the room */
        cell = fluid_new(fluid, eden_new_slots(m, fluid->sites[SITE_CELL], count == 0 ? 2 : 2 * count + 1));
        if (cell == EDEN_NONE) {
            return false;
        }
        if (count > 0) {
            eden_slots_copy(m, cell, 1, eden_slot(fluid->roots[ROOT_MAP], index), 1, count);
        }
        eden_slot_set(m, fluid->roots[ROOT_MAP], index, cell);
    }
    eden_slot_set(m, cell, 0, eden_int((int64_t)count + 1));
    eden_slot_set(m, cell, count + 1, *particle);
    return true;
}

static bool map_make(struct fluid *fluid) {
    EDEN_FRAME(fluid->mutator, local, 1);
    size_t cells = fluid_cells_wide(fluid) * fluid_cells_high(fluid);
    fluid->roots[ROOT_MAP] = fluid_new(fluid, eden_new_slots(fluid->mutator, fluid->sites[SITE_MAP], cells));
    bool done = fluid->roots[ROOT_MAP] != EDEN_NONE;
    for (size_t i = 0; done && i < fluid_count(fluid); i++) {
        local[0] = fluid_particle(fluid, i);
        done = map_add(fluid, &local[0]);
    }
    return done;
}

/* ---- contacts and densities ---------------------------------------------------------------------------------------
 */

enum { SELF, OTHER, CELL, DIRECTION, SEARCH };

/* A contact of SELF and OTHER, before the others of SELF. */
static bool contact_make(struct fluid *fluid, eden_value *local, double dx, double dy) {
    eden_mutator *m = fluid->mutator;
    double square = dx * dx + dy * dy, distance = sqrt(square), near = support - distance;
    local[DIRECTION] = vector(fluid, SITE_DIRECTION, dx, dy);
    if (local[DIRECTION] != EDEN_NONE && distance > 0.0) {
        local[DIRECTION] = vector(fluid, SITE_DIRECTION, dx / distance, dy / distance);
    }
    eden_value contact =
        local[DIRECTION] == EDEN_NONE ? EDEN_NONE : fluid_new(fluid, eden_new(m, fluid->sites[SITE_CONTACT]));
    if (contact == EDEN_NONE) {
        return false;
    }
    eden_slot_set(m, contact, CONTACT_PARTICLE, local[SELF]);
    eden_slot_set(m, contact, CONTACT_OTHER, local[OTHER]);
    eden_slot_set(m, contact, CONTACT_DIRECTION, local[DIRECTION]);
    eden_slot_set(m, contact, CONTACT_POLY6, number(poly6(square)));
    eden_slot_set(m, contact, CONTACT_SPIKY, number(30.0 / pi_h5() * (near * near)));
    eden_slot_set(m, contact, CONTACT_LAPLACIAN, number(40.0 / pi_h5() * near));
    eden_slot_set(m, contact, CONTACT_NEXT, eden_slot(local[SELF], PARTICLE_CONTACTS));
    eden_slot_set(m, local[SELF], PARTICLE_CONTACTS, contact);
    return true;
}

/* Contacts of SELF with the particles of CELL. */
static bool search_cell(struct fluid *fluid, eden_value *local) {
    size_t count = (size_t)eden_int_value(eden_slot(local[CELL], 0));
    for (size_t i = 1; i <= count; i++) {
        local[OTHER] = eden_slot(local[CELL], i);
        eden_value here = eden_slot(local[SELF], PARTICLE_POSITION), there = eden_slot(local[OTHER], PARTICLE_POSITION);
        double dx = point_x(here) - point_x(there), dy = point_y(here) - point_y(there);
        if (local[OTHER] != local[SELF] && dx * dx + dy * dy < support * support &&
            !contact_make(fluid, local, dx, dy)) {
            return false;
        }
    }
    return true;
}

/* Contacts of SELF: with what is in the nine cells around. */
static bool search(struct fluid *fluid, eden_value *local) {
    eden_value position = eden_slot(local[SELF], PARTICLE_POSITION);
    size_t column = cell_of(point_x(position)), row = cell_of(point_y(position));
    eden_slot_set(fluid->mutator, local[SELF], PARTICLE_CONTACTS, EDEN_NONE);
    for (size_t i = 0; i < 9; i++) {
        size_t x = column + i / 3 - 1, y = row + i % 3 - 1; /* below 0: very large */
        if (fluid_pair(fluid, SITE_CORNER, eden_int((int64_t)x), eden_int((int64_t)y)) == EDEN_NONE) {
            return false;
        }
        bool is_inside = x < fluid_cells_wide(fluid) && y < fluid_cells_high(fluid);
        local[CELL] = is_inside ? eden_slot(fluid->roots[ROOT_MAP], y * fluid_cells_wide(fluid) + x) : EDEN_NONE;
        if (local[CELL] != EDEN_NONE && !search_cell(fluid, local)) {
            return false;
        }
    }
    return true;
}

static bool find_contacts(struct fluid *fluid) {
    EDEN_FRAME(fluid->mutator, local, SEARCH);
    for (size_t i = 0; i < fluid_count(fluid); i++) {
        local[SELF] = fluid_particle(fluid, i);
        if (!search(fluid, local)) {
            return false;
        }
        double density = mass * poly6(0.0);
        for (eden_value each = eden_slot(local[SELF], PARTICLE_CONTACTS); each != EDEN_NONE;
             each = eden_slot(each, CONTACT_NEXT)) {
            density += mass * number_at(each, CONTACT_POLY6);
        }
        double pressure = density < rest_density ? 0.0 : stiffness * (density - rest_density);
        eden_slot_set(fluid->mutator, local[SELF], PARTICLE_DENSITY, number(density));
        eden_slot_set(fluid->mutator, local[SELF], PARTICLE_PRESSURE, number(pressure));
    }
    return true;
}

/* ---- forces and motion --------------------------------------------------------------------------------------------
 */

enum { MOVING, EACH, FORCE, TERM, MOTION };

/* FORCE += what the contact EACH does. */
static bool add_contact(struct fluid *fluid, eden_value *local) {
    eden_value one = eden_slot(local[EACH], CONTACT_PARTICLE), other = eden_slot(local[EACH], CONTACT_OTHER);
    double densities = number_at(one, PARTICLE_DENSITY) * number_at(other, PARTICLE_DENSITY);
    double pressures = number_at(one, PARTICLE_PRESSURE) + number_at(other, PARTICLE_PRESSURE);
    double drag = viscosity * (mass * mass) / densities * number_at(local[EACH], CONTACT_LAPLACIAN);
    double push = mass * mass * (pressures / (2.0 * densities)) * number_at(local[EACH], CONTACT_SPIKY);
    eden_value direction = eden_slot(local[EACH], CONTACT_DIRECTION);
    local[TERM] = vector(fluid, SITE_PRESSURE, point_x(direction) * push, point_y(direction) * push);
    if (local[TERM] == EDEN_NONE ||
        !add(fluid, SITE_PRESSURE, &local[FORCE], point_x(local[TERM]), point_y(local[TERM]))) {
        return false;
    }
    eden_value speed = eden_slot(eden_slot(local[EACH], CONTACT_PARTICLE), PARTICLE_VELOCITY);
    eden_value pull = eden_slot(eden_slot(local[EACH], CONTACT_OTHER), PARTICLE_VELOCITY);
    local[TERM] = vector(fluid, SITE_VISCOSITY, point_x(pull) - point_x(speed), point_y(pull) - point_y(speed));
    if (local[TERM] == EDEN_NONE) {
        return false;
    }
    local[TERM] = vector(fluid, SITE_VISCOSITY, point_x(local[TERM]) * drag, point_y(local[TERM]) * drag);
    return local[TERM] != EDEN_NONE &&
           add(fluid, SITE_VISCOSITY, &local[FORCE], point_x(local[TERM]), point_y(local[TERM]));
}

/* The force on MOVING. */
static bool find_force(struct fluid *fluid, eden_value *local) {
    local[FORCE] = vector(fluid, SITE_GRAVITY, 0.0, -gravity * mass);
    bool done = local[FORCE] != EDEN_NONE;
    for (local[EACH] = eden_slot(local[MOVING], PARTICLE_CONTACTS); done && local[EACH] != EDEN_NONE;
         local[EACH] = eden_slot(local[EACH], CONTACT_NEXT)) {
        done = add_contact(fluid, local);
    }
    eden_slot_set(fluid->mutator, local[MOVING], PARTICLE_FORCE, local[FORCE]);
    return done;
}

/* Throws back from the walls at 0 and `wall`; the impulse is what the wall gives. */
static void reflect(double wall, double *place, double *speed, double *impulse) {
    if (*place >= 0.0 && *place <= wall) {
        return;
    }
    double beyond = *place < 0.0 ? 0.0 : wall;
    *place = (*place - beyond) * -reflection + beyond;
    *impulse += mass * (*speed * -reflection - *speed);
    *speed = *speed * -reflection;
}

/* v += dt F / m, x += dt v. */
static bool move(struct fluid *fluid, eden_value *local) {
    eden_value place = eden_slot(local[MOVING], PARTICLE_POSITION), speed = eden_slot(local[MOVING], PARTICLE_VELOCITY);
    eden_value force = eden_slot(local[MOVING], PARTICLE_FORCE);
    double vx = point_x(speed) + point_x(force) * (time_step / mass);
    double vy = point_y(speed) + point_y(force) * (time_step / mass);
    double x = point_x(place) + vx * time_step, y = point_y(place) + vy * time_step;
    double width = (double)(4 * fluid->columns) * spacing, height = (double)(2 * fluid->rows) * spacing;
    reflect(width, &x, &vx, &fluid->impulse[0]);
    reflect(height, &y, &vy, &fluid->impulse[1]);
    if (!(x >= 0.0 && x <= width && y >= 0.0 && y <= height)) {
        return program_fail(fluid->program, "a particle leaves the box: the simulation is unstable");
    }
    local[TERM] = vector(fluid, SITE_ACCELERATED, vx, vy);
    eden_value moved = local[TERM] == EDEN_NONE ? EDEN_NONE : vector(fluid, SITE_MOVED, x, y);
    if (moved == EDEN_NONE) {
        return false;
    }
    eden_slot_set(fluid->mutator, local[MOVING], PARTICLE_VELOCITY, local[TERM]);
    eden_slot_set(fluid->mutator, local[MOVING], PARTICLE_POSITION, moved);
    return true;
}

static bool for_each(struct fluid *fluid, bool (*act)(struct fluid *fluid, eden_value *local)) {
    EDEN_FRAME(fluid->mutator, local, MOTION);
    bool done = true;
    for (size_t i = 0; done && i < fluid_count(fluid); i++) {
        local[MOVING] = fluid_particle(fluid, i);
        done = act(fluid, local);
    }
    return done;
}

bool fluid_step(struct fluid *fluid) {
    return map_make(fluid) && fluid_draw(fluid) && find_contacts(fluid) && for_each(fluid, find_force) &&
           for_each(fluid, move);
}
