/* Checksums of words: taking a word w into a checksum h is
 *
 *   h = (h xor w) * 0x100000001b3 modulo 2^64,  then h = h xor (h >> 32)
 *
 * the step of FNV-1a (G. Fowler, L. C. Noll, K.-P. Vo, 1991) on words, with the upper half folded down as products
 * carry only upwards. A checksum begins at CHECKSUM_START. */
#ifndef PATHOLOGY_CHECKSUM_H
#define PATHOLOGY_CHECKSUM_H

#include <stdint.h>

#define CHECKSUM_START 0xcbf29ce484222325u

static inline void checksum_word(uint64_t *checksum, uint64_t word) {
    uint64_t h = (*checksum ^ word) * 0x100000001b3u;
    *checksum = h ^ h >> 32;
}

#endif
