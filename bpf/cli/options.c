#include "cli/options.h"
#include "eden_params.h"
#include "eden_values.h"
#include "model/heap_ref.h"
#include "model/probe_table.h"
#include "util/message.h"
#include "util/terminal.h"
#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <limits.h>
#include <linux/magic.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/statfs.h>
#include <unistd.h>

enum {
    OPTION_JSON = 256,
    OPTION_EVENTS_ONLY,
    OPTION_OBJECTS,
    OPTION_CSV,
    OPTION_FORCE,
    OPTION_HEAP,
    OPTION_PROBE,
    OPTION_SAMPLING,
    OPTION_MECHANISM,
    OPTION_DETAILS,
    OPTION_STACKS,
    OPTION_LIFETIMES,
    OPTION_VIEW,
    OPTION_TOP,
    OPTION_BY_SITE,
    OPTION_LONG_LIVED,
    OPTION_PRETENURE,
    OPTION_EMIT,
    OPTION_VERIFY,
    OPTION_SEARCH,
    OPTION_OPTIONS,
    OPTION_PAIRS,
    OPTION_BUDGET,
    OPTION_TRIALS,
    OPTION_MEMORY,
    OPTION_MAX_HEAP,
    OPTION_MAX_SIZE,
    OPTION_PARAMS,
    OPTION_CLASSES,
    OPTION_CHROME,
    OPTION_OTLP,
    OPTION_SINCE,
    OPTION_UNTIL,
    OPTION_SORT,
    OPTION_HTML,
    OPTION_LISTEN,
    OPTION_USER,
    OPTION_PER_PROCESS,
    OPTION_CGROUP,
    OPTION_ROTATE,
    OPTION_KEEP,
    OPTION_ON,
    OPTION_COLLECT,
    OPTION_COLOR,
    OPTION_LABEL,
    OPTION_COUNT
};

/* One option: the commands that accept it, and its line of --help. */
struct described {
    struct option option;
    unsigned accept;
    const char *help;
};

