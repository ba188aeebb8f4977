/* What a form of output may hold of foreign text: checks made without the code under test, for tests of all forms. */
#ifndef EDEN_TESTS_FORMS_H
#define EDEN_TESTS_FORMS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* Decodes one character of UTF-8 after RFC 3629; 0: there is none. */
static inline size_t form_decode(const unsigned char *at, size_t left, uint32_t *point) {
    static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
    size_t length = at[0] < 0x80 ? 1 : at[0] >> 5 == 6 ? 2 : at[0] >> 4 == 14 ? 3 : at[0] >> 3 == 30 ? 4 : 0;
    if (length == 0 || length > left) {
        return 0;
    }
    *point = length == 1 ? at[0] : at[0] & (0x7fu >> length);
    for (size_t i = 1; i < length; i++) {
        if (at[i] >> 6 != 2) {
            return 0;
        }
        *point = *point << 6 | (at[i] & 0x3fu);
    }
    return *point < least[length] || *point > 0x10ffff || (*point >= 0xd800 && *point < 0xe000) ? 0 : length;
}

static inline bool form_valid(const char *text) {
    uint32_t point;
    size_t left = strlen(text), length = 1;
    for (; left > 0 && (length = form_decode((const unsigned char *)text, left, &point)) > 0; left -= length) {
        text += length;
    }
    return length > 0;
}

/* Characters that steer a terminal, hide text or change its order. */
static inline bool form_forbids(uint32_t point) {
    static const uint32_t ranges[][2] = {
        {0, 0x1f},          {0x7f, 0x9f},       {0xad, 0xad},         {0x61c, 0x61c},   {0x180e, 0x180e},
        {0x200b, 0x200f},   {0x2028, 0x202e},   {0x2060, 0x206f},     {0xd800, 0xdfff}, {0xe000, 0xf8ff},
        {0xfe00, 0xfe0f},   {0xfeff, 0xfeff},   {0xfff9, 0xfffb},     {0xfdd0, 0xfdef}, {0x1d173, 0x1d17a},
        {0xe0000, 0xe0fff}, {0xf0000, 0xffffd}, {0x100000, 0x10fffd},
    };
    for (size_t i = 0; i < sizeof ranges / sizeof *ranges; i++) {
        if (point >= ranges[i][0] && point <= ranges[i][1]) {
            return true;
        }
    }
    return (point & 0xfffe) == 0xfffe;
}

/* The first byte that a form may not hold, `size` where there is none. `kept`: ASCII control characters that are the
 * form's own. */
static inline size_t form_check(const char *text, size_t size, const char *kept) {
    uint32_t point;
    for (size_t at = 0, length; at < size; at += length) {
        length = form_decode((const unsigned char *)text + at, size - at, &point);
        bool own = false;
        for (const char *c = kept; length == 1 && *c; c++) {
            own = own || point == (unsigned char)*c;
        }
        if (length == 0 || (form_forbids(point) && !own)) {
            return at;
        }
    }
    return size;
}

static inline size_t form_encode(char *to, uint32_t point) {
    size_t length = point < 0x80 ? 1 : point < 0x800 ? 2 : point < 0x10000 ? 3 : 4;
    for (size_t i = length - 1; i > 0; i--, point >>= 6) {
        to[i] = (char)(0x80 | (point & 0x3f));
    }
    to[0] = (char)(length == 1 ? point : (0xf00u >> length & 0xff) | point);
    return length;
}

/* Reads text.h's form back to what it was, which `to` gets; returns its length. */
static inline size_t form_read(char *to, const char *form) {
    char *at = to;
    while (*form) {
        char *end = NULL, digits[3] = {0};
        if (*form != '\\') {
            *at++ = *form++;
        } else if (form[1] == 'x') {
            digits[0] = form[2];
            digits[1] = form[3];
            *at++ = (char)strtoul(digits, NULL, 16);
            form += 4;
        } else if (form[1] == 'u') {
            at += form_encode(at, (uint32_t)strtoul(form + 3, &end, 16));
            form = end + 1;
        } else {
            *at++ = form[1];
            form += 2;
        }
    }
    *at = '\0';
    return (size_t)(at - to);
}

#endif
