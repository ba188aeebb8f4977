#include "util/temporary.h"
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

const char *temporary_folder(void) {
    const char *wanted = getenv("TMPDIR");
    return wanted && *wanted ? wanted : "/var/tmp";
}

int temporary_file(void) {
    const char *folder = temporary_folder();
    int file = open(folder, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
    if (file >= 0 || (errno != EOPNOTSUPP && errno != EISDIR)) {
        return file;
    }
    /* A file system that knows no files without a name. */
    char path[PATH_MAX];
    int length = snprintf(path, sizeof path, "%s/edenscope-XXXXXX", folder);
    if (length < 0 || (size_t)length >= sizeof path) {
        errno = ENAMETOOLONG;
        return -1;
    }
    file = mkostemp(path, O_CLOEXEC);
    if (file >= 0) {
        unlink(path);
    }
    return file;
}
