/* What `--sampling`, `--mechanism` and the like ask of the heaps: the words of the command line, and the number that a
 * heap's control word takes (probes/eden_batches.h). */
#ifndef EDEN_LIFE_OPTIONS_H
#define EDEN_LIFE_OPTIONS_H

#include "eden_batches.h"
#include "util/failure.h"

struct life_request {
    const char *sampling;  /* NULL: bytes=512K */
    const char *mechanism; /* NULL: vm */
    bool details;          /* records of single objects */
    bool stacks;           /* likewise, and the stack on which each was allocated: refused if there are too many */
};

/* False, with status 1 and the value named, where a word is none or its number is out of bounds. */
bool life_request_encode(const struct life_request *request, uint64_t *control, struct failure *why);

enum { LIFE_SAMPLING_TEXT = 64 };
/* What a profile does, in the words that ask for it: "all", "1/100", "bytes=524288", "window=10/990". */
char *life_sampling_text(char text[LIFE_SAMPLING_TEXT], uint32_t sampling, uint64_t rate);
const char *life_mechanism_text(uint32_t mechanism);

#endif
