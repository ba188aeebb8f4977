/* What the tests of recordings share: a folder of the test's own, files as bytes, and recorders that must not fail. */
#ifndef EDEN_TESTS_RECORDING_SUPPORT_H
#define EDEN_TESTS_RECORDING_SUPPORT_H

#include "recording/recording_sql.h"
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "suite.h"

static inline int enter_folder(void **state) {
    char *folder = strdup("/tmp/eden-recording-XXXXXX");
    *state = folder;
    return folder && mkdtemp(folder) && chdir(folder) == 0 ? 0 : -1;
}

static inline int leave_folder(void **state) {
    char remove[256];
    snprintf(remove, sizeof remove, "rm -rf '%s'", (char *)*state);
    int status = chdir("/") == 0 ? system(remove) : -1;
    free(*state);
    return status;
}

static inline void write_file(const char *path, const void *bytes, size_t size) {
    int file = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    assert_true(file >= 0);
    assert_int_equal(write(file, bytes, size), size);
    close(file);
}

static inline unsigned char *read_file(const char *path, size_t *size) {
    struct stat status;
    int file = open(path, O_RDONLY | O_CLOEXEC);
    assert_true(file >= 0);
    assert_int_equal(fstat(file, &status), 0);
    *size = (size_t)status.st_size;
    unsigned char *bytes = malloc(*size + 1);
    assert_non_null(bytes);
    assert_int_equal(read(file, bytes, *size), *size);
    close(file);
    return bytes;
}

static inline void add(struct recorder *recorder, const struct event *event) {
    struct failure why = {0};
    if (!recorder_add(recorder, event, &why)) {
        fail_msg("%s", why.message);
    }
}

static inline void commit(struct recorder *recorder, const struct model *model, bool finished) {
    struct failure why = {0};
    if (!recorder_commit(recorder, model, finished, &why)) {
        fail_msg("%s", why.message);
    }
}

static inline struct recording *open_good(const char *path) {
    struct failure why = {0};
    struct recording *recording = recording_open(path, &why);
    if (!recording) {
        fail_msg("%s", why.message);
    }
    return recording;
}

/* For __attribute__((cleanup(close_recording))). */
static inline void close_recording(struct recording **recording) { recording_close(*recording); }

/* Leaves a transaction that changed the file and did not end: its pages are written, its journal is there. */
static inline void cut_transaction(const char *path) {
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        sqlite3 *db = NULL;
        bool good = sqlite3_open(path, &db) == SQLITE_OK &&
                    sqlite3_exec(db,
                                 "PRAGMA cache_size = 1; BEGIN; UPDATE heap SET name = 'half';"
                                 "UPDATE meta SET value = 'half' WHERE key <> 'wall_ns'; CREATE TABLE filler(x);"
                                 "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 200)"
                                 "INSERT INTO filler SELECT zeroblob(4000) FROM n",
                                 NULL, NULL, NULL) == SQLITE_OK;
        raise(good ? SIGKILL : SIGTERM);
    }
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
}

/* Made and put in its place. */
static inline struct recorder *begin_with(const struct recorder_options *options) {
    struct failure why = {0};
    struct recorder *recorder = recorder_create(options, &why);
    if (!recorder || !recorder_publish(recorder, &why)) {
        fail_msg("%s", why.message);
    }
    return recorder;
}

#endif
