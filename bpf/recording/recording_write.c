/* Writing a recording: gathering events, and transactions.
 *
 * 1. Purpose
 * The kernel's ring buffer is drained as fast as a collection that moves a million objects fills it. A killed recorder
 * loses at most the events of its last 250 ms.
 *
 * 2. Terms
 * Pending: events and batches in memory that are not committed yet. Cut: why a recording ends early (enum
 * recording_cut).
 *
 * 3. Algorithm
 * recorder_add and recorder_add_batch copy into memory, fifteen times faster than writing. Between drains,
 * recorder_write commits up to RECORDER_BATCH events, once that many are pending or BATCH_AGE_NS has passed.
 * recorder_commit adds the model: a heap's rows are rewritten if their fingerprint has changed.
 *
 * 4. Invariants
 * I1. The journal has content during a transaction only. So a killed recorder leaves its last commit, or that commit
 *     with a hot journal, which the next reader undoes (recording_file.c).
 * I2. After a failed write nothing more is taken (`failed`), and what was committed stays. The row that says why exists
 *     from the beginning, so it needs no new page.
 * I3. A reader's lock is no failure, since anybody who may read can hold one: events wait in memory. Beyond WAIT_MOST
 *     events or BATCHES_MOST bytes they are counted as lost.
 * I4. While another file is to stay at the path, nothing is committed before the first heap, event or batch. The
 *     transaction with that publishes the recording, if it succeeds.
 * I5. A transaction waits BUSY_MS for a lock, and then not again while the lock stays, so that drains continue. Only
 *     the end waits: FINISH_TRIES times FINISH_MS.
 *
 * 5. Failure
 * A full disk, quota or size limit. Before each transaction the file system is asked for room (recorder_has_room). */
#include "recording/recorder.h"
#include "util/array.h"
#include "util/clock.h"
#include "util/format.h"
#include "util/hash.h"
#include "util/message.h"
#include "util/room.h"
#include <errno.h>
#include <search.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum {
    BATCHES_DUE = 8 << 20,    /* bytes that wait: they are to be written before more are taken */
    BATCHES_MOST = 512 << 20, /* where a reader holds the file */
    MOST_LIVE = 1 << 18,      /* heaps whose addresses are looked for */
    LEAST_LIVE = 64,          /* of each process */
};

/* Rows of processes, heaps, phases and histograms: what the model says as of now.
 *
 * A commit comes four times a second, and of many heaps few have changed: a fingerprint of each heap's rows shows
 * which. A changed heap is rewritten with all its phases. */

static int compare(uint64_t left, uint64_t right) { return (left > right) - (left < right); }

/* Of what begins with a key. */
static int by_process(const void *left, const void *right) {
    const struct process_key *a = left, *b = right;
    int pid = compare(a->pid, b->pid);
    return pid ? pid : compare(a->start_ns, b->start_ns);
}

/* Finds or adds; NULL: no memory. */
static struct known_process *recorder_process(struct recorder *recorder, const struct process_key *key) {
    struct known_process *const *found = tfind(key, &recorder->known, by_process);
    if (found) {
        return *found;
    }
    struct known_process *added = malloc(sizeof *added);
    if (!added || !array_grow(&recorder->processes, &recorder->process_room, recorder->process_count, sizeof(void *))) {
        free(added);
        return NULL;
    }
    *added = (struct known_process){.key = *key, .number = recorder->process_count + 1};
    if (!tsearch(added, &recorder->known, by_process)) {
        free(added);
        return NULL;
    }
    recorder->processes[recorder->process_count++] = added;
    return added;
}

/* The number of a process in the file, from 1; 0: no memory. */
static size_t recorder_process_number(struct recorder *recorder, const struct process_key *key) {
    const struct known_process *process = recorder_process(recorder, key);
    return process ? process->number : 0;
}

/* Hashes show whether a row must be rewritten. */
static uint64_t hash_text(uint64_t hash, const char *text, size_t most) {
    for (size_t i = 0; i < most && text[i]; i++) {
        hash = hash_add(hash, (unsigned char)text[i]);
    }
    return hash_add(hash, 0);
}

