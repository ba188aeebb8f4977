/* 1. Algorithm
 * Heaps with the same labels form a group, whose sums are sums and whose maxima are the largest; what heaps that have
 * ended counted stays in the sums. Families are printed one after the other, in each a line for each group.
 *
 * Histograms come from the log-linear ones of the model (eden_histogram.h): the upper edges that are printed are edges
 * there, so that counts are exact. They are the largest nanoseconds below a power of two.
 *
 * 2. Invariants
 * I1. A counter never decreases while the tool runs and processes keep their names, and has whole numbers of
 * nanoseconds and bytes behind it. What a process that changes its name or unit has counted moves to the new one. But
 * for I4.
 *
 * I2. What no heap of a group knows has no line.
 *
 * I3. A group is of one owner: names, which processes choose, lead into no other user's series.
 *
 * I4. While the tool runs, MOST_GROUPS combinations of labels get a group, and no owner takes more of them than he
 * leaves to others (kernel_share_left). What comes later goes to a group of its owner whose names are "(others)". So
 * nobody's names make the page, or in time the scraper's index, too long, and what has a series goes on having it.
 *
 * I5. A name takes NAME_BYTES - 1 bytes of a label at most, a command COMMAND_BYTES - 1, a unit UNIT_BYTES - 1: of what
 * is longer, when it is written out, the beginning. Names with the same beginning are one. So a group takes at most 96
 * KiB of the page, and the page 24 MiB and that for each owner who has others: MOST_CLIENTS of metrics_server.c can
 * hold one each. With `per_process` I4 is of one page, and a group takes 32 KiB more.
 *
 * I6. With `per_process` what has ended is printed for KEPT_NS, whoever asks, and however often: any local user can.
 *
 * 3. References
 * OpenMetrics 1.0.0; Prometheus, "Exposition formats". */
#include "views/metrics.h"
#include "eden_values.h"
#include "eden_version.h"
#include "kernel/kernel.h"
#include "util/array.h"
#include "util/format.h"
#include "util/lookup.h"
#include "util/sum.h"
#include "util/text.h"
#include "views/phase_table.h"
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { FIRST_EDGE = 14, LAST_EDGE = 32 }; /* log2 of ns: 16 us to 4.3 s, and what is longer */

#define NAME_BYTES 64
enum { COMMAND_BYTES = 32 }; /* the kernel's names have 15 */
enum { UNIT_BYTES = 48 };
static const char others[] = "(others)";
static const char rest_mark[] = "..."; /* after what was cut */
enum { MOST_GROUPS = 256 };
static const uint64_t KEPT_NS = 300ull * 1000000000; /* Prometheus looks back as far for the last value of a series */

struct group {
    char command[NAME_BYTES], name[NAME_BYTES], unit[NAME_BYTES]; /* as they are printed; 0 behind their ends */
    char *labels; /* owned: as they are printed, without what a line adds */
    uint32_t owner;
    uint32_t pid; /* these two: per_process */
    uint64_t heap, serial;
    uint64_t until_ns; /* of the observed time: per_process, and has ended */
    uint64_t known, figures[EDEN_FIGURE_COUNT];
    uint64_t by_cause[EDEN_FULL_CAUSES];
    uint64_t stopped_ns, alive, collecting, collecting_ns;
    uint64_t calls[MODEL_PHASES], total_ns[MODEL_PHASES];
    struct pause_time pauses[MODEL_PHASES];                   /* of whole collections */
    uint64_t below[MODEL_PHASES][LAST_EDGE - FIRST_EDGE + 1]; /* 2^n nanoseconds */
};

struct groups {
    struct group *at; /* owned */
    size_t count, room;
    struct lookup by_labels;
};

struct metrics {
    struct groups ended;  /* without labels */
    struct groups series; /* the names of all groups that there were but the others (I4), without sums */
};

struct printing {
    FILE *out;
    const struct groups *groups;
    const struct metrics_format *format;
};

/* ---- groups ----------------------------------------------------------------------------------------------------- */

static uint64_t hash_text(const char text[NAME_BYTES]) {
    uint64_t words[NAME_BYTES / 8];
    memcpy(words, text, sizeof words); /* behind its end it is 0 */
    return lookup_hash(words, NAME_BYTES / 8);
}

