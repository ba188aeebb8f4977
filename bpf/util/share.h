/* Letting another user read a file of the caller's, by an access control list. */
#ifndef EDEN_SHARE_H
#define EDEN_SHARE_H

#include "util/failure.h"
#include <sys/types.h>

/* The id of a user, by name or number. False and why. */
bool share_find_user(const char *name, uid_t *user, struct failure *why);
/* Whether this user may search the open folder and those that lead to it. Only root can know: for others true. */
bool share_is_within_reach(int folder, uid_t user);
/* From now on its owner may read and write the file, and this user read it; nobody else. False with errno: ENOTSUP
 * where the file system has no such lists. */
bool share_file(int file, uid_t user);
/* From now on the file belongs to the model's owner, and who may read or write the model may do so with the file, too;
 * nobody else. False with errno. */
bool share_like(int file, int model);

#endif
