/* The kernel maps' records: what the kernel program (eden.bpf.c) writes and the session reads.
 *
 * Both are built together into one binary, so this layout is nobody else's business and may change freely. */
#ifndef EDEN_KERNEL_H
#define EDEN_KERNEL_H

#include "eden_abi.h"
#include "eden_histogram.h"
#include "kernel/event.h"
#include "kernel/pause_time.h"

enum {
    KERNEL_SPECS = 4096,       /* probe sites: about 40 a file */
    KERNEL_FILE_SPECS = 256,   /* of one file at most */
    KERNEL_TARGETS = 16384,    /* attachments: one a process and file */
    KERNEL_HEAPS = 4096,       /* heaps, dead ones included */
    KERNEL_SHARES = 8192,      /* branches that have heaps */
    KERNEL_TAKEN = 16384,      /* threads whose last hit is known */
    KERNEL_HISTOGRAMS = 16384, /* one a heap and phase that was seen */
    KERNEL_PROCESSES = 65536,  /* observed at a time, where the kernel follows children */
    KERNEL_EXECUTED = 16384,   /* files that are known to have been executed */
    KERNEL_NOTICES_BYTES = 2 << 20,
    KERNEL_VARIABLE = 256, /* bytes of an environment variable's value that are kept */
    KERNEL_CHECKPOINTS = 8,
    KERNEL_PHASES = 16,               /* EDEN_PHASE_COUNT and room: a power of two, so that a mask bounds an index */
    KERNEL_FIGURES = 32,              /* likewise */
    KERNEL_PAUSE = KERNEL_PHASES - 1, /* the place of whole pauses, beside those of phases */
    KERNEL_NO_PHASE = 255,
};

_Static_assert((int)EDEN_PHASE_COUNT <= KERNEL_PAUSE, "each phase has a place");

/* Where an argument of a probe is. Registers are numbered as x86-64 encodes them (rax 0, rcx 1, ... r15 15). */
struct operand {
    int64_t constant; /* where reg is OPERAND_CONSTANT */
    uint8_t reg;
    uint8_t right;     /* shift right by this first: 8 for ah, bh, ch, dh */
    uint8_t lift;      /* 64 - bits: shift left, then right by this, to cut and extend */
    uint8_t is_signed; /* extend with the sign */
    uint32_t reserved;
};
enum { OPERAND_CONSTANT = 255 };

/* One probe site of one file. */
struct probe_spec {
    uint16_t probe; /* enum eden_probe_id */
    uint8_t args;
    uint8_t phase;    /* enum eden_phase for the done probe of a phase, else KERNEL_NO_PHASE */
    uint8_t two_more; /* ... which passes objects and bytes */
    uint8_t strings;  /* how many string arguments */
    uint8_t string_at[EVENT_TEXTS];
    uint32_t file;  /* the source's number of the file */
    uint8_t begins; /* enum eden_phase for the start probe of a phase, else KERNEL_NO_PHASE */
    uint8_t parent; /* of `phase`; KERNEL_NO_PHASE for a whole collection */
    uint8_t reserved[2];
    struct operand arg[EDEN_PROBE_MAX_ARGS];
};

/* An attachment's cookie: its spec in the low half, its target in the high one. */
static inline uint64_t kernel_cookie(uint32_t target, uint32_t spec) { return (uint64_t)target << 32 | spec; }

struct heap_key {
    struct process_key process;
    uint64_t address;
    uint64_t program; /* of the process, by the number of those that it has executed before while it was observed */
};

struct phase_sums {
    uint64_t calls, total_ns, max_ns, objects, bytes;
    uint64_t outside_ns; /* of total_ns, before observation began, or before ended_ns */
    uint64_t ended_ns;   /* when the last one of those that follow one another ended, or the heap was created */
    uint64_t missing, missing_ns; /* calls, and of total_ns theirs, for which there was no histogram */
};

/* Scavenges, or full collections. */
struct pause_sums {
    struct pause_time all, longest, last; /* longest: of the call of max_ns; all 0: not seen */
    uint64_t has_last;                    /* the last call was seen */
};

