/* `edenscope diff`: recordings side by side, and which differences are more than noise. */
#ifndef EDEN_DIFF_H
#define EDEN_DIFF_H

#include "views/side.h"
#include <jansson.h>
#include <stdio.h>

enum { DIFF_SIDES = 8, DIFF_FILES = 32 };

/* Below the table, and in --help. */
#define DIFF_VERDICTS "changed: more than noise; noise: may be chance; -: not judged; ?: unknown to a side"
#define DIFF_TIMES                                                                                                     \
    "a sum of times (_ns) is judged by the number of its pauses and by P25, which a quarter of them do not exceed"
#define DIFF_PER_BYTE "*: per byte allocated, and judged so, because some heap was observed in part"

/* One or more recordings of the same. */
struct diff_side {
    const char *names; /* as given */
    struct side *runs; /* the first `count` of them; the caller's */
    size_t count;
};

void diff_print(FILE *out, const struct diff_side *sides, size_t count);
json_t *diff_to_json(const struct diff_side *sides, size_t count); /* a new reference */

#endif
