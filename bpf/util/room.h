/* The room that a file system has left for ordinary users. Root may write beyond it; the tool does not, for that
 * reserve keeps a full machine usable. */
#ifndef EDEN_ROOM_H
#define EDEN_ROOM_H

#include <stdbool.h>
#include <stdint.h>

/* Recordings, their copies and spools are at most so large, unless --max-size says otherwise. */
#define ROOM_MOST_BYTES (64ull << 30)

enum { ROOM_TEXT = 128 };
/* What an errno of writing means; of EFBIG, which limit it is. */
const char *room_error(int error, char text[ROOM_TEXT]);

/* What to do about it, to be added to a message: "" where that is not known. */
const char *room_advice(int error);

/* Whether `bytes` more can be written to the file system of an open file. Without an answer: true. */
bool room_is_left(int file, uint64_t bytes);

/* Whether that file system keeps something for root. */
bool room_is_reserved(int file);

#endif
