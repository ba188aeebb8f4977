#include "temporary.h"
#include <stdlib.h>

const char *temporary_folder(void) {
    const char *wanted = getenv("TMPDIR");
    return wanted && *wanted ? wanted : "/var/tmp";
}
