/* parallel: scavenges and full collections large enough for several threads, for test_threads.sh.
 *
 * Makes trees that survive a few scavenges, and among them objects of bytes, dead and alive, and a large Array of
 * all; then full collections, as requested and as the heap wants them; in several heaps, one after the other. The
 * result is checked, and each heap verified. Prints how many threads the process has at the end; exit status 1 if
 * something fails. EDEN_OPTIONS decides the rest. */
#include <eden/eden.h>

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>

enum { HEAPS = 4, ROUNDS = 4, TREES = 20, DEPTH = 12, TEXT_BYTES = 40 };

static struct {
    eden_heap *heap;
    eden_mutator *mutator;
    eden_class node, text, table;
} world;

static void require(bool ok, const char *what) {
    if (!ok) {
        fprintf(stderr, "parallel: %s\n", what);
        exit(1);
    }
}

static eden_value made(eden_value object) {
    require(object != EDEN_NONE, "no memory");
    return object;
}

/* A tree whose nodes have a number, their place in it, and a text each. */
static eden_value make_tree(int depth, int64_t place) {
    EDEN_FRAME(world.mutator, local, 4);
    if (depth > 0) {
        local[0] = make_tree(depth - 1, 2 * place);
        local[1] = make_tree(depth - 1, 2 * place + 1);
    }
    local[2] = made(eden_new_raw(world.mutator, world.text, TEXT_BYTES));
    made(eden_new_raw(world.mutator, world.text, TEXT_BYTES)); /* dies */
    local[3] = made(eden_new(world.mutator, world.node));
    for (size_t i = 0; i < 3; i++) {
        eden_slot_set(world.mutator, local[3], i, local[i]);
    }
    eden_slot_set(world.mutator, local[3], 3, eden_int(place));
    return local[3];
}

static void check_tree(eden_value tree, int depth, int64_t place) {
    require(eden_int_value(eden_slot(tree, 3)) == place, "a node is another one");
    require(eden_class_of(world.heap, eden_slot(tree, 2)) == world.text, "a text is something else");
    for (size_t i = 0; i < 2; i++) {
        if (depth > 0) {
            check_tree(eden_slot(tree, i), depth - 1, 2 * place + (int64_t)i);
        } else {
            require(eden_slot(tree, i) == EDEN_NONE, "a leaf has branches");
        }
    }
}

static size_t count_threads(void) {
    size_t count = 0;
    DIR *tasks = opendir("/proc/self/task");
    require(tasks != NULL, "no /proc/self/task");
    for (struct dirent *entry; (entry = readdir(tasks)) != NULL;) {
        count += entry->d_name[0] != '.';
    }
    closedir(tasks);
    return count;
}

static void use_heap(void) {
    eden_error error = {EDEN_OK, ""};
    const eden_options options = {.name = "parallel"};
    const eden_class_definition node = {"Node", EDEN_FORMAT_FIXED, 4}, text = {"Text", EDEN_FORMAT_BYTES, 0},
                                table = {"Table", EDEN_FORMAT_VARIABLE, 0};
    world.heap = eden_heap_create(&options, &error);
    world.mutator = world.heap == NULL ? NULL : eden_mutator_attach(world.heap, &error);
    require(world.mutator != NULL, error.message);
    world.node = eden_class_define(world.heap, &node, &error);
    world.text = eden_class_define(world.heap, &text, &error);
    world.table = eden_class_define(world.heap, &table, &error);
    require(world.node != 0 && world.text != 0 && world.table != 0, error.message);
    {
        EDEN_FRAME(world.mutator, trees, 1);
        for (int round = 0; round < ROUNDS; round++) {
            trees[0] = made(eden_new_slots(world.mutator, world.table, TREES));
            for (size_t i = 0; i < TREES; i++) {
                eden_value tree = make_tree(DEPTH, 1);
                eden_slot_set(world.mutator, trees[0], i, tree);
            }
            if (round % 2 == 1) {
                eden_full_collect(world.mutator);
            }
            for (size_t i = 0; i < TREES; i++) {
                check_tree(eden_slot(trees[0], i), DEPTH, 1);
            }
        }
    }
    require(eden_heap_verify(world.heap, &error), error.message);
    eden_heap_destroy(world.heap);
}

int main(void) {
    for (int i = 0; i < HEAPS; i++) {
        use_heap();
    }
    printf("%zu\n", count_threads());
    return 0;
}
