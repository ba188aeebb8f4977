#include "views/phase_table.h"
#include "util/format.h"
#include "util/text.h"
#include <inttypes.h>
#include <string.h>

static int depth_of(enum eden_phase phase) {
    int depth = 0;
    for (int at = phase_parents[phase]; at >= 0; at = phase_parents[at]) {
        depth++;
    }
    return depth;
}

static void print_line(FILE *out, const struct phase_model *phase, enum eden_phase number, uint64_t wall_ns) {
    char share[16] = "-", name[40], calls[FORMAT_MAX], total[FORMAT_MAX], average[FORMAT_MAX], p50[FORMAT_MAX],
         p99[FORMAT_MAX], max[FORMAT_MAX];
    if (wall_ns) {
        double ns = (double)(phase_observed_ns(phase) + phase->under_way_ns);
        snprintf(share, sizeof share, "%.2f%%", 100 * ns / (double)wall_ns);
    }
    snprintf(name, sizeof name, "%*s%s", 2 * depth_of(number), "", phase_names[number]);
    fprintf(out, "  %9s  %-26s %10s %9s %9s %9s %9s %9s\n", share, name, format_count(calls, phase->calls),
            format_ns(total, phase->total_ns), format_ns(average, phase->calls ? phase->total_ns / phase->calls : 0),
            format_ns(p50, phase_percentile(phase, 50)), format_ns(p99, phase_percentile(phase, 99)),
            format_ns(max, phase->max_ns));
}

bool phase_table_print(FILE *out, const struct heap_model *heap, uint64_t wall_ns) {
    bool any = false;
    for (enum eden_phase i = 0; i < EDEN_PHASE_COUNT; i++) {
        if (!heap->phase[i] || !heap->phase[i]->calls) {
            continue;
        }
        if (!any) {
            fprintf(out, "\n# %9s  %-26s %10s %9s %9s %9s %9s %9s\n", "Overhead", "Phase", "Calls", "Total", "Avg",
                    "P50 <=", "P99 <=", "Max");
            any = true;
        }
        print_line(out, heap->phase[i], i, wall_ns);
    }
    return any;
}

static const struct phase_model *collections(const struct heap_model *heap, enum eden_phase phase) {
    const struct phase_model *all = phase_parents[phase] < 0 ? heap->phase[phase] : NULL;
    return all && pause_time_ns(&all->pauses) != 0 ? all : NULL;
}

/* `shown`: a bit for each cause that has a column. */
static void print_pauses(FILE *out, const char *name, const struct pause_time *time, uint64_t ns, unsigned shown) {
    char text[FORMAT_MAX];
    fprintf(out, "  %-20s %9s", name, format_ns(text, ns));
    for (int i = 0; i < PAUSE_CAUSES; i++) {
        if (shown >> i & 1) {
            fprintf(out, " %9s", format_ns(text, time->ns[i]));
        }
    }
    fprintf(out, " %9s", format_ns(text, pause_unknown_ns(time, ns)));
    fprintf(out, " %9s\n", format_count(text, time->faults));
}

void phase_table_print_pauses(FILE *out, const struct heap_model *heap) {
    unsigned shown = 0;
    for (enum eden_phase i = 0; i < EDEN_PHASE_COUNT; i++) {
        const struct phase_model *phase = collections(heap, i);
        for (int j = 0; phase && j < PAUSE_CAUSES; j++) {
            shown |= (phase->pauses.ns[j] != 0 ? 1u : 0) << j;
        }
    }
    if (shown == 0) {
        return;
    }
    fprintf(out, "\n# %-20s %9s", "Where the time went", "Total");
    for (int j = 0; j < PAUSE_CAUSES; j++) {
        if (shown >> j & 1) {
            fprintf(out, " %9s", pause_cause_headings[j]);
        }
    }
    fprintf(out, " %9s %9s\n", "Unknown", "Faults");
    for (enum eden_phase i = 0; i < EDEN_PHASE_COUNT; i++) {
        const struct phase_model *phase = collections(heap, i);
        if (phase) {
            print_pauses(out, phase_names[i], &phase->pauses, phase->total_ns, shown);
            print_pauses(out, "  the longest", &phase->longest, phase->max_ns, shown);
        }
    }
    for (int j = 0; j < PAUSE_CAUSES; j++) {
        if (shown >> j & 1) {
            fprintf(out, "# %s: %s.\n", pause_cause_headings[j], pause_cause_meanings[j]);
        }
    }
}

char *phase_table_in(char text[PHASE_NOW_MAX], const char *how, enum eden_phase phase, bool is_known, uint64_t ns) {
    char took[FORMAT_MAX] = "?";
    if (is_known) {
        format_ns(took, ns);
    }
    snprintf(text, PHASE_NOW_MAX, "%s %s for %s", how, phase_names[phase], took);
    return text;
}

char *phase_table_now(char text[PHASE_NOW_MAX], const struct process_model *process, const struct heap_model *heap) {
    const struct collection_model *collection = &heap->collection;
    if (!collection->known || !collection->under_way) {
        snprintf(text, PHASE_NOW_MAX, "%s", collection->known ? "-" : "?");
        return text;
    }
    bool is_known = collection->phase_since_ns && collection->until_ns >= collection->phase_since_ns;
    return phase_table_in(text, process->ended || heap->is_former ? "ended in" : "in", collection->phase, is_known,
                          collection->until_ns - collection->phase_since_ns);
}

const char *phase_table_command(const struct process_model *process, const struct heap_model *heap) {
    const char *command = heap->is_former ? heap->command : process->command;
    return command[0] ? command : "?";
}

void phase_table_heading(FILE *out, const struct process_model *process, const struct heap_model *heap) {
    char name[TEXT_GROWTH * sizeof heap->name], number[HEAP_NUMBER];
    text_print(out, phase_table_command(process, heap));
    fprintf(out, "[%u] heap %s", process->key.pid, heap_number_text(number, heap->id, heap->suffix));
    if (heap->name[0]) {
        fprintf(out, " '%s'", text_escape(name, sizeof name, heap->name, "'"));
    }
    const char *earlier = heap_earlier_text(heap);
    fprintf(out, "%s%s%s\n", heap->late ? ", " : "",
            earlier      ? earlier
            : heap->late ? "attached late"
                         : "",
            heap->destroyed   ? ""
            : heap->is_former ? ", ended when its process executed another program"
            : earlier         ? ""
                              : ", end not observed");
}
