/* Runs a reader on its seeds, on files, and on a fixed number of mutations of them: the same each time.
 *
 *     reader-NAME [--runs N] [--seed S] [FILE...]        reader-NAME --corpus FOLDER
 *
 * Mutations are made by a generator of random numbers that begins with S (1): flipped bits, other bytes, copied and
 * removed parts, the end of another input. An input that ends the process, or takes more than 60 seconds, is written to
 * the file NAME.finding in the folder READER_FINDINGS, or /tmp. --corpus writes the seeds to files, for libFuzzer. */
#include "reader.h"
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MOST_INPUT = 1 << 16, MOST_INPUTS = 1024, LIMIT_SECONDS = 60 };

struct input {
    uint8_t *bytes;
    size_t size;
};

static struct input inputs[MOST_INPUTS];
static size_t input_count;
static struct input current;
static const char *program, *folder;
static uint64_t state = 1;

void __sanitizer_set_death_callback(void (*callback)(void)) __attribute__((weak));

static uint32_t draw(size_t limit) {
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return limit ? (uint32_t)(state >> 16) % (uint32_t)limit : 0;
}

static void write_whole(const char *path, const struct input *input) {
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
    if (fd < 0 || write(fd, input->bytes, input->size) != (ssize_t)input->size) {
        perror(path);
        _exit(2);
    }
    close(fd);
}

/* Called during a crash: allocates nothing. */
static void keep_finding(void) {
    static char path[512];
    const char *findings = getenv("READER_FINDINGS");
    const char *name = strrchr(program, '/');
    snprintf(path, sizeof path, "%s/%s.finding", findings ? findings : "/tmp", name ? name + 1 : program);
    write_whole(path, &current);
    dprintf(1, "%s: the input is in %s\n", program, path);
}

static void on_signal(int number) {
    keep_finding();
    signal(number, SIG_DFL);
    raise(number);
}

static void seed(const void *bytes, size_t size) {
    if (input_count < MOST_INPUTS && size <= MOST_INPUT) {
        struct input *input = &inputs[input_count++];
        input->bytes = malloc(size + 1);
        input->size = size;
        memcpy(input->bytes, bytes, size);
    }
}

static void read_input(const char *path) {
    static uint8_t bytes[MOST_INPUT];
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t size = fd < 0 ? -1 : read(fd, bytes, sizeof bytes);
    if (size < 0) {
        perror(path);
        exit(2);
    }
    seed(bytes, (size_t)size);
    close(fd);
}

static void mutate_once(struct input *input) {
    const struct input *other = &inputs[draw(input_count)];
    size_t at = draw(input->size + 1), from = draw(other->size + 1), count = draw(1 + draw(64));
    switch (draw(6)) {
    case 0:
        if (at < input->size) {
            input->bytes[at] ^= (uint8_t)(1u << draw(8));
        }
        break;
    case 1:
        if (at < input->size) {
            static const uint8_t notable[] = {0, 1, 0x7f, 0x80, 0xfe, 0xff, ' ', '\n', '"', ',', '=', '%', '$'};
            input->bytes[at] = draw(2) ? notable[draw(sizeof notable)] : (uint8_t)draw(256);
        }
        break;
    case 2: /* remove */
        count = count < input->size - at ? count : input->size - at;
        memmove(input->bytes + at, input->bytes + at + count, input->size - at - count);
        input->size -= count;
        break;
    case 3: /* insert from another */
        count = count < other->size - from ? count : other->size - from;
        if (input->size + count <= MOST_INPUT) {
            memmove(input->bytes + at + count, input->bytes + at, input->size - at);
            memcpy(input->bytes + at, other->bytes + from, count);
            input->size += count;
        }
        break;
    case 4: /* cut, or end as another does */
        input->size = at;
        if (draw(2) && at + other->size - from <= MOST_INPUT) {
            memcpy(input->bytes + at, other->bytes + from, other->size - from);
            input->size += other->size - from;
        }
        break;
    default:
        for (size_t i = at; i < input->size && i < at + count; i++) {
            input->bytes[i] = (uint8_t)draw(256);
        }
    }
}

static void run(const struct input *input) {
    /* A copy of its own size: what is read beyond its end is found. */
    uint8_t *bytes = malloc(input->size ? input->size : 1);
    memcpy(bytes, input->bytes, input->size);
    current = (struct input){bytes, input->size};
    alarm(LIMIT_SECONDS);
    LLVMFuzzerTestOneInput(bytes, input->size);
    alarm(0);
    free(bytes);
}

static int write_corpus(void) {
    for (size_t i = 0; i < input_count; i++) {
        char path[512];
        snprintf(path, sizeof path, "%s/seed-%03zu", folder, i);
        write_whole(path, &inputs[i]);
    }
    return 0;
}

int main(int argc, char **argv) {
    unsigned long runs = reader_runs;
    program = argv[0];
    reader_seeds(seed);
    for (int i = 1; i < argc; i++) {
        const char *word = i + 1 < argc ? argv[i + 1] : "";
        if (strcmp(argv[i], "--runs") == 0) {
            runs = strtoul(word, NULL, 10);
            i++;
        } else if (strcmp(argv[i], "--seed") == 0) {
            state = strtoull(word, NULL, 10) * 0x9e3779b97f4a7c15ull | 1;
            i++;
        } else if (strcmp(argv[i], "--corpus") == 0) {
            folder = word;
            i++;
        } else {
            read_input(argv[i]);
        }
    }
    if (folder) {
        return write_corpus();
    }
    if (__sanitizer_set_death_callback) {
        __sanitizer_set_death_callback(keep_finding);
    } else {
        signal(SIGSEGV, on_signal);
    }
    signal(SIGABRT, on_signal);
    signal(SIGALRM, on_signal);
    for (size_t i = 0; i < input_count; i++) {
        run(&inputs[i]);
    }
    static uint8_t bytes[MOST_INPUT];
    for (unsigned long i = 0; i < runs && input_count; i++) {
        const struct input *from = &inputs[draw(input_count)];
        struct input input = {bytes, from->size};
        memcpy(bytes, from->bytes, from->size);
        for (uint32_t j = 1 + draw(8); j > 0; j--) {
            mutate_once(&input);
        }
        run(&input);
    }
    printf("%zu inputs and %lu mutations, no finding\n", input_count, runs);
    return 0;
}
