/* Reading a recording.
 *
 * 1. Purpose
 * The file may be half written, cut short, damaged, or made to harm whoever opens it.
 *
 * 2. Algorithm
 * recording_file.c opens the file, and copies it unless it is the caller's or root's without a hot journal. The process
 * then gives up its rights. Only then SQLite looks at the content, and rows become the model, events and batches of
 * lifetimes.
 *
 * 3. Invariants
 * I1. Nothing is mapped into memory: a file that shrinks would raise SIGBUS.
 * I2. Views and triggers are off, and the schema may call no function that reaches outside.
 * I3. Tables are plain tables without generated columns, whose expressions could run for hours.
 * I4. Lengths are bounded. So is the work, by the data in the file without its holes (recording_work.h); a signal ends
 * it. SQLite parses a schema without steps, and in part in the square of its rows: so little work reads it that only a
 * small one is parsed.
 * I5. Keys rise (a damaged tree may be a cycle), numbers of rows have limits, unknown names are skipped.
 *
 * 4. Failure
 * A damaged recording is an error that says what is wrong. So is one that takes more work than any of its size. */
#include "eden_values.h"
#include "model/lifetimes/limit.h"
#include "model/lifetimes/names.h"
#include "recording/reading.h"
#include "util/array.h"
#include "util/format.h"
#include "util/interrupt.h"
#include "util/message.h"
#include "util/sandbox.h"
#include "util/sum.h"
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum {
    PROCESSES_MOST = 65536,
    SQLITE_BYTES_MOST = 16 << 20, /* of memory, as long as no other recording is open */
    LENGTH_MOST = 256 * 1024,     /* of a text or a row; the longest text is that of view `collection` */
    /* A row of 40 bytes takes some 60 steps of SQLite's machine; a few of the tables are read several times. */
    STEPS_BYTE = 50,
    STEPS_LEAST = 100000000,
    STEPS_SCHEMA = 100000, /* some 10,000 rows, or 10 MB */
    STEPS_EACH = 10000,    /* between two looks at the budget */
};

static bool reading_fail_damaged(struct recording *recording, const char *what, struct failure *why) {
    failure_set(why, 1, "%.200s: the recording is damaged: %s; record again", recording->path, what);
    return false;
}

/* All return false, so that a reader can return them. */
static bool reading_fail_sql(struct recording *recording, const char *what, struct failure *why) {
    char doing[80];
    if (recording->work.done > recording->work.most) {
        return reading_fail_damaged(recording, "reading it takes more work than any recording of its size", why);
    }
    if (recording->is_last && recording->db && sqlite3_errcode(recording->db) == SQLITE_NOMEM) {
        return reading_fail_damaged(recording, "reading it takes more memory than any recording", why);
    }
    if (interrupt_count() != recording->interrupts) {
        return failure_set(why, 128 + interrupt_last(), "%.200s: interrupted before it was read", recording->path);
    }
    snprintf(doing, sizeof doing, "cannot read %s", what);
    recording_fail_sql(why, recording->path, doing, recording->db);
    return false;
}

static bool reading_fail_memory(struct recording *recording, struct failure *why) {
    failure_set(why, 1, "%.200s: out of memory", recording->path);
    return false;
}

static uint64_t reading_number(sqlite3_stmt *row, int column) { return (uint64_t)sqlite3_column_int64(row, column); }

/* The column of a table with the heaps' serials; "0" in older recordings, which have none. */
static const char *serial_column(const struct recording *recording, const char *table) {
    int code = sqlite3_table_column_metadata(recording->db, NULL, table, "serial", NULL, NULL, NULL, NULL, NULL);
    return code == SQLITE_OK ? "serial" : "0";
}

/* At most size - 1 bytes, always ended. */
static void reading_text(char *text, size_t size, sqlite3_stmt *row, int column) {
    const unsigned char *from = sqlite3_column_text(row, column);
    size_t length = from ? (size_t)sqlite3_column_bytes(row, column) : 0;
    length = length < size - 1 ? length : size - 1;
    if (from) {
        memcpy(text, from, length);
    }
    memset(text + length, 0, size - length);
}

