/* `edenscope report --html`: a recording as one page for a browser, which needs nothing else and no network.
 *
 * The page is made of parts that are in the tool (page.html, page.css, charts.js, page.js and dygraphs, put together by
 * make_page.py when the tool is built) and of the data: one JSON object in a script element of type application/json.
 * A Content-Security-Policy allows the page's own scripts and style by their hashes and forbids the network. In the
 * data, < > and & are written as \u and four digits: no name in it can end the element. */
#ifndef EDEN_PAGE_H
#define EDEN_PAGE_H

#define PAGE_MARK "<!DOCTYPE html><!-- edenscope report -->" /* what a page begins with */

#include "util/json.h"
#include "views/heap_events.h"

/* What the page shows besides the views: as tune --json, lifetimes --json and life_survival_json() have them; NULL:
 * they are not known. All are owned by the caller. */
struct page_extras {
    json_t *findings, *lifetimes, *survival;
};

/* False and why; then what was written is no page. Failed writes are the caller's to find. */
bool page_write(FILE *out, const char *path, const struct viewed *viewed, const struct page_extras *extras,
                struct failure *why);

#endif
