/* Reading a recording.
 *
 * The file may be half written, cut short, damaged, or made to harm whoever opens it. So: it is opened read-only and
 * not mapped into memory (a file that shrinks would raise SIGBUS), views and triggers are off, its schema may call no
 * function that reaches outside, tables must be plain tables, lengths are bounded, and what is counted or indexed is
 * checked here: keys must rise (a damaged tree may run in circles), numbers of rows have limits, names that are not
 * known are skipped.
 *
 * Columns are asked for by name, and figures this file doesn't have are "not known": a file made by an older or newer
 * version with the same RECORDING_VERSION reads.
 *
 * Events are read in portions, so that the file is locked for moments only: a recorder may be writing it, and who
 * prints the events may be waiting for a person. */
#include "format.h"
#include "recording_sql.h"
#include <stdlib.h>
#include <string.h>

enum {
    PROCESSES_MOST = 65536,
    HEAPS_MOST = 16384,
    PORTION = 2048,           /* events */
    LENGTH_MOST = 256 * 1024, /* of a text or a row; the longest text is that of view `collection` */
};

struct file_process {
    sqlite3_int64 number; /* column `process` */
    struct process_key key;
};

struct recording {
    sqlite3 *db;
    char path[PATH_MAX];
    struct recording_info info;
    struct file_process *processes; /* in order of number */
    size_t process_count;
};

static bool fail_sql(struct recording *recording, const char *doing, struct failure *why) {
    recording_fail_sql(why, recording->path, doing, recording->db);
    return false;
}

static bool fail_damaged(struct recording *recording, const char *what, struct failure *why) {
    recording_fail(why, "%.200s: the recording is damaged: %s; make it again", recording->path, what);
    return false;
}

static bool fail_memory(struct recording *recording, struct failure *why) {
    recording_fail(why, "%.200s: no memory to read it", recording->path);
    return false;
}

static uint64_t number(sqlite3_stmt *row, int column) { return (uint64_t)sqlite3_column_int64(row, column); }

/* At most size - 1 bytes, always ended. */
static void copy_text(char *text, size_t size, sqlite3_stmt *row, int column) {
    const unsigned char *from = sqlite3_column_text(row, column);
    size_t length = from ? (size_t)sqlite3_column_bytes(row, column) : 0;
    length = length < size - 1 ? length : size - 1;
    if (from) {
        memcpy(text, from, length);
    }
    memset(text + length, 0, size - length);
}

/* ---- opening ---------------------------------------------------------------------------------------------------- */

