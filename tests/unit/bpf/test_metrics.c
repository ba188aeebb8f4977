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
static struct metrics_format format;

/* The caller frees it. */
static char *metrics_of(const struct model *model) {
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    assert_non_null(out);
    struct metrics *with = metrics ? metrics : metrics_open();
    assert_non_null(with);
    assert_true(metrics_print(with, out, model, &(struct metrics_tool){0}, &format));
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

TEST(services_have_series_of_their_own) {
    static const char *const units[] = {"", "a.service", "b.scope", "a.service"};
    struct model model __attribute__((cleanup(model_clear))) = {0};
    for (uint32_t i = 0; i < 4; i++) {
        add_heap(&model, i + 1, "x", "a")->figures[EDEN_FIGURE_scavenges] = i + 1;
        snprintf(model.processes[i].unit, sizeof model.processes[i].unit, "%s", units[i]);
    }
    assert_has(&model, "\neden_scavenges_total{command=\"x\",heap=\"a\",user=\"0\"} 4\n");
    assert_has(&model, "\neden_scavenges_total{command=\"x\",heap=\"a\",user=\"0\",unit=\"a.service\"} 6\n");
    snprintf(model.processes[0].unit, sizeof model.processes[0].unit, "run-u7.service");
    snprintf(model.processes[2].unit, sizeof model.processes[2].unit, "c@1.service");
    assert_has(&model, "\neden_scavenges_total{command=\"x\",heap=\"a\",user=\"0\"} 1\n");
    assert_has(&model, "\neden_scavenges_total{command=\"x\",heap=\"a\",user=\"0\",unit=\"c@.service\"} 3\n");
    snprintf(model.processes[2].unit, sizeof model.processes[2].unit, "b.scope");
    format.per_process = true; /* then a scope is one, too */
    assert_has(&model,
               "\neden_scavenges_total{command=\"x\",heap=\"a\",user=\"0\",unit=\"b.scope\",pid=\"3\",number=\"1\","
               "serial=\"3\"} 3\n");
    format.per_process = false;
    metrics = metrics_open();
    assert_non_null(metrics);
    assert_true(metrics_add_ended(metrics, &model, false));
    assert_has(&model, "\neden_scavenges_total{command=\"x\",heap=\"a\",user=\"0\",unit=\"a.service\"} 12\n");
    metrics_close(metrics);
    metrics = NULL;
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

/* Whoever asks, and however often. */
TEST(by_process_what_has_ended_stays_for_five_minutes) {
    enum { SECONDS = 1000000000 };
    struct model ended __attribute__((cleanup(model_clear))) = {.wall_ns = 10ull * SECONDS};
    struct model model __attribute__((cleanup(model_clear))) = {.wall_ns = 20ull * SECONDS};
    add_heap(&ended, 1, "x", "a")->figures[EDEN_FIGURE_scavenges] = 7;
    metrics = metrics_open();
    assert_non_null(metrics);
    format.per_process = true;
    assert_true(metrics_add_ended(metrics, &ended, true));
    for (int i = 0; i < 3; i++) {
        assert_has(&model, "} 7\n");
    }
    model.wall_ns = 309ull * SECONDS;
    assert_has(&model, "} 7\n");
    model.wall_ns = 310ull * SECONDS;
    char *text = metrics_of(&model);
    assert_null(strstr(text, "eden_scavenges_total{"));
    free(text);
    format.per_process = false;
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
    assert_int_equal(lines, 128 + 1 + 1); /* half of the room, the others, and the other user's */
    free(text);
}

/* Everything that a heap can have, as long as it gets. */
static void fill(struct heap_model *heap, uint64_t value) {
    heap->known = ~0ull;
    heap->stopped_known = true;
    heap->stopped_ns = value;
    for (int i = 0; i < EDEN_FIGURE_COUNT; i++) {
        heap->figures[i] = value;
    }
    for (int i = 0; i < EDEN_FULL_CAUSES; i++) {
        heap->full_by_cause[i] = value;
    }
    for (unsigned i = 0; i < MODEL_PHASES; i++) {
        struct phase_model *phase = model_phase(heap, i);
        assert_non_null(phase);
        phase->calls = phase->buckets[0] = phase->total_ns = value;
        if (i == EDEN_PHASE_scavenge || i == EDEN_PHASE_full) {
            phase->pauses = (struct pause_time){.ns = {value, value}, .faults = value};
        }
    }
}

/* A thousand heaps of each of these users, with names that grow as they are printed. */
static void add_hostile(struct model *model, uint32_t first_owner, uint32_t owners, uint64_t value) {
    for (uint32_t i = 0; i < 1000 * owners; i++) {
        char command[16], name[64];
        memset(command, '\x1b', sizeof command);
        memset(name, i % 2 ? '"' : '\x1b', sizeof name);
        command[15] = name[63] = '\0';
        snprintf(name, sizeof name, "%u", i);
        name[strlen(name)] = '"';
        struct heap_model *heap = add_heap(model, first_owner * 100000 + i, command, name);
        heap->owner = first_owner + i / 1000;
        memcpy(model->processes[model->process_count - 1].unit, name, sizeof name);
        fill(heap, value);
    }
}

/* The page is bounded, whatever one user's names are, and another's heap has all its series. */
TEST(hostile_names_leave_the_page_short) {
    struct model alone __attribute__((cleanup(model_clear))) = {0};
    struct model both __attribute__((cleanup(model_clear))) = {0};
    struct heap_model *own = add_heap(&alone, 1, "x", "a"), *same = add_heap(&both, 1, "x", "a");
    fill(own, 1ull << 50);
    fill(same, 1ull << 50);
    own->owner = same->owner = 7;
    add_hostile(&both, 1000, 1, 1ull << 50);
    char *expected = metrics_of(&alone), *text = metrics_of(&both);
    assert_true(strlen(text) < (128 + 2) * (96u << 10));
    size_t compared = 0;
    for (char *line = strtok(expected, "\n"); line; line = strtok(NULL, "\n")) {
        assert_true(!strstr(line, "user=\"7\"") || strstr(text, line));
        compared += strstr(line, "user=\"7\"") != NULL;
    }
    assert_true(compared > 300);
    uint64_t sum = 0;
    for (const char *at = text; (at = strstr(at, "\neden_scavenges_total{")); at++) {
        sum += strtoull(strchr(at, '}') + 1, NULL, 10);
    }
    assert_int_equal(sum, 1001 * (1ull << 50));
    free(expected);
    free(text);
}

TEST(hostile_names_of_many_users_leave_the_page_short) {
    struct model model __attribute__((cleanup(model_clear))) = {0};
    add_hostile(&model, 4294960000u / 1000, 9, UINT64_MAX / 10000);
    char *text = metrics_of(&model);
    assert_true(strlen(text) < (256 + 9) * (96u << 10));
    free(text);
}

/* What is cut is no two series: a scraper refuses a page that has a series twice. */
TEST(long_forms_are_cut_and_summed_up) {
    struct model model __attribute__((cleanup(model_clear))) = {0};
    char name[64], form[128] = "";
    memset(name, '"', sizeof name);
    name[63] = '\0';
    for (int i = 0; i < 30; i++) {
        strcat(form, "\\\"");
    }
    for (uint32_t i = 1; i <= 2; i++) {
        name[62] = (char)('0' + i);
        add_heap(&model, i, "x", name)->figures[EDEN_FIGURE_scavenges] = i;
    }
    char line[256];
    snprintf(line, sizeof line, "\neden_scavenges_total{command=\"x\",heap=\"%s...\",user=\"0\"} 3\n", form);
    assert_has(&model, line);
    memset(name, 'n', 63); /* fits as it is */
    add_heap(&model, 3, "x", name)->figures[EDEN_FIGURE_scavenges] = 5;
    snprintf(line, sizeof line, "\neden_scavenges_total{command=\"x\",heap=\"%s\",user=\"0\"} 5\n", name);
    assert_has(&model, line);
}

/* One process that goes on changing its name makes no series without end: the scraper keeps each. */
TEST(names_that_change_make_no_series_without_end) {
    size_t own = 0;
    metrics = metrics_open();
    assert_non_null(metrics);
    for (uint32_t i = 0; i < 1000; i++) {
        struct model model __attribute__((cleanup(model_clear))) = {0};
        char command[16], other[128];
        snprintf(command, sizeof command, "n%u", i);
        add_heap(&model, 1, command, "a")->figures[EDEN_FIGURE_scavenges] = i;
        add_heap(&model, 2, "x", "a")->owner = 7;
        char *text = metrics_of(&model);
        snprintf(other, sizeof other, "\neden_scavenges_total{command=\"%s\",heap=\"%s\",user=\"0\"} %u\n",
                 i < 128 ? command : "(others)", i < 128 ? "a" : "(others)", i);
        assert_non_null(strstr(text, other));
        assert_non_null(strstr(text, "{command=\"x\",heap=\"a\",user=\"7\"}"));
        own += !strstr(text, "(others)");
        free(text);
    }
    assert_true(own >= 127);
    metrics_close(metrics);
    metrics = NULL;
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

/* A scavenge and a full collection, which a pause has both of, are no pauses here. */
TEST(whole_pauses_have_a_histogram) {
    struct model model __attribute__((cleanup(model_clear))) = {0};
    for (uint32_t i = 1; i <= 2; i++) {
        struct heap_model *heap = add_heap(&model, i, "x", "a");
        for (unsigned j = 0; j < MODEL_PHASES; j++) {
            struct phase_model *phase = model_phase(heap, j);
            assert_non_null(phase);
            phase->calls = j == MODEL_PAUSE ? i : 9;
            phase->total_ns = i * 40000000ull;
            phase->buckets[histogram_bucket(40000000)] = phase->calls;
        }
    }
#define OF_HEAP "{command=\"x\",heap=\"a\",user=\"0\""
    assert_has(&model, "\neden_pause_seconds_bucket" OF_HEAP ",le=\"0.033554431\"} 0\n");
    assert_has(&model, "\neden_pause_seconds_bucket" OF_HEAP ",le=\"0.067108863\"} 3\n");
    assert_has(&model, "\neden_pause_seconds_bucket" OF_HEAP ",le=\"+Inf\"} 3\n");
    assert_has(&model, "\neden_pause_seconds_sum" OF_HEAP "} 0.120000000\n");
    assert_has(&model, "\neden_pause_seconds_count" OF_HEAP "} 3\n");
    assert_has(&model, "\neden_phase_seconds_count" OF_HEAP ",phase=\"full\"} 18\n");
    metrics = metrics_open();
    assert_non_null(metrics);
    assert_true(metrics_add_ended(metrics, &model, false));
    assert_has(&model, "\neden_pause_seconds_count" OF_HEAP "} 6\n");
    metrics_close(metrics);
    metrics = NULL;
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
