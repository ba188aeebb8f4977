/* Files in memory take the place of pipes: neither side can block the other, and a gnuplot that dies early sends no
 * SIGPIPE.
 *
 * Names come from the traced process, and gnuplot's language can start programs. Its single-quoted strings expand
 * nothing, and a name can leave one only by a quote or a newline; a doubled quote stands for one, but not at the
 * beginning of a string (5.4). So names come in text.h's form, which is one printable line; quotes become typographic
 * ones, and for good measure backquotes are written out. -d keeps the user's start-up files out. */
#include "plot.h"
#include "text.h"
#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

bool plot_begin(struct plot *plot, int width, int height, struct failure *why) {
    *plot = (struct plot){0};
    plot->script = open_memstream(&plot->text, &plot->size);
    if (!plot->script) {
        return failure_set(why, 1, "no memory for a chart");
    }
    fprintf(plot->script,
            "set encoding utf8\nset terminal svg size %d,%d noenhanced background rgb 'white' font 'sans,12'\n", width,
            height);
    return true;
}

enum { TITLE_MOST = 60, TICK_MOST = 28 }; /* characters, beyond which "..." */

/* Cuts UTF-8 after so many characters. */
static void shorten(char *text, size_t most) {
    size_t count = 0;
    for (char *at = text; *at; at++) {
        bool starts = ((unsigned char)*at & 0xc0) != 0x80;
        if (starts && count++ == most && strlen(at) > 3) {
            memcpy(at, "...", sizeof "...");
            return;
        }
    }
}

static void print_literal(FILE *script, const char *form, bool is_format) {
    char line[512];
    text_copy(line, sizeof line, form);
    shorten(line, is_format ? TICK_MOST : TITLE_MOST);
    fputc('\'', script);
    for (const char *at = line; *at; at++) {
        /* XML forbids "]]>" in texts; gnuplot's SVG escapes & and <, but not >. */
        bool ends_data = *at == '>' && at - line >= 2 && at[-1] == ']' && at[-2] == ']';
        *at == '\''               ? (void)fputs("\u2019", script)
        : *at == '`' || ends_data ? (void)fprintf(script, "\\x%02x", (unsigned char)*at)
                                  : (void)fputc(*at, script);
        if (*at == '%' && is_format) {
            fputc('%', script);
        }
    }
    fputc('\'', script);
}

void plot_string(FILE *script, const char *form) { print_literal(script, form, false); }
void plot_tick(FILE *script, const char *form) { print_literal(script, form, true); }

void plot_clear(struct plot *plot) {
    if (plot->script) {
        fclose(plot->script);
    }
    free(plot->text);
    *plot = (struct plot){0};
}

static bool write_all(int fd, const char *text, size_t size) {
    while (size > 0) {
        ssize_t length = write(fd, text, size);
        if (length < 0 && errno == EINTR) {
            continue;
        }
        if (length <= 0) {
            return false;
        }
        text += length;
        size -= (size_t)length;
    }
    return lseek(fd, 0, SEEK_SET) == 0;
}

static ssize_t copy(int fd, FILE *out) {
    char piece[16384];
    ssize_t all = 0, length;
    for (off_t at = 0; (length = pread(fd, piece, sizeof piece, at)) > 0; at += length) {
        fwrite(piece, 1, (size_t)length, out);
        all += length;
    }
    return length < 0 ? -1 : all;
}

/* gnuplot repeats the script's line, points into it, and then says "line 12: what is wrong". */
static void read_complaint(int fd, char *text, size_t size) {
    static const char lead[] = "\n         line ";
    ssize_t length = pread(fd, text, size - 1, 0);
    text[length > 0 ? length : 0] = '\0';
    const char *line = strstr(text, lead);
    line = line ? line + strlen(lead) - strlen("line ") : text;
    memmove(text, line, strlen(line) + 1);
    text[strcspn(text, "\n")] = '\0';
}

static bool run(const int files[3], struct failure *why) {
    static char name[] = "gnuplot", defaults[] = "-d", input[] = "-";
    char *const arguments[] = {name, defaults, input, NULL};
    posix_spawn_file_actions_t actions;
    pid_t child;
    if (posix_spawn_file_actions_init(&actions) != 0) {
        return failure_set(why, 1, "no memory for a chart");
    }
    int error = 0;
    for (int i = 0; i < 3 && error == 0; i++) {
        error = posix_spawn_file_actions_adddup2(&actions, files[i], i);
    }
    error = error ? error : posix_spawnp(&child, name, &actions, NULL, arguments, environ);
    posix_spawn_file_actions_destroy(&actions);
    if (error == ENOENT) {
        return failure_set(why, 1,
                           "gnuplot, which draws the charts, is not installed; install it (on Debian: apt-get install "
                           "gnuplot-nox), or choose a view of text");
    }
    if (error != 0) {
        errno = error;
        return failure_set(why, 1, "gnuplot can't be started: %m");
    }
    int status = 0;
    while (waitpid(child, &status, 0) < 0) {
        if (errno != EINTR) {
            return failure_set(why, 1, "gnuplot can't be waited for: %m");
        }
    }
    if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) {
        char complaint[8192];
        read_complaint(files[2], complaint, sizeof complaint);
        return failure_set(why, 1, "gnuplot failed to draw the chart: %.256s",
                           complaint[0] ? complaint : "it did not say why");
    }
    return true;
}

bool plot_end(struct plot *plot, FILE *out, struct failure *why) {
    bool good = fflush(plot->script) == 0 && !ferror(plot->script);
    int files[3] = {-1, -1, -1};
    for (int i = 0; i < 3; i++) {
        /* Above 2 in any case: one that is 0, 1 or 2 itself would be overwritten by another, or closed on exec. */
        int fd = memfd_create("edenscope-plot", MFD_CLOEXEC);
        files[i] = fd < 0 ? -1 : fcntl(fd, F_DUPFD_CLOEXEC, 3);
        if (fd >= 0) {
            close(fd);
        }
        good = good && files[i] >= 0;
    }
    if (!good || !write_all(files[0], plot->text, plot->size)) {
        good = failure_set(why, 1, "no memory for a chart");
    } else {
        good = run(files, why);
    }
    if (good && copy(files[1], out) <= 0) {
        good = failure_set(why, 1, "gnuplot printed no chart");
    }
    for (int i = 0; i < 3; i++) {
        if (files[i] >= 0) {
            close(files[i]);
        }
    }
    plot_clear(plot);
    return good;
}
