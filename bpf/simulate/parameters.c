/* Parameters as text: those that the simulated collector knows, with the bounds of probes/eden_params.def. */
#include "simulate/parameters.h"
#include "eden_values.h"
#include "util/whole.h"
#include <math.h>
#include <stddef.h>
#include <string.h>

static const struct simulated {
    enum eden_param_id id;
    size_t field;
} simulated[] = {
    {EDEN_PARAM_eden_size, offsetof(struct simulate_parameters, eden_size)},
    {EDEN_PARAM_full_gc_ratio, offsetof(struct simulate_parameters, full_gc_ratio)},
    {EDEN_PARAM_full_gc_min_old, offsetof(struct simulate_parameters, full_gc_min_old)},
    {EDEN_PARAM_tenure_proportion, offsetof(struct simulate_parameters, tenure_proportion)},
    {EDEN_PARAM_survivors_to_keep, offsetof(struct simulate_parameters, survivors_to_keep)},
    {EDEN_PARAM_tenure_fill, offsetof(struct simulate_parameters, tenure_fill)},
    {EDEN_PARAM_tenure_criterion, offsetof(struct simulate_parameters, tenure_criterion)},
    {EDEN_PARAM_compat_overflow, offsetof(struct simulate_parameters, overflow)},
    {EDEN_PARAM_large_object, offsetof(struct simulate_parameters, large_object)},
    {EDEN_PARAM_grow_headroom, offsetof(struct simulate_parameters, grow_headroom)},
    {EDEN_PARAM_compat_growth, offsetof(struct simulate_parameters, growth)},
    {EDEN_PARAM_policy, offsetof(struct simulate_parameters, policy)},
    {EDEN_PARAM_max_heap, offsetof(struct simulate_parameters, max_heap)},
};
enum { SIMULATED = sizeof simulated / sizeof simulated[0] };

/* What changes neither which objects are copied and tenured nor when collections come, as far as is simulated. */
static const enum eden_param_id indifferent[] = {EDEN_PARAM_remembered_set, EDEN_PARAM_compactor,
                                                 EDEN_PARAM_shrink_threshold, EDEN_PARAM_compat_tenured_scan,
                                                 EDEN_PARAM_overhead_limit};
enum { INDIFFERENT = sizeof indifferent / sizeof indifferent[0] };

static double *find_field(struct simulate_parameters *parameters, enum eden_param_id id) {
    for (size_t i = 0; i < SIMULATED; i++) {
        if (simulated[i].id == id) {
            return (double *)((char *)parameters + simulated[i].field);
        }
    }
    return NULL;
}

void simulate_parameters_default(struct simulate_parameters *parameters) {
    for (size_t i = 0; i < SIMULATED; i++) {
        *find_field(parameters, simulated[i].id) = eden_param(simulated[i].id)->fallback;
    }
    parameters->policy = EDEN_POLICY_FIXED; /* as is recorded */
    parameters->set = 0;
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
    parameters->set &=
        ~(1ull << EDEN_PARAM_eden_size | 1ull << EDEN_PARAM_full_gc_ratio | 1ull << EDEN_PARAM_grow_headroom |
          1ull << EDEN_PARAM_tenure_fill | 1ull << EDEN_PARAM_tenure_proportion);
}

/* A choice that is none of those that are simulated? */
static bool is_beyond(enum eden_param_id id, double value) {
    return id == EDEN_PARAM_tenure_criterion && value != EDEN_BY_AGE && value != EDEN_BY_NOTHING;
}

