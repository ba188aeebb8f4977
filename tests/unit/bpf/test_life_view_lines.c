/* NDJSON, CSV and survival curves: what each prints is read back, line by line, and compared with the model. */
#include "forms.h"
#include "life_views.h"
#include "views/lifetimes/table.h"
#include <jansson.h>
#include <math.h>

/* ---- output line by line ------------------------------------------------------------------------------------------
 * Nothing of many lines is kept. */

struct lines {
    void (*on_line)(struct lines *lines, char *text, size_t length);
    char text[4096];
    size_t length, count;
    bool csv, quoted; /* within quotes a newline ends nothing */
    void *state;
};

static ssize_t take_lines(void *cookie, const char *data, size_t size) {
    struct lines *lines = cookie;
    for (size_t i = 0; i < size; i++) {
        lines->quoted ^= lines->csv && data[i] == '"';
        if (lines->length + 1 == sizeof lines->text) {
            fail_msg("a line of %zu bytes", lines->length);
        }
        lines->text[lines->length++] = data[i];
        if (data[i] == '\n' && !lines->quoted) {
            lines->text[lines->length] = '\0';
            lines->on_line(lines, lines->text, lines->length);
            lines->length = 0;
            lines->count++;
        }
    }
    return (ssize_t)size;
}

static void print_lines(const char *view, const struct life_model *model, struct lines *lines) {
    struct failure why = {0};
    FILE *out = fopencookie(lines, "w", (cookie_io_functions_t){.write = take_lines});
    assert_non_null(out);
    assert_true(life_view_named(view)->print(out, model, &life_view_defaults, &why));
    assert_int_equal(fclose(out), 0);
    assert_int_equal(lines->length, 0);
}

/* ---- NDJSON ------------------------------------------------------------------------------------------------------ */

struct seen {
    size_t kinds[4]; /* heap, class, site, object */
    uint64_t births, deaths, censored, alive, objects;
    double memory_share, weights;
    const struct life_model *model;
};

static uint64_t integer(const json_t *line, const char *key) {
    const json_t *value = json_object_get(line, key);
    assert_true(json_is_integer(value));
    return (uint64_t)json_integer_value(value);
}

static void check_object(const json_t *line, struct seen *seen, size_t number) {
    struct build_end end = nth_end(number);
    struct eden_life_record record = record_of(number, &end);
    assert_int_equal(integer(line, "site"), record.site);
    assert_int_equal(integer(line, "bytes"), record.bytes);
    assert_int_equal(integer(line, "end_ns") - integer(line, "birth_ns"), end.ns);
    assert_int_equal(integer(line, "end_bytes") - integer(line, "birth_bytes"), end.allocated);
    assert_int_equal(json_is_true(json_object_get(line, "censored")), end.outcome == LIFE_CENSORED);
    assert_int_equal(json_is_null(json_object_get(line, "tenured_ns")), record.tenured_ns == 0);
    assert_true(json_is_null(json_object_get(line, "last_seen_ns")));
    seen->weights += json_number_value(json_object_get(line, "weight"));
}

static void on_json(struct lines *lines, char *text, size_t length) {
    static const char *const kinds[] = {"heap", "class", "site", "object"};
    struct seen *seen = lines->state;
    json_error_t error;
    json_auto_t *line = json_loadb(text, length, 0, &error);
    if (!line) {
        fail_msg("%s in: %s", error.text, text);
    }
    const char *kind = json_string_value(json_object_get(line, "kind"));
    size_t which = 0;
    while (strcmp(kinds[which], kind) != 0) {
        assert_true(++which < 4);
    }
    assert_int_equal(integer(line, "pid"), 4711);
    if (which == 3) {
        check_object(line, seen, seen->kinds[3]);
    } else if (which == 2) {
        assert_int_equal(integer(line, "births"), integer(line, "deaths") + integer(line, "censored"));
        seen->births += integer(line, "births");
        seen->deaths += integer(line, "deaths");
        seen->censored += integer(line, "censored");
    } else if (which == 1) {
        seen->memory_share += json_number_value(json_object_get(line, "memory_share"));
        assert_true(json_is_string(json_object_get(line, "verdict")));
    }
    seen->kinds[which]++;
}