/* ---- opening ---------------------------------------------------------------------------------------------------- */

/* A progress handler. */
static int has_enough(void *context) {
    struct recording *recording = context;
    recording->work.done += STEPS_EACH;
    return recording->work.done > recording->work.most || interrupt_count() != recording->interrupts;
}

static int harden(struct recording *recording) {
    sqlite3 *db = recording->db;
    if (recording->is_last) {
        sqlite3_hard_heap_limit64(SQLITE_BYTES_MOST);
    }
    sqlite3_busy_timeout(db, 5000);
    sqlite3_db_config(db, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
    sqlite3_db_config(db, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, NULL);
    sqlite3_db_config(db, SQLITE_DBCONFIG_ENABLE_TRIGGER, 0, NULL);
    sqlite3_db_config(db, SQLITE_DBCONFIG_ENABLE_VIEW, 0, NULL);
    sqlite3_limit(db, SQLITE_LIMIT_LENGTH, LENGTH_MOST);
    sqlite3_limit(db, SQLITE_LIMIT_COLUMN, 1000);
    sqlite3_limit(db, SQLITE_LIMIT_ATTACHED, 0);
    sqlite3_progress_handler(db, STEPS_EACH, has_enough, recording);
    return sql_run(db, "PRAGMA trusted_schema = OFF; PRAGMA cell_size_check = ON; PRAGMA mmap_size = 0;"
                       "PRAGMA temp_store = MEMORY; PRAGMA query_only = ON");
}

/* The first read undoes half a transaction in the copy. It parses no schema. */
static int open_pages(struct recording *recording) {
    const struct file_held *held = &recording->held;
    recording->vfs = (struct recording_vfs){.database = held->database,
                                            .journal = held->journal,
                                            .is_shared = !held->is_copy,
                                            .is_restored = held->is_cut,
                                            .work = &recording->work};
    recording_work_count(&recording->work);
    int code = recording_vfs_open(&recording->vfs, &recording->db, held->is_copy);
    code = code == SQLITE_OK ? harden(recording) : code;
    code = code == SQLITE_OK ? sql_run(recording->db, "PRAGMA user_version") : code;
    recording_work_count(NULL);
    return code;
}

static int open_database(struct recording *recording) {
    const struct file_held *held = &recording->held;
    const uint64_t bytes = file_data_bytes(held->database) + (held->journal >= 0 ? file_data_bytes(held->journal) : 0);
    const uint64_t most = STEPS_LEAST + STEPS_BYTE * bytes;
    recording->interrupts = interrupt_count();
    recording->work.most = most;
    int code = open_pages(recording);
    if (code == SQLITE_OK) {
        recording->work.most = recording->work.done + STEPS_SCHEMA;
        code = sql_run(recording->db, "SELECT count(*) FROM sqlite_schema");
    }
    if (code == SQLITE_OK) {
        recording->work.most = most;
    }
    return code;
}

struct table {
    const char *name, *key;
};

/* Three times as many as a table has: columns are looked up by name in each row, and take no room in it. */
enum { COLUMNS_MOST = 256 };

static bool is_plain_table(struct recording *recording, const struct table *table, int *code) {
    sqlite3_stmt *row = NULL;
    char sql[400];
    snprintf(sql, sizeof sql,
             "SELECT count(*) FROM sqlite_schema WHERE type = 'table' AND sql LIKE 'CREATE TABLE%%' AND name = '%s'"
             " AND NOT EXISTS (SELECT 1 FROM pragma_table_xinfo('%s') WHERE hidden <> 0)"
             " AND (SELECT count(*) FROM pragma_table_xinfo('%s')) <= %d",
             table->name, table->name, table->name, COLUMNS_MOST);
    *code = sqlite3_prepare_v2(recording->db, sql, -1, &row, NULL);
    *code = *code == SQLITE_OK ? sqlite3_step(row) : *code;
    bool is_plain = *code == SQLITE_ROW && sqlite3_column_int(row, 0) == 1;
    sqlite3_finalize(row);
    return is_plain;
}

/* Whether it lies in the order of its key: to sort it, SQLite would need as much memory as a stranger likes. */
static bool is_in_order(struct recording *recording, const struct table *table, int *code) {
    sqlite3_stmt *row = NULL;
    char sql[200];
    bool sorts = false;
    snprintf(sql, sizeof sql, "EXPLAIN QUERY PLAN SELECT * FROM %s ORDER BY %s", table->name, table->key);
    *code = sqlite3_prepare_v2(recording->db, sql, -1, &row, NULL);
    for (*code = *code == SQLITE_OK ? SQLITE_ROW : *code; *code == SQLITE_ROW;) {
        *code = sqlite3_step(row);
        const unsigned char *detail = *code == SQLITE_ROW ? sqlite3_column_text(row, 3) : NULL;
        sorts = sorts || (detail && strstr((const char *)detail, "TEMP B-TREE"));
    }
    sqlite3_finalize(row);
    *code = *code == SQLITE_DONE ? SQLITE_ROW : *code;
    return !sorts;
}

/* That the tables are there, plain ones with their keys. */
static bool reading_tables(struct recording *recording, const struct table *tables, size_t count, struct failure *why) {
    int code = SQLITE_ROW;
    bool good = true;
    for (size_t i = 0; i < count && good && code == SQLITE_ROW; i++) {
        good = is_plain_table(recording, &tables[i], &code) && is_in_order(recording, &tables[i], &code);
    }
    if (code != SQLITE_ROW) {
        return reading_fail_sql(recording, "it", why);
    }
    return good || reading_fail_damaged(recording, "tables are missing or altered", why);
}

static bool set_text(char **text, sqlite3_stmt *row) {
    const unsigned char *value = sqlite3_column_text(row, 1);
    char *copy = strdup(value ? (const char *)value : "");
    free(*text);
    *text = copy;
    return copy != NULL;
}

/* A word of a newer version, too, is a reason that this one does not know. */
static enum recording_cut cut_named(const char *name) {
    int cut = CUTS - 1;
    while (cut > 0 && strcmp(recording_cut_names[cut], name ? name : "") != 0) {
        cut--;
    }
    return (enum recording_cut)cut;
}

static bool read_meta_row(struct recording_info *info, sqlite3_stmt *row) {
    const unsigned char *text = sqlite3_column_text(row, 0);
    const char *key = text ? (const char *)text : "";
    const struct {
        const char *key;
        uint64_t *value;
    } numbers[] = {
        {"start_ns", &info->start_ns}, {"mono_ns", &info->mono_ns}, {"commit_ns", &info->commit_ns},
        {"events", &info->events},     {"pid", &info->pid},         {"lifetimes", &info->lifetimes},
    };
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++) {
        if (strcmp(key, numbers[i].key) == 0) {
            *numbers[i].value = reading_number(row, 1);
        }
    }
    if (strcmp(key, "objects") == 0) {
        info->objects = reading_number(row, 1) != 0;
    } else if (strcmp(key, "finished") == 0) {
        info->finished = reading_number(row, 1) != 0;
    } else if (strcmp(key, "cut_short_by") == 0) {
        info->cut = cut_named((const char *)sqlite3_column_text(row, 1));
    }
    return (strcmp(key, "command") != 0 || set_text(&info->command, row)) &&
           (strcmp(key, "selected") != 0 || set_text(&info->selected, row)) &&
           (strcmp(key, "kernel") != 0 || set_text(&info->kernel, row)) &&
           (strcmp(key, "tool") != 0 || set_text(&info->tool, row));
}