/* process NULL: no more is known than that it exists. */
static int recorder_write_process(struct recorder *recorder, size_t number, const struct process_model *process) {
    struct known_process *known = recorder->processes[number - 1];
    uint64_t hash = 1;
    if (process) {
        hash =
            hash_add(hash_text(2, process->command, sizeof process->command), process->late + 2u * process->ended) | 1;
    }
    if (known->written == hash) {
        return SQLITE_OK;
    }
    sqlite3_stmt *to = recorder->process;
    recorder_bind(to, 1, number);
    recorder_bind(to, 2, known->key.pid);
    recorder_bind(to, 3, known->key.start_ns);
    recorder_bind_text(to, 4, process ? process->command : "", sizeof process->command);
    recorder_bind_text(to, 5, process && process->runtime ? process->runtime : "eden", 64);
    recorder_bind(to, 6, process ? process->late : 0);
    recorder_bind(to, 7, process ? process->ended : 0);
    int code = sql_step(to);
    if (code == SQLITE_OK) {
        known->written = hash;
    }
    return code;
}

/* The same, with a row of its own from now on. */
static int recorder_mention_process(struct recorder *recorder, const struct process_key *key, size_t *number) {
    *number = recorder_process_number(recorder, key);
    if (*number == 0) {
        return SQLITE_NOMEM;
    }
    return recorder->processes[*number - 1]->written == 0 ? recorder_write_process(recorder, *number, NULL) : SQLITE_OK;
}

static uint64_t heap_fingerprint(const struct heap_model *heap, size_t process) {
    uint64_t hash = hash_add(hash_add(hash_add(process, heap->address), heap->id),
                             heap->late + 2u * heap->destroyed + 4u * heap->is_former + 8u * (unsigned)heap->earlier);
    hash = hash_add(hash, heap->serial);
    hash = hash_text(hash, heap->command, sizeof heap->command);
    hash = hash_add(hash_text(hash, heap->name, sizeof heap->name), heap->known);
    for (int i = 0; i < EDEN_FIGURE_COUNT; i++) {
        hash = hash_add(hash_add(hash, heap->figures[i]), heap->before[i]);
    }
    for (int i = 0; i < EDEN_FULL_CAUSES; i++) {
        hash = hash_add(hash_add(hash, heap->full_by_cause[i]), heap->full_by_cause_before[i]);
    }
    const struct collection_model *collection = &heap->collection;
    hash = hash_add(hash_add(hash, collection->known + 2u * collection->under_way), collection->phase);
    hash = hash_add(hash_add(hash, collection->since_ns), collection->phase_since_ns);
    hash = hash_add(hash_add(hash, collection->until_ns), collection->observed_ns);
    hash = hash_add(hash_add(hash, heap->stopped_known), heap->stopped_ns);
    for (int i = 0; i < EDEN_PHASE_COUNT; i++) {
        const struct phase_model *phase = heap->phase[i];
        if (phase) {
            hash = hash_add(hash_add(hash_add(hash, (uint64_t)i), phase->calls), phase->total_ns);
            hash = hash_add(hash_add(hash_add(hash_add(hash, phase->max_ns), phase->objects), phase->bytes),
                            phase->outside_ns);
            hash = hash_add(hash_add(hash, pause_time_ns(&phase->pauses)), pause_time_ns(&phase->longest));
        }
    }
    return hash | 1;
}

static void bind_cause(sqlite3_stmt *to, int column, const struct pause_time *time, int cause) {
    if (pause_time_is_measured(time, cause)) {
        recorder_bind(to, column, time->ns[cause]);
    } else {
        sqlite3_bind_null(to, column);
    }
}

