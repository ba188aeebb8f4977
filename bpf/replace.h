/* A file that takes another's place in one step: it is written beside it under a temporary name, and renamed when it is
 * whole. Whatever fails, and whenever, what stood at the path stands there still. */
#ifndef EDEN_REPLACE_H
#define EDEN_REPLACE_H

#include "failure.h"
#include <limits.h>
#include <stdio.h>

struct replacement {
    FILE *out; /* to write to; NULL: none is under way */
    char path[PATH_MAX];
    char temporary[PATH_MAX];
};

/* The absolute name of a file that need not exist, in a folder that must; links are followed, and one that leads
 * nowhere is refused. False with errno. */
bool replace_resolve(const char *path, char absolute[PATH_MAX]);

/* Makes the temporary file. Refused, with `why`, where a file stands at path that is neither empty nor begins with
 * `mark`, unless forced, and where something stands there that is no plain file. `option` is how the user named the
 * path: "-o". */
bool replace_begin(struct replacement *replacement, const char *option, const char *path, const char *mark, bool force,
                   struct failure *why);

/* Puts it in its place, with the rights of what it replaces, or those of any new file. False: it is gone, and what
 * stood there before stays. */
bool replace_finish(struct replacement *replacement, struct failure *why);

/* Removes what was written. Nothing to do after replace_finish. */
void replace_abandon(struct replacement *replacement);

#endif
