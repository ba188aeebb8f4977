#include "util/place.h"
#include "util/interrupt.h"
#include "util/owner.h"
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

enum { LINKS_MOST = 40 };

/* What is left of a path. */
struct walk {
    int folder; /* -1: it could not be opened */
    int links;
    bool is_last_link; /* the last name was that of a link */
    char rest[PATH_MAX];
};

static bool fail(int error) {
    errno = error;
    return false;
}

static bool enter(struct walk *walk, const char *name, int flags) {
    int next = openat(walk->folder, name, O_PATH | O_DIRECTORY | O_CLOEXEC | flags);
    int error = errno;
    if (walk->folder >= 0) {
        close(walk->folder);
    }
    walk->folder = next;
    return next >= 0 || fail(error);
}

/* Takes the first name off the rest. *is_last: nothing stands behind it. */
static bool next_name(struct walk *walk, char name[NAME_MAX + 1], bool *is_last) {
    size_t start = strspn(walk->rest, "/"), length = strcspn(walk->rest + start, "/");
    if (length > NAME_MAX) {
        return fail(ENAMETOOLONG);
    }
    memcpy(name, walk->rest + start, length);
    name[length] = '\0';
    *is_last = walk->rest[start + length] == '\0';
    memmove(walk->rest, walk->rest + start + length, strlen(walk->rest + start + length) + 1);
    return true;
}

/* Puts what the link holds before the rest. */
static bool follow(struct walk *walk, const char *name) {
    char target[PATH_MAX], rest[PATH_MAX];
    ssize_t length = readlinkat(walk->folder, name, target, sizeof target - 1);
    if (length <= 0) {
        return length < 0 ? false : fail(ENOENT);
    }
    target[length] = '\0';
    walk->is_last_link = walk->is_last_link || walk->rest[0] == '\0';
    if (++walk->links > LINKS_MOST) {
        return fail(ELOOP);
    }
    length = snprintf(rest, sizeof rest, "%s%s", target, walk->rest);
    if (length < 0 || (size_t)length >= sizeof rest) {
        return fail(ENAMETOOLONG);
    }
    memcpy(walk->rest, rest, (size_t)length + 1);
    return target[0] != '/' || enter(walk, "/", 0);
}

/* Links of /proc lead to what is open, and not to a name. Only the kernel can follow them. */
static bool is_magic(const struct walk *walk) {
    struct statfs system;
    return fstatfs(walk->folder, &system) == 0 && system.f_type == PROC_SUPER_MAGIC;
}

/* One name. *is_done: it is the last one, and stands in place->name. */
static bool step(struct walk *walk, struct place *place, bool *is_done) {
    bool is_last;
    struct stat status;
    if (!next_name(walk, place->name, &is_last)) {
        return false;
    }
    const char *name = place->name;
    if (!*name || strcmp(name, ".") == 0 || strcmp(name, "..") == 0) {
        return is_last ? fail(EISDIR) : enter(walk, name, 0);
    }
    bool exists = fstatat(walk->folder, name, &status, AT_SYMLINK_NOFOLLOW) == 0;
    if (!exists || !S_ISLNK(status.st_mode)) {
        *is_done = is_last;
        place->is_dangling = !exists && walk->is_last_link;
        return is_last ? exists || errno == ENOENT : enter(walk, name, O_NOFOLLOW);
    }
    if (!owner_is_trusted(status.st_uid)) {
        return fail(EPERM);
    }
    if (!is_magic(walk)) {
        return follow(walk, name);
    }
    place->is_magic = *is_done = is_last;
    return is_last || enter(walk, name, 0);
}

bool place_open(struct place *place, const char *path) {
    struct walk walk = {.folder = -1};
    *place = (struct place){.folder = -1};
    size_t length = strlen(path);
    if (length == 0 || length >= sizeof walk.rest) {
        return fail(length ? ENAMETOOLONG : ENOENT);
    }
    memcpy(walk.rest, path, length + 1);
    walk.folder = open(path[0] == '/' ? "/" : ".", O_PATH | O_DIRECTORY | O_CLOEXEC);
    bool is_done = false, good = walk.folder >= 0;
    while (good && !is_done) {
        good = step(&walk, place, &is_done);
    }
    int error = errno;
    place->folder = walk.folder;
    if (!good) {
        place_close(place);
    }
    errno = error;
    return good;
}

