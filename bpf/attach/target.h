/* A process to observe: the descriptors through which it is read and written, and what /proc says about it. */
#ifndef EDEN_TARGET_H
#define EDEN_TARGET_H

#include "util/regular.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* The memory of an address space: /proc/PID/mem, and /proc/PID/pagemap, which says which of its pages are there. -1:
 * not open. */
struct memory {
    int mem, pagemap;
};

/* The descriptors of one process and of one of its address spaces: after an exec they still belong to the old one. */
enum unread_cause {
    UNREAD_TIME,  /* it cost more than its share, or all reading has ended */
    UNREAD_WAITS, /* its memory, or a file, did not answer before a deadline */
    UNREAD_FAILS, /* whoever read it has died, or gave no answer that fits */
};
struct target {
    int pid;
    uint32_t user;  /* its effective user id before it was opened */
    uint32_t owner; /* as target_owner(): whose shares it takes */
    uint64_t start_ns;
    struct memory memory;
    int maps;      /* -1: not open */
    int mem_error; /* errno of opening mem; 0: it is open */
    /* What reading it has cost (inspect.h). */
    uint64_t opened_ns, spent_ns;
    bool is_unread; /* it missed a deadline, or cost too much: it is read no more */
    enum unread_cause unread_cause;
    bool knows_clock;
    int64_t clock_ahead_ns; /* target_clock_ahead(), where that is known */
};

struct mapping {
    uint64_t start, end, offset;
    uint64_t device, inode;
    bool executable, writable, is_private;
    char path[256]; /* as the process sees it, cut; for messages; "" where no file is mapped */
};

/* By how much the process's CLOCK_MONOTONIC is ahead of ours: it may be in another time namespace. 0: not known. */
int64_t target_clock_ahead(int pid);

/* Whether /proc is mounted so (hidepid) that it takes rights to see other users' processes. */
bool target_are_hidden(void);

/* The process that a thread or process id belongs to; 0: no such process. */
int target_process_of(int pid);

/* The state of the first thread, a letter as ps shows it; 0: no such process. It takes 50 ms where the process has very
 * many groups: so of processes that the user names, and of our own, alone. */
char target_state(int pid);

/* Whether the first thread has ended; others may go on. */
bool target_lacks_first_thread(int pid);

/* Whether a signal or a debugger has stopped the process. */
bool target_is_stopped(int pid);
uint64_t target_cpu_ns(int pid); /* of its living and ended threads; 0: unknown. Reads no file */
/* For how long the first thread has been ready to run while others had the processors; 0: unknown. */
uint64_t target_queue_ns(int pid);

int target_pidfd(int pid);        /* -1 with errno */
bool target_is_over(int pid);     /* whether it has ended, as a zombie has, too; reads no file */
bool target_has_ended(int pidfd); /* a zombie has; -1: not known to have */

/* Start in nanoseconds of CLOCK_BOOTTIME, cut to PROCESS_START_STEP_NS; 0: no such process. A zombie has ended. Waits
 * while an exec of the process is under way: the tool itself asks inspect_start(). */
uint64_t target_start_ns(int pid);
bool target_is_kernel_thread(int pid); /* it has no memory and maps no files */
/* Its real user id, or, before Linux 6.13, its effective one, as reading the other may take 50 ms; 0: it has ended. */
unsigned target_user(int pid);
/* Whose shares it takes: its real user id, or, in a user namespace below the caller's, that of the namespace's owner,
 * since one user has many ids there. Of nested ones it is the outermost. Where root owns that, it is a container of
 * strangers, with a share of their own: the namespace's number, which is above 0xf0000000 and so no user's. Where no
 * pidfd says it (Linux 6.11), it can wait for the end of an exec of a process in another namespace. */
uint32_t target_owner(int pid);
/* The same, but it never waits. False: it could not be found out that way. */
bool target_owner_at_once(int pid, uint32_t *owner);
uint32_t target_user_now(int pid, uint32_t ended); /* its effective user id; `ended` where it has */
void target_command(int pid, char command[64]);    /* /proc/PID/comm; "" where it cannot be read */
/* The service or scope of its control group, else that group's own name; "": the outermost one. Cut to 63 bytes. False:
 * it cannot be read. Who has rights to a group chooses the names of those in it. */
bool target_unit(int pid, char unit[64]);

enum { TARGET_TRIES = 64 }; /* at threads that end before they are used */

/* Opens the process that started at start_ns, or whichever has the id (0); `writable`: its memory is to be written,
 * too. False with errno, and nothing left open, where its maps cannot be opened or another process has the id. Memory
 * that cannot be opened is no failure: mem_error has the reason. EAGAIN: each thread that was tried had ended. */
bool target_open(struct target *target, int pid, uint64_t start_ns, bool writable);
void target_close(struct target *target); /* also of one that is not open */

/* Calls on_mapping for each mapping, of files and of memory alone, until it returns false; for none where the address
 * space is gone: it ends with the process, and with an exec. False: the maps cannot be read (errno says why). */
bool target_mappings(int maps, bool (*on_mapping)(void *context, const struct mapping *mapping), void *context);

/* Opens a mapped file. Works for files of other mount namespaces and for those replaced or deleted since. False with
 * errno, and none: ENOTSUP where root would read a file that another user's process makes up (FUSE). */
bool target_open_mapping(int pid, const struct mapping *mapping, struct regular *file);

/* Whether an open file is this one. */
bool target_is_file(const struct regular *file, const struct file_identity *wanted);

/* Reads all `bytes`, or fails with errno. A page that is not there reads as zeros, as memory does that was never
 * written: to bring another one, the kernel would wait for its server, perhaps for ever. Without pagemap every
 * page is read. */
bool target_read(struct memory memory, uint64_t address, void *to, size_t bytes);

/* Writes one word to a private and writable page that is there; fails elsewhere. */
bool target_write(const struct target *target, uint64_t address, uint64_t value);

/* Until on_child returns false; then false. */
bool target_children(int pid, bool (*on_child)(void *context, int child), void *context);

/* Every process of /proc. */
void target_processes(void (*on_process)(void *context, int pid), void *context);
/* The processes of a control group, and of those below it, by an open folder: until end_ns, or a signal that ends the
 * tool, for there can be any number of groups. */
void target_processes_of_cgroup(int folder, uint64_t end_ns, void (*on_process)(void *context, int pid), void *context);

/* A fingerprint of the code that a process has mapped: it changes when a library is loaded or unloaded. */
struct target_code {
    uint64_t mark; /* 0: it maps none, or has ended */
    unsigned user; /* its real user id */
};
struct target_code target_code(int pid);
/* The path of a process's control group, as /proc/PID/cgroup has it; false: it has ended, or is in none. */
bool target_cgroup(int pid, char *path, size_t size);

#endif
