/* The values are few and far apart, because the time in collections changes by factors along these axes and a trial
 * costs a run: eden by powers of two and the halves between, the others by what makes a difference at all. What would
 * let old space grow without end is not among them (full_gc_ratio=inf): a short trial would not show it. */
#include "advise/trials/search_space.h"
#include "eden_params.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

static const struct usual {
    enum eden_param_id id;
    bool ordered;
    unsigned stride;
    const char *values; /* rising, where ordered */
} usual[SEARCH_AXES] = {
    [AXIS_EDEN] = {EDEN_PARAM_eden_size, true, 4,
                   "256K 512K 1M 1536K 2M 3M 4M 6M 8M 12M 16M 24M 32M 48M 64M 96M 128M 192M 256M 384M 512M 768M 1G"},
    [AXIS_RATIO] = {EDEN_PARAM_full_gc_ratio, true, 2, "0.15 0.33 0.66 1 2 4 8"},
    [AXIS_MIN_OLD] = {EDEN_PARAM_full_gc_min_old, true, 2, "0 16M 32M 64M 128M 256M 512M 1G"},
    [AXIS_HEADROOM] = {EDEN_PARAM_grow_headroom, true, 2, "1M 4M 16M 32M 64M 128M 256M 512M"},
    [AXIS_SHRINK] = {EDEN_PARAM_shrink_threshold, true, 2, "8M 32M 64M 128M 256M 512M none"},
    [AXIS_PROPORTION] = {EDEN_PARAM_tenure_proportion, true, 2, "0 0.05 0.1 0.2 0.4 0.7 1"},
    [AXIS_FILL] = {EDEN_PARAM_tenure_fill, true, 2, "0 0.2 0.4 0.6 0.8 0.9 1"},
    [AXIS_CRITERION] = {EDEN_PARAM_tenure_criterion, false, 1, "age remembered class site never"},
    [AXIS_COMPACTOR] = {EDEN_PARAM_compactor, false, 1, "selective planning none"},
    [AXIS_REMEMBERED] = {EDEN_PARAM_remembered_set, false, 1, "card object"},
    [AXIS_REST] = {EDEN_PARAM_COUNT, false, 1, ""},
};

/* NAN: not a value of the parameter. */
static double number_of(const struct axis_values *axis, const char *text) {
    double number;
    return eden_param_parse(eden_param(eden_param_find(axis->name)), text, &number) ? number : (double)NAN;
}

static bool find_value(const struct axis_values *axis, const char *text, size_t *index) {
    double number = axis->ordered ? number_of(axis, text) : 0;
    for (*index = 0; *index < axis->count; ++*index) {
        if (axis->ordered ? axis->number[*index] == number : strcmp(axis->text[*index], text) == 0) {
            return true;
        }
    }
    return false;
}

/* Puts a value on an axis, in its place. */
static bool add_value(struct axis_values *axis, const char *text) {
    size_t at;
    if (find_value(axis, text, &at)) {
        return true;
    }
    if (axis->count == AXIS_VALUES || strlen(text) >= AXIS_VALUE_SIZE) {
        return false;
    }
    double number = axis->ordered ? number_of(axis, text) : 0;
    for (at = axis->count; at > 0 && axis->ordered && axis->number[at - 1] > number; at--) {
        axis->number[at] = axis->number[at - 1];
        memcpy(axis->text[at], axis->text[at - 1], AXIS_VALUE_SIZE);
    }
    snprintf(axis->text[at], AXIS_VALUE_SIZE, "%s", text);
    axis->number[at] = number;
    axis->count++;
    axis->as_is += axis->ordered && axis->count > 1 && at <= axis->as_is;
    return true;
}

/* One "name=value" of a text of options. False: there is no more. */
static bool next_option(const char **at, char name[AXIS_VALUE_SIZE], char value[SEARCH_POINT_TEXT]) {
    *at += strspn(*at, ",");
    size_t length = strcspn(*at, ","), equals = strcspn(*at, "=");
    if (length == 0) {
        return false;
    }
    equals = equals < length ? equals : length;
    snprintf(name, AXIS_VALUE_SIZE, "%.*s", (int)equals, *at);
    snprintf(value, SEARCH_POINT_TEXT, "%.*s", (int)(length - equals - (equals < length)),
             *at + equals + (equals < length));
    *at += length;
    return true;
}

