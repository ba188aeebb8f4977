/* Lifetimes in recordings: what is read back is what the batches say, object by object where they hold objects; batches
 * that lie are left out; a damaged file, or a killed recorder, does no more than an error. */
#include "model/lifetimes/names.h"
#include "recording_support.h"
#include "session/life_spool.h"
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>

static const struct process_key first = {.start_ns = 7000, .pid = 100}, second = {.start_ns = 9000, .pid = 101};
static char *const command[] = {"prog", NULL};
enum { REQUEST = EDEN_CONTROL_ASKED | EDEN_CONTROL_OBJECTS | EDEN_SAMPLE_OBJECTS | 1 << EDEN_CONTROL_RATE_SHIFT };

static struct recorder *begin(const char *path) {
    return begin_with(&(struct recorder_options){.path = path, .command = command, .lifetimes = REQUEST});
}

/* ---- batches ---------------------------------------------------------------------------------------------------- */

enum { HEAPS = 3, OBJECTS_EACH = 100, BATCHES = 400 };

static struct life_batch batch_of(unsigned heap, uint32_t kind, const void *records, size_t count, size_t bytes) {
    return (struct life_batch){.time_ns = 1000 + heap,
                               .process = heap < 2 ? first : second,
                               .address = 0x7fff00001000ull,
                               .id = heap < 2 ? heap + 1 : 1,
                               .kind = kind,
                               .count = (uint32_t)count,
                               .record_bytes = (uint32_t)bytes,
                               .records = records};
}

static struct eden_profile_record profile_of(uint64_t begun, bool ended) {
    return (struct eden_profile_record){.begun_ns = begun,
                                        .time_ns = begun + 1000000,
                                        .allocated_bytes = 1 << 23,
                                        .sampling = EDEN_SAMPLE_OBJECTS,
                                        .rate = 1,
                                        .ended = ended};
}

static struct eden_life_record nth_object(uint64_t i) {
    uint64_t birth = 1000 + 10 * i;
    bool tenured = i % 7 == 0;
    return (struct eden_life_record){.site = (uint32_t)(1 + i % 40),
                                     .flags = tenured ? EDEN_LIFE_TENURED : 0,
                                     .bytes = 16 + i % 9 * 8,
                                     .birth_ns = birth,
                                     .birth_bytes = 100 * i,
                                     .tenured_ns = tenured ? birth + 5 : 0,
                                     .tenured_bytes = tenured ? 100 * i + 50 : 0,
                                     .death_ns = birth + i * 2654435761u % 100000,
                                     .death_bytes = 100 * i + 64 + i % 5000,
                                     .scavenges = (uint32_t)(i % 12),
                                     .censored = i % 10 == 9,
                                     .weight = EDEN_WEIGHT_ONE};
}

/* Gets all batches, one after the other. */
typedef void batch_taker(void *to, const struct life_batch *batch);

/* Of three heaps, of which the first two follow each other at an address: profiles, births and objects, and a kind that
 * nobody knows. The second heap's first profile is replaced by another one. */
static void make_batches(batch_taker *take, void *to) {
    struct eden_life_record objects[OBJECTS_EACH];
    struct eden_profile_record profile;
    struct life_batch batch;
    for (unsigned heap = 0; heap < HEAPS; heap++) {
        profile = profile_of(500 + heap, false);
        batch = batch_of(heap, EDEN_BATCH_PROFILE, &profile, 1, sizeof profile);
        take(to, &batch);
    }
    for (uint64_t i = 0; i < BATCHES; i++) {
        unsigned heap = (unsigned)(i % HEAPS);
        for (uint64_t j = 0; j < OBJECTS_EACH; j++) {
            objects[j] = nth_object(i * OBJECTS_EACH + j);
            struct eden_birth_cell birth = {objects[j].site, 1, objects[j].bytes, EDEN_WEIGHT_ONE, objects[j].bytes};
            batch = batch_of(heap, EDEN_BATCH_BIRTHS, &birth, 1, sizeof birth);
            take(to, &batch);
        }
        batch = batch_of(heap, EDEN_BATCH_OBJECTS, objects, OBJECTS_EACH, sizeof *objects);
        take(to, &batch);
        if (i == BATCHES / 2) {
            profile = profile_of(777, false);
            batch = batch_of(1, EDEN_BATCH_PROFILE, &profile, 1, sizeof profile);
            take(to, &batch);
            batch = batch_of(1, 4711, objects, 3, 17);
            take(to, &batch);
        }
    }
    for (unsigned heap = 0; heap < HEAPS; heap++) {
        profile = profile_of(heap == 1 ? 777 : 500 + heap, true);
        batch = batch_of(heap, EDEN_BATCH_PROFILE, &profile, 1, sizeof profile);
        take(to, &batch);
    }
}

