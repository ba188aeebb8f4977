/* The script goes through a socket; the chart and complaints go to files in memory, so that gnuplot can't block.
 *
 * Names come from the traced process, and gnuplot's language can start programs. Its single-quoted strings expand
 * nothing, and a name can leave one only by a quote or a newline; a doubled quote stands for one, but not at the
 * beginning of a string (5.4). So names come in text.h's form, which is one printable line; quotes become typographic
 * ones, and for good measure backquotes are written out. -d keeps the user's start-up files out. */
#include "util/plot.h"
#include "util/text.h"
#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

bool plot_begin(struct plot *plot, int width, int height, struct failure *why) {
    *plot = (struct plot){0};
    plot->script = open_memstream(&plot->text, &plot->size);
    if (!plot->script) {
        return failure_set(why, 1, "out of memory for a chart");
    }
    fprintf(plot->script,
            "set encoding utf8\nset terminal svg size %d,%d noenhanced background rgb 'white' font 'sans,12'\n", width,
            height);
    return true;
}

enum { TITLE_MOST = 60, TICK_MOST = 28 }; /* characters, beyond which "..." */

/* Cuts UTF-8 after a number of characters. */
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

/* A gnuplot that has died is no reason for SIGPIPE. */
static bool send_all(int socket, const char *text, size_t size) {
    while (size > 0) {
        ssize_t length = send(socket, text, size, MSG_NOSIGNAL);
        if (length < 0 && errno == EINTR) {
            continue;
        }
        if (length <= 0) {
            return false;
        }
        text += length;
        size -= (size_t)length;
    }
    return true;
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

static void close_plotter(const struct plotter *plotter) {
    const int files[] = {plotter->script, plotter->chart, plotter->complaint};
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        if (files[i] >= 0) {
            close(files[i]);
        }
    }
}

/* Above 2 in any case: one that is 0, 1 or 2 itself would be overwritten by another, or closed on exec. */
static int above_standard(int file) {
    int moved = file < 0 ? -1 : fcntl(file, F_DUPFD_CLOEXEC, 3);
    if (file >= 0) {
        close(file);
    }
    return moved;
}

/* In a process group of its own: ^C is for the tool, which still wants its chart. */
static int spawn(pid_t *child, const int files[3]) {
    static char name[] = "gnuplot", defaults[] = "-d", input[] = "-";
    char *const arguments[] = {name, defaults, input, NULL};
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    int error = posix_spawn_file_actions_init(&actions);
    if (error) {
        return error;
    }
    error = posix_spawnattr_init(&attributes);
    for (int i = 0; i < 3 && error == 0; i++) {
        error = posix_spawn_file_actions_adddup2(&actions, files[i], i);
    }
    if (error == 0) {
        error = posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP);
        error = error ? error : posix_spawnp(child, name, &actions, &attributes, arguments, environ);
        posix_spawnattr_destroy(&attributes);
    }
    posix_spawn_file_actions_destroy(&actions);
    return error;
}

bool plotter_start(struct plotter *plotter, struct failure *why) {
    int ends[2] = {-1, -1};
    int error = socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) == 0 ? 0 : errno;
    int input = above_standard(ends[0]);
    *plotter = (struct plotter){.child = -1,
                                .script = above_standard(ends[1]),
                                .chart = above_standard(memfd_create("edenscope-chart", MFD_CLOEXEC)),
                                .complaint = above_standard(memfd_create("edenscope-plot", MFD_CLOEXEC))};
    if (error == 0) {
        const int files[3] = {input, plotter->chart, plotter->complaint};
        bool all = input >= 0 && plotter->script >= 0 && plotter->chart >= 0 && plotter->complaint >= 0;
        error = all ? spawn(&plotter->child, files) : EMFILE;
    }
    if (input >= 0) {
        close(input);
    }
    if (error == 0) {
        return true;
    }
    close_plotter(plotter);
    if (error == ENOENT) {
        return failure_set(why, 1,
                           "charts need gnuplot, which is not installed; install it (on Debian: apt-get install "
                           "gnuplot-nox), or choose a text view");
    }
    return failure_set(why, 1, "cannot start gnuplot: %s", strerror(error));
}

static bool draw(const struct plotter *plotter, const struct plot *plot, struct failure *why) {
    int status = 0;
    bool sent = send_all(plotter->script, plot->text, plot->size);
    shutdown(plotter->script, SHUT_WR);
    while (waitpid(plotter->child, &status, 0) < 0) {
        if (errno != EINTR) {
            return failure_set(why, 1, "cannot wait for gnuplot: %m");
        }
    }
    if (!sent || !WIFEXITED(status) || WEXITSTATUS(status) != 0) {
        char complaint[8192];
        read_complaint(plotter->complaint, complaint, sizeof complaint);
        return failure_set(why, 1, "gnuplot failed to draw the chart: %.256s",
                           complaint[0] ? complaint : "no error message");
    }
    return true;
}

bool plot_end(struct plot *plot, struct plotter *plotter, FILE *out, struct failure *why) {
    struct plotter own;
    bool good =
        (fflush(plot->script) == 0 && !ferror(plot->script)) || failure_set(why, 1, "out of memory for a chart");
    good = good && (plotter || plotter_start(&own, why));
    if (good) {
        plotter = plotter ? plotter : &own;
        good = draw(plotter, plot, why) &&
               (copy(plotter->chart, out) > 0 || failure_set(why, 1, "gnuplot printed no chart"));
        close_plotter(plotter);
    }
    plot_clear(plot);
    return good;
}