static int harden(sqlite3 *db) {
    sqlite3_busy_timeout(db, 5000);
    sqlite3_db_config(db, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
    sqlite3_db_config(db, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, NULL);
    sqlite3_db_config(db, SQLITE_DBCONFIG_ENABLE_TRIGGER, 0, NULL);
    sqlite3_db_config(db, SQLITE_DBCONFIG_ENABLE_VIEW, 0, NULL);
    sqlite3_limit(db, SQLITE_LIMIT_LENGTH, LENGTH_MOST);
    sqlite3_limit(db, SQLITE_LIMIT_COLUMN, 1000);
    sqlite3_limit(db, SQLITE_LIMIT_ATTACHED, 0);
    return sql_run(db, "PRAGMA trusted_schema = OFF; PRAGMA cell_size_check = ON; PRAGMA mmap_size = 0;"
                       "PRAGMA query_only = ON");
}

static int open_read_only(struct recording *recording) {
    int code = sqlite3_open_v2(recording->path, &recording->db, SQLITE_OPEN_READONLY, NULL);
    code = code == SQLITE_OK ? harden(recording->db) : code;
    /* The first read: where half a transaction must be undone it says SQLITE_READONLY_ROLLBACK. */
    return code == SQLITE_OK ? sql_run(recording->db, "SELECT count(*) FROM sqlite_schema") : code;
}

static bool check_tables(struct recording *recording, struct failure *why) {
    sqlite3_stmt *row = NULL;
    int code = sqlite3_prepare_v2(recording->db,
                                  "SELECT count(*) FROM sqlite_schema WHERE type = 'table' AND sql LIKE 'CREATE TABLE%'"
                                  " AND name IN ('meta', 'process', 'heap', 'phase', 'phase_histogram', 'parameter',"
                                  " 'event')",
                                  -1, &row, NULL);
    code = code == SQLITE_OK ? sqlite3_step(row) : code;
    int tables = code == SQLITE_ROW ? sqlite3_column_int(row, 0) : 0;
    sqlite3_finalize(row);
    if (code != SQLITE_ROW) {
        return fail_sql(recording, "can't read it", why);
    }
    return tables == 7 || fail_damaged(recording, "tables are missing", why);
}

static bool set_text(char **text, sqlite3_stmt *row) {
    const unsigned char *value = sqlite3_column_text(row, 1);
    char *copy = strdup(value ? (const char *)value : "");
    free(*text);
    *text = copy;
    return copy != NULL;
}

static bool read_meta_row(struct recording_info *info, sqlite3_stmt *row) {
    const unsigned char *text = sqlite3_column_text(row, 0);
    const char *key = text ? (const char *)text : "";
    const struct {
        const char *key;
        uint64_t *value;
    } numbers[] = {
        {"start_ns", &info->start_ns}, {"mono_ns", &info->mono_ns}, {"commit_ns", &info->commit_ns},
        {"events", &info->events},     {"pid", &info->pid},
    };
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++) {
        if (strcmp(key, numbers[i].key) == 0) {
            *numbers[i].value = number(row, 1);
        }
    }
    if (strcmp(key, "objects") == 0) {
        info->objects = number(row, 1) != 0;
    } else if (strcmp(key, "finished") == 0) {
        info->finished = number(row, 1) != 0;
    }
    return (strcmp(key, "command") != 0 || set_text(&info->command, row)) &&
           (strcmp(key, "kernel") != 0 || set_text(&info->kernel, row)) &&
           (strcmp(key, "tool") != 0 || set_text(&info->tool, row));
}

static bool read_meta(struct recording *recording, struct failure *why) {
    struct recording_info *info = &recording->info;
    info->command = strdup("");
    info->kernel = strdup("");
    info->tool = strdup("");
    sqlite3_stmt *row = NULL;
    int code = info->command && info->kernel && info->tool
                   ? sqlite3_prepare_v2(recording->db, "SELECT key, value FROM meta LIMIT 1000", -1, &row, NULL)
                   : SQLITE_NOMEM;
    while (code == SQLITE_OK || code == SQLITE_ROW) {
        code = sqlite3_step(row);
        if (code == SQLITE_ROW && !read_meta_row(info, row)) {
            code = SQLITE_NOMEM;
        }
    }
    sqlite3_finalize(row);
    if (code == SQLITE_NOMEM) {
        return fail_memory(recording, why);
    }
    return code == SQLITE_DONE || fail_sql(recording, "can't read table meta", why);
}

static bool look_at_file(struct recording *recording, const char *path, struct file_look *look, struct failure *why) {
    if (!file_look(path, look, why)) {
        return false;
    }
    if (look->kind == FILE_MISSING) {
        recording_fail(why, "%.200s: no such file; make one with `edenscope record`, or name another one with -i",
                       path);
        return false;
    }
    if (look->kind != FILE_RECORDING) {
        recording_fail(why, "%.200s: is not a recording of edenscope%s; name another file with -i", path,
                       look->kind == FILE_EMPTY ? ", it is empty" : "");
        return false;
    }
    if (look->version != RECORDING_VERSION) {
        recording_fail(
            why,
            "%.200s: is a recording of format version %u, and this edenscope reads version %d; use the edenscope "
            "that made it",
            path, look->version, RECORDING_VERSION);
        return false;
    }
    memcpy(recording->path, look->path, sizeof recording->path);
    recording->info.live = look->live;
    return true;
}

