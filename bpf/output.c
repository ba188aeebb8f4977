#include "output.h"
#include "message.h"
#include "owner.h"
#include "place.h"
#include "room.h"
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdbool.h>
#include <stdio_ext.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

static const char *open_advice(int error) {
    switch (error) {
    case ENXIO:
        return "it is a pipe that nobody reads; start the reader first";
    case ELOOP:
        return "name the file itself";
    case EPERM:
        return "it leads through a link of another user; name the file itself";
    default:
        return "name another file";
    }
}

FILE *output_open(const char *path, struct failure *why) {
    struct place place;
    struct stat status;
    int file = -1;
    if (place_open(&place, path)) {
        file = place_open_file(&place, O_WRONLY | O_APPEND | O_CREAT | O_NONBLOCK, 0666);
    }
    int error = errno;
    place_close(&place);
    if (file < 0) {
        failure_set(why, 1, "-o %.200s: %s; %s", path, strerror(error), open_advice(error));
        return NULL;
    }
    /* Only opening must not block. */
    FILE *out = fstat(file, &status) == 0 && fcntl(file, F_SETFL, O_APPEND) == 0 ? fdopen(file, "a") : NULL;
    if (!out) {
        failure_set(why, 1, "-o %.200s: %m", path);
        close(file);
    } else if ((S_ISREG(status.st_mode) || S_ISFIFO(status.st_mode)) && !owner_is_trusted(status.st_uid)) {
        failure_set(why, 1, "-o %.200s: belongs to another user, so it is left alone; name another file", path);
        fclose(out);
        out = NULL;
    }
    return out;
}

/* Why an earlier write failed, as far as the file shows it: a pipe has no reader, or the file its largest size. */
static int guess_error(int file) {
    struct pollfd pipe = {.fd = file, .events = POLLOUT};
    struct stat status;
    struct rlimit limit;
    if (poll(&pipe, 1, 0) == 1 && pipe.revents & POLLERR) {
        return EPIPE;
    }
    bool is_largest = fstat(file, &status) == 0 && S_ISREG(status.st_mode) && getrlimit(RLIMIT_FSIZE, &limit) == 0 &&
                      (rlim_t)status.st_size >= limit.rlim_cur;
    return is_largest ? EFBIG : 0;
}

int output_finish(FILE *out, const char *name, int status) {
    errno = 0;
    bool failed = fflush(out) != 0;
    int error = errno;
    failed = ferror(out) || failed;
    error = failed && error == 0 ? guess_error(fileno(out)) : error;
    clearerr(out);
    __fpurge(out); /* else it would be tried, and told, again */
    if (!failed || error == EPIPE) {
        return status;
    }
    char text[ROOM_TEXT];
    if (error) {
        message_print("%s: can't be written: %s", name, room_error(error, text));
    } else {
        message_print("%s: not all of it could be written; is the disk full?", name);
    }
    return status ? status : 1;
}
