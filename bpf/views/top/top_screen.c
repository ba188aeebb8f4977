#include "views/top/top_screen.h"
#include "util/format.h"
#include "util/interrupt.h"
#include "util/style.h"
#include "util/terminal.h"
#include "util/text.h"
#include "util/whole.h"
#include "views/phase_table.h"
#include <fcntl.h>
#include <inttypes.h>
#include <langinfo.h>
#include <locale.h>
#include <ncurses.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <termios.h>
#include <unistd.h>

enum { FRAME_LINES = 4, WIDEST = 512, CELL = WIDEST * TEXT_GROWTH };
enum { PAIR_WARM = 1, PAIR_HOT };

struct top_screen {
    SCREEN *terminal;
    FILE *out; /* standard output, as ncurses wants it: with a number */
    bool has_colours;
};

/* ---- the terminal ----------------------------------------------------------------------------------------------- */

/* ncurses also looks for descriptions of terminals where these lead, which may be a user's: root parses none of them.
 */
static SCREEN *open_terminal(FILE *out) {
    static const char *const names[] = {"HOME", "TERMINFO", "TERMINFO_DIRS"};
    enum { NAMES = sizeof names / sizeof *names };
    char *values[NAMES] = {NULL};
    for (size_t i = 0; i < NAMES && geteuid() == 0; i++) {
        const char *value = getenv(names[i]);
        values[i] = value ? strdup(value) : NULL;
        unsetenv(names[i]);
    }
    SCREEN *terminal = newterm(NULL, out, stdin);
    for (size_t i = 0; i < NAMES; i++) {
        if (values[i]) {
            setenv(names[i], values[i], 1);
            free(values[i]);
        }
    }
    return terminal;
}

/* What a signal handler gives back: a terminal that takes no output blocks its writers. */
static struct termios as_it_was;
static char last_words[128];

static void give_back(void) {
    struct pollfd output = {.fd = STDOUT_FILENO, .events = POLLOUT};
    if (poll(&output, 1, 0) == 1 && write(STDOUT_FILENO, last_words, strlen(last_words)) < 0) {
        last_words[0] = '\0'; /* it has gone */
    }
    tcsetattr(STDIN_FILENO, TCSANOW, &as_it_was);
}

static void keep_last_words(void) {
    static const char *const names[] = {"sgr0", "cnorm", "rmcup"};
    last_words[0] = '\0';
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const char *text = tigetstr(names[i]);
        if (text && text != (const char *)-1) {
            strncat(last_words, text, sizeof last_words - strlen(last_words) - 1);
        }
    }
}

bool top_screen_is_possible(struct failure *why) {
    return (isatty(STDIN_FILENO) && isatty(STDOUT_FILENO)) ||
           failure_set(why, 1, "top needs a terminal; `edenscope stat ... 1` prints lines");
}

struct top_screen *top_screen_open(struct failure *why) {
    struct top_screen *screen = calloc(1, sizeof *screen);
    if (!setlocale(LC_CTYPE, "") || strcmp(nl_langinfo(CODESET), "UTF-8") != 0) {
        setlocale(LC_CTYPE, "C.UTF-8"); /* as everything that is printed: ncurses must count the same columns */
    }
    const bool has_state = tcgetattr(STDIN_FILENO, &as_it_was) == 0;
    signal(SIGTSTP, SIG_IGN); /* ncurses would stop itself, which no rights are kept for */
    const int output = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, TOP_OTHER_FILE);
    FILE *out = output >= 0 ? fdopen(output, "w") : NULL;
    if (screen && out) {
        *screen = (struct top_screen){.terminal = open_terminal(out), .out = out};
    }
    if (!screen || !screen->terminal) {
        const char *kind = getenv("TERM");
        if (out) {
            fclose(out);
        }
        failure_set(why, 1, "cannot use the terminal (TERM=%s): there is no description of it, or no memory",
                    kind ? kind : "");
        free(screen);
        return NULL;
    }
    keep_last_words();
    interrupt_end_at_second(has_state ? give_back : NULL);
    cbreak();
    noecho();
    nonl();
    keypad(stdscr, TRUE);
    nodelay(stdscr, TRUE);
    set_escdelay(25);
    curs_set(0);
    screen->has_colours = terminal_has_color(stdout) && has_colors() && start_color() == OK;
    if (screen->has_colours) {
        use_default_colors();
        init_pair(PAIR_WARM, COLOR_YELLOW, -1);
        init_pair(PAIR_HOT, COLOR_RED, -1);
    }
    return screen;
}

void top_screen_close(struct top_screen *screen) {
    if (screen) {
        endwin();
        interrupt_end_at_second(NULL);
        delscreen(screen->terminal);
        fclose(screen->out);
        free(screen);
    }
}

size_t top_screen_lines(const struct top_screen *screen) {
    (void)screen;
    return LINES > FRAME_LINES ? (size_t)(LINES - FRAME_LINES) : 0;
}

/* A terminal that has gone is ready to read, and has nothing. */
static bool is_gone(void) {
    struct pollfd input = {.fd = STDIN_FILENO, .events = POLLIN};
    return poll(&input, 1, 0) == 1 && (input.revents & (POLLHUP | POLLERR | POLLNVAL)) != 0;
}