/* The sums as they stood when a collection had ended. A header of a heap that was not seen from its start, with this
 * seq, says what happened up to here: what the kernel program counted since then comes on top. */
struct checkpoint {
    uint64_t seq; /* 0 while it is written */
    uint64_t figures[EDEN_FIGURE_COUNT];
    uint64_t full_by_cause[EDEN_FULL_CAUSES];
};

enum {
    HEAP_USED = 1,           /* the entry is somebody's */
    HEAP_CREATED = 2,        /* heap__create was seen: the figures are those of the heap's whole life */
    HEAP_DESTROYED = 4,      /* heap__destroy was seen */
    HEAP_SCAVENGE_SEEN = 8,  /* the start of the current scavenge was seen */
    HEAP_FULL_SEEN = 16,     /* the start of the current full collection was seen */
    HEAP_CAPACITY_SEEN = 32, /* pending_capacity is valid */
    HEAP_STACK_SEEN = 64,    /* a stack was taken */
    HEAP_RECONCILED = 128,   /* `base` fits a checkpoint */
    HEAP_PHASE_SEEN = 256,   /* current_phase is known */
    HEAP_OF_BRANCH = 512,    /* it is in its branch's share, not in its owner's alone */
};

/* What is known of one heap. The tool gives back the entry of a process that has ended (kernel_give_back()); an address
 * that comes again before gets another entry. */
struct heap_entry {
    struct heap_key key;
    struct process_key branch; /* of its process, at the first hit */
    uint64_t id;
    uint64_t serial; /* of the entries, in the order in which they are taken, from 1: no other has the same */
    uint32_t flags;
    uint32_t spec;       /* of the first hit: identifies the file */
    uint32_t number;     /* its own place in the map */
    uint32_t owner;      /* whose shares its process took at the first hit, as target_owner() */
    uint64_t gauges_set; /* bit i: figures[i] is a gauge that an event has set */
    uint64_t figures[KERNEL_FIGURES];
    uint64_t full_by_cause[EDEN_FULL_CAUSES];
    /* From start to done of the collection under way. */
    uint64_t scavenge_cause, scavenge_old_used, full_cause;
    uint64_t pause_before; /* the scavenges that belong to the full collection that comes next */
    uint64_t pending_capacity;
    /* Sequence lock: odd while a start or done probe changes sums and phases, so that a collection that ends is neither
     * counted twice nor missed. */
    uint32_t changes;
    uint32_t current_phase;           /* the innermost phase under way; KERNEL_NO_PHASE: no collection */
    uint64_t began_ns[KERNEL_PHASES]; /* of phases under way; 0: not seen */
    struct phase_sums phase[KERNEL_PHASES];
    struct pause_sums scavenge, full;
    struct collector {
        uint64_t state;           /* pauses.bpf.h; 0: no pause whose start was seen is under way */
        uint32_t thread;          /* that collects, or has last, as the kernel counts threads; 0: none */
        struct pause_time so_far; /* its faults: when the collection began, those of the thread's whole life */
    } collector;
    uint32_t histogram[KERNEL_PHASES]; /* 1 + index; 0: none yet */
    struct checkpoint checkpoint[KERNEL_CHECKPOINTS];
    uint64_t ended_seq; /* the collection whose end was the last hit; 0: another hit was */
    /* The heap's header at its first hit, where that was not heap__create, and when a collection had ended since; magic
     * is 0 where it could not be read. */
    struct eden_heap_info first, base;
    char name[64];
    char eden_size[24]; /* as param__set passes it; empty: not seen */
    char command[16];
};

struct histogram {
    uint32_t count[HISTOGRAM_BUCKETS];
};

