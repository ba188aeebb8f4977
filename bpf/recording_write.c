/* Writing a recording.
 *
 * Events are gathered in memory (a copy each, so draining the kernel's ring buffer is quick) and written in one short
 * transaction at least every 250 ms; only during that transaction is there a journal, so a recorder that is killed
 * leaves one file, or, if the kill falls into those milliseconds, that file and a journal which the next reader rolls
 * back. What a kill can cost is the events of the last 250 ms.
 *
 * The file is made under a temporary name and put in its place by recorder_publish: SQLite finds a journal by the name
 * of its file, so the connection is closed before the renaming and opened after.
 *
 * Events are in the file in order of time: each batch is sorted, and the key of table event is the time, moved on by as
 * many nanoseconds as others have the same. So readers need no sorting and no index, and can read in small portions
 * that don't keep the recorder waiting.
 *
 * Addresses of heaps come again in one process, so each event is marked with the heap_id that its address meant then:
 * known from heap__create, or for heaps older than the recording from the model.
 *
 * What can go wrong: a write fails. Then the transaction is rolled back, what was committed before stays, and the
 * recorder takes nothing more (`failed`). A reader that holds the file locked is no such failure: the batch waits. */
#include "commands.h"
#include "recording_sql.h"
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

#define NS 1000000000ull
enum {
    BATCH = 16384,       /* events that are written at once, however young */
    BATCH_MOST = 262144, /* events that wait for a reader to let go */
    BATCH_AGE_NS = 250000000,
    BUSY_MS = 200,
    FINISH_TRIES = 50,
    COMMAND_MOST = 4096,
};

struct pending {
    struct event event;
    uint64_t heap_id;
    uint64_t order;
};

struct known_process {
    struct process_key key;
    uint64_t written; /* fingerprint of what the file says; 0: nothing */
};

struct live_heap {
    struct process_key process;
    uint64_t address, id;
};

struct recorder {
    sqlite3 *db;
    sqlite3_stmt *event, *class, *parameter, *process, *heap, *phase, *bucket, *forget_phases, *forget_buckets,
        *forget_heap, *meta;
    int lock;
    bool published, failed, objects;
    char path[PATH_MAX], temporary[PATH_MAX];
    struct pending *pending;
    size_t pending_count, pending_room;
    uint64_t pending_since_ns, events, last_key;
    struct known_process *processes; /* the place in it, from 1, is column `process` */
    size_t process_count;
    struct live_heap *heaps;
    size_t heap_count;
    uint64_t *written; /* fingerprints of the model's heaps as the file has them; the place, from 1, is column `heap` */
    size_t written_count;
    struct failure why;
};

static uint64_t clock_ns(clockid_t clock) {
    struct timespec now;
    clock_gettime(clock, &now);
    return (uint64_t)now.tv_sec * NS + (uint64_t)now.tv_nsec;
}

static bool same_process(const struct process_key *a, const struct process_key *b) {
    return a->pid == b->pid && a->start_ns == b->start_ns;
}

/* Addresses and other 64-bit numbers keep their bits; SQL shows those from 2^63 on as negative. */
static void bind(sqlite3_stmt *statement, int place, uint64_t value) {
    sqlite3_bind_int64(statement, place, (sqlite3_int64)value);
}

static void bind_text(sqlite3_stmt *statement, int place, const char *text, size_t most) {
    sqlite3_bind_text(statement, place, text, (int)strnlen(text, most), SQLITE_STATIC);
}

static bool out_of_memory(struct recorder *recorder, struct failure *why) {
    recorder->failed = true;
    recording_fail(&recorder->why, "%.200s: no memory for what is recorded", recorder->path);
    *why = recorder->why;
    return false;
}

/* ---- which heap and process ------------------------------------------------------------------------------------- */

/* Its number in the file, from 1; 0: no memory. */
static size_t process_number(struct recorder *recorder, const struct process_key *key) {
    for (size_t i = recorder->process_count; i > 0; i--) {
        if (same_process(&recorder->processes[i - 1].key, key)) {
            return i;
        }
    }
    struct known_process *more =
        reallocarray(recorder->processes, recorder->process_count + 1, sizeof *recorder->processes);
    if (!more) {
        return 0;
    }
    recorder->processes = more;
    more[recorder->process_count] = (struct known_process){.key = *key};
    return ++recorder->process_count;
}

