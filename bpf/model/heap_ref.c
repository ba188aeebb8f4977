#include "model/heap_ref.h"
#include <inttypes.h>
#include <stdio.h>

char *heap_number_text(char text[HEAP_NUMBER], uint64_t id, uint64_t suffix) {
    int length = id ? snprintf(text, HEAP_NUMBER, "%" PRIu64, id) : snprintf(text, HEAP_NUMBER, "?");
    if (suffix) {
        snprintf(text + length, (size_t)(HEAP_NUMBER - length), "#%" PRIu64, suffix);
    }
    return text;
}
