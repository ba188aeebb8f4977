#include "model/parameters.h"
#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum kind { KIND_size, KIND_number, KIND_whole, KIND_choice, KIND_file };

static const struct row {
    enum kind kind;
    double fallback, low, high;
    const char *choices;
} rows[TUNE_PARAMETERS] = {
#define EDEN_PARAM(id, name, kind, fallback, low, high, choices, doc)                                                  \
    {KIND_##kind, (double)(fallback), (double)(low), (double)(high), choices},
#include "eden_params.def"
#undef EDEN_PARAM
};

const char *const tune_parameter_names[TUNE_PARAMETERS] = {
#define EDEN_PARAM(id, name, kind, fallback, low, high, choices, doc) name,
#include "eden_params.def"
#undef EDEN_PARAM
};

static const double NO_LIMIT = (double)EDEN_NO_LIMIT;

static void choice_text(const struct row *row, int place, char *text, size_t size) {
    const char *word = row->choices;
    for (int i = 0; i < place; i++) {
        word += strcspn(word, " ") + 1;
    }
    snprintf(text, size, "%.*s", (int)strcspn(word, " "), word);
}

/* The place of a word among the choices; -1: none. */
static int find_choice(const struct row *row, const char *value) {
    const char *at = row->choices;
    for (int place = 0; *at; place++) {
        size_t length = strcspn(at, " ");
        if (strlen(value) == length && strncmp(at, value, length) == 0) {
            return place;
        }
        at += length + (at[length] == ' ');
    }
    return -1;
}

static double default_number(const struct row *row) {
    bool unset = row->kind == KIND_whole && row->fallback == (double)EDEN_UNSET;
    bool none = row->kind == KIND_size && row->fallback == NO_LIMIT;
    return unset || row->kind == KIND_file ? NAN : none ? INFINITY : row->fallback;
}

static void default_text(const struct row *row, char *text, size_t size) {
    double number = default_number(row);
    if (row->kind == KIND_choice || row->kind == KIND_file) {
        choice_text(row, (int)row->fallback, text, size);
    } else if (isnan(number)) {
        snprintf(text, size, "unset");
    } else if (row->kind == KIND_size && isinf(number)) {
        snprintf(text, size, "none");
    } else {
        snprintf(text, size, "%.15g", number);
    }
}

void tune_parameters_default(struct tune_parameter parameters[TUNE_PARAMETERS]) {
    for (int i = 0; i < TUNE_PARAMETERS; i++) {
        parameters[i] = (struct tune_parameter){.number = default_number(&rows[i])};
        default_text(&rows[i], parameters[i].text, sizeof parameters[i].text);
    }
}

bool tune_parameter_is_size(enum tune_parameter_id id) { return rows[id].kind == KIND_size; }

enum tune_parameter_id tune_parameter_find(const char *name) {
    int id = 0;
    while (id < TUNE_PARAMETERS && strcmp(tune_parameter_names[id], name) != 0) {
        id++;
    }
    return (enum tune_parameter_id)id;
}

/* Sizes are told in bytes. */
static bool read_number(const struct row *row, const char *value, double *number) {
    char *end;
    *number = NAN;
    if (row->kind == KIND_file) {
        /* The program's word, which goes into a line for a shell: a path that needs no quotes there, or none. */
        return strspn(value, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_@%+=:./-") ==
               strlen(value);
    }
    if (row->kind == KIND_whole && strcmp(value, "unset") == 0) {
        return true;
    }
    if (row->kind == KIND_choice) {
        *number = find_choice(row, value);
        return *number >= 0;
    }
    if (row->kind == KIND_size && strcmp(value, "none") == 0) {
        *number = INFINITY;
        return true;
    }
    *number = strtod(value, &end);
    /* As the runtime writes numbers: strtod takes blanks, signs, hexadecimal and words, too. */
    return isdigit((unsigned char)*value) && strspn(value, "0123456789.e+-") == strlen(value) && *end == 0;
}

void tune_parameter_tell(struct tune_parameter parameters[TUNE_PARAMETERS], const char *name, const char *value) {
    enum tune_parameter_id id = tune_parameter_find(name);
    double number;
    if (id < TUNE_PARAMETERS && read_number(&rows[id], value, &number)) {
        parameters[id].told = true;
        parameters[id].number = number;
        snprintf(parameters[id].text, sizeof parameters[id].text, "%s", value);
    }
}

/* The unit is the largest in which rounding up adds at most a tenth. */
static void size_text(char text[TUNE_VALUE], double bytes) {
    static const char units[] = "GMK";
    for (int i = 0; units[i]; i++) {
        double unit = ldexp(1, 10 * (3 - i)), count = ceil(bytes / unit - 1e-9);
        if (count >= 1 && count * unit <= bytes * 1.1) {
            snprintf(text, TUNE_VALUE, "%.0f%c", count, units[i]);
            return;
        }
    }
    snprintf(text, TUNE_VALUE, "%.0f", ceil(bytes));
}

char *tune_value(char text[TUNE_VALUE], enum tune_parameter_id id, double number) {
    const struct row *row = &rows[id];
    double high = row->kind == KIND_size && row->high == NO_LIMIT ? INFINITY : row->high;
    double value = fmin(fmax(number, row->low), high);
    if (row->kind == KIND_choice || row->kind == KIND_file) {
        choice_text(row, (int)number, text, TUNE_VALUE);
    } else if (isnan(number)) {
        snprintf(text, TUNE_VALUE, "unset");
    } else if (isinf(value)) {
        snprintf(text, TUNE_VALUE, row->kind == KIND_size ? "none" : "inf");
    } else if (row->kind == KIND_size) {
        size_text(text, value);
    } else {
        snprintf(text, TUNE_VALUE, "%.3g", value);
    }
    return text;
}