static void take_recorder(void *to, const struct life_batch *batch) {
    struct failure why = {0};
    if (!recorder_add_batch(to, batch, &why)) {
        fail_msg("%s", why.message);
    }
    if (recorder_is_full(to)) {
        bool more;
        assert_true(recorder_write(to, &more, &why));
        assert_false(recorder_is_full(to));
    }
}

static void take_model(void *to, const struct life_batch *batch) {
    struct life_model *model = to;
    struct life_heap *heap = life_model_heap(model, &batch->process, HEAP_REF(batch));
    assert_non_null(heap);
    assert_true(life_model_batch(model, heap, batch->kind, batch->records, batch->count, batch->record_bytes));
}

static void take_spool(void *to, const struct life_batch *batch) { assert_true(life_spool_add(to, batch)); }

/* ---- what they come to ------------------------------------------------------------------------------------------ */

static void assert_same_site(const struct life_site *a, const struct life_site *b) {
    assert_int_equal(a->site, b->site);
    assert_memory_equal(&a->births, &b->births, sizeof a->births);
    for (enum life_outcome outcome = 0; outcome < LIFE_OUTCOMES; outcome++) {
        for (unsigned flags = 0; flags < EDEN_LIFE_FLAGS; flags++) {
            assert_memory_equal(life_site_ended(a, outcome, flags), life_site_ended(b, outcome, flags),
                                sizeof(struct life_sums));
        }
        for (int clock = 0; clock < LIFE_CLOCKS; clock++) {
            const struct life_histogram *x = &a->histogram[outcome][clock], *y = &b->histogram[outcome][clock];
            assert_int_equal(x->count, y->count);
            for (size_t i = 0; i < x->count; i++) {
                assert_int_equal(x->at[i].bucket, y->at[i].bucket);
                assert_int_equal(x->at[i].count, y->at[i].count);
                assert_int_equal(x->at[i].weight, y->at[i].weight);
                assert_int_equal(x->at[i].weight_bytes, y->at[i].weight_bytes);
            }
        }
    }
}

static void assert_same_lives(const struct life_model *a, const struct life_model *b) {
    assert_int_equal(a->heap_count, b->heap_count);
    assert_int_equal(a->unknown, b->unknown);
    for (size_t i = 0; i < a->heap_count; i++) {
        const struct life_heap *x = &a->heaps[i], *y = &b->heaps[i];
        assert_int_equal(x->id, y->id);
        assert_int_equal(x->process.pid, y->process.pid);
        assert_memory_equal(&x->state, &y->state, sizeof x->state);
        assert_int_equal(x->replaced, y->replaced);
        assert_int_equal(x->site_count, y->site_count);
        for (size_t j = 0; j < x->site_count; j++) {
            assert_same_site(&x->sites[j], &y->sites[j]);
        }
    }
}

/* Objects that come must be those of make_batches, in their order, without those of the profile that was replaced. */
struct expected {
    const struct life_model *model;
    uint64_t next, stop;
};

static bool expect_object(void *context, const struct life_heap *heap, const struct eden_life_record *record) {
    struct expected *expected = context;
    while (expected->next / OBJECTS_EACH % HEAPS == 1 && expected->next / OBJECTS_EACH <= BATCHES / 2) {
        expected->next += OBJECTS_EACH;
    }
    struct eden_life_record wanted = nth_object(expected->next);
    assert_memory_equal(record, &wanted, sizeof wanted);
    assert_ptr_equal(heap, &expected->model->heaps[expected->next / OBJECTS_EACH % HEAPS]);
    return ++expected->next != expected->stop;
}

