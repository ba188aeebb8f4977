/* Parameters of a heap, from the table of eden_params.def. */
#ifndef EDEN_HEAP_PARAMS_H
#define EDEN_HEAP_PARAMS_H

#include "eden_params.h"
#include "eden_probes.h"
#include "heap/object.h"

/* No values of tenure_criterion: age, where pretenure=auto has chosen sites; where policy=auto tenures all. */
enum { EDEN_BY_AGE_OR_LEARNT = EDEN_CRITERIA, EDEN_BY_AGE_AT_ONCE };

#define EDEN_PARAM_TYPE_size uint64_t
#define EDEN_PARAM_TYPE_number double
#define EDEN_PARAM_TYPE_whole int64_t
#define EDEN_PARAM_TYPE_choice uint64_t
#define EDEN_PARAM_TYPE_file struct param_file
/* One of the choices, or FILE_CHOICE and a file's name. */
struct param_file {
    uint64_t choice;
    char path[256];
    const char *where; /* where it was set, for errors of reading; static */
};
enum { FILE_CHOICE = 255 };
struct params {
#define EDEN_PARAM(id, name, kind, fallback, low, high, choices, doc) EDEN_PARAM_TYPE_##kind id;
#include "eden_params.def"
#undef EDEN_PARAM
    uint64_t given; /* bit EDEN_PARAM_x: somebody has set it */
};
_Static_assert(EDEN_PARAM_COUNT <= 64, "a bit for each parameter");

/* Has somebody set it? */
static inline bool params_has(const struct params *params, enum eden_param_id id) {
    return (params->given >> id & 1) != 0;
}
/* Does policy=auto decide what this parameter is for? */
static inline bool params_decide(const struct params *params, enum eden_param_id id) {
    return params->policy == EDEN_POLICY_AUTO && !params_has(params, id);
}

void params_defaults(struct params *params);
/* "a=1,b=2"; where: the source, for the error. Stops at the first fault. */
bool params_parse(struct params *params, const char *text, const char *where, eden_error *error);
bool params_set(struct params *params, const char *name, const char *value, const char *where, eden_error *error);
bool params_get(const struct params *params, const char *name, char *text, size_t size);
/* Shows all values, or a single one, in the heap's public header. */
void params_publish(eden_heap *heap);
void params_publish_one(eden_heap *heap, enum eden_param_id id);
void params_fire(eden_heap *heap, const char *only); /* param__set for one, or for all where NULL */

#endif