static struct live_heap *live_heap(struct recorder *recorder, const struct process_key *process, uint64_t address) {
    for (size_t i = recorder->heap_count; i > 0; i--) {
        struct live_heap *heap = &recorder->heaps[i - 1];
        if (heap->address == address && same_process(&heap->process, process)) {
            return heap;
        }
    }
    return NULL;
}

static bool heap_begins(struct recorder *recorder, const struct process_key *process, uint64_t address, uint64_t id) {
    struct live_heap *heap = live_heap(recorder, process, address);
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

static uint64_t heap_of(struct recorder *recorder, const struct event *event) {
    const struct live_heap *heap = live_heap(recorder, &event->process, event->arg[0]);
    return heap ? heap->id : 0;
}

/* ---- writing a batch of events ---------------------------------------------------------------------------------- */

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
    bind(to, 2, event->time_ns);
    bind(to, 3, process);
    bind(to, 4, event->tid);
    bind(to, 5, event->probe);
    bind(to, 6, pending->heap_id);
    bind(to, 7, event->args);
    for (int i = 0; i < EDEN_PROBE_MAX_ARGS; i++) {
        if (i < event->args) {
            bind(to, 8 + i, event->arg[i]);
        } else {
            sqlite3_bind_null(to, 8 + i);
        }
    }
    for (int i = 0; i < EVENT_TEXTS; i++) {
        if (event->text[i][0]) {
            bind_text(to, 8 + EDEN_PROBE_MAX_ARGS + i, event->text[i], EVENT_TEXT - 1);
        } else {
            sqlite3_bind_null(to, 8 + EDEN_PROBE_MAX_ARGS + i);
        }
    }
    /* Later than all before, as nearly all are: the next free key is known. Else it is looked for. */
    uint64_t key = event->time_ns < INT64_MAX / 2 ? event->time_ns : INT64_MAX / 2;
    bool late = key < recorder->last_key && recorder->last_key - key > NS / 1000000;
    if (!late && key <= recorder->last_key) {
        key = recorder->last_key + 1;
    }
    int code;
    do {
        bind(to, 1, key);
        code = sql_step(to);
        key++;
    } while (code == SQLITE_CONSTRAINT && late);
    if (code == SQLITE_OK && !late) {
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
        bind(to, 4, event->arg[1]);
        bind_text(to, 5, event->text[0], EVENT_TEXT - 1);
    } else if (event->probe == EDEN_PROBE_param__set) {
        to = recorder->parameter;
        bind_text(to, 4, event->text[0], EVENT_TEXT - 1);
        bind_text(to, 5, event->text[1], EVENT_TEXT - 1);
    } else {
        return SQLITE_OK;
    }
    bind(to, 1, process);
    bind(to, 2, event->arg[0]);
    bind(to, 3, pending->heap_id);
    return sql_step(to);
}

static int write_process(struct recorder *recorder, size_t number, const struct process_model *process);

static int write_events(struct recorder *recorder) {
    bool sorted = true;
    for (size_t i = 1; i < recorder->pending_count && sorted; i++) {
        sorted = recorder->pending[i - 1].event.time_ns <= recorder->pending[i].event.time_ns;
    }
    if (!sorted) {
        qsort(recorder->pending, recorder->pending_count, sizeof *recorder->pending, by_time);
    }
    int code = SQLITE_OK;
    for (size_t i = 0; i < recorder->pending_count && code == SQLITE_OK; i++) {
        const struct pending *pending = &recorder->pending[i];
        size_t process = process_number(recorder, &pending->event.process);
        if (process == 0) {
            return SQLITE_NOMEM;
        }
        if (recorder->processes[process - 1].written == 0) {
            code = write_process(recorder, process, NULL);
        }
        code = code == SQLITE_OK ? write_event(recorder, pending, process) : code;
        code = code == SQLITE_OK ? write_name(recorder, pending, process) : code;
    }
    return code;
}

/* ---- writing the model ------------------------------------------------------------------------------------------ */

/* FNV-1a over 64-bit words: tells whether a row must be written again. */
static uint64_t mix(uint64_t hash, uint64_t value) { return (hash ^ value) * 0x100000001b3ull; }

static uint64_t mix_text(uint64_t hash, const char *text, size_t most) {
    for (size_t i = 0; i < most && text[i]; i++) {
        hash = mix(hash, (unsigned char)text[i]);
    }
    return mix(hash, 0);
}

