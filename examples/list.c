/* list: a complete program that embeds libeden. It keeps a linked list of words from the standard input, newest first,
 * prints it, and reports what the collector did.
 *
 *     printf 'one two three' | build/examples/list */
#include <eden/eden.h>

#include <inttypes.h>
#include <stdio.h>

struct program {
    eden_heap *heap;
    eden_mutator *mutator;
    eden_class pair, text; /* a Pair has two references: its word and the next Pair */
};

/* Creation and allocation return an error; nothing in the library ends the program. */
static bool fail(const char *message) {
    fprintf(stderr, "list: %s\n", message);
    return false;
}

static bool start(struct program *program) {
    eden_error error;
    /* EDEN_OPTIONS overrides these parameters. */
    const eden_options options = {.name = "list", .parameters = "eden_size=64K"};
    program->heap = eden_heap_create(&options, &error);
    if (program->heap == NULL) {
        return fail(error.message);
    }
    program->mutator = eden_mutator_attach(program->heap, &error);
    if (program->mutator == NULL) {
        return fail(error.message);
    }
    const eden_class_definition pair = {"Pair", EDEN_FORMAT_FIXED, 2};
    const eden_class_definition text = {"Text", EDEN_FORMAT_BYTES, 0};
    program->text = eden_class_define(program->heap, &text, &error);
    eden_class class = eden_class_define(program->heap, &pair, &error);
    /* Tools report the Pairs that are allocated here apart from any others. */
    program->pair = class == 0 ? 0 : eden_site_define(program->heap, class, "Pair in push", &error);
    return (program->text != 0 && program->pair != 0) || fail(error.message);
}

/* Returns a list with a word before `list`; EDEN_NONE: no memory. */
static eden_value push(struct program *program, eden_value list, const char *word) {
    eden_mutator *m = program->mutator;
    /* Rule 1: anything you still need after a call that may collect must be in a root. Both allocations may collect. */
    EDEN_FRAME(m, local, 2);
    local[0] = list;
    size_t length = strlen(word);
    local[1] = eden_new_raw(m, program->text, length);
    if (local[1] == EDEN_NONE) {
        return EDEN_NONE;
    }
    /* Rule 3: this pointer is valid until the next call that may collect. */
    memcpy(eden_raw(local[1]), word, length);
    eden_value pair = eden_new(m, program->pair);
    if (pair != EDEN_NONE) {
        /* Rule 2: references are stored with eden_slot_set. */
        eden_slot_set(m, pair, 0, local[1]);
        eden_slot_set(m, pair, 1, local[0]);
    }
    return pair;
}

static bool run(struct program *program) {
    EDEN_FRAME(program->mutator, local, 1);
    char word[64];
    while (scanf("%63s", word) == 1) {
        eden_value list = push(program, local[0], word);
        if (list == EDEN_NONE) {
            return fail(eden_last_error(program->mutator)->message);
        }
        local[0] = list;
    }
    eden_full_collect(program->mutator);
    /* Nothing allocates from here on: plain variables will do. */
    for (eden_value list = local[0]; list != EDEN_NONE; list = eden_slot(list, 1)) {
        eden_value text = eden_slot(list, 0);
        printf("%.*s\n", (int)eden_raw_count(text), (const char *)eden_raw(text));
    }
    return true;
}

int main(void) {
    struct program program = {.heap = NULL};
    bool ok = start(&program) && run(&program);
    if (ok) {
        eden_figures figures;
        eden_heap_figures(program.heap, &figures);
        printf("%" PRIu64 " bytes allocated, %" PRIu64 " scavenges, %" PRIu64 " full collections\n",
               figures.allocated_bytes, figures.scavenges, figures.full_collections);
    }
    eden_heap_destroy(program.heap);
    return ok ? 0 : 1;
}
