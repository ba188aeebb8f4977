/* Pharo's collections on the heap: lists, sets, dictionaries, sorting.
 *
 * A list (OrderedCollection, and what is like it) and a hashed collection (Set, Dictionary) are each an object of two
 * slots beside an Array that is replaced by one of twice the size when it is full. `site` is the collection's own site,
 * which its array's follows (classes.h); it must be given again to whatever may make the array grow. */
#ifndef MODEL_COLLECTION_H
#define MODEL_COLLECTION_H

#include "classes.h"

/* ---- lists (list.c) ---------------------------------------------------------------------------------------------- */

/* May collect. capacity may be 0. */
eden_value list_new(struct model *model, enum site site, size_t capacity);
/* May collect. item may be anything. */
bool list_add(struct model *model, enum site site, eden_value list, eden_value item);
/* Takes the last item away; there must be one. Does not collect. */
eden_value list_remove_last(struct model *model, eden_value list);

/* EDEN_NONE is an empty list. */
static inline size_t list_size(eden_value list) { return list == EDEN_NONE ? 0 : (size_t)int_at(list, LIST_SIZE); }
static inline eden_value list_at(eden_value list, size_t index) {
    return eden_slot(eden_slot(list, LIST_ARRAY), index);
}

/* ---- sets and dictionaries (hashed.c) -----------------------------------------------------------------------------
 * Keys: integers, and objects of bytes, are equal by what they hold; all else by identity. Only the order of insertion
 * and what is equal decide what they hold; the order in their arrays means nothing and is not to reach an answer. */

/* May collect. */
eden_value hashed_new(struct model *model, enum site site);
static inline size_t hashed_size(eden_value hashed) { return (size_t)int_at(hashed, HASHED_TALLY); }

/* The member that equals key, or EDEN_NONE. Does not collect. */
eden_value set_find(struct model *model, eden_value set, eden_value key);
/* Adds key unless it is there; *added, unless NULL, says whether. May collect. */
bool set_add(struct model *model, enum site site, eden_value set, eden_value key, bool *added);

/* The Association of key, or EDEN_NONE. Does not collect. */
eden_value dictionary_find(struct model *model, eden_value dictionary, eden_value key);
/* Adds an association; key must not be there. Returns it, or EDEN_NONE. May collect. */
eden_value dictionary_add(struct model *model, enum site site, eden_value dictionary, eden_value key, eden_value value);
/* All associations, as a list of site SITE_RANKED, in no order. May collect. */
eden_value dictionary_pairs(struct model *model, eden_value dictionary);

/* ---- sorting (sort.c) -------------------------------------------------------------------------------------------- */

/* Whether a must come before b. Must not collect; must be a strict order. */
typedef bool list_precedes(eden_value a, eden_value b);
/* A new Array of the list's items, in order; equal ones stay as they were. May collect. */
eden_value list_sorted(struct model *model, eden_value list, list_precedes *precedes);

#endif
