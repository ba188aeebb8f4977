/* Rows of processes, heaps, phases and histograms: what the model says as of now.
 *
 * A commit comes four times a second, and of many heaps few have changed: a fingerprint of what the file says of each
 * tells which. A heap that has changed is written anew with all its phases. */
#include "recording/recorder.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

size_t recorder_process_number(struct recorder *recorder, const struct process_key *key) {
    for (size_t i = recorder->process_count; i > 0; i--) {
        if (recorder_same_process(&recorder->processes[i - 1].key, key)) {
            return i;
        }
    }
    struct known_process *more =
        reallocarray(recorder->processes, recorder->process_count + 1, sizeof *recorder->processes);
    if (!more) {
        return 0;
    }
    recorder->processes = more;
    more[recorder->process_count] = (struct known_process){.key = *key};
    return ++recorder->process_count;
}

/* FNV-1a over 64-bit words: tells whether a row must be written again. */
static uint64_t mix(uint64_t hash, uint64_t value) { return (hash ^ value) * 0x100000001b3ull; }

static uint64_t mix_text(uint64_t hash, const char *text, size_t most) {
    for (size_t i = 0; i < most && text[i]; i++) {
        hash = mix(hash, (unsigned char)text[i]);
    }
    return mix(hash, 0);
}

int recorder_write_process(struct recorder *recorder, size_t number, const struct process_model *process) {
    struct known_process *known = &recorder->processes[number - 1];
    uint64_t hash = 1;
    if (process) {
        hash = mix(mix_text(2, process->command, sizeof process->command), process->late + 2u * process->ended) | 1;
    }
    if (known->written == hash) {
        return SQLITE_OK;
    }
    sqlite3_stmt *to = recorder->process;
    recorder_bind(to, 1, number);
    recorder_bind(to, 2, known->key.pid);
    recorder_bind(to, 3, known->key.start_ns);
    recorder_bind_text(to, 4, process ? process->command : "", sizeof process->command);
    recorder_bind_text(to, 5, process && process->runtime ? process->runtime : "eden", 64);
    recorder_bind(to, 6, process ? process->late : 0);
    recorder_bind(to, 7, process ? process->ended : 0);
    int code = sql_step(to);
    if (code == SQLITE_OK) {
        known->written = hash;
    }
    return code;
}

int recorder_mention_process(struct recorder *recorder, const struct process_key *key, size_t *number) {
    *number = recorder_process_number(recorder, key);
    if (*number == 0) {
        return SQLITE_NOMEM;
    }
    return recorder->processes[*number - 1].written == 0 ? recorder_write_process(recorder, *number, NULL) : SQLITE_OK;
}

static uint64_t heap_fingerprint(const struct heap_model *heap, size_t process) {
    uint64_t hash =
        mix(mix(mix(process, heap->address), heap->id), heap->late + 2u * heap->destroyed + 4u * heap->is_former);
    hash = mix_text(hash, heap->command, sizeof heap->command);
    hash = mix(mix_text(hash, heap->name, sizeof heap->name), heap->known);
    for (int i = 0; i < EDEN_FIGURE_COUNT; i++) {
        hash = mix(mix(hash, heap->figures[i]), heap->before[i]);
    }
    for (int i = 0; i < EDEN_FULL_CAUSES; i++) {
        hash = mix(mix(hash, heap->full_by_cause[i]), heap->full_by_cause_before[i]);
    }
    const struct collection_model *collection = &heap->collection;
    hash = mix(mix(hash, collection->known + 2u * collection->under_way), collection->phase);
    hash = mix(mix(hash, collection->since_ns), collection->phase_since_ns);
    hash = mix(mix(hash, collection->until_ns), collection->observed_ns);
    hash = mix(mix(hash, heap->stopped_known), heap->stopped_ns);
    for (int i = 0; i < EDEN_PHASE_COUNT; i++) {
        const struct phase_model *phase = heap->phase[i];
        if (phase) {
            hash = mix(mix(mix(hash, (uint64_t)i), phase->calls), phase->total_ns);
            hash = mix(mix(mix(mix(hash, phase->max_ns), phase->objects), phase->bytes), phase->outside_ns);
        }
    }
    return hash | 1;
}

