/* Collections by several threads: what they find is what one finds, and the threads leave the process alone. */
#include "heap/workers.h"
#include "support.h"
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>

static bool is_refused; /* pthread_create fails */

int __real_pthread_create(pthread_t *id, const pthread_attr_t *attributes, void *(*run)(void *), void *argument);
int __wrap_pthread_create(pthread_t *id, const pthread_attr_t *attributes, void *(*run)(void *), void *argument);
int __wrap_pthread_create(pthread_t *id, const pthread_attr_t *attributes, void *(*run)(void *), void *argument) {
    return is_refused ? EAGAIN : __real_pthread_create(id, attributes, run, argument);
}

/* ---- threads of this process ---- */

static bool read_file(const char *path, char *text, size_t size) {
    int file = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t length = file < 0 ? -1 : read(file, text, size - 1);
    if (file >= 0) {
        close(file);
    }
    text[length > 0 ? length : 0] = 0;
    return length > 0;
}

/* Threads of the pool; each must have blocked all signals that can be. */
static unsigned count_threads(void) {
    DIR *folder = opendir("/proc/self/task");
    unsigned count = 0;
    assert_non_null(folder);
    for (struct dirent *entry; (entry = readdir(folder)) != NULL;) {
        char path[300], text[4096];
        snprintf(path, sizeof path, "/proc/self/task/%s/comm", entry->d_name);
        if (entry->d_name[0] == '.' || !read_file(path, text, sizeof text) || strcmp(text, "eden-gc\n") != 0) {
            continue;
        }
        count++;
        snprintf(path, sizeof path, "/proc/self/task/%s/status", entry->d_name);
        if (read_file(path, text, sizeof text)) {
            const char *blocked = strstr(text, "SigBlk:");
            assert_non_null(blocked);
            /* SIGKILL, SIGSTOP, and the two that the C library keeps for itself can't be. */
            assert_true((strtoull(blocked + 7, NULL, 16) | 0x180040100ull) == ~0ull);
        }
    }
    closedir(folder);
    return count;
}

/* ---- a program with objects of every kind ---- */

enum { LISTS = 40, LENGTH = 300, WEAK = 50, LARGE = 3000 };

struct kinds {
    struct world w;
    eden_class weak, ephemeron;
};

static void make_kinds(struct kinds *k, const char *threads) {
    char parameters[300];
    snprintf(parameters, sizeof parameters,
             "gc_threads=%s,policy=fixed,eden_size=4M,compat.overflow=scan-order,tenure_fill=0,tenure_proportion=1,"
             "full_gc_ratio=inf",
             threads);
    world_make(&k->w, parameters);
    k->weak = define_class(k->w.heap, "Weak", EDEN_FORMAT_WEAK, 1);
    k->ephemeron = define_class(k->w.heap, "Ephemeron", EDEN_FORMAT_EPHEMERON, 2);
    k->w.heap->alone_bytes = 0;
}

/* A list; each element has a number and shares a leaf with others. */
static eden_value make_list(const struct world *w, eden_value leaf, size_t length) {
    EDEN_FRAME(w->m, local, 3);
    local[0] = leaf;
    for (size_t i = 0; i < length; i++) {
        local[2] = eden_new_slots(w->m, w->mixed, 1);
        eden_slot_set(w->m, local[2], 0, local[1]);
        eden_slot_set(w->m, local[2], 1, local[0]);
        eden_slot_set(w->m, local[2], 2, eden_int((int64_t)i));
        local[1] = local[2];
    }
    return local[1];
}

static uint64_t sum_list(eden_value list) {
    uint64_t sum = 0;
    for (; list != EDEN_NONE; list = eden_slot(list, 0)) {
        sum = sum * 31 + (uint64_t)eden_int_value(eden_slot(list, 2)) + eden_slot_count(eden_slot(list, 1));
    }
    return sum;
}

static eden_value make_weak(const struct kinds *k, eden_value strong, eden_value weak) {
    EDEN_FRAME(k->w.m, local, 2);
    local[0] = strong;
    local[1] = weak;
    eden_value object = eden_new_slots(k->w.m, k->weak, 1);
    eden_slot_set(k->w.m, object, 0, local[0]);
    eden_slot_set(k->w.m, object, 1, local[1]);
    return object;
}