void place_close(struct place *place) {
    if (place->folder >= 0) {
        close(place->folder);
    }
    place->folder = -1;
}

bool place_is_removed(const struct place *place) {
    struct stat folder;
    return fstat(place->folder, &folder) == 0 && folder.st_nlink == 0;
}

/* -1: it is none of the caller's. */
static int open_own(int folder, const char *name) {
    struct statx status;
    char self[64];
    int own = -1, found = openat(folder, name, O_PATH | O_NOFOLLOW | O_CLOEXEC);
    /* What the kernel knows: the server of a file system would be asked otherwise. */
    if (found >= 0 && statx(found, "", AT_EMPTY_PATH | AT_STATX_DONT_SYNC, STATX_TYPE | STATX_UID, &status) == 0 &&
        (status.stx_attributes & STATX_ATTR_MOUNT_ROOT) == 0 && S_ISREG(status.stx_mode) &&
        status.stx_uid == geteuid()) {
        snprintf(self, sizeof self, "/proc/self/fd/%d", found);
        own = open(self, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
    }
    if (found >= 0) {
        close(found);
    }
    return own;
}

void place_each_file(const struct place *place, bool (*is_wanted)(const void *place, const char *name), bool stops,
                     void (*visit)(void *context, const char *name, int file), void *context) {
    int folder = openat(place->folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *names = folder >= 0 ? fdopendir(folder) : NULL;
    const struct dirent *entry;
    const int before = interrupt_count();
    if (!names) {
        if (folder >= 0) {
            close(folder);
        }
        return;
    }
    while ((!stops || interrupt_count() == before) && (entry = readdir(names)) != NULL) {
        int file = is_wanted(place, entry->d_name) ? open_own(place->folder, entry->d_name) : -1;
        if (file >= 0) {
            visit(context, entry->d_name, file);
            close(file);
        }
    }
    closedir(names);
}

bool place_names(int folder, const char *name, int file) {
    struct stat own, there;
    return fstat(file, &own) == 0 && fstatat(folder, name, &there, AT_SYMLINK_NOFOLLOW) == 0 &&
           own.st_dev == there.st_dev && own.st_ino == there.st_ino;
}

bool place_follow_magic(struct place *place, int file) {
    struct place found;
    char path[PATH_MAX];
    ssize_t length = readlinkat(place->folder, place->name, path, sizeof path - 1);
    if (length < 0) {
        return false;
    }
    path[length] = '\0';
    if (!place_open(&found, path)) {
        return false;
    }
    errno = ENOENT;
    bool good = place_names(found.folder, found.name, file);
    place_close(good ? place : &found);
    *place = good ? found : *place;
    return good;
}

bool place_is_shared(const struct place *place) {
    struct stat folder;
    return fstat(place->folder, &folder) != 0 || !owner_is_trusted(folder.st_uid) || !owner_writes_alone(&folder);
}

/* A stranger may take his link away once it is open: the file has one name then, and it is another one. So the name is
 * asked who it is and how many there are, in one answer. A file without a name has been replaced. */
bool place_is_strangers_link(const struct place *place, const char *name, int file) {
    struct stat own, there;
    if (fstat(file, &own) != 0) {
        return true;
    }
    if (!S_ISREG(own.st_mode) || own.st_nlink == 0 || !place_is_shared(place)) {
        return false;
    }
    return fstatat(place->folder, name, &there, AT_SYMLINK_NOFOLLOW) != 0 || there.st_dev != own.st_dev ||
           there.st_ino != own.st_ino || there.st_nlink != 1;
}

int place_open_file(const struct place *place, int flags, unsigned mode) {
    return openat(place->folder, place->name, flags | O_CLOEXEC | O_NOCTTY | (place->is_magic ? 0 : O_NOFOLLOW), mode);
}
