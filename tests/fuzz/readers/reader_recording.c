/* Recordings. The input is a list of changes to a small recording that the recorder made: other values in its rows,
 * other rows, other tables, views and columns, then other bytes in its file, or a journal beside it. So most of what is
 * made is a database that SQLite opens, and damaged where the reader looks. */
#include "eden_batches.h"
#include "reader.h"
#include "recording/recording.h"
#include "simulate/trace.h"
#include "views/chrome.h"
#include "views/lifetimes/survival.h"
#include "views/otlp.h"
#include "views/page/page.h"
#include "views/rows/views.h"
#include "views/side.h"
#include <fcntl.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

const unsigned reader_runs = 500;

enum { MOST_CHANGES = 24, MOST_COLUMNS = 512 };

static char folder[] = "/tmp/eden-reader-XXXXXX";
static char path[64], journal[80];
static uint8_t *model_file; /* the recording, as the recorder left it */
static size_t model_bytes;
static struct sql_column { char table[64], name[64], first[64]; } columns[MOST_COLUMNS];
static size_t column_count;

static const char *const alterations[] = {
    "ALTER TABLE event ADD COLUMN more AS (a1 + 1)",
    "ALTER TABLE heap RENAME TO heap_; CREATE VIEW heap AS SELECT * FROM heap_",
    "ALTER TABLE process RENAME TO process_; CREATE VIEW process AS SELECT * FROM process_",
    "ALTER TABLE meta RENAME TO meta_; CREATE VIEW meta AS SELECT * FROM meta_ UNION ALL SELECT * FROM meta",
    "DROP TABLE class",
    "DROP TABLE parameter",
    "DROP TABLE life_batch",
    "CREATE TRIGGER more AFTER INSERT ON meta BEGIN DELETE FROM event; END",
    "CREATE INDEX more ON event(abs(a1))",
    "PRAGMA user_version = 99",
    "PRAGMA application_id = 7",
    "INSERT INTO event SELECT event + 1000, time_ns - 5, process, tid, probe, * FROM event",
    "UPDATE event SET time_ns = -time_ns",
    "UPDATE heap SET address = 0",
    "UPDATE life_batch SET records = zeroblob(100000)",
    "UPDATE life_batch SET batch = -batch",
};

static void run_sql(sqlite3 *db, const char *sql) { sqlite3_exec(db, sql, NULL, NULL, NULL); }

static void bind_value(struct reader_input *input, sqlite3_stmt *statement) {
    size_t size;
    const void *bytes;
    switch (reader_byte(input) % 6) {
    case 0:
        sqlite3_bind_null(statement, 1);
        break;
    case 1:
        bytes = reader_bytes(input, 255, &size);
        sqlite3_bind_text(statement, 1, bytes, (int)size, SQLITE_TRANSIENT);
        break;
    case 2:
        bytes = reader_bytes(input, 255, &size);
        sqlite3_bind_blob(statement, 1, bytes, (int)size, SQLITE_TRANSIENT);
        break;
    case 3:
        sqlite3_bind_zeroblob(statement, 1, (int)(reader_number(input) & 0xfffff));
        break;
    case 4:
        sqlite3_bind_double(statement, 1, (double)reader_number(input) * 1e300);
        break;
    default:
        sqlite3_bind_int64(statement, 1, (sqlite3_int64)reader_number(input));
    }
}

static void change_row(struct reader_input *input, sqlite3 *db) {
    const struct sql_column *column = &columns[(reader_byte(input) << 8 | reader_byte(input)) % (int)column_count];
    char *sql = sqlite3_mprintf(
        "UPDATE \"%w\" SET \"%w\" = ?1 WHERE \"%w\" = (SELECT \"%w\" FROM \"%w\" LIMIT 1 OFFSET %d)", column->table,
        column->name, column->first, column->first, column->table, reader_byte(input) % 16);
    sqlite3_stmt *statement;
    if (sql && sqlite3_prepare_v2(db, sql, -1, &statement, NULL) == SQLITE_OK) {
        bind_value(input, statement);
        sqlite3_step(statement);
        sqlite3_finalize(statement);
    }
    sqlite3_free(sql);
}