static const struct described table[] = {
    {{"pid", required_argument, NULL, 'p'}, ACCEPT_PID, "-p, --pid PID       observe this running process"},
    {{"all", no_argument, NULL, 'a'},
     ACCEPT_SELECTION,
     "-a, --all           observe every process that uses Eden, or will"},
    {{"name", required_argument, NULL, 'n'},
     ACCEPT_SELECTION,
     "-n, --name NAME     observe the processes of this name, also those that start later; may be repeated"},
    {{"cgroup", required_argument, NULL, OPTION_CGROUP},
     ACCEPT_SELECTION,
     "--cgroup FOLDER     observe the processes of this control group, also those that start later"},
    {{"pid", required_argument, NULL, 'p'}, ACCEPT_HEAP, "-p, --pid PID       select the heaps of this process"},
    {{"heap", required_argument, NULL, OPTION_HEAP},
     ACCEPT_HEAP | ACCEPT_LIFETIMES | ACCEPT_TUNE,
     "--heap ID[#SERIAL]  select the heap with this number"},
    {{"probe", required_argument, NULL, OPTION_PROBE},
     ACCEPT_PROBE,
     "--probe NAME        select events of this probe, e.g. scavenge__done; may be repeated"},
    {{"json", no_argument, NULL, OPTION_JSON}, ACCEPT_JSON, "--json              print JSON"},
    {{"csv", no_argument, NULL, OPTION_CSV}, ACCEPT_CSV, "--csv               print comma-separated values"},
    {{"chrome", no_argument, NULL, OPTION_CHROME},
     ACCEPT_TRACE,
     "--chrome            print a trace for Perfetto, speedscope and chrome://tracing"},
    {{"otlp", no_argument, NULL, OPTION_OTLP},
     ACCEPT_TRACE,
     "--otlp              print collections as spans for OpenTelemetry, a JSON object a line"},
    {{"label", required_argument, NULL, OPTION_LABEL},
     ACCEPT_LABEL,
     "--label KEY=VALUE   with --json: add this member and times of day to each line, and a last line of counts; "
     "may be repeated"},
    {{"timestamp", no_argument, NULL, 'T'},
     ACCEPT_TIMESTAMP,
     "-T, --timestamp     begin each line with the time of day"},
    {{"output", required_argument, NULL, 'o'},
     ACCEPT_OUTPUT,
     "-o, --output FILE   write to FILE (default: standard output; of a report beside -- PROGRAM: standard error)"},
    {{"input", required_argument, NULL, 'i'},
     ACCEPT_INPUT,
     "-i, --input FILE    read this recording (default eden.data)"},
    {{"force", no_argument, NULL, OPTION_FORCE},
     ACCEPT_INPUT | ACCEPT_TUNE | ACCEPT_FORCE_READ,
     "--force             read a recording that belongs to another user"},
    {{"input", required_argument, NULL, 'i'},
     ACCEPT_LIFETIMES,
     "-i, --input FILE    read a recording of `edenscope record --lifetimes`; -p selects a process in it"},
    {{"events-only", no_argument, NULL, OPTION_EVENTS_ONLY},
     ACCEPT_EVENTS_ONLY,
     "--events-only       count observed events only: do not read the totals of preexisting heaps"},
    {{"objects", no_argument, NULL, OPTION_OBJECTS},
     ACCEPT_OBJECTS,
     "--objects           attach the probes that fire for each object too (slows the program down)"},
    {{"force", no_argument, NULL, OPTION_FORCE},
     ACCEPT_FORCE,
     "--force             replace a file that is not a recording"},
    {{"lifetimes", optional_argument, NULL, OPTION_LIFETIMES},
     ACCEPT_RECORDED,
     "--lifetimes[=details]  record lifetimes for `edenscope lifetimes -i`; details: each sampled object"},
    {{"user", required_argument, NULL, OPTION_USER},
     ACCEPT_USER,
     "--user USER         let this user read the file that is written (default: the one who ran sudo)"},
    {{"max-size", required_argument, NULL, OPTION_MAX_SIZE},
     ACCEPT_RECORDED,
     "--max-size SIZE     end the recording at SIZE[K|M|G|T] bytes (default 64G)"},
    {{"rotate", required_argument, NULL, OPTION_ROTATE},
     ACCEPT_RECORDED,
     "--rotate TIME       record to FILE.YYYYMMDDTHHMMSSZ, and after each TIME (10m, 1h, 1d) to the next such file"},
    {{"keep", required_argument, NULL, OPTION_KEEP},
     ACCEPT_RECORDED,
     "--keep AMOUNT       with --rotate: remove files that are older (7d), or beyond a size of all (20G), or a number "
     "of them (50files), or any of these (7d,20G)"},
    {{"on", required_argument, NULL, OPTION_ON},
     ACCEPT_RECORDED,
     "--on CONDITION      with --rotate: keep only files in which it holds, and the one before each: pause>50ms, "
     "scavenge>TIME, full>TIME or failure (of an allocation); may be repeated"},
    {{"collect", no_argument, NULL, OPTION_COLLECT},
     ACCEPT_COLLECT,
     "--collect           ask each heap for a full collection, which stops the program; else the next one is waited "
     "for"},
    {{"sampling", required_argument, NULL, OPTION_SAMPLING},
     ACCEPT_SAMPLING,
     "--sampling WHICH    sample all objects, 1/N (at random), nth=N (each N-th), bytes=N[K|M] (one per N bytes),\n"
     "                      refill=N[K|M], or window=OPEN/CLOSED in ms (default bytes=512K)"},
    {{"mechanism", required_argument, NULL, OPTION_MECHANISM},
     ACCEPT_SAMPLING,
     "--mechanism HOW     find deaths by vm, ephemeron, pretenured or oracle[=BYTES] (default vm)"},
    {{"details", no_argument, NULL, OPTION_DETAILS},
     ACCEPT_LIFETIMES,
     "--details           keep each sampled object, not only sums"},
    {{"stacks", no_argument, NULL, OPTION_STACKS},
     ACCEPT_LIFETIMES,
     "--stacks            group by native stack, not by site; needs --sampling 1/100, bytes=8K or sparser"},
    {{"view", required_argument, NULL, OPTION_VIEW},
     ACCEPT_LIFETIMES,
     "--view NAME         print this view, e.g. survival or csv (default: a table); a wrong name lists all"},
    {{"view", required_argument, NULL, OPTION_VIEW},
     ACCEPT_VIEW,
     "--view NAME         print this view (default summary); list: lists the views"},
    {{"since", required_argument, NULL, OPTION_SINCE},
     ACCEPT_VIEW,
     "--since SECONDS     with --view: from so long after the recording began"},
    {{"until", required_argument, NULL, OPTION_UNTIL},
     ACCEPT_VIEW,
     "--until SECONDS     with --view: up to so long after the recording began"},
    {{"html", required_argument, NULL, OPTION_HTML},
     ACCEPT_VIEW,
     "--html FILE         write a page for a browser, which needs no network"},
    {{"fields", required_argument, NULL, 'F'},
     ACCEPT_VIEW,
     "-F, --fields COLUMNS  with --view: only these columns, in this order (names as in --json, e.g. seq,cause)"},
    {{"sort", required_argument, NULL, OPTION_SORT},
     ACCEPT_VIEW,
     "--sort COLUMN       with --view: the largest of this column first"},
    {{"field-separator", required_argument, NULL, 'x'},
     ACCEPT_VIEW,
     "-x, --field-separator C  with --view: print values, separated by this character"},
    {{"listen", required_argument, NULL, OPTION_LISTEN},
     ACCEPT_EXPORT,
     "--listen ADDRESS:PORT  where to serve (default 127.0.0.1:9464)"},
    {{"per-process", no_argument, NULL, OPTION_PER_PROCESS},
     ACCEPT_EXPORT,
     "--per-process       a series for each process and heap, not for each program and name"},
    {{"by-site", no_argument, NULL, OPTION_BY_SITE},
     ACCEPT_LIFETIMES,
     "--by-site           group views by site, not by class"},
    {{"top", required_argument, NULL, OPTION_TOP},
     ACCEPT_LIFETIMES,
     "--top N             show at most N rows (default 20; 0 shows all)"},
    {{"long-lived", required_argument, NULL, OPTION_LONG_LIVED},
     ACCEPT_LIFETIMES,
     "--long-lived PERCENT  call lifetimes long if their mean is at least this share of the run (default 5)"},
    {{"pretenure", required_argument, NULL, OPTION_PRETENURE},
     ACCEPT_LIFETIMES,
     "--pretenure FILE    also write classes and sites worth allocating old, for a program's pretenure=FILE"},
    {{"force", no_argument, NULL, OPTION_FORCE},
     ACCEPT_LIFETIMES,
     "--force             with -i: read a recording of another user; with --pretenure: replace a file of another kind"},
    {{"input", required_argument, NULL, 'i'},
     ACCEPT_TUNE,
     "-i, --input FILE    examine this recording (default eden.data); -p selects a process in it"},
    {{"emit", required_argument, NULL, OPTION_EMIT},
     ACCEPT_TUNE,
     "--emit options      print only the recommended options, as EDEN_OPTIONS=..."},
    {{"max-heap", required_argument, NULL, OPTION_MAX_HEAP},
     ACCEPT_TUNE,
     "--max-heap SIZE     propose what fits a heap of SIZE[K|M|G|T] bytes, and this limit with it"},
    {{"verify", no_argument, NULL, OPTION_VERIFY},
     ACCEPT_TRIALS,
     "--verify            run PROGRAM with and without the proposed options, and compare; needs no root with "
     "--options"},
    {{"search", no_argument, NULL, OPTION_SEARCH},
     ACCEPT_TRIALS,
     "--search            run PROGRAM with many options, to find better ones than the rules propose"},
    {{"options", required_argument, NULL, OPTION_OPTIONS},
     ACCEPT_TRIALS,
     "--options LIST      with --verify, --search: try these options (as in EDEN_OPTIONS), not those of the rules"},
    {{"pairs", required_argument, NULL, OPTION_PAIRS},
     ACCEPT_TRIALS,
     "--pairs N           with --verify: run N pairs (default 5)"},
    {{"budget", required_argument, NULL, OPTION_BUDGET},
     ACCEPT_TRIALS,
     "--budget SECONDS    with --search: time limit in seconds (default 60)"},
    {{"trials", required_argument, NULL, OPTION_TRIALS},
     ACCEPT_TRIALS,
     "--trials N          with --search: run PROGRAM at most N times (default: no limit)"},
    {{"memory", required_argument, NULL, OPTION_MEMORY},
     ACCEPT_TRIALS,
     "--memory FACTOR     with --search: recommend at most FACTOR times the present memory (default 2; none: no "
     "limit)"},
    {{"params", no_argument, NULL, OPTION_PARAMS}, ACCEPT_LIST, "--params            show the parameters of each heap"},
    {{"classes", no_argument, NULL, OPTION_CLASSES},
     ACCEPT_LIST,
     "--classes           show the classes and sites of each heap, with their numbers in probes"},
    {{"color", required_argument, NULL, OPTION_COLOR},
     ~0u,
     "--color WHEN        use colours: auto (default: on a terminal, unless NO_COLOR is set), always or never"},
    {{"verbose", no_argument, NULL, 'v'}, ~0u, "-v, --verbose       report progress on standard error"},
    {{"help", no_argument, NULL, 'h'}, ~0u, "-h, --help          print this help"},
};
enum { OPTIONS = sizeof table / sizeof table[0] };

