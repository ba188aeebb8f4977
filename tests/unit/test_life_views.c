/* The views of lifetimes: what each prints is read back and compared with the model, whose names are as bad as names
 * can be. */
#include "csv.h"
#include "life_builder.h"
#include "life_view.h"
#include "profile.pb-c.h"
#include <jansson.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include <cmocka.h>

#if defined(__SANITIZE_ADDRESS__)
enum { MANY = 100000 };
#else
enum { MANY = 1000000 };
#endif
enum { NAMES = 9, SITES = 2 * NAMES };

/* No name holds a slash: what a shell made of one would be a file in this folder. */
static const char *const names[NAMES] = {
    "Point",
    "quote\" 'single' ''two",
    "comma, semicolon; colon: 7",
    "line\nbreak\r\nand\ttab",
    "control \x01\x1b[31m\x7f \xc2\x85",
    "junk \xff\xfe\xc3(\xe2\x82 \xed\xa0\x80 \xf5 \xef\xbf\xbf",
    "Gr\xc3\xb6\xc3\x9f"
    "e \xe2\x82\xac <&> ]]> %s%n {/=9} _^@ \\",
    "`touch shell-was-here`$(touch shell-was-here)",
    "'\n!touch shell-was-here\nsystem('touch shell-was-here')\\",
};

/* Site 2n is the class itself, 2n + 1 a place that allocates it. Each tenth object is alive at the end. */
static struct build_end nth_end(size_t i) {
    bool censored = i % 10 == 9, tenured = i % 7 == 0;
    uint64_t step = i * 2654435761u % 1000;
    return (struct build_end){
        .outcome = censored ? LIFE_CENSORED : LIFE_DIED,
        .flags = (tenured ? EDEN_LIFE_TENURED : 0u) | (tenured && i % 3 == 0 ? EDEN_LIFE_NEPOTISM : 0u),
        .count = 1,
        .bytes = 16 + i % SITES * 8,
        .ns = step * step * 10,
        .allocated = step * 1024,
        .scavenges = step / 100,
        .fulls = step / 500,
        .weight = 1 + i % 3,
    };
}

static struct eden_life_record record_of(size_t i, const struct build_end *end) {
    return (struct eden_life_record){
        .site = (uint32_t)(i % SITES),
        .flags = end->flags,
        .bytes = end->bytes,
        .birth_ns = 1000 + i,
        .birth_bytes = 4096 + 16 * i,
        .tenured_ns = end->flags & EDEN_LIFE_TENURED ? 1000 + i + end->ns / 2 : 0,
        .death_ns = 1000 + i + end->ns,
        .death_bytes = 4096 + 16 * i + end->allocated,
        .scavenges = (uint32_t)end->scavenges,
        .fulls = (uint32_t)end->fulls,
        .censored = end->outcome == LIFE_CENSORED,
        .weight = end->weight * EDEN_WEIGHT_ONE,
    };
}

static void add_sites(struct life_heap *heap) {
    heap->sites = calloc(SITES, sizeof *heap->sites);
    assert_non_null(heap->sites);
    heap->site_count = heap->site_room = SITES;
    for (uint32_t i = 0; i < SITES; i++) {
        struct life_site *site = &heap->sites[i];
        *site = (struct life_site){.site = i, .class_id = i & ~1u};
        snprintf(site->class_name, sizeof site->class_name, "%s", names[i / 2]);
        snprintf(site->name, sizeof site->name, "%s", names[i % 2 ? NAMES - 1 - i / 2 : i / 2]);
    }
}

/* The objects of make_model, made anew each time; `from` is how many. */
static bool each_object(void *from, const struct life_model *model, life_object_fn *visit, void *context,
                        struct failure *why) {
    (void)why;
    bool more = true;
    for (size_t i = 0; more && i < (uintptr_t)from; i++) {
        struct build_end end = nth_end(i);
        struct eden_life_record record = record_of(i, &end);
        more = visit(context, &model->heaps[0], &record);
    }
    return true;
}

