/* The ABI is frozen: what embedders have compiled in, and what tools of other versions read from outside.
 *
 * The numbers below are not computed from the headers but written down. Where one no longer holds, the question is not
 * what the new number is, but which code still has the old one: only append, or raise EDEN_ABI_VERSION or the SONAME.
 */
#include "eden_values.h"
#include "support.h"

bool embed_from_cxx(void);
bool handles_from_cxx(void);

#define AT(type, field, offset, size)                                                                                  \
    do {                                                                                                               \
        assert_int_equal(offsetof(type, field), offset);                                                               \
        assert_int_equal(sizeof((type *)0)->field, size);                                                              \
    } while (0)

TEST(heap_info_keeps_its_layout) {
    typedef struct eden_heap_info info;
    assert_int_equal(sizeof(info), 568);
    AT(info, magic, 0, 8);
    AT(info, version, 8, 4);
    AT(info, bytes, 12, 4);
    AT(info, heap_id, 16, 8);
    AT(info, next, 24, 8);
    AT(info, lock, 32, 8);
    AT(info, seq, 40, 8);
    AT(info, name, 48, 64);
    AT(info, created_ns, 112, 8);
    AT(info, new_start, 120, 8);
    AT(info, new_bytes, 128, 8);
    AT(info, class_pages, 136, 8);
    AT(info, class_limit, 144, 4);
    AT(info, figure_count, 148, 4);
    AT(info, full_by_cause, 152, 32);
    AT(info, figures, 184, 256);
    AT(info, sample_control, 440, 8);
    AT(info, batch_semaphore, 448, 8);
    AT(info, requested_semaphore, 456, 8);
    AT(info, params, 464, 8);
    AT(info, params_set, 472, 8);
    AT(info, pretenure_file, 480, 8);
    AT(info, param_count, 488, 4);
    AT(info, activity, 492, 4);
    AT(info, phase, 496, 8);
    AT(info, phase_ns, 504, 8);
    AT(info, activity_ns, 512, 8);
    AT(info, collect_request, 520, 8);
    AT(info, reserved, 528, 40);
    assert_int_equal(EDEN_ABI_VERSION, 1);
    assert_true(EDEN_HEAP_MAGIC == 0x31706165486e6445ull);
    assert_int_equal(offsetof(eden_heap, info), 0);
}

TEST(class_and_registry_info_keep_their_layout) {
    typedef struct eden_class_info class_info;
    assert_int_equal(sizeof(class_info), 32);
    AT(class_info, name, 0, 8);
    AT(class_info, name_length, 8, 4);
    AT(class_info, class_index, 12, 4);
    AT(class_info, format, 16, 4);
    AT(class_info, fixed_slots, 20, 4);
    AT(class_info, chosen, 24, 4);
    AT(class_info, pretenured, 28, 4);
    assert_int_equal(EDEN_CLASS_PAGE_SHIFT, 10);
    typedef struct eden_registry_info registry;
    assert_int_equal(sizeof(registry), 32);
    AT(registry, heap_create_semaphore, 0, 2);
    AT(registry, reserved16, 2, 2);
    AT(registry, version, 4, 4);
    AT(registry, magic, 8, 8);
    AT(registry, first, 16, 8);
    AT(registry, next_id, 24, 8);
    assert_true(EDEN_REGISTRY_MAGIC == 0x316765526e6445ull);
}

TEST(mutator_and_frame_keep_their_layout) {
    typedef struct eden_mutator mutator;
    AT(mutator, free, 0, 8);
    AT(mutator, limit, 8, 8);
    AT(mutator, young_start, 16, 8);
    AT(mutator, young_words, 24, 8);
    AT(mutator, frames, 32, 8);
    AT(mutator, heap, 40, 8);
    AT(mutator, poll, 48, 8);
    AT(mutator, barrier_words, 56, 8);
    assert_int_equal(offsetof(eden_heap, mutator) % 64, 0);
    typedef struct eden_frame frame;
    assert_int_equal(sizeof(frame), 32);
    AT(frame, previous, 0, 8);
    AT(frame, mutator, 8, 8);
    AT(frame, slots, 16, 8);
    AT(frame, count, 24, 8);
}