static bool misused(const char *usage, const char *what, const char *name, int *status) {
    message_print("%s%s%s; `edenscope %.*s --help` shows the usage", name ? name : "", name ? ": " : "", what,
                  (int)strcspn(usage, " "), usage);
    *status = 1;
    return false;
}

static void print_help(unsigned accept, const char *usage) {
    printf("usage: edenscope %s\n\n", usage);
    for (size_t i = 0; i < OPTIONS; i++) {
        if (table[i].accept & accept) {
            printf("  %s\n", table[i].help);
        }
    }
    if (accept & ACCEPT_INTERVAL) {
        printf("  interval            measure at this interval, in seconds (0.001 to 1000000)\n"
               "  count               end after this number of intervals\n");
    }
    if (accept & ACCEPT_COMMAND) {
        printf("  -- PROGRAM ...      start this program and observe it from its first instruction\n");
    }
    printf("\nSee also: man edenscope-%.*s; docs/edenscope.md, which is installed in share/doc/eden.\n",
           (int)strcspn(usage, " "), usage);
}

static bool is_accepted(int value, unsigned accept) {
    for (size_t i = 0; i < OPTIONS; i++) {
        if (table[i].option.val == value && table[i].accept & accept) {
            return true;
        }
    }
    return false;
}

/* Why an option cannot be given again; NULL: it can. One without a value says the same twice. */
static const char *refuse_again(int value, unsigned accept) {
    bool has_value = false;
    for (size_t i = 0; i < OPTIONS; i++) {
        has_value = has_value || (table[i].option.val == value && table[i].option.has_arg != no_argument);
    }
    bool is_list = value == OPTION_PROBE || value == OPTION_ON || value == OPTION_LABEL ||
                   (accept & ACCEPT_SELECTION && (value == 'p' || value == 'n'));
    return !has_value || is_list ? NULL
           : value == 'p'        ? "given twice; run edenscope once for each process"
                                 : "given twice; give it once";
}

