/* Reading a recording's model: heaps, phases, histograms, and the parameters of heaps.
 *
 * Columns are asked for by name, and figures this file doesn't have are "not known": a file made by an older or newer
 * version with the same RECORDING_VERSION reads. What is counted or indexed is checked: the file may be damaged. */
#include "eden_values.h"
#include "recording/reading.h"
#include "util/array.h"
#include "util/format.h"
#include "util/sum.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { HEAPS_MOST = 16384 };

/* Where the rows of phases and histograms find their heap. */
struct file_heap {
    sqlite3_int64 number; /* column `heap` */
    size_t process, heap; /* their places in the model */
};

struct file_heaps {
    struct file_heap *heaps; /* in order of number */
    size_t count, room;
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
    return &model->processes[heap->process].heaps[heap->heap];
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
    return *there ? reading_number(row, column) : 0;
}

/* Left as it is where the column is missing. */
static void named_text(char *text, size_t size, sqlite3_stmt *row, const char *name) {
    int column = column_named(row, "", name);
    if (column >= 0) {
        reading_text(text, size, row, column);
    }
}

static uint64_t least(uint64_t a, uint64_t b) { return a < b ? a : b; }

/* In a damaged recording there may have been more before than in all. */
static void read_figures(struct heap_model *heap, sqlite3_stmt *row) {
    bool there;
    heap->known = 0;
    for (int i = 0; i < EDEN_FIGURE_COUNT; i++) {
        heap->figures[i] = named_number(row, "", figure_descriptions[i].name, &there);
        heap->known |= (uint64_t)there << i;
        heap->before[i] = least(named_number(row, "before_", figure_descriptions[i].name, &there), heap->figures[i]);
    }
    for (unsigned i = 0; i < EDEN_FULL_CAUSES; i++) {
        heap->full_by_cause[i] = named_number(row, "full_by_cause_", eden_full_cause_name(i), &there);
        heap->full_by_cause_before[i] =
            least(named_number(row, "before_full_by_cause_", eden_full_cause_name(i), &there), heap->full_by_cause[i]);
    }
}

static int phase_named(sqlite3_stmt *row, int column) {
    const unsigned char *name = sqlite3_column_text(row, column);
    for (int i = 0; name && i < EDEN_PHASE_COUNT; i++) {
        if (strcmp(phase_names[i], (const char *)name) == 0) {
            return i;
        }
    }
    return -1;
}

/* A file made before collections under way were recorded counts those that were done. */
static void read_collection(struct heap_model *heap, sqlite3_stmt *row) {
    struct collection_model *collection = &heap->collection;
    int column = column_named(row, "", "collection_phase");
    collection->known = column < 0 || sqlite3_column_type(row, column) == SQLITE_TEXT;
    int phase = column < 0 ? -1 : phase_named(row, column);
    if (phase >= 0) {
        bool ignored;
        collection->under_way = true;
        collection->phase = (enum eden_phase)phase;
        collection->since_ns = named_number(row, "collection_", "since_ns", &ignored);
        collection->phase_since_ns = named_number(row, "collection_", "phase_since_ns", &ignored);
        collection->until_ns = named_number(row, "collection_", "until_ns", &ignored);
        collection->observed_ns = named_number(row, "collection_", "observed_ns", &ignored);
    }
}

/* Older files do not say it: there, late heaps count as whole. */
static enum earlier read_earlier(sqlite3_stmt *row) {
    char name[16] = "";
    named_text(name, sizeof name, row, "earlier");
    enum earlier earlier = EARLIER_COUNT;
    while (earlier-- > 0 && strcmp(name, earlier_names[earlier]) != 0) {
    }
    return earlier < EARLIER_COUNT ? earlier : EARLIER_WHOLE;
}

static bool add_heap(struct recording *recording, sqlite3_stmt *row, struct file_heaps *heaps, struct model *model,
                     struct failure *why) {
    bool there[3], ignored;
    struct file_heap next = {.number = (sqlite3_int64)named_number(row, "", "heap", &there[0])};
    const struct file_process *owner =
        reading_process(recording, (sqlite3_int64)named_number(row, "", "process", &there[1]));
    const struct heap_ref ref = {named_number(row, "", "address", &there[2]),
                                 named_number(row, "", "heap_id", &ignored), named_number(row, "", "serial", &ignored)};
    if (!there[0] || !there[1] || !there[2] || !owner || heaps->count == HEAPS_MOST ||
        (heaps->count && heaps->heaps[heaps->count - 1].number >= next.number)) {
        return reading_fail_damaged(recording, "table heap", why);
    }
    next.process = owner->place;
    struct file_heap *added = array_grow(&heaps->heaps, &heaps->room, heaps->count, sizeof *added);
    if (!added) {
        return reading_fail_memory(recording, why);
    }
    *added = next;
    heaps->count++;
    struct process_model *process = next.process < model->process_count ? &model->processes[next.process] : NULL;
    struct heap_model *heap = process ? model_heap(process, ref) : NULL;
    if (!process || !heap) {
        return reading_fail_memory(recording, why);
    }
    added->heap = (size_t)(heap - process->heaps);
    named_text(heap->name, sizeof heap->name, row, "name");
    named_text(heap->command, sizeof heap->command, row, "former_command");
    heap->is_former = named_number(row, "", "ended_by_exec", &ignored) != 0;
    heap->late = named_number(row, "", "late", &ignored) != 0;
    heap->earlier = heap->late ? read_earlier(row) : EARLIER_WHOLE;
    heap->destroyed = named_number(row, "", "complete", &ignored) != 0;
    read_figures(heap, row);
    read_collection(heap, row);
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
    return good && (code == SQLITE_DONE || reading_fail_sql(recording, "table heap", why));
}

