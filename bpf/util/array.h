/* Arrays that grow, by one element at a time. */
#ifndef EDEN_ARRAY_H
#define EDEN_ARRAY_H

#include <stddef.h>

/* Makes room for one element of `bytes` after `count` others. array: the address of the pointer to the first, which
 * may move; NULL elements are allocated. Returns the new element, not set; NULL: no memory, and nothing has changed. */
void *array_grow(void *array, size_t *room, size_t count, size_t bytes);

#endif
