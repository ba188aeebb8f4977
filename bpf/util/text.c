#include "util/text.h"
#include <stdbool.h>
#include <string.h>
#include <utf8proc.h>

size_t text_decode(const char *text, int32_t *point) {
    /* Reads no further than the NUL, which continues no sequence. */
    utf8proc_ssize_t length = *text ? utf8proc_iterate((const utf8proc_uint8_t *)text, -1, point) : 0;
    return length > 0 ? (size_t)length : 0;
}

/* Whether it is shown, and does nothing else. What Unicode calls ignorable shows nothing: variation selectors, fillers,
 * tags. A mark joins the character before it, so it can't be the first. */
static bool is_plain(int32_t point, bool is_first) {
    if (point < 0x80) {
        return point >= 0x20 && point < 0x7f;
    }
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

size_t text_piece(char piece[TEXT_PIECE], const char *text, bool is_first, const char *unwanted) {
    int32_t point;
    size_t length = text_decode(text, &point);
    bool is_shown = length > 0 && is_plain(point, is_first);
    memcpy(piece, text, length);
    piece[length] = '\0';
    if (*text == '\\') {
        memcpy(piece, "\\\\", 3);
    } else if (!is_shown || strstr(unwanted, piece)) {
        snprintf(piece, TEXT_PIECE, length > 1 ? "\\u{%x}" : "\\x%02x",
                 length > 0 ? (unsigned)point : (unsigned char)*text);
    }
    return length > 0 ? length : 1;
}

/* Returns how many columns were written; *end is where. */
static unsigned escape(char *to, size_t size, const char *text, unsigned most, const char *unwanted, char **end) {
    unsigned columns = 0;
    char piece[TEXT_PIECE];
    *end = to;
    for (bool is_first = true; *text; is_first = false) {
        text += text_piece(piece, text, is_first, unwanted);
        size_t length = strlen(piece), left = size - (size_t)(*end - to);
        unsigned width = text_columns(piece, length);
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

char *text_column(char *to, size_t size, const char *text, const char *unwanted, unsigned least, unsigned most) {
    char *end;
    unsigned columns = escape(to, size, text, most, unwanted, &end);
    for (; columns < least && end + 1 < to + size; columns++) {
        *end++ = ' ';
    }
    *end = '\0';
    return to;
}

unsigned text_columns(const char *form, size_t length) {
    unsigned columns = 0;
    int32_t point;
    for (size_t at = 0, next; at < length && (next = text_decode(form + at, &point)) > 0; at += next) {
        columns += (unsigned)utf8proc_charwidth(point);
    }
    return columns;
}

/* Of a character, or of what stands for one. */
static size_t form_length(const char *form) {
    int32_t point;
    return *form != '\\' ? text_decode(form, &point) : form[1] == 'u' ? strcspn(form, "}") + 1 : form[1] == 'x' ? 4 : 2;
}

char *text_copy(char *to, size_t size, const char *form) {
    size_t length = 0;
    for (size_t next; form[length] && length + (next = form_length(form + length)) < size;) {
        length += next;
    }
    memcpy(to, form, length);
    to[length] = '\0';
    return to;
}

size_t text_fitting(const char *form, size_t length, unsigned most, unsigned *columns) {
    size_t fits = 0;
    *columns = 0;
    while (fits < length) {
        const size_t next = form_length(form + fits);
        const unsigned wide = text_columns(form + fits, next);
        if (next == 0 || fits + next > length || *columns + wide > most) {
            break;
        }
        fits += next;
        *columns += wide;
    }
    return fits;
}

void text_print(FILE *out, const char *text) {
    char piece[TEXT_PIECE];
    for (bool is_first = true; *text; is_first = false) {
        text += text_piece(piece, text, is_first, "");
        fputs(piece, out);
    }
}
