/* The file of a recording before SQLite sees it.
 *
 * 1. Purpose
 *
 * A recording may have been made, or be held, by somebody who wants root to delete, write or wait. So it is opened once
 * and without blocking; what is checked is the descriptor, and what is read is the same descriptor or a copy.
 *
 * 2. Terms
 *
 * Live: a recorder holds its lock (recording_vfs.h) on the file for as long as it lives. SQLite's own locks are held
 * for the length of a transaction only, so they do not show whether a recording is under way or its recorder was
 * killed.
 * Hot journal: the journal of a transaction that was cut short, beside the file.
 * Super-journal: a further file that a journal may name, and that SQLite deletes. edenscope writes no such name.
 *
 * 3. Algorithm
 *
 * Caller's or root's file, for them alone to write to, no hot journal: SQLite reads the descriptor (recording_vfs.h),
 * and writes nothing. Any other: the file and its hot journal are copied to files without a name, under SQLite's shared
 * lock, so that a recorder does not write meanwhile. The journal is undone in the copy.
 *
 * 4. Invariants
 *
 * I1. Nothing is ever rolled back in place: reading writes to no file that has a name.
 * I2. Perf's rule, and more: without `force` a file belongs to the caller, to root, or to the user who ran sudo; nobody
 * else may write to it, nor may have linked it there.
 * I3. A journal counts only if it is a plain file of the recording's owner that names no super-journal, and I2 holds
 * for it, too. Nobody is advised to remove what may be the recording's: half a transaction would look whole. Where it
 * cannot be looked for, the recording is not read.
 *
 * 5. Failure
 *
 * Locked for 5 s, larger than 64 GiB, no room in TMPDIR: an error that says so.
 *
 * 6. Cost
 *
 * A copy takes the time of writing the file once. The caller's own recordings are not copied. */
#include "recording/recording_sql.h"
#include "recording/recording_vfs.h"
#include "util/clock.h"
#include "util/mark.h"
#include "util/owner.h"
#include "util/place.h"
#include "util/room.h"
#include "util/temporary.h"
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { HEADER = 100, AT_PAGE_SIZE = 16, AT_READ_FORMAT = 19, FORMAT_WAL = 2, AT_VERSION = 60 };
enum { LOCK_WAIT_MS = 5000, LOCK_PAUSE_NS = 20000000, PIECE = 32 << 20 };

static uint32_t big_endian(const unsigned char *bytes) {
    return (uint32_t)bytes[0] << 24 | (uint32_t)bytes[1] << 16 | (uint32_t)bytes[2] << 8 | bytes[3];
}

struct file_look file_look(int file) {
    struct file_look look = {.kind = FILE_OTHER};
    unsigned char header[HEADER];
    struct stat status;
    if (fstat(file, &status) != 0) {
        return look;
    }
    look.owner = status.st_uid;
    look.mode = status.st_mode & 0777;
    look.is_shared = !owner_writes_alone(&status);
    look.is_regular = S_ISREG(status.st_mode);
    if (!look.is_regular) {
        return look;
    }
    look.size = (uint64_t)status.st_size;
    if (look.size == 0) {
        look.kind = FILE_EMPTY;
    } else if (mark_is_recording(file) && pread(file, header, sizeof header, 0) == (ssize_t)sizeof header) {
        look.kind = FILE_RECORDING;
        look.version = big_endian(header + AT_VERSION);
        look.has_log = header[AT_READ_FORMAT] == FORMAT_WAL;
        look.is_live = recording_vfs_is_live(file);
    }
    return look;
}

bool file_beside(char beside[NAME_MAX + 1], const char *name, const char *suffix) {
    int length = snprintf(beside, NAME_MAX + 1, "%s%s", name, suffix);
    return length > 0 && length <= NAME_MAX;
}

/* The next range of data from *at on, which moves to its start. False, with errno ENXIO: there is none. */
static bool next_data(int file, off_t size, off_t *at, off_t *end) {
    *at = lseek(file, *at, SEEK_DATA);
    if (*at < 0 || *at >= size) {
        errno = *at < 0 ? errno : ENXIO;
        return false;
    }
    *end = lseek(file, *at, SEEK_HOLE);
    *end = *end < 0 || *end > size ? size : *end;
    return true;
}

