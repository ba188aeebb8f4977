#include "reader.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

uint8_t reader_byte(struct reader_input *input) { return input->at < input->end ? *input->at++ : 0; }

static uint64_t take_word(struct reader_input *input) {
    uint64_t word = 0;
    for (int i = 0; i < 8; i++) {
        word = word << 8 | reader_byte(input);
    }
    return word;
}

uint64_t reader_number(struct reader_input *input) {
    uint8_t form = reader_byte(input);
    switch (form % 4) {
    case 0:
        return form >> 2;
    case 1:
        return (1ull << (form >> 2)) - 1;
    case 2:
        return (1ull << (form >> 2)) + reader_byte(input) % 3;
    default:
        return take_word(input);
    }
}

const void *reader_bytes(struct reader_input *input, size_t most, size_t *size) {
    size_t wanted = reader_byte(input);
    const void *at = input->at;
    size_t left = (size_t)(input->end - input->at);
    wanted = wanted < most ? wanted : most;
    *size = wanted < left ? wanted : left;
    input->at += *size;
    return at;
}

void reader_change(struct reader_input *input, void *bytes, size_t size, uint8_t most) {
    for (int changes = reader_byte(input) % (most + 1); changes > 0; changes--) {
        size_t place = reader_byte(input);
        place = (place << 8 | reader_byte(input)) % size;
        size_t width = (size_t)1 << reader_byte(input) % 4;
        uint64_t number = reader_number(input);
        memcpy((char *)bytes + place, &number, width < size - place ? width : size - place);
    }
}

int reader_file(const void *bytes, size_t size) {
    int fd = memfd_create("reader", MFD_CLOEXEC);
    if (fd < 0 || write(fd, bytes, size) != (ssize_t)size || lseek(fd, 0, SEEK_SET) != 0) {
        abort();
    }
    return fd;
}

/* The stream alone: file descriptor 2 stays. */
void reader_be_quiet(void) {
    FILE *nowhere = fopen("/dev/null", "we");
    if (nowhere) {
        stderr = nowhere;
    }
}