static bool parse_count(const char *text, uint64_t *count) {
    char *end;
    errno = 0;
    *count = strtoull(text, &end, 10);
    return errno == 0 && end != text && *end == 0 && !strchr(text, '-');
}

static bool parse_count_within(const char *text, uint64_t least, uint64_t most, uint64_t *count) {
    return parse_count(text, count) && *count >= least && *count <= most;
}

/* As heap_number_text() writes it. */
static bool parse_heap(const char *text, uint64_t *id, uint64_t *serial) {
    const char *mark = strchr(text, '#');
    char number[HEAP_NUMBER];
    *id = *serial = 0;
    if (!mark) {
        return parse_count_within(text, 1, UINT64_MAX, id);
    }
    snprintf(number, sizeof number, "%.*s", (int)(mark - text < HEAP_NUMBER ? mark - text : HEAP_NUMBER), text);
    return (strcmp(number, "?") == 0 || parse_count_within(number, 1, UINT64_MAX, id)) &&
           parse_count_within(mark + 1, 1, UINT64_MAX, serial);
}

static bool parse_pid(const char *text, int *pid) {
    uint64_t value;
    bool is_pid = parse_count_within(text, 1, 1 << 22, &value);
    *pid = (int)value;
    return is_pid;
}

/* One, or several with commas. */
static bool parse_pids(struct options *options, const char *text) {
    char number[16];
    for (bool goes_on = true; goes_on;) {
        size_t length = strcspn(text, ",");
        snprintf(number, sizeof number, "%.*s", (int)(length < sizeof number ? length : sizeof number), text);
        if (options->pid_count == OPTIONS_PIDS || !parse_pid(number, &options->pids[options->pid_count++])) {
            return false;
        }
        for (size_t i = 0; i + 1 < options->pid_count; i++) { /* given twice, it is one */
            if (options->pids[i] == options->pids[options->pid_count - 1]) {
                options->pid_count--;
            }
        }
        goes_on = text[length] == ',';
        text += length + goes_on;
    }
    options->pid = options->pids[0];
    return true;
}

