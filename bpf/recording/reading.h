/* The inside of a recording that is read: recording_read.c opens it, recording_read_model.c and recording_read_event.c
 * read what is in it, recording_read_batch.c lifetimes. */
#ifndef EDEN_READING_H
#define EDEN_READING_H

#include "recording/recording_sql.h"
#include "recording/recording_vfs.h"

struct file_process {
    sqlite3_int64 number; /* column `process` */
    struct process_key key;
};

struct recording {
    sqlite3 *db;
    char path[PATH_MAX]; /* as given */
    struct file_held held;
    struct recording_vfs vfs;
    uint64_t steps, steps_most; /* of SQLite's machine */
    int interrupts;             /* that had come before */
    struct recording_info info;
    uint64_t bad_batches;           /* that were left out, for what they say of themselves can't be */
    struct life_replay replay;      /* recording_read_batch.c */
    struct file_process *processes; /* in order of number */
    size_t process_count;
};

/* All return false, so that a reader can return them. */
bool reading_fail_sql(struct recording *recording, const char *doing, struct failure *why);
bool reading_fail_damaged(struct recording *recording, const char *what, struct failure *why);
bool reading_fail_memory(struct recording *recording, struct failure *why);

/* That the tables named, in quotes, are all there, `count` of them, and plain tables. */
bool reading_tables(struct recording *recording, const char *names, int count, struct failure *why);
uint64_t reading_number(sqlite3_stmt *row, int column);
/* At most size - 1 bytes, always ended. */
void reading_text(char *text, size_t size, sqlite3_stmt *row, int column);

/* Reads table process; fills the model's processes too where one is given. */
bool reading_processes(struct recording *recording, struct model *model, struct failure *why);
/* Which process has this number in the file; NULL: none. */
const struct file_process *reading_process(const struct recording *recording, sqlite3_int64 wanted);

#endif
