/* Parameters: defaults, bounds, every way to set them, and what the errors say. */
#include "support.h"
#include "young/tenure.h"
#include <locale.h>

struct known {
    const char *name, *fallback;
    const char *good[3], *got[3]; /* what to set, and what eden_heap_get returns then */
    const char *bad[6];
    const char *says[2]; /* the error names these: bounds or choices */
};

static const struct known all[] = {
    {"eden_size",
     "16777216",
     {"65536", "1M", "2.5M"},
     {"65536", "1048576", "2621440"},
     {"65535", "0", "64G1", "65G", "none", "-1"},
     {"64K", "64G"}},
    {"tenure_proportion",
     "0.1",
     {"0", "1", "0.25"},
     {"0", "1", "0.25"},
     {"-0.1", "1.1", "inf", "nan", "x", ""},
     {"0", "1"}},
    {"survivors_to_keep",
     "unset",
     {"0", "1e15", "unset"},
     {"0", "1000000000000000", "unset"},
     {"-1", "1.5", "1e16", "inf", "many", ""},
     {"0", "1000000000000000"}},
    {"tenure_fill", "0.9", {"0", "1", "0.5"}, {"0", "1", "0.5"}, {"-1", "1.01", "nan", "inf", "x", ""}, {"0", "1"}},
    {"full_gc_ratio",
     "0.33",
     {"0", "inf", "2.5"},
     {"0", "inf", "2.5"},
     {"-1", "nan", "-inf", "x", "", "1x"},
     {"0", "inf"}},
    {"grow_headroom",
     "16777216",
     {"64K", "1T", "1G"},
     {"65536", "1099511627776", "1073741824"},
     {"65535", "1.1T", "none", "0", "x", ""},
     {"64K", "1T"}},
    {"shrink_threshold",
     "33554432",
     {"0", "none", "64M"},
     {"0", "none", "67108864"},
     {"-1", "x", "", "1Q", "None", "1KK"},
     {"0", "none"}},
    {"large_object",
     "524288",
     {"4096", "1T", "8k"},
     {"4096", "1099511627776", "8192"},
     {"4095", "none", "2T", "x", "", "0"},
     {"4K", "1T"}},
    {"remembered_set",
     "card",
     {"object", "card", "object"},
     {"object", "card", "object"},
     {"cards", "", "objects", "obj", "OBJECT", "0"},
     {"object", "card"}},
    {"compactor",
     "selective",
     {"none", "planning", "selective"},
     {"none", "planning", "selective"},
     {"select", "", "non", "planning none", "1", "NONE"},
     {"planning", "selective"}},
    {"full_gc_min_old",
     "0",
     {"none", "0", "100M"},
     {"none", "0", "104857600"},
     {"-1", "x", "", "1e3", "0x10", "1 K"},
     {"0", "none"}},
    {"max_heap",
     "none",
     {"1G", "none", "100M"},
     {"1073741824", "none", "104857600"},
     {"1048575", "0", "x", "", "-1", "inf"},
     {"1M", "none"}},
    {"tenure_criterion",
     "age",
     {"remembered", "class", "never"},
     {"remembered", "class", "never"},
     {"ages", "", "0", "none", "AGE", "site class"},
     {"age", "never"}},
    {"compat.threshold_bug", "0", {"1", "0", "1"}, {"1", "0", "1"}, {"2", "", "yes", "on", "01", "-1"}, {"0", "1"}},
    {"compat.overflow",
     "oldest",
     {"oldest", "scan-order", "oldest"},
     {"oldest", "scan-order", "oldest"},
     {"old", "", "0", "scan", "OLDEST", "scan_order"},
     {"scan-order", "oldest"}},
    {"stress",
     "0",
     {"1", "1000", "0"},
     {"1", "1000", "0"},
     {"-1", "0.5", "inf", "x", "", "1e16"},
     {"0", "1000000000000000"}},
    /* Files that say nothing, cannot be read, or never end. */
    {"pretenure",
     "none",
     {"auto", "none", "/dev/null"},
     {"auto", "none", "/dev/null"},
     {"/nonexistent", "/dev/zero", "/", "Auto", "", "/dev/null/x"},
     {"none", "auto"}},
    {"compat.tenured_scan",
     "latest-first",
     {"set-order", "latest-first", "set-order"},
     {"set-order", "latest-first", "set-order"},
     {"set", "", "0", "latest", "SET-ORDER", "set_order"},
     {"latest-first", "set-order"}},
    {"compat.growth",
     "needed",
     {"refill", "needed", "refill"},
     {"refill", "needed", "refill"},
     {"need", "", "0", "16M", "REFILL", "refill needed"},
     {"needed", "refill"}},
    {"policy",
     "auto",
     {"auto", "fixed", "auto"},
     {"auto", "fixed", "auto"},
     {"automatic", "", "0", "fix", "AUTO", "auto fixed"},
     {"fixed", "auto"}},
    {"overhead_limit",
     "0.98",
     {"0", "1", "0.5"},
     {"0", "1", "0.5"},
     {"-0.1", "1.1", "inf", "nan", "x", ""},
     {"0", "1"}},
    {"gc_threads",
     "unset",
     {"1", "64", "unset"},
     {"1", "64", "unset"},
     {"0", "65", "1.5", "-2", "all", ""},
     {"1", "64"}},
    {"pause_goal",
     "0",
     {"0", "10", "0.5"},
     {"0", "10", "0.5"},
     {"-1", "1000001", "inf", "nan", "x", ""},
     {"0", "1000000"}},
};
enum { ALL = sizeof all / sizeof all[0] };

