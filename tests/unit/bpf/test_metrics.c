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

static struct metrics *metrics; /* NULL: nothing has ended */

/* The caller frees it. */
static char *metrics_of(const struct model *model) {
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    assert_non_null(out);
    struct metrics *with = metrics ? metrics : metrics_open();
    assert_non_null(with);
    assert_true(metrics_print(with, out, model, &(struct metrics_tool){0}, &(struct metrics_format){0}));
    assert_int_equal(fclose(out), 0);
    if (!metrics) {
        metrics_close(with);
    }
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

/* Counts stay when their process has ended, gauges do not. */
TEST(what_has_ended_stays_in_the_counters) {
    struct model ended __attribute__((cleanup(model_clear))) = {0};
    struct model model __attribute__((cleanup(model_clear))) = {0};
    for (uint32_t i = 1; i <= 2; i++) {
        struct heap_model *heap = add_heap(&ended, i, "x", "a");
        heap->figures[EDEN_FIGURE_scavenges] = i;
        heap->figures[EDEN_FIGURE_max_pause_ns] = i * 1000;
        heap->known |= 1ull << EDEN_FIGURE_max_pause_ns;
        heap->destroyed = true;
    }
    metrics = metrics_open();
    assert_non_null(metrics);
    assert_true(metrics_add_ended(metrics, &ended, false));
    assert_has(&model, "\neden_scavenges_total{command=\"x\",heap=\"a\",user=\"0\"} 3\n");
    add_heap(&model, 3, "x", "a")->figures[EDEN_FIGURE_scavenges] = 4;
    assert_true(metrics_add_ended(metrics, &ended, false));
    assert_has(&model, "\neden_scavenges_total{command=\"x\",heap=\"a\",user=\"0\"} 10\n");
    assert_has(&model, "\neden_heap_max_pause_seconds{command=\"x\",heap=\"a\",user=\"0\"} 0.000002000\n");
    assert_has(&model, "\neden_heaps{command=\"x\",heap=\"a\",user=\"0\"} 1\n");
    metrics_close(metrics);
    metrics = NULL;
}

TEST(where_too_many_have_ended_an_owner_has_others) {
    struct model none __attribute__((cleanup(model_clear))) = {0};
    uint64_t sum = 0;
    metrics = metrics_open();
    assert_non_null(metrics);
    for (uint32_t i = 1; i <= 5000; i++) {
        struct model ended __attribute__((cleanup(model_clear))) = {0};
        char name[16];
        snprintf(name, sizeof name, "of %u", i);
        add_heap(&ended, i, "x", name)->figures[EDEN_FIGURE_scavenges] = i;
        assert_true(metrics_add_ended(metrics, &ended, false));
    }
    char *text = metrics_of(&none);
    assert_non_null(strstr(text, "eden_scavenges_total{command=\"(others)\",heap=\"(others)\",user=\"0\"} "));
    for (const char *at = text; (at = strstr(at, "\neden_scavenges_total{")); at++) {
        sum += strtoull(strchr(at, '}') + 1, NULL, 10);
    }
    assert_int_equal(sum, 5000 * 5001 / 2);
    free(text);
    metrics_close(metrics);
    metrics = NULL;
}

/* Names are a process's own choice: 3,000 of one user's leave room for another's. */
TEST(one_owner_leaves_series_to_others) {
    struct model model __attribute__((cleanup(model_clear))) = {0};
    size_t lines = 0;
    for (uint32_t i = 1; i <= 3001; i++) {
        char name[16];
        snprintf(name, sizeof name, "of %u", i);
        struct heap_model *heap = add_heap(&model, i, "x", name);
        heap->owner = i <= 3000 ? 1000 : 7;
        heap->figures[EDEN_FIGURE_scavenges] = i;
    }
    assert_has(&model, "\neden_scavenges_total{command=\"x\",heap=\"of 3001\",user=\"7\"} 3001\n");
    char *text = metrics_of(&model);
    assert_non_null(strstr(text, "{command=\"(others)\",heap=\"(others)\",user=\"1000\"}"));
    for (const char *at = text; (at = strstr(at, "\neden_scavenges_total{")); at++) {
        lines++;
    }
    assert_int_equal(lines, 768 + 1 + 1); /* three quarters of the room, the others, and the other user's */
    free(text);
}

TEST(what_collections_wait_for_has_series) {
    struct model model __attribute__((cleanup(model_clear))) = {0};
    for (uint32_t i = 1; i <= 2; i++) {
        struct phase_model *phase = model_phase(add_heap(&model, i, "x", "a"), EDEN_PHASE_full);
        assert_non_null(phase);
        phase->pauses = (struct pause_time){.ns = {[PAUSE_no_cpu] = i * 1000}, .faults = 10 * i};
    }
#define OF_FULL "command=\"x\",heap=\"a\",user=\"0\",phase=\"full\""
    assert_has(&model, "\neden_collection_time_seconds_total{" OF_FULL ",cause=\"no_cpu\"} 0.000003000\n");
    assert_has(&model, "\neden_collection_time_seconds_total{" OF_FULL ",cause=\"disk\"} 0.000000000\n");
    assert_has(&model, "\neden_collection_time_seconds_total{" OF_FULL ",cause=\"faulting\"} 0.000000000\n");
    assert_has(&model, "\neden_collection_page_faults_total{" OF_FULL "} 30\n");
    char *text = metrics_of(&model);
    assert_null(strstr(text, "phase=\"scavenge\",cause"));
    free(text);
    model.processes[1].heaps[0].phase[EDEN_PHASE_full]->pauses.unmeasured = 1u << PAUSE_faulting;
    text = metrics_of(&model);
    assert_non_null(strstr(text, ",cause=\"asleep\"}"));
    assert_null(strstr(text, ",cause=\"faulting\"}")); /* not 0: of one of both it is not known */
    free(text);
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
