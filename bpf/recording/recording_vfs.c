/* SQLite on open descriptors.
 *
 * 1. Purpose
 *
 * SQLite finds journals, write-ahead logs and super-journals by name beside its database, and rolls back or deletes
 * what it finds. Whoever can make a file there can make a recording of his own content, or have root delete any file.
 * Under this VFS SQLite knows no name: its two files are descriptors that recording_file.c or recording_create.c
 * opened and checked.
 *
 * 2. Terms
 *
 * Hot journal: one whose transaction was cut short. The first read writes its pages back to the database.
 * Reserved, pending, exclusive: the locks of SQLite's protocol, byte ranges behind the first gigabyte of the file.
 * Live: the lock of a recorder for as long as it lives, on a byte that SQLite neither locks nor uses.
 *
 * 3. Algorithm
 *
 * Reading and writing are pread and pwrite. Locks are open file description locks at the bytes that every SQLite uses:
 * they exclude other programs, and closing another descriptor of the file does not drop them. There are no temporary
 * files (PRAGMA temp_store): a reader must not have memory beyond its limit (sandbox.c, I5).
 *
 * 4. Invariants
 *
 * I1. No call here takes a path.
 * I2. A journal is read only where the opener said that it is to be undone (is_restored), so never one that appeared
 * later.
 * I3. A write-ahead log is never read: a database in that mode can't be opened, for it needs shared memory.
 * I4. Deleting the journal empties it.
 * I5. What is said of a file (reserved, live) rests on write locks alone. Only a descriptor that may write can hold
 * one; flock(), and read locks, are within reach of every reader.
 *
 * 5. Failure
 *
 * A write that finds no room, by disk, quota or limit, is SQLITE_FULL; `error` has the reason.
 *
 * 6. References
 *
 * https://www.sqlite.org/lockingv3.html, https://www.sqlite.org/c3ref/vfs.html */
#include "recording/recording_vfs.h"
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    PENDING_BYTE = 0x40000000,
    RESERVED_BYTE = PENDING_BYTE + 1,
    SHARED_FIRST = PENDING_BYTE + 2,
    SHARED_SIZE = 510,
    LIVE_BYTE = SHARED_FIRST + SHARED_SIZE, /* on the same page, which SQLite leaves out */
    SECTOR = 4096,
};

struct open_file {
    sqlite3_file base;
    struct recording_vfs *vfs;
    int file;
};

/* ---- locks ------------------------------------------------------------------------------------------------------- */

static bool lock(int file, short type, off_t start, off_t length) {
    struct flock range = {.l_type = type, .l_whence = SEEK_SET, .l_start = start, .l_len = length};
    return fcntl(file, F_OFD_SETLK, &range) == 0;
}

bool recording_vfs_lock_shared(int database) {
    bool good = lock(database, F_RDLCK, PENDING_BYTE, 1) && lock(database, F_RDLCK, SHARED_FIRST, SHARED_SIZE);
    int error = errno;
    lock(database, F_UNLCK, PENDING_BYTE, 1);
    errno = error;
    return good;
}

void recording_vfs_unlock(int database) { lock(database, F_UNLCK, PENDING_BYTE, SHARED_SIZE + 2); }

pid_t recording_vfs_holder(int database) {
    struct flock range = {.l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = PENDING_BYTE, .l_len = SHARED_SIZE + 2};
    return fcntl(database, F_OFD_GETLK, &range) == 0 && range.l_type != F_UNLCK ? (range.l_pid > 0 ? range.l_pid : -1)
                                                                                : 0;
}

/* Asked as a reader would, so that the locks of other readers do not count (I5). */
static bool is_write_locked(int file, off_t byte) {
    struct flock range = {.l_type = F_RDLCK, .l_whence = SEEK_SET, .l_start = byte, .l_len = 1};
    return fcntl(file, F_OFD_GETLK, &range) == 0 && range.l_type != F_UNLCK;
}

bool recording_vfs_is_reserved(int database) { return is_write_locked(database, RESERVED_BYTE); }

bool recording_vfs_lock_live(int database) { return lock(database, F_WRLCK, LIVE_BYTE, 1); }

bool recording_vfs_is_live(int database) { return is_write_locked(database, LIVE_BYTE); }

static bool has_content(int journal) {
    struct stat status;
    char first = 0;
    return journal >= 0 && fstat(journal, &status) == 0 && status.st_size > 0 && pread(journal, &first, 1, 0) == 1 &&
           first != 0;
}

/* Whether a writer was killed since the file was opened: then it holds half a transaction. */
static bool was_cut_short(const struct recording_vfs *vfs) {
    return has_content(vfs->journal) && !recording_vfs_is_reserved(vfs->database) && has_content(vfs->journal);
}

