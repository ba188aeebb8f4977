#include "util/json.h"
#include "util/text.h"
#include <stdlib.h>
#include <string.h>

static bool is_short; /* of the process: so are jansson's functions that allocate */

static void *allocate(size_t bytes) {
    void *memory = malloc(bytes);
    is_short = is_short || (!memory && bytes != 0);
    return memory;
}

json_t *json_text(const char *text, size_t most) {
    static const char replacement[] = "\xef\xbf\xbd";
    size_t bytes = strnlen(text, most);
    char *whole = allocate(bytes + 1), *clean = allocate(bytes * strlen(replacement) + 1), *to = clean;
    if (whole && clean) {
        *(char *)mempcpy(whole, text, bytes) = 0;
        int32_t point;
        for (const char *at = whole; *at;) {
            size_t length = text_decode(at, &point);
            to = mempcpy(to, length ? at : replacement, length ? length : strlen(replacement));
            at += length ? length : 1;
        }
    }
    json_t *json = whole && clean ? json_stringn(clean, (size_t)(to - clean)) : NULL;
    free(clean);
    free(whole);
    return json;
}

json_t *json_name(const char *name, size_t most) { return name[0] ? json_text(name, most) : json_null(); }

json_t *json_number(uint64_t value) {
    return value <= INT64_MAX ? json_integer((json_int_t)value) : json_real((double)value);
}

json_t *json_known(uint64_t number) { return number ? json_number(number) : json_null(); }

void json_watch_memory(void) { json_set_alloc_funcs(allocate, free); }

bool json_is_whole(void) { return !is_short; }

struct writing {
    FILE *out;
    const char *unwanted; /* characters that can only be part of a string, and are written out */
};

static int print_piece(const char *piece, size_t size, void *context) {
    const struct writing *writing = context;
    for (const char *end = piece + size; piece < end;) {
        size_t length = 0;
        while (piece + length < end && !strchr(writing->unwanted, piece[length])) {
            length++;
        }
        bool is_cut = piece + length < end;
        if (fwrite(piece, 1, length, writing->out) != length ||
            (is_cut && fprintf(writing->out, "\\u%04x", (unsigned char)piece[length]) < 0)) {
            return -1;
        }
        piece += length + is_cut;
    }
    return 0;
}

static bool write_without(FILE *out, const json_t *json, const char *unwanted) {
    struct writing writing = {out, unwanted};
    is_short = is_short || !json;
    return json && !is_short && json_dump_callback(json, print_piece, &writing, JSON_COMPACT | JSON_ENSURE_ASCII) == 0;
}

/* jansson leaves DEL as it is. */
bool json_write(FILE *out, const json_t *json) { return write_without(out, json, "\177"); }

bool json_write_for_html(FILE *out, const json_t *json) { return write_without(out, json, "\177<>&"); }

bool json_print(FILE *out, const json_t *json) { return json_write(out, json) && fputc('\n', out) != EOF; }

bool json_print_as(FILE *out, const char *schema, json_t *object) {
    json_t *whole = json_pack("{s:s}", "schema", schema);
    bool good = json_object_update(whole, object) == 0 && json_print(out, whole);
    json_decref(whole);
    json_decref(object);
    return good;
}