static bool read_meta(struct recording *recording, struct failure *why) {
    struct recording_info *info = &recording->info;
    info->command = strdup("");
    info->selected = strdup("");
    info->kernel = strdup("");
    info->tool = strdup("");
    sqlite3_stmt *row = NULL;
    bool good = info->command && info->selected && info->kernel && info->tool;
    int code =
        good ? sqlite3_prepare_v2(recording->db, "SELECT key, value FROM meta LIMIT 1000", -1, &row, NULL) : SQLITE_OK;
    while (good && (code == SQLITE_OK || code == SQLITE_ROW)) {
        code = sqlite3_step(row);
        good = code != SQLITE_ROW || read_meta_row(info, row);
    }
    sqlite3_finalize(row);
    if (!good) {
        return reading_fail_memory(recording, why);
    }
    return code == SQLITE_DONE || reading_fail_sql(recording, "table meta", why);
}

/* Half of the memory: what reads more than fits is no use, and a trap must not push out other programs. */
static size_t memory_most(void) {
#if defined(__SANITIZE_ADDRESS__)
    return 0; /* it reserves terabytes of addresses */
#else
    return (size_t)sysconf(_SC_PHYS_PAGES) / 2 * (size_t)sysconf(_SC_PAGESIZE);
#endif
}

static bool give_up_rights(struct failure *why) {
    const struct sandbox sandbox = {.profile = SANDBOX_PARSER, .memory = memory_most()};
    tzset(); /* reads a file */
    return sandbox_enter(&sandbox, why);
}