static void change_tables(struct reader_input *input) {
    sqlite3 *db;
    uint8_t changes = reader_byte(input) % MOST_CHANGES;
    if (sqlite3_open(path, &db) == SQLITE_OK) {
        run_sql(db, "PRAGMA synchronous = OFF; PRAGMA journal_mode = MEMORY; BEGIN");
        for (; changes > 0; changes--) {
            if (reader_byte(input) % 8) {
                change_row(input, db);
            } else {
                run_sql(db, alterations[reader_byte(input) % (sizeof alterations / sizeof *alterations)]);
            }
        }
        run_sql(db, "COMMIT");
    }
    sqlite3_close(db);
}

static void change_bytes(struct reader_input *input) {
    int fd = open(path, O_WRONLY | O_CLOEXEC);
    for (uint8_t changes = reader_byte(input) % MOST_CHANGES; changes > 0; changes--) {
        size_t size;
        off_t at = (off_t)(reader_number(input) % model_bytes);
        const void *bytes = reader_bytes(input, 16, &size);
        if (pwrite(fd, bytes, size, at) < 0) {
            abort();
        }
    }
    uint8_t cut = reader_byte(input);
    if (cut % 16 == 1 && ftruncate(fd, (off_t)(model_bytes * cut / 256)) != 0) {
        abort();
    }
    close(fd);
    if (reader_byte(input) % 4 == 1) {
        size_t size = (size_t)(input->end - input->at);
        fd = open(journal, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
        if (fd < 0 || write(fd, "\xd9\xd5\x05\xf9\x20\xa1\x63\xd7", 8) != 8 || write(fd, input->at, size) < 0) {
            abort();
        }
        close(fd);
    }
}

static bool on_event(void *context, const struct event *event, uint64_t heap_id) {
    uint64_t *sum = context;
    *sum += event->time_ns + heap_id + strlen(event->text[0]) + strlen(event->text[1]);
    return true;
}

static bool on_object(void *context, const struct life_heap *heap, const struct eden_life_record *record) {
    uint64_t *sum = context;
    *sum += heap->id + record->bytes;
    return true;
}

static void on_parameter(void *context, const char *name, const char *value) {
    uint64_t *sum = context;
    *sum += strlen(name) + strlen(value);
}

/* An error has words. */
static void check(bool good, const struct failure *why) {
    if (!good && why->message[0] == '\0') {
        abort();
    }
}

static bool add_to_trace(void *context, const struct event *event, uint64_t heap_id) {
    return chrome_event(context, event, heap_id);
}

static bool add_to_spans(void *context, const struct event *event, uint64_t heap_id) {
    return otlp_event(context, event, heap_id);
}

/* What report, script --chrome, script --otlp and diff make of it: each view has a JSON that can be read. */
static void show_all(struct recording *recording, const struct model *model) {
    static const struct view *const views[] = {&view_pauses,     &view_stops,    &view_histogram, &view_phases,
                                               &view_causes,     &view_timeline, &view_heap,      &view_tenuring,
                                               &view_remembered, &view_segments, &view_classes,   &view_histo};
    static const struct rows_format json = {.json = true}, text = {0};
    struct failure why = {0};
    const struct viewed viewed = viewed_whole(recording, model);
    struct side side;
    char *printed = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&printed, &size);
    for (size_t i = 0; i < sizeof views / sizeof *views; i++) {
        rewind(out);
        bool good = rows_print(out, views[i], &viewed, &json, &why);
        check(good, &why);
        fflush(out);
        json_t *read = good ? json_loadb(printed, size, 0, NULL) : json_null();
        if (!read) {
            abort();
        }
        json_decref(read);
        check(rows_print(out, views[i], &viewed, &text, &why), &why);
    }
    check(page_write(out, path, &viewed, &(struct page_extras){0}, &why), &why);
    check(side_read(recording, &(struct heap_choice){0}, &side, &why), &why);
    const struct script script = {.out = out, .info = recording_info(recording), .model = model};
    rewind(out);
    struct chrome *chrome = chrome_begin(&script);
    check(recording_events(recording, NULL, add_to_trace, chrome, &why), &why);
    chrome_end(chrome);
    struct otlp *otlp = otlp_begin(&script);
    check(recording_events(recording, NULL, add_to_spans, otlp, &why), &why);
    otlp_end(otlp);
    fclose(out);
    free(printed);
}