/* Decided for good when the heap is created. */
static bool is_fixed(const struct known *known) {
    return strcmp(known->name, "eden_size") == 0 || strcmp(known->name, "remembered_set") == 0 ||
           strcmp(known->name, "pretenure") == 0;
}

static void assert_message(const eden_error *error, const char *text) {
    if (strstr(error->message, text) == NULL) {
        fail_msg("'%s' does not say '%s'", error->message, text);
    }
}

static void assert_value(const eden_heap *heap, const char *name, const char *value) {
    char text[64];
    assert_true(eden_heap_get(heap, name, text, sizeof text));
    assert_string_equal(text, value);
}

/* A heap made with these, or the error. */
static eden_heap *create(const char *parameters, const char *environment, eden_error *error) {
    if (environment != NULL) {
        setenv("EDEN_OPTIONS", environment, 1);
    } else {
        unsetenv("EDEN_OPTIONS");
    }
    eden_options options = {.parameters = parameters};
    *error = (eden_error){EDEN_OK, ""};
    eden_heap *heap = eden_heap_create(&options, error);
    unsetenv("EDEN_OPTIONS");
    return heap;
}

TEST(the_list_names_every_parameter) {
    size_t count = 0;
#define EDEN_PARAM(id, text, kind, fallback, low, high, choices, doc)                                                  \
    assert_true(count < ALL);                                                                                          \
    assert_string_equal(all[count].name, text);                                                                        \
    count++;
#include "eden_params.def"
#undef EDEN_PARAM
    assert_int_equal(count, ALL);
}

/* policy=auto decides on the size of eden; with policy=fixed it is that of the table, too. */
static void assert_defaults(const eden_heap *heap, const char *policy) {
    for (size_t i = 0; i < ALL; i++) {
        if (strcmp(all[i].name, "policy") == 0) {
            assert_value(heap, "policy", policy);
        } else if (strcmp(all[i].name, "eden_size") == 0 && strcmp(policy, "auto") == 0) {
            assert_value(heap, "eden_size", "2097152");
        } else {
            assert_value(heap, all[i].name, all[i].fallback);
        }
    }
}

TEST(defaults_are_those_of_the_table) {
    eden_error error;
    eden_heap *heaps[] = {create(NULL, NULL, &error), create("", "", &error), create(",,", ",", &error)};
    for (size_t h = 0; h < 3; h++) {
        assert_non_null(heaps[h]);
        assert_defaults(heaps[h], "auto");
        eden_heap_destroy(heaps[h]);
    }
    eden_heap *fixed = create("policy=fixed", NULL, &error);
    assert_non_null(fixed);
    assert_defaults(fixed, "fixed");
    eden_heap_destroy(fixed);
    eden_heap *bare = eden_heap_create(NULL, NULL);
    assert_non_null(bare);
    assert_string_equal(bare->info.name, "eden");
    eden_heap_destroy(bare);
}

TEST(each_by_options_and_environment) {
    for (size_t i = 0; i < ALL; i++) {
        for (size_t g = 0; g < 3; g++) {
            char text[100];
            eden_error error;
            snprintf(text, sizeof text, "%s=%s", all[i].name, all[i].good[g]);
            eden_heap *by_program = create(text, NULL, &error);
            eden_heap *by_environment = create(NULL, text, &error);
            if (by_program == NULL || by_environment == NULL) {
                fail_msg("%s: %s", text, error.message);
            }
            assert_value(by_program, all[i].name, all[i].got[g]);
            assert_value(by_environment, all[i].name, all[i].got[g]);
            eden_heap_destroy(by_program);
            eden_heap_destroy(by_environment);
        }
    }
}

