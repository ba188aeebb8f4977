/* The views of `edenscope report` that are rows of figures. */
#ifndef EDEN_VIEWS_H
#define EDEN_VIEWS_H

#include "views/rows/rows.h"

extern const struct view view_pauses, view_stops, view_histogram, view_phases, view_causes, view_heap, view_tenuring,
    view_remembered, view_segments, view_classes, view_timeline, view_histo;

#endif
