/* Gives up rights, for good, before a process looks at what a stranger made. */
#ifndef EDEN_SANDBOX_H
#define EDEN_SANDBOX_H

#include "util/failure.h"
#include <stddef.h>
#include <sys/types.h>

enum sandbox_profile {
    /* Works on the descriptors that it has: it can open, start, signal and trace nothing. For parsers of ELF files,
     * heap headers and the like. */
    SANDBOX_PARSER,
    /* The same, and accepts connections on the sockets that it has; it connects to nobody. For servers. */
    SANDBOX_SERVER,
    /* Reads /proc, reads, renames and removes files below `folder`, and uses BPF maps that are open. It can open no
     * other file and none to write, start, signal, trace and mount nothing, load no kernel program, and talk to no
     * network. For the tool itself, once it is attached. */
    SANDBOX_OBSERVER,
};

enum { SANDBOX_FOLDERS = 4 };

struct sandbox {
    enum sandbox_profile profile;
    /* Descriptors of folders, O_PATH is enough; the first `folders` of them. SANDBOX_PARSER has none. They stay the
     * caller's. */
    int folder[SANDBOX_FOLDERS];
    size_t folders;
    size_t memory;       /* the most address space in bytes; 0: no limit */
    bool writes_nothing; /* SANDBOX_PARSER: it answers by sendmsg() alone, though descriptors may be writable */
    /* SANDBOX_OBSERVER: whether maps can be used, tried without rights; where they cannot, CAP_BPF stays. NULL: no map
     * is used. */
    bool (*can_use_maps)(const void *context);
    const void *context;
};

/* Enters the sandbox: capabilities, no_new_privs, limits, Landlock where the kernel has it, seccomp. Of the descriptors
 * that are not closed by an exec only the three standard ones stay, and these are read and written at their position.
 * There is no way back. False and why where that fails (status 2): the caller must then not go on, for a part may be in
 * force. What is forbidden fails with EPERM or EACCES, and ends nothing. Call it from a process with a single thread.
 */
bool sandbox_enter(const struct sandbox *sandbox, struct failure *why);

/* Waits a second at most for a child to end, which the caller's profile may not let it signal. One that has not ended
 * then is the kernel's to kill when the caller ends: it needs PR_SET_PDEATHSIG. */
void sandbox_await_end(pid_t child);

#endif