struct recording *recording_open(const char *path, struct failure *why) {
    struct recording *recording = calloc(1, sizeof *recording);
    if (!recording) {
        recording_fail(why, "no memory");
        return NULL;
    }
    struct file_look look;
    if (!look_at_file(recording, path, &look, why)) {
        recording_close(recording);
        return NULL;
    }
    int code = open_read_only(recording);
    if (code == SQLITE_READONLY || (code == SQLITE_CANTOPEN && look.journal)) {
        sqlite3_close(recording->db);
        recording->db = NULL;
        if (!file_recover(&look, why)) {
            recording_close(recording);
            return NULL;
        }
        code = open_read_only(recording);
    }
    if (code != SQLITE_OK) {
        fail_sql(recording, "can't read it", why);
        recording_close(recording);
        return NULL;
    }
    if (!check_tables(recording, why) || !read_meta(recording, why)) {
        recording_close(recording);
        return NULL;
    }
    return recording;
}

const struct recording_info *recording_info(const struct recording *recording) { return &recording->info; }

void recording_close(struct recording *recording) {
    if (recording) {
        sqlite3_close(recording->db);
        free(recording->info.command);
        free(recording->info.kernel);
        free(recording->info.tool);
        free(recording->processes);
        free(recording);
    }
}

/* ---- processes and heaps ---------------------------------------------------------------------------------------- */

static int by_number(const void *left, const void *right) {
    const struct file_process *a = left, *b = right;
    return a->number < b->number ? -1 : a->number > b->number;
}

static const struct file_process *find_process(const struct recording *recording, sqlite3_int64 wanted) {
    struct file_process key = {.number = wanted};
    return recording->process_count
               ? bsearch(&key, recording->processes, recording->process_count, sizeof key, by_number)
               : NULL;
}

static bool add_process(struct recording *recording, sqlite3_stmt *row, struct model *model, struct failure *why) {
    struct file_process next = {sqlite3_column_int64(row, 0),
                                {.start_ns = number(row, 2), .pid = (uint32_t)number(row, 1)}};
    if (recording->process_count == PROCESSES_MOST ||
        (recording->process_count && recording->processes[recording->process_count - 1].number >= next.number)) {
        return fail_damaged(recording, "table process", why);
    }
    struct file_process *more = reallocarray(recording->processes, recording->process_count + 1, sizeof *more);
    if (!more) {
        return fail_memory(recording, why);
    }
    recording->processes = more;
    more[recording->process_count++] = next;
    if (model) {
        struct process_model *process = model_process(model, &next.key);
        if (!process) {
            return fail_memory(recording, why);
        }
        copy_text(process->command, sizeof process->command, row, 3);
        const unsigned char *runtime = sqlite3_column_text(row, 4);
        process->runtime = runtime && strcmp((const char *)runtime, "eden") == 0 ? "eden" : "unknown";
        process->late = number(row, 5) != 0;
        process->ended = number(row, 6) != 0;
    }
    return true;
}

static bool read_processes(struct recording *recording, struct model *model, struct failure *why) {
    sqlite3_stmt *row = NULL;
    int code = sqlite3_prepare_v2(recording->db,
                                  "SELECT process, pid, start_ns, command, runtime, late, ended FROM process"
                                  " ORDER BY process",
                                  -1, &row, NULL);
    bool good = true;
    recording->process_count = 0;
    while (good && (code == SQLITE_OK || code == SQLITE_ROW)) {
        code = sqlite3_step(row);
        good = code != SQLITE_ROW || add_process(recording, row, model, why);
    }
    sqlite3_finalize(row);
    return good && (code == SQLITE_DONE || fail_sql(recording, "can't read table process", why));
}

/* Where the rows of phases and histograms find their heap. */
struct file_heap {
    sqlite3_int64 number; /* column `heap` */
    struct process_key process;
    uint64_t address, id;
};

struct file_heaps {
    struct file_heap *heaps; /* in order of number */
    size_t count;
};

static struct heap_model *find_heap(const struct file_heaps *heaps, struct model *model, sqlite3_int64 wanted) {
    size_t low = 0, high = heaps->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (heaps->heaps[middle].number < wanted) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    if (low == heaps->count || heaps->heaps[low].number != wanted) {
        return NULL;
    }
    const struct file_heap *heap = &heaps->heaps[low];
    struct process_model *process = model_process(model, &heap->process);
    return process ? model_heap(process, heap->address, heap->id) : NULL;
}

