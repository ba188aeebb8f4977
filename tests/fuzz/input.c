/* Inputs for fuzzers that are guided by coverage: files of bytes, any bytes. The first chooses an option set (plan.c,
 * pairs.c); each 17 that follow are an event, its number and its four operands. */
#include "fuzz.h"

enum { OPERAND_BYTES = 16, EVENT_BYTES = 1 + OPERAND_BYTES };

struct input decode_input(const unsigned char *bytes, size_t size) {
    struct input input = {.option_set = size == 0 ? 0 : bytes[0] % option_sets()};
    input.count = size == 0 ? 0 : (size - 1) / EVENT_BYTES;
    input.count = input.count < MAX_EVENTS ? input.count : MAX_EVENTS;
    input.events = need(calloc(input.count + 1, sizeof *input.events));
    for (size_t i = 0; i < input.count; i++) {
        const unsigned char *at = bytes + 1 + i * EVENT_BYTES;
        input.events[i].op = at[0];
        memcpy(&input.events[i].a, at + 1, OPERAND_BYTES);
    }
    return input;
}

static bool write_input(const char *path, const struct input *input) {
    FILE *file = fopen(path, "wb");
    if (file == NULL) {
        return false;
    }
    fputc((int)input->option_set, file);
    for (size_t i = 0; i < input->count; i++) {
        fputc((int)(input->events[i].op % 64), file);
        fwrite(&input->events[i].a, OPERAND_BYTES, 1, file);
    }
    return fclose(file) == 0;
}

static bool read_input(const char *path, struct input *input) {
    static unsigned char bytes[1 + MAX_EVENTS * EVENT_BYTES];
    FILE *file = fopen(path, "rb");
    if (file == NULL) {
        return false;
    }
    size_t size = fread(bytes, 1, sizeof bytes, file);
    bool ok = ferror(file) == 0;
    fclose(file);
    *input = decode_input(bytes, size);
    return ok;
}

int run_input(const char *path) {
    struct input input;
    char how[80], shorter[4096];
    if (!read_input(path, &input)) {
        perror(path);
        return 2;
    }
    const struct option_set *set = option_set(input.option_set);
    use_option_set(set);
    bool failed = fails(input.events, input.count, false, how, sizeof how);
    if (!failed) {
        printf("%s: %zu events with '%s': no fault\n", path, input.count, set->options);
    } else {
        printf("%s fails: %s, with EDEN_OPTIONS='%s'. Again: heap-fuzz --input %s\n", path, how, set->options, path);
        input.count = explain(input.events, input.count);
        snprintf(shorter, sizeof shorter, "%s.shrunk", path);
        if (write_input(shorter, &input)) {
            printf("again: heap-fuzz --input %s\n", shorter);
        } else {
            perror(shorter);
        }
    }
    free(input.events);
    return failed ? 1 : 0;
}

int write_corpus(const char *folder, uint64_t first, uint64_t seeds, size_t count) {
    struct input input = {.count = count, .events = need(malloc(count * sizeof *input.events))};
    char path[4096];
    int status = 0;
    for (uint64_t seed = first; seed < first + seeds && status == 0; seed++) {
        input.option_set = seed % option_sets();
        make_events(input.events, count, seed);
        snprintf(path, sizeof path, "%s/seed-%llu", folder, (unsigned long long)seed);
        if (!write_input(path, &input)) {
            perror(path);
            status = 2;
        }
    }
    free(input.events);
    return status;
}