/* Each figure of all calls, and of the longest. */
static void bind_pauses(sqlite3_stmt *to, int column, const struct phase_model *phase) {
    const struct pause_time *all = &phase->pauses, *longest = &phase->longest;
    for (int i = 0; i < PAUSE_CAUSES; i++) {
        bind_cause(to, column++, all, i);
        bind_cause(to, column++, longest, i);
    }
    recorder_bind(to, column++, all->faults);
    recorder_bind(to, column++, longest->faults);
    recorder_bind(to, column++, all->disk_faults);
    recorder_bind(to, column, longest->disk_faults);
}

static int write_phase(struct recorder *recorder, size_t number, enum eden_phase id, const struct phase_model *phase) {
    sqlite3_stmt *to = recorder->phase;
    recorder_bind(to, 1, number);
    recorder_bind_text(to, 2, phase_names[id], 64);
    recorder_bind(to, 3, phase->calls);
    recorder_bind(to, 4, phase->total_ns);
    recorder_bind(to, 5, phase->max_ns);
    recorder_bind(to, 6, phase->objects);
    recorder_bind(to, 7, phase->bytes);
    recorder_bind(to, 8, phase->outside_ns);
    bind_pauses(to, 9, phase);
    int code = sql_step(to);
    to = recorder->bucket;
    recorder_bind(to, 1, number);
    recorder_bind_text(to, 2, phase_names[id], 64);
    for (uint32_t i = 0; i < HISTOGRAM_BUCKETS && code == SQLITE_OK; i++) {
        if (phase->buckets[i] == 0) {
            continue;
        }
        recorder_bind(to, 3, i);
        recorder_bind(to, 4, i == 0 ? 0 : histogram_upper(i - 1) + 1);
        if (i < HISTOGRAM_BUCKETS - 1) {
            recorder_bind(to, 5, histogram_upper(i));
        } else {
            sqlite3_bind_null(to, 5);
        }
        recorder_bind(to, 6, phase->buckets[i]);
        code = sql_step(to);
    }
    return code;
}

static int forget_heap(struct recorder *recorder, size_t number) {
    sqlite3_stmt *const all[] = {recorder->forget_heap, recorder->forget_phases, recorder->forget_buckets};
    int code = SQLITE_OK;
    for (size_t i = 0; i < sizeof all / sizeof all[0] && code == SQLITE_OK; i++) {
        recorder_bind(all[i], 1, number);
        code = sql_step(all[i]);
    }
    return code;
}

static void bind_if(sqlite3_stmt *to, int place, bool known, uint64_t value) {
    if (known) {
        recorder_bind(to, place, value);
    } else {
        sqlite3_bind_null(to, place);
    }
}

static void bind_collection(sqlite3_stmt *to, int place, const struct heap_model *heap) {
    const struct collection_model *collection = &heap->collection;
    bool under_way = collection->known && collection->under_way;
    bind_if(to, place, heap->stopped_known, heap->stopped_ns);
    if (collection->known) {
        recorder_bind_text(to, place + 1, under_way ? phase_names[collection->phase] : "", 64);
    } else {
        sqlite3_bind_null(to, place + 1);
    }
    bind_if(to, place + 2, under_way && collection->since_ns, collection->since_ns);
    bind_if(to, place + 3, under_way && collection->phase_since_ns, collection->phase_since_ns);
    bind_if(to, place + 4, under_way, collection->until_ns);
    bind_if(to, place + 5, under_way, collection->observed_ns);
}

