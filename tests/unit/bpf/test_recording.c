/* Recordings: what is written reads back equal. The files are made in a folder of the test's own. */
#include "recording_builder.h"

TEST(events_read_back_in_order_of_time) {
    enum { COUNT = 40000 };
    struct event *written __attribute__((cleanup(free_at))) = calloc(COUNT, sizeof *written);
    assert_non_null(written);
    unsigned seed = 42;
    struct recorder *recorder = begin("events.data");
    struct model model = {0};
    for (size_t i = 0; i < COUNT; i++) {
        /* Pairs of equal times; every 97th pair comes late, by more than a batch has. */
        uint64_t time = 1000000000ull + i / 2 * 1000;
        written[i] = random_event(&seed, i / 2 % 97 == 96 ? time - 15000000 : time);
        add(recorder, &written[i]);
        if (i % 9000 == 8999) {
            commit(recorder, &model, false); /* one batch of them, or less */
        }
    }
    commit(recorder, &model, true);
    assert_int_equal(recorder_event_count(recorder), COUNT);
    recorder_close(recorder);

    struct recording *recording __attribute__((cleanup(close_recording))) = open_good("events.data");
    assert_int_equal(recording_info(recording)->events, COUNT);
    struct collected read __attribute__((cleanup(free_collected))) = events_of(recording, COUNT);
    assert_int_equal(read.count, COUNT);
    uint8_t *seen __attribute__((cleanup(free_at))) = calloc(COUNT, 1);
    assert_non_null(seen);
    size_t from = 0;
    for (size_t i = 0; i < COUNT; i++) {
        if (i > 0) {
            assert_true(read.events[i - 1].time_ns <= read.events[i].time_ns);
        }
        /* Each written event comes once: look from the first that has not come yet. */
        size_t at = from;
        while (at < COUNT && (seen[at] || memcmp(&written[at], &read.events[i], sizeof *written) != 0)) {
            at++;
        }
        assert_in_range(at, 0, COUNT - 1);
        seen[at % COUNT] = 1; /* gcc does not know that the assertion does not return */
        while (from < COUNT && seen[from]) {
            from++;
        }
    }
}

TEST(model_reads_back_equal) {
    struct recorder *recorder = begin("model.data");
    __attribute__((cleanup(model_clear))) struct model first = {0}, second = {0}, read = {0};
    struct failure why = {0};
    fill_model(&first, 1);
    commit(recorder, &first, false);
    struct recording *recording __attribute__((cleanup(close_recording))) = open_good("model.data");
    assert_false(recording_info(recording)->finished);
    assert_true(recording_info(recording)->live);
    assert_true(recording_model(recording, &read, &why));
    assert_same_model(&first, &read);
    recording_close(recording);
    model_clear(&read);

    fill_model(&second, 20);
    commit(recorder, &second, true);
    recorder_close(recorder);
    recording = open_good("model.data");
    assert_true(recording_info(recording)->finished);
    assert_false(recording_info(recording)->live);
    assert_string_equal(recording_info(recording)->command, "prog 'it'\\''s' 'a b'");
    assert_true(recording_model(recording, &read, &why));
    assert_same_model(&second, &read);
}

TEST(fewer_heaps_leave_no_rest) {
    struct recorder *recorder = begin("fewer.data");
    __attribute__((cleanup(model_clear))) struct model first = {0}, second = {0}, read = {0};
    struct failure why = {0};
    fill_model(&first, 1);
    commit(recorder, &first, false);
    struct process_key key = process_key(100);
    struct process_model *process = model_process(&second, &key);
    assert_non_null(process);
    process->runtime = "eden";
    assert_non_null(model_heap(process, (struct heap_ref){1, 1, 0}));
    commit(recorder, &second, true);
    recorder_close(recorder);
    struct recording *recording __attribute__((cleanup(close_recording))) = open_good("fewer.data");
    assert_true(recording_model(recording, &read, &why));
    assert_int_equal(read.processes[0].heap_count, 1);
    assert_same_heap(&read.processes[0].heaps[0], &second.processes[0].heaps[0]);
}

