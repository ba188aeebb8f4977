/* The screen of `top`, drawn with ncurses: a table of heaps, or a text. Right at any size: columns that find no room
 * are left out, the least needed first, and what is too long is cut. */
#ifndef EDEN_TOP_SCREEN_H
#define EDEN_TOP_SCREEN_H

#include "util/failure.h"
#include "views/top/top_rows.h"

struct top_screen;

enum { TOP_OTHER_FILE = 3 }; /* the first number of a file that is not a standard one */

/* Whether standard input and output are a terminal. */
bool top_screen_is_possible(struct failure *why);
/* Takes the terminal that standard input and output are. It reads the terminal's description: so it is called before
 * rights are given up. As root it reads none that a user may have made. NULL and why. */
struct top_screen *top_screen_open(struct failure *why);
/* Gives it back as it was; NULL is allowed. */
void top_screen_close(struct top_screen *screen);

/* What stands around the table or the text. */
struct top_frame {
    const char *title; /* the first line */
    const char *note;  /* the second one; what is to be typed */
    const char *keys;  /* the last one */
};

struct top_table {
    const struct top_rows *rows;
    enum top_order order;
    size_t selected, first; /* rows: the one that is marked, and the first one that is shown */
};
void top_screen_table(struct top_screen *screen, const struct top_frame *frame, const struct top_table *table);

/* Lines in text.h's form, from number `first` on. */
void top_screen_text(struct top_screen *screen, const struct top_frame *frame, const char *text, size_t first);

/* How many rows or lines it shows between the frame. */
size_t top_screen_lines(const struct top_screen *screen);

/* The next key that has been pressed: a character, or one of these. */
enum top_key {
    TOP_NONE = 0,
    TOP_ENTER = 10,
    TOP_ESCAPE = 27,
    TOP_UP = 256,
    TOP_DOWN,
    TOP_PAGE_UP,
    TOP_PAGE_DOWN,
    TOP_HOME,
    TOP_END,
    TOP_BACK,    /* backspace, or to the left */
    TOP_RESIZED, /* the terminal: all is to be drawn again */
    TOP_OTHER,
    TOP_GONE, /* there is no terminal any more */
};
int top_screen_key(struct top_screen *screen);

#endif