static bool read_head(struct recording *recording, struct failure *why) {
    static const struct table tables[] = {{"meta", "key"},
                                          {"process", "process"},
                                          {"heap", "heap"},
                                          {"phase", "heap, phase"},
                                          {"phase_histogram", "heap, phase, bucket"},
                                          {"parameter", "process, address, heap_id, name"},
                                          {"event", "event"}};
    static const struct table pause = {"pause", "event"};
    bool good = (open_database(recording) == SQLITE_OK || reading_fail_sql(recording, "it", why)) &&
                reading_tables(recording, tables, sizeof tables / sizeof *tables, why);
    recording->has_pauses = good && sqlite3_table_column_metadata(recording->db, NULL, pause.name, NULL, NULL, NULL,
                                                                  NULL, NULL, NULL) == SQLITE_OK;
    return good && (!recording->has_pauses || reading_tables(recording, &pause, 1, why)) && read_meta(recording, why);
}

struct recording *recording_open_with(const char *path, unsigned how, struct failure *why) {
    struct recording *recording = calloc(1, sizeof *recording);
    if (!recording) {
        failure_set(why, 1, "out of memory");
        return NULL;
    }
    snprintf(recording->path, sizeof recording->path, "%s", path);
    recording->is_last = how & RECORDING_LAST;
    bool good = file_open(&recording->held, path, how & RECORDING_FORCE, why);
    recording->info.live = good && recording->held.is_live;
    good = good && (!(how & RECORDING_LAST) || give_up_rights(why)) && read_head(recording, why);
    if (!good) {
        recording_close(recording);
        return NULL;
    }
    return recording;
}

struct recording *recording_open(const char *path, struct failure *why) {
    return recording_open_with(path, 0, why);
}

const struct recording_info *recording_info(const struct recording *recording) { return &recording->info; }

void recording_close(struct recording *recording) {
    if (recording) {
        sqlite3_finalize(recording->parameters);
        sqlite3_finalize(recording->pause);
        sqlite3_close(recording->db);
        recording_vfs_end(&recording->vfs);
        file_close(&recording->held);
        free(recording->info.command);
        free(recording->info.selected);
        free(recording->info.kernel);
        free(recording->info.tool);
        free(recording->processes);
        free(recording);
    }
}

/* ---- processes ------------------------------------------------------------------------------------------------- */

static int by_number(const void *left, const void *right) {
    const struct file_process *a = left, *b = right;
    return a->number < b->number ? -1 : a->number > b->number;
}

/* Which process has this number in the file; NULL: none. */
static const struct file_process *reading_process(const struct recording *recording, sqlite3_int64 wanted) {
    struct file_process key = {.number = wanted};
    return recording->process_count
               ? bsearch(&key, recording->processes, recording->process_count, sizeof key, by_number)
               : NULL;
}

