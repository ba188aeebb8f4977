/* The inside of a recording that is read; nobody outside of this room includes this.
 *
 *     recording_read.c       opening it
 *     recording_processes.c  its processes, which the others need
 *     recording_model.c      the model
 *     recording_events.c     events
 *     recording_lifetimes.c  batches of lifetimes, and the model of them */
#ifndef EDEN_READING_H
#define EDEN_READING_H

#include "recording/recording_sql.h"
#include "recording/recording_vfs.h"

struct file_process {
    sqlite3_int64 number; /* column `process` */
    struct process_key key;
    size_t place; /* in the model's processes, where one is read */
};

struct recording {
    sqlite3 *db;
    char path[PATH_MAX]; /* as given */
    struct file_held held;
    struct recording_vfs vfs;
    struct recording_work work;
    bool is_last;   /* no other is opened by this process */
    int interrupts; /* that had come before */
    struct recording_info info;
    sqlite3_stmt *parameters; /* those of a heap; NULL: not asked for yet */
    bool has_pauses;          /* older recordings have none */
    sqlite3_stmt *pause;      /* that of an event; NULL: not asked for yet */
    uint64_t bad_batches;     /* that were left out, for what they say of themselves can't be */
    bool says_progress;       /* messages appear on a terminal; the sandbox may forbid to ask later */
    uint64_t said_ns;         /* when progress was last printed, or reading began */
    struct life_replay replay;
    struct file_process *processes; /* in order of number */
    size_t process_count, process_room;
};

struct table {
    const char *name, *key;
};

/* recording_read.c. What fails returns false, so that a reader can return it. */
bool reading_fail_damaged(struct recording *recording, const char *what, struct failure *why);
bool reading_fail_sql(struct recording *recording, const char *what, struct failure *why);
bool reading_fail_memory(struct recording *recording, struct failure *why);
/* Whether the tables are there, plain ones with their keys. */
bool reading_tables(struct recording *recording, const struct table *tables, size_t count, struct failure *why);
/* The column of a table with the heaps' serials; "0" in older recordings, which have none. */
const char *reading_serial_column(const struct recording *recording, const char *table);
/* At most size - 1 bytes, always ended. */
void reading_text(char *text, size_t size, sqlite3_stmt *row, int column);
static inline uint64_t reading_number(sqlite3_stmt *row, int column) {
    return (uint64_t)sqlite3_column_int64(row, column);
}

/* Prints progress on a terminal, at most every three seconds. all: the number of rows; 0: unknown. */
void reading_progress(struct recording *recording, uint64_t rows, uint64_t all, const char *what);

/* recording_processes.c. Reads table process; fills the model's processes too where one is given. */
bool reading_processes(struct recording *recording, struct model *model, struct failure *why);
/* Which process has this number in the file; NULL: none. */
const struct file_process *reading_process(const struct recording *recording, sqlite3_int64 wanted);
/* recording_model.c. The columns of a row whose names begin with the prefix; what is missing or NULL is not measured,
 * nor is what is much longer than the pauses. */
void reading_pause_time(struct pause_time *time, sqlite3_stmt *row, const char *prefix, uint64_t whole_ns);

#endif
