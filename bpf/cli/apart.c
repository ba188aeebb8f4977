#include "cli/apart.h"
#include "util/interrupt.h"
#include "util/output.h"
#include <errno.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

int read_apart(int (*read)(void *context), void *context, struct replacement *replacement, const char *name) {
    struct failure why;
    int status = 0;
    pid_t child = fork();
    if (child == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        interrupt_release();
        _exit(output_finish(replacement->out, replacement->path, read(context)));
    }
    do {
        if (child > 0 && interrupt_count() > 0) {
            kill(child, SIGKILL);
        }
    } while (child > 0 && waitpid(child, &status, 0) < 0 && errno == EINTR);
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
