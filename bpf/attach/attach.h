/* Loads the kernel program and attaches it to probe sites. */
#ifndef EDEN_ATTACH_H
#define EDEN_ATTACH_H

#include "kernel/kernel.h"
#include "util/failure.h"
#include <stdbool.h>
#include <stdint.h>

struct inspect;
struct kernel_side;

/* The programs: each file's sites for one of them are attached at once. */
enum kernel_program {
    KERNEL_ON_PROBE,
    KERNEL_ON_BATCH,     /* options->lifetimes: the probe batch */
    KERNEL_ON_SAMPLE,    /* options->stacks: the probe alloc__sample */
    KERNEL_ON_REQUESTED, /* options->lifetimes: the probe batch__requested, for every process */
    KERNEL_PROGRAMS
};

/* The processes that are observed from their first hit on. */
struct selection {
    enum kernel_selection kind;
    char *const *name; /* SELECT_NAMES; at most KERNEL_NAMES */
    size_t names;
    int cgroup; /* SELECT_CGROUP: a descriptor of its folder; the caller's */
};

/* What the kernel programs hand on besides the heaps' sums and histograms. */
struct kernel_options {
    bool events;     /* each hit of a probe; with lifetimes alone, those that name heaps and classes */
    bool objects;    /* events of probes that fire once an object: a larger ring buffer */
    bool lifetimes;  /* what the probe batch carries, added up; or, with */
    bool records;    /* the batches as they are */
    bool stacks;     /* the stack on which each sampled object is allocated */
    bool headers;    /* of heaps whose creation is not seen are read */
    bool pauses;     /* what threads do in collections is followed */
    bool by_descent; /* only hits of processes that descend from those observed, or are selected */
    struct selection selection;
    bool timed;   /* the kernel measures the time in its programs */
    bool verbose; /* report on stderr how sites are attached, and what libbpf says */
};

/* What is attached at once: all sites of one file for one process. */
struct attachment_request {
    const struct regular *file;
    const char *name;     /* of the file; for messages */
    int pid;              /* hits of this process only; 0: of every one */
    const uint64_t *site; /* file offsets */
    const uint64_t *semaphore;
    const uint64_t *cookie;
    uint32_t count;
    enum kernel_program program;
};

struct attachment;

/* Whether the caller has the rights without which nothing can be attached. False and why, as kernel_open. */
bool kernel_check_rights(struct failure *why);
/* `inspect`, which attaches and detaches, must outlive it. NULL and why where this machine or these rights can't:
 * status 2 and what is missing. */
struct kernel_side *kernel_open(const struct kernel_options *options, struct inspect *inspect, struct failure *why);
void kernel_close(struct kernel_side *kernel);
/* Whether maps can be read and written with the rights of this moment. */
bool kernel_can_use_maps(const struct kernel_side *kernel);
/* The time that the kernel has spent in these programs. False: it is not measured. */
bool kernel_programs_ns(const struct kernel_side *kernel, uint64_t *ns);
bool kernel_uses_multi(const struct kernel_side *kernel);
enum lockdown { LOCKDOWN_NONE, LOCKDOWN_UNKNOWN, LOCKDOWN_FORBIDS };
enum lockdown kernel_lockdown(void); /* whether it forbids tracing */
bool kernel_may_read_others(void);   /* whether we may look into processes of other users */

bool kernel_set_spec(struct kernel_side *kernel, uint32_t index, const struct probe_spec *spec, struct failure *why);
void kernel_expect_twins(struct kernel_side *kernel); /* two attachments may be to one file: each hit counts once */
void kernel_observe_since(struct kernel_side *kernel, uint64_t ns); /* what is hit before lies before observation */
bool kernel_arm(struct kernel_side *kernel, uint32_t target, bool on, struct failure *why);

/* Follows descendants of observed processes in the kernel, and what threads do in collections. False and why where that
 * fails. Where the kernel or these rights cannot, kernel_follows() is false and the tool must look for children. */