static bool add_name(struct options *options, char *name) {
    if (*name == 0 || options->name_count == OPTIONS_NAMES) {
        return false;
    }
    options->names[options->name_count++] = name;
    return true;
}

static bool parse_within(const char *text, double least, double most, double *number) {
    char *end;
    *number = strtod(text, &end);
    return end != text && *end == 0 && *number >= least && *number <= most;
}

/* Seconds, as 90, 90s, 10m, 1h or 7d. */
static bool parse_span(const char *text, double *seconds) {
    static const char units[] = "smhd";
    static const double unit[] = {1, 60, 3600, 86400};
    char *end;
    *seconds = strtod(text, &end);
    const char *letter = *end ? strchr(units, *end) : units;
    *seconds *= letter ? unit[letter - units] : 0;
    return end != text && letter && (*end == 0 || end[1] == 0) && *seconds >= 1 && *seconds <= 1e9;
}

/* 7d, 20G, or 50files; each once at most. */
static bool parse_amount(struct options *options, const char *one) {
    const size_t length = strlen(one), digits = strspn(one, "0123456789");
    if (digits != 0 && digits < 10 && strcmp(one + digits, "files") == 0) {
        const bool is_first = options->keep_files == 0;
        options->keep_files = strtoull(one, NULL, 10);
        return is_first && options->keep_files != 0;
    }
    if (length > 1 && strchr("KMGT", one[length - 1])) {
        return options->keep_bytes == 0 && eden_size_parse(one, &options->keep_bytes) && options->keep_bytes >= 1 << 20;
    }
    /* A number alone might be meant as files, and would be seconds. */
    return options->keep == 0 && digits != length && parse_span(one, &options->keep);
}

/* Amounts, with commas. */
static bool parse_keep(struct options *options, const char *text) {
    char one[32];
    for (bool goes_on = true; goes_on;) {
        size_t length = strcspn(text, ",");
        snprintf(one, sizeof one, "%.*s", (int)(length < sizeof one ? length : sizeof one), text);
        if (length >= sizeof one || !parse_amount(options, one)) {
            return false;
        }
        goes_on = text[length] == ',';
        text += length + goes_on;
    }
    return true;
}

static bool add_probe(struct options *options, const char *name) {
    int probe = probe_find(strncmp(name, "eden:", 5) == 0 ? name + 5 : name);
    if (probe < 0) {
        return false;
    }
    options->probes[probe / 64] |= 1ull << probe % 64;
    options->some_probes = true;
    return true;
}

/* What is wrong with the value of an option. */
static const char *wanted(const struct options *options, unsigned accept, int value, const char *argument) {
    static const char *const values[OPTION_COUNT] = {
        ['p'] = "give process ids, at most 1,024, with commas between; -n takes names",
        ['n'] = "give the name of a process, at most 16 times",
        ['o'] = "not a file name",
        ['i'] = "not a file name",
        [OPTION_PRETENURE] = "not a file name",
        [OPTION_HTML] = "not a file name",
        [OPTION_HEAP] = "not a heap number (from 1)",
        [OPTION_LONG_LIVED] = "not a percentage above 0 and at most 100",
        [OPTION_TOP] = "not a number of rows",
        [OPTION_LIFETIMES] = "give --lifetimes alone, or --lifetimes=details",
        [OPTION_EMIT] = "give --emit options; there is no other value",
        [OPTION_COLOR] = "give auto, always or never",
        [OPTION_PAIRS] = "not a number of pairs, from 1 to 100",
        [OPTION_BUDGET] = "not a time in seconds, from 0.1 to 1000000",
        [OPTION_SINCE] = "not a time in seconds, from 0 to 1000000000",
        [OPTION_UNTIL] = "not a time in seconds, above 0 and up to 1000000000",
        ['x'] = "not a separator: give one character, a tab or a sign such as ; that is in no value",
        [OPTION_TRIALS] = "not a number of runs, from 3 to 1000000",
        [OPTION_MAX_HEAP] = "not a size of a heap, from 1M; give one such as 512M or 2G",
        [OPTION_MEMORY] = "not a memory factor: give a number from 1, or none",
        [OPTION_MAX_SIZE] = "not a size in bytes, such as 200M",
        [OPTION_ROTATE] = "not a time, from 1s; give one such as 10m, 1h or 1d",
        [OPTION_KEEP] =
            "give an age such as 7d, a size from 1M such as 20G, a number such as 50files, or several: 7d,20G",
        [OPTION_ON] = "give pause>TIME, scavenge>TIME, full>TIME (such as 50ms) or failure, at most 8 times",
        [OPTION_PROBE] = "not a probe such as scavenge__done; docs/probes.md lists the probes",
    };
    uint64_t bytes;
    bool is_small = value == OPTION_MAX_SIZE && eden_size_parse(argument, &bytes) && bytes < 1 << 20;
    const bool takes_one = value == 'p' && !(accept & ACCEPT_SELECTION);
    return is_small                ? "too small; give at least 1M"
           : takes_one             ? "give the id of one process, a number from 1"
           : value == OPTION_LABEL ? labels_refuse(&options->labels, argument)
                                   : values[value];
}

