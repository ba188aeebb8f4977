/* What the parts of the source share; nobody else includes this.
 *
 *     source_eden.c   opening, running and ending an observation
 *     source_select.c which processes of the machine are observed, where they are not given one by one
 *     source_follow.c the observed processes, and the looks at them
 *     source_children.c  what the kernel says of children; those that could not be observed
 *     source_files.c  files with probes, and attaching to them
 *     source_memory.c the memory of a process, and writing to it
 *     source_late.c   heaps whose creation was not seen
 *     source_model.c  the model from the kernel program's entries
 *     source_life.c   lifetimes: asking the heaps for profiles, ending these, and the model of them
 *     source_stacks.c lifetimes: the stacks on which sampled objects were allocated */
#ifndef EDEN_SOURCE_PARTS_H
#define EDEN_SOURCE_PARTS_H

#include "attach/attach.h"
#include "attach/inspect/inspect.h"
#include "model/lifetimes/names.h"
#include "session/launch.h"
#include "util/message.h"
#include <signal.h>
#include <sys/types.h>
#include <time.h>

/* A file with probes, or one that has none and need not be looked at again. */
struct file {
    dev_t device;
    ino_t inode;
    struct timespec changed;   /* st_ctim: no owner of a file sets it, but who makes a file system does */
    unsigned user;             /* who owns it */
    struct process_key branch; /* of the process that had it first, or attached to it: it is of its share */
    unsigned owner;            /* likewise */
    char *name;
    uint32_t sites[KERNEL_PROGRAMS]; /* how many for each */
    uint64_t *site, *semaphore;      /* in that order */
    struct probe_spec *spec;         /* likewise; without the file's number */
    uint32_t first_spec;
    int args[EDEN_PROBE_COUNT]; /* how many arguments each probe passes; 0: not in this file */
    struct notes notes;
    bool is_malformed;             /* what probes it has is unknown */
    uint64_t registry;             /* address of the heap__create semaphore as linked */
    struct attachment *attachment; /* of KERNEL_ON_PROBE for every process; NULL: none */
    struct attachment *requested;  /* likewise, of KERNEL_ON_REQUESTED; NULL: processes are attached to for batch */
    bool by_process;               /* the kernel refuses to attach to it for every process */
    unsigned misses;               /* how often attaching to it has missed its deadline, one after the other */
    uint64_t retry_ns;             /* when it is tried again */
    uint64_t attached_ns;          /* when that one was complete */
};

/* A file that a child has executed, by device, inode and time of change, as a user, from a folder and in an
 * environment: these decide which libraries it maps. */
struct program {
    dev_t device;
    ino_t inode;
    struct timespec changed;   /* likewise */
    struct process_key branch; /* of the process that executed it first: it is of its share */
    unsigned owner;            /* likewise */
    unsigned user;             /* likewise: others may find other libraries */
    char library_path[KERNEL_VARIABLE], preload[KERNEL_VARIABLE]; /* with which it was executed */
    bool knows_environment, is_elsewhere;                         /* likewise */
    char *folder;      /* of the file, for $ORIGIN: the same file may be bound to another place; owned */
    bool failed;       /* not all of it could be looked into, or attached to: other branches try again */
    bool is_partial;   /* it may map other libraries than were found */
    bool has_probes;   /* it or one of its libraries, as far as these were found */
    uint64_t ready_ns; /* when all its files with probes were attached to, where that is done by file */
};

/* Of children that the kernel follows. */
struct children {
    struct program *program;
    size_t programs, program_room;
    uint64_t missed;          /* processes with a program that ended before it could be observed; the root, too */
    uint64_t forgotten_heaps; /* beyond the shares of processes that have ended and are forgotten */
};

#define ROUND_NS 100000000u /* how long looks, and each drain of a buffer, may take before others have their turn */
/* How long a stop waits for the heaps' profiles to end, and for what is left in the buffers. */
#define ENDING_NS 1000000000u
#define CLOSE_NS 2000000000u /* how long source_close() waits for the kernel to detach, in all */

enum {
    MOST_LATE_HEAPS = 4096,     /* of all processes */
    MOST_LISTED_HEAPS = 4096,   /* of one list of a process that ran before */
    MOST_LISTED_OF_CHILD = 256, /* of one that was executed meanwhile: the kernel has seen most of them being made */
    MOST_CLASSES_REPORTED = 262144, /* of all processes */
    MOST_REGISTRIES = 8,
};