static uint64_t hash_of(const struct group *group) {
    return lookup_hash((const uint64_t[]){hash_text(group->command), hash_text(group->name), hash_text(group->unit),
                                          group->owner, group->pid, group->heap, group->serial},
                       7);
}

static bool is_group(const void *array, size_t place, const void *key) {
    const struct group *group = (const struct group *)array + place, *wanted = key;
    return group->owner == wanted->owner && group->pid == wanted->pid && group->heap == wanted->heap &&
           group->serial == wanted->serial && strcmp(group->command, wanted->command) == 0 &&
           strcmp(group->name, wanted->name) == 0 && strcmp(group->unit, wanted->unit) == 0;
}

/* Adds a character that text.h wrote out, with its backslashes and quotes as labels want them. False: no room. */
static bool add_piece(char *value, size_t room, size_t *length, const char *piece) {
    size_t end = *length;
    for (const char *at = piece; *at; at++) {
        const bool is_special = *at == '\\' || *at == '"';
        if (end + is_special + 1 >= room) {
            return false;
        }
        if (is_special) {
            value[end++] = '\\';
        }
        value[end++] = *at;
    }
    *length = end;
    return true;
}

/* Writes a name that a stranger chose as it is printed, in at most `room` bytes (I5). */
static void write_value(char value[NAME_BYTES], size_t room, const char *text) {
    size_t length = 0, fitting = 0; /* fitting: what leaves room for the mark */
    memset(value, 0, NAME_BYTES);
    for (const char *at = text; *at;) {
        char piece[TEXT_PIECE];
        at += text_piece(piece, at, at == text, "");
        if (!add_piece(value, room, &length, piece)) {
            memset(value + fitting, 0, room - fitting);
            memcpy(value + fitting, rest_mark, sizeof rest_mark);
            return;
        }
        fitting = length + sizeof rest_mark <= room ? length : fitting;
    }
}

/* False: no memory. */
static bool make_labels(struct group *group) {
    size_t size;
    FILE *out = open_memstream(&group->labels, &size);
    if (!out) {
        return false;
    }
    fprintf(out, "command=\"%s\",heap=\"%s\",user=\"", group->command, group->name);
    if (group->owner == UINT32_MAX) {
        fputs("?\"", out);
    } else {
        fprintf(out, "%" PRIu32 "\"", group->owner);
    }
    if (group->unit[0]) { /* an empty label is none */
        fprintf(out, ",unit=\"%s\"", group->unit);
    }
    if (group->serial != 0) {
        fprintf(out, ",pid=\"%" PRIu32 "\",number=\"%" PRIu64 "\",serial=\"%" PRIu64 "\"", group->pid, group->heap,
                group->serial);
    }
    return fclose(out) == 0;
}

/* NULL: there is none. */
static struct group *known_group(struct groups *groups, const struct group *wanted) {
    uint32_t place = lookup_find(&groups->by_labels, hash_of(wanted), is_group, groups->at, wanted);
    return place != LOOKUP_NONE ? &groups->at[place] : NULL;
}

/* NULL: no memory. */
static struct group *add_group(struct groups *groups, const struct group *wanted) {
    struct group *added = array_grow(&groups->at, &groups->room, groups->count, sizeof *added);
    if (!added || !lookup_add(&groups->by_labels, hash_of(wanted), groups->count)) {
        return NULL;
    }
    *added = *wanted;
    groups->count++;
    return added;
}

/* The group with the names of `wanted`, whose sums are 0 if it is new. NULL: no memory. */
static struct group *find_group(struct groups *groups, const struct group *wanted) {
    struct group *known = known_group(groups, wanted);
    return known ? known : add_group(groups, wanted);
}

/* Those of its owner's others, where there is no room for a group with these names (I4). False: no memory. */
static bool choose_series(struct groups *series, struct group *names) {
    uint32_t of_owner = 0;
    if (known_group(series, names)) {
        return true;
    }
    for (size_t i = 0; series->at && i < series->count; i++) {
        of_owner += series->at[i].owner == names->owner;
    }
    if (kernel_share_left(of_owner, of_owner, (uint32_t)series->count, MOST_GROUPS)) {
        return add_group(series, names);
    }
    *names = (struct group){.owner = names->owner};
    memcpy(names->command, others, sizeof others);
    memcpy(names->name, others, sizeof others);
    return true;
}

