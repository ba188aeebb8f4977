/* What the report and the views of pauses show of a small recording: pauses across its beginning or its end. */
#include "recording/recording.h"
#include "recording_support.h"
#include "views/heap_table.h"
#include "views/model_json.h"
#include "views/report.h"
#include "views/rows/rows.h"
#include "views/rows/views.h"

enum { HEAP = 0x1000 };
static const uint64_t SECOND = 1000000000, BEGAN = 100 * SECOND;
static const struct process_key key = {.start_ns = 7100, .pid = 100};

static struct event collection(enum eden_probe_id probe, uint64_t time, uint64_t cause_or_duration) {
    struct event event = {.time_ns = time, .process = key, .probe = (uint16_t)probe, .args = 11};
    event.arg[0] = HEAP;
    event.arg[1] = 1;
    event.arg[2] = cause_or_duration;
    return event;
}

/* The only heap of a model of four seconds. */
static struct heap_model *only_heap(struct model *model) {
    *model = (struct model){.wall_ns = 4 * SECOND};
    return model_heap(model_process(model, &key), (struct heap_ref){HEAP, 1, 0});
}

static void record_model(const char *path, const struct event *events, size_t count, const struct model *model) {
    struct recorder *recorder = begin_with(&(struct recorder_options){.path = path, .pid = 100});
    recorder_began(recorder, BEGAN);
    for (size_t i = 0; i < count; i++) {
        add(recorder, &events[i]);
    }
    commit(recorder, model, true);
    recorder_close(recorder);
}

static void record(const char *path, const struct event *events, size_t count, const struct collection_model *at_end) {
    __attribute__((cleanup(model_clear))) struct model model;
    struct heap_model *heap = only_heap(&model);
    heap->late = true;
    heap->collection = *at_end;
    record_model(path, events, count, &model);
}

/* As `edenscope report --view` prints it; the caller's. */
static char *print_view(const char *path, const struct view *view, const struct rows_format *format) {
    struct recording *recording __attribute__((cleanup(close_recording))) = open_good(path);
    __attribute__((cleanup(model_clear))) struct model model = {0};
    struct failure why = {0};
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    assert_true(recording_model(recording, &model, &why));
    const struct viewed viewed = viewed_whole(recording, &model);
    assert_true(rows_print(out, view, &viewed, format, &why));
    fclose(out);
    return text;
}

static void assert_has(const char *text, const char *wanted) {
    if (!strstr(text, wanted)) {
        fail_msg("%s is not in: %s", wanted, text);
    }
}

static void assert_shows(const char *path, const struct view *view, const struct rows_format *format,
                         const char *wanted) {
    char *text __attribute__((cleanup(free_at))) = print_view(path, view, format);
    assert_has(text, wanted);
}

static const struct collection_model at_rest = {.known = true};

TEST(a_pause_begins_where_it_began_before_the_recording) {
    const struct event events[] = {collection(EDEN_PROBE_full__done, BEGAN + 2 * SECOND, 10 * SECOND),
                                   collection(EDEN_PROBE_scavenge__start, BEGAN + 3 * SECOND, EDEN_SCAVENGE_EDEN),
                                   collection(EDEN_PROBE_scavenge__done, BEGAN + 3 * SECOND + 5, 5)};
    record("across", events, sizeof events / sizeof *events, &at_rest);
    assert_shows("across", &view_stops, &(struct rows_format){.json = true, .columns = "time_ns,ns"},
                 "[{\"time_ns\":-8000000000,\"ns\":10000000000},{\"time_ns\":3000000000,\"ns\":5}]");
    assert_shows("across", &view_stops, &(struct rows_format){.separator = ":", .columns = "time_ns,ns"},
                 "100:1::-8000000000:10000000000\n");
    assert_shows("across", &view_stops, &(struct rows_format){0}, "\n   -8.000000  10.0 s  full collection  ");
    assert_shows("across", &view_stops, &(struct rows_format){.json = true, .columns = "ns", .sort = "time_ns"},
                 "[{\"ns\":5},{\"ns\":10000000000}]");
    assert_shows("across", &view_timeline, &(struct rows_format){.json = true, .columns = "from_ns"},
                 "[{\"from_ns\":0},{\"from_ns\":100000000},");
}

