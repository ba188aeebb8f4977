/* Recordings: what is written reads back equal, files that are not recordings are neither read nor overwritten, and no
 * damage to a file does more than an error. The files are made in a folder of the test's own. */
#include "reading.h"
#include "recorder.h"
#include "recording_support.h"
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>

static char *const command[] = {"prog", "it's", "a b", NULL};

/* ---- synthetic events and models -------------------------------------------------------------------------------- */

static struct process_key process_key(uint32_t pid) { return (struct process_key){.start_ns = 7000 + pid, .pid = pid}; }

static struct event make_event(enum eden_probe_id probe, uint64_t time, uint64_t heap, uint64_t a1) {
    struct event event = {
        .time_ns = time, .process = process_key(100), .tid = 101, .probe = (uint16_t)probe, .args = 5};
    event.arg[0] = heap;
    event.arg[1] = a1;
    event.arg[2] = 0xfffffffffffffff0ull; /* bits from 2^63 on survive */
    event.arg[4] = INT64_MAX;
    return event;
}

static struct event random_event(unsigned *seed, uint64_t time) {
    struct event event = {.time_ns = time, .process = process_key(100 + (uint32_t)rand_r(seed) % 3)};
    event.tid = (uint32_t)rand_r(seed);
    event.probe = (uint16_t)(rand_r(seed) % (EDEN_PROBE_COUNT + 3)); /* some that we don't know */
    event.args = (uint16_t)(1 + rand_r(seed) % EDEN_PROBE_MAX_ARGS);
    for (int i = 0; i < event.args; i++) {
        event.arg[i] = ((uint64_t)rand_r(seed) << 33) ^ (uint64_t)rand_r(seed);
    }
    for (int i = 0; i < EVENT_TEXTS; i++) {
        int length = rand_r(seed) % EVENT_TEXT;
        for (int j = 0; j < length; j++) {
            event.text[i][j] = (char)(1 + rand_r(seed) % 255); /* not UTF-8, and never mind */
        }
    }
    return event;
}

static void fill_heap(struct heap_model *heap, uint64_t salt) {
    snprintf(heap->name, sizeof heap->name, "heap %llu", (unsigned long long)salt);
    heap->late = salt % 2;
    heap->destroyed = salt % 3 == 0;
    for (int i = 0; i < EDEN_FIGURE_COUNT; i++) {
        if (i % 5 != 4) {
            heap->known |= 1ull << i;
            heap->figures[i] = salt * 1000 + (uint64_t)i + (i == 3 ? UINT64_MAX / 2 : 0);
            heap->before[i] = heap->late ? (uint64_t)i : 0;
        }
    }
    for (int i = 0; i < EDEN_FULL_CAUSES; i++) {
        heap->full_by_cause[i] = salt + (uint64_t)i;
        heap->full_by_cause_before[i] = (uint64_t)i;
    }
    heap->collection.known = salt % 4 != 0;
    if (salt % 4 == 1) {
        heap->collection =
            (struct collection_model){true, true, EDEN_PHASE_compact__move, salt % 8 == 1 ? 0 : 700, 800, 900, 200};
    }
    for (int i = 0; i < EDEN_PHASE_COUNT; i += 2) {
        struct phase_model *phase = model_phase(heap, (enum eden_phase)i);
        assert_non_null(phase);
        phase->calls = salt + 3;
        phase->total_ns = salt * 100;
        phase->max_ns = salt * 90;
        phase->objects = salt + 1;
        phase->bytes = salt + 2;
        phase->outside_ns = salt;
        memset(phase->buckets, 0, sizeof phase->buckets);
        phase->buckets[0] = 1;
        phase->buckets[salt % HISTOGRAM_BUCKETS] += 1;
        phase->buckets[HISTOGRAM_BUCKETS - 1] = UINT64_MAX;
    }
}