/* ---- phases ----------------------------------------------------------------------------------------------------- */

void reading_pause_time(struct pause_time *time, sqlite3_stmt *row, const char *prefix, uint64_t whole_ns) {
    char name[32];
    bool is_there, ignored;
    time->unmeasured = 0;
    for (int i = 0; i < PAUSE_CAUSES; i++) {
        snprintf(name, sizeof name, "%s_ns", pause_cause_names[i]);
        time->ns[i] = named_number(row, prefix, name, &is_there);
        time->unmeasured |= (is_there ? 0ull : 1ull) << i;
    }
    time->faults = named_number(row, prefix, "faults", &ignored);
    time->disk_faults = named_number(row, prefix, "disk_faults", &ignored);
    time->disk_faults = time->disk_faults < time->faults ? time->disk_faults : time->faults;
    uint64_t most =
        1000000000; /* kernel and runtime have clocks of their own; but nobody has measured what is far off */
    sum_add(&most, whole_ns);
    sum_add(&most, whole_ns);
    if (pause_time_ns(time) > most) {
        *time = (struct pause_time){.unmeasured = (1ull << PAUSE_CAUSES) - 1};
    }
}

static bool read_phase(struct phase_model *phase, sqlite3_stmt *row) {
    phase->calls = reading_number(row, 2);
    phase->total_ns = reading_number(row, 3);
    phase->max_ns = reading_number(row, 4);
    phase->objects = reading_number(row, 5);
    phase->bytes = reading_number(row, 6);
    bool ignored;
    phase->outside_ns = named_number(row, "", "outside_ns", &ignored);
    reading_pause_time(&phase->pauses, row, "", phase->total_ns);
    reading_pause_time(&phase->longest, row, "longest_", phase->max_ns);
    return true;
}

static bool read_bucket(struct phase_model *phase, sqlite3_stmt *row) {
    uint64_t bucket = reading_number(row, 2);
    if (bucket >= HISTOGRAM_BUCKETS) {
        return false;
    }
    phase->buckets[bucket] = reading_number(row, 3);
    return true;
}

/* The key of the row before. Keys rise, or a page of the file stands in its table more than once, and the rows are
 * without end. */
struct row_key {
    sqlite3_int64 heap, bucket;
    char phase[64];
};

static bool rises(struct row_key *before, sqlite3_stmt *row, bool has_buckets) {
    struct row_key key = {.heap = sqlite3_column_int64(row, 0),
                          .bucket = has_buckets ? sqlite3_column_int64(row, 2) : 0};
    reading_text(key.phase, sizeof key.phase, row, 1);
    int order = (key.heap > before->heap) - (key.heap < before->heap);
    order = order ? order : strcmp(key.phase, before->phase);
    order = order ? order : (key.bucket > before->bucket) - (key.bucket < before->bucket);
    *before = key;
    return order > 0;
}

/* Rows of a table whose first columns are heap and phase; each goes to the phase it names. */
static bool read_phase_rows(struct recording *recording, const char *sql, const char *table, size_t most,
                            bool (*read)(struct phase_model *phase, sqlite3_stmt *row), const struct file_heaps *heaps,
                            struct model *model, struct failure *why) {
    sqlite3_stmt *row = NULL;
    int code = sqlite3_prepare_v2(recording->db, sql, -1, &row, NULL);
    bool good = true;
    struct row_key before = {.heap = INT64_MIN};
    for (size_t rows = 0; good && (code == SQLITE_OK || code == SQLITE_ROW); rows++) {
        code = sqlite3_step(row);
        int id = code == SQLITE_ROW ? phase_named(row, 1) : -1;
        struct heap_model *heap = id >= 0 ? find_heap(heaps, model, sqlite3_column_int64(row, 0)) : NULL;
        if ((code == SQLITE_ROW && (rows == most || !rises(&before, row, read == read_bucket))) || (id >= 0 && !heap)) {
            good = reading_fail_damaged(recording, table, why);
        } else if (heap) {
            struct phase_model *phase = model_phase(heap, (enum eden_phase)id);
            good = phase ? read(phase, row) || reading_fail_damaged(recording, table, why)
                         : reading_fail_memory(recording, why);
        }
    }
    sqlite3_finalize(row);
    return good && (code == SQLITE_DONE || reading_fail_sql(recording, table, why));
}