static int write_process(struct recorder *recorder, size_t number, const struct process_model *process) {
    struct known_process *known = &recorder->processes[number - 1];
    uint64_t hash = 1;
    if (process) {
        hash = mix(mix_text(2, process->command, sizeof process->command), process->late + 2u * process->ended) | 1;
    }
    if (known->written == hash) {
        return SQLITE_OK;
    }
    sqlite3_stmt *to = recorder->process;
    bind(to, 1, number);
    bind(to, 2, known->key.pid);
    bind(to, 3, known->key.start_ns);
    bind_text(to, 4, process ? process->command : "", sizeof process->command);
    bind_text(to, 5, process && process->runtime ? process->runtime : "eden", 64);
    bind(to, 6, process ? process->late : 0);
    bind(to, 7, process ? process->ended : 0);
    int code = sql_step(to);
    if (code == SQLITE_OK) {
        known->written = hash;
    }
    return code;
}

static uint64_t heap_fingerprint(const struct heap_model *heap, size_t process) {
    uint64_t hash = mix(mix(mix(process, heap->address), heap->id), heap->late + 2u * heap->destroyed);
    hash = mix(mix_text(hash, heap->name, sizeof heap->name), heap->known);
    for (int i = 0; i < EDEN_FIGURE_COUNT; i++) {
        hash = mix(mix(hash, heap->figures[i]), heap->before[i]);
    }
    for (int i = 0; i < EDEN_FULL_CAUSES; i++) {
        hash = mix(mix(hash, heap->full_by_cause[i]), heap->full_by_cause_before[i]);
    }
    for (int i = 0; i < EDEN_PHASE_COUNT; i++) {
        const struct phase_model *phase = heap->phase[i];
        if (phase) {
            hash = mix(mix(mix(hash, (uint64_t)i), phase->calls), phase->total_ns);
            hash = mix(mix(mix(hash, phase->max_ns), phase->objects), phase->bytes);
        }
    }
    return hash | 1;
}

static int write_phase(struct recorder *recorder, size_t number, enum eden_phase id, const struct phase_model *phase) {
    sqlite3_stmt *to = recorder->phase;
    bind(to, 1, number);
    bind_text(to, 2, phase_names[id], 64);
    bind(to, 3, phase->calls);
    bind(to, 4, phase->total_ns);
    bind(to, 5, phase->max_ns);
    bind(to, 6, phase->objects);
    bind(to, 7, phase->bytes);
    int code = sql_step(to);
    to = recorder->bucket;
    bind(to, 1, number);
    bind_text(to, 2, phase_names[id], 64);
    for (uint32_t i = 0; i < HISTOGRAM_BUCKETS && code == SQLITE_OK; i++) {
        if (phase->buckets[i] == 0) {
            continue;
        }
        bind(to, 3, i);
        bind(to, 4, i == 0 ? 0 : histogram_upper(i - 1) + 1);
        if (i < HISTOGRAM_BUCKETS - 1) {
            bind(to, 5, histogram_upper(i));
        } else {
            sqlite3_bind_null(to, 5);
        }
        bind(to, 6, phase->buckets[i]);
        code = sql_step(to);
    }
    return code;
}

static int forget_heap(struct recorder *recorder, size_t number) {
    sqlite3_stmt *const all[] = {recorder->forget_heap, recorder->forget_phases, recorder->forget_buckets};
    int code = SQLITE_OK;
    for (size_t i = 0; i < sizeof all / sizeof all[0] && code == SQLITE_OK; i++) {
        bind(all[i], 1, number);
        code = sql_step(all[i]);
    }
    return code;
}

static int write_heap(struct recorder *recorder, size_t number, size_t process, const struct heap_model *heap) {
    sqlite3_stmt *to = recorder->heap;
    int code = forget_heap(recorder, number);
    if (code != SQLITE_OK) {
        return code;
    }
    bind(to, 1, number);
    bind(to, 2, process);
    bind(to, 3, heap->address);
    bind(to, 4, heap->id);
    bind_text(to, 5, heap->name, sizeof heap->name);
    bind(to, 6, heap->late);
    bind(to, 7, heap->destroyed);
    int place = 8;
    for (int before = 0; before <= 1; before++) {
        const uint64_t *figures = before ? heap->before : heap->figures;
        const uint64_t *by_cause = before ? heap->full_by_cause_before : heap->full_by_cause;
        for (int i = 0; i < EDEN_FIGURE_COUNT; i++, place++) {
            if (before || heap->known >> i & 1) {
                bind(to, place, figures[i]);
            } else {
                sqlite3_bind_null(to, place);
            }
        }
        for (int i = 0; i < EDEN_FULL_CAUSES; i++, place++) {
            bind(to, place, by_cause[i]);
        }
    }
    code = sql_step(to);
    for (int i = 0; i < EDEN_PHASE_COUNT && code == SQLITE_OK; i++) {
        if (heap->phase[i]) {
            code = write_phase(recorder, number, (enum eden_phase)i, heap->phase[i]);
        }
    }
    return code;
}

