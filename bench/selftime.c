/* Preloaded into a program that is measured: at its exit, appends to $SELFTIME one line "wall_ns user_us system_us" of
 * the program alone, from its own start. So a program's cost can be told from that of a tool that runs it. */
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

static uint64_t started;

static uint64_t wall_ns(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

__attribute__((constructor)) static void start(void) { started = wall_ns(); }

__attribute__((destructor)) static void finish(void) {
    const char *path = secure_getenv("SELFTIME");
    struct rusage usage;
    char line[128];
    if (path == NULL || getrusage(RUSAGE_SELF, &usage) != 0) {
        return;
    }
    int length = snprintf(line, sizeof line, "%llu %lld %lld\n", (unsigned long long)(wall_ns() - started),
                          (long long)usage.ru_utime.tv_sec * 1000000 + usage.ru_utime.tv_usec,
                          (long long)usage.ru_stime.tv_sec * 1000000 + usage.ru_stime.tv_usec);
    int fd = open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0644);
    if (fd < 0 || write(fd, line, (size_t)length) != length) {
        perror(path);
    }
    close(fd);
}
