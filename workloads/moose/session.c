/* A session of analysis: rounds of queries, each around an attribute that is drawn at random.
 *
 * The subject of a round is the record that owns the attribute. Providers are the subject and all records that it
 * needs, directly or not; clients the subject and all that need it; the scope is both. The queries are of the scope and
 * of what the whole model has to do with it. A second attribute is drawn, whose name's first letters other attributes
 * may have, too.
 *
 * Random numbers: xorshift64* (Sebastiano Vigna, An experimental exploration of Marsaglia's xorshift generators,
 * scrambled, ACM TOMS 42, 2016), from a seed that is not 0; a draw among n is the next number modulo n. */
#include "query.h"
#include "random.h"

enum { PREFIX = 4 };
enum { ROUND, SUBJECT, ATTRIBUTE, PROVIDERS, CLIENTS, SCOPE, SCOPE_SET, LIST, LOCALS };

/* One of all `count` attributes. */
static eden_value draw_attribute(struct model *model, size_t count, struct random *random) {
    return list_at(model_group(model, KIND_ATTRIBUTE), random_next(random) % count);
}

/* Adds the records of a list that the scope does not have. *list is a root. */
static bool scope_add(struct model *model, eden_value *local, const eden_value *list) {
    for (size_t i = 0; i < list_size(*list); i++) {
        bool added = false;
        if (!set_add(model, SITE_SCOPE_SET, local[SCOPE_SET], list_at(*list, i), &added) ||
            (added && !list_add(model, SITE_SCOPE, local[SCOPE], list_at(*list, i)))) {
            return false;
        }
    }
    return true;
}

static bool find_scope(struct model *model, eden_value *local) {
    if ((local[PROVIDERS] = scope_closure(model, local[SUBJECT], record_providers)) == EDEN_NONE ||
        (local[CLIENTS] = scope_closure(model, local[SUBJECT], record_clients)) == EDEN_NONE ||
        (local[SCOPE] = list_new(model, SITE_SCOPE, 0)) == EDEN_NONE ||
        (local[SCOPE_SET] = hashed_new(model, SITE_SCOPE_SET)) == EDEN_NONE) {
        return false;
    }
    return scope_add(model, local, &local[PROVIDERS]) && scope_add(model, local, &local[CLIENTS]) &&
           report_put(model, local[ROUND], "subject", eden_slot(local[SUBJECT], ENTITY_ID)) &&
           report_put(model, local[ROUND], "name", eden_slot(local[SUBJECT], ENTITY_NAME)) &&
           report_put(model, local[ROUND], "providers", eden_int((int64_t)list_size(local[PROVIDERS]))) &&
           report_put(model, local[ROUND], "clients", eden_int((int64_t)list_size(local[CLIENTS]))) &&
           report_put(model, local[ROUND], "scope", eden_int((int64_t)list_size(local[SCOPE])));
}

static bool put_padding(struct model *model, const eden_value *local) {
    int64_t total = 0;
    for (size_t i = 0; i < list_size(local[SCOPE]); i++) {
        int64_t padding = record_padding(model, list_at(local[SCOPE], i));
        if (padding < 0) {
            return false;
        }
        total += padding;
    }
    return report_put(model, local[ROUND], "padding", eden_int(total));
}

/* How many and, of those with the most parameters, which. */
static bool put_functions(struct model *model, const eden_value *local, const char *count, const char *names) {
    return report_put(model, local[ROUND], count, eden_int((int64_t)list_size(local[LIST]))) &&
           ranking_put_all(model, local[ROUND], names, local[LIST], metric_arity, NULL);
}

/* Of a record outside of the scope: how many of its direct providers are in it. root[0]: the scope, a Set. */
static bool metric_coupling(struct model *model, const eden_value *root, eden_value entity, int64_t *number) {
    if (set_find(model, *root, entity) != EDEN_NONE) {
        *number = 0;
        return true;
    }
    eden_value providers = record_providers(model, entity);
    if (providers == EDEN_NONE) {
        return false;
    }
    int64_t count = 0;
    for (size_t i = 0; i < list_size(providers); i++) {
        count += set_find(model, *root, list_at(providers, i)) != EDEN_NONE ? 1 : 0;
    }
    *number = count;
    return true;
}

