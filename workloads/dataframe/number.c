/* Decimal text to fraction to double.
 *
 * The parser gathers up to 18 significant digits in an integer and the power of ten that goes with it. Where the
 * integer is at most 2^53 and the power at most 10^18, both are exact as doubles, and IEEE division rounds their
 * quotient once: the result is the nearest double. (10^22 would still be exact, but a tagged integer ends at 2^60.)
 * Everything else, longer numbers and larger exponents, is left to strtod: its Fraction has the denominator 0. */
#include "number.h"

#include <stdlib.h>

enum { DIGITS_MAX = 18, SCALE_MAX = 18, EXPONENT_CAP = 1000000 };
#define EXACT_MAX ((int64_t)1 << 53)

struct cursor {
    const unsigned char *at;
    const unsigned char *end;
};

static bool is_digit(const struct cursor *c) { return c->at < c->end && *c->at >= '0' && *c->at <= '9'; }

static bool accept(struct cursor *c, char lower, char upper) {
    if (c->at < c->end && (*c->at == (unsigned char)lower || *c->at == (unsigned char)upper)) {
        c->at++;
        return true;
    }
    return false;
}

struct decimal {
    int64_t mantissa;
    int64_t scale; /* value = mantissa / 10^scale */
    bool too_long; /* the mantissa is not all of it */
    size_t digits;
};

/* Reads digits into the mantissa; per_digit is 1 after the point. Returns how many digits there were. */
static size_t read_digits(struct cursor *c, struct decimal *d, int64_t per_digit) {
    static const int64_t room = 100000000000000000; /* 10^17: one more digit makes 18 */
    size_t count = 0;
    for (; is_digit(c); c->at++, count++) {
        if (d->mantissa >= room) {
            d->too_long = true;
            continue;
        }
        d->mantissa = d->mantissa * 10 + (*c->at - '0');
        d->scale += per_digit;
    }
    return count;
}

/* Reads [+-]digits; the value is capped, for beyond the cap it only matters that it is large. */
static bool read_exponent(struct cursor *c, int64_t *exponent) {
    bool negative = accept(c, '-', '-');
    if (!negative) {
        (void)accept(c, '+', '+');
    }
    if (!is_digit(c)) {
        return false;
    }
    int64_t value = 0;
    for (; is_digit(c); c->at++) {
        value = value >= EXPONENT_CAP ? value : value * 10 + (*c->at - '0');
    }
    *exponent = negative ? -value : value;
    return true;
}

/* Reads the whole text: is all of it one number? */
static bool read_number(struct cursor *c, struct decimal *d) {
    bool negative = accept(c, '-', '-');
    if (!negative) {
        (void)accept(c, '+', '+');
    }
    size_t digits = read_digits(c, d, 0);
    if (accept(c, '.', '.')) {
        digits += read_digits(c, d, 1);
    }
    int64_t exponent = 0;
    if (digits == 0 || (accept(c, 'e', 'E') && !read_exponent(c, &exponent)) || c->at != c->end) {
        return false;
    }
    d->scale -= exponent;
    d->too_long = d->too_long || (negative && d->mantissa == 0); /* a fraction has no negative zero */
    d->mantissa = negative ? -d->mantissa : d->mantissa;
    d->digits = digits;
    return true;
}

static int64_t power_of_ten(int64_t exponent) {
    int64_t power = 1;
    for (; exponent > 0; exponent--) {
        power *= 10;
    }
    return power;
}

/* Makes the fraction exact, or gives it the denominator 0. */
static void reduce(const struct decimal *d, int64_t *numerator, int64_t *denominator) {
    *numerator = d->mantissa;
    *denominator = 1;
    bool exact = !d->too_long && d->scale >= -SCALE_MAX && d->scale <= SCALE_MAX;
    if (exact && d->scale >= 0) {
        *denominator = power_of_ten(d->scale);
    } else if (exact) {
        exact = !__builtin_mul_overflow(*numerator, power_of_ten(-d->scale), numerator);
    }
    if (!exact || *numerator > EXACT_MAX || *numerator < -EXACT_MAX) {
        *numerator = 0;
        *denominator = 0;
    }
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
    eden_slot_set(m, parser, PARSER_SCALE, eden_int(decimal->scale));
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

enum number_answer number_parse(struct frame *frame, const struct parse_sites *sites, eden_value string,
                                eden_value *fraction) {
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
    *fraction = new_object(frame, sites->fraction);
    if (*fraction == EDEN_NONE) {
        return NUMBER_FAILED;
    }
    int64_t numerator, denominator;
    reduce(&decimal, &numerator, &denominator);
    eden_slot_set(m, *fraction, FRACTION_NUMERATOR, eden_int(numerator));
    eden_slot_set(m, *fraction, FRACTION_DENOMINATOR, eden_int(denominator));
    return NUMBER_PARSED;
}

/* strtod wants a text that ends. */
static double convert_text(struct frame *frame, eden_value string) {
    size_t size = eden_raw_count(string);
    memcpy(frame->scratch, eden_raw(string), size);
    frame->scratch[size] = '\0';
    return strtod(frame->scratch, NULL);
}

eden_value number_new(struct frame *frame, eden_value fraction, eden_value string) {
    int64_t denominator = eden_int_value(eden_slot(fraction, FRACTION_DENOMINATOR));
    double value = denominator == 0
                       ? convert_text(frame, string)
                       : (double)eden_int_value(eden_slot(fraction, FRACTION_NUMERATOR)) / (double)denominator;
    if (eden_float_fits(value)) {
        return eden_float(value);
    }
    eden_value boxed = frame_new(frame, eden_new_raw(frame->mutator, frame->sites[SITE_BOXED_FLOAT], 1));
    if (boxed != EDEN_NONE) {
        memcpy(eden_raw(boxed), &value, sizeof value);
    }
    return boxed;
}