static void clear_groups(struct groups *groups) {
    for (size_t i = 0; i < groups->count; i++) {
        free(groups->at[i].labels);
    }
    free(groups->at);
    lookup_clear(&groups->by_labels);
    *groups = (struct groups){0};
}

/* The unit of a process as a label, which has to last: a service, an instance of one by its template. A scope, as of a
 * container or a session, and a service of systemd-run have another name each time. */
static void write_service(char value[NAME_BYTES], const char *unit) {
    static const char ending[] = ".service";
    const size_t length = strlen(unit), bytes = strlen(ending);
    const bool is_service = length > bytes && strcmp(unit + length - bytes, ending) == 0;
    char name[sizeof(struct process_model){0}.unit];
    if (is_service && strncmp(unit, "run-", 4) != 0) {
        const size_t kept = strcspn(unit, "@") + 1;
        snprintf(name, sizeof name, "%.*s%s", (int)(kept < length ? kept : length), unit, kept < length ? ending : "");
        write_value(value, UNIT_BYTES, name);
    }
}

static struct group names_of(const struct process_model *process, const struct heap_model *heap, bool per_process) {
    struct group names = {.owner = heap->owner};
    write_value(names.command, COMMAND_BYTES, phase_table_command(process, heap));
    write_value(names.name, NAME_BYTES, heap->name);
    if (per_process) {
        write_value(names.unit, UNIT_BYTES, process->unit);
    } else {
        write_service(names.unit, process->unit);
    }
    if (per_process) {
        names.pid = process->key.pid;
        names.heap = heap->id;
        names.serial = heap->serial;
    }
    return names;
}

/* Calls that the histogram has, and their time. The program goes on between reading the sums and the histogram: what
 * ends meanwhile is left to the next scrape. */
static void add_phase(struct group *group, unsigned number, const struct phase_model *phase) {
    const uint64_t calls = sum_less(phase->calls, phase->missing);
    sum_add(&group->calls[number], calls);
    pause_time_add(&group->pauses[number], &phase->pauses);
    sum_add(&group->total_ns[number], sum_less(phase->total_ns, phase->missing_ns));
    for (int edge = FIRST_EDGE; edge <= LAST_EDGE; edge++) {
        const uint32_t end = histogram_bucket(1ull << edge); /* the first that lies above */
        uint64_t below = 0;
        for (uint32_t i = 0; i < end; i++) {
            sum_add(&below, phase->buckets[i]);
        }
        sum_add(&group->below[number][edge - FIRST_EDGE], below < calls ? below : calls);
    }
}

static void add_heap(struct group *group, const struct process_model *process, const struct heap_model *heap) {
    bool is_alive = !heap_has_ended(process, heap);
    for (int i = 0; i < EDEN_FIGURE_COUNT; i++) {
        enum figure_kind kind = figure_descriptions[i].kind;
        if (!(heap->known >> i & 1) || (kind == KIND_gauge && !is_alive)) {
            continue;
        }
        group->known |= 1ull << i;
        if (kind == KIND_max) {
            group->figures[i] = heap->figures[i] > group->figures[i] ? heap->figures[i] : group->figures[i];
        } else {
            sum_add(&group->figures[i], heap->figures[i]);
        }
    }
    for (int i = 0; i < EDEN_FULL_CAUSES; i++) {
        sum_add(&group->by_cause[i], heap->full_by_cause[i]);
    }
    for (unsigned i = 0; i < MODEL_PHASES; i++) {
        if (heap->phase[i]) {
            add_phase(group, i, heap->phase[i]);
        }
    }
    sum_add(&group->stopped_ns, heap->stopped_known ? heap->stopped_ns : 0);
    group->alive += is_alive;
    const struct collection_model *now = &heap->collection;
    if (is_alive && now->known && now->under_way) {
        uint64_t since = now->since_ns && now->until_ns > now->since_ns ? now->until_ns - now->since_ns : 0;
        group->collecting++;
        group->collecting_ns = since > group->collecting_ns ? since : group->collecting_ns;
    }
}

