/* A file that takes another's place in one step: it is written without a name in the same folder, and gets its name
 * when it is whole. Whatever fails, and whenever, what stood at the path stands there still, and nothing is left over.
 * What came there meanwhile, or was changed, stays, too: the new file goes instead.
 * (Where the file system knows no files without a name, or the file becomes another user's, it has one of its own,
 * NAME.XXXXXX, until then: its user counts signals (interrupt.h), and abandons it.) */
#ifndef EDEN_REPLACE_H
#define EDEN_REPLACE_H

#include "util/failure.h"
#include "util/place.h"
#include <stdio.h>
#include <sys/stat.h>

struct replacement {
    bool is_open; /* false: there is none, and the rest means nothing */
    int file;     /* the descriptor to write to; owned where `out` is NULL */
    FILE *out;    /* the stream on it; NULL: none */
    struct place place;
    char temporary[NAME_MAX + 1]; /* its name in the folder; "": it has none yet */
    const char *option;           /* how the user named the path: "-o" */
    bool has_force;               /* --force would replace what is there */
    bool is_taken;                /* replace_look has found a file at the path */
    struct stat found;            /* of that */
    char path[PATH_MAX];          /* as given */
};

/* Makes the file, for its owner only. False and why: nothing is to be abandoned. */
bool replace_open(struct replacement *replacement, const char *option, const char *path, struct failure *why);

/* Makes one more for the same place, and not for where the path may lead by now; it may replace what `other` may. */
bool replace_open_beside(struct replacement *replacement, const struct replacement *other, struct failure *why);

/* Looks at what stands at the path: this is what may be replaced. Before, nothing may. False and why. */
bool replace_look(struct replacement *replacement, struct failure *why);
/* Whether it stands there still as it was, or nothing does any more. False and why. */
bool replace_is_as_it_was(const struct replacement *replacement, struct failure *why);

enum replace_how {
    REPLACE_OURS,    /* what begins with `mark`; --force would replace others */
    REPLACE_FORCED,  /* what is there */
    REPLACE_PRIVATE, /* as REPLACE_OURS, without a --force; for its owner only, until the caller shares it */
};

/* The same, with a stream. Refused where a file stands at path that is neither empty nor begins with `mark`, or belongs
 * to another user, unless forced, and where something stands there that is no plain file. */
bool replace_begin(struct replacement *replacement, const char *option, const char *path, const char *mark,
                   enum replace_how how, struct failure *why);

/* Puts it in its place, unless another file came there, or the one there changed, since replace_look. False and why:
 * what stands there stays. */
bool replace_publish(struct replacement *replacement, struct failure *why);

/* The same for a stream that replace_begin opened, written to the disk, with the owner and the rights of what it
 * replaces where they can be given, else for its owner only; where it replaces nothing, or a stranger's, with those of
 * any new file. Frees the replacement in any case. */
bool replace_finish(struct replacement *replacement, struct failure *why);

/* Frees it, and what was written if it was not published. Nothing to do after replace_finish. */
void replace_abandon(struct replacement *replacement);

#endif
