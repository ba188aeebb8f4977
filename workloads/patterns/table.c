/* The table of patterns. */
#include "all.h"

const struct pattern *const patterns[] = {
#define PATTERN(name) &name,
#include "patterns.def"
    NULL};
