/* By what files of the tool's own are known: how they begin. Here, below what reads recordings, for no output may take
 * the place of one. */
#ifndef EDEN_MARK_H
#define EDEN_MARK_H

#include "util/failure.h"
#include "util/place.h"

#define RECORDING_APPLICATION_ID 0x4564656e /* "Eden", at offset 68 of the file */

/* Whether what is in an open file begins with this text. */
bool mark_begins(int file, const char *mark);
/* Whether it is a recording: a database of SQLite with the application id of edenscope. */
bool mark_is_recording(int file);
/* Whether it is a journal of SQLite, which may undo half a transaction. */
bool mark_is_journal(int file);
/* What was recorded can't be had again, so what a text is written to must be no recording and no journal, whatever the
 * user says of other files. option: how the user named the path. False and why: one stands there. */
bool mark_spares_recording(const struct place *place, const char *option, const char *path, struct failure *why);

#endif
