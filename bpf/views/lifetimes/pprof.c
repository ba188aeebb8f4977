/* A profile for pprof, in the form of TCMalloc's lifetime profiles (google/tcmalloc, internal/profile_builder.cc), so
 * that what reads those reads this.
 *
 * Sample types: allocated_, deallocated_ and censored_allocated_ objects and space. A dead object is written twice, as
 * TCMalloc does, once as allocated and once as deallocated, paired by the label "callstack-pair-id"; what was alive at
 * the end only as censored. Labels: avg_lifetime, stddev_lifetime, min_lifetime, max_lifetime, in nanoseconds, and
 * "bytes", an object's size. Whether CPU, thread and so on were the same at both ends is "none", not known: a collector
 * has no free().
 *
 * A sample here is a site's objects of one bucket of the histogram. Its edges are the smallest and largest lifetime,
 * its middle the average, and the standard deviation that of lifetimes spread evenly in it; so pprof's filters by label
 * (-tagfocus) can choose lifetimes to 6.25%. Values are what the samples stand for, as the format asks.
 *
 * The stack is the site within the class (within the heap, if there are many), or, with native stacks, the class within
 * the functions. Protocol buffers may be written in
 * pieces: messages written one after the other are one message with all of their elements. So each element goes out as
 * it comes, and only the number of strings is kept. */
#include "model/lifetimes/batch.h"
#include "profile.pb-c.h"
#include "util/text.h"
#include "util/whole.h"
#include "views/lifetimes/view.h"
#include <inttypes.h>
#include <limits.h>
#include <math.h>
#include <zlib.h>

/* A stream of gzip (RFC 1952) into a FILE. */
struct gzip {
    z_stream stream;
    FILE *out;
};

enum { WINDOW = 15, AS_GZIP = 16, MEMORY = 8 };

/* False: no memory. */
static bool gzip_begin(struct gzip *gzip, FILE *out) {
    *gzip = (struct gzip){.out = out};
    return deflateInit2(&gzip->stream, Z_DEFAULT_COMPRESSION, Z_DEFLATED, WINDOW + AS_GZIP, MEMORY,
                        Z_DEFAULT_STRATEGY) == Z_OK;
}

static void press(struct gzip *gzip, int flush) {
    unsigned char piece[16384];
    do {
        gzip->stream.next_out = piece;
        gzip->stream.avail_out = sizeof piece;
        deflate(&gzip->stream, flush);
        fwrite(piece, 1, sizeof piece - gzip->stream.avail_out, gzip->out);
    } while (gzip->stream.avail_out == 0);
}

static void gzip_write(struct gzip *gzip, const void *data, size_t size) {
    for (const unsigned char *at = data; size > 0;) {
        size_t length = size < INT_MAX ? size : INT_MAX;
        gzip->stream.next_in = (unsigned char *)at;
        gzip->stream.avail_in = (unsigned)length;
        press(gzip, Z_NO_FLUSH);
        at += length;
        size -= length;
    }
}

/* Writes what is left and frees the stream; that `out` took it all is for its owner to check. */
static void gzip_end(struct gzip *gzip) {
    press(gzip, Z_FINISH);
    deflateEnd(&gzip->stream);
}

/* The strings that every profile has, in order: the first must be "". */
enum word {
    WORD_NONE_SAID,
    WORD_ALLOCATED_OBJECTS,
    WORD_ALLOCATED_SPACE,
    WORD_DEALLOCATED_OBJECTS,
    WORD_DEALLOCATED_SPACE,
    WORD_CENSORED_OBJECTS,
    WORD_CENSORED_SPACE,
    WORD_COUNT,
    WORD_BYTES,
    WORD_NANOSECONDS,
    WORD_AVERAGE,
    WORD_DEVIATION,
    WORD_MIN,
    WORD_MAX,
    WORD_PAIR,
    WORD_CPU,
    WORD_VCPU,
    WORD_L3,
    WORD_NUMA,
    WORD_THREAD,
    WORD_NONE,
    WORD_SPACE,
    WORD_OBJECTS,
    WORDS
};
static const char *const words[WORDS] = {
    "",
    "allocated_objects",
    "allocated_space",
    "deallocated_objects",
    "deallocated_space",
    "censored_allocated_objects",
    "censored_allocated_space",
    "count",
    "bytes",
    "nanoseconds",
    "avg_lifetime",
    "stddev_lifetime",
    "min_lifetime",
    "max_lifetime",
    "callstack-pair-id",
    "active CPU",
    "active vCPU",
    "active L3",
    "active NUMA",
    "active thread",
    "none",
    "space",
    "objects",
};

enum { TYPES = 6, MOST_LABELS = 16, MOST_FRAMES = 2 + LIFE_STACK_MOST };

struct pprof {
    ProtobufCBuffer buffer; /* first: what protobuf-c passes to take_packed */
    struct gzip gzip;
    int64_t strings; /* written so far */
    int64_t pairs;
};

static void take_packed(ProtobufCBuffer *buffer, size_t size, const uint8_t *data) {
    struct pprof *pprof = (struct pprof *)buffer;
    gzip_write(&pprof->gzip, data, size);
}