TEST(header_bits_keep_their_places) {
    assert_true(EDEN_HEADER_CLASS_MASK == 0x3fffff);
    assert_true(EDEN_HEADER_IN_PLACE == 1ull << 22);
    assert_true(EDEN_HEADER_IMMUTABLE == 1ull << 23);
    assert_int_equal(EDEN_HEADER_FORMAT_SHIFT, 24);
    assert_true(EDEN_HEADER_REMEMBERED == 1ull << 29);
    assert_true(EDEN_HEADER_PINNED == 1ull << 30);
    assert_true(EDEN_HEADER_GREY == 1ull << 31);
    assert_int_equal(EDEN_HEADER_HASH_SHIFT, 32);
    assert_true(EDEN_HEADER_HASH_MASK == (1ull << 22) - 1);
    assert_true(EDEN_HEADER_FORWARDED == 1ull << 54);
    assert_true(EDEN_HEADER_MARKED == 1ull << 55);
    assert_int_equal(EDEN_HEADER_SLOTS_SHIFT, 56);
    assert_int_equal(EDEN_SLOTS_OVERFLOW, 255);
    assert_int_equal(EDEN_TAG_INT, 1);
    assert_int_equal(EDEN_TAG_CHAR, 2);
    assert_int_equal(EDEN_TAG_FLOAT, 4);
    assert_int_equal(EDEN_CLASS_FREE, 0);
    assert_int_equal(EDEN_CLASS_FIRST, 1);
    assert_int_equal(EDEN_CLASS_LIMIT, 4194304);
    assert_true(eden_int(5) == 41 && eden_char('a') == 778 && eden_float(1.0) == 0x7f00000000000004ull);
}

TEST(formats_and_errors_keep_their_numbers) {
    const int formats[] = {EDEN_FORMAT_EMPTY,   EDEN_FORMAT_FIXED,     EDEN_FORMAT_VARIABLE, EDEN_FORMAT_FIXED_VARIABLE,
                           EDEN_FORMAT_WEAK,    EDEN_FORMAT_EPHEMERON, EDEN_FORMAT_WORDS64,  EDEN_FORMAT_WORDS32,
                           EDEN_FORMAT_WORDS16, EDEN_FORMAT_BYTES,     EDEN_FORMAT_COMPOUND};
    const int format_numbers[] = {0, 1, 2, 3, 4, 5, 9, 10, 12, 16, 24};
    assert_memory_equal(formats, format_numbers, sizeof formats);
    const int statuses[] = {EDEN_OK, EDEN_BAD_PARAMETER, EDEN_BAD_ARGUMENT, EDEN_NO_MEMORY, EDEN_CORRUPT, EDEN_BUSY};
    for (int i = 0; i < 6; i++) {
        assert_int_equal(statuses[i], i);
    }
    assert_int_equal(sizeof(eden_error), 252);
    assert_int_equal(sizeof(eden_options), 32);
    assert_int_equal(sizeof(eden_class_definition), 16);
}

/* Lists that may be appended to: these entries keep their places. */
static void assert_begins(const char *list, const char *known) {
    assert_true(strlen(list) >= strlen(known));
    assert_memory_equal(list, known, strlen(known));
}

/* Numbers that probes and recordings carry. */
TEST(values_keep_their_numbers) {
    static const struct {
        enum eden_enum_id id;
        const char *names;
    } known[] = {
        {EDEN_ENUM_scavenge_cause, "eden request full pin"},
        {EDEN_ENUM_full_cause, "ratio allocation request limit"},
        {EDEN_ENUM_tenure_reason, "age overflow pin retry remembered class site learnt"},
        {EDEN_ENUM_remember_origin, "store tenure recovery"},
        {EDEN_ENUM_batch_kind, "profile births deaths censored objects epochs marks ends eden buckets"},
        {EDEN_ENUM_sampling, "bytes objects nth refill window"},
        {EDEN_ENUM_mechanism, "vm ephemeron pretenured oracle"},
        {EDEN_ENUM_life_clock, "ns bytes scavenges fulls"},
        {EDEN_ENUM_remembered_set, "object card"},
        {EDEN_ENUM_compactor, "planning none selective"},
        {EDEN_ENUM_criterion, "age remembered class site never"},
        {EDEN_ENUM_overflow, "scan-order oldest"},
        {EDEN_ENUM_tenured_scan, "latest-first set-order"},
        {EDEN_ENUM_growth, "needed refill"},
        {EDEN_ENUM_policy, "fixed auto"},
        {EDEN_ENUM_decision, "eden old_goal semispace"},
        {EDEN_ENUM_decision_reason, "survival quiet memory reserved mapped promotion limit live turnover lasting"},
        {EDEN_ENUM_pretenure, "none auto"},
        {EDEN_ENUM_switch, "0 1"},
        {EDEN_ENUM_activity, "unknown running stopped beside"},
        {EDEN_ENUM_failure_reason, "memory overhead"},
    };
    assert_int_equal(sizeof known / sizeof known[0], EDEN_ENUM_none);
    for (size_t i = 0; i < EDEN_ENUM_none; i++) {
        char names[256];
        assert_int_equal(known[i].id, i);
        assert_begins(eden_enum_list(known[i].id, names, sizeof names), known[i].names);
    }
}

