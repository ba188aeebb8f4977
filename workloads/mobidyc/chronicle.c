#include "chronicle.h"

#include "list.h"

bool chronicle_new(struct world *world) {
    return list_new(world, &world->roots[ROOT_CHRONICLE], SITE_CHRONICLE, SITE_CHRONICLE_GROW);
}

bool chronicle_note(struct world *world, int64_t grass) {
    EDEN_FRAME(world->mutator, local, 1);
    local[0] = world_new(world, SITE_CENSUS);
    if (local[0] == EDEN_NONE) {
        return false;
    }
    int_put(world, local[0], CENSUS_GRASS, grass);
    for (size_t s = 0; s < SPECIES; s++) {
        int_put(world, local[0], CENSUS_ANIMATS + s, (int64_t)list_size(world->roots[ROOT_ANIMATS + s]));
    }
    return list_add(world, &world->roots[ROOT_CHRONICLE], &local[0], SITE_CHRONICLE_GROW);
}

/* Above the mean, 1; below, -1; just there, 0. The product is below 2^63: sums are of at most 10^6 + 1 steps (the
 * option's bound) of less than 2^31 each. */
static int side(int64_t value, int64_t count, int64_t sum) {
    return value * count > sum ? 1 : value * count < sum ? -1 : 0;
}

struct course chronicle_course(const struct world *world, size_t slot) {
    eden_value chronicle = world->roots[ROOT_CHRONICLE];
    size_t count = list_size(chronicle);
    int64_t first = int_at(list_at(chronicle, 0), slot);
    struct course course = {.first = first, .least = first, .most = first};
    for (size_t i = 0; i < count; i++) {
        int64_t value = int_at(list_at(chronicle, i), slot);
        course.last = value;
        course.least = value < course.least ? value : course.least;
        course.most = value > course.most ? value : course.most;
        course.sum += value;
    }
    int before = 0;
    for (size_t i = 0; i < count; i++) {
        int now = side(int_at(list_at(chronicle, i), slot), (int64_t)count, course.sum);
        course.swings += now * before < 0;
        before = now == 0 ? before : now;
    }
    return course;
}
