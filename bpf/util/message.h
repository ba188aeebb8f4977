/* Messages on stderr. Nothing else of edenscope writes there: names of files and processes, texts of libraries and
 * arguments stand in messages, and each message as a whole is written in text.h's form. */
#ifndef EDEN_MESSAGE_H
#define EDEN_MESSAGE_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* From now on a signal ends the waiting for who reads them (stream.h). */
void message_open(void);

/* Prints "edenscope: ", the message and a newline; what is beyond some 4,000 bytes is cut. Keeps errno. */
__attribute__((format(printf, 1, 2))) void message_print(const char *format, ...);

/* The same of one text, which says what is missing; the context is not used. */
void message_report(void *context, const char *text);
/* ... or why something failed. */
void message_failure(const char *text);

/* Messages of a kind that strangers can cause at will: MESSAGE_FEW of them are printed, the others counted. */
enum { MESSAGE_FEW = 8 };
struct message_kind {
    uint64_t count;
};
__attribute__((format(printf, 2, 3))) void message_few(struct message_kind *kind, const char *format, ...);
/* After the last one: prints how many more there were, and of what; nothing where all were printed. */
void message_more(const struct message_kind *kind, const char *what);

/* Whether messages appear on a terminal. */
bool message_is_on_terminal(void);

/* While something else is drawn on the terminal on which messages appear, they are kept. */
struct message_hold {
    FILE *before, *kept; /* NULL: nothing is kept */
    char *text;
    size_t size;
};
void message_hold(struct message_hold *hold);
const char *message_last(struct message_hold *hold); /* the last one; "": there was none */
void message_release(struct message_hold *hold);     /* prints what was kept */

/* As message_print(), without "edenscope: ". */
__attribute__((format(printf, 1, 2))) void message_line(const char *format, ...);

/* A library's message, which has newlines of its own: each line is one, with "edenscope: " before it. */
__attribute__((format(printf, 1, 0))) void message_lines(const char *format, va_list arguments);

#endif