TEST(figures_phases_and_probes_keep_their_places) {
#define EDEN_FIGURE(name, kind, unit, doc) #name " "
    static const char figures[] =
#include "eden_figures.def"
        "";
#undef EDEN_FIGURE
#define EDEN_PHASE(name, text, parent) #name " "
    static const char phases[] =
#include "eden_phases.def"
        "";
#undef EDEN_PHASE
#define EDEN_PROBE(name, doc, ...) #name " "
    static const char probes[] =
#include "eden_probes.def"
        "";
#undef EDEN_PROBE
    assert_true(EDEN_FIGURE_COUNT <= 32);
    assert_begins(figures,
                  "scavenges full_collections gc_ns scavenge_ns full_ns mark_ns sweep_ns compact_ns max_pause_ns "
                  "allocated_bytes survived_bytes tenured_objects tenured_bytes freed_bytes remembered forgotten "
                  "large_objects large_bytes segments_mapped segments_unmapped alloc_failures mourned eden_size "
                  "survivor_used old_used old_capacity remembered_now pretenured_objects pretenured_bytes ");
    assert_begins(phases, "scavenge scavenge__remembered scavenge__roots scavenge__copy scavenge__weak full mark sweep "
                          "compact compact__plan compact__update compact__move scavenge__mark scavenge__sweep ");
    assert_begins(probes,
                  "heap__create heap__destroy class__define param__set scavenge__start scavenge__done "
                  "scavenge__roots__start scavenge__roots__done scavenge__remembered__start scavenge__remembered__done "
                  "scavenge__copy__start scavenge__copy__done scavenge__weak__start scavenge__weak__done full__start "
                  "full__done mark__start mark__done sweep__start sweep__done compact__start compact__done "
                  "compact__plan__start compact__plan__done compact__update__start compact__update__done "
                  "compact__move__start compact__move__done tenure remember forget alloc__large alloc__failed "
                  "segment__map segment__unmap mourn alloc__sample batch remembered__scan mourned policy__decide "
                  "batch__requested census scavenge__mark__start scavenge__mark__done scavenge__sweep__start "
                  "scavenge__sweep__done ");
}

/* What a tool reads from a living heap. */
TEST(a_heaps_header_as_a_tool_reads_it) {
    WORLD(w, "eden_size=1M");
    const struct eden_heap_info *info = (const struct eden_heap_info *)w.heap;
    assert_true(info->magic == EDEN_HEAP_MAGIC);
    assert_int_equal(info->version, EDEN_ABI_VERSION);
    assert_int_equal(info->bytes, sizeof *info);
    assert_int_equal(info->figure_count, EDEN_FIGURE_COUNT);
    assert_string_equal(info->name, "test");
    assert_int_equal(info->class_limit, eden_class_index(w.compound) + 1);
    const uint64_t *pages = (const uint64_t *)(uintptr_t)info->class_pages;
    const struct eden_class_info *classes = (const struct eden_class_info *)(uintptr_t)pages[0];
    assert_int_equal(classes[0].class_index, 0);
    const struct eden_class_info *bytes = &classes[eden_class_index(w.bytes)];
    assert_string_equal((const char *)(uintptr_t)bytes->name, "Bytes");
    assert_int_equal(bytes->name_length, 5);
    assert_int_equal(bytes->class_index, eden_class_index(w.bytes));
    assert_int_equal(bytes->format, EDEN_FORMAT_BYTES);
    assert_int_equal(info->seq, 0);
    assert_int_equal(info->lock % 2, 0);
    EDEN_FRAME(w.m, local, 1);
    local[0] = eden_new(w.m, w.pair);
    for (uint64_t i = 1; i <= 3; i++) {
        eden_full_collect(w.m);
        assert_int_equal(info->seq, 2 * i);
        assert_int_equal(info->lock % 2, 0);
        assert_int_equal(info->figures[EDEN_FIGURE_scavenges], i);
        assert_int_equal(info->figures[EDEN_FIGURE_full_collections], i);
        assert_int_equal(info->full_by_cause[EDEN_FULL_REQUEST], i);
        assert_int_equal(info->figures[EDEN_FIGURE_allocated_bytes], 24);
    }
    assert_true(eden_registry.magic == EDEN_REGISTRY_MAGIC && eden_registry.version == EDEN_ABI_VERSION);
    assert_true(eden_registry.first == (uintptr_t)w.heap);
}

/* What the header says while roots are visited: once in a scavenge, once while marking. */
struct seen {
    const struct eden_heap_info *info;
    struct eden_heap_info at[3];
    size_t count;
};

