/* Opening a path that somebody else chose, as a program's loader or a script's interpreter. */
#ifndef EDEN_REGULAR_H
#define EDEN_REGULAR_H

/* Opens a regular file to read, without ever waiting for its other end. -1 with errno: EINVAL for a pipe, a device or
 * anything else that is no regular file, which is not opened at all. */
int regular_open(const char *path);

#endif
