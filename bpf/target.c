/* Reading /proc of a process that may end, exec or be replaced by another at any moment, and that may live in another
 * mount namespace.
 *
 * A mapped file is opened by what refers to the very file, never by the path that the process knows it by:
 * /proc/PID/map_files/RANGE first (it needs CAP_SYS_ADMIN or CAP_CHECKPOINT_RESTORE), then /proc/PID/exe (it needs the
 * right to trace the process), then /proc/PID/root/PATH. What was opened must have the inode that the mapping has: else
 * the path leads to a file that has taken the mapped one's place. */
#include "target.h"
#include "event.h"
#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static FILE *open_proc(int pid, const char *name) {
    char path[128];
    snprintf(path, sizeof path, "/proc/%d/%s", pid, name);
    return fopen(path, "re");
}

int target_process_of(int pid) {
    FILE *file = open_proc(pid, "status");
    char line[256];
    int found = 0;
    while (file && fgets(line, sizeof line, file)) {
        if (sscanf(line, "Tgid: %d", &found) == 1) {
            break;
        }
    }
    if (file) {
        fclose(file);
    }
    return found;
}

uint64_t target_start_ns(int pid) {
    FILE *file = open_proc(pid, "stat");
    if (!file) {
        return 0;
    }
    char text[1024];
    size_t length = fread(text, 1, sizeof text - 1, file);
    fclose(file);
    text[length] = 0;
    /* The second field is the command in parentheses and may hold anything; the state is field 3, the start 22. */
    const char *at = strrchr(text, ')');
    if (!at || at[1] != ' ') {
        return 0;
    }
    at += 2;
    bool gone = *at == 'Z' || *at == 'X';
    for (int field = 3; field < 22; field++) {
        at = strchr(at, ' ');
        if (!at) {
            return 0;
        }
        at++;
        /* A first thread that has left is a zombie, too, while others go on: field 20 counts them all. */
        if (field + 1 == 20 && gone && strtoul(at, NULL, 10) <= 1) {
            return 0;
        }
    }
    return strtoull(at, NULL, 10) * PROCESS_START_STEP_NS;
}

void target_command(int pid, char command[64]) {
    FILE *file = open_proc(pid, "comm");
    size_t length = file ? fread(command, 1, 63, file) : 0;
    if (file) {
        fclose(file);
    }
    while (length > 0 && command[length - 1] == '\n') {
        length--;
    }
    command[length] = 0;
}

static bool parse_mapping(const char *line, struct mapping *mapping) {
    char rights[5] = "";
    int path = 0;
    *mapping = (struct mapping){0};
    uint32_t major, minor;
    if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %4s %" SCNx64 " %" SCNx32 ":%" SCNx32 " %" SCNu64 " %n", &mapping->start,
               &mapping->end, rights, &mapping->offset, &major, &minor, &mapping->inode, &path) < 7) {
        return false;
    }
    mapping->device = (uint64_t)major << 32 | minor;
    mapping->executable = rights[2] == 'x';
    if (path > 0) {
        snprintf(mapping->path, sizeof mapping->path, "%.*s", (int)strcspn(line + path, "\n"), line + path);
    }
    return mapping->inode != 0 && mapping->path[0] == '/';
}

bool target_mappings(int pid, bool (*on_mapping)(void *context, const struct mapping *mapping), void *context) {
    FILE *file = open_proc(pid, "maps");
    if (!file) {
        return false;
    }
    char *line = NULL;
    size_t size = 0;
    errno = 0;
    while (getline(&line, &size, file) > 0) {
        struct mapping mapping;
        if (parse_mapping(line, &mapping) && !on_mapping(context, &mapping)) {
            break;
        }
    }
    bool read = !ferror(file);
    int error = errno;
    free(line);
    fclose(file);
    errno = error;
    return read;
}

/* O_NONBLOCK: a name that leads to a pipe must not make us wait. */
static int open_same(const char *path, uint64_t inode) {
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
    struct stat status;
    if (fd >= 0 && (fstat(fd, &status) != 0 || !S_ISREG(status.st_mode) || status.st_ino != inode)) {
        close(fd);
        errno = ENOENT;
        return -1;
    }
    return fd;
}

int target_open_mapping(int pid, const struct mapping *mapping) {
    char path[512];
    snprintf(path, sizeof path, "/proc/%d/map_files/%" PRIx64 "-%" PRIx64, pid, mapping->start, mapping->end);
    int fd = open_same(path, mapping->inode);
    if (fd < 0) {
        snprintf(path, sizeof path, "/proc/%d/exe", pid);
        fd = open_same(path, mapping->inode);
    }
    if (fd < 0) {
        snprintf(path, sizeof path, "/proc/%d/root%s", pid, mapping->path);
        fd = open_same(path, mapping->inode);
    }
    return fd;
}

static void children_of_task(int pid, const char *task, void (*on_child)(void *context, int child), void *context) {
    char name[64];
    snprintf(name, sizeof name, "task/%.20s/children", task);
    FILE *file = open_proc(pid, name);
    int child;
    while (file && fscanf(file, "%d", &child) == 1) {
        on_child(context, child);
    }
    if (file) {
        fclose(file);
    }
}

void target_children(int pid, void (*on_child)(void *context, int child), void *context) {
    char path[64];
    snprintf(path, sizeof path, "/proc/%d/task", pid);
    DIR *tasks = opendir(path);
    struct dirent *entry;
    while (tasks && (entry = readdir(tasks))) {
        if (isdigit((unsigned char)entry->d_name[0])) {
            children_of_task(pid, entry->d_name, on_child, context);
        }
    }
    if (tasks) {
        closedir(tasks);
    }
}

void target_processes(void (*on_process)(void *context, int pid), void *context) {
    DIR *directory = opendir("/proc");
    struct dirent *entry;
    while (directory && (entry = readdir(directory))) {
        char *end;
        long pid = strtol(entry->d_name, &end, 10);
        if (pid > 0 && *end == 0) {
            on_process(context, (int)pid);
        }
    }
    if (directory) {
        closedir(directory);
    }
}
