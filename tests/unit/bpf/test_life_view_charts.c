/* The views that are SVG: whole XML with as many curves as there are classes, and nothing run that a name says. */
#include "life_views.h"
#include <sys/stat.h>

static const char *const views[] = {"survival-svg", "density-svg", "histogram-svg", "heatmap-svg"};

static void assert_is_svg(const char *text, size_t size) {
    FILE *lint = popen("xmllint --noout --nonet -", "w");
    assert_non_null(lint);
    assert_int_equal(fwrite(text, 1, size, lint), size);
    assert_int_equal(pclose(lint), 0);
    assert_non_null(strstr(text, "<svg"));
}

TEST(charts_are_xml) {
    static const enum life_clock clocks[] = {LIFE_NS, LIFE_BYTES, LIFE_SCAVENGES, LIFE_FULLS};
    struct life_model model __attribute__((cleanup(clear_model))) = make_model(20000, false);
    for (size_t i = 0; i < sizeof views / sizeof *views; i++) {
        for (int clock = 0; clock < LIFE_CLOCKS; clock++) {
            struct life_view_options options = life_view_defaults;
            size_t size;
            options.clock = clocks[clock];
            options.by_site = clock % 2;
            options.by = clock / 2 ? LIFE_BY_MEMORY : LIFE_BY_OBJECTS;
            char *text __attribute__((cleanup(free_at))) = print(views[i], &model, &options, &size);
            assert_is_svg(text, size);
            static const char *const plots[] = {"gnuplot_plot_9", "gnuplot_plot_2b", "gnuplot_plot_9",
                                                "gnuplot_plot_1"};
            assert_non_null(strstr(text, plots[i])); /* as many curves as there are classes, or parts of bars */
            if (i == 2 && clock == LIFE_NS) {
                assert_non_null(strstr(text, ">524 us<"));
            }
            if (i != 1) {
                assert_non_null(strstr(text, "Gr\xc3\xb6\xc3\x9f"
                                             "e \xe2\x82\xac &lt;&amp;>")); /* a class's name, escaped */
            }
        }
    }
    struct stat status;
    assert_int_not_equal(stat("shell-was-here", &status), 0);
}

TEST(two_heaps_are_charts) {
    struct life_model model __attribute__((cleanup(clear_model))) = make_two_heaps();
    for (size_t i = 0; i < sizeof views / sizeof *views; i++) {
        size_t size;
        char *text __attribute__((cleanup(free_at))) = print(views[i], &model, &life_view_defaults, &size);
        assert_is_svg(text, size);
    }
}

TEST(a_missing_gnuplot_is_named) {
    struct life_model model __attribute__((cleanup(clear_model))) = make_model(100, false);
    struct failure why = {0};
    char *text __attribute__((cleanup(free_at))) = NULL, *path = strdup(getenv("PATH"));
    size_t size;
    FILE *out = open_memstream(&text, &size);
    assert_non_null(out);
    setenv("PATH", "/nowhere", 1);
    assert_false(life_view_survival_svg(out, &model, &life_view_defaults, &why));
    setenv("PATH", path, 1);
    assert_int_equal(why.status, 1);
    assert_non_null(strstr(why.message, "gnuplot-nox"));
    fclose(out);
    assert_int_equal(size, 0);
    free(path);
}
