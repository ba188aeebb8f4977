/* The flock: boids that steer by those near them (Craig Reynolds, "Flocks, Herds, and Schools", 1987), and its figures.
 *
 * All is done in integers, so that any machine draws the same. A boid's elevation rises with its speed. */
#include "scene.h"

#include <stdio.h>
#include <string.h>

enum { SIGHT = 120 * UNIT, TOO_CLOSE = 24 * UNIT, FASTEST = 4 * UNIT, STEER_EVERY = 5, BUFFER = 32 };

static eden_value boid_at(const struct scene *scene, size_t index) {
    return scene_child(scene->roots[ROOT_SPACE], index);
}
static int64_t position(eden_value boid, size_t slot) { return number_at(eden_slot(boid, ELEMENT_POSITION), slot); }
static int64_t velocity(eden_value boid, size_t slot) { return number_at(eden_slot(boid, ELEMENT_VELOCITY), slot); }

static int64_t limited(int64_t speed) { return speed < -FASTEST ? -FASTEST : speed > FASTEST ? FASTEST : speed; }

/* The boid's new velocity along one axis: towards those it sees, as they fly, and away from those too close. */
static int64_t steered(const struct scene *scene, eden_value boid, size_t axis) {
    int64_t seen = 0, apart = 0, pull = 0, speed = 0;
    for (size_t i = 0; i < scene->boids; i++) {
        eden_value other = boid_at(scene, i);
        int64_t dx = position(other, POINT_X) - position(boid, POINT_X);
        int64_t dy = position(other, POINT_Y) - position(boid, POINT_Y);
        if (other == boid || dx * dx + dy * dy > (int64_t)SIGHT * SIGHT) {
            continue;
        }
        int64_t way = axis == POINT_X ? dx : dy;
        seen++;
        pull += way;
        speed += velocity(other, axis);
        apart += dx * dx + dy * dy < (int64_t)TOO_CLOSE * TOO_CLOSE ? way : 0;
    }
    int64_t now = velocity(boid, axis);
    return seen == 0 ? now : limited(now + pull / seen / 64 + (speed / seen - now) / 8 - apart / 16);
}

static bool steer(struct scene *scene, size_t index) {
    eden_value boid = boid_at(scene, index);
    const int64_t by[] = {steered(scene, boid, POINT_X), steered(scene, boid, POINT_Y)};
    eden_value vector = scene_new_numbers(scene, SITE_VECTOR, POINT_SLOTS, by);
    if (vector == EDEN_NONE) {
        return false;
    }
    eden_slot_set(scene->mutator, boid_at(scene, index), ELEMENT_VELOCITY, vector);
    return true;
}

/* The world wraps around. */
static int64_t wrapped(int64_t at, int64_t size) { return at < 0 ? at + size : at >= size ? at - size : at; }

static bool move(struct scene *scene, size_t index) {
    eden_value boid = boid_at(scene, index);
    int64_t x = velocity(boid, POINT_X), y = velocity(boid, POINT_Y);
    int64_t speed = (x < 0 ? -x : x) + (y < 0 ? -y : y);
    number_at_put(scene, boid, ELEMENT_ELEVATION, 1 + speed / UNIT * (ELEVATIONS - 3) / (2 * FASTEST / UNIT));
    const int64_t at[] = {wrapped(position(boid, POINT_X) + x, WORLD_WIDTH),
                          wrapped(position(boid, POINT_Y) + y, WORLD_HEIGHT)};
    eden_value point = scene_new_numbers(scene, SITE_POSITION, POINT_SLOTS, at);
    if (point == EDEN_NONE) {
        return false;
    }
    eden_slot_set(scene->mutator, boid_at(scene, index), ELEMENT_POSITION, point);
    eden_slot_set(scene->mutator, eden_slot(boid_at(scene, index), ELEMENT_PATH), scene->frame % PATH, point);
    return true;
}

bool flock_step(struct scene *scene) {
    for (size_t i = scene->frame % STEER_EVERY; i < scene->boids; i += STEER_EVERY) {
        if (!steer(scene, i)) {
            return false;
        }
    }
    for (size_t i = 0; i < scene->boids; i++) {
        if (!move(scene, i)) {
            return false;
        }
    }
    return true;
}

/* ---- labels ------------------------------------------------------------------------------------------------------ */

/* A WriteStream on a buffer that the text fits in, and a copy of what was written. */
static eden_value printed(struct scene *scene, const char *text, size_t size) {
    eden_mutator *m = scene->mutator;
    EDEN_FRAME(m, local, 1);
    local[0] = scene_new(scene, SITE_STREAM);
    eden_value buffer =
        local[0] == EDEN_NONE ? EDEN_NONE : scene_kept(scene, eden_new_raw(m, scene->sites[SITE_BUFFER], BUFFER));
    if (buffer == EDEN_NONE) {
        return EDEN_NONE;
    }
    memcpy(eden_raw(buffer), text, size);
    eden_slot_set(m, local[0], STREAM_COLLECTION, buffer);
    number_at_put(scene, local[0], STREAM_POSITION, (int64_t)size);
    number_at_put(scene, local[0], STREAM_READ_LIMIT, (int64_t)size);
    number_at_put(scene, local[0], STREAM_WRITE_LIMIT, BUFFER);
    eden_value contents = scene_kept(scene, eden_new_raw(m, scene->sites[SITE_CONTENTS], size));
    if (contents != EDEN_NONE) {
        memcpy(eden_raw(contents), eden_raw(eden_slot(local[0], STREAM_COLLECTION)), size);
    }
    return contents;
}

bool flock_label(struct scene *scene) {
    static const char *const names[LABELS] = {"frame", "x", "y", "x speed", "y speed", "lowest", "highest", "moved"};
    int64_t numbers[LABELS] = {(int64_t)scene->frame, 0, 0, 0, 0, ELEVATIONS, 0, (int64_t)scene->moved};
    for (size_t i = 0; i < scene->boids; i++) {
        eden_value boid = boid_at(scene, i);
        int64_t elevation = number_at(boid, ELEMENT_ELEVATION);
        numbers[1] += position(boid, POINT_X);
        numbers[2] += position(boid, POINT_Y);
        numbers[3] += velocity(boid, POINT_X);
        numbers[4] += velocity(boid, POINT_Y);
        numbers[5] = elevation < numbers[5] ? elevation : numbers[5];
        numbers[6] = elevation > numbers[6] ? elevation : numbers[6];
    }
    for (size_t i = 0; i < LABELS; i++) {
        bool is_sum = i >= 1 && i <= 4 && scene->boids > 0;
        int64_t number = is_sum ? numbers[i] / (int64_t)scene->boids : numbers[i];
        char text[BUFFER];
        int size = snprintf(text, sizeof text, "%s %lld", names[i], (long long)number);
        eden_value string = printed(scene, text, (size_t)size);
        if (string == EDEN_NONE) {
            return false;
        }
        eden_slot_set(scene->mutator, scene_child(scene->roots[ROOT_PANEL], i), ELEMENT_TEXT, string);
    }
    return true;
}