TEST(ndjson_is_whole) {
    struct life_model model __attribute__((cleanup(clear_model))) = make_model(MANY, true);
    struct seen seen = {.model = &model};
    struct lines lines = {.on_line = on_json, .state = &seen};
    print_lines("ndjson", &model, &lines);
    assert_int_equal(seen.kinds[0], 1);
    assert_int_equal(seen.kinds[1], NAMES);
    assert_int_equal(seen.kinds[2], SITES);
    assert_int_equal(seen.kinds[3], MANY);
    assert_int_equal(seen.births, MANY);
    assert_int_equal(seen.deaths, MANY - MANY / 10);
    assert_int_equal(seen.censored, MANY / 10);
    assert_true(fabs(seen.memory_share - 1) < 1e-9);
    assert_true(fabs(seen.weights - (2. * MANY - 1)) < 3); /* 1, 2, 3 in turn */
}

/* ---- CSV --------------------------------------------------------------------------------------------------------- */

enum { MOST_FIELDS = 32 };

/* Takes a record apart in place. */
static int split_csv(char *text, char *fields[MOST_FIELDS]) {
    int count = 0;
    for (char *from = text;;) {
        assert_true(count < MOST_FIELDS);
        char *to = fields[count++] = from;
        if (*from == '"') {
            for (from++; *from != '"' || from[1] == '"'; from++) {
                assert_true(*from != '\0');
                from += *from == '"';
                *to++ = *from;
            }
            from++;
        } else {
            size_t length = strcspn(from, ",\r\n\"");
            from += length;
            to += length;
        }
        char end = *from++;
        *to = '\0';
        if (end == '\r') {
            assert_string_equal(from, "\n");
            return count;
        }
        assert_int_equal(end, ',');
    }
}

struct csv_seen {
    int columns;
    size_t rows;
    uint64_t samples[LIFE_OUTCOMES][LIFE_CLOCKS];
    double objects;
};

static void on_object_row(struct lines *lines, char *text, size_t length) {
    struct csv_seen *seen = lines->state;
    char *fields[MOST_FIELDS], name[64];
    assert_int_equal(form_check(text, length, "\r\n"), length);
    int count = split_csv(text, fields);
    assert_null(strchr("=+-@", fields[2][0]));
    if (lines->count == 0) {
        seen->columns = count;
        assert_string_equal(fields[5], "censored");
        assert_string_equal(fields[7], "lifetime_ns");
        return;
    }
    struct build_end end = nth_end(seen->rows);
    uint32_t site = (uint32_t)(seen->rows % SITES);
    assert_int_equal(count, seen->columns);
    form_read(name, fields[2]);
    assert_string_equal(name, names[site / 2]);
    assert_int_equal(strtoul(fields[3], NULL, 10), site);
    form_read(name, fields[4]);
    assert_string_equal(name, names[site % 2 ? NAMES - 1 - site / 2 : site / 2]);
    assert_string_equal(fields[5], end.outcome == LIFE_CENSORED ? "1" : "0");
    assert_int_equal(strtoull(fields[6], NULL, 10), end.bytes);
    assert_int_equal(strtoull(fields[7], NULL, 10), end.ns);
    assert_int_equal(strtoull(fields[8], NULL, 10), end.allocated);
    seen->rows++;
}

static void on_bucket_row(struct lines *lines, char *text, size_t length) {
    (void)length;
    struct csv_seen *seen = lines->state;
    char *fields[MOST_FIELDS];
    int count = split_csv(text, fields), clock = 0;
    if (lines->count == 0) {
        seen->columns = count;
        assert_string_equal(fields[5], "censored");
        return;
    }
    static const char *const clocks[] = {"ns", "bytes", "scavenges", "fulls"};
    assert_int_equal(count, seen->columns);
    while (strcmp(fields[6], clocks[clock]) != 0) {
        assert_true(++clock < LIFE_CLOCKS);
    }
    assert_true(strtoull(fields[7], NULL, 10) <= strtoull(fields[8], NULL, 10));
    seen->samples[fields[5][0] == '1'][clock] += strtoull(fields[9], NULL, 10);
    seen->objects += clock == LIFE_NS ? strtod(fields[10], NULL) : 0;
    seen->rows++;
}

