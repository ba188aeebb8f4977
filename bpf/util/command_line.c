#include "util/command_line.h"
#include "util/text.h"
#include <stdlib.h>
#include <string.h>

/* The length of the character at `at`, which stands for itself on a terminal; 0: it does not. */
static size_t shown_length(const char *at) {
    char piece[TEXT_PIECE];
    size_t length = text_piece(piece, at, true, "");
    return *at == '\\' || strncmp(piece, at, strlen(piece)) == 0 ? length : 0;
}

static bool is_shown(const char *word) {
    size_t length = 1;
    for (; *word && (length = shown_length(word)) > 0; word += length) {
    }
    return length > 0;
}

static void print_word(FILE *out, const char *word) {
    static const char plain[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_@%+=:,./-";
    bool shown = is_shown(word);
    if (*word && strspn(word, plain) == strlen(word)) {
        fputs(word, out);
        return;
    }
    fputs(shown ? "'" : "$'", out);
    while (*word) {
        size_t length = shown_length(word);
        if (*word == '\'') {
            fputs(shown ? "'\\''" : "\\'", out);
        } else if (length > 0) {
            fputs(*word == '\\' && !shown ? "\\" : "", out);
            fwrite(word, 1, length, out);
        } else {
            fprintf(out, "\\x%02x", (unsigned char)*word);
        }
        word += length > 0 ? length : 1;
    }
    fputc('\'', out);
}

char *command_line_text(char *const *command) {
    char *text = NULL;
    size_t size;
    FILE *out = command ? open_memstream(&text, &size) : NULL;
    for (char *const *word = command; out && *word; word++) {
        fputs(word != command ? " " : "", out);
        print_word(out, *word);
    }
    if (out && fclose(out) != 0) {
        free(text);
        text = NULL;
    }
    return text;
}

void command_line_print(FILE *out, const char *line) {
    is_shown(line) ? (void)fputs(line, out) : text_print(out, line);
}
