/* Rows of batches of lifetimes: each as the probe handed it over, its records as one blob.
 *
 * Nothing is looked into: a program that is followed object by object sends faster than anybody could add up, and a
 * batch of a kind that this version does not know is of use to the next. */
#include "recording/recorder.h"

static int write_batch(struct recorder *recorder, const struct life_batch *batch, const uint8_t *records) {
    size_t process;
    int code = recorder_mention_process(recorder, &batch->process, &process);
    sqlite3_stmt *to = recorder->batch;
    recorder_bind(to, 1, batch->time_ns);
    recorder_bind(to, 2, process);
    recorder_bind(to, 3, batch->address);
    recorder_bind(to, 4, batch->heap_id);
    recorder_bind(to, 5, batch->kind);
    recorder_bind(to, 6, batch->count);
    recorder_bind(to, 7, batch->record_bytes);
    sqlite3_bind_blob(to, 8, records, (int)(batch->count * batch->record_bytes), SQLITE_STATIC);
    return code == SQLITE_OK ? sql_step(to) : code;
}

int recorder_write_batches(struct recorder *recorder, uint64_t *count) {
    const struct pending_batches *pending = &recorder->batches;
    int code = SQLITE_OK;
    *count = 0;
    for (size_t at = 0; at < pending->bytes && code == SQLITE_OK;) {
        const struct life_batch *batch = (const struct life_batch *)(const void *)(pending->at + at);
        size_t bytes = (size_t)batch->count * batch->record_bytes;
        code = write_batch(recorder, batch, pending->at + at + sizeof *batch);
        at += sizeof *batch + ((bytes + 7) & ~(size_t)7);
        ++*count;
    }
    return code;
}
