#include "text.h"
#include <stdbool.h>
#include <string.h>
#include <utf8proc.h>

enum { PIECE = 16 }; /* the longest form of a character is \u{10ffff} */

size_t text_decode(const char *text, int32_t *point) {
    /* Reads no further than the NUL, which continues no sequence. */
    utf8proc_ssize_t length = *text ? utf8proc_iterate((const utf8proc_uint8_t *)text, -1, point) : 0;
    return length > 0 ? (size_t)length : 0;
}

/* Whether it is shown, and does nothing else. What Unicode calls ignorable shows nothing: variation selectors, fillers,
 * tags. A mark joins the character before it, so it can't be the first. */
static bool is_plain(int32_t point, bool is_first) {
    switch (utf8proc_category(point)) {
    case UTF8PROC_CATEGORY_CN: /* not assigned, not a character */
    case UTF8PROC_CATEGORY_CC: /* C0, DEL, C1 */
    case UTF8PROC_CATEGORY_CF: /* bidirectional, zero-width */
    case UTF8PROC_CATEGORY_CS: /* surrogates */
    case UTF8PROC_CATEGORY_CO: /* private use */
    case UTF8PROC_CATEGORY_ZL:
    case UTF8PROC_CATEGORY_ZP:
        return false;
    default:
        return !utf8proc_get_property(point)->ignorable && !(is_first && utf8proc_charwidth(point) == 0);
    }
}

/* Writes the form of the first character of text, which has one; returns the character's length. */
static size_t escape_one(char piece[PIECE], const char *text, bool is_first, const char *unwanted) {
    int32_t point;
    size_t length = text_decode(text, &point);
    if (length == 1 && *text == '\\') {
        memcpy(piece, "\\\\", 3);
    } else if (length > 1 && !is_plain(point, is_first)) {
        snprintf(piece, PIECE, "\\u{%x}", (unsigned)point);
    } else if (length == 0 || !is_plain(point, is_first) || strchr(unwanted, *text)) {
        length = 1;
        snprintf(piece, PIECE, "\\x%02x", (unsigned char)*text);
    } else {
        memcpy(piece, text, length);
        piece[length] = '\0';
    }
    return length;
}

/* Returns how many columns were written; *end is where. */
static unsigned escape(char *to, size_t size, const char *text, unsigned most, const char *unwanted, char **end) {
    unsigned columns = 0;
    char piece[PIECE];
    *end = to;
    for (bool is_first = true; *text; is_first = false) {
        text += escape_one(piece, text, is_first, unwanted);
        size_t length = strlen(piece), left = size - (size_t)(*end - to);
        unsigned width = text_columns(piece);
        if (length >= left || columns + width > most) {
            break;
        }
        memcpy(*end, piece, length);
        *end += length;
        columns += width;
    }
    **end = '\0';
    return columns;
}

char *text_escape(char *to, size_t size, const char *text, const char *unwanted) {
    char *end;
    escape(to, size, text, UINT32_MAX / 2, unwanted, &end);
    return to;
}

char *text_column(char *to, size_t size, const char *text, unsigned least, unsigned most) {
    char *end;
    unsigned columns = escape(to, size, text, most, "", &end);
    for (; columns < least && end + 1 < to + size; columns++) {
        *end++ = ' ';
    }
    *end = '\0';
    return to;
}

unsigned text_columns(const char *form) {
    unsigned columns = 0;
    int32_t point;
    for (size_t length; (length = text_decode(form, &point)) > 0; form += length) {
        columns += (unsigned)utf8proc_charwidth(point);
    }
    return columns;
}

void text_print(FILE *out, const char *text) {
    char piece[PIECE];
    for (bool is_first = true; *text; is_first = false) {
        text += escape_one(piece, text, is_first, "");
        fputs(piece, out);
    }
}

/* Length of the UTF-8 sequence at text, 0 where there is none. */
static size_t utf8_length(const unsigned char *text, size_t left) {
    static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
    size_t length = text[0] < 0x80 ? 1 : text[0] >> 5 == 6 ? 2 : text[0] >> 4 == 14 ? 3 : text[0] >> 3 == 30 ? 4 : 0;
    if (length < 2 || length > left) {
        return length == 1;
    }
    uint32_t point = text[0] & (0x7fu >> length);
    for (size_t i = 1; i < length; i++) {
        if (text[i] >> 6 != 2) {
            return 0;
        }
        point = point << 6 | (text[i] & 0x3fu);
    }
    bool surrogate = point >= 0xd800 && point < 0xe000;
    return point < least[length] || point > 0x10ffff || surrogate ? 0 : length;
}

size_t text_to_utf8(char *to, size_t size, const char *text, size_t most) {
    size_t length = strnlen(text, most < size - 1 ? most : size - 1);
    for (size_t i = 0; i < length;) {
        size_t sequence = utf8_length((const unsigned char *)text + i, length - i);
        if (sequence == 0) {
            to[i++] = '?';
            continue;
        }
        memcpy(to + i, text + i, sequence);
        i += sequence;
    }
    to[length] = '\0';
    return length;
}

/* Control characters beyond ASCII (U+0080 to U+009F), and the two of three bytes that no text may hold (U+FFFE and
 * U+FFFF: XML forbids them). */
static size_t unfit_sequence(const unsigned char *text) {
    if (text[0] == 0xc2 && text[1] < 0xa0) {
        return 2;
    }
    return text[0] == 0xef && text[1] == 0xbf && text[2] >= 0xbe ? 3 : 0;
}

size_t text_to_line(char *to, size_t size, const char *text, size_t most, const char *unwanted) {
    size_t length = text_to_utf8(to, size, text, most);
    for (size_t i = 0; i < length; i++) {
        unsigned char c = (unsigned char)to[i];
        size_t unfit = unfit_sequence((const unsigned char *)to + i);
        if (unfit != 0) {
            memset(to + i, '?', unfit);
        } else if (c < 32 || c == 127 || strchr(unwanted, c)) {
            to[i] = '?';
        }
    }
    return length;
}
