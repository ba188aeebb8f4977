/* What the rules of tuning know of a heap, from a recording: of a heap that is older than the recording, the figures
 * of the recorded time. */
#include "advise/facts/facts.h"
#include "recording_builder.h"
#include "util/clock.h"

enum { HEAP = 0x1000, HEADER_PAUSE = 629000000 };

static struct event collection(enum eden_probe_id probe, uint64_t seq, uint64_t cause_or_duration) {
    struct event event = {.process = process_key(100), .probe = (uint16_t)probe, .args = 11};
    event.time_ns = now_ns() + seq * 1000000000; /* far enough from the one before for any duration */
    event.arg[0] = HEAP;
    event.arg[1] = seq;
    event.arg[2] = cause_or_duration;
    return event;
}

static void add_collection(struct recorder *recorder, bool full, uint64_t seq, uint64_t cause, uint64_t duration) {
    struct event start = collection(full ? EDEN_PROBE_full__start : EDEN_PROBE_scavenge__start, seq, cause);
    struct event done = collection(full ? EDEN_PROBE_full__done : EDEN_PROBE_scavenge__done, seq, duration);
    add(recorder, &start);
    add(recorder, &done);
}

/* The facts of the only heap in a recording. */
static void read_heap(const char *path, struct tune_heaps *heaps) {
    struct recording *recording __attribute__((cleanup(close_recording))) = open_good(path);
    struct failure why = {0};
    assert_true(tune_heaps_read(heaps, recording, &(struct heap_choice){0}, &why));
    assert_int_equal(heaps->count, 1);
}

/* The longest pause that the facts of a late heap have, whose header said HEADER_PAUSE when it was attached to. */
static uint64_t longest_pause(const char *path, uint64_t figure, bool collections) {
    struct recorder *recorder = begin(path);
    struct model model = {.wall_ns = 1000000000};
    struct process_key key = process_key(100);
    struct heap_model *heap = model_heap(model_process(&model, &key), (struct heap_ref){HEAP, 1, 0});
    heap->late = true;
    heap->known = ~0ull >> (64 - EDEN_FIGURE_COUNT);
    heap->before[EDEN_FIGURE_max_pause_ns] = HEADER_PAUSE;
    heap->figures[EDEN_FIGURE_max_pause_ns] = figure;
    if (collections) {
        add_collection(recorder, false, 7, EDEN_SCAVENGE_EDEN, 5000);
        add_collection(recorder, false, 8, EDEN_SCAVENGE_FULL, 2000);
        add_collection(recorder, true, 9, EDEN_FULL_RATIO, 4000);
    }
    commit(recorder, &model, true);
    recorder_close(recorder);
    model_clear(&model);

    struct tune_heaps heaps;
    read_heap(path, &heaps);
    uint64_t longest = tune_figure(&heaps.at[0], EDEN_FIGURE_max_pause_ns);
    tune_heaps_clear(&heaps);
    return longest;
}

TEST(longest_pause_before_recording_does_not_count) {
    assert_int_equal(longest_pause("idle", HEADER_PAUSE, false), 0);
    assert_int_equal(longest_pause("late", HEADER_PAUSE, true), 6000); /* the full collection with its scavenge */
}

TEST(longest_pause_of_recorded_time_is_the_figure) {
    assert_int_equal(longest_pause("longer", HEADER_PAUSE + 1, true), HEADER_PAUSE + 1);
}

TEST(a_collection_under_way_at_the_end_is_known) {
    struct recorder *recorder = begin("under_way");
    struct model model = {.wall_ns = 100};
    struct process_key key = process_key(100);
    struct heap_model *heap = model_heap(model_process(&model, &key), (struct heap_ref){HEAP, 1, 0});
    heap->collection = (struct collection_model){true, true, EDEN_PHASE_scavenge__copy, 500, 600, 1000, 60};
    commit(recorder, &model, false); /* and the recorder is killed */
    recorder_close(recorder);
    model_clear(&model);
    struct tune_heaps heaps;
    read_heap("under_way", &heaps);
    assert_false(tune_is_at_rest(&heaps.at[0]));
    assert_int_equal(tune_under_way_ns(&heaps.at[0]), 60);
    assert_int_equal(tune_unfinished_ns(&heaps.at[0]), 60);
    assert_int_equal(heaps.at[0].collection.phase, EDEN_PHASE_scavenge__copy);
    heaps.at[0].wall_ns = 120;
    assert_int_equal(tune_unfinished_ns(&heaps.at[0]), 0);
    tune_heaps_clear(&heaps);
}

/* Two parts of a scavenge of 5 us report 4 us each, and one of a full collection comes within it. */
TEST(parts_of_a_collection_stay_within_it) {
    struct recorder *recorder = begin("parts");
    struct model model = {.wall_ns = 1000000000};
    struct process_key key = process_key(100);
    model_heap(model_process(&model, &key), (struct heap_ref){HEAP, 1, 0});
    const enum eden_probe_id parts[] = {EDEN_PROBE_scavenge__roots__done, EDEN_PROBE_scavenge__weak__done,
                                        EDEN_PROBE_mark__done};
    struct event created = make_event(EDEN_PROBE_heap__create, 1, HEAP, 1);
    add(recorder, &created);
    struct event start = collection(EDEN_PROBE_scavenge__start, 1, EDEN_SCAVENGE_EDEN);
    add(recorder, &start);
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        struct event part = collection(parts[i], 1, 4000);
        add(recorder, &part);
    }
    struct event done = collection(EDEN_PROBE_scavenge__done, 1, 5000);
    add(recorder, &done);
    commit(recorder, &model, true);
    recorder_close(recorder);
    model_clear(&model);
    struct tune_heaps heaps;
    read_heap("parts", &heaps);
    assert_int_equal(heaps.at[0].pass_count, 1);
    const uint64_t *part_ns = heaps.at[0].passes[0].part_ns;
    assert_int_equal(part_ns[EDEN_PHASE_scavenge], 5000);
    assert_int_equal(part_ns[EDEN_PHASE_scavenge__roots], 4000);
    assert_int_equal(part_ns[EDEN_PHASE_scavenge__weak], 1000);
    assert_int_equal(part_ns[EDEN_PHASE_mark], 0);
    tune_heaps_clear(&heaps);
}

