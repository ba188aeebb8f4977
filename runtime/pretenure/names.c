/* The file that `pretenure` names: classes and sites whose objects are born old.
 *
 * Text, one entry a line, `class NAME` or `site NAME`; empty lines and lines that start with # say nothing. The name is
 * the rest of the line, as it is, spaces and all, but for what a line can't hold: \n is a newline, \r a carriage
 * return, \\ a backslash, \x1b the byte 1b. A class means its objects wherever they are allocated, at sites too. A site
 * means all sites of that name. Names that the program never defines do no harm.
 *
 * It is read whole, once, when the heap is made, and looked up where a class or site is defined; there may be millions
 * of those, so the entries are sorted. The memory of an entry's name is the file's text, unescaped in place.
 *
 * What can go wrong: no such file, or one that can't be read, is larger than FILE_MOST or holds a line that is neither:
 * then no heap is made, and the error says which line. */
#include "pretenure/pretenure.h"
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { FILE_MOST = 16 << 20, NAME_MOST = 4096, ROOM_FIRST = 4096 };

struct entry {
    const char *name;
    bool site;
};

struct pretenure_names {
    char *text; /* NUL-terminated */
    size_t bytes, text_room;
    struct entry *entries;
    size_t count, room;
};

static const struct param_file *parameter(const eden_heap *heap) { return &heap->params.pretenure; }

static bool fail_file(const eden_heap *heap, eden_error *error, const char *why) {
    return error_fail(error, EDEN_BAD_PARAMETER,
                      "%s: pretenure=%.70s: must be none, auto, or a file of lines 'class NAME' and 'site NAME': %s",
                      parameter(heap)->where, parameter(heap)->path, why);
}

static bool fail_errno(const eden_heap *heap, eden_error *error) {
    char text[80];
    snprintf(text, sizeof text, "%m");
    return fail_file(heap, error, text);
}

static bool fail_line(const eden_heap *heap, eden_error *error, size_t line, const char *why) {
    char text[80];
    snprintf(text, sizeof text, "line %zu %s", line, why);
    return fail_file(heap, error, text);
}

static bool fail_memory(const eden_heap *heap, eden_error *error) {
    return error_fail(error, EDEN_NO_MEMORY, "%s: pretenure=%.70s: out of memory to read it", parameter(heap)->where,
                      parameter(heap)->path);
}

static bool read_all(eden_heap *heap, struct pretenure_names *names, int fd, eden_error *error) {
    for (;;) {
        if (names->text_room - names->bytes < 2) {
            size_t room = names->text_room == 0 ? ROOM_FIRST : names->text_room * 2;
            char *text = system_alloc(&heap->system, room, "pretenure");
            if (text == NULL) {
                return fail_memory(heap, error);
            }
            if (names->text != NULL) {
                memcpy(text, names->text, names->bytes);
            }
            free(names->text);
            names->text = text;
            names->text_room = room;
        }
        ssize_t got = read(fd, names->text + names->bytes, names->text_room - names->bytes - 1);
        if (got < 0 && errno == EINTR) {
            continue;
        }
        if (got < 0) {
            return fail_errno(heap, error);
        }
        names->bytes += (size_t)got;
        names->text[names->bytes] = '\0';
        if (got == 0) {
            return true;
        }
        if (names->bytes > FILE_MOST) {
            return fail_file(heap, error, "it is larger than 16M");
        }
    }
}

/* The byte that two hexadecimal digits stand for; 0: they are none, or no byte of a name. */
static char hexadecimal_byte(const char *digits) {
    static const char all[] = "0123456789abcdef";
    const char *high = digits[0] ? strchr(all, digits[0]) : NULL;
    const char *low = high && digits[1] ? strchr(all, digits[1]) : NULL;
    if (!low) {
        return 0;
    }
    return (char)((high - all) << 4 | (low - all));
}

/* In place. NULL, or what is wrong with it. */
static const char *unescape(char *name) {
    char *to = name;
    for (const char *from = name; *from != '\0'; from++) {
        char c = *from;
        if (c == '\\') {
            from++;
            c = *from == 'n'    ? '\n'
                : *from == 'r'  ? '\r'
                : *from == '\\' ? '\\'
                : *from == 'x'  ? hexadecimal_byte(from + 1)
                                : '\0';
            if (c == '\0') {
                return "has an invalid escape: use \\\\, \\n"
                       ", \\r or \\xHH";
            }
            from += *from == 'x' ? 2 : 0;
        }
        *to++ = c;
    }
    *to = '\0';
    return name[0] == '\0' ? "has no name" : to - name > NAME_MOST ? "has a name of more than 4096 bytes" : NULL;
}

static bool read_line(eden_heap *heap, struct pretenure_names *names, char *line, size_t number, eden_error *error) {
    static const char class[] = "class ", site[] = "site ";
    if (line[0] == '\0' || line[0] == '#') {
        return true;
    }
    bool is_site = strncmp(line, site, sizeof site - 1) == 0;
    if (!is_site && strncmp(line, class, sizeof class - 1) != 0) {
        return fail_line(heap, error, number, "is neither 'class NAME' nor 'site NAME' nor a comment (#)");
    }
    char *name = line + (is_site ? sizeof site : sizeof class) - 1;
    const char *wrong = unescape(name);
    if (wrong != NULL) {
        return fail_line(heap, error, number, wrong);
    }
    if (!system_grow(&heap->system, (void **)&names->entries, &names->room, names->count, sizeof *names->entries,
                     "pretenure")) {
        return fail_memory(heap, error);
    }
    names->entries[names->count++] = (struct entry){name, is_site};
    return true;
}

static int by_name(const void *a, const void *b) {
    const struct entry *x = a, *y = b;
    return x->site != y->site ? (int)x->site - (int)y->site : strcmp(x->name, y->name);
}

static bool read_lines(eden_heap *heap, struct pretenure_names *names, eden_error *error) {
    size_t number = 1;
    char *end = names->text + names->bytes;
    for (char *line = names->text; line < end; number++) {
        char *stop = memchr(line, '\n', (size_t)(end - line));
        stop = stop == NULL ? end : stop;
        if (memchr(line, '\0', (size_t)(stop - line)) != NULL) {
            return fail_line(heap, error, number, "contains a NUL byte");
        }
        *stop = '\0';
        if (!read_line(heap, names, line, number, error)) {
            return false;
        }
        line = stop + 1;
    }
    if (names->count != 0) {
        qsort(names->entries, names->count, sizeof *names->entries, by_name);
    }
    return true;
}

bool pretenure_names_read(struct pretenure *pretenure, eden_heap *heap, eden_error *error) {
    struct pretenure_names *names = system_alloc(&heap->system, sizeof *names, "pretenure");
    if (names == NULL) {
        return fail_memory(heap, error);
    }
    *names = (struct pretenure_names){.text = NULL};
    pretenure->names = names;
    /* Not to wait for a writer, where it is a pipe. */
    int fd = open(parameter(heap)->path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (fd < 0) {
        return fail_errno(heap, error);
    }
    bool ok = read_all(heap, names, fd, error) && read_lines(heap, names, error);
    close(fd);
    return ok;
}

bool pretenure_is_named(const struct pretenure *pretenure, bool site, const char *name) {
    const struct pretenure_names *names = pretenure->names;
    struct entry wanted = {name, site};
    return names != NULL && names->count != 0 &&
           bsearch(&wanted, names->entries, names->count, sizeof wanted, by_name) != NULL;
}

void pretenure_names_free(struct pretenure_names *names) {
    if (names != NULL) {
        free(names->text);
        free(names->entries);
        free(names);
    }
}
