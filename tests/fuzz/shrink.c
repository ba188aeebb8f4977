/* Shrinking: the shortest sequence of events that still fails, as found by removing ever smaller pieces. */
#include "fuzz.h"
#include <time.h>

/* Removes pieces, halving their size, as long as what is left still fails; at most `seconds`. */
static size_t shrink(struct event *events, size_t count, time_t seconds) {
    struct event *trial = need(malloc(count * sizeof *trial));
    char how[80];
    time_t end = time(NULL) + seconds;
    for (size_t piece = count / 2; piece != 0; piece /= 2) {
        for (size_t at = 0; at < count && time(NULL) < end;) {
            size_t gone = piece < count - at ? piece : count - at;
            memcpy(trial, events, at * sizeof *trial);
            memcpy(trial + at, events + at + gone, (count - at - gone) * sizeof *trial);
            if (fails(trial, count - gone, true, how, sizeof how)) {
                count -= gone;
                memcpy(events, trial, count * sizeof *trial);
            } else {
                at += gone;
            }
        }
    }
    free(trial);
    return count;
}

/* Shrinks a run that failed, and says what is left of it. */
size_t explain(struct event *events, size_t count) {
    char how[80];
    count = shrink(events, count, 60);
    printf("shrunk to %zu events (op a b c d):\n", count);
    for (size_t i = 0; i < count && i < 60; i++) {
        printf("  %zu: %u %u %u %u %u\n", i, events[i].op % 64, events[i].a, events[i].b, events[i].c, events[i].d);
    }
    setenv("EDEN_LOG", "-", 1); /* the collections that lead there */
    fails(events, count, false, how, sizeof how);
    unsetenv("EDEN_LOG");
    printf("these end with %s\n", how);
    return count;
}