/* Observing begins long after the recorder, when it has attached; and writing takes longer than this. */
enum { RECORDED_NS = 10 };

/* Observed time of a heap whose probes fired at these times after attaching; UINT64_MAX: it did not fire. */
static uint64_t observed_ns(const char *path, uint64_t created, uint64_t destroyed, uint64_t created_again) {
    const uint64_t times[] = {created, destroyed, created_again};
    struct recorder *recorder = begin(path);
    struct model model = {.wall_ns = RECORDED_NS};
    struct process_key key = process_key(100);
    model_heap(model_process(&model, &key), (struct heap_ref){HEAP, 1, 0});
    uint64_t attached = now_ns();
    for (size_t i = 0; i < sizeof times / sizeof *times; i++) {
        if (times[i] != UINT64_MAX) {
            struct event event =
                make_event(i == 1 ? EDEN_PROBE_heap__destroy : EDEN_PROBE_heap__create, attached + times[i], HEAP, 1);
            add(recorder, &event);
        }
    }
    commit(recorder, &model, true);
    recorder_close(recorder);
    model_clear(&model);
    struct tune_heaps heaps;
    read_heap(path, &heaps);
    uint64_t observed = heaps.at[0].wall_ns;
    tune_heaps_clear(&heaps);
    return observed;
}

TEST(observed_time_of_heap_begins_with_its_creation) {
    assert_int_equal(observed_ns("whole", 2, 8, UINT64_MAX), 6);
    assert_int_equal(observed_ns("at_end", 3600000000000, UINT64_MAX, UINT64_MAX), 0);
}

TEST(observed_time_lies_within_recording) {
    assert_int_equal(observed_ns("not_destroyed", 2, UINT64_MAX, UINT64_MAX), RECORDED_NS);
    assert_int_equal(observed_ns("created_twice", 2, 8, 9), RECORDED_NS);
    assert_int_equal(observed_ns("destroyed_late", 2, 5000, UINT64_MAX), RECORDED_NS);
    assert_int_equal(observed_ns("destroyed_first", 8, 2, UINT64_MAX), RECORDED_NS);
}

/* The facts of a heap that reports one parameter besides policy (NULL: not that), and two scavenges of eden. */
static void read_policy(const char *path, const char *policy, struct tune_heaps *heaps) {
    struct recorder *recorder = begin(path);
    struct model model = {.wall_ns = 1000000000};
    struct process_key key = process_key(100);
    model_heap(model_process(&model, &key), (struct heap_ref){HEAP, 1, 0});
    struct event created = make_event(EDEN_PROBE_heap__create, 1, HEAP, 1);
    add(recorder, &created);
    const char *const set[][2] = {{"compactor", "selective"}, {"policy", policy}};
    for (size_t i = 0; i < (policy ? 2 : 1); i++) {
        struct event event = make_event(EDEN_PROBE_param__set, 10 + i, HEAP, 0);
        snprintf(event.text[0], sizeof event.text[0], "%s", set[i][0]);
        snprintf(event.text[1], sizeof event.text[1], "%s", set[i][1]);
        add(recorder, &event);
    }
    for (uint64_t seq = 1; seq <= 2; seq++) {
        struct event start = collection(EDEN_PROBE_scavenge__start, seq, EDEN_SCAVENGE_EDEN);
        struct event done = collection(EDEN_PROBE_scavenge__done, seq, 5000);
        start.arg[3] = seq << 21; /* eden_used */
        add(recorder, &start);
        add(recorder, &done);
    }
    commit(recorder, &model, true);
    recorder_close(recorder);
    model_clear(&model);
    read_heap(path, heaps);
}

TEST(eden_of_policy_auto_is_what_scavenges_found) {
    struct tune_heaps heaps;
    read_policy("auto", "auto", &heaps);
    assert_true(tune_number(&heaps.at[0], EDEN_PARAM_eden_size) == 3 << 20);
    assert_true(tune_is_old_decided(&heaps.at[0]) && tune_is_tenuring_decided(&heaps.at[0]));
    tune_heaps_clear(&heaps);
    read_policy("fixed", "fixed", &heaps);
    assert_true(tune_number(&heaps.at[0], EDEN_PARAM_eden_size) == 16 << 20);
    assert_false(tune_is_old_decided(&heaps.at[0]) || tune_is_tenuring_decided(&heaps.at[0]));
    tune_heaps_clear(&heaps);
}

TEST(a_runtime_without_policies_decides_nothing) {
    struct tune_heaps heaps;
    read_policy("older", NULL, &heaps);
    assert_false(tune_is_old_decided(&heaps.at[0]));
    tune_heaps_clear(&heaps);
}

SUITE(enter_folder, leave_folder)
