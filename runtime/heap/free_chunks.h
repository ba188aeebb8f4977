/* Free chunks of old space, by size. */
#ifndef EDEN_HEAP_FREE_CHUNKS_H
#define EDEN_HEAP_FREE_CHUNKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { FREE_LIST_SIZES = 64 }; /* exact lists for 16 to 504 bytes, index bytes / 8; larger ones in the tree */
struct chunk;
struct free_chunks {
    struct chunk *list[FREE_LIST_SIZES];
    uint64_t filled; /* bit i: list[i] is not empty */
    struct chunk *tree;
    uint64_t chunks; /* in lists and tree */
};

void free_chunks_clear(struct free_chunks *free);
void free_chunks_add(struct free_chunks *free, uintptr_t start, size_t bytes);
bool free_chunks_take_exact(struct free_chunks *free, uintptr_t start, size_t bytes); /* this one, of 512 or more */
uintptr_t free_chunks_take(struct free_chunks *free, size_t bytes, size_t *found);    /* best fit; 0: none */
uintptr_t free_chunks_pop(struct free_chunks *free, size_t bytes);                    /* of just this size; 0: none */
size_t free_chunks_largest(const struct free_chunks *free);
/* Calls each for every chunk; false stops. */
bool free_chunks_each(const struct free_chunks *free, bool (*each)(void *context, uintptr_t start, size_t bytes),
                      void *context);

#endif
