/* Preloaded into a program that is measured: at its exit, appends to $SELFTIME one line
 * "wall_ns user_us system_us peak_kib name" of the program alone, from its own start. So a program's cost can be
 * separated from that of a tool that runs it. The peak is the most memory that was resident: VmHWM, for the maxrss of
 * getrusage also counts what the process was before it became this program, a copy of the one that started it. The file
 * is opened at the start: at its exit a program may not have the right any more.
 *
 * $SELFTIME_PIN, "NAME:CPU", has processes of this name run on this CPU only, and leaves alone what starts them. */
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

static uint64_t started;
static int output = -1;

static uint64_t wall_ns(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

/* 0: not known. */
static unsigned long peak_kib(void) {
    char line[256];
    unsigned long peak = 0;
    FILE *status = fopen("/proc/self/status", "re");
    while (status != NULL && fgets(line, sizeof line, status) != NULL) {
        if (strncmp(line, "VmHWM:", 6) == 0) {
            peak = strtoul(line + 6, NULL, 10);
        }
    }
    if (status != NULL) {
        fclose(status);
    }
    return peak;
}

static void pin(void) {
    const char *text = secure_getenv("SELFTIME_PIN"), *cpu = text == NULL ? NULL : strrchr(text, ':');
    size_t length = strlen(program_invocation_short_name);
    if (cpu == NULL || (size_t)(cpu - text) != length || memcmp(text, program_invocation_short_name, length) != 0) {
        return;
    }
    cpu_set_t cpus;
    CPU_ZERO(&cpus);
    CPU_SET(strtoul(cpu + 1, NULL, 10), &cpus);
    if (sched_setaffinity(0, sizeof cpus, &cpus) != 0) {
        perror(text);
        _exit(EXIT_FAILURE); /* what is measured then is not what was asked for */
    }
}

__attribute__((constructor)) static void start(void) {
    pin();
    const char *path = secure_getenv("SELFTIME");
    if (path != NULL && (output = open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0644)) < 0) {
        perror(path);
    }
    started = wall_ns();
}

__attribute__((destructor)) static void finish(void) {
    struct rusage usage;
    char line[256];
    if (output < 0 || getrusage(RUSAGE_SELF, &usage) != 0) {
        return;
    }
    int length = snprintf(line, sizeof line, "%llu %lld %lld %lu %.64s\n", (unsigned long long)(wall_ns() - started),
                          (long long)usage.ru_utime.tv_sec * 1000000 + usage.ru_utime.tv_usec,
                          (long long)usage.ru_stime.tv_sec * 1000000 + usage.ru_stime.tv_usec, peak_kib(),
                          program_invocation_short_name);
    if (write(output, line, (size_t)length) != length) {
        perror("SELFTIME");
    }
}
