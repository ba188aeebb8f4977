/* Batches and events of a hostile process, as they come out of the kernel: into names and the model of lifetimes. */
#include "eden_allocation_clock.h"
#include "eden_batches.h"
#include "eden_weight.h"
#include "model/lifetimes/batch.h"
#include "model/lifetimes/model.h"
#include "model/lifetimes/names.h"
#include "model/lifetimes/stacks.h"
#include "reader.h"
#include "stats/lifetimes.h"
#include <string.h>

const unsigned reader_runs = 20000;

enum { MOST_STEPS = 64, ADDRESS = 1, HEAP_ID = 1 };

/* How far a heap is that says what is so. */
struct clock {
    struct eden_anchor now;
    uint32_t epochs;
};

union record {
    struct eden_epoch epoch;
    struct eden_mark mark;
    struct eden_end end;
    struct eden_walked walked;
    struct eden_life_record object;
    struct life_stack_record stack;
};

static void take_event(struct reader_input *input, struct life_names *names) {
    struct event event = {.probe = reader_byte(input) % 2 ? EDEN_PROBE_class__define : EDEN_PROBE_heap__create,
                          .args = reader_byte(input) % 5};
    event.process.pid = reader_byte(input) % 2;
    for (int i = 0; i < 4; i++) {
        event.arg[i] = reader_number(input);
    }
    size_t size;
    const void *text = reader_bytes(input, EVENT_TEXT - 1, &size);
    memcpy(event.text[0], text, size);
    life_names_event(names, &event);
}

/* The bytes of the records come first as they are, then with numbers in place of some of them. */
static void take_batch(struct reader_input *input, struct life_model *model) {
    uint64_t records[512] = {0};
    struct process_key process = {.pid = reader_byte(input) % 2};
    uint64_t address = reader_byte(input) % 4;
    uint32_t kind = reader_byte(input) % 12, count = reader_byte(input) % 8;
    uint64_t record_bytes = reader_byte(input) * 8u;
    size_t size;
    const void *bytes = reader_bytes(input, 255, &size);
    memcpy(records, bytes, size);
    for (uint8_t changes = reader_byte(input) % 16; changes > 0; changes--) {
        uint8_t at = reader_byte(input);
        records[at] = reader_number(input);
    }
    count = record_bytes * count <= sizeof records ? count : 1;
    record_bytes = record_bytes <= sizeof records ? record_bytes : sizeof records;
    struct life_heap *heap =
        life_model_heap(model, &process, (struct heap_ref){address, reader_byte(input) % 3, reader_byte(input) % 3});
    if (heap) {
        life_model_batch(model, heap, kind, records, count, record_bytes);
    }
}

static void fill_walked(struct reader_input *input, const struct clock *clock, struct eden_walked *walked) {
    uint32_t words = reader_byte(input) % 32;
    *walked = (struct eden_walked){.words = words, .censored = reader_byte(input) % 2};
    walked->birth_bytes = clock->now.bytes - (reader_byte(input) * 8u) % (clock->now.bytes + 1);
    for (uint32_t i = 0; i < words; i++) {
        uint32_t granules = reader_byte(input) % 8;
        walked->word[i] = granules << EDEN_WORD_SITE_BITS | reader_byte(input) % 4;
    }
}

static uint64_t take_birth(struct reader_input *input, const struct clock *clock) {
    return clock->now.bytes - (reader_byte(input) * 8u) % (clock->now.bytes + 1);
}

