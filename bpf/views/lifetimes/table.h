/* What `lifetimes` prints unless a view is asked for: the table (views/lifetimes/table.c) and the JSON object
 * (views/lifetimes/json.c). */
#ifndef EDEN_LIFE_TABLE_H
#define EDEN_LIFE_TABLE_H

#include "views/lifetimes/view.h"

life_view life_table;
life_view life_json;

/* Samples of the group with a birth but no reported end: the heap's profile was cut off. */
uint64_t life_unreported(const struct life_site *group);

#endif