static bool add_process(struct recording *recording, sqlite3_stmt *row, struct model *model, struct failure *why) {
    struct file_process next = {.number = sqlite3_column_int64(row, 0),
                                .key = {.start_ns = reading_number(row, 2), .pid = (uint32_t)reading_number(row, 1)}};
    if (recording->process_count == PROCESSES_MOST ||
        (recording->process_count && recording->processes[recording->process_count - 1].number >= next.number)) {
        return reading_fail_damaged(recording, "table process", why);
    }
    struct file_process *added =
        array_grow(&recording->processes, &recording->process_room, recording->process_count, sizeof *added);
    if (!added) {
        return reading_fail_memory(recording, why);
    }
    *added = next;
    recording->process_count++;
    if (model) {
        struct process_model *process = model_add_process(model, &next.key);
        if (!process) {
            return reading_fail_memory(recording, why);
        }
        reading_text(process->command, sizeof process->command, row, 3);
        const unsigned char *runtime = sqlite3_column_text(row, 4);
        process->runtime = runtime && strcmp((const char *)runtime, "eden") == 0 ? "eden" : "unknown";
        process->late = reading_number(row, 5) != 0;
        process->ended = reading_number(row, 6) != 0;
        process->lost = (struct model_losses){reading_number(row, 7), reading_number(row, 8), reading_number(row, 9)};
        recording->processes[recording->process_count - 1].place = (size_t)(process - model->processes);
    }
    return true;
}

/* Reads table process; fills the model's processes too where one is given. */
static bool reading_processes(struct recording *recording, struct model *model, struct failure *why) {
    sqlite3_stmt *row = NULL;
    int code = sqlite3_prepare_v2(recording->db,
                                  "SELECT process, pid, start_ns, command, runtime, late, ended,"
                                  " (SELECT value FROM meta WHERE key = 'lost_heaps:' || process),"
                                  " (SELECT value FROM meta WHERE key = 'lost_hits:' || process),"
                                  " (SELECT value FROM meta WHERE key = 'lost_events:' || process) FROM process"
                                  " ORDER BY process",
                                  -1, &row, NULL);
    bool good = true;
    recording->process_count = 0;
    while (good && (code == SQLITE_OK || code == SQLITE_ROW)) {
        code = sqlite3_step(row);
        good = code != SQLITE_ROW || add_process(recording, row, model, why);
    }
    sqlite3_finalize(row);
    return good && (code == SQLITE_DONE || reading_fail_sql(recording, "table process", why));
}

/* Reading a recording's model: heaps, phases, histograms, and the parameters of heaps.
 *
 * Columns are asked for by name, and figures this file doesn't have are "not known": a file made by an older or newer
 * version with the same RECORDING_VERSION reads. What is counted or indexed is checked: the file may be damaged. */

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

