/* What writing and reading a recording share: the file on disk before SQLite sees it, the schema, and statements.
 *
 * All SQL goes through prepared statements. Text from outside is only ever bound, never part of a statement; paths do
 * not reach SQLite at all (recording_vfs.h). */
#ifndef EDEN_RECORDING_SQL_H
#define EDEN_RECORDING_SQL_H

#include "recording/recording.h"
#include <limits.h>
#include <sqlite3.h>
#include <sys/types.h>

/* ---- the file (recording_file.c) -------------------------------------------------------------------------------- */

enum file_kind {
    FILE_EMPTY,
    FILE_RECORDING,
    FILE_OTHER, /* anything else, folders and devices included */
};

struct file_look {
    enum file_kind kind;
    bool is_regular;
    bool is_live;     /* a recorder has it open */
    bool has_log;     /* another program has set it to write-ahead logging */
    unsigned version; /* of a recording; 0: it was never published */
    uint64_t size;
    uid_t owner;
    unsigned mode;
    bool is_shared; /* others than its owner may write to it */
};

/* Looks at an open file without changing anything. */
struct file_look file_look(int file);

/* Its size without holes, which cost their maker nothing. Unlike the blocks that it takes, this does not depend on
 * whether the file system compresses, or has written it yet. */
uint64_t file_data_bytes(int file);

/* A recording to read, checked: its own descriptors, or those of a private copy. */
struct file_held {
    int database, journal; /* owned; -1: there is none */
    bool is_copy;
    bool is_live;
    bool is_cut; /* a copy whose journal must be undone */
};

/* Opens, without blocking, and checks owner, kind and version. A file of another user than the caller or root needs
 * `force`, or that the user ran sudo, and is copied; so is one whose recorder was killed within a transaction. A file
 * that others may write to, or that they may have linked there, is another user's. */
bool file_open(struct file_held *held, const char *path, bool force, struct failure *why);
void file_close(struct file_held *held);

/* Copies a recording to `to`, a file in `folder`, as of its last transaction. False and why: it can't be read, is
 * locked for long, or has no room there. *journal: a copy of its hot journal, owned by the caller; -1: it has none. */
bool file_copy(int database, int journal, int to, const char *folder, int *journal_copy, const char *path,
               struct failure *why);

/* The name of what SQLite puts beside a database. False: it is too long. */
bool file_beside(char beside[NAME_MAX + 1], const char *name, const char *suffix);

/* ---- statements (recording_sql.c)--------------------------------------------------------------------------------- */

/* What SQLite says went wrong with path, and what to do about that sort of error. */
void recording_fail_sql(struct failure *why, const char *path, const char *doing, sqlite3 *db);

/* Runs statements that return nothing that matters. SQLite's status. */
int sql_run(sqlite3 *db, const char *sql);
/* Runs a statement whose values are bound already, and makes it ready for the next time. SQLite's status. */
int sql_step(sqlite3_stmt *statement);

/* ---- the schema (recording_sql.c) -------------------------------------------------------------------------------- */

/* Makes the tables and views and fills those that don't change. The version is set when the recording is published.
 * SQLite's status. */
int schema_create(sqlite3 *db);
/* "INSERT OR REPLACE INTO heap" with a place for every column; free with sqlite3_free. NULL: no memory. The order:
 * heap, process, address, heap_id, name, late, complete, figures, causes, figures before, causes before, six of the
 * collection under way, ended_by_exec, former_command, earlier, serial. */
char *schema_insert_heap(void);

#endif