static void check_objects(const struct life_model *model) {
    struct failure why = {0};
    assert_non_null(model->objects.each);
    for (int again = 0; again < 2; again++) {
        struct expected expected = {.model = model};
        assert_true(model->objects.each(model->objects.from, model, expect_object, &expected, &why));
        assert_int_equal(expected.next, BATCHES * OBJECTS_EACH);
    }
    struct expected few = {.model = model, .stop = 30};
    assert_true(model->objects.each(model->objects.from, model, expect_object, &few, &why));
    assert_int_equal(few.next, 30);
}

static uint64_t ended(const struct life_model *model, enum life_outcome outcome) {
    uint64_t sum = 0;
    for (size_t i = 0; i < model->heap_count; i++) {
        for (size_t j = 0; j < model->heaps[i].site_count; j++) {
            for (unsigned flags = 0; flags < EDEN_LIFE_FLAGS; flags++) {
                sum += life_site_ended(&model->heaps[i].sites[j], outcome, flags)->count;
            }
        }
    }
    return sum;
}

static uint64_t deaths(const struct life_model *model) { return ended(model, LIFE_DIED); }
static uint64_t alive(const struct life_model *model) { return ended(model, LIFE_CENSORED); }

static bool count_object(void *context, const struct life_heap *heap, const struct eden_life_record *record) {
    assert_non_null(heap);
    (void)record;
    ++*(uint64_t *)context;
    return true;
}

/* ---- reading back ----------------------------------------------------------------------------------------------- */

static void define(struct recorder *recorder, uint64_t index, const char *name, uint64_t of) {
    struct event event = {.time_ns = 1, .process = first, .probe = EDEN_PROBE_class__define, .args = of ? 4 : 3};
    EDEN_ARG(event.arg, class__define, heap) = 0x7fff00001000ull;
    EDEN_ARG(event.arg, class__define, class_id) = index;
    EDEN_ARG(event.arg, class__define, of_class) = of;
    snprintf(event.text[0], sizeof event.text[0], "%s", name);
    add(recorder, &event);
}

static void create_heap(struct recorder *recorder, uint64_t id) {
    struct event event = {.time_ns = 1, .process = first, .probe = EDEN_PROBE_heap__create, .args = 2};
    EDEN_ARG(event.arg, heap__create, heap) = 0x7fff00001000ull;
    EDEN_ARG(event.arg, heap__create, heap_id) = id;
    add(recorder, &event);
}

static void record_all(const char *path) {
    struct recorder *recorder = begin(path);
    struct model model __attribute__((cleanup(model_clear))) = {.wall_ns = 1234567, .lost_records = 4};
    create_heap(recorder, 1);
    define(recorder, 5, "Point", 5);
    define(recorder, 6, "Point in grow", 5);
    create_heap(recorder, 2);
    define(recorder, 5, "Line", 0);
    struct process_model *process = model_process(&model, &first);
    assert_non_null(process);
    snprintf(process->command, sizeof process->command, "prog");
    struct heap_model *heap = model_heap(process, (struct heap_ref){0x7fff00001000ull, 2, 0});
    assert_non_null(heap);
    snprintf(heap->name, sizeof heap->name, "main");
    make_batches(take_recorder, recorder);
    commit(recorder, &model, true);
    /* Three profiles begun and ended, one replaced; a kind that is not known. */
    assert_int_equal(recorder_batch_count(recorder), BATCHES * (1 + OBJECTS_EACH) + 2 * HEAPS + 2);
    recorder_close(recorder);
}

TEST(lifetimes_read_back_equal) {
    struct failure why = {0};
    __attribute__((cleanup(life_model_clear))) struct life_model live = {0}, read = {0};
    record_all("all.data");
    make_batches(take_model, &live);
    struct recording *recording __attribute__((cleanup(close_recording))) = open_good("all.data");
    assert_int_equal(recording_info(recording)->lifetimes, REQUEST);
    assert_true(recording_lifetimes(recording, &read, &why));
    assert_int_equal(read.wall_ns, 1234567);
    assert_int_equal(read.lost, 4);
    life_model_sort(&live);
    assert_same_lives(&live, &read);
    check_objects(&read);
    assert_string_equal(life_heap_site(&read.heaps[0], 5)->name, "Point");
    assert_string_equal(life_heap_site(&read.heaps[0], 6)->name, "Point in grow");
    assert_string_equal(life_heap_site(&read.heaps[0], 6)->class_name, "Point");
    assert_int_equal(life_heap_site(&read.heaps[0], 6)->class_id, 5);
    assert_string_equal(life_heap_site(&read.heaps[1], 5)->name, "Line");
    assert_string_equal(read.heaps[1].name, "main");
    assert_string_equal(read.heaps[1].command, "prog");
    /* Only the objects of the heaps that are left come. */
    life_model_choose(&read, &(struct heap_choice){first.pid, 2, 0});
    assert_int_equal(read.heap_count, 1);
    uint64_t objects = 0;
    assert_true(read.objects.each(read.objects.from, &read, count_object, &objects, &why));
    assert_int_equal(objects, deaths(&read) + alive(&read));
    assert_true(objects > 0 && objects < BATCHES * OBJECTS_EACH / 4);
}

