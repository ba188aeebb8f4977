/* Parameters: read, checked against the table of eden_params.def, reported.
 *
 * survivors_to_keep and tenure_proportion set the same thing; whichever is set later wins: setting
 * tenure_proportion unsets survivors_to_keep, and while survivors_to_keep is set it decides (tenure.c). */
#include "heap/params.h"
#include "eden_params.h"
#include "heap/heap.h"
#include <inttypes.h>
#include <locale.h>
#include <math.h>
#include <stdio.h>

static const size_t offsets[] = {
#define EDEN_PARAM(id, name, kind, fallback, low, high, choices, doc) offsetof(struct params, id),
#include "eden_params.def"
#undef EDEN_PARAM
};

/* A size or a choice. */
static uint64_t as_unsigned(double value) { return isfinite(value) && value >= 0 ? (uint64_t)value : EDEN_NO_LIMIT; }

static void set_field(struct params *params, enum eden_param_id id, double value) {
    char *field = (char *)params + offsets[id];
    uint64_t number;
    int64_t whole;
    switch (eden_param(id)->kind) {
    case EDEN_KIND_size:
    case EDEN_KIND_choice:
        number = as_unsigned(value);
        memcpy(field, &number, sizeof number);
        break;
    case EDEN_KIND_number:
        memcpy(field, &value, sizeof value);
        break;
    case EDEN_KIND_whole:
        whole = (int64_t)value;
        memcpy(field, &whole, sizeof whole);
        break;
    case EDEN_KIND_file: {
        struct param_file file = {.choice = isnan(value) ? FILE_CHOICE : as_unsigned(value), .where = ""};
        memcpy(field, &file, sizeof file);
        break;
    }
    }
}

void params_defaults(struct params *params) {
    for (enum eden_param_id id = 0; id < EDEN_PARAM_COUNT; id++) {
        set_field(params, id, eden_param(id)->fallback);
    }
    params->given = 0;
}

/* Numbers are read and written with a decimal point whatever locale the program has set. The C library's "C" locale is
 * static: it takes no memory and is not freed. */
static locale_t enter_c_locale(void) { return uselocale(newlocale(LC_ALL_MASK, "C", (locale_t)0)); }

static bool fail_value(const struct eden_param *param, const char *value, const char *where, eden_error *error) {
    char low[EDEN_SIZE_TEXT], high[EDEN_SIZE_TEXT], choices[100];
    switch (param->kind) {
    case EDEN_KIND_size:
        eden_param_show(param, param->low, low, sizeof low);
        eden_param_show(param, param->high, high, sizeof high);
        return error_fail(error, EDEN_BAD_PARAMETER,
                          "%s: %s=%.40s: must be a size in bytes %s %s %s %s (K, M, G, T are powers of 1024)", where,
                          param->name, value, strcmp(high, "none") == 0 ? "from" : "between", low,
                          strcmp(high, "none") == 0 ? "on, or" : "and", high);
    case EDEN_KIND_number:
    case EDEN_KIND_whole:
        return error_fail(error, EDEN_BAD_PARAMETER, "%s: %s=%.40s: must be a %snumber between %.16g and %.16g%s",
                          where, param->name, value, param->kind == EDEN_KIND_whole ? "whole " : "", param->low,
                          param->high, param->kind == EDEN_KIND_whole ? ", or unset" : "");
    case EDEN_KIND_choice:
    case EDEN_KIND_file:
        break;
    }
    eden_enum_list(param->choices, choices, sizeof choices);
    if (param->kind == EDEN_KIND_choice) {
        return error_fail(error, EDEN_BAD_PARAMETER, "%s: %s=%.40s: must be one of: %s", where, param->name, value,
                          choices);
    }
    return error_fail(error, EDEN_BAD_PARAMETER,
                      "%s: %s=%.40s: must be one of: %s; or the name of a file of at most %zu bytes", where,
                      param->name, value, choices, sizeof((struct param_file *)NULL)->path - 1);
}

