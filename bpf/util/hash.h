/* FNV-1a, by words of up to 64 bits: detects changes, but does not protect against forgery. */
#ifndef EDEN_HASH_H
#define EDEN_HASH_H

#include <stdint.h>

#define HASH_EMPTY ((uint64_t)0xcbf29ce484222325u)
static inline uint64_t hash_add(uint64_t hash, uint64_t word) { return (hash ^ word) * 0x100000001b3u; }

#endif
