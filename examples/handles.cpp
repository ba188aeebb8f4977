// handles: C++ with RAII. Roots end with their blocks, whether these are left by return or by an exception.
#include <eden/eden.hpp>

#include <cstdio>
#include <stdexcept>

namespace {

struct program {
    eden_mutator *m;
    eden_class pair, text;
};

// The language's own decision: to throw where there is no memory. libeden never does.
eden_value checked(eden_value value) { return value != EDEN_NONE ? value : throw std::runtime_error("no memory"); }

eden_value cons(const program &p, eden_value head, eden_value tail) {
    eden::locals<2> local(p.m); // the arguments must outlive the allocation
    local[0] = head;
    local[1] = tail;
    eden_value pair = checked(eden_new(p.m, p.pair));
    eden_slot_set(p.m, pair, 0, local[0]);
    eden_slot_set(p.m, pair, 1, local[1]);
    return pair;
}

// n, n - 1, ..., 1, by nested calls; bad: where to throw.
eden_value build(const program &p, int n, int bad) {
    eden::local rest(p.m);
    if (n == bad) {
        throw std::runtime_error("bad number");
    }
    if (n > 1) {
        rest = build(p, n - 1, bad);
    }
    return cons(p, eden_int(n), rest);
}

eden_value copy(const program &p, const char *characters) {
    size_t length = strlen(characters);
    eden_value text = checked(eden_new_raw(p.m, p.text, length));
    memcpy(eden_raw(text), characters, length);
    return text;
}

void run(const program &p, const eden::heap &heap) {
    eden::root last(heap);
    if (!last) {
        throw std::runtime_error("no memory for a root");
    }
    for (int bad = 0; bad <= 50; bad += 50) {
        try {
            last.set(build(p, 1000, bad));
            std::printf("a list from %d on\n", static_cast<int>(eden_int_value(eden_slot(last.get(), 0))));
        } catch (const std::exception &error) {
            std::printf("error: %s\n", error.what());
        }
        eden_full_collect(p.m);
    }
    eden::pinned text(p.m, copy(p, "pinned"));
    const void *before = eden_raw(checked(text.get()));
    eden_full_collect(p.m);
    std::printf("%.6s, %s\n", static_cast<const char *>(before), before == eden_raw(text.get()) ? "in place" : "moved");
}

} // namespace

int main() {
    eden_error error = {EDEN_OK, ""};
    const eden_options options = {"handles", "eden_size=64K", nullptr, nullptr};
    eden::heap heap(&options, &error);
    eden::mutator m(heap, &error);
    if (!m) {
        std::fprintf(stderr, "handles: %s\n", error.message);
        return 1;
    }
    const eden_class_definition pair = {"Pair", EDEN_FORMAT_FIXED, 2}, text = {"Text", EDEN_FORMAT_BYTES, 0};
    program p = {m.get(), eden_class_define(heap.get(), &pair, &error), eden_class_define(heap.get(), &text, &error)};
    if (p.pair == 0 || p.text == 0) {
        std::fprintf(stderr, "handles: %s\n", error.message);
        return 1;
    }
    try {
        run(p, heap);
    } catch (const std::exception &failure) {
        std::fprintf(stderr, "handles: %s\n", failure.what());
        return 1;
    }
    return 0;
}
