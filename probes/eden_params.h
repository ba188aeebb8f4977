/* The table of parameters (eden_params.def) as data, and their values as text: for runtime and tool.
 *
 * A value is a double: bytes (INFINITY: no limit), a number, a whole number (EDEN_UNSET: not given), the number of a
 * choice (eden_enums.def); of a file NAN, or the choice. Text is read and written in the "C" locale. */
#ifndef EDEN_PARAMS_H
#define EDEN_PARAMS_H

#include "eden_values.h"
#include <stdio.h>

enum eden_param_id {
#define EDEN_PARAM(id, name, kind, fallback, low, high, choices, doc) EDEN_PARAM_##id,
#include "eden_params.def"
#undef EDEN_PARAM
    EDEN_PARAM_COUNT
};

enum eden_param_kind { EDEN_KIND_size, EDEN_KIND_number, EDEN_KIND_whole, EDEN_KIND_choice, EDEN_KIND_file };

struct eden_param {
    char name[24];
    enum eden_param_kind kind;
    enum eden_enum_id choices; /* of choices and files; else EDEN_ENUM_none */
    double fallback, low, high;
};

static inline const struct eden_param *eden_param(enum eden_param_id id) {
    static const struct eden_param params[EDEN_PARAM_COUNT] = {
#define EDEN_PARAM(id, name, kind, fallback, low, high, choices, doc)                                                  \
    {name, EDEN_KIND_##kind, EDEN_ENUM_##choices, fallback, low, high},
#include "eden_params.def"
#undef EDEN_PARAM
    };
    return &params[id];
}

/* EDEN_PARAM_COUNT: no parameter has this name. */
static inline enum eden_param_id eden_param_find(const char *name) {
    enum eden_param_id id = (enum eden_param_id)0;
    while (id < EDEN_PARAM_COUNT && strcmp(eden_param(id)->name, name) != 0) {
        id = (enum eden_param_id)(id + 1);
    }
    return id;
}

/* Whether a number is a value of the parameter, within its bounds. */
static inline bool eden_param_is_value(const struct eden_param *param, double value) {
    switch (param->kind) {
    case EDEN_KIND_file:
    case EDEN_KIND_choice:
        return (isnan(value) && param->kind == EDEN_KIND_file) ||
               (value >= 0 && value < EDEN_ENUM_MOST && value == floor(value) &&
                eden_enum_name(param->choices, (uint64_t)value) != NULL);
    case EDEN_KIND_whole:
        if (value == EDEN_UNSET) {
            return true;
        }
        return value == floor(value) && value >= param->low && value <= param->high;
    case EDEN_KIND_size:
        if (value >= 0x1p64 && !isinf(value)) { /* fits no integer */
            return false;
        }
        break;
    case EDEN_KIND_number:
        break;
    }
    return value >= param->low && value <= param->high;
}

/* False: not a value of the parameter, or out of its bounds. A file's name is always a value. */
static inline bool eden_param_parse(const struct eden_param *param, const char *text, double *value) {
    uint64_t bytes;
    *value = NAN;
    switch (param->kind) {
    case EDEN_KIND_size:
        if (!eden_size_parse(text, &bytes)) {
            return false;
        }
        *value = bytes == EDEN_NO_LIMIT ? INFINITY : (double)bytes;
        break;
    case EDEN_KIND_whole:
        if (strcmp(text, "unset") == 0) {
            *value = EDEN_UNSET;
            return true;
        }
        if (!eden_number_parse(text, value) || *value != floor(*value)) {
            return false;
        }
        break;
    case EDEN_KIND_number:
        if (!eden_number_parse(text, value)) {
            return false;
        }
        break;
    case EDEN_KIND_choice:
    case EDEN_KIND_file: {
        int choice = eden_enum_find(param->choices, text, strlen(text));
        *value = choice < 0 ? *value : choice;
        return choice >= 0 || param->kind == EDEN_KIND_file;
    }
    }
    return eden_param_is_value(param, *value);
}

/* As param__set passes it: sizes in bytes. A file's name is empty: the value has it not. */
static inline void eden_param_text(const struct eden_param *param, double value, char *text, size_t size) {
    const char *name = NULL;
    switch (param->kind) {
    case EDEN_KIND_choice:
    case EDEN_KIND_file:
        name = isnan(value) ? "" : eden_enum_name(param->choices, (uint64_t)value);
        break;
    case EDEN_KIND_whole:
    case EDEN_KIND_size:
        name = param->kind == EDEN_KIND_size && isinf(value) ? "none" : value == EDEN_UNSET ? "unset" : NULL;
        break;
    case EDEN_KIND_number:
        break;
    }
    if (name) {
        snprintf(text, size, "%s", name);
    } else {
        snprintf(text, size, param->kind == EDEN_KIND_number ? "%.15g" : "%.0f", value);
    }
}

/* For a person: sizes with K, M, G or T. */
static inline void eden_param_show(const struct eden_param *param, double value, char *text, size_t size) {
    if (param->kind == EDEN_KIND_size) {
        char form[EDEN_SIZE_TEXT];
        snprintf(text, size, "%s", eden_size_text(form, isinf(value) ? EDEN_NO_LIMIT : (uint64_t)value));
    } else {
        eden_param_text(param, value, text, size);
    }
}

#endif
