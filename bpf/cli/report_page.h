/* `edenscope report --html FILE`. */
#ifndef EDEN_REPORT_PAGE_H
#define EDEN_REPORT_PAGE_H

#include "views/heap_events.h"
#include <stdio.h>

/* Writes the page of the chosen heaps of a recording, which viewed->model has, with what the rules find and, where
 * lifetimes were recorded, these. False and why. */
bool report_page(FILE *out, const char *path, const struct viewed *viewed, const struct heap_choice *choice,
                 struct failure *why);

#endif
