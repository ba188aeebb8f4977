/* A recording: one SQLite file that holds the events, the kernel's aggregates, and what they are of.
 *
 * Safe against being killed at any moment: events are gathered in memory and written in transactions of milliseconds
 * with a rollback journal, so that the next reader finds the last committed state. docs/recording.md
 * describes the tables.
 *
 * A recorder writes one, a recording reads one; a file may be read while it is written. */
#ifndef EDEN_RECORDING_H
#define EDEN_RECORDING_H

#include "model/lifetimes/replay.h"
#include "model/model.h"
#include <limits.h>
#include <sys/types.h>

/* Raised when a reader of the version before would misread the file. New tables, columns, probes and figures don't:
 * readers ask for columns by name and skip what they don't know. */
#define RECORDING_VERSION 1

/* Why a recorder stopped before the end of what it observed. */
enum recording_cut {
    CUT_UNKNOWN, /* nothing is known: it goes on, is whole, or its recorder was killed or could not write why */
    CUT_MAX_SIZE,
    CUT_NO_ROOM,
    CUT_FILE_LIMIT,
    CUT_LOCKED,
    CUT_FAILED,
    CUTS,
};
extern const char *const recording_cut_names[CUTS]; /* the words of meta's `cut_short_by` */

/* ---- writing ---------------------------------------------------------------------------------------------------- */

struct recorder;

struct recorder_options {
    const char *path;
    char *const *command; /* NULL: a running process was observed, */
    int pid;              /* this one, or */
    const char *selected; /* those that this says, where it is not NULL */
    bool force;           /* replace the file at path even if it is not a recording */
    bool is_temporary;    /* path is in temporary_folder(), not -o's */
    bool objects;         /* per-object events are recorded too */
    uint64_t
        lifetimes; /* what heaps are asked for (the control word of eden_batches.h); 0: lifetimes are not recorded */
    const uid_t *reader; /* who may read it besides; NULL: the user who ran sudo, where that can be */
    uint64_t most_bytes; /* the file's largest size; 0: ROOM_MOST_BYTES (room.h) */
};

/* Makes a new recording without a name. NULL where that can't be, or where path is taken by something that is not a
 * recording, that belongs to another user, or that another recorder writes; or where files stand beside it that SQLite
 * would take for its own (-journal, -wal, -shm). */
struct recorder *recorder_create(const struct recorder_options *options, struct failure *why);

/* Puts the new recording at path. Called once tracing works, before rights are given up. A file with content stays
 * there until the first heap, event or batch is committed. If none is, the new recording is removed at the end. */
bool recorder_publish(struct recorder *recorder, struct failure *why);
bool recorder_is_published(const struct recorder *recorder);

/* The recording began at this moment of CLOCK_MONOTONIC, not when it was made: attaching came between. The next
 * transaction writes it. */
void recorder_began(struct recorder *recorder, uint64_t mono_ns);

/* The folder that the recording stands in, O_PATH; the recorder's. Its journal is removed from there at the end. */
int recorder_folder(const struct recorder *recorder);
/* Whether the recording still stands at its path: somebody may have removed, renamed or replaced it. */
bool recorder_is_in_place(const struct recorder *recorder);
/* Whether the recording's folder has the name that it had when the recording was created: if it was renamed, another
 * one may stand at the path. folder[]: its name now. Where a link on the path leads meanwhile is not looked at: links
 * of strangers are not followed. */
bool recorder_is_at_path(const struct recorder *recorder, char folder[PATH_MAX]);

/* Adds an event; quick, unless very many wait to be written. After false nothing more can be written; what was
 * committed stays. */
bool recorder_add(struct recorder *recorder, const struct event *event, struct failure *why);

/* Adds a batch of lifetimes, likewise. */
bool recorder_add_batch(struct recorder *recorder, const struct life_batch *batch, struct failure *why);
/* Whether the waiting batches should be written before more are added. */
bool recorder_is_full(const struct recorder *recorder);

/* Writes events that wait, a batch of them, where they are many or 250 ms old. To be called between drains; *more: at
 * once again. */
bool recorder_write(struct recorder *recorder, bool *more, struct failure *why);

