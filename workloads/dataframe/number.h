/* Is this text a number, and which? A ReadStream on the text, a NumberParser on the stream, a Fraction as its answer.
 *
 * A number is [+-] digits [. digits] [e [+-] digits], with a digit before or after the point; nothing may stand before
 * or after it. Any other text, the empty one too, parses to a Fraction of kind NUMBER_NONE. */
#ifndef FRAME_NUMBER_H
#define FRAME_NUMBER_H

#include "classes.h"

enum number_kind {
    NUMBER_NONE,  /* the text is no number */
    NUMBER_EXACT, /* numerator / denominator is the number, and one division rounds it correctly */
    NUMBER_LONG,  /* a number with more digits or a larger exponent than that: its text is converted */
};

/* Parses a ByteString. May collect. EDEN_NONE where memory is exhausted (eden_last_error). */
eden_value number_parse(eden_mutator *m, const struct parse_sites *sites, eden_value string);

static inline enum number_kind number_kind(eden_value fraction) {
    return (enum number_kind)eden_int_value(eden_slot(fraction, FRACTION_KIND));
}

/* The double nearest to the number that `string` was parsed to. Kind must not be NUMBER_NONE. scratch: at least one
 * byte longer than the string. Does not collect. */
double number_value(eden_value fraction, eden_value string, char *scratch);

#endif