TEST(each_set_later_and_reported_as_it_can_be_set) {
    eden_error error;
    eden_heap *heap = create("eden_size=1M", NULL, &error);
    for (size_t i = 0; i < ALL; i++) {
        for (size_t g = 0; g < 3; g++) {
            error = (eden_error){EDEN_OK, ""};
            bool set = eden_heap_set(heap, all[i].name, all[i].good[g], &error);
            if (is_fixed(&all[i])) {
                assert_false(set);
                continue;
            }
            if (!set) {
                fail_msg("%s=%s: %s", all[i].name, all[i].good[g], error.message);
            }
            assert_value(heap, all[i].name, all[i].got[g]);
            assert_true(eden_heap_set(heap, all[i].name, all[i].got[g], &error));
            assert_value(heap, all[i].name, all[i].got[g]);
        }
    }
    eden_heap_destroy(heap);
}

TEST(each_is_refused_by_name_with_its_bounds) {
    eden_error error;
    eden_heap *heap = create(NULL, NULL, &error);
    for (size_t i = 0; i < ALL; i++) {
        for (size_t b = 0; b < 6; b++) {
            char text[100];
            snprintf(text, sizeof text, "%s=%s", all[i].name, all[i].bad[b]);
            for (int way = 0; way < 3; way++) {
                error = (eden_error){EDEN_OK, ""};
                bool taken = way == 0   ? eden_heap_set(heap, all[i].name, all[i].bad[b], &error)
                             : way == 1 ? create(text, NULL, &error) != NULL
                                        : create(NULL, text, &error) != NULL;
                if (taken) {
                    fail_msg("%s was taken", text);
                }
                assert_int_equal(error.status, EDEN_BAD_PARAMETER);
                assert_message(&error, text);
                if (way != 0 || !is_fixed(&all[i]) || strstr(error.message, "cannot change") == NULL) {
                    assert_message(&error, all[i].says[0]);
                    assert_message(&error, all[i].says[1]);
                }
                assert_message(&error, way == 0 ? "eden_heap_set" : way == 1 ? "program" : "EDEN_OPTIONS");
            }
        }
    }
    assert_defaults(heap, "auto");
    eden_heap_destroy(heap);
}

/* probes/papers_vm.options gives each parameter once, in the order of the table: there tenure_proportion precedes
 * survivors_to_keep, so that either can be overridden. */
TEST(the_papers_vm_names_every_parameter) {
    FILE *file = fopen("probes/papers_vm.options", "r");
    assert_non_null(file);
    struct params params;
    eden_error error = {EDEN_OK, ""};
    char line[100];
    params_defaults(&params);
    for (size_t i = 0; i < ALL; i++) {
        assert_non_null(fgets(line, sizeof line, file));
        line[strcspn(line, "\n")] = '\0';
        assert_int_equal(strcspn(line, "="), strlen(all[i].name));
        assert_memory_equal(line, all[i].name, strlen(all[i].name));
        if (!params_parse(&params, line, "papers_vm.options", &error)) {
            fail_msg("%s", error.message);
        }
    }
    assert_null(fgets(line, sizeof line, file));
    fclose(file);
    assert_int_equal(params.eden_size, 15 * MIB);
    assert_int_equal(params.survivors_to_keep, EDEN_UNSET);
    assert_int_equal(params.remembered_set, EDEN_REMEMBERED_OBJECT);
    assert_int_equal(params.compat_tenured_scan, EDEN_TENURED_SCAN_SET);
}

/* 1e50 exceeds every integer type. */
TEST(a_number_may_be_larger_than_any_integer) {
    eden_error error;
    eden_heap *heap = create("full_gc_ratio=1e50", NULL, &error);
    assert_value(heap, "full_gc_ratio", "1e+50");
    eden_heap_destroy(heap);
}

TEST(the_environment_overrides_the_program) {
    eden_error error;
    eden_heap *heap = create("eden_size=2M,full_gc_ratio=5", "eden_size=1M", &error);
    assert_value(heap, "eden_size", "1048576");
    assert_value(heap, "full_gc_ratio", "5");
    eden_heap_destroy(heap);
    /* Within one text too, the later wins. */
    heap = create("eden_size=2M,eden_size=4M", NULL, &error);
    assert_value(heap, "eden_size", "4194304");
    eden_heap_destroy(heap);
    /* A fault of the program's is a fault, whatever the environment says. */
    assert_null(create("eden_size=1", "eden_size=1M", &error));
    assert_message(&error, "parameters of the program");
}

