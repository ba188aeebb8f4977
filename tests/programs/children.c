/* children: a program whose children use Eden, and that says what each of their heaps did.
 *
 *     children one [NODES]        a heap, some work, the heap destroyed
 *     children spawn COUNT [NODES]  a heap; waits for a line on the standard input; starts `children one` COUNT times,
 *                                 one after the other
 *     children before COUNT NODES COUNT children, forked before there is a heap, each make one, and NODES nodes in it;
 *                                 so does the program itself
 *     children fork COUNT         a heap, some work; COUNT children work on in their copies of it and destroy them
 *     children copies             a heap, some work; copies of it that work on when the heap has, when another one has
 *                                 its address, within a collection, when their parent has ended, and not at all
 *     children pause              a heap, some work; a copy that is made within a full collection, and works on
 *     children wait               a heap; works when a line comes, and ends after another one
 *     children stay               a heap; works when a line comes, and ends after another one, with the heap alive till
 * then children exec PROGRAM...    a heap, some work; becomes another program with the heap alive
 *     children vfork PROGRAM...   a heap; a child that shares its memory for a while, then becomes another program
 *
 * For each heap it prints a line: process, scavenges, allocated bytes, tenured bytes, the last before the end. */
#include <eden/eden.h>

#include <inttypes.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

struct program {
    eden_heap *heap;
    eden_mutator *mutator;
    eden_class node, raw;
};

static void stop(const char *what) {
    fprintf(stderr, "children: %s\n", what);
    exit(1);
}

static struct program begin(void) {
    struct program program = {0};
    eden_error error;
    const eden_options options = {.name = "children", .parameters = "eden_size=64K"};
    const eden_class_definition node = {"Node", EDEN_FORMAT_FIXED, 2}, raw = {"Raw", EDEN_FORMAT_BYTES, 0};
    program.heap = eden_heap_create(&options, &error);
    program.mutator = program.heap ? eden_mutator_attach(program.heap, &error) : NULL;
    program.node = program.mutator ? eden_class_define(program.heap, &node, &error) : 0;
    program.raw = program.node ? eden_class_define(program.heap, &raw, &error) : 0;
    if (program.raw == 0) {
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

static void one(int nodes) {
    struct program program = begin();
    work(&program, nodes);
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

static void spawn(int count, const char *nodes) {
    struct program program = begin();
    wait_for_line();
    for (int i = 0; i < count; i++) {
        pid_t child = fork();
        if (child == 0) {
            execl("/proc/self/exe", "children", "one", nodes, (char *)NULL);
            _exit(1);
        }
        reap(child);
    }
    end(&program);
}

static void fork_before_heap(int count, int nodes) {
    for (int i = 0; i < count; i++) {
        if (fork() == 0) {
            one(nodes);
            _exit(0);
        }
    }
    one(nodes);
    int status;
    while (wait(&status) > 0) {
        if (status != 0) {
            stop("a child failed");
        }
    }
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

/* Children wait until their parent closes `go`, the parent until all have ended, and so closed `done`. */
static int go[2], done[2];

static void wait_for_end(const int *pipe) {
    char byte;
    if (read(pipe[0], &byte, 1) != 0) {
        stop("a pipe does not end");
    }
}

static bool is_child(void) {
    pid_t child = fork();
    if (child < 0) {
        stop("cannot fork");
    }
    if (child == 0) {
        close(go[1]);
    }
    return child == 0;
}

static void work_on(const struct program *program) {
    work(program, 20000);
    end(program);
    _exit(0);
}

static bool wants_copy, is_copy;

static void visit(void *context, eden_visit *visit) {
    (void)context;
    (void)visit;
    is_copy = is_copy || (wants_copy && is_child());
    wants_copy = false;
}

static void allocate_large(const struct program *program) {
    if (eden_new_raw(program->mutator, program->raw, 1000000) == EDEN_NONE) {
        stop("no memory");
    }
}

/* As many collections as the other heap has had. */
static void collect_likewise(const struct program *program, const eden_figures *other) {
    for (uint64_t i = 0; i < other->scavenges + other->full_collections; i++) {
        eden_scavenge(program->mutator);
    }
}

static void copy_heap(void) {
    struct program program = begin(), next;
    eden_visitor_add(program.heap, visit, NULL);
    work(&program, 20000);
    if (is_child()) {
        exit(0); /* ends the heap */
    }
    if (is_child()) {
        if (is_child()) {
            wait_for_end(go);
            work_on(&program);
        }
        _exit(0);
    }
    wants_copy = true;
    work(&program, 20000);
    if (is_copy) {
        work_on(&program);
    }
    allocate_large(&program);
    if (is_child()) {
        wait_for_end(go);
        allocate_large(&program);
        work_on(&program);
    }
    work(&program, 40000);
    if (is_child()) {
        wait_for_end(go);
        work_on(&program);
    }
    eden_figures now;
    eden_heap_figures(program.heap, &now);
    eden_heap_destroy(program.heap);
    next = begin();
    if (next.heap != program.heap) {
        fprintf(stderr, "children: the second heap has another address\n");
    }
    collect_likewise(&next, &now);
    close(go[1]);
    close(done[1]);
    wait_for_end(done);
    end(&next);
}

/* What visits first is the scavenge that belongs to the collection. */
static void copy_in_full_collection(void) {
    struct program program = begin();
    eden_visitor_add(program.heap, visit, NULL);
    work(&program, 20000);
    wants_copy = true;
    eden_full_collect(program.mutator);
    if (is_copy) {
        work_on(&program);
    }
    wait(NULL);
    end(&program);
}

static int become(void *arguments) {
    char **argv = arguments;
    usleep(300000); /* for a look at it */
    execvp(argv[0], argv);
    _exit(1);
}

static void share_memory(char **argv) {
    static char stack[65536] __attribute__((aligned(16)));
    struct program program = begin();
    wait_for_line();
    reap(clone(become, stack + sizeof stack, CLONE_VM | CLONE_VFORK | SIGCHLD, argv));
    end(&program);
}

int main(int argc, char **argv) {
    const char *mode = argc > 1 ? argv[1] : "";
    int count = argc > 2 ? atoi(argv[2]) : 1;
    if (strcmp(mode, "spawn") == 0) {
        spawn(count, argc > 3 ? argv[3] : NULL);
    } else if (strcmp(mode, "before") == 0) {
        fork_before_heap(count, argc > 3 ? atoi(argv[3]) : 20000);
    } else if (strcmp(mode, "fork") == 0) {
        fork_with_heap(count);
    } else if (strcmp(mode, "copies") == 0 && pipe(go) == 0 && pipe(done) == 0) {
        copy_heap();
    } else if (strcmp(mode, "pause") == 0 && pipe(go) == 0) {
        copy_in_full_collection();
    } else if (strcmp(mode, "exec") == 0) {
        struct program program = begin();
        work(&program, 20000);
        execvp(argv[2], argv + 2);
    } else if (strcmp(mode, "vfork") == 0) {
        share_memory(argv + 2);
    } else if (strcmp(mode, "wait") == 0) {
        struct program program = begin();
        work(&program, wait_for_line() ? 20000 : 0);
        end(&program);
        wait_for_line();
    } else if (strcmp(mode, "stay") == 0) {
        struct program program = begin();
        work(&program, wait_for_line() ? 20000 : 0);
        wait_for_line();
        end(&program);
    } else {
        one(argc > 2 ? count : 20000);
    }
    return 0;
}
