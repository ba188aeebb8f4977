#include "util/message.h"
#include "util/stream.h"
#include "util/style.h"
#include "util/text.h"
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MOST = 4096 };
static const char own[] = "edenscope: "; /* begins each message */

void message_open(void) {
    FILE *out = stream_open(STDERR_FILENO, _IONBF);
    stderr = out ? out : stderr;
}

/* In one piece, so that messages of several processes do not mix. */
static void print(const char *lead, enum style style, const char *text) {
    char line[TEXT_GROWTH * MOST];
    fprintf(stderr, "%s%s%s%s\n", lead, style_on(stderr, style), text_escape(line, sizeof line, text, ""),
            style_off(stderr, style));
}

__attribute__((format(printf, 2, 0))) static void print_format(const char *lead, const char *format,
                                                               va_list arguments) {
    char text[MOST];
    int error = errno;
    vsnprintf(text, sizeof text, format, arguments);
    print(lead, STYLE_PLAIN, text);
    errno = error;
}

void message_print(const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    print_format(own, format, arguments);
    va_end(arguments);
}

void message_report(void *context, const char *text) {
    (void)context;
    print(own, STYLE_WARNING, text);
}

void message_failure(const char *text) { print(own, STYLE_BAD, text); }

void message_few(struct message_kind *kind, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    if (kind->count++ < MESSAGE_FEW) {
        print_format(own, format, arguments);
    }
    va_end(arguments);
}

void message_more(const struct message_kind *kind, const char *what) {
    if (kind->count > MESSAGE_FEW) {
        message_print("%" PRIu64 " more %s (%" PRIu64 " in all)", kind->count - MESSAGE_FEW, what, kind->count);
    }
}

bool message_is_on_terminal(void) { return isatty(STDERR_FILENO); }

void message_hold(struct message_hold *hold) {
    *hold = (struct message_hold){0};
    if (message_is_on_terminal()) {
        hold->kept = open_memstream(&hold->text, &hold->size);
    }
    if (hold->kept) {
        hold->before = stderr;
        stderr = hold->kept;
    }
}

const char *message_last(struct message_hold *hold) {
    if (!hold->kept || fflush(hold->kept) != 0 || hold->size == 0) {
        return "";
    }
    char *end = hold->text + hold->size - 1, *last = end;
    while (last > hold->text && last[-1] != '\n') {
        last--;
    }
    return last;
}

void message_release(struct message_hold *hold) {
    if (hold->kept) {
        stderr = hold->before;
        if (fclose(hold->kept) == 0) {
            fwrite(hold->text, 1, hold->size, stderr);
        }
        free(hold->text);
    }
    *hold = (struct message_hold){0};
}

void message_line(const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    print_format("", format, arguments);
    va_end(arguments);
}

void message_lines(const char *format, va_list arguments) {
    char text[MOST];
    vsnprintf(text, sizeof text, format, arguments);
    for (char *line = text, *end; *line; line = end) {
        end = line + strcspn(line, "\n");
        end += *end ? (*end = '\0', 1) : 0;
        print(own, STYLE_PLAIN, line);
    }
}
