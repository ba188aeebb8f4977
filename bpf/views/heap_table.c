#include "views/heap_table.h"
#include "eden_values.h"
#include "util/format.h"
#include "util/style.h"
#include "util/whole.h"
#include "views/phase_table.h"

static void print_causes(FILE *out, const struct heap_model *heap) {
    for (unsigned i = 0; i < EDEN_FULL_CAUSES; i++) {
        char text[FORMAT_MAX];
        if (heap->full_by_cause[i]) {
            fprintf(out, "%20s    %s\n", format_count(text, heap->full_by_cause[i]), eden_full_cause_name(i));
        }
    }
}

/* gc_ns counts pauses whole, when they end, as the figures below it do; the share is of the time in pauses that lies
 * within the observed time, which is named where it is another. */
static void note_stopped(char *note, size_t size, const struct heap_model *heap, uint64_t wall_ns) {
    char text[FORMAT_MAX], share[16] = "?";
    const uint64_t seen = heap->figures[EDEN_FIGURE_gc_ns] - heap->before[EDEN_FIGURE_gc_ns];
    if (heap->stopped_known && wall_ns) {
        snprintf(share, sizeof share, "%.2f%%", 100 * (double)heap->stopped_ns / (double)wall_ns);
    }
    const bool is_other = heap->stopped_known && heap->stopped_ns != seen;
    size_t length = (size_t)snprintf(note, size, "#  ");
    if (heap->late) {
        length += (size_t)snprintf(note + length, size - length, "%s since attach%s ", format_ns(text, seen),
                                   is_other ? ";" : ",");
    }
    if (is_other) {
        length += (size_t)snprintf(note + length, size - length, "paused for %s, ", format_ns(text, heap->stopped_ns));
    }
    snprintf(note + length, size - length, "%s of the %s observed", share, format_ns(text, wall_ns));
}

/* A collection under way: gc_ns and the phases do not count it yet. */
static void print_now(FILE *out, const struct process_model *process, const struct heap_model *heap) {
    char text[PHASE_NOW_MAX], took[FORMAT_MAX];
    if (!heap->collection.known) {
        fprintf(out, "  ? whether in a collection now: no event of the heap since attach\n");
    } else if (heap->collection.under_way) {
        fprintf(out, "  %s: the share includes %s of this collection, the sums do not\n",
                phase_table_now(text, process, heap), format_ns(took, heap->collection.observed_ns));
    }
}

static void print_figure(FILE *out, const struct heap_model *heap, enum eden_figure figure, uint64_t wall_ns) {
    char value[FORMAT_MAX] = "?", note[128] = "", text[FORMAT_MAX];
    enum figure_kind kind = figure_descriptions[figure].kind;
    enum style style = STYLE_PLAIN;
    if (heap->known >> figure & 1) {
        format_figure(value, figure, heap->figures[figure]);
        uint64_t seen = heap->figures[figure] - heap->before[figure];
        if (figure == EDEN_FIGURE_gc_ns) {
            style = heap->stopped_known && wall_ns ? style_of_share((double)heap->stopped_ns / (double)wall_ns) : style;
            note_stopped(note, sizeof note, heap, wall_ns);
        } else if (heap->late && kind == KIND_sum) {
            snprintf(note, sizeof note, "#  %s since attach", format_figure(text, figure, seen));
        } else if (kind == KIND_max && heap->before[figure] && seen == 0) {
            snprintf(note, sizeof note, "#  before attach");
        } else if (figure == EDEN_FIGURE_allocated_bytes && wall_ns) {
            char wall[FORMAT_MAX];
            double rate = (double)seen / ((double)wall_ns / 1e9);
            snprintf(note, sizeof note, "#  %s/s over the %s observed", format_bytes(text, whole_of(rate)),
                     format_ns(wall, wall_ns));
        }
    }
    fprintf(out, note[0] ? "%20s  %-18s  %s" : "%20s  %s%s", value, figure_descriptions[figure].name,
            style_on(out, style));
    fprintf(out, "%s%s\n", note, style_off(out, style));
}

void heap_table_print(FILE *out, const struct process_model *process, const struct heap_model *heap,
                      const struct model *model) {
    phase_table_heading(out, process, heap);
    fprintf(out, "\n");
    if (!model_has_all(model, heap)) {
        const char *earlier = heap_earlier_text(heap);
        fprintf(out, "%s  at least (%s):%s\n", style_on(out, STYLE_WARNING),
                model->uncounted ? "events were lost, perhaps of this heap"
                : earlier        ? earlier
                                 : "the end of the heap was not observed",
                style_off(out, STYLE_WARNING));
    }
    for (enum eden_figure i = 0; i < EDEN_FIGURE_COUNT; i++) {
        print_figure(out, heap, i, model->wall_ns);
        if (i == EDEN_FIGURE_full_collections) {
            print_causes(out, heap);
        }
    }
    print_now(out, process, heap);
    phase_table_print(out, heap, model->wall_ns);
    phase_table_print_pauses(out, heap);
}