/* Two heaps with one address and number, whose batches and names come by turns. */
TEST(heaps_with_one_address_and_number_are_distinct) {
    enum { TWINS = 2 };
    struct failure why = {0};
    struct life_model read __attribute__((cleanup(life_model_clear))) = {0};
    struct model model __attribute__((cleanup(model_clear))) = {0};
    struct recorder *recorder = begin("twins.data");
    struct process_model *process = model_process(&model, &first);
    assert_non_null(process);
    for (uint64_t i = 0; i < 3 * TWINS; i++) {
        uint64_t serial = 5 + i % TWINS, number = i / TWINS;
        struct event event = {.time_ns = 1, .process = first, .args = 4, .serial = serial};
        EDEN_ARG(event.arg, heap__create, heap) = 0x7fff00001000ull;
        EDEN_ARG(event.arg, heap__create, heap_id) = 1; /* or class_id */
        event.probe = number == 0 ? EDEN_PROBE_heap__create : EDEN_PROBE_class__define;
        snprintf(event.text[0], EVENT_TEXT, "of %d", (int)serial);
        add(recorder, &event);
        const struct eden_profile_record profile = profile_of(500 + serial, number == 2);
        const struct eden_birth_cell birth = {1, (uint32_t)serial, 16, EDEN_WEIGHT_ONE, 16};
        struct life_batch batch = number == 1 ? batch_of(0, EDEN_BATCH_BIRTHS, &birth, 1, sizeof birth)
                                              : batch_of(0, EDEN_BATCH_PROFILE, &profile, 1, sizeof profile);
        batch.serial = serial;
        assert_true(recorder_add_batch(recorder, &batch, &why));
        assert_non_null(model_heap(process, (struct heap_ref){0x7fff00001000ull, 1, serial}));
    }
    commit(recorder, &model, true);
    recorder_close(recorder);
    struct recording *recording __attribute__((cleanup(close_recording))) = open_good("twins.data");
    assert_true(recording_lifetimes(recording, &read, &why));
    assert_int_equal(read.heap_count, TWINS);
    for (uint64_t i = 0; i < TWINS; i++) {
        struct life_heap *heap = &read.heaps[i];
        char name[EVENT_TEXT];
        snprintf(name, sizeof name, "of %d", (int)heap->serial);
        assert_int_equal(heap->serial, 5 + i);
        assert_int_equal(heap->replaced, 0);
        assert_int_equal(heap->site_count, 1);
        assert_int_equal(heap->sites[0].births.count, 5 + i);
        assert_string_equal(heap->sites[0].name, name);
    }
}

TEST(a_spool_reads_back_equal) {
    struct failure why = {0};
    struct life_model live = {0}, read = {0};
    assert_int_equal(setenv("TMPDIR", ".", 1), 0);
    struct life_spool *spool = life_spool_open(&why);
    assert_non_null(spool);
    make_batches(take_spool, spool);
    make_batches(take_model, &live);
    struct life_replay replay = {life_spool_batches, spool};
    assert_true(life_replay_model(&replay, &read, &why));
    assert_same_lives(&live, &read);
    read.objects = (struct life_objects){life_replay_objects, &replay};
    check_objects(&read);
    life_spool_close(spool);
    life_model_clear(&live);
    life_model_clear(&read);
    assert_int_not_equal(setenv("TMPDIR", "/nonexistent/folder", 1), -1);
    assert_null(life_spool_open(&why));
    assert_non_null(strstr(why.message, "/nonexistent/folder"));
    unsetenv("TMPDIR");
}