TEST(a_pause_whose_beginning_is_unknown_has_none) {
    struct collection_model hangs = {true, true, EDEN_PHASE_mark, 0, 0, BEGAN + 4 * SECOND, 4 * SECOND};
    const struct rows_format format = {.json = true, .columns = "time_ns,ns,kind"};
    record("unknown", NULL, 0, &hangs);
    assert_shows("unknown", &view_stops, &format,
                 "[{\"time_ns\":null,\"ns\":4000000000,\"kind\":\"full collection, not ended\"}]");
    hangs.since_ns = BEGAN - SECOND; /* as the heap's header said */
    record("known", NULL, 0, &hangs);
    assert_shows("known", &view_stops, &format,
                 "[{\"time_ns\":-1000000000,\"ns\":5000000000,\"kind\":\"full collection, not ended\"}]");
}

/* The probes are attached one after the other, so the first event may come before all are: the figures count it. */
TEST(a_pause_that_ends_just_before_the_recording_is_shown) {
    const struct event events[] = {collection(EDEN_PROBE_scavenge__done, BEGAN - 10, 2 * SECOND),
                                   collection(EDEN_PROBE_scavenge__start, BEGAN + SECOND, EDEN_SCAVENGE_EDEN),
                                   collection(EDEN_PROBE_scavenge__done, BEGAN + SECOND + 5, 5)};
    const struct rows_format json = {.json = true};
    record("just_before", events, sizeof events / sizeof *events, &at_rest);
    assert_shows("just_before", &view_stops, &(struct rows_format){.json = true, .columns = "time_ns,ns"},
                 "[{\"time_ns\":-2000000010,\"ns\":2000000000},{\"time_ns\":1000000000,\"ns\":5}]");
    assert_shows("just_before", &view_pauses, &json, "{\"kind\":\"scavenges\",\"count\":2,\"total_ns\":2000000005,");
    assert_shows("just_before", &view_pauses, &json, "{\"window_ns\":1000000,\"utilisation\":0.99999");
    assert_shows("just_before", &view_phases, &json, "\"calls\":2,\"total_ns\":2000000005,");
    assert_shows("just_before", &view_causes, &json, "\"total_ns\":2000000000,");
    assert_shows("just_before", &view_tenuring, &json, "[{\"time_ns\":-10,");
    assert_shows("just_before", &view_timeline,
                 &(struct rows_format){.json = true, .columns = "stopped_ns,scavenges,longest_ns"},
                 "[{\"stopped_ns\":0,\"scavenges\":1,\"longest_ns\":2000000000},");
}

/* A heap whose full collections have taken so long, before and within the observed time; one may be under way. */
struct stopped {
    bool is_late;
    uint64_t before_ns, seen_ns, outside_ns, under_way_ns;
};

