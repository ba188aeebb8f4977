/* What honeyginger's own runs don't reach: numbers beyond small floats, and collections at sizes of our choosing; with
 * a collection at each allocation. */
#include "honeyginger/collection.h"
#include "honeyginger/point.h"
#include "runtime/support.h"
#include <float.h>

struct bench {
    struct program program;
    eden_heap *heap;
    eden_class sites[SITES];
    struct simulation s;
};

static int make(void **state) {
    static struct bench bench;
    bench = (struct bench){.program = {.name = "test"}};
    eden_error error;
    bench.heap = eden_heap_create(&(eden_options){.parameters = "eden_size=64K,stress=1"}, &error);
    assert_non_null(bench.heap);
    bench.s = (struct simulation){
        .program = &bench.program, .mutator = eden_mutator_attach(bench.heap, &error), .sites = bench.sites};
    assert_non_null(bench.s.mutator);
    assert_true(sph_sites_define(&bench.program, bench.heap, bench.sites));
    *state = &bench;
    return 0;
}

static int drop(void **state) {
    struct bench *bench = *state;
    eden_heap_destroy(bench->heap);
    return 0;
}

static const char *class_name(const struct bench *bench, eden_value object) {
    return eden_class_name(bench->heap, eden_class_of(bench->heap, object));
}

TEST_WITH(floats_lose_nothing, make, drop) {
    struct bench *bench = *state;
    static const double small[] = {0.0, -0.0, 1.0, -1.5, 1e-37, 1e37, 0x1.fffffffffffffp0};
    static const double boxed[] = {DBL_MIN, -DBL_MIN, DBL_TRUE_MIN, DBL_MAX, 1e-40, -1e300};
    EDEN_FRAME(bench->s.mutator, local, 1);
    for (size_t i = 0; i < sizeof small / sizeof small[0]; i++) {
        assert_true(float_new(&bench->s, small[i], &local[0]));
        assert_true(eden_is_float(local[0]));
        double back = float_value(local[0]);
        assert_memory_equal(&back, &small[i], sizeof back);
    }
    for (size_t i = 0; i < sizeof boxed / sizeof boxed[0]; i++) {
        assert_true(float_new(&bench->s, boxed[i], &local[0]));
        assert_string_equal(class_name(bench, local[0]), "BoxedFloat64");
        eden_scavenge(bench->s.mutator);
        double back = float_value(local[0]);
        assert_memory_equal(&back, &boxed[i], sizeof back);
    }
}

TEST_WITH(points_of_any_numbers, make, drop) {
    struct bench *bench = *state;
    static const double numbers[] = {1.0, 1e-300, -0.0, 1e200};
    EDEN_FRAME(bench->s.mutator, local, 3);
    for (size_t i = 0; i < 16; i++) {
        double x = numbers[i / 4], y = numbers[i % 4];
        assert_true(point_new(&bench->s, SITE_FORCE, x, y, &local[0]));
        assert_true(point_x(local[0]) == x && point_y(local[0]) == y);
        assert_true(point_times(&bench->s, SITE_FORCE, local[0], 1e-10, &local[1]));
        assert_true(point_x(local[1]) == x * 1e-10 && point_y(local[1]) == y * 1e-10);
        assert_true(point_plus(&bench->s, SITE_FORCE, local[0], local[1], &local[2]));
        assert_true(point_x(local[2]) == x + x * 1e-10 && point_y(local[2]) == y + y * 1e-10);
        assert_true(point_minus(&bench->s, SITE_FORCE, local[0], local[1], &local[2]));
        assert_true(point_x(local[2]) == x - x * 1e-10 && point_y(local[2]) == y - y * 1e-10);
        assert_true(point_over(&bench->s, SITE_FORCE, local[0], 3.0, &local[0]));
        assert_true(point_x(local[0]) == x / 3.0 && point_y(local[0]) == y / 3.0);
    }
}

TEST_WITH(floors_are_not_larger, make, drop) {
    struct bench *bench = *state;
    EDEN_FRAME(bench->s.mutator, local, 1);
    static const struct {
        double of;
        int64_t floor;
    } cases[] = {{0.0, 0}, {-0.0, 0}, {0.99, 0}, {1.0, 1}, {-0.01, -1}, {-1.0, -1}, {-1.5, -2}, {-1e-300, -1}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        assert_true(point_new(&bench->s, SITE_FORCE, cases[i].of, 2.5, &local[0]));
        assert_true(point_floor(&bench->s, SITE_FORCE, local[0], &local[0]));
        assert_int_equal(index_x(local[0]), cases[i].floor);
        assert_int_equal(index_y(local[0]), 2);
    }
}

TEST_WITH(lists_keep_order, make, drop) {
    struct bench *bench = *state;
    EDEN_FRAME(bench->s.mutator, local, 2);
    assert_true(list_new(&bench->s, SITE_NEIGHBORS, &local[0]));
    for (int64_t i = 0; i < 100; i++) {
        assert_true(index_point_new(&bench->s, SITE_FORCE, i, -i, &local[1]));
        assert_true(list_add(&bench->s, &local[0], &local[1]));
        assert_int_equal(list_size(local[0]), i + 1);
    }
    for (int64_t i = 0; i < 100; i++) {
        assert_int_equal(index_x(list_at(local[0], (size_t)i)), i);
    }
}

/* Keys a multiple of the first size apart collide until the dictionary has grown well beyond it. */
TEST_WITH(dictionaries_find_what_was_put, make, drop) {
    struct bench *bench = *state;
    static const int64_t strides[] = {1, 32, 1024, 37};
    EDEN_FRAME(bench->s.mutator, local, 2);
    for (size_t stride = 0; stride < sizeof strides / sizeof strides[0]; stride++) {
        assert_true(dictionary_new(&bench->s, SITE_MAP_PARTITIONS, &local[0]));
        for (int64_t i = 0; i < 200; i++) {
            assert_int_equal(dictionary_at(local[0], i * strides[stride]), EDEN_NONE);
            assert_true(index_point_new(&bench->s, SITE_FORCE, i, 0, &local[1]));
            assert_true(dictionary_put(&bench->s, &local[0], i * strides[stride], &local[1]));
        }
        for (int64_t i = 0; i < 200; i++) {
            assert_int_equal(index_x(dictionary_at(local[0], i * strides[stride])), i);
        }
        assert_int_equal(dictionary_at(local[0], 200 * strides[stride]), EDEN_NONE);
    }
}
