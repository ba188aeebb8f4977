/* out_of_memory: running out of memory is an error, distinct from every value of the language.
 *
 * EDEN_NONE is what a failed allocation returns, and what a fresh slot holds. So this language's nil is another value:
 * an immediate of its own. A program whose nil is EDEN_NONE asks eden_last_error instead, and clears it
 * (eden_error_clear) before the next computation. */
#include <eden/eden.h>

#include <stdio.h>

static eden_value nil(void) { return eden_char(0); }

/* A pair; EDEN_NONE: no memory. head and tail must be in roots of the caller's. */
static eden_value cons(eden_mutator *m, eden_class pair, const eden_value *head, const eden_value *tail) {
    eden_value result = eden_new(m, pair);
    if (result != EDEN_NONE) {
        eden_slot_set(m, result, 0, *head); /* read after the allocation: they may have moved */
        eden_slot_set(m, result, 1, *tail);
    }
    return result;
}

/* A list of n numbers; nil: none were wanted; EDEN_NONE: no memory. */
static eden_value numbers(eden_mutator *m, eden_class pair, int64_t n) {
    EDEN_FRAME(m, local, 2);
    local[1] = nil();
    for (int64_t i = 0; i < n; i++) {
        local[0] = eden_int(i);
        local[1] = cons(m, pair, &local[0], &local[1]);
        if (local[1] == EDEN_NONE) {
            break;
        }
    }
    return local[1];
}

static bool run(eden_mutator *m, eden_class pair) {
    static const int64_t lengths[] = {0, 100, 1000000, 100};
    for (size_t i = 0; i < sizeof lengths / sizeof lengths[0]; i++) {
        eden_value list = numbers(m, pair, lengths[i]);
        const char *what = list == EDEN_NONE ? "out of memory" : list == nil() ? "nil" : "a list";
        printf("%d numbers: %s\n", (int)lengths[i], what);
    }
    /* The other way: the reason lasts until it is cleared, whatever was allocated since. */
    printf("status %d", (int)eden_last_error(m)->status);
    eden_error_clear(m);
    printf(", cleared: %d\n", (int)eden_last_error(m)->status);
    return numbers(m, pair, 1) != EDEN_NONE;
}

int main(void) {
    eden_error error;
    const eden_options options = {.name = "out_of_memory", .parameters = "eden_size=64K,max_heap=1M"};
    eden_heap *heap = eden_heap_create(&options, &error);
    eden_mutator *m = heap == NULL ? NULL : eden_mutator_attach(heap, &error);
    eden_class pair = 0;
    if (m != NULL) {
        pair = eden_class_define(heap, &(eden_class_definition){"Pair", EDEN_FORMAT_FIXED, 2}, &error);
    }
    if (pair == 0) {
        fprintf(stderr, "out_of_memory: %s\n", error.message);
        return 1;
    }
    bool ok = run(m, pair);
    eden_heap_destroy(heap);
    return ok ? 0 : 1;
}