int top_screen_key(struct top_screen *screen) {
    (void)screen;
    int key = getch();
    switch (key) {
    case ERR:
        return is_gone() ? TOP_GONE : TOP_NONE;
    case '\r':
    case KEY_ENTER:
        return TOP_ENTER;
    case KEY_UP:
        return TOP_UP;
    case KEY_DOWN:
        return TOP_DOWN;
    case KEY_PPAGE:
        return TOP_PAGE_UP;
    case KEY_NPAGE:
        return TOP_PAGE_DOWN;
    case KEY_HOME:
        return TOP_HOME;
    case KEY_END:
        return TOP_END;
    case KEY_LEFT:
    case KEY_BACKSPACE:
    case '\b':
    case 127:
        return TOP_BACK;
    case KEY_RESIZE:
        return TOP_RESIZED;
    default:
        return key < TOP_UP ? key : TOP_OTHER;
    }
}

/* ---- columns ---------------------------------------------------------------------------------------------------- */

static void show_pid(char *text, size_t size, const struct top_row *row) {
    snprintf(text, size, "%" PRIu32, row->process->key.pid);
}

static void show_command(char *text, size_t size, const struct top_row *row) {
    text_escape(text, size, phase_table_command(row->process, row->heap), "");
}

static void show_name(char *text, size_t size, const struct top_row *row) {
    char number[HEAP_NUMBER];
    if (row->heaps > 1) {
        snprintf(text, size, "%zu heaps", row->heaps);
    } else if (row->heap->name[0]) {
        text_escape(text, size, row->heap->name, "");
    } else {
        snprintf(text, size, "#%s", heap_number_text(number, row->heap->id, row->heap->suffix));
    }
}

static void show_share(char *text, size_t size, const struct top_row *row) {
    snprintf(text, size, row->has_ended ? "-" : row->knows_share ? "%.1f" : "?", 100 * row->share);
}

static void show_ns(char *text, size_t size, uint64_t ns) {
    char number[FORMAT_MAX];
    snprintf(text, size, "%s", ns ? format_ns(number, ns) : "-");
}

static void show_p50(char *text, size_t size, const struct top_row *row) { show_ns(text, size, row->p50_ns); }
static void show_p99(char *text, size_t size, const struct top_row *row) { show_ns(text, size, row->p99_ns); }
static void show_longest(char *text, size_t size, const struct top_row *row) { show_ns(text, size, row->longest_ns); }

static void show_rate(char *text, size_t size, const struct top_row *row) {
    char number[FORMAT_MAX];
    bool is_known = row->allocated_per_s >= 0;
    snprintf(text, size, "%s", is_known ? format_bytes(number, whole_of(row->allocated_per_s)) : "?");
}

static void show_gauge(char *text, size_t size, const struct top_row *row, enum eden_figure figure, uint64_t bytes) {
    char number[FORMAT_MAX];
    snprintf(text, size, "%s", row->known >> figure & 1 ? format_bytes(number, bytes) : "?");
}

static void show_eden(char *text, size_t size, const struct top_row *row) {
    show_gauge(text, size, row, EDEN_FIGURE_eden_size, row->eden_size);
}

static void show_old(char *text, size_t size, const struct top_row *row) {
    show_gauge(text, size, row, EDEN_FIGURE_old_used, row->old_used);
}

enum { BAR = 12 };

/* How much of old space, as it is mapped, is in use. */
static void show_bar(char *text, size_t size, const struct top_row *row) {
    const uint64_t used = row->old_used, capacity = row->old_capacity, known = row->known;
    if (!(known >> EDEN_FIGURE_old_used & known >> EDEN_FIGURE_old_capacity & 1) || capacity == 0) {
        snprintf(text, size, "?");
        return;
    }
    double share = used < capacity ? (double)used / (double)capacity : 1;
    int full = (int)(share * (BAR - 2) + 0.5);
    snprintf(text, size, "[%.*s%.*s]", full, "##########", BAR - 2 - full, "          ");
}

static void show_now(char *text, size_t size, const struct top_row *row) {
    char now[PHASE_NOW_MAX];
    bool is_over = row->has_ended && !row->heap->collection.under_way;
    phase_table_add_stopped(phase_table_now(now, row->process, row->heap), (int)row->process->key.pid);
    snprintf(text, size, "%s", is_over ? "ended" : now);
}

struct column {
    const char *title;
    unsigned width, rank; /* rank: those of the highest are left out first */
    bool is_left;
    enum top_order order; /* TOP_ORDERS: the table cannot be sorted by it */
    void (*show)(char *text, size_t size, const struct top_row *row);
};

