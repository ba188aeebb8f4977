/* probe_gun: fires probes with known arguments, without a collector: what edenscope makes of them can be said ahead.
 *
 *     probe_gun SHOT...        SHOT is [Nx]PROBE[:ARGUMENT,...], ARGUMENT a number or text; missing ones are 0.
 *                              `took` is the time since the start probe of the same name, `wait` for a PROBE
 *                              prints "waiting PID" and reads a line from the standard input: so a collection lasts as
 * long as a test wants.
 *
 * For example `probe_gun heap__create:0x1000,1,demo 100000xscavenge__done:0x1000,1,250`. Links the probes alone. */
#include "shoot.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

struct gun {
    const char *name;
    void (*shoot)(const uint64_t *arg);
};
static const struct gun guns[EDEN_PROBE_COUNT] = {
#define EDEN_PROBE(name, doc, ...) {#name, shoot_##name},
#include "eden_probes.def"
#undef EDEN_PROBE
};

static const struct gun *find(const char *name) {
    for (int i = 0; i < EDEN_PROBE_COUNT; i++) {
        if (strcmp(guns[i].name, name) == 0) {
            return &guns[i];
        }
    }
    return NULL;
}

static uint64_t started_ns[EDEN_PROBE_COUNT]; /* when each probe was shot last */

static uint64_t now_ns(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

/* Of a done probe: since its start probe. */
static uint64_t took_ns(const struct gun *gun) {
    char start[64];
    snprintf(start, sizeof start, "%.*s__start", (int)(strlen(gun->name) - strlen("__done")), gun->name);
    const struct gun *begun = find(start);
    return begun ? now_ns() - started_ns[begun - guns] : 0;
}

/* A number, else the address of the text itself. */
static uint64_t value(const struct gun *gun, const char *text) {
    char *end;
    if (strcmp(text, "took") == 0) {
        return took_ns(gun);
    }
    uint64_t number = strtoull(text, &end, 0);
    return *end || end == text ? (uint64_t)(uintptr_t)text : number;
}

static int shot(char *text) {
    char *end;
    unsigned long long times = strtoull(text, &end, 10);
    if (end != text && *end == 'x') {
        text = end + 1;
    } else {
        times = 1;
    }
    if (strcmp(text, "wait") == 0) {
        char line[64];
        printf("waiting %d\n", getpid());
        fflush(stdout);
        return fgets(line, sizeof line, stdin) ? 0 : 1;
    }
    uint64_t arg[EDEN_PROBE_MAX_ARGS] = {0};
    char *rest = text;
    const struct gun *gun = find(strsep(&rest, ":"));
    if (!gun) {
        fprintf(stderr, "probe_gun: there is no probe %s\n", text);
        return 1;
    }
    for (int i = 0; rest && i < EDEN_PROBE_MAX_ARGS; i++) {
        arg[i] = value(gun, strsep(&rest, ","));
    }
    started_ns[gun - guns] = now_ns();
    for (unsigned long long i = 0; i < times; i++) {
        gun->shoot(arg);
    }
    return 0;
}

int main(int argc, char **argv) {
    for (int i = 1; i < argc; i++) {
        if (shot(argv[i]) != 0) {
            return 1;
        }
    }
    return 0;
}
