/* What the unit tests share: a heap with a class of every format, its checks, and programs run in a child process. */
#ifndef EDEN_TESTS_SUPPORT_H
#define EDEN_TESTS_SUPPORT_H

#include "check/check.h"

#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "suite.h"

#if defined(__SANITIZE_ADDRESS__)
#define TEST_SANITIZED 1
#include <sanitizer/lsan_interface.h>
#else
#define TEST_SANITIZED 0
#endif

#define KIB ((size_t)1024)
#define MIB ((size_t)1024 * 1024)

/* A heap, its mutator, and a class of every format. */
struct world {
    eden_heap *heap;
    eden_mutator *m;
    eden_class empty;    /* no slots */
    eden_class pair;     /* 2 references */
    eden_class array;    /* any number of references */
    eden_class mixed;    /* 2 references, then any number */
    eden_class words64;  /* raw */
    eden_class words32;  /* raw */
    eden_class words16;  /* raw */
    eden_class bytes;    /* raw */
    eden_class compound; /* 3 references, then raw bytes */
};

static inline eden_class define_class(eden_heap *heap, const char *name, enum eden_format format, uint32_t fixed) {
    eden_error error = {EDEN_OK, ""};
    eden_class_definition definition = {name, format, fixed};
    eden_class of = eden_class_define(heap, &definition, &error);
    if (of == 0) {
        fail_msg("class %s: %s", name, error.message);
    }
    return of;
}

static inline void world_make_with(struct world *w, const eden_options *options) {
    eden_error error = {EDEN_OK, ""};
    w->heap = eden_heap_create(options, &error);
    if (w->heap == NULL) {
        fail_msg("eden_heap_create: %s", error.message);
    }
    w->m = eden_mutator_attach(w->heap, &error);
    assert_non_null(w->m);
    w->empty = define_class(w->heap, "Empty", EDEN_FORMAT_EMPTY, 0);
    w->pair = define_class(w->heap, "Pair", EDEN_FORMAT_FIXED, 2);
    w->array = define_class(w->heap, "Array", EDEN_FORMAT_VARIABLE, 0);
    w->mixed = define_class(w->heap, "Mixed", EDEN_FORMAT_FIXED_VARIABLE, 2);
    w->words64 = define_class(w->heap, "Words64", EDEN_FORMAT_WORDS64, 0);
    w->words32 = define_class(w->heap, "Words32", EDEN_FORMAT_WORDS32, 0);
    w->words16 = define_class(w->heap, "Words16", EDEN_FORMAT_WORDS16, 0);
    w->bytes = define_class(w->heap, "Bytes", EDEN_FORMAT_BYTES, 0);
    w->compound = define_class(w->heap, "Compound", EDEN_FORMAT_COMPOUND, 3);
}

static inline void world_make(struct world *w, const char *parameters) {
    eden_options options = {.name = "test", .parameters = parameters};
    world_make_with(w, &options);
}

static inline void verify(const struct world *w) {
    eden_error error = {EDEN_OK, ""};
    if (!eden_heap_verify(w->heap, &error)) {
        fail_msg("eden_heap_verify: %s", error.message);
    }
}

static inline void world_end(struct world *w) {
    verify(w);
    eden_heap_destroy(w->heap);
    w->heap = NULL;
}

/* WORLD(w, "eden_size=1M"); declares a world that ends, verified, with the enclosing block. A macro, because the frames
 * declared after it must be left before the heap goes. */
#define WORLD(w, parameters)                                                                                           \
    struct world w __attribute__((cleanup(world_end)));                                                                \
    world_make(&(w), parameters)

static inline eden_figures figures_of(const struct world *w) {
    eden_figures figures;
    eden_heap_figures(w->heap, &figures);
    return figures;
}

static inline void set_parameter(const struct world *w, const char *name, const char *value) {
    eden_error error = {EDEN_OK, ""};
    if (!eden_heap_set(w->heap, name, value, &error)) {
        fail_msg("%s=%s: %s", name, value, error.message);
    }
}

static inline bool is_old(const struct world *w, eden_value v) {
    return eden_is_object(v) && heap_is_old(w->heap, v) && !heap_is_young(w->heap, v);
}

/* A raw object whose size in the heap, header included, is just `bytes` (no object has 2048). */
static inline eden_value new_sized(const struct world *w, size_t bytes) {
    size_t slots = bytes / 8 - (bytes / 8 - 1 >= EDEN_SLOTS_OVERFLOW ? 2 : 1);
    eden_value object = eden_new_raw(w->m, w->words64, slots);
    if (object != EDEN_NONE) {
        assert_int_equal(object_bytes(object), bytes);
        memset(eden_raw(object), 0x5a, slots * 8);
    }
    return object;
}

