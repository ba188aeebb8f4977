/* `edenscope diff`: what differs between recordings, and whether it is more than noise.
 *
 * Each recording is read by a process of its own, which gives up its rights for it, as the readers of one recording do
 * (docs/security.md). What comes back is a record of numbers and short texts. */
#include "cli/commands.h"
#include "cli/options.h"
#include "util/json.h"
#include "util/message.h"
#include "util/output.h"
#include "views/diff.h"
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static const char usage[] =
    "diff A B [C]... [--force] [--json] [--heap ID] [--pid PID] [-v]\n\n"
    "  Compares recordings with the first one. A side may be several recordings of the same, separated by commas:\n"
    "  A1,A2,A3 B1,B2,B3; then their range says what is noise. B/A is the ratio, with a verdict:\n\n"
    "  " DIFF_VERDICTS "\n"
    "  " DIFF_TIMES "\n"
    "  " DIFF_PER_BYTE;

struct diff {
    struct options options;
    struct diff_side sides[DIFF_SIDES];
    struct side *runs; /* of all sides, DIFF_FILES each */
    size_t count;
};

static bool write_all(int to, const void *data, size_t bytes) {
    for (size_t done = 0; done < bytes;) {
        ssize_t written = write(to, (const char *)data + done, bytes - done);
        if (written <= 0 && errno != EINTR) {
            return false;
        }
        done += written > 0 ? (size_t)written : 0;
    }
    return true;
}

static bool read_all(int from, void *data, size_t bytes) {
    for (size_t done = 0; done < bytes;) {
        ssize_t got = read(from, (char *)data + done, bytes - done);
        if (got == 0 || (got < 0 && errno != EINTR)) {
            return false;
        }
        done += got > 0 ? (size_t)got : 0;
    }
    return true;
}

/* In a process of its own; its exit status. */
static int read_side(const struct diff *diff, const char *path, int to) {
    static struct side side;
    const struct heap_choice choice = {(uint64_t)diff->options.pid, diff->options.heap, diff->options.heap_serial};
    struct failure why;
    struct recording *recording = recording_open_with(path, recording_last(diff->options.force), &why);
    if (!recording) {
        return failure_report(&why);
    }
    if (!side_read(recording, &choice, &side, &why)) {
        return failure_report(&why);
    }
    if (side.heaps == 0) {
        message_print("%s: it has no such heap", path);
        return 1;
    }
    return write_all(to, &side, sizeof side) ? 0 : 1;
}

static bool fetch_side(const struct diff *diff, const char *path, struct side *side) {
    int pipe_ends[2], status = 0;
    if (pipe2(pipe_ends, O_CLOEXEC) != 0) {
        message_print("%s: cannot be read: %s", path, strerror(errno));
        return false;
    }
    pid_t reader = fork();
    if (reader == 0) {
        close(pipe_ends[0]);
        _exit(read_side(diff, path, pipe_ends[1]));
    }
    close(pipe_ends[1]);
    bool good = reader > 0 && read_all(pipe_ends[0], side, sizeof *side);
    int error = errno;
    close(pipe_ends[0]);
    while (reader > 0 && waitpid(reader, &status, 0) < 0 && errno == EINTR) {
    }
    if (reader < 0) {
        message_print("%s: cannot be read: %s", path, strerror(error));
    } else if (!good && WIFSIGNALED(status)) {
        message_print("%s: its reader was ended by signal %d", path, WTERMSIG(status));
    }
    if (good) {
        side_check(side);
    }
    return good;
}

static bool is_same_file(const char *one, const char *other) {
    struct stat status, others;
    return strcmp(one, other) == 0 || (stat(one, &status) == 0 && stat(other, &others) == 0 &&
                                       status.st_dev == others.st_dev && status.st_ino == others.st_ino);
}

/* Adds a side: files separated by commas, in *names, which is taken apart. */
static bool add_side(struct diff *diff, const char *shown, char *names) {
    struct diff_side *side = &diff->sides[diff->count];
    *side = (struct diff_side){.names = shown, .runs = diff->runs + diff->count * DIFF_FILES};
    diff->count++;
    const char *separator = access(names, F_OK) == 0 ? "" : ","; /* a file of this name is one recording */
    const char *seen[DIFF_FILES];
    for (char *path = strsep(&names, separator); path; path = strsep(&names, separator)) {
        for (size_t i = 0; i < side->count; i++) {
            if (is_same_file(seen[i], path)) {
                message_print("%.100s: a recording is named twice: it is no other run", shown);
                return false;
            }
        }
        if (side->count == DIFF_FILES) {
            message_print("%.100s: too many recordings; give at most %d a side", shown, DIFF_FILES);
            return false;
        }
        if (*path == 0) {
            message_print("%.100s: an empty name between commas", shown);
            return false;
        }
        if (!fetch_side(diff, path, &side->runs[side->count])) {
            return false;
        }
        seen[side->count++] = path;
    }
    return true;
}

static bool add_sides(struct diff *diff) {
    for (size_t i = 0; i < diff->options.rest_count; i++) {
        char *names = strdup(diff->options.rest[i]);
        if (!names) {
            message_print("out of memory");
            return false;
        }
        bool good = add_side(diff, diff->options.rest[i], names);
        free(names);
        if (!good) {
            return false;
        }
    }
    return true;
}

int cmd_diff(int argc, char **argv) {
    struct diff diff = {0};
    int status;
    if (!options_parse(&diff.options, ACCEPT_FORCE_READ | ACCEPT_JSON | ACCEPT_HEAP | ACCEPT_REST, usage, argc, argv,
                       &status)) {
        return status;
    }
    if (diff.options.rest_count < 2 || diff.options.rest_count > DIFF_SIDES) {
        message_print("give 2 to %d recordings to compare; `edenscope diff --help` shows the usage", DIFF_SIDES);
        return 1;
    }
    diff.runs = calloc((size_t)DIFF_SIDES * DIFF_FILES, sizeof *diff.runs);
    if (!diff.runs) {
        message_print("out of memory");
        return 1;
    }
    bool good = add_sides(&diff);
    status = !good;
    if (good && diff.options.json) {
        json_print_as(stdout, "edenscope/diff/1", diff_to_json(diff.sides, diff.count));
    } else if (good) {
        diff_print(stdout, diff.sides, diff.count);
    }
    free(diff.runs);
    return output_finish(stdout, "the comparison on standard output", status);
}