struct late_heap {
    struct heapinfo first;  /* as its first hit, or attaching, found it */
    struct heapinfo base;   /* as of the checkpoint that reconciled it; else `first` */
    struct checkpoint sums; /* ours at base.seq; zero where there was none */
    bool is_reconciled;
    bool has_sent_classes, has_sent_params;
    bool is_asked;       /* its control word has the request */
    uint32_t next_class; /* the index at which that goes on */
    uint64_t read_ns;    /* when `first` was read */
    char command[64];    /* of its process then */
    unsigned owner;      /* likewise */
    bool gone;           /* with its address space: there is nothing to be read any more */
    uint32_t file;
    uint64_t serial; /* as in struct heap_ref */
    uint32_t entry;  /* 1 + number of its entry; 0: no probe has fired in it */
};

struct attached {
    uint32_t file;
    uint32_t target;                        /* of by[KERNEL_ON_PROBE] */
    uint64_t since_ns;                      /* when its attachment was complete */
    struct attachment *by[KERNEL_PROGRAMS]; /* NULL: let go of since, none, or the file's */
};

struct observed {
    struct process_key key, branch;     /* branch: its first process */
    uint64_t order;                     /* in which they are found */
    unsigned user;                      /* its real user id when it was looked at last: its rights */
    unsigned owner;                     /* as target_owner(), likewise: whose shares it takes */
    char command[64], unit[64];         /* unit: with options.units; "" is none, or not known */
    bool is_root;                       /* the command, or given by its id */
    bool is_candidate;                  /* it may use Eden: it is forgotten if it does not */
    bool is_gone;                       /* there is no such process any more: where it has no pidfd */
    int pidfd;                          /* -1: none is kept */
    struct target target;               /* of its present address space */
    uint64_t held_ns;                   /* when that was opened */
    uint64_t registry[MOST_REGISTRIES]; /* addresses in it */
    size_t registries;
    uint64_t mapped;                        /* fingerprint of the mappings that were looked at; 0: none were */
    uint64_t cut_mapped;                    /* of those at which a look was cut short; 0: it was not */
    size_t cut_next;                        /* the mapping with which the next look goes on */
    bool reported_unread, reported_unnamed; /* that it does not answer; that it has classes without readable names */
    bool late;                              /* attached after its first instruction */
    uint64_t image_ns;           /* since when it runs its present program: fork or exec; 0: since before us */
    uint64_t exec_ns;            /* when it was first seen to execute a program; 0: it was not */
    bool expects_probes;         /* its program has some */
    bool is_partial;             /* its program may map other libraries than were found */
    uint64_t mapped_cpu_ns;      /* CPU time that it had used when its mappings had last changed */
    uint64_t inspected_ns;       /* since when what its program has is attached to, or known to be none; 0: not yet */
    bool has_all;                /* all that it mapped at the last look is attached to, or has no probes */
    bool image_late;             /* attached after image_ns */
    bool has_executed;           /* its program, while it was observed: it is not its parent's */
    bool has_missed_image;       /* a program before that one could not be observed */
    uint64_t image_serial;       /* of the last entry of a heap that there was at image_ns */
    uint64_t look_ns, pause_ns;  /* when its mappings are read next, and the time after that */
    uint64_t scan_ns, scan_lost; /* when its children are looked for next; notices lost before that was done last */
    size_t scan_next;            /* how many of its children a search that was cut short has seen; 0: none was */
    uint64_t scan_spent_ns;      /* on that search */
    bool ended;
    uint64_t ended_ns;         /* when that was noticed */
    bool has_come_in;          /* ended, and all that was in the buffers then has been handed on */
    bool empty;                /* ended, and nothing is known of its heaps: it can be forgotten */
    bool is_reported;          /* that something of it can't be observed */
    bool has_missed;           /* attaching to it, by process, has missed the deadline: that is not tried again */
    uint32_t classes_reported; /* of its late heaps */
    struct attached *attached;
    size_t attachments, attached_room;
    struct late_heap *late_heap;
    size_t late_heaps, late_room;
    uint64_t lost_heaps; /* alive at attach, beyond its share */
};

/* A process that has ended, without entries. What its branch lost the kernel has. */
struct ended_process {
    struct process_model process;
    struct process_key branch;
    unsigned owner;
    uint64_t order;
};

/* How often attaching to processes of an owner has missed its deadline. */
struct slow_owner {
    unsigned owner, misses;
};

/* A heap whose control word we have written. */
struct asked_heap {
    struct process_key process;
    uint64_t address;
};