static int write_heap(struct recorder *recorder, size_t number, size_t process, const struct heap_model *heap) {
    sqlite3_stmt *to = recorder->heap;
    int code = forget_heap(recorder, number);
    if (code != SQLITE_OK) {
        return code;
    }
    recorder_bind(to, 1, number);
    recorder_bind(to, 2, process);
    recorder_bind(to, 3, heap->address);
    recorder_bind(to, 4, heap->id);
    recorder_bind_text(to, 5, heap->name, sizeof heap->name);
    recorder_bind(to, 6, heap->late);
    recorder_bind(to, 7, heap_is_complete(heap));
    int place = 8;
    for (int before = 0; before <= 1; before++) {
        const uint64_t *figures = before ? heap->before : heap->figures;
        const uint64_t *by_cause = before ? heap->full_by_cause_before : heap->full_by_cause;
        for (int i = 0; i < EDEN_FIGURE_COUNT; i++, place++) {
            bool is_known = before ? heap->earlier != EARLIER_UNKNOWN : heap->known >> i & 1;
            bind_if(to, place, is_known, figures[i]);
        }
        for (int i = 0; i < EDEN_FULL_CAUSES; i++, place++) {
            bind_if(to, place, !before || heap->earlier != EARLIER_UNKNOWN, by_cause[i]);
        }
    }
    bind_collection(to, place, heap);
    recorder_bind(to, place + 6, heap->is_former);
    recorder_bind_text(to, place + 7, heap->is_former ? heap->command : "", sizeof heap->command);
    recorder_bind_text(to, place + 8, earlier_names[heap->earlier], 16);
    recorder_bind(to, place + 9, heap->serial);
    code = sql_step(to);
    for (int i = 0; i < EDEN_PHASE_COUNT && code == SQLITE_OK; i++) {
        if (heap->phase[i]) {
            code = write_phase(recorder, number, (enum eden_phase)i, heap->phase[i]);
        }
    }
    return code;
}

enum { MOST_CUT = 100, OTHERS = 0 }; /* processes whose losses are listed; the others are process 0 */

static int write_losses(struct recorder *recorder, size_t process, const struct model_losses *lost) {
    char key[48];
    snprintf(key, sizeof key, "lost_heaps:%zu", process);
    int code = recorder_write_meta(recorder, key, lost->heaps);
    snprintf(key, sizeof key, "lost_hits:%zu", process);
    code = code == SQLITE_OK ? recorder_write_meta(recorder, key, lost->hits) : code;
    snprintf(key, sizeof key, "lost_events:%zu", process);
    return code == SQLITE_OK ? recorder_write_meta(recorder, key, lost->events) : code;
}

/* Anew each time: what was others' may have become a process's, and the other way round. */
static int write_all_losses(struct recorder *recorder, const struct model *model) {
    size_t cut = 0;
    struct model_losses others = model->others;
    int code = sql_run(recorder->db, "DELETE FROM meta WHERE key GLOB 'lost_*:*'");
    for (size_t i = 0; i < model->process_count && code == SQLITE_OK; i++) {
        const struct process_model *process = &model->processes[i];
        if (model_has_lost(&process->lost) && cut++ < MOST_CUT) {
            code = write_losses(recorder, recorder_process_number(recorder, &process->key), &process->lost);
        } else {
            model_add_losses(&others, &process->lost);
        }
    }
    return code == SQLITE_OK && model_has_lost(&others) ? write_losses(recorder, OTHERS, &others) : code;
}

/* Heaps that are as they were written last are left alone; the others are written anew. */
static int recorder_write_model(struct recorder *recorder, const struct model *model) {
    size_t count = model_heap_count(model);
    if (count > recorder->written_count) {
        uint64_t *more = reallocarray(recorder->written, count, sizeof *more);
        if (!more) {
            return SQLITE_NOMEM;
        }
        memset(more + recorder->written_count, 0, (count - recorder->written_count) * sizeof *more);
        recorder->written = more;
    }
    size_t number = 0;
    int code = SQLITE_OK;
    for (size_t i = 0; i < model->process_count && code == SQLITE_OK; i++) {
        const struct process_model *process = &model->processes[i];
        size_t process_place = recorder_process_number(recorder, &process->key);
        code = process_place ? recorder_write_process(recorder, process_place, process) : SQLITE_NOMEM;
        for (size_t j = 0; j < process->heap_count && code == SQLITE_OK; j++, number++) {
            uint64_t now = heap_fingerprint(&process->heaps[j], process_place);
            if (recorder->written[number] != now) {
                code = write_heap(recorder, number + 1, process_place, &process->heaps[j]);
                recorder->written[number] = now;
            }
        }
    }
    for (size_t i = recorder->written_count; i > count && code == SQLITE_OK; i--) {
        code = forget_heap(recorder, i);
    }
    recorder->written_count = count;
    code = code == SQLITE_OK ? recorder_write_meta(recorder, "wall_ns", model->wall_ns) : code;
    if (code == SQLITE_OK && model->has_status) {
        code = recorder_write_meta(recorder, "status", (uint64_t)model->status);
    }
    code = code == SQLITE_OK ? write_all_losses(recorder, model) : code;
    code = code == SQLITE_OK ? recorder_write_meta(recorder, "missed_children", model->missed_children) : code;
    code = code == SQLITE_OK ? recorder_write_meta(recorder, "uncounted", model->uncounted) : code;
    code = code == SQLITE_OK
               ? recorder_write_meta(recorder, "lost_records", model->lost_records + recorder->dropped_records)
               : code;
    return code == SQLITE_OK ? recorder_write_meta(recorder, "lost", model->lost + recorder->dropped) : code;
}

