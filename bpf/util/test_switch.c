/* No switches: a file of its own, so that tests can link another. */
#include "util/test_switch.h"
#include <stddef.h>

const char *test_switch(const char *name) {
    (void)name;
    return NULL;
}