/* Makes *slot's object old by scavenging; tenure_proportion is left at 1, tenure_fill at 0. */
static inline void make_old(const struct world *w, const eden_value *slot) {
    set_parameter(w, "tenure_fill", "0");
    set_parameter(w, "tenure_proportion", "1");
    for (int i = 0; i < 3 && !is_old(w, *slot); i++) {
        eden_scavenge(w->m);
    }
    assert_true(is_old(w, *slot));
}

/* An old array in *slot, with tenuring switched off. */
static inline void make_old_array(const struct world *w, eden_value *slot, size_t n) {
    *slot = eden_new_slots(w->m, w->array, n);
    make_old(w, slot);
    set_parameter(w, "tenure_proportion", "0");
    w->heap->tenure_threshold = 0;
}

/* Not a filler, free chunk, or ephemeron of a profile. */
static inline bool is_of_program(const struct world *w, eden_value object) {
    return !object_is_free(object) && eden_index_of(object) != w->heap->observer_class;
}

/* Objects in new and old space that are the program's. */
static inline size_t count_objects(const struct world *w) {
    struct space *spaces[YOUNG_SPACES];
    size_t count = 0;
    heap_young_spaces(w->heap, spaces);
    for (int i = 0; i < YOUNG_SPACES; i++) {
        for (uintptr_t at = spaces[i]->start; at < spaces[i]->used; at = object_end(object_at(at))) {
            count += is_of_program(w, object_at(at));
        }
    }
    for (eden_value object = old_space_walk(w->heap, 0); object != EDEN_NONE;
         object = old_space_walk(w->heap, object_end(object))) {
        count += is_of_program(w, object);
    }
    return count;
}

/* A memory hook that counts requests and refuses the `from`-th to the `to`-th, counted from 1. */
struct refusal {
    long from, to, seen;
};
static inline bool refuse_some(void *context, size_t bytes, const char *what) {
    struct refusal *refusal = context;
    (void)bytes;
    (void)what;
    refusal->seen++;
    return refusal->seen < refusal->from || refusal->seen > refusal->to;
}

/* A world with these parameters (NULL: the defaults) whose memory is refused so. */
static inline void world_make_refusing(struct world *w, const char *parameters, struct refusal *refusal) {
    const eden_options options = {.parameters = parameters, .memory_hook = refuse_some, .memory_hook_context = refusal};
    world_make_with(w, &options);
}
#define WORLD_REFUSING(w, parameters, refusal)                                                                         \
    struct world w __attribute__((cleanup(world_end)));                                                                \
    world_make_refusing(&(w), parameters, refusal)

/* Runs a function in a child process, which ends with exit() so that destructors run; returns waitpid's status. What
 * the child allocates with malloc is no leak: heaps that live at exit are what some tests are about. */
static inline int run_child(void (*program)(void *context), void *context) {
    fflush(NULL);
    pid_t pid = fork();
    assert_true(pid >= 0);
    if (pid == 0) {
        /* cmocka's handlers would go on with the tests. */
        const int signals[] = {SIGSEGV, SIGBUS, SIGABRT, SIGFPE, SIGILL};
        for (size_t i = 0; i < sizeof signals / sizeof signals[0]; i++) {
            signal(signals[i], SIG_DFL);
        }
#if TEST_SANITIZED
        __lsan_disable();
#endif
        program(context);
        exit(0);
    }
    int status = -1;
    assert_int_equal(waitpid(pid, &status, 0), pid);
    return status;
}

static inline void assert_child_ok(int status) {
    if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) {
        fail_msg("the child ended with status %#x", (unsigned)status);
    }
}

/* In a child, where cmocka's assertions can't be reported: says what failed and ends. */
#define CHILD_CHECK(condition)                                                                                         \
    do {                                                                                                               \
        if (!(condition)) {                                                                                            \
            fprintf(stderr, "%s:%d: not true: %s\n", __FILE__, __LINE__, #condition);                                  \
            _exit(1);                                                                                                  \
        }                                                                                                              \
    } while (0)

/* A seeded generator (xorshift64star, Vigna 2014), so that a test is the same each time. */
static inline uint64_t next_random(uint64_t *state) {
    uint64_t x = *state;
    x ^= x >> 12;
    x ^= x << 25;
    x ^= x >> 27;
    *state = x;
    return x * 0x2545f4914f6cdd1dull;
}

/* Before all tests of a program that asserts what heaps decide: with several threads no two runs decide alike. */
static inline int collect_alone(void **state) {
    (void)state;
    return setenv("EDEN_OPTIONS", "gc_threads=1", 1);
}

/* Before all tests of a program that sets EDEN_OPTIONS itself. */
static inline int clear_options(void **state) {
    (void)state;
    return unsetenv("EDEN_OPTIONS");
}

#endif