/* Of lifetimes. */
struct life_source {
    struct life_names names; /* where it is for lifetimes alone */
    struct asked_heap *asked;
    size_t asked_count, asked_room;
    uint32_t entries_seen;       /* of the kernel program's heaps */
    uint64_t ending_ns;          /* since when the heaps are to end their profiles; 0: they are not */
    struct stack_source *stacks; /* NULL: none was taken yet */
};

/* Kinds of messages about observed processes and their files. */
enum source_message {
    MESSAGE_UNOBSERVED, /* a process is not attached to, or not to all that it maps */
    MESSAGE_UNREAD,     /* a process does not answer */
    MESSAGE_HEADERS,    /* not all headers of a copy of libeden can be read */
    MESSAGE_UNNAMED,    /* a process has classes without readable names */
    MESSAGE_PROBES,     /* a probe, or probes beyond what a file may have, are not attached to */
    MESSAGES
};

struct source {
    struct source_options options;
    struct message_kind message[MESSAGES];
    struct inspect *inspect;
    struct selecting *selecting; /* owned; NULL: processes are given, or it is not opened yet */
    struct life_source life;
    struct kernel_side *kernel;
    struct launch launch;
    struct libraries libraries; /* of the program that is looked into now */
    struct file *file;
    uint32_t files;
    size_t file_room;
    uint32_t specs, targets;
    uint64_t serial[KERNEL_HEAPS]; /* of the heap of each entry, by number; 0: not decided */
    size_t next_reconciled;        /* the process that source_reconcile() begins with */
    uint32_t *free_target;         /* given back; owned */
    size_t free_targets, free_room;
    struct slow_owner *slow; /* owned */
    size_t slow_count, slow_room;
    uint32_t most_descriptors; /* that processes keep open */
    struct children children;
    struct observed *observed; /* the roots are the first ones */
    size_t observed_count, observed_room;
    uint64_t last_order;
    struct ended_process *ended; /* owned; by order */
    size_t ended_count, ended_room;
    unsigned last_owner; /* of the process that had the last turn */
    int root_fd;         /* pidfd of the root; -1: this kernel has none, or there is not one root */
    bool started, finished, reaped;
    bool is_by_process; /* some file is attached to by process, though source_is_by_file() */
    bool is_behind;     /* not all that was in the buffers has been taken */
    uint64_t done_ns;   /* when observing ended, but for what was left in the buffers; 0: it has not */
    int exit_status;
    uint64_t attach_ns, start_ns, end_ns, followed_ns;
    uint64_t shown_ns; /* of the last snapshot: no later one is of an earlier time */
    size_t roots;      /* that were there at first */
    uint64_t open_ns;  /* when it was opened: CLOCK_BOOTTIME, as the starts of processes */
    volatile sig_atomic_t stops;
};

static inline bool source_selects(const struct source *source) { return source->options.selection.kind != SELECT_NONE; }

/* Whether probes are attached by file, where the kernel can, for every process, and the kernel selects the observed
 * ones. */
static inline bool source_is_by_file(const struct source *source) {
    return (source->options.command || source_selects(source)) && kernel_follows(source->kernel);
}

/* The first stop lets a command finish, as perf does: the terminal's ^C went to it as well. The second is for us. */
static inline int source_last_stop(const struct source *source) { return source->options.command ? 2 : 1; }

/* A look at a process. */
struct look {
    struct source *source;
    struct observed *observed;
    struct failure *why;
    uint64_t device, inode; /* of the file looked at last: a file is mapped in several parts */
    int files, refused;     /* refused: files that nobody knows the probes of */
    int refusal;            /* errno of the last one; ENOEXEC: it is malformed */
    uint64_t end_ns;        /* when it is cut short, to go on at the next one; 0: not at all */
    bool failed;
    bool is_gone;      /* what was mapped, with its process or by an exec: that it cannot be opened says nothing */
    bool is_unchanged; /* the mappings, since the last look */
    bool goes_on;      /* where the last look was cut short */
    bool is_cut;
};

/* source_follow.c. Observes one more process; only its key and branch are known yet. NULL: no memory. May
 * move those that are observed already. */
struct observed *source_observe(struct source *source, const struct process_key *key, const struct process_key *branch,
                                unsigned user, unsigned owner);