static bool raise_lock(struct recording_vfs *vfs, int level) {
    int file = vfs->database;
    switch (level) {
    case SQLITE_LOCK_SHARED:
        if (!recording_vfs_lock_shared(file)) {
            return false;
        }
        if (!vfs->is_restored && was_cut_short(vfs)) {
            recording_vfs_unlock(file);
            errno = EAGAIN;
            return false;
        }
        return true;
    case SQLITE_LOCK_RESERVED:
        return lock(file, F_WRLCK, RESERVED_BYTE, 1);
    default:
        if (vfs->level < SQLITE_LOCK_PENDING) {
            if (!lock(file, F_WRLCK, PENDING_BYTE, 1)) {
                return false;
            }
            vfs->level = SQLITE_LOCK_PENDING;
        }
        return lock(file, F_WRLCK, SHARED_FIRST, SHARED_SIZE);
    }
}

static int file_lock_level(sqlite3_file *base, int level) {
    struct recording_vfs *vfs = ((struct open_file *)base)->vfs;
    if (vfs->level >= level) {
        return SQLITE_OK;
    }
    if (vfs->is_shared && !raise_lock(vfs, level)) {
        return errno == EAGAIN || errno == EACCES ? SQLITE_BUSY : SQLITE_IOERR_LOCK;
    }
    vfs->level = level;
    return SQLITE_OK;
}

static int file_unlock(sqlite3_file *base, int level) {
    struct recording_vfs *vfs = ((struct open_file *)base)->vfs;
    if (vfs->level <= level) {
        return SQLITE_OK;
    }
    bool good = true;
    if (vfs->is_shared && level == SQLITE_LOCK_SHARED) {
        good = lock(vfs->database, F_RDLCK, SHARED_FIRST, SHARED_SIZE) && lock(vfs->database, F_UNLCK, PENDING_BYTE, 2);
    } else if (vfs->is_shared) {
        recording_vfs_unlock(vfs->database);
    }
    vfs->level = level;
    return good ? SQLITE_OK : SQLITE_IOERR_UNLOCK;
}

static int file_check_reserved(sqlite3_file *base, int *reserved) {
    const struct recording_vfs *vfs = ((struct open_file *)base)->vfs;
    *reserved = vfs->is_shared && recording_vfs_is_reserved(vfs->database);
    return SQLITE_OK;
}

/* ---- files ------------------------------------------------------------------------------------------------------- */

static int file_close(sqlite3_file *base) {
    (void)base;
    return SQLITE_OK;
}

static int file_read(sqlite3_file *base, void *bytes, int size, sqlite3_int64 at) {
    const struct open_file *file = (struct open_file *)base;
    char *to = bytes;
    size_t left = (size_t)size;
    if (!recording_work_add(file->vfs->work, left)) {
        return SQLITE_IOERR_READ;
    }
    while (left > 0) {
        ssize_t length = pread(file->file, to, left, at);
        if (length < 0 && errno == EINTR) {
            continue;
        }
        if (length < 0) {
            return SQLITE_IOERR_READ;
        }
        if (length == 0) {
            memset(to, 0, left);
            return SQLITE_IOERR_SHORT_READ;
        }
        to += length;
        at += length;
        left -= (size_t)length;
    }
    return SQLITE_OK;
}

static int write_failed(struct recording_vfs *vfs, int error, int code) {
    vfs->error = error;
    return error == ENOSPC || error == EDQUOT || error == EFBIG ? SQLITE_FULL : code;
}

static int file_write(sqlite3_file *base, const void *bytes, int size, sqlite3_int64 at) {
    const struct open_file *file = (struct open_file *)base;
    const char *from = bytes;
    size_t left = (size_t)size;
    while (left > 0) {
        ssize_t length = pwrite(file->file, from, left, at);
        if (length < 0 && errno == EINTR) {
            continue;
        }
        if (length <= 0) {
            return write_failed(file->vfs, length < 0 ? errno : EIO, SQLITE_IOERR_WRITE);
        }
        from += length;
        at += length;
        left -= (size_t)length;
    }
    return SQLITE_OK;
}

static int file_truncate(sqlite3_file *base, sqlite3_int64 size) {
    const struct open_file *file = (struct open_file *)base;
    return ftruncate(file->file, size) == 0 ? SQLITE_OK : write_failed(file->vfs, errno, SQLITE_IOERR_TRUNCATE);
}

static int file_sync(sqlite3_file *base, int flags) {
    (void)flags;
    return fdatasync(((struct open_file *)base)->file) == 0 ? SQLITE_OK : SQLITE_IOERR_FSYNC;
}

static int file_size(sqlite3_file *base, sqlite3_int64 *size) {
    struct stat status;
    if (fstat(((struct open_file *)base)->file, &status) != 0) {
        return SQLITE_IOERR_FSTAT;
    }
    *size = status.st_size;
    return SQLITE_OK;
}

