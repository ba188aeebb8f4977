/* What the tests of recordings write and compare: synthetic events and models, and recorders of them. */
#ifndef EDEN_TESTS_RECORDING_BUILDER_H
#define EDEN_TESTS_RECORDING_BUILDER_H

#include "recording/reading.h"
#include "recording/recorder.h"
#include "recording_support.h"

static char *const command[] = {"prog", "it's", "a b", NULL};

static inline struct process_key process_key(uint32_t pid) {
    return (struct process_key){.start_ns = 7000 + pid, .pid = pid};
}

static inline struct event make_event(enum eden_probe_id probe, uint64_t time, uint64_t heap, uint64_t a1) {
    struct event event = {
        .time_ns = time, .process = process_key(100), .tid = 101, .probe = (uint16_t)probe, .args = 5};
    const uint64_t arg[] = {heap, a1, 0xfffffffffffffff0ull, 0, INT64_MAX}; /* bits from 2^63 on survive */
    memcpy(event.arg, arg, sizeof arg);
    return event;
}

static inline struct event random_event(unsigned *seed, uint64_t time) {
    struct event event = {.time_ns = time, .process = process_key(100 + (uint32_t)rand_r(seed) % 3)};
    event.tid = (uint32_t)rand_r(seed);
    event.probe = (uint16_t)(rand_r(seed) % (EDEN_PROBE_COUNT + 3)); /* some that we don't know */
    event.args = (uint16_t)(1 + rand_r(seed) % EDEN_PROBE_MAX_ARGS);
    for (int i = 0; i < event.args; i++) {
        event.arg[i] = ((uint64_t)rand_r(seed) << 33) ^ (uint64_t)rand_r(seed);
    }
    for (int i = 0; i < EVENT_TEXTS; i++) {
        int length = rand_r(seed) % EVENT_TEXT;
        for (int j = 0; j < length; j++) {
            event.text[i][j] = (char)(1 + rand_r(seed) % 255); /* not UTF-8, and never mind */
        }
    }
    return event;
}

static inline void fill_heap(struct heap_model *heap, uint64_t salt) {
    snprintf(heap->name, sizeof heap->name, "heap %llu", (unsigned long long)salt);
    heap->late = salt % 2;
    heap->earlier = heap->late ? (enum earlier)(salt / 2 % EARLIER_COUNT) : EARLIER_WHOLE;
    heap->destroyed = salt % 3 == 0 && heap->earlier == EARLIER_WHOLE;
    const bool has_before = heap->late && heap->earlier != EARLIER_UNKNOWN;
    for (int i = 0; i < EDEN_FIGURE_COUNT; i++) {
        if (i % 5 != 4) {
            heap->known |= 1ull << i;
            heap->figures[i] = salt * 1000 + (uint64_t)i + (i == 3 ? UINT64_MAX / 2 : 0);
            heap->before[i] = has_before ? (uint64_t)i : 0;
        }
    }
    for (int i = 0; i < EDEN_FULL_CAUSES; i++) {
        heap->full_by_cause[i] = salt + (uint64_t)i;
        heap->full_by_cause_before[i] = has_before ? (uint64_t)i : 0;
    }
    heap->collection.known = salt % 4 != 0;
    if (salt % 4 == 1) {
        heap->collection =
            (struct collection_model){true, true, EDEN_PHASE_compact__move, salt % 8 == 1 ? 0 : 700, 800, 900, 200};
    }
    for (int i = 0; i < EDEN_PHASE_COUNT; i += 2) {
        struct phase_model *phase = model_phase(heap, (enum eden_phase)i);
        assert_non_null(phase);
        phase->calls = salt + 3;
        phase->total_ns = salt * 100;
        phase->max_ns = salt * 90;
        phase->objects = salt + 1;
        phase->bytes = salt + 2;
        phase->outside_ns = salt;
        for (uint64_t j = 0; j < PAUSE_CAUSES; j++) {
            phase->pauses.ns[j] = salt * 10 + j;
            phase->longest.ns[j] = salt + j;
        }
        if (salt % 2 == 1) {
            phase->pauses.unmeasured = phase->longest.unmeasured = 1u << PAUSE_faulting;
            phase->pauses.ns[PAUSE_faulting] = phase->longest.ns[PAUSE_faulting] = 0;
        }
        phase->pauses.faults = salt + 4;
        phase->longest.faults = phase->longest.disk_faults = salt + 5;
        memset(phase->buckets, 0, sizeof phase->buckets);
        phase->buckets[0] = 1;
        phase->buckets[salt % HISTOGRAM_BUCKETS] += 1;
        phase->buckets[HISTOGRAM_BUCKETS - 1] = UINT64_MAX;
    }
}

