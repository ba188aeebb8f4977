/* Writing a recording: gathering events, and transactions.
 *
 * Events are gathered in memory: a copy each, fifteen times quicker than writing them, so that the kernel's ring buffer
 * is drained as fast as a collection that moves a million objects can fill it. They are written between drains, in
 * short transactions, at least every 250 ms; only during a transaction is there a journal, so a recorder that is killed
 * leaves one file, or, if the kill falls into those milliseconds, that file and a journal which the next reader rolls
 * back. What a kill can cost is the events of the last 250 ms.
 *
 * What can go wrong: a write fails. Then the transaction is rolled back, what was committed before stays, and the
 * recorder takes nothing more (`failed`); a last, small transaction notes why. A reader that holds the file locked is
 * no such failure, for anybody who may read can: what comes waits in memory, and beyond
 * WAIT_MOST or BATCHES_MOST it is counted as lost. A transaction waits BUSY_MS for the lock and then, as long as the
 * lock stays, not at all, so that the kernel's ring buffer is drained as ever. At the end it is waited for 10 s. */
#include "recording/recorder.h"
#include "util/clock.h"
#include "util/format.h"
#include "util/room.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum {
    WAIT_MOST = 262144, /* events that wait in memory; beyond that they are written before more are taken */
    BATCH_AGE_NS = 250000000,
    BUSY_MS =
        20, /* how long to wait for a reader before events are drained again: they may fill the ring buffer in 50 */
    FINISH_MS = 200,
    FINISH_TRIES = 50, /* of FINISH_MS */
};
#define LOCKED_NS 3000000000ull /* from then on a lock is worth a word */

/* Takes nothing more, for the reason that is in recorder->why, and notes it in the file where that is possible: the row
 * is there from the beginning, so it needs no page more. Always false. */
static bool give_up(struct recorder *recorder, enum recording_cut cut, struct failure *why) {
    recorder->failed = true;
    *why = recorder->why;
    if (sql_run(recorder->db, "BEGIN IMMEDIATE") == SQLITE_OK &&
        (recorder_write_cut(recorder, cut) != SQLITE_OK || sql_run(recorder->db, "COMMIT") != SQLITE_OK)) {
        sql_run(recorder->db, "ROLLBACK");
    }
    return false;
}

static bool out_of_memory(struct recorder *recorder, struct failure *why) {
    failure_set(&recorder->why, 1, "%.200s: out of memory for new records", recorder->path);
    return give_up(recorder, CUT_FAILED, why);
}

/* What a status of SQLite means for the recording. */
static enum recording_cut cut_of(const struct recorder *recorder, int code) {
    switch (code & 0xff) {
    case SQLITE_FULL:
        return recorder->vfs.error == 0 ? CUT_MAX_SIZE : recorder->vfs.error == EFBIG ? CUT_FILE_LIMIT : CUT_NO_ROOM;
    case SQLITE_BUSY:
        return CUT_LOCKED;
    default:
        return CUT_FAILED;
    }
}

/* The oldest pending events, at most a batch of them, all batches of lifetimes, and the model where one is given. */
static int write_all(struct recorder *recorder, size_t count, uint64_t *batches, const struct model *model,
                     bool finished) {
    int code = sql_run(recorder->db, "BEGIN IMMEDIATE");
    code = code == SQLITE_OK ? recorder_write_events(recorder, count) : code;
    code = code == SQLITE_OK ? recorder_write_batches(recorder, batches) : code;
    code = code == SQLITE_OK && model ? recorder_write_model(recorder, model) : code;
    code = code == SQLITE_OK ? recorder_write_meta(recorder, "events", recorder->written_events + count) : code;
    code = code == SQLITE_OK ? recorder_write_meta(recorder, "commit_ns", now_ns()) : code;
    code = code == SQLITE_OK && finished ? recorder_write_meta(recorder, "finished", 1) : code;
    return code == SQLITE_OK ? sql_run(recorder->db, "COMMIT") : code;
}

bool recorder_has_room(const struct recorder *recorder, size_t count, struct failure *why) {
    enum { EVENT_BYTES = 512, MODEL_BYTES = 1 << 20 };
    const uint64_t bytes = MODEL_BYTES + EVENT_BYTES * count + 2 * recorder->batches.bytes;
    return room_is_left(recorder->file.file, bytes) ||
           failure_set(why, 1,
                       "%.200s: the file system has less than %.1f MB left%s, and the next write may need as much; "
                       "free some disk space, or %s",
                       recorder->path, (double)bytes / 1e6,
                       room_is_reserved(recorder->file.file) ? ", apart from root's reserve" : "",
                       recorder_elsewhere(recorder));
}

