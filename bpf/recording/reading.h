/* The inside of a recording that recording_read.c reads. */
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
    struct life_replay replay;
    struct file_process *processes; /* in order of number */
    size_t process_count, process_room;
};

#endif
