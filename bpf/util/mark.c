#include "util/mark.h"
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

enum { AT_APPLICATION = 68 };

static bool has(int file, off_t at, const void *bytes, size_t length) {
    char held[128];
    return length <= sizeof held && pread(file, held, length, at) == (ssize_t)length &&
           memcmp(held, bytes, length) == 0;
}

bool mark_begins(int file, const char *mark) { return has(file, 0, mark, strlen(mark)); }

bool mark_is_recording(int file) {
    static const unsigned char id[] = {
        RECORDING_APPLICATION_ID >> 24,
        RECORDING_APPLICATION_ID >> 16 & 0xff,
        RECORDING_APPLICATION_ID >> 8 & 0xff,
        RECORDING_APPLICATION_ID & 0xff,
    };
    static const char database[] = "SQLite format 3"; /* its zero counts */
    return has(file, 0, database, sizeof database) && has(file, AT_APPLICATION, id, sizeof id);
}

bool mark_is_journal(int file) {
    static const unsigned char id[] = {0xd9, 0xd5, 0x05, 0xf9, 0x20, 0xa1, 0x63, 0xd7};
    return has(file, 0, id, sizeof id);
}

bool mark_spares_recording(const struct place *place, const char *option, const char *path, struct failure *why) {
    int file = place_open_file(place, O_RDONLY | O_NONBLOCK, 0);
    const char *what = file < 0 && errno == EACCES            ? "you may not read it, and it may be a recording"
                       : file >= 0 && mark_is_recording(file) ? "a recording"
                       : file >= 0 && mark_is_journal(file)   ? "the journal of a recording"
                                                              : NULL;
    if (file >= 0) {
        close(file);
    }
    return !what || failure_set(why, 1, "%s %.200s: %s, so it is not replaced; name another file, or remove it first",
                                option, path, what);
}
