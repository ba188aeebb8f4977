#include "rights.h"
#include <errno.h>
#include <stddef.h>
#include <sys/capability.h>
#include <unistd.h>

static bool set_files(cap_flag_value_t wanted) {
    /* CAP_SYS_PTRACE follows /proc/PID/cwd and root of others: past folders that are closed to the user. */
    static const cap_value_t files[] = {CAP_CHOWN,  CAP_DAC_OVERRIDE, CAP_DAC_READ_SEARCH,
                                        CAP_FOWNER, CAP_FSETID,       CAP_SYS_PTRACE};
    if (geteuid() == 0) {
        return true;
    }
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

bool rights_files_of_user(void) { return set_files(CAP_CLEAR); }
bool rights_files_of_all(void) { return set_files(CAP_SET); }