static void look(void *context, eden_visit *visit) {
    struct seen *seen = context;
    (void)visit;
    assert_true(seen->count < 3);
    seen->at[seen->count++] = *seen->info;
}

TEST(a_header_says_what_runs) {
    WORLD(w, "eden_size=1M");
    const struct eden_heap_info *info = (const struct eden_heap_info *)w.heap;
    struct seen seen = {.info = info};
    assert_int_equal(info->activity, EDEN_ACTIVITY_RUNNING);
    assert_true(eden_visitor_add(w.heap, look, &seen));
    eden_full_collect(w.m);
    const enum eden_phase phases[] = {EDEN_PHASE_scavenge__roots, EDEN_PHASE_mark};
    assert_int_equal(seen.count, 2);
    for (size_t i = 0; i < 2; i++) {
        const struct eden_heap_info *at = &seen.at[i];
        assert_true(at->activity == EDEN_ACTIVITY_STOPPED && at->phase == phases[i] && at->lock % 2 == 0);
        assert_true(info->created_ns <= at->activity_ns && at->activity_ns <= at->phase_ns);
    }
    assert_true(seen.at[0].activity_ns == seen.at[1].activity_ns); /* one stop */
    assert_true(info->activity == EDEN_ACTIVITY_RUNNING && info->activity_ns >= seen.at[1].phase_ns);
}

static void assert_shows_parameters(eden_heap *heap) {
    const struct eden_heap_info *info = (const struct eden_heap_info *)heap;
    const double *values = (const double *)(uintptr_t)info->params;
    assert_int_equal(info->param_count, EDEN_PARAM_COUNT);
    for (enum eden_param_id id = 0; id < EDEN_PARAM_COUNT; id++) {
        char expected[256], text[256];
        assert_true(eden_param_is_value(eden_param(id), values[id]));
        assert_true(eden_heap_get(heap, eden_param(id)->name, expected, sizeof expected));
        eden_param_text(eden_param(id), values[id], text, sizeof text);
        assert_string_equal(text, expected);
    }
}

TEST(a_header_shows_the_parameters) {
    WORLD(w, "max_heap=64M,full_gc_min_old=0,shrink_threshold=none,tenure_proportion=0.25,survivors_to_keep=100");
    const struct eden_heap_info *info = (const struct eden_heap_info *)w.heap;
    uint64_t set = 1ull << EDEN_PARAM_max_heap | 1ull << EDEN_PARAM_full_gc_min_old |
                   1ull << EDEN_PARAM_shrink_threshold | 1ull << EDEN_PARAM_tenure_proportion |
                   1ull << EDEN_PARAM_survivors_to_keep;
    assert_true(info->params_set == set && info->pretenure_file == 0);
    assert_shows_parameters(w.heap);
    assert_true(eden_heap_set(w.heap, "full_gc_ratio", "inf", NULL));
    assert_true(info->params_set == (set | 1ull << EDEN_PARAM_full_gc_ratio));
    assert_shows_parameters(w.heap);
    EDEN_FRAME(w.m, local, 1);
    uint64_t before = w.heap->params.eden_size;
    for (int i = 0; i < 200000; i++) { /* until policy=auto changes eden */
        eden_value pair = eden_new(w.m, w.pair);
        eden_slot_set(w.m, pair, 0, local[0]);
        local[0] = pair;
    }
    eden_full_collect(w.m);
    assert_true(w.heap->params.eden_size != before);
    assert_shows_parameters(w.heap);
}

TEST(the_registry_lists_every_heap) {
    enum { HEAPS = 5 };
    eden_heap *heaps[HEAPS];
    uint64_t first_id = eden_registry.next_id;
    for (size_t i = 0; i < HEAPS; i++) {
        heaps[i] = eden_heap_create(&(eden_options){.parameters = "eden_size=64K"}, NULL);
        assert_int_equal(heaps[i]->info.heap_id, first_id + i);
    }
    const size_t order[HEAPS] = {2, 0, 4, 3, 1};
    for (size_t gone = 0; gone <= HEAPS; gone++) {
        size_t count = 0;
        for (uint64_t at = eden_registry.first; at != 0; at = ((struct eden_heap_info *)(uintptr_t)at)->next) {
            count++;
        }
        assert_int_equal(count, HEAPS - gone);
        if (gone < HEAPS) {
            eden_heap_destroy(heaps[order[gone]]);
        }
    }
}

TEST(headers_compile_and_work_as_cxx) { assert_true(embed_from_cxx()); }

TEST(classes_in_cxx_end_what_they_began) { assert_true(handles_from_cxx()); }
