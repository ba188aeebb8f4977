/* A program whose records live long, amid garbage, for bench/pretenure.py.
 *
 *     pretenure steady|turn [RECORDS]    (default 1000000)
 *
 * Each record is an object of two slots and a text of 24 bytes, made with three times as much garbage. `steady`: all
 * records are kept to the end. `turn`: that goes for the first half of the work; the second half makes as many records
 * as the first, but each lives only until some 20,000 later ones are made, which is longer than a scavenge takes to
 * come and shorter than tenuring pays for. Prints a sum over what is kept, which is the same however it was collected.
 */
#include <eden/eden.h>

#include <stdio.h>
#include <stdlib.h>

enum { SHORT_LIVED = 20000 };

struct bench {
    eden_mutator *m;
    eden_class table, record, text, garbage;
};

static void make_record(const struct bench *bench, const eden_value *table, size_t slot, size_t number) {
    EDEN_FRAME(bench->m, local, 1);
    for (int i = 0; i < 4; i++) {
        eden_new_raw(bench->m, bench->garbage, 40);
    }
    local[0] = eden_new_raw(bench->m, bench->text, 24);
    memset(eden_raw(local[0]), (int)(number % 251), 24);
    eden_value record = eden_new(bench->m, bench->record);
    eden_slot_set(bench->m, record, 0, local[0]);
    eden_slot_set(bench->m, record, 1, eden_int((int64_t)number));
    eden_slot_set(bench->m, *table, slot, record);
}

int main(int argc, char **argv) {
    bool turn = argc > 1 && strcmp(argv[1], "turn") == 0;
    size_t records = argc > 2 ? strtoull(argv[2], NULL, 10) : 1000000;
    if (argc < 2 || (!turn && strcmp(argv[1], "steady") != 0) || records < SHORT_LIVED) {
        fprintf(stderr, "usage: pretenure steady|turn [RECORDS, at least %d]\n", SHORT_LIVED);
        return 2;
    }
    eden_error error = {EDEN_OK, ""};
    eden_heap *heap = eden_heap_create(&(eden_options){.name = "pretenure"}, &error);
    struct bench bench = {.m = heap == NULL ? NULL : eden_mutator_attach(heap, &error)};
    if (bench.m == NULL) {
        fprintf(stderr, "pretenure: %s\n", error.message);
        return 1;
    }
    bench.table = eden_class_define(heap, &(eden_class_definition){"Table", EDEN_FORMAT_VARIABLE, 0}, &error);
    bench.record = eden_class_define(heap, &(eden_class_definition){"Record", EDEN_FORMAT_FIXED, 2}, &error);
    bench.text = eden_class_define(heap, &(eden_class_definition){"Text", EDEN_FORMAT_BYTES, 0}, &error);
    bench.garbage = eden_class_define(heap, &(eden_class_definition){"Garbage", EDEN_FORMAT_BYTES, 0}, &error);
    uint64_t sum = 0;
    {
        EDEN_FRAME(bench.m, local, 1);
        local[0] = eden_new_slots(bench.m, bench.table, records);
        for (size_t i = 0; i < records; i++) {
            make_record(&bench, local, i, i);
        }
        for (size_t i = 0; turn && i < records; i++) {
            make_record(&bench, local, i % SHORT_LIVED, i);
        }
        for (size_t i = 0; i < records; i++) {
            eden_value record = eden_slot(local[0], i);
            const unsigned char *text = eden_raw(eden_slot(record, 0));
            sum += (uint64_t)eden_int_value(eden_slot(record, 1)) * text[23];
        }
    }
    printf("%llu\n", (unsigned long long)sum);
    eden_heap_destroy(heap);
    return 0;
}
