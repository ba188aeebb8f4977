#include "program.h"

#include <errno.h>
#include <getopt.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

bool program_fail(struct program *program, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(program->error, sizeof program->error, format, arguments);
    va_end(arguments);
    return false;
}

bool program_exhausted(struct program *program, eden_mutator *mutator) {
    return program_fail(program, "the heap is exhausted: %s", eden_last_error(mutator)->message);
}

bool program_verify(struct program *program, eden_mutator *mutator) {
    eden_error error = {0};
    return !program->verify || eden_heap_verify(eden_mutator_heap(mutator), &error) ||
           program_fail(program, "the heap is corrupt: %s", error.message);
}

bool program_flush(struct program *program) {
    return fflush(stdout) == 0 || program_fail(program, "the result can't be written: %m");
}

enum { KEPT_CHUNK = 1024 };

eden_value program_keep(struct program *program, eden_mutator *mutator, eden_value object) {
    uint32_t index = eden_index_of(object);
    if (index >= program->is_kept_size || !program->is_kept[index]) {
        return object;
    }
    EDEN_FRAME(mutator, local, 1);
    local[0] = object;
    if (program->kept == EDEN_NONE || program->kept_count == KEPT_CHUNK) {
        eden_value chunk = eden_new_slots(mutator, program->kept_class, KEPT_CHUNK);
        if (chunk == EDEN_NONE) {
            return EDEN_NONE;
        }
        eden_slot_set(mutator, chunk, 0, program->kept);
        program->kept = chunk;
        program->kept_count = 1;
    }
    eden_slot_set(mutator, program->kept, program->kept_count++, local[0]);
    return local[0];
}

/* Marks the classes of this name. False: there is none. */
static bool keep_name(struct program *program, const char *name, size_t length,
                      const eden_class_definition *definitions, size_t class_count, const eden_class *classes) {
    bool found = false;
    for (size_t i = 0; i < class_count; i++) {
        if (strncmp(definitions[i].name, name, length) == 0 && definitions[i].name[length] == '\0') {
            program->is_kept[eden_class_index(classes[i])] = true;
            found = true;
        }
    }
    return found;
}

/* Prepares program_kept for the classes, and the sites, that --keep-class names. */
static bool keep_named(struct program *program, eden_heap *heap, const eden_class_definition *definitions,
                       size_t class_count, const eden_class *classes, const struct program_site *site_definitions,
                       size_t site_count, const eden_class *sites) {
    eden_error error = {0};
    program->kept_class = eden_class_define(heap, &(eden_class_definition){"Kept", EDEN_FORMAT_VARIABLE, 0}, &error);
    if (program->kept_class == 0) {
        return program_fail(program, "the heap can't be made: %s", error.message);
    }
    program->is_kept_size = eden_class_index(program->kept_class);
    program->is_kept = calloc(program->is_kept_size, sizeof *program->is_kept);
    if (program->is_kept == NULL || !eden_root_add(heap, &program->kept)) {
        return program_fail(program, "no memory to keep instances");
    }
    const char *name = program->keep_class;
    for (size_t length = strcspn(name, ",");; name += length + 1, length = strcspn(name, ",")) {
        if (!keep_name(program, name, length, definitions, class_count, classes)) {
            program->is_misused = true;
            return program_fail(program,
                                "--keep-class=%s: %.*s is no class of this program (edenscope lifetimes lists them)",
                                program->keep_class, (int)length, name);
        }
        if (name[length] == '\0') {
            break;
        }
    }
    for (size_t i = 0; i < site_count; i++) {
        program->is_kept[eden_class_index(sites[i])] =
            program->is_kept[eden_class_index(classes[site_definitions[i].class])];
    }
    return true;
}

