/* What writing and reading a recording share: the file on disk before SQLite sees it, the schema, and statements.
 *
 * All SQL goes through prepared statements. Text from outside (paths aside, which go to SQLite as absolute names so
 * that
 * ":memory:" is a file) is only ever bound, never part of a statement. */
#ifndef EDEN_RECORDING_SQL_H
#define EDEN_RECORDING_SQL_H

#include "recording.h"
#include <limits.h>
#include <sqlite3.h>

enum { EVENT_TEXTS = sizeof((struct event *)0)->text / sizeof((struct event *)0)->text[0] };

/* ---- the file (recording_file.c) -------------------------------------------------------------------------------- */

enum file_kind {
    FILE_MISSING,
    FILE_EMPTY,
    FILE_RECORDING,
    FILE_OTHER, /* anything else, directories and devices included */
};

struct file_look {
    enum file_kind kind;
    unsigned version;    /* of a recording */
    bool live;           /* a recorder has it open */
    bool journal;        /* a journal stands beside it: half a transaction, if not live */
    char path[PATH_MAX]; /* absolute, links resolved; where the file is missing, of where it would be */
};

/* Looks without changing anything. False and why where not even that works (no rights, no such folder). */
bool file_look(const char *path, struct file_look *look, struct failure *why);

/* Undoes the half transaction that a killed recorder left. Needs the right to write the file and its folder. */
bool file_recover(const struct file_look *look, struct failure *why);

/* An open file whose lock says that a recorder writes it; -1 where another one does, or on error (errno). Must be
 * opened before SQLite opens the same file and closed after: closing any descriptor of a file drops SQLite's own locks.
 */
int file_lock(const char *path);

/* ---- statements (recording.c) ----------------------------------------------------------------------------------- */

/* What SQLite says went wrong with path, and what to do about that sort of error. */
void recording_fail_sql(struct failure *why, const char *path, const char *doing, sqlite3 *db);

/* Runs statements that return nothing that matters. SQLite's status. */
int sql_run(sqlite3 *db, const char *sql);
/* Runs a statement whose values are bound already, and makes it ready for the next time. SQLite's status. */
int sql_step(sqlite3_stmt *statement);

/* ---- the schema (recording_schema.c) ---------------------------------------------------------------------------- */

/* Makes the tables and views and fills those that don't change. SQLite's status. */
int schema_create(sqlite3 *db);
/* "INSERT OR REPLACE INTO heap" with a place for every column; free with sqlite3_free. NULL: no memory. The order:
 * heap, process, address, heap_id, name, late, complete, figures, causes, figures before, causes before. */
char *schema_insert_heap(void);

#endif
