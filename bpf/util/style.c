#include "util/style.h"
#include "util/terminal.h"

/* Sequences of ECMA-48, as every terminal in use has them and as others' tools write them: with --color=always there
 * may be no terminal whose description could be looked up. */
static const char *const begins[STYLES] = {
    [STYLE_HEADING] = "\x1b[1m", [STYLE_GOOD] = "\x1b[32m", [STYLE_WARNING] = "\x1b[33m",
    [STYLE_BAD] = "\x1b[1;31m",  [STYLE_FAINT] = "\x1b[2m",
};

const char *style_on(const FILE *out, enum style style) {
    return begins[style] && terminal_has_color(out) ? begins[style] : "";
}

const char *style_off(const FILE *out, enum style style) {
    return begins[style] && terminal_has_color(out) ? "\x1b[0m" : "";
}

enum style style_of_share(double share) {
    return share >= STYLE_SHARE_HIGH ? STYLE_BAD : share >= STYLE_SHARE_MEDIUM ? STYLE_WARNING : STYLE_PLAIN;
}
