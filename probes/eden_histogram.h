/* The log-linear histogram's bucket function, for runtime and kernel program (which count) and tool (which reads).
 *
 * 16 buckets an octave: a value below 16 has a bucket of its own; above, the position of the highest set bit and the
 * four bits below it select the bucket. So a bucket is never wider than 1/16 of its lower edge. The last bucket takes
 * everything from 2^43 - 2^39 on: of nanoseconds about two and a half hours, of bytes 8 TiB. */
#ifndef EDEN_HISTOGRAM_H
#define EDEN_HISTOGRAM_H

#include <stdint.h>

#define HISTOGRAM_BUCKETS 640

/* floor(log2 value); BPF has no instruction for it and halves. */
static inline uint32_t histogram_octave(uint64_t value) {
#ifdef __bpf__
    uint32_t octave = 0;
    uint64_t rest = value;
    if (rest >> 32) {
        rest >>= 32;
        octave += 32;
    }
    if (rest >> 16) {
        rest >>= 16;
        octave += 16;
    }
    if (rest >> 8) {
        rest >>= 8;
        octave += 8;
    }
    if (rest >> 4) {
        rest >>= 4;
        octave += 4;
    }
    if (rest >> 2) {
        rest >>= 2;
        octave += 2;
    }
    return octave + (uint32_t)(rest >> 1);
#else
    return 63u - (uint32_t)__builtin_clzll(value);
#endif
}

static inline uint32_t histogram_bucket(uint64_t value) {
    if (value < 16) {
        return (uint32_t)value;
    }
    uint32_t octave = histogram_octave(value);
    uint32_t bucket = 16 * (octave - 3) + ((uint32_t)(value >> (octave - 4)) & 15);
    return bucket < HISTOGRAM_BUCKETS ? bucket : HISTOGRAM_BUCKETS - 1;
}

/* The largest value that falls into the bucket; UINT64_MAX for the last. */
static inline uint64_t histogram_upper(uint32_t bucket) {
    if (bucket < 16) {
        return bucket;
    }
    if (bucket >= HISTOGRAM_BUCKETS - 1) {
        return UINT64_MAX;
    }
    uint32_t octave = bucket / 16 + 3;
    return ((uint64_t)(17 + bucket % 16) << (octave - 4)) - 1;
}

/* The smallest. */
static inline uint64_t histogram_lower(uint32_t bucket) { return bucket == 0 ? 0 : histogram_upper(bucket - 1) + 1; }

#endif
