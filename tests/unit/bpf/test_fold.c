/* Lines and tables that are made to fit, at each width: nothing is longer, nothing is lost, and numbers stay whole. The
 * widths are those of a terminal that is standard output for the time of a test. */
#include "util/fold.h"
#include "util/sheet.h"
#include "util/stream.h"
#include "util/terminal.h"
#include "util/text.h"
#include <fcntl.h>
#include <pty.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "suite.h"

/* ---- lines ------------------------------------------------------------------------------------------------------ */

static const char *folded(const char *line, unsigned columns) {
    static char text[4096];
    memset(text, 0, sizeof text);
    FILE *out = fmemopen(text, sizeof text, "w");
    assert_non_null(out);
    fold_line(out, line, strlen(line), columns);
    fclose(out);
    return text;
}

TEST(fold_leaves_what_fits) {
    assert_string_equal(folded("", 10), "\n");
    assert_string_equal(folded("    two  words  ", 16), "    two  words  \n");
    assert_string_equal(folded("as long as it likes to be", 0), "as long as it likes to be\n");
}

TEST(fold_goes_on_below_the_text) {
    assert_string_equal(folded("one two three four", 10), "one two\n  three\n  four\n");
    assert_string_equal(folded("  -o FILE    write to it, and to no other", 30),
                        "  -o FILE    write to it, and\n             to no other\n");
    assert_string_equal(folded("  a long name of a thing      its value", 20),
                        "  a long name of a\n  thing      its\n  value\n");
    assert_string_equal(folded("# a note of many words", 12), "# a note of\n# many words\n");
    assert_string_equal(folded("#   A: Some Class Name", 14), "#   A: Some\n#   Class Name\n");
}

TEST(fold_keeps_words_and_numbers_with_units) {
    assert_string_equal(folded("see /a/path/that/is/longer than it", 12), "see\n  /a/path/that/is/longer\n  than it\n");
    assert_string_equal(folded("it took 12.5 ms, in all", 12), "it took\n  12.5 ms,\n  in all\n");
    assert_string_equal(folded("it had 12 msgs in", 13), "it had 12\n  msgs in\n");
    assert_string_equal(folded("up to 3 KiB", 8), "up to\n  3 KiB\n");
}

TEST(fold_counts_columns) {
    assert_string_equal(folded("\xe4\xb8\xad\xe6\x96\x87 \xe4\xb8\xad\xe6\x96\x87 x", 9),
                        "\xe4\xb8\xad\xe6\x96\x87 \xe4\xb8\xad\xe6\x96\x87\n  x\n");
    assert_string_equal(folded("\x1b[1mone\x1b[0m \x1b[33mtwo\x1b[0m six", 7),
                        "\x1b[1mone\x1b[0m \x1b[33mtwo\x1b[0m\n  six\n");
    assert_string_equal(folded("\xff\xff \xff\xff", 4), "\xff\xff\n  \xff\xff\n");
}

TEST(fold_never_exceeds_nor_loses) {
    static const char line[] =
        "  name of it     12.5 ms of 3 s, and more words of which some are short, some long enough";
    for (unsigned columns = 20; columns <= 100; columns++) {
        char words[4096] = "", text[4096];
        snprintf(text, sizeof text, "%s", folded(line, columns));
        for (char *at = text, *rest, *row; (row = strtok_r(at, "\n", &rest)); at = NULL) {
            assert_true(text_columns(row, strlen(row)) <= columns);
            char *in = row, *next;
            for (char *word; (word = strtok_r(in, " ", &next)); in = NULL) {
                strcat(strcat(words, word), " ");
            }
        }
        assert_string_equal(words,
                            "name of it 12.5 ms of 3 s, and more words of which some are short, some long enough ");
    }
}

static size_t fitting(const char *form, unsigned most, unsigned *columns) {
    return text_fitting(form, strlen(form), most, columns);
}

TEST(text_fitting_cuts_between_characters) {
    unsigned columns;
    assert_int_equal(fitting("abc", 5, &columns), 3);
    assert_int_equal(columns, 3);
    assert_int_equal(fitting("a\xe4\xb8\xad"
                             "b",
                             2, &columns),
                     1);
    assert_int_equal(fitting("ab\\x1b[31m", 5, &columns), 2);
    assert_int_equal(fitting("ab\\x1b[31m", 6, &columns), 6);
    assert_int_equal(fitting("a\\u{202e}b", 8, &columns), 1);
    assert_int_equal(fitting("e\xcc\x81x", 1, &columns), 3);
}

/* ---- tables ----------------------------------------------------------------------------------------------------- */

static const struct sheet_column columns[] = {{"Number", SHEET_NUMBER, 8, 1},    {"Name", SHEET_TEXT, 16, 2},
                                              {"Other name", SHEET_TEXT, 16, 2}, {"Bytes", SHEET_NUMBER, 10, 1},
                                              {"Time", SHEET_NUMBER, 10, 1},     {"Now", SHEET_WORDS, 0, 2}};
