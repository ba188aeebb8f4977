/* Is this text a number, and which? A ReadStream on the text, a NumberParser on the stream, a Fraction of its first 17
 * digits as the answer.
 *
 * A number is [+-] digits [. digits] [e [+-] digits], with a digit before or after the point; nothing may stand before
 * or after it. For any other text there is no Fraction. */
#ifndef FRAME_NUMBER_H
#define FRAME_NUMBER_H

#include "frame.h"

/* Where one pass over the cells allocates. */
struct parse_sites {
    enum frame_site stream, parser, fraction;
};

enum number_answer {
    NUMBER_FAILED, /* memory is exhausted; program_fail was called */
    NUMBER_NONE,   /* the text is no number */
    NUMBER_PARSED,
};

/* Parses a ByteString; nobody holds its Fraction. May collect. */
enum number_answer number_parse(struct frame *frame, const struct parse_sites *sites, eden_value string);

/* The double nearest to the number that is the text of `string`: a small float, or an object where it is none.
 * EDEN_NONE after program_fail. May collect. */
eden_value number_new(struct frame *frame, eden_value string);

static inline double number_value(eden_value number) {
    return eden_is_float(number) ? eden_float_value(number) : *(const double *)eden_raw(number);
}

#endif