bool kernel_follow(struct kernel_side *kernel, struct failure *why);
bool kernel_follows(const struct kernel_side *kernel);
bool kernel_explains_pauses(const struct kernel_side *kernel); /* once it follows: whether options->pauses holds here */
bool kernel_explains_faults(const struct kernel_side *kernel); /* likewise; and the time in page faults is measured */
/* Observes a process of this branch that the kernel does not know yet; NULL: the first one, which is a branch. */
void kernel_observe(struct kernel_side *kernel, const struct process_key *process, const struct process_key *branch);
/* For KERNEL_KNOWN_NS nobody who executes the file is reported as one who does something new. */
void kernel_know_file(struct kernel_side *kernel, const struct executed_file *file);
void kernel_forget(struct kernel_side *kernel, const struct process_key *process);
/* What the branch that begins with this process lost. False: nothing. */
bool kernel_share(const struct kernel_side *kernel, const struct process_key *process, struct share *share);
/* What all branches lost. False: nothing, or it cannot be read. */
bool kernel_shares(const struct kernel_side *kernel, struct share *all);
struct notice;
/* Hands on what has happened to observed processes, in order. This, kernel_chunks() and kernel_events() hand on what is
 * there when they are called, and end at end_ns. True: that was all. False: the next call goes on. */
bool kernel_notices(struct kernel_side *kernel, uint64_t end_ns,
                    void (*on_notice)(void *context, const struct notice *notice), void *context);
int kernel_notices_fd(const struct kernel_side *kernel); /* for poll(); -1 where the kernel does not follow */

/* NULL and why; errno is ETIMEDOUT where the kernel did not answer in time (inspect.h): do not try that file again. */
struct attachment *kernel_attach(struct kernel_side *kernel, const struct attachment_request *request,
                                 struct failure *why);
/* How many descriptors an attachment keeps; 0 for NULL. */
uint32_t kernel_descriptors(const struct kernel_side *kernel, const struct attachment *attachment);
/* Frees an attachment, NULL is allowed; it is detached at the latest by the next kernel_detach(). */
void kernel_let_go(struct kernel_side *kernel, struct attachment *attachment);
void kernel_detach(struct kernel_side *kernel);
/* All that is let go of from now on is waited for until end_ns; the kernel detaches the rest in the background. */
void kernel_detach_by(struct kernel_side *kernel, uint64_t end_ns);

/* The kernel program's memory, mapped: it goes on changing. */
const volatile struct heap_entry *kernel_heaps(const struct kernel_side *kernel, uint32_t *count);
/* Gives back the entry of a heap whose process has ended, and its histograms: all that is known of it has been copied,
 * and its events have been handed on. */
void kernel_give_back(struct kernel_side *kernel, uint32_t number);
uint64_t kernel_last_serial(const struct kernel_side *kernel); /* of the entries that were taken by now */
/* One that no entry has, of a heap without an entry. */
uint64_t kernel_new_serial(struct kernel_side *kernel);
const volatile struct histogram *kernel_histogram(const struct kernel_side *kernel, uint32_t index);
/* Of batches, or of all else; hits that the kernel itself skipped included. */
uint64_t kernel_lost(const struct kernel_side *kernel, bool of_batches);
uint64_t kernel_lost_kind(const struct kernel_side *kernel, enum lost_kind kind);

/* Sums of lifetimes: the maps of life_kernel.h. */
enum kernel_life_map { KERNEL_LIFE_SUMS, KERNEL_LIFE_BUCKETS, KERNEL_LIFE_PROFILES };
int kernel_life_map(const struct kernel_side *kernel, enum kernel_life_map map); /* its descriptor */

struct life_chunk;
/* Hands on the chunks of records, each whole, likewise, and at most until the handler returns false. */
bool kernel_chunks(struct kernel_side *kernel, uint64_t end_ns,
                   bool (*handler)(void *context, const struct life_chunk *chunk), void *context);
int kernel_chunks_fd(const struct kernel_side *kernel); /* for poll(); -1 without records */

int kernel_events_fd(const struct kernel_side *kernel); /* for poll(); -1 without events */
/* Hands on events likewise. */
bool kernel_events(struct kernel_side *kernel, uint64_t end_ns,
                   void (*on_event)(void *context, const struct event *event), void *context);

/* From now on, what is there now is all that is handed on, however many calls that takes. */
void kernel_end(struct kernel_side *kernel);
/* Counts what has not been handed on by then as lost. */
void kernel_lose_rest(struct kernel_side *kernel);

#endif
