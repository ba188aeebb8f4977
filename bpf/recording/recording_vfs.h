/* SQLite on open descriptors: a database and its journal, and no name of a file. */
#ifndef EDEN_RECORDING_VFS_H
#define EDEN_RECORDING_VFS_H

#include "recording/recording_work.h"
#include <sqlite3.h>
#include <sys/types.h>

struct recording_vfs {
    sqlite3_vfs vfs;
    char name[32];
    int database;                /* both stay the caller's */
    int journal;                 /* -1: there is none */
    bool is_shared;              /* others may use the file now: SQLite's locks are taken */
    bool is_restored;            /* the journal holds half a transaction, which the first read undoes */
    struct recording_work *work; /* to which reading both counts; NULL: to none */
    int level;                   /* the lock that is held */
    int error;                   /* errno of the last write that failed; 0: none */
};

/* Opens a connection; *db is to be closed with sqlite3_close in any case, and before recording_vfs_end. The struct
 * must not move meanwhile. SQLite's status. */
int recording_vfs_open(struct recording_vfs *vfs, sqlite3 **db, bool is_writable);
void recording_vfs_end(struct recording_vfs *vfs);

/* Locks the database as a reader of SQLite does: nobody writes to it from now on. False: a writer is at it. */
bool recording_vfs_lock_shared(int database);
void recording_vfs_unlock(int database);
/* Which process holds the database as a reader; 0: nobody; -1: it can't be known. */
pid_t recording_vfs_holder(int database);
/* Whether a writer is in a transaction: then its journal is not half a transaction but a whole one to be. */
bool recording_vfs_is_reserved(int database);

/* Marks the database as being recorded until the last copy of this descriptor, open for writing, is closed. False:
 * another recorder has. */
bool recording_vfs_lock_live(int database);
bool recording_vfs_is_live(int database);

#endif