static bool put_coupled(struct model *model, eden_value *local) {
    local[LIST] = ranking_new(model);
    if (local[LIST] == EDEN_NONE ||
        !ranking_add_all(model, local[LIST], model_group(model, KIND_STRUCT), metric_coupling, &local[SCOPE_SET]) ||
        !ranking_add_all(model, local[LIST], model_group(model, KIND_UNION), metric_coupling, &local[SCOPE_SET])) {
        return false;
    }
    return report_put(model, local[ROUND], "coupled", eden_int((int64_t)list_size(local[LIST]))) &&
           ranking_put(model, local[ROUND], "most coupled", local[LIST]);
}

static bool begins_with(eden_value name, eden_value prefix) {
    size_t size = eden_raw_count(prefix);
    return eden_raw_count(name) >= size && memcmp(eden_raw(name), eden_raw(prefix), size) == 0;
}

/* The attributes whose names begin as that of local[ATTRIBUTE]. */
static bool put_namesakes(struct model *model, eden_value *local) {
    char letters[PREFIX];
    eden_value name = eden_slot(local[ATTRIBUTE], ENTITY_NAME);
    size_t size = eden_raw_count(name) < PREFIX ? eden_raw_count(name) : PREFIX;
    memcpy(letters, eden_raw(name), size);
    EDEN_FRAME(model->mutator, prefix, 1);
    prefix[0] = bytes_new(model, SITE_PREFIX, letters, size);
    if (prefix[0] == EDEN_NONE || (local[LIST] = list_new(model, SITE_SELECTED, 0)) == EDEN_NONE) {
        return false;
    }
    for (size_t i = 0; i < list_size(model_group(model, KIND_ATTRIBUTE)); i++) {
        eden_value attribute = list_at(model_group(model, KIND_ATTRIBUTE), i);
        if (begins_with(eden_slot(attribute, ENTITY_NAME), prefix[0]) &&
            !list_add(model, SITE_SELECTED, local[LIST], attribute)) {
            return false;
        }
    }
    if (!report_put(model, local[ROUND], "prefix", prefix[0]) ||
        !report_put(model, local[ROUND], "attributes", eden_int((int64_t)list_size(local[LIST])))) {
        return false;
    }
    local[LIST] = names_bag(model, local[LIST]);
    return local[LIST] != EDEN_NONE &&
           report_put(model, local[ROUND], "names", eden_int((int64_t)hashed_size(local[LIST]))) &&
           names_put(model, local[ROUND], "most frequent names", local[LIST]);
}

static bool run_queries(struct model *model, eden_value *local) {
    if (!find_scope(model, local) ||
        !ranking_put_all(model, local[ROUND], "largest", local[SCOPE], metric_size, NULL) ||
        !grouping_put(model, local[ROUND], "records by attributes", local[SCOPE], record_attribute_count) ||
        !put_padding(model, local) || !cycles_put(model, local[ROUND], local[SCOPE])) {
        return false;
    }
    local[LIST] = record_takers(model, local[SUBJECT]);
    if (local[LIST] == EDEN_NONE || !put_functions(model, local, "takers", "largest takers")) {
        return false;
    }
    local[LIST] = functions_about(model, local[SCOPE_SET]);
    return local[LIST] != EDEN_NONE && put_functions(model, local, "functions", "largest functions") &&
           put_coupled(model, local) && put_namesakes(model, local);
}

static bool run_round(struct model *model, eden_value rounds, size_t count, struct random *random) {
    EDEN_FRAME(model->mutator, all, 1);
    all[0] = rounds;
    EDEN_FRAME(model->mutator, local, LOCALS);
    local[SUBJECT] = eden_slot(draw_attribute(model, count, random), PART_OWNER);
    local[ATTRIBUTE] = draw_attribute(model, count, random);
    local[ROUND] = report_new(model);
    return local[ROUND] != EDEN_NONE && run_queries(model, local) && list_add(model, SITE_ROUNDS, all[0], local[ROUND]);
}

bool session_run(struct model *model, uint64_t seed, size_t rounds) {
    EDEN_FRAME(model->mutator, local, 1);
    local[0] = list_new(model, SITE_ROUNDS, 0);
    if (local[0] == EDEN_NONE) {
        return false;
    }
    struct random random = {.state = seed};
    size_t count = list_size(model_group(model, KIND_ATTRIBUTE));
    for (size_t i = 0; i < rounds && count > 0; i++) {
        if (!run_round(model, local[0], count, &random)) {
            return false;
        }
    }
    return report_put(model, model->roots[ROOT_REPORT], "rounds", local[0]);
}
