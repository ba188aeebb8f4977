#ifndef EDEN_CHECKED
#define EDEN_CHECKED 1 /* for tools that look at this file by itself */
#endif
#include "heap/poison.h"
#include "heap/free_chunks.h"

#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define __SANITIZE_ADDRESS__ 1
#endif
#endif
#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/asan_interface.h>
#else
#define ASAN_POISON_MEMORY_REGION(start, bytes) ((void)(start), (void)(bytes))
#define ASAN_UNPOISON_MEMORY_REGION(start, bytes) ((void)(start), (void)(bytes))
#endif
#if __has_include(<valgrind/memcheck.h>)
#include <valgrind/memcheck.h>
#else
#define VALGRIND_MAKE_MEM_NOACCESS(start, bytes) ((void)(start), (void)(bytes))
#define VALGRIND_MAKE_MEM_UNDEFINED(start, bytes) ((void)(start), (void)(bytes))
#define VALGRIND_MAKE_MEM_DEFINED(start, bytes) ((void)(start), (void)(bytes))
#define RUNNING_ON_VALGRIND 0
#endif

static const uint64_t POISON = 0xf7f7f7f7f7f7f7f7u;
enum { CHUNK_HEAD = 40, SMALL_CHUNK_HEAD = 16, TREE_CHUNK = FREE_LIST_SIZES * 8 }; /* what free_chunks.c uses */

void poison_open(uintptr_t start, uintptr_t end) {
    if (start < end) {
        ASAN_UNPOISON_MEMORY_REGION((void *)start, end - start);
        VALGRIND_MAKE_MEM_DEFINED((void *)start, end - start);
    }
}

void poison_close(uintptr_t start, uintptr_t end) {
    if (start < end) {
        ASAN_POISON_MEMORY_REGION((void *)start, end - start);
        VALGRIND_MAKE_MEM_NOACCESS((void *)start, end - start);
    }
}

/* The range must be accessible. */
void poison_fill(uintptr_t start, uintptr_t end) {
    for (uint64_t *word = (uint64_t *)start; word < (uint64_t *)end; word++) {
        *word = POISON;
    }
}

static bool is_watched(void) {
#if defined(__SANITIZE_ADDRESS__)
    return true;
#else
    return RUNNING_ON_VALGRIND != 0;
#endif
}

const uint64_t *poison_overwritten(uintptr_t start, uintptr_t end) {
    const uint64_t *word = (const uint64_t *)start;
    if (is_watched()) {
        return NULL; /* it would report this read */
    }
    while (word < (const uint64_t *)end && *word == POISON) {
        word++;
    }
    return word < (const uint64_t *)end ? word : NULL;
}

uintptr_t poison_chunk_body(uintptr_t start, size_t bytes) {
    size_t head = bytes < TREE_CHUNK ? SMALL_CHUNK_HEAD : CHUNK_HEAD;
    return start + (head < bytes ? head : bytes);
}

/* A small chunk may have been the head of a large one. */
void poison_chunk_added(uintptr_t start, size_t bytes) {
    uintptr_t end = start + (bytes < CHUNK_HEAD ? bytes : CHUNK_HEAD);
    poison_open(start, end);
    if (bytes < TREE_CHUNK) {
        poison_fill(poison_chunk_body(start, bytes), end);
    }
}

void poison_chunk_swept(uintptr_t start, size_t bytes) {
    poison_fill(poison_chunk_body(start, bytes), start + bytes);
    poison_close(poison_chunk_body(start, bytes), start + bytes);
}

void poison_used(uintptr_t start, size_t bytes) {
    ASAN_UNPOISON_MEMORY_REGION((void *)start, bytes);
    VALGRIND_MAKE_MEM_UNDEFINED((void *)start, bytes);
}