static void read_figures(struct heap_model *heap, sqlite3_stmt *row) {
    bool there;
    heap->known = 0;
    for (int i = 0; i < EDEN_FIGURE_COUNT; i++) {
        heap->figures[i] = named_number(row, "", figure_descriptions[i].name, &there);
        heap->known |= (uint64_t)there << i;
        heap->before[i] = named_number(row, "before_", figure_descriptions[i].name, &there);
    }
    for (unsigned i = 0; i < EDEN_FULL_CAUSES; i++) {
        heap->full_by_cause[i] = named_number(row, "full_by_cause_", eden_full_cause_name(i), &there);
        heap->full_by_cause_before[i] = named_number(row, "before_full_by_cause_", eden_full_cause_name(i), &there);
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

static void read_pauses(struct pause_time *time, sqlite3_stmt *row, const char *prefix) {
    char name[32];
    bool ignored;
    for (int i = 0; i < PAUSE_CAUSES; i++) {
        snprintf(name, sizeof name, "%s_ns", pause_cause_names[i]);
        time->ns[i] = named_number(row, prefix, name, &ignored);
    }
    time->faults = named_number(row, prefix, "faults", &ignored);
    time->disk_faults = named_number(row, prefix, "disk_faults", &ignored);
}

static bool read_phase(struct phase_model *phase, sqlite3_stmt *row) {
    phase->calls = reading_number(row, 2);
    phase->total_ns = reading_number(row, 3);
    phase->max_ns = reading_number(row, 4);
    phase->objects = reading_number(row, 5);
    phase->bytes = reading_number(row, 6);
    bool ignored;
    phase->outside_ns = named_number(row, "", "outside_ns", &ignored);
    read_pauses(&phase->pauses, row, "");
    read_pauses(&phase->longest, row, "longest_");
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
                                  " (SELECT value FROM meta WHERE key = 'lost_events:0')",
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
                 serial_column(recording, "parameter"));
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

/* Reading a recording's events.
 *
 * They are read in portions, so that the file is locked for moments only: a recorder may be writing it, and a pager may
 * hold up the reader. */

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
        read_pauses(&event->pause, recording->pause, "");
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
             serial_column(recording, "event"));
    bool good = reading_processes(recording, NULL, why);
    if (good && sqlite3_prepare_v2(recording->db, sql, -1, &row, NULL) != SQLITE_OK) {
        good = reading_fail_sql(recording, "table event", why);
    }
    sqlite3_bind_int64(row, 2, PORTION);
    sqlite3_int64 key = INT64_MIN;
    bool end = false, go_on = true;
    while (good && go_on && !end) {
        size_t count;
        /* A recorder that is at work may have written new processes with these events. */
        good = !recording->info.live || reading_processes(recording, NULL, why);
        good = good && read_portion(recording, row, probes, events, &count, &key, &end, why);
        for (size_t i = 0; good && go_on && i < count; i++) {
            go_on = on_event(context, &events[i].event, events[i].heap_id);
        }
    }
    sqlite3_finalize(row);
    free(events);
    return good;
}

/* Reading the lifetimes of a recording: its batches, and what is of their heaps and classes.
 *
 * Batches are read in portions that are copied, so that the file is locked for moments only: a recorder may be writing
 * it, and a pager may hold up the reader.
 *
 * The file may be hostile. A batch whose number and size of records differ from what its blob holds is left out and
 * counted. The model checks the records themselves, as it does those of a live program. A blob longer than any row may
 * be ends the reading, as any damage to the file does. */

enum { BATCH_PORTION = 16 };

struct portion {
    struct life_batch batches[BATCH_PORTION];
    size_t count, rows;
    uint8_t records[BATCH_PORTION][LIFE_MOST_BATCH_BYTES];
};

/* ---- batches ---------------------------------------------------------------------------------------------------- */

/* Columns as in the statement below. False: it can't be what it says. */
static bool decode(const struct recording *recording, sqlite3_stmt *row, struct portion *portion) {
    struct life_batch *batch = &portion->batches[portion->count];
    const struct file_process *process = reading_process(recording, sqlite3_column_int64(row, 2));
    uint64_t kind = reading_number(row, 5), count = reading_number(row, 6), record_bytes = reading_number(row, 7);
    const void *data = sqlite3_column_blob(row, 8); /* NULL where it is empty */
    uint64_t bytes = data ? (uint64_t)sqlite3_column_bytes(row, 8) : 0;
    if (!process || sqlite3_column_type(row, 8) != SQLITE_BLOB || kind > UINT32_MAX || count > LIFE_MOST_RECORDS ||
        record_bytes < LIFE_LEAST_RECORD || record_bytes > LIFE_MOST_BATCH_BYTES || bytes > LIFE_MOST_BATCH_BYTES ||
        count * record_bytes != bytes) {
        return false;
    }
    *batch = (struct life_batch){.time_ns = reading_number(row, 1),
                                 .process = process->key,
                                 .address = reading_number(row, 3),
                                 .id = reading_number(row, 4),
                                 .serial = reading_number(row, 9),
                                 .kind = (uint32_t)kind,
                                 .count = (uint32_t)count,
                                 .record_bytes = (uint32_t)record_bytes,
                                 .records = portion->records[portion->count]};
    if (data) {
        memcpy(portion->records[portion->count], data, bytes);
    }
    return true;
}

