#include "util/output.h"
#include "util/array.h"
#include "util/mark.h"
#include "util/message.h"
#include "util/owner.h"
#include "util/place.h"
#include "util/room.h"
#include "util/stream.h"
#include "util/terminal.h"
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdbool.h>
#include <stdio_ext.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

static const char *open_advice(const struct place *place, int error) {
    struct stat status;
    switch (error) {
    case ENXIO:
        return fstatat(place->folder, place->name, &status, AT_SYMLINK_NOFOLLOW) == 0 && S_ISFIFO(status.st_mode)
                   ? "it is a pipe without a reader; start the reader first"
                   : "name another file";
    case ENOENT:
        return place_is_removed(place) ? "its folder has been removed; name a file in another one"
                                       : "name another file";
    case ELOOP:
        return "name the file itself";
    case EPERM:
        return "it leads through another user's link; name the file itself";
    default:
        return "name another file";
    }
}

/* Whether what was opened is for the caller to write to; else why. Only opening must not block. */
static bool check(const struct place *place, int file, const char *path, struct failure *why) {
    struct stat status;
    if (fstat(file, &status) != 0 || fcntl(file, F_SETFL, O_APPEND) != 0) {
        return failure_set(why, 1, "-o %.200s: %m", path);
    }
    if ((S_ISREG(status.st_mode) || S_ISFIFO(status.st_mode)) && !owner_is_trusted(status.st_uid)) {
        return failure_set(why, 1, "-o %.200s: belongs to another user, so it is not replaced; name another file",
                           path);
    }
    if (place_is_strangers_link(place, place->name, file)) {
        return failure_set(why, 1,
                           "-o %.200s: has other hard links, in a folder that others may write to, so it is not "
                           "replaced; name another file",
                           path);
    }
    return !S_ISREG(status.st_mode) || mark_spares_recording(place, "-o", path, why);
}

/* Opens what -o names, to append: a regular file of a trusted owner (owner.h) that is no recording and no stranger's
 * hard link (place.h), a pipe that has a reader, a terminal or a device. Never blocks. NULL and why otherwise. */
static FILE *open_path(const char *path, struct failure *why) {
    struct place place;
    int file = -1;
    if (place_open(&place, path)) {
        file = place_open_file(&place, O_WRONLY | O_APPEND | O_CREAT | O_NONBLOCK, 0666);
    }
    int error = errno;
    bool good = file >= 0 ? check(&place, file, path, why)
                          : failure_set(why, 1, "-o %.200s: %s; %s", path, strerror(error), open_advice(&place, error));
    place_close(&place);
    FILE *out = good ? fdopen(file, "a") : NULL;
    if (good && !out) {
        failure_set(why, 1, "-o %.200s: %m", path);
    }
    if (file >= 0 && !out) {
        close(file);
    }
    return out;
}

void output_open_standard(void) {
    FILE *out = stream_open(STDOUT_FILENO, isatty(STDOUT_FILENO) ? _IOLBF : _IOFBF);
    stdout = out ? out : stdout;
}

/* Why an earlier write failed, as far as the file shows it: a pipe has no reader, the file its largest size, or the
 * disk no room. */
static int guess_error(int file) {
    struct pollfd pipe = {.fd = file, .events = POLLOUT};
    struct stat status;
    struct rlimit limit;
    if (poll(&pipe, 1, 0) == 1 && pipe.revents & POLLERR) {
        return EPIPE;
    }
    bool is_largest = fstat(file, &status) == 0 && S_ISREG(status.st_mode) && getrlimit(RLIMIT_FSIZE, &limit) == 0 &&
                      (rlim_t)status.st_size >= limit.rlim_cur;
    return is_largest ? EFBIG : room_is_left(file, 1) ? 0 : ENOSPC;
}

int output_finish(FILE *out, const char *name, int status) {
    errno = 0;
    bool failed = fflush(out) != 0;
    int error = errno;
    failed = ferror(out) || failed;
    if (failed && error == 0) { /* of an earlier write */
        error = out == stdout ? stream_error(STDOUT_FILENO) : 0;
        error = error ? error : guess_error(out == stdout ? STDOUT_FILENO : fileno(out));
    }
    clearerr(out);
    __fpurge(out); /* else it would be tried, and reported, again */
    if (!failed || error == EPIPE) {
        return status;
    }
    char text[ROOM_TEXT];
    if (out == stdout && stream_has_given_up(STDOUT_FILENO)) {
        message_print("%s: not written in full: nobody read it for 1 s, and a signal had come", name);
    } else if (error) {
        message_print("%s: cannot be written: %s%s", name, room_error(error, text), room_advice(error));
    } else {
        message_print("%s: could not be written in full: the reason is not known any more", name);
    }
    return status ? status : 1;
}

