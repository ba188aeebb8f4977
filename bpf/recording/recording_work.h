/* The work of reading a file that may be made to take any: counted by pages, and bounded. */
#ifndef EDEN_RECORDING_WORK_H
#define EDEN_RECORDING_WORK_H

#include <stdbool.h>
#include <stdint.h>

/* In steps of SQLite's machine, of some 10 ns. */
struct recording_work {
    uint64_t done, most;
};

/* Before SQLite is used in this process, else the pages of no connection count. SQLite's status. */
int recording_work_prepare(void);

/* Page caches that SQLite makes in this thread from now on count to this work, which must outlive their connection.
 * NULL: to none. */
void recording_work_count(struct recording_work *work);

/* Adds a page, or another piece that SQLite takes at once. False: that is more than the most. work NULL: true. */
bool recording_work_add(struct recording_work *work, uint64_t bytes);

#endif
