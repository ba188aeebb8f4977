/* The views for people: they fit a terminal, whatever the names, and say what the model says. */
#include "life_views.h"

/* Fit for a terminal: UTF-8 without control characters. */
static void assert_is_plain(const char *text) {
    for (const unsigned char *at = (const unsigned char *)text; *at; at++) {
        assert_true(*at == '\n' || (*at >= 32 && *at != 127));
        assert_false(*at == 0xff || (*at == 0xc2 && at[1] < 0xa0));
    }
}

static char *row_with(const char *text, const char *what) {
    const char *at = strstr(text, what);
    assert_non_null(at);
    while (at > text && at[-1] != '\n') {
        at--;
    }
    return strndup(at, strcspn(at, "\n"));
}

static void assert_row(const char *text, const char *what, const char *part) {
    char *row __attribute__((cleanup(free_at))) = row_with(text, what);
    assert_non_null(strstr(row, part));
}

TEST(text_views_fit_a_terminal) {
    struct life_model model __attribute__((cleanup(clear_model))) = make_model(20000, true), empty = {0};
    static const char *const views[] = {"percentiles", "density", "histogram", "heatmap", "tenured", "nepotism"};
    for (size_t i = 0; i < sizeof views / sizeof *views; i++) {
        size_t size;
        struct life_view_options options = life_view_defaults;
        for (options.top = 0; options.top < 3; options.top++) {
            char *text __attribute__((cleanup(free_at))) = print(views[i], &model, &options, &size);
            assert_is_plain(text);
            assert_int_equal(strlen(text), size);
            assert_non_null(strstr(text, "[4711] heap 3"));
            assert_non_null(strstr(text, "; excludes the 4.00 KiB allocated before\n"));
        }
    }
    /* Nothing is no failure, but for a chart. */
    for (const struct life_view_description *view = life_views; view->name; view++) {
        struct failure why = {0};
        char *text __attribute__((cleanup(free_at))) = NULL;
        size_t size;
        FILE *out = open_memstream(&text, &size);
        assert_non_null(out);
        bool chart = strstr(view->name, "svg") != NULL;
        assert_int_equal(view->print(out, &empty, &life_view_defaults, &why), !chart);
        assert_int_equal(why.status, chart);
        fclose(out);
    }
    assert_null(life_view_named("nonsense"));
}

/* Two sites; 100 objects of 1 KiB tenured, of which 60 died: 30 after 10 ms in old space, 30 after 200 ms; the run is a
 * second, so the limit 50 ms. 40 of them died of nepotism. */
TEST(garbage_is_counted) {
    struct life_heap heap __attribute__((cleanup(build_clear))) = {.id = 1};
    build_end(build_site(&heap, 4, 4, "Node", "Node"), (struct build_end){.count = 100, .bytes = 16, .ns = 1000000});
    struct life_site *grow = build_site(&heap, 6, 4, "grow", "Node");
    struct eden_life_record objects[60] = {0};
    struct build_objects from = {objects, 60};
    struct life_model model = {.heap_count = 1, .heaps = &heap};
    const uint64_t ms = 1000000;
    size_t size;
    build_run(&heap, 1000 * ms, 1 << 20);
    struct build_end end = {.count = 30, .bytes = 1024, .ns = 20 * ms, .flags = EDEN_LIFE_TENURED};
    build_end(grow, end);
    end.ns = 400 * ms;
    end.count = 20;
    end.flags |= EDEN_LIFE_NEPOTISM;
    build_end(grow, end);
    end.count = 10;
    build_end(grow, end);
    build_end(grow,
              (struct build_end){
                  .outcome = LIFE_CENSORED, .count = 40, .bytes = 1024, .ns = 500 * ms, .flags = EDEN_LIFE_TENURED});
    char *text __attribute__((cleanup(free_at))) = print("tenured", &model, &life_view_defaults, &size);
    assert_non_null(strstr(text, "total: 60 samples, about 60.0 KiB, 59.1% of the allocated"));
    char *row = row_with(text, "Node, grow");
    /* Half of each lifetime was spent in old space: (30 x 10 + 30 x 200) / 60 ms. */
    char count[16], objects_text[16], memory[16], unit[16], of[16], time[16], time_unit[16], run[16], soon[16];
    assert_int_equal(sscanf(row, "%15s %15s %15s %15s %15s %15s %15s %15s %15s", count, objects_text, memory, unit, of,
                            time, time_unit, run, soon),
                     9);
    assert_string_equal(count, "60");
    assert_string_equal(of, "60.0%");
    assert_string_equal(time, "105");
    assert_string_equal(run, "10.5%");
    assert_string_equal(soon, "no");
    free(row);
    free(text);

    model.objects = (struct life_objects){build_each_object, &from};
    for (uint64_t i = 0; i < 60; i++) {
        objects[i] = (struct eden_life_record){
            .site = 6, .flags = EDEN_LIFE_TENURED, .tenured_ns = 5000, .death_ns = 5000 + (i < 30 ? 10 : 200) * ms};
    }
    text = print("tenured", &model, &life_view_defaults, &size);
    assert_row(text, "Node, grow", " 50.0%  Node");
    free(text);

    text = print("nepotism", &model, &life_view_defaults, &size);
    assert_non_null(strstr(text, "total: 30 samples"));
    assert_row(text, "Node, grow", " 50.0%  Node"); /* of 60 that died */
}