static int write_meta(struct recorder *recorder, const char *key, uint64_t value) {
    bind_text(recorder->meta, 1, key, 64);
    bind(recorder->meta, 2, value);
    return sql_step(recorder->meta);
}

static int write_meta_text(struct recorder *recorder, const char *key, const char *value) {
    bind_text(recorder->meta, 1, key, 64);
    bind_text(recorder->meta, 2, value, COMMAND_MOST);
    return sql_step(recorder->meta);
}

/* Heaps that are as they were written last are left alone; the others are written anew. */
static int write_model(struct recorder *recorder, const struct model *model) {
    size_t count = 0;
    for (size_t i = 0; i < model->process_count; i++) {
        count += model->processes[i].heap_count;
    }
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
        size_t process_place = process_number(recorder, &process->key);
        code = process_place ? write_process(recorder, process_place, process) : SQLITE_NOMEM;
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
    code = code == SQLITE_OK ? write_meta(recorder, "wall_ns", model->wall_ns) : code;
    return code == SQLITE_OK ? write_meta(recorder, "lost", model->lost) : code;
}

/* ---- transactions ----------------------------------------------------------------------------------------------- */

/* After a rollback the file says less than we remember: everything but the events is written again. */
static void forget_written(struct recorder *recorder) {
    for (size_t i = 0; i < recorder->process_count; i++) {
        recorder->processes[i].written = 0;
    }
    for (size_t i = 0; i < recorder->written_count; i++) {
        recorder->written[i] = 0;
    }
}

static int write_all(struct recorder *recorder, const struct model *model, bool finished) {
    int code = sql_run(recorder->db, "BEGIN IMMEDIATE");
    code = code == SQLITE_OK ? write_events(recorder) : code;
    code = code == SQLITE_OK && model ? write_model(recorder, model) : code;
    code = code == SQLITE_OK ? write_meta(recorder, "events", recorder->events) : code;
    code = code == SQLITE_OK ? write_meta(recorder, "commit_ns", clock_ns(CLOCK_MONOTONIC)) : code;
    code = code == SQLITE_OK && finished ? write_meta(recorder, "finished", 1) : code;
    return code == SQLITE_OK ? sql_run(recorder->db, "COMMIT") : code;
}

/* One transaction. True also where a reader holds the file: then *busy, and all of it is still to be written. */
static bool transact(struct recorder *recorder, const struct model *model, bool finished, bool *busy,
                     struct failure *why) {
    uint64_t last_key = recorder->last_key;
    *busy = false;
    int code = write_all(recorder, model, finished);
    if (code == SQLITE_OK) {
        recorder->pending_count = 0;
        return true;
    }
    /* The reason, before rolling back replaces it. */
    struct failure reason;
    recording_fail_sql(&reason, recorder->path, "writing failed", recorder->db);
    if (!sqlite3_get_autocommit(recorder->db)) {
        sql_run(recorder->db, "ROLLBACK");
    }
    recorder->last_key = last_key;
    forget_written(recorder);
    if ((code & 0xff) == SQLITE_BUSY && recorder->pending_count < BATCH_MOST) {
        *busy = true;
        recorder->pending_since_ns = clock_ns(CLOCK_MONOTONIC);
        return true;
    }
    recorder->failed = true;
    recorder->why = reason;
    *why = reason;
    return false;
}

