/* What writing and reading a recording share: failures in words, and running SQL. */
#include "recording/recording_sql.h"
#include <stdio.h>

const char *const recording_cut_names[CUTS] = {"", "max-size", "no-room", "file-limit", "locked", "failed"};

const char *recording_partial(const struct recording_info *info) {
    static const char *const meanings[CUTS] = {
        [CUT_UNKNOWN] = "cut short: the recorder was killed, or could not write why it stopped",
        [CUT_MAX_SIZE] = "cut short: it had reached its largest size, which --max-size sets",
        [CUT_NO_ROOM] = "cut short: the file system had too little room left",
        [CUT_FILE_LIMIT] = "cut short: it had reached the limit on the size of files, which `ulimit -f` shows",
        [CUT_LOCKED] = "cut short: another program held it locked",
        [CUT_FAILED] = "cut short: the recorder failed, and said why when it ended",
    };
    return info->finished ? NULL : info->live ? "still being recorded" : meanings[info->cut];
}

static const char *advice(int code) {
    switch (code & 0xff) {
    case SQLITE_FULL:
        return "make room on the disk, or choose another place with -o";
    case SQLITE_IOERR:
        return "is the disk full, a limit on file sizes reached, or the disk failing?";
    case SQLITE_CORRUPT:
    case SQLITE_NOTADB:
        return "the file is damaged; make the recording again";
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
        return "another program holds it locked; try again when that is done";
    case SQLITE_CANTOPEN:
    case SQLITE_READONLY:
    case SQLITE_PERM:
        return "may you read and write the file and its folder?";
    case SQLITE_ERROR:
    case SQLITE_SCHEMA:
        return "its tables are not those that docs/recording.md describes";
    case SQLITE_NOMEM:
        return "no memory";
    default:
        return "see docs/recording.md for what a recording is";
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