static int column_named(sqlite3_stmt *row, const char *prefix, const char *name) {
    size_t length = strlen(prefix);
    for (int i = 0; i < sqlite3_column_count(row); i++) {
        const char *column = sqlite3_column_name(row, i);
        if (column && strncmp(column, prefix, length) == 0 && strcmp(column + length, name) == 0) {
            return i;
        }
    }
    return -1;
}

/* 0 where the column is missing or NULL; says so in *there. */
static uint64_t named_number(sqlite3_stmt *row, const char *prefix, const char *name, bool *there) {
    int column = column_named(row, prefix, name);
    *there = column >= 0 && sqlite3_column_type(row, column) == SQLITE_INTEGER;
    return *there ? number(row, column) : 0;
}

static void read_figures(struct heap_model *heap, sqlite3_stmt *row) {
    bool there;
    heap->known = 0;
    for (int i = 0; i < EDEN_FIGURE_COUNT; i++) {
        heap->figures[i] = named_number(row, "", figure_descriptions[i].name, &there);
        heap->known |= (uint64_t)there << i;
        heap->before[i] = named_number(row, "before_", figure_descriptions[i].name, &there);
    }
    for (int i = 0; i < EDEN_FULL_CAUSES; i++) {
        heap->full_by_cause[i] = named_number(row, "full_by_cause_", full_cause_names[i], &there);
        heap->full_by_cause_before[i] = named_number(row, "before_full_by_cause_", full_cause_names[i], &there);
    }
}

static bool add_heap(struct recording *recording, sqlite3_stmt *row, struct file_heaps *heaps, struct model *model,
                     struct failure *why) {
    bool there[3], ignored;
    struct file_heap next = {.number = (sqlite3_int64)named_number(row, "", "heap", &there[0])};
    const struct file_process *owner =
        find_process(recording, (sqlite3_int64)named_number(row, "", "process", &there[1]));
    next.address = named_number(row, "", "address", &there[2]);
    next.id = named_number(row, "", "heap_id", &ignored);
    if (!there[0] || !there[1] || !there[2] || !owner || heaps->count == HEAPS_MOST ||
        (heaps->count && heaps->heaps[heaps->count - 1].number >= next.number)) {
        return fail_damaged(recording, "table heap", why);
    }
    next.process = owner->key;
    struct file_heap *more = reallocarray(heaps->heaps, heaps->count + 1, sizeof *more);
    if (!more) {
        return fail_memory(recording, why);
    }
    heaps->heaps = more;
    more[heaps->count++] = next;
    struct process_model *process = model_process(model, &next.process);
    struct heap_model *heap = process ? model_heap(process, next.address, next.id) : NULL;
    if (!heap) {
        return fail_memory(recording, why);
    }
    int name = column_named(row, "", "name");
    if (name >= 0) {
        copy_text(heap->name, sizeof heap->name, row, name);
    }
    heap->late = named_number(row, "", "late", &ignored) != 0;
    heap->destroyed = named_number(row, "", "complete", &ignored) != 0;
    read_figures(heap, row);
    return true;
}

static bool read_heaps(struct recording *recording, struct file_heaps *heaps, struct model *model,
                       struct failure *why) {
    sqlite3_stmt *row = NULL;
    int code = sqlite3_prepare_v2(recording->db, "SELECT * FROM heap ORDER BY heap", -1, &row, NULL);
    bool good = true;
    while (good && (code == SQLITE_OK || code == SQLITE_ROW)) {
        code = sqlite3_step(row);
        good = code != SQLITE_ROW || add_heap(recording, row, heaps, model, why);
    }
    sqlite3_finalize(row);
    return good && (code == SQLITE_DONE || fail_sql(recording, "can't read table heap", why));
}

/* ---- phases ----------------------------------------------------------------------------------------------------- */

