#include "cli/apart.h"
#include "util/interrupt.h"
#include "util/output.h"
#include <poll.h>
#include <signal.h>
#include <sys/pidfd.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

enum { LOOK_MS = 100 };

int read_apart(int (*read)(void *context), void *context, struct replacement *replacement, const char *name) {
    struct failure why;
    int status = 0;
    pid_t child = fork();
    if (child == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        interrupt_release();
        _exit(output_finish(replacement->out, replacement->path, read(context)));
    }
    /* A signal that comes just before poll() is seen a moment later. */
    struct pollfd end = {.fd = child > 0 ? pidfd_open(child, 0) : -1, .events = POLLIN};
    while (child > 0 && waitpid(child, &status, WNOHANG) == 0) {
        if (interrupt_count() > 0) {
            kill(child, SIGKILL);
        }
        poll(&end, 1, LOOK_MS);
    }
    if (end.fd >= 0) {
        close(end.fd);
    }
    if (interrupt_count() > 0) {
        return 128 + interrupt_last();
    }
    if (child < 0 || !WIFEXITED(status)) {
        failure_set(&why, 1, "%.200s: the process that reads it did not finish", name);
        return failure_report(&why);
    }
    if (WEXITSTATUS(status) == 0 && !replace_finish(replacement, &why)) {
        return failure_report(&why);
    }
    return WEXITSTATUS(status);
}