/* One by one a hundred times, and in sums for all others. */
TEST(no_loss_is_left_out) {
    struct recorder *recorder = begin("losses.data");
    __attribute__((cleanup(model_clear))) struct model written = {0}, read = {0};
    struct model_losses all = {0};
    struct failure why = {0};
    written.others = (struct model_losses){5000, 6000, 7000}; /* of processes that are known later */
    commit(recorder, &written, false);
    written.others = (struct model_losses){5, 6, 7};
    for (uint32_t pid = 1; pid <= 150; pid++) {
        const struct process_key key = process_key(pid);
        struct process_model *process = model_process(&written, &key);
        assert_non_null(process);
        process->runtime = "eden";
        process->lost = (struct model_losses){pid, 2 * pid, 3 * pid};
    }
    commit(recorder, &written, true);
    recorder_close(recorder);
    struct recording *recording __attribute__((cleanup(close_recording))) = open_good("losses.data");
    assert_true(recording_model(recording, &read, &why));
    all = read.others;
    for (size_t i = 0; i < read.process_count; i++) {
        model_add_losses(&all, &read.processes[i].lost);
    }
    assert_int_equal(read.process_count, 150);
    assert_int_equal(all.heaps, 5 + 150 * 151 / 2);
    assert_int_equal(all.hits, 6 + 150 * 151);
    assert_int_equal(all.events, 7 + 150 * 151 / 2 * 3);
}

TEST(reused_addresses_are_distinct_heaps) {
    struct recorder *recorder = begin("again.data");
    struct model model __attribute__((cleanup(model_clear))) = {0};
    const struct event events[] = {
        make_event(EDEN_PROBE_heap__create, 10, 0x1000, 1),  make_event(EDEN_PROBE_mark__start, 11, 0x1000, 5),
        make_event(EDEN_PROBE_heap__destroy, 12, 0x1000, 1), make_event(EDEN_PROBE_heap__create, 13, 0x1000, 2),
        make_event(EDEN_PROBE_mark__start, 14, 0x1000, 5),   make_event(EDEN_PROBE_mark__start, 15, 0x2000, 5),
    };
    static const uint64_t ids[] = {1, 1, 1, 2, 2, 9};
    struct process_key key = process_key(100);
    struct process_model *process = model_process(&model, &key);
    assert_non_null(process);
    struct heap_model *late = model_heap(process, (struct heap_ref){0x2000, 9, 0}); /* older than the recording */
    assert_non_null(late);
    late->late = true;
    for (size_t i = 0; i < sizeof events / sizeof events[0]; i++) {
        add(recorder, &events[i]);
    }
    commit(recorder, &model, true);
    recorder_close(recorder);
    struct recording *recording __attribute__((cleanup(close_recording))) = open_good("again.data");
    struct collected read __attribute__((cleanup(free_collected))) = events_of(recording, 6);
    assert_int_equal(read.count, 6);
    assert_memory_equal(read.heap_ids, ids, sizeof ids);
}

static int count_rows(const char *path, const char *sql) {
    sqlite3 *db = NULL;
    sqlite3_stmt *row = NULL;
    int count = 0;
    assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
    assert_int_equal(sqlite3_prepare_v2(db, sql, -1, &row, NULL), SQLITE_OK);
    while (sqlite3_step(row) == SQLITE_ROW) {
        count++;
    }
    sqlite3_finalize(row);
    sqlite3_close(db);
    return count;
}

static struct event of_serial(struct event event, uint64_t serial) {
    event.serial = serial;
    return event;
}

/* Two heaps with one address and number, of two copies of libeden; the second begins before the first is destroyed. */
static void record_twins(const char *path) {
    struct recorder *recorder = begin(path);
    struct model model __attribute__((cleanup(model_clear))) = {0};
    const struct process_key key = process_key(100);
    struct process_model *process = model_process(&model, &key);
    assert_non_null(process);
    for (uint64_t serial = 5; serial <= 6; serial++) {
        struct event event = make_event(EDEN_PROBE_param__set, 10 + serial, 0x1000, 0);
        snprintf(event.text[0], EVENT_TEXT, "eden_size");
        snprintf(event.text[1], EVENT_TEXT, "%d", (int)serial);
        const struct event events[] = {make_event(EDEN_PROBE_heap__create, 1, 0x1000, 1), event,
                                       make_event(EDEN_PROBE_full__start, 20, 0x1000, 5)};
        for (size_t i = 0; i < sizeof events / sizeof *events; i++) {
            event = of_serial(events[i], serial);
            add(recorder, &event);
        }
        struct heap_model *heap = model_heap(process, (struct heap_ref){0x1000, 1, serial});
        assert_non_null(heap);
        fill_heap(heap, serial);
    }
    struct event event = of_serial(make_event(EDEN_PROBE_heap__destroy, 30, 0x1000, 1), 5);
    add(recorder, &event);
    event = of_serial(make_event(EDEN_PROBE_full__done, 31, 0x1000, 5), 6);
    add(recorder, &event);
    commit(recorder, &model, true);
    recorder_close(recorder);
}