enum lost_kind {
    LOST_HEAPS,      /* hits of heaps for which there was no room, or that ended meanwhile */
    LOST_HISTOGRAMS, /* durations missing in a histogram */
    LOST_EVENTS,     /* events that found the ring buffer full */
    LOST_SPECS,      /* hits that no spec described */
    LOST_RETRIES,    /* an update of a maximum that lost the race too often */
    LOST_LIVES,      /* sampled objects for which the kernel's sums had no room */
    LOST_BUCKETS,    /* sampled objects missing in a histogram of lifetimes */
    LOST_RECORDS,    /* records of batches that found their ring buffer full */
    LOST_UNREADABLE, /* records of batches that could not be read, or made no sense */
    LOST_STRAYS,     /* batches of heaps for which there was no room, or from a probe of unknown form */
    LOST_STACKS,     /* stacks that found the ring buffer full: their objects are of unknown stack */
    LOST_CHILDREN,   /* children for which there was no room among the observed processes */
    LOST_NOTICES,    /* notices of children that found their ring buffer full */
    LOST_KINDS
};

/* A branch of the observed processes is a child of the first one with all its descendants; the first one itself is one,
 * too. What a branch, or a user by all his branches, has taken of what all share, and what was refused to it
 * (kernel_share_left). Files, probe sites and attachments are shared likewise (source_files.c). */
struct share {
    uint32_t heaps, histograms;
    uint64_t lost_heaps;  /* heaps that were created beyond it */
    uint64_t lost_hits;   /* hits of such heaps, and durations that are missing in histograms */
    uint64_t lost_events; /* of LOST_EVENTS: all share the ring buffer: the process that fills it loses most */
};

/* How much more a branch of a user may take at once of what all share. One alone leaves as much to others as it has,
 * and a user with any number of branches leaves a third of what he has. */
static inline uint32_t kernel_share_left(uint32_t user, uint32_t branch, uint32_t taken, uint32_t most) {
    uint64_t left = taken < most ? 3 * (uint64_t)(most - taken) : 0, held = user + 2 * (uint64_t)branch;
    return held < left ? (uint32_t)((left - held + 5) / 6) : 0;
}

struct observed_process {
    struct process_key branch; /* its first process; pid 0: the process itself */
    uint32_t is_root;
    uint32_t programs; /* that it has executed */
};

#define KERNEL_KNOWN_NS 1000000000u /* how long what is known of an executed file's libraries holds */

/* Which processes are observed besides those that the tool names and their descendants. */
enum kernel_selection { SELECT_NONE, SELECT_ALL, SELECT_NAMES, SELECT_CGROUP };
enum { KERNEL_NAMES = 16, KERNEL_NAME = 16 }; /* of SELECT_NAMES: as the kernel cuts the names of processes */

/* A file that has been executed, as it is: what changes it, or takes its number after it, changes its time. */
struct executed_file {
    uint64_t inode, device; /* device: as the kernel writes it: major number, then KERNEL_MINOR_BITS */
    uint64_t changed_s, changed_ns;
};

/* What happened to an observed process. NOTICE_FOUND: one that is selected has hit a probe, and is observed from now
 * on. NOTICE_PROGRAM: one that is not observed has executed a file that the tool does not know: struct exec_notice. */
enum notice_kind { NOTICE_FORK, NOTICE_EXEC, NOTICE_END, NOTICE_FOUND, NOTICE_PROGRAM };

struct notice {
    uint64_t time_ns;                   /* CLOCK_MONOTONIC */
    struct process_key process, parent; /* parent: of NOTICE_FORK */
    struct process_key branch;          /* its first process */
    uint32_t kind;                      /* enum notice_kind */
    uint32_t user;                      /* its real user id */
    uint32_t owner;                     /* whose shares it takes, as target_owner() */
    uint32_t reserved;
};

enum { KERNEL_MINOR_BITS = 20 };

struct exec_notice {
    struct notice head;
    struct executed_file file;
    uint64_t last_serial;       /* of the entries of heaps that there were */
    uint32_t is_elsewhere;      /* its root folder is not the tool's: paths lead to other files */
    uint32_t knows_environment; /* the two variables below are those that its loader sees, whole */
    uint32_t reserved;
    char command[16];
    char path[256]; /* of that file, as the process named it; cut */
    char library_path[KERNEL_VARIABLE],
        preload[KERNEL_VARIABLE]; /* LD_LIBRARY_PATH, LD_PRELOAD; empty: none, or its loader ignores it */
};

#endif
