/* A hash table of the elements of an array, which stays the caller's: it holds their places, not the elements.
 *
 * Keys may be an adversary's: the hash depends on a secret of the process, so no order and no choice of keys makes
 * finding or adding one take more than a few steps. */
#ifndef EDEN_LOOKUP_H
#define EDEN_LOOKUP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { LOOKUP_NONE = UINT32_MAX };

/* All zero is empty. */
struct lookup {
    struct lookup_slot *slots; /* owned */
    size_t room, count;        /* room: a power of two, at least twice the count */
};

/* Whether array[place] has this key. */
typedef bool lookup_is(const void *array, size_t place, const void *key);

uint64_t lookup_hash(const uint64_t *words, size_t count);
static inline uint64_t lookup_hash_number(uint64_t number) { return lookup_hash(&number, 1); }
/* The place of the element with this key and its hash; LOOKUP_NONE: there is none. */
uint32_t lookup_find(const struct lookup *lookup, uint64_t hash, lookup_is *is, const void *array, const void *key);
/* Adds an element that is not there yet. False: no memory; nothing has changed. */
bool lookup_add(struct lookup *lookup, uint64_t hash, size_t place);
void lookup_empty(struct lookup *lookup); /* keeps its memory: as many can be added again without any */
void lookup_clear(struct lookup *lookup);
/* How many slots are visited to find each element once: what all finding costs. */
uint64_t lookup_steps(const struct lookup *lookup);

#endif
