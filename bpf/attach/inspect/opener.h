/* The worker with rights: opens processes and files, writes control words, attaches. It parses nothing but maps. */
#ifndef EDEN_OPENER_H
#define EDEN_OPENER_H

#include <stdint.h>

/* Answers requests (protocol.h) until the tool closes the socket. Of all words it writes 0, `control` and the request
 * to end; with control 0 it opens no process to write. */
void opener_serve(int socket, uint64_t control);

#endif
