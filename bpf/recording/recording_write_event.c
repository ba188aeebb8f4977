/* Rows of events.
 *
 * Events are in the file in order of time: each batch is sorted, and the key of table event is the time, moved on by as
 * many nanoseconds as others have the same. So readers need no sorting and no index, and can read in small portions
 * that don't keep the recorder waiting.
 *
 * Addresses of heaps come again in one process, so each event is marked with the heap_id that its address meant then:
 * known from heap__create, or for heaps older than the recording from the model. */
#include "recording/recorder.h"
#include <stdlib.h>

struct live_heap *recorder_live_heap(struct recorder *recorder, const struct process_key *process, uint64_t address) {
    for (size_t i = recorder->heap_count; i > 0; i--) {
        struct live_heap *heap = &recorder->heaps[i - 1];
        if (heap->address == address && recorder_same_process(&heap->process, process)) {
            return heap;
        }
    }
    return NULL;
}

bool recorder_heap_begins(struct recorder *recorder, const struct process_key *process, uint64_t address, uint64_t id) {
    struct live_heap *heap = recorder_live_heap(recorder, process, address);
    if (!heap) {
        struct live_heap *more = reallocarray(recorder->heaps, recorder->heap_count + 1, sizeof *recorder->heaps);
        if (!more) {
            return false;
        }
        recorder->heaps = more;
        heap = &more[recorder->heap_count++];
    }
    *heap = (struct live_heap){*process, address, id};
    return true;
}

uint64_t recorder_heap_of(struct recorder *recorder, const struct event *event) {
    const struct live_heap *heap = recorder_live_heap(recorder, &event->process, event_heap(event));
    return heap ? heap->id : 0;
}

static int by_time(const void *left, const void *right) {
    const struct pending *a = left, *b = right;
    if (a->event.time_ns != b->event.time_ns) {
        return a->event.time_ns < b->event.time_ns ? -1 : 1;
    }
    return a->order < b->order ? -1 : 1;
}

static int write_event(struct recorder *recorder, const struct pending *pending, size_t process) {
    const struct event *event = &pending->event;
    sqlite3_stmt *to = recorder->event;
    recorder_bind(to, 2, event->time_ns);
    recorder_bind(to, 3, process);
    recorder_bind(to, 4, event->tid);
    recorder_bind(to, 5, event->probe);
    recorder_bind(to, 6, pending->heap_id);
    recorder_bind(to, 7, event->args);
    for (int i = 0; i < EDEN_PROBE_MAX_ARGS; i++) {
        if (i < event->args) {
            recorder_bind(to, 8 + i, event->arg[i]);
        } else {
            sqlite3_bind_null(to, 8 + i);
        }
    }
    for (int i = 0; i < EVENT_TEXTS; i++) {
        if (event->text[i][0]) {
            recorder_bind_text(to, 8 + EDEN_PROBE_MAX_ARGS + i, event->text[i], EVENT_TEXT - 1);
        } else {
            sqlite3_bind_null(to, 8 + EDEN_PROBE_MAX_ARGS + i);
        }
    }
    /* Not before any that is written, as nearly all are: the next free key is known. Else it is looked for from the
     * event's time on. */
    uint64_t key = event->time_ns < INT64_MAX / 2 ? event->time_ns : INT64_MAX / 2;
    bool late = key < recorder->last_time;
    if (!late) {
        recorder->last_time = key;
        key = key > recorder->last_key ? key : recorder->last_key + 1;
    }
    int code;
    do {
        recorder_bind(to, 1, key);
        code = sql_step(to);
        key++;
    } while (code == SQLITE_CONSTRAINT && late);
    if (code == SQLITE_OK && key - 1 > recorder->last_key) {
        recorder->last_key = key - 1;
    }
    return code;
}

/* Names and parameters go to tables of their own besides. */
static int write_name(struct recorder *recorder, const struct pending *pending, size_t process) {
    const struct event *event = &pending->event;
    sqlite3_stmt *to;
    if (event->probe == EDEN_PROBE_class__define) {
        to = recorder->class;
        recorder_bind(to, 4, EDEN_ARG(event->arg, class__define, class_id));
        recorder_bind_text(to, 5, event->text[0], EVENT_TEXT - 1);
        if (event_of_class(event) != 0) {
            recorder_bind(to, 6, event_of_class(event));
        } else {
            sqlite3_bind_null(to, 6);
        }
    } else if (event->probe == EDEN_PROBE_param__set) {
        to = recorder->parameter;
        recorder_bind_text(to, 4, event->text[0], EVENT_TEXT - 1);
        recorder_bind_text(to, 5, event->text[1], EVENT_TEXT - 1);
    } else {
        return SQLITE_OK;
    }
    recorder_bind(to, 1, process);
    recorder_bind(to, 2, event_heap(event));
    recorder_bind(to, 3, pending->heap_id);
    return sql_step(to);
}

int recorder_write_events(struct recorder *recorder, size_t count) {
    bool sorted = true;
    for (size_t i = 1; i < recorder->pending_count && sorted; i++) {
        sorted = recorder->pending[i - 1].event.time_ns <= recorder->pending[i].event.time_ns;
    }
    if (!sorted) {
        qsort(recorder->pending, recorder->pending_count, sizeof *recorder->pending, by_time);
    }
    int code = SQLITE_OK;
    for (size_t i = 0; i < count && code == SQLITE_OK; i++) {
        const struct pending *pending = &recorder->pending[i];
        size_t process;
        code = recorder_mention_process(recorder, &pending->event.process, &process);
        code = code == SQLITE_OK ? write_event(recorder, pending, process) : code;
        code = code == SQLITE_OK ? write_name(recorder, pending, process) : code;
    }
    return code;
}
