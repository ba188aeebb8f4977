/* Fuzzing of what reads bytes that strangers made. Each file reader_NAME.c is one reader: a program of its own, with
 * main.c for a fixed number of executions, with libFuzzer for as long as one likes. */
#ifndef EDEN_TESTS_READER_H
#define EDEN_TESTS_READER_H

#include <stddef.h>
#include <stdint.h>

/* Reads these bytes. Any bytes are an input; what a reader makes of them has no right answer, but it must come to an
 * end, leave memory alone and leak nothing. libFuzzer's name. Returns 0. */
int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

/* Hands over the inputs to begin with, small ones of the real form. */
typedef void reader_seed_fn(const void *bytes, size_t size);
void reader_seeds(reader_seed_fn *seed);

/* How many mutations main.c tries by default: some seconds, together. */
extern const unsigned reader_runs;

/* ---- for readers: support.c ------------------------------------------------------------------------------------- */

/* The input, from its beginning: numbers and bytes are taken from it until there are none; then zeros come. */
struct reader_input {
    const uint8_t *at, *end;
};
uint8_t reader_byte(struct reader_input *input);
uint64_t reader_number(struct reader_input *input); /* small ones, powers of two and their neighbours, any */
/* At most `most` bytes of it, whose number the input says. */
const void *reader_bytes(struct reader_input *input, size_t most, size_t *size);

/* Changes up to `most` numbers of 1, 2, 4 or 8 bytes within these bytes, as the input says: how many, and of each the
 * place (2 bytes), the width and the number. */
void reader_change(struct reader_input *input, void *bytes, size_t size, uint8_t most);

/* A file in memory that holds these bytes. Aborts where there is none. */
int reader_file(const void *bytes, size_t size);

/* What the readers print is of no interest; the sanitizers' words still come through. */
void reader_be_quiet(void);

#endif