static int write_phase(struct recorder *recorder, size_t number, enum eden_phase id, const struct phase_model *phase) {
    sqlite3_stmt *to = recorder->phase;
    recorder_bind(to, 1, number);
    recorder_bind_text(to, 2, phase_names[id], 64);
    recorder_bind(to, 3, phase->calls);
    recorder_bind(to, 4, phase->total_ns);
    recorder_bind(to, 5, phase->max_ns);
    recorder_bind(to, 6, phase->objects);
    recorder_bind(to, 7, phase->bytes);
    recorder_bind(to, 8, phase->outside_ns);
    int code = sql_step(to);
    to = recorder->bucket;
    recorder_bind(to, 1, number);
    recorder_bind_text(to, 2, phase_names[id], 64);
    for (uint32_t i = 0; i < HISTOGRAM_BUCKETS && code == SQLITE_OK; i++) {
        if (phase->buckets[i] == 0) {
            continue;
        }
        recorder_bind(to, 3, i);
        recorder_bind(to, 4, i == 0 ? 0 : histogram_upper(i - 1) + 1);
        if (i < HISTOGRAM_BUCKETS - 1) {
            recorder_bind(to, 5, histogram_upper(i));
        } else {
            sqlite3_bind_null(to, 5);
        }
        recorder_bind(to, 6, phase->buckets[i]);
        code = sql_step(to);
    }
    return code;
}

static int forget_heap(struct recorder *recorder, size_t number) {
    sqlite3_stmt *const all[] = {recorder->forget_heap, recorder->forget_phases, recorder->forget_buckets};
    int code = SQLITE_OK;
    for (size_t i = 0; i < sizeof all / sizeof all[0] && code == SQLITE_OK; i++) {
        recorder_bind(all[i], 1, number);
        code = sql_step(all[i]);
    }
    return code;
}

static void bind_if(sqlite3_stmt *to, int place, bool known, uint64_t value) {
    if (known) {
        recorder_bind(to, place, value);
    } else {
        sqlite3_bind_null(to, place);
    }
}

static void bind_collection(sqlite3_stmt *to, int place, const struct heap_model *heap) {
    const struct collection_model *collection = &heap->collection;
    bool under_way = collection->known && collection->under_way;
    bind_if(to, place, heap->stopped_known, heap->stopped_ns);
    if (collection->known) {
        recorder_bind_text(to, place + 1, under_way ? phase_names[collection->phase] : "", 64);
    } else {
        sqlite3_bind_null(to, place + 1);
    }
    bind_if(to, place + 2, under_way && collection->since_ns, collection->since_ns);
    bind_if(to, place + 3, under_way && collection->phase_since_ns, collection->phase_since_ns);
    bind_if(to, place + 4, under_way, collection->until_ns);
    bind_if(to, place + 5, under_way, collection->observed_ns);
}

static int write_heap(struct recorder *recorder, size_t number, size_t process, const struct heap_model *heap) {
    sqlite3_stmt *to = recorder->heap;
    int code = forget_heap(recorder, number);
    if (code != SQLITE_OK) {
        return code;
    }
    recorder_bind(to, 1, number);
    recorder_bind(to, 2, process);
    recorder_bind(to, 3, heap->address);
    recorder_bind(to, 4, heap->id);
    recorder_bind_text(to, 5, heap->name, sizeof heap->name);
    recorder_bind(to, 6, heap->late);
    recorder_bind(to, 7, heap->destroyed);
    int place = 8;
    for (int before = 0; before <= 1; before++) {
        const uint64_t *figures = before ? heap->before : heap->figures;
        const uint64_t *by_cause = before ? heap->full_by_cause_before : heap->full_by_cause;
        for (int i = 0; i < EDEN_FIGURE_COUNT; i++, place++) {
            bind_if(to, place, before || heap->known >> i & 1, figures[i]);
        }
        for (int i = 0; i < EDEN_FULL_CAUSES; i++, place++) {
            recorder_bind(to, place, by_cause[i]);
        }
    }
    bind_collection(to, place, heap);
    recorder_bind(to, place + 6, heap->is_former);
    recorder_bind_text(to, place + 7, heap->is_former ? heap->command : "", sizeof heap->command);
    code = sql_step(to);
    for (int i = 0; i < EDEN_PHASE_COUNT && code == SQLITE_OK; i++) {
        if (heap->phase[i]) {
            code = write_phase(recorder, number, (enum eden_phase)i, heap->phase[i]);
        }
    }
    return code;
}