static bool gather(struct groups *groups, struct groups *series, const struct model *model, bool per_process) {
    bool good = true;
    for (size_t i = 0; good && i < model->process_count; i++) {
        const struct process_model *process = &model->processes[i];
        for (size_t j = 0; good && j < process->heap_count; j++) {
            struct group names = names_of(process, &process->heaps[j], per_process);
            struct group *group = choose_series(series, &names) ? find_group(groups, &names) : NULL;
            good = group;
            if (group) {
                add_heap(group, process, &process->heaps[j]);
            }
        }
    }
    return good;
}

/* ---- those that have ended -------------------------------------------------------------------------------------- */

/* Of heaps that have ended, there are no gauges. */
static void add_sums(struct group *to, const struct group *from) {
    to->known |= from->known;
    for (int i = 0; i < EDEN_FIGURE_COUNT; i++) {
        if (figure_descriptions[i].kind == KIND_max) {
            to->figures[i] = from->figures[i] > to->figures[i] ? from->figures[i] : to->figures[i];
        } else {
            sum_add(&to->figures[i], from->figures[i]);
        }
    }
    for (int i = 0; i < EDEN_FULL_CAUSES; i++) {
        sum_add(&to->by_cause[i], from->by_cause[i]);
    }
    for (int i = 0; i < MODEL_PHASES; i++) {
        sum_add(&to->calls[i], from->calls[i]);
        pause_time_add(&to->pauses[i], &from->pauses[i]);
        sum_add(&to->total_ns[i], from->total_ns[i]);
        for (int edge = 0; edge <= LAST_EDGE - FIRST_EDGE; edge++) {
            sum_add(&to->below[i][edge], from->below[i][edge]);
        }
    }
    sum_add(&to->stopped_ns, from->stopped_ns);
}

static struct group without_sums(const struct group *group) {
    struct group names = {.owner = group->owner,
                          .pid = group->pid,
                          .heap = group->heap,
                          .serial = group->serial,
                          .until_ns = group->until_ns};
    memcpy(names.command, group->command, sizeof names.command);
    memcpy(names.name, group->name, sizeof names.name);
    memcpy(names.unit, group->unit, sizeof names.unit);
    return names;
}

/* Adds each group. False: no memory. */
static bool merge(struct groups *to, const struct groups *from) {
    bool good = true;
    for (size_t i = 0; good && i < from->count; i++) {
        const struct group names = without_sums(&from->at[i]);
        struct group *group = find_group(to, &names);
        good = group;
        if (group) {
            add_sums(group, &from->at[i]);
        }
    }
    return good;
}

bool metrics_add_ended(struct metrics *metrics, const struct model *model, bool per_process) {
    struct groups groups = {0};
    bool good = gather(&groups, &metrics->series, model, per_process);
    for (size_t i = 0; good && i < groups.count; i++) { /* all of them before anything is added */
        groups.at[i].until_ns = model->wall_ns + KEPT_NS;
        const struct group names = without_sums(&groups.at[i]);
        good = find_group(&metrics->ended, &names);
    }
    good = good && merge(&metrics->ended, &groups);
    clear_groups(&groups);
    return good;
}

/* I6. False: no memory. */
static bool forget_ended(struct metrics *metrics, uint64_t now) {
    struct groups kept = {0}, series = {0};
    bool good = true;
    for (size_t i = 0; good && i < metrics->ended.count; i++) {
        const struct group *from = &metrics->ended.at[i], names = without_sums(from);
        if (from->until_ns > now) {
            struct group *group = add_group(&series, &names) ? add_group(&kept, &names) : NULL;
            good = group;
            if (group) {
                add_sums(group, from);
            }
        }
    }
    struct groups unused[] = {good ? metrics->ended : kept, good ? metrics->series : series};
    metrics->ended = good ? kept : metrics->ended;
    metrics->series = good ? series : metrics->series;
    for (int i = 0; i < 2; i++) {
        clear_groups(&unused[i]);
    }
    return good;
}

struct metrics *metrics_open(void) {
    return calloc(1, sizeof(struct metrics));
}

void metrics_close(struct metrics *metrics) {
    if (metrics) {
        clear_groups(&metrics->ended);
        clear_groups(&metrics->series);
        free(metrics);
    }
}

