/* leaps: a program whose clock, which it lends to libeden, leaps by eleven days and back; for test_lifetimes.sh.
 *
 * Exit status 1 if something fails. */
#include "node_list.h"
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { NODES = 1000000, LEAP_SECONDS = 1000000, SLOTS = 1 };

static bool is_ahead;

int clock_gettime(clockid_t clock, struct timespec *time) {
    int status = (int)syscall(SYS_clock_gettime, clock, time);
    time->tv_sec += is_ahead ? LEAP_SECONDS : 0;
    return status;
}

int main(void) {
    struct node_list list;
    bool ok = node_list_begin(&list, SLOTS);
    for (int i = 0; ok && i < NODES; i++) {
        ok = eden_new(list.mutator, list.node) != EDEN_NONE;
        is_ahead = i % 100000 > 50000 && i % 100000 < 80000;
    }
    return node_list_end(&list, "leaps", ok);
}