static inline void fill_model(struct model *model, uint64_t salt) {
    model->wall_ns = 123456789 + salt;
    model->lost = salt;
    model->uncounted = salt / 2;
    for (uint32_t pid = 100; pid < 102; pid++) {
        struct process_key key = process_key(pid);
        struct process_model *process = model_process(model, &key);
        assert_non_null(process);
        snprintf(process->command, sizeof process->command, "prog %u", pid);
        process->runtime = "eden";
        process->late = pid == 101;
        process->ended = pid == 100;
        for (uint64_t i = 1; i <= 3; i++) {
            struct heap_model *heap =
                model_heap(process, (struct heap_ref){0xffff800000001000ull * i, i, 10 * pid + i});
            assert_non_null(heap);
            fill_heap(heap, salt + i);
        }
    }
    model_set_stopped(model, NULL); /* as every snapshot does: parts stay within their whole */
}

static inline void assert_same_heap(const struct heap_model *a, const struct heap_model *b) {
    assert_int_equal(a->address, b->address);
    assert_int_equal(a->id, b->id);
    assert_int_equal(a->serial, b->serial);
    assert_string_equal(a->name, b->name);
    assert_int_equal(a->late, b->late);
    assert_int_equal(a->earlier, b->earlier);
    assert_int_equal(a->destroyed, b->destroyed);
    assert_int_equal(a->known, b->known);
    assert_memory_equal(a->figures, b->figures, sizeof a->figures);
    assert_memory_equal(a->before, b->before, sizeof a->before);
    assert_memory_equal(a->full_by_cause, b->full_by_cause, sizeof a->full_by_cause);
    assert_memory_equal(a->full_by_cause_before, b->full_by_cause_before, sizeof a->full_by_cause_before);
    assert_int_equal(a->collection.known, b->collection.known);
    assert_int_equal(a->collection.under_way, b->collection.under_way);
    assert_int_equal(a->collection.phase, b->collection.phase);
    assert_int_equal(a->collection.since_ns, b->collection.since_ns);
    assert_int_equal(a->collection.phase_since_ns, b->collection.phase_since_ns);
    assert_int_equal(a->collection.until_ns, b->collection.until_ns);
    assert_int_equal(a->collection.observed_ns, b->collection.observed_ns);
    for (int i = 0; i < EDEN_PHASE_COUNT; i++) {
        assert_int_equal(!a->phase[i], !b->phase[i]);
        if (a->phase[i]) {
            assert_memory_equal(a->phase[i], b->phase[i], sizeof *a->phase[i]);
        }
    }
}

static inline void assert_same_model(const struct model *a, const struct model *b) {
    assert_int_equal(a->wall_ns, b->wall_ns);
    assert_int_equal(a->lost, b->lost);
    assert_int_equal(a->uncounted, b->uncounted);
    assert_int_equal(a->process_count, b->process_count);
    for (size_t i = 0; i < a->process_count; i++) {
        const struct process_model *p = &a->processes[i], *q = &b->processes[i];
        assert_memory_equal(&p->key, &q->key, sizeof p->key);
        assert_string_equal(p->command, q->command);
        assert_string_equal(p->runtime, q->runtime);
        assert_int_equal(p->late, q->late);
        assert_int_equal(p->ended, q->ended);
        assert_int_equal(p->heap_count, q->heap_count);
        for (size_t j = 0; j < p->heap_count; j++) {
            assert_same_heap(&p->heaps[j], &q->heaps[j]);
        }
    }
}

static inline struct recorder *create(const char *path, bool force, struct failure *why) {
    struct recorder_options options = {.path = path, .command = command, .force = force};
    return recorder_create(&options, why);
}

static inline struct recorder *begin(const char *path) {
    return begin_with(&(struct recorder_options){.path = path, .command = command});
}

struct collected {
    struct event *events;
    uint64_t *heap_ids;
    size_t count, most;
};

static inline bool collect(void *context, const struct event *event, uint64_t heap_id) {
    struct collected *to = context;
    if (to->count < to->most) {
        to->events[to->count] = *event;
        to->heap_ids[to->count] = heap_id;
    }
    to->count++;
    return true;
}

static inline struct collected events_of(struct recording *recording, size_t most) {
    struct collected all = {calloc(most, sizeof(struct event)), calloc(most, sizeof(uint64_t)), 0, most};
    struct failure why = {0};
    assert_non_null(all.events);
    assert_non_null(all.heap_ids);
    if (!recording_events(recording, NULL, collect, &all, &why)) {
        fail_msg("%s", why.message);
    }
    return all;
}

static inline void free_collected(struct collected *all) {
    free(all->events);
    free(all->heap_ids);
}

static inline void collect_parameter(void *context, const char *name, const char *value) {
    char *text = context;
    size_t used = strlen(text);
    snprintf(text + used, 256 - used, "%s=%s;", name, value);
}

static inline size_t files_beside(const char *prefix) {
    char list[128];
    snprintf(list, sizeof list, "ls -d %s* 2>/dev/null | wc -l", prefix);
    FILE *pipe = popen(list, "r");
    assert_non_null(pipe);
    size_t count = 0;
    assert_int_equal(fscanf(pipe, "%zu", &count), 1);
    pclose(pipe);
    return count;
}

#endif
