/* Metrics: which heaps a series is of, and what processes say of theirs. */
#include "views/metrics.h"
#include <stdlib.h>
#include <string.h>

#include "suite.h"

static struct heap_model *add_heap(struct model *model, uint32_t pid, const char *command, const char *name) {
    struct process_model *process = model_process(model, &(struct process_key){.start_ns = 1, .pid = pid});
    assert_non_null(process);
    snprintf(process->command, sizeof process->command, "%s", command);
    struct heap_model *heap = model_heap(process, (struct heap_ref){0x1000, 1, pid});
    assert_non_null(heap);
    snprintf(heap->name, sizeof heap->name, "%s", name);
    heap->known = 1ull << EDEN_FIGURE_scavenges;
    return heap;
}

/* The caller frees it. */
static char *metrics_of(const struct model *model) {
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    assert_non_null(out);
    assert_true(metrics_print(out, model, &(struct metrics_tool){0}, &(struct metrics_format){0}));
    assert_int_equal(fclose(out), 0);
    return text;
}

static void assert_has(const struct model *model, const char *line) {
    char *text = metrics_of(model);
    const char *found = strstr(text, line);
    assert_non_null(found);
    assert_null(strstr(found + 1, line));
    free(text);
}

TEST(no_name_and_a_question_mark_are_one_series) {
    struct model model __attribute__((cleanup(model_clear))) = {0};
    add_heap(&model, 1, "", "a")->figures[EDEN_FIGURE_scavenges] = 1;
    add_heap(&model, 2, "?", "a")->figures[EDEN_FIGURE_scavenges] = 2;
    struct heap_model *former = add_heap(&model, 3, "next", "a");
    former->figures[EDEN_FIGURE_scavenges] = 4;
    former->is_former = true;
    assert_has(&model, "\neden_scavenges_total{command=\"?\",heap=\"a\",user=\"0\"} 7\n");
}

TEST(users_have_series_of_their_own) {
    static const uint32_t owners[] = {1000, 0, 1000, UINT32_MAX};
    struct model model __attribute__((cleanup(model_clear))) = {0};
    for (uint32_t i = 0; i < 4; i++) {
        struct heap_model *heap = add_heap(&model, i + 1, "x", "a");
        heap->owner = owners[i];
        heap->figures[EDEN_FIGURE_scavenges] = i == 1 ? UINT64_MAX : i + 1;
    }
    assert_has(&model, "\neden_scavenges_total{command=\"x\",heap=\"a\",user=\"1000\"} 4\n");
    assert_has(&model, "\neden_scavenges_total{command=\"x\",heap=\"a\",user=\"0\"} 18446744073709551615\n");
    assert_has(&model, "\neden_scavenges_total{command=\"x\",heap=\"a\",user=\"?\"} 4\n");
}

TEST(no_count_is_below_zero) {
    struct model model __attribute__((cleanup(model_clear))) = {0};
    struct phase_model *phase = model_phase(add_heap(&model, 1, "x", "a"), EDEN_PHASE_full);
    assert_non_null(phase);
    *phase = (struct phase_model){.calls = 1, .missing = 2, .total_ns = 10, .missing_ns = 20};
    assert_has(&model, "\neden_heaps{command=\"x\",heap=\"a\",user=\"0\"} 1\n");
    char *text = metrics_of(&model);
    assert_null(strstr(text, "eden_phase_seconds_count"));
    free(text);
}
