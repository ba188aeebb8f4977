/* Reading a recording.
 *
 * The file may be half written, cut short, damaged, or made to harm whoever opens it. recording_file.c opens it and
 * copies what is not the caller's. Then the process gives up its rights, and only then SQLite looks at the content:
 * - nothing is mapped into memory: a file that shrinks would raise SIGBUS;
 * - views and triggers are off, and the schema may call no function that reaches outside;
 * - tables must be plain tables without generated columns, whose expressions could run for hours;
 * - lengths are bounded, and so is the work, by the data in the file, not its holes; a signal ends it;
 * - what is counted or indexed is checked: keys must rise (a damaged tree may run in circles), numbers of rows have
 *   limits, names that are not known are skipped. */
#include "recording/reading.h"
#include "util/interrupt.h"
#include "util/sandbox.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum {
    PROCESSES_MOST = 65536,
    LENGTH_MOST = 256 * 1024, /* of a text or a row; the longest text is that of view `collection` */
    /* A row of 40 bytes takes some 60 steps of SQLite's machine; a few of the tables are read several times. */
    STEPS_BYTE = 50,
    STEPS_LEAST = 100000000,
    STEPS_EACH = 10000, /* between two looks at the budget */
};

bool reading_fail_sql(struct recording *recording, const char *doing, struct failure *why) {
    if (recording->steps > recording->steps_most) {
        return reading_fail_damaged(recording, "reading it takes more work than any recording of its size", why);
    }
    recording_fail_sql(why, recording->path, doing, recording->db);
    return false;
}

bool reading_fail_damaged(struct recording *recording, const char *what, struct failure *why) {
    failure_set(why, 1, "%.200s: the recording is damaged: %s; record again", recording->path, what);
    return false;
}

bool reading_fail_memory(struct recording *recording, struct failure *why) {
    failure_set(why, 1, "%.200s: out of memory", recording->path);
    return false;
}

uint64_t reading_number(sqlite3_stmt *row, int column) { return (uint64_t)sqlite3_column_int64(row, column); }

void reading_text(char *text, size_t size, sqlite3_stmt *row, int column) {
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
    recording->steps += STEPS_EACH;
    return recording->steps > recording->steps_most || interrupt_count() != recording->interrupts;
}

static int harden(struct recording *recording) {
    sqlite3 *db = recording->db;
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

static int open_database(struct recording *recording) {
    const struct file_held *held = &recording->held;
    recording->vfs = (struct recording_vfs){
        .database = held->database, .journal = held->journal, .is_shared = !held->is_copy, .is_restored = held->is_cut};
    recording->interrupts = interrupt_count();
    recording->steps_most = STEPS_LEAST + STEPS_BYTE * file_data_bytes(held->database);
    int code = recording_vfs_open(&recording->vfs, &recording->db, held->is_copy);
    code = code == SQLITE_OK ? harden(recording) : code;
    /* The first read undoes half a transaction in the copy. */
    return code == SQLITE_OK ? sql_run(recording->db, "SELECT count(*) FROM sqlite_schema") : code;
}

bool reading_tables(struct recording *recording, const char *names, int count, struct failure *why) {
    sqlite3_stmt *row = NULL;
    char sql[400];
    snprintf(sql, sizeof sql,
             "SELECT count(*) FROM sqlite_schema AS entry WHERE type = 'table' AND sql LIKE 'CREATE TABLE%%' AND name "
             "IN (%s)"
             " AND NOT EXISTS (SELECT 1 FROM pragma_table_xinfo(entry.name) WHERE hidden <> 0)",
             names);
    int code = sqlite3_prepare_v2(recording->db, sql, -1, &row, NULL);
    code = code == SQLITE_OK ? sqlite3_step(row) : code;
    int tables = code == SQLITE_ROW ? sqlite3_column_int(row, 0) : 0;
    sqlite3_finalize(row);
    if (code != SQLITE_ROW) {
        return reading_fail_sql(recording, "cannot read it", why);
    }
    return tables == count || reading_fail_damaged(recording, "tables are missing or altered", why);
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
        return reading_fail_memory(recording, why);
    }
    return code == SQLITE_DONE || reading_fail_sql(recording, "cannot read table meta", why);
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
    return (open_database(recording) == SQLITE_OK || reading_fail_sql(recording, "cannot read it", why)) &&
           reading_tables(recording, "'meta', 'process', 'heap', 'phase', 'phase_histogram', 'parameter', 'event'", 7,
                          why) &&
           read_meta(recording, why);
}

struct recording *recording_open_with(const char *path, unsigned how, struct failure *why) {
    struct recording *recording = calloc(1, sizeof *recording);
    if (!recording) {
        failure_set(why, 1, "out of memory");
        return NULL;
    }
    snprintf(recording->path, sizeof recording->path, "%s", path);
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
        sqlite3_close(recording->db);
        recording_vfs_end(&recording->vfs);
        file_close(&recording->held);
        free(recording->info.command);
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

const struct file_process *reading_process(const struct recording *recording, sqlite3_int64 wanted) {
    struct file_process key = {.number = wanted};
    return recording->process_count
               ? bsearch(&key, recording->processes, recording->process_count, sizeof key, by_number)
               : NULL;
}

static bool add_process(struct recording *recording, sqlite3_stmt *row, struct model *model, struct failure *why) {
    struct file_process next = {sqlite3_column_int64(row, 0),
                                {.start_ns = reading_number(row, 2), .pid = (uint32_t)reading_number(row, 1)}};
    if (recording->process_count == PROCESSES_MOST ||
        (recording->process_count && recording->processes[recording->process_count - 1].number >= next.number)) {
        return reading_fail_damaged(recording, "table process", why);
    }
    struct file_process *more = reallocarray(recording->processes, recording->process_count + 1, sizeof *more);
    if (!more) {
        return reading_fail_memory(recording, why);
    }
    recording->processes = more;
    more[recording->process_count++] = next;
    if (model) {
        struct process_model *process = model_process(model, &next.key);
        if (!process) {
            return reading_fail_memory(recording, why);
        }
        reading_text(process->command, sizeof process->command, row, 3);
        const unsigned char *runtime = sqlite3_column_text(row, 4);
        process->runtime = runtime && strcmp((const char *)runtime, "eden") == 0 ? "eden" : "unknown";
        process->late = reading_number(row, 5) != 0;
        process->ended = reading_number(row, 6) != 0;
        process->lost_heaps = reading_number(row, 7);
        process->lost_hits = reading_number(row, 8);
        process->lost_events = reading_number(row, 9);
    }
    return true;
}

bool reading_processes(struct recording *recording, struct model *model, struct failure *why) {
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
    return good && (code == SQLITE_DONE || reading_fail_sql(recording, "cannot read table process", why));
}
