/* The terminals on which standard output and standard error appear: how wide each is, and whether it shows colours.
 * Nothing else asks. */
#ifndef EDEN_TERMINAL_H
#define EDEN_TERMINAL_H

#include <stdbool.h>
#include <stdio.h>

/* Looks at both, once they are open, and lets their lines be folded at words where they are terminals (stream.h). A
 * sandbox may forbid to look later: then what was seen last holds. */
void terminal_begin(void);

/* Standard output is standard error's terminal now (stream_leave_output). */
void terminal_leave_output(void);

/* How many columns the terminal has that `out` is now; 0: it is none, or does not say. Nothing is fitted then. */
unsigned terminal_columns(const FILE *out);

/* --color=WHEN: auto (as NO_COLOR and TERM say, on a terminal), always or never. False: it is none of these. */
bool terminal_set_color(const char *when);
bool terminal_has_color(const FILE *out);

/* Whether lines of standard output are for people: folded at words. What programs read, and what is to be pasted into a
 * shell, is left to the terminal, which shows it on several lines, and copies it as one. */
void terminal_fold(bool folds);

#endif
