/* What a program says about the files that are mapped with it: an ELF file its loader, its libraries and where to
 * search them; a script its interpreter. */
#ifndef EDEN_NEEDS_H
#define EDEN_NEEDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { NEEDS_LIBRARIES = 256, NEEDS_TEXT = 32768 };

/* Texts are offsets into `text`, each ended by a 0 byte; 0: none. No pointers: the whole can cross a socket. */
struct needs {
    uint32_t is_script;                /* not 0: it has an interpreter, and nothing else. No bool: it may be anything */
    uint32_t is_static;                /* not 0: it is a program that needs no loader, and is none */
    uint32_t is_cut;                   /* not 0: it names more than was read */
    uint32_t interpreter;              /* PT_INTERP */
    uint32_t rpath, runpath;           /* DT_RPATH, DT_RUNPATH: folders separated by colons */
    uint32_t library[NEEDS_LIBRARIES]; /* DT_NEEDED */
    uint32_t libraries;
    uint32_t used; /* of text */
    char text[NEEDS_TEXT];
};

/* Reads them from an open regular file. False: no ELF file for x86-64. What is malformed or beyond the limits above is
 * left out, and is_cut. */
bool needs_read(int fd, struct needs *needs);

/* Reads the interpreter of a script, or the shell's name for a file that is neither script nor ELF, as execvp() has it.
 * False: it is an ELF file, or names none. */
bool needs_read_script(int fd, struct needs *needs);

/* How many bytes of it are in use. */
static inline size_t needs_bytes(const struct needs *needs) { return offsetof(struct needs, text) + needs->used; }

#endif
