#include "util/replace.h"
#include "util/mark.h"
#include "util/owner.h"
#include "util/room.h"
#include "util/share.h"
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

static bool fail(const struct replacement *replacement, const char *what, struct failure *why) {
    return failure_set(why, 1, "%s %.200s: %s", replacement->option, replacement->path, what);
}

/* ---- making it --------------------------------------------------------------------------------------------------- */

enum { CHANCE = 6 }; /* letters of chance */

static bool random_name(const struct replacement *replacement, char name[NAME_MAX + 1]) {
    static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789";
    uint8_t bytes[CHANCE];
    int length = snprintf(name, NAME_MAX + 1, "%s.XXXXXX", replacement->place.name);
    if (length < 0 || length > NAME_MAX || getrandom(bytes, sizeof bytes, 0) != (ssize_t)sizeof bytes) {
        return false;
    }
    for (size_t i = 0; i < sizeof bytes; i++) {
        name[(size_t)length - sizeof bytes + i] = letters[bytes[i] % (sizeof letters - 1)];
    }
    return true;
}

enum { NAME_TRIES = 100 };

/* A file with a name, where there is none without. */
static int make_named(struct replacement *replacement) {
    for (int i = 0; i < NAME_TRIES; i++) {
        if (!random_name(replacement, replacement->temporary)) {
            break;
        }
        int file = openat(replacement->place.folder, replacement->temporary,
                          O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
        if (file >= 0 || errno != EEXIST) {
            return file;
        }
    }
    replacement->temporary[0] = '\0';
    return -1;
}

static int make_file(struct replacement *replacement) {
    int file = openat(replacement->place.folder, ".", O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
    return file >= 0 || (errno != EOPNOTSUPP && errno != EISDIR) ? file : make_named(replacement);
}

static bool open_file(struct replacement *replacement, struct failure *why) {
    replacement->file = replacement->place.folder >= 0 ? make_file(replacement) : -1;
    if (replacement->file < 0) {
        failure_set(why, 1, "%s %.200s: cannot create a file there: %m; name another file", replacement->option,
                    replacement->path);
        place_close(&replacement->place);
        return false;
    }
    replacement->is_open = true;
    return true;
}

/* What stands there, if anything does, may be nothing that a rename replaces. */
static const char *obstacle_in_place(const struct place *place, const struct statx *folder) {
    struct statx old;
    if (statx(place->folder, place->name, AT_SYMLINK_NOFOLLOW, STATX_UID, &old) != 0) {
        return NULL;
    }
    if ((old.stx_attributes & (STATX_ATTR_IMMUTABLE | STATX_ATTR_APPEND)) != 0) {
        return "protected from being replaced (chattr +i, +a); name another file";
    }
    if ((old.stx_attributes & STATX_ATTR_MOUNT_ROOT) != 0) {
        return "mounted, and cannot be replaced; name another file";
    }
    bool is_kept =
        (folder->stx_mode & S_ISVTX) != 0 && geteuid() != 0 && folder->stx_uid != geteuid() && old.stx_uid != geteuid();
    return is_kept ? "another user's, in a folder where only its owner may replace it; name another file" : NULL;
}

/* What could not be put in its place at the end is refused before anything is observed. NULL: it can be. */
static const char *find_obstacle(const struct replacement *replacement) {
    const struct place *place = &replacement->place;
    struct statx folder;
    if (place->is_magic) {
        return "not a regular file; name another one";
    }
    if (place->is_dangling) {
        return "a dangling link; name the file itself";
    }
    if (place_is_removed(place)) {
        return "its folder has been removed; name a file in another one";
    }
    if (strlen(place->name) + 1 + CHANCE > NAME_MAX) {
        return "the name is too long; name another file";
    }
    if (statx(place->folder, "", AT_EMPTY_PATH, STATX_UID | STATX_MODE, &folder) != 0) {
        return NULL;
    }
    if ((folder.stx_attributes & STATX_ATTR_APPEND) != 0) {
        return "its folder lets files be added only (chattr +a); name another file";
    }
    return obstacle_in_place(place, &folder);
}

bool replace_open(struct replacement *replacement, const char *option, const char *path, struct failure *why) {
    *replacement = (struct replacement){.option = option};
    int length = snprintf(replacement->path, sizeof replacement->path, "%s", path);
    if (length < 0 || (size_t)length >= sizeof replacement->path) {
        return failure_set(why, 1, "%s %.200s...: the name is too long", option, path);
    }
    if (!place_open(&replacement->place, path)) {
        return failure_set(why, 1, "%s %.200s: %s; name another file", option, path,
                           errno == EPERM ? "leads through another user's link" : strerror(errno));
    }
    const char *obstacle = find_obstacle(replacement);
    if (obstacle) {
        place_close(&replacement->place);
        return fail(replacement, obstacle, why);
    }
    return open_file(replacement, why);
}

bool replace_open_beside(struct replacement *replacement, const struct replacement *other, struct failure *why) {
    *replacement = (struct replacement){
        .option = other->option, .place = other->place, .is_taken = other->is_taken, .found = other->found};
    memcpy(replacement->path, other->path, sizeof replacement->path);
    replacement->place.folder = fcntl(other->place.folder, F_DUPFD_CLOEXEC, 0);
    return open_file(replacement, why);
}

/* ---- what stands there ------------------------------------------------------------------------------------------- */

static bool stands(const struct replacement *replacement, struct stat *status) {
    return fstatat(replacement->place.folder, replacement->place.name, status, AT_SYMLINK_NOFOLLOW) == 0;
}

bool replace_look(struct replacement *replacement, struct failure *why) {
    replacement->is_taken = stands(replacement, &replacement->found);
    return replacement->is_taken || errno == ENOENT || fail(replacement, strerror(errno), why);
}

/* The same file, and not changed since: its inode may be that of another one that was removed. The time of its last
 * change nobody can put back, but where a file system counts seconds, two changes may have the same. */
static bool is_same(const struct stat *one, const struct stat *other) {
    return one->st_dev == other->st_dev && one->st_ino == other->st_ino && one->st_size == other->st_size &&
           one->st_ctim.tv_sec == other->st_ctim.tv_sec && one->st_ctim.tv_nsec == other->st_ctim.tv_nsec &&
           one->st_mtim.tv_sec == other->st_mtim.tv_sec && one->st_mtim.tv_nsec == other->st_mtim.tv_nsec &&
           one->st_mode == other->st_mode && one->st_uid == other->st_uid && one->st_gid == other->st_gid;
}

static bool fail_changed(const struct replacement *replacement, struct failure *why) {
    return failure_set(why, 1,
                       "%s %.200s: another program has put a file there, or changed it, meanwhile; it stays, and the "
                       "new one is discarded; name another file",
                       replacement->option, replacement->path);
}

bool replace_is_as_it_was(const struct replacement *replacement, struct failure *why) {
    struct stat status;
    if (!stands(replacement, &status)) {
        return errno == ENOENT || fail(replacement, strerror(errno), why);
    }
    return (replacement->is_taken && is_same(&status, &replacement->found)) || fail_changed(replacement, why);
}

/* Nothing that is of worth to others must go. */
static bool may_replace(struct replacement *replacement, const char *mark, bool force, struct failure *why) {
    if (!replace_look(replacement, why)) {
        return false;
    }
    if (!replacement->is_taken) {
        return true;
    }
    const struct stat *status = &replacement->found;
    if (!S_ISREG(status->st_mode)) {
        return fail(replacement, "not a regular file; name another one", why);
    }
    if (!force && !owner_is_trusted(status->st_uid)) {
        return fail(replacement,
                    replacement->has_force ? "belongs to another user; name another file, or replace it with --force"
                                           : "belongs to another user; name another file",
                    why);
    }
    if (!mark_spares_recording(&replacement->place, replacement->option, replacement->path, why)) {
        return false;
    }
    if (force || status->st_size == 0) {
        return true;
    }
    int file = place_open_file(&replacement->place, O_RDONLY | O_NONBLOCK, 0);
    bool ours = file >= 0 && mark_begins(file, mark);
    if (file >= 0) {
        close(file);
    }
    return ours || fail(replacement,
                        replacement->has_force
                            ? "exists and is not a file of this kind, so it is not replaced; name another file, or "
                              "replace it with --force"
                            : "exists and is not a file of this kind, so it is not replaced; name another file",
                        why);
}

/* Only a rename replaces what stands there in one step, and it takes a name. */
static bool give_name(struct replacement *replacement) {
    char self[32];
    snprintf(self, sizeof self, "/proc/self/fd/%d", replacement->file);
    for (int i = 0; i < NAME_TRIES && replacement->temporary[0] == '\0'; i++) {
        char name[NAME_MAX + 1];
        if (!random_name(replacement, name)) {
            return false;
        }
        if (linkat(AT_FDCWD, self, replacement->place.folder, name, AT_SYMLINK_FOLLOW) == 0) {
            memcpy(replacement->temporary, name, sizeof name);
        } else if (errno != EEXIST) {
            return false;
        }
    }
    return replacement->temporary[0] != '\0';
}

/* What may be done with the file before may be done with this one. Where those rights can't be given, it stays its
 * owner's alone, as does one whose file before has changed: it is discarded. */
static bool give_rights(const struct replacement *replacement) {
    struct stat status;
    bool is_new = !replacement->is_taken || !owner_is_trusted(replacement->found.st_uid);
    int old = is_new ? -1 : place_open_file(&replacement->place, O_RDONLY | O_NONBLOCK, 0);
    if (old >= 0) {
        is_new = place_is_strangers_link(&replacement->place, replacement->place.name, old);
        if (!is_new && fstat(old, &status) == 0 && is_same(&status, &replacement->found)) {
            share_like(replacement->file, old);
        }
        close(old);
    }
    mode_t mask = umask(0);
    umask(mask);
    return !is_new || fchmod(replacement->file, 0666 & ~mask) == 0;
}

bool replace_begin(struct replacement *replacement, const char *option, const char *path, const char *mark,
                   enum replace_how how, struct failure *why) {
    if (!replace_open(replacement, option, path, why)) {
        return false;
    }
    replacement->has_force = how != REPLACE_PRIVATE;
    if (!may_replace(replacement, mark, how == REPLACE_FORCED, why)) {
        replace_abandon(replacement);
        return false;
    }
    /* Now, for later the caller's rights may be gone: then it can't name a file that is another user's. */
    struct stat own;
    bool good = how == REPLACE_PRIVATE || (give_rights(replacement) && fstat(replacement->file, &own) == 0 &&
                                           (own.st_uid == geteuid() || give_name(replacement)));
    replacement->out = good ? fdopen(replacement->file, "w") : NULL;
    if (!replacement->out) {
        fail(replacement, strerror(errno), why);
        replace_abandon(replacement);
        return false;
    }
    return true;
}

/* ---- the end ----------------------------------------------------------------------------------------------------- */

static bool fail_unchanged(const struct replacement *replacement, struct failure *why) {
    return failure_set(why, 1, "%.200s: cannot be written, and is unchanged: %m", replacement->path);
}

/* What comes at the last moment is safe where nothing stood, and the file system can rename without replacing. */
static bool rename_to_place(const struct replacement *replacement, struct failure *why) {
    const char *from = replacement->temporary, *to = replacement->place.name;
    int folder = replacement->place.folder;
    if (renameat2(folder, from, folder, to, RENAME_NOREPLACE) == 0) {
        return true;
    }
    return replace_is_as_it_was(replacement, why) &&
           (renameat(folder, from, folder, to) == 0 || fail_unchanged(replacement, why));
}

bool replace_publish(struct replacement *replacement, struct failure *why) {
    if (!give_name(replacement)) {
        return fail_unchanged(replacement, why);
    }
    if (!rename_to_place(replacement, why)) {
        return false;
    }
    replacement->temporary[0] = '\0';
    return true;
}

/* What can't be looked at any more is taken to be there. */
static bool is_at_path(const struct replacement *replacement) {
    struct stat own, there;
    if (stat(replacement->path, &there) != 0) {
        return errno != ENOENT && errno != ENOTDIR;
    }
    return fstat(replacement->file, &own) == 0 && own.st_dev == there.st_dev && own.st_ino == there.st_ino;
}

static bool fail_moved(const struct replacement *replacement, struct failure *why) {
    return failure_set(why, 1, "%s %.200s: its folder was moved meanwhile, and the new file is in it",
                       replacement->option, replacement->path);
}

bool replace_finish(struct replacement *replacement, struct failure *why) {
    errno = 0;
    bool written = fflush(replacement->out) == 0 && !ferror(replacement->out) && fsync(replacement->file) == 0;
    if (!written) {
        const int error = errno || room_is_left(replacement->file, 1) ? errno : ENOSPC;
        char text[ROOM_TEXT];
        failure_set(why, 1, "%.200s: cannot be written, and is unchanged: %s%s", replacement->path,
                    error ? room_error(error, text) : "a write failed before", room_advice(error));
    }
    written = written && replace_publish(replacement, why) && (is_at_path(replacement) || fail_moved(replacement, why));
    replace_abandon(replacement);
    return written;
}

void replace_abandon(struct replacement *replacement) {
    if (!replacement->is_open) {
        return;
    }
    if (replacement->temporary[0]) {
        unlinkat(replacement->place.folder, replacement->temporary, 0);
    }
    if (replacement->out) {
        fclose(replacement->out);
    } else {
        close(replacement->file);
    }
    place_close(&replacement->place);
    replacement->is_open = false;
}