uint64_t file_data_bytes(int file) {
    struct stat status;
    uint64_t bytes = 0;
    off_t end;
    if (fstat(file, &status) != 0) {
        return 0;
    }
    for (off_t at = 0; next_data(file, status.st_size, &at, &end); at = end) {
        bytes += (uint64_t)(end - at);
    }
    return bytes;
}

/* ---- copying ---------------------------------------------------------------------------------------------------- */

static bool copy_range(int from, int to, off_t at, off_t end) {
    while (at < end) {
        if (!room_is_left(to, PIECE)) {
            errno = ENOSPC;
            return false;
        }
        off_t next = end - at < PIECE ? end : at + PIECE, out = at;
        while (at < next) {
            ssize_t length = copy_file_range(from, &at, to, &out, (size_t)(next - at), 0);
            if (length < 0 && errno != EINTR) {
                return false;
            }
            if (length == 0) {
                return true; /* it became shorter */
            }
        }
    }
    return true;
}

/* Also where the kernel copies between these file systems only through memory. */
static bool copy_through(int from, int to, off_t at, off_t end) {
    char piece[1 << 16];
    while (at < end) {
        size_t wanted = end - at < (off_t)sizeof piece ? (size_t)(end - at) : sizeof piece;
        ssize_t length = pread(from, piece, wanted, at);
        if (length <= 0) {
            return length == 0;
        }
        if (!room_is_left(to, PIECE)) {
            errno = ENOSPC;
            return false;
        }
        if (pwrite(to, piece, (size_t)length, at) != length) {
            return false;
        }
        at += length;
    }
    return true;
}

/* Holes stay holes: they take no room, so their size is no work. */
static bool copy_all(int from, int to) {
    struct stat status;
    if (fstat(from, &status) != 0 || ftruncate(to, status.st_size) != 0) {
        return false;
    }
    off_t end;
    for (off_t at = 0; next_data(from, status.st_size, &at, &end); at = end) {
        if (!copy_range(from, to, at, end) &&
            ((errno != EXDEV && errno != EINVAL && errno != EOPNOTSUPP) || !copy_through(from, to, at, end))) {
            return false;
        }
    }
    return errno == ENXIO;
}

/* SQLite takes a file name off the end of a journal, behind this mark. */
static bool names_a_file(int journal) {
    static const unsigned char mark[8] = {0xd9, 0xd5, 0x05, 0xf9, 0x20, 0xa1, 0x63, 0xd7};
    unsigned char end[sizeof mark];
    struct stat status;
    return fstat(journal, &status) != 0 ||
           (status.st_size > (off_t)sizeof end &&
            (pread(journal, end, sizeof end, status.st_size - (off_t)sizeof end) != (ssize_t)sizeof end ||
             memcmp(end, mark, sizeof mark) == 0));
}

static bool has_content(int journal) {
    struct stat status;
    return journal >= 0 && fstat(journal, &status) == 0 && status.st_size > 0;
}

static bool lock_shared(int database) {
    uint64_t end = now_ns() + LOCK_WAIT_MS * 1000000ull;
    while (!recording_vfs_lock_shared(database)) {
        if (now_ns() > end) {
            return false;
        }
        nanosleep(&(struct timespec){.tv_nsec = LOCK_PAUSE_NS}, NULL);
    }
    return true;
}

static bool copy_journal(int journal, int *copy, const char *path, struct failure *why) {
    *copy = temporary_file();
    if (*copy < 0 || !copy_all(journal, *copy)) {
        return failure_set(why, 1, "%.200s: cannot copy its journal to %.200s: %m; set TMPDIR to another folder", path,
                           temporary_folder());
    }
    return !names_a_file(*copy) ||
           failure_set(why, 1,
                       "%.200s-journal: was not written by edenscope; move it away to read the recording without it",
                       path);
}

