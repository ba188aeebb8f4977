#include "util/owner.h"
#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

bool owner_is_caller(uid_t owner) { return owner == 0 || owner == geteuid(); }

/* With an access control list, the bits of the group are those that the list grants at most. */
bool owner_writes_alone(const struct stat *status) { return (status->st_mode & (S_IWGRP | S_IWOTH)) == 0; }

bool owner_of_sudo(uid_t *user) {
    const char *text = geteuid() == 0 ? getenv("SUDO_UID") : NULL;
    char *end = NULL;
    errno = 0;
    unsigned long number = text ? strtoul(text, &end, 10) : 0;
    *user = (uid_t)number;
    return text && errno == 0 && end != text && *end == '\0' && number != 0 && number < (uid_t)-1;
}

bool owner_is_trusted(uid_t owner) {
    uid_t user;
    return owner_is_caller(owner) || (owner_of_sudo(&user) && user == owner);
}
