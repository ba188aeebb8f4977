#include "heap/cgroup.h"
#include "eden_abi.h"
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The whole file, which is short, as a text. */
static bool read_text(const char *path, char *text, size_t size) {
    int file = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t length = file < 0 ? -1 : read(file, text, size - 1);
    if (file >= 0) {
        close(file);
    }
    text[length > 0 ? length : 0] = 0;
    return length > 0;
}

/* Heaps are made on small stacks, too: so longer paths are not looked at. */
enum { LONGEST = 1024 };

/* A file of the folder whose path has this length; what comes after that in `path` is written over. False: there is
 * none, as in the root of all groups. */
static bool read_in(char path[LONGEST], size_t length, const char *name, char *text, size_t size) {
    if (length + strlen(name) >= LONGEST) {
        return false;
    }
    memcpy(path + length, name, strlen(name) + 1);
    return read_text(path, text, size);
}

static uint64_t limit_of(char path[LONGEST], size_t length, const char *name) {
    char text[32], *end;
    if (!read_in(path, length, name, text, sizeof text)) {
        return EDEN_NO_LIMIT;
    }
    uint64_t bytes = strtoull(text, &end, 10);
    return end == text ? EDEN_NO_LIMIT : bytes; /* "max" */
}

static uint64_t memory_of(char path[LONGEST], size_t length) {
    uint64_t most = limit_of(path, length, "/memory.max"), high = limit_of(path, length, "/memory.high");
    return most < high ? most : high;
}

/* "QUOTA PERIOD", in microseconds. */
static uint64_t cpus_of(char path[LONGEST], size_t length) {
    char text[64], *end, *last;
    if (!read_in(path, length, "/cpu.max", text, sizeof text)) {
        return EDEN_NO_LIMIT;
    }
    uint64_t quota = strtoull(text, &end, 10), period = strtoull(end, &last, 10);
    return end == text || last == end || period == 0 ? EDEN_NO_LIMIT : quota / period + (quota % period != 0);
}

/* The path of version 2's hierarchy, which has number 0: "0::/a/b". NULL: there is none. */
static char *path_in(char *groups) {
    char *line = strncmp(groups, "0::/", 4) == 0 ? groups : strstr(groups, "\n0::/");
    char *path = line ? strchr(line, '/') : NULL;
    if (path) {
        path[strcspn(path, "\n")] = 0;
    }
    return path;
}

/* The least of the group, and of those above it. */
static uint64_t least_of(const char *self, const char *mount, uint64_t (*of)(char path[LONGEST], size_t length)) {
    char groups[LONGEST], folder[LONGEST];
    const char *path = read_text(self, groups, sizeof groups) ? path_in(groups) : NULL;
    int length = path ? snprintf(folder, sizeof folder, "%s%s", mount, path) : -1;
    if (length < 0 || (size_t)length >= sizeof folder) {
        return EDEN_NO_LIMIT;
    }
    uint64_t least = EDEN_NO_LIMIT;
    const size_t top = strlen(mount);
    for (size_t end = (size_t)length; end >= top;) {
        uint64_t most = of(folder, end);
        least = most < least ? most : least;
        if (end == top) {
            break;
        }
        folder[end] = 0;
        const char *slash = strrchr(folder, '/');
        end = slash && (size_t)(slash - folder) > top ? (size_t)(slash - folder) : top;
    }
    return least;
}

uint64_t cgroup_memory(const char *self, const char *mount) { return least_of(self, mount, memory_of); }

uint64_t cgroup_cpus(const char *self, const char *mount) { return least_of(self, mount, cpus_of); }