bool file_copy(int database, int journal, int to, const char *folder, int *journal_copy, const char *path,
               struct failure *why) {
    *journal_copy = -1;
    struct stat status;
    if (fstat(database, &status) != 0 || (uint64_t)status.st_size > ROOM_MOST_BYTES) {
        return failure_set(why, 1, "%.200s: too large to copy", path);
    }
    if (!lock_shared(database)) {
        return failure_set(why, 1, "%.200s: another program holds a lock on it; try again when it has finished", path);
    }
    char text[ROOM_TEXT];
    bool good =
        copy_all(database, to) || failure_set(why, 1, "%.200s: cannot be copied to %.200s: %s; free some space there",
                                              path, folder, room_error(errno, text));
    if (good && has_content(journal) && !recording_vfs_is_reserved(database)) {
        good = copy_journal(journal, journal_copy, path, why);
    }
    recording_vfs_unlock(database);
    if (!good && *journal_copy >= 0) {
        close(*journal_copy);
        *journal_copy = -1;
    }
    return good;
}

/* ---- opening ---------------------------------------------------------------------------------------------------- */

static bool fail_open(struct failure *why, const char *path, int error) {
    switch (error) {
    case ENOENT:
        return failure_set(why, 1, "%.200s: no such file; make one with `edenscope record`, or name another one", path);
    case ELOOP:
        return failure_set(why, 1, "%.200s: leads through too many links; name the file itself", path);
    case EPERM:
        return failure_set(why, 1, "%.200s: leads through another user's link; name the file itself", path);
    case EACCES:
        return failure_set(
            why, 1,
            "%.200s: permission denied, to it or to a folder that leads to it; use sudo, have it recorded "
            "with --user, or name another file with -i",
            path);
    default:
        return failure_set(why, 1, "%.200s: %s; name another file with -i", path, strerror(error));
    }
}

/* Whether others decide what is in an open file, or which file it is. */
static bool is_of_others(const struct place *place, const char *name, int file) {
    struct stat status;
    return fstat(file, &status) != 0 || !owner_is_trusted(status.st_uid) || !owner_writes_alone(&status) ||
           place_is_strangers_link(place, name, file);
}

/* True: it is trusted. */
static bool check_trust(const struct file_look *look, const struct place *place, int file, const char *path,
                        struct failure *why) {
    if (!owner_is_trusted(look->owner)) {
        return failure_set(
            why, 1, "%.200s: belongs to another user (%u), not to you or root; --force reads it from a private copy",
            path, (unsigned)look->owner);
    }
    if (look->is_shared) {
        return failure_set(why, 1, "%.200s: others may write to it (mode %03o); --force reads it from a private copy",
                           path, look->mode);
    }
    return !is_of_others(place, place->name, file) ||
           failure_set(why, 1,
                       "%.200s: has other hard links, in a folder that others may write to; --force reads it from a "
                       "private copy",
                       path);
}

static bool check(const struct file_look *look, const char *path, struct failure *why) {
    if (!look->is_regular || look->kind != FILE_RECORDING) {
        return failure_set(why, 1, "%.200s: not a recording of edenscope%s; name another file with -i", path,
                           look->kind == FILE_EMPTY ? " (it is empty)" : "");
    }
    if (look->has_log) {
        return failure_set(why, 1,
                           "%.200s: another program switched it to write-ahead logging (WAL), so another file may hold "
                           "part of it; to undo this: sqlite3 FILE 'PRAGMA journal_mode=delete'",
                           path);
    }
    return look->version == RECORDING_VERSION ||
           failure_set(
               why, 1,
               "%.200s: has format version %u, and this edenscope reads version %d; use the edenscope that recorded it",
               path, look->version, RECORDING_VERSION);
}

/* Its journal stands beside the file itself, wherever it was opened. */
static bool find_place(struct place *place, int file, const char *path, struct failure *why) {
    return !place->is_magic || place_follow_magic(place, file) ||
           failure_set(
               why, 1,
               "%.200s: where it stands is not known (%m), and it may not be whole without a journal there; name "
               "the file itself with -i",
               path);
}

/* A journal that undoes nothing: empty, or with zeroes for its mark, as SQLite writes it first. */
static bool is_blank(int journal) {
    uint64_t mark = 0;
    return pread(journal, &mark, sizeof mark, 0) >= 0 && mark == 0;
}

