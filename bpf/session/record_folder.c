#include "session/record_folder.h"
#include "recording/recording_sql.h"
#include "util/owner.h"
#include "util/temporary.h"
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

/* Whether nobody else can put another folder in the place of one that is made here: this folder and those above it
 * belong to the caller or to root, and others write in them only what stays theirs (sticky). Takes the descriptor. */
static bool is_private(int folder) {
    struct stat status, above;
    bool is_good = true, is_root = false;
    while (is_good && !is_root) {
        is_good = fstat(folder, &status) == 0 && owner_is_caller(status.st_uid) &&
                  (!(status.st_mode & (S_IWGRP | S_IWOTH)) || status.st_mode & S_ISVTX);
        int next = is_good ? openat(folder, "..", O_PATH | O_DIRECTORY | O_CLOEXEC) : -1;
        is_good = next >= 0 && fstat(next, &above) == 0;
        is_root = is_good && above.st_dev == status.st_dev && above.st_ino == status.st_ino;
        close(folder);
        folder = next;
    }
    if (folder >= 0) {
        close(folder);
    }
    return is_good;
}

/* Of a folder that is ours: nothing stands in it but what a command that was killed can leave. */
static bool has_leftovers_alone(int folder) {
    int listed = openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *names = listed >= 0 ? fdopendir(listed) : NULL;
    bool alone = names;
    for (const struct dirent *entry; alone && (entry = readdir(names)) != NULL;) {
        const char *name = entry->d_name;
        alone = strcmp(name, ".") == 0 || strcmp(name, "..") == 0 || strcmp(name, "eden.data") == 0 ||
                strcmp(name, "eden.data-journal") == 0;
    }
    if (names) {
        closedir(names);
    } else if (listed >= 0) {
        close(listed);
    }
    return alone;
}

/* Removes a folder that a killed command left. (A folder in use is locked.) */
static void sweep_folder(int parent, const char *name) {
    struct stat status;
    int folder = openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (folder < 0) {
        return;
    }
    if (fstat(folder, &status) == 0 && status.st_uid == geteuid() && (status.st_mode & 0777) == 0700 &&
        flock(folder, LOCK_EX | LOCK_NB) == 0 && has_leftovers_alone(folder)) {
        int file = openat(folder, "eden.data", O_RDONLY | O_NONBLOCK | O_NOFOLLOW | O_NOCTTY | O_CLOEXEC);
        struct file_look look = file >= 0 ? file_look(file) : (struct file_look){0};
        if (file >= 0 && look.kind == FILE_RECORDING && look.owner == geteuid() && !look.is_live) {
            unlinkat(folder, "eden.data-journal", 0);
            unlinkat(folder, "eden.data", 0);
        }
        if (file >= 0) {
            close(file);
        }
        unlinkat(parent, name, AT_REMOVEDIR); /* only if it is empty */
    }
    close(folder);
}

static void sweep(int parent) {
    int listed = openat(parent, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *names = listed >= 0 ? fdopendir(listed) : NULL;
    if (!names) {
        if (listed >= 0) {
            close(listed);
        }
        return;
    }
    for (const struct dirent *entry; (entry = readdir(names)) != NULL;) {
        const char *random = entry->d_name + strlen("edenscope-");
        if (strncmp(entry->d_name, "edenscope-", strlen("edenscope-")) == 0 && strlen(random) == 6 &&
            strspn(random, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789") == 6) {
            sweep_folder(parent, entry->d_name);
        }
    }
    closedir(names);
}

/* A new folder, locked; the descriptor holds the lock. Another one that sweeps may come first and take it away: then
 * there is another one. -1 with errno. */
static int make_locked(char *folder, const char *form, size_t size) {
    enum { TRIES = 100 };
    int held = -1;
    for (int i = 0; i < TRIES && held < 0; i++) {
        struct stat status;
        snprintf(folder, size, "%s", form);
        if (!mkdtemp(folder)) {
            return -1;
        }
        held = open(folder, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
        if (held >= 0 && flock(held, LOCK_EX) == 0 && fstat(held, &status) == 0 && status.st_nlink == 0) {
            close(held);
            held = -1;
        }
    }
    return held;
}

static bool make(struct record_folder *folder, struct failure *why) {
    char link[32], place[PATH_MAX - 32], form[PATH_MAX];
    const char *wanted = temporary_folder();
    int file = open(wanted, O_PATH | O_DIRECTORY | O_CLOEXEC);
    snprintf(link, sizeof link, "/proc/self/fd/%d", file);
    ssize_t length = file >= 0 ? readlink(link, place, sizeof place) : -1;
    if (length < 0 || (size_t)length >= sizeof place) {
        failure_set(why, 1, "%.300s: cannot record there: %s; set TMPDIR to another folder", wanted,
                    length < 0 ? strerror(errno) : "the name is too long");
        if (file >= 0) {
            close(file);
        }
        return false;
    }
    folder->parent = fcntl(file, F_DUPFD_CLOEXEC, 3);
    if (!is_private(file)) {
        return failure_set(why, 1, "%.300s: other users can change files there; set TMPDIR to a folder of yours",
                           wanted);
    }
    sweep(folder->parent);
    snprintf(form, sizeof form, "%.*s/edenscope-XXXXXX", (int)length, place);
    folder->held = make_locked(folder->name, form, sizeof folder->name);
    snprintf(folder->path, sizeof folder->path, "%s/eden.data", folder->name);
    return folder->held >= 0 || failure_set(why, 1, "%.300s: cannot record there: %s; set TMPDIR to another folder",
                                            folder->name, strerror(errno));
}

static void close_folder(const struct record_folder *folder) {
    if (folder->held >= 0) {
        close(folder->held);
    }
    if (folder->parent >= 0) {
        close(folder->parent);
    }
}

bool record_folder_make(struct record_folder *folder, struct failure *why) {
    folder->parent = folder->held = -1;
    bool made = make(folder, why);
    if (!made) {
        close_folder(folder);
    }
    return made;
}

void record_folder_remove(const struct record_folder *folder) {
    char journal[sizeof folder->path + 16];
    snprintf(journal, sizeof journal, "%s-journal", folder->path);
    unlink(journal);
    unlink(folder->path);
    rmdir(folder->name);
    close_folder(folder);
}