static bool read_model_numbers(struct recording *recording, struct model *model, struct failure *why) {
    sqlite3_stmt *row = NULL;
    int code = sqlite3_prepare_v2(recording->db,
                                  "SELECT (SELECT value FROM meta WHERE key = 'wall_ns'),"
                                  " (SELECT value FROM meta WHERE key = 'lost'),"
                                  " (SELECT value FROM meta WHERE key = 'lost_records'),"
                                  " (SELECT value FROM meta WHERE key = 'missed_children'),"
                                  " (SELECT value FROM meta WHERE key = 'status'),"
                                  " (SELECT value FROM meta WHERE key = 'lost_heaps:0'),"
                                  " (SELECT value FROM meta WHERE key = 'lost_hits:0'),"
                                  " (SELECT value FROM meta WHERE key = 'lost_events:0'),"
                                  " coalesce((SELECT value FROM meta WHERE key = 'uncounted'),"
                                  " (SELECT value FROM meta WHERE key = 'lost'))",
                                  -1, &row, NULL);
    code = code == SQLITE_OK ? sqlite3_step(row) : code;
    if (code == SQLITE_ROW) {
        model->wall_ns = reading_number(row, 0);
        model->lost = reading_number(row, 1);
        model->lost_records = reading_number(row, 2);
        model->missed_children = reading_number(row, 3);
        model->status = (int)(reading_number(row, 4) & 255);
        model->has_status = sqlite3_column_type(row, 4) == SQLITE_INTEGER;
        model->others = (struct model_losses){reading_number(row, 5), reading_number(row, 6), reading_number(row, 7)};
        model->uncounted = reading_number(row, 8);
    }
    sqlite3_finalize(row);
    return code == SQLITE_ROW || reading_fail_sql(recording, "table meta", why);
}

bool recording_model(struct recording *recording, struct model *model, struct failure *why) {
    struct file_heaps heaps = {0};
    size_t phases_most = (size_t)HEAPS_MOST * 64;
    /* One transaction: a recorder may be writing. */
    bool good = sql_run(recording->db, "BEGIN") == SQLITE_OK || reading_fail_sql(recording, "it", why);
    good =
        good && read_model_numbers(recording, model, why) && reading_processes(recording, model, why) &&
        read_heaps(recording, &heaps, model, why) &&
        read_phase_rows(
            recording, "SELECT heap, phase, calls, total_ns, max_ns, objects, bytes, * FROM phase ORDER BY heap, phase",
            "table phase", phases_most, read_phase, &heaps, model, why) &&
        read_phase_rows(recording,
                        "SELECT heap, phase, bucket, count FROM phase_histogram ORDER BY heap, phase, bucket",
                        "table phase_histogram", phases_most * HISTOGRAM_BUCKETS, read_bucket, &heaps, model, why);
    if (!sqlite3_get_autocommit(recording->db)) {
        sql_run(recording->db, "ROLLBACK");
    }
    free(heaps.heaps);
    for (size_t i = 0; i < model->process_count; i++) {
        model_sort_heaps(&model->processes[i]);
    }
    model_set_stopped(model, NULL);
    return good;
}

bool recording_parameters(struct recording *recording, const struct process_key *process, struct heap_ref heap,
                          recording_parameter_fn on_parameter, void *context, struct failure *why) {
    int code = SQLITE_OK;
    if (!recording->parameters) { /* once: a file may have any number of indexes that SQLite then weighs */
        char sql[240];
        snprintf(sql, sizeof sql,
                 "SELECT parameter.name, value FROM parameter JOIN process USING (process)"
                 " WHERE pid = ? AND start_ns = ? AND address = ? AND heap_id = ? AND %s = ?"
                 " ORDER BY parameter.name LIMIT 1000",
                 reading_serial_column(recording, "parameter"));
        code = sqlite3_prepare_v2(recording->db, sql, -1, &recording->parameters, NULL);
    }
    sqlite3_stmt *row = recording->parameters;
    if (code == SQLITE_OK) {
        sqlite3_bind_int64(row, 1, process->pid);
        sqlite3_bind_int64(row, 2, (sqlite3_int64)process->start_ns);
        sqlite3_bind_int64(row, 3, (sqlite3_int64)heap.address);
        sqlite3_bind_int64(row, 4, (sqlite3_int64)heap.id);
        sqlite3_bind_int64(row, 5, (sqlite3_int64)heap.serial);
    }
    while (code == SQLITE_OK || code == SQLITE_ROW) {
        code = sqlite3_step(row);
        if (code == SQLITE_ROW) {
            char name[EVENT_TEXT], value[EVENT_TEXT];
            reading_text(name, sizeof name, row, 0);
            reading_text(value, sizeof value, row, 1);
            on_parameter(context, name, value);
        }
    }
    bool good = code == SQLITE_DONE || reading_fail_sql(recording, "table parameter", why);
    sqlite3_reset(row);
    return good;
}
