/* Where a file is to stand: an open folder and a name in it.
 *
 * The path is walked one name at a time through descriptors. Links of strangers are not followed: else a user who
 * may write in a folder of the path chooses which file the caller writes. Links of the caller, of root and of the user
 * who ran sudo are followed, also the last one. Hard links have no owner: what writes to a file in place, or trusts it,
 * asks place_is_strangers_link. */
#ifndef EDEN_PLACE_H
#define EDEN_PLACE_H

#include <limits.h>
#include <stdbool.h>

struct place {
    int folder; /* O_PATH; owned */
    char name[NAME_MAX + 1];
    bool is_dangling; /* a link leads there, and there is nothing */
    bool is_magic;    /* a link of the kernel's own in /proc, as /dev/stdout leads to: to be opened, not replaced */
};

/* The folder must exist, the file need not. False with errno; EPERM: a stranger's link. */
bool place_open(struct place *place, const char *path);
void place_close(struct place *place);

/* Whether the folder has been removed meanwhile, or before, as a working folder may be: no name in it will do. */
bool place_is_removed(const struct place *place);

/* Opens the file as openat(2). The last name is not followed if somebody made it a link since. */
int place_open_file(const struct place *place, int flags, unsigned mode);

/* Whether others than trusted users may write to the folder, or the kernel does not tell. */
bool place_is_shared(const struct place *place);

/* Opens to read each regular file of such a name that belongs to the caller, and closes it after the visit. Of others'
 * files, and of what is mounted, nobody is asked. `stops`: at a signal, with what was visited by then, for strangers
 * may have filled the folder. */
void place_each_file(const struct place *place, bool (*is_wanted)(const void *place, const char *name), bool stops,
                     void (*visit)(void *context, const char *name, int file), void *context);

/* Whether an open file is the one that has this name in the folder. */
bool place_names(int folder, const char *name, int file);

/* Of a link of the kernel's own that leads to this open file: goes to where the file stands. False with errno: it has
 * no name there any more, or the caller cannot get there. */
bool place_follow_magic(struct place *place, int file);

/* Whether an open regular file may have been opened by a stranger's hard link: it has another name than this one, and
 * stands in a folder that others than trusted users may write to. Elsewhere hard links are the operator's own. */
bool place_is_strangers_link(const struct place *place, const char *name, int file);

#endif
