/* Starts a command that waits before its first instruction until its probes are set. */
#ifndef EDEN_LAUNCH_H
#define EDEN_LAUNCH_H

#include "attach/libraries.h"
#include "session/source.h"

struct launch {
    int pid;         /* of the waiting child; 0: none */
    int go, outcome; /* pipes: a byte lets it go; what it says if it cannot */
    char *path;      /* the file that will be executed */
};

/* Finds the command as a shell would and forks a child for it, with assignment ("NAME=value") in its environment unless
 * that is NULL. False with status 126 or 127 as a shell gives them. */
bool launch_prepare(struct launch *launch, char *const *command, const char *assignment, struct failure *why);

/* Adds the files that the command will map, the executable and its libraries, then those of programs that it names and
 * may start in its own place. Executes none of them. Returns how many are the command's own. */
size_t launch_find_files(const struct launch *launch, char *const *command, struct libraries *files);

/* Lets the command go. False, with status 126 or 127, where it cannot be executed. */
bool launch_go(struct launch *launch, char *const *command, struct failure *why);

/* Gives up a command that was not let go. */
void launch_clear(struct launch *launch);

#endif
