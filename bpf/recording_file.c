/* The file of a recording before SQLite sees it: what stands at a path, who writes it, and what a kill left.
 *
 * A recorder holds a lock (flock) on its file for as long as it lives. SQLite's own locks are held for the length of a
 * transaction only, so they can't tell a recording that is under way from one whose recorder was killed; this one goes
 * with the process, whatever ends it. Reports use it to say which of the two they show, and a second recorder to leave
 * the file alone.
 *
 * A kill within a transaction leaves a journal beside the file ("hot"). The next one that may write must roll it back,
 * and nobody may take the journal away before. A journal can also name a further file that SQLite deletes when it is
 * done; edenscope never writes such, so one that does is somebody's trap and is refused. */
#include "recording_sql.h"
#include "replace.h"
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

enum { HEADER = 100, AT_VERSION = 60, AT_APPLICATION = 68 };

static uint32_t big_endian(const unsigned char *bytes) {
    return (uint32_t)bytes[0] << 24 | (uint32_t)bytes[1] << 16 | (uint32_t)bytes[2] << 8 | bytes[3];
}

static const char *open_advice(int error) {
    switch (error) {
    case EACCES:
    case EPERM:
        return "you have not the rights; sudo, or another place";
    case ENOENT:
    case ENOTDIR:
        return "no such file or folder; -i or -o names another";
    case EISDIR:
        return "that is a folder; name a file in it";
    default:
        return "-i or -o names another file";
    }
}

static void look_inside(int file, struct file_look *look) {
    unsigned char header[HEADER];
    struct stat status;
    if (fstat(file, &status) != 0 || !S_ISREG(status.st_mode)) {
        look->kind = FILE_OTHER;
        return;
    }
    if (status.st_size == 0) {
        look->kind = FILE_EMPTY;
        return;
    }
    look->kind = FILE_OTHER;
    if (pread(file, header, sizeof header, 0) == (ssize_t)sizeof header && memcmp(header, "SQLite format 3", 16) == 0 &&
        big_endian(header + AT_APPLICATION) == RECORDING_APPLICATION_ID) {
        look->kind = FILE_RECORDING;
        look->version = big_endian(header + AT_VERSION);
        look->live = flock(file, LOCK_SH | LOCK_NB) != 0 && errno == EWOULDBLOCK;
    }
}

static bool journal_name(const struct file_look *look, char name[PATH_MAX]) {
    int length = snprintf(name, PATH_MAX, "%s-journal", look->path);
    return length > 0 && length < PATH_MAX;
}

bool file_look(const char *path, struct file_look *look, struct failure *why) {
    memset(look, 0, sizeof *look);
    if (!replace_resolve(path, look->path)) {
        failure_set(why, 1, "%.200s: %m; %s", path, open_advice(errno));
        return false;
    }
    char journal[PATH_MAX];
    look->journal = journal_name(look, journal) && access(journal, F_OK) == 0;
    /* Not blocking: a named pipe must not hold us. */
    int file = open(look->path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
    if (file >= 0) {
        look_inside(file, look);
        close(file);
        return true;
    }
    if (errno == ENOENT) {
        look->kind = FILE_MISSING;
        return true;
    }
    if (errno == ENXIO || errno == ENODEV) {
        look->kind = FILE_OTHER;
        return true;
    }
    failure_set(why, 1, "%.200s: %m; %s", path, open_advice(errno));
    return false;
}

/* SQLite takes a file name off the end of a journal, behind this mark. */
static bool journal_names_a_file(const char *journal) {
    static const unsigned char mark[8] = {0xd9, 0xd5, 0x05, 0xf9, 0x20, 0xa1, 0x63, 0xd7};
    unsigned char end[sizeof mark];
    int file = open(journal, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK | O_NOFOLLOW);
    struct stat status;
    bool names = true; /* what can't be read is not trusted */
    if (file >= 0 && fstat(file, &status) == 0 && S_ISREG(status.st_mode)) {
        off_t size = status.st_size;
        names = size > 8 &&
                (pread(file, end, sizeof end, size - 8) != (ssize_t)sizeof end || memcmp(end, mark, sizeof mark) == 0);
    }
    if (file >= 0) {
        close(file);
    }
    return names;
}

bool file_recover(const struct file_look *look, struct failure *why) {
    char journal[PATH_MAX];
    if (!journal_name(look, journal) || journal_names_a_file(journal)) {
        failure_set(why, 1,
                    "%.200s-journal: not readable, or not written by edenscope; remove it to see what the "
                    "recording holds without it",
                    look->path);
        return false;
    }
    sqlite3 *db = NULL;
    int code = sqlite3_open_v2(look->path, &db, SQLITE_OPEN_READWRITE, NULL);
    if (code == SQLITE_OK) {
        sqlite3_busy_timeout(db, 5000);
        sqlite3_db_config(db, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, NULL);
        sqlite3_db_config(db, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
        code = sql_run(db, "SELECT count(*) FROM sqlite_schema"); /* any read rolls back first */
    }
    if (code != SQLITE_OK) {
        failure_set(why, 1,
                    "%.200s: its recorder was killed while it wrote, and undoing that last half step failed: %.100s; "
                    "copy the file and its -journal to where you may write, and use that copy",
                    look->path, db ? sqlite3_errmsg(db) : "no memory");
    }
    sqlite3_close(db);
    return code == SQLITE_OK;
}

int file_lock(const char *path) {
    int file = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
    if (file >= 0 && flock(file, LOCK_EX | LOCK_NB) != 0) {
        int error = errno;
        close(file);
        errno = error;
        return -1;
    }
    return file;
}