/* ---- lines ------------------------------------------------------------------------------------------------------ */

static void print_labels(const struct printing *printing, const struct group *group, const char *more) {
    fprintf(printing->out, "{%s%s%s} ", group->labels, more[0] ? "," : "", more);
}

/* Exactly: nanoseconds as seconds. */
static void print_seconds(FILE *out, uint64_t ns) {
    fprintf(out, "%" PRIu64 ".%09" PRIu64, ns / 1000000000, ns % 1000000000);
}

/* A family of counters ends in _total, one of facts in _info: its name in OpenMetrics does not. Prometheus has no type
 * for facts. */
static void print_head(const struct printing *printing, const char *name, const char *kind, const char *meaning) {
    const char *suffix = "";
    if (!printing->format->is_open && strcmp(kind, "counter") == 0) {
        suffix = "_total";
    } else if (!printing->format->is_open && strcmp(kind, "info") == 0) {
        suffix = "_info";
        kind = "gauge";
    }
    fprintf(printing->out, "# HELP %s%s %s\n# TYPE %s%s %s\n", name, suffix, meaning, name, suffix, kind);
}

static const char *const unit_names[] = {[UNIT_count] = "", [UNIT_bytes] = "_bytes", [UNIT_ns] = "_seconds"};

/* "gc_ns" is eden_gc_seconds, "allocated_bytes" eden_allocated_bytes, "eden_size" eden_heap_eden_size_bytes. */
static void family_name(char name[80], enum eden_figure figure) {
    const struct figure_description *is = &figure_descriptions[figure];
    size_t length = strlen(is->name);
    static const char *const endings[] = {"_ns", "_bytes"};
    for (int i = 0; i < 2; i++) {
        size_t ending = strlen(endings[i]);
        length -= length > ending && strcmp(is->name + length - ending, endings[i]) == 0 ? ending : 0;
    }
    snprintf(name, 80, "eden_%s%.*s%s", is->kind == KIND_sum ? "" : "heap_", (int)length, is->name,
             unit_names[is->unit]);
}

static void print_figures(const struct printing *printing) {
    for (enum eden_figure i = 0; i < EDEN_FIGURE_COUNT; i++) {
        const struct figure_description *is = &figure_descriptions[i];
        char name[80];
        family_name(name, i);
        print_head(printing, name, is->kind == KIND_sum ? "counter" : "gauge", is->meaning);
        for (size_t j = 0; j < printing->groups->count; j++) {
            const struct group *group = &printing->groups->at[j];
            if (!(group->known >> i & 1)) {
                continue;
            }
            fprintf(printing->out, "%s%s", name, is->kind == KIND_sum ? "_total" : "");
            print_labels(printing, group, "");
            if (is->unit == UNIT_ns) {
                print_seconds(printing->out, group->figures[i]);
            } else {
                fprintf(printing->out, "%" PRIu64, group->figures[i]);
            }
            fputc('\n', printing->out);
        }
    }
}

static void print_causes(const struct printing *printing) {
    static const char name[] = "eden_full_collections_by_cause";
    print_head(printing, name, "counter", "full collections by cause");
    for (size_t j = 0; j < printing->groups->count; j++) {
        for (uint64_t cause = 0; cause < EDEN_FULL_CAUSES; cause++) {
            char label[64];
            snprintf(label, sizeof label, "cause=\"%s\"", eden_full_cause_name(cause));
            fprintf(printing->out, "%s_total", name);
            print_labels(printing, &printing->groups->at[j], label);
            fprintf(printing->out, "%" PRIu64 "\n", printing->groups->at[j].by_cause[cause]);
        }
    }
}

/* One number of each group. */
static void print_number(const struct printing *printing, const char *name, const char *kind, const char *meaning,
                         size_t offset, bool is_ns) {
    print_head(printing, name, kind, meaning);
    for (size_t j = 0; j < printing->groups->count; j++) {
        const struct group *group = &printing->groups->at[j];
        uint64_t value;
        memcpy(&value, (const char *)group + offset, sizeof value);
        fprintf(printing->out, "%s%s", name, strcmp(kind, "counter") == 0 ? "_total" : "");
        print_labels(printing, group, "");
        if (is_ns) {
            print_seconds(printing->out, value);
        } else {
            fprintf(printing->out, "%" PRIu64, value);
        }
        fputc('\n', printing->out);
    }
}

