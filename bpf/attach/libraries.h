/* The files that a program maps: itself, its loader and its libraries, found without running anything of them. */
#ifndef EDEN_LIBRARIES_H
#define EDEN_LIBRARIES_H

#include "attach/inspect/inspect.h"
#include <limits.h>
#include <stdbool.h>
#include <stddef.h>

enum { LIBRARIES_MOST = 256 };

struct library {
    char *path;          /* owned; for messages */
    struct regular file; /* owned */
    size_t from;         /* index of the file that needs it; its own: none */
    uint32_t user;       /* by whose rights the files that it names are opened; 0: the tool's */
    struct needs *needs; /* what it says of itself; owned; its text is cut after what is used */
};

/* What directs a loader beside the files. */
struct loader_environment {
    const char *library_path, *preload; /* LD_LIBRARY_PATH, LD_PRELOAD; NULL: none */
    bool is_known;                      /* it has no others that count, and the process has the tool's root folder */
    bool is_own;                        /* the tool's, whose current folder it is */
};

struct libraries {
    struct library file[LIBRARIES_MOST];
    size_t count;
    char **name; /* names that were searched for the program under way; owned, as the array */
    size_t names, name_room;
    size_t opened; /* how many paths were tried */
    /* The loader may map other files than were found: one could not be opened or read, or is nowhere to be found, or
     * depends on what is not known of the process. */
    bool is_partial;
    struct loader_environment environment; /* of the program under way */
    char *cache;                           /* what ldconfig -p prints; owned */
    char *preload;                         /* what /etc/ld.so.preload says; owned; NULL: nothing */
    struct inspect *inspect;
    /* No process: for whom is searched, and what searching for the user's owner has cost (inspect.h). */
    struct target budget;
    struct target *budgets;    /* of the other owners; owned */
    size_t owners, owner_room; /* budgets */
};

/* Runs ldconfig and reads the system's files: before the rights to do so are given up. */
void libraries_open(struct libraries *libraries, struct inspect *inspect);

/* From now on, searches are for this user (0, as at first: the tool), which chose or executed the program, and an owner
 * (target_owner) pays for them. Time without searches adds nothing to what an owner may spend on one: a search blocks
 * the tool. */
void libraries_charge(struct libraries *libraries, uint32_t user, uint32_t owner);

/* Adds a program, or a script's interpreter, and all that its loader will map with it. What a file of root names is
 * opened by the rights of the user. Takes the file. False, and the file closed, where it is no ELF file for x86-64 or
 * there is no room. A library that is not found is left out. `environment`: NULL, the tool's own. */
bool libraries_add(struct libraries *libraries, const char *path, struct regular *file,
                   const struct loader_environment *environment);

/* The folder of a file, for $ORIGIN: links are followed, as for /proc/self/exe. */
void libraries_folder_of(int fd, char folder[PATH_MAX]);

/* Opens a program by a path, as inspect_open_path(), by the rights of a user (0: the tool's) and within the search's
 * budget. Says so if that takes too long. */
bool libraries_open_program(struct libraries *libraries, uint32_t rights, const char *path,
                            const struct file_identity *wanted, bool is_executable, struct regular *file);

/* Closes the files. The next search has what is left of its owner's budget. */
void libraries_empty(struct libraries *libraries);
void libraries_clear(struct libraries *libraries);

#endif
