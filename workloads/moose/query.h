/* Queries: what they are made of, and the answers.
 *
 * An answer is an integer, a name, a list of answers, an Array of answers (a row), or a MooseReport: names and answers
 * in order. Answers live on the heap until they are printed (print.c). */
#ifndef MODEL_QUERY_H
#define MODEL_QUERY_H

#include "entity.h"

/* ---- answers (report.c); all may collect ------------------------------------------------------------------------- */

eden_value report_new(struct model *model);
bool report_put(struct model *model, eden_value report, const char *name, eden_value answer);

/* ---- rankings (ranking.c); all may collect -----------------------------------------------------------------------
 * A ranking is a list (site SITE_RANKED) of associations from a number to an entity. */

/* How an entity counts; 0 and less: not at all. `root` is the caller's own. May collect. False where it fails. */
typedef bool ranking_metric(struct model *model, const eden_value *root, eden_value entity, int64_t *number);

eden_value ranking_new(struct model *model);
bool ranking_add(struct model *model, eden_value ranking, int64_t number, eden_value entity);
/* Adds those of a list's entities that count. */
bool ranking_add_all(struct model *model, eden_value ranking, eden_value list, ranking_metric *metric,
                     const eden_value *root);
/* Puts the first `top` into the report, as rows [id, name, number]: the largest number first, of equal ones the lowest
 * id. */
bool ranking_put(struct model *model, eden_value report, const char *name, eden_value ranking);
/* The three above for one list. */
bool ranking_put_all(struct model *model, eden_value report, const char *name, eden_value list, ranking_metric *metric,
                     const eden_value *root);

/* ---- groups and bags (grouping.c); all may collect --------------------------------------------------------------- */

/* Must not collect. */
typedef int64_t grouping_key(eden_value entity);
/* Groups a list's entities, and puts rows [key, how many] into the report, the lowest key first. */
bool grouping_put(struct model *model, eden_value report, const char *name, eden_value list, grouping_key *key);
/* A Dictionary from the names of a list's entities to how often they occur. */
eden_value names_bag(struct model *model, eden_value list);
/* Puts the `top` most frequent names, of equally frequent ones the first in the order of their bytes, as rows [name,
 * how often]. */
bool names_put(struct model *model, eden_value report, const char *name, eden_value bag);

/* ---- records that reach each other ------------------------------------------------------------------------------- */

/* record_providers or record_clients. */
typedef eden_value record_neighbours(struct model *model, eden_value record);
/* The record and all that can be reached from it, a MooseGroup (scope.c). May collect. */
eden_value scope_closure(struct model *model, eden_value record, record_neighbours *neighbours);
/* The strongly connected components of a list of records, as far as they are cycles (cycles.c). May collect. */
eden_value cycles_find(struct model *model, eden_value records);
/* Puts how many cycles the records have, how many records are in one, and the ranking of cycles. May collect. */
bool cycles_put(struct model *model, eden_value report, eden_value records);
/* Functions that take a pointer to the record, a MooseGroup (takers.c). May collect. */
eden_value record_takers(struct model *model, eden_value record);
/* Functions a parameter of which is, or leads to, a record of the set (takers.c). May collect. */
eden_value functions_about(struct model *model, eden_value set);

/* ---- metrics (metrics.c) ----------------------------------------------------------------------------------------- */

bool metric_size(struct model *model, const eden_value *root, eden_value entity, int64_t *number);
bool metric_parts(struct model *model, const eden_value *root, eden_value entity, int64_t *number);
bool metric_nesting(struct model *model, const eden_value *root, eden_value entity, int64_t *number);
bool metric_users(struct model *model, const eden_value *root, eden_value entity, int64_t *number);
bool metric_padding(struct model *model, const eden_value *root, eden_value entity, int64_t *number);
/* Of an enum: values less different values. */
bool metric_duplicates(struct model *model, const eden_value *root, eden_value entity, int64_t *number);
/* Of a typedef: how many typedefs lead to what it names, itself and qualified ones included. */
bool metric_typedefs(struct model *model, const eden_value *root, eden_value entity, int64_t *number);
/* Of a function: its parameters. */
bool metric_arity(struct model *model, const eden_value *root, eden_value entity, int64_t *number);
int64_t function_arity(eden_value function);
int64_t record_attribute_count(eden_value record);

/* ---- the two parts of a run -------------------------------------------------------------------------------------- */

/* Queries of the whole model, into ROOT_REPORT (overview.c). May collect. */
bool overview_run(struct model *model);
/* Rounds of queries around attributes drawn at random, into ROOT_REPORT (session.c). May collect. */
bool session_run(struct model *model, uint64_t seed, size_t rounds);

/* Prints ROOT_REPORT as JSON or as a table (print.c); false, which is noted, where that fails. */
bool print_report(struct model *model, bool json);

#endif