TEST(heaps_with_one_address_and_number_are_distinct) {
    struct model model __attribute__((cleanup(model_clear))) = {0};
    struct failure why = {0};
    const struct process_key key = process_key(100);
    record_twins("twins.data");
    struct recording *recording __attribute__((cleanup(close_recording))) = open_good("twins.data");
    assert_true(recording_model(recording, &model, &why));
    assert_int_equal(model.processes[0].heap_count, 2);
    for (uint64_t serial = 5; serial <= 6; serial++) {
        const struct heap_model *heap = &model.processes[0].heaps[serial - 5];
        char name[64], wanted[64], text[256] = "";
        snprintf(name, sizeof name, "heap %d", (int)serial);
        snprintf(wanted, sizeof wanted, "eden_size=%d;", (int)serial);
        assert_int_equal(heap->serial, serial);
        assert_int_equal(heap->suffix, serial);
        assert_string_equal(heap->name, name);
        assert_true(recording_parameters(recording, &key, HEAP_REF(heap), collect_parameter, text, &why));
        assert_string_equal(text, wanted);
    }
    struct collected read __attribute__((cleanup(free_collected))) = events_of(recording, 8);
    static const uint64_t serials[] = {5, 6, 5, 6, 5, 6, 5, 6};
    assert_int_equal(read.count, 8);
    for (size_t i = 0; i < 8; i++) {
        assert_int_equal(read.events[i].serial, serials[i]);
        assert_int_equal(read.heap_ids[i], 1);
    }
    assert_int_equal(count_rows("twins.data", "SELECT 1 FROM collection"), 2);
}

/* A recording of before there were serials: address and number decide. */
TEST(recordings_without_serials_are_read) {
    struct model model __attribute__((cleanup(model_clear))) = {0};
    struct failure why = {0};
    const struct process_key key = process_key(100);
    char text[256] = "";
    record_twins("older.data");
    sqlite3 *db = NULL;
    assert_int_equal(sqlite3_open("older.data", &db), SQLITE_OK);
    assert_int_equal(
        sqlite3_exec(db,
                     "PRAGMA writable_schema = ON; DELETE FROM sqlite_schema WHERE type = 'view';"
                     "PRAGMA writable_schema = RESET;"
                     "ALTER TABLE heap DROP COLUMN serial; ALTER TABLE event DROP COLUMN serial;"
                     "ALTER TABLE life_batch DROP COLUMN serial; ALTER TABLE parameter RENAME TO newer;"
                     "CREATE TABLE parameter(process INTEGER, address INTEGER, heap_id INTEGER, name TEXT, value TEXT,"
                     " PRIMARY KEY(process, address, heap_id, name)) WITHOUT ROWID;"
                     "INSERT OR REPLACE INTO parameter SELECT process, address, heap_id, name, value FROM newer;"
                     "DROP TABLE newer",
                     NULL, NULL, NULL),
        SQLITE_OK);
    sqlite3_close(db);
    struct recording *recording __attribute__((cleanup(close_recording))) = open_good("older.data");
    assert_true(recording_model(recording, &model, &why));
    assert_int_equal(model.processes[0].heap_count, 1);
    assert_int_equal(model.processes[0].heaps[0].serial, 0);
    assert_true(
        recording_parameters(recording, &key, HEAP_REF(model.processes[0].heaps), collect_parameter, text, &why));
    assert_string_equal(text, "eden_size=6;");
    struct collected read __attribute__((cleanup(free_collected))) = events_of(recording, 8);
    assert_int_equal(read.count, 8);
    assert_int_equal(read.events[7].serial, 0);
}

static void commit_often(struct recorder *recorder, const struct model *model, int times) {
    for (int i = 0; i < times; i++) {
        commit(recorder, model, false);
    }
}

