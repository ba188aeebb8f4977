/* Folded stacks and pprof: what each prints is read back and compared with the model. */
#include "forms.h"
#include "life_views.h"
#include "profile.pb-c.h"
#include <zlib.h>

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

TEST(folded_stacks_add_up) {
    struct life_model model __attribute__((cleanup(clear_model))) = make_model(MANY, false);
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
        char *text __attribute__((cleanup(free_at))) = print("folded", &model, &options, &size);
        sums[i] = sum_folded(text, verdicts[i]);
    }
    assert_int_equal(sums[0], early);
    assert_int_equal(sums[3], objects);
    assert_int_equal(sums[0] + sums[1] + sums[2], objects);
    assert_true(sums[1] > 0 && sums[2] > 0);
    options.by = LIFE_BY_MEMORY;
    char *text __attribute__((cleanup(free_at))) = print("folded", &model, &options, &size);
    assert_int_equal(sum_folded(text, NULL), memory);
}

/* Lines whose amount is `least` or more. */
static size_t folded_lines(const struct life_model *model, enum life_measure by, uint64_t least) {
    struct life_view_options options = life_view_defaults;
    size_t size, lines = 0;
    options.by = by;
    char *text __attribute__((cleanup(free_at))) = print("folded", model, &options, &size);
    for (char *line = strtok(text, "\n"); line; line = strtok(NULL, "\n")) {
        lines += strtoull(strrchr(line, ' ') + 1, NULL, 10) >= least;
    }
    return lines;
}

/* A program may say that its objects stand for any number of others. */
TEST(folded_stacks_do_not_wrap) {
    struct life_model model __attribute__((cleanup(clear_model))) = make_model(100 * SITES, false);
    const size_t lines = folded_lines(&model, LIFE_BY_OBJECTS, 0);
    for (size_t i = 0; i < SITES; i++) {
        for (int outcome = 0; outcome < LIFE_OUTCOMES; outcome++) {
            struct life_histogram *histogram = &model.heaps[0].sites[i].histogram[outcome][LIFE_NS];
            for (size_t j = 0; j < histogram->count; j++) {
                histogram->at[j].weight = histogram->at[j].weight_bytes = 1ull << 63;
            }
        }
    }
    assert_true(lines > SITES);
    assert_int_equal(folded_lines(&model, LIFE_BY_OBJECTS, (1ull << 63) / EDEN_WEIGHT_ONE), lines);
    assert_int_equal(folded_lines(&model, LIFE_BY_MEMORY, 1ull << 63), lines);
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

TEST(pprof_has_tcmallocs_form) {
    static const char *const types[] = {"allocated_objects",          "allocated_space",
                                        "deallocated_objects",        "deallocated_space",
                                        "censored_allocated_objects", "censored_allocated_space"};
    struct life_model model __attribute__((cleanup(clear_model))) = make_model(MANY, false);
    int64_t sums[6] = {0}, wanted[6] = {0};
    size_t size;
    for (size_t i = 0; i < MANY; i++) {
        struct build_end end = nth_end(i);
        int first = end.outcome == LIFE_CENSORED ? 4 : 0;
        for (int j = first; j < (first ? 6 : 4); j++) {
            wanted[j] += (int64_t)(end.weight * (j % 2 ? end.bytes : 1));
        }
    }
    char *text __attribute__((cleanup(free_at))) = print("pprof", &model, &life_view_defaults, &size);
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
        char name[64];
        form_read(name, frame_name(profile, root));
        assert_string_equal(name, names[site / 2]);
    }
    for (int j = 0; j < 6; j++) {
        assert_int_equal(sums[j], wanted[j]);
    }
    perftools__profiles__profile__free_unpacked(profile, NULL);
}

/* The functions of a native stack are its frames, innermost first in pprof, outermost first in folded stacks. */
TEST(functions_are_frames) {
    struct life_stacks stacks __attribute__((cleanup(life_stacks_clear))) = {0};
    const uint32_t frame[] = {life_stacks_name(&stacks, "push"), life_stacks_name(&stacks, "run; all"),
                              life_stacks_name(&stacks, "main")};
    uint32_t number = life_stacks_add(&stacks, 5, frame, 3);
    struct life_model model __attribute__((cleanup(life_model_clear))) = {.stacks = &stacks};
    struct life_heap *heap =
        life_model_heap(&model, &(struct process_key){.pid = 7, .start_ns = 1}, (struct heap_ref){1, 1, 0});
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
    char *text __attribute__((cleanup(free_at))) = print("folded", &model, &life_view_defaults, &size);
    assert_string_equal(text, "main;run\\x3b all;push;Pair;short-lived 3\nPair;unknown stack;short-lived 2\n");
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
}

/* Each of two heaps with the same sites has frames of its own. */
TEST(heaps_stay_apart) {
    struct life_model model __attribute__((cleanup(clear_model))) = make_two_heaps();
    size_t size;
    char *text __attribute__((cleanup(free_at))) = print("pprof", &model, &life_view_defaults, &size);
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
}
