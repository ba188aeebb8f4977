#include "room.h"
#include <sys/statvfs.h>

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
