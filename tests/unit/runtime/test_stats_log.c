/* EDEN_STATS and EDEN_LOG: lines of JSON whose figures are whole, agree with each other and with the API. */
#include "api/instance.h"
#include "eden_values.h"
#include "support.h"
#include <fcntl.h>
#include <inttypes.h>
#include <jansson.h>
#include <pthread.h>
#include <pty.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <termios.h>

static char folder[] = "/tmp/eden-test-XXXXXX";
static char stats_path[64], log_path[64], pipe_path[64];

static int make_folder(void **state) {
    (void)state;
    if (mkdtemp(folder) == NULL) {
        return -1;
    }
    snprintf(stats_path, sizeof stats_path, "%s/stats", folder);
    snprintf(log_path, sizeof log_path, "%s/log", folder);
    snprintf(pipe_path, sizeof pipe_path, "%s/pipe", folder);
    return 0;
}

static int remove_folder(void **state) {
    (void)state;
    unlink(stats_path);
    unlink(log_path);
    unlink(pipe_path);
    return rmdir(folder);
}

/* The lines of a file, each parsed on its own; an array for the caller to drop. */
static json_t *read_lines(const char *path) {
    json_t *lines = json_array();
    FILE *file = fopen(path, "r");
    char *line = NULL;
    size_t room = 0;
    while (file != NULL && getline(&line, &room, file) > 0) {
        json_error_t error;
        json_t *parsed = json_loads(line, JSON_REJECT_DUPLICATES, &error);
        if (parsed == NULL) {
            fail_msg("%s: %s in: %s", path, error.text, line);
        }
        json_array_append_new(lines, parsed);
    }
    free(line);
    if (file != NULL) {
        fclose(file);
    }
    return lines;
}

static uint64_t number(const json_t *object, const char *name) {
    const json_t *value = json_object_get(object, name);
    if (!json_is_integer(value) || json_integer_value(value) < 0) {
        fail_msg("%s is no number", name);
    }
    return (uint64_t)json_integer_value(value);
}

static const char *string(const json_t *object, const char *name) {
    const char *text = json_string_value(json_object_get(object, name));
    if (text == NULL) {
        fail_msg("%s is no string", name);
    }
    return text;
}

/* A program with every kind of event. */
static void work(const struct world *w) {
    EDEN_FRAME(w->m, local, 4);
    local[1] = eden_new_slots(w->m, w->array, 1000);
    for (int64_t i = 0; i < 30000; i++) {
        eden_value pair = eden_new(w->m, w->pair);
        eden_slot_set(w->m, pair, 0, eden_int(i));
        eden_slot_set(w->m, pair, 1, i % 3000 == 0 ? EDEN_NONE : local[0]);
        local[0] = pair;
        eden_slot_set(w->m, local[1], (size_t)i % 1000, pair);
        if (i % 5000 == 0) {
            local[2] = eden_new_raw(w->m, w->bytes, 100000);
            local[3] = eden_pin(w->m, eden_new(w->m, w->pair));
            eden_unpin(w->m, local[3]);
        }
    }
    eden_full_collect(w->m);
    eden_scavenge(w->m);
    assert_int_equal(eden_new_raw(w->m, w->bytes, (size_t)1 << 42), EDEN_NONE);
}

enum { HUNG_SECONDS = 300 }; /* after which SIGALRM ends what should not wait at all */
#define PARAMETERS "eden_size=64K,grow_headroom=64K,full_gc_ratio=0.5,shrink_threshold=64K,large_object=8K"

struct run {
    const char *name;
    eden_figures figures;
};

/* Makes a heap, works, and destroys it, with both files on; its last figures are for comparing. */
static void run_logged(struct run *run, const char *parameters) {
    unlink(stats_path);
    unlink(log_path);
    setenv("EDEN_STATS", stats_path, 1);
    setenv("EDEN_LOG", log_path, 1);
    struct world w;
    eden_options options = {.name = run->name, .parameters = parameters};
    world_make_with(&w, &options);
    work(&w);
    run->figures = figures_of(&w);
    world_end(&w);
    unsetenv("EDEN_STATS");
    unsetenv("EDEN_LOG");
}

