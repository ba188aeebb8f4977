/* `-- COMMAND`, attached before its first instruction.
 *
 * 1. Algorithm
 * A child is forked and waits on a pipe. Meanwhile the parent finds the files that the program will map, and attaches
 * to those that carry probes, for the child's pid: the kernel sets the breakpoints as exec and the loader map the
 * files. Then a byte on the pipe lets the child exec.
 *
 * The libraries that a program needs are read from its file, by workers (libraries.c). Programs that the command names
 * among its arguments are treated alike: it may start them.
 *
 * 2. Invariants
 * I1. Nothing that the command or its files name is executed, or opened unless it is a regular file: these may be a
 *     stranger's, and the rights here are root's.
 * I2. The child is an ordinary child: not traced by ptrace, not killed with its parent, without a descriptor of ours
 *     after exec.
 *
 * 3. Failure
 * If the parent dies while the child waits, the child reads the pipe's end and exits. */
#include "session/launch.h"
#include "util/interrupt.h"
#include "util/stream.h"
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { CANNOT_EXECUTE = 126, NOT_FOUND = 127, MOST_WORDS = 256, MOST_NAMED = 16 };

static bool fail(struct failure *why, int status, const char *what, const char *reason) {
    return failure_set(why, status, "%.300s: %s", what, reason);
}

static bool fail_to_execute(struct failure *why, const char *name, int error) {
    name = *name ? name : "''";
    if (error == ENOENT) {
        return fail(why, NOT_FOUND, name, strchr(name, '/') ? strerror(error) : "command not found");
    }
    return fail(why, CANNOT_EXECUTE, name,
                error == EACCES ? "not executable, or not by you (chmod +x allows it)" : strerror(error));
}

/* ---- finding the file ------------------------------------------------------------------------------------------- */

static bool is_executable(const char *path, int *error) {
    struct stat status;
    if (stat(path, &status) != 0) {
        *error = errno;
        return false;
    }
    if (!S_ISREG(status.st_mode) || access(path, X_OK) != 0) {
        *error = S_ISDIR(status.st_mode) ? EISDIR : EACCES;
        return false;
    }
    return true;
}

static char *search_path(const char *name, int *error) {
    *error = ENOENT;
    if (strchr(name, '/')) {
        return is_executable(name, error) ? strdup(name) : NULL;
    }
    const char *at = getenv("PATH");
    at = at ? at : "/usr/local/bin:/usr/bin:/bin";
    int worst = ENOENT;
    while (*name) {
        size_t length = strcspn(at, ":");
        char *path = NULL;
        if (asprintf(&path, "%.*s%s%s", (int)length, at, length ? "/" : "./", name) < 0) {
            return NULL;
        }
        if (is_executable(path, error)) {
            return path;
        }
        worst = *error == EACCES ? EACCES : worst; /* a folder of that name is not meant */
        free(path);
        if (at[length] == 0) {
            break;
        }
        at += length + 1;
    }
    *error = worst;
    return NULL;
}

/* ---- finding the files that it maps ------------------------------------------------------------------------------ */

static bool find_files(struct libraries *files, const char *path) {
    /* Executable but not readable: what it is cannot be known, running it still works. */
    struct regular file;
    return libraries_open_program(files, 0, path, NULL, true, &file) && libraries_add(files, path, &file, NULL);
}

static void find_named_in(struct libraries *files, const char *argument, int *words, int *found) {
    static const char between[] = " \t\n;&|()<>{}\"'`$=";
    for (const char *at = argument; *(at += strspn(at, between)) && *words < MOST_WORDS && *found < MOST_NAMED;) {
        size_t length = strcspn(at, between);
        char *word = strndup(at, length);
        int error;
        char *path = !word ? NULL : strchr(word, '/') ? strdup(word) : search_path(word, &error);
        *found += path && find_files(files, path);
        free(path);
        free(word);
        at += length;
        ++*words;
    }
}

/* Whoever starts another program (env, nice, taskset, a shell's -c) names it among its arguments, or in the words of
 * one. What of these could be executed is attached to as well; what is never mapped costs nothing. */
static void find_named(struct libraries *files, char *const *command) {
    int words = 0, found = 0;
    for (int i = 1; command[i]; i++) {
        find_named_in(files, command[i], &words, &found);
    }
}

size_t launch_find_files(const struct launch *launch, char *const *command, struct libraries *files) {
    find_files(files, launch->path);
    size_t own = files->count;
    find_named(files, command);
    return own;
}

/* ---- the child -------------------------------------------------------------------------------------------------- */

static void child_waits(int go, int outcome, const char *path, char *const *command, const char *assignment) {
    char *variable = assignment ? strdup(assignment) : NULL;
    if (variable) {
        putenv(variable); /* stays in use */
    }
    interrupt_uninstall(); /* ^C while it waits is for it as well */
    char byte;
    ssize_t got;
    do {
        got = read(go, &byte, 1);
    } while (got < 0 && errno == EINTR);
    if (got != 1) {
        _exit(NOT_FOUND);
    }
    stream_return_output();
    execvp(path, command);
    int error = errno;
    ssize_t written = write(outcome, &error, sizeof error);
    (void)written;
    _exit(error == ENOENT ? NOT_FOUND : CANNOT_EXECUTE);
}

bool launch_prepare(struct launch *launch, char *const *command, const char *assignment, struct failure *why) {
    *launch = (struct launch){.go = -1, .outcome = -1};
    int error;
    launch->path = search_path(command[0], &error);
    if (!launch->path) {
        return fail_to_execute(why, command[0], error);
    }
    int go[2], outcome[2];
    if (pipe2(go, O_CLOEXEC) != 0) {
        return fail(why, 1, "pipe", strerror(errno));
    }
    if (pipe2(outcome, O_CLOEXEC) != 0) {
        close(go[0]), close(go[1]);
        return fail(why, 1, "pipe", strerror(errno));
    }
    fflush(NULL);
    launch->pid = fork();
    if (launch->pid == 0) {
        close(go[1]);
        close(outcome[0]);
        child_waits(go[0], outcome[1], launch->path, command, assignment);
    }
    error = errno;
    close(go[0]);
    close(outcome[1]);
    launch->go = go[1];
    launch->outcome = outcome[0];
    if (launch->pid < 0) {
        launch->pid = 0;
        return fail(why, 1, "fork", strerror(error));
    }
    return true;
}

bool launch_go(struct launch *launch, char *const *command, struct failure *why) {
    /* The child may have been killed while it waited: the write must not kill us. */
    struct sigaction ignore = {.sa_handler = SIG_IGN}, before;
    sigaction(SIGPIPE, &ignore, &before);
    ssize_t written = write(launch->go, "g", 1);
    (void)written;
    sigaction(SIGPIPE, &before, NULL);
    close(launch->go);
    launch->go = -1;
    int error = 0;
    ssize_t got;
    do {
        got = read(launch->outcome, &error, sizeof error);
    } while (got < 0 && errno == EINTR);
    close(launch->outcome);
    launch->outcome = -1;
    if (got == (ssize_t)sizeof error) {
        return fail_to_execute(why, command[0], error);
    }
    return true;
}

void launch_clear(struct launch *launch) {
    if (launch->go >= 0) {
        close(launch->go); /* a waiting child leaves by itself */
        while (launch->pid > 0 && waitpid(launch->pid, NULL, 0) < 0 && errno == EINTR) {
        }
    }
    if (launch->outcome >= 0) {
        close(launch->outcome);
    }
    free(launch->path);
    *launch = (struct launch){.go = -1, .outcome = -1};
}