static void read_all(struct recording *recording) {
    struct failure why = {0};
    struct model model = {0};
    struct life_model lives = {0};
    struct simulate_trace trace = {0};
    uint64_t sum = 0;
    check(recording_model(recording, &model, &why), &why);
    for (size_t i = 0; i < model.process_count && i < 4; i++) {
        const struct process_model *process = &model.processes[i];
        for (size_t j = 0; j < process->heap_count && j < 4; j++) {
            const struct heap_ref heap = HEAP_REF(&process->heaps[j]);
            check(recording_parameters(recording, &process->key, heap, on_parameter, &sum, &why), &why);
        }
    }
    check(recording_events(recording, NULL, on_event, &sum, &why), &why);
    check(recording_lifetimes(recording, &lives, &why), &why);
    check(!lives.objects.each || lives.objects.each(lives.objects.from, &lives, on_object, &sum, &why), &why);
    json_decref(life_survival_json(&lives, 8));
    show_all(recording, &model);
    simulate_trace_read(&trace, recording, path, &(struct heap_choice){0}, &why);
    simulate_history_clear(&trace.history);
    life_model_clear(&lives);
    model_clear(&model);
}

static void write_model(void) {
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    if (fd < 0 || write(fd, model_file, model_bytes) != (ssize_t)model_bytes) {
        abort();
    }
    close(fd);
    unlink(journal);
}

/* ---- the small recording ---------------------------------------------------------------------------------------- */

static void add_event(struct recorder *recorder, uint16_t probe, uint64_t time, const uint64_t *arg, const char *text) {
    struct failure why;
    struct event event = {.time_ns = time,
                          .process = {.start_ns = 10000000, .pid = 7},
                          .tid = 7,
                          .probe = probe,
                          .args = EDEN_PROBE_MAX_ARGS};
    memcpy(event.arg, arg, sizeof event.arg);
    snprintf(event.text[0], sizeof event.text[0], "%s", text);
    snprintf(event.text[1], sizeof event.text[1], "64K");
    if (!recorder_add(recorder, &event, &why)) {
        abort();
    }
}

static void add_batch(struct recorder *recorder, uint32_t kind, const void *records, size_t bytes) {
    struct failure why;
    struct life_batch batch = {.time_ns = 900,
                               .process = {.start_ns = 10000000, .pid = 7},
                               .address = 0x1000,
                               .id = 1,
                               .kind = kind,
                               .count = 1,
                               .record_bytes = (uint32_t)bytes,
                               .records = records};
    if (!recorder_add_batch(recorder, &batch, &why)) {
        abort();
    }
}

static void record(struct recorder *recorder) {
    const uint64_t heap[EDEN_PROBE_MAX_ARGS] = {0x1000, 1, 1, 1, 64, 0, 0, 4096, 4096};
    add_event(recorder, EDEN_PROBE_heap__create, 100, heap, "seed");
    add_event(recorder, EDEN_PROBE_param__set, 101, heap, "eden_size");
    add_event(recorder, EDEN_PROBE_class__define, 102, heap, "Point");
    for (uint64_t i = 1; i < 6; i++) {
        const uint64_t arg[EDEN_PROBE_MAX_ARGS] = {0x1000, i, 50, 64, 0, 0, 0, 4096 * i, 4096};
        add_event(recorder, EDEN_PROBE_scavenge__start, 200 * i, arg, "");
        add_event(recorder, EDEN_PROBE_scavenge__done, 200 * i + 50, arg, "");
        add_event(recorder, EDEN_PROBE_full__start, 200 * i + 60, arg, "");
        add_event(recorder, EDEN_PROBE_full__done, 200 * i + 70, arg, "");
    }
    struct eden_profile_record profile = {.seq = 1, .time_ns = 200, .allocated_bytes = 4096, .rate = 1, .sampling = 2};
    struct eden_life_record object = {.death_ns = 400, .death_bytes = 8192, .weight = EDEN_WEIGHT_ONE};
    struct eden_birth_cell birth = {.site = 1, .count = 1, .bytes = 32, .weight = EDEN_WEIGHT_ONE, .weight_bytes = 32};
    add_batch(recorder, EDEN_BATCH_PROFILE, &profile, sizeof profile);
    add_batch(recorder, EDEN_BATCH_BIRTHS, &birth, sizeof birth);
    add_batch(recorder, EDEN_BATCH_OBJECTS, &object, sizeof object);
    profile.ended = 1;
    add_batch(recorder, EDEN_BATCH_PROFILE, &profile, sizeof profile);
}

