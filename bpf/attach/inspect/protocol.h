/* What the tool asks its workers, and what they answer. Both are the same program, so the layout is the compiler's. The
 * tool checks each answer of the inspector as if a stranger had written it. */
#ifndef EDEN_PROTOCOL_H
#define EDEN_PROTOCOL_H

#include "attach/heapinfo.h"
#include "attach/inspect/inspect.h"
#include "attach/needs.h"
#include "attach/notes.h"
#include "attach/target.h"
#include <limits.h>

/* Kinds of packets to the opener. Behind the arrow what the answer carries. */
enum opener_request {
    OPENER_START,   /* struct process_request -> uint64_t, as target_start_ns() */
    OPENER_OWNERS,  /* struct owners_request, up to the last process -> uint32_t for each, as target_owner() */
    OPENER_PROCESS, /* struct process_request -> struct process_answer, descriptors of maps and, if opened, mem and
                       pagemap */
    OPENER_FILES,   /* struct files_request, struct mapping[] -> struct file_answer for each, and O_PATH descriptors of
                       those files that have error 0 */
    OPENER_PATH,    /* struct path_request, descriptor of the folder of a relative path, if there is one -> struct
                       file_answer, O_PATH descriptor of the file */
    OPENER_FORWARD, /* struct forward_request and the data of an inspector's request; descriptors of the inspector's
                       socket and, with O_PATH, of files -> nothing; to the inspector goes that request with descriptors
                       from which these files can be read. EPIPE: the inspector has died */
    OPENER_WRITE,   /* struct write_request, descriptors of maps, mem and, if opened, pagemap -> nothing */
    OPENER_ATTACH,  /* struct attach_request; count offsets, semaphores and cookies, uint64_t each; descriptors of the
                       program and the file -> descriptor of the link, and no data */
};

/* To the detacher: descriptors of links -> nothing. */
enum detacher_request { DETACHER_CLOSE };

/* To the inspector. Each comes with a descriptor: of maps, of a file, or of mem, with that of pagemap if opened; or
 * with those of several files. Those about files go by way of the opener (OPENER_FORWARD). */
enum inspector_request {
    INSPECTOR_MAPPINGS,  /* -> struct mappings_answer, struct mapping[] */
    INSPECTOR_NOTES,     /* struct notes_request -> struct notes_answer, struct note[] */
    INSPECTOR_PROBES,    /* struct notes_request -> for each file a byte, 0: it has no such notes, and is not broken */
    INSPECTOR_NEEDS,     /* -> the bytes in use of struct needs */
    INSPECTOR_FUNCTIONS, /* struct functions_request -> for each offset the function's name, or "" */
    INSPECTOR_HEAPS,     /* struct heap_request -> struct heaps_answer, struct heapinfo[] */
    INSPECTOR_FIND,      /* struct heap_request -> struct heapinfo, of a heap that the registry lists */
    INSPECTOR_HEAP,      /* struct heap_request -> struct heapinfo, of the heap at this address */
    INSPECTOR_PARAMS,    /* struct heap_request -> struct heap_params, of the heap at this address with this ID */
    INSPECTOR_CLASSES,   /* struct classes_request -> struct classes_answer, struct class_name[] */
};

enum { OPENER_PROCESSES = 256 };

struct process_request {
    int pid;
    bool writable;
    uint64_t start_ns;
};
struct owners_request {
    uint64_t end_ns; /* those that are left then are unknown */
    bool may_wait;   /* false: as target_owner_at_once(); unknown are those that it does not know */
    int pid[OPENER_PROCESSES];
};
struct process_answer {
    int mem_error;
    uint32_t user;
    uint64_t start_ns;
};

struct files_request {
    int pid;
};
struct file_answer {
    int error;
    struct stat status;
};

struct forward_request {
    uint32_t kind;
};

struct path_request {
    char path[PATH_MAX];
    struct file_identity wanted; /* that it must have; inode 0: any */
    uint32_t user;               /* whose rights open it; 0: the tool's */
    bool is_executable;
};

struct write_request {
    uint64_t address, value;
};

struct attach_request {
    int pid; /* hits of this process only; 0: of every one */
    uint32_t count;
};

enum { MOST_MAPPINGS = 8192 };
struct mappings_answer {
    uint64_t lines;           /* of any kind; 0: the address space is gone */
    uint64_t count, left_out; /* executable mappings of files: those that follow, and those beyond MOST_MAPPINGS */
};

struct notes_request {
    char name[256];
    char provider[32];
};
struct notes_answer {
    enum notes_result result;
    char why[512];
    struct notes notes; /* its pointer means nothing */
};

struct functions_request {
    uint64_t number; /* the file's, by which its symbols are kept until another file's are read */
    uint64_t count;  /* of the offsets in use, which alone are sent */
    uint64_t offset[INSPECT_FUNCTIONS];
};

struct heap_request {
    uint64_t registry, address, id;
    int most;
};
struct heaps_answer {
    uint64_t unread; /* heaps that the registry lists and that could not be read */
};

struct classes_request {
    struct heapinfo heap;
    uint32_t from; /* index */
};
struct class_name {
    uint32_t index, class_index;
    char name[64];
};
struct classes_answer {
    uint32_t next;   /* index to go on with; 0: that was all */
    uint32_t unread; /* names that could not be read */
    uint64_t count;  /* of those that follow */
};

#endif
