#include "util/array.h"
#include <stdlib.h>
#include <string.h>

enum { FIRST_ROOM = 16 };

void *array_grow(void *array, size_t *room, size_t count, size_t bytes) {
    char *at;
    memcpy(&at, array, sizeof at);
    if (!at || count == *room) {
        size_t more = at && *room ? 2 * *room : FIRST_ROOM;
        at = reallocarray(at, more, bytes);
        if (!at) {
            return NULL;
        }
        memcpy(array, &at, sizeof at);
        *room = more;
    }
    return at + count * bytes;
}
