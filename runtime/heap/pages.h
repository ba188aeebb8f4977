/* The memory of the heap's spaces. What is given back in a collection is there for what grows in the same one. */
#ifndef EDEN_HEAP_PAGES_H
#define EDEN_HEAP_PAGES_H

#include "heap/system.h"

struct page_range {
    uintptr_t start, end;
};

enum { PAGES_RANGES = 32 };

struct pages {
    struct page_range kept[PAGES_RANGES]; /* usable, and part of no space */
    size_t count;
    bool keeps; /* in a collection */
};

/* Makes a part of the reservation usable; what is in it is undefined. False: refused. */
bool pages_commit(struct pages *pages, struct system *system, uintptr_t start, size_t bytes, const char *what);
/* Gives a part back that was made usable, all of it. */
void pages_decommit(struct pages *pages, uintptr_t start, size_t bytes);
/* Around a collection. */
void pages_keep(struct pages *pages);
void pages_return(struct pages *pages);

#endif