/* Likewise, a process that was found by its id: a child of `parent`, or, where that is NULL, a root. */
struct observed *source_observe_found(struct source *source, int pid, const struct observed *parent, bool late);
struct observed *source_find(const struct source *source, const struct process_key *key);
bool source_is_followed(const struct source *source, int pid); /* as a candidate, too; it has not ended */
void source_end(struct source *source, struct observed *observed, uint64_t ended_ns); /* or that was noticed then */
/* Attaches to what the process has mapped; at end_ns (0: never) that is cut short, to go on at the next call. */
void source_look(struct source *source, struct observed *observed, uint64_t end_ns);
/* Likewise, as the look says, which receives what was found. False with errno: the mappings cannot be read. A kernel
 * thread, or a process that is ending, has none. */
bool source_look_at_mappings(struct look *look);
/* Observes the children that no notice reported, until end_ns. False: some are left, and the next call continues with
 * them. May move the entries of observed processes. */
bool source_look_for_children(struct source *source, size_t index, uint64_t end_ns);
/* Names a descendant of the root that uses Eden. "": none of the first ones does. May move those that are observed. */
void source_name_descendant(struct source *source, size_t root, char *text, size_t size);
/* Which process is to be looked at next: of the next owner whose time has come, the one that has waited longest. NULL:
 * none. */
struct observed *source_next_turn(const struct source *source, uint64_t now);
void source_take_turn(struct source *source, size_t index, uint64_t round_end_ns); /* may move them, too */
void source_follow(struct source *source); /* a round: looks at those processes whose time has come */
int source_until_look(const struct source *source, int timeout_ms); /* milliseconds; at most timeout_ms */

/* source_select.c. Finds the selected processes that are there. */
bool source_open_selection(struct source *source, struct failure *why);
void source_close_selection(struct source *source);
/* Finds those that have come since, or have mapped other code; source_select_due(): when it is to be called next. */
void source_select_again(struct source *source);
uint64_t source_select_due(const struct source *source);
void source_is_looked_at(struct source *source, uint32_t pid); /* so source_refused() does not count it */

/* source_children.c. */
bool source_take_notices(struct source *source, uint64_t end_ns);                    /* as kernel_notices() */
bool source_has_heaps(const struct source *source, const struct observed *observed); /* anything known of one */
uint64_t source_missed_children(const struct source *source);
void source_count_missed(struct source *source, struct observed *observed); /* one that has ended */
void source_clear_children(struct children *children);
void source_forget_empty(struct source *source); /* moves those that are observed */

/* source_ended.c. All that was in the buffers when this is called will be handed on before source_close_ended(). */
void source_ready_ended(struct source *source);
void source_close_ended(struct source *source); /* those that were ready; may move the entries of observed processes */
/* Adds those that are kept, from *next on, which goes on, up to an order. False: no memory. */
bool source_snapshot_ended(const struct source *source, struct model *model, size_t *next, uint64_t order);
void source_clear_ended(struct source *source);

/* source_model.c. What is known of a process at this time, of heaps up to the serial `last`; nothing is added where
 * that is nothing. False: no memory. */
bool source_snapshot_process(struct source *source, struct model *model, const struct observed *observed, uint64_t now,
                             uint64_t last);

/* What reading files costs because of a process: its own share (inspect.h). */
struct target *source_budget(struct observed *observed);
/* source_files.c. The number of the file, read where it must be, as one of the process's share, at the cost of `budget`
 * (NULL: nobody's); -1 and why where that fails. It is the number to attach to this open file with. */
int64_t source_add_file(struct source *source, const struct observed *observed, struct target *budget,
                        const struct regular *regular, const char *name, bool can_have_probes, struct failure *why);
/* Looks into at most INSPECT_FILES files of the process at once for what can_have_probes is; fd -1: none. */
void source_find_probes(const struct source *source, struct observed *observed, const struct regular *regular,
                        size_t count, bool *can_have);
/* Attaches the process to the file's probes; true too where it is attached already or there are none. */
bool source_attach(struct source *source, struct observed *observed, uint32_t number, const struct regular *regular,
                   struct failure *why);
/* Attaches to the file's probes for every process, at the cost of the observed one's share; true too where that has
 * been done or there are none. */
bool source_attach_file(struct source *source, const struct observed *observed, uint32_t number,
                        const struct regular *regular, struct failure *why);
void source_clear_file(struct file *file);
/* False and why: the branch may keep no more files open. */
bool source_fail_files(const struct process_key *branch, struct failure *why);
uint32_t source_sites(const struct file *file); /* for all programs */

/* Likewise, to the file's probe batch, from which on its heaps sample, unless that is done for every process, and to
 * alloc__sample, if stacks are wanted. */
