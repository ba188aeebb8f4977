/* The patterns, a file each; patterns.def lists them. */
#ifndef PATHOLOGY_ALL_H
#define PATHOLOGY_ALL_H

#include "pattern.h"

#define PATTERN(name) extern const struct pattern name;
#include "patterns.def"

#endif