static eden_value make_ephemeron(const struct kinds *k, eden_value key, eden_value value) {
    EDEN_FRAME(k->w.m, local, 2);
    local[0] = key;
    local[1] = value;
    eden_value object = eden_new(k->w.m, k->ephemeron);
    eden_slot_set(k->w.m, object, 0, local[0]);
    eden_slot_set(k->w.m, object, 1, local[1]);
    return object;
}

/* In slot i of the table, whose age varies: a list, a weak object, an ephemeron. Every second key and weak referent
 * dies. */
static void fill_table(const struct kinds *k, eden_value *table) {
    const struct world *w = &k->w;
    EDEN_FRAME(w->m, local, 3);
    for (size_t i = 0; i < LISTS; i++) {
        local[0] = eden_new_raw(w->m, w->words64, i);
        local[0] = make_list(w, local[0], LENGTH + i);
        eden_slot_set(w->m, *table, i, local[0]);
    }
    for (size_t i = 0; i < WEAK; i++) {
        local[0] = make_list(w, eden_new(w->m, w->empty), 3);
        local[1] = make_list(w, eden_new(w->m, w->empty), 4);
        local[2] = i % 2 == 0 ? eden_new(w->m, w->pair) : local[0];
        local[2] = make_weak(k, local[0], local[2]);
        eden_slot_set(w->m, *table, LISTS + i, local[2]);
        local[2] = make_ephemeron(k, i % 2 == 0 ? local[1] : local[0], local[0]);
        eden_slot_set(w->m, *table, LISTS + WEAK + i, local[2]);
    }
}

struct result {
    uint64_t survived, tenured, tenured_bytes, mourned, remembered, sum, cleared;
};

static struct result result_of(const struct kinds *k, eden_value table) {
    eden_figures figures = figures_of(&k->w);
    struct result result = {.survived = figures.survived_bytes,
                            .tenured = figures.tenured_objects,
                            .tenured_bytes = figures.tenured_bytes,
                            .mourned = figures.mourned,
                            .remembered = figures.remembered_now};
    for (size_t i = 0; i < LISTS; i++) {
        result.sum += (i + 1) * sum_list(eden_slot(table, i));
    }
    for (size_t i = 0; i < WEAK; i++) {
        eden_value weak = eden_slot(table, LISTS + i);
        result.cleared += eden_slot(weak, 1) == EDEN_NONE;
        result.sum += sum_list(eden_slot(weak, 0));
    }
    return result;
}

static void assert_same(struct result a, struct result b) {
    assert_int_equal(a.survived, b.survived);
    assert_int_equal(a.tenured, b.tenured);
    assert_int_equal(a.tenured_bytes, b.tenured_bytes);
    assert_int_equal(a.mourned, b.mourned);
    assert_int_equal(a.remembered, b.remembered);
    assert_int_equal(a.sum, b.sum);
    assert_int_equal(a.cleared, b.cleared);
}

/* A young table, then an old one that is filled again (remembered, by cards as it is large), and full collections. */
static struct result run_program(const char *threads) {
    struct kinds k;
    struct result result;
    make_kinds(&k, threads);
    {
        EDEN_FRAME(k.w.m, local, 4);
        local[0] = eden_new_slots(k.w.m, k.w.array, LARGE);
        local[1] = make_list(&k.w, eden_new(k.w.m, k.w.empty), 10);
        assert_true(eden_pin(k.w.m, local[1]) != EDEN_NONE);
        for (int i = 0; i < 3; i++) {
            fill_table(&k, &local[0]);
            eden_scavenge(k.w.m);
            verify(&k.w);
            local[2] = make_list(&k.w, eden_new(k.w.m, k.w.empty), 1000);
            eden_scavenge(k.w.m);
            verify(&k.w);
        }
        eden_full_collect(k.w.m);
        verify(&k.w);
        fill_table(&k, &local[0]);
        eden_full_collect(k.w.m);
        verify(&k.w);
        assert_true(is_old(&k.w, local[0]));
        result = result_of(&k, local[0]);
    }
    world_end(&k.w);
    return result;
}