/* A process that creates heaps without end, and ends: others keep room for theirs, and nobody looks through its own. */
TEST(heaps_that_have_ended_are_not_looked_for) {
    enum { MANY = 140000, MOST = 1 << 17 };
    struct recorder *recorder = begin("flood.data");
    struct model model __attribute__((cleanup(model_clear))) = {0};
    const struct process_key flood = process_key(200);
    struct event event;
    for (uint64_t i = 1; i <= MANY; i++) {
        event = make_event(EDEN_PROBE_heap__create, i, 4096 * i, i);
        event.process = flood;
        add(recorder, &event);
    }
    assert_int_equal(recorder->live_heaps, MOST);
    event = make_event(EDEN_PROBE_heap__create, MANY + 1, 4096, 7);
    add(recorder, &event);
    struct process_model *process = model_process(&model, &flood);
    assert_non_null(process);
    struct heap_model *late =
        model_heap(process, (struct heap_ref){8, 9, 0}); /* is no reason to remember the process again */
    assert_non_null(late);
    late->late = true;
    process->ended = true;
    commit_often(recorder, &model, 3);
    event = make_event(EDEN_PROBE_mark__start, MANY + 2, (uint64_t)4096 * MOST, 5); /* was still in the buffer */
    event.process = flood;
    add(recorder, &event);
    commit_often(recorder, &model, 3);
    assert_int_equal(recorder->live_heaps, MOST + 1);
    commit_often(recorder, &model, 3);
    assert_int_equal(recorder->live_heaps, 1);
    event = make_event(EDEN_PROBE_mark__start, MANY + 3, 4096, 5);
    add(recorder, &event);
    commit(recorder, &model, true);
    recorder_close(recorder);
    struct recording *recording __attribute__((cleanup(close_recording))) = open_good("flood.data");
    struct collected read __attribute__((cleanup(free_collected))) = events_of(recording, MANY + 3);
    assert_int_equal(read.count, MANY + 3);
    assert_int_equal(read.heap_ids[0], 1);
    assert_int_equal(read.heap_ids[MANY - 1], 0); /* beyond its share */
    assert_int_equal(read.heap_ids[MANY], 7);
    assert_int_equal(read.heap_ids[MANY + 1], MOST);
    assert_int_equal(read.heap_ids[MANY + 2], 7);
}

TEST(parameters_are_the_last_set) {
    static const char *const settings[][2] = {{"eden_size", "1"}, {"compactor", "none"}, {"eden_size", "2"}};
    struct recorder *recorder = begin("parameters.data");
    struct event event = make_event(EDEN_PROBE_heap__create, 1, 0x1000, 1);
    struct model model = {0};
    add(recorder, &event);
    for (size_t i = 0; i < 3; i++) {
        event = make_event(EDEN_PROBE_param__set, 2 + i, 0x1000, 0);
        strcpy(event.text[0], settings[i][0]);
        strcpy(event.text[1], settings[i][1]);
        add(recorder, &event);
    }
    commit(recorder, &model, true);
    recorder_close(recorder);
    struct recording *recording __attribute__((cleanup(close_recording))) = open_good("parameters.data");
    char text[256] = "";
    struct failure why = {0};
    struct process_key key = process_key(100);
    assert_true(recording_parameters(recording, &key, (struct heap_ref){0x1000, 1, 0}, collect_parameter, text, &why));
    assert_string_equal(text, "compactor=none;eden_size=2;");
}