/* One record as a heap would send it. Returns its bytes. */
static size_t fill_record(struct reader_input *input, struct clock *clock, uint32_t kind, union record *record) {
    uint32_t site = reader_byte(input) % 4, bytes = reader_byte(input) * 8u;
    switch (kind) {
    case EDEN_BATCH_EPOCHS:
        record->epoch = (struct eden_epoch){clock->now, clock->epochs, clock->epochs / 4,
                                            clock->epochs - clock->epochs % 4, clock->epochs};
        clock->epochs++;
        return sizeof record->epoch;
    case EDEN_BATCH_MARKS:
        clock->now = (struct eden_anchor){clock->now.bytes + bytes, clock->now.ns + site};
        record->mark = (struct eden_mark){clock->now, bytes};
        return sizeof record->mark;
    case EDEN_BATCH_ENDS:
        record->end = (struct eden_end){.birth_bytes = take_birth(input, clock), .bytes = bytes, .site = site};
        record->end.flags = reader_byte(input) % 16 ? reader_byte(input) % EDEN_LIFE_FLAGS : EDEN_END_CENSORED;
        record->end.tenured = reader_byte(input) % 4;
        return sizeof record->end;
    case EDEN_BATCH_EDEN:
        fill_walked(input, clock, &record->walked);
        return sizeof record->walked;
    case EDEN_BATCH_OBJECTS:
        record->object = (struct eden_life_record){.site = site, .bytes = bytes, .weight = EDEN_WEIGHT_ONE};
        record->object.birth_bytes = take_birth(input, clock);
        record->object.death_bytes = clock->now.bytes;
        record->object.death_ns = clock->now.ns;
        return sizeof record->object;
    default:
        clock->now.bytes += bytes;
        record->stack = (struct life_stack_record){clock->now.bytes, bytes, site, site, reader_byte(input) % 4, 0};
        return sizeof record->stack;
    }
}

/* What a heap would send, whose records depend on each other, with a few other numbers in it. */
static void take_sound_batch(struct reader_input *input, struct life_model *model, struct clock *clock) {
    static const uint32_t kinds[] = {EDEN_BATCH_EPOCHS, EDEN_BATCH_MARKS,   EDEN_BATCH_ENDS,
                                     EDEN_BATCH_EDEN,   EDEN_BATCH_OBJECTS, LIFE_BATCH_STACK};
    enum { MOST_RECORDS = 8 };
    static uint8_t bytes[MOST_RECORDS * sizeof(union record)];
    const struct process_key process = {0};
    uint8_t form = reader_byte(input);
    uint32_t kind = kinds[form % 6], count = 1 + form / 6 % MOST_RECORDS;
    size_t each = 0;
    for (uint32_t i = 0; i < count; i++) {
        union record record;
        memset(&record, 0, sizeof record);
        each = fill_record(input, clock, kind, &record);
        memcpy(bytes + i * each, &record, each);
    }
    if (form >= 192) {
        reader_change(input, bytes, count * each, 4);
    }
    struct life_heap *heap = life_model_heap(model, &process, (struct heap_ref){ADDRESS, HEAP_ID, 0});
    if (heap) {
        life_model_batch(model, heap, kind, bytes, count, each);
    }
}