static void fill_model(struct model *model) {
    struct process_key key = {.start_ns = 10000000, .pid = 7};
    struct process_model *process = model_process(model, &key);
    struct heap_model *heap = process ? model_heap(process, (struct heap_ref){0x1000, 1, 0}) : NULL;
    struct phase_model *phase = heap ? model_phase(heap, EDEN_PHASE_scavenge) : NULL;
    if (!phase) {
        abort();
    }
    *phase = (struct phase_model){.calls = 5, .total_ns = 250, .max_ns = 50, .buckets[8] = 5};
    heap->known = (1ull << EDEN_FIGURE_COUNT) - 1;
    snprintf(heap->name, sizeof heap->name, "seed");
    model->wall_ns = 2000;
}

static int add_column(void *table, int values, char **value, char **names) {
    (void)values, (void)names;
    if (column_count < MOST_COLUMNS) {
        struct sql_column *column = &columns[column_count];
        snprintf(column->table, sizeof column->table, "%s", (const char *)table);
        snprintf(column->name, sizeof column->name, "%s", value[1]);
        bool same = column_count > 0 && strcmp(column[-1].table, column->table) == 0;
        snprintf(column->first, sizeof column->first, "%s", same ? column[-1].first : value[1]);
        column_count++;
    }
    return 0;
}

static void read_columns(void) {
    static const char *const tables[] = {"meta",  "process",   "heap",  "phase",      "phase_histogram", "probe",
                                         "class", "parameter", "event", "life_batch", "probe_argument"};
    sqlite3 *db;
    if (sqlite3_open(path, &db) != SQLITE_OK) {
        abort();
    }
    for (size_t i = 0; i < sizeof tables / sizeof *tables; i++) {
        char sql[64];
        snprintf(sql, sizeof sql, "PRAGMA table_info(%s)", tables[i]);
        sqlite3_exec(db, sql, add_column, (void *)(uintptr_t)tables[i], NULL);
    }
    sqlite3_close(db);
}

static void leave(void) {
    unlink(path);
    unlink(journal);
    rmdir(folder);
    free(model_file);
}

static void prepare(void) {
    if (!mkdtemp(folder)) {
        abort();
    }
    snprintf(path, sizeof path, "%s/recording", folder);
    snprintf(journal, sizeof journal, "%s-journal", path);
    struct recorder_options options = {.path = path, .pid = 7, .lifetimes = EDEN_CONTROL_ASKED | EDEN_CONTROL_OBJECTS};
    struct failure why;
    struct model model = {0};
    struct recorder *recorder = recorder_create(&options, &why);
    if (!recorder || !recorder_publish(recorder, &why)) {
        fprintf(stderr, "%s\n", why.message);
        abort();
    }
    record(recorder);
    fill_model(&model);
    if (!recorder_commit(recorder, &model, true, &why)) {
        abort();
    }
    recorder_close(recorder);
    model_clear(&model);
    FILE *file = fopen(path, "rbe");
    model_file = malloc(1 << 20);
    model_bytes = file && model_file ? fread(model_file, 1, 1 << 20, file) : 0;
    if (model_bytes == 0) {
        abort();
    }
    fclose(file);
    read_columns();
    atexit(leave);
    reader_be_quiet();
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
    struct reader_input input = {bytes, bytes + size};
    if (!model_file) {
        prepare();
    }
    write_model();
    change_tables(&input);
    change_bytes(&input);
    struct failure why = {0};
    struct recording *recording = recording_open_with(path, RECORDING_FORCE, &why);
    check(recording, &why);
    if (recording) {
        read_all(recording);
    }
    recording_close(recording);
    return 0;
}

void reader_seeds(reader_seed_fn *seed) {
    static const uint8_t changes[] = {3, 1, 0, 40, 2, 1, 4, 'e', 'd', 'e', 'n', 1,  1, 70, 0,    2,
                                      8, 1, 2, 3,  4, 5, 6, 7,   8,   1,   0,   90, 0, 5,  0xff, 0x80};
    static const uint8_t bytes[] = {0, 3, 0xfd, 4, 1, 2, 3, 4, 0xe1, 1, 0xff, 0x88, 2, 0, 1, 0, 1, 0, 0, 0, 1};
    /* More than 2^63 lost events. */
    static const uint8_t lost[] = {3,  17, 0, 1,   40,  101, 7,   133, 0, 100, 9,  4,
                                   70, 0,  1, 101, 118, 101, 110, 0,   9, 9,   128};
    seed("", 0);
    seed(lost, sizeof lost);
    seed(changes, sizeof changes);
    seed(bytes, sizeof bytes);
    for (uint8_t i = 0; i < sizeof alterations / sizeof *alterations; i++) {
        const uint8_t one[] = {1, 0, i};
        seed(one, sizeof one);
    }
}
