/* Tagged values: tags, limits, and that what goes in comes out. */
#include "support.h"
#include <float.h>
#include <math.h>

TEST(none_is_nothing) {
    assert_int_equal(EDEN_NONE, 0);
    assert_false(eden_is_object(EDEN_NONE));
    assert_false(eden_is_int(EDEN_NONE));
    assert_false(eden_is_char(EDEN_NONE));
    assert_false(eden_is_float(EDEN_NONE));
}

TEST(each_tag_is_its_own) {
    eden_value values[] = {eden_int(0), eden_char(0), eden_float(0.0), 64};
    bool (*const tests[])(eden_value) = {eden_is_int, eden_is_char, eden_is_float, eden_is_object};
    for (size_t v = 0; v < 4; v++) {
        for (size_t t = 0; t < 4; t++) {
            assert_int_equal(tests[t](values[v]), v == t);
        }
    }
}

TEST(integers_keep_their_value) {
    const int64_t numbers[] = {0, 1, -1, 42, -42, INT32_MAX, INT32_MIN, EDEN_INT_MAX, EDEN_INT_MIN, EDEN_INT_MAX - 1};
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++) {
        assert_true(eden_int_fits(numbers[i]));
        assert_true(eden_is_int(eden_int(numbers[i])));
        assert_true(eden_int_value(eden_int(numbers[i])) == numbers[i]);
    }
    assert_true(EDEN_INT_MAX == (1ll << 60) - 1);
    assert_true(EDEN_INT_MIN == -(1ll << 60));
    assert_false(eden_int_fits(EDEN_INT_MAX + 1));
    assert_false(eden_int_fits(EDEN_INT_MIN - 1));
    assert_false(eden_int_fits(INT64_MAX));
    assert_false(eden_int_fits(INT64_MIN));
}

TEST(characters_keep_their_code) {
    const uint32_t codes[] = {0, 'a', 0x10ffff, UINT32_MAX};
    for (size_t i = 0; i < sizeof codes / sizeof codes[0]; i++) {
        assert_true(eden_is_char(eden_char(codes[i])));
        assert_int_equal(eden_char_value(eden_char(codes[i])), codes[i]);
    }
}

static bool same_bits(double a, double b) { return memcmp(&a, &b, sizeof a) == 0; }

TEST(floats_that_fit_keep_their_bits) {
    const double least = ldexp(1.0, -127), most = nextafter(ldexp(1.0, 129), 0);
    const double numbers[] = {0.0,  -0.0,  1.0,     -1.0,    0.1,      -0.1, M_PI, 1e-38, -1e-38,
                              1e38, -1e38, FLT_MIN, FLT_MAX, -FLT_MAX, 255,  most, -most, nextafter(least, 1)};
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++) {
        assert_true(eden_float_fits(numbers[i]));
        assert_true(eden_is_float(eden_float(numbers[i])));
        assert_true(same_bits(eden_float_value(eden_float(numbers[i])), numbers[i]));
    }
    /* +0 and -0 are two values. */
    assert_int_not_equal(eden_float(0.0), eden_float(-0.0));
}

TEST(floats_out_of_range_are_refused) {
    /* The least magnitude is refused: its place is taken by the zeros. */
    const double numbers[] = {ldexp(1.0, -127),
                              -ldexp(1.0, -127),
                              ldexp(1.0, 129),
                              -ldexp(1.0, 129),
                              DBL_MAX,
                              DBL_MIN,
                              1e-300,
                              1e300,
                              INFINITY,
                              -INFINITY,
                              NAN,
                              4.9e-324,
                              -4.9e-324};
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++) {
        assert_false(eden_float_fits(numbers[i]));
    }
}

TEST(random_floats_that_fit_keep_their_bits) {
    uint64_t random = 7;
    size_t fitting = 0;
    for (int i = 0; i < 1000000; i++) {
        uint64_t bits = next_random(&random);
        double d;
        memcpy(&d, &bits, sizeof d);
        if (eden_float_fits(d)) {
            fitting++;
            assert_true(same_bits(eden_float_value(eden_float(d)), d));
        }
    }
    assert_true(fitting > 100000); /* an eighth of all exponents */
}
