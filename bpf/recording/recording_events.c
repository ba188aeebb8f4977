/* Reading a recording's events.
 *
 * They are read in portions, so that the file is locked for moments only: a recorder may be writing it, and a pager may
 * hold up the reader. */
#include "recording/reading.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PORTION = 2048 };

struct read_event {
    struct event event;
    uint64_t heap_id;
};

/* Columns as in the statement below. */
static void decode_event(const struct recording *recording, sqlite3_stmt *row, struct read_event *to) {
    struct event *event = &to->event;
    memset(to, 0, sizeof *to);
    event->time_ns = reading_number(row, 1);
    const struct file_process *process = reading_process(recording, sqlite3_column_int64(row, 2));
    if (process) {
        event->process = process->key;
    }
    event->tid = (uint32_t)reading_number(row, 3);
    event->probe = (uint16_t)reading_number(row, 4);
    to->heap_id = reading_number(row, 5);
    uint64_t args = reading_number(row, 6);
    event->args = (uint16_t)(args < EDEN_PROBE_MAX_ARGS ? args : EDEN_PROBE_MAX_ARGS);
    for (int i = 0; i < event->args; i++) {
        event->arg[i] = reading_number(row, 7 + i);
    }
    for (int i = 0; i < EVENT_TEXTS; i++) {
        reading_text(event->text[i], EVENT_TEXT, row, 7 + EDEN_PROBE_MAX_ARGS + i);
    }
    event->serial = reading_number(row, 7 + EDEN_PROBE_MAX_ARGS + EVENT_TEXTS);
}

/* Of the end of a collection. */
static bool read_pause(struct recording *recording, sqlite3_int64 key, struct event *event, struct failure *why) {
    int code = SQLITE_OK;
    if (!recording->has_pauses ||
        (event->probe != EDEN_PROBE_scavenge__done && event->probe != EDEN_PROBE_full__done)) {
        return true;
    }
    if (!recording->pause) {
        code = sqlite3_prepare_v2(recording->db, "SELECT * FROM pause WHERE event = ?", -1, &recording->pause, NULL);
    }
    if (code == SQLITE_OK) {
        sqlite3_bind_int64(recording->pause, 1, key);
        code = sqlite3_step(recording->pause);
    }
    if (code == SQLITE_ROW) {
        event->has_pause = 1;
        uint64_t ns = event->probe == EDEN_PROBE_full__done ? EDEN_ARG(event->arg, full__done, duration)
                                                            : EDEN_ARG(event->arg, scavenge__done, duration);
        reading_pause_time(&event->pause, recording->pause, "", ns);
    }
    bool good = code == SQLITE_ROW || code == SQLITE_DONE || reading_fail_sql(recording, "table pause", why);
    sqlite3_reset(recording->pause);
    return good;
}

static bool wanted(const uint64_t *probes, uint64_t probe) {
    return !probes || (probe < EDEN_PROBE_COUNT && probes[probe / 64] >> probe % 64 & 1);
}

/* Fills events with the next that are wanted; *count of them. *key is the last one read; *end: no more rows. */
static bool read_portion(struct recording *recording, sqlite3_stmt *row, const uint64_t *probes,
                         struct read_event *events, size_t *count, sqlite3_int64 *key, bool *end, struct failure *why) {
    bool good = true;
    size_t rows = 0;
    int code = SQLITE_ROW;
    *count = 0;
    sqlite3_bind_int64(row, 1, *key);
    while (good && code == SQLITE_ROW) {
        code = sqlite3_step(row);
        if (code == SQLITE_ROW) {
            rows++;
            good = sqlite3_column_int64(row, 0) > *key || reading_fail_damaged(recording, "table event", why);
            *key = sqlite3_column_int64(row, 0);
            if (good && wanted(probes, reading_number(row, 4))) {
                struct read_event *event = &events[(*count)++];
                decode_event(recording, row, event);
                good = read_pause(recording, *key, &event->event, why);
            }
        }
    }
    if (good && code != SQLITE_DONE) {
        good = reading_fail_sql(recording, "table event", why);
    }
    sqlite3_reset(row);
    *end = rows < PORTION;
    return good;
}

bool recording_events(struct recording *recording, const uint64_t *probes, recording_event_fn on_event, void *context,
                      struct failure *why) {
    struct read_event *events = calloc(PORTION, sizeof *events);
    sqlite3_stmt *row = NULL;
    if (!events) {
        return reading_fail_memory(recording, why);
    }
    char sql[240];
    snprintf(sql, sizeof sql,
             "SELECT event, time_ns, process, tid, probe, heap_id, args, heap, a1, a2, a3, a4, a5, a6, a7, a8, a9, a10,"
             " a11, text0, text1, %s FROM event WHERE event > ? ORDER BY event LIMIT ?",
             reading_serial_column(recording, "event"));
    bool good = reading_processes(recording, NULL, why);
    if (good && sqlite3_prepare_v2(recording->db, sql, -1, &row, NULL) != SQLITE_OK) {
        good = reading_fail_sql(recording, "table event", why);
    }
    sqlite3_bind_int64(row, 2, PORTION);
    sqlite3_int64 key = INT64_MIN;
    bool end = false, go_on = true;
    for (uint64_t rows = PORTION; good && go_on && !end; rows += PORTION) {
        size_t count;
        /* A recorder that is at work may have written new processes with these events. */
        good = !recording->info.live || reading_processes(recording, NULL, why);
        good = good && read_portion(recording, row, probes, events, &count, &key, &end, why);
        for (size_t i = 0; good && go_on && i < count; i++) {
            go_on = on_event(context, &events[i].event, events[i].heap_id);
        }
        if (good && go_on && !end) {
            reading_progress(recording, rows, recording->info.live ? 0 : recording->info.events, "events");
        }
    }
    sqlite3_finalize(row);
    free(events);
    return good;
}