static void fill_model(struct model *model, uint64_t salt) {
    model->wall_ns = 123456789 + salt;
    model->lost = salt;
    for (uint32_t pid = 100; pid < 102; pid++) {
        struct process_key key = process_key(pid);
        struct process_model *process = model_process(model, &key);
        assert_non_null(process);
        snprintf(process->command, sizeof process->command, "prog %u", pid);
        process->runtime = "eden";
        process->late = pid == 101;
        process->ended = pid == 100;
        for (uint64_t i = 1; i <= 3; i++) {
            struct heap_model *heap = model_heap(process, 0xffff800000001000ull * i, i);
            assert_non_null(heap);
            fill_heap(heap, salt + i);
        }
    }
}

static void assert_same_heap(const struct heap_model *a, const struct heap_model *b) {
    assert_int_equal(a->address, b->address);
    assert_int_equal(a->id, b->id);
    assert_string_equal(a->name, b->name);
    assert_int_equal(a->late, b->late);
    assert_int_equal(a->destroyed, b->destroyed);
    assert_int_equal(a->known, b->known);
    assert_memory_equal(a->figures, b->figures, sizeof a->figures);
    assert_memory_equal(a->before, b->before, sizeof a->before);
    assert_memory_equal(a->full_by_cause, b->full_by_cause, sizeof a->full_by_cause);
    assert_memory_equal(a->full_by_cause_before, b->full_by_cause_before, sizeof a->full_by_cause_before);
    assert_int_equal(a->collection.known, b->collection.known);
    assert_int_equal(a->collection.under_way, b->collection.under_way);
    assert_int_equal(a->collection.phase, b->collection.phase);
    assert_int_equal(a->collection.since_ns, b->collection.since_ns);
    assert_int_equal(a->collection.phase_since_ns, b->collection.phase_since_ns);
    assert_int_equal(a->collection.until_ns, b->collection.until_ns);
    assert_int_equal(a->collection.observed_ns, b->collection.observed_ns);
    for (int i = 0; i < EDEN_PHASE_COUNT; i++) {
        assert_int_equal(!a->phase[i], !b->phase[i]);
        if (a->phase[i]) {
            assert_memory_equal(a->phase[i], b->phase[i], sizeof *a->phase[i]);
        }
    }
}

static void assert_same_model(const struct model *a, const struct model *b) {
    assert_int_equal(a->wall_ns, b->wall_ns);
    assert_int_equal(a->lost, b->lost);
    assert_int_equal(a->process_count, b->process_count);
    for (size_t i = 0; i < a->process_count; i++) {
        const struct process_model *p = &a->processes[i], *q = &b->processes[i];
        assert_memory_equal(&p->key, &q->key, sizeof p->key);
        assert_string_equal(p->command, q->command);
        assert_string_equal(p->runtime, q->runtime);
        assert_int_equal(p->late, q->late);
        assert_int_equal(p->ended, q->ended);
        assert_int_equal(p->heap_count, q->heap_count);
        for (size_t j = 0; j < p->heap_count; j++) {
            assert_same_heap(&p->heaps[j], &q->heaps[j]);
        }
    }
}

static struct recorder *create(const char *path, bool force, struct failure *why) {
    struct recorder_options options = {.path = path, .command = command, .force = force};
    return recorder_create(&options, why);
}

static struct recorder *begin(const char *path) {
    return begin_with(&(struct recorder_options){.path = path, .command = command});
}

struct collected {
    struct event *events;
    uint64_t *heap_ids;
    size_t count, most;
};

static bool collect(void *context, const struct event *event, uint64_t heap_id) {
    struct collected *to = context;
    if (to->count < to->most) {
        to->events[to->count] = *event;
        to->heap_ids[to->count] = heap_id;
    }
    to->count++;
    return true;
}