TEST(stats_have_every_figure_and_agree) {
    struct run run = {.name = "one heap"};
    run_logged(&run, PARAMETERS);
    json_auto_t *lines = read_lines(stats_path);
    assert_int_equal(json_array_size(lines), 1);
    const json_t *line = json_array_get(lines, 0);
    assert_int_equal(number(line, "pid"), getpid());
    assert_true(number(line, "heap") > 0);
    assert_string_equal(string(line, "name"), "one heap");
    size_t keys = 3 + 2; /* pid, heap, name; full_by_cause, parameters */
#define EDEN_FIGURE(name, kind, unit, doc)                                                                             \
    assert_int_equal(number(line, #name), run.figures.name);                                                           \
    keys++;
#include "eden_figures.def"
#undef EDEN_FIGURE
    assert_int_equal(json_object_size(line), keys);
    const json_t *parameters = json_object_get(line, "parameters");
    assert_int_equal(json_object_size(parameters), 5);
    assert_string_equal(string(parameters, "eden_size"), "65536");
    assert_string_equal(string(parameters, "full_gc_ratio"), "0.5");
    const json_t *by_cause = json_object_get(line, "full_by_cause");
    uint64_t sum = 0;
    assert_int_equal(json_object_size(by_cause), EDEN_FULL_CAUSES);
    for (size_t i = 0; i < EDEN_FULL_CAUSES; i++) {
        assert_int_equal(number(by_cause, eden_full_cause_name(i)), run.figures.full_by_cause[i]);
        sum += number(by_cause, eden_full_cause_name(i));
    }
    const eden_figures *f = &run.figures;
    assert_int_equal(sum, f->full_collections);
    assert_int_equal(f->gc_ns, f->scavenge_ns + f->full_ns);
    assert_true(f->mark_ns + f->sweep_ns + f->compact_ns <= f->full_ns);
    assert_true(f->max_pause_ns <= f->gc_ns && f->max_pause_ns > 0);
    assert_true(f->scavenges >= f->full_collections && f->full_collections > 0);
    assert_true(f->tenured_bytes <= f->survived_bytes && f->survived_bytes > 0);
    assert_int_equal(f->remembered - f->forgotten, f->remembered_now);
    assert_int_equal(f->alloc_failures, 1);
    assert_int_equal(f->large_objects, 6);
    assert_true(f->old_used <= f->old_capacity);
    assert_int_equal(f->eden_size, 64 * KIB);
}

static void check_log(const json_t *lines, const eden_figures *figures, uint64_t heap) {
    uint64_t seq = 0, scavenges = 0, fulls = 0, scavenge_ns = 0, full_ns = 0, tenured = 0, tenured_bytes = 0, freed = 0;
    uint64_t mark_ns = 0, sweep_ns = 0, compact_ns = 0, survivors = 0, last_time = 0, survived = 0;
    uint64_t by_cause[EDEN_FULL_CAUSES] = {0};
    uint64_t decided[EDEN_DECISIONS] = {0};
    bool full_is_next = false;
    for (size_t i = 0; i < json_array_size(lines); i++) {
        const json_t *line = json_array_get(lines, i);
        if (number(line, "heap") != heap) {
            continue;
        }
        assert_int_equal(number(line, "pid"), getpid());
        if (strcmp(string(line, "kind"), "policy") == 0) { /* before the line of the collection that decided */
            assert_int_equal(number(line, "seq"), seq + 1);
            const char *decision = string(line, "decision"), *reason = string(line, "reason");
            int of = eden_enum_find(EDEN_ENUM_decision, decision, strlen(decision));
            assert_true(of >= 0 && eden_enum_find(EDEN_ENUM_decision_reason, reason, strlen(reason)) >= 0);
            assert_true(number(line, "time_ns") > last_time);
            assert_true(decided[of] == 0 || number(line, "from_bytes") == decided[of]);
            decided[of] = number(line, "to_bytes");
            continue;
        }
        assert_int_equal(number(line, "seq"), ++seq);
        assert_true(number(line, "time_ns") >= last_time);
        last_time = number(line, "time_ns");
        if (strcmp(string(line, "kind"), "scavenge") == 0) {
            assert_false(full_is_next);
            full_is_next = strcmp(string(line, "cause"), "full") == 0;
            scavenges++;
            scavenge_ns += number(line, "duration_ns");
            assert_int_equal(number(line, "tenured_before"), tenured);
            tenured += number(line, "tenured_objects");
            assert_int_equal(number(line, "tenured_after"), tenured);
            tenured_bytes += number(line, "tenured_bytes");
            assert_int_equal(number(line, "survivors_before"), survivors);
            survivors = number(line, "survivors_after");
            survived += survivors + number(line, "tenured_bytes");
            assert_true(number(line, "threshold") <= number(line, "semispace"));
            assert_true(number(line, "remembered_before") + number(line, "remembered_after") < 1000000);
            assert_true(number(line, "eden_used") <= figures->eden_size || decided[EDEN_DECISION_EDEN] != 0);
            uint64_t phases_ns = number(line, "remembered_ns") + number(line, "roots_ns") + number(line, "copy_ns") +
                                 number(line, "weak_ns");
            assert_true(phases_ns > 0 && phases_ns <= number(line, "duration_ns"));
        } else {
            assert_string_equal(string(line, "kind"), "full");
            assert_true(full_is_next); /* each follows its own scavenge */
            full_is_next = false;
            fulls++;
            full_ns += number(line, "duration_ns");
            mark_ns += number(line, "mark_ns");
            sweep_ns += number(line, "sweep_ns");
            compact_ns += number(line, "compact_ns");
            freed += number(line, "freed_bytes");
            assert_int_equal(number(line, "old_used_before") - number(line, "freed_bytes"), number(line, "old_used"));
            assert_true(number(line, "largest_chunk") <= number(line, "old_capacity") - number(line, "old_used"));
            number(line, "young_freed");
            number(line, "survived_bytes");
            number(line, "free_chunks");
            number(line, "segments");
            for (size_t cause = 0; cause < EDEN_FULL_CAUSES; cause++) {
                by_cause[cause] += strcmp(string(line, "cause"), eden_full_cause_name(cause)) == 0;
            }
        }
    }
    assert_int_equal(scavenges, figures->scavenges);
    assert_int_equal(fulls, figures->full_collections);
    assert_int_equal(scavenge_ns, figures->scavenge_ns);
    assert_int_equal(full_ns, figures->full_ns);
    assert_int_equal(mark_ns, figures->mark_ns);
    assert_int_equal(sweep_ns, figures->sweep_ns);
    assert_int_equal(compact_ns, figures->compact_ns);
    assert_int_equal(tenured, figures->tenured_objects);
    assert_int_equal(tenured_bytes, figures->tenured_bytes);
    assert_int_equal(survived, figures->survived_bytes);
    assert_int_equal(freed, figures->freed_bytes);
    assert_int_equal(survivors, figures->survivor_used);
    assert_memory_equal(by_cause, figures->full_by_cause, sizeof by_cause);
    assert_true(decided[EDEN_DECISION_EDEN] == 0 || decided[EDEN_DECISION_EDEN] == figures->eden_size);
}

static size_t count_lines(const json_t *lines, const char *kind) {
    size_t count = 0;
    for (size_t i = 0; i < json_array_size(lines); i++) {
        count += strcmp(string(json_array_get(lines, i), "kind"), kind) == 0;
    }
    return count;
}

TEST(log_lines_sum_up_to_the_figures) {
    const char *const parameters[] = {PARAMETERS,
                                      PARAMETERS ",compactor=none",
                                      PARAMETERS ",tenure_proportion=0.5",
                                      "eden_size=64K,full_gc_ratio=0",
                                      "eden_size=64K,max_heap=3M",
                                      "policy=auto"};
    for (size_t i = 0; i < sizeof parameters / sizeof parameters[0]; i++) {
        struct run run = {.name = "logged"};
        run_logged(&run, parameters[i]);
        json_auto_t *stats = read_lines(stats_path), *lines = read_lines(log_path);
        size_t decisions = count_lines(lines, "policy");
        assert_int_equal(json_array_size(lines), run.figures.scavenges + run.figures.full_collections + decisions);
        assert_int_equal(decisions != 0, strstr(parameters[i], "policy=auto") != NULL);
        check_log(lines, &run.figures, number(json_array_get(stats, 0), "heap"));
    }
}

/* What the next scavenge tenures, as an offset in the survivors' semispace: beyond its end for all, 0 for none, where
 * the threshold lies in the other semispace. */
TEST(thresholds_are_offsets) {
    enum { ROUNDS = 6 };
    for (uint64_t bug = 0; bug <= 1; bug++) {
        unlink(log_path);
        setenv("EDEN_LOG", log_path, 1);
        struct world w;
        world_make(&w, "eden_size=1M,full_gc_ratio=inf,tenure_fill=0,tenure_proportion=0.1");
        set_parameter(&w, "compat.threshold_bug", bug != 0 ? "1" : "0");
        uint64_t semispace = w.heap->semi[0].limit - w.heap->semi[0].start, share = (semispace + 5) / 10;
        for (int i = 0; i < ROUNDS; i++) {
            EDEN_FRAME(w.m, local, 1);
            local[0] = new_sized(&w, 1000);
            eden_scavenge(w.m);
        }
        world_end(&w);
        unsetenv("EDEN_LOG");
        json_auto_t *lines = read_lines(log_path);
        assert_int_equal(json_array_size(lines), ROUNDS);
        for (size_t i = 0; i < ROUNDS; i++) {
            const json_t *line = json_array_get(lines, i);
            assert_int_equal(number(line, "semispace"), semispace);
            /* The first scavenge copies to the upper semispace; survivors lie above the threshold in the lower. */
            uint64_t wrong = i % 2 == 0 ? 0 : semispace + share;
            assert_int_equal(number(line, "threshold"), bug != 0 ? wrong : share);
            assert_int_equal(number(line, "tenured_objects"), 0);
        }
    }
}

TEST(several_heaps_a_line_each) {
    enum { HEAPS = 3 };
    unlink(stats_path);
    unlink(log_path);
    setenv("EDEN_STATS", stats_path, 1);
    setenv("EDEN_LOG", log_path, 1);
    struct world worlds[HEAPS];
    eden_figures figures[HEAPS];
    uint64_t ids[HEAPS];
    const char *const names[HEAPS] = {"first", NULL, "with \"quotes\", a \\ and \t and \xc3\xa9"};
    for (size_t i = 0; i < HEAPS; i++) {
        eden_options options = {.name = names[i], .parameters = PARAMETERS};
        world_make_with(&worlds[i], &options);
        ids[i] = worlds[i].heap->info.heap_id;
    }
    for (size_t i = 0; i < HEAPS; i++) {
        work(&worlds[(i + 1) % HEAPS]);
    }
    for (size_t i = HEAPS; i-- > 0;) {
        figures[i] = figures_of(&worlds[i]);
        world_end(&worlds[i]);
    }
    unsetenv("EDEN_STATS");
    unsetenv("EDEN_LOG");
    json_auto_t *stats = read_lines(stats_path), *lines = read_lines(log_path);
    assert_int_equal(json_array_size(stats), HEAPS);
    for (size_t i = 0; i < HEAPS; i++) {
        const json_t *line = json_array_get(stats, HEAPS - 1 - i);
        assert_int_equal(number(line, "heap"), ids[i]);
        assert_int_equal(number(line, "allocated_bytes"), figures[i].allocated_bytes);
        check_log(lines, &figures[i], ids[i]);
    }
    assert_string_equal(string(json_array_get(stats, 2), "name"), "first");
    assert_string_equal(string(json_array_get(stats, 1), "name"), "eden");
    assert_non_null(strstr(string(json_array_get(stats, 0), "name"), "with \"quotes\", a \\ and \t and "));
}

static void leave_heaps_alive(void *context) {
    static struct world worlds[2];
    (void)context;
    setenv("EDEN_STATS", stats_path, 1);
    setenv("EDEN_LOG", log_path, 1);
    for (size_t i = 0; i < 2; i++) {
        eden_options options = {.name = i == 0 ? "left alive" : "too", .parameters = PARAMETERS};
        world_make_with(&worlds[i], &options);
        work(&worlds[i]);
    }
    eden_heap_destroy(eden_heap_create(NULL, NULL)); /* reported once, by destroying it */
}

TEST(heaps_alive_at_exit_are_reported) {
    unlink(stats_path);
    unlink(log_path);
    assert_child_ok(run_child(leave_heaps_alive, NULL));
    json_auto_t *stats = read_lines(stats_path);
    assert_int_equal(json_array_size(stats), 3);
    assert_string_equal(string(json_array_get(stats, 0), "name"), "eden");
    size_t seen = 0;
    for (size_t i = 1; i < 3; i++) {
        const json_t *line = json_array_get(stats, i);
        const bool left = strcmp(string(line, "name"), "left alive") == 0;
        seen |= left ? 1 : 2;
        assert_true(number(line, "allocated_bytes") > 30000 * 24);
        assert_true(number(line, "full_collections") > 0);
        assert_int_equal(number(line, "gc_ns"), number(line, "scavenge_ns") + number(line, "full_ns"));
    }
    assert_int_equal(seen, 3);
}

TEST(no_collection_no_log_but_stats) {
    unlink(stats_path);
    unlink(log_path);
    setenv("EDEN_STATS", stats_path, 1);
    setenv("EDEN_LOG", log_path, 1);
    eden_heap_destroy(eden_heap_create(NULL, NULL));
    unsetenv("EDEN_STATS");
    unsetenv("EDEN_LOG");
    json_auto_t *stats = read_lines(stats_path), *lines = read_lines(log_path);
    assert_int_equal(json_array_size(stats), 1);
    assert_int_equal(number(json_array_get(stats, 0), "scavenges"), 0);
    assert_int_equal(json_array_size(lines), 0);
}

/* A whole life on the smallest stack that a thread may have. */
static void *run_on_small_stack(void *path) {
    struct run run = {.name = "with \x01\x02\x03\x04 a long name that is escaped, up to the last of its bytes"};
    run_logged(&run, "policy=auto,eden_size=64K");
    setenv("EDEN_STATS", path, 1);
    setenv("EDEN_LOG", path, 1);
    eden_heap_destroy(eden_heap_create(NULL, NULL)); /* reports that it can't write */
    unsetenv("EDEN_STATS");
    unsetenv("EDEN_LOG");
    return NULL;
}

TEST(small_stacks_suffice) {
    char path[300] = "/nowhere/";
    pthread_t thread;
    pthread_attr_t attributes;
    if (TEST_SANITIZED) {
        skip(); /* the sanitizers' frames are larger */
    }
    memset(path + strlen(path), 'x', sizeof path - 1 - strlen(path));
    assert_int_equal(pthread_attr_init(&attributes), 0);
    assert_int_equal(pthread_attr_setstacksize(&attributes, (size_t)sysconf(_SC_THREAD_STACK_MIN)), 0);
    assert_int_equal(pthread_create(&thread, &attributes, run_on_small_stack, path), 0);
    assert_int_equal(pthread_join(thread, NULL), 0);
    pthread_attr_destroy(&attributes);
    json_auto_t *stats = read_lines(stats_path), *lines = read_lines(log_path);
    assert_int_equal(json_array_size(stats), 1);
    assert_true(json_array_size(lines) > 0);
}

/* Standard error of a child, in a file. */
static void unwritable(void *context) {
    const char *path = context;
    alarm(HUNG_SECONDS);
    CHILD_CHECK(freopen(stats_path, "w", stderr) != NULL);
    setenv("EDEN_STATS", path, 1);
    setenv("EDEN_LOG", path, 1);
    struct world w;
    world_make(&w, PARAMETERS);
    work(&w);
    eden_heap_destroy(w.heap);
}

TEST(a_path_that_cannot_be_written_stops_nothing) {
    const char *const paths[] = {"/nowhere/at/all", folder, "/dev/full"};
    for (size_t i = 0; i < 3; i++) {
        unlink(stats_path);
        char path[64];
        snprintf(path, sizeof path, "%s", paths[i]);
        assert_child_ok(run_child(unwritable, path));
        FILE *said = fopen(stats_path, "r");
        assert_non_null(said);
        char line[300];
        size_t lines = 0;
        while (fgets(line, sizeof line, said) != NULL) {
            lines++;
            if (i < 2) {
                assert_non_null(strstr(line, path));
                assert_non_null(strstr(line, lines == 1 ? "EDEN_LOG" : "EDEN_STATS"));
                assert_non_null(strstr(line, "continuing without it"));
            } else { /* the disk is full; the statistics come before the log's end */
                assert_non_null(strstr(line, lines == 1 ? "eden: EDEN_STATS: heap " : "eden: EDEN_LOG: heap "));
                assert_non_null(strstr(line, "No space left on device"));
            }
        }
        fclose(said);
        assert_int_equal(lines, 2);
    }
}

/* What a child said on standard error, which went to the file `stats`. For the caller to free. */
static char *child_message(void) {
    FILE *file = fopen(stats_path, "r");
    char *text = NULL;
    size_t room = 0;
    assert_non_null(file);
    assert_true(getdelim(&text, &room, '\0', file) >= 0);
    fclose(file);
    return text;
}

static int open_pipe(void) {
    unlink(pipe_path);
    CHILD_CHECK(mkfifo(pipe_path, 0600) == 0);
    return open(pipe_path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
}

TEST(a_pipe_without_a_reader_stops_nothing) {
    unlink(stats_path);
    close(open_pipe());
    assert_child_ok(run_child(unwritable, pipe_path));
    char *said __attribute__((cleanup(free_at))) = child_message();
    assert_non_null(strstr(said, "eden: EDEN_LOG="));
    assert_non_null(strstr(said, "eden: EDEN_STATS="));
    assert_non_null(strstr(said, "cannot be opened for writing: it has no reader"));
}

/* None of these takes a writer, and no reader would help. */
static void log_without_terminal(void *context) {
    CHILD_CHECK(setsid() > 0);
    unwritable(context);
}

TEST(what_is_no_pipe_lacks_no_reader) {
    char path[100];
    snprintf(path, sizeof path, "%s/socket", folder);
    assert_int_equal(mknod(path, S_IFSOCK | 0600, 0), 0);
    assert_child_ok(run_child(unwritable, path));
    char *said = child_message();
    assert_non_null(strstr(said, "cannot be opened for writing: it is a socket"));
    free(said);
    unlink(path);
    snprintf(path, sizeof path, "/dev/tty");
    assert_child_ok(run_child(log_without_terminal, path));
    said = child_message();
    assert_non_null(strstr(said, "cannot be opened for writing: No such device or address"));
    free(said);
}

/* More lines than a pipe holds, with a reader that reads nothing before the end of the process. */
enum { MANY_LINES = 5000 };
static void log_to_slow_reader(void *context) {
    (void)context;
    alarm(HUNG_SECONDS);
    CHILD_CHECK(freopen(stats_path, "w", stderr) != NULL);
    setenv("EDEN_LOG", pipe_path, 1);
    struct world w;
    world_make(&w, PARAMETERS);
    for (int i = 0; i < MANY_LINES; i++) {
        eden_scavenge(w.m);
    }
    eden_heap_destroy(w.heap);
}

/* Reads what is in the pipe: each line is one of JSON. Their number; *lost: of those that it reports as lost. */
static size_t drain(int pipe, uint64_t *lost) {
    FILE *copy = fopen(log_path, "w+");
    char bytes[4096];
    ssize_t got;
    assert_non_null(copy);
    while ((got = read(pipe, bytes, sizeof bytes)) > 0) {
        assert_int_equal(fwrite(bytes, 1, (size_t)got, copy), got);
    }
    fclose(copy);
    json_auto_t *lines = read_lines(log_path);
    size_t count = 0, index;
    const json_t *line;
    json_array_foreach(lines, index, line) {
        bool is_lost = strcmp(string(line, "kind"), "lost") == 0;
        *lost += is_lost ? number(line, "lines") : 0;
        count += !is_lost;
    }
    return count;
}

TEST(a_slow_reader_of_a_pipe_stops_nothing) {
    int pipe = open_pipe();
    assert_child_ok(run_child(log_to_slow_reader, NULL));
    uint64_t lost = 0, reported = 0;
    size_t lines = drain(pipe, &lost);
    close(pipe);
    char *said = child_message();
    assert_int_equal(sscanf(said, "eden: EDEN_LOG: heap %*u: lines lost: %" SCNu64, &reported), 1);
    assert_non_null(strstr(said, "(the reader is too slow)"));
    free(said);
    assert_true(lines > 0 && reported > 0); /* and `lost`: a report that fits where no line does */
    assert_int_equal(lines + lost + reported, MANY_LINES);
}

TEST(lines_lost_are_reported_where_they_are_missing) {
    int pipe = open_pipe();
    setenv("EDEN_LOG", pipe_path, 1);
    alarm(HUNG_SECONDS);
    WORLD(w, PARAMETERS);
    unsetenv("EDEN_LOG");
    for (int i = 0; i < MANY_LINES; i++) {
        eden_scavenge(w.m);
    }
    uint64_t lost = 0;
    size_t before = drain(pipe, &lost); /* a report is short: the end of the pipe may take one where it takes no line */
    assert_true(before > 0 && before + lost < MANY_LINES);
    eden_scavenge(w.m);
    assert_int_equal(drain(pipe, &lost), 1);
    assert_int_equal(before + lost, MANY_LINES);
    lost = 0;
    eden_scavenge(w.m);
    assert_int_equal(drain(pipe, &lost), 1);
    assert_int_equal(lost, 0);
    alarm(0);
    close(pipe);
}

static void reader_that_leaves(void *context) {
    (void)context;
    alarm(HUNG_SECONDS);
    CHILD_CHECK(freopen(stats_path, "w", stderr) != NULL);
    int pipe = open_pipe();
    setenv("EDEN_LOG", pipe_path, 1);
    struct world w;
    world_make(&w, PARAMETERS);
    eden_scavenge(w.m);
    close(pipe);
    eden_scavenge(w.m);
    eden_heap_destroy(w.heap);
    sigset_t pending;
    CHILD_CHECK(sigpending(&pending) == 0 && sigismember(&pending, SIGPIPE) == 0);
}

static void at_the_limit_of_file_sizes(void *context) {
    (void)context;
    alarm(HUNG_SECONDS);
    CHILD_CHECK(freopen(stats_path, "w", stderr) != NULL);
    setenv("EDEN_LOG", log_path, 1);
    struct world w;
    world_make(&w, PARAMETERS);
    struct rlimit limit = {1000, 1000};
    CHILD_CHECK(setrlimit(RLIMIT_FSIZE, &limit) == 0);
    for (int i = 0; i < 10; i++) {
        eden_scavenge(w.m);
    }
    eden_heap_destroy(w.heap);
}

TEST(no_signal_of_a_write_ends_the_program) {
    unlink(log_path);
    assert_child_ok(run_child(reader_that_leaves, NULL));
    char *said __attribute__((cleanup(free_at))) = child_message();
    assert_non_null(strstr(said, ": lines lost: 1 (Broken pipe)"));
    free(said);
    assert_child_ok(run_child(at_the_limit_of_file_sizes, NULL));
    said = child_message();
    assert_non_null(strstr(said, "(File too large)"));
}

/* In a folder such as /tmp, what others have put there is not written to. */
static void log_to_others_file(void *context) {
    const char *path = context;
    CHILD_CHECK(freopen(stats_path, "w", stderr) != NULL);
    setenv("EDEN_LOG", path, 1);
    eden_heap_destroy(eden_heap_create(NULL, NULL));
}

/* Somebody takes a link away between the program's open and its fstat. */
static const char *taken_away;
int __real_fstat(int fd, struct stat *status);
int __wrap_fstat(int fd, struct stat *status);
int __wrap_fstat(int fd, struct stat *status) {
    int result = __real_fstat(fd, status);
    if (taken_away != NULL && result == 0 && S_ISREG(status->st_mode) && status->st_nlink > 1) {
        unlink(taken_away);
        result = __real_fstat(fd, status);
    }
    return result;
}

static void log_to_taken_link(void *context) {
    taken_away = context;
    log_to_others_file(context);
}

static void others_choose_no_file_in(uid_t owner, mode_t mode) {
    enum { OTHER = 65533 };
    char shared[80], path[100];
    snprintf(shared, sizeof shared, "%s/shared", folder);
    assert_int_equal(mkdir(shared, 0700), 0);
    assert_int_equal(chown(shared, owner, owner), 0);
    assert_int_equal(chmod(shared, mode), 0);
    static const struct {
        const char *name, *says;
    } files[] = {{"own", NULL},
                 {"of-other", "it belongs to another user, in a folder that others may write to"},
                 {"pipe-of-other", "it has no reader"},
                 {"link", "it is a symbolic link, in a folder that others may write to"},
                 {"hard-link", "it has other hard links, in a folder that others may write to"},
                 {"taken-link", "it has other hard links, in a folder that others may write to"}};
    for (size_t i = 0; i < sizeof files / sizeof files[0]; i++) {
        snprintf(path, sizeof path, "%s/%s", shared, files[i].name);
        unlink(log_path);
        close(open(log_path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600));
        if (i == 2) {
            assert_int_equal(mkfifo(path, 0666), 0);
        } else if (i == 3) {
            assert_int_equal(symlink(log_path, path), 0);
        } else if (i >= 4) {
            assert_int_equal(link(log_path, path), 0);
        } else {
            close(open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0666));
        }
        if (i == 1 || i == 2) {
            assert_int_equal(chown(path, OTHER, OTHER), 0);
        }
        assert_child_ok(run_child(i == 5 ? log_to_taken_link : log_to_others_file, path));
        if (files[i].says != NULL) {
            char *said = child_message();
            assert_non_null(strstr(said, files[i].says));
            free(said);
        } else {
            struct stat said;
            assert_int_equal(stat(stats_path, &said), 0);
            assert_int_equal(said.st_size, 0);
        }
        unlink(path);
    }
    rmdir(shared);
}

TEST(others_choose_no_file_in_their_folders) {
    if (geteuid() != 0) {
        skip(); /* files of others can't be made */
    }
    others_choose_no_file_in(0, 01777);
    others_choose_no_file_in(0, 0777);
    others_choose_no_file_in(65534, 0755);
}

/* A terminal with tostop stops a background process that writes to it. */
TEST(a_terminal_in_use_stops_nothing) {
    int terminal;
    pid_t leader = forkpty(&terminal, NULL, NULL, NULL);
    assert_true(leader >= 0);
    if (leader == 0) {
        struct termios settings;
        CHILD_CHECK(tcgetattr(STDIN_FILENO, &settings) == 0);
        settings.c_lflag |= TOSTOP;
        CHILD_CHECK(tcsetattr(STDIN_FILENO, TCSANOW, &settings) == 0);
        pid_t background = fork();
        if (background == 0) {
            CHILD_CHECK(setpgid(0, 0) == 0);
            setenv("EDEN_LOG", "/dev/tty", 1);
            eden_heap *heap = eden_heap_create(NULL, NULL);
            eden_mutator *m = eden_mutator_attach(heap, NULL);
            eden_scavenge(m);
            eden_mutator_detach(m);
            eden_heap_destroy(heap);
            _exit(0);
        }
        int status;
        CHILD_CHECK(waitpid(background, &status, WUNTRACED) == background);
        if (WIFSTOPPED(status)) {
            kill(background, SIGKILL);
        }
        _exit(WIFEXITED(status) ? WEXITSTATUS(status) : 1);
    }
    char text[4096];
    size_t used = 0;
    for (ssize_t got; used < sizeof text - 1 && (got = read(terminal, text + used, sizeof text - 1 - used)) > 0;) {
        used += (size_t)got; /* until nobody has it open */
    }
    text[used] = 0;
    int status;
    assert_int_equal(waitpid(leader, &status, 0), leader);
    assert_int_equal(status, 0);
    assert_non_null(strstr(text, "\"kind\": \"scavenge\""));
    close(terminal);
}

static void to_standard_error(void *context) {
    (void)context;
    CHILD_CHECK(freopen(log_path, "w", stderr) != NULL);
    setenv("EDEN_STATS", "-", 1);
    setenv("EDEN_LOG", "-", 1);
    struct world w;
    world_make(&w, PARAMETERS);
    work(&w);
    eden_heap_destroy(w.heap);
    CHILD_CHECK(fputs("{}\n", stderr) >= 0); /* still open */
}

TEST(a_dash_is_standard_error) {
    unlink(log_path);
    assert_child_ok(run_child(to_standard_error, NULL));
    json_auto_t *lines = read_lines(log_path);
    size_t count = json_array_size(lines);
    assert_true(count > 10);
    assert_int_equal(json_object_size(json_array_get(lines, count - 1)), 0);
    const json_t *stats = json_array_get(lines, count - 2);
    assert_int_equal(number(stats, "scavenges") + number(stats, "full_collections"), count - 2);
}

static void without_streams(void) {
    for (int fd = 0; fd <= STDERR_FILENO; fd++) {
        close(fd);
    }
    setenv("EDEN_STATS", stats_path, 1);
    setenv("EDEN_LOG", log_path, 1);
    struct world w;
    world_make(&w, PARAMETERS);
    work(&w);
    bool is_taken = false;
    for (int fd = 0; fd <= STDERR_FILENO; fd++) {
        is_taken = is_taken || fcntl(fd, F_GETFD) >= 0;
    }
    eden_heap_destroy(w.heap);
    _exit(is_taken ? 1 : 0);
}

TEST(a_log_is_no_standard_stream) {
    unlink(stats_path);
    unlink(log_path);
    pid_t child = fork();
    if (child == 0) {
        without_streams();
    }
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    json_auto_t *stats = read_lines(stats_path), *lines = read_lines(log_path);
    assert_int_equal(json_array_size(stats), 1);
    assert_true(json_array_size(lines) > 10);
}

/* A daemon closes what it has not opened, and gets the log's descriptor for a file of its own. */
TEST(a_file_of_the_program_is_no_log) {
    unlink(log_path);
    setenv("EDEN_LOG", log_path, 1);
    struct world w;
    world_make(&w, PARAMETERS);
    unsetenv("EDEN_LOG");
    int log = instance_of(w.heap)->events.log.fd;
    int own = open(stats_path, O_RDWR | O_CREAT | O_TRUNC, 0600);
    assert_true(log > STDERR_FILENO && own >= 0);
    assert_int_equal(dup2(own, log), log);
    work(&w);
    world_end(&w);
    assert_int_equal(lseek(own, 0, SEEK_END), 0);
    assert_true(fcntl(log, F_GETFD) >= 0);
    close(log);
    close(own);
}

static void visit_and_be_cancelled(void *context, eden_visit *visit) {
    (void)visit;
    (*(unsigned *)context)++;
    pthread_cancel(pthread_self());
    pthread_testcancel();
}

static void *collect_once(void *context) {
    struct world *w = context;
    eden_scavenge(w->m);
    pthread_testcancel();
    return NULL;
}

/* A thread that is cancelled during a collection ends after it: writing the log is a cancellation point. */
TEST(a_cancelled_thread_ends_its_collection) {
    unlink(log_path);
    setenv("EDEN_LOG", log_path, 1);
    WORLD(w, "");
    unsetenv("EDEN_LOG");
    work(&w);
    unsigned visits = 0;
    uint64_t scavenges = figures_of(&w).scavenges;
    assert_true(eden_visitor_add(w.heap, visit_and_be_cancelled, &visits));
    pthread_t thread;
    void *result;
    assert_int_equal(pthread_create(&thread, NULL, collect_once, &w), 0);
    assert_int_equal(pthread_join(thread, &result), 0);
    assert_ptr_equal(result, PTHREAD_CANCELED);
    assert_int_equal(visits, 1);
    assert_int_equal(figures_of(&w).scavenges, scavenges + 1);
    assert_true(eden_visitor_remove(w.heap, visit_and_be_cancelled, &visits));
    verify(&w);
    work(&w);
    verify(&w);
}

SUITE(make_folder, remove_folder)