TEST(totals_are_those_of_one_thread) {
    struct result alone = run_program("1");
    assert_int_equal(count_threads(), 0);
    assert_true(alone.mourned != 0 && alone.cleared != 0 && alone.tenured != 0);
    for (int i = 0; i < 5; i++) {
        assert_same(run_program("2"), alone);
        assert_true(count_threads() >= 1);
        assert_same(run_program("4"), alone);
        assert_true(count_threads() >= 3);
    }
}

TEST(what_an_old_weak_object_refers_to_is_cleared_or_followed) {
    struct kinds k;
    make_kinds(&k, "4");
    {
        EDEN_FRAME(k.w.m, local, 3);
        local[0] = make_weak(&k, EDEN_NONE, EDEN_NONE);
        local[2] = eden_new_slots(k.w.m, k.w.array, 100); /* the set is no list of one */
        eden_scavenge(k.w.m);
        eden_scavenge(k.w.m);
        assert_true(is_old(&k.w, local[0]) && is_old(&k.w, local[2]));
        for (int i = 0; i < 20; i++) {
            local[1] = make_list(&k.w, eden_new(k.w.m, k.w.empty), 20);
            eden_slot_set(k.w.m, local[0], 0, local[1]);
            eden_slot_set(k.w.m, local[2], (size_t)i, local[1]);
            local[1] = make_list(&k.w, eden_new(k.w.m, k.w.empty), 20);
            eden_slot_set(k.w.m, local[0], 1, local[1]);
            eden_scavenge(k.w.m);
            verify(&k.w);
            assert_int_equal(sum_list(eden_slot(local[0], 1)), sum_list(local[1]));
            local[1] = EDEN_NONE;
            local[1] = eden_new(k.w.m, k.w.pair);
            eden_slot_set(k.w.m, local[0], 1, local[1]);
            local[1] = EDEN_NONE;
            eden_scavenge(k.w.m);
            verify(&k.w);
            assert_true(eden_slot(local[0], 1) == EDEN_NONE);
        }
    }
    world_end(&k.w);
}

TEST(survivors_have_no_fillers_in_their_figure) {
    WORLD(w, "gc_threads=4,policy=fixed,eden_size=4M,compat.overflow=scan-order,tenure_criterion=never");
    w.heap->alone_bytes = 0;
    EDEN_FRAME(w.m, local, 2);
    uint64_t bytes = 0;
    for (size_t i = 0; i < 3000; i++) {
        local[1] = eden_new_slots(w.m, w.array, i % 40 + 1);
        eden_slot_set(w.m, local[1], 0, local[0]);
        local[0] = local[1];
        bytes += object_bytes(local[0]);
    }
    local[1] = EDEN_NONE;
    for (int i = 0; i < 4; i++) {
        eden_scavenge(w.m);
        assert_int_equal(heap_survivor_used(w.heap), bytes);
        assert_int_equal(figures_of(&w).survivor_used, bytes);
    }
    assert_int_equal(figures_of(&w).survived_bytes, 4 * bytes);
}

static struct result collect_lists(const char *threads) {
    struct kinds k;
    struct result result;
    make_kinds(&k, threads);
    {
        enum { LONG = 40000 };
        EDEN_FRAME(k.w.m, local, 2);
        local[0] = eden_new_slots(k.w.m, k.w.array, LARGE);
        for (int i = 0; i < 2; i++) {
            local[1] = make_list(&k.w, eden_new(k.w.m, k.w.empty), LONG);
            eden_slot_set(k.w.m, local[0], (size_t)i, local[1]);
            eden_scavenge(k.w.m);
            verify(&k.w);
        }
        for (size_t i = 0; i < WEAK; i++) {
            local[1] = make_weak(&k, EDEN_NONE, EDEN_NONE);
            eden_slot_set(k.w.m, local[0], LISTS + i, local[1]);
        }
        local[1] = EDEN_NONE;
        eden_full_collect(k.w.m);
        verify(&k.w);
        result = result_of(&k, local[0]);
    }
    world_end(&k.w);
    return result;
}