bool source_attach_batches(struct source *source, struct observed *observed, uint32_t number,
                           const struct regular *regular, struct failure *why);
void source_detach(struct source *source, struct attached *attached); /* at the latest by kernel_detach() */

/* source_memory.c. Whether a branch of an owner may keep `more` descriptors open besides. */
bool source_may_keep(const struct source *source, unsigned owner, const struct process_key *branch, uint32_t more);
bool source_may_hold(const struct source *source, const struct observed *observed); /* its memory, between two looks */
void source_open_pidfd(const struct source *source, struct observed *observed);     /* if its branch may */
void source_close_pidfd(struct observed *observed);
bool source_is_gone(const struct observed *observed); /* as far as is known without asking anybody */
void source_let_go(const struct source *source, struct observed *observed); /* of its memory, unless that is needed */

/* The executable mappings of the process's present address space. False with errno. */
bool source_map(struct source *source, struct observed *observed, struct mappings *mappings);
uint64_t source_fingerprint(const struct mappings *mappings);
void source_report_unread(struct source *source,
                          struct observed *observed); /* if it does not answer, and nobody has said so */
void source_release(struct observed *observed);
/* Finds where a copy of libeden in this file, mapped so, has its registry, and remembers it. */
bool source_find_registry(const struct source *source, struct observed *observed, uint32_t number,
                          const struct mapping *mapping, uint64_t *address);
/* Writes a heap's control word (struct eden_heap_info, sample_control). If the word has the value already, `anew` makes
 * another profile begin; else it stays. False: the process has no such heap now, the heap has no such word, or it
 * cannot be written. */
bool source_write_control(struct source *source, struct observed *observed, uint64_t heap, uint64_t value, bool anew);
/* Writes the word by which a tool requests a full collection of a heap. False: it cannot be written, or the runtime has
 * no such word. */
enum { SOURCE_COLLECT = 1 };
bool source_request_collection(struct source *source, struct observed *observed, uint64_t heap);

/* source_life.c. False and why: a heap that existed when the source was opened is profiled by another tool. */
bool source_check_profiles(const struct source *source, const struct observed *observed, struct failure *why);
/* Asks the heaps that a process has by now for what is wanted: before batch is attached to. */
void source_ask_heaps(struct source *source, struct observed *observed);
/* Asks new heaps, and hands on batches; as kernel_chunks(). */
bool source_follow_lifetimes(struct source *source, uint64_t end_ns);
bool source_take_names(struct source *source, uint64_t end_ns); /* where it is for lifetimes alone */
bool source_end_lifetimes(struct source *source, bool at_once); /* true: there is nothing to wait for any more */
void source_close_lifetimes(
    struct source *source); /* nothing is attached any more: nothing is asked of heaps, either */

/* source_stacks.c. Passes a stack on, as a batch of LIFE_BATCH_STACK with its raw number; as options.on_batch. */
bool source_take_stack(struct source *source, const struct life_chunk *chunk, struct life_batch *batch);
void source_clear_stacks(struct source *source);

/* source_late.c. Reads the headers of the heaps that the newly attached file has in the process. */
void source_read_headers(struct source *source, struct observed *observed, uint32_t number,
                         const struct mapping *mapping);
/* Every late heap that is not reconciled yet and has a checkpoint, until end_ns; the next call goes on behind the
 * process where this one ended. */
void source_reconcile(struct source *source, uint64_t end_ns);
/* Reports the classes of late heaps as class__define events, and, where the events are for a recording, their
 * parameters as param__set events, until end_ns: they were there before anybody listened. False: not all of them; the
 * next call goes on. */
bool source_report_late(struct source *source, uint64_t end_ns,
                        void (*on_event)(void *context, const struct event *event), void *context);
void source_lose_classes(struct source *source); /* reports that the rest is given up, if there is one */
struct late_heap *source_find_late(const struct observed *observed, uint64_t serial); /* NULL: it is of none */
/* What headers tell of an entry's heap whose creation was not seen. With EARLIER_UNKNOWN `first` may still have its
 * name. */
enum earlier source_late_of(const struct observed *observed, const struct heap_entry *entry, uint64_t serial,
                            struct late_heap *late);
/* The serial of the heap of an entry, by number; 0: the entry is nobody's yet. */
uint64_t source_serial(struct source *source, uint32_t number);
/* As kernel_events(), with these serials. */
bool source_events(struct source *source, uint64_t end_ns, void (*on_event)(void *context, const struct event *event),
                   void *context);

#endif