static int phase_named(sqlite3_stmt *row, int column) {
    const unsigned char *name = sqlite3_column_text(row, column);
    for (int i = 0; name && i < EDEN_PHASE_COUNT; i++) {
        if (strcmp(phase_names[i], (const char *)name) == 0) {
            return i;
        }
    }
    return -1;
}

static bool read_phase(struct phase_model *phase, sqlite3_stmt *row) {
    phase->calls = number(row, 2);
    phase->total_ns = number(row, 3);
    phase->max_ns = number(row, 4);
    phase->objects = number(row, 5);
    phase->bytes = number(row, 6);
    return true;
}

static bool read_bucket(struct phase_model *phase, sqlite3_stmt *row) {
    uint64_t bucket = number(row, 2);
    if (bucket >= HISTOGRAM_BUCKETS) {
        return false;
    }
    phase->buckets[bucket] = number(row, 3);
    return true;
}

/* Rows of a table whose first columns are heap and phase; each goes to the phase it names. */
static bool read_phase_rows(struct recording *recording, const char *sql, const char *table, size_t most,
                            bool (*read)(struct phase_model *phase, sqlite3_stmt *row), const struct file_heaps *heaps,
                            struct model *model, struct failure *why) {
    sqlite3_stmt *row = NULL;
    int code = sqlite3_prepare_v2(recording->db, sql, -1, &row, NULL);
    bool good = true;
    for (size_t rows = 0; good && (code == SQLITE_OK || code == SQLITE_ROW); rows++) {
        code = sqlite3_step(row);
        int id = code == SQLITE_ROW ? phase_named(row, 1) : -1;
        struct heap_model *heap = id >= 0 ? find_heap(heaps, model, sqlite3_column_int64(row, 0)) : NULL;
        if (code == SQLITE_ROW && rows == most) {
            good = fail_damaged(recording, table, why);
        } else if (id >= 0 && !heap) {
            good = fail_damaged(recording, table, why);
        } else if (heap) {
            struct phase_model *phase = model_phase(heap, (enum eden_phase)id);
            good = phase ? read(phase, row) || fail_damaged(recording, table, why) : fail_memory(recording, why);
        }
    }
    sqlite3_finalize(row);
    return good && (code == SQLITE_DONE || fail_sql(recording, table, why));
}

static bool read_model_numbers(struct recording *recording, struct model *model, struct failure *why) {
    sqlite3_stmt *row = NULL;
    int code = sqlite3_prepare_v2(recording->db,
                                  "SELECT (SELECT value FROM meta WHERE key = 'wall_ns'),"
                                  " (SELECT value FROM meta WHERE key = 'lost')",
                                  -1, &row, NULL);
    code = code == SQLITE_OK ? sqlite3_step(row) : code;
    if (code == SQLITE_ROW) {
        model->wall_ns = number(row, 0);
        model->lost = number(row, 1);
    }
    sqlite3_finalize(row);
    return code == SQLITE_ROW || fail_sql(recording, "can't read table meta", why);
}

bool recording_model(struct recording *recording, struct model *model, struct failure *why) {
    struct file_heaps heaps = {NULL, 0};
    size_t phases_most = (size_t)HEAPS_MOST * 64;
    /* One transaction: a recorder may be writing. */
    bool good = sql_run(recording->db, "BEGIN") == SQLITE_OK || fail_sql(recording, "can't read it", why);
    good = good && read_model_numbers(recording, model, why) && read_processes(recording, model, why) &&
           read_heaps(recording, &heaps, model, why) &&
           read_phase_rows(recording, "SELECT heap, phase, calls, total_ns, max_ns, objects, bytes FROM phase",
                           "table phase", phases_most, read_phase, &heaps, model, why) &&
           read_phase_rows(recording, "SELECT heap, phase, bucket, count FROM phase_histogram", "table phase_histogram",
                           phases_most * HISTOGRAM_BUCKETS, read_bucket, &heaps, model, why);
    if (!sqlite3_get_autocommit(recording->db)) {
        sql_run(recording->db, "ROLLBACK");
    }
    free(heaps.heaps);
    return good;
}