/* ---- pieces ------------------------------------------------------------------------------------------------------ */

/* Its size where it is a regular file; else -1. */
static off_t size_of(int file) {
    struct stat status;
    return fstat(file, &status) == 0 && S_ISREG(status.st_mode) ? status.st_size : -1;
}

/* At the end of a file that is open to append. Takes back half a piece, unless others have written since. */
static bool append(int file, const char *text, size_t size) {
    const off_t start = size_of(file);
    size_t done = 0;
    while (done < size) {
        ssize_t length = write(file, text + done, size - done);
        if (length <= 0) {
            int error = length < 0 ? errno : EIO;
            if (start >= 0 && size_of(file) == start + (off_t)done && ftruncate(file, start) != 0) {
                error = errno;
            }
            errno = error;
            return false;
        }
        done += (size_t)length;
    }
    return true;
}

/* The first piece is appended before the old content goes: that shows that there is room for it. If others have written
 * to the file meanwhile, as the command does to /dev/stdout, all of it stays. */
static bool put(struct output *output) {
    int file = fileno(output->file);
    bool replaces = output->before > 0 && size_of(file) == output->before;
    output->before = 0;
    return append(file, output->text, output->size) &&
           (!replaces || (ftruncate(file, 0) == 0 && append(file, output->text, output->size)));
}

/* The piece that is gathered. */
static void write_piece(struct output *output) {
    if (!output->failed && !put(output)) {
        char text[ROOM_TEXT];
        output->failed = true;
        output->error = errno;
        if (output->error != EPIPE) {
            message_print("%s: cannot be written: %s; standard %s has the rest", output->path,
                          room_error(output->error, text), output->is_left ? "error" : "output");
        }
    }
    if (output->failed && output->error != EPIPE) {
        fwrite(output->text, 1, output->size, stdout);
        fflush(stdout);
    }
    output->size = 0;
}

static ssize_t gather(void *context, const char *text, size_t size) {
    struct output *output = context;
    if (output->size != 0 && output->size + size > OUTPUT_PIECE) {
        write_piece(output);
    }
    while (output->room - output->size < size) {
        if (!array_grow(&output->text, &output->room, output->room, 1)) {
            errno = ENOMEM;
            return 0;
        }
    }
    memcpy(output->text + output->size, text, size);
    output->size += size;
    return (ssize_t)size;
}

bool output_begin(struct output *output, const char *path, bool is_left, struct failure *why) {
    struct stat status;
    *output = (struct output){.path = path, .out = stdout};
    output->file = path ? open_path(path, why) : NULL; /* /dev/stdout is what it was */
    if (path && !output->file) {
        return false;
    }
    output->is_left = is_left && stream_leave_output();
    if (output->is_left) {
        terminal_leave_output();
    }
    if (!path) {
        return true;
    }
    output->out = fopencookie(output, "w", (cookie_io_functions_t){.write = gather});
    if (!output->out || fstat(fileno(output->file), &status) != 0) {
        failure_set(why, 1, "-o %.200s: %m", path);
        output_end(output, 1);
        *output = (struct output){.path = path, .out = stdout};
        return false;
    }
    output->before = S_ISREG(status.st_mode) ? status.st_size : 0;
    return true;
}

void output_flush(struct output *output) {
    bool gathered = fflush(output->out) == 0 && !ferror(output->out);
    if (!output->file) {
        return; /* output_finish says what went wrong */
    }
    if (!gathered && !output->failed) {
        output->failed = true;
        output->error = ENOMEM;
        message_print("%s: not written in full: %s", output->path, strerror(ENOMEM));
    }
    if (output->size != 0) {
        write_piece(output);
    }
}

bool output_is_unread(const struct output *output) {
    return output->file ? output->failed && output->error == EPIPE : guess_error(STDOUT_FILENO) == EPIPE;
}

int output_end(struct output *output, int status) {
    if (output->file) {
        if (output->out) {
            fclose(output->out);
        }
        free(output->text);
        fclose(output->file);
    }
    return status == 0 && output->failed && output->error != EPIPE ? 1 : status;
}