static struct collected events_of(struct recording *recording, size_t most) {
    struct collected all = {calloc(most, sizeof(struct event)), calloc(most, sizeof(uint64_t)), 0, most};
    struct failure why = {0};
    assert_non_null(all.events);
    assert_non_null(all.heap_ids);
    if (!recording_events(recording, NULL, collect, &all, &why)) {
        fail_msg("%s", why.message);
    }
    return all;
}

static void free_collected(struct collected *all) {
    free(all->events);
    free(all->heap_ids);
}

/* ---- round trips ------------------------------------------------------------------------------------------------ */

static void events_read_back_in_order_of_time(void **state) {
    (void)state;
    enum { COUNT = 40000 };
    struct event *written = calloc(COUNT, sizeof *written);
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

    struct recording *recording = open_good("events.data");
    assert_int_equal(recording_info(recording)->events, COUNT);
    struct collected read = events_of(recording, COUNT);
    assert_int_equal(read.count, COUNT);
    uint8_t *seen = calloc(COUNT, 1);
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
    free(seen);
    free(written);
    free_collected(&read);
    recording_close(recording);
}

static void model_reads_back_equal(void **state) {
    (void)state;
    struct recorder *recorder = begin("model.data");
    struct model first = {0}, second = {0}, read = {0};
    struct failure why = {0};
    fill_model(&first, 1);
    commit(recorder, &first, false);
    struct recording *recording = open_good("model.data");
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
    recording_close(recording);
    model_clear(&first);
    model_clear(&second);
    model_clear(&read);
}

static void fewer_heaps_leave_no_rest(void **state) {
    (void)state;
    struct recorder *recorder = begin("fewer.data");
    struct model first = {0}, second = {0}, read = {0};
    struct failure why = {0};
    fill_model(&first, 1);
    commit(recorder, &first, false);
    struct process_key key = process_key(100);
    struct process_model *process = model_process(&second, &key);
    assert_non_null(process);
    process->runtime = "eden";
    assert_non_null(model_heap(process, 1, 1));
    commit(recorder, &second, true);
    recorder_close(recorder);
    struct recording *recording = open_good("fewer.data");
    assert_true(recording_model(recording, &read, &why));
    assert_int_equal(read.processes[0].heap_count, 1);
    assert_same_heap(&read.processes[0].heaps[0], &second.processes[0].heaps[0]);
    recording_close(recording);
    model_clear(&first);
    model_clear(&second);
    model_clear(&read);
}

static void addresses_that_come_again_are_told_apart(void **state) {
    (void)state;
    struct recorder *recorder = begin("again.data");
    struct model model = {0};
    const struct event events[] = {
        make_event(EDEN_PROBE_heap__create, 10, 0x1000, 1),  make_event(EDEN_PROBE_mark__start, 11, 0x1000, 5),
        make_event(EDEN_PROBE_heap__destroy, 12, 0x1000, 1), make_event(EDEN_PROBE_heap__create, 13, 0x1000, 2),
        make_event(EDEN_PROBE_mark__start, 14, 0x1000, 5),   make_event(EDEN_PROBE_mark__start, 15, 0x2000, 5),
    };
    static const uint64_t ids[] = {1, 1, 1, 2, 2, 9};
    struct process_key key = process_key(100);
    struct process_model *process = model_process(&model, &key);
    assert_non_null(process);
    struct heap_model *late = model_heap(process, 0x2000, 9); /* older than the recording */
    assert_non_null(late);
    late->late = true;
    for (size_t i = 0; i < sizeof events / sizeof events[0]; i++) {
        add(recorder, &events[i]);
    }
    commit(recorder, &model, true);
    recorder_close(recorder);
    struct recording *recording = open_good("again.data");
    struct collected read = events_of(recording, 6);
    assert_int_equal(read.count, 6);
    assert_memory_equal(read.heap_ids, ids, sizeof ids);
    free_collected(&read);
    recording_close(recording);
    model_clear(&model);
}