TEST(a_full_disk_is_reported_by_the_spool) {
    struct failure why = {0};
    struct rlimit limit, old;
    struct eden_life_record objects[OBJECTS_EACH] = {{0}};
    struct life_batch batch = batch_of(0, EDEN_BATCH_OBJECTS, objects, OBJECTS_EACH, sizeof *objects);
    struct life_model read = {0};
    assert_int_equal(setenv("TMPDIR", ".", 1), 0);
    struct life_spool *spool = life_spool_open(&why);
    assert_non_null(spool);
    signal(SIGXFSZ, SIG_IGN);
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &old), 0);
    limit = old;
    limit.rlim_cur = 300000;
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
    int taken = 0;
    while (life_spool_add(spool, &batch)) {
        assert_true(++taken < 1000);
    }
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &old), 0);
    signal(SIGXFSZ, SIG_DFL);
    assert_false(life_spool_add(spool, &batch));
    struct life_replay replay = {life_spool_batches, spool};
    assert_false(life_replay_model(&replay, &read, &why));
    assert_non_null(strstr(why.message, "TMPDIR"));
    life_spool_close(spool);
    life_model_clear(&read);
    unsetenv("TMPDIR");
}

TEST(recordings_without_lifetimes_are_refused) {
    struct failure why = {0};
    struct life_model model __attribute__((cleanup(life_model_clear))) = {0};
    recorder_close(begin_with(&(struct recorder_options){.path = "none.data", .command = command}));
    struct recording *recording __attribute__((cleanup(close_recording))) = open_good("none.data");
    assert_false(recording_lifetimes(recording, &model, &why));
    assert_non_null(strstr(why.message, "--lifetimes"));
}

/* ---- lies ------------------------------------------------------------------------------------------------------- */

/* A recording of ten deaths in five batches, one for each row from 3 on. */
static unsigned char *small(size_t *size) {
    struct recorder *recorder = begin("small.data");
    struct model model = {0};
    struct eden_profile_record profile = profile_of(500, true);
    struct eden_birth_cell birth = {1, 10, 160, 10 * EDEN_WEIGHT_ONE, 160};
    struct life_batch batch = batch_of(0, EDEN_BATCH_PROFILE, &profile, 1, sizeof profile);
    take_recorder(recorder, &batch);
    batch = batch_of(0, EDEN_BATCH_BIRTHS, &birth, 1, sizeof birth);
    take_recorder(recorder, &batch);
    for (uint64_t i = 0; i < 5; i++) {
        struct eden_life_record objects[2] = {nth_object(40 * (2 * i + 1)), nth_object(40 * (2 * i + 2))};
        batch = batch_of(0, EDEN_BATCH_OBJECTS, objects, 2, sizeof *objects);
        take_recorder(recorder, &batch);
    }
    create_heap(recorder, 1);
    define(recorder, 1, "Point", 1);
    commit(recorder, &model, true);
    recorder_close(recorder);
    return read_file("small.data", size);
}

static void spoil(const char *path, const unsigned char *bytes, size_t size, const char *sql) {
    sqlite3 *db = NULL;
    write_file(path, bytes, size);
    assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
    assert_int_equal(sqlite3_exec(db, sql, NULL, NULL, NULL), SQLITE_OK);
    sqlite3_close(db);
}