/* What a person at an SQL shell sees: the views join start and end, and every probe's view can be read. */
TEST(views_show_collections) {
    struct recorder *recorder = begin("views.data");
    struct model model __attribute__((cleanup(model_clear))) = {0};
    struct event event = make_event(EDEN_PROBE_scavenge__start, 100, 0x1000, 1);
    event.args = 11;
    EDEN_ARG(event.arg, scavenge__start, cause) = EDEN_SCAVENGE_FULL;
    EDEN_ARG(event.arg, scavenge__start, eden_used) = 4096;
    add(recorder, &event);
    event = make_event(EDEN_PROBE_scavenge__done, 300, 0x1000, 1);
    EDEN_ARG(event.arg, scavenge__done, duration) = 200;
    EDEN_ARG(event.arg, scavenge__done, survivor_used) = 512;
    add(recorder, &event);
    event = make_event(EDEN_PROBE_full__start, 400, 0x1000, 2);
    EDEN_ARG(event.arg, full__start, cause) = EDEN_FULL_REQUEST;
    add(recorder, &event);
    fill_model(&model, 3);
    commit(recorder, &model, true);
    recorder_close(recorder);

    sqlite3 *db = NULL;
    sqlite3_stmt *row = NULL;
    assert_int_equal(sqlite3_open_v2("views.data", &db, SQLITE_OPEN_READONLY, NULL), SQLITE_OK);
    assert_int_equal(sqlite3_prepare_v2(db,
                                        "SELECT seq, kind, cause, duration_ns, start_eden_used, done_survivor_used,"
                                        " done_ns FROM collection",
                                        -1, &row, NULL),
                     SQLITE_OK);
    assert_int_equal(sqlite3_step(row), SQLITE_ROW);
    assert_int_equal(sqlite3_column_int(row, 0), 1);
    assert_string_equal((const char *)sqlite3_column_text(row, 1), "scavenge");
    assert_string_equal((const char *)sqlite3_column_text(row, 2), "full");
    assert_int_equal(sqlite3_column_int(row, 3), 200);
    assert_int_equal(sqlite3_column_int(row, 4), 4096);
    assert_int_equal(sqlite3_column_int(row, 5), 512);
    assert_int_equal(sqlite3_step(row), SQLITE_ROW);
    assert_string_equal((const char *)sqlite3_column_text(row, 1), "full");
    assert_string_equal((const char *)sqlite3_column_text(row, 2), "request");
    assert_int_equal(sqlite3_column_type(row, 6), SQLITE_NULL);
    assert_int_equal(sqlite3_step(row), SQLITE_DONE);
    sqlite3_finalize(row);

    sqlite3_stmt *views = NULL;
    int count = 0;
    assert_int_equal(sqlite3_prepare_v2(db, "SELECT name FROM sqlite_schema WHERE type = 'view'", -1, &views, NULL),
                     SQLITE_OK);
    while (sqlite3_step(views) == SQLITE_ROW) {
        char sql[128];
        snprintf(sql, sizeof sql, "SELECT * FROM \"%s\"", (const char *)sqlite3_column_text(views, 0));
        assert_int_equal(sqlite3_prepare_v2(db, sql, -1, &row, NULL), SQLITE_OK);
        int code;
        while ((code = sqlite3_step(row)) == SQLITE_ROW) {
        }
        assert_int_equal(code, SQLITE_DONE);
        sqlite3_finalize(row);
        count++;
    }
    sqlite3_finalize(views);
    assert_int_equal(count, EDEN_PROBE_COUNT + 2);
    sqlite3_close(db);
}

TEST(other_versions_are_refused) {
    struct failure why = {0};
    recorder_close(begin("version.data"));
    size_t size;
    unsigned char *bytes = read_file("version.data", &size);
    bytes[63] = RECORDING_VERSION + 1;
    write_file("version.data", bytes, size);
    assert_null(recording_open("version.data", &why));
    assert_non_null(strstr(why.message, "version 2"));
    bytes[63] = RECORDING_VERSION;
    bytes[68] ^= 1;
    write_file("version.data", bytes, size);
    assert_null(recording_open("version.data", &why));
    assert_non_null(strstr(why.message, "not a recording"));
    free(bytes);
}

/* A reader holds the file locked for a while: nothing is lost and nothing fails. */
TEST(locked_file_is_waited_for) {
    struct recorder *recorder = begin("locked.data");
    struct model model __attribute__((cleanup(model_clear))) = {0};
    fill_model(&model, 1);
    sqlite3 *db = NULL;
    assert_int_equal(sqlite3_open("locked.data", &db), SQLITE_OK);
    assert_int_equal(sqlite3_exec(db, "BEGIN EXCLUSIVE", NULL, NULL, NULL), SQLITE_OK);
    struct event event = make_event(EDEN_PROBE_mark__start, 1, 0x1000, 0);
    add(recorder, &event);
    commit(recorder, &model, false);
    event.time_ns = 2;
    add(recorder, &event);
    assert_int_equal(sqlite3_exec(db, "COMMIT", NULL, NULL, NULL), SQLITE_OK);
    sqlite3_close(db);
    commit(recorder, &model, true);
    recorder_close(recorder);
    struct recording *recording __attribute__((cleanup(close_recording))) = open_good("locked.data");
    struct model read __attribute__((cleanup(model_clear))) = {0};
    struct failure why = {0};
    assert_true(recording_model(recording, &read, &why));
    assert_same_model(&model, &read);
    struct collected all __attribute__((cleanup(free_collected))) = events_of(recording, 2);
    assert_int_equal(all.count, 2);
}

SUITE(enter_folder, leave_folder)