/* label: what a line adds to those of the group; "": nothing. */
static void print_histogram(const struct printing *printing, const char *name, const char *label,
                            const struct group *group, unsigned phase) {
    const char *comma = label[0] ? "," : "";
    char with_edge[96];
    for (int edge = FIRST_EDGE; edge <= LAST_EDGE; edge++) {
        const uint64_t ns = (1ull << edge) - 1;
        snprintf(with_edge, sizeof with_edge, "%s%sle=\"%" PRIu64 ".%09" PRIu64 "\"", label, comma, ns / 1000000000,
                 ns % 1000000000);
        fprintf(printing->out, "%s_bucket", name);
        print_labels(printing, group, with_edge);
        fprintf(printing->out, "%" PRIu64 "\n", group->below[phase][edge - FIRST_EDGE]);
    }
    snprintf(with_edge, sizeof with_edge, "%s%sle=\"+Inf\"", label, comma);
    fprintf(printing->out, "%s_bucket", name);
    print_labels(printing, group, with_edge);
    fprintf(printing->out, "%" PRIu64 "\n%s_sum", group->calls[phase], name);
    print_labels(printing, group, label);
    print_seconds(printing->out, group->total_ns[phase]);
    fprintf(printing->out, "\n%s_count", name);
    print_labels(printing, group, label);
    fprintf(printing->out, "%" PRIu64 "\n", group->calls[phase]);
}

static void print_histograms(const struct printing *printing) {
    static const char pauses[] = "eden_pause_seconds", phases[] = "eden_phase_seconds";
    char label[64];
    print_head(printing, pauses, "histogram",
               "duration of pauses, while observed: a full collection and the scavenges before it are one");
    for (size_t j = 0; j < printing->groups->count; j++) {
        if (printing->groups->at[j].calls[MODEL_PAUSE] != 0) {
            print_histogram(printing, pauses, "", &printing->groups->at[j], MODEL_PAUSE);
        }
    }
    print_head(printing, phases, "histogram",
               "duration of collections (scavenge, full) and their parts, while observed");
    for (size_t j = 0; j < printing->groups->count; j++) {
        for (unsigned phase = 0; phase < EDEN_PHASE_COUNT; phase++) {
            if (printing->groups->at[j].calls[phase] != 0) {
                snprintf(label, sizeof label, "phase=\"%s\"", phase_names[phase]);
                print_histogram(printing, phases, label, &printing->groups->at[j], phase);
            }
        }
    }
}

/* What is missing of a phase's time there is unknown. A cause that is not measured has no series. */
static void print_pauses(const struct printing *printing) {
    static const char time[] = "eden_collection_time_seconds", faults[] = "eden_collection_page_faults";
    char label[96];
    print_head(printing, time, "counter", "what the thread of collections did meanwhile");
    for (size_t j = 0; j < printing->groups->count; j++) {
        for (enum eden_phase phase = 0; phase < EDEN_PHASE_COUNT; phase++) {
            const struct pause_time *spent = &printing->groups->at[j].pauses[phase];
            for (int i = 0; i < PAUSE_CAUSES && pause_time_ns(spent) != 0; i++) {
                if (!pause_time_is_measured(spent, i)) {
                    continue;
                }
                snprintf(label, sizeof label, "phase=\"%s\",cause=\"%s\"", phase_names[phase], pause_cause_names[i]);
                fprintf(printing->out, "%s_total", time);
                print_labels(printing, &printing->groups->at[j], label);
                print_seconds(printing->out, spent->ns[i]);
                fputc('\n', printing->out);
            }
        }
    }
    print_head(printing, faults, "counter", "page faults in collections");
    for (size_t j = 0; j < printing->groups->count; j++) {
        for (enum eden_phase phase = 0; phase < EDEN_PHASE_COUNT; phase++) {
            const struct pause_time *spent = &printing->groups->at[j].pauses[phase];
            if (pause_time_ns(spent) != 0) {
                snprintf(label, sizeof label, "phase=\"%s\"", phase_names[phase]);
                fprintf(printing->out, "%s_total", faults);
                print_labels(printing, &printing->groups->at[j], label);
                fprintf(printing->out, "%" PRIu64 "\n", spent->faults);
            }
        }
    }
}

