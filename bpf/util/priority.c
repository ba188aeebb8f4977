#include "util/priority.h"
#include "util/message.h"
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

enum { HIGHEST = -20 };

/* Whether the kernel gives each session an equal part first (autogroups): priorities count within a session then. */
static bool sessions_share(void) {
    char first = '0';
    int file = open("/proc/sys/kernel/sched_autogroup_enabled", O_RDONLY | O_CLOEXEC);
    if (file >= 0) {
        if (read(file, &first, 1) != 1) {
            first = '0';
        }
        close(file);
    }
    return first == '1' && access("/proc/self/autogroup", W_OK) == 0;
}

/* Of a session that was made for this: the priority is that of all its processes. */
static void raise_session(void) {
    static const char text[] = "-20";
    int file = open("/proc/self/autogroup", O_WRONLY | O_CLOEXEC);
    if (file >= 0) {
        /* What cannot be had is done without. */
        ssize_t written __attribute__((unused)) = write(file, text, sizeof text - 1);
        close(file);
    }
}

static int await(pid_t child) {
    int status;
    pid_t ended;
    do {
        ended = waitpid(child, &status, 0);
    } while (ended < 0 && errno == EINTR);
    if (ended != child || !WIFEXITED(status)) {
        message_print("the process that looks did not finish");
        return 1;
    }
    return WEXITSTATUS(status);
}

bool priority_raise(int *status) {
    errno = 0;
    const int before = getpriority(PRIO_PROCESS, 0);
    if (errno != 0 || before > 0 || setpriority(PRIO_PROCESS, 0, HIGHEST) != 0 || !sessions_share()) {
        return true;
    }
    const pid_t parent = getpid(), child = fork();
    if (child > 0) {
        *status = await(child);
        return false;
    }
    if (child == 0) {
        if (prctl(PR_SET_PDEATHSIG, SIGKILL) != 0 || getppid() != parent) {
            _exit(1);
        }
        if (setsid() > 0) {
            raise_session();
        }
    }
    return true;
}