static int file_control(sqlite3_file *base, int operation, void *argument) {
    (void)base;
    (void)operation;
    (void)argument;
    return SQLITE_NOTFOUND;
}

static int file_sector(sqlite3_file *base) {
    (void)base;
    return SECTOR;
}

static int file_characteristics(sqlite3_file *base) {
    (void)base;
    return SQLITE_IOCAP_POWERSAFE_OVERWRITE;
}

static const sqlite3_io_methods methods = {
    .iVersion = 1, /* no shared memory, no mapping */
    .xClose = file_close,
    .xRead = file_read,
    .xWrite = file_write,
    .xTruncate = file_truncate,
    .xSync = file_sync,
    .xFileSize = file_size,
    .xLock = file_lock_level,
    .xUnlock = file_unlock,
    .xCheckReservedLock = file_check_reserved,
    .xFileControl = file_control,
    .xSectorSize = file_sector,
    .xDeviceCharacteristics = file_characteristics,
};

/* ---- the file system --------------------------------------------------------------------------------------------- */

static int vfs_open(sqlite3_vfs *base, const char *name, sqlite3_file *opened, int flags, int *out_flags) {
    (void)name;
    struct recording_vfs *vfs = base->pAppData;
    struct open_file *file = (struct open_file *)opened;
    *file = (struct open_file){.vfs = vfs,
                               .file = flags & SQLITE_OPEN_MAIN_DB        ? vfs->database
                                       : flags & SQLITE_OPEN_MAIN_JOURNAL ? vfs->journal
                                                                          : -1};
    if (file->file < 0) {
        return SQLITE_CANTOPEN;
    }
    file->base.pMethods = &methods;
    if (out_flags) {
        *out_flags = flags;
    }
    return SQLITE_OK;
}

static bool is_journal(const char *name) {
    static const char end[] = "-journal";
    size_t length = strlen(name);
    return length >= sizeof end - 1 && strcmp(name + length - (sizeof end - 1), end) == 0;
}

static int vfs_delete(sqlite3_vfs *base, const char *name, int sync) {
    (void)sync;
    struct recording_vfs *vfs = base->pAppData;
    if (!is_journal(name) || vfs->journal < 0) {
        return SQLITE_IOERR_DELETE_NOENT;
    }
    vfs->is_restored = false;
    return ftruncate(vfs->journal, 0) == 0 ? SQLITE_OK : SQLITE_IOERR_DELETE;
}

static int vfs_access(sqlite3_vfs *base, const char *name, int flags, int *result) {
    (void)flags;
    const struct recording_vfs *vfs = base->pAppData;
    *result = is_journal(name) && vfs->is_restored;
    return SQLITE_OK;
}

static int vfs_full_pathname(sqlite3_vfs *base, const char *name, int size, char *path) {
    (void)base;
    sqlite3_snprintf(size, path, "%s", name);
    return SQLITE_OK;
}

static int vfs_randomness(sqlite3_vfs *base, int size, char *bytes) {
    (void)base;
    return (int)getrandom(bytes, (size_t)size, 0);
}

int recording_vfs_open(struct recording_vfs *vfs, sqlite3 **db, bool is_writable) {
    *db = NULL;
    int code = recording_work_prepare();
    const sqlite3_vfs *system = code == SQLITE_OK ? sqlite3_vfs_find(NULL) : NULL;
    if (!system) {
        return code == SQLITE_OK ? SQLITE_ERROR : code;
    }
    snprintf(vfs->name, sizeof vfs->name, "eden-%p", (void *)vfs);
    vfs->vfs = (sqlite3_vfs){
        .iVersion = 2,
        .szOsFile = sizeof(struct open_file),
        .mxPathname = 64,
        .zName = vfs->name,
        .pAppData = vfs,
        .xOpen = vfs_open,
        .xDelete = vfs_delete,
        .xAccess = vfs_access,
        .xFullPathname = vfs_full_pathname,
        .xRandomness = vfs_randomness,
        .xSleep = system->xSleep,
        .xCurrentTime = system->xCurrentTime,
        .xGetLastError = system->xGetLastError,
        .xCurrentTimeInt64 = system->xCurrentTimeInt64,
    };
    code = sqlite3_vfs_register(&vfs->vfs, 0);
    return code == SQLITE_OK
               ? sqlite3_open_v2("recording", db, is_writable ? SQLITE_OPEN_READWRITE : SQLITE_OPEN_READONLY, vfs->name)
               : code;
}

void recording_vfs_end(struct recording_vfs *vfs) {
    if (vfs->vfs.zName) {
        sqlite3_vfs_unregister(&vfs->vfs);
        vfs->vfs.zName = NULL;
    }
}
