/* What writing and reading a recording share: failures in words, and running SQL. */
#include "recording/recording_sql.h"
#include <stdio.h>

const char *const recording_cut_names[CUTS] = {"", "max-size", "no-room", "file-limit", "locked", "failed"};

const char *recording_partial(const struct recording_info *info) {
    static const char *const meanings[CUTS] = {
        [CUT_UNKNOWN] = "cut short: the recorder was killed, or could not write the reason",
        [CUT_MAX_SIZE] = "cut short: it reached the size limit set by --max-size",
        [CUT_NO_ROOM] = "cut short: the file system was almost full",
        [CUT_FILE_LIMIT] = "cut short: it reached the file size limit (`ulimit -f`)",
        [CUT_LOCKED] = "cut short: another program held a lock on it",
        [CUT_FAILED] = "cut short: the recorder failed, and reported the reason when it ended",
    };
    return info->finished ? NULL : info->live ? "still being recorded" : meanings[info->cut];
}

static const char *advice(int code) {
    switch (code & 0xff) {
    case SQLITE_FULL:
        return "free some disk space, or choose another place with -o";
    case SQLITE_IOERR:
        return "the disk may be full or failing, or a file size limit reached";
    case SQLITE_CORRUPT:
    case SQLITE_NOTADB:
        return "the file is damaged; record again";
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
        return "another program holds a lock on it; try again when it has finished";
    case SQLITE_CANTOPEN:
    case SQLITE_READONLY:
    case SQLITE_PERM:
        return "check the permissions of the file and its folder";
    case SQLITE_ERROR:
    case SQLITE_SCHEMA:
        return "its tables differ from those in docs/recording.md";
    case SQLITE_NOMEM:
        return "out of memory";
    default:
        return "docs/recording.md describes the format";
    }
}

void recording_fail_sql(struct failure *why, const char *path, const char *doing, sqlite3 *db) {
    int code = db ? sqlite3_extended_errcode(db) : SQLITE_NOMEM;
    failure_set(why, 1, "%.200s: %s: %.160s; %s", path, doing, db ? sqlite3_errmsg(db) : sqlite3_errstr(code),
                advice(code));
}

int sql_step(sqlite3_stmt *statement) {
    int code = sqlite3_step(statement);
    sqlite3_reset(statement);
    return code == SQLITE_DONE || code == SQLITE_ROW ? SQLITE_OK : code;
}

int sql_run(sqlite3 *db, const char *sql) {
    while (*sql) {
        sqlite3_stmt *statement = NULL;
        int code = sqlite3_prepare_v2(db, sql, -1, &statement, &sql);
        if (code == SQLITE_OK && statement) {
            code = sql_step(statement);
        }
        sqlite3_finalize(statement);
        if (code != SQLITE_OK) {
            return code;
        }
    }
    return SQLITE_OK;
}
