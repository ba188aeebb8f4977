/* Decimal text to a Fraction, and to the double nearest to it, which strtod finds from the same text. */
#include "number.h"

#include <stdlib.h>

struct cursor {
    const unsigned char *at;
    const unsigned char *end;
};

static bool accept(struct cursor *c, char lower, char upper) {
    bool found = c->at < c->end && (*c->at == (unsigned char)lower || *c->at == (unsigned char)upper);
    c->at += found;
    return found;
}

static void accept_sign(struct cursor *c) { (void)(accept(c, '-', '-') || accept(c, '+', '+')); }

/* Skips digits, and returns how many there were. The first 17 that are read go into *mantissa. */
static size_t read_digits(struct cursor *c, int64_t *mantissa) {
    static const int64_t room = 10000000000000000; /* one more digit makes 17 */
    const unsigned char *start = c->at;
    for (; c->at < c->end && *c->at >= '0' && *c->at <= '9'; c->at++) {
        *mantissa = *mantissa < room ? *mantissa * 10 + (*c->at - '0') : *mantissa;
    }
    return (size_t)(c->at - start);
}

struct decimal {
    int64_t mantissa;
    size_t digits, fraction_digits;
};

/* Reads the whole text: is all of it one number? */
static bool read_number(struct cursor *c, struct decimal *d) {
    int64_t exponent = 0;
    accept_sign(c);
    d->digits = read_digits(c, &d->mantissa);
    d->fraction_digits = accept(c, '.', '.') ? read_digits(c, &d->mantissa) : 0;
    bool is_number = d->digits + d->fraction_digits > 0;
    if (accept(c, 'e', 'E')) {
        accept_sign(c);
        is_number = is_number && read_digits(c, &exponent) > 0;
    }
    return is_number && c->at == c->end;
}

/* Runs the parser over its stream. Is the text a number? Does not collect. */
static bool parser_run(eden_mutator *m, eden_value parser, struct decimal *decimal) {
    eden_value stream = eden_slot(parser, PARSER_STREAM);
    eden_value string = eden_slot(stream, STREAM_STRING);
    const unsigned char *bytes = eden_raw(string);
    struct cursor cursor = {.at = bytes + eden_int_value(eden_slot(stream, STREAM_POSITION)),
                            .end = bytes + eden_int_value(eden_slot(stream, STREAM_LIMIT))};
    bool is_number = read_number(&cursor, decimal);
    eden_slot_set(m, stream, STREAM_POSITION, eden_int(cursor.at - bytes));
    eden_slot_set(m, parser, PARSER_INTEGER_PART, eden_int(decimal->mantissa));
    eden_slot_set(m, parser, PARSER_SCALE, eden_int((int64_t)decimal->fraction_digits));
    eden_slot_set(m, parser, PARSER_DIGITS, eden_int((int64_t)decimal->digits));
    return is_number;
}

static eden_value new_object(struct frame *frame, enum frame_site site) {
    return frame_new(frame, eden_new(frame->mutator, frame->sites[site]));
}

/* Makes the stream and its parser, which is put into *parser, a root. `string` is one, too. */
static bool make_parser(struct frame *frame, const struct parse_sites *sites, const eden_value *string,
                        eden_value *parser) {
    eden_mutator *m = frame->mutator;
    EDEN_FRAME(m, local, 1);
    local[0] = new_object(frame, sites->stream);
    if (local[0] == EDEN_NONE) {
        return false;
    }
    eden_slot_set(m, local[0], STREAM_STRING, *string);
    eden_slot_set(m, local[0], STREAM_POSITION, eden_int(0));
    eden_slot_set(m, local[0], STREAM_LIMIT, eden_int((int64_t)eden_raw_count(*string)));
    *parser = new_object(frame, sites->parser);
    if (*parser == EDEN_NONE) {
        return false;
    }
    eden_slot_set(m, *parser, PARSER_STREAM, local[0]);
    eden_slot_set(m, *parser, PARSER_BASE, eden_int(10));
    return true;
}

enum number_answer number_parse(struct frame *frame, const struct parse_sites *sites, eden_value string) {
    enum { STRING, PARSER, LOCALS };
    eden_mutator *m = frame->mutator;
    EDEN_FRAME(m, local, LOCALS);
    local[STRING] = string;
    struct decimal decimal = {0};
    if (!make_parser(frame, sites, &local[STRING], &local[PARSER])) {
        return NUMBER_FAILED;
    }
    if (!parser_run(m, local[PARSER], &decimal)) {
        return NUMBER_NONE;
    }
    eden_value fraction = new_object(frame, sites->fraction);
    if (fraction == EDEN_NONE) {
        return NUMBER_FAILED;
    }
    eden_slot_set(m, fraction, FRACTION_DIGITS, eden_int(decimal.mantissa));
    eden_slot_set(m, fraction, FRACTION_SCALE, eden_int((int64_t)decimal.fraction_digits));
    return NUMBER_PARSED;
}

eden_value number_new(struct frame *frame, eden_value string) {
    size_t size = eden_raw_count(string);
    memcpy(frame->scratch, eden_raw(string), size); /* strtod wants a text that ends */
    frame->scratch[size] = '\0';
    double value = strtod(frame->scratch, NULL);
    if (eden_float_fits(value)) {
        return eden_float(value);
    }
    eden_value boxed = frame_new(frame, eden_new_raw(frame->mutator, frame->sites[SITE_BOXED_FLOAT], 1));
    if (boxed != EDEN_NONE) {
        memcpy(eden_raw(boxed), &value, sizeof value);
    }
    return boxed;
}
