/* finalizer: files are closed when the objects that stand for them have died.
 *
 * Each File object has a guardian, an ephemeron with the object as its key. When a collection finds the key dead, the
 * guardian joins the queue of mourners, from which the program takes it (eden_mourn_next) and closes the file. The
 * queue keeps what is in it alive: a program that never drains it leaks. */
#include <eden/eden.h>

#include <stdio.h>

enum { FILES = 100 };
enum { KEY, FILE_NUMBER, GUARDIAN_SLOTS };

struct program {
    eden_class file, guardian;
    eden_value guardians; /* a root: what keeps the guardians alive until their keys die; by file number */
    FILE *open[FILES];
};

/* A new File object in *result, a root. Both allocations may collect. */
static bool open_file(eden_mutator *m, struct program *program, int number, eden_value *result) {
    *result = eden_new(m, program->file);
    eden_value guardian = *result == EDEN_NONE ? EDEN_NONE : eden_new(m, program->guardian);
    program->open[number] = guardian == EDEN_NONE ? NULL : fopen("/dev/null", "r");
    if (program->open[number] == NULL) {
        return false;
    }
    eden_slot_set(m, *result, 0, eden_int(number));
    eden_slot_set(m, guardian, KEY, *result);
    eden_slot_set(m, guardian, FILE_NUMBER, eden_int(number));
    eden_slot_set(m, program->guardians, (size_t)number, guardian);
    return true;
}

/* Called where the program is ready for it: finalizers run then, never within a collection. How many files it closed.
 */
static int close_dead_files(eden_mutator *m, struct program *program) {
    int closed = 0;
    for (eden_value dead = eden_mourn_next(m); dead != EDEN_NONE; dead = eden_mourn_next(m)) {
        size_t number = (size_t)eden_int_value(eden_slot(dead, FILE_NUMBER));
        closed += fclose(program->open[number]) == 0;
        program->open[number] = NULL;
        eden_slot_set(m, program->guardians, number, EDEN_NONE);
    }
    return closed;
}

static bool run(eden_heap *heap, eden_mutator *m) {
    static struct program program;
    eden_class array = eden_class_define(heap, &(eden_class_definition){"Array", EDEN_FORMAT_VARIABLE, 0}, NULL);
    program.file = eden_class_define(heap, &(eden_class_definition){"File", EDEN_FORMAT_FIXED, 1}, NULL);
    program.guardian =
        eden_class_define(heap, &(eden_class_definition){"Guardian", EDEN_FORMAT_EPHEMERON, GUARDIAN_SLOTS}, NULL);
    if (array == 0 || program.file == 0 || program.guardian == 0 || !eden_root_add(heap, &program.guardians)) {
        return false;
    }
    program.guardians = eden_new_slots(m, array, FILES);
    EDEN_FRAME(m, local, 2);
    for (int i = 0; program.guardians != EDEN_NONE && i < FILES; i++) {
        if (!open_file(m, &program, i, &local[0])) {
            return false;
        }
        local[1] = i == 7 ? local[0] : local[1]; /* the only one in use */
    }
    local[0] = EDEN_NONE;
    eden_full_collect(m);
    printf("%zu in the queue\n", eden_mourn_count(m));
    printf("%d closed\n", close_dead_files(m, &program));
    printf("%zu in the queue\n", eden_mourn_count(m));
    local[1] = EDEN_NONE;
    eden_full_collect(m);
    printf("%d closed\n", close_dead_files(m, &program));
    return true;
}

int main(void) {
    eden_error error;
    eden_heap *heap = eden_heap_create(&(eden_options){.name = "finalizer"}, &error);
    eden_mutator *m = heap == NULL ? NULL : eden_mutator_attach(heap, &error);
    if (m == NULL) {
        fprintf(stderr, "finalizer: %s\n", error.message);
        return 1;
    }
    bool ok = run(heap, m);
    eden_heap_destroy(heap);
    return ok ? 0 : 1;
}
