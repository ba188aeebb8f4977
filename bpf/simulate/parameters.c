/* Parameters as text: those that the simulated collector knows, with the bounds of probes/eden_params.def. */
#include "simulate/parameters.h"
#include "eden_abi.h"
#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

enum kind { KIND_size, KIND_number, KIND_whole, KIND_choice, KIND_file };

static const struct parameter {
    const char *name;
    enum kind kind;
    double fallback, low, high;
    const char *choices;
} all[] = {
#define EDEN_PARAM(id, name, kind, fallback, low, high, choices, doc)                                                  \
    {name, KIND_##kind, (double)(fallback), (double)(low), (double)(high), choices},
#include "eden_params.def"
#undef EDEN_PARAM
};
enum { ALL = sizeof all / sizeof all[0] };

static const struct simulated {
    const char *name;
    size_t field;
} simulated[] = {
    {"eden_size", offsetof(struct simulate_parameters, eden_size)},
    {"full_gc_ratio", offsetof(struct simulate_parameters, full_gc_ratio)},
    {"full_gc_min_old", offsetof(struct simulate_parameters, full_gc_min_old)},
    {"tenure_proportion", offsetof(struct simulate_parameters, tenure_proportion)},
    {"survivors_to_keep", offsetof(struct simulate_parameters, survivors_to_keep)},
    {"tenure_fill", offsetof(struct simulate_parameters, tenure_fill)},
    {"tenure_criterion", offsetof(struct simulate_parameters, tenure_criterion)},
    {"compat.overflow", offsetof(struct simulate_parameters, overflow)},
    {"large_object", offsetof(struct simulate_parameters, large_object)},
    {"grow_headroom", offsetof(struct simulate_parameters, grow_headroom)},
};
enum { SIMULATED = sizeof simulated / sizeof simulated[0] };

/* What changes neither which objects are copied and tenured nor when collections come, as far as is simulated. */
static const char *const indifferent[] = {"remembered_set", "compactor", "shrink_threshold"};
enum { INDIFFERENT = sizeof indifferent / sizeof indifferent[0] };

/* Choices of these that are simulated, the others being none. */
enum { CRITERION_AGE = 0, CRITERION_NEVER = 4, OVERFLOW_SCAN_ORDER = 0 };

static const struct parameter *find(const char *name) {
    for (size_t i = 0; i < ALL; i++) {
        if (strcmp(all[i].name, name) == 0) {
            return &all[i];
        }
    }
    return NULL;
}

static double *find_field(struct simulate_parameters *parameters, const char *name) {
    for (size_t i = 0; i < SIMULATED; i++) {
        if (strcmp(simulated[i].name, name) == 0) {
            return (double *)((char *)parameters + simulated[i].field);
        }
    }
    return NULL;
}

static bool parse_size(const char *text, double *value) {
    static const char suffixes[] = "KMGT";
    char *end;
    *value = strtod(text, &end);
    if (strcmp(text, "none") == 0) {
        *value = INFINITY;
        return true;
    }
    const char *suffix = *end != '\0' ? strchr(suffixes, *end >= 'a' ? *end - 'a' + 'A' : *end) : NULL;
    if (suffix) {
        *value = ldexp(*value, 10 * (int)(suffix - suffixes + 1));
        end++;
    }
    *value = floor(*value);
    return ((text[0] >= '0' && text[0] <= '9') || text[0] == '.') && *end == '\0';
}

static bool parse_choice(const char *text, const char *choices, double *value) {
    *value = 0;
    for (const char *at = choices; *at != '\0'; *value += 1) {
        size_t length = strcspn(at, " ");
        if (length == strlen(text) && strncmp(at, text, length) == 0) {
            return true;
        }
        at += length + (at[length] == ' ');
    }
    return false;
}

static bool parse(const struct parameter *parameter, const char *text, double *value) {
    char *end;
    switch (parameter->kind) {
    case KIND_size:
        return parse_size(text, value) &&
               (*value <= parameter->high || (isinf(*value) && parameter->high >= (double)EDEN_NO_LIMIT)) &&
               *value >= parameter->low;
    case KIND_whole:
        if (strcmp(text, "unset") == 0) {
            *value = -1;
            return true;
        }
        __attribute__((fallthrough));
    case KIND_number:
        *value = strtod(text, &end);
        return end != text && *end == '\0' && *value >= parameter->low && *value <= parameter->high &&
               (parameter->kind == KIND_number || *value == floor(*value));
    case KIND_choice:
    case KIND_file:
        break;
    }
    return parse_choice(text, parameter->choices, value);
}

static double fallback(const struct parameter *parameter) {
    bool unset = parameter->kind == KIND_whole && parameter->fallback == (double)EDEN_UNSET;
    bool none = parameter->kind == KIND_size && parameter->fallback == (double)EDEN_NO_LIMIT;
    return unset ? -1 : none ? INFINITY : parameter->fallback;
}

void simulate_parameters_default(struct simulate_parameters *parameters) {
    for (size_t i = 0; i < SIMULATED; i++) {
        *find_field(parameters, simulated[i].name) = fallback(find(simulated[i].name));
    }
}

void simulate_parameters_usual(struct simulate_parameters *parameters, const struct simulate_parameters *recorded) {
    struct simulate_parameters defaults;
    simulate_parameters_default(&defaults);
    *parameters = *recorded;
    parameters->eden_size = defaults.eden_size;
    parameters->full_gc_ratio = defaults.full_gc_ratio;
    parameters->grow_headroom = defaults.grow_headroom;
    parameters->tenure_fill = defaults.tenure_fill;
    parameters->tenure_proportion = defaults.tenure_proportion;
}

/* A choice that is none of those that are simulated? */
static bool is_beyond(const char *name, double value) {
    return strcmp(name, "tenure_criterion") == 0 && value != CRITERION_AGE && value != CRITERION_NEVER;
}

bool simulate_parameter_recorded(struct simulate_parameters *parameters, const char *name, const char *value,
                                 struct failure *why) {
    const struct parameter *parameter = find(name);
    double *field = find_field(parameters, name), number;
    for (size_t i = 0; i < INDIFFERENT; i++) {
        if (strcmp(name, indifferent[i]) == 0) {
            return true;
        }
    }
    bool known = parameter && parse(parameter, value, &number) && !is_beyond(name, number);
    if (!known || (!field && number != fallback(parameter))) {
        return failure_set(why, 1,
                           "the heap was recorded with %.40s=%.60s, which cannot be simulated; record without it", name,
                           value);
    }
    if (field) {
        *field = number;
    }
    return true;
}

static void list_names(char *text, size_t size) {
    size_t length = 0;
    text[0] = '\0';
    for (size_t i = 0; i < SIMULATED && length < size; i++) {
        length += (size_t)snprintf(text + length, size - length, "%s%s", i == 0 ? "" : ", ", simulated[i].name);
    }
}

bool simulate_parameter_wanted(struct simulate_parameters *parameters, const char *text, struct failure *why) {
    char name[64], names[300];
    const char *sign = strchr(text, '=');
    if (!sign || sign == text || (size_t)(sign - text) >= sizeof name) {
        return failure_set(why, 1, "%.100s: must be NAME=VALUE", text);
    }
    memcpy(name, text, (size_t)(sign - text));
    name[sign - text] = '\0';
    const struct parameter *parameter = find(name);
    double *field = find_field(parameters, name), value;
    if (!parameter || !field) {
        list_names(names, sizeof names);
        return failure_set(why, 1, "%.63s: %s; choose one of %s", name,
                           parameter ? "this parameter cannot be simulated" : "unknown parameter", names);
    }
    if (!parse(parameter, sign + 1, &value)) {
        return failure_set(why, 1, "%.100s: out of bounds, or not a value of this parameter (docs/parameters.md)",
                           text);
    }
    if (is_beyond(name, value)) {
        return failure_set(why, 1, "%.100s: cannot be simulated, since tenuring then depends on more than age", text);
    }
    if (strcmp(name, "tenure_proportion") == 0) {
        parameters->survivors_to_keep = -1; /* the later of the two wins */
    }
    *field = value;
    return true;
}

static void value_text(const struct parameter *parameter, double value, char *text, size_t size) {
    static const char suffixes[] = " KMGT";
    int power = 0;
    if (parameter->kind == KIND_choice) {
        const char *word = parameter->choices;
        for (int i = 0; i < (int)value; i++) {
            word += strcspn(word, " ") + 1;
        }
        snprintf(text, size, "%.*s", (int)strcspn(word, " "), word);
    } else if (parameter->kind != KIND_size) {
        snprintf(text, size, "%.15g", value);
    } else if (isinf(value)) {
        snprintf(text, size, "none");
    } else {
        for (; power < 4 && value != 0 && fmod(value, 1024) == 0; power++) {
            value /= 1024;
        }
        snprintf(text, size, "%.0f%.*s", value, power != 0, &suffixes[power]);
    }
}

void simulate_parameters_text(const struct simulate_parameters *parameters, char *text, size_t size) {
    struct simulate_parameters copy = *parameters;
    size_t length = 0;
    text[0] = '\0';
    for (size_t i = 0; i < SIMULATED && length < size; i++) {
        const struct parameter *parameter = find(simulated[i].name);
        double value = *find_field(&copy, simulated[i].name);
        char said[64];
        if (i == 0 || value != fallback(parameter)) {
            value_text(parameter, value, said, sizeof said);
            length +=
                (size_t)snprintf(text + length, size - length, "%s%s=%s", length ? "," : "", parameter->name, said);
        }
    }
}

bool simulate_tenures_by_age(const struct simulate_parameters *parameters) {
    return parameters->tenure_criterion == CRITERION_AGE;
}

bool simulate_overflows_in_order(const struct simulate_parameters *parameters) {
    return parameters->overflow == OVERFLOW_SCAN_ORDER;
}

/* New space is whole pages: runtime/api/create.c. */
static double page_round(double bytes) { return 4096 * ceil(bytes / 4096); }

uint64_t simulate_semispace(const struct simulate_parameters *parameters) {
    return (uint64_t)page_round(floor(page_round(parameters->eden_size) / 5));
}

double simulate_tenure_share(const struct simulate_parameters *parameters) {
    if (parameters->survivors_to_keep < 0) {
        return parameters->tenure_proportion;
    }
    double tenured = 1 - 64 * parameters->survivors_to_keep / (double)simulate_semispace(parameters);
    return tenured > 0 ? tenured : 0;
}

uint64_t simulate_young_most(const struct simulate_parameters *parameters) {
    double half = floor(parameters->eden_size / 2);
    return (uint64_t)(parameters->large_object < half ? parameters->large_object : half);
}