static void collect_parameter(void *context, const char *name, const char *value) {
    char *text = context;
    size_t used = strlen(text);
    snprintf(text + used, 256 - used, "%s=%s;", name, value);
}

static void parameters_are_the_last_set(void **state) {
    (void)state;
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
    struct recording *recording = open_good("parameters.data");
    char text[256] = "";
    struct failure why = {0};
    struct process_key key = process_key(100);
    assert_true(recording_parameters(recording, &key, 0x1000, 1, collect_parameter, text, &why));
    assert_string_equal(text, "compactor=none;eden_size=2;");
    recording_close(recording);
}

/* What a person at an SQL shell sees: the views join start and end, and every probe's view can be read. */
static void views_tell_collections(void **state) {
    (void)state;
    struct recorder *recorder = begin("views.data");
    struct model model = {0};
    struct event event = make_event(EDEN_PROBE_scavenge__start, 100, 0x1000, 1);
    event.args = 11;
    event.arg[2] = EDEN_SCAVENGE_FULL;
    event.arg[3] = 4096;
    add(recorder, &event);
    event = make_event(EDEN_PROBE_scavenge__done, 300, 0x1000, 1);
    event.arg[2] = 200;
    event.arg[3] = 512;
    add(recorder, &event);
    event = make_event(EDEN_PROBE_full__start, 400, 0x1000, 2);
    event.arg[2] = EDEN_FULL_REQUEST;
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
    model_clear(&model);
}

/* ---- files that must not be touched ----------------------------------------------------------------------------- */

static void other_files_are_left_alone(void **state) {
    (void)state;
    struct failure why = {0};
    write_file("letter.txt", "Dear Sir", 8);
    assert_null(create("letter.txt", false, &why));
    assert_int_equal(why.status, 1);
    assert_non_null(strstr(why.message, "letter.txt"));
    assert_non_null(strstr(why.message, "--force"));
    size_t size;
    unsigned char *bytes = read_file("letter.txt", &size);
    assert_int_equal(size, 8);
    assert_memory_equal(bytes, "Dear Sir", 8);
    free(bytes);

    struct recorder *recorder = create("letter.txt", true, &why);
    assert_non_null(recorder);
    assert_true(recorder_publish(recorder, &why));
    recorder_close(recorder);
    recording_close(open_good("letter.txt"));

    assert_null(create(".", false, &why));
    assert_null(create("/dev/null", true, &why));
    assert_null(create("no/such/folder.data", false, &why));
    assert_null(create("", false, &why));
    assert_int_equal(mkfifo("pipe", 0600), 0);
    assert_null(create("pipe", true, &why));
    assert_null(recording_open("pipe", &why));
    assert_null(recording_open(".", &why));
    assert_null(recording_open("missing.data", &why));
    assert_null(recording_open(":memory:", &why));
    write_file("empty.data", "", 0);
    assert_null(recording_open("empty.data", &why));
    recorder_close(begin("empty.data")); /* nothing is lost with an empty file */
}

static size_t files_beside(const char *prefix) {
    char list[128];
    snprintf(list, sizeof list, "ls -d %s* 2>/dev/null | wc -l", prefix);
    FILE *pipe = popen(list, "r");
    assert_non_null(pipe);
    size_t count = 0;
    assert_int_equal(fscanf(pipe, "%zu", &count), 1);
    pclose(pipe);
    return count;
}