TEST(lies_are_left_out) {
    static const struct {
        const char *sql;
        uint64_t deaths, lost, unknown;
    } lies[] = {
        {"UPDATE life_batch SET time_ns = -1", 10, 0, 0},
        {"UPDATE life_batch SET data = substr(data, 1, 100) WHERE batch = 4", 8, 1, 0},
        {"UPDATE life_batch SET data = zeroblob(0) WHERE batch = 4", 8, 1, 0},
        {"UPDATE life_batch SET data = NULL WHERE batch > 3", 2, 4, 0},
        {"UPDATE life_batch SET data = 'text of some length' WHERE batch = 4", 8, 1, 0},
        {"UPDATE life_batch SET count = 3 WHERE batch = 4", 8, 1, 0},
        {"UPDATE life_batch SET count = -1 WHERE batch = 4", 8, 1, 0},
        {"UPDATE life_batch SET count = 4611686018427387905 WHERE batch = 4", 8, 1, 0},
        {"UPDATE life_batch SET count = 1000000, record_bytes = 8 WHERE batch = 4", 8, 1, 0},
        {"UPDATE life_batch SET count = 0, data = zeroblob(0) WHERE batch = 4", 8, 0, 0},
        {"UPDATE life_batch SET record_bytes = 0 WHERE batch = 4", 8, 1, 0},
        {"UPDATE life_batch SET record_bytes = 7 WHERE batch = 4", 8, 1, 0},
        {"UPDATE life_batch SET record_bytes = -104 WHERE batch = 4", 8, 1, 0},
        {"UPDATE life_batch SET record_bytes = 208, count = 1 WHERE batch = 4", 9, 0, 0},
        {"UPDATE life_batch SET data = zeroblob(65552), record_bytes = 65552, count = 1 WHERE batch = 4", 8, 1, 0},
        {"UPDATE life_batch SET data = zeroblob(131072), record_bytes = 65536 WHERE batch = 4", 8, 1, 0},
        {"UPDATE life_batch SET process = 77 WHERE batch = 4", 8, 1, 0},
        {"UPDATE life_batch SET kind = -3 WHERE batch = 4", 8, 1, 0},
        {"UPDATE life_batch SET kind = 4294967300 WHERE batch = 4", 8, 1, 0},
        {"UPDATE life_batch SET kind = 99 WHERE batch = 4", 8, 0, 1},
        {"UPDATE life_batch SET data = randomblob(208) WHERE batch = 4", 8, 2, 0},
        {"UPDATE life_batch SET kind = 'births', heap = 'x', heap_id = 1.5 WHERE batch = 1", 10, 0, 0},
        {"UPDATE life_batch SET heap = batch, heap_id = -batch", 10, 0, 0},
        {"DELETE FROM class; UPDATE meta SET value = 16 WHERE key = 'lifetimes'", 10, 0, 0},
        {"INSERT INTO class VALUES(1, 140733193392128, 1, -1, zeroblob(9), 'x', -1)", 10, 0, 0},
        {"UPDATE life_batch SET serial = batch; UPDATE class SET serial = 'x'", 10, 0, 0},
        {"UPDATE class SET of_class = 99999999999, name = zeroblob(200000)", 10, 0, 0},
    };
    size_t size;
    unsigned char *bytes = small(&size);
    for (size_t i = 0; i < sizeof lies / sizeof *lies; i++) {
        struct failure why = {0};
        struct life_model model __attribute__((cleanup(life_model_clear))) = {0};
        uint64_t objects = 0;
        spoil("lies.data", bytes, size, lies[i].sql);
        struct recording *recording __attribute__((cleanup(close_recording))) = open_good("lies.data");
        if (!recording_lifetimes(recording, &model, &why)) {
            fail_msg("%s: %s", lies[i].sql, why.message);
        }
        if (deaths(&model) != lies[i].deaths || model.lost < lies[i].lost || model.unknown != lies[i].unknown ||
            (lies[i].lost == 0 && model.lost != 0)) {
            fail_msg("%s: %llu deaths, %llu lost", lies[i].sql, (unsigned long long)deaths(&model),
                     (unsigned long long)model.lost);
        }
        if (model.objects.each) {
            assert_true(model.objects.each(model.objects.from, &model, count_object, &objects, &why));
            assert_int_equal(objects, lies[i].deaths);
        }
    }
    free(bytes);
}

TEST(damage_is_refused) {
    static const struct {
        const char *sql, *word;
    } damages[] = {
        {"DROP TABLE life_batch", "tables are missing"},
        {"DROP TABLE class", "tables are missing"},
        {"DROP TABLE life_batch; CREATE VIEW life_batch AS SELECT 1", "tables are missing"},
        {"DROP TABLE life_batch; CREATE TABLE life_batch(x)", "no such column: batch"},
        {"DROP TABLE life_batch; CREATE TABLE life_batch(batch)", "tables are missing"},
        {"UPDATE life_batch SET data = zeroblob(1000000) WHERE batch = 4", "life_batch"},
        {"UPDATE meta SET value = 0 WHERE key = 'lifetimes'", "contains no lifetimes"},
        {"ALTER TABLE class DROP COLUMN of_class", "class"},
    };
    size_t size;
    unsigned char *bytes = small(&size);
    for (size_t i = 0; i < sizeof damages / sizeof *damages; i++) {
        struct failure why = {0};
        struct life_model model __attribute__((cleanup(life_model_clear))) = {0};
        spoil("damaged.data", bytes, size, damages[i].sql);
        struct recording *recording __attribute__((cleanup(close_recording))) = open_good("damaged.data");
        if (recording_lifetimes(recording, &model, &why) || !strstr(why.message, damages[i].word)) {
            fail_msg("%s: %s", damages[i].sql, why.message);
        }
    }
    free(bytes);
}