/* The line for people, of `report` and of `stat`, of pauses. */
static void assert_paused(const char *path, const struct stopped *is, const char *reported, const char *noted) {
    __attribute__((cleanup(model_clear))) struct model model, read = {0};
    struct heap_model *heap = only_heap(&model);
    heap->late = is->is_late;
    heap->known = 1ull << EDEN_FIGURE_gc_ns;
    heap->before[EDEN_FIGURE_gc_ns] = is->before_ns;
    heap->figures[EDEN_FIGURE_gc_ns] = is->before_ns + is->seen_ns;
    heap->collection = (struct collection_model){.known = true};
    if (is->under_way_ns) {
        const uint64_t until = BEGAN + 4 * SECOND, since = until - is->under_way_ns;
        heap->collection =
            (struct collection_model){true, true, EDEN_PHASE_full, since, since, until, is->under_way_ns};
    }
    struct phase_model *full = model_phase(heap, EDEN_PHASE_full);
    full->calls = 1;
    full->total_ns = full->max_ns = is->seen_ns;
    full->outside_ns = is->outside_ns;
    full->buckets[0] = 1;
    model_set_stopped(&model, NULL);
    record_model(path, NULL, 0, &model);

    struct recording *recording __attribute__((cleanup(close_recording))) = open_good(path);
    struct failure why = {0};
    assert_true(recording_model(recording, &read, &why));
    char *text __attribute__((cleanup(free_at))) = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    assert_true(report_text(out, path, recording, &read, &why));
    heap_table_print(out, &read.processes[0], &read.processes[0].heaps[0], &read);
    fclose(out);
    assert_has(text, reported);
    assert_has(text, noted);
    assert_int_equal(strstr(text, "# Overhead is of what lies within the time observed, Total of whole calls") != NULL,
                     is->outside_ns || is->under_way_ns);
}

TEST(time_and_share_of_pauses_are_of_the_same_time) {
    const struct stopped before = {.is_late = true, .before_ns = 300, .seen_ns = 12 * SECOND, .outside_ns = 9 * SECOND},
                         at_end = {.is_late = true, .before_ns = 2 * SECOND, .under_way_ns = 4 * SECOND},
                         more = {.seen_ns = SECOND, .under_way_ns = 2 * SECOND}, whole = {.seen_ns = SECOND},
                         late = {.is_late = true, .before_ns = 2 * SECOND, .seen_ns = SECOND};
    assert_paused("before", &before, " 12.0 s; while recorded: 3.00 s, 75.00% of wall time\n",
                  "#  12.0 s since attach; paused for 3.00 s, 75.00% of the 4.00 s observed\n");
    assert_paused("at_end", &at_end, " 2.00 s; while recorded: 4.00 s, 100.00% of wall time\n",
                  "#  0 ns since attach; paused for 4.00 s, 100.00% of the 4.00 s observed\n");
    assert_paused("more", &more, " 1.00 s; while recorded: 3.00 s, 75.00% of wall time\n",
                  "#  paused for 3.00 s, 75.00% of the 4.00 s observed\n");
    assert_paused("late", &late, " 3.00 s; while recorded: 1.00 s, 25.00% of wall time\n",
                  "#  1.00 s since attach, 25.00% of the 4.00 s observed\n");
    assert_paused("one", &whole, " 1.00 s, 25.00% of wall time\n", "#  25.00% of the 4.00 s observed\n");
}

/* `report`, `stat` and JSON: the ring buffer's losses are in the figures, and what else was lost may be of any heap. */
TEST(figures_are_at_least_where_hits_may_be_missing) {
    for (uint64_t uncounted = 0; uncounted < 2; uncounted++) {
        __attribute__((cleanup(model_clear))) struct model model, read = {0};
        struct heap_model *heap = only_heap(&model);
        heap->destroyed = true;
        model.lost = 1000;
        model.uncounted = uncounted;
        record_model("lost", NULL, 0, &model);

        struct recording *recording __attribute__((cleanup(close_recording))) = open_good("lost");
        struct failure why = {0};
        assert_true(recording_model(recording, &read, &why));
        char *text __attribute__((cleanup(free_at))) = NULL;
        size_t size;
        FILE *out = open_memstream(&text, &size);
        assert_true(report_text(out, "lost", recording, &read, &why));
        heap_table_print(out, &read.processes[0], &read.processes[0].heaps[0], &read);
        fclose(out);
        assert_has(text, "# lost events: 1,000\n");
        assert_int_equal(strstr(text, "\"at least\"") != NULL, uncounted);
        assert_int_equal(strstr(text, "at least (") != NULL, uncounted);
        json_auto_t *json = heap_to_json(&read, &read.processes[0].heaps[0]);
        assert_int_equal(json_is_true(json_object_get(json, "complete")), !uncounted);
    }
}

SUITE(enter_folder, leave_folder)