/* After a rollback the file says less than we remember: all of the model is written again. */
static void recorder_forget_written(struct recorder *recorder) {
    for (size_t i = 0; i < recorder->process_count; i++) {
        recorder->processes[i]->written = 0;
    }
    for (size_t i = 0; i < recorder->written_count; i++) {
        recorder->written[i] = 0;
    }
}

/* Rows of events.
 *
 * Events are in the file in order of time: those in memory are sorted, and the key of table event is the time, moved on
 * by as many nanoseconds as others have the same. So readers need no sorting and no index, and can read in small
 * portions that don't keep the recorder waiting.
 *
 * Addresses of heaps come again in one process, so each event is marked with the heap_id of its heap: known from
 * heap__create, or for heaps older than the recording from the model. Heaps are looked for by process, and forgotten
 * with it: a flood of heaps costs others' events nothing. */

static int by_address(const void *left, const void *right) {
    const struct live_heap *a = left, *b = right;
    int address = compare(a->address, b->address);
    return address ? address : compare(a->serial, b->serial);
}

/* NULL: none of its heaps is known. */
static struct live_process *live_process(const struct recorder *recorder, const struct process_key *key) {
    struct live_process *const *found = tfind(key, &recorder->live, by_process);
    return found ? *found : NULL;
}

/* NULL: not known. */
static struct live_heap *live_heap(const struct live_process *process, uint64_t address, uint64_t serial) {
    const struct live_heap key = {.address = address, .serial = serial};
    struct live_heap *const *found = process ? tfind(&key, &process->heaps, by_address) : NULL;
    return found ? *found : NULL;
}

/* False: no memory. */
static bool add_live_heap(struct recorder *recorder, struct live_process *process, struct heap_ref ref) {
    struct live_heap *heap = malloc(sizeof *heap);
    if (!heap) {
        return false;
    }
    *heap = (struct live_heap){ref.address, ref.id, ref.serial};
    if (!tsearch(heap, &process->heaps, by_address)) {
        free(heap);
        return false;
    }
    process->heap_count++;
    recorder->live_heaps++;
    return true;
}

/* Finds or adds; NULL: no memory. */
static struct live_process *begin_process(struct recorder *recorder, const struct process_key *key) {
    struct live_process *process = live_process(recorder, key);
    if (process) {
        return process;
    }
    process = calloc(1, sizeof *process);
    if (process) {
        process->key = *key;
    }
    if (process && !tsearch(process, &recorder->live, by_process)) {
        free(process);
        return NULL;
    }
    return process;
}

/* Remembers that this address and serial mean this heap from now on, if the process has a share left: one alone leaves
 * as much to others as it has, and each has LEAST_LIVE. False: no memory. */
static bool recorder_heap_begins(struct recorder *recorder, const struct process_key *key, struct heap_ref ref) {
    struct live_process *process = begin_process(recorder, key);
    struct live_heap *heap = live_heap(process, ref.address, ref.serial);
    if (heap) {
        heap->id = ref.id;
        return true;
    }
    bool has_share =
        process && (process->heap_count < LEAST_LIVE ||
                    (recorder->live_heaps < MOST_LIVE && process->heap_count < MOST_LIVE - recorder->live_heaps));
    return process && (!has_share || add_live_heap(recorder, process, ref));
}

