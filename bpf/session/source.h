/* A source: attaches to processes, lets the kernel program aggregate, and fills the model.
 *
 * Timings, figures and histograms are kept in kernel maps and read by source_snapshot; only with `events` does every
 * probe hit also come through the ring buffer. Probes that fire once an object are attached only where `objects` says
 * so. */
#ifndef EDEN_SOURCE_H
#define EDEN_SOURCE_H

#include "attach/attach.h"
#include "attach/heapinfo.h"
#include "model/lifetimes/batch.h"
#include "model/lifetimes/model.h"
#include "model/lifetimes/stacks.h"
#include "model/model.h"
#include "util/failure.h"

/* Which of the probes that fire once an object or look at each: tenure, remember, forget, mourn, remembered__scan,
 * census. */
enum object_probes {
    OBJECTS_NONE,
    OBJECTS_SCANS,  /* remembered__scan alone: one an object larger than large_object */
    OBJECTS_CENSUS, /* census alone: one a class, and a look at each object, at the end of a full collection */
    OBJECTS_ALL
};

struct source_options {
    const int *pid; /* observe these processes, or */
    size_t pids;
    struct selection selection; /* those that are selected, whenever they start, or */
    char *const *command;       /* start this one, attached before its first instruction */
    bool events;
    enum object_probes objects;
    /* Profile lifetimes: the probe batch is attached to, which makes the heaps sample. Without `events` only probes
     * about heaps and classes are attached besides. */
    bool lifetimes;
    bool collects;    /* without lifetimes: request a full collection of each heap that there is at attach */
    uint64_t control; /* lifetimes: the request (eden_batches.h) to each heap */
    /* lifetimes: gets the batches as they are, from within source_poll; where it returns false, the others at the next
     * call of that. NULL: they are added up in the kernel. */
    life_batch_fn *on_batch;
    void *batch_context;
    /* lifetimes with on_batch: also take the stack on which each sampled object is allocated, and hand on a raw number
     * of it as a batch LIFE_BATCH_STACK. source_name_stacks() adds the stacks to these. NULL: don't. */
    struct life_stacks *stacks;
    bool no_headers;     /* don't read heap headers of late processes: figures are then of what was observed alone */
    const char *without; /* comma-separated probes not to attach; NULL: none */
    /* Without lifetimes: gets what is known of each process that has ended but was not asked for itself, in a model of
     * its own, once, from within source_poll(); no snapshot has it any more. False: no memory; the next call tries
     * again. NULL: snapshots go on having it, as far as there is room. */
    bool (*on_ended)(void *context, struct model *model);
    void *ended_context;
    int wake_fd;           /* source_poll also returns when this is readable; 0: none */
    bool units;            /* models say in which unit or control group a process is, from Linux 6.8 on */
    bool timed;            /* the time in the kernel programs is measured, for source_programs_ns() */
    bool until_interrupt;  /* nothing else ends observing a process that lives on: say so on a terminal */
    const char *next_file; /* the recording that is to follow others; NULL: it follows none */
    bool verbose;
};

static inline bool source_is_for_lifetimes(const struct source_options *options) {
    return options->lifetimes && !options->events;
}

struct source;

/* Where a process of the selected names was to be there, and no heap was seen: says so. The status that this makes. */
int source_report_unseen(const struct selection *selection, bool has_heap);

/* How many of the selected processes were not looked at so far, or before they ended, for what they or others of their
 * owners have cost. At the end: says so. */
size_t source_refused(const struct source *source);
void source_report_refused(const struct source *source);

/* NULL and why where it can't, or a signal has come by then (interrupt.h). The command is started but stopped before
 * its first instruction: source_start lets it go. */
struct source *source_open(const struct source_options *options, struct failure *why);
bool source_start(struct source *source, struct failure *why);

/* Gives up, for good, all rights that observing does not need: called when the outputs are open. `folder`: O_PATH,
 * where names are still to be given or removed; -1: none. Whatever takes rights from now on is done by workers. By perf
 * events each process that comes later is attached to by this one, and with a /proc that hides processes this one
 * looks for them: then it keeps its rights. */
bool source_give_up_rights(struct source *source, int folder, struct failure *why);

/* Waits at most timeout_ms, hands each event that came to on_event, follows children and later-mapped libraries, and
 * reaps the command. Call it several times a second: nothing else drains the ring buffer. False once the process or the
 * command has ended (children that outlive it count up to then, as in perf) or source_stop was called, and all events
 * are drained. With `lifetimes` a stop first lets the heaps end their profiles, which takes their next collection, and
 * at most a second; another stop cuts that short. With `events`, the classes and parameters of heaps that were alive at
 * attach come as made-up class__define and param__set events first. */
bool source_poll(struct source *source, int timeout_ms, void (*on_event)(void *context, const struct event *event),
                 void *context);
/* Async-signal-safe. The first stop lets a command finish, which ^C has reached as well; the second leaves it alone. A
 * process given by its id is let go of at the first. */
void source_stop(struct source *source);

/* The model as of now, from the kernel maps. Replaces the content of *model. */
bool source_snapshot(struct source *source, struct model *model, struct failure *why);

/* Before an empty model is filled: it learns for how long was observed, which nothing in it exceeds, and whose the
 * processes are, so that users share its memory. */
void source_share_lifetimes(const struct source *source, struct life_model *model);
/* What was learnt of lifetimes, for good: call it once, when source_poll has said false. The model is empty, or has
 * been filled from the batches; then only the heaps that are missing in it, names and what was lost are added. Reports
 * on stderr what was lost. Only where the source is for lifetimes alone. */
bool source_lifetimes(struct source *source, struct life_model *model, struct failure *why);

/* The numbers, in options.stacks, of the stacks that were handed on with raw numbers. */
struct stack_numbers {
    uint32_t *of; /* 0: the unknown one */
    uint32_t count;
};
/* Reads the functions of all stacks that were handed on, in a bounded time; call it when source_poll has said false.
 * The caller frees numbers->of, also if it fails. Functions that were not read are unknown. False: no memory. */
bool source_name_stacks(struct source *source, struct stack_numbers *numbers, struct failure *why);

/* Reads from the memory of a living process what a heap with this address and number (0: not known) has: its
 * parameters, and its classes and sites, as long as on_class returns true. False: not all of it was read. Takes seconds
 * at most. */
bool source_read_heap(struct source *source, const struct process_key *process, uint64_t address, uint64_t id,
                      struct heap_params *params,
                      bool (*on_class)(void *context, uint32_t index, uint32_t class_index, const char *name),
                      void *context);

/* The time in the kernel programs so far, where that is measured. False: not known. */
bool source_programs_ns(const struct source *source, uint64_t *ns);

/* Exit status of the command as a shell would give it; -1: none or still running. */
int source_exit_status(const struct source *source);
uint64_t source_began_ns(const struct source *source);  /* when observation began, on CLOCK_MONOTONIC */
uint64_t source_attach_ns(const struct source *source); /* how long attaching took */
void source_close(struct source *source);               /* detaches; NULL is allowed */

#endif
