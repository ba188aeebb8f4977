/* Sampled objects of a heap with a known stack and no reported end, by birth. */
#ifndef EDEN_LIFE_SAMPLES_H
#define EDEN_LIFE_SAMPLES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct life_sample {
    uint64_t birth_bytes;
    uint32_t stack; /* its number; 0: the object's end was reported */
};

struct life_samples {
    struct life_sample *at; /* owned; in order of birth */
    size_t count, room, ended;
};

/* All zero is empty. */
void life_samples_clear(struct life_samples *samples);
/* False, and nothing is added: no memory, or it was not born after those that are there. */
bool life_samples_add(struct life_samples *samples, uint64_t birth_bytes, uint32_t stack);
/* The number of the stack of the object born then, which is forgotten; 0: not known. */
uint32_t life_samples_end(struct life_samples *samples, uint64_t birth_bytes);

#endif