/* One transaction. True also where a reader holds the file: then *busy, and all of it is still to be written. */
static bool transact(struct recorder *recorder, const struct model *model, bool finished, bool *busy,
                     struct failure *why) {
    uint64_t last_key = recorder->last_key, last_time = recorder->last_time;
    size_t count = recorder->pending_count < RECORDER_BATCH ? recorder->pending_count : RECORDER_BATCH;
    uint64_t batches = 0;
    *busy = recorder->busy_since_ns && !recorder->is_finishing && recording_vfs_holder(recorder->file.file) != 0;
    if (*busy) {
        return true;
    }
    if (!recorder_has_room(recorder, count, &recorder->why)) {
        return give_up(recorder, CUT_NO_ROOM, why);
    }
    sqlite3_busy_timeout(recorder->db, recorder->is_finishing ? FINISH_MS : BUSY_MS);
    int code = write_all(recorder, count, &batches, model, finished);
    recorder->pending_since_ns = now_ns();
    if (code == SQLITE_OK) {
        recorder->busy_since_ns = 0;
        recorder->pending_count -= count;
        recorder->written_events += count;
        recorder->written_batches += batches;
        recorder->batches.bytes = 0;
        if (recorder->pending_count) {
            memmove(recorder->pending, recorder->pending + count, recorder->pending_count * sizeof *recorder->pending);
        }
        return true;
    }
    /* The reason, before rolling back replaces it. */
    struct failure reason;
    recorder_fail_sql(recorder, "writing failed", &reason);
    if (!sqlite3_get_autocommit(recorder->db)) {
        sql_run(recorder->db, "ROLLBACK");
    }
    recorder->last_key = last_key;
    recorder->last_time = last_time;
    recorder_forget_written(recorder);
    if ((code & 0xff) == SQLITE_BUSY) {
        recorder->busy_since_ns = recorder->busy_since_ns ? recorder->busy_since_ns : now_ns();
        *busy = true;
        return true;
    }
    recorder->why = reason;
    return give_up(recorder, cut_of(recorder, code), why);
}

/* Who holds the file locked, to be named in a message. */
static const char *holder_text(const struct recorder *recorder, char text[64]) {
    pid_t holder = recording_vfs_holder(recorder->file.file);
    if (holder <= 0) {
        return "another program (`lsof` names it)";
    }
    snprintf(text, 64, "process %d", (int)holder);
    return text;
}

bool recorder_is_locked(const struct recorder *recorder, struct failure *why) {
    char text[64];
    if (recorder->busy_since_ns == 0 || now_ns() - recorder->busy_since_ns < LOCKED_NS) {
        return false;
    }
    failure_set(why, 1,
                "%.200s: %s holds a lock on it, so nothing can be written: new events wait in memory, and are counted "
                "as lost when it is full",
                recorder->path, holder_text(recorder, text));
    return true;
}

static bool keep_event(struct recorder *recorder, const struct event *event) {
    if (recorder->pending_count == recorder->pending_room) {
        size_t room = recorder->pending_room ? 2 * recorder->pending_room : 1024;
        struct pending *more = reallocarray(recorder->pending, room, sizeof *more);
        if (!more) {
            return false;
        }
        recorder->pending = more;
        recorder->pending_room = room;
    }
    struct pending *pending = &recorder->pending[recorder->pending_count];
    *pending = (struct pending){*event, recorder_heap_of(recorder, event), recorder->events};
    if (pending->event.args > EDEN_PROBE_MAX_ARGS) {
        pending->event.args = EDEN_PROBE_MAX_ARGS;
    }
    uint64_t now = now_ns();
    if (recorder->pending_count++ == 0 && recorder->batches.bytes == 0) {
        recorder->pending_since_ns = now;
    }
    recorder->events++;
    return true;
}

bool recorder_add(struct recorder *recorder, const struct event *event, struct failure *why) {
    if (recorder->failed) {
        *why = recorder->why;
        return false;
    }
    if (event->probe == EDEN_PROBE_heap__create && EDEN_HAS(event->args, heap__create, heap_id) &&
        !recorder_heap_begins(recorder, &event->process, event_heap(event),
                              EDEN_ARG(event->arg, heap__create, heap_id))) {
        return out_of_memory(recorder, why);
    }
    bool busy = recorder->pending_count >= WAIT_MOST;
    if (busy) {
        recorder->dropped++;
    } else if (!keep_event(recorder, event)) {
        return out_of_memory(recorder, why);
    }
    if (event->probe == EDEN_PROBE_heap__destroy) {
        struct live_heap *gone = recorder_live_heap(recorder, &event->process, event_heap(event));
        if (gone) {
            *gone = recorder->heaps[--recorder->heap_count];
        }
    }
    return busy || recorder->pending_count < WAIT_MOST || transact(recorder, NULL, false, &busy, why);
}

