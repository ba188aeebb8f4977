/* longjmp: an evaluator that leaves nested calls by longjmp, as interpreters do for errors.
 *
 * longjmp skips the ends of blocks, so the frames of those blocks stay open. eden_frames_save before setjmp, and
 * eden_frames_restore after the jump, close them. */
#include <eden/eden.h>

#include <setjmp.h>
#include <stdio.h>

struct evaluator {
    eden_mutator *m;
    eden_class pair;
    jmp_buf error;
    const char *message;
};

__attribute__((noreturn)) static void raise_error(struct evaluator *e, const char *message) {
    e->message = message;
    longjmp(e->error, 1);
}

/* A list of n, n - 1, ..., 1, built by nested calls, each with a frame of its own. */
static eden_value build(struct evaluator *e, int n, int bad) {
    EDEN_FRAME(e->m, local, 1);
    if (n == bad) {
        raise_error(e, "bad number");
    }
    local[0] = n > 1 ? build(e, n - 1, bad) : EDEN_NONE;
    eden_value pair = eden_new(e->m, e->pair);
    if (pair == EDEN_NONE) {
        raise_error(e, eden_last_error(e->m)->message);
    }
    eden_slot_set(e->m, pair, 0, eden_int(n));
    eden_slot_set(e->m, pair, 1, local[0]);
    return pair;
}

/* Builds a list in *result, which is a root. False: an error; *result is as it was. */
static bool evaluate(struct evaluator *e, int n, int bad, eden_value *result) {
    struct eden_frame *const saved = eden_frames_save(e->m);
    if (setjmp(e->error) != 0) {
        eden_frames_restore(e->m, saved);
        return false;
    }
    *result = build(e, n, bad);
    return true;
}

static bool run(struct evaluator *e) {
    EDEN_FRAME(e->m, local, 1);
    for (int bad = 0; bad <= 100; bad += 50) {
        if (evaluate(e, 1000, bad, &local[0])) {
            printf("a list from %d on\n", (int)eden_int_value(eden_slot(local[0], 0)));
        } else {
            printf("error: %s\n", e->message);
        }
        eden_full_collect(e->m); /* with the frames of run and its callers, and no others */
    }
    return local[0] != EDEN_NONE;
}

int main(void) {
    eden_error error;
    eden_heap *heap = eden_heap_create(&(eden_options){.name = "longjmp"}, &error);
    struct evaluator e = {.m = heap == NULL ? NULL : eden_mutator_attach(heap, &error)};
    if (e.m != NULL) {
        e.pair = eden_class_define(heap, &(eden_class_definition){"Pair", EDEN_FORMAT_FIXED, 2}, &error);
    }
    if (e.pair == 0) {
        fprintf(stderr, "longjmp: %s\n", error.message);
        return 1;
    }
    bool ok = run(&e);
    eden_heap_destroy(heap);
    return ok ? 0 : 1;
}