/* Writes the aggregates as of now and a batch of events, and commits. finished: all events, and nothing comes after;
 * waits for 10 s at most while another program holds a lock on the file, and names it as below. */
bool recorder_commit(struct recorder *recorder, const struct model *model, bool finished, struct failure *why);

/* Names the process that has held a lock on the file for 3 s, so that nothing could be written; once while it does. */
void recorder_report_lock(struct recorder *recorder);
uint64_t
recorder_dropped_count(const struct recorder *recorder); /* events and records lost to that; they are counted */

enum recording_cut recorder_cut(const struct recorder *recorder); /* why it takes nothing more */
uint64_t recorder_event_count(const struct recorder *recorder);   /* added so far */
uint64_t recorder_written_count(const struct recorder *recorder); /* of these, those that the file has */
uint64_t recorder_batch_count(const struct recorder *recorder);   /* of lifetimes, that the file has */
uint64_t recorder_model_count(const struct recorder *recorder);   /* of commits of a model that succeeded */
uint64_t recorder_bytes(const struct recorder *recorder);         /* of the file, now */
void recorder_close(struct recorder *recorder); /* an unpublished recording is removed; NULL is allowed */

/* ---- reading ---------------------------------------------------------------------------------------------------- */

struct recording;

struct recording_info {
    char *command;      /* as given to `record`, words separated by blanks; "" where a running process was observed */
    char *kernel;       /* release of the kernel it was made on */
    char *tool;         /* version of edenscope that made it */
    uint64_t start_ns;  /* when recording began, which is where its wall time counts from: since 1970, */
    uint64_t mono_ns;   /* and the same moment on the clock of the events */
    uint64_t commit_ns; /* when it was last written to, on that clock */
    uint64_t events;
    uint64_t pid;       /* the process that -p named; 0: a command was run, or */
    char *selected;     /* which processes were observed, in words; "": one, or a command */
    uint64_t lifetimes; /* as in struct recorder_options */
    bool objects;
    enum recording_cut cut;
    bool finished; /* false: still being recorded, or cut short; figures say "at least" */
    bool live;     /* a recorder is writing it now */
};

/* How to open a recording. */
enum {
    RECORDING_FORCE = 1 << 0, /* also one of another user */
    RECORDING_LAST = 1 << 1,  /* it is the last that this process opens: it gives up its rights before it reads */
};

/* Opens a file to read, checks that it is a recording that this version reads, and undoes in a copy what a killed
 * recorder left half written. NULL and why otherwise. */
struct recording *recording_open_with(const char *path, unsigned how, struct failure *why);
struct recording *recording_open(const char *path, struct failure *why); /* how: 0 */
/* How a command opens the one recording that it shows. */
static inline unsigned recording_last(bool force) { return RECORDING_LAST | (force ? RECORDING_FORCE : 0u); }
const struct recording_info *recording_info(const struct recording *recording);
/* Why it holds a part only: "still being recorded", or "cut short: ...". NULL: it is whole. */
const char *recording_partial(const struct recording_info *info);

/* Fills an empty model. What it holds of a damaged file before the damage was found stays in it. */
bool recording_model(struct recording *recording, struct model *model, struct failure *why);

/* Every event in order of time; stops where on_event returns false. probes: bit i of word i / 64 wants probe i; NULL
 * wants all, those included that this version doesn't know. */
typedef bool (*recording_event_fn)(void *context, const struct event *event, uint64_t heap_id);
bool recording_events(struct recording *recording, const uint64_t *probes, recording_event_fn on_event, void *context,
                      struct failure *why);

/* The parameters of a heap as last set while it was observed, in order of name. */
typedef void (*recording_parameter_fn)(void *context, const char *name, const char *value);
bool recording_parameters(struct recording *recording, const struct process_key *process, struct heap_ref heap,
                          recording_parameter_fn on_parameter, void *context, struct failure *why);

/* Lifetimes: fills an empty model from the batches, names included. What of them makes no sense is left out with a word
 * on stderr, and counted as lost. */
bool recording_lifetimes(struct recording *recording, struct life_model *model, struct failure *why);

void recording_close(struct recording *recording); /* NULL is allowed */

#endif