static const struct sheet_cell cells[] = {{"1,234", STYLE_PLAIN}, {"a name of twenty-one.", STYLE_PLAIN},
                                          {"short", STYLE_PLAIN}, {"12.5 MiB", STYLE_PLAIN},
                                          {"987 ms", STYLE_BAD},  {"in full.mark for 3.20 s", STYLE_PLAIN}};

struct screen {
    int ours, before;
    FILE *stdout_before;
    char text[4096];
};

/* Standard output is a terminal of so many columns until show() says what is on it; 0: it is a pipe. */
static void begin(struct screen *screen, unsigned columns_there) {
    int its, ends[2];
    struct winsize size = {.ws_row = 24, .ws_col = (unsigned short)columns_there};
    fflush(stdout);
    if (columns_there) {
        assert_int_equal(openpty(&screen->ours, &its, NULL, NULL, &size), 0);
    } else {
        assert_int_equal(pipe(ends), 0);
        screen->ours = ends[0];
        its = ends[1];
    }
    screen->before = dup(STDOUT_FILENO);
    screen->stdout_before = stdout;
    dup2(its, STDOUT_FILENO);
    close(its);
    stdout = stream_open(STDOUT_FILENO, _IOFBF);
    terminal_begin();
}

static const char *show(struct screen *screen) {
    size_t length = 0;
    terminal_fold(false);
    fclose(stdout);
    stdout = screen->stdout_before;
    fcntl(screen->ours, F_SETFL, O_NONBLOCK);
    for (ssize_t got; (got = read(screen->ours, screen->text + length, sizeof screen->text - 1 - length)) > 0;) {
        length += (size_t)got;
    }
    screen->text[length] = '\0';
    dup2(screen->before, STDOUT_FILENO);
    close(screen->before);
    close(screen->ours);
    for (char *to = screen->text, *from = to; (*to = *from); from++) {
        to += *from != '\r';
    }
    return screen->text;
}

static const char *table(struct screen *screen, unsigned columns_there) {
    begin(screen, columns_there);
    const struct sheet sheet = SHEET(stdout, "#", columns);
    sheet_heading(&sheet);
    sheet_row(&sheet, cells);
    return show(screen);
}

TEST(sheet_is_whole_in_a_pipe) {
    struct screen screen;
    assert_string_equal(
        table(&screen, 0),
        "#   Number  Name              Other name            Bytes       Time  Now\n"
        "     1,234  a name of twenty-one.  short              12.5 MiB     987 ms  in full.mark for 3.20 s\n");
}

TEST(sheet_cuts_the_widest_text_first) {
    struct screen screen;
    setenv("NO_COLOR", "1", 1);
    assert_string_equal(
        table(&screen, 96),
        "#   Number  Name              Other name            Bytes       Time  Now\n"
        "     1,234  a name of twenty-o…  short              12.5 MiB     987 ms  in full.mark for 3.20 s\n");
}

TEST(sheet_folds_rows_where_cutting_is_not_enough) {
    struct screen screen;
    setenv("NO_COLOR", "1", 1);
    assert_string_equal(table(&screen, 40), "#   Number  Name\n"
                                            "#    Other name            Bytes\n"
                                            "#          Time  Now\n"
                                            "     1,234  a name of twenty-one.\n"
                                            "     short              12.5 MiB\n"
                                            "         987 ms  in full.mark for 3.20 s\n");
}

TEST(sheet_fits_every_width) {
    struct screen screen;
    setenv("NO_COLOR", "1", 1);
    for (unsigned width = 30; width <= 130; width++) {
        char *text = (char *)table(&screen, width);
        assert_non_null(strstr(text, "1,234"));
        assert_non_null(strstr(text, "12.5 MiB"));
        assert_non_null(strstr(text, "987 ms"));
        assert_non_null(strstr(text, "3.20 s"));
        assert_true(strstr(text, "a name of twenty-one.") || strstr(text, "…"));
        for (char *rest, *row; (row = strtok_r(text, "\n", &rest)); text = NULL) {
            assert_true(text_columns(row, strlen(row)) <= width);
        }
    }
}

TEST(styles_go_around_texts_only) {
    struct screen screen;
    unsetenv("NO_COLOR");
    setenv("TERM", "xterm", 1);
    const char *text = table(&screen, 200);
    assert_non_null(strstr(text, "     \x1b[1;31m987 ms\x1b[0m  in"));
    assert_non_null(strstr(text, "#   \x1b[1mNumber\x1b[0m  \x1b[1mName\x1b[0m  "));
    setenv("TERM", "dumb", 1);
    assert_null(strchr(table(&screen, 200), '\x1b'));
}

TEST(streams_fold_lines_of_terminals) {
    struct screen screen;
    begin(&screen, 20);
    printf("a line that is begun ");
    fflush(stdout);
    printf("and ended later\nand one that has no end, as it were");
    assert_string_equal(show(&screen), "a line that is begun\n  and ended later\nand one that has no end, as it were");
    begin(&screen, 20);
    terminal_fold(false);
    printf("what is to be pasted stays as it is\n");
    terminal_fold(true);
    printf("what is for people is folded\n");
    assert_string_equal(show(&screen), "what is to be pasted stays as it is\nwhat is for people\n  is folded\n");
}
