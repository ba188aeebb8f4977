#include "util/fold.h"
#include "util/terminal.h"
#include "util/text.h"
#include <ctype.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* The length of what a line begins with, and its columns: a character, or a sequence that sets a style (style.c), which
 * has none. */
static size_t step(const char *text, size_t length, unsigned *columns) {
    size_t bytes = 1;
    int32_t point;
    *columns = 1;
    if (text[0] == '\x1b') {
        while (bytes < length && text[bytes] != 'm') {
            bytes++;
        }
        *columns = 0;
        return bytes < length ? bytes + 1 : length;
    }
    bytes = text_decode(text, &point);
    if (bytes == 0 || bytes > length) {
        return 1;
    }
    *columns = text_columns(text, bytes);
    return bytes;
}

/* How far the blanks, or the word, reach from `at` on. */
static size_t piece(const char *line, size_t at, size_t length, bool blanks, unsigned *columns) {
    size_t end = at;
    *columns = 0;
    for (unsigned wide; end < length && (line[end] == ' ') == blanks; *columns += wide) {
        end += step(line + end, length - end, &wide);
    }
    return end;
}

/* Whether " ms", or another unit, follows a number that ends here. */
static bool has_unit(const char *line, size_t at, size_t length) {
    static const char *const units[] = {"ns", "us", "ms", "s", "B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
    if (at == 0 || at + 1 >= length || !isdigit((unsigned char)line[at - 1]) || line[at] != ' ') {
        return false;
    }
    for (size_t i = 0; i < sizeof units / sizeof *units; i++) {
        const size_t end = at + 1 + strlen(units[i]);
        if (end <= length && memcmp(line + at + 1, units[i], end - at - 1) == 0 &&
            (end == length || !isalnum((unsigned char)line[end]))) {
            return true;
        }
    }
    return false;
}

/* The word that begins at `at`; a number and its unit are one. */
static size_t word_end(const char *line, size_t at, size_t length, unsigned *columns) {
    size_t end = piece(line, at, length, false, columns);
    if (has_unit(line, end, length)) {
        unsigned more;
        end = piece(line, end + 1, length, false, &more);
        *columns += 1 + more;
    }
    return end;
}

/* Where further lines begin. */
static unsigned indent_of(const char *line, size_t length, unsigned columns) {
    const size_t mark = length > 0 && line[0] == '#';
    unsigned wide, column, indent;
    size_t at = piece(line, mark, length, true, &column);
    column += (unsigned)mark;
    indent = column > 0 ? column : 2; /* so that it is not taken for a line of its own */
    while (at < length) {
        at = piece(line, at, length, false, &wide);
        column += wide;
        at = piece(line, at, length, true, &wide);
        column += wide;
        indent = wide >= 2 && column <= columns / 2 ? column : indent;
    }
    return indent < columns / 2 ? indent : 2;
}

/* indent 0: as the line says. */
static void fold(FILE *out, const char *line, size_t length, unsigned columns, unsigned indent) {
    const bool is_note = length > 0 && line[0] == '#';
    unsigned blanks, wide, column = 0, begun = 0;
    for (size_t at = 0, word, end; at < length; at = end) {
        word = piece(line, at, length, true, &blanks);
        end = word_end(line, word, length, &wide);
        if (columns != 0 && column > begun && column + blanks + wide > columns) {
            indent = indent ? indent : indent_of(line, length, columns);
            fprintf(out, "\n%s%*s", is_note ? "#" : "", (int)indent - is_note, "");
            column = begun = indent;
        } else {
            fwrite(line + at, 1, word - at, out);
            column += blanks;
            begun = at == 0 ? column + is_note : begun;
        }
        fwrite(line + word, 1, end - word, out);
        column += wide;
    }
    fputc('\n', out);
}

void fold_line(FILE *out, const char *line, size_t length, unsigned columns) { fold(out, line, length, columns, 0); }

void fold_paragraph(FILE *out, const char *lead, const char *format, ...) {
    const unsigned terminal = terminal_columns(out);
    char *text = NULL, *line = NULL;
    va_list arguments;
    va_start(arguments, format);
    const bool has_text = vasprintf(&text, format, arguments) >= 0;
    va_end(arguments);
    const int length = has_text ? asprintf(&line, "%s%s", lead, text) : -1;
    if (length >= 0) {
        fold(out, line, (size_t)length, terminal && terminal < FOLD_PARAGRAPH ? terminal : FOLD_PARAGRAPH,
             text_columns(lead, strlen(lead)));
    }
    if (has_text) {
        free(text);
    }
    if (length >= 0) {
        free(line);
    }
}
