#include "util/share.h"
#include "util/interrupt.h"
#include "util/message.h"
#include "util/owner.h"
#include "util/rights.h"
#include <acl/libacl.h>
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <limits.h>
#include <pwd.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/acl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

bool share_find_user(const char *name, uid_t *user, struct failure *why) {
    char *end;
    errno = 0;
    unsigned long number = strtoul(name, &end, 10);
    bool is_number = *name >= '0' && *name <= '9' && *end == '\0' && errno == 0 && number < (uid_t)-1;
    const struct passwd *entry = is_number ? getpwuid((uid_t)number) : getpwnam(name);
    if (!entry) {
        return failure_set(why, 1, "--user %.60s: there is no such user; give a name, or a number that has one", name);
    }
    *user = entry->pw_uid;
    return true;
}

/* In a process that has this user's rights for files, and is none of this user's: nobody else may stop or trace it. 1:
 * the user may not search the folder. Whose groups these are may be asked over a network, and the folder be FUSE. */
static int look_as(uid_t user, const char *path) {
    const struct passwd *entry = getpwuid(user);
    return entry && initgroups(entry->pw_name, entry->pw_gid) == 0 && rights_files_of(user, entry->pw_gid) &&
           open(path, O_PATH | O_CLOEXEC) < 0 && errno == EACCES;
}

/* Whether this user may search the open folder and those that lead to it. Only root can know: for others true. */
static bool is_within_reach(int folder, uid_t user) {
    enum { TRIES = 100 };
    const struct timespec pause = {.tv_nsec = 10000000};
    char self[32], path[PATH_MAX + 2];
    snprintf(self, sizeof self, "/proc/self/fd/%d", folder);
    ssize_t length = geteuid() == 0 ? readlink(self, path, PATH_MAX - 1) : -1;
    pid_t child = -1, ended = 0;
    int status = 0;
    if (length >= 0) {
        memcpy(path + length, "/.", sizeof "/.");
        child = fork();
    }
    if (child == 0) {
        interrupt_release();
        _exit(look_as(user, path));
    }
    for (int i = 0; child > 0 && i < TRIES && ended == 0 && !interrupt_is_counted(); i++) {
        nanosleep(&pause, NULL);
        ended = waitpid(child, &status, WNOHANG);
    }
    if (child > 0 && ended == 0) {
        kill(child, SIGKILL);
    }
    return ended != child || !WIFEXITED(status) || WEXITSTATUS(status) == 0;
}

static bool add_reader(acl_t *list, uid_t user) {
    acl_entry_t entry;
    acl_permset_t rights;
    return acl_create_entry(list, &entry) == 0 && acl_set_tag_type(entry, ACL_USER) == 0 &&
           acl_set_qualifier(entry, &user) == 0 && acl_get_permset(entry, &rights) == 0 &&
           acl_clear_perms(rights) == 0 && acl_add_perm(rights, ACL_READ) == 0 && acl_calc_mask(list) == 0;
}

/* From nothing: entries that the folder's default list gave the file, and its mode hid, must not come back. */
static bool share_file(int file, uid_t user) {
    acl_t list = acl_from_mode(0600);
    bool good = list && add_reader(&list, user) && acl_set_fd(file, list) == 0;
    int error = errno;
    if (list) {
        acl_free(list);
    }
    errno = error;
    return good;
}

bool share_with(int file, int folder, const uid_t *reader, const char *path, struct failure *why) {
    uid_t user;
    if (!reader && !owner_of_sudo(&user)) {
        return true;
    }
    user = reader ? *reader : user;
    if (share_file(file, user)) {
        if (reader && !is_within_reach(folder, user)) {
            message_print("%s: user %u may not search a folder that leads to it, and so cannot read it; permit that "
                          "(chmod o+x, or setfacl -m u:%u:x), or name a file elsewhere",
                          path, (unsigned)user, (unsigned)user);
        }
        return true;
    }
    if (reader) {
        return failure_set(why, 1, "%.200s: user %u cannot be allowed to read it: %s", path, (unsigned)user,
                           strerror(errno));
    }
    message_print("%s: the user who ran sudo cannot read it: %s", path, strerror(errno));
    return true;
}

bool share_like(int file, int model) {
    struct stat own, other;
    if (fstat(file, &own) != 0 || fstat(model, &other) != 0) {
        return false;
    }
    uid_t owner = geteuid() == 0 ? other.st_uid : own.st_uid;
    return ((own.st_uid == owner && own.st_gid == other.st_gid) || fchown(file, owner, other.st_gid) == 0) &&
           perm_copy_fd("", model, "", file, NULL) == 0;
}