static struct life_model make_model(size_t count, bool details) {
    struct life_model model = {.heap_count = 1, .heap_room = 1, .wall_ns = 20000000};
    model.objects = (struct life_objects){details ? each_object : NULL, (void *)(uintptr_t)count};
    model.heaps = calloc(1, sizeof *model.heaps);
    assert_non_null(model.heaps);
    struct life_heap *heap = model.heaps;
    heap->process = (struct process_key){.pid = 4711};
    heap->id = 3;
    snprintf(heap->command, sizeof heap->command, "%s", names[7]);
    snprintf(heap->name, sizeof heap->name, "%s", names[5]);
    build_run(heap, 10000000, 2 << 20);
    add_sites(heap);
    for (size_t i = 0; i < count; i++) {
        struct build_end end = nth_end(i);
        build_end(&heap->sites[i % SITES], end);
    }
    return model;
}

static void clear_model(struct life_model *model) {
    for (size_t i = 0; i < model->heap_count; i++) {
        for (size_t j = 0; j < model->heaps[i].site_count; j++) {
            life_site_clear(&model->heaps[i].sites[j]);
        }
        free(model->heaps[i].sites);
    }
    free(model->heaps);
}

static char *print(const char *view, const struct life_model *model, const struct life_view_options *options,
                   size_t *size) {
    char *text = NULL;
    struct failure why = {0};
    FILE *out = open_memstream(&text, size);
    assert_non_null(out);
    if (!life_view_named(view)->print(out, model, options, &why)) {
        fail_msg("%s: %s", view, why.message);
    }
    assert_int_equal(fclose(out), 0);
    return text;
}

/* ---- output line by line ------------------------------------------------------------------------------------------
 * Nothing of a million lines is kept. */

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
    json_t *line = json_loadb(text, length, 0, &error);
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
    json_decref(line);
}