static void heap_ends(struct recorder *recorder, const struct event *event) {
    struct live_process *process = live_process(recorder, &event->process);
    struct live_heap *heap = live_heap(process, event_heap(event), event->serial);
    if (heap) {
        tdelete(heap, &process->heaps, by_address);
        free(heap);
        process->heap_count--;
        recorder->live_heaps--;
    }
}

/* its id; 0: not known */
static uint64_t recorder_heap_of(const struct recorder *recorder, const struct event *event) {
    const struct live_heap *heap = live_heap(live_process(recorder, &event->process), event_heap(event), event->serial);
    return heap ? heap->id : 0;
}

static void free_live(void *freed) {
    struct live_process *process = freed;
    tdestroy(process->heaps, free);
    free(process);
}

/* Forgets the heaps of processes that have ended. Their last events are in the buffers for a few commits. */
static void forget_ended(struct recorder *recorder, const struct model *model) {
    enum { LAST_COMMITS = 4 };
    for (size_t i = 0; i < model->process_count; i++) {
        const struct process_model *ended = &model->processes[i];
        struct live_process *process = ended->ended ? live_process(recorder, &ended->key) : NULL;
        struct known_process *known = process ? recorder_process(recorder, &ended->key) : NULL;
        if (known && ++process->ended_commits >= LAST_COMMITS) {
            known->is_forgotten = true;
            recorder->live_heaps -= process->heap_count;
            tdelete(process, &recorder->live, by_process);
            free_live(process);
        }
    }
}

static void leave(void *node) { (void)node; }

void recorder_forget_processes(struct recorder *recorder) {
    tdestroy(recorder->live, free_live);
    tdestroy(recorder->known, leave);
    for (size_t i = 0; i < recorder->process_count; i++) {
        free(recorder->processes[i]);
    }
    free(recorder->processes);
}

static int write_pause(struct recorder *recorder, uint64_t event, const struct pause_time *pause) {
    sqlite3_stmt *to = recorder->pause;
    recorder_bind(to, 1, event);
    for (int i = 0; i < PAUSE_CAUSES; i++) {
        bind_cause(to, 2 + i, pause, i);
    }
    recorder_bind(to, 2 + PAUSE_CAUSES, pause->faults);
    recorder_bind(to, 3 + PAUSE_CAUSES, pause->disk_faults);
    return sql_step(to);
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
        if (!event->has_pause && event->text[i][0]) {
            recorder_bind_text(to, 8 + EDEN_PROBE_MAX_ARGS + i, event->text[i], EVENT_TEXT - 1);
        } else {
            sqlite3_bind_null(to, 8 + EDEN_PROBE_MAX_ARGS + i);
        }
    }
    recorder_bind(to, 8 + EDEN_PROBE_MAX_ARGS + EVENT_TEXTS, event->serial);
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
    return code == SQLITE_OK && event->has_pause ? write_pause(recorder, key - 1, &event->pause) : code;
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
        recorder_bind(to, 7, event->serial);
    } else if (event->probe == EDEN_PROBE_param__set) {
        to = recorder->parameter;
        recorder_bind_text(to, 4, event->text[0], EVENT_TEXT - 1);
        recorder_bind_text(to, 5, event->text[1], EVENT_TEXT - 1);
        recorder_bind(to, 6, event->serial);
    } else {
        return SQLITE_OK;
    }
    recorder_bind(to, 1, process);
    recorder_bind(to, 2, event_heap(event));
    recorder_bind(to, 3, pending->heap_id);
    return sql_step(to);
}