/* The rows after *key, which becomes that of the last one. */
static bool read_batch_portion(struct recording *recording, sqlite3_stmt *row, struct portion *portion,
                               sqlite3_int64 *key, struct failure *why) {
    bool good = true;
    int code = SQLITE_ROW;
    portion->count = portion->rows = 0;
    sqlite3_bind_int64(row, 1, *key);
    while (good && code == SQLITE_ROW && portion->rows < BATCH_PORTION) {
        code = sqlite3_step(row);
        if (code == SQLITE_ROW) {
            portion->rows++;
            good = sqlite3_column_int64(row, 0) > *key || reading_fail_damaged(recording, "table life_batch", why);
            *key = sqlite3_column_int64(row, 0);
            bool sound = decode(recording, row, portion);
            portion->count += sound;
            recording->bad_batches += !sound;
        }
    }
    if (good && code != SQLITE_DONE && code != SQLITE_ROW) {
        good = reading_fail_sql(recording, "table life_batch", why);
    }
    sqlite3_reset(row);
    return good;
}

/* A life_batches. */
static bool read_batches(void *from, life_batch_fn *on_batch, void *context, struct failure *why) {
    struct recording *recording = from;
    struct portion *portion = calloc(1, sizeof *portion);
    sqlite3_stmt *row = NULL;
    if (!portion) {
        return reading_fail_memory(recording, why);
    }
    recording->bad_batches = 0;
    char sql[160];
    snprintf(sql, sizeof sql,
             "SELECT batch, time_ns, process, heap, heap_id, kind, count, record_bytes, data, %s FROM life_batch"
             " WHERE batch > ? ORDER BY batch",
             serial_column(recording, "life_batch"));
    bool good = reading_processes(recording, NULL, why);
    if (good && sqlite3_prepare_v2(recording->db, sql, -1, &row, NULL) != SQLITE_OK) {
        good = reading_fail_sql(recording, "table life_batch", why);
    }
    sqlite3_int64 key = INT64_MIN;
    bool go_on = good, end = false;
    while (good && go_on && !end) {
        /* A recorder that is at work may have written new processes with these batches. */
        good = !recording->info.live || reading_processes(recording, NULL, why);
        good = good && read_batch_portion(recording, row, portion, &key, why);
        end = portion->rows < BATCH_PORTION;
        for (size_t i = 0; good && go_on && i < portion->count; i++) {
            go_on = on_batch(context, &portion->batches[i]);
        }
    }
    sqlite3_finalize(row);
    free(portion);
    return good;
}

/* ---- names ------------------------------------------------------------------------------------------------------ */

/* A row of table class, in the order of process, address and heap, as the event that it came of. The creation of
 * preexisting heaps was not observed, and some of their classes may have been reported before their number was known.
 * */
static void name_class(struct life_names *names, const struct recording *recording, sqlite3_stmt *row,
                       struct event *last) {
    const struct file_process *process = reading_process(recording, sqlite3_column_int64(row, 0));
    uint64_t address = reading_number(row, 1), id = reading_number(row, 2), serial = reading_number(row, 7);
    bool created = id != 0 && reading_number(row, 6) == 0;
    if (!process) {
        return;
    }
    if (created && (!process_is_same(&last->process, &process->key) || event_heap(last) != address ||
                    EDEN_ARG(last->arg, heap__create, heap_id) != id || last->serial != serial)) {
        *last = (struct event){.process = process->key,
                               .probe = EDEN_PROBE_heap__create,
                               .args = 2,
                               .serial = serial,
                               .arg = {[EDEN_AT(heap__create, heap)] = address, [EDEN_AT(heap__create, heap_id)] = id}};
        life_names_event(names, last);
    }
    struct event define = {.process = process->key, .probe = EDEN_PROBE_class__define, .args = 4, .serial = serial};
    EDEN_ARG(define.arg, class__define, heap) = address;
    EDEN_ARG(define.arg, class__define, class_id) = reading_number(row, 3);
    reading_text(define.text[0], sizeof define.text[0], row, 4);
    EDEN_ARG(define.arg, class__define, of_class) = reading_number(row, 5);
    life_names_event(names, &define);
}

