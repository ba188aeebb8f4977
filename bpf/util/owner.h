/* Whose files and links the tool trusts: perf's rule. */
#ifndef EDEN_OWNER_H
#define EDEN_OWNER_H

#include <stdbool.h>
#include <sys/stat.h>

/* The caller (effective user) or root. */
bool owner_is_caller(uid_t owner);
/* The same, and for root the user who ran sudo. */
bool owner_is_trusted(uid_t owner);
/* For root: the user who ran sudo. False: nobody did, or it was root. */
bool owner_of_sudo(uid_t *user);
/* Whether its owner and root alone may write to it. */
bool owner_writes_alone(const struct stat *status);

#endif
