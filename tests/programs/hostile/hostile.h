/* hostile: a process that does to the tool whatever an ordinary user can do. One mode a trick; hostile.c lists them. */
#ifndef EDEN_TESTS_HOSTILE_H
#define EDEN_TESTS_HOSTILE_H

#include "eden_probes.h"
#include <stddef.h>
#include <sys/types.h>

enum { HOSTILE_PAGE = 4096, HOSTILE_SKIP = 77 };

struct hostile {
    char **argv;      /* of the whole command */
    char **words;     /* after the mode, NULL-terminated */
    uid_t user;       /* to become, once the trick is ready; 0: no change */
    int namespace;    /* the user namespace in which that is a user's id: that of this process; 0: no change */
    unsigned seconds; /* to live */
};

/* ---- for modes: hostile.c --------------------------------------------------------------------------------------- */

/* Prints what failed and errno's text; exits with 1, or 77 where the kernel does not allow the trick. */
_Noreturn void hostile_fail(const char *what);
_Noreturn void hostile_skip(const char *what);

/* The word at `index` of those after the mode, as a number or as text, or the default. */
uint64_t hostile_number(const struct hostile *hostile, int index, uint64_t value);
const char *hostile_word(const struct hostile *hostile, int index, const char *word);

/* Becomes this user, in the user namespace of a process; 0: no change. */
void hostile_become(uid_t user, int namespace);
/* Drops to the user wanted, prints "ready". From here on the process dies with its parent. */
void hostile_ready(const struct hostile *hostile);
/* Prints one line at once. */
void hostile_print(const char *line);
/* Waits for the end. */
_Noreturn void hostile_rest(void);

/* Zeroed pages; exits where there is no memory. */
void *hostile_pages(size_t bytes);

/* A header that is as it should be. */
void hostile_header(struct eden_heap_info *header, uint64_t id, const char *name);
/* Makes it the first of the process's heaps. */
void hostile_register(const struct eden_heap_info *header);

static inline uint64_t hostile_address(const void *at) { return (uint64_t)(uintptr_t)at; }

/* ---- the modes -------------------------------------------------------------------------------------------------- */

/* hostile_headers.c: what is in the headers. */
void hostile_honest(struct hostile *hostile);
_Noreturn void hostile_headless(struct hostile *hostile);
_Noreturn void hostile_threads(struct hostile *hostile);
void hostile_lock(struct hostile *hostile);
void hostile_cycle(struct hostile *hostile);
void hostile_endless(struct hostile *hostile);
void hostile_classes(struct hostile *hostile);
void hostile_family(struct hostile *hostile);
void hostile_lengths(struct hostile *hostile);

/* hostile_pages.c: pages that come late, never, or when the process is another program. */
void hostile_uffd(struct hostile *hostile);
void hostile_cold(struct hostile *hostile);
void hostile_exec(struct hostile *hostile);
void hostile_victim(struct hostile *hostile);

/* hostile_fuse.c: a file system that does not answer, or lies. */
void hostile_fuse(struct hostile *hostile);
void hostile_overlay(struct hostile *hostile);
void hostile_identity(struct hostile *hostile);

/* hostile_events.c: what the probes say. */
void hostile_heaps(struct hostile *hostile);
void hostile_churn(struct hostile *hostile);
void hostile_define(struct hostile *hostile);
void hostile_forks(struct hostile *hostile);
void hostile_groups(struct hostile *hostile);
void hostile_exit(struct hostile *hostile);
void hostile_handover(struct hostile *hostile);
void hostile_semaphore(struct hostile *hostile);
void hostile_backwards(struct hostile *hostile);
void hostile_batches(struct hostile *hostile);

/* hostile_elf.c: files that it maps as if they were programs. */
void hostile_elf(struct hostile *hostile);
void hostile_maps(struct hostile *hostile);

/* hostile_names.c: names of everything that has one. */
void hostile_names(struct hostile *hostile);

#endif