bool recording_parameters(struct recording *recording, const struct process_key *process, uint64_t address,
                          uint64_t heap_id, recording_parameter_fn on_parameter, void *context, struct failure *why) {
    sqlite3_stmt *row = NULL;
    int code = sqlite3_prepare_v2(recording->db,
                                  "SELECT parameter.name, value FROM parameter JOIN process USING (process)"
                                  " WHERE pid = ? AND start_ns = ? AND address = ? AND heap_id = ?"
                                  " ORDER BY parameter.name LIMIT 1000",
                                  -1, &row, NULL);
    if (code == SQLITE_OK) {
        sqlite3_bind_int64(row, 1, process->pid);
        sqlite3_bind_int64(row, 2, (sqlite3_int64)process->start_ns);
        sqlite3_bind_int64(row, 3, (sqlite3_int64)address);
        sqlite3_bind_int64(row, 4, (sqlite3_int64)heap_id);
    }
    while (code == SQLITE_OK || code == SQLITE_ROW) {
        code = sqlite3_step(row);
        if (code == SQLITE_ROW) {
            char name[EVENT_TEXT], value[EVENT_TEXT];
            copy_text(name, sizeof name, row, 0);
            copy_text(value, sizeof value, row, 1);
            on_parameter(context, name, value);
        }
    }
    sqlite3_finalize(row);
    return code == SQLITE_DONE || fail_sql(recording, "can't read table parameter", why);
}

/* ---- events ----------------------------------------------------------------------------------------------------- */

struct read_event {
    struct event event;
    uint64_t heap_id;
};

/* Columns as in the statement below. */
static void decode_event(const struct recording *recording, sqlite3_stmt *row, struct read_event *to) {
    struct event *event = &to->event;
    memset(to, 0, sizeof *to);
    event->time_ns = number(row, 1);
    const struct file_process *process = find_process(recording, sqlite3_column_int64(row, 2));
    if (process) {
        event->process = process->key;
    }
    event->tid = (uint32_t)number(row, 3);
    event->probe = (uint16_t)number(row, 4);
    to->heap_id = number(row, 5);
    uint64_t args = number(row, 6);
    event->args = (uint16_t)(args < EDEN_PROBE_MAX_ARGS ? args : EDEN_PROBE_MAX_ARGS);
    for (int i = 0; i < event->args; i++) {
        event->arg[i] = number(row, 7 + i);
    }
    for (int i = 0; i < EVENT_TEXTS; i++) {
        copy_text(event->text[i], EVENT_TEXT, row, 7 + EDEN_PROBE_MAX_ARGS + i);
    }
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
            good = sqlite3_column_int64(row, 0) > *key || fail_damaged(recording, "table event", why);
            *key = sqlite3_column_int64(row, 0);
            if (good && wanted(probes, number(row, 4))) {
                decode_event(recording, row, &events[(*count)++]);
            }
        }
    }
    if (good && code != SQLITE_DONE) {
        good = fail_sql(recording, "can't read table event", why);
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
        return fail_memory(recording, why);
    }
    bool good = read_processes(recording, NULL, why);
    if (good &&
        sqlite3_prepare_v2(recording->db,
                           "SELECT event, time_ns, process, tid, probe, heap_id, args, heap, a1, a2, a3, a4, a5,"
                           " a6, a7, a8, a9, a10, a11, text0, text1 FROM event WHERE event > ? ORDER BY event"
                           " LIMIT ?",
                           -1, &row, NULL) != SQLITE_OK) {
        good = fail_sql(recording, "can't read table event", why);
    }
    sqlite3_bind_int64(row, 2, PORTION);
    sqlite3_int64 key = INT64_MIN;
    bool end = false, go_on = true;
    while (good && go_on && !end) {
        size_t count;
        good = read_portion(recording, row, probes, events, &count, &key, &end, why);
        for (size_t i = 0; good && go_on && i < count; i++) {
            go_on = on_event(context, &events[i].event, events[i].heap_id);
        }
    }
    sqlite3_finalize(row);
    free(events);
    return good;
}
