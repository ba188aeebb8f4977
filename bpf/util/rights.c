#include "util/rights.h"
#include <errno.h>
#include <grp.h>
#include <stddef.h>
#include <sys/capability.h>
#include <sys/fsuid.h>
#include <unistd.h>

enum { NOGROUP = 65534 };

static bool set_files(cap_flag_value_t wanted) {
    /* CAP_SYS_PTRACE follows /proc/PID/cwd and root of others: past folders that are closed to the user. */
    static const cap_value_t files[] = {CAP_CHOWN,  CAP_DAC_OVERRIDE, CAP_DAC_READ_SEARCH,
                                        CAP_FOWNER, CAP_FSETID,       CAP_SYS_PTRACE};
    cap_t set = cap_get_proc();
    bool good = set != NULL;
    for (size_t i = 0; good && i < sizeof files / sizeof *files; i++) {
        cap_flag_value_t has = CAP_CLEAR;
        good = cap_get_flag(set, files[i], CAP_PERMITTED, &has) == 0 &&
               cap_set_flag(set, CAP_EFFECTIVE, 1, &files[i], has == CAP_SET ? wanted : CAP_CLEAR) == 0;
    }
    good = good && cap_set_proc(set) == 0;
    int error = errno;
    cap_free(set);
    errno = error;
    return good;
}

static bool set_user(uid_t user, gid_t group) {
    setfsgid(group);
    setfsuid(user);
    bool good = (uid_t)setfsuid((uid_t)-1) == user && (gid_t)setfsgid((gid_t)-1) == group;
    errno = good ? 0 : EPERM;
    return good;
}

bool rights_files_of_user(void) { return geteuid() == 0 || set_files(CAP_CLEAR); }

bool rights_files_of_all(void) {
    if (geteuid() != 0) {
        return set_files(CAP_SET);
    }
    bool is_changed = (uid_t)setfsuid((uid_t)-1) != 0 || (gid_t)setfsgid((gid_t)-1) != getegid();
    return !is_changed || (set_user(0, getegid()) && set_files(CAP_SET));
}

bool rights_files_of(uint32_t user, uint32_t group) { return set_user(user, group) && set_files(CAP_CLEAR); }

/* The kernel takes the capabilities for files away with user 0, but by a secure bit, and CAP_SYS_PTRACE never. */
bool rights_files_of_stranger(uint32_t user) {
    if (geteuid() != 0) {
        return set_files(CAP_CLEAR);
    }
    return (getgroups(0, NULL) == 0 || setgroups(0, NULL) == 0) && rights_files_of(user, NOGROUP);
}
