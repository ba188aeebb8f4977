/* children: a program whose children use Eden, and that says what each of their heaps did.
 *
 *     children one                a heap, some work, the heap destroyed
 *     children spawn COUNT        a heap; waits for a line on the standard input; starts `children one` COUNT times,
 * one after the other children fork COUNT         a heap, some work; COUNT children work on in their copies of it and
 * destroy them children wait               a heap; works when a line comes, and ends after another one
 *     children exec PROGRAM...    a heap, some work; becomes another program with the heap alive
 *
 * For each heap it prints a line: process, scavenges, allocated bytes, tenured bytes, the last before the end. */
#include <eden/eden.h>

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

struct program {
    eden_heap *heap;
    eden_mutator *mutator;
    eden_class node;
};

static void stop(const char *what) {
    fprintf(stderr, "children: %s\n", what);
    exit(1);
}

static struct program begin(void) {
    struct program program = {0};
    eden_error error;
    const eden_options options = {.name = "children", .parameters = "eden_size=64K"};
    const eden_class_definition node = {"Node", EDEN_FORMAT_FIXED, 2};
    program.heap = eden_heap_create(&options, &error);
    program.mutator = program.heap ? eden_mutator_attach(program.heap, &error) : NULL;
    program.node = program.mutator ? eden_class_define(program.heap, &node, &error) : 0;
    if (program.node == 0) {
        stop(error.message);
    }
    return program;
}

/* A list of the last nodes, so that some survive. */
static void work(const struct program *program, int nodes) {
    EDEN_FRAME(program->mutator, local, 1);
    for (int i = 0; i < nodes; i++) {
        eden_value node = eden_new(program->mutator, program->node);
        if (node == EDEN_NONE) {
            stop("no memory");
        }
        eden_slot_set(program->mutator, node, 0, i % 100 ? local[0] : EDEN_NONE);
        local[0] = node;
    }
}

static void end(const struct program *program) {
    eden_full_collect(program->mutator);
    eden_figures now;
    eden_heap_figures(program->heap, &now);
    printf("%d %" PRIu64 " %" PRIu64 " %" PRIu64 "\n", getpid(), now.scavenges, now.allocated_bytes, now.tenured_bytes);
    fflush(stdout);
    eden_heap_destroy(program->heap);
}

static void one(void) {
    struct program program = begin();
    work(&program, 20000);
    end(&program);
}

static void reap(pid_t child) {
    int status;
    if (child < 0 || waitpid(child, &status, 0) != child || status != 0) {
        stop("a child failed");
    }
}

/* Until a line comes, or there is none. */
static bool wait_for_line(void) {
    char line[16];
    fprintf(stderr, "ready\n");
    return fgets(line, sizeof line, stdin) != NULL;
}

static void spawn(int count) {
    struct program program = begin();
    wait_for_line();
    for (int i = 0; i < count; i++) {
        pid_t child = fork();
        if (child == 0) {
            execl("/proc/self/exe", "children", "one", (char *)NULL);
            _exit(1);
        }
        reap(child);
    }
    end(&program);
}

static void fork_with_heap(int count) {
    struct program program = begin();
    work(&program, 20000);
    for (int i = 0; i < count; i++) {
        pid_t child = fork();
        if (child == 0) {
            work(&program, 20000 * (i + 1));
            end(&program);
            _exit(0);
        }
        reap(child);
    }
    end(&program);
}

int main(int argc, char **argv) {
    const char *mode = argc > 1 ? argv[1] : "";
    int count = argc > 2 ? atoi(argv[2]) : 1;
    if (strcmp(mode, "spawn") == 0) {
        spawn(count);
    } else if (strcmp(mode, "fork") == 0) {
        fork_with_heap(count);
    } else if (strcmp(mode, "exec") == 0) {
        struct program program = begin();
        work(&program, 20000);
        execvp(argv[2], argv + 2);
    } else if (strcmp(mode, "wait") == 0) {
        struct program program = begin();
        work(&program, wait_for_line() ? 20000 : 0);
        end(&program);
        wait_for_line();
    } else {
        one();
    }
    return 0;
}