static void write_piece(struct pprof *pprof, const Perftools__Profiles__Profile *piece) {
    perftools__profiles__profile__pack_to_buffer(piece, &pprof->buffer);
}

/* A label or one of our words. Returns the string's number. */
static int64_t write_string(struct pprof *pprof, const char *text) {
    char *strings[] = {(char *)text};
    Perftools__Profiles__Profile piece = PERFTOOLS__PROFILES__PROFILE__INIT;
    piece.n_string_table = 1;
    piece.string_table = strings;
    write_piece(pprof, &piece);
    return pprof->strings++;
}

static void write_head(struct pprof *pprof, const struct life_model *model) {
    Perftools__Profiles__ValueType types[TYPES], *pointers[TYPES], period = PERFTOOLS__PROFILES__VALUE_TYPE__INIT;
    Perftools__Profiles__Profile head = PERFTOOLS__PROFILES__PROFILE__INIT;
    for (int i = 0; i < WORDS; i++) {
        write_string(pprof, words[i]);
    }
    for (int i = 0; i < TYPES; i++) {
        types[i] = (Perftools__Profiles__ValueType)PERFTOOLS__PROFILES__VALUE_TYPE__INIT;
        types[i].type = WORD_ALLOCATED_OBJECTS + i;
        types[i].unit = i % 2 ? WORD_BYTES : WORD_COUNT;
        pointers[i] = &types[i];
    }
    head.n_sample_type = TYPES;
    head.sample_type = pointers;
    head.default_sample_type = WORD_DEALLOCATED_SPACE;
    head.duration_nanos = model->wall_ns <= INT64_MAX ? (int64_t)model->wall_ns : 0;
    /* One period for all: the first heap's. */
    const struct life_heap *heap = model->heap_count ? model->heaps : NULL;
    if (heap && heap->begun && heap->state.sampling != EDEN_SAMPLE_WINDOW) {
        bool by_object = heap->state.sampling == EDEN_SAMPLE_OBJECTS || heap->state.sampling == EDEN_SAMPLE_NTH;
        period.type = by_object ? WORD_OBJECTS : WORD_SPACE;
        period.unit = by_object ? WORD_COUNT : WORD_BYTES;
        head.period_type = &period;
        head.period = heap->state.rate <= INT64_MAX ? (int64_t)heap->state.rate : 0;
    }
    write_piece(pprof, &head);
}

/* ---- frames ------------------------------------------------------------------------------------------------------ */

enum frame { FRAME_SITE, FRAME_CLASS, FRAME_HEAP, FRAME_FUNCTION };

static uint64_t frame_id(size_t heap, enum frame frame, uint32_t index) {
    return (uint64_t)(heap + 1) << 34 | (uint64_t)index << 2 | frame;
}

/* A function, and its place, of one number. */
static void write_frame(struct pprof *pprof, uint64_t id, const char *label) {
    Perftools__Profiles__Function function = PERFTOOLS__PROFILES__FUNCTION__INIT, *functions = &function;
    Perftools__Profiles__Line line = PERFTOOLS__PROFILES__LINE__INIT, *lines = &line;
    Perftools__Profiles__Location location = PERFTOOLS__PROFILES__LOCATION__INIT, *locations = &location;
    Perftools__Profiles__Profile piece = PERFTOOLS__PROFILES__PROFILE__INIT;
    function.id = line.function_id = location.id = id;
    function.name = function.system_name = write_string(pprof, label);
    location.n_line = 1;
    location.line = &lines;
    piece.n_function = 1;
    piece.function = &functions;
    piece.n_location = 1;
    piece.location = &locations;
    write_piece(pprof, &piece);
}

/* ---- samples ----------------------------------------------------------------------------------------------------- */

struct labels {
    Perftools__Profiles__Label at[MOST_LABELS], *pointer[MOST_LABELS];
    size_t count;
};

static Perftools__Profiles__Label *add_label(struct labels *labels, enum word key) {
    Perftools__Profiles__Label *label = &labels->at[labels->count];
    *label = (Perftools__Profiles__Label)PERFTOOLS__PROFILES__LABEL__INIT;
    label->key = key;
    labels->pointer[labels->count++] = label;
    return label;
}

/* Amounts are signed there. */
static int64_t amount_of(double value) {
    uint64_t whole = whole_of(value);
    return whole < INT64_MAX ? (int64_t)whole : INT64_MAX;
}

static void add_number(struct labels *labels, enum word key, enum word unit, double value) {
    if (value >= 0.5 && value < 9.2e18) {
        Perftools__Profiles__Label *label = add_label(labels, key);
        label->num = amount_of(value + 0.5);
        label->num_unit = unit;
    }
}