/* A thread that has kept the others idle for long leaves the list to the collecting thread. */
TEST(a_list_is_nobodys_to_share) {
    struct result alone = collect_lists("1");
    for (int i = 0; i < 5; i++) {
        assert_same(collect_lists("2"), alone);
        assert_same(collect_lists("4"), alone);
    }
}

TEST(no_thread_is_no_error) {
    struct result alone = run_program("1");
    sleep(3); /* those of the tests before end when nobody needs them */
    assert_int_equal(count_threads(), 0);
    is_refused = true;
    assert_same(run_program("4"), alone);
    assert_int_equal(count_threads(), 0);
    is_refused = false;
    assert_same(run_program("4"), alone);
    assert_int_equal(count_threads(), 3);
}

TEST(the_number_can_change_and_be_unset) {
    struct kinds k;
    make_kinds(&k, "1");
    assert_int_equal(workers_wanted(k.w.heap), 1);
    set_parameter(&k.w, "gc_threads", "3");
    assert_int_equal(workers_wanted(k.w.heap), 3);
    set_parameter(&k.w, "gc_threads", "unset");
    cpu_set_t granted;
    assert_int_equal(sched_getaffinity(0, sizeof granted, &granted), 0);
    assert_true(workers_wanted(k.w.heap) >= 1 && workers_wanted(k.w.heap) <= 8);
    assert_true(workers_wanted(k.w.heap) <= (unsigned)CPU_COUNT(&granted));
    world_end(&k.w);
}

/* ---- fork and exit ---- */

static void work_in_child(void *argument) {
    const struct result *alone = argument;
    alarm(60);
    CHILD_CHECK(count_threads() == 0);
    struct result here = run_program("4");
    CHILD_CHECK(here.sum == alone->sum && here.survived == alone->survived && here.tenured == alone->tenured);
    CHILD_CHECK(count_threads() == 3);
}

TEST(a_forked_child_starts_threads_of_its_own) {
    struct result alone = run_program("1");
    run_program("4");
    assert_true(count_threads() >= 3);
    assert_child_ok(run_child(work_in_child, &alone));
    assert_same(run_program("4"), alone);
}

static pid_t forked = -1;

static void fork_once(void *context, eden_visit *visit) {
    (void)context, (void)visit;
    if (forked < 0) {
        forked = fork();
    }
}

/* The child goes on with the collection, without the threads that have begun it. */
TEST(a_root_visitor_may_fork) {
    struct kinds k;
    make_kinds(&k, "4");
    {
        EDEN_FRAME(k.w.m, local, 2);
        local[0] = eden_new_slots(k.w.m, k.w.array, LARGE);
        eden_scavenge(k.w.m);
        eden_scavenge(k.w.m);
        fill_table(&k, &local[0]);
        assert_true(eden_visitor_add(k.w.heap, fork_once, NULL));
        eden_scavenge(k.w.m);
        verify(&k.w);
        assert_true(forked >= 0);
        for (int i = 0; i < 2; i++) {
            fill_table(&k, &local[0]);
            eden_full_collect(k.w.m);
            verify(&k.w);
        }
    }
    world_end(&k.w);
    if (forked == 0) {
        _exit(0);
    }
    int status = -1;
    assert_int_equal(waitpid(forked, &status, 0), forked);
    assert_child_ok(status);
}

static void end_main_thread(void *argument) {
    (void)argument;
    alarm(60);
    run_program("4");
    if (!TEST_SANITIZED) {
        pthread_exit(NULL); /* the process ends with its last thread */
    }
}

TEST(threads_do_not_keep_the_process_alive) { assert_child_ok(run_child(end_main_thread, NULL)); }

static void *collect_again(void *argument) {
    const struct result *alone = argument;
    for (int i = 0; i < 5; i++) {
        assert_same(run_program("3"), *alone);
    }
    return NULL;
}

/* One has the pool, the other goes on alone. */
TEST(two_heaps_may_be_collected_at_once) {
    struct result alone = run_program("1");
    pthread_t other;
    assert_int_equal(pthread_create(&other, NULL, collect_again, &alone), 0);
    collect_again(&alone);
    assert_int_equal(pthread_join(other, NULL), 0);
}

SUITE(NULL, NULL)
