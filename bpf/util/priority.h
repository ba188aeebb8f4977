/* Going before the processes of others, who may keep every processor busy. */
#ifndef EDEN_PRIORITY_H
#define EDEN_PRIORITY_H

#include <stdbool.h>

/* Gives this process the highest ordinary priority, where it may have that, and those that it starts later. Not where
 * the caller was given a lower one than usual. Where sessions share the processors, that takes a session of its own, so
 * a child goes on: false in the caller, once that has ended, with the *status to end with. With the caller the child
 * ends, however that ends. To be called before anything is printed. */
bool priority_raise(int *status);

#endif
