/* Pharo's OrderedCollection and Dictionary, as far as the simulation needs them.
 *
 * What is marked "may collect" takes pointers to roots. */
#ifndef SPH_COLLECTION_H
#define SPH_COLLECTION_H

#include "sph.h"

/* ---- OrderedCollection: an array with room at its end, which doubles when full ----------------------------------- */

/* May collect. */
bool list_new(struct simulation *s, enum sph_site site, eden_value *result);
bool list_add(struct simulation *s, const eden_value *list, const eden_value *item);

static inline size_t list_size(eden_value list) { return (size_t)eden_int_value(eden_slot(list, LIST_SIZE)); }
static inline eden_value list_at(eden_value list, size_t index) {
    return eden_slot(eden_slot(list, LIST_ARRAY), index);
}

/* ---- Association --------------------------------------------------------------------------------------------------
 */

/* May collect. Immediates need no root. */
bool association_new(struct simulation *s, enum sph_site site, const eden_value *key, const eden_value *value,
                     eden_value *result);

/* ---- Dictionary with integer keys: Associations by open addressing ------------------------------------------------
 */

/* May collect. */
bool dictionary_new(struct simulation *s, enum sph_site site, eden_value *result);
/* Adds a key, which must be new. May collect. */
bool dictionary_put(struct simulation *s, const eden_value *dictionary, int64_t key, const eden_value *value);
/* EDEN_NONE where there is none. Does not collect. */
eden_value dictionary_at(eden_value dictionary, int64_t key);

#endif