TEST(unknown_names_and_malformed_text_are_refused) {
    static char long_value[300];
    memset(long_value, '1', sizeof long_value - 1);
    memcpy(long_value, "eden_size=", 10);
    const struct {
        const char *text, *says;
    } wrong[] = {
        {"edensize=1M", "unknown parameter 'edensize'"},
        {"eden_size", "'eden_size': must be name=value"},
        {"eden_size=1M;full_gc_ratio=1", "eden_size=1M;full_gc_ratio=1"},
        {"eden_size=1M full_gc_ratio=1", "eden_size=1M full_gc_ratio=1"},
        {"full_gc_ratio=1,compactor", "'compactor'"},
        {"=1", "''"},
        {" eden_size=1M", "' eden_size'"},
        {"EDEN_SIZE=1M", "'EDEN_SIZE'"},
        {"eden_size==1M", "eden_size==1M"},
        {"compat.threshold=1", "compat.threshold"},
        {long_value, "eden_size=111"},
        {"pause_goal=5ms", "pause_goal=5ms: must be a number between 0 and 1000000"},
    };
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        eden_error error;
        assert_null(create(wrong[i].text, NULL, &error));
        assert_int_equal(error.status, EDEN_BAD_PARAMETER);
        assert_message(&error, wrong[i].says);
        assert_null(create(NULL, wrong[i].text, &error));
        assert_message(&error, wrong[i].says);
        assert_message(&error, "EDEN_OPTIONS");
    }
    eden_error error;
    eden_heap *heap = create("policy=fixed", NULL, &error);
    assert_false(eden_heap_set(heap, "nothing", "1", &error));
    assert_message(&error, "'nothing'");
    assert_false(eden_heap_set(heap, "nothing", "1", NULL));
    char text[16] = "as it was";
    assert_false(eden_heap_get(heap, "nothing", text, sizeof text));
    /* A short buffer is filled as far as it goes. */
    assert_true(eden_heap_get(heap, "eden_size", text, 4));
    assert_string_equal(text, "167");
    eden_heap_destroy(heap);
}

TEST(suffixes_are_powers_of_1024) {
    eden_error error;
    eden_heap *heap = create(NULL, NULL, &error);
    const struct {
        const char *text, *value;
    } sizes[] = {{"1024K", "1048576"},
                 {"1024k", "1048576"},
                 {"7M", "7340032"},
                 {"7m", "7340032"},
                 {"3G", "3221225472"},
                 {"3g", "3221225472"},
                 {"2T", "2199023255552"},
                 {"2t", "2199023255552"},
                 {"0.5G", "536870912"},
                 {".5G", "536870912"},
                 {"12345", "12345"},
                 {"1.5", "1"},
                 {"9007199254740993", "9007199254740993"} /* more than a double holds */};
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        assert_true(eden_heap_set(heap, "shrink_threshold", sizes[i].text, &error));
        assert_value(heap, "shrink_threshold", sizes[i].value);
    }
    const char *const too_large[] = {"99999999T", "18446744073709551616", "1e400", "16777216T"};
    for (size_t i = 0; i < sizeof too_large / sizeof too_large[0]; i++) {
        assert_false(eden_heap_set(heap, "shrink_threshold", too_large[i], &error));
    }
    eden_heap_destroy(heap);
}

TEST(the_later_of_two_tenuring_parameters_wins) {
    eden_error error;
    eden_heap *heap = create("tenure_proportion=0.5,survivors_to_keep=0", NULL, &error);
    assert_true(tenure_proportion(heap) == 1.0);
    assert_true(eden_heap_set(heap, "tenure_proportion", "0.25", &error));
    assert_value(heap, "survivors_to_keep", "unset");
    assert_true(tenure_proportion(heap) == 0.25);
    assert_true(eden_heap_set(heap, "survivors_to_keep", "1e15", &error));
    assert_true(tenure_proportion(heap) == 0);
    assert_value(heap, "tenure_proportion", "0.25");
    assert_true(eden_heap_set(heap, "survivors_to_keep", "unset", &error));
    assert_true(tenure_proportion(heap) == 0.25);
    /* A refused value changes neither. */
    assert_true(eden_heap_set(heap, "survivors_to_keep", "0", &error));
    assert_false(eden_heap_set(heap, "tenure_proportion", "2", &error));
    assert_value(heap, "survivors_to_keep", "0");
    eden_heap_destroy(heap);
    heap = create("survivors_to_keep=0", "tenure_proportion=0.75", &error);
    assert_true(tenure_proportion(heap) == 0.75);
    eden_heap_destroy(heap);
    heap = create("tenure_proportion=0.75", "survivors_to_keep=0", &error);
    assert_true(tenure_proportion(heap) == 1.0);
    eden_heap_destroy(heap);
}