enum { MOST_CUT = 100 }; /* processes of which it is said what they lost */

/* Heaps that are as they were written last are left alone; the others are written anew. */
int recorder_write_model(struct recorder *recorder, const struct model *model) {
    size_t count = 0;
    for (size_t i = 0; i < model->process_count; i++) {
        count += model->processes[i].heap_count;
    }
    if (count > recorder->written_count) {
        uint64_t *more = reallocarray(recorder->written, count, sizeof *more);
        if (!more) {
            return SQLITE_NOMEM;
        }
        memset(more + recorder->written_count, 0, (count - recorder->written_count) * sizeof *more);
        recorder->written = more;
    }
    size_t number = 0;
    int code = SQLITE_OK;
    for (size_t i = 0; i < model->process_count && code == SQLITE_OK; i++) {
        const struct process_model *process = &model->processes[i];
        size_t process_place = recorder_process_number(recorder, &process->key);
        code = process_place ? recorder_write_process(recorder, process_place, process) : SQLITE_NOMEM;
        for (size_t j = 0; j < process->heap_count && code == SQLITE_OK; j++, number++) {
            uint64_t now = heap_fingerprint(&process->heaps[j], process_place);
            if (recorder->written[number] != now) {
                code = write_heap(recorder, number + 1, process_place, &process->heaps[j]);
                recorder->written[number] = now;
            }
        }
    }
    for (size_t i = recorder->written_count; i > count && code == SQLITE_OK; i--) {
        code = forget_heap(recorder, i);
    }
    recorder->written_count = count;
    code = code == SQLITE_OK ? recorder_write_meta(recorder, "wall_ns", model->wall_ns) : code;
    size_t cut = 0;
    for (size_t i = 0; i < model->process_count && code == SQLITE_OK; i++) {
        const struct process_model *process = &model->processes[i];
        char key[48];
        if (process->lost_heaps + process->lost_hits + process->lost_events > 0 && cut++ < MOST_CUT) {
            size_t place = recorder_process_number(recorder, &process->key);
            snprintf(key, sizeof key, "lost_heaps:%zu", place);
            code = recorder_write_meta(recorder, key, process->lost_heaps);
            snprintf(key, sizeof key, "lost_hits:%zu", place);
            code = code == SQLITE_OK ? recorder_write_meta(recorder, key, process->lost_hits) : code;
            snprintf(key, sizeof key, "lost_events:%zu", place);
            code = code == SQLITE_OK ? recorder_write_meta(recorder, key, process->lost_events) : code;
        }
    }
    code = code == SQLITE_OK ? recorder_write_meta(recorder, "missed_children", model->missed_children) : code;
    code = code == SQLITE_OK
               ? recorder_write_meta(recorder, "lost_records", model->lost_records + recorder->dropped_records)
               : code;
    return code == SQLITE_OK ? recorder_write_meta(recorder, "lost", model->lost + recorder->dropped) : code;
}

void recorder_forget_written(struct recorder *recorder) {
    for (size_t i = 0; i < recorder->process_count; i++) {
        recorder->processes[i].written = 0;
    }
    for (size_t i = 0; i < recorder->written_count; i++) {
        recorder->written[i] = 0;
    }
}
