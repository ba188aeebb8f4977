/* An endless recording in successive files. A limited number of them is kept. */
#ifndef EDEN_RECORD_ROTATION_H
#define EDEN_RECORD_ROTATION_H

#include "session/condition.h"
#include "session/record_run.h"

struct rotation {
    double period;                      /* seconds a file */
    double keep;                        /* seconds since a file was written to, after which it is removed; 0: never */
    uint64_t keep_bytes;                /* of all files; beyond, the oldest are removed; 0: no limit */
    uint64_t keep_files;                /* likewise their number */
    const struct condition *conditions; /* where there are some, only files in which one holds, and the one before each,
                                           are kept; the caller's */
    size_t condition_count;
};

/* Records to request->path.TIME, file after file, for request->seconds; otherwise as record_run(). request->observed is
 * no command, and records no lifetimes. */
int record_rotate(const struct record_request *request, const struct rotation *rotation);

#endif
