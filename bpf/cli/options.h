/* The command line that all subcommands share:
 *
 *     edenscope COMMAND [options] [interval [count]] [-- PROGRAM arguments...]
 *
 * Everything before the first `--` is ours, everything after it the program's. */
#ifndef EDEN_OPTIONS_H
#define EDEN_OPTIONS_H

#include "attach/attach.h"
#include "eden_abi.h"
#include "session/condition.h"
#include "util/failure.h"
#include "views/labels.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { OPTIONS_CONDITIONS = 8 };

/* What a subcommand accepts; an option that it does not is refused by name. */
enum {
    ACCEPT_PID = 1 << 0,         /* -p PID, --pid */
    ACCEPT_COMMAND = 1 << 1,     /* -- PROGRAM */
    ACCEPT_INTERVAL = 1 << 2,    /* [interval [count]] in seconds, 0.5 allowed */
    ACCEPT_JSON = 1 << 3,        /* --json */
    ACCEPT_TIMESTAMP = 1 << 4,   /* -T, --timestamp */
    ACCEPT_OUTPUT = 1 << 5,      /* -o FILE, --output */
    ACCEPT_INPUT = 1 << 6,       /* -i FILE, --input, --force */
    ACCEPT_EVENTS_ONLY = 1 << 7, /* --events-only: don't read heap headers */
    ACCEPT_OBJECTS = 1 << 8,     /* --objects: per-object probes too */
    ACCEPT_CSV = 1 << 9,         /* --csv */
    ACCEPT_REST = 1 << 10,       /* other arguments, in rest[] */
    ACCEPT_FORCE = 1 << 11,      /* --force */
    ACCEPT_HEAP = 1 << 12,       /* --heap ID, and --pid to choose a process that was recorded */
    ACCEPT_PROBE = 1 << 13,      /* --probe NAME, many times */
    ACCEPT_LIFETIMES = 1 << 14,  /* -i FILE, --heap ID, --details, --stacks, --view, --top, --by-site, --long-lived,
                                  * --pretenure, --force */
    ACCEPT_SAMPLING = 1 << 15,   /* --sampling, --mechanism */
    ACCEPT_RECORDED = 1 << 16,   /* --lifetimes[=details], --max-size, --rotate, --keep, --on */
    ACCEPT_TUNE = 1 << 17,       /* -i FILE, --force, --heap ID, --emit WHAT */
    ACCEPT_TRIALS = 1 << 18,     /* --verify, --search, and what goes with them */
    ACCEPT_LIST = 1 << 19,       /* --params, --classes */
    ACCEPT_TRACE = 1 << 20,      /* --chrome, --otlp */
    ACCEPT_VIEW = 1 << 21,       /* --view NAME, --since, --until, -F, --sort, -x, --html FILE */
    ACCEPT_FORCE_READ = 1 << 22, /* --force, of recordings that are named without -i */
    ACCEPT_EXPORT = 1 << 23,     /* --listen, --per-process */
    ACCEPT_USER = 1 << 24,       /* --user */
    ACCEPT_SELECTION = 1 << 25,  /* -a, -n NAME, --cgroup FOLDER; -p PID,PID... many times */
    ACCEPT_COLLECT = 1 << 26,    /* --collect */
    ACCEPT_LABEL = 1 << 27,      /* --label KEY=VALUE, many times */
    ACCEPT_TARGET = ACCEPT_PID | ACCEPT_COMMAND,
};

enum { OPTIONS_PIDS = 1024, OPTIONS_NAMES = 16 };
enum { OPTIONS_PROBE_WORDS = (EDEN_PROBE_COUNT + 63) / 64 };

struct options {
    int pid; /* 0: none; with ACCEPT_SELECTION the first of */
    int pids[OPTIONS_PIDS];
    size_t pid_count;
    char *names[OPTIONS_NAMES]; /* -n; name_count of them */
    size_t name_count;
    const char *cgroup; /* --cgroup; NULL: not given */
    char **command;     /* NULL: none; ends with NULL */
    double interval;    /* seconds; 0: none */
    uint64_t count;     /* 0: no limit */
    bool json, timestamp, events_only, objects, csv, force, verbose;
    uint64_t heap, heap_serial;           /* 0: none */
    uint64_t probes[OPTIONS_PROBE_WORDS]; /* bit i of word i / 64: probe i; of use where some_probes */
    bool all;                             /* -a */
    bool some_probes;
    const char *output, *input, *html;
    struct labels labels; /* --label */
    bool lifetimes;       /* --lifetimes; with `details` its =details */
    const char *sampling, *mechanism,
        *view; /* as given: model/lifetimes/options.h and views/lifetimes/view.h say what they may be */
    const char *columns, *sort, *separator; /* -F, --sort, -x; separator: one character */
    const char *pretenure;                  /* a file to write */
    const char *proposed;                   /* --options: as EDEN_OPTIONS; NULL: not given */
    uint64_t pairs, trials;                 /* 0: not given */
    uint64_t max_size, keep_bytes;          /* bytes; 0: not given */
    uint64_t keep_files;                    /* likewise */
    double rotate, keep;                    /* seconds; 0: not given */
    struct condition on[OPTIONS_CONDITIONS];
    size_t on_count;
    double budget;        /* seconds; 0: not given */
    double since, until;  /* seconds; 0: not given */
    uint64_t max_heap;    /* tune --max-heap, bytes; 0: not given */
    double memory_factor; /* --memory: INFINITY is none; 0: not given */
    bool chrome, otlp, params, classes;
    const char *user;   /* --user */
    const char *listen; /* --listen */
    bool per_process;   /* --per-process */
    bool collects;      /* --collect */
    bool emit_options;  /* --emit options */
    bool verify, search, details, stacks, by_site, top_given, long_lived_given;
    uint64_t top;
    double long_lived; /* percent */
    char **rest;       /* rest_count of them, in argv's memory */
    size_t rest_count;
};

/* Parses argv of a subcommand (argv[0] is its name). Where it returns false the subcommand returns *status at once:
 * help was printed (0) or the mistake named (1). `usage` is the text after "usage: edenscope ". */
bool options_parse(struct options *options, unsigned accept, const char *usage, int argc, char **argv, int *status);

/* Also refuses neither and both of -p and -- PROGRAM, and of what else says whom to observe. */
bool options_need_target(const struct options *options, unsigned accept, const char *usage, int *status);

/* The processes of -a, -n and --cgroup; the caller closes selection->cgroup if it is not negative. */
bool options_select(const struct options *options, struct selection *selection, struct failure *why);

/* The operand of -p PID [seconds], of subcommands that accept ACCEPT_REST: for how long to observe; 0: not given. */
bool options_seconds(const struct options *options, double *seconds, struct failure *why);

#endif
