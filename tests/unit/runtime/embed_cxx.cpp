// The public headers compile as C++17 without a warning, and their inline paths work there; called by test_abi.c.
#include <eden/eden.h>

extern "C" bool embed_from_cxx();

static int64_t sum_list(eden_mutator *mutator, eden_class pair, int64_t length) {
    EDEN_FRAME(mutator, local, 1);
    for (int64_t i = 0; i < length; i++) {
        eden_value node = eden_new(mutator, pair);
        if (node == EDEN_NONE) {
            return -1;
        }
        eden_slot_set(mutator, node, 0, eden_int(i));
        eden_slot_set(mutator, node, 1, local[0]);
        local[0] = node;
    }
    eden_safepoint(mutator);
    int64_t sum = 0;
    for (eden_value at = local[0]; at != EDEN_NONE; at = eden_slot(at, 1)) {
        sum += eden_int_value(eden_slot(at, 0));
    }
    return sum;
}

bool embed_from_cxx() {
    eden_error error = {EDEN_OK, ""};
    eden_options options = {"cxx", "eden_size=64K", nullptr, nullptr};
    eden_heap *heap = eden_heap_create(&options, &error);
    if (heap == nullptr) {
        return false;
    }
    eden_mutator *mutator = eden_mutator_attach(heap, &error);
    eden_class_definition definition = {"Pair", EDEN_FORMAT_FIXED, 2};
    eden_class pair = eden_class_define(heap, &definition, &error);
    definition = {"Bytes", EDEN_FORMAT_BYTES, 0};
    eden_class bytes = eden_class_define(heap, &definition, &error);
    bool right = sum_list(mutator, pair, 20000) == 19999LL * 20000 / 2;
    {
        EDEN_FRAME(mutator, local, 2);
        local[0] = eden_new_raw(mutator, bytes, 11);
        local[1] = eden_new_slots(mutator, pair, 0);
        right = right && eden_raw_count(local[0]) == 11 && eden_float_value(eden_float(1.5)) == 1.5;
        eden_full_collect(mutator);
        right = right && eden_class_of(heap, local[0]) == bytes && eden_heap_verify(heap, &error);
    }
    eden_heap_destroy(heap);
    return right;
}
