#include "life_views.h"

const char *const names[NAMES] = {
    "Point",
    "quote\" 'single' ''two",
    "comma, semicolon; colon: 7",
    "line\nbreak\r\nand\ttab",
    "control \x01\x1b[31m\x7f \xc2\x85",
    "junk \xff\xfe\xc3(\xe2\x82 \xed\xa0\x80 \xf5 \xef\xbf\xbf",
    "Gr\xc3\xb6\xc3\x9f"
    "e \xe2\x82\xac <&> ]]> %s%n {/=9} _^@ \\",
    "`touch shell-was-here`$(touch shell-was-here)",
    "=1+\xc2\x9b[m\xe2\x80\xae;-\xe2\x80\xa8@\xf3\xa0\x81\x81\xe2\x80\x8b",
    "'\n!touch shell-was-here\nsystem('touch shell-was-here')\\",
};

struct build_end nth_end(size_t i) {
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

struct eden_life_record record_of(size_t i, const struct build_end *end) {
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

struct life_model make_model(size_t count, bool details) {
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

struct life_model make_two_heaps(void) {
    struct life_model model = make_model(1000, false), other = make_model(2000, false);
    model.heaps = realloc(model.heaps, 2 * sizeof *model.heaps);
    assert_non_null(model.heaps);
    model.heaps[1] = other.heaps[0];
    model.heaps[1].id = 4;
    model.heap_count = 2;
    free(other.heaps);
    return model;
}

void clear_model(struct life_model *model) {
    for (size_t i = 0; i < model->heap_count; i++) {
        for (size_t j = 0; j < model->heaps[i].site_count; j++) {
            life_site_clear(&model->heaps[i].sites[j]);
        }
        free(model->heaps[i].sites);
    }
    free(model->heaps);
}

char *print(const char *view, const struct life_model *model, const struct life_view_options *options, size_t *size) {
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