static void make_labels(struct labels *labels, const struct life_bucket *bucket, double objects, int64_t pair) {
    double lower = (double)histogram_lower(bucket->bucket), upper = (double)histogram_upper(bucket->bucket);
    bool open = histogram_upper(bucket->bucket) == UINT64_MAX;
    labels->count = 0;
    add_number(labels, WORD_BYTES, WORD_BYTES, objects > 0 ? (double)bucket->weight_bytes / objects : 0);
    add_number(labels, WORD_PAIR, WORD_COUNT, (double)pair);
    add_number(labels, WORD_AVERAGE, WORD_NANOSECONDS, open ? lower : (lower + upper) / 2);
    add_number(labels, WORD_DEVIATION, WORD_NANOSECONDS, open ? 0 : (upper - lower) / sqrt(12));
    add_number(labels, WORD_MIN, WORD_NANOSECONDS, lower);
    add_number(labels, WORD_MAX, WORD_NANOSECONDS, open ? 0 : upper);
    for (int key = WORD_CPU; key <= WORD_THREAD; key++) {
        add_label(labels, (enum word)key)->str = WORD_NONE;
    }
}

struct stack {
    uint64_t at[MOST_FRAMES];
    size_t count;
};

/* `type`: the first of the two sample types that the amounts are of. */
static void write_sample(struct pprof *pprof, struct stack *stack, struct labels *labels, double objects, double space,
                         int type) {
    Perftools__Profiles__Sample sample = PERFTOOLS__PROFILES__SAMPLE__INIT, *samples = &sample;
    Perftools__Profiles__Profile piece = PERFTOOLS__PROFILES__PROFILE__INIT;
    int64_t values[TYPES] = {0};
    values[type] = amount_of(objects + 0.5);
    values[type + 1] = amount_of(space);
    sample.n_location_id = stack->count;
    sample.location_id = stack->at;
    sample.n_value = TYPES;
    sample.value = values;
    sample.n_label = labels->count;
    sample.label = labels->pointer;
    piece.n_sample = 1;
    piece.sample = &samples;
    write_piece(pprof, &piece);
}

static void write_site(struct pprof *pprof, struct stack *stack, const struct life_site *site) {
    for (int outcome = 0; outcome < LIFE_OUTCOMES; outcome++) {
        const struct life_histogram *histogram = &site->histogram[outcome][LIFE_NS];
        for (size_t i = 0; i < histogram->count; i++) {
            const struct life_bucket *bucket = &histogram->at[i];
            double objects = (double)bucket->weight / EDEN_WEIGHT_ONE, space = (double)bucket->weight_bytes;
            struct labels labels;
            make_labels(&labels, bucket, objects, ++pprof->pairs);
            if (outcome == LIFE_DIED) {
                write_sample(pprof, stack, &labels, objects, space, 0);
            }
            write_sample(pprof, stack, &labels, objects, space, outcome == LIFE_DIED ? 2 : 4);
        }
    }
}

/* Innermost first: the class, as what the innermost function allocates. */
static void add_functions(struct stack *stack, const struct life_stack *from) {
    for (uint32_t i = 0; i < from->depth && i < LIFE_STACK_MOST; i++) {
        stack->at[stack->count++] = frame_id(0, FRAME_FUNCTION, from->frame[i]);
    }
}

static bool write_heap(struct pprof *pprof, const struct life_model *model, size_t number) {
    const struct life_heap *heap = &model->heaps[number];
    struct life_groups classes;
    char label[LIFE_HEAP_LABEL];
    if (!life_groups_make(&classes, heap, false)) {
        return false;
    }
    if (model->heap_count > 1) {
        write_frame(pprof, frame_id(number, FRAME_HEAP, 0), life_heap_label(label, heap));
    }
    for (size_t i = 0; i < classes.count; i++) {
        const struct life_site *class = classes.at[i];
        write_frame(pprof, frame_id(number, FRAME_CLASS, class->class_id), life_class_label(label, class));
    }
    life_groups_clear(&classes);
    for (size_t i = 0; i < heap->site_count; i++) {
        const struct life_site *site = &heap->sites[i];
        struct stack stack = {.count = 0};
        if (!site->stack && site->site != site->class_id) {
            stack.at[stack.count++] = frame_id(number, FRAME_SITE, site->site);
            write_frame(pprof, stack.at[0], life_site_label(label, site));
        }
        stack.at[stack.count++] = frame_id(number, FRAME_CLASS, site->class_id);
        if (site->stack) {
            add_functions(&stack, site->stack);
        }
        if (model->heap_count > 1) {
            stack.at[stack.count++] = frame_id(number, FRAME_HEAP, 0);
        }
        write_site(pprof, &stack, site);
    }
    return true;
}

bool life_view_pprof(FILE *out, const struct life_model *model, const struct life_view_options *options,
                     struct failure *why) {
    (void)options;
    struct pprof pprof = {.buffer.append = take_packed};
    char label[LIFE_HEAP_LABEL];
    if (!gzip_begin(&pprof.gzip, out)) {
        return life_no_memory(why);
    }
    write_head(&pprof, model);
    for (size_t i = 0; model->stacks && i < model->stacks->name_count; i++) {
        write_frame(&pprof, frame_id(0, FRAME_FUNCTION, (uint32_t)i),
                    text_escape(label, sizeof label, model->stacks->name[i], ""));
    }
    bool good = true;
    for (size_t i = 0; i < model->heap_count && good; i++) {
        good = write_heap(&pprof, model, i);
    }
    gzip_end(&pprof.gzip);
    return good ? good : life_no_memory(why);
}
