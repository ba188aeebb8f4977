#include "program.h"

#include <errno.h>
#include <getopt.h>
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
    return true;
}

static bool read_number(const struct program *program, struct program_number *number, const char *text) {
    char *end;
    errno = 0;
    int64_t value = strtoll(text, &end, 10);
    if (errno != 0 || end == text || *end != '\0' || value < number->least || value > number->most) {
        fprintf(stderr, "%s: --%s=%s: must be a whole number from %lld to %lld\n", program->name, number->name, text,
                (long long)number->least, (long long)number->most);
        return false;
    }
    number->value = value;
    return true;
}

enum { MOST_NUMBERS = 16, FIRST_NUMBER = 256 };

/* -1: go on, else the exit status. */
static int read_arguments(struct program *program, int argc, char **argv) {
    struct option options[MOST_NUMBERS + 4] = {
        {"json", no_argument, NULL, 'j'}, {"verify", no_argument, NULL, 'v'}, {"help", no_argument, NULL, 'h'}};
    for (size_t i = 0; i < program->number_count && i < MOST_NUMBERS; i++) {
        options[3 + i] = (struct option){program->numbers[i].name, required_argument, NULL, FIRST_NUMBER + (int)i};
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
    return ok ? 0 : 1;
}
