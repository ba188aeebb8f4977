/* Reading a recording.
 *
 * 1. Purpose
 * The file may be half written, cut short, damaged, or made to harm its reader.
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
#include "recording/reading.h"
#include "util/clock.h"
#include "util/format.h"
#include "util/interrupt.h"
#include "util/message.h"
#include "util/sandbox.h"
#include "util/test_switch.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum {
    SQLITE_BYTES_MOST = 16 << 20, /* of memory, as long as no other recording is open */
    LENGTH_MOST = 256 * 1024,     /* of a text or a row; the longest text is that of view `collection` */
    /* A row of 40 bytes takes some 60 steps of SQLite's machine; a few of the tables are read several times. */
    STEPS_BYTE = 50,
    STEPS_LEAST = 100000000,
    STEPS_SCHEMA = 100000, /* some 10,000 rows, or 10 MB */
    STEPS_EACH = 10000,    /* between two looks at the budget */
};

bool reading_fail_damaged(struct recording *recording, const char *what, struct failure *why) {
    failure_set(why, 1, "%.200s: the recording is damaged: %s; record again", recording->path, what);
    return false;
}

bool reading_fail_sql(struct recording *recording, const char *what, struct failure *why) {
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

bool reading_fail_memory(struct recording *recording, struct failure *why) {
    failure_set(why, 1, "%.200s: out of memory", recording->path);
    return false;
}

const char *reading_serial_column(const struct recording *recording, const char *table) {
    int code = sqlite3_table_column_metadata(recording->db, NULL, table, "serial", NULL, NULL, NULL, NULL, NULL);
    return code == SQLITE_OK ? "serial" : "0";
}

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

bool reading_tables(struct recording *recording, const struct table *tables, size_t count, struct failure *why) {
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

void reading_progress(struct recording *recording, uint64_t rows, uint64_t all, const char *what) {
    char done[FORMAT_MAX], of[FORMAT_MAX];
    const uint64_t now = now_ns(), wait_ns = test_switch("EDENSCOPE_IMPATIENT") ? 0 : 3000000000;
    if (!recording->says_progress || now - recording->said_ns < wait_ns) {
        return;
    }
    recording->said_ns = now;
    message_print("%.200s: %s%s%s %s read", recording->path, format_count(done, rows), all ? " of " : "",
                  all ? format_count(of, all) : "", what);
}

struct recording *recording_open_with(const char *path, unsigned how, struct failure *why) {
    struct recording *recording = calloc(1, sizeof *recording);
    if (!recording) {
        failure_set(why, 1, "out of memory");
        return NULL;
    }
    snprintf(recording->path, sizeof recording->path, "%s", path);
    recording->is_last = how & RECORDING_LAST;
    recording->says_progress = message_is_on_terminal();
    recording->said_ns = now_ns();
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
