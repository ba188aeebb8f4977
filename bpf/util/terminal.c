#include "util/terminal.h"
#include "util/stream.h"
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

enum { FIRST = STDOUT_FILENO, TERMINALS = 2 };

/* By descriptor, from FIRST on. They are the process's, as its standard files are. */
static struct terminal {
    unsigned columns;
    bool is_there, has_color;
} terminals[TERMINALS];

static unsigned columns_of(int fd) {
    enum { LEAST = 10, MOST = 10000 };
    struct winsize size;
    const char *text = getenv("COLUMNS");
    if (ioctl(fd, TIOCGWINSZ, &size) != 0) {
        return 0;
    }
    const unsigned long said = text && size.ws_col == 0 ? strtoul(text, NULL, 10) : size.ws_col;
    return said >= LEAST && said <= MOST ? (unsigned)said : 0;
}

static bool wants_color(void) {
    const char *no = getenv("NO_COLOR"), *kind = getenv("TERM");
    return !(no && *no) && kind && *kind && strcmp(kind, "dumb") != 0;
}

void terminal_begin(void) {
    for (int i = 0; i < TERMINALS; i++) {
        const bool is_there = isatty(FIRST + i);
        terminals[i] = (struct terminal){is_there ? columns_of(FIRST + i) : 0, is_there, is_there && wants_color()};
        stream_fold(FIRST + i, is_there);
    }
}

void terminal_leave_output(void) {
    terminals[STDOUT_FILENO - FIRST] = terminals[STDERR_FILENO - FIRST];
    stream_fold(STDOUT_FILENO, terminals[STDOUT_FILENO - FIRST].is_there);
}

/* NULL: another file, or one in the place of these, as while messages are held. */
static struct terminal *terminal_of(const FILE *out) {
    const int fd = stream_descriptor(out);
    return fd >= FIRST ? &terminals[fd - FIRST] : NULL;
}

unsigned terminal_columns(const FILE *out) {
    struct terminal *terminal = terminal_of(out);
    if (!terminal || !terminal->is_there) {
        return 0;
    }
    const unsigned now = columns_of(FIRST + (int)(terminal - terminals));
    terminal->columns = now ? now : terminal->columns;
    return terminal->columns;
}

bool terminal_set_color(const char *when) {
    const bool is_auto = strcmp(when, "auto") == 0, is_always = strcmp(when, "always") == 0;
    for (int i = 0; i < TERMINALS; i++) {
        terminals[i].has_color = is_auto ? terminals[i].is_there && wants_color() : is_always;
    }
    return is_auto || is_always || strcmp(when, "never") == 0;
}

bool terminal_has_color(const FILE *out) {
    const struct terminal *terminal = terminal_of(out);
    return terminal && terminal->has_color;
}

void terminal_fold(bool folds) {
    if (terminals[0].is_there) {
        fflush(stdout);
        stream_fold(STDOUT_FILENO, folds);
    }
}