/* Sets an option whose value must be read. */
static bool set_read(struct options *options, int value, char *argument) {
    switch (value) {
    case 'p':
        return parse_pids(options, argument);
    case 'n':
        return add_name(options, argument);
    case OPTION_HEAP:
        return parse_heap(argument, &options->heap, &options->heap_serial);
    case OPTION_PROBE:
        return add_probe(options, argument);
    case OPTION_LABEL:
        return labels_add(&options->labels, argument);
    case OPTION_EMIT:
        options->emit_options = true;
        return strcmp(argument, "options") == 0;
    case OPTION_COLOR:
        return terminal_set_color(argument);
    case OPTION_MAX_SIZE:
        return eden_size_parse(argument, &options->max_size) && options->max_size >= 1 << 20 &&
               options->max_size != EDEN_NO_LIMIT;
    case OPTION_ROTATE:
        return parse_span(argument, &options->rotate);
    case OPTION_KEEP:
        return parse_keep(options, argument);
    case OPTION_ON:
        return options->on_count < OPTIONS_CONDITIONS && condition_parse(argument, &options->on[options->on_count++]);
    case OPTION_LIFETIMES:
        options->lifetimes = true;
        options->details = argument != NULL;
        return !argument || strcmp(argument, "details") == 0;
    case OPTION_TOP:
        options->top_given = true;
        return parse_count(argument, &options->top);
    case OPTION_PAIRS:
        return parse_count_within(argument, 1, 100, &options->pairs);
    case OPTION_TRIALS:
        return parse_count_within(argument, 3, 1000000, &options->trials);
    case OPTION_SINCE:
        return parse_within(argument, 0, 1e9, &options->since);
    case OPTION_UNTIL:
        return parse_within(argument, 0, 1e9, &options->until) && options->until > 0;
    case 'x': /* values hold digits, points and letters */
        options->separator = argument;
        return strlen(argument) == 1 && (ispunct((unsigned char)*argument) || *argument == '\t') &&
               !strchr("-.?_\\\"", *argument);
    case OPTION_BUDGET:
        return parse_within(argument, 0.1, 1e6, &options->budget);
    case OPTION_MAX_HEAP:
        return eden_size_parse(argument, &options->max_heap) && options->max_heap != EDEN_NO_LIMIT &&
               (double)options->max_heap >= eden_param(EDEN_PARAM_max_heap)->low;
    case OPTION_MEMORY:
        options->memory_factor = INFINITY;
        return strcmp(argument, "none") == 0 || parse_within(argument, 1, 1e6, &options->memory_factor);
    default:
        options->long_lived_given = true;
        return parse_within(argument, 0, 100, &options->long_lived) && options->long_lived > 0;
    }
}

