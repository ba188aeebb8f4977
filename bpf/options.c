#include "options.h"
#include <errno.h>
#include <getopt.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    OPTION_JSON = 256,
    OPTION_EVENTS_ONLY,
    OPTION_OBJECTS,
    OPTION_CSV,
    OPTION_CHROME,
    OPTION_WITHOUT,
    OPTION_NO_MULTI
};

/* One option: who accepts it, and what --help says of it (NULL: hidden). */
struct described {
    struct option option;
    unsigned accept;
    const char *help;
};

static const struct described table[] = {
    {{"pid", required_argument, NULL, 'p'}, ACCEPT_PID, "-p, --pid PID       observe this process"},
    {{"json", no_argument, NULL, OPTION_JSON}, ACCEPT_JSON, "--json              machine-readable output"},
    {{"csv", no_argument, NULL, OPTION_CSV}, ACCEPT_CSV, "--csv               comma-separated values"},
    {{"chrome", no_argument, NULL, OPTION_CHROME}, ACCEPT_CHROME, "--chrome            trace-event JSON"},
    {{"timestamp", no_argument, NULL, 'T'}, ACCEPT_TIMESTAMP, "-T, --timestamp     start lines with the time"},
    {{"output", required_argument, NULL, 'o'}, ACCEPT_OUTPUT, "-o, --output FILE   write there"},
    {{"input", required_argument, NULL, 'i'}, ACCEPT_INPUT, "-i, --input FILE    read this recording"},
    {{"events-only", no_argument, NULL, OPTION_EVENTS_ONLY},
     ACCEPT_EVENTS_ONLY,
     "--events-only       sum what is seen only: don't read the totals of heaps that were there before"},
    {{"objects", no_argument, NULL, OPTION_OBJECTS},
     ACCEPT_OBJECTS,
     "--objects           probes that fire once an object too (slow)"},
    {{"verbose", no_argument, NULL, 'v'}, ~0u, "-v, --verbose       say what is done"},
    {{"help", no_argument, NULL, 'h'}, ~0u, "-h, --help          this help"},
    {{"without", required_argument, NULL, OPTION_WITHOUT}, ACCEPT_TARGET, NULL},
    {{"no-multi", no_argument, NULL, OPTION_NO_MULTI}, ACCEPT_TARGET, NULL},
};
enum { OPTIONS = sizeof table / sizeof table[0] };

static bool misused(const char *usage, const char *what, const char *name, int *status) {
    fprintf(stderr, "edenscope: %s%s%s\nusage: edenscope %s\n", what, name ? ": " : "", name ? name : "", usage);
    *status = 1;
    return false;
}

static void print_help(unsigned accept, const char *usage) {
    printf("usage: edenscope %s\n\n", usage);
    for (size_t i = 0; i < OPTIONS; i++) {
        if (table[i].help && table[i].accept & accept) {
            printf("  %s\n", table[i].help);
        }
    }
    if (accept & ACCEPT_COMMAND) {
        printf("  -- PROGRAM ...      start this program, observed from its first instruction\n");
    }
}

static const struct described *find(int value) {
    for (size_t i = 0; i < OPTIONS; i++) {
        if (table[i].option.val == value) {
            return &table[i];
        }
    }
    return NULL;
}

static bool parse_pid(const char *text, int *pid) {
    char *end;
    errno = 0;
    long value = strtol(text, &end, 10);
    *pid = (int)value;
    return !errno && end != text && *end == 0 && value > 0 && value <= 1 << 22;
}

static bool set(struct options *options, int value, const char *argument) {
    switch (value) {
    case 'p':
        return parse_pid(argument, &options->pid);
    case 'o':
        options->output = argument;
        return *argument != 0;
    case 'i':
        options->input = argument;
        return *argument != 0;
    case 'T':
        options->timestamp = true;
        return true;
    case 'v':
        options->verbose = true;
        return true;
    case OPTION_JSON:
        options->json = true;
        return true;
    case OPTION_CSV:
        options->csv = true;
        return true;
    case OPTION_CHROME:
        options->chrome = true;
        return true;
    case OPTION_EVENTS_ONLY:
        options->events_only = true;
        return true;
    case OPTION_OBJECTS:
        options->objects = true;
        return true;
    case OPTION_NO_MULTI:
        options->no_multi = true;
        return true;
    default:
        options->without = argument;
        return true;
    }
}

static bool parse_interval(struct options *options) {
    char *end;
    if (options->rest_count > 2) {
        return false;
    }
    options->interval = strtod(options->rest[0], &end);
    if (*end || end == options->rest[0] || !isfinite(options->interval) || options->interval < 0.001 ||
        options->interval > 1e6) {
        return false;
    }
    if (options->rest_count == 2) {
        errno = 0;
        options->count = strtoull(options->rest[1], &end, 10);
        if (*end || errno || options->rest[1][0] == '-' || options->count == 0) {
            return false;
        }
    }
    options->rest_count = 0;
    return true;
}

static bool parse_rest(struct options *options, unsigned accept, const char *usage, int *status) {
    if (options->rest_count == 0 || accept & ACCEPT_REST) {
        return true;
    }
    if (accept & ACCEPT_INTERVAL && parse_interval(options)) {
        return true;
    }
    const char *what = accept & ACCEPT_INTERVAL
                           ? "not an interval in seconds (and a count); a program to run goes after --"
                           : "unexpected argument";
    return misused(usage, what, options->rest[0], status);
}

bool options_parse(struct options *options, unsigned accept, const char *usage, int argc, char **argv, int *status) {
    *options = (struct options){0};
    *status = 0;
    /* What is after `--` is not ours to look at: getopt gets only what is before. */
    int own = 1;
    while (own < argc && strcmp(argv[own], "--") != 0) {
        own++;
    }
    struct option long_options[OPTIONS + 1] = {0};
    for (size_t i = 0; i < OPTIONS; i++) {
        long_options[i] = table[i].option;
    }
    char *end = argv[own];
    argv[own] = NULL;
    optind = 0; /* getopt starts anew */
    opterr = 0;
    int value;
    while ((value = getopt_long(own, argv, ":p:o:i:Tvh", long_options, NULL)) != -1) {
        if (value == 'h') {
            print_help(accept, usage);
            return false;
        }
        const char *name = argv[optind - 1];
        if (value == ':') {
            return misused(usage, "this option needs a value", name, status);
        }
        const struct described *found = value == '?' ? NULL : find(value);
        if (!found || !(found->accept & accept)) {
            return misused(usage, "unknown option", name, status);
        }
        if (!set(options, value, optarg)) {
            return misused(usage, value == 'p' ? "not a process id" : "not a file name", optarg, status);
        }
    }
    options->rest = argv + optind;
    options->rest_count = (size_t)(own - optind);
    argv[own] = end;
    if (own < argc) {
        if (!(accept & ACCEPT_COMMAND)) {
            return misused(usage, "this command runs no program", argv[own + 1], status);
        }
        if (own + 1 == argc) {
            return misused(usage, "no program after --", NULL, status);
        }
        options->command = argv + own + 1;
    }
    return parse_rest(options, accept, usage, status);
}

bool options_need_target(const struct options *options, const char *usage, int *status) {
    if (options->pid && options->command) {
        return misused(usage, "either -p PID or -- PROGRAM, not both", NULL, status);
    }
    if (!options->pid && !options->command) {
        return misused(usage, "neither -p PID nor -- PROGRAM is given", NULL, status);
    }
    return true;
}
