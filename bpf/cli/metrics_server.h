/* A server of metrics over HTTP, in a process of its own without rights: requests are bytes of strangers. It asks this
 * process for the text of each answer. */
#ifndef EDEN_METRICS_SERVER_H
#define EDEN_METRICS_SERVER_H

#include "util/failure.h"
#include <stdbool.h>
#include <stddef.h>

struct metrics_server;

/* Listens at "ADDRESS:PORT" ("127.0.0.1:9464", "[::1]:0"; port 0: any that is free), and starts. Before threads and
 * before rights are given up. NULL and why. */
struct metrics_server *metrics_server_open(const char *where, struct failure *why);
/* "127.0.0.1:9464": where it listens. */
const char *metrics_server_address(const struct metrics_server *server);
/* Readable when there is a request, or the server has ended. */
int metrics_server_fd(const struct metrics_server *server);

/* The text of an answer, which the caller frees; NULL: there is none. */
typedef char *metrics_text_fn(void *context, bool is_open, size_t *size);
/* Whether an answer is being sent: metrics_server_answer() should be called again soon. */
bool metrics_server_is_busy(const struct metrics_server *server);
/* Answers a request if there is one, a piece at a time. False and why: the server has ended, or does not read. */
bool metrics_server_answer(struct metrics_server *server, metrics_text_fn *text, void *context, struct failure *why);
void metrics_server_close(struct metrics_server *server); /* NULL is allowed */

#endif
