/* Damaged recordings: whatever the bytes of a file are, and wherever its recorder was ended, reading it gives whole
 * transactions or an error. */
#include "recording_builder.h"
#include <glob.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>

/* ---- damage ------------------------------------------------------------------------------------------------------ */

static bool count_event(void *context, const struct event *event, uint64_t heap_id) {
    (void)heap_id;
    *(uint64_t *)context += event->args;
    return true;
}

/* Whatever comes of it: an error with words, or a read. */
static void read_all(const char *path) {
    struct failure why = {0};
    struct recording *recording __attribute__((cleanup(close_recording))) = recording_open(path, &why);
    if (!recording) {
        assert_true(why.message[0] != '\0');
        return;
    }
    struct model model __attribute__((cleanup(model_clear))) = {0};
    uint64_t count = 0;
    char parameters[256] = "";
    struct process_key key = process_key(100);
    if (!recording_model(recording, &model, &why) || !recording_events(recording, NULL, count_event, &count, &why) ||
        !recording_parameters(recording, &key, (struct heap_ref){0x1000, 1, 0}, collect_parameter, parameters, &why)) {
        assert_true(why.message[0] != '\0');
    }
    for (size_t i = 0; i < model.process_count; i++) {
        for (size_t j = 0; j < model.processes[i].heap_count; j++) {
            for (int k = 0; k < EDEN_PHASE_COUNT; k++) {
                if (model.processes[i].heaps[j].phase[k]) {
                    phase_percentile(model.processes[i].heaps[j].phase[k], 99);
                }
            }
        }
    }
}

/* A small recording with something in every table. */
static unsigned char *sample(size_t *size) {
    unsigned seed = 7;
    struct recorder *recorder = begin("sample.data");
    struct model model = {0};
    for (uint64_t i = 0; i < 300; i++) {
        struct event event = random_event(&seed, 1000 + i);
        add(recorder, &event);
    }
    fill_model(&model, 2);
    commit(recorder, &model, true);
    recorder_close(recorder);
    model_clear(&model);
    return read_file("sample.data", size);
}

/* A file that is a recording by its header, and holds something else in place of the tables. */
TEST(hostile_schemas_do_no_harm) {
    static const char *const schemas[] = {
        "CREATE TABLE x(a)",
        "CREATE VIEW event AS WITH RECURSIVE r(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM r) SELECT n AS event, n AS"
        " time_ns FROM r",
        "DROP TABLE heap; CREATE VIEW heap AS WITH RECURSIVE r(n) AS (SELECT 1 UNION ALL SELECT n FROM r) SELECT n AS "
        "heap"
        " FROM r",
        "DROP TABLE event; CREATE TABLE event(event, time_ns)",
        "DROP TABLE meta; CREATE TABLE meta(key, value AS (randomblob(1000000000)))",
        "UPDATE heap SET process = 99",
        "UPDATE heap SET heap = -9223372036854775808 WHERE heap = 1",
        "UPDATE phase SET phase = zeroblob(200000)",
        "UPDATE phase_histogram SET bucket = -1 WHERE bucket = 0",
        "UPDATE phase_histogram SET bucket = 640 WHERE bucket = 639",
        "UPDATE phase_histogram SET heap = 12345 WHERE bucket = 0",
        "UPDATE process SET command = zeroblob(1000000)",
        "UPDATE event SET args = 4000000000, probe = -1, process = 12345, text0 = zeroblob(100000)",
        "UPDATE meta SET value = 'no number' WHERE key = 'wall_ns'",
        "DELETE FROM meta",
        "DROP TABLE heap; CREATE TABLE heap(heap TEXT, process BLOB)",
    };
    size_t size;
    unsigned char *bytes = sample(&size);
    for (size_t i = 0; i < sizeof schemas / sizeof schemas[0]; i++) {
        write_file("hostile.data", bytes, size);
        sqlite3 *db = NULL;
        assert_int_equal(sqlite3_open("hostile.data", &db), SQLITE_OK);
        sqlite3_exec(db, schemas[i], NULL, NULL, NULL);
        sqlite3_close(db);
        read_all("hostile.data");
    }
    free(bytes);
}

/* A page that stands in a table a thousand times has a thousand times its rows: found at the first row that comes
 * again. */
