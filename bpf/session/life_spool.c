/* Batches in a temporary file, for views that read the objects more than once.
 *
 * 1. Invariants
 * I1. The file has no name, at most ROOM_MOST_BYTES, and leaves root's reserve alone: room is checked every 16 MiB.
 * I2. After the first error nothing is written; reading it back reports that error. */
#include "session/life_spool.h"
#include "util/room.h"
#include "util/temporary.h"
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct life_spool {
    FILE *file;
    int error;              /* of writing; 0: none */
    uint64_t bytes, looked; /* written; up to where there was room when it was last looked for */
    char folder[PATH_MAX];
    uint8_t records[LIFE_MOST_BATCH_BYTES];
};

static bool fail(const struct life_spool *spool, int error, struct failure *why) {
    char text[ROOM_TEXT];
    return failure_set(why, 1, "%.200s: cannot store objects there: %s; set TMPDIR to a folder with more room",
                       spool->folder, room_error(error, text));
}

struct life_spool *life_spool_open(struct failure *why) {
    struct life_spool *spool = calloc(1, sizeof *spool);
    if (!spool) {
        failure_set(why, 1, "out of memory");
        return NULL;
    }
    snprintf(spool->folder, sizeof spool->folder, "%s", temporary_folder());
    int file = temporary_file();
    spool->file = file >= 0 ? fdopen(file, "w+") : NULL;
    if (!spool->file) {
        fail(spool, errno, why);
        if (file >= 0) {
            close(file);
        }
        free(spool);
        return NULL;
    }
    return spool;
}

/* Asks the file system for the room that is left, at intervals of bytes written. False, with the reason as an errno:
 * the spool has its largest size, or only root's reserve is left. */
static bool has_room(struct life_spool *spool, size_t bytes) {
    enum { PIECE = 16 << 20 };
    spool->bytes += bytes;
    if (spool->bytes > ROOM_MOST_BYTES) {
        spool->error = EFBIG;
    } else if (spool->bytes > spool->looked) {
        spool->looked = spool->bytes + PIECE;
        spool->error = room_is_left(fileno(spool->file), bytes + PIECE) ? 0 : ENOSPC;
    }
    return spool->error == 0;
}

bool life_spool_add(struct life_spool *spool, const struct life_batch *batch) {
    size_t bytes = (size_t)batch->count * batch->record_bytes;
    if (spool->error == 0 && bytes <= sizeof spool->records && has_room(spool, sizeof *batch + bytes) &&
        (fwrite(batch, sizeof *batch, 1, spool->file) != 1 || fwrite(batch->records, 1, bytes, spool->file) != bytes)) {
        spool->error = errno ? errno : EIO;
    }
    return spool->error == 0 && bytes <= sizeof spool->records;
}

bool life_spool_batches(void *from, life_batch_fn *on_batch, void *context, struct failure *why) {
    struct life_spool *spool = from;
    struct life_batch batch;
    if (spool->error == 0 && fflush(spool->file) != 0) {
        spool->error = errno;
    }
    rewind(spool->file);
    bool more = spool->error == 0;
    while (more && fread(&batch, sizeof batch, 1, spool->file) == 1) {
        size_t bytes = (size_t)batch.count * batch.record_bytes;
        if (fread(spool->records, 1, bytes, spool->file) != bytes) {
            spool->error = EIO;
            break;
        }
        batch.records = spool->records;
        more = on_batch(context, &batch);
    }
    if (spool->error == 0 && ferror(spool->file)) {
        spool->error = EIO;
    }
    return spool->error == 0 || fail(spool, spool->error, why);
}

void life_spool_close(struct life_spool *spool) {
    if (spool) {
        fclose(spool->file);
        free(spool);
    }
}