/* 3 of 4 objects die within 5% of the run, the fourth, as large as nine of them, at 48%. */
TEST(density_has_shares_in_place) {
    struct life_heap heap __attribute__((cleanup(build_clear))) = {0};
    struct life_site *site = build_site(&heap, 1, 1, "A", "A");
    struct life_model model = {.heap_count = 1, .heaps = &heap};
    size_t size;
    build_run(&heap, 1000000, 1 << 20);
    build_end(site, (struct build_end){.count = 3, .bytes = 100, .ns = 1000});
    build_end(site, (struct build_end){.count = 1, .bytes = 900, .ns = 480000}); /* its bucket: 475,136 to 491,519 */
    char *text __attribute__((cleanup(free_at))) = print("density", &model, &life_view_defaults, &size);
    char *objects = strstr(text, "by objects");
    assert_non_null(objects);
    assert_row(text, " 45% -  50%", " 75.00%");
    assert_row(objects, "  0% -   5%", " 75.00%");
    assert_row(objects, " 45% -  50%", " 25.00%    0.00%  ####");
}

TEST(percentiles_and_advice_are_shown) {
    struct life_heap heap __attribute__((cleanup(build_clear))) = {0};
    struct life_site *site = build_site(&heap, 1, 1, "A", "A");
    struct life_model model = {.heap_count = 1, .heaps = &heap};
    size_t size;
    build_run(&heap, 1000, 1 << 20);
    heap.state.rate = 1000;
    build_end(site, (struct build_end){.count = 1, .bytes = 100, .ns = 10});
    build_end(site, (struct build_end){.count = 1, .bytes = 100, .ns = 20});
    build_end(site, (struct build_end){.count = 2, .bytes = 100, .ns = 30, .outcome = LIFE_CENSORED});
    char *text __attribute__((cleanup(free_at))) = print("percentiles", &model, &life_view_defaults, &size);
    char *row __attribute__((cleanup(free_at))) = row_with(text, "  A");
    assert_non_null(strstr(row, "10 ns      20 ns     >30 ns     >30 ns     >30 ns"));
    assert_non_null(strstr(row, ">=2"));
    assert_non_null(strstr(text, "too few samples for a reliable verdict: A\n# try --sampling 1/100\n"));
    assert_null(strstr(text, "scavenges too far apart"));
}

TEST(advice_names_a_smaller_eden_where_deaths_are_found_late) {
    struct life_heap heap __attribute__((cleanup(build_clear))) = {0};
    struct life_model model = {.heap_count = 1, .heaps = &heap};
    size_t size;
    build_run(&heap, 1000, 1 << 20);
    build_end(build_site(&heap, 1, 1, "A", "A"), (struct build_end){.count = 100, .bytes = 100, .ns = 400});
    char *text __attribute__((cleanup(free_at))) = print("percentiles", &model, &life_view_defaults, &size);
    char *row __attribute__((cleanup(free_at))) = row_with(text, "  A");
    assert_non_null(strstr(row, " unknown "));
    assert_non_null(strstr(text, "# scavenges too far apart for a verdict: A\n# try a smaller eden_size, or profile a "
                                 "longer run\n"));
    assert_null(strstr(text, "too few samples"));
}

/* Sites of the same name at two classes are one row; the classes' columns come largest first. */
TEST(heatmap_has_a_row_a_place) {
    struct life_heap heap __attribute__((cleanup(build_clear))) = {0};
    struct life_model model = {.heap_count = 1, .heaps = &heap};
    size_t size;
    build_end(build_site(&heap, 1, 1, "A", "A"), (struct build_end){.count = 10, .bytes = 8, .ns = 5});
    build_end(build_site(&heap, 2, 2, "B", "B"), (struct build_end){.count = 0, .bytes = 8, .ns = 5});
    build_end(build_site(&heap, 3, 1, "read", "A"), (struct build_end){.count = 20, .bytes = 8, .ns = 5});
    build_end(build_site(&heap, 4, 2, "read", "B"), (struct build_end){.count = 70, .bytes = 8, .ns = 5});
    char *text __attribute__((cleanup(free_at))) = print("heatmap", &model, &life_view_defaults, &size);
    assert_non_null(strstr(text, "A: B\n"));
    assert_non_null(strstr(text, "B: A\n"));
    assert_row(text, "  read\n", "  70.00%  20.00%  90.00%");
    assert_row(text, "(no site)", "       .  10.00%  10.00%");
}
