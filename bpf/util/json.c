#include "util/json.h"
#include "util/text.h"
#include <stdlib.h>
#include <string.h>

json_t *json_text(const char *text, size_t most) {
    static const char replacement[] = "\xef\xbf\xbd";
    char *whole = strndup(text, most);
    char *clean = whole ? malloc(strlen(whole) * strlen(replacement) + 1) : NULL, *to = clean;
    int32_t point;
    for (const char *at = whole; clean && *at;) {
        size_t length = text_decode(at, &point);
        to = mempcpy(to, length ? at : replacement, length ? length : strlen(replacement));
        at += length ? length : 1;
    }
    json_t *json = clean ? json_stringn(clean, (size_t)(to - clean)) : NULL;
    free(clean);
    free(whole);
    return json;
}

json_t *json_number(uint64_t value) {
    return value <= INT64_MAX ? json_integer((json_int_t)value) : json_real((double)value);
}

/* jansson leaves DEL as it is, which can only be part of a string. */
static int print_piece(const char *piece, size_t size, void *out) {
    for (const char *end = piece + size; piece < end;) {
        const char *delete = memchr(piece, 127, (size_t)(end - piece));
        size_t length = (size_t)((delete ? delete : end) - piece);
        if (fwrite(piece, 1, length, out) != length || (delete &&fputs("\\u007f", out) == EOF)) {
            return -1;
        }
        piece += length + (delete != NULL);
    }
    return 0;
}

bool json_write(FILE *out, const json_t *json) {
    return json && json_dump_callback(json, print_piece, out, JSON_COMPACT | JSON_ENSURE_ASCII) == 0;
}

bool json_print(FILE *out, const json_t *json) { return json_write(out, json) && fputc('\n', out) != EOF; }