bool recorder_add(struct recorder *recorder, const struct event *event, struct failure *why) {
    if (recorder->failed) {
        *why = recorder->why;
        return false;
    }
    if (recorder->pending_count == recorder->pending_room) {
        size_t room = recorder->pending_room ? 2 * recorder->pending_room : 1024;
        struct pending *more = reallocarray(recorder->pending, room, sizeof *more);
        if (!more) {
            return out_of_memory(recorder, why);
        }
        recorder->pending = more;
        recorder->pending_room = room;
    }
    if (event->probe == EDEN_PROBE_heap__create && event->args > 1 &&
        !heap_begins(recorder, &event->process, event->arg[0], event->arg[1])) {
        return out_of_memory(recorder, why);
    }
    struct pending *pending = &recorder->pending[recorder->pending_count];
    *pending = (struct pending){*event, heap_of(recorder, event), recorder->events};
    if (pending->event.args > EDEN_PROBE_MAX_ARGS) {
        pending->event.args = EDEN_PROBE_MAX_ARGS;
    }
    uint64_t now = clock_ns(CLOCK_MONOTONIC);
    if (recorder->pending_count++ == 0) {
        recorder->pending_since_ns = now;
    }
    recorder->events++;
    if (event->probe == EDEN_PROBE_heap__destroy) {
        struct live_heap *gone = live_heap(recorder, &event->process, event->arg[0]);
        if (gone) {
            *gone = recorder->heaps[--recorder->heap_count];
        }
    }
    bool busy;
    /* While a reader is in the way, tried again by age, not at each event. */
    return (recorder->pending_count != BATCH && now - recorder->pending_since_ns < BATCH_AGE_NS) ||
           transact(recorder, NULL, false, &busy, why);
}

