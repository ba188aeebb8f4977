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
        eden_param_show(param, param->kind == EDEN_KIND_size ? round_up(value) : value, text, TUNE_VALUE);
    }
    return text;
}
