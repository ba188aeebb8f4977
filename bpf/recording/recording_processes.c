/* The processes of a recording. */
#include "recording/reading.h"
#include "util/array.h"
#include <stdlib.h>
#include <string.h>

enum { PROCESSES_MOST = 65536 };

static int by_number(const void *left, const void *right) {
    const struct file_process *a = left, *b = right;
    return a->number < b->number ? -1 : a->number > b->number;
}

const struct file_process *reading_process(const struct recording *recording, sqlite3_int64 wanted) {
    struct file_process key = {.number = wanted};
    return recording->process_count
               ? bsearch(&key, recording->processes, recording->process_count, sizeof key, by_number)
               : NULL;
}

static bool add_process(struct recording *recording, sqlite3_stmt *row, struct model *model, struct failure *why) {
    struct file_process next = {.number = sqlite3_column_int64(row, 0),
                                .key = {.start_ns = reading_number(row, 2), .pid = (uint32_t)reading_number(row, 1)}};
    if (recording->process_count == PROCESSES_MOST ||
        (recording->process_count && recording->processes[recording->process_count - 1].number >= next.number)) {
        return reading_fail_damaged(recording, "table process", why);
    }
    struct file_process *added =
        array_grow(&recording->processes, &recording->process_room, recording->process_count, sizeof *added);
    if (!added) {
        return reading_fail_memory(recording, why);
    }
    *added = next;
    recording->process_count++;
    if (model) {
        struct process_model *process = model_add_process(model, &next.key);
        if (!process) {
            return reading_fail_memory(recording, why);
        }
        reading_text(process->command, sizeof process->command, row, 3);
        const unsigned char *runtime = sqlite3_column_text(row, 4);
        process->runtime = runtime && strcmp((const char *)runtime, "eden") == 0 ? "eden" : "unknown";
        process->late = reading_number(row, 5) != 0;
        process->ended = reading_number(row, 6) != 0;
        process->lost = (struct model_losses){reading_number(row, 7), reading_number(row, 8), reading_number(row, 9)};
        recording->processes[recording->process_count - 1].place = (size_t)(process - model->processes);
    }
    return true;
}

bool reading_processes(struct recording *recording, struct model *model, struct failure *why) {
    sqlite3_stmt *row = NULL;
    int code = sqlite3_prepare_v2(recording->db,
                                  "SELECT process, pid, start_ns, command, runtime, late, ended,"
                                  " (SELECT value FROM meta WHERE key = 'lost_heaps:' || process),"
                                  " (SELECT value FROM meta WHERE key = 'lost_hits:' || process),"
                                  " (SELECT value FROM meta WHERE key = 'lost_events:' || process) FROM process"
                                  " ORDER BY process",
                                  -1, &row, NULL);
    bool good = true;
    recording->process_count = 0;
    while (good && (code == SQLITE_OK || code == SQLITE_ROW)) {
        code = sqlite3_step(row);
        good = code != SQLITE_ROW || add_process(recording, row, model, why);
    }
    sqlite3_finalize(row);
    return good && (code == SQLITE_DONE || reading_fail_sql(recording, "table process", why));
}
