#include "util/room.h"
#include "util/format.h"
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/statvfs.h>

const char *room_error(int error, char text[ROOM_TEXT]) {
    struct rlimit limit;
    char bytes[FORMAT_MAX];
    if (error != EFBIG || getrlimit(RLIMIT_FSIZE, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) {
        return strerror(error);
    }
    snprintf(text, ROOM_TEXT, "%s: `ulimit -f` allows %s bytes per file; raise it", strerror(error),
             format_count(bytes, limit.rlim_cur));
    return text;
}

const char *room_advice(int error) {
    return error == ENOSPC || error == EDQUOT ? "; free some space there, or name another file" : "";
}

bool room_is_left(int file, uint64_t bytes) {
    struct statvfs status;
    /* A tmpfs without a limit has no blocks at all. */
    if (fstatvfs(file, &status) != 0 || status.f_blocks == 0) {
        return true;
    }
    return (uint64_t)status.f_bavail >= bytes / status.f_frsize + 1;
}

bool room_is_reserved(int file) {
    struct statvfs status;
    return fstatvfs(file, &status) == 0 && status.f_bfree > status.f_bavail;
}
