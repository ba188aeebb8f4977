/* The tool's switches for tests, from the environment. */
#include "util/test_switch.h"
#include <stdlib.h>

const char *test_switch(const char *name) {
    const char *value = getenv(name);
    return value && *value ? value : NULL;
}
