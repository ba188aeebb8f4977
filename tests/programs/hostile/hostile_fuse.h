/* A file whose pages are never supplied, or only by this process. */
#ifndef EDEN_TESTS_HOSTILE_FUSE_H
#define EDEN_TESTS_HOSTILE_FUSE_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/stat.h>
#include <sys/types.h>

struct fuse_file {
    uid_t user;    /* of the server: of another one, it would not end with its parent */
    int namespace; /* likewise */
    size_t bytes;
    int opens; /* to be answered; later ones wait for ever */
    bool is_never_closed;
    unsigned seconds; /* after which the server ends; 0: soon */
    /* Below overlayfs, and pages are zeros; NULL: not. Requests of this kind (FUSE_GETATTR) that come from processes of
     * this name are never answered. */
    const char *held_name;
    unsigned held_kind;
    /* Likewise below overlayfs, and answers all: shows `content`, with the inode and the time of change of `like`. */
    const struct stat *like;
    const char *content;
    /* Pipes, or 0: reads are never answered. A read sends a byte through `asked`, and then waits for a page in
     * `supply`.
     */
    int asked[2], supply[2];
};

/* Opens the file of a new file system, which nobody else sees. Exits where that is not allowed. */
int fuse_file_open(struct fuse_file *file);

#endif