bool program_define(struct program *program, eden_heap *heap, const eden_class_definition *definitions,
                    size_t class_count, eden_class *classes, const struct program_site *site_definitions,
                    size_t site_count, eden_class *sites) {
    eden_error error = {0};
    for (size_t i = 0; i < class_count; i++) {
        classes[i] = eden_class_define(heap, &definitions[i], &error);
        if (classes[i] == 0) {
            return program_fail(program, "the heap can't be made: %s", error.message);
        }
    }
    for (size_t i = 0; i < site_count; i++) {
        sites[i] = eden_site_define(heap, classes[site_definitions[i].class], site_definitions[i].name, &error);
        if (sites[i] == 0) {
            return program_fail(program, "the heap can't be made: %s", error.message);
        }
    }
    return program->keep_class == NULL ||
           keep_named(program, heap, definitions, class_count, classes, site_definitions, site_count, sites);
}

static bool read_number(const struct program *program, struct program_number *number, const char *text) {
    char *end;
    errno = 0;
    long long unit = number->is_fraction ? 1000 : 1;
    int64_t value = number->is_fraction ? llround(strtod(text, &end) * 1000) : strtoll(text, &end, 10);
    if (errno != 0 || end == text || *end != '\0' || value < number->least || value > number->most) {
        fprintf(stderr, "%s: --%s=%s: must be a %snumber from %lld to %lld\n", program->name, number->name, text,
                number->is_fraction ? "" : "whole ", number->least / unit, number->most / unit);
        return false;
    }
    number->value = value;
    return true;
}

enum { MOST_NUMBERS = 16, FIRST_NUMBER = 256 };

/* -1: go on, else the exit status. */
static int read_arguments(struct program *program, int argc, char **argv) {
    struct option options[MOST_NUMBERS + 5] = {
        {"json", no_argument, NULL, 'j'}, {"verify", no_argument, NULL, 'v'}, {"help", no_argument, NULL, 'h'}};
    size_t used = 3;
    if (program->can_keep) {
        options[used++] = (struct option){"keep-class", required_argument, NULL, 'k'};
    }
    for (size_t i = 0; i < program->number_count && i < MOST_NUMBERS; i++) {
        options[used++] = (struct option){program->numbers[i].name, required_argument, NULL, FIRST_NUMBER + (int)i};
    }
    int option = 0;
    /* One thread, here and before any heap. NOLINTNEXTLINE(concurrency-mt-unsafe) */
    while ((option = getopt_long(argc, argv, "h", options, NULL)) != -1) {
        switch (option) {
        case 'j':
            program->json = true;
            break;
        case 'v':
            program->verify = true;
            break;
        case 'k':
            program->keep_class = optarg;
            break;
        case 'h':
            return fputs(program->usage, stdout) == EOF || fflush(stdout) != 0 ? 1 : 0;
        default:
            if (option < FIRST_NUMBER || !read_number(program, &program->numbers[option - FIRST_NUMBER], optarg)) {
                return 2;
            }
            break;
        }
    }
    program->operand_count = argc - optind;
    if (program->operand_count < program->operand_least || program->operand_count > program->operand_most) {
        fputs(program->usage, stderr);
        return 2;
    }
    program->operands = argv + optind;
    return -1;
}

int program_main(struct program *program, int argc, char **argv) {
    int status = read_arguments(program, argc, argv);
    if (status >= 0) {
        return status;
    }
    if (program->prepare != NULL && !program->prepare(program)) {
        fprintf(stderr, "%s: %s\n", program->name, program->error);
        return 2;
    }
    eden_error error = {0};
    eden_options options = {.name = program->name, .parameters = program->parameters};
    eden_heap *heap = eden_heap_create(&options, &error);
    eden_mutator *mutator = heap == NULL ? NULL : eden_mutator_attach(heap, &error);
    bool ok = mutator == NULL ? program_fail(program, "the heap can't be made: %s", error.message)
                              : program->run(program, mutator);
    if (!ok) {
        fprintf(stderr, "%s: %s\n", program->name, program->error);
    }
    eden_heap_destroy(heap);
    free(program->is_kept);
    return ok ? 0 : program->is_misused ? 2 : 1;
}