/* Short forms hang together, so that one lie may spoil much: epochs in order, the rest by chance. */
TEST(short_forms_that_lie_do_no_harm) {
    static const size_t sizes[] = {[EDEN_BATCH_EPOCHS] = sizeof(struct eden_epoch),
                                   [EDEN_BATCH_MARKS] = sizeof(struct eden_mark),
                                   [EDEN_BATCH_ENDS] = sizeof(struct eden_end),
                                   [EDEN_BATCH_EDEN] = sizeof(struct eden_walked)};
    unsigned seed = 9;
    uint64_t objects_reported = 0;
    for (int round = 0; round < 200; round++) {
        struct recorder *recorder = begin("short.data");
        struct eden_profile_record profile = profile_of(500, false);
        struct life_batch batch = batch_of(0, EDEN_BATCH_PROFILE, &profile, 1, sizeof profile);
        take_recorder(recorder, &batch);
        uint32_t epochs = 0;
        struct eden_anchor start = {0};
        for (int i = 0; i < 60; i++) {
            union {
                struct eden_epoch epoch;
                struct eden_walked walked;
                struct eden_end end;
                uint8_t byte[2 * sizeof(struct eden_walked)];
            } record;
            uint32_t kind = EDEN_BATCH_EPOCHS + (uint32_t)rand_r(&seed) % 4;
            /* Small numbers where they might be believed, large ones where not. */
            for (size_t j = 0; j < sizeof record; j++) {
                record.byte[j] = (uint8_t)(rand_r(&seed) % (j % 8 < (unsigned)(round % 9) ? 256 : 1));
            }
            if (kind == EDEN_BATCH_EPOCHS && rand_r(&seed) % 10) {
                start.bytes += (uint64_t)rand_r(&seed) % 1000;
                start.ns += (uint64_t)rand_r(&seed) % 1000;
                record.epoch.start = start;
                record.epoch.number = epochs++;
                record.epoch.last_full %= record.epoch.number + 1;
            } else if (kind == EDEN_BATCH_EDEN) {
                record.walked.words %= EDEN_WALKED_WORDS + 2;
            }
            batch = batch_of(0, kind, &record, 1 + (uint32_t)rand_r(&seed) % 2,
                             rand_r(&seed) % 8 ? sizes[kind] : sizes[kind] - 8);
            take_recorder(recorder, &batch);
        }
        struct model model = {0};
        commit(recorder, &model, true);
        recorder_close(recorder);
        struct failure why = {0};
        struct life_model read __attribute__((cleanup(life_model_clear))) = {0};
        uint64_t objects = 0;
        struct recording *recording __attribute__((cleanup(close_recording))) = open_good("short.data");
        assert_true(recording_lifetimes(recording, &read, &why));
        assert_true(read.objects.each(read.objects.from, &read, count_object, &objects, &why));
        assert_int_equal(objects, deaths(&read) + alive(&read));
        objects_reported += objects;
    }
    assert_true(objects_reported > 0);
}

/* ---- recorders -------------------------------------------------------------------------------------------------- */

/* Each commit is a byte for `committed`. */
static _Noreturn void record_for_ever(int committed) {
    struct recorder *recorder = begin("killed.data");
    struct eden_profile_record profile = profile_of(500, false);
    struct life_batch batch = batch_of(0, EDEN_BATCH_PROFILE, &profile, 1, sizeof profile);
    take_recorder(recorder, &batch);
    struct eden_birth_cell birth = {1, OBJECTS_EACH + 1, 160, 10 * EDEN_WEIGHT_ONE, 160};
    struct eden_life_record objects[OBJECTS_EACH];
    struct failure why;
    struct model model = {0};
    for (size_t i = 0; i < OBJECTS_EACH; i++) {
        objects[i] = nth_object(40 * i);
        objects[i].censored = 0;
    }
    for (uint64_t i = 0;; i++) {
        batch = batch_of(0, EDEN_BATCH_BIRTHS, &birth, 1, sizeof birth);
        take_recorder(recorder, &batch);
        batch = batch_of(0, EDEN_BATCH_OBJECTS, objects, OBJECTS_EACH, sizeof *objects);
        take_recorder(recorder, &batch);
        if (i % 50 == 0 && (!recorder_commit(recorder, &model, false, &why) || write(committed, "c", 1) != 1)) {
            _exit(1);
        }
    }
}

