/* A folder for a recording that goes away: of the commands that examine what they have recorded. */
#ifndef EDEN_RECORD_FOLDER_H
#define EDEN_RECORD_FOLDER_H

#include "util/failure.h"
#include <limits.h>

struct record_folder {
    char name[PATH_MAX], path[PATH_MAX + 16]; /* of the folder; of the recording in it */
    int parent;                               /* the folder that it is in, O_PATH */
    int held;                                 /* the folder, locked as long as this is open */
};

/* Makes it below TMPDIR, where nobody else can put another one in its place: SQLite puts a journal beside a recording.
 * Removes what commands left there that were killed. The name has no links, which could be turned. False and why:
 * there is none. */
bool record_folder_make(struct record_folder *folder, struct failure *why);
/* Removes it, and the recording. */
void record_folder_remove(const struct record_folder *folder);

#endif
