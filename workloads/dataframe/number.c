/* Decimal text to fraction to double.
 *
 * The parser gathers up to 18 significant digits in an integer and the power of ten that goes with it. Where the
 * integer is at most 2^53 and the power at most 10^18, both are exact as doubles, and IEEE division rounds their
 * quotient once: the result is the nearest double. (10^22 would still be exact, but a tagged integer ends at 2^60.)
 * Everything else, longer numbers and larger exponents, is left to strtod. */
#include "number.h"

#include <stdlib.h>

enum { DIGITS_MAX = 18, SCALE_MAX = 18, EXPONENT_CAP = 1000000 };
#define EXACT_MAX ((int64_t)1 << 53)

/* What the parser found: its state slot. */
enum { STATE_NONE, STATE_NUMBER, STATE_LONG };

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
    bool too_long; /* digits were left out of the mantissa */
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

/* Reads the whole text; STATE_NONE unless all of it is one number. */
static int read_number(struct cursor *c, struct decimal *d) {
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
        return STATE_NONE;
    }
    d->scale -= exponent;
    /* A fraction has no negative zero. */
    bool lost = d->too_long || (negative && d->mantissa == 0);
    if (negative) {
        d->mantissa = -d->mantissa;
    }
    return lost ? STATE_LONG : STATE_NUMBER;
}

/* Runs the parser over its stream: stream position, mantissa, scale and state are its result. Does not collect. */
static void parser_run(eden_mutator *m, eden_value parser) {
    eden_value stream = eden_slot(parser, PARSER_STREAM);
    eden_value string = eden_slot(stream, STREAM_STRING);
    const unsigned char *bytes = eden_raw(string);
    struct cursor cursor = {.at = bytes + eden_int_value(eden_slot(stream, STREAM_POSITION)),
                            .end = bytes + eden_raw_count(string)};
    struct decimal decimal = {0};
    int state = read_number(&cursor, &decimal);
    eden_slot_set(m, stream, STREAM_POSITION, eden_int(cursor.at - bytes));
    eden_slot_set(m, parser, PARSER_MANTISSA, eden_int(decimal.mantissa));
    eden_slot_set(m, parser, PARSER_SCALE, eden_int(decimal.scale));
    eden_slot_set(m, parser, PARSER_STATE, eden_int(state));
}

static int64_t power_of_ten(int64_t exponent) {
    int64_t power = 1;
    for (; exponent > 0; exponent--) {
        power *= 10;
    }
    return power;
}

/* Fills the fraction with what the parser found. Does not collect. */
static void fraction_fill(eden_mutator *m, eden_value fraction, eden_value parser) {
    int64_t numerator = eden_int_value(eden_slot(parser, PARSER_MANTISSA));
    int64_t scale = eden_int_value(eden_slot(parser, PARSER_SCALE));
    int64_t state = eden_int_value(eden_slot(parser, PARSER_STATE));
    int64_t denominator = 1;
    enum number_kind kind = state == STATE_NONE ? NUMBER_NONE : state == STATE_LONG ? NUMBER_LONG : NUMBER_EXACT;
    if (kind == NUMBER_EXACT) {
        if (scale >= 0 && scale <= SCALE_MAX) {
            denominator = power_of_ten(scale);
        } else if (scale < 0 && scale >= -SCALE_MAX) {
            bool overflow = __builtin_mul_overflow(numerator, power_of_ten(-scale), &numerator);
            kind = overflow ? NUMBER_LONG : kind;
        } else {
            kind = NUMBER_LONG;
        }
        if (numerator > EXACT_MAX || numerator < -EXACT_MAX) {
            kind = NUMBER_LONG;
        }
    }
    bool exact = kind == NUMBER_EXACT;
    eden_slot_set(m, fraction, FRACTION_NUMERATOR, eden_int(exact ? numerator : 0));
    eden_slot_set(m, fraction, FRACTION_DENOMINATOR, eden_int(exact ? denominator : 1));
    eden_slot_set(m, fraction, FRACTION_KIND, eden_int(kind));
}

eden_value number_parse(eden_mutator *m, const struct parse_sites *sites, eden_value string) {
    enum { STRING, STREAM, PARSER, LOCALS };
    EDEN_FRAME(m, local, LOCALS);
    local[STRING] = string;
    local[STREAM] = eden_new(m, sites->stream);
    if (local[STREAM] == EDEN_NONE) {
        return EDEN_NONE;
    }
    eden_slot_set(m, local[STREAM], STREAM_STRING, local[STRING]);
    eden_slot_set(m, local[STREAM], STREAM_POSITION, eden_int(0));
    local[PARSER] = eden_new(m, sites->parser);
    if (local[PARSER] == EDEN_NONE) {
        return EDEN_NONE;
    }
    eden_slot_set(m, local[PARSER], PARSER_STREAM, local[STREAM]);
    parser_run(m, local[PARSER]);
    eden_value fraction = eden_new(m, sites->fraction);
    if (fraction != EDEN_NONE) {
        fraction_fill(m, fraction, local[PARSER]);
    }
    return fraction;
}

double number_value(eden_value fraction, eden_value string, char *scratch) {
    if (number_kind(fraction) == NUMBER_EXACT) {
        double numerator = (double)eden_int_value(eden_slot(fraction, FRACTION_NUMERATOR));
        double denominator = (double)eden_int_value(eden_slot(fraction, FRACTION_DENOMINATOR));
        return numerator / denominator;
    }
    size_t size = eden_raw_count(string);
    memcpy(scratch, eden_raw(string), size);
    scratch[size] = '\0';
    return strtod(scratch, NULL);
}