bool simulate_parameter_recorded(struct simulate_parameters *parameters, const char *name, const char *value,
                                 struct failure *why) {
    enum eden_param_id id = eden_param_find(name);
    double *field = find_field(parameters, id), number;
    for (size_t i = 0; i < INDIFFERENT; i++) {
        if (indifferent[i] == id) {
            return true;
        }
    }
    if (id == EDEN_PARAM_policy && strcmp(value, "fixed") != 0) {
        return failure_set(why, 1,
                           "the heap was recorded with policy=%.60s, which cannot be simulated; record with "
                           "policy=fixed",
                           value);
    }
    if (id == EDEN_PARAM_policy) {
        return true;
    }
    bool known = id < EDEN_PARAM_COUNT && eden_param_parse(eden_param(id), value, &number) && !is_beyond(id, number);
    if (!known || (!field && number != eden_param(id)->fallback)) {
        return failure_set(why, 1,
                           "the heap was recorded with %.40s=%.60s, which cannot be simulated; record without it", name,
                           value);
    }
    if (field) {
        *field = number;
        parameters->set |= (uint64_t)(number != eden_param(id)->fallback) << id;
    }
    return true;
}

static void list_names(char *text, size_t size) {
    size_t length = 0;
    text[0] = '\0';
    for (size_t i = 0; i < SIMULATED && length < size; i++) {
        length += (size_t)snprintf(text + length, size - length, "%s%s", i == 0 ? "" : ", ",
                                   eden_param(simulated[i].id)->name);
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
    enum eden_param_id id = eden_param_find(name);
    double *field = find_field(parameters, id), value;
    if (!field) {
        list_names(names, sizeof names);
        return failure_set(why, 1, "%.63s: %s; choose one of %s", name,
                           id < EDEN_PARAM_COUNT ? "this parameter cannot be simulated" : "unknown parameter", names);
    }
    if (!eden_param_parse(eden_param(id), sign + 1, &value)) {
        return failure_set(why, 1, "%.100s: out of bounds, or not a value of this parameter (docs/parameters.md)",
                           text);
    }
    if (is_beyond(id, value)) {
        return failure_set(why, 1, "%.100s: cannot be simulated, since tenuring then depends on more than age", text);
    }
    if (id == EDEN_PARAM_tenure_proportion) {
        parameters->survivors_to_keep = EDEN_UNSET; /* the later of the two wins */
    }
    parameters->set |= 1ull << id;
    *field = value;
    return true;
}

void simulate_parameters_text(const struct simulate_parameters *parameters, char *text, size_t size) {
    struct simulate_parameters copy = *parameters;
    size_t length = (size_t)snprintf(text, size, "policy=%s", eden_policy_name((enum eden_policy)copy.policy));
    for (size_t i = 0; i < SIMULATED && length < size; i++) {
        const struct eden_param *param = eden_param(simulated[i].id);
        double value = *find_field(&copy, simulated[i].id);
        char form[64];
        if (i == 0 || (value != param->fallback && param != eden_param(EDEN_PARAM_policy))) {
            eden_param_show(param, value, form, sizeof form);
            length += (size_t)snprintf(text + length, size - length, ",%s=%s", param->name, form);
        }
    }
}

bool simulate_decides(const struct simulate_parameters *parameters, enum eden_param_id id) {
    return parameters->policy == EDEN_POLICY_AUTO && (parameters->set >> id & 1) == 0;
}

bool simulate_tenures_by_age(const struct simulate_parameters *parameters) {
    return parameters->tenure_criterion == EDEN_BY_AGE;
}

bool simulate_overflows_in_order(const struct simulate_parameters *parameters) {
    return parameters->overflow == EDEN_OVERFLOW_SCAN_ORDER;
}

bool simulate_refills(const struct simulate_parameters *parameters) { return parameters->growth == EDEN_GROWTH_REFILL; }

/* New space is whole pages: runtime/api/create.c. */
static double page_round(double bytes) { return 4096 * ceil(bytes / 4096); }

uint64_t simulate_semispace(double eden) { return whole_of(page_round(floor(page_round(eden) / 5))); }

double simulate_tenure_share(const struct simulate_parameters *parameters, uint64_t semispace) {
    if (parameters->survivors_to_keep < 0) {
        return parameters->tenure_proportion;
    }
    double tenured = 1 - 64 * parameters->survivors_to_keep / (double)semispace;
    return tenured > 0 ? tenured : 0;
}

uint64_t simulate_young_most(const struct simulate_parameters *parameters, double eden) {
    double half = floor(eden / 2);
    return whole_of(parameters->large_object < half ? parameters->large_object : half);
}
