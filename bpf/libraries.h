/* The files that a program maps: itself, its loader and its libraries, found without running anything of them. */
#ifndef EDEN_LIBRARIES_H
#define EDEN_LIBRARIES_H

#include <stdbool.h>
#include <stddef.h>

enum { LIBRARIES_MOST = 256 };

struct library {
    char *path;  /* owned; for messages */
    int fd;      /* owned; open to read, a regular file */
    size_t from; /* index of the file that needs it; its own: none */
    char *rpath; /* DT_RPATH of a file without DT_RUNPATH; owned; NULL: none */
};

struct libraries {
    struct library file[LIBRARIES_MOST];
    size_t count;
    char **name; /* names that were searched for the program under way; owned, as the array */
    size_t names;
    size_t opened; /* how many paths were tried */
    char *cache;   /* what ldconfig -p prints; owned; NULL: not read yet */
};

/* Adds a program and all that its loader will map with it. Takes fd. False, and fd closed, where it is no ELF file for
 * x86-64 or there is no room. A library that is not found is left out. */
bool libraries_add(struct libraries *libraries, const char *path, int fd);
void libraries_read_cache(struct libraries *libraries); /* now, while ldconfig can still be started */
void libraries_empty(struct libraries *libraries); /* closes the files; what the cache said is kept for the next ones */
void libraries_clear(struct libraries *libraries);

#endif
