/* What the views of pauses show of a small recording: pauses across its beginning. */
#include "recording/recording.h"
#include "recording_support.h"
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

/* A recording of four seconds of one heap. */
static void record(const char *path, const struct event *events, size_t count, const struct collection_model *at_end) {
    struct recorder *recorder = begin_with(&(struct recorder_options){.path = path, .pid = 100});
    __attribute__((cleanup(model_clear))) struct model model = {.wall_ns = 4 * SECOND};
    struct heap_model *heap = model_heap(model_process(&model, &key), (struct heap_ref){HEAP, 1, 0});
    heap->late = true;
    heap->collection = *at_end;
    recorder_began(recorder, BEGAN);
    for (size_t i = 0; i < count; i++) {
        add(recorder, &events[i]);
    }
    commit(recorder, &model, true);
    recorder_close(recorder);
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

static void assert_shows(const char *path, const struct view *view, const struct rows_format *format,
                         const char *wanted) {
    char *text __attribute__((cleanup(free_at))) = print_view(path, view, format);
    if (!strstr(text, wanted)) {
        fail_msg("%s is not in: %s", wanted, text);
    }
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

SUITE(enter_folder, leave_folder)
