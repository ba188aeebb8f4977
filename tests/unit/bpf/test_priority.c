/* Who goes on with the highest priority, and that it ends with its caller. Each test plays in a child, for priorities
 * stay.
 */
#include "util/priority.h"
#include <signal.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "suite.h"

enum { WENT_ON = 7, PART_OF_SESSION = 1, HIGHEST = 2 };

/* Writes to `out` what the process has that goes on; returns what it ends with. */
static int raise_and_say(int out) {
    int status = 0;
    const pid_t self = getpid();
    if (!priority_raise(&status)) {
        return status;
    }
    char said = (char)(getpriority(PRIO_PROCESS, 0) == -20 ? HIGHEST : 0);
    if (getpid() == self || getsid(0) == self) { /* no session was made */
        said = (char)(said | PART_OF_SESSION);
    }
    return write(out, &said, 1) == 1 ? WENT_ON : 1;
}

/* Starts it with a priority; what it says can be read from *said. */
static pid_t start(int priority, bool waits, int *said) {
    int ends[2];
    assert_int_equal(pipe(ends), 0);
    const pid_t child = fork();
    if (child == 0) {
        close(ends[0]);
        if (setpriority(PRIO_PROCESS, 0, priority) != 0) {
            _exit(1);
        }
        int status = raise_and_say(ends[1]);
        while (waits && status == WENT_ON) {
            pause();
        }
        _exit(status);
    }
    assert_true(child > 0);
    close(ends[1]);
    *said = ends[0];
    return child;
}

static bool may_raise(void) {
    const int before = getpriority(PRIO_PROCESS, 0);
    const bool may = setpriority(PRIO_PROCESS, 0, -20) == 0;
    assert_true(!may || setpriority(PRIO_PROCESS, 0, before) == 0);
    return may;
}

static char said_by(int priority) {
    int file, status;
    char said;
    const pid_t child = start(priority, false, &file);
    assert_int_equal(read(file, &said, 1), 1);
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == WENT_ON); /* of the process that went on, by its caller */
    close(file);
    return said;
}

TEST(who_may_goes_before_others) {
    if (!may_raise()) {
        skip();
    }
    assert_true(said_by(0) & HIGHEST);
}

TEST(a_lower_priority_is_the_callers_wish) {
    if (getpriority(PRIO_PROCESS, 0) > 1) {
        skip();
    }
    assert_int_equal(said_by(1), PART_OF_SESSION);
}

/* The end of the file comes once both have ended. */
TEST(it_ends_with_its_caller) {
    int file, status;
    char said;
    if (!may_raise()) {
        skip();
    }
    const pid_t child = start(0, true, &file);
    assert_int_equal(read(file, &said, 1), 1);
    kill(child, SIGINT);
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(read(file, &said, 1), 0);
    close(file);
}