static void old_recording_stays_until_the_new_is_published(void **state) {
    (void)state;
    struct failure why = {0};
    struct model model = {0}, read = {0};
    struct recorder *recorder = begin("old.data");
    fill_model(&model, 5);
    commit(recorder, &model, true);
    recorder_close(recorder);

    recorder = create("old.data", false, &why);
    assert_non_null(recorder);
    struct recording *recording = open_good("old.data");
    assert_true(recording_model(recording, &read, &why));
    assert_same_model(&model, &read);
    recording_close(recording);
    recorder_close(recorder); /* tracing could not be attached */
    recording = open_good("old.data");
    assert_true(recording_info(recording)->finished);
    recording_close(recording);
    assert_int_equal(files_beside("old.data"), 1);

    recorder = begin("old.data");
    assert_null(create("old.data", true, &why)); /* it is being recorded */
    assert_non_null(strstr(why.message, "another edenscope"));
    recorder_close(recorder);
    recording = open_good("old.data");
    assert_false(recording_info(recording)->finished);
    recording_close(recording);
    assert_int_equal(files_beside("old.data"), 1);
    model_clear(&model);
    model_clear(&read);
}

static void link_is_followed(void **state) {
    (void)state;
    recorder_close(begin("target.data"));
    assert_int_equal(symlink("target.data", "link.data"), 0);
    recorder_close(begin("link.data"));
    struct stat status;
    assert_int_equal(lstat("link.data", &status), 0);
    assert_true(S_ISLNK(status.st_mode));
    recording_close(open_good("link.data"));
}