static bool read_names(struct recording *recording, struct life_names *names, struct failure *why) {
    sqlite3_stmt *row = NULL;
    struct event last = {0};
    const char *serial = serial_column(recording, "class");
    const char *prefix = strcmp(serial, "0") == 0 ? "" : "class.", *other = prefix[0] ? "heap." : "";
    char sql[400];
    snprintf(sql, sizeof sql,
             "SELECT class.process, class.address, class.heap_id, class_id, class.name, of_class, late, %s%s FROM class"
             " LEFT JOIN heap ON heap.process = class.process AND heap.address = class.address"
             " AND heap.heap_id = class.heap_id AND %s%s = %s%s"
             " ORDER BY class.process, class.address, class.heap_id, class_id LIMIT 2000000",
             prefix, serial, other, serial, prefix, serial);
    int code = sqlite3_prepare_v2(recording->db, sql, -1, &row, NULL);
    while (code == SQLITE_OK || code == SQLITE_ROW) {
        code = sqlite3_step(row);
        if (code == SQLITE_ROW) {
            name_class(names, recording, row, &last);
        }
    }
    sqlite3_finalize(row);
    return code == SQLITE_DONE || reading_fail_sql(recording, "table class", why);
}

/* ---- the model -------------------------------------------------------------------------------------------------- */

static bool check_tables(struct recording *recording, struct failure *why) {
    if (recording->info.lifetimes == 0) {
        return failure_set(why, 1, "%.200s: contains no lifetimes; record with `edenscope record --lifetimes`",
                           recording->path);
    }
    static const struct table tables[] = {{"life_batch", "batch"}, {"class", "process, address, heap_id, class_id"}};
    return reading_tables(recording, tables, sizeof tables / sizeof *tables, why);
}

/* Every observed heap is in the model, even if it reported nothing. */
static bool take_heaps(struct recording *recording, struct life_model *to, struct failure *why) {
    struct model model = {0};
    bool good = recording_model(recording, &model, why);
    to->wall_ns = model.wall_ns;
    to->lost = model.lost_records;
    for (size_t i = 0; good && i < model.process_count; i++) {
        const struct process_model *process = &model.processes[i];
        for (size_t j = 0; good && j < process->heap_count; j++) {
            const struct heap_model *from = &process->heaps[j];
            struct life_heap *heap = life_model_heap(to, &process->key, HEAP_REF(from));
            good = heap || reading_fail_memory(recording, why);
            if (heap) {
                snprintf(heap->name, sizeof heap->name, "%s", from->name);
                snprintf(heap->command, sizeof heap->command, "%s", process->command);
            }
        }
    }
    if (model.lost) {
        message_print("%s: %" PRIu64 " events were lost, so class names may be missing", recording->path, model.lost);
    }
    model_clear(&model);
    return good;
}

static bool apply_names(struct recording *recording, struct life_model *model, struct failure *why) {
    struct life_names names = {0};
    bool good = read_names(recording, &names, why);
    for (size_t i = 0; good && i < model->heap_count; i++) {
        good = !life_model_is_interrupted(model, why);
        sum_add(&model->lost, model->heaps[i].state.lost);
        life_names_apply(&names, &model->heaps[i]);
    }
    life_names_clear(&names);
    return good;
}

bool recording_lifetimes(struct recording *recording, struct life_model *model, struct failure *why) {
    recording->replay = (struct life_replay){read_batches, recording};
    model->interrupts = recording->interrupts;
    bool good = check_tables(recording, why) && take_heaps(recording, model, why) &&
                life_replay_model(&recording->replay, model, why);
    life_limit(model);
    life_model_sort(model);
    good = good && apply_names(recording, model, why);
    sum_add(&model->lost, recording->bad_batches);
    if (good && recording->bad_batches) {
        message_print("%s: %" PRIu64 " batches with wrong sizes are skipped", recording->path, recording->bad_batches);
    }
    if (recording->info.lifetimes & EDEN_CONTROL_OBJECTS) {
        model->objects = (struct life_objects){life_replay_objects, &recording->replay};
    }
    if (good) {
        life_model_report_beyond(model);
    }
    return good;
}
