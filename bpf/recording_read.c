/* Reading a recording.
 *
 * The file may be half written, cut short, damaged, or made to harm whoever opens it. So: it is opened read-only and
 * not mapped into memory (a file that shrinks would raise SIGBUS), views and triggers are off, its schema may call no
 * function that reaches outside, tables must be plain tables, lengths are bounded, and what is counted or indexed is
 * checked here: keys must rise (a damaged tree may run in circles), numbers of rows have limits, names that are not
 * known are skipped. */
#include "reading.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    PROCESSES_MOST = 65536,
    LENGTH_MOST = 256 * 1024, /* of a text or a row; the longest text is that of view `collection` */
};

bool reading_fail_sql(struct recording *recording, const char *doing, struct failure *why) {
    recording_fail_sql(why, recording->path, doing, recording->db);
    return false;
}

bool reading_fail_damaged(struct recording *recording, const char *what, struct failure *why) {
    failure_set(why, 1, "%.200s: the recording is damaged: %s; make it again", recording->path, what);
    return false;
}

bool reading_fail_memory(struct recording *recording, struct failure *why) {
    failure_set(why, 1, "%.200s: no memory to read it", recording->path);
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

bool reading_tables(struct recording *recording, const char *names, int count, struct failure *why) {
    sqlite3_stmt *row = NULL;
    char sql[256];
    snprintf(sql, sizeof sql,
             "SELECT count(*) FROM sqlite_schema WHERE type = 'table' AND sql LIKE 'CREATE TABLE%%' AND name IN (%s)",
             names);
    int code = sqlite3_prepare_v2(recording->db, sql, -1, &row, NULL);
    code = code == SQLITE_OK ? sqlite3_step(row) : code;
    int tables = code == SQLITE_ROW ? sqlite3_column_int(row, 0) : 0;
    sqlite3_finalize(row);
    if (code != SQLITE_ROW) {
        return reading_fail_sql(recording, "can't read it", why);
    }
    return tables == count || reading_fail_damaged(recording, "tables are missing", why);
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
    return code == SQLITE_DONE || reading_fail_sql(recording, "can't read table meta", why);
}

static bool look_at_file(struct recording *recording, const char *path, struct file_look *look, struct failure *why) {
    if (!file_look(path, look, why)) {
        return false;
    }
    if (look->kind == FILE_MISSING) {
        failure_set(why, 1, "%.200s: no such file; make one with `edenscope record`, or name another one with -i",
                    path);
        return false;
    }
    if (look->kind != FILE_RECORDING) {
        failure_set(why, 1, "%.200s: is not a recording of edenscope%s; name another file with -i", path,
                    look->kind == FILE_EMPTY ? ", it is empty" : "");
        return false;
    }
    if (look->version != RECORDING_VERSION) {
        failure_set(
            why, 1,
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
        failure_set(why, 1, "no memory");
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
        reading_fail_sql(recording, "can't read it", why);
        recording_close(recording);
        return NULL;
    }
    if (!reading_tables(recording, "'meta', 'process', 'heap', 'phase', 'phase_histogram', 'parameter', 'event'", 7,
                        why) ||
        !read_meta(recording, why)) {
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
    }
    return true;
}

bool reading_processes(struct recording *recording, struct model *model, struct failure *why) {
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
    return good && (code == SQLITE_DONE || reading_fail_sql(recording, "can't read table process", why));
}