TEST(killed_recorder_leaves_what_was_committed) {
    unsigned seed = 11;
    uint64_t seen = 0;
    recorder_close(begin("killed.data"));
    for (int round = 0; round < 15; round++) {
        int committed[2];
        assert_int_equal(pipe(committed), 0);
        pid_t child = fork();
        assert_true(child >= 0);
        if (child == 0) {
            record_for_ever(committed[1]);
        }
        char byte;
        for (int commit = 0; commit < round % 5; commit++) {
            assert_int_equal(read(committed[0], &byte, 1), 1);
        }
        usleep((unsigned)rand_r(&seed) % 20000);
        assert_int_equal(kill(child, SIGKILL), 0);
        int status;
        assert_int_equal(waitpid(child, &status, 0), child);
        assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
        close(committed[0]), close(committed[1]);

        struct failure why = {0};
        struct life_model model __attribute__((cleanup(life_model_clear))) = {0};
        struct recording *recording __attribute__((cleanup(close_recording))) = open_good("killed.data");
        assert_false(recording_info(recording)->finished);
        assert_true(recording_lifetimes(recording, &model, &why));
        assert_int_equal(model.lost, 0);
        if (model.heap_count) {
            const struct life_heap *heap = &model.heaps[0];
            assert_false(heap->state.ended);
            /* One of each 101 has no end: it is alive, or its end is unknown. */
            uint64_t births = heap->site_count ? heap->sites[0].births.count : 0;
            assert_int_equal(births % (OBJECTS_EACH + 1), 0);
            assert_int_equal(deaths(&model), births / (OBJECTS_EACH + 1) * OBJECTS_EACH);
            seen += births;
        }
    }
    assert_true(seen > 0);
}

/* While a reader holds the file, batches wait; they are not lost. */
TEST(locked_file_is_waited_for) {
    struct failure why = {0};
    struct eden_life_record objects[500];
    for (size_t i = 0; i < 500; i++) {
        objects[i] = nth_object(i);
    }
    struct life_batch batch = batch_of(0, EDEN_BATCH_OBJECTS, objects, 500, sizeof *objects);
    struct recorder *recorder = begin("locked.data");
    sqlite3 *reader = NULL;
    bool more;
    assert_int_equal(sqlite3_open("locked.data", &reader), SQLITE_OK);
    assert_int_equal(sqlite3_exec(reader, "BEGIN; SELECT count(*) FROM meta", NULL, NULL, NULL), SQLITE_OK);
    int added = 0;
    while (!recorder_is_full(recorder)) {
        assert_true(recorder_add_batch(recorder, &batch, &why));
        added++;
    }
    assert_true(added > 100);
    assert_true(recorder_write(recorder, &more, &why));
    assert_false(recorder_is_full(recorder)); /* it takes more, for it can't write */
    assert_int_equal(recorder_batch_count(recorder), 0);
    assert_true(recorder_add_batch(recorder, &batch, &why));
    added++;
    assert_int_equal(sqlite3_exec(reader, "COMMIT", NULL, NULL, NULL), SQLITE_OK);
    sqlite3_close(reader);
    struct model model = {0};
    commit(recorder, &model, true);
    assert_int_equal(recorder_batch_count(recorder), added);
    recorder_close(recorder);
    struct recording *recording __attribute__((cleanup(close_recording))) = open_good("locked.data");
    struct life_model read __attribute__((cleanup(life_model_clear))) = {0};
    assert_true(recording_lifetimes(recording, &read, &why));
    uint64_t count = 0;
    assert_true(read.objects.each(read.objects.from, &read, count_object, &count, &why));
    assert_int_equal(count, 500 * added);
}

SUITE(enter_folder, leave_folder)
