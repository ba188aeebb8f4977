/* Reading a recording in a process of its own. Whoever reads one gives up its rights for good, and can then not give a
 * file its name. */
#ifndef EDEN_APART_H
#define EDEN_APART_H

#include "util/replace.h"

/* Calls read in a child, which ends with the status that it returns; if that is 0, the replacement, which the child has
 * written to, is published. A signal ends the child, and nothing is published: the caller has called interrupt_install,
 * and abandons the replacement. Returns the status to give. `name`: what the child reads, for messages. */
int read_apart(int (*read)(void *context), void *context, struct replacement *replacement, const char *name);

#endif
