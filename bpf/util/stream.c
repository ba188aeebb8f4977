/* A blocking write() to a full pipe ends with a signal only if the signal comes within it. So the stream asks poll()
 * first, and writes no more than a pipe that has room takes at once. */
#include "util/stream.h"
#include "util/clock.h"
#include "util/interrupt.h"
#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <stdint.h>
#include <unistd.h>

enum { LOOK_MS = 100 }; /* a signal that comes right before poll() is seen after that time */
#define STALL_NS 1000000000u

static struct stream {
    int fd;
    bool has_given_up;
} streams[3]; /* by descriptor */

/* True: the descriptor takes bytes, or fails at once. False: nobody reads, and a signal has come. */
static bool wait_for_room(struct stream *stream, uint64_t since_ns) {
    struct pollfd file = {.fd = stream->fd, .events = POLLOUT};
    while (!stream->has_given_up && poll(&file, 1, LOOK_MS) <= 0) {
        stream->has_given_up = interrupt_is_counted() && now_ns() - since_ns >= STALL_NS;
    }
    return !stream->has_given_up;
}

static ssize_t write_stream(void *context, const char *text, size_t size) {
    struct stream *stream = context;
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
            break;
        } else if (interrupt_is_counted() && now_ns() - since_ns >= STALL_NS) {
            stream->has_given_up = true; /* another writer takes the room each time */
        }
    }
    return (ssize_t)done;
}

FILE *stream_open(int fd, int buffering) {
    streams[fd].fd = fd;
    FILE *file = fopencookie(&streams[fd], "w", (cookie_io_functions_t){.write = write_stream});
    if (file) {
        setvbuf(file, NULL, buffering, BUFSIZ);
    }
    return file;
}

bool stream_has_given_up(int fd) { return streams[fd].has_given_up; }
