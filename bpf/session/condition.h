/* The conditions on which a recording is kept: `record --on`. */
#ifndef EDEN_CONDITION_H
#define EDEN_CONDITION_H

#include "kernel/event.h"
#include <stdbool.h>
#include <stddef.h>

enum condition_kind { CONDITION_pause, CONDITION_scavenge, CONDITION_full, CONDITION_failure };

struct condition {
    enum condition_kind kind;
    uint64_t ns; /* longer than this; not of failures */
};

/* "pause>50ms", "scavenge>500us", "full>1s", "failure". A pause is a scavenge, or a full collection and what is
 * scavenged before it; a failure is an allocation's. False: it is none of these. */
bool condition_parse(const char *text, struct condition *condition);

struct condition_watch;

/* NULL: no memory. The conditions must outlive it. */
struct condition_watch *condition_watch(const struct condition *conditions, size_t count);
/* Whether an event fulfils one of them; *what, *ns: what has been so long (0: it has no length). A full
 * collection of a heap that is not in the figures counts without its scavenge. */
bool condition_holds(struct condition_watch *watch, const struct event *event, const char **what, uint64_t *ns);
void condition_watch_free(struct condition_watch *watch);

#endif
