/* Parameters: read, checked against the table of eden_params.def, told.
 *
 * survivors_to_keep and tenure_proportion set the same thing; whichever is set later wins: setting
 * tenure_proportion unsets survivors_to_keep, and while survivors_to_keep is set it decides (tenure.c). */
#include "heap/params.h"
#include "eden_values.h"
#include "heap/heap.h"
#include <inttypes.h>
#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum kind { KIND_size, KIND_number, KIND_whole, KIND_choice, KIND_file };

struct row {
    const char *name;
    enum kind kind;
    size_t offset;
    double low, high; /* of sizes: the exact bounds are low_size, high_size */
    uint64_t low_size, high_size;
    const char *choices;
};

/* A bound as a size: doubles beyond the range (inf) can't be converted. */
#define AS_SIZE(kind, bound) (KIND_##kind == KIND_size ? (uint64_t)(KIND_##kind == KIND_size ? (bound) : 0) : 0)
static const struct row rows[] = {
#define EDEN_PARAM(id, name, kind, fallback, low, high, choices, doc)                                                  \
    {name,           KIND_##kind,        offsetof(struct params, id), (double)(low),                                   \
     (double)(high), AS_SIZE(kind, low), AS_SIZE(kind, high),         choices},
#include "eden_params.def"
#undef EDEN_PARAM
};
enum { ROWS = sizeof rows / sizeof rows[0] };

static void default_size(uint64_t *field, uint64_t fallback) { *field = fallback; }
static void default_number(double *field, double fallback) { *field = fallback; }
static void default_whole(int64_t *field, int64_t fallback) { *field = fallback; }
static void default_choice(uint64_t *field, uint64_t fallback) { *field = fallback; }
static void default_file(struct param_file *field, uint64_t fallback) {
    *field = (struct param_file){.choice = fallback, .where = ""};
}

void params_defaults(struct params *params) {
#define EDEN_PARAM(id, name, kind, fallback, low, high, choices, doc) default_##kind(&params->id, fallback);
#include "eden_params.def"
#undef EDEN_PARAM
}

static const struct row *find_row(const char *name) {
    for (size_t i = 0; i < ROWS; i++) {
        if (strcmp(rows[i].name, name) == 0) {
            return &rows[i];
        }
    }
    return NULL;
}

static void size_text(uint64_t bytes, char text[32]) {
    static const char *const suffixes[] = {"", "K", "M", "G", "T"};
    int power = 0;
    if (bytes == EDEN_NO_LIMIT) {
        snprintf(text, 32, "none");
        return;
    }
    while (power < 4 && bytes != 0 && bytes % 1024 == 0) {
        bytes /= 1024;
        power++;
    }
    snprintf(text, 32, "%" PRIu64 "%s", bytes, suffixes[power]);
}

static bool parse_number(const char *value, double *number) {
    char *end;
    *number = strtod(value, &end);
    return end != value && *end == '\0' && !isnan(*number);
}

static int find_choice(const char *choices, const char *value) {
    size_t length = strlen(value);
    int index = 0;
    for (const char *at = choices; *at != '\0'; index++) {
        size_t word = strcspn(at, " ");
        if (word == length && strncmp(at, value, length) == 0) {
            return index;
        }
        at += word + (at[word] == ' ');
    }
    return -1;
}

/* Numbers are read and written with a decimal point whatever locale the program has set. The C library's "C" locale is
 * static: it takes no memory and is not freed. */
static locale_t enter_c_locale(void) { return uselocale(newlocale(LC_ALL_MASK, "C", (locale_t)0)); }

