/* The interface of the programs of `make bench-peers` to the memory of each system: eden (the default), libgc,
 * mimalloc, malloc and Whippet, chosen by PEER_SYSTEM. Each program is written once, for a precise collector that moves
 * objects. What a system does not need (roots, barriers, free) compiles to nothing.
 *
 *     PEER_CLASS(pair, 2);           a class of objects with two slots, which hold references or integers
 *     PEER_DEFINE(pair)              defines it: once, before its first object
 *     PEER_NEW(pair)                 a new object, its slots PEER_NONE; allocations may collect
 *     PEER_VARIANT(number, slots)    a class whose objects peer_is distinguishes: its own slots start at PEER_KIND
 *     PEER_NEW_VARIANT(number)       a new object of such a class
 *     peer_is(object, number)        is the object, which has some variant's class, of this one?
 *     peer_array(n), peer_bytes(n)   a new array of n slots (PEER_NONE), of n bytes (not initialised)
 *     peer_slot, peer_slot_set       the reference in a slot
 *     peer_int, peer_int_set         the integer in a slot
 *     peer_data(bytes)               the bytes, until the next call that may collect
 *     PEER_FRAME(local, n)           n local references, roots until the block is left
 *     peer_free(object)              frees it, on systems without a collector (PEER_FREES)
 *     PEER_HEADER                    size of an object beyond its slots, in bytes
 *     peer_open(), peer_close()      create and destroy the heap
 *
 * If memory runs out, the process ends with status PEER_NO_MEMORY. */
#ifndef PEER_H
#define PEER_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { PEER_USAGE = 2, PEER_NO_MEMORY = 3 };

_Noreturn static inline void peer_die(int status, const char *message) {
    fprintf(stderr, "%s\n", message);
    _Exit(status);
}

static inline uint64_t peer_clock(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/* For systems without a log: the file PEER_PAUSES receives their pauses, with the names of EDEN_LOG's fields. */
static FILE *peer_pauses;
static uint64_t peer_pause_start;
static inline void peer_pauses_open(void) {
    const char *path = secure_getenv("PEER_PAUSES");
    peer_pauses = path == NULL ? NULL : fopen(path, "w");
}
static inline void peer_pauses_close(void) {
    if (peer_pauses != NULL) {
        fclose(peer_pauses);
    }
}
static inline void peer_pause_begin(void) { peer_pause_start = peer_clock(); }
static inline void peer_pause_end(void) {
    if (peer_pauses != NULL) {
        fprintf(peer_pauses, "{\"time_ns\": %llu, \"duration_ns\": %llu}\n", (unsigned long long)peer_pause_start,
                (unsigned long long)(peer_clock() - peer_pause_start));
    }
}

#ifdef PEER_SYSTEM
#include PEER_SYSTEM
#else
#include "peer_eden.h"
#endif

/* Returns a number below n: xorshift32 (Marsaglia 2003), the same sequence in all languages. */
static uint32_t peer_random_state = 2463534242u;
static inline uint32_t peer_random(uint32_t n) {
    peer_random_state ^= peer_random_state << 13;
    peer_random_state ^= peer_random_state >> 17;
    peer_random_state ^= peer_random_state << 5;
    return (uint32_t)(((uint64_t)peer_random_state * n) >> 32);
}

static inline uint32_t peer_mix(uint32_t checksum, int64_t value) { return checksum * 31 + (uint32_t)value; }

/* Hides the object from the compiler, so that it can't remove the allocation. */
#define PEER_OPAQUE(object) __asm__ volatile("" : "+r"(object))

/* Returns argument i, a number. */
static inline uint32_t peer_number(char **arguments, int i) { return (uint32_t)strtoul(arguments[i], NULL, 10); }

/* Runs a program that takes `count` arguments; prints its checksum, its start and its end. Returns the exit status. */
static inline int peer_main(int argc, char **argv, int count, const char *usage, uint32_t (*run)(char **arguments)) {
    if (argc != 1 + count) {
        fprintf(stderr, "usage: %s\n", usage);
        return PEER_USAGE;
    }
    peer_open();
    uint64_t start = peer_clock();
    uint32_t checksum = run(argv + 1);
    uint64_t end = peer_clock();
    printf("{\"checksum\": %u, \"start_ns\": %llu, \"end_ns\": %llu}\n", checksum, (unsigned long long)start,
           (unsigned long long)end);
    peer_close();
    return 0;
}

#endif
