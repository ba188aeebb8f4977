/* A blocking write() to a full pipe ends with a signal only if the signal comes within it. So the stream asks poll()
 * first, and writes no more than a pipe that has room takes at once.
 *
 * A stream that folds keeps the line that has not ended yet. */
#include "util/stream.h"
#include "util/clock.h"
#include "util/fold.h"
#include "util/interrupt.h"
#include "util/terminal.h"
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { STREAMS = 3, LOOK_MS = 100 }; /* a signal that comes right before poll() is seen after that time */
#define STALL_NS 1000000000u

static struct stream {
    int fd;
    bool has_given_up, folds;
    int error;
    FILE *file;
    char *begun; /* the line that has not ended; owned */
    size_t begun_size;
} streams[STREAMS]; /* by descriptor */

static int commands_output = -1;      /* standard output, while it is a command's */
static bool is_placeholder_of_output; /* what was open in its place is not for the command */

/* True: the descriptor takes bytes, or fails at once. False: nobody reads, and a signal has come. */
static bool wait_for_room(struct stream *stream, uint64_t since_ns) {
    struct pollfd file = {.fd = stream->fd, .events = POLLOUT};
    while (!stream->has_given_up && poll(&file, 1, LOOK_MS) <= 0) {
        stream->has_given_up = interrupt_is_counted() && now_ns() - since_ns >= STALL_NS;
    }
    return !stream->has_given_up;
}

/* Returns how many bytes were written; fewer: the others can't be. */
static size_t write_out(struct stream *stream, const char *text, size_t size) {
    size_t done = 0;
    uint64_t since_ns = now_ns();
    while (done < size) {
        if (!wait_for_room(stream, since_ns)) {
            errno = EINTR;
            break;
        }
        size_t left = size - done;
        ssize_t written = write(stream->fd, text + done, left < PIPE_BUF ? left : PIPE_BUF);
        if (written > 0) {
            done += (size_t)written;
            since_ns = now_ns();
        } else if (written == 0 || (errno != EINTR && errno != EAGAIN)) {
            stream->error = written < 0 ? errno : EIO;
            break;
        } else if (interrupt_is_counted() && now_ns() - since_ns >= STALL_NS) {
            stream->has_given_up = true; /* another writer takes the room each time */
        }
    }
    return done;
}

/* The line that was begun, and what is added to it; NUL-terminated, and the caller's. NULL: no memory. */
static char *join(struct stream *stream, const char *text, size_t size) {
    char *all = realloc(stream->begun, stream->begun_size + size + 1);
    if (all) {
        *(char *)mempcpy(all + stream->begun_size, text, size) = '\0';
        stream->begun = NULL;
        stream->begun_size = 0;
    }
    return all;
}

/* The lines of a text, folded; what follows the last one is kept. False: no memory. */
static bool fold_lines(struct stream *stream, const char *text, size_t size, char **folded, size_t *bytes) {
    const size_t before = stream->begun_size;
    FILE *out = open_memstream(folded, bytes);
    char *all = out ? join(stream, text, size) : NULL, *line = all;
    for (char *end; all && (end = memchr(line, '\n', (size_t)(all + before + size - line))); line = end + 1) {
        fold_line(out, line, (size_t)(end - line), terminal_columns(stream->file));
    }
    const bool good = out && fclose(out) == 0 && all;
    if (good) {
        stream->begun_size = (size_t)(all + before + size - line);
        stream->begun = memmove(all, line, stream->begun_size);
    } else {
        free(all);
    }
    return good;
}

static ssize_t write_stream(void *context, const char *text, size_t size) {
    struct stream *stream = context;
    char *folded = NULL;
    size_t bytes = 0;
    if (!stream->folds || !fold_lines(stream, text, size, &folded, &bytes)) {
        free(folded);
        return (ssize_t)write_out(stream, text, size);
    }
    const size_t done = write_out(stream, folded, bytes);
    free(folded);
    return done == bytes ? (ssize_t)size : 0;
}

void stream_fold(int fd, bool folds) {
    struct stream *stream = &streams[fd];
    if (stream->begun) {
        write_out(stream, stream->begun, stream->begun_size);
        free(stream->begun);
        stream->begun = NULL;
        stream->begun_size = 0;
    }
    stream->folds = folds;
}

FILE *stream_open(int fd, int buffering) {
    streams[fd].fd = fd;
    FILE *file = fopencookie(&streams[fd], "w", (cookie_io_functions_t){.write = write_stream});
    streams[fd].file = file;
    if (file) {
        setvbuf(file, NULL, buffering, BUFSIZ);
    }
    return file;
}

/* Files in the place of closed ones are closed by exec: main.c opens them. */
static bool is_placeholder(int fd) { return fcntl(fd, F_GETFD) & FD_CLOEXEC; }

bool stream_leave_output(void) {
    fflush(stdout);
    is_placeholder_of_output = is_placeholder(STDOUT_FILENO);
    const int kept = is_placeholder(STDERR_FILENO) ? -1 : fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, STREAMS);
    if (kept < 0) {
        return false;
    }
    if (dup2(STDERR_FILENO, STDOUT_FILENO) < 0) {
        close(kept);
        return false;
    }
    commands_output = kept;
    return true;
}

void stream_return_output(void) {
    if (commands_output >= 0) {
        dup3(commands_output, STDOUT_FILENO, is_placeholder_of_output ? O_CLOEXEC : 0);
    }
}

int stream_descriptor(const FILE *out) {
    for (int fd = STDOUT_FILENO; fd < STREAMS; fd++) {
        if (out && streams[fd].file == out) {
            return fd;
        }
    }
    return -1;
}

bool stream_has_given_up(int fd) { return streams[fd].has_given_up; }

int stream_error(int fd) { return streams[fd].error; }
