/* Reading the lifetimes of a recording: its batches, and what is of their heaps and classes.
 *
 * Batches are read in portions that are copied, so that the file is locked for moments only: a recorder may be writing
 * it, and a pager may hold up the reader.
 *
 * The file may be hostile. A batch whose number and size of records differ from what its blob holds is left out and
 * counted. The model checks the records themselves, as it does those of a live program. A blob longer than any row may
 * be ends the reading, as any damage to the file does. */
#include "model/lifetimes/limit.h"
#include "model/lifetimes/names.h"
#include "recording/reading.h"
#include "util/message.h"
#include "util/sum.h"
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BATCH_PORTION = 16 };

struct portion {
    struct life_batch batches[BATCH_PORTION];
    size_t count, rows;
    uint8_t records[BATCH_PORTION][LIFE_MOST_BATCH_BYTES];
};

/* ---- batches ---------------------------------------------------------------------------------------------------- */

/* Columns as in the statement below. False: it can't be what it says. */
static bool decode(const struct recording *recording, sqlite3_stmt *row, struct portion *portion) {
    struct life_batch *batch = &portion->batches[portion->count];
    const struct file_process *process = reading_process(recording, sqlite3_column_int64(row, 2));
    uint64_t kind = reading_number(row, 5), count = reading_number(row, 6), record_bytes = reading_number(row, 7);
    const void *data = sqlite3_column_blob(row, 8); /* NULL where it is empty */
    uint64_t bytes = data ? (uint64_t)sqlite3_column_bytes(row, 8) : 0;
    if (!process || sqlite3_column_type(row, 8) != SQLITE_BLOB || kind > UINT32_MAX || count > LIFE_MOST_RECORDS ||
        record_bytes < LIFE_LEAST_RECORD || record_bytes > LIFE_MOST_BATCH_BYTES || bytes > LIFE_MOST_BATCH_BYTES ||
        count * record_bytes != bytes) {
        return false;
    }
    *batch = (struct life_batch){.time_ns = reading_number(row, 1),
                                 .process = process->key,
                                 .address = reading_number(row, 3),
                                 .id = reading_number(row, 4),
                                 .serial = reading_number(row, 9),
                                 .kind = (uint32_t)kind,
                                 .count = (uint32_t)count,
                                 .record_bytes = (uint32_t)record_bytes,
                                 .records = portion->records[portion->count]};
    if (data) {
        memcpy(portion->records[portion->count], data, bytes);
    }
    return true;
}

/* The rows after *key, which becomes that of the last one. */
static bool read_batch_portion(struct recording *recording, sqlite3_stmt *row, struct portion *portion,
                               sqlite3_int64 *key, struct failure *why) {
    bool good = true;
    int code = SQLITE_ROW;
    portion->count = portion->rows = 0;
    sqlite3_bind_int64(row, 1, *key);
    while (good && code == SQLITE_ROW && portion->rows < BATCH_PORTION) {
        code = sqlite3_step(row);
        if (code == SQLITE_ROW) {
            portion->rows++;
            good = sqlite3_column_int64(row, 0) > *key || reading_fail_damaged(recording, "table life_batch", why);
            *key = sqlite3_column_int64(row, 0);
            bool sound = decode(recording, row, portion);
            portion->count += sound;
            recording->bad_batches += !sound;
        }
    }
    if (good && code != SQLITE_DONE && code != SQLITE_ROW) {
        good = reading_fail_sql(recording, "table life_batch", why);
    }
    sqlite3_reset(row);
    return good;
}

/* A life_batches. */
static bool read_batches(void *from, life_batch_fn *on_batch, void *context, struct failure *why) {
    struct recording *recording = from;
    struct portion *portion = calloc(1, sizeof *portion);
    sqlite3_stmt *row = NULL;
    if (!portion) {
        return reading_fail_memory(recording, why);
    }
    recording->bad_batches = 0;
    char sql[160];
    snprintf(sql, sizeof sql,
             "SELECT batch, time_ns, process, heap, heap_id, kind, count, record_bytes, data, %s FROM life_batch"
             " WHERE batch > ? ORDER BY batch",
             reading_serial_column(recording, "life_batch"));
    bool good = reading_processes(recording, NULL, why);
    if (good && sqlite3_prepare_v2(recording->db, sql, -1, &row, NULL) != SQLITE_OK) {
        good = reading_fail_sql(recording, "table life_batch", why);
    }
    sqlite3_int64 key = INT64_MIN;
    bool go_on = good, end = false;
    for (uint64_t rows = BATCH_PORTION; good && go_on && !end; rows += BATCH_PORTION) {
        /* A recorder that is at work may have written new processes with these batches. */
        good = !recording->info.live || reading_processes(recording, NULL, why);
        good = good && read_batch_portion(recording, row, portion, &key, why);
        end = portion->rows < BATCH_PORTION;
        for (size_t i = 0; good && go_on && i < portion->count; i++) {
            go_on = on_batch(context, &portion->batches[i]);
        }
        if (good && go_on && !end) {
            reading_progress(recording, rows, 0, "batches of lifetimes");
        }
    }
    sqlite3_finalize(row);
    free(portion);
    return good;
}

/* ---- names ------------------------------------------------------------------------------------------------------ */

/* A row of table class, in the order of process, address and heap, as the event that it came of. The creation of
 * preexisting heaps was not observed, and some of their classes may have been reported before their number was known.
 * */