/* the first of the pending, by time */
static int recorder_write_events(struct recorder *recorder, size_t count) {
    int code = SQLITE_OK;
    for (size_t i = 0; i < count && code == SQLITE_OK; i++) {
        const struct pending *pending = &recorder->pending[recorder->pending_first + i];
        size_t process;
        code = recorder_mention_process(recorder, &pending->event.process, &process);
        code = code == SQLITE_OK ? write_event(recorder, pending, process) : code;
        code = code == SQLITE_OK ? write_name(recorder, pending, process) : code;
    }
    return code;
}

/* Rows of batches of lifetimes: each as the probe handed it over, its records as one blob.
 *
 * Nothing is looked into: a program that is followed object by object sends faster than anybody could add up, and a
 * batch of a kind that this version does not know is of use to the next. */

static int write_batch(struct recorder *recorder, const struct life_batch *batch, const uint8_t *records) {
    size_t process;
    int code = recorder_mention_process(recorder, &batch->process, &process);
    sqlite3_stmt *to = recorder->batch;
    recorder_bind(to, 1, batch->time_ns);
    recorder_bind(to, 2, process);
    recorder_bind(to, 3, batch->address);
    recorder_bind(to, 4, batch->id);
    recorder_bind(to, 5, batch->kind);
    recorder_bind(to, 6, batch->count);
    recorder_bind(to, 7, batch->record_bytes);
    sqlite3_bind_blob(to, 8, records, (int)(batch->count * batch->record_bytes), SQLITE_STATIC);
    recorder_bind(to, 9, batch->serial);
    return code == SQLITE_OK ? sql_step(to) : code;
}