static bool set(struct params *params, const char *name, const char *value, const char *where, eden_error *error) {
    enum eden_param_id id = eden_param_find(name);
    if (id == EDEN_PARAM_COUNT) {
        return error_fail(error, EDEN_BAD_PARAMETER,
                          "%s: unknown parameter '%.40s'; docs/parameters.md lists the parameters", where, name);
    }
    const struct eden_param *param = eden_param(id);
    struct param_file *file = (void *)((char *)params + offsets[id]);
    size_t length = strlen(value);
    double number;
    if (!eden_param_parse(param, value, &number) ||
        (param->kind == EDEN_KIND_file && (length == 0 || length >= sizeof file->path))) {
        return fail_value(param, value, where, error);
    }
    set_field(params, id, number);
    params->given |= 1ull << id;
    uint64_t bytes;
    if (param->kind == EDEN_KIND_size && eden_size_parse(value, &bytes)) { /* exact above 2^53, too */
        memcpy((char *)params + offsets[id], &bytes, sizeof bytes);
    } else if (param->kind == EDEN_KIND_file) {
        file->where = where;
        if (isnan(number)) {
            memcpy(file->path, value, length + 1);
        }
    } else if (id == EDEN_PARAM_tenure_proportion) {
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

/* As eden_params.h has values. */
static double field_value(const struct params *params, enum eden_param_id id) {
    const void *field = (const char *)params + offsets[id];
    double value;
    uint64_t number;
    int64_t whole;
    memcpy(&number, field, sizeof number);
    memcpy(&whole, field, sizeof whole);
    memcpy(&value, field, sizeof value);
    switch (eden_param(id)->kind) {
    case EDEN_KIND_size:
        return number == EDEN_NO_LIMIT ? INFINITY : (double)number;
    case EDEN_KIND_number:
        break;
    case EDEN_KIND_whole:
        return (double)whole;
    case EDEN_KIND_choice:
        return (double)number;
    case EDEN_KIND_file:
        return number == FILE_CHOICE ? NAN : (double)number;
    }
    return value;
}

static void field_text(const struct params *params, enum eden_param_id id, char *text, size_t size) {
    const struct eden_param *param = eden_param(id);
    const void *field = (const char *)params + offsets[id];
    const struct param_file *file = field;
    double value = field_value(params, id);
    if (param->kind == EDEN_KIND_size && !isinf(value)) { /* exact above 2^53, too */
        uint64_t bytes;
        memcpy(&bytes, field, sizeof bytes);
        snprintf(text, size, "%" PRIu64, bytes);
    } else if (param->kind == EDEN_KIND_file && isnan(value)) {
        snprintf(text, size, "%s", file->path);
    } else {
        locale_t before = enter_c_locale();
        eden_param_text(param, value, text, size);
        uselocale(before);
    }
}

bool params_get(const struct params *params, const char *name, char *text, size_t size) {
    enum eden_param_id id = eden_param_find(name);
    if (id < EDEN_PARAM_COUNT) {
        field_text(params, id, text, size);
    }
    return id < EDEN_PARAM_COUNT;
}

_Static_assert(sizeof((eden_heap *)NULL)->param_values <= 256, "on one page: a tool sees all of it or nothing");

static void publish_value(eden_heap *heap, enum eden_param_id id) {
    double value = field_value(&heap->params, id);
    __atomic_store(&heap->param_values[id], &value, __ATOMIC_RELAXED);
}

void params_publish_one(eden_heap *heap, enum eden_param_id id) {
    heap_header_begin(&heap->info);
    publish_value(heap, id);
    heap_header_end(&heap->info);
}

void params_publish(eden_heap *heap) {
    struct eden_heap_info *info = &heap->info;
    heap_header_begin(info);
    for (enum eden_param_id id = 0; id < EDEN_PARAM_COUNT; id++) {
        publish_value(heap, id);
    }
    const bool is_file = heap->params.pretenure.choice == FILE_CHOICE;
    __atomic_store_n(&info->params, (uintptr_t)heap->param_values, __ATOMIC_RELAXED);
    __atomic_store_n(&info->param_count, (uint32_t)EDEN_PARAM_COUNT, __ATOMIC_RELAXED);
    __atomic_store_n(&info->params_set, heap->params.given, __ATOMIC_RELAXED);
    __atomic_store_n(&info->pretenure_file, is_file ? (uintptr_t)heap->params.pretenure.path : 0, __ATOMIC_RELAXED);
    heap_header_end(info);
}

void params_fire(eden_heap *heap, const char *only) {
    params_publish(heap);
    for (enum eden_param_id id = 0; id < EDEN_PARAM_COUNT; id++) {
        const char *name = eden_param(id)->name;
        if (only == NULL || strcmp(name, only) == 0) {
            char text[sizeof(struct param_file)];
            field_text(&heap->params, id, text, sizeof text);
            eden_fire_param__set(heap, name, text);
        }
    }
}