static bool set(struct options *options, int value, char *argument) {
    bool *const flags[OPTION_COUNT] = {
        ['T'] = &options->timestamp,
        ['v'] = &options->verbose,
        [OPTION_BY_SITE] = &options->by_site,
        [OPTION_CSV] = &options->csv,
        [OPTION_DETAILS] = &options->details,
        [OPTION_EVENTS_ONLY] = &options->events_only,
        [OPTION_FORCE] = &options->force,
        [OPTION_JSON] = &options->json,
        [OPTION_OBJECTS] = &options->objects,
        [OPTION_SEARCH] = &options->search,
        [OPTION_STACKS] = &options->stacks,
        [OPTION_VERIFY] = &options->verify,
        [OPTION_PARAMS] = &options->params,
        [OPTION_CLASSES] = &options->classes,
        [OPTION_CHROME] = &options->chrome,
        [OPTION_OTLP] = &options->otlp,
        [OPTION_PER_PROCESS] = &options->per_process,
        [OPTION_COLLECT] = &options->collects,
        ['a'] = &options->all,
    };
    const char **const files[OPTION_COUNT] = {
        ['o'] = &options->output,
        ['i'] = &options->input,
        [OPTION_PRETENURE] = &options->pretenure,
        [OPTION_HTML] = &options->html,
    };
    const char **const names[OPTION_COUNT] = {
        [OPTION_SAMPLING] = &options->sampling,
        [OPTION_MECHANISM] = &options->mechanism,
        [OPTION_OPTIONS] = &options->proposed,
        [OPTION_VIEW] = &options->view,
        ['F'] = &options->columns,
        [OPTION_SORT] = &options->sort,
        [OPTION_LISTEN] = &options->listen,
        [OPTION_USER] = &options->user,
        [OPTION_CGROUP] = &options->cgroup,
    };
    if (flags[value]) {
        *flags[value] = true;
        return true;
    }
    if (names[value]) {
        *names[value] = argument;
        return true;
    }
    if (files[value]) {
        *files[value] = argument;
        return *argument != 0;
    }
    return set_read(options, value, argument);
}

/* What is wrong with the interval or the count; NULL: nothing. *wrong: the first word, and then the one that is. */
static const char *parse_interval(struct options *options, const char **wrong) {
    char *const *rest = options->rest;
    size_t count = options->rest_count;
    options->rest_count = 0;
    if (!parse_within(rest[0], 0.001, 1e6, &options->interval)) {
        return options->pid ? "not an interval; give a number of seconds, 0.001 to 1000000, without a unit"
                            : "not an interval in seconds (0.001 to 1000000); put a program to run after --";
    }
    *wrong = count > 1 ? rest[1] : NULL;
    if (*wrong && !(parse_count(rest[1], &options->count) && options->count != 0)) {
        return "not a number of intervals, from 1";
    }
    *wrong = count > 2 ? rest[2] : NULL;
    return *wrong ? "unexpected argument; put a program to run after --" : NULL;
}

static bool parse_rest(struct options *options, unsigned accept, const char *usage, int *status) {
    if (options->rest_count == 0 || accept & ACCEPT_REST) {
        return true;
    }
    const char *wrong = options->rest[0];
    char meant[160] = "unexpected argument";
    if (is_accepted('i', accept)) {
        snprintf(meant, sizeof meant, "unexpected argument; did you mean -i %.100s?", wrong);
    }
    const char *what = accept & ACCEPT_INTERVAL ? parse_interval(options, &wrong) : meant;
    return !what || misused(usage, what, wrong, status);
}

static bool is_for_programs(const struct options *options) {
    return options->json || options->csv || options->chrome || options->otlp || options->separator ||
           options->emit_options;
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
    bool is_given[OPTION_COUNT] = {0};
    char letter[] = "-?"; /* a short option may stand amid others of its word */
    optind = 0;           /* getopt starts anew */
    opterr = 0;
    int value;
    while ((value = getopt_long(own, argv, ":p:n:o:i:F:x:aTvh", long_options, NULL)) != -1) {
        if (value == 'h') {
            print_help(accept, usage);
            return false;
        }
        /* getopt returns the letter of a short option; a long one is the word before optind. */
        int short_option = value == '?' || value == ':' ? optopt : value;
        letter[1] = (char)short_option;
        bool is_short = short_option > 0 && short_option < 256 && strncmp(argv[optind - 1], "--", 2) != 0;
        bool value_apart = optarg && optarg == argv[optind - 1]; /* then the option is the word before */
        const char *name = is_short ? letter : argv[optind - 1 - value_apart];
        if (value == ':') {
            return misused(usage, "this option needs a value", name, status);
        }
        if (value == '?' && optopt >= 256) {
            return misused(usage, "this option takes no value", name, status);
        }
        if (!is_accepted(value, accept)) {
            return misused(usage, "unknown option", name, status);
        }
        const char *again = is_given[value] ? refuse_again(value, accept) : NULL;
        if (again) {
            return misused(usage, again, name, status);
        }
        is_given[value] = true;
        if (!set(options, value, optarg)) {
            char given[200];
            snprintf(given, sizeof given, is_short || value_apart ? "%.60s %.130s" : "%.190s", name, optarg);
            return misused(usage, wanted(options, accept, value, optarg), given, status);
        }
    }
    if (options->pid_count > 1 && !(accept & ACCEPT_SELECTION)) {
        return misused(usage, "more than one process; run edenscope once for each", "-p", status);
    }
    options->rest = argv + optind;
    options->rest_count = (size_t)(own - optind);
    argv[own] = end;
    if (own < argc) {
        if (!(accept & ACCEPT_COMMAND)) {
            return misused(usage, "this command does not run a program", argv[own + 1], status);
        }
        if (own + 1 == argc) {
            return misused(usage, "the program after -- is missing", NULL, status);
        }
        options->command = argv + own + 1;
    }
    if (is_for_programs(options)) {
        terminal_fold(false);
    }
    return parse_rest(options, accept, usage, status);
}

