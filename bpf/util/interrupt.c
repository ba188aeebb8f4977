#include "util/interrupt.h"
#include <limits.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <unistd.h>

/* The only thing a signal handler can write to. */
static volatile sig_atomic_t count, last, count_before; /* count_before: of restore_at_end */
static void (*volatile restore_at_end)(void);

static void on_signal(int number) {
    count++;
    last = number;
    if (restore_at_end && count >= count_before + 2) {
        restore_at_end();
        _exit(128 + number);
    }
}

void interrupt_end_at_second(void (*restore)(void)) {
    restore_at_end = NULL;
    count_before = count;
    restore_at_end = restore;
}

/* Whatever a person or a limit may send to end a process. Real faults (SIGSEGV, SIGABRT) end it at once. */
static const int ends[] = {SIGINT,  SIGTERM, SIGHUP,  SIGQUIT, SIGALRM, SIGVTALRM, SIGPROF,
                           SIGXCPU, SIGUSR1, SIGUSR2, SIGPOLL, SIGPWR,  SIGSTKFLT};
enum { ENDS = sizeof ends / sizeof *ends };
static struct sigaction former[ENDS]; /* as interrupt_install found them */
static sigset_t blocked;              /* those of them that it found blocked */
static bool is_child_ignored, is_released;

static void unblock(int number) {
    sigset_t one, before;
    sigemptyset(&one);
    sigaddset(&one, number);
    if (sigprocmask(SIG_UNBLOCK, &one, &before) == 0 && sigismember(&before, number) == 1) {
        sigaddset(&blocked, number);
    }
}

/* Where SIGCHLD is ignored, a child leaves no status, and a wait for one never ends. */
static void heed_children(void) {
    struct sigaction now;
    if (sigaction(SIGCHLD, NULL, &now) == 0 && now.sa_handler == SIG_IGN) {
        signal(SIGCHLD, SIG_DFL);
        is_child_ignored = true;
    }
}

static void install(bool takes_ignored) {
    struct sigaction action = {.sa_handler = on_signal};
    for (size_t i = 0; i < ENDS; i++) {
        struct sigaction now;
        if (sigaction(ends[i], NULL, &now) == 0 && now.sa_handler != on_signal &&
            (now.sa_handler != SIG_IGN || (takes_ignored && (ends[i] == SIGINT || ends[i] == SIGQUIT)))) {
            former[i] = now;
            sigaction(ends[i], &action, NULL);
        }
        unblock(ends[i]);
    }
    heed_children();
}

void interrupt_install(void) { install(true); }
void interrupt_install_unless_ignored(void) { install(false); }

void interrupt_uninstall(void) {
    struct sigaction now;
    for (size_t i = 0; i < ENDS; i++) {
        if (sigaction(ends[i], NULL, &now) == 0 && now.sa_handler == on_signal) {
            sigaction(ends[i], &former[i], NULL);
        }
    }
    if (is_child_ignored) {
        signal(SIGCHLD, SIG_IGN);
    }
    sigprocmask(SIG_BLOCK, &blocked, NULL);
}

static void handle(const struct sigaction *action) {
    is_released = true;
    for (size_t i = 0; i < ENDS; i++) {
        struct sigaction now;
        if (sigaction(ends[i], NULL, &now) == 0 && now.sa_handler == on_signal) {
            sigaction(ends[i], action, NULL);
        }
    }
}

void interrupt_release(void) { handle(&(struct sigaction){.sa_handler = SIG_DFL}); }

static struct {
    int folder;
    char name[NAME_MAX + 1];
} unfinished; /* written before the handler that reads it is there */

static void on_end(int number) {
    unlinkat(unfinished.folder, unfinished.name, 0);
    raise(number); /* its action is the default again */
}

void interrupt_release_removing(int folder, const char *name) {
    unfinished.folder = folder;
    snprintf(unfinished.name, sizeof unfinished.name, "%s", name);
    handle(&(struct sigaction){.sa_handler = on_end, .sa_flags = (int)(SA_RESETHAND | SA_NODEFER)});
}

int interrupt_count(void) { return count; }
int interrupt_last(void) { return last; }
bool interrupt_is_counted(void) { return count > 0 && !is_released; }

static void on_nothing(int signal_number) { (void)signal_number; }

void interrupt_none(int signal_number) {
    struct sigaction action = {.sa_handler = on_nothing}, former_action;
    if (sigaction(signal_number, NULL, &former_action) == 0 && former_action.sa_handler != SIG_IGN) {
        sigaction(signal_number, &action, NULL);
    }
}