/* all that wait; how many */
static int recorder_write_batches(struct recorder *recorder, uint64_t *count) {
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
    recorder->cut = cut;
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

void recorder_began(struct recorder *recorder, uint64_t mono_ns) {
    recorder->mono_ns = mono_ns;
    recorder->start_ns = clock_ns(CLOCK_REALTIME) - (now_ns() - mono_ns);
}

static int write_began(struct recorder *recorder) {
    int code = recorder_write_meta(recorder, "start_ns", recorder->start_ns);
    return code == SQLITE_OK ? recorder_write_meta(recorder, "mono_ns", recorder->mono_ns) : code;
}

/* The oldest pending events, at most a batch of them, all batches of lifetimes, and the model where one is given. */
static int write_all(struct recorder *recorder, size_t count, uint64_t *batches, const struct model *model,
                     bool finished) {
    int code = sql_run(recorder->db, "BEGIN IMMEDIATE");
    code = code == SQLITE_OK && recorder->mono_ns ? write_began(recorder) : code;
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

/* Whether there is a heap, an event or a batch to write. */
static bool has_content(const struct recorder *recorder, const struct model *model) {
    return recorder->pending_count != 0 || recorder->batches.bytes != 0 || (model && model_heap_count(model) != 0);
}

/* The others are moved only once as many are written: a backlog takes many transactions. */
static void drop_written(struct recorder *recorder, size_t count) {
    struct pending *pending = recorder->pending;
    recorder->pending_first += count;
    recorder->pending_count -= count;
    if (count != 0 && recorder->pending_count <= recorder->pending_first) {
        memcpy(pending, pending + recorder->pending_first, recorder->pending_count * sizeof *pending);
        recorder->pending_first = 0;
    }
}

/* One transaction. True also where a reader holds the file: then *busy, and all of it is still to be written. */
static bool transact(struct recorder *recorder, const struct model *model, bool finished, bool *busy,
                     struct failure *why) {
    uint64_t last_key = recorder->last_key, last_time = recorder->last_time;
    size_t count = recorder->pending_count < RECORDER_BATCH ? recorder->pending_count : RECORDER_BATCH;
    uint64_t batches = 0;
    if (!recorder->published && !has_content(recorder, model)) {
        *busy = false;
        return true;
    }
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
    if (code == SQLITE_OK && !recorder->published && !recorder_put_in_place(recorder, &recorder->why)) {
        return give_up(recorder, CUT_FAILED, why);
    }
    if (code == SQLITE_OK) {
        recorder->busy_since_ns = 0;
        recorder->is_lock_named = false;
        drop_written(recorder, count);
        recorder->written_events += count;
        recorder->written_batches += batches;
        recorder->written_models += model != NULL;
        recorder->batches.bytes = 0;
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

void recorder_report_lock(struct recorder *recorder) {
    char text[64];
    if (recorder->is_lock_named || recorder->busy_since_ns == 0 || now_ns() - recorder->busy_since_ns < LOCKED_NS) {
        return;
    }
    recorder->is_lock_named = true;
    message_few(&recorder->locks, "%.200s: %s holds a lock on it, so nothing can be written: %s", recorder->path,
                holder_text(recorder, text),
                recorder->is_finishing ? "the last events are lost unless that ends within 10 s"
                                       : "new events wait in memory, and are counted as lost when it is full");
}

static bool keep_event(struct recorder *recorder, const struct event *event) {
    struct pending *pending = array_grow(&recorder->pending, &recorder->pending_room,
                                         recorder->pending_first + recorder->pending_count, sizeof *pending);
    if (!pending) {
        return false;
    }
    /* Those of several processors come in nearly the order of time. */
    size_t later = 0;
    while (later < recorder->pending_count && pending[-1].event.time_ns > event->time_ns) {
        later++;
        pending--;
    }
    memmove(pending + 1, pending, later * sizeof *pending);
    struct live_process *process = live_process(recorder, &event->process);
    const struct live_heap *heap = live_heap(process, event_heap(event), event->serial);
    if (process) {
        process->ended_commits = 0;
    }
    *pending = (struct pending){*event, heap ? heap->id : 0};
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
        !recorder_heap_begins(recorder, &event->process,
                              event_heap_ref(event, EDEN_ARG(event->arg, heap__create, heap_id)))) {
        return out_of_memory(recorder, why);
    }
    bool busy = recorder->pending_count >= WAIT_MOST;
    if (busy) {
        recorder->dropped++;
    } else if (!keep_event(recorder, event)) {
        return out_of_memory(recorder, why);
    }
    if (event->probe == EDEN_PROBE_heap__destroy) {
        heap_ends(recorder, event);
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

enum recording_cut recorder_cut(const struct recorder *recorder) { return recorder->cut; }

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
        const struct known_process *known = recorder_process(recorder, &process->key);
        if (!known) {
            return false;
        }
        for (size_t j = 0; !known->is_forgotten && j < process->heap_count; j++) {
            const struct heap_model *heap = &process->heaps[j];
            if (heap->late && !heap->destroyed && heap->id != 0 &&
                !live_heap(live_process(recorder, &process->key), heap->address, heap->serial) &&
                !recorder_heap_begins(recorder, &process->key, HEAP_REF(heap))) {
                return false;
            }
        }
    }
    for (size_t i = 0; i < recorder->pending_count; i++) {
        struct pending *pending = &recorder->pending[recorder->pending_first + i];
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
    forget_ended(recorder, model);
    bool busy = false;
    int tries = 0;
    recorder->is_finishing = finished;
    while (finished && recorder->pending_count > RECORDER_BATCH && tries < FINISH_TRIES) {
        if (!transact(recorder, NULL, false, &busy, why)) {
            return false;
        }
        tries = busy ? tries + 1 : 0;
        recorder_report_lock(recorder);
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
        recorder_report_lock(recorder);
    }
}

uint64_t recorder_event_count(const struct recorder *recorder) { return recorder->events; }

uint64_t recorder_written_count(const struct recorder *recorder) { return recorder->written_events; }

uint64_t recorder_dropped_count(const struct recorder *recorder) {
    return recorder->dropped + recorder->dropped_records;
}

uint64_t recorder_batch_count(const struct recorder *recorder) { return recorder->written_batches; }

uint64_t recorder_model_count(const struct recorder *recorder) { return recorder->written_models; }

uint64_t recorder_bytes(const struct recorder *recorder) {
    struct stat status;
    return fstat(recorder->file.file, &status) == 0 ? (uint64_t)status.st_size : 0;
}
