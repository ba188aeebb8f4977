/* A server whose sessions are open for a while: a window of live objects that moves along. Several patterns are this
 * program in heaps that suit it differently. */
#ifndef PATHOLOGY_SESSIONS_H
#define PATHOLOGY_SESSIONS_H

#include "parts.h"

struct sessions {
    struct request request; /* what each request makes and drops; its site is defined by sessions_serve */
    int requests;
    int open;       /* sessions at a time; each request opens one, and ends the oldest */
    int open_bytes; /* of a session: a text */
    int last;       /* from this request on none is opened or ended */
    int indexed;    /* records of an index that lives as long as the server; 0: none */
};

/* Serves all requests, and checks the sessions and the index in the end. */
bool sessions_serve(struct run *run, const struct sessions *sessions);

#endif