static void ndjson_is_whole(void **state) {
    (void)state;
    struct life_model model = make_model(MANY, true);
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
    clear_model(&model);
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
    (void)length;
    struct csv_seen *seen = lines->state;
    char *fields[MOST_FIELDS];
    int count = split_csv(text, fields);
    if (lines->count == 0) {
        seen->columns = count;
        assert_string_equal(fields[5], "censored");
        assert_string_equal(fields[7], "lifetime_ns");
        return;
    }
    struct build_end end = nth_end(seen->rows);
    uint32_t site = (uint32_t)(seen->rows % SITES);
    assert_int_equal(count, seen->columns);
    assert_string_equal(fields[2], names[site / 2]);
    assert_int_equal(strtoul(fields[3], NULL, 10), site);
    assert_string_equal(fields[4], names[site % 2 ? NAMES - 1 - site / 2 : site / 2]);
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

static void csv_is_whole(void **state) {
    (void)state;
    struct life_model model = make_model(MANY, true);
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
    clear_model(&model);
}

static void on_curve_row(struct lines *lines, char *text, size_t length) {
    (void)length;
    struct csv_seen *seen = lines->state;
    char *fields[MOST_FIELDS];
    int count = split_csv(text, fields);
    assert_int_equal(count, 13);
    if (lines->count != 0) {
        assert_true(strtod(fields[11], NULL) >= 0 && strtod(fields[11], NULL) <= 1);
        seen->samples[LIFE_DIED][0] += strtoull(fields[9], NULL, 10);
        seen->samples[LIFE_CENSORED][0] += strtoull(fields[10], NULL, 10);
    }
}

static void survival_curves_are_whole(void **state) {
    (void)state;
    struct life_model model = make_model(10000, false);
    struct csv_seen seen = {0};
    struct lines lines = {.on_line = on_curve_row, .csv = true, .state = &seen};
    print_lines("survival", &model, &lines);
    assert_int_equal(seen.samples[LIFE_DIED][0], 9000);
    assert_int_equal(seen.samples[LIFE_CENSORED][0], 1000);
    clear_model(&model);
}

/* ---- folded stacks ----------------------------------------------------------------------------------------------- */

/* Every line is frames, a blank and a number, and nothing else; sums up the numbers of those that end in `last`. */
static uint64_t sum_folded(char *text, const char *last) {
    uint64_t sum = 0;
    for (char *line = strtok(text, "\n"); line; line = strtok(NULL, "\n")) {
        char *end, *amount = strrchr(line, ' ');
        assert_non_null(amount);
        *amount++ = '\0';
        uint64_t value = strtoull(amount, &end, 10);
        assert_true(end != amount && *end == '\0');
        char *leaf = strrchr(line, ';');
        assert_non_null(leaf);
        int frames = 1;
        for (const char *at = line; *at; at++) {
            assert_true((unsigned char)*at >= 32 && *at != 127);
            frames += *at == ';';
        }
        assert_true(frames == 2 || frames == 3); /* class, site, verdict */
        sum += !last || strcmp(leaf + 1, last) == 0 ? value : 0;
    }
    return sum;
}

static void folded_stacks_add_up(void **state) {
    (void)state;
    struct life_model model = make_model(MANY, false);
    struct life_view_options options = life_view_defaults;
    size_t size;
    static const char *const verdicts[] = {"short-lived", "long-lived", "unknown", NULL};
    uint64_t sums[4], objects = 0, memory = 0, early = 0;
    for (size_t i = 0; i < MANY; i++) {
        struct build_end end = nth_end(i);
        objects += end.weight;
        memory += end.weight * end.bytes;
        early += histogram_upper(histogram_bucket(end.ns)) <= 500000 && end.outcome == LIFE_DIED ? end.weight : 0;
    }
    for (int i = 0; i < 4; i++) {
        char *text = print("folded", &model, &options, &size);
        sums[i] = sum_folded(text, verdicts[i]);
        free(text);
    }
    assert_int_equal(sums[0], early);
    assert_int_equal(sums[3], objects);
    assert_int_equal(sums[0] + sums[1] + sums[2], objects);
    assert_true(sums[1] > 0 && sums[2] > 0);
    options.by = LIFE_BY_MEMORY;
    char *text = print("folded", &model, &options, &size);
    assert_int_equal(sum_folded(text, NULL), memory);
    free(text);
    clear_model(&model);
}

/* ---- pprof ------------------------------------------------------------------------------------------------------- */

static Perftools__Profiles__Profile *read_pprof(const char *text, size_t size) {
    size_t room = 64u << 20;
    uint8_t *plain = malloc(room);
    assert_non_null(plain);
    z_stream stream = {
        .next_in = (Bytef *)text, .avail_in = (unsigned)size, .next_out = plain, .avail_out = (unsigned)room};
    assert_int_equal(inflateInit2(&stream, 15 + 16), Z_OK); /* gzip alone */
    assert_int_equal(inflate(&stream, Z_FINISH), Z_STREAM_END);
    assert_int_equal(stream.avail_in, 0);
    Perftools__Profiles__Profile *profile = perftools__profiles__profile__unpack(NULL, stream.total_out, plain);
    assert_non_null(profile);
    inflateEnd(&stream);
    free(plain);
    return profile;
}

static const char *string(const Perftools__Profiles__Profile *profile, int64_t number) {
    assert_true(number >= 0 && (size_t)number < profile->n_string_table);
    return profile->string_table[number];
}

static const char *frame_name(const Perftools__Profiles__Profile *profile, uint64_t id) {
    for (size_t i = 0; i < profile->n_location; i++) {
        if (profile->location[i]->id != id) {
            continue;
        }
        for (size_t j = 0; j < profile->n_function; j++) {
            if (profile->function[j]->id == profile->location[i]->line[0]->function_id) {
                return string(profile, profile->function[j]->name);
            }
        }
    }
    fail_msg("no frame %llu", (unsigned long long)id);
    return NULL;
}

static int64_t label(const Perftools__Profiles__Profile *profile, const Perftools__Profiles__Sample *sample,
                     const char *key) {
    for (size_t i = 0; i < sample->n_label; i++) {
        if (strcmp(string(profile, sample->label[i]->key), key) == 0) {
            if (sample->label[i]->num_unit && strstr(key, "lifetime")) {
                assert_string_equal(string(profile, sample->label[i]->num_unit), "nanoseconds");
            }
            return sample->label[i]->num;
        }
    }
    return 0;
}

/* Only letters and digits of the names, which no form of output replaces. */
static bool same_letters(const char *a, const char *b) {
    for (;; a++, b++) {
        while (*a && !(*a >= 'a' && *a <= 'z')) {
            a++;
        }
        while (*b && !(*b >= 'a' && *b <= 'z')) {
            b++;
        }
        if (*a != *b || !*a) {
            return *a == *b;
        }
    }
}

static void pprof_has_tcmallocs_form(void **state) {
    (void)state;
    static const char *const types[] = {"allocated_objects",          "allocated_space",
                                        "deallocated_objects",        "deallocated_space",
                                        "censored_allocated_objects", "censored_allocated_space"};
    struct life_model model = make_model(MANY, false);
    int64_t sums[6] = {0}, wanted[6] = {0};
    size_t size;
    for (size_t i = 0; i < MANY; i++) {
        struct build_end end = nth_end(i);
        int first = end.outcome == LIFE_CENSORED ? 4 : 0;
        for (int j = first; j < (first ? 6 : 4); j++) {
            wanted[j] += (int64_t)(end.weight * (j % 2 ? end.bytes : 1));
        }
    }
    char *text = print("pprof", &model, &life_view_defaults, &size);
    Perftools__Profiles__Profile *profile = read_pprof(text, size);
    assert_string_equal(profile->string_table[0], "");
    assert_int_equal(profile->n_sample_type, 6);
    for (int i = 0; i < 6; i++) {
        assert_string_equal(string(profile, profile->sample_type[i]->type), types[i]);
        assert_string_equal(string(profile, profile->sample_type[i]->unit), i % 2 ? "bytes" : "count");
    }
    assert_string_equal(string(profile, profile->default_sample_type), "deallocated_space");
    assert_string_equal(string(profile, profile->period_type->type), "objects");
    assert_int_equal(profile->period, 1);
    for (size_t i = 0; i < profile->n_sample; i++) {
        const Perftools__Profiles__Sample *sample = profile->sample[i];
        assert_int_equal(sample->n_value, 6);
        for (int j = 0; j < 6; j++) {
            sums[j] += sample->value[j];
        }
        assert_true(label(profile, sample, "min_lifetime") <= label(profile, sample, "avg_lifetime"));
        assert_true(label(profile, sample, "avg_lifetime") <= label(profile, sample, "max_lifetime"));
        assert_true(label(profile, sample, "callstack-pair-id") > 0);
        assert_int_equal((label(profile, sample, "bytes") - 16) % 8, 0); /* all of a site are of one size */
        uint64_t root = sample->location_id[sample->n_location_id - 1];
        size_t site = (size_t)(label(profile, sample, "bytes") - 16) / 8;
        assert_int_equal(sample->n_location_id, 1 + site % 2);
        assert_true(same_letters(frame_name(profile, root), names[site / 2]));
    }
    for (int j = 0; j < 6; j++) {
        assert_int_equal(sums[j], wanted[j]);
    }
    perftools__profiles__profile__free_unpacked(profile, NULL);
    free(text);
    clear_model(&model);
}

/* The functions of a native stack are its frames, innermost first in pprof, outermost first in folded stacks. */
static void functions_are_frames(void **state) {
    (void)state;
    struct life_stacks stacks = {0};
    const uint32_t frame[] = {life_stacks_name(&stacks, "push"), life_stacks_name(&stacks, "run; all"),
                              life_stacks_name(&stacks, "main")};
    uint32_t number = life_stacks_add(&stacks, 5, frame, 3);
    struct life_model model = {.stacks = &stacks};
    struct life_heap *heap = life_model_heap(&model, &(struct process_key){.pid = 7, .start_ns = 1}, 1, 1);
    build_run(heap, 1000000, 1 << 20);
    struct life_site *group = life_heap_site(heap, EDEN_CLASS_LIMIT + number);
    group->class_id = 5;
    group->stack = life_stacks_get(&stacks, number);
    snprintf(group->class_name, sizeof group->class_name, "Pair");
    build_end(group, (struct build_end){.outcome = LIFE_DIED, .count = 3, .bytes = 24, .ns = 10, .allocated = 24});
    group = life_heap_site(heap, LIFE_NO_STACK + 5);
    group->class_id = 5;
    snprintf(group->class_name, sizeof group->class_name, "Pair");
    snprintf(group->name, sizeof group->name, "unknown stack");
    build_end(group, (struct build_end){.outcome = LIFE_DIED, .count = 2, .bytes = 24, .ns = 10, .allocated = 24});
    size_t size;
    char *text = print("folded", &model, &life_view_defaults, &size);
    assert_string_equal(text, "main;run? all;push;Pair;short-lived 3\nPair;unknown stack;short-lived 2\n");
    free(text);
    text = print("pprof", &model, &life_view_defaults, &size);
    Perftools__Profiles__Profile *profile = read_pprof(text, size);
    static const char *const known[] = {"Pair", "push", "run; all", "main"}, *const unknown[] = {"unknown stack",
                                                                                                 "Pair"};
    assert_int_equal(profile->n_sample, 4);
    for (size_t i = 0; i < 4; i++) {
        const Perftools__Profiles__Sample *sample = profile->sample[i];
        assert_int_equal(sample->n_location_id, i < 2 ? 4 : 2);
        for (size_t j = 0; j < sample->n_location_id; j++) {
            assert_string_equal(frame_name(profile, sample->location_id[j]), (i < 2 ? known : unknown)[j]);
        }
    }
    perftools__profiles__profile__free_unpacked(profile, NULL);
    free(text);
    life_model_clear(&model);
    life_stacks_clear(&stacks);
}

static void assert_is_svg(const char *text, size_t size) {
    FILE *lint = popen("xmllint --noout --nonet -", "w");
    assert_non_null(lint);
    assert_int_equal(fwrite(text, 1, size, lint), size);
    assert_int_equal(pclose(lint), 0);
    assert_non_null(strstr(text, "<svg"));
}

/* Two heaps with the same sites: each has frames of its own. */
static void heaps_stay_apart(void **state) {
    (void)state;
    struct life_model model = make_model(1000, false), other = make_model(2000, false);
    model.heaps = realloc(model.heaps, 2 * sizeof *model.heaps);
    assert_non_null(model.heaps);
    model.heaps[1] = other.heaps[0];
    model.heaps[1].id = 4;
    model.heap_count = 2;
    free(other.heaps);
    size_t size;
    char *text = print("pprof", &model, &life_view_defaults, &size);
    Perftools__Profiles__Profile *profile = read_pprof(text, size);
    assert_int_equal(profile->n_location, 2 * (1 + SITES));
    for (size_t i = 0; i < profile->n_location; i++) {
        for (size_t j = 0; j < i; j++) {
            assert_true(profile->location[i]->id != profile->location[j]->id);
        }
    }
    int64_t ended[2] = {0};
    for (size_t i = 0; i < profile->n_sample; i++) {
        const Perftools__Profiles__Sample *sample = profile->sample[i];
        const char *root = frame_name(profile, sample->location_id[sample->n_location_id - 1]);
        ended[strstr(root, "] heap 4") != NULL] += sample->value[0] + sample->value[4];
    }
    assert_int_equal(ended[0], 1999);
    assert_int_equal(ended[1], 3999);
    perftools__profiles__profile__free_unpacked(profile, NULL);
    free(text);
    text = print("folded", &model, &life_view_defaults, &size);
    uint64_t sum = 0;
    for (char *line = strtok(text, "\n"); line; line = strtok(NULL, "\n")) {
        sum += strstr(line, "heap 4") && strstr(line, "heap 4") < strchr(line, ';')
                   ? strtoull(strrchr(line, ' '), NULL, 10)
                   : 0;
    }
    assert_int_equal(sum, 3999);
    free(text);
    static const char *const views[] = {"survival-svg", "density-svg", "histogram-svg", "heatmap-svg"};
    for (size_t i = 0; i < sizeof views / sizeof *views; i++) {
        text = print(views[i], &model, &life_view_defaults, &size);
        assert_is_svg(text, size);
        free(text);
    }
    clear_model(&model);
}

/* ---- charts ------------------------------------------------------------------------------------------------------ */

static void charts_are_xml(void **state) {
    (void)state;
    static const char *const views[] = {"survival-svg", "density-svg", "histogram-svg", "heatmap-svg"};
    static const enum life_clock clocks[] = {LIFE_NS, LIFE_BYTES, LIFE_SCAVENGES, LIFE_FULLS};
    struct life_model model = make_model(20000, false);
    for (size_t i = 0; i < sizeof views / sizeof *views; i++) {
        for (int clock = 0; clock < LIFE_CLOCKS; clock++) {
            struct life_view_options options = life_view_defaults;
            size_t size;
            options.clock = clocks[clock];
            options.by_site = clock % 2;
            options.by = clock / 2 ? LIFE_BY_MEMORY : LIFE_BY_OBJECTS;
            char *text = print(views[i], &model, &options, &size);
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
            free(text);
        }
    }
    struct stat status;
    assert_int_not_equal(stat("shell-was-here", &status), 0);
    clear_model(&model);
}

static void a_missing_gnuplot_is_named(void **state) {
    (void)state;
    struct life_model model = make_model(100, false);
    struct failure why = {0};
    char *text = NULL, *path = strdup(getenv("PATH"));
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
    free(text);
    clear_model(&model);
}

/* ---- text -------------------------------------------------------------------------------------------------------- */

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

static void text_views_fit_a_terminal(void **state) {
    (void)state;
    struct life_model model = make_model(20000, true), empty = {0};
    static const char *const views[] = {"percentiles", "density", "histogram", "heatmap", "tenured", "nepotism"};
    for (size_t i = 0; i < sizeof views / sizeof *views; i++) {
        size_t size;
        struct life_view_options options = life_view_defaults;
        for (options.top = 0; options.top < 3; options.top++) {
            char *text = print(views[i], &model, &options, &size);
            assert_is_plain(text);
            assert_int_equal(strlen(text), size);
            assert_non_null(strstr(text, "[4711] heap 3"));
            free(text);
        }
    }
    /* Nothing is no failure, but for a chart. */
    for (const struct life_view_description *view = life_views; view->name; view++) {
        struct failure why = {0};
        char *text = NULL;
        size_t size;
        FILE *out = open_memstream(&text, &size);
        assert_non_null(out);
        bool chart = strstr(view->name, "svg") != NULL;
        assert_int_equal(view->print(out, &empty, &life_view_defaults, &why), !chart);
        assert_int_equal(why.status, chart);
        fclose(out);
        free(text);
    }
    assert_null(life_view_named("nonsense"));
    clear_model(&model);
}

/* Two sites; 100 objects of 1 KiB tenured, of which 60 died: 30 after 10 ms in old space, 30 after 200 ms; the run is a
 * second, so the limit 50 ms. 40 of them died of nepotism. */
static void garbage_is_counted(void **state) {
    (void)state;
    struct life_site sites[2] = {{.site = 4, .class_id = 4, .name = "Node", .class_name = "Node"},
                                 {.site = 6, .class_id = 4, .name = "grow", .class_name = "Node"}};
    struct life_heap heap = {.site_count = 2, .sites = sites, .id = 1};
    struct eden_life_record objects[60] = {0};
    struct build_objects from = {objects, 60};
    struct life_model model = {.heap_count = 1, .heaps = &heap};
    const uint64_t ms = 1000000;
    size_t size;
    build_run(&heap, 1000 * ms, 1 << 20);
    struct build_end end = {.count = 30, .bytes = 1024, .ns = 20 * ms, .flags = EDEN_LIFE_TENURED};
    build_end(&sites[1], end);
    end.ns = 400 * ms;
    end.count = 20;
    end.flags |= EDEN_LIFE_NEPOTISM;
    build_end(&sites[1], end);
    end.count = 10;
    build_end(&sites[1], end);
    build_end(&sites[1],
              (struct build_end){
                  .outcome = LIFE_CENSORED, .count = 40, .bytes = 1024, .ns = 500 * ms, .flags = EDEN_LIFE_TENURED});
    build_end(&sites[0], (struct build_end){.count = 100, .bytes = 16, .ns = ms});
    char *text = print("tenured", &model, &life_view_defaults, &size);
    assert_non_null(strstr(text, "in all: 60 samples, about 60.0 KiB, 59.1% of what"));
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
    row = row_with(text, "Node, grow");
    assert_non_null(strstr(row, " 50.0%  Node"));
    free(row);
    free(text);

    text = print("nepotism", &model, &life_view_defaults, &size);
    assert_non_null(strstr(text, "in all: 30 samples"));
    row = row_with(text, "Node, grow");
    assert_non_null(strstr(row, " 50.0%  Node")); /* of 60 that died */
    free(row);
    free(text);
    life_site_clear(&sites[0]);
    life_site_clear(&sites[1]);
}

/* 3 of 4 objects die within 5% of the run, the fourth, as large as nine of them, at 48%. */
static void density_has_shares_in_place(void **state) {
    (void)state;
    struct life_site site = {.site = 1, .class_id = 1, .name = "A", .class_name = "A"};
    struct life_heap heap = {.site_count = 1, .sites = &site};
    struct life_model model = {.heap_count = 1, .heaps = &heap};
    size_t size;
    build_run(&heap, 1000000, 1 << 20);
    build_end(&site, (struct build_end){.count = 3, .bytes = 100, .ns = 1000});
    build_end(&site, (struct build_end){.count = 1, .bytes = 900, .ns = 480000}); /* its bucket: 475,136 to 491,519 */
    char *text = print("density", &model, &life_view_defaults, &size);
    char *objects = strstr(text, "by objects");
    assert_non_null(objects);
    char *row = row_with(text, " 45% -  50%");
    assert_non_null(strstr(row, " 75.00%"));
    free(row);
    row = row_with(objects, "  0% -   5%");
    assert_non_null(strstr(row, " 75.00%"));
    free(row);
    row = row_with(objects, " 45% -  50%");
    assert_non_null(strstr(row, " 25.00%    0.00%  ####"));
    free(row);
    free(text);
    life_site_clear(&site);
}

static void percentiles_and_advice_are_shown(void **state) {
    (void)state;
    struct life_site site = {.site = 1, .class_id = 1, .name = "A", .class_name = "A"};
    struct life_heap heap = {.site_count = 1, .sites = &site};
    struct life_model model = {.heap_count = 1, .heaps = &heap};
    size_t size;
    build_run(&heap, 1000, 1 << 20);
    heap.state.rate = 1000;
    build_end(&site, (struct build_end){.count = 1, .bytes = 100, .ns = 10});
    build_end(&site, (struct build_end){.count = 1, .bytes = 100, .ns = 20});
    build_end(&site, (struct build_end){.count = 2, .bytes = 100, .ns = 30, .outcome = LIFE_CENSORED});
    char *text = print("percentiles", &model, &life_view_defaults, &size);
    char *row = row_with(text, "  A");
    assert_non_null(strstr(row, "10 ns      20 ns     >30 ns     >30 ns     >30 ns"));
    assert_non_null(strstr(row, ">=2"));
    assert_non_null(strstr(text, "too few samples to be sure of: A\n# try --sampling 1/100\n"));
    free(row);
    free(text);
    life_site_clear(&site);
}

/* Sites of the same name at two classes are one row; the classes' columns come largest first. */
static void heatmap_has_a_row_a_place(void **state) {
    (void)state;
    struct life_site sites[] = {{.site = 1, .class_id = 1, .name = "A", .class_name = "A"},
                                {.site = 2, .class_id = 2, .name = "B", .class_name = "B"},
                                {.site = 3, .class_id = 1, .name = "read", .class_name = "A"},
                                {.site = 4, .class_id = 2, .name = "read", .class_name = "B"}};
    struct life_heap heap = {.site_count = 4, .sites = sites};
    struct life_model model = {.heap_count = 1, .heaps = &heap};
    size_t size;
    static const uint64_t counts[] = {10, 0, 20, 70};
    for (int i = 0; i < 4; i++) {
        build_end(&sites[i], (struct build_end){.count = counts[i], .bytes = 8, .ns = 5});
    }
    char *text = print("heatmap", &model, &life_view_defaults, &size);
    assert_non_null(strstr(text, "A: B\n"));
    assert_non_null(strstr(text, "B: A\n"));
    char *row = row_with(text, "  read\n");
    assert_non_null(strstr(row, "  70.00%  20.00%  90.00%"));
    free(row);
    row = row_with(text, "(no site)");
    assert_non_null(strstr(row, "       .  10.00%  10.00%"));
    free(row);
    free(text);
    for (int i = 0; i < 4; i++) {
        life_site_clear(&sites[i]);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ndjson_is_whole),
        cmocka_unit_test(csv_is_whole),
        cmocka_unit_test(survival_curves_are_whole),
        cmocka_unit_test(folded_stacks_add_up),
        cmocka_unit_test(pprof_has_tcmallocs_form),
        cmocka_unit_test(functions_are_frames),
        cmocka_unit_test(heaps_stay_apart),
        cmocka_unit_test(charts_are_xml),
        cmocka_unit_test(a_missing_gnuplot_is_named),
        cmocka_unit_test(text_views_fit_a_terminal),
        cmocka_unit_test(garbage_is_counted),
        cmocka_unit_test(density_has_shares_in_place),
        cmocka_unit_test(percentiles_and_advice_are_shown),
        cmocka_unit_test(heatmap_has_a_row_a_place),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