static bool set(struct params *params, const char *name, const char *value, const char *where, eden_error *error) {
    const struct row *row = find_row(name);
    if (row == NULL) {
        return error_fail(error, EDEN_BAD_PARAMETER,
                          "%s: unknown parameter '%.40s'; docs/parameters.md lists the parameters", where, name);
    }
    char *field = (char *)params + row->offset;
    double number = 0;
    switch (row->kind) {
    case KIND_size: {
        uint64_t bytes;
        if (!eden_size_parse(value, &bytes) || bytes < row->low_size || bytes > row->high_size) {
            char low[32], high[32];
            size_text(row->low_size, low);
            size_text(row->high_size, high);
            return error_fail(error, EDEN_BAD_PARAMETER,
                              "%s: %s=%.40s: must be a size in bytes between %s and %s (K, M, G, T are powers of 1024)",
                              where, name, value, low, high);
        }
        memcpy(field, &bytes, sizeof bytes);
        break;
    }
    case KIND_number:
        if (!parse_number(value, &number) || number < row->low || number > row->high) {
            return error_fail(error, EDEN_BAD_PARAMETER, "%s: %s=%.40s: must be a number between %g and %g", where,
                              name, value, row->low, row->high);
        }
        memcpy(field, &number, sizeof number);
        break;
    case KIND_whole: {
        int64_t whole = EDEN_UNSET;
        if (strcmp(value, "unset") != 0) {
            if (!parse_number(value, &number) || number != floor(number) || number < row->low || number > row->high) {
                return error_fail(error, EDEN_BAD_PARAMETER,
                                  "%s: %s=%.40s: must be a whole number between %g and %g, or unset", where, name,
                                  value, row->low, row->high);
            }
            whole = (int64_t)number;
        }
        memcpy(field, &whole, sizeof whole);
        break;
    }
    case KIND_choice: {
        int choice = find_choice(row->choices, value);
        if (choice < 0) {
            return error_fail(error, EDEN_BAD_PARAMETER, "%s: %s=%.40s: must be one of: %s", where, name, value,
                              row->choices);
        }
        uint64_t index = (uint64_t)choice;
        memcpy(field, &index, sizeof index);
        break;
    }
    case KIND_file: {
        struct param_file file = {.choice = FILE_CHOICE, .where = where};
        int choice = find_choice(row->choices, value);
        size_t length = strlen(value);
        if (length == 0 || length >= sizeof file.path) {
            return error_fail(error, EDEN_BAD_PARAMETER,
                              "%s: %s=%.40s: must be one of: %s; or the name of a file of at most %zu bytes", where,
                              name, value, row->choices, sizeof file.path - 1);
        }
        if (choice >= 0) {
            file.choice = (uint64_t)choice;
        } else {
            memcpy(file.path, value, length + 1);
        }
        memcpy(field, &file, sizeof file);
        break;
    }
    }
    if (field == (char *)&params->tenure_proportion) {
        params->survivors_to_keep = EDEN_UNSET;
    }
    return true;
}

bool params_set(struct params *params, const char *name, const char *value, const char *where, eden_error *error) {
    locale_t before = enter_c_locale();
    bool done = set(params, name, value, where, error);
    uselocale(before);
    return done;
}

bool params_parse(struct params *params, const char *text, const char *where, eden_error *error) {
    while (text != NULL && *text != '\0') {
        char item[512];
        size_t length = strcspn(text, ",");
        const char *equals = memchr(text, '=', length);
        if (length != 0) {
            if (equals == NULL || length >= sizeof item) {
                return error_fail(error, EDEN_BAD_PARAMETER, "%s: '%.*s': must be name=value, separated by commas",
                                  where, (int)(length < 60 ? length : 60), text);
            }
            memcpy(item, text, length);
            item[length] = '\0';
            item[equals - text] = '\0';
            if (!params_set(params, item, item + (equals - text) + 1, where, error)) {
                return false;
            }
        }
        text += length + (text[length] == ',');
    }
    return true;
}

static void choice_text(const char *choices, uint64_t index, char *text, size_t size) {
    for (uint64_t i = 0; i < index; i++) {
        choices += strcspn(choices, " ") + 1;
    }
    snprintf(text, size, "%.*s", (int)strcspn(choices, " "), choices);
}

static void row_text(const struct params *params, const struct row *row, char *text, size_t size) {
    const char *field = (const char *)params + row->offset;
    uint64_t bytes;
    double number;
    int64_t whole;
    switch (row->kind) {
    case KIND_size:
        memcpy(&bytes, field, sizeof bytes);
        if (bytes == EDEN_NO_LIMIT) {
            snprintf(text, size, "none");
        } else {
            snprintf(text, size, "%" PRIu64, bytes);
        }
        break;
    case KIND_number: {
        memcpy(&number, field, sizeof number);
        locale_t before = enter_c_locale();
        snprintf(text, size, "%.15g", number);
        uselocale(before);
        break;
    }
    case KIND_whole:
        memcpy(&whole, field, sizeof whole);
        if (whole == EDEN_UNSET) {
            snprintf(text, size, "unset");
        } else {
            snprintf(text, size, "%" PRId64, whole);
        }
        break;
    case KIND_choice:
        memcpy(&bytes, field, sizeof bytes);
        choice_text(row->choices, bytes, text, size);
        break;
    case KIND_file: {
        const struct param_file *file = (const struct param_file *)field;
        if (file->choice == FILE_CHOICE) {
            snprintf(text, size, "%s", file->path);
        } else {
            choice_text(row->choices, file->choice, text, size);
        }
        break;
    }
    }
}

bool params_get(const struct params *params, const char *name, char *text, size_t size) {
    const struct row *row = find_row(name);
    if (row == NULL) {
        return false;
    }
    row_text(params, row, text, size);
    return true;
}

void params_fire(eden_heap *heap, const char *only) {
    for (size_t i = 0; i < ROWS; i++) {
        if (only == NULL || strcmp(rows[i].name, only) == 0) {
            char text[sizeof(struct param_file)];
            row_text(&heap->params, &rows[i], text, sizeof text);
            eden_fire_param__set(heap, rows[i].name, text);
        }
    }
}