TEST(rows_that_come_again_are_damage) {
    static const char *const tables[] = {"phase", "phase_histogram"},
                             *const columns[] = {"heap, phase, calls, total_ns, max_ns, objects, bytes, outside_ns",
                                                 "heap, phase, bucket, low_ns, high_ns, count"},
                             *const keys[] = {"heap, phase", "heap, phase, bucket"};
    for (size_t i = 0; i < 2; i++) {
        size_t size;
        unsigned char *bytes = sample(&size);
        char sql[500];
        snprintf(sql, sizeof sql,
                 "CREATE TABLE again AS SELECT %s, 1 FROM %s UNION ALL SELECT %s, 2 FROM %s; DROP TABLE %s;"
                 "CREATE TABLE %s(%s, time, PRIMARY KEY(%s, time)) WITHOUT ROWID; INSERT INTO %s SELECT * FROM again",
                 columns[i], tables[i], columns[i], tables[i], tables[i], tables[i], columns[i], keys[i], tables[i]);
        sqlite3 *db = NULL;
        assert_int_equal(sqlite3_open("sample.data", &db), SQLITE_OK);
        assert_int_equal(sqlite3_exec(db, sql, NULL, NULL, NULL), SQLITE_OK);
        sqlite3_close(db);
        struct recording *recording = open_good("sample.data");
        struct model model = {0};
        struct failure why = {0};
        assert_false(recording_model(recording, &model, &why));
        snprintf(sql, sizeof sql, "the recording is damaged: table %s;", tables[i]);
        assert_non_null(strstr(why.message, sql));
        model_clear(&model);
        recording_close(recording);
        free(bytes);
    }
}

/* SQLite would fill the last page with zeros. */
TEST(a_file_without_its_end_is_refused) {
    size_t size;
    struct failure why;
    unsigned char *bytes = sample(&size);
    static const size_t missing[] = {1, 2, 100, 4095};
    for (size_t i = 0; i < sizeof missing / sizeof *missing; i++) {
        write_file("sample.data", bytes, size - missing[i]);
        assert_null(recording_open("sample.data", &why));
        assert_non_null(strstr(why.message, "its end is missing"));
    }
    free(bytes);
}

/* Holes cost nothing to make, so they allow no more work. */
TEST(holes_do_not_raise_the_budget) {
    size_t size;
    unsigned char *bytes = sample(&size);
    struct recording *recording = open_good("sample.data");
    uint64_t most = recording->work.most;
    recording_close(recording);
    assert_int_equal(truncate("sample.data", 60ll << 30), 0);
    recording = open_good("sample.data");
    assert_int_equal(recording->work.most, most);
    recording_close(recording);

    bytes = realloc(bytes, 64 * size); /* data has a right to more */
    assert_non_null(bytes);
    memset(bytes + size, 1, 63 * size);
    write_file("sample.data", bytes, 64 * size);
    recording = open_good("sample.data");
    assert_true(recording->work.most >= most + 63 * size);
    recording_close(recording);
    free(bytes);
}

/* ---- work that SQLite does within a step --------------------------------------------------------------------------
 */

static void put32(unsigned char *at, uint64_t value) {
    for (int i = 0; i < 4; i++) {
        at[i] = (unsigned char)(value >> (24 - 8 * i));
    }
}

/* SQLite's number of 4 bytes. */
static void put_varint(unsigned char *at, uint64_t value) {
    for (int i = 0; i < 4; i++) {
        at[i] = (unsigned char)((value >> (21 - 7 * i) & 0x7f) | (i < 3 ? 0x80 : 0));
    }
}

enum { PAGE = 4096, LOCAL = (PAGE - 12) * 32 / 255 - 23, CHAIN = 2000, ROWS = 4 };
static const uint64_t PAYLOAD = LOCAL + (uint64_t)CHAIN * (PAGE - 4);

/* Table meta gets rows with the key 'a' and a third column. Its length claims CHAIN overflow pages; the
 * file has one, which leads to itself. */
