/* What stands out in text for people, where the terminal has colours. A style repeats what words and numbers say: none
 * carries a meaning of its own. */
#ifndef EDEN_STYLE_H
#define EDEN_STYLE_H

#include <stdio.h>

enum style {
    STYLE_PLAIN,
    STYLE_HEADING, /* of tables and heaps */
    STYLE_GOOD,
    STYLE_WARNING,
    STYLE_BAD,
    STYLE_FAINT, /* of little interest */
    STYLES
};

/* What begins a style, and what ends each; "": it is plain, or `out` shows no colours (terminal.h). */
const char *style_on(const FILE *out, enum style style);
const char *style_off(const FILE *out, enum style style);

/* From which share of the run on time in collections matters much, as findings of `tune` rate it, and how it stands
 * out. */
#define STYLE_SHARE_MEDIUM 0.04
#define STYLE_SHARE_HIGH 0.1
enum style style_of_share(double share);

#endif
