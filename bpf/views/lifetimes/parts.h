/* What views share: labels, numbers for people, headings. */
#ifndef EDEN_LIFE_VIEW_PARTS_H
#define EDEN_LIFE_VIEW_PARTS_H

#include "util/format.h"
#include "views/lifetimes/view.h"

enum { LIFE_LABEL = 256, LIFE_HEAP_LABEL = 640, LIFE_MISSED_TEXT = 80 };

/* What a class or site is called in text: its name in the form of text.h, or "class 17", "site 18" where it has none.
 * All labels have that form. */
char *life_class_label(char text[LIFE_LABEL], const struct life_site *site);
char *life_site_label(char text[LIFE_LABEL], const struct life_site *site);
/* "Class, site"; "Class" where it is allocated at no site. */
char *life_place_label(char text[LIFE_HEAP_LABEL], const struct life_site *site);
/* "command[pid] heap 1 'name'" */
char *life_heap_label(char text[LIFE_HEAP_LABEL], const struct life_heap *heap);
/* What was allocated before the profile began, as the end of a line; "": nothing. */
char *life_missed_text(char text[LIFE_MISSED_TEXT], const struct life_heap *heap);
/* A group's: of its site or its class. */
char *life_group_label(char text[LIFE_LABEL], const struct life_site *group, bool by_site);

/* The heap's label on a line, with its sampling. */
void life_heading(FILE *out, const struct life_heap *heap, const char *title);

extern const char *const life_clock_names[LIFE_CLOCKS]; /* "ns", "bytes", "scavenges", "fulls" */
char *life_format(char text[FORMAT_MAX], enum life_clock clock, double value);
char *life_percent(char text[FORMAT_MAX], double share); /* "12.3%"; "unknown" */

/* ">=" before a mean that the end of the run restricts. */
enum { LIFE_MEAN_TEXT = FORMAT_MAX + 2 };
char *life_mean_text(char text[LIFE_MEAN_TEXT], enum life_clock clock, const struct life_mean *mean);

/* How many of count rows are shown. */
size_t life_rows(const struct life_view_options *options, size_t count);

/* Always false: memory was refused; no object ended, so that a chart would be empty. */
bool life_no_memory(struct failure *why);
bool life_nothing_to_draw(struct failure *why);

/* A bar of at most `width` marks in proportion to share (0 to 1); any share above 0 has one. Returns how many. */
unsigned life_bar(FILE *out, char mark, double share, unsigned width);

#endif