/* Heaps that were there before the recording have no heap__create: the model knows their ids from their headers. */
static bool learn_heaps(struct recorder *recorder, const struct model *model) {
    for (size_t i = 0; i < model->process_count; i++) {
        const struct process_model *process = &model->processes[i];
        for (size_t j = 0; j < process->heap_count; j++) {
            const struct heap_model *heap = &process->heaps[j];
            if (heap->late && !heap->destroyed && heap->id != 0 && !live_heap(recorder, &process->key, heap->address) &&
                !heap_begins(recorder, &process->key, heap->address, heap->id)) {
                return false;
            }
        }
    }
    for (size_t i = 0; i < recorder->pending_count; i++) {
        struct pending *pending = &recorder->pending[i];
        if (pending->heap_id == 0) {
            pending->heap_id = heap_of(recorder, &pending->event);
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
    bool busy;
    for (int tries = 1;; tries++) {
        if (!transact(recorder, model, finished, &busy, why)) {
            return false;
        }
        if (!busy || !finished) {
            return true;
        }
        if (tries == FINISH_TRIES) {
            recorder->failed = true;
            recording_fail(&recorder->why,
                           "%.200s: another program holds the recording locked; its last moments were not written",
                           recorder->path);
            *why = recorder->why;
            return false;
        }
    }
}

uint64_t recorder_event_count(const struct recorder *recorder) { return recorder->events; }

uint64_t recorder_bytes(const struct recorder *recorder) {
    struct stat status;
    return fstat(recorder->lock, &status) == 0 ? (uint64_t)status.st_size : 0;
}

/* ---- beginning and end ------------------------------------------------------------------------------------------ */

static void close_database(struct recorder *recorder) {
    sqlite3_stmt **statements[] = {
        &recorder->event,          &recorder->class,       &recorder->parameter, &recorder->process,
        &recorder->heap,           &recorder->phase,       &recorder->bucket,    &recorder->forget_phases,
        &recorder->forget_buckets, &recorder->forget_heap, &recorder->meta,
    };
    for (size_t i = 0; i < sizeof statements / sizeof statements[0]; i++) {
        sqlite3_finalize(*statements[i]);
        *statements[i] = NULL;
    }
    sqlite3_close(recorder->db);
    recorder->db = NULL;
}

/* synchronous=OFF: a recording must not make the disk wait on the program it observes, and need not. What is written is
 * with the kernel, which keeps it whatever happens to this process; only a crash of the whole machine can spoil the
 * file, and then what was to be learnt is gone anyway. cache_spill=OFF: the file changes within COMMIT only. */
static int open_database(struct recorder *recorder, const char *path) {
    int code = sqlite3_open_v2(path, &recorder->db, SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOFOLLOW, NULL);
    if (code == SQLITE_OK) {
        sqlite3_busy_timeout(recorder->db, BUSY_MS);
        code = sql_run(recorder->db, "PRAGMA journal_mode = DELETE; PRAGMA synchronous = OFF; PRAGMA cache_spill = OFF;"
                                     "PRAGMA temp_store = MEMORY; PRAGMA trusted_schema = OFF");
    }
    return code;
}

static int prepare(struct recorder *recorder) {
    char *heap = schema_insert_heap();
    if (!heap) {
        return SQLITE_NOMEM;
    }
    const struct {
        sqlite3_stmt **statement;
        const char *sql;
    } all[] = {
        {&recorder->event, "INSERT INTO event VALUES(?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)"},
        {&recorder->class, "INSERT OR REPLACE INTO class VALUES(?,?,?,?,?)"},
        {&recorder->parameter, "INSERT OR REPLACE INTO parameter VALUES(?,?,?,?,?)"},
        {&recorder->process, "INSERT OR REPLACE INTO process VALUES(?,?,?,?,?,?,?)"},
        {&recorder->heap, heap},
        {&recorder->phase, "INSERT OR REPLACE INTO phase VALUES(?,?,?,?,?,?,?)"},
        {&recorder->bucket, "INSERT OR REPLACE INTO phase_histogram VALUES(?,?,?,?,?,?)"},
        {&recorder->forget_phases, "DELETE FROM phase WHERE heap = ?"},
        {&recorder->forget_buckets, "DELETE FROM phase_histogram WHERE heap = ?"},
        {&recorder->forget_heap, "DELETE FROM heap WHERE heap = ?"},
        {&recorder->meta, "INSERT OR REPLACE INTO meta VALUES(?,?)"},
    };
    int code = SQLITE_OK;
    for (size_t i = 0; i < sizeof all / sizeof all[0] && code == SQLITE_OK; i++) {
        code = sqlite3_prepare_v3(recorder->db, all[i].sql, -1, SQLITE_PREPARE_PERSISTENT, all[i].statement, NULL);
    }
    sqlite3_free(heap);
    return code;
}

/* The command as one could type it: words that a shell would take apart stand in quotes. Cut where it is too long. */
static void command_text(char *text, size_t size, char *const *command) {
    size_t used = 0;
    text[0] = '\0';
    for (; command && *command && used + 8 < size; command++) {
        const char *word = *command;
        bool plain = *word && strspn(word, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
                                           "_-+=./:,@%^") == strlen(word);
        if (used > 0) {
            text[used++] = ' ';
        }
        if (!plain) {
            text[used++] = '\'';
        }
        for (; *word && used + 8 < size; word++) {
            if (*word == '\'') {
                memcpy(text + used, "'\\'", 3);
                used += 3;
            }
            text[used++] = *word;
        }
        if (!plain) {
            text[used++] = '\'';
        }
        text[used] = '\0';
    }
}

static int write_first_meta(struct recorder *recorder, const struct recorder_options *options) {
    char command[COMMAND_MOST];
    command_text(command, sizeof command, options->command);
    struct utsname host;
    if (uname(&host) != 0) {
        strcpy(host.release, "unknown");
    }
    int code = write_meta(recorder, "format_version", RECORDING_VERSION);
    code = code == SQLITE_OK ? write_meta_text(recorder, "tool", EDENSCOPE_VERSION) : code;
    code = code == SQLITE_OK ? write_meta_text(recorder, "kernel", host.release) : code;
    code = code == SQLITE_OK ? write_meta_text(recorder, "command", command) : code;
    code = code == SQLITE_OK ? write_meta(recorder, "pid", (uint64_t)options->pid) : code;
    code = code == SQLITE_OK ? write_meta(recorder, "start_ns", clock_ns(CLOCK_REALTIME)) : code;
    code = code == SQLITE_OK ? write_meta(recorder, "mono_ns", clock_ns(CLOCK_MONOTONIC)) : code;
    code = code == SQLITE_OK ? write_meta(recorder, "commit_ns", clock_ns(CLOCK_MONOTONIC)) : code;
    code = code == SQLITE_OK ? write_meta(recorder, "objects", options->objects) : code;
    static const char *const zeros[] = {"events", "finished", "lost", "wall_ns"};
    for (size_t i = 0; i < sizeof zeros / sizeof zeros[0] && code == SQLITE_OK; i++) {
        code = write_meta(recorder, zeros[i], 0);
    }
    return code;
}

/* Whether the recording may stand at path: nothing that is of worth to others must go. */
static bool may_replace(const struct file_look *look, const struct recorder_options *options, struct failure *why) {
    if (look->kind == FILE_OTHER && access(look->path, F_OK) == 0) {
        struct stat status;
        if (stat(look->path, &status) != 0 || !S_ISREG(status.st_mode)) {
            recording_fail(why, "%.200s: is not a plain file; name another one with -o", options->path);
            return false;
        }
        if (!options->force) {
            recording_fail(why,
                           "%.200s: is a file but not a recording, so it is left alone; name another one with -o, or "
                           "replace it with --force",
                           options->path);
            return false;
        }
    }
    if (look->live) {
        recording_fail(why, "%.200s: another edenscope is recording to it; name another file with -o", options->path);
        return false;
    }
    return true;
}

static bool make_file(struct recorder *recorder, const struct recorder_options *options, struct failure *why) {
    int length = snprintf(recorder->temporary, sizeof recorder->temporary, "%s.XXXXXX", recorder->path);
    if (length < 0 || (size_t)length >= sizeof recorder->temporary - sizeof "-journal") {
        recording_fail(why, "%.200s...: the name is too long; name another file with -o", options->path);
        return false;
    }
    int file = mkostemp(recorder->temporary, O_CLOEXEC);
    if (file < 0) {
        recorder->temporary[0] = '\0';
        recording_fail(why, "%.200s: can't make a file there: %s; name another place with -o", options->path,
                       strerror(errno));
        return false;
    }
    close(file);
    recorder->lock = file_lock(recorder->temporary);
    if (recorder->lock < 0) {
        recording_fail(why, "%.200s: can't lock it: %s", options->path, strerror(errno));
        return false;
    }
    return true;
}

struct recorder *recorder_create(const struct recorder_options *options, struct failure *why) {
    struct file_look look;
    struct recorder *recorder = calloc(1, sizeof *recorder);
    if (!recorder) {
        recording_fail(why, "no memory");
        return NULL;
    }
    recorder->lock = -1;
    recorder->objects = options->objects;
    if (!file_look(options->path, &look, why) || !may_replace(&look, options, why)) {
        free(recorder);
        return NULL;
    }
    memcpy(recorder->path, look.path, sizeof recorder->path);
    if (!make_file(recorder, options, why)) {
        recorder_close(recorder);
        return NULL;
    }
    int code = open_database(recorder, recorder->temporary);
    code = code == SQLITE_OK ? sql_run(recorder->db, "BEGIN") : code;
    code = code == SQLITE_OK ? schema_create(recorder->db) : code;
    code = code == SQLITE_OK ? prepare(recorder) : code;
    code = code == SQLITE_OK ? write_first_meta(recorder, options) : code;
    code = code == SQLITE_OK ? sql_run(recorder->db, "COMMIT") : code;
    if (code != SQLITE_OK) {
        recording_fail_sql(why, recorder->path, "can't make a recording", recorder->db);
        recorder_close(recorder);
        return NULL;
    }
    return recorder;
}

bool recorder_publish(struct recorder *recorder, struct failure *why) {
    struct file_look look;
    if (!file_look(recorder->path, &look, why)) {
        return false;
    }
    if (look.live) {
        recording_fail(why, "%.200s: another edenscope has begun to record to it; name another file with -o",
                       recorder->path);
        return false;
    }
    if (look.journal) {
        /* Of a recorder that was killed. Left there it would be rolled back into the new file; rolled back now, the old
         * file stays whole until it is replaced. */
        char journal[PATH_MAX + sizeof "-journal"];
        snprintf(journal, sizeof journal, "%s-journal", recorder->path);
        struct failure ignored;
        if ((look.kind != FILE_RECORDING || !file_recover(&look, &ignored)) || access(journal, F_OK) == 0) {
            unlink(journal);
        }
    }
    close_database(recorder);
    if (rename(recorder->temporary, recorder->path) != 0) {
        recording_fail(why, "%.200s: can't put the recording there: %s", recorder->path, strerror(errno));
        return false;
    }
    recorder->published = true;
    int code = open_database(recorder, recorder->path);
    code = code == SQLITE_OK ? prepare(recorder) : code;
    if (code != SQLITE_OK) {
        recording_fail_sql(why, recorder->path, "can't go on with the recording", recorder->db);
        return false;
    }
    return true;
}

void recorder_close(struct recorder *recorder) {
    if (!recorder) {
        return;
    }
    close_database(recorder);
    if (!recorder->published && recorder->temporary[0]) {
        unlink(recorder->temporary);
    }
    if (recorder->lock >= 0) {
        close(recorder->lock);
    }
    free(recorder->pending);
    free(recorder->processes);
    free(recorder->heaps);
    free(recorder->written);
    free(recorder);
}