static const struct column columns[] = {
    {"PID", 7, 0, false, TOP_BY_PID, show_pid},
    {"COMMAND", 15, 1, true, TOP_ORDERS, show_command},
    {"HEAP", 12, 5, true, TOP_ORDERS, show_name},
    {"GC%", 5, 0, false, TOP_BY_SHARE, show_share},
    {"P50 <=", 7, 8, false, TOP_ORDERS, show_p50},
    {"P99 <=", 7, 2, false, TOP_BY_P99, show_p99},
    {"LONGEST", 7, 6, false, TOP_BY_LONGEST, show_longest},
    {"ALLOC/S", 9, 4, false, TOP_BY_RATE, show_rate},
    {"EDEN", 9, 9, false, TOP_ORDERS, show_eden},
    {"OLD", 9, 7, false, TOP_BY_OLD, show_old},
    {"OLD USED", BAR, 10, true, TOP_ORDERS, show_bar},
    {"NOW", 24, 3, true, TOP_ORDERS, show_now},
};
enum { COLUMNS_OF_TABLE = sizeof columns / sizeof *columns };

/* Which columns are shown: all below the rank that is returned; those of rank 0 are cut where even they do not fit. */
static unsigned fitting_rank(unsigned room) {
    enum { MOST_RANK = 10 };
    unsigned rank = 1;
    for (unsigned next = 2; next <= MOST_RANK + 1; next++) {
        unsigned needed = 0;
        for (size_t i = 0; i < COLUMNS_OF_TABLE; i++) {
            needed += columns[i].rank < next ? columns[i].width + 1 : 0;
        }
        if (needed > room + 1) {
            break;
        }
        rank = next;
    }
    return rank;
}

/* ---- drawing ---------------------------------------------------------------------------------------------------- */

/* A whole line, and no more. */
static void put_line(int line, attr_t look, const char *form, size_t length) {
    if (line < 0 || line >= LINES || COLS <= 0) {
        return;
    }
    unsigned used;
    attrset((int)look);
    mvaddnstr(line, 0, form, (int)text_fitting(form, length, (unsigned)COLS, &used));
    if (look & A_REVERSE) {
        chgat(-1, A_REVERSE, 0, NULL);
    }
    clrtoeol();
    attrset(A_NORMAL);
}

static void put_text(int line, attr_t look, const char *form) { put_line(line, look, form, strlen(form)); }

static void put_frame(const struct top_frame *frame) {
    erase();
    put_text(0, A_BOLD, frame->title);
    put_text(1, A_NORMAL, frame->note);
    put_text(LINES - 1, A_DIM, frame->keys);
}

static attr_t look_of(const struct top_screen *screen, const struct top_row *row, const struct column *column) {
    const bool is_share = column->show == show_share && row->knows_share && !row->has_ended;
    const enum style style = is_share ? style_of_share(row->share) : STYLE_PLAIN;
    if (style == STYLE_PLAIN) {
        return A_NORMAL;
    }
    const bool is_hot = style == STYLE_BAD;
    const attr_t look = is_hot ? A_BOLD : A_NORMAL;
    return screen->has_colours ? look | (attr_t)COLOR_PAIR(is_hot ? PAIR_HOT : PAIR_WARM) : look;
}

/* row NULL: the titles. */
static void put_row(const struct top_screen *screen, int line, unsigned rank, const struct top_table *table,
                    const struct top_row *row, attr_t look) {
    unsigned at = 0, room = (unsigned)COLS;
    put_text(line, look, "");
    for (size_t i = 0; i < COLUMNS_OF_TABLE; i++) {
        const struct column *column = &columns[i];
        char text[CELL];
        if (column->rank >= rank || at >= room) {
            continue;
        }
        snprintf(text, sizeof text, "%s", column->title);
        if (row) {
            column->show(text, sizeof text, row);
        }
        unsigned width = column->show == show_now && room - at > column->width ? room - at : column->width;
        width = width < room - at ? width : room - at;
        unsigned used;
        size_t bytes = text_fitting(text, strlen(text), width, &used);
        attr_t own = row ? look_of(screen, row, column)
                         : (attr_t)(table && column->order == table->order ? A_UNDERLINE : A_NORMAL);
        attrset((int)(look | own));
        mvaddnstr(line, (int)(at + (column->is_left ? 0 : width - used)), text, (int)bytes);
        at += width + 1;
    }
    attrset(A_NORMAL);
}

void top_screen_table(struct top_screen *screen, const struct top_frame *frame, const struct top_table *table) {
    const unsigned rank = fitting_rank((unsigned)COLS);
    put_frame(frame);
    put_row(screen, 2, rank, table, NULL, A_REVERSE);
    for (size_t i = 0; i < top_screen_lines(screen) && table->first + i < table->rows->count; i++) {
        size_t number = table->first + i;
        put_row(screen, 3 + (int)i, rank, table, &table->rows->at[number],
                number == table->selected ? A_REVERSE : A_NORMAL);
    }
    refresh();
}

void top_screen_text(struct top_screen *screen, const struct top_frame *frame, const char *text, size_t first) {
    size_t lines = top_screen_lines(screen), number = 0;
    put_frame(frame);
    for (const char *at = text; *at && number < first + lines; number++) {
        size_t length = strcspn(at, "\n");
        if (number >= first) {
            put_line(3 + (int)(number - first), A_NORMAL, at, length);
        }
        at += length + (at[length] != 0);
    }
    refresh();
}
