// Eden for C++17: classes whose lifetimes end what they began. All of eden.h is there, too.
//
// C++ destroys locals in reverse order, so declare them in this order: heap, mutator, then roots. Then each frame is
// closed, also by an exception, before its heap is destroyed. Nothing here throws, and nothing but eden.h allocates:
// what can fail has an operator bool, or fills an eden_error. The rules of eden.h hold: an eden_value outside a
// local, a root or a pinned is stale after a call that may collect.
#ifndef EDEN_EDEN_HPP
#define EDEN_EDEN_HPP

#include "eden.h"
#include <utility>

namespace eden {

// Owns a heap, which is destroyed with it. Movable; empty where creation failed or after a move.
class heap {
  public:
    // As eden_heap_create.
    explicit heap(const eden_options *options = nullptr, eden_error *error = nullptr)
        : heap_(eden_heap_create(options, error)) {}
    heap(heap &&other) noexcept : heap_(std::exchange(other.heap_, nullptr)) {}
    heap &operator=(heap &&other) noexcept {
        std::swap(heap_, other.heap_);
        return *this;
    }
    ~heap() { eden_heap_destroy(heap_); }

    explicit operator bool() const { return heap_ != nullptr; }
    eden_heap *get() const { return heap_; }

  private:
    eden_heap *heap_;
};

// Attaches the calling thread to a heap, and detaches it at its end. Empty where that failed, or the heap is empty.
// Destroyed before its heap.
class mutator {
  public:
    // As eden_mutator_attach.
    explicit mutator(const heap &of, eden_error *error = nullptr)
        : mutator_(of ? eden_mutator_attach(of.get(), error) : nullptr) {}
    mutator(const mutator &) = delete;
    mutator &operator=(const mutator &) = delete;
    ~mutator() {
        if (mutator_ != nullptr) {
            eden_mutator_detach(mutator_);
        }
    }

    explicit operator bool() const { return mutator_ != nullptr; }
    eden_mutator *get() const { return mutator_; }

  private:
    eden_mutator *mutator_;
};

// A frame of `count` roots, for the block in which it is declared: EDEN_FRAME as a class. Does not collect.
template <size_t count> class locals {
  public:
    explicit locals(eden_mutator *of) { eden_frame_enter(of, &frame_, slots_, count); }
    explicit locals(const mutator &of) : locals(of.get()) {}
    locals(const locals &) = delete;
    locals &operator=(const locals &) = delete;
    ~locals() { eden_frame_leave(&frame_); }
    static void *operator new(size_t) = delete; // frames nest as blocks do
    static void *operator new[](size_t) = delete;

    eden_value &operator[](size_t index) { return slots_[index]; }
    const eden_value &operator[](size_t index) const { return slots_[index]; }

  private:
    eden_value slots_[count];
    eden_frame frame_;
};

// One root, for the block in which it is declared; used like the value in it. Does not collect.
class local {
  public:
    explicit local(eden_mutator *of, eden_value value = EDEN_NONE) : slots_(of) { slots_[0] = value; }
    explicit local(const mutator &of, eden_value value = EDEN_NONE) : local(of.get(), value) {}
    static void *operator new(size_t) = delete;
    static void *operator new[](size_t) = delete;

    local &operator=(eden_value value) {
        slots_[0] = value;
        return *this;
    }
    operator eden_value() const { return slots_[0]; }

  private:
    locals<1> slots_;
};

// A global root, in memory of any kind, until it is destroyed: before its heap. Neither copied nor moved, since the
// collector knows its address. False (operator bool) where memory was refused: then it is no root. Does not collect.
class root {
  public:
    explicit root(eden_heap *of, eden_value value = EDEN_NONE)
        : heap_(of), value_(value), added_(of != nullptr && eden_root_add(of, &value_)) {}
    explicit root(const heap &of, eden_value value = EDEN_NONE) : root(of.get(), value) {}
    root(const root &) = delete;
    root &operator=(const root &) = delete;
    ~root() {
        if (added_) {
            eden_root_remove(heap_, &value_);
        }
    }

    explicit operator bool() const { return added_; }
    eden_value get() const { return value_; }
    void set(eden_value value) { value_ = value; }

  private:
    eden_heap *heap_;
    eden_value value_;
    bool added_;
};

// Pins an object for a block, so that a C pointer into it (eden_raw) stays good; a root of it, too. Pinning a young
// object collects. get() is EDEN_NONE where eden_pin found no memory. The object must not be pinned already.
class pinned {
  public:
    pinned(eden_mutator *of, eden_value object) : mutator_(of), object_(of, object) {
        object_ = eden_pin(mutator_, object_);
    }
    pinned(const mutator &of, eden_value object) : pinned(of.get(), object) {}
    ~pinned() { eden_unpin(mutator_, object_); }
    static void *operator new(size_t) = delete;
    static void *operator new[](size_t) = delete;

    eden_value get() const { return object_; }

  private:
    eden_mutator *mutator_;
    local object_;
};

// A collection hook (eden_collection_hook_add) until it is destroyed: before its heap. False where memory was refused.
class collection_hook {
  public:
    collection_hook(eden_heap *of, eden_collection_hook hook, void *context)
        : heap_(of), hook_(hook), context_(context), added_(eden_collection_hook_add(of, hook, context)) {}
    collection_hook(const collection_hook &) = delete;
    collection_hook &operator=(const collection_hook &) = delete;
    ~collection_hook() {
        if (added_) {
            eden_collection_hook_remove(heap_, hook_, context_);
        }
    }

    explicit operator bool() const { return added_; }

  private:
    eden_heap *heap_;
    eden_collection_hook hook_;
    void *context_;
    bool added_;
};

} // namespace eden

#endif