bool recorder_add_batch(struct recorder *recorder, const struct life_batch *batch, struct failure *why) {
    if (recorder->failed) {
        *why = recorder->why;
        return false;
    }
    struct pending_batches *pending = &recorder->batches;
    if (pending->bytes >= BATCHES_MOST) {
        recorder->dropped_records += batch->count;
        return true;
    }
    size_t bytes = (size_t)batch->count * batch->record_bytes, whole = sizeof *batch + ((bytes + 7) & ~(size_t)7);
    if (pending->room - pending->bytes < whole) {
        size_t room = 2 * pending->room + whole;
        uint8_t *more = realloc(pending->at, room);
        if (!more) {
            return out_of_memory(recorder, why);
        }
        pending->at = more;
        pending->room = room;
    }
    if (pending->bytes == 0 && recorder->pending_count == 0) {
        recorder->pending_since_ns = now_ns();
    }
    memcpy(pending->at + pending->bytes, batch, sizeof *batch);
    memcpy(pending->at + pending->bytes + sizeof *batch, batch->records, bytes);
    pending->bytes += whole;
    bool busy;
    return pending->bytes < BATCHES_MOST || transact(recorder, NULL, false, &busy, why);
}

bool recorder_is_full(const struct recorder *recorder) {
    return recorder->batches.bytes >= BATCHES_DUE && recorder->busy_since_ns == 0 && !recorder->failed;
}

bool recorder_write(struct recorder *recorder, bool *more, struct failure *why) {
    *more = false;
    if (recorder->failed) {
        *why = recorder->why;
        return false;
    }
    bool busy = false;
    bool due = recorder->pending_count >= RECORDER_BATCH || recorder->batches.bytes >= BATCHES_DUE;
    bool any = recorder->pending_count != 0 || recorder->batches.bytes != 0;
    if (!due && (!any || now_ns() - recorder->pending_since_ns < BATCH_AGE_NS)) {
        return true;
    }
    bool good = transact(recorder, NULL, false, &busy, why);
    *more = good && !busy && recorder->pending_count >= RECORDER_BATCH;
    return good;
}

/* Heaps that were there before the recording have no heap__create: the model knows their ids from their headers. */
static bool learn_heaps(struct recorder *recorder, const struct model *model) {
    for (size_t i = 0; i < model->process_count; i++) {
        const struct process_model *process = &model->processes[i];
        for (size_t j = 0; j < process->heap_count; j++) {
            const struct heap_model *heap = &process->heaps[j];
            if (heap->late && !heap->destroyed && heap->id != 0 &&
                !recorder_live_heap(recorder, &process->key, heap->address) &&
                !recorder_heap_begins(recorder, &process->key, heap->address, heap->id)) {
                return false;
            }
        }
    }
    for (size_t i = 0; i < recorder->pending_count; i++) {
        struct pending *pending = &recorder->pending[i];
        if (pending->heap_id == 0) {
            pending->heap_id = recorder_heap_of(recorder, &pending->event);
        }
    }
    return true;
}

bool recorder_commit(struct recorder *recorder, const struct model *model, bool finished, struct failure *why) {
    if (recorder->failed) {
        *why = recorder->why;
        return false;
    }
    if (!learn_heaps(recorder, model)) {
        return out_of_memory(recorder, why);
    }
    bool busy = false;
    int tries = 0;
    recorder->is_finishing = finished;
    while (finished && recorder->pending_count > RECORDER_BATCH && tries < FINISH_TRIES) {
        if (!transact(recorder, NULL, false, &busy, why)) {
            return false;
        }
        tries = busy ? tries + 1 : 0;
    }
    for (;; tries++) {
        if (tries < FINISH_TRIES && !transact(recorder, model, finished, &busy, why)) {
            return false;
        }
        if (!busy || !finished) {
            return true;
        }
        if (tries >= FINISH_TRIES) {
            char text[64], count[FORMAT_MAX];
            failure_set(&recorder->why, 1,
                        "%.200s: %s holds a lock on it: its last %s events, and their figures, are lost",
                        recorder->path, holder_text(recorder, text),
                        format_count(count, recorder->pending_count + recorder->dropped));
            return give_up(recorder, CUT_LOCKED, why);
        }
    }
}

uint64_t recorder_event_count(const struct recorder *recorder) { return recorder->events; }

uint64_t recorder_written_count(const struct recorder *recorder) { return recorder->written_events; }

uint64_t recorder_dropped_count(const struct recorder *recorder) {
    return recorder->dropped + recorder->dropped_records;
}

uint64_t recorder_batch_count(const struct recorder *recorder) { return recorder->written_batches; }

uint64_t recorder_bytes(const struct recorder *recorder) {
    struct stat status;
    return fstat(recorder->file.file, &status) == 0 ? (uint64_t)status.st_size : 0;
}
