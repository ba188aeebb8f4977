/* Survival curves as JSON, for the page of `report --html`: what the view `survival` prints as CSV. */
#ifndef EDEN_LIFE_SURVIVAL_H
#define EDEN_LIFE_SURVIVAL_H

#include "util/json.h"
#include "views/lifetimes/view.h"

/* {"top", "curves": [{"pid", "heap", "serial", "class_id", "name", "ns": POINTS, "bytes": POINTS}]}: of each heap,
 * those `top` classes for which most memory was allocated. POINTS are [[lifetime, share of objects alive from there
 * on]...]: all of them from the lower edge of the first bucket on, then a point at the upper edge of each bucket; null:
 * the last one has none. A new reference; NULL: no memory. */
json_t *life_survival_json(const struct life_model *model, size_t top);

#endif
