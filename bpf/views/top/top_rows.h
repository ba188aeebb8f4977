/* What `top` shows of each heap, or of each process, whose heaps are summed up: the rates and shares between two
 * snapshots, in the order that is asked for. */
#ifndef EDEN_TOP_ROWS_H
#define EDEN_TOP_ROWS_H

#include "model/model.h"

enum top_order { TOP_BY_SHARE, TOP_BY_P99, TOP_BY_LONGEST, TOP_BY_RATE, TOP_BY_OLD, TOP_BY_PID, TOP_ORDERS };

struct top_row {
    const struct process_model *process; /* this and the next are the model's */
    const struct heap_model *heap;       /* of several: one in a collection, or the first */
    size_t heaps;
    bool has_ended; /* each of them */
    bool knows_share;
    double share;                        /* of the time between the snapshots, in collections: 0 to 1 a heap */
    uint64_t p50_ns, p99_ns, longest_ns; /* of pauses, while observed; 0: there was none */
    double allocated_per_s;              /* below 0: not known */
    uint64_t known;                      /* as of struct heap_model */
    uint64_t eden_size, old_used, old_capacity;
};

struct top_rows {
    struct top_row *at; /* owned */
    size_t count, room;
    size_t shown;        /* heaps of these rows */
    size_t heaps, ended; /* in the model; those that have ended are rows only if that is asked for */
};

struct top_wanted {
    enum top_order order;
    const char *filter; /* a part of the command or the name of the heap, small letters standing for both; "": all */
    bool with_ended;
    bool by_process;
};

/* Replaces the rows; they are good as long as the model. False: no memory. */
bool top_rows_make(struct top_rows *rows, const struct model *model, const struct model *before,
                   const struct top_wanted *wanted);
void top_rows_clear(struct top_rows *rows);

#endif
