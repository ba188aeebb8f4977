/* The probe sites of an ELF file, from its .note.stapsdt section. */
#ifndef EDEN_NOTES_H
#define EDEN_NOTES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct note {
    char provider[32];
    char name[64];
    char args[512];
    uint64_t offset;            /* of the site, in the file */
    uint64_t semaphore;         /* offset in the file; 0: none */
    uint64_t semaphore_address; /* as linked; add a process's load bias */
};

/* A loaded part of the file, to find out where a process has put it. */
struct note_segment {
    uint64_t offset, bytes, address;
};

struct notes {
    struct note *note; /* owned */
    size_t count, room;
    struct note_segment segment[32];
    size_t segments;
};

enum notes_result {
    NOTES_READ,  /* perhaps none */
    NOTES_OTHER, /* no ELF file of this machine, so it has none: `why` says what */
    NOTES_BAD,   /* broken or hostile, so whether it has some is unknown: likewise */
};

/* Reads the notes of one provider (NULL: every one) from an open file. `name` is for messages. */
enum notes_result notes_read(int fd, const char *name, const char *provider, struct notes *notes, char *why,
                             size_t why_size);
void notes_clear(struct notes *notes);
/* Keeps only what notes_load_bias() needs: a stranger's file has up to 2.6 MB of notes. */
void notes_forget_names(struct notes *notes);

/* Where file offset `offset`, mapped at `start`, says that the file's addresses were moved by. False: not a loaded
 * part. */
bool notes_load_bias(const struct notes *notes, uint64_t offset, uint64_t start, uint64_t *bias);

#endif
