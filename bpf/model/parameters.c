#include "model/parameters.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

void tune_parameters_default(struct tune_parameter parameters[EDEN_PARAM_COUNT]) {
    for (enum eden_param_id id = 0; id < EDEN_PARAM_COUNT; id++) {
        const struct eden_param *param = eden_param(id);
        parameters[id] = (struct tune_parameter){.number = param->fallback};
        eden_param_text(param, param->fallback, parameters[id].text, sizeof parameters[id].text);
    }
}

/* A file's name goes into a line for a shell: it is kept only if it needs no quotes there. */
static bool is_plain(const char *path) {
    return strspn(path, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_@%+=:./-") == strlen(path);
}

void tune_parameter_read(struct tune_parameter parameters[EDEN_PARAM_COUNT], const char *name, const char *value) {
    enum eden_param_id id = eden_param_find(name);
    double number;
    if (id < EDEN_PARAM_COUNT && eden_param_parse(eden_param(id), value, &number) && is_plain(value)) {
        parameters[id].is_reported = true;
        parameters[id].number = number;
        snprintf(parameters[id].text, sizeof parameters[id].text, "%s", value);
    }
}

bool tune_parameters_parse(const char *options, struct tune_parameter parameters[EDEN_PARAM_COUNT],
                           struct failure *why) {
    if (!options[strspn(options, ",")]) {
        return failure_set(why, 1, "--options: give name=value, separated by commas");
    }
    for (const char *at = options + strspn(options, ","); *at; at += strspn(at, ",")) {
        char name[sizeof((struct eden_param *)NULL)->name], value[512];
        size_t length = strcspn(at, ","), equals = strcspn(at, "=");
        double number;
        if (equals >= length || length - equals > sizeof value) {
            return failure_set(why, 1, "--options %.*s: give name=value, separated by commas",
                               (int)(length < 60 ? length : 60), at);
        }
        snprintf(name, sizeof name, "%.*s", (int)equals, at);
        snprintf(value, sizeof value, "%.*s", (int)(length - equals - 1), at + equals + 1);
        enum eden_param_id id = equals < sizeof name ? eden_param_find(name) : EDEN_PARAM_COUNT;
        if (id == EDEN_PARAM_COUNT) {
            return failure_set(why, 1, "--options %.*s: unknown parameter; docs/parameters.md lists the parameters",
                               (int)(equals < 60 ? equals : 60), at);
        }
        if (!eden_param_parse(eden_param(id), value, &number)) {
            return failure_set(why, 1,
                               "--options %s=%.60s: out of bounds, or not a value of this parameter "
                               "(docs/parameters.md)",
                               name, value);
        }
        if (parameters) {
            tune_parameter_read(parameters, name, value);
        }
        at += length;
    }
    return true;
}

/* The unit is the largest in which rounding up adds at most a tenth. */
static double round_up(double bytes) {
    for (int power = 30; power > 0; power -= 10) {
        double unit = ldexp(1, power), count = ceil(bytes / unit - 1e-9);
        if (count >= 1 && count * unit <= bytes * 1.1) {
            return count * unit;
        }
    }
    return ceil(bytes);
}

char *tune_value(char text[TUNE_VALUE], enum eden_param_id id, double number) {
    const struct eden_param *param = eden_param(id);
    bool is_choice = param->choices != EDEN_ENUM_none;
    double value = is_choice ? number : fmin(fmax(number, param->low), param->high);
    if (param->kind == EDEN_KIND_number && isfinite(value)) {
        snprintf(text, TUNE_VALUE, "%.3g", value);
    } else {
        bool is_rounded = param->kind == EDEN_KIND_size && id != EDEN_PARAM_max_heap; /* a limit is meant as it is */
        eden_param_show(param, is_rounded ? round_up(value) : value, text, TUNE_VALUE);
    }
    return text;
}
