// The public headers compile as C++17 without a warning, and their inline paths and classes work there; called by
// test_abi.c.
#include <eden/eden.hpp>

#include <new>
#include <type_traits>

extern "C" bool embed_from_cxx();
extern "C" bool handles_from_cxx();

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

namespace {

struct budget {
    bool refuses;
};
bool ask(void *context, size_t, const char *) { return !static_cast<budget *>(context)->refuses; }

void count(void *context, eden_mutator *, eden_collection_kind) { ++*static_cast<int *>(context); }

struct failure {};

// Nested frames, left by an exception where n is 0.
eden_value nest(eden_mutator *m, eden_class pair, int n) {
    eden::locals<2> local(m);
    local[0] = eden_new(m, pair);
    if (n == 0) {
        throw failure();
    }
    eden::local inner(m, local[0]);
    local[1] = nest(m, pair, n - 1);
    return inner;
}

bool frames_are_closed_by_exceptions(eden_mutator *m, eden_class pair) {
    const eden_frame *before = m->frames;
    eden::local kept(m, eden_new(m, pair));
    eden_slot_set(m, kept, 0, eden_int(5));
    try {
        nest(m, pair, 100);
        return false;
    } catch (const failure &) {
        eden_full_collect(m);
    }
    kept = eden_slot(kept, 0);
    return m->frames->previous == before && kept == eden_int(5);
}

bool roots_and_hooks_end(const eden::heap &heap, eden_mutator *m, eden_class pair, budget &memory) {
    int calls = 0;
    {
        eden::root root(heap, eden_new(m, pair));
        eden::collection_hook hook(heap.get(), count, &calls);
        eden_slot_set(m, root.get(), 0, eden_int(1));
        eden_scavenge(m);
        if (!root || !hook || calls != 1 || eden_slot(root.get(), 0) != eden_int(1)) {
            return false;
        }
        // As many as there is room for: the first that is refused is none, and its end removes nothing.
        memory.refuses = true;
        alignas(eden::root) unsigned char places[64][sizeof(eden::root)];
        size_t made = 0;
        bool refused = false;
        while (made < 64 && !refused) {
            refused = !*new (places[made++]) eden::root(heap);
        }
        while (made > 0) {
            reinterpret_cast<eden::root *>(places[--made])->~root();
        }
        memory.refuses = false;
        root.set(eden_new(m, pair));
        eden_scavenge(m);
        if (!refused || calls != 2 || !eden_is_a(m, root.get(), pair)) {
            return false;
        }
    }
    eden_scavenge(m);
    return calls == 2;
}

bool pins_end(eden_mutator *m, eden_class bytes) {
    eden::local copy(m);
    {
        eden::pinned pin(m, eden_new_raw(m, bytes, 100));
        memset(eden_raw(pin.get()), 7, 100);
        const void *before = eden_raw(pin.get());
        eden_full_collect(m);
        if (eden_raw(pin.get()) != before || static_cast<const char *>(before)[99] != 7) {
            return false;
        }
        copy = pin.get();
    }
    return (eden_header(copy) & EDEN_HEADER_PINNED) == 0;
}

} // namespace

static_assert(!std::is_copy_constructible<eden::heap>::value && std::is_nothrow_move_constructible<eden::heap>::value,
              "");
static_assert(!std::is_copy_constructible<eden::local>::value && !std::is_copy_constructible<eden::root>::value, "");
static_assert(!std::is_copy_constructible<eden::mutator>::value && !std::is_copy_constructible<eden::pinned>::value,
              "");

bool handles_from_cxx() {
    eden_error error = {EDEN_OK, ""};
    budget memory = {false};
    const eden_options wrong = {"cxx", "eden_size=0", nullptr, nullptr};
    eden::heap none(&wrong, &error);
    eden::mutator nobody(none, &error);
    if (none || nobody || error.status != EDEN_BAD_PARAMETER) {
        return false;
    }
    const eden_options options = {"cxx", "eden_size=64K", ask, &memory};
    eden::heap first(&options, &error), heap(std::move(first));
    eden::mutator m(heap, &error), second(heap, &error);
    if (first || !heap || !m || second || error.status != EDEN_BUSY || eden_mutator_heap(m.get()) != heap.get()) {
        return false;
    }
    none = std::move(heap); // m's heap by another name, destroyed after m: `none` is the older local
    const eden_class_definition pair = {"Pair", EDEN_FORMAT_FIXED, 2}, bytes = {"Bytes", EDEN_FORMAT_BYTES, 0};
    eden_class pairs = eden_class_define(none.get(), &pair, &error),
               raw = eden_class_define(none.get(), &bytes, &error);
    return !heap && frames_are_closed_by_exceptions(m.get(), pairs) && pins_end(m.get(), raw) &&
           roots_and_hooks_end(none, m.get(), pairs, memory);
}