/* Three stacks of one function each. */
static void add_stacks(struct life_stacks *stacks) {
    for (uint32_t class_id = 1; class_id < 4; class_id++) {
        uint32_t name = life_stacks_name(stacks, "main");
        life_stacks_add(stacks, class_id, &name, 1);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
    struct reader_input input = {bytes, bytes + size};
    struct life_names names = {0};
    struct life_model model = {0};
    struct life_stacks stacks = {0};
    struct clock clock = {0};
    if (reader_byte(&input) % 2) {
        add_stacks(&stacks);
        model.stacks = &stacks;
    }
    for (int i = 0; i < MOST_STEPS && input.at < input.end; i++) {
        uint8_t step = reader_byte(&input) % 4;
        if (step == 0) {
            take_event(&input, &names);
        } else if (step == 1) {
            take_batch(&input, &model);
        } else {
            take_sound_batch(&input, &model, &clock);
        }
    }
    for (size_t i = 0; i < model.heap_count; i++) {
        life_names_apply(&names, &model.heaps[i]);
    }
    life_model_sort(&model);
    life_model_clear(&model);
    life_names_clear(&names);
    life_stacks_clear(&stacks);
    return 0;
}

/* A batch of one record. */
static size_t put_batch(uint8_t *at, uint8_t kind, const void *record, size_t bytes) {
    const uint8_t head[] = {1, 0, 1, kind, 1, (uint8_t)(bytes / 8), (uint8_t)bytes};
    memcpy(at, head, sizeof head);
    memcpy(at + sizeof head, record, bytes);
    at[sizeof head + bytes] = 0;
    at[sizeof head + bytes + 1] = 1;
    return sizeof head + bytes + 2;
}

void reader_seeds(reader_seed_fn *seed) {
    uint8_t bytes[2048] = {0}; /* the first: without stacks */
    struct eden_profile_record profile = {.seq = 1, .time_ns = 1000, .allocated_bytes = 4096, .rate = 1};
    struct eden_birth_cell birth = {.site = 1, .count = 2, .bytes = 64, .weight = 2048, .weight_bytes = 128};
    struct eden_life_cell cell = {.site = 1, .count = 1, .bytes = 32, .ns_sum = 5, .bytes_sum = 64, .weight = 1024};
    struct eden_life_record record = {.weight = 1024, .death_ns = 2000, .death_bytes = 8192};
    struct eden_end end = {.birth_bytes = 64, .bytes = 32, .site = 1, .tenured = 0};
    static const uint8_t epochs[128] = {1, 0, 0, 0, 0, 0, 0, 0, 2};
    size_t size = 1 + put_batch(bytes + 1, EDEN_BATCH_PROFILE, &profile, sizeof profile);
    size += put_batch(bytes + size, EDEN_BATCH_BIRTHS, &birth, sizeof birth);
    size += put_batch(bytes + size, EDEN_BATCH_DEATHS, &cell, sizeof cell);
    size += put_batch(bytes + size, EDEN_BATCH_OBJECTS, &record, sizeof record);
    seed(bytes, size);
    record.weight = record.bytes = UINT64_MAX; /* their product is no number of 64 bits */
    size += put_batch(bytes + size, EDEN_BATCH_OBJECTS, &record, sizeof record);
    seed(bytes, size);
    size = 1 + put_batch(bytes + 1, EDEN_BATCH_PROFILE, &profile, sizeof profile);
    size += put_batch(bytes + size, EDEN_BATCH_EPOCHS, epochs, sizeof(struct eden_epoch));
    size += put_batch(bytes + size, EDEN_BATCH_MARKS, epochs, sizeof(struct eden_mark));
    size += put_batch(bytes + size, EDEN_BATCH_EPOCHS, epochs, sizeof(struct eden_epoch));
    size += put_batch(bytes + size, EDEN_BATCH_ENDS, &end, sizeof end);
    size += put_batch(bytes + size, EDEN_BATCH_EDEN, epochs, 64);
    size += put_batch(bytes + size, EDEN_BATCH_BUCKETS, epochs, sizeof(struct eden_life_bucket));
    profile.ended = 1;
    size += put_batch(bytes + size, EDEN_BATCH_PROFILE, &profile, sizeof profile);
    seed(bytes, size);
    static const uint8_t sound[] = {
        2, 6,     1, 9,   1,  9,                                          /* two epochs */
        2, 1,     1, 200, 2,  1 + 6, 1,  90, 2, 80,                       /* marks */
        2, 0,     1, 9,                                                   /* an epoch */
        2, 2 + 6, 1, 2,   40, 1,     3,  1,  2, 4,  20, 0, 0,             /* ends */
        2, 3,     1, 9,   5,  0,     30, 1,  1, 2,  2,  1, 1, 0, 1, 3, 1, /* what died in eden */
        2, 5,     1, 9,   1,  2,     5,  2,  7, 2,                        /* stacks */
        2, 4,     1, 9,   0,  2,     4,  2,  8, 1,                        /* objects */
    };
    for (uint8_t with_stacks = 0; with_stacks < 2; with_stacks++) {
        profile.ended = 0;
        bytes[0] = with_stacks;
        size = 1 + put_batch(bytes + 1, EDEN_BATCH_PROFILE, &profile, sizeof profile);
        memcpy(bytes + size, sound, sizeof sound);
        seed(bytes, size + sizeof sound);
    }
    static const uint8_t names[] = "\0\0\0\4\0\4\4\4\4\4\6Point\0\0\1\4\0\4\4\4\4\6Point\0";
    seed(names, sizeof names);
}
