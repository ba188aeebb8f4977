/* Beginning and end of a recording: its file, its connection, what it says of itself.
 *
 * The file is made under a temporary name and put in its place by recorder_publish: SQLite finds a journal by the name
 * of its file, so the connection is closed before the renaming and opened after.
 *
 * Nothing that stands at the path is lost before that, and nothing but a recording without --force. */
#include "clock.h"
#include "commands.h"
#include "recorder.h"
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

enum { BUSY_MS = 200 }; /* how long to wait for a reader before others are served */

bool recorder_same_process(const struct process_key *a, const struct process_key *b) {
    return a->pid == b->pid && a->start_ns == b->start_ns;
}

void recorder_bind(sqlite3_stmt *statement, int place, uint64_t value) {
    sqlite3_bind_int64(statement, place, (sqlite3_int64)value);
}

void recorder_bind_text(sqlite3_stmt *statement, int place, const char *text, size_t most) {
    sqlite3_bind_text(statement, place, text, (int)strnlen(text, most), SQLITE_STATIC);
}

int recorder_write_meta(struct recorder *recorder, const char *key, uint64_t value) {
    recorder_bind_text(recorder->meta, 1, key, 64);
    recorder_bind(recorder->meta, 2, value);
    return sql_step(recorder->meta);
}

static int write_meta_text(struct recorder *recorder, const char *key, const char *value) {
    recorder_bind_text(recorder->meta, 1, key, 64);
    recorder_bind_text(recorder->meta, 2, value, COMMAND_MOST);
    return sql_step(recorder->meta);
}

static void close_database(struct recorder *recorder) {
    sqlite3_stmt **statements[] = {
        &recorder->event,          &recorder->class,       &recorder->parameter, &recorder->process,
        &recorder->heap,           &recorder->phase,       &recorder->bucket,    &recorder->forget_phases,
        &recorder->forget_buckets, &recorder->forget_heap, &recorder->meta,      &recorder->batch,
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
        {&recorder->class, "INSERT OR REPLACE INTO class(process, address, heap_id, class_id, name, of_class)"
                           " VALUES(?,?,?,?,?,?)"},
        {&recorder->parameter, "INSERT OR REPLACE INTO parameter VALUES(?,?,?,?,?)"},
        {&recorder->process, "INSERT OR REPLACE INTO process VALUES(?,?,?,?,?,?,?)"},
        {&recorder->heap, heap},
        {&recorder->phase, "INSERT OR REPLACE INTO phase VALUES(?,?,?,?,?,?,?)"},
        {&recorder->bucket, "INSERT OR REPLACE INTO phase_histogram VALUES(?,?,?,?,?,?)"},
        {&recorder->forget_phases, "DELETE FROM phase WHERE heap = ?"},
        {&recorder->forget_buckets, "DELETE FROM phase_histogram WHERE heap = ?"},
        {&recorder->forget_heap, "DELETE FROM heap WHERE heap = ?"},
        {&recorder->meta, "INSERT OR REPLACE INTO meta VALUES(?,?)"},
        {&recorder->batch, "INSERT INTO life_batch VALUES(NULL,?,?,?,?,?,?,?,?)"},
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
        host = (struct utsname){.release = "unknown"};
    }
    int code = recorder_write_meta(recorder, "format_version", RECORDING_VERSION);
    code = code == SQLITE_OK ? write_meta_text(recorder, "tool", EDENSCOPE_VERSION) : code;
    code = code == SQLITE_OK ? write_meta_text(recorder, "kernel", host.release) : code;
    code = code == SQLITE_OK ? write_meta_text(recorder, "command", command) : code;
    code = code == SQLITE_OK ? recorder_write_meta(recorder, "pid", (uint64_t)options->pid) : code;
    code = code == SQLITE_OK ? recorder_write_meta(recorder, "start_ns", clock_ns(CLOCK_REALTIME)) : code;
    code = code == SQLITE_OK ? recorder_write_meta(recorder, "mono_ns", clock_ns(CLOCK_MONOTONIC)) : code;
    code = code == SQLITE_OK ? recorder_write_meta(recorder, "commit_ns", clock_ns(CLOCK_MONOTONIC)) : code;
    code = code == SQLITE_OK ? recorder_write_meta(recorder, "objects", options->objects) : code;
    code = code == SQLITE_OK ? recorder_write_meta(recorder, "lifetimes", options->lifetimes) : code;
    static const char *const zeros[] = {"events", "finished", "lost", "lost_records", "wall_ns"};
    for (size_t i = 0; i < sizeof zeros / sizeof zeros[0] && code == SQLITE_OK; i++) {
        code = recorder_write_meta(recorder, zeros[i], 0);
    }
    return code;
}

/* Whether the recording may stand at path: nothing that is of worth to others must go. */
static bool may_replace(const struct file_look *look, const struct recorder_options *options, struct failure *why) {
    if (look->kind == FILE_OTHER && access(look->path, F_OK) == 0) {
        struct stat status;
        if (stat(look->path, &status) != 0 || !S_ISREG(status.st_mode)) {
            failure_set(why, 1, "%.200s: is not a plain file; name another one with -o", options->path);
            return false;
        }
        if (!options->force) {
            failure_set(why, 1,
                        "%.200s: is a file but not a recording, so it is left alone; name another one with -o, or "
                        "replace it with --force",
                        options->path);
            return false;
        }
    }
    if (look->live) {
        failure_set(why, 1, "%.200s: another edenscope is recording to it; name another file with -o", options->path);
        return false;
    }
    return true;
}

static bool make_file(struct recorder *recorder, const struct recorder_options *options, struct failure *why) {
    int length = snprintf(recorder->temporary, sizeof recorder->temporary, "%s.XXXXXX", recorder->path);
    if (length < 0 || (size_t)length >= sizeof recorder->temporary - sizeof "-journal") {
        failure_set(why, 1, "%.200s...: the name is too long; name another file with -o", options->path);
        return false;
    }
    int file = mkostemp(recorder->temporary, O_CLOEXEC);
    if (file < 0) {
        recorder->temporary[0] = '\0';
        failure_set(why, 1, "%.200s: can't make a file there: %m; name another place with -o", options->path);
        return false;
    }
    close(file);
    recorder->lock = file_lock(recorder->temporary);
    if (recorder->lock < 0) {
        failure_set(why, 1, "%.200s: can't lock it: %m", options->path);
        return false;
    }
    return true;
}

struct recorder *recorder_create(const struct recorder_options *options, struct failure *why) {
    struct file_look look;
    struct recorder *recorder = calloc(1, sizeof *recorder);
    if (!recorder) {
        failure_set(why, 1, "no memory");
        return NULL;
    }
    recorder->lock = -1;
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
        failure_set(why, 1, "%.200s: another edenscope has begun to record to it; name another file with -o",
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
        failure_set(why, 1, "%.200s: can't put the recording there: %m", recorder->path);
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
    free(recorder->batches.at);
    free(recorder->processes);
    free(recorder->heaps);
    free(recorder->written);
    free(recorder);
}