TEST(what_cannot_change_or_does_not_fit) {
    eden_error error;
    eden_heap *heap = create("eden_size=1M", NULL, &error);
    assert_false(eden_heap_set(heap, "eden_size", "2M", &error));
    assert_int_equal(error.status, EDEN_BAD_PARAMETER);
    assert_message(&error, "eden_size cannot change");
    /* New space alone is more than 1M. */
    assert_false(eden_heap_set(heap, "max_heap", "1M", &error));
    assert_int_equal(error.status, EDEN_BAD_PARAMETER);
    assert_message(&error, "max_heap=1M");
    assert_value(heap, "max_heap", "none");
    eden_heap_destroy(heap);
    assert_null(create("eden_size=1M,max_heap=1M", NULL, &error));
    assert_int_equal(error.status, EDEN_BAD_PARAMETER);
    assert_message(&error, "max_heap=1048576");
    assert_message(&error, "eden_size");
}

/* Else policy=auto would take them for set, and size eden no more. */
TEST(what_cannot_change_is_refused_with_its_own_value_too) {
    static const char *const names[] = {"eden_size", "remembered_set", "pretenure"};
    eden_error error;
    eden_heap *heap = create(NULL, NULL, &error);
    for (size_t i = 0; i < 3; i++) {
        char value[64];
        assert_true(eden_heap_get(heap, names[i], value, sizeof value));
        error = (eden_error){EDEN_OK, ""};
        assert_false(eden_heap_set(heap, names[i], value, &error));
        assert_int_equal(error.status, EDEN_BAD_PARAMETER);
        assert_message(&error, names[i]);
        assert_message(&error, "cannot change after the heap is created");
        assert_value(heap, names[i], value);
    }
    assert_true(params_decide(&heap->params, EDEN_PARAM_eden_size));
    assert_int_equal(heap->params.given, 0);
    eden_heap_destroy(heap);
}

TEST(odd_sizes_of_eden_are_rounded) {
    const char *const sizes[] = {"65536", "65537", "65543", "100001", "1000000", "1048577"};
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        char text[40];
        snprintf(text, sizeof text, "eden_size=%s", sizes[i]);
        WORLD(w, text);
        size_t wanted = strtoul(sizes[i], NULL, 10) / 8 * 8;
        assert_int_equal(w.heap->eden.limit - w.heap->eden.start, wanted);
        EDEN_FRAME(w.m, local, 1);
        for (int n = 0; n < 100000; n++) {
            eden_value object = eden_new_raw(w.m, w.words64, (size_t)(n % 9));
            assert_true(object != EDEN_NONE && object_end(object) <= w.heap->eden.limit);
            local[0] = object;
        }
        assert_true(figures_of(&w).scavenges > 0);
    }
}

/* A program may have set a locale with a decimal comma. One is made where the system has none, if it can be. */
TEST(the_locale_does_not_matter) {
    char folder[] = "/tmp/eden-locale-XXXXXX", command[200];
    assert_non_null(mkdtemp(folder));
    const char *found = setlocale(LC_ALL, "de_DE.UTF-8");
    if (found == NULL) {
        snprintf(command, sizeof command, "localedef -i de_DE -f UTF-8 %s/de_DE.utf8 >%s/log 2>&1", folder, folder);
        setenv("LOCPATH", folder, 1);
        found = system(command) == 0 ? setlocale(LC_ALL, "de_DE.utf8") : NULL;
    }
    eden_error error;
    eden_heap *heap = create("full_gc_ratio=2.5,eden_size=1.5M", "tenure_fill=0.75", &error);
    if (heap == NULL) {
        fail_msg("%s", error.message);
    }
    assert_value(heap, "full_gc_ratio", "2.5");
    assert_value(heap, "eden_size", "1572864");
    assert_value(heap, "tenure_fill", "0.75");
    assert_false(eden_heap_set(heap, "tenure_fill", "0,5", &error));
    if (found != NULL) {
        assert_string_equal(localeconv()->decimal_point, ","); /* the program's own is as it was */
    }
    eden_heap_destroy(heap);
    setlocale(LC_ALL, "C");
    unsetenv("LOCPATH");
    snprintf(command, sizeof command, "rm -rf %s", folder);
    assert_int_equal(system(command), 0);
    print_message("decimal point in the locale tried: %s\n", found == NULL ? "." : ",");
}

SUITE(clear_options, NULL)
