#include "replace.h"
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

bool replace_resolve(const char *path, char absolute[PATH_MAX]) {
    if (realpath(path, absolute)) {
        return true;
    }
    struct stat status;
    if (errno != ENOENT || lstat(path, &status) == 0) { /* a link that leads nowhere is refused */
        return false;
    }
    const char *slash = strrchr(path, '/');
    const char *name = slash ? slash + 1 : path;
    char folder[PATH_MAX];
    int length = snprintf(folder, sizeof folder, "%.*s", slash ? (int)(slash - path + 1) : 1, slash ? path : ".");
    if (length < 0 || (size_t)length >= sizeof folder || *name == '\0') {
        errno = *name == '\0' ? EISDIR : ENAMETOOLONG;
        return false;
    }
    if (!realpath(folder, absolute)) {
        return false;
    }
    size_t used = strlen(absolute);
    length = snprintf(absolute + used, PATH_MAX - used, "%s%s", used > 1 ? "/" : "", name);
    if (length < 0 || (size_t)length >= PATH_MAX - used) {
        errno = ENAMETOOLONG;
        return false;
    }
    return true;
}

static bool begins_with(int file, const char *mark) {
    char start[128];
    size_t length = strlen(mark);
    return length <= sizeof start && pread(file, start, length, 0) == (ssize_t)length &&
           memcmp(start, mark, length) == 0;
}

/* Nothing that is of worth to others must go. */
static bool may_replace(const struct replacement *replacement, const char *option, const char *mark, bool force,
                        struct failure *why) {
    struct stat status;
    if (stat(replacement->path, &status) != 0) {
        return errno == ENOENT || failure_set(why, 1, "%s %.200s: %m", option, replacement->path);
    }
    if (!S_ISREG(status.st_mode)) {
        return failure_set(why, 1, "%s %.200s: is not a plain file; name another one", option, replacement->path);
    }
    if (force || status.st_size == 0) {
        return true;
    }
    int file = open(replacement->path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
    bool ours = file >= 0 && begins_with(file, mark);
    if (file >= 0) {
        close(file);
    }
    return ours || failure_set(why, 1,
                               "%s %.200s: is a file but not one that edenscope wrote for this, so it is left alone; "
                               "name another one, or replace it with --force",
                               option, replacement->path);
}

bool replace_begin(struct replacement *replacement, const char *option, const char *path, const char *mark, bool force,
                   struct failure *why) {
    replacement->out = NULL;
    if (!replace_resolve(path, replacement->path)) {
        return failure_set(why, 1, "%s %.200s: %m; name another file", option, path);
    }
    if (!may_replace(replacement, option, mark, force, why)) {
        return false;
    }
    int length = snprintf(replacement->temporary, sizeof replacement->temporary, "%s.XXXXXX", replacement->path);
    if (length < 0 || (size_t)length >= sizeof replacement->temporary) {
        return failure_set(why, 1, "%s %.200s...: the name is too long", option, path);
    }
    int file = mkostemp(replacement->temporary, O_CLOEXEC);
    if (file < 0) {
        return failure_set(why, 1, "%s %.200s: can't make a file there: %m; name another place", option, path);
    }
    replacement->out = fdopen(file, "w");
    if (!replacement->out) {
        close(file);
        unlink(replacement->temporary);
        return failure_set(why, 1, "%s %.200s: no memory to write it", option, path);
    }
    return true;
}

/* mkostemp's file is for its owner only; others are to read this one as they could the one before. */
static mode_t mode_of(const struct replacement *replacement) {
    struct stat status;
    if (stat(replacement->path, &status) == 0) {
        return status.st_mode & 0777;
    }
    mode_t mask = umask(0);
    umask(mask);
    return 0666 & ~mask;
}

bool replace_finish(struct replacement *replacement, struct failure *why) {
    int file = fileno(replacement->out);
    errno = 0;
    bool written = fflush(replacement->out) == 0 && !ferror(replacement->out) &&
                   fchmod(file, mode_of(replacement)) == 0 && fsync(file) == 0 &&
                   rename(replacement->temporary, replacement->path) == 0;
    if (!written) {
        failure_set(why, 1, "%.200s: can't be written, and is as it was before: %s", replacement->path,
                    errno ? strerror(errno) : "is the disk full?");
        replace_abandon(replacement);
        return false;
    }
    fclose(replacement->out);
    replacement->out = NULL;
    return true;
}

void replace_abandon(struct replacement *replacement) {
    if (replacement->out) {
        unlink(replacement->temporary);
        fclose(replacement->out);
        replacement->out = NULL;
    }
}
