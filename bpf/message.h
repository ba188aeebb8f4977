/* Messages on stderr. Nothing else of edenscope writes there: names of files and processes, texts of libraries and
 * arguments stand in messages, and each message as a whole is written in text.h's form. */
#ifndef EDEN_MESSAGE_H
#define EDEN_MESSAGE_H

#include <stdarg.h>

/* Prints "edenscope: ", the message and a newline; what is beyond some 4,000 bytes is cut. Keeps errno. */
__attribute__((format(printf, 1, 2))) void message_print(const char *format, ...);

/* The same without "edenscope: ". */
__attribute__((format(printf, 1, 2))) void message_line(const char *format, ...);

/* Prints a text of edenscope's own, with its newlines, as it is: never one from outside. */
void message_text(const char *text);

/* A library's message, which has newlines of its own: each line is one, with "edenscope: " before it. */
__attribute__((format(printf, 1, 0))) void message_lines(const char *format, va_list arguments);

#endif
