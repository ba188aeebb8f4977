/* print_reference probes|parameters|figures: prints docs/probes.md, docs/parameters.md or docs/figures.md from the
 * lists of this folder, so that what is documented is what is built. print_reference schema: prints what the JSON
 * schemas of docs/schemas have from these lists. print_reference script: renews the tables in a script of bpftrace,
 * from standard input to output. print_reference clickhouse: prints the tables of scripts/clickhouse. `make docs`
 * writes all of them. */
#include "eden_abi.h"
#include "eden_foreach.h"
#include "eden_params.h"
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

/* What bpftrace 0.17 on x86-64 knows: arg0 to arg5. */
enum { BPFTRACE_ARGUMENTS = 6 };

struct argument {
    const char *name, *kind, *doc;
};
struct probe {
    const char *name, *doc;
    struct argument arguments[EDEN_PROBE_MAX_ARGS];
    int count;
};

static const struct probe probes[] = {
#define EDEN_ARGUMENT(name, kind, doc)                                                                                 \
    { #name, #kind, doc }
#define EDEN_PROBE(name, doc, ...) {#name, doc, {EDEN_EACH_COMMA(EDEN_ARGUMENT, __VA_ARGS__)}, EDEN_COUNT(__VA_ARGS__)},
#include "eden_probes.def"
#undef EDEN_PROBE
#undef EDEN_ARGUMENT
};

struct kind {
    const char *name, *doc;
};
static const struct kind kinds[] = {
#define EDEN_KIND(name, type, doc) {#name, doc},
#include "eden_enums.def"
};

struct enumerator {
    const char *constant, *name, *meaning;
};
struct enumeration {
    const char *tag, *kind;
    struct enumerator values[EDEN_ENUM_MOST];
};
static const struct enumeration enumerations[] = {
#define ENUMERATOR(constant, name, meaning)                                                                            \
    { #constant, name, meaning }
#define EDEN_ENUM(tag, kind, count, ...) {#tag, #kind, {EDEN_EACH_COMMA(ENUMERATOR, __VA_ARGS__)}},
#include "eden_enums.def"
#undef ENUMERATOR
};

#define LENGTH(array) (sizeof(array) / sizeof *(array))

static void print_generated(const char *what, const char *list) {
    printf("# %s\n\n<!-- Made by `make docs` from probes/%s. Change that, not this. -->\n\n", what, list);
}

static const struct enumeration *find_enumeration(const char *tag) {
    for (size_t i = 0; i < LENGTH(enumerations); i++) {
        if (strcmp(enumerations[i].tag, tag) == 0) {
            return &enumerations[i];
        }
    }
    return NULL;
}

static void print_arguments(const struct probe *probe) {
    printf("| | argument | kind | meaning |\n"
           "|---|---|---|---|\n");
    for (int i = 0; i < probe->count; i++) {
        const struct argument *argument = &probe->arguments[i];
        char place[16];
        snprintf(place, sizeof place, i < BPFTRACE_ARGUMENTS ? "`arg%d`" : "%d", i);
        const char *link = find_enumeration(argument->kind) ? argument->kind : NULL;
        printf("| %s | `%s` | %s%s%s%s%s | %s |\n", place, argument->name, link ? "[" : "", argument->kind,
               link ? "](#" : "", link ? link : "", link ? ")" : "", argument->doc);
    }
}

/* The probes that pass it. */
static void print_users(const struct enumeration *enumeration) {
    int users = 0;
    for (size_t i = 0; i < LENGTH(probes); i++) {
        for (int j = 0; j < probes[i].count; j++) {
            if (strcmp(probes[i].arguments[j].kind, enumeration->tag) == 0) {
                printf("%s `%s` of `%s`", users++ == 0 ? "," : " and", probes[i].arguments[j].name, probes[i].name);
            }
        }
    }
    bool is_of_header = strcmp(enumeration->kind, "header") == 0;
    printf("%s:\n\n", is_of_header ? ", in the public header of a heap"
                      : users == 0 ? ", in the records of `batch`"
                                   : "");
}

static void print_enumerations(void) {
    printf("\n## Enumerations\n\nValues are only appended; an older reader shows the number of one that it does not "
           "know.\n");
    for (size_t i = 0; i < LENGTH(enumerations); i++) {
        const struct enumeration *e = &enumerations[i];
        if (strcmp(e->kind, "choice") == 0) {
            continue; /* docs/parameters.md has it */
        }
        printf("\n### %s\n\n`enum eden_%s`", e->tag, e->tag);
        print_users(e);
        printf("| number | name | meaning |\n|---|---|---|\n");
        for (size_t j = 0; j < LENGTH(e->values) && e->values[j].name; j++) {
            printf("| %zu | %s | %s |\n", j, e->values[j].name, e->values[j].meaning);
        }
    }
}

static void print_probes(void) {
    print_generated("The probes", "eden_probes.def");
    printf("libeden has %zu USDT probes of provider `eden`. While no tracer is attached, a probe costs a load and a "
           "branch, off the\n"
           "fast paths; the inline paths of allocation and stores contain none.\n\n",
           LENGTH(probes));
    printf("The list is append-only: a probe keeps its name, meaning and arguments; new arguments come last; a new "
           "meaning is a\nnew probe with the suffix `_v2`. The first argument is always the heap.\n\n"
           "Arguments `..._since` count from the last `scavenge__start`, `full__start` or `heap__create` of that heap, "
           "so they\ninclude events inside that collection. Their sums over these probes and `heap__destroy` equal the "
           "heap's\nown figures exactly ([figures](figures.md)).\n\n");
    printf("## From bpftrace\n\n"
           "    bpftrace -p PID -e 'usdt:$1:eden:scavenge__done { printf(\"%%d us\\n\", arg2 / 1000); }'\n\n"
           "The first column is the argument's name in bpftrace. bpftrace 0.17 accepts `arg0` to `arg%d` on "
           "x86-64 and refuses\nlater ones. Those can be read from the register that `readelf -n FILE` gives for them, "
           "`reg(\"r10\")` for `8@%%r10`;\nwhich one it is may differ from build to build. Strings: `str(arg2)`. "
           "[One-liners](one-liners.md) says how to name\nthe process or file, and scripts/bpftrace/*.bt are ready to "
           "run.\n\n",
           BPFTRACE_ARGUMENTS - 1);
    printf("| kind | meaning |\n"
           "|---|---|\n");
    for (size_t i = 0; i < LENGTH(kinds); i++) {
        printf("| %s | %s |\n", kinds[i].name, kinds[i].doc);
    }
    print_enumerations();
    printf("\n## All probes\n");
    for (size_t i = 0; i < LENGTH(probes); i++) {
        printf("\n### %s\n\n%s\n\n", probes[i].name, probes[i].doc);
        print_arguments(&probes[i]);
    }
}

static const char *const param_docs[EDEN_PARAM_COUNT] = {
#define EDEN_PARAM(id, name, kind, fallback, low, high, choices, doc) doc,
#include "eden_params.def"
#undef EDEN_PARAM
};

static void print_value(const struct eden_param *param, double value) {
    char text[64];
    eden_param_show(param, value, text, sizeof text);
    param->kind == EDEN_KIND_whole &&value != EDEN_UNSET ? printf("%g", value) : printf("%s", text);
}

/* The choices by name, or with what they mean. */
static void print_choices(const struct eden_param *param, bool meanings) {
    for (uint64_t i = 0; eden_enum_name(param->choices, i); i++) {
        printf("%s%s", i != 0 ? meanings ? "; " : ", " : meanings ? ": " : "", eden_enum_name(param->choices, i));
        if (meanings) {
            printf(": %s", eden_enum_meaning(param->choices, i));
        }
    }
}

static void print_params(void) {
    print_generated("The parameters of a heap", "eden_params.def");
    printf(
        "A program sets them when it creates a heap (`eden_options.parameters`) or later (`eden_heap_set`); "
        "`EDEN_OPTIONS`\noverrides what a program gives at creation, for every heap of the process:\n\n"
        "    EDEN_OPTIONS=eden_size=64M,full_gc_ratio=2.5 PROGRAM\n\n"
        "If a name is given twice, the last value holds; `tr '\\0' '\\n' </proc/PID/environ` shows what a process "
        "has.\n\n"
        "Sizes are in bytes; K, M, G and T are powers of 1024; `none` is no limit. A value out of bounds is refused "
        "by name and\nthe heap is not created. `eden_size`, `remembered_set` and `pretenure` cannot change after the "
        "heap is created. Probe\n`param__set` reports each value.\n\n"
        "With `policy=auto`, the default, a heap decides by itself ([the rule](../probes/eden_policy.h)): the size of "
        "eden,\nwhich is 2 MB at first; when old space is collected, in place of `full_gc_ratio`, and what of it is "
        "returned, in place of\n`shrink_threshold`; which survivors are tenured, in place of `tenure_proportion`, "
        "`tenure_fill` and `compat.overflow`, and how\nlarge the semispaces are for those that are not; whether eden "
        "becomes old space in place, "
        "instead of being copied; and when objects\nare moved, in place of `compactor=selective`. A "
        "parameter that a program, `EDEN_OPTIONS` or a tool sets decides for\nitself, also if it is set to its "
        "default. "
        "Eden is never promoted in place if `eden_size`, `full_gc_ratio` or\n`shrink_threshold` is set, or with a "
        "`max_heap` below 6 MB. `max_heap` says how much memory there is: up to it, memory is\nused before time is. "
        "`policy=fixed` has no such rule, like the papers' collector: a parameter that is not set has its "
        "default,\nwhich is not always the papers'.\n\n"
        "[papers_vm.options](../probes/papers_vm.options) gives every parameter the value of the papers' VM "
        "(see\n[differences](internals.md#differences-from-the-papers-vm)):\n\n"
        "    EDEN_OPTIONS=$(paste -sd, probes/papers_vm.options) PROGRAM\n\n"
        "| parameter | default | bounds | meaning |\n|---|---|---|---|\n");
    for (enum eden_param_id id = 0; id < EDEN_PARAM_COUNT; id++) {
        const struct eden_param *param = eden_param(id);
        printf("| `%s` | ", param->name);
        print_value(param, param->fallback);
        printf(" | ");
        if (param->choices != EDEN_ENUM_none) {
            print_choices(param, false);
        } else {
            print_value(param, param->low);
            printf(" to ");
            print_value(param, param->high);
        }
        printf("%s | %s",
               param->kind == EDEN_KIND_whole  ? ", or unset"
               : param->kind == EDEN_KIND_file ? ", or a file"
                                               : "",
               param_docs[id]);
        print_choices(param, true);
        printf(" |\n");
    }
}

struct figure {
    const char *name, *kind, *unit, *doc;
};
static const struct figure figures[] = {
#define EDEN_FIGURE(name, kind, unit, doc) {#name, #kind, #unit, doc},
#include "eden_figures.def"
#undef EDEN_FIGURE
};

static void print_figures(void) {
    print_generated("The figures of a heap", "eden_figures.def");
    printf("A figure has one name everywhere: in `eden_heap_figures`, in `EDEN_STATS` ([log](log.md)), in the tool's "
           "`--json`, as a\ncolumn of a recording. The events of the probes add up to them exactly, heap by heap.\n\n"
           "A sum only grows; a max is the largest so far; a gauge is as of the last collection.\n\n"
           "| figure | kind | unit | meaning |\n|---|---|---|---|\n");
    for (size_t i = 0; i < LENGTH(figures); i++) {
        printf("| `%s` | %s | %s | %s |\n", figures[i].name, figures[i].kind, figures[i].unit, figures[i].doc);
    }
    printf("| `full_by_cause` | sums | count | full collections by cause: an object of");
    for (size_t i = 0; eden_full_cause_name(i); i++) {
        printf("%s `%s`", i == 0 ? "" : ",", eden_full_cause_name(i));
    }
    printf(" ([causes](probes.md#full_cause)) |\n");
}

/* ---- scripts ---------------------------------------------------------------------------------------------------- */

struct phase {
    const char *probe, *name;
    int parent;
};
static const struct phase phases[] = {
#define EDEN_PHASE(probe, name, parent) {#probe, name, parent},
#include "eden_phases.def"
#undef EDEN_PHASE
};

/* A template, with these in place of the words NUMBER, NAME, PROBE and PARENT. */
static void print_template(const char *template, const char *const with[4]) {
    static const char *const words[] = {"NUMBER", "NAME", "PROBE", "PARENT"};
    while (*template) {
        size_t word = 0;
        while (word < LENGTH(words) && strncmp(template, words[word], strlen(words[word])) != 0) {
            word++;
        }
        word < LENGTH(words) ? (void)fputs(with[word], stdout) : (void)putchar(*template);
        template += word < LENGTH(words) ? strlen(words[word]) : 1;
    }
}

/* list: an enumeration, "phase", or "part" for the phases within others. */
static bool print_each(const char *list, const char *template) {
    bool parts = strcmp(list, "part") == 0;
    if (parts || strcmp(list, "phase") == 0) {
        for (size_t i = 0; i < LENGTH(phases); i++) {
            const char *parent = phases[i].parent < 0 ? "" : phases[phases[i].parent].name;
            if (*parent || !parts) {
                print_template(template, (const char *[]){"", phases[i].name, phases[i].probe, parent});
            }
        }
        return true;
    }
    const struct enumeration *e = find_enumeration(list);
    for (size_t i = 0; e && i < LENGTH(e->values) && e->values[i].name; i++) {
        char number[24];
        snprintf(number, sizeof number, "%zu", i);
        print_template(template, (const char *[]){number, e->values[i].name, "", ""});
    }
    return e != NULL;
}

/* A script of bpftrace from the standard input, renewed: below a line `// for each LIST: TEMPLATE`, up to a blank line,
 * a comment or a closing brace, stands the template for each entry of the list. */
static bool print_script(void) {
    static const char mark[] = "// for each ";
    char line[512], list[32];
    bool is_generated = false;
    while (fgets(line, sizeof line, stdin)) {
        size_t indent = strspn(line, " ");
        const char *text = line + indent, *template = strstr(text, ": ");
        is_generated = is_generated && *text != '\n' && *text != '}' && strncmp(text, "//", 2) != 0;
        if (!is_generated) {
            fputs(line, stdout);
        }
        if (strncmp(text, mark, strlen(mark)) == 0 && template) {
            char indented[sizeof line];
            snprintf(list, sizeof list, "%.*s", (int)(template - text - (ptrdiff_t)strlen(mark)), text + strlen(mark));
            snprintf(indented, sizeof indented, "%*s%s", (int)indent, "", template + 2);
            is_generated = true;
            if (!print_each(list, indented)) {
                fprintf(stderr, "print_reference: no list %s\n", list);
                return false;
            }
        }
    }
    return true;
}

/* ---- definitions of JSON schemas -------------------------------------------------------------------------------- */

/* JSON, with ' in the place of ". */
__attribute__((format(printf, 1, 2))) static void print_json(const char *format, ...) {
    char text[512];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    for (const char *at = text; *at; at++) {
        putchar(*at == '\'' ? '"' : *at);
    }
}

/* A member `description`, the last of its object: of a size or a time with its unit. */
static void print_description(const char *kind, const char *doc) {
    bool has_unit = strcmp(kind, "bytes") == 0 || strcmp(kind, "ns") == 0;
    printf("\"description\": \"%s%s", has_unit ? kind : "", has_unit ? ": " : "");
    for (; *doc; doc++) {
        printf("%s%c", *doc == '"' || *doc == '\\' ? "\\" : "", *doc);
    }
    printf("\"}");
}

static const char *comma(size_t i) { return i == 0 ? "" : ", "; }

static void print_enumeration_schema(const struct enumeration *e) {
    print_json(",\n    '%s': {'enum': [", e->tag);
    for (size_t i = 0; i < LENGTH(e->values) && e->values[i].name; i++) {
        print_json("%s'%s'", comma(i), e->values[i].name);
    }
    printf("]}");
}

static void print_figures_schema(void) {
    print_json(",\n    'figures': {'type': 'object', 'properties': {");
    for (size_t i = 0; i < LENGTH(figures); i++) {
        print_json("\n        '%s': {'type': ['integer', 'null'], ", figures[i].name);
        print_description(figures[i].unit, figures[i].doc);
        printf(",");
    }
    print_json("\n        'full_by_cause': {'anyOf': [{'$ref': '#/$defs/full_by_cause'}, {'type': 'null'}]}},\n"
               "      'required': ['full_by_cause'");
    for (size_t i = 0; i < LENGTH(figures); i++) {
        print_json(", '%s'", figures[i].name);
    }
    print_json("]},\n    'full_by_cause': {'type': 'object', 'propertyNames': {'$ref': '#/$defs/full_cause'},\n"
               "      'minProperties': %d, 'additionalProperties': {'type': 'integer'}}",
               EDEN_FULL_CAUSES);
}

/* A value that has no name here, of a newer runtime, is a number. */
static void print_arguments_schema(const struct probe *probe) {
    for (int i = 0; i < probe->count; i++) {
        const struct argument *argument = &probe->arguments[i];
        const char *kind = argument->kind;
        print_json("%s\n        '%s': {", i == 0 ? "" : ",", argument->name);
        if (find_enumeration(kind)) {
            print_json("'anyOf': [{'$ref': '#/$defs/%s'}, {'$ref': '#/$defs/number'}], ", kind);
        } else if (strcmp(kind, "string") == 0) {
            print_json("'type': 'string', ");
        } else {
            print_json("'$ref': '#/$defs/%s', ", strcmp(kind, "address") == 0 ? kind : "number");
        }
        print_description(kind, argument->doc);
    }
}

static void print_event_schema(void) {
    print_json(
        ",\n    'event': {'type': 'object', 'properties': {'probe': {'type': 'string', 'pattern': '^(probe_[0-9]+");
    for (size_t i = 0; i < LENGTH(probes); i++) {
        printf("|%s", probes[i].name);
    }
    print_json(")$'}}, 'allOf': [");
    for (size_t i = 0; i < LENGTH(probes); i++) {
        print_json("%s\n      {'if': {'properties': {'probe': {'const': '%s'}}}, 'then': {'properties': {",
                   i == 0 ? "" : ",", probes[i].name);
        print_arguments_schema(&probes[i]);
        printf("},\n        ");
        print_description("", probes[i].doc);
        printf("}");
    }
    printf("]}");
}

static void print_schema(void) {
    print_json("{\n  '$schema': 'https://json-schema.org/draft/2020-12/schema',\n"
               "  '$comment': 'Made by `make docs` from probes/*.def. Change these, not this.',\n"
               "  '$defs': {\n"
               "    'address': {'type': 'string', 'pattern': '^0x[0-9a-f]+$'},\n"
               "    'number': {'type': ['integer', 'string'], 'pattern': '^[0-9]+$', ");
    print_description("", "from 2^63 on as a string");
    print_json(",\n    'place': {'type': 'object', 'properties': {'pid': {'type': 'integer'},\n"
               "        'heap': {'type': ['integer', 'null'], 'description': 'its number in the process'},\n"
               "        'serial': {'type': ['integer', 'null'], 'description': 'null: of an older recording'}},\n"
               "      'required': ['pid', 'heap', 'serial']}");
    for (size_t i = 0; i < LENGTH(enumerations); i++) {
        if (strcmp(enumerations[i].kind, "choice") != 0) {
            print_enumeration_schema(&enumerations[i]);
        }
    }
    print_json(",\n    'parameter': {'enum': [");
    for (enum eden_param_id id = 0; id < EDEN_PARAM_COUNT; id++) {
        print_json("%s'%s'", comma(id), eden_param(id)->name);
    }
    print_json("]},\n    'phase': {'enum': [");
    for (size_t i = 0; i < LENGTH(phases); i++) {
        print_json("%s'%s'", comma(i), phases[i].name);
    }
    printf("]}");
    print_figures_schema();
    print_event_schema();
    printf("\n  }\n}\n");
}

/* ---- tables of ClickHouse ---------------------------------------------------------------------------------------- */

static bool is_number(const char *kind) {
    return strcmp(kind, "count") == 0 || strcmp(kind, "bytes") == 0 || strcmp(kind, "ns") == 0;
}

/* Those of all probes, in their order. */
static const struct argument all_arguments[] = {
#define EDEN_ARGUMENT(name, kind, doc) {#name, #kind, doc},
#define EDEN_PROBE(name, doc, ...) EDEN_EACH(EDEN_ARGUMENT, __VA_ARGS__)
#include "eden_probes.def"
#undef EDEN_PROBE
#undef EDEN_ARGUMENT
};

/* Whether no argument before the i-th has its name and, if that is asked for, its kind. */
static bool is_first(size_t i, bool of_kind) {
    const struct argument *this = &all_arguments[i];
    for (const struct argument *other = all_arguments; other < this; other++) {
        if (strcmp(other->name, this->name) == 0 && (!of_kind || strcmp(other->kind, this->kind) == 0)) {
            return false;
        }
    }
    return true;
}

/* A column for all arguments with the name of the i-th, and their kinds. False: one is a number, and another a text. */
static bool print_column(size_t i) {
    const struct argument *this = &all_arguments[i];
    bool numbers = is_number(this->kind), fits = true;
    printf("    %s %s -- %s", this->name, numbers ? "UInt64," : "String,", this->kind);
    for (size_t j = i + 1; j < LENGTH(all_arguments); j++) {
        const struct argument *other = &all_arguments[j];
        if (strcmp(other->name, this->name) == 0 && is_first(j, true)) {
            printf(", %s", other->kind);
            fits = fits && is_number(other->kind) == numbers;
        }
    }
    printf("\n");
    return fits;
}

static bool print_clickhouse(void) {
    printf(
        "-- The events of edenscope in ClickHouse: lines of `edenscope script --json --label host=NAME --label "
        "service=NAME`.\n"
        "-- Made by `make docs` from probes/*.def. Change these, not this.\n"
        "--\n"
        "-- One table for all probes: a column for each argument, which is 0 or empty where the probe does not pass "
        "it;\n"
        "-- docs/probes.md says what it means for each probe. docs/fleet.md says how lines get here, and what to ask.\n"
        "-- Each shard of the cluster `eden` has both tables; a host's events are on one shard.\n\n"
        "CREATE DATABASE IF NOT EXISTS eden;\n\n"
        "CREATE TABLE IF NOT EXISTS eden.events_local\n(\n"
        "    host String, -- labels\n"
        "    service String,\n"
        "    recording_ns UInt64, -- when the recording began, in ns since 1970: it identifies the recording among "
        "those of a host\n"
        "    wall_ns UInt64, -- ns since 1970\n"
        "    time_ns UInt64, -- ns of CLOCK_MONOTONIC\n"
        "    command Nullable(String),\n"
        "    pid UInt32,\n"
        "    tid UInt32,\n"
        "    probe String, -- empty: the last line of a recording, with the four columns that follow\n"
        "    observed_ns UInt64, -- observed time\n"
        "    events UInt64, -- lines of events\n"
        "    lost UInt64, -- events that were lost while the recording was made\n"
        "    partial String, -- why the recording is not whole; empty: it is\n");
    bool fits = true;
    for (size_t i = 0; i < LENGTH(all_arguments); i++) {
        if (is_first(i, false) && !print_column(i)) {
            fprintf(stderr, "print_reference: %s is a number and a text\n", all_arguments[i].name);
            fits = false;
        }
    }
    printf("    serial UInt64 -- of the heap, in its recording\n"
           ")\n"
           "ENGINE = MergeTree()\n"
           "PARTITION BY toYYYYMMDD(toDateTime(intDiv(wall_ns, 1000000000), 'UTC'))\n"
           "ORDER BY (service, host, probe, wall_ns);\n\n"
           "CREATE TABLE IF NOT EXISTS eden.events AS eden.events_local\n"
           "ENGINE = Distributed(eden, eden, events_local, cityHash64(host));\n");
    return fits;
}

int main(int argc, char **argv) {
    const char *what = argc == 2 ? argv[1] : "";
    if (strcmp(what, "probes") == 0) {
        print_probes();
    } else if (strcmp(what, "parameters") == 0) {
        print_params();
    } else if (strcmp(what, "figures") == 0) {
        print_figures();
    } else if (strcmp(what, "schema") == 0) {
        print_schema();
    } else if (strcmp(what, "script") == 0) {
        return print_script() && fflush(stdout) == 0 ? 0 : 1;
    } else if (strcmp(what, "clickhouse") == 0) {
        return print_clickhouse() && fflush(stdout) == 0 ? 0 : 1;
    } else {
        fputs("usage: print_reference probes|parameters|figures|schema|script|clickhouse\n", stderr);
        return 2;
    }
    return fflush(stdout) == 0 ? 0 : 1;
}