static void write_chains(const char *path) {
    sqlite3 *db = NULL;
    sqlite3_stmt *row = NULL;
    assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
    assert_int_equal(sqlite3_prepare_v2(db, "SELECT rootpage FROM sqlite_schema WHERE name = 'meta'", -1, &row, NULL),
                     SQLITE_OK);
    assert_int_equal(sqlite3_step(row), SQLITE_ROW);
    off_t root = sqlite3_column_int(row, 0);
    sqlite3_finalize(row);
    sqlite3_close(db);
    size_t size;
    unsigned char *bytes = read_file(path, &size), table[PAGE] = {10, 0, 0, 0, ROWS}, link[PAGE] = {0};
    uint64_t chain = size / PAGE + 1, pages = chain + CHAIN;
    for (size_t i = 0; i < ROWS; i++) {
        size_t at = PAGE - (i + 1) * (4 + LOCAL + 4);
        table[5] = table[8 + 2 * i] = (unsigned char)(at >> 8);
        table[6] = table[9 + 2 * i] = (unsigned char)at;
        put_varint(table + at, PAYLOAD);
        memcpy(table + at + 4, "\7\17\10....a", 8); /* a text of one byte, the number 0, a blob */
        put_varint(table + at + 7, 12 + 2 * (PAYLOAD - 8));
        put32(table + at + 4 + LOCAL, chain);
    }
    put32(link, chain);
    put32(bytes + 28, pages);
    int file = open(path, O_WRONLY | O_CLOEXEC);
    assert_int_equal(pwrite(file, bytes, PAGE, 0), PAGE);
    assert_int_equal(pwrite(file, table, PAGE, (root - 1) * PAGE), PAGE);
    assert_int_equal(pwrite(file, link, PAGE, (off_t)(chain - 1) * PAGE), PAGE);
    assert_int_equal(ftruncate(file, (off_t)pages * PAGE), 0);
    close(file);
    free(bytes);
}

static void assert_too_much_work(const struct recording *recording, const struct failure *why) {
    assert_non_null(strstr(why->message, "reading it takes more work than any recording of its size"));
    assert_true(recording->work.done > recording->work.most);
}

/* Comparing a key copies the whole row: as much work as the chain pretends, and no more once there is none left. */
TEST(chains_that_lead_to_themselves_are_work) {
    free(sample(&(size_t){0}));
    write_chains("sample.data");
    struct recording *recording = open_good("sample.data");
    uint64_t before = recording->work.done;
    struct model model = {0};
    struct failure why = {0};
    assert_true(recording_model(recording, &model, &why));
    uint64_t each = recording->work.done - before;
    assert_true(each > (uint64_t)CHAIN * ROWS * PAGE / 100);
    model_clear(&model);

    recording->work.most = recording->work.done + each / 2;
    assert_false(recording_model(recording, &model, &why));
    assert_too_much_work(recording, &why);
    assert_true(recording->work.done < recording->work.most + PAGE); /* one page too many, or two */
    model_clear(&model);
    uint64_t events = 0;
    assert_false(recording_events(recording, NULL, count_event, &events, &why)); /* and none after it */
    assert_int_equal(events, 0);
    recording_close(recording);
}

/* SQLite parses a schema without steps. */
TEST(large_schemas_are_refused) {
    static const char *const views =
        "PRAGMA writable_schema = ON; WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < %d)"
        "INSERT INTO sqlite_schema SELECT 'view', 'v' || i, 'v' || i, 0, 'CREATE VIEW v' || i || ' AS SELECT 1' FROM n";
    for (int more = 0; more < 2; more++) {
        char sql[400];
        sqlite3 *db = NULL;
        struct failure why = {0};
        free(sample(&(size_t){0}));
        assert_int_equal(sqlite3_open("sample.data", &db), SQLITE_OK);
        sqlite3_db_config(db, SQLITE_DBCONFIG_DEFENSIVE, 0, NULL);
        snprintf(sql, sizeof sql, views, more ? 50000 : 500);
        assert_int_equal(sqlite3_exec(db, sql, NULL, NULL, NULL), SQLITE_OK);
        sqlite3_close(db);
        struct recording *recording = recording_open("sample.data", &why);
        assert_true((recording == NULL) == more);
        if (more) {
            assert_non_null(strstr(why.message, "more work than any recording"));
        }
        recording_close(recording);
    }
}

/* Columns are looked up by name, and take no room. */
TEST(tables_of_very_many_columns_are_refused) {
    for (int more = 0; more < 2; more++) {
        sqlite3 *db = NULL;
        struct failure why = {0};
        free(sample(&(size_t){0}));
        assert_int_equal(sqlite3_open("sample.data", &db), SQLITE_OK);
        for (int i = 0; i < (more ? 250 : 100); i++) {
            char sql[80];
            snprintf(sql, sizeof sql, "ALTER TABLE heap ADD COLUMN more%d", i);
            assert_int_equal(sqlite3_exec(db, sql, NULL, NULL, NULL), SQLITE_OK);
        }
        sqlite3_close(db);
        struct recording *recording = recording_open("sample.data", &why);
        assert_true((recording == NULL) == more);
        if (more) {
            assert_non_null(strstr(why.message, "tables are missing or altered"));
        }
        recording_close(recording);
    }
}

