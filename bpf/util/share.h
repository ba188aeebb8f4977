/* Letting another user read a file of the caller's, by an access control list. */
#ifndef EDEN_SHARE_H
#define EDEN_SHARE_H

#include "util/failure.h"
#include <sys/types.h>

/* The id of a user, by name or number. False and why. */
bool share_find_user(const char *name, uid_t *user, struct failure *why);
/* From now on its owner may read and write the file, and this user read it; nobody else. reader NULL: the user who ran
 * sudo, if one did; a file system without such lists keeps that user from it, which is said, and no failure. Nor is a
 * folder that the reader may not search, of those that lead to the file. */
bool share_with(int file, int folder, const uid_t *reader, const char *path, struct failure *why);
/* From now on who may read or write the model may do so with the file, too; nobody else. Root gives it the model's
 * owner; others own it themselves. False with errno: it is as it was, or its owner's alone. */
bool share_like(int file, int model);

#endif
