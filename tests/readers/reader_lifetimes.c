/* Batches and events of a hostile process, as they come out of the kernel: into names and the model of lifetimes. */
#include "eden_batches.h"
#include "life_model.h"
#include "life_names.h"
#include "life_stats.h"
#include "reader.h"
#include <string.h>

const unsigned reader_runs = 20000;

enum { MOST_STEPS = 64 };

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
    struct life_heap *heap = life_model_heap(model, &process, address, reader_byte(input) % 3);
    if (heap) {
        life_model_batch(model, heap, kind, records, count, record_bytes);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
    struct reader_input input = {bytes, bytes + size};
    struct life_names names = {0};
    struct life_model model = {0};
    for (int i = 0; i < MOST_STEPS && input.at < input.end; i++) {
        if (reader_byte(&input) % 4 == 0) {
            take_event(&input, &names);
        } else {
            take_batch(&input, &model);
        }
    }
    for (size_t i = 0; i < model.heap_count; i++) {
        life_names_apply(&names, &model.heaps[i]);
    }
    life_model_sort(&model);
    life_model_clear(&model);
    life_names_clear(&names);
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
    uint8_t bytes[2048];
    struct eden_profile_record profile = {.seq = 1, .time_ns = 1000, .allocated_bytes = 4096, .rate = 1};
    struct eden_birth_cell birth = {.site = 1, .count = 2, .bytes = 64, .weight = 2048, .weight_bytes = 128};
    struct eden_life_cell cell = {.site = 1, .count = 1, .bytes = 32, .ns_sum = 5, .bytes_sum = 64, .weight = 1024};
    struct eden_life_record record = {.weight = 1024, .death_ns = 2000, .death_bytes = 8192};
    struct eden_end end = {.birth_bytes = 64, .bytes = 32, .site = 1, .tenured = 0};
    static const uint8_t epochs[128] = {1, 0, 0, 0, 0, 0, 0, 0, 2};
    size_t size = put_batch(bytes, EDEN_BATCH_PROFILE, &profile, sizeof profile);
    size += put_batch(bytes + size, EDEN_BATCH_BIRTHS, &birth, sizeof birth);
    size += put_batch(bytes + size, EDEN_BATCH_DEATHS, &cell, sizeof cell);
    size += put_batch(bytes + size, EDEN_BATCH_OBJECTS, &record, sizeof record);
    seed(bytes, size);
    record.weight = record.bytes = UINT64_MAX; /* their product is no number of 64 bits */
    size += put_batch(bytes + size, EDEN_BATCH_OBJECTS, &record, sizeof record);
    seed(bytes, size);
    size = put_batch(bytes, EDEN_BATCH_PROFILE, &profile, sizeof profile);
    size += put_batch(bytes + size, EDEN_BATCH_EPOCHS, epochs, sizeof(struct eden_epoch));
    size += put_batch(bytes + size, EDEN_BATCH_MARKS, epochs, sizeof(struct eden_mark));
    size += put_batch(bytes + size, EDEN_BATCH_EPOCHS, epochs, sizeof(struct eden_epoch));
    size += put_batch(bytes + size, EDEN_BATCH_ENDS, &end, sizeof end);
    size += put_batch(bytes + size, EDEN_BATCH_EDEN, epochs, 64);
    size += put_batch(bytes + size, EDEN_BATCH_BUCKETS, epochs, sizeof(struct eden_life_bucket));
    profile.ended = 1;
    size += put_batch(bytes + size, EDEN_BATCH_PROFILE, &profile, sizeof profile);
    seed(bytes, size);
    static const uint8_t names[] = "\0\0\4\0\4\4\4\4\4\6Point\0\0\1\4\0\4\4\4\4\6Point\0";
    seed(names, sizeof names);
}