static void print_tool(const struct printing *printing, const struct model *model, const struct metrics_tool *tool) {
    FILE *out = printing->out;
    uint64_t alive = 0;
    struct model_losses lost = model->others;
    for (size_t i = 0; i < model->process_count; i++) {
        alive += !model->processes[i].ended;
        model_add_losses(&lost, &model->processes[i].lost);
    }
    print_head(printing, "edenscope_events_lost", "counter", "events lost: figures may be too small");
    fprintf(out, "edenscope_events_lost_total %" PRIu64 "\n", model->lost);
    print_head(printing, "edenscope_heaps_lost", "counter",
               "heaps beyond the shares of their processes: they are not in the figures");
    fprintf(out, "edenscope_heaps_lost_total %" PRIu64 "\n", lost.heaps);
    print_head(printing, "edenscope_hits_lost", "counter",
               "probe hits of such heaps, and durations that are missing in histograms");
    fprintf(out, "edenscope_hits_lost_total %" PRIu64 "\n", lost.hits);
    print_head(printing, "edenscope_processes_missed", "counter", "processes that ended before they could be observed");
    fprintf(out, "edenscope_processes_missed_total %" PRIu64 "\n", model->missed_children);
    print_head(printing, "edenscope_processes_refused", "gauge",
               "processes not looked at so far, or before they ended: processes of their user made the tool wait");
    fprintf(out, "edenscope_processes_refused %" PRIu64 "\n", tool->refused);
    print_head(printing, "edenscope_processes", "gauge", "processes with heaps that are observed and alive");
    fprintf(out, "edenscope_processes %" PRIu64 "\n", alive);
    print_head(printing, "edenscope_observed_seconds", "counter", "time since observation began");
    fputs("edenscope_observed_seconds_total ", out);
    print_seconds(out, model->wall_ns);
    fputc('\n', out);
    if (tool->knows_programs) {
        print_head(printing, "edenscope_kernel_programs_seconds", "counter", "time in the tool's kernel programs");
        fputs("edenscope_kernel_programs_seconds_total ", out);
        print_seconds(out, tool->programs_ns);
        fputc('\n', out);
    }
    print_head(printing, "edenscope_scrapes", "counter", "answers made, this one included");
    fprintf(out, "edenscope_scrapes_total %" PRIu64 "\n", tool->scrapes);
    print_head(printing, "edenscope_build", "info", "the version of the tool");
    fprintf(out, "edenscope_build_info{version=\"%s\"} 1\n", EDEN_VERSION);
}

bool metrics_print(struct metrics *metrics, FILE *out, const struct model *model, const struct metrics_tool *tool,
                   const struct metrics_format *format) {
    struct groups groups = {0};
    const struct printing printing = {out, &groups, format};
    bool good = (!format->per_process || forget_ended(metrics, model->wall_ns)) && merge(&groups, &metrics->ended) &&
                gather(&groups, &metrics->series, model, format->per_process);
    for (size_t i = 0; good && i < groups.count; i++) {
        good = make_labels(&groups.at[i]);
    }
    if (good) {
        print_number(&printing, "eden_heaps", "gauge", "heaps alive", offsetof(struct group, alive), false);
        print_number(&printing, "eden_stopped_seconds", "counter",
                     "observed time in collections, those under way included: its rate is the share of the time",
                     offsetof(struct group, stopped_ns), true);
        print_number(&printing, "eden_heaps_in_collection", "gauge", "heaps that are in a collection now",
                     offsetof(struct group, collecting), false);
        print_number(&printing, "eden_collection_under_way_seconds", "gauge",
                     "how long the longest of these has taken so far", offsetof(struct group, collecting_ns), true);
        print_figures(&printing);
        print_causes(&printing);
        print_histograms(&printing);
        print_pauses(&printing);
        print_tool(&printing, model, tool);
        fputs(format->is_open ? "# EOF\n" : "", out);
    }
    clear_groups(&groups);
    return good;
}