static void other_versions_are_refused(void **state) {
    (void)state;
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

/* ---- damage ----------------------------------------------------------------------------------------------------- */

static bool count_event(void *context, const struct event *event, uint64_t heap_id) {
    (void)heap_id;
    *(uint64_t *)context += event->args;
    return true;
}

/* Whatever comes of it: an error with words, or a read. */
static void read_all(const char *path) {
    struct failure why = {0};
    struct recording *recording = recording_open(path, &why);
    if (!recording) {
        assert_true(why.message[0] != '\0');
        return;
    }
    struct model model = {0};
    uint64_t count = 0;
    char parameters[256] = "";
    struct process_key key = process_key(100);
    if (!recording_model(recording, &model, &why) || !recording_events(recording, NULL, count_event, &count, &why) ||
        !recording_parameters(recording, &key, 0x1000, 1, collect_parameter, parameters, &why)) {
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
    model_clear(&model);
    recording_close(recording);
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

static void truncated_files_do_no_harm(void **state) {
    (void)state;
    size_t size;
    unsigned char *bytes = sample(&size);
    for (size_t length = 0; length < size; length += 512) {
        write_file("cut.data", bytes, length);
        read_all("cut.data");
    }
    free(bytes);
}

static void flipped_bits_do_no_harm(void **state) {
    (void)state;
    size_t size;
    unsigned char *bytes = sample(&size);
    unsigned seed = 1;
    for (int i = 0; i < 1500; i++) {
        int flips = 1 + i % 20;
        unsigned char *damaged = malloc(size);
        assert_non_null(damaged);
        memcpy(damaged, bytes, size);
        for (int j = 0; j < flips; j++) {
            /* Half of them in the headers of pages, where they matter most. */
            size_t at = (size_t)rand_r(&seed) % size;
            at = j % 2 ? at : at / 4096 * 4096 + (size_t)rand_r(&seed) % 64;
            if (at < size && !(at >= 60 && at < 72)) {
                damaged[at] ^= (unsigned char)(1 << rand_r(&seed) % 8);
            }
        }
        write_file("flipped.data", damaged, size);
        read_all("flipped.data");
        free(damaged);
    }
    free(bytes);
}

/* A file that is a recording by its header, and holds something else in place of the tables. */
static void hostile_schemas_do_no_harm(void **state) {
    (void)state;
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

static void random_files_are_refused(void **state) {
    (void)state;
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

/* ---- kills and full disks --------------------------------------------------------------------------------------- */

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
    struct heap_model *heap = process ? model_heap(process, 0x1000, 1) : NULL;
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

static void killed_recorder_leaves_a_readable_file(void **state) {
    (void)state;
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

        struct recording *recording = open_good("killed.data");
        assert_false(recording_info(recording)->finished);
        assert_false(recording_info(recording)->live);
        struct model model = {0};
        struct failure why = {0};
        assert_true(recording_model(recording, &model, &why));
        uint64_t events = recording_info(recording)->events;
        struct collected read = events_of(recording, events + 1);
        assert_int_equal(read.count, events); /* all that its own count says, and no half of a transaction */
        for (uint64_t i = 0; i < read.count; i++) {
            assert_int_equal(read.events[i].arg[1], i);
        }
        if (model.process_count) {
            assert_true(model.processes[0].heaps[0].figures[EDEN_FIGURE_scavenges] <= events);
        }
        free_collected(&read);
        model_clear(&model);
        recording_close(recording);
    }
    recorder_close(begin("killed.data")); /* whatever the last kill left */
    assert_int_equal(files_beside("killed.data"), 1);
}

static void full_disk_ends_the_recording_alone(void **state) {
    (void)state;
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
    struct recording *recording = open_good("full.data");
    assert_false(recording_info(recording)->finished);
    struct collected read = events_of(recording, 100000);
    assert_true(read.count >= 100); /* whole transactions */
    assert_int_equal(read.count, recording_info(recording)->events);
    free_collected(&read);
    recording_close(recording);
}

/* Somebody holds the file locked for a while: nothing is lost and nothing fails. */
static void locked_file_is_waited_for(void **state) {
    (void)state;
    struct recorder *recorder = begin("locked.data");
    struct model model = {0};
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
    struct recording *recording = open_good("locked.data");
    struct model read = {0};
    struct failure why = {0};
    assert_true(recording_model(recording, &read, &why));
    assert_same_model(&model, &read);
    struct collected all = events_of(recording, 2);
    assert_int_equal(all.count, 2);
    free_collected(&all);
    recording_close(recording);
    model_clear(&model);
    model_clear(&read);
}

/* A journal may name a file that SQLite then deletes: such a journal is not ours, and is read by nobody. */
static void trap_in_the_journal_is_refused(void **state) {
    (void)state;
    static const unsigned char mark[8] = {0xd9, 0xd5, 0x05, 0xf9, 0x20, 0xa1, 0x63, 0xd7};
    unsigned char journal[1024];
    memset(journal, 'x', sizeof journal);
    memcpy(journal, mark, sizeof mark);
    memcpy(journal + sizeof journal - sizeof mark, mark, sizeof mark);
    recorder_close(begin("trap.data"));
    write_file("trap.data-journal", journal, sizeof journal);
    struct failure why = {0};
    assert_null(recording_open("trap.data", &why));
    assert_non_null(strstr(why.message, "journal"));
    struct recorder *recorder = create("trap.data", true, &why);
    assert_non_null(recorder);
    assert_false(recorder_publish(recorder, &why));
    assert_non_null(strstr(why.message, "trap.data-journal"));
    recorder_close(recorder);
    assert_int_equal(access("trap.data-journal", F_OK), 0);
    assert_int_equal(unlink("trap.data-journal"), 0);
    recording_close(open_good("trap.data"));
}

/* ---- what stands beside a recording ------------------------------------------------------------------------------ */

static void assert_holds(const char *path, const char *text) {
    size_t size;
    unsigned char *bytes = read_file(path, &size);
    assert_int_equal(size, strlen(text));
    assert_memory_equal(bytes, text, size);
    free(bytes);
}

/* SQLite would delete the one and read the other into the new recording. */
static void files_beside_are_named_and_left_alone(void **state) {
    (void)state;
    static const char *const suffixes[] = {"-journal", "-wal", "-shm"};
    struct failure why = {0};
    for (int there = 0; there < 2; there++) { /* a recording stands there already, or not */
        if (there) {
            recorder_close(begin("beside.data"));
        }
        for (size_t i = 0; i < sizeof suffixes / sizeof *suffixes; i++) {
            char name[64];
            snprintf(name, sizeof name, "beside.data%s", suffixes[i]);
            write_file(name, "a diary", 7);
            assert_null(create("beside.data", true, &why));
            assert_non_null(strstr(why.message, suffixes[i]));
            assert_holds(name, "a diary");
            assert_int_equal(unlink(name), 0);
            if (there) {
                recording_close(open_good("beside.data"));
            }

            /* It comes while tracing is attached. */
            struct recorder *recorder = create("beside.data", false, &why);
            assert_non_null(recorder);
            write_file(name, "a diary", 7);
            assert_false(recorder_publish(recorder, &why));
            recorder_close(recorder);
            assert_holds(name, "a diary");
            assert_int_equal(unlink(name), 0);
            assert_int_equal(access("beside.data", F_OK), there ? 0 : -1);
        }
    }
}

/* A write-ahead log whose frames replace each page of the recording: what an SQLite library would read. */
static void planted_log_is_not_read(void **state) {
    (void)state;
    sqlite3 *db = NULL;
    struct failure why = {0};
    recorder_close(begin("planted.data"));
    recorder_close(begin("victim.data"));
    assert_int_equal(sqlite3_open("planted.data", &db), SQLITE_OK);
    assert_int_equal(sqlite3_exec(db, "PRAGMA journal_mode = WAL; UPDATE meta SET value = 'planted' WHERE key = 'tool'",
                                  NULL, NULL, NULL),
                     SQLITE_OK);
    assert_int_equal(system("cp planted.data victim.data; cp planted.data-wal victim.data-wal"), 0);
    sqlite3_close(db);
    struct recording *recording = recording_open("victim.data", &why);
    assert_null(recording); /* a file in this mode can't be read without its log */
    assert_null(create("victim.data", true, &why));
    assert_non_null(strstr(why.message, "-wal"));
}

/* What is read as a stranger's file, or has half a transaction, is read from a copy: the originals stay as they are. */
static void half_transaction_is_undone_in_a_copy(void **state) {
    (void)state;
    static const char *const names[] = {"hot.data", "hot.data-journal"};
    struct recorder *recorder = begin("hot.data");
    struct model model = {0};
    fill_model(&model, 4);
    commit(recorder, &model, true);
    recorder_close(recorder);
    /* A transaction that changed the file and was not ended: its pages are written, its journal stands. */
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        sqlite3 *db = NULL;
        bool good = sqlite3_open("hot.data", &db) == SQLITE_OK &&
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

    struct stat before[2], after[2];
    unsigned char *bytes[2];
    size_t size[2];
    for (int i = 0; i < 2; i++) {
        assert_int_equal(stat(names[i], &before[i]), 0);
        assert_true(before[i].st_size > 0);
        bytes[i] = read_file(names[i], &size[i]);
    }
    struct recording *recording = open_good("hot.data");
    struct model read = {0};
    struct failure why = {0};
    assert_true(recording_model(recording, &read, &why));
    assert_same_model(&model, &read);
    recording_close(recording);
    model_clear(&read);
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
    model_clear(&model);
}

/* NAME.XXXXXX of recorders that were killed early go; what only looks like one stays. */
static void leftovers_are_swept(void **state) {
    (void)state;
    struct failure why = {0};
    struct model model = {0};
    struct event event = make_event(EDEN_PROBE_mark__start, 1, 0x1000, 0);
    struct recorder *recorder = begin("kept.data");
    add(recorder, &event);
    commit(recorder, &model, true);
    recorder_close(recorder);
    assert_int_equal(system("cp kept.data swept.data.backup"), 0); /* six letters, our id, and a person's copy */
    write_file("swept.data.letter", "Dear Sir", 8);
    write_file("swept.data.empty0", "", 0);
    /* What the file of a recorder is before it is published. */
    recorder = create("other.data", false, &why);
    assert_non_null(recorder);
    char copy[96];
    snprintf(copy, sizeof copy, "cat /proc/%d/fd/%d >swept.data.aB3xYz", getpid(), recorder->file.file);
    assert_int_equal(system(copy), 0);
    recorder_close(recorder);
    struct stat status;
    assert_int_equal(stat("swept.data.aB3xYz", &status), 0);
    assert_true(status.st_size > 4096);

    recorder_close(begin("swept.data"));
    assert_int_equal(access("swept.data.aB3xYz", F_OK), -1);
    assert_int_equal(access("swept.data.backup", F_OK), 0);
    assert_int_equal(access("swept.data.empty0", F_OK), 0);
    assert_holds("swept.data.letter", "Dear Sir");
    assert_int_equal(files_beside("other.data"), 0);
}

/* ---- whose files ------------------------------------------------------------------------------------------------- */

enum { NOBODY = 65534 };

/* Perf's rule. */
static void strangers_recordings_take_force(void **state) {
    (void)state;
    if (geteuid() != 0) {
        skip();
    }
    struct failure why = {0};
    unsetenv("SUDO_UID");
    recorder_close(begin("theirs.data"));
    assert_int_equal(chown("theirs.data", NOBODY, NOBODY), 0);
    assert_null(recording_open("theirs.data", &why));
    assert_non_null(strstr(why.message, "--force"));
    struct recording *recording = recording_open_with("theirs.data", RECORDING_FORCE, &why);
    assert_non_null(recording);
    assert_true(recording->held.is_copy);
    recording_close(recording);
    setenv("SUDO_UID", "65534", 1);
    recording = open_good("theirs.data");
    assert_true(recording->held.is_copy);
    recording_close(recording);
    unsetenv("SUDO_UID");
    assert_null(create("theirs.data", false, &why));
    assert_non_null(strstr(why.message, "another user"));
    recorder_close(create("theirs.data", true, &why));

    assert_int_equal(symlink("kept.data", "link.theirs"), 0);
    assert_int_equal(lchown("link.theirs", NOBODY, NOBODY), 0);
    assert_null(recording_open_with("link.theirs", RECORDING_FORCE, &why));
    assert_null(create("link.theirs", true, &why));
    assert_int_equal(access("kept.data", F_OK), 0);
    recorder_close(begin("own.data"));
    write_file("own.data-journal", "", 0);
    assert_int_equal(chown("own.data-journal", NOBODY, NOBODY), 0);
    assert_null(create("own.data", true, &why));
    assert_null(recording_open("own.data", &why));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(events_read_back_in_order_of_time),
        cmocka_unit_test(model_reads_back_equal),
        cmocka_unit_test(fewer_heaps_leave_no_rest),
        cmocka_unit_test(addresses_that_come_again_are_told_apart),
        cmocka_unit_test(parameters_are_the_last_set),
        cmocka_unit_test(views_tell_collections),
        cmocka_unit_test(other_files_are_left_alone),
        cmocka_unit_test(old_recording_stays_until_the_new_is_published),
        cmocka_unit_test(link_is_followed),
        cmocka_unit_test(other_versions_are_refused),
        cmocka_unit_test(truncated_files_do_no_harm),
        cmocka_unit_test(flipped_bits_do_no_harm),
        cmocka_unit_test(hostile_schemas_do_no_harm),
        cmocka_unit_test(random_files_are_refused),
        cmocka_unit_test(killed_recorder_leaves_a_readable_file),
        cmocka_unit_test(full_disk_ends_the_recording_alone),
        cmocka_unit_test(locked_file_is_waited_for),
        cmocka_unit_test(trap_in_the_journal_is_refused),
        cmocka_unit_test(files_beside_are_named_and_left_alone),
        cmocka_unit_test(planted_log_is_not_read),
        cmocka_unit_test(half_transaction_is_undone_in_a_copy),
        cmocka_unit_test(leftovers_are_swept),
        cmocka_unit_test(strangers_recordings_take_force),
    };
    return cmocka_run_group_tests(tests, enter_folder, leave_folder);
}