TEST(random_files_are_refused) {
    unsigned seed = 3;
    for (int i = 0; i < 50; i++) {
        unsigned char bytes[8192];
        for (size_t j = 0; j < sizeof bytes; j++) {
            bytes[j] = (unsigned char)rand_r(&seed);
        }
        if (i % 2) { /* with the head of a recording */
            memcpy(bytes, "SQLite format 3", 16);
            memcpy(bytes + 60, "\0\0\0\1\0\0\0\0nedE", 12);
            memcpy(bytes + 68, "Eden", 4);
        }
        write_file("random.data", bytes, sizeof bytes);
        read_all("random.data");
    }
}

/* ---- kills and full disks ---------------------------------------------------------------------------------------- */

/* Records without end: event i has time i and says so, and the model of each commit knows how many there are. */
static void record_for_ever(void) {
    struct failure why;
    struct recorder *recorder = create("killed.data", false, &why);
    if (!recorder || !recorder_publish(recorder, &why)) {
        _exit(3);
    }
    struct model model = {0};
    struct process_key key = process_key(100);
    struct process_model *process = model_process(&model, &key);
    struct heap_model *heap = process ? model_heap(process, (struct heap_ref){0x1000, 1, 0}) : NULL;
    if (!heap) {
        _exit(4);
    }
    process->runtime = "eden";
    heap->known = 1ull << EDEN_FIGURE_scavenges;
    for (uint64_t i = 0;; i++) {
        struct event event = make_event(EDEN_PROBE_mark__start, i, 0x1000, i);
        if (!recorder_add(recorder, &event, &why)) {
            _exit(5);
        }
        heap->figures[EDEN_FIGURE_scavenges] = i + 1;
        if (i % 700 == 0 && !recorder_commit(recorder, &model, false, &why)) {
            _exit(6);
        }
    }
}

TEST(killed_recorder_leaves_a_readable_file) {
    unsigned seed = 11;
    recorder_close(begin("killed.data"));
    for (int round = 0; round < 40; round++) {
        pid_t child = fork();
        assert_true(child >= 0);
        if (child == 0) {
            record_for_ever();
        }
        usleep(1000 + (unsigned)rand_r(&seed) % 60000);
        assert_int_equal(kill(child, SIGKILL), 0);
        int status;
        assert_int_equal(waitpid(child, &status, 0), child);
        assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);

        struct recording *recording __attribute__((cleanup(close_recording))) = open_good("killed.data");
        assert_false(recording_info(recording)->finished);
        assert_false(recording_info(recording)->live);
        struct model model __attribute__((cleanup(model_clear))) = {0};
        struct failure why = {0};
        assert_true(recording_model(recording, &model, &why));
        uint64_t events = recording_info(recording)->events;
        struct collected read __attribute__((cleanup(free_collected))) = events_of(recording, events + 1);
        assert_int_equal(read.count, events); /* all that its own count says, and no half of a transaction */
        for (uint64_t i = 0; i < read.count; i++) {
            assert_int_equal(read.events[i].arg[1], i);
        }
        if (model.process_count) {
            assert_true(model.processes[0].heaps[0].figures[EDEN_FIGURE_scavenges] <= events);
        }
    }
    recorder_close(begin("killed.data")); /* whatever the last kill left */
    /* One that was killed when it had a name, and not yet its place, has left a whole file. */
    glob_t left;
    if (glob("killed.data.??????", 0, NULL, &left) == 0) {
        for (size_t i = 0; i < left.gl_pathc; i++) {
            recording_close(open_good(left.gl_pathv[i]));
            assert_int_equal(unlink(left.gl_pathv[i]), 0);
        }
        globfree(&left);
    }
    assert_int_equal(files_beside("killed.data"), 1);
}