static struct axis_values *find_axis(struct search_space *space, const char *name) {
    for (size_t i = 0; i < AXIS_REST; i++) {
        if (strcmp(space->axis[i].name, name) == 0) {
            return &space->axis[i];
        }
    }
    return NULL;
}

static void set_as_is(struct axis_values *axis, const char *text) {
    size_t index;
    if (add_value(axis, text) && find_value(axis, text, &index)) {
        axis->as_is = index;
    }
}

void search_space_init(struct search_space *space, uint64_t eden_size, const char *options) {
    *space = (struct search_space){0};
    for (size_t i = 0; i < SEARCH_AXES; i++) {
        struct axis_values *axis = &space->axis[i];
        *axis = (struct axis_values){.name = usual[i].id < EDEN_PARAM_COUNT ? eden_param(usual[i].id)->name : NULL,
                                     .ordered = usual[i].ordered,
                                     .stride = usual[i].stride};
        for (const char *at = usual[i].values; *at; at += strspn(at, " ")) {
            char text[AXIS_VALUE_SIZE];
            snprintf(text, sizeof text, "%.*s", (int)strcspn(at, " "), at);
            add_value(axis, text);
            at += strcspn(at, " ");
        }
        if (axis->name) {
            const struct eden_param *param = eden_param(usual[i].id);
            char text[AXIS_VALUE_SIZE];
            eden_param_show(param, param->fallback, text, sizeof text);
            set_as_is(axis, text);
        } else {
            axis->count = 1;
        }
    }
    char name[AXIS_VALUE_SIZE], value[SEARCH_POINT_TEXT];
    while (options && next_option(&options, name, value)) {
        struct axis_values *axis = find_axis(space, name);
        if (axis) {
            set_as_is(axis, value);
        }
    }
    set_as_is(&space->axis[AXIS_EDEN], eden_size_text(name, eden_size));
}

struct search_point search_as_is(const struct search_space *space) {
    struct search_point point;
    for (size_t i = 0; i < SEARCH_AXES; i++) {
        point.choice[i] = (uint8_t)space->axis[i].as_is;
    }
    return point;
}

bool search_space_add(struct search_space *space, const char *options) {
    char name[AXIS_VALUE_SIZE], value[SEARCH_POINT_TEXT];
    bool done = true;
    while (next_option(&options, name, value)) {
        struct axis_values *axis = find_axis(space, name);
        if (axis) {
            done = done && add_value(axis, value);
            continue;
        }
        size_t length = strlen(space->rest), room = sizeof space->rest - length;
        int more = snprintf(space->rest + length, room, "%s%s=%s", length ? "," : "", name, value);
        if (more < 0 || (size_t)more >= room) {
            return false;
        }
        space->axis[AXIS_REST].count = 2;
    }
    return done;
}

struct search_point search_point_of(const struct search_space *space, const char *options) {
    struct search_point point = search_as_is(space);
    char name[AXIS_VALUE_SIZE], value[SEARCH_POINT_TEXT];
    while (next_option(&options, name, value)) {
        size_t axis = 0, index;
        while (axis < AXIS_REST && strcmp(space->axis[axis].name, name) != 0) {
            axis++;
        }
        if (axis == AXIS_REST) {
            point.choice[axis] = space->axis[axis].count > 1;
        } else if (find_value(&space->axis[axis], value, &index)) {
            point.choice[axis] = (uint8_t)index;
        }
    }
    return point;
}

char *search_point_text(char text[SEARCH_POINT_TEXT], const struct search_space *space,
                        const struct search_point *point) {
    size_t length = 0;
    text[0] = 0;
    for (size_t i = 0; i < SEARCH_AXES && length < SEARCH_POINT_TEXT; i++) {
        const struct axis_values *axis = &space->axis[i];
        size_t choice = point->choice[i];
        if (choice == axis->as_is) {
            continue;
        }
        const char *comma = length ? "," : "";
        int more = axis->name ? snprintf(text + length, SEARCH_POINT_TEXT - length, "%s%s=%s", comma, axis->name,
                                         axis->text[choice])
                              : snprintf(text + length, SEARCH_POINT_TEXT - length, "%s%s", comma, space->rest);
        length += more > 0 ? (size_t)more : 0;
    }
    return text;
}

size_t search_point_changes(const struct search_space *space, const struct search_point *point) {
    size_t changes = 0;
    for (size_t i = 0; i < SEARCH_AXES; i++) {
        changes += point->choice[i] != space->axis[i].as_is;
    }
    return changes;
}
