/* What the parts of the source share; nobody else includes this.
 *
 *     source_eden.c   who is observed: opening, following, ending
 *     source_files.c  files with probes, and attaching to them
 *     source_late.c   heaps that were alive at attach
 *     source_model.c  the model from the kernel program's entries */
#ifndef EDEN_SOURCE_PARTS_H
#define EDEN_SOURCE_PARTS_H

#include "attach.h"
#include "heapinfo.h"
#include "launch.h"
#include "notes.h"
#include "target.h"
#include <signal.h>
#include <sys/types.h>
#include <time.h>

/* A file with probes, or one that has none and need not be looked at again. */
struct file {
    dev_t device;
    ino_t inode;
    struct timespec changed;
    char *name;
    uint32_t sites; /* 0: nothing for us */
    uint64_t *site, *semaphore;
    uint32_t first_spec;
    int args[EDEN_PROBE_COUNT]; /* how many arguments each probe passes; 0: not in this file */
    struct notes notes;
    uint64_t registry; /* address of the heap__create semaphore as linked */
};

enum { MOST_LATE_HEAPS = 256, MOST_CLASSES_TOLD = 262144 };

struct late_heap {
    struct heapinfo first;  /* as attaching found it */
    struct heapinfo base;   /* as of the checkpoint that settled it; else `first` */
    struct checkpoint sums; /* ours at base.seq; zero where there was none */
    bool settled;
    bool told; /* its classes have been */
    uint32_t file;
};

struct observed {
    struct process_key key;
    char command[64];
    bool late; /* attached after its first instruction */
    bool ended;
    bool told;                      /* that something of it can't be observed */
    uint32_t classes_told;          /* of its late heaps */
    uint32_t *file;                 /* attached ones, owned */
    struct attachment **attachment; /* NULL: let go of since */
    size_t attachments;
    struct late_heap *late_heap;
    size_t late_heaps;
};

struct source {
    struct source_options options;
    struct kernel_side *kernel;
    struct launch launch;
    struct file *file;
    uint32_t files;
    uint32_t specs, targets;
    struct observed *observed; /* the first is the root */
    size_t observed_count;
    int root_fd; /* pidfd of the root; -1: this kernel has none */
    bool started, finished, reaped;
    int exit_status;
    uint64_t attach_ns, start_ns, end_ns, followed_ns;
    volatile sig_atomic_t stops;
};

/* source_files.c. The number of the file, looked into if it was not yet; -1 and why where that fails. */
int64_t source_add_file(struct source *source, int fd, const char *name, struct failure *why);
/* Attaches the process to the file's probes; true too where it is attached already or there are none. */
bool source_attach(struct source *source, struct observed *observed, uint32_t number, int fd, struct failure *why);
void source_clear_file(struct file *file);

/* source_late.c. Reads the headers of the heaps that the newly attached file has in the process. */
void source_read_headers(struct source *source, struct observed *observed, uint32_t number,
                         const struct mapping *mapping);
void source_settle(struct source *source); /* every heap that is not settled yet, if its time has come */
/* Tells the classes of late heaps as class__define events: they were defined before anybody listened. */
void source_tell_classes(struct source *source, void (*on_event)(void *context, const struct event *event),
                         void *context);
struct late_heap *source_find_late(const struct observed *observed, uint64_t address, uint64_t id);

#endif