TEST(csv_is_whole) {
    struct life_model model __attribute__((cleanup(clear_model))) = make_model(MANY, true);
    struct csv_seen seen = {0};
    struct lines lines = {.on_line = on_object_row, .csv = true, .state = &seen};
    print_lines("csv", &model, &lines);
    assert_int_equal(seen.rows, MANY);

    model.objects.each = NULL;
    seen = (struct csv_seen){0};
    lines = (struct lines){.on_line = on_bucket_row, .csv = true, .state = &seen};
    print_lines("csv", &model, &lines);
    for (int clock = 0; clock < LIFE_CLOCKS; clock++) {
        assert_int_equal(seen.samples[LIFE_DIED][clock], MANY - MANY / 10);
        assert_int_equal(seen.samples[LIFE_CENSORED][clock], MANY / 10);
    }
    assert_true(fabs(seen.objects - (2. * MANY - 1)) < 3);
}

static void on_curve_row(struct lines *lines, char *text, size_t length) {
    (void)length;
    struct csv_seen *seen = lines->state;
    char *fields[MOST_FIELDS];
    int count = split_csv(text, fields);
    assert_int_equal(count, 14);
    if (lines->count != 0) {
        assert_true(strtod(fields[11], NULL) >= 0 && strtod(fields[11], NULL) <= 1);
        seen->samples[LIFE_DIED][0] += strtoull(fields[9], NULL, 10);
        seen->samples[LIFE_CENSORED][0] += strtoull(fields[10], NULL, 10);
    }
}

TEST(survival_curves_are_whole) {
    struct life_model model __attribute__((cleanup(clear_model))) = make_model(10000, false);
    struct csv_seen seen = {0};
    struct lines lines = {.on_line = on_curve_row, .csv = true, .state = &seen};
    print_lines("survival", &model, &lines);
    assert_int_equal(seen.samples[LIFE_DIED][0], 9000);
    assert_int_equal(seen.samples[LIFE_CENSORED][0], 1000);
}

/* ---- a heap whose number is unknown ------------------------------------------------------------------------------ */

static void on_unknown_json(struct lines *lines, char *text, size_t length) {
    (void)lines;
    json_auto_t *line = json_loadb(text, length, 0, NULL);
    assert_true(json_is_null(json_object_get(line, "heap")));
}

static void on_unknown_row(struct lines *lines, char *text, size_t length) {
    char *fields[MOST_FIELDS];
    (void)length;
    split_csv(text, fields);
    assert_string_equal(fields[1], lines->count == 0 ? "heap" : "");
}

TEST(unknown_heap_has_no_number) {
    struct life_model model __attribute__((cleanup(clear_model))) = make_model(1000, true);
    model.heaps[0].id = 0;
    struct lines lines = {.on_line = on_unknown_json};
    print_lines("ndjson", &model, &lines);
    static const char *const views[] = {"csv", "survival"};
    for (int i = 0; i < 2; i++) {
        lines = (struct lines){.on_line = on_unknown_row, .csv = true};
        print_lines(views[i], &model, &lines);
        assert_true(lines.count > 1);
    }
    struct failure why = {0};
    char *text __attribute__((cleanup(free_at))) = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    assert_true(life_json(out, &model, &life_view_defaults, &why));
    assert_int_equal(fclose(out), 0);
    json_auto_t *json = json_loadb(text, size, 0, NULL);
    static const char *const tables[] = {"heaps", "classes", "sites"};
    for (int i = 0; i < 3; i++) {
        const json_t *rows = json_object_get(json, tables[i]), *row;
        size_t place;
        assert_true(json_array_size(rows) > 0);
        json_array_foreach(rows, place, row) { assert_true(json_is_null(json_object_get(row, "heap"))); }
    }
}
