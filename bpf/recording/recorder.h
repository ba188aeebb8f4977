/* The inside of a recorder, which recording_create.c begins and ends, and recording_write.c fills and commits.
 * Functions that return int return SQLite's status. */
#ifndef EDEN_RECORDER_H
#define EDEN_RECORDER_H

#include "recording/recording_sql.h"
#include "recording/recording_vfs.h"
#include "util/message.h"
#include "util/replace.h"

enum {
    COMMAND_MOST = 4096,
    RECORDER_BATCH = 2048, /* events a transaction: 3 ms, in which the ring buffer (30,000 events) must not fill */
};

/* An event that is not in the file yet. */
struct pending {
    struct event event;
    uint64_t heap_id;
};

/* Batches of lifetimes that are not in the file yet, one after the other: struct life_batch, then its records, padded
 * to 8 bytes. */
struct pending_batches {
    uint8_t *at; /* owned */
    size_t bytes, room;
};

struct known_process {
    struct process_key key; /* first: by_process */
    size_t number;          /* column `process`, from 1 */
    uint64_t written;       /* fingerprint of what the file says; 0: nothing */
    bool is_forgotten;      /* it has ended, and its heaps are looked for no more */
};

/* As the kernel has it. */
struct folder_name {
    char path[PATH_MAX]; /* "": the kernel does not say */
    size_t from;         /* where the part begins that a relative path depends on; 0: all of it */
};

struct live_heap {
    uint64_t address, id, serial; /* as in struct heap_ref */
};

/* A process with heaps whose addresses may come in events. */
struct live_process {
    struct process_key key; /* first: by_process */
    void *heaps;            /* of struct live_heap, each owned: tsearch(3), by_address */
    size_t heap_count;
    unsigned ended_commits; /* how many have found it ended since its last event */
};

struct recorder {
    sqlite3 *db;
    sqlite3_stmt *event, *pause, *class, *parameter, *process, *heap, *phase, *bucket, *forget_phases, *forget_buckets,
        *forget_heap, *meta, *batch;
    struct recording_vfs vfs;
    struct replacement file; /* its lock (live) says that it is being recorded */
    int journal;             /* beside the published file; without a name before, where possible; -1: none yet */
    bool published, failed;
    enum recording_cut cut; /* why it failed */
    struct recorder_options options;
    char path[PATH_MAX]; /* as given */
    struct folder_name folder;
    struct pending *pending; /* by time; from pending_first on, before which are those that have been written */
    size_t pending_first, pending_count, pending_room;
    struct pending_batches batches;
    uint64_t written_batches, written_models;
    uint64_t mono_ns, start_ns; /* recorder_began, on either clock; 0: not yet */
    bool is_finishing;          /* nothing comes any more: a lock is waited for */
    uint64_t busy_since_ns;     /* since when another program holds the file locked; 0: it does not */
    bool is_lock_named;
    struct message_kind locks;
    uint64_t dropped, dropped_records; /* events, and records of lifetimes, for which there was no more memory then */
    uint64_t pending_since_ns, events, written_events, last_key, last_time;
    struct known_process **processes; /* each owned; by number, less 1 */
    size_t process_count, process_room;
    void *known, *live; /* of struct known_process, and of struct live_process, each owned: tsearch(3), by_process */
    size_t live_heaps;  /* of all processes */
    uint64_t *written; /* fingerprints of the model's heaps as the file has them; the place, from 1, is column `heap` */
    size_t written_count;
    struct failure why;
};

/* Addresses and other 64-bit numbers keep their bits; SQL shows those from 2^63 on as negative. */
void recorder_bind(sqlite3_stmt *statement, int place, uint64_t value);
void recorder_bind_text(sqlite3_stmt *statement, int place, const char *text, size_t most);
/* Whether the next transaction, of count events and with its journal, leaves the file system's reserve for root alone.
 * Else false, and why. */
bool recorder_has_room(const struct recorder *recorder, size_t count, struct failure *why);
/* Names the journal and the file. Fails if another file has come to the path or beside it, or the one there has
 * changed, since recorder_publish. Needs no rights but to rename in the folder. */
bool recorder_put_in_place(struct recorder *recorder, struct failure *why);
int recorder_write_meta(struct recorder *recorder, const char *key, uint64_t value);
int recorder_write_cut(struct recorder *recorder, enum recording_cut cut);
void recorder_forget_processes(struct recorder *recorder);
/* What else to do where there is no room. */
const char *recorder_elsewhere(const struct recorder *recorder);
/* Why the last statement failed. Always false. */
bool recorder_fail_sql(struct recorder *recorder, const char *doing, struct failure *why);

#endif
