/* Poison: memory that no object uses, in the checked build (check/check.c says why). In others, nothing.
 *
 * It is filled with a word that is no value (no value has tag 7) and no address, and marked as inaccessible under the
 * address sanitizer and Valgrind, which then report each access where it happens. */
#ifndef EDEN_HEAP_POISON_H
#define EDEN_HEAP_POISON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef EDEN_CHECKED

void poison_fill(uintptr_t start, uintptr_t end);
void poison_open(uintptr_t start, uintptr_t end);  /* makes it accessible */
void poison_close(uintptr_t start, uintptr_t end); /* makes it inaccessible */
/* The first word of a poisoned range that was overwritten; NULL: none, or a watching tool has reported it itself. */
const uint64_t *poison_overwritten(uintptr_t start, uintptr_t end);
uintptr_t poison_chunk_body(uintptr_t start, size_t bytes); /* behind what free_chunks.c writes into a chunk */
void poison_chunk_added(uintptr_t start, size_t bytes);     /* before its head is written */
void poison_chunk_swept(uintptr_t start, size_t bytes);     /* fills and closes its body */
void poison_used(uintptr_t start, size_t bytes);            /* an object will be made there */

#else

static inline void poison_chunk_added(uintptr_t start, size_t bytes) { (void)start, (void)bytes; }
static inline void poison_chunk_swept(uintptr_t start, size_t bytes) { (void)start, (void)bytes; }
static inline void poison_used(uintptr_t start, size_t bytes) { (void)start, (void)bytes; }

#endif
#endif