static bool open_journal(struct file_held *held, const struct place *place, uid_t owner, bool force, const char *path,
                         struct failure *why) {
    char name[NAME_MAX + 1];
    if (!file_beside(name, place->name, "-journal")) {
        return true;
    }
    held->journal = openat(place->folder, name, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK | O_NOFOLLOW);
    if (held->journal < 0 && errno == ENOENT) {
        return true;
    }
    if (held->journal < 0 && errno != ELOOP && errno != ENXIO) {
        return failure_set(why, 1,
                           "%.200s-journal: %m; the recording may not be whole without it: use sudo, or have its owner "
                           "read it",
                           path);
    }
    struct stat status;
    if (held->journal < 0 || fstat(held->journal, &status) != 0 || !S_ISREG(status.st_mode)) {
        return failure_set(why, 1, "%.200s-journal: not a regular file; move it away to read the recording without it",
                           path);
    }
    if (status.st_uid != owner) {
        return failure_set(why, 1,
                           "%.200s-journal: belongs to another user (%u) than the recording (%u), which may not be "
                           "whole without it; if it is of something else, move it elsewhere",
                           path, (unsigned)status.st_uid, (unsigned)owner);
    }
    if (!mark_is_journal(held->journal) && !is_blank(held->journal)) {
        return failure_set(why, 1, "%.200s-journal: not a journal; move it elsewhere to read the recording", path);
    }
    return force || !is_of_others(place, name, held->journal) ||
           failure_set(why, 1,
                       "%.200s-journal: others may write to it, or have linked it there; --force reads the recording "
                       "with it",
                       path);
}

/* Puts copies in place of the files. */
static bool take_copy(struct file_held *held, const char *path, struct failure *why) {
    struct file_held copy = {.database = temporary_file(), .journal = -1, .is_copy = true, .is_live = held->is_live};
    if (copy.database < 0) {
        return failure_set(why, 1, "%.200s: cannot be copied to %.200s: %m; set TMPDIR to another folder", path,
                           temporary_folder());
    }
    if (!file_copy(held->database, held->journal, copy.database, temporary_folder(), &copy.journal, path, why)) {
        file_close(&copy);
        return false;
    }
    copy.is_cut = copy.journal >= 0;
    file_close(held);
    *held = copy;
    return true;
}

static bool is_hot(const struct file_held *held) {
    return has_content(held->journal) && !recording_vfs_is_reserved(held->database) && has_content(held->journal);
}

/* Pages are written whole, and what is half written has a journal. SQLite fills the last page with zeros. */
static bool check_end(const struct file_held *held, uint64_t size, const char *path, struct failure *why) {
    unsigned char bytes[2] = {0};
    bool is_read = pread(held->database, bytes, sizeof bytes, AT_PAGE_SIZE) == (ssize_t)sizeof bytes;
    const uint64_t stated = (uint64_t)bytes[0] << 8 | bytes[1], page = stated == 1 ? 65536 : stated; /* 1: 65,536 */
    return !is_read || page == 0 || size % page == 0 || has_content(held->journal) ||
           failure_set(why, 1,
                       "%.200s: its end is missing: %" PRIu64 " bytes are no whole number of pages; copy it again",
                       path, size);
}

bool file_open(struct file_held *held, const char *path, bool force, struct failure *why) {
    struct place place;
    *held = (struct file_held){.database = -1, .journal = -1};
    if (!place_open(&place, path)) {
        return fail_open(why, path, errno);
    }
    held->database = place_open_file(&place, O_RDONLY | O_NONBLOCK, 0);
    struct file_look look = {0};
    bool good = held->database >= 0 || fail_open(why, path, errno), is_others = true;
    if (good) {
        look = file_look(held->database);
        held->is_live = look.is_live;
        good = check(&look, path, why) && find_place(&place, held->database, path, why) &&
               (force || check_trust(&look, &place, held->database, path, why)) &&
               open_journal(held, &place, look.owner, force, path, why) && check_end(held, look.size, path, why);
        is_others = !owner_is_caller(look.owner) || is_of_others(&place, place.name, held->database);
    }
    place_close(&place);
    if (good && (is_others || is_hot(held))) {
        good = take_copy(held, path, why);
    }
    if (!good) {
        file_close(held);
    }
    return good;
}

void file_close(struct file_held *held) {
    if (held->database >= 0) {
        close(held->database);
    }
    if (held->journal >= 0) {
        close(held->journal);
    }
    held->database = held->journal = -1;
}