TEST(full_disk_ends_the_recording_alone) {
    struct rlimit limit, old;
    struct failure why = {0};
    struct model model = {0};
    struct recorder *recorder = begin("full.data");
    struct event event = make_event(EDEN_PROBE_mark__start, 0, 0x1000, 0);
    for (uint64_t i = 0; i < 100; i++) {
        event.time_ns = i;
        add(recorder, &event);
    }
    commit(recorder, &model, false);
    signal(SIGXFSZ, SIG_IGN);
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &old), 0);
    limit = old;
    limit.rlim_cur = 300000;
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
    bool good = true, more = false;
    for (uint64_t i = 0; i < 100000 && good; i++) {
        event.time_ns = 100 + i;
        good = recorder_add(recorder, &event, &why) && recorder_write(recorder, &more, &why);
    }
    assert_false(good);
    assert_true(why.message[0] != '\0');
    assert_false(recorder_add(recorder, &event, &why));
    assert_false(recorder_commit(recorder, &model, true, &why));
    recorder_close(recorder);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &old), 0);
    signal(SIGXFSZ, SIG_DFL);
    struct recording *recording __attribute__((cleanup(close_recording))) = open_good("full.data");
    assert_false(recording_info(recording)->finished);
    struct collected read __attribute__((cleanup(free_collected))) = events_of(recording, 100000);
    assert_true(read.count >= 100); /* whole transactions */
    assert_int_equal(read.count, recording_info(recording)->events);
}

/* What is read as a stranger's file, or has half a transaction, is read from a copy: the originals stay as they are. */
TEST(half_transaction_is_undone_in_a_copy) {
    static const char *const names[] = {"hot.data", "hot.data-journal"};
    struct recorder *recorder = begin("hot.data");
    struct model model __attribute__((cleanup(model_clear))) = {0};
    fill_model(&model, 4);
    commit(recorder, &model, true);
    recorder_close(recorder);
    cut_transaction("hot.data");

    struct stat before[2], after[2];
    unsigned char *bytes[2];
    size_t size[2];
    for (int i = 0; i < 2; i++) {
        assert_int_equal(stat(names[i], &before[i]), 0);
        assert_true(before[i].st_size > 0);
        bytes[i] = read_file(names[i], &size[i]);
    }
    struct failure why = {0};
    char opened[32]; /* as a shell opens it for /dev/stdin */
    int file = open("hot.data", O_RDONLY | O_CLOEXEC);
    snprintf(opened, sizeof opened, "/proc/self/fd/%d", file);
    for (int i = 0; i < 2; i++) {
        struct recording *recording = open_good(i == 0 ? "hot.data" : opened);
        struct model read = {0};
        assert_true(recording_model(recording, &read, &why));
        assert_same_model(&model, &read);
        recording_close(recording);
        model_clear(&read);
    }
    close(file);
    for (int i = 0; i < 2; i++) {
        size_t now;
        unsigned char *same = read_file(names[i], &now);
        assert_int_equal(now, size[i]);
        assert_memory_equal(same, bytes[i], now);
        assert_int_equal(stat(names[i], &after[i]), 0);
        assert_int_equal(before[i].st_ino, after[i].st_ino);
        assert_int_equal(before[i].st_mtim.tv_nsec, after[i].st_mtim.tv_nsec);
        free(same);
        free(bytes[i]);
    }

    /* The next recorder may take the place of both; where tracing can't be attached it does not. */
    recorder = create("hot.data", false, &why);
    assert_non_null(recorder);
    recorder_close(recorder);
    assert_int_equal(stat(names[1], &after[1]), 0);
    recorder_close(begin("hot.data"));
    assert_int_equal(access(names[1], F_OK), -1);
    recording_close(open_good("hot.data"));
}

/* Its journal may be anywhere. */
TEST(recording_without_a_name_is_refused) {
    struct failure why = {0};
    char opened[32];
    recorder_close(begin("named.data"));
    int file = open("named.data", O_RDONLY | O_CLOEXEC);
    snprintf(opened, sizeof opened, "/proc/self/fd/%d", file);
    assert_int_equal(rename("named.data", "renamed.data"), 0);
    recording_close(open_good(opened));
    assert_int_equal(unlink("renamed.data"), 0);
    assert_null(recording_open_with(opened, RECORDING_FORCE, &why));
    assert_non_null(strstr(why.message, "name the file itself"));
    recorder_close(begin("renamed.data"));
    assert_null(recording_open(opened, &why));
    close(file);
}

SUITE(enter_folder, leave_folder)