bool options_need_target(const struct options *options, unsigned accept, const char *usage, int *status) {
    const bool may_select = accept & ACCEPT_SELECTION, may_read = strstr(usage, "-i FILE");
    int ways = (options->pid != 0) + (options->command != NULL) + options->all + (options->name_count != 0) +
               (options->cgroup != NULL);
    if (ways > 1) {
        return misused(usage,
                       may_select ? "give one of -p PID, -n NAME, --cgroup FOLDER, -a and -- PROGRAM"
                                  : "give either -p PID or -- PROGRAM, not both",
                       NULL, status);
    }
    if (ways == 0) {
        const char *what = may_select ? "give -p PID, -n NAME, --cgroup FOLDER, -a or -- PROGRAM"
                           : may_read ? "give -p PID, -- PROGRAM or -i FILE"
                                      : "give -p PID or -- PROGRAM";
        return misused(usage, what, options->rest_count ? options->rest[0] : NULL, status);
    }
    return true;
}

/* A control group by the path of its folder, or as /proc/PID/cgroup names it. -1 and why. What a relative path leads to
 * from the working folder, which may be a stranger's, is not meant, but where it begins with a dot. */
static int open_cgroup(const char *path, struct failure *why) {
    static const char *const roots[] = {"", "/sys/fs/cgroup/", "/sys/fs/cgroup/unified/"};
    int folder = -1, error = ENOENT;
    if (path[0] == '\0') {
        failure_set(why, 1, "--cgroup: names no folder; -a observes all processes");
        return -1;
    }
    for (size_t i = path[0] == '/' || path[0] == '.' ? 0 : 1; i < sizeof roots / sizeof *roots && folder < 0; i++) {
        char name[PATH_MAX];
        struct statfs system;
        int length = snprintf(name, sizeof name, "%s%s", roots[i], path);
        folder = length < PATH_MAX ? open(name, O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;
        error = folder < 0 && errno != ENOENT ? errno : error;
        if (folder >= 0 && (fstatfs(folder, &system) != 0 || system.f_type != CGROUP2_SUPER_MAGIC)) {
            close(folder);
            folder = -1;
            error = ENOTSUP;
        }
    }
    if (folder < 0) {
        failure_set(why, 1,
                    "%.300s: no control group (%s); name a folder of cgroup version 2, as /proc/PID/cgroup does", path,
                    error == ENOTSUP ? "of another file system, as of version 1" : strerror(error));
    }
    return folder;
}

bool options_select(const struct options *options, struct selection *selection, struct failure *why) {
    *selection = (struct selection){.cgroup = -1};
    if (options->all) {
        selection->kind = SELECT_ALL;
    } else if (options->name_count != 0) {
        selection->kind = SELECT_NAMES;
        selection->name = options->names;
        selection->names = options->name_count;
    } else if (options->cgroup) {
        selection->kind = SELECT_CGROUP;
        selection->cgroup = open_cgroup(options->cgroup, why);
    }
    return !options->cgroup || selection->cgroup >= 0;
}

bool options_seconds(const struct options *options, double *seconds, struct failure *why) {
    *seconds = 0;
    if (options->rest_count == 0) {
        return true;
    }
    if (!parse_within(options->rest[0], 0.001, 1e6, seconds)) {
        return failure_set(why, 1, "%.100s: not a time in seconds (0.001 to 1000000); %s", options->rest[0],
                           options->pid ? "give a number without a unit" : "put a program to run after --");
    }
    if (options->rest_count > 1) {
        return failure_set(why, 1, "%.100s: unexpected argument; put a program to run after --", options->rest[1]);
    }
    return options->pid || options->all || options->name_count != 0 || options->cgroup ||
           failure_set(why, 1, "%.100s: a time limit needs -p PID; a program runs to its end", options->rest[0]);
}
