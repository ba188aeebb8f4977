#include "interrupt.h"
#include <signal.h>
#include <stddef.h>

/* The only thing a signal handler can write to. */
static volatile sig_atomic_t count, last;

static void on_signal(int number) {
    count++;
    last = number;
}

static void install(int number) {
    struct sigaction before;
    struct sigaction action = {.sa_handler = on_signal};
    if (sigaction(number, NULL, &before) == 0 && before.sa_handler != SIG_IGN) {
        sigaction(number, &action, NULL);
    }
}

static const int ends[] = {SIGINT, SIGTERM, SIGHUP};

void interrupt_install(void) {
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) {
        install(ends[i]);
    }
}

void interrupt_uninstall(void) {
    struct sigaction now;
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) {
        if (sigaction(ends[i], NULL, &now) == 0 && now.sa_handler == on_signal) {
            signal(ends[i], SIG_DFL);
        }
    }
}

int interrupt_count(void) { return count; }
int interrupt_last(void) { return last; }

static void on_nothing(int signal_number) { (void)signal_number; }

void interrupt_none(int signal_number) {
    struct sigaction action = {.sa_handler = on_nothing};
    sigaction(signal_number, &action, NULL);
}