static void name_class(struct life_names *names, const struct recording *recording, sqlite3_stmt *row,
                       struct event *last) {
    const struct file_process *process = reading_process(recording, sqlite3_column_int64(row, 0));
    uint64_t address = reading_number(row, 1), id = reading_number(row, 2), serial = reading_number(row, 7);
    bool created = id != 0 && reading_number(row, 6) == 0;
    if (!process) {
        return;
    }
    if (created && (!process_is_same(&last->process, &process->key) || event_heap(last) != address ||
                    EDEN_ARG(last->arg, heap__create, heap_id) != id || last->serial != serial)) {
        *last = (struct event){.process = process->key,
                               .probe = EDEN_PROBE_heap__create,
                               .args = 2,
                               .serial = serial,
                               .arg = {[EDEN_AT(heap__create, heap)] = address, [EDEN_AT(heap__create, heap_id)] = id}};
        life_names_event(names, last);
    }
    struct event define = {.process = process->key, .probe = EDEN_PROBE_class__define, .args = 4, .serial = serial};
    EDEN_ARG(define.arg, class__define, heap) = address;
    EDEN_ARG(define.arg, class__define, class_id) = reading_number(row, 3);
    reading_text(define.text[0], sizeof define.text[0], row, 4);
    EDEN_ARG(define.arg, class__define, of_class) = reading_number(row, 5);
    life_names_event(names, &define);
}

static bool read_names(struct recording *recording, struct life_names *names, struct failure *why) {
    sqlite3_stmt *row = NULL;
    struct event last = {0};
    const char *serial = reading_serial_column(recording, "class");
    const char *prefix = strcmp(serial, "0") == 0 ? "" : "class.", *other = prefix[0] ? "heap." : "";
    char sql[400];
    snprintf(sql, sizeof sql,
             "SELECT class.process, class.address, class.heap_id, class_id, class.name, of_class, late, %s%s FROM class"
             " LEFT JOIN heap ON heap.process = class.process AND heap.address = class.address"
             " AND heap.heap_id = class.heap_id AND %s%s = %s%s"
             " ORDER BY class.process, class.address, class.heap_id, class_id LIMIT 2000000",
             prefix, serial, other, serial, prefix, serial);
    int code = sqlite3_prepare_v2(recording->db, sql, -1, &row, NULL);
    while (code == SQLITE_OK || code == SQLITE_ROW) {
        code = sqlite3_step(row);
        if (code == SQLITE_ROW) {
            name_class(names, recording, row, &last);
        }
    }
    sqlite3_finalize(row);
    return code == SQLITE_DONE || reading_fail_sql(recording, "table class", why);
}

/* ---- the model -------------------------------------------------------------------------------------------------- */

static bool check_tables(struct recording *recording, struct failure *why) {
    if (recording->info.lifetimes == 0) {
        return failure_set(why, 1, "%.200s: contains no lifetimes; record with `edenscope record --lifetimes`",
                           recording->path);
    }
    static const struct table tables[] = {{"life_batch", "batch"}, {"class", "process, address, heap_id, class_id"}};
    return reading_tables(recording, tables, sizeof tables / sizeof *tables, why);
}

/* Every observed heap is in the model, even if it reported nothing. */
static bool take_heaps(struct recording *recording, struct life_model *to, struct failure *why) {
    struct model model = {0};
    bool good = recording_model(recording, &model, why);
    to->wall_ns = model.wall_ns;
    to->lost = model.lost_records;
    for (size_t i = 0; good && i < model.process_count; i++) {
        const struct process_model *process = &model.processes[i];
        for (size_t j = 0; good && j < process->heap_count; j++) {
            const struct heap_model *from = &process->heaps[j];
            struct life_heap *heap = life_model_heap(to, &process->key, HEAP_REF(from));
            good = heap || reading_fail_memory(recording, why);
            if (heap) {
                snprintf(heap->name, sizeof heap->name, "%s", from->name);
                snprintf(heap->command, sizeof heap->command, "%s", process->command);
            }
        }
    }
    if (model.lost) {
        message_print("%s: %" PRIu64 " events were lost, so class names may be missing", recording->path, model.lost);
    }
    model_clear(&model);
    return good;
}

static bool apply_names(struct recording *recording, struct life_model *model, struct failure *why) {
    struct life_names names = {0};
    bool good = read_names(recording, &names, why);
    for (size_t i = 0; good && i < model->heap_count; i++) {
        good = !life_model_is_interrupted(model, why);
        sum_add(&model->lost, model->heaps[i].state.lost);
        life_names_apply(&names, &model->heaps[i]);
    }
    life_names_clear(&names);
    return good;
}

bool recording_lifetimes(struct recording *recording, struct life_model *model, struct failure *why) {
    recording->replay = (struct life_replay){read_batches, recording};
    model->interrupts = recording->interrupts;
    bool good = check_tables(recording, why) && take_heaps(recording, model, why) &&
                life_replay_model(&recording->replay, model, why);
    life_limit(model);
    life_model_sort(model);
    good = good && apply_names(recording, model, why);
    sum_add(&model->lost, recording->bad_batches);
    if (good && recording->bad_batches) {
        message_print("%s: %" PRIu64 " batches with wrong sizes are skipped", recording->path, recording->bad_batches);
    }
    if (recording->info.lifetimes & EDEN_CONTROL_OBJECTS) {
        model->objects = (struct life_objects){life_replay_objects, &recording->replay};
    }
    if (good) {
        life_model_report_beyond(model);
    }
    return good;
}
