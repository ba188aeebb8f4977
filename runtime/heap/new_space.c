/* New space: its shape, and how it changes size.
 *
 * It is a range of the reservation, and may change places (young/promote.c). From the lowest address: two survivor
 * semispaces, each a fifth of eden or as large as the policy wants them (heap/policy.c), and eden. Survivors lie below
 * eden so that a lower address means older (young/tenure.c). Each of the three has an address range of its own. Its
 * first part is mapped. Where the policy sizes new space, the ranges are larger than what is mapped, and a space grows
 * and shrinks at its end; elsewhere they are mapped whole. The larger ranges begin at multiples of SYSTEM_HUGE, so that
 * pages can be huge, and whole page tables can move (pages.c). The end of eden may be mapped and not in use: that is
 * the first memory that old space takes where max_heap leaves no other.
 *
 * Invariants
 * I1. What is mapped of the three adds up to new_space.bytes, which counts towards max_heap.
 * I2. No object lies beyond a space's limit: only what is empty shrinks, and a semispace with survivors down to them.
 *
 * Failure. The system refuses to map more: the size stays as it is. */
#include "heap/new_space.h"
#include "heap/policy.h"
#include <sys/resource.h>

/* What is reserved, not used: room for old space to grow in. Less where the process may not have so much. */
static const uint64_t OLD_RESERVE = 1ull << 38, OLD_RESERVE_LEAST = 1ull << 24;

/* At most half of what the process may still map. */
static uint64_t reserve_wanted(const eden_heap *heap) {
    uint64_t wanted = OLD_RESERVE;
    if (heap->params.max_heap != EDEN_NO_LIMIT && heap->params.max_heap > wanted) {
        wanted = system_page_round(heap->params.max_heap);
    }
    struct rlimit limit;
    if (getrlimit(RLIMIT_AS, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY && wanted > limit.rlim_cur / 2) {
        wanted = limit.rlim_cur / 2 & ~4095ull;
    }
    return wanted > OLD_RESERVE_LEAST ? wanted : OLD_RESERVE_LEAST;
}

size_t new_space_fifth(size_t eden_bytes) { return system_page_round(eden_bytes / 5); }
static size_t all_bytes(size_t eden_bytes) { return eden_bytes + 2 * new_space_fifth(eden_bytes); }

static size_t most_of_eden(const eden_heap *heap, size_t eden_bytes, uint64_t old_bytes) {
    size_t most = policy_eden_most(heap, eden_bytes, old_bytes);
    return most == eden_bytes ? most : system_huge_round(most);
}

/* A quarter of what is there, where eden may have 5/14 of it. Where eden keeps its size, so do they. */
static size_t semispace_most(size_t eden_most, size_t eden_bytes) {
    return eden_most == eden_bytes ? new_space_fifth(eden_bytes) : system_huge_round(eden_most / 10 * 7);
}

/* Address space for new and old space, and for the card table of so much. */
static bool reserve(eden_heap *heap, uint64_t old_bytes, size_t eden_most, size_t semispace_most) {
    size_t new_bytes = eden_most + 2 * semispace_most;
    void *at = system_reserve(&heap->system, new_bytes + old_bytes);
    if (at == NULL) {
        return false;
    }
    heap->reservation = (uintptr_t)at;
    heap->reservation_bytes = new_bytes + old_bytes;
    heap->new_space = (struct new_space){.start = heap->reservation,
                                         .end = heap->reservation + new_bytes,
                                         .eden_most = eden_most,
                                         .semispace_most = semispace_most};
    heap->old.start = heap->reservation;
    heap->old.limit = heap->reservation + heap->reservation_bytes;
    if (old_space_reserve_cards(heap)) {
        return true;
    }
    system_release(at, heap->reservation_bytes);
    heap->reservation = 0;
    return false;
}

static void unmap(eden_heap *heap, uintptr_t start, uintptr_t end) {
    OBSERVE(heap, young_unmapped, start, end);
    pages_decommit(&heap->pages, start, end - start);
}

void new_space_cut(eden_heap *heap, uintptr_t end, uintptr_t limit) {
    if (end < limit) {
        unmap(heap, end, limit);
        heap->new_space.bytes -= limit - end;
    }
}

/* Moves the end of a space to start + bytes, or as near as its objects and the system allow; not at all beyond
 * max_heap: a space that the system refused before may want more than its share of what is left. */
static void set_end(eden_heap *heap, struct space *space, size_t bytes) {
    uintptr_t limit = system_page_round(space->limit), wanted = space->start + bytes;
    uintptr_t used = system_page_round(space->used);
    wanted = wanted < used ? used : wanted;
    uint64_t mapped = heap->new_space.bytes + heap->old.capacity, most = heap->params.max_heap;
    if (wanted > limit && (most < mapped || wanted - limit > most - mapped ||
                           !pages_commit(&heap->pages, &heap->system, limit, wanted - limit, "new space"))) {
        return;
    }
    if (wanted < limit) {
        unmap(heap, wanted, limit);
    }
    heap->new_space.bytes += wanted - limit;
    space->limit = wanted;
}

static void set_eden_end(eden_heap *heap, size_t bytes) {
    struct space eden = {heap->new_space.eden_start, heap->new_space.eden_start, heap->new_space.eden_end};
    set_end(heap, &eden, bytes);
    heap->eden.limit = heap->new_space.eden_end = eden.limit;
}

void new_space_resize(eden_heap *heap, size_t eden_bytes, size_t semispace) {
    size_t eden_now = heap->new_space.eden_end - heap->new_space.eden_start, wanted = system_page_round(semispace);
    wanted = wanted < heap->new_space.semispace_most ? wanted : heap->new_space.semispace_most;
    /* What shrinks comes first: the others may need its memory. */
    set_eden_end(heap, eden_bytes < eden_now ? eden_bytes : eden_now);
    set_end(heap, &heap->semi[0], wanted);
    set_end(heap, &heap->semi[1], wanted);
    set_eden_end(heap, eden_bytes);
}

void new_space_limit(eden_heap *heap, size_t eden_bytes) {
    size_t mapped = heap->new_space.eden_end - heap->new_space.eden_start;
    heap->eden.limit = heap->new_space.eden_start + (eden_bytes < mapped ? eden_bytes : mapped);
}

void new_space_yield(eden_heap *heap, uint64_t bytes) {
    uintptr_t least = system_page_round(heap->eden.limit), end = heap->new_space.eden_end;
    if (least < end) {
        end = end - least > system_page_round(bytes) ? end - system_page_round(bytes) : least;
        unmap(heap, end, heap->new_space.eden_end);
        heap->new_space.bytes -= heap->new_space.eden_end - end;
        heap->new_space.eden_end = end;
    }
}

/* Sets the ranges of its spaces. Nothing of them is mapped. */
static void place(struct new_space *space) {
    space->eden_start = space->eden_end = space->end - space->eden_most;
    space->bytes = 0;
}

void new_space_turn(eden_heap *heap, const struct new_space *other) {
    heap->info.new_start = heap->mutator.young_start = other->start;
    heap->info.new_bytes = other->end - other->start;
    heap->mutator.young_words = heap->info.new_bytes / 8;
    if (!cycle_is_running(&heap->cycle)) {
        heap->mutator.barrier_words = heap->mutator.young_words;
    }
}

void new_space_move(eden_heap *heap, const struct new_space *other) {
    uintptr_t second = other->start + other->semispace_most;
    size_t semispace = (other->bytes - (other->eden_end - other->eden_start)) / 2;
    heap->new_space = *other;
    heap->semi[0] = (struct space){other->start, other->start, other->start + semispace};
    heap->semi[1] = (struct space){second, second, second + semispace};
    heap->eden = (struct space){other->eden_start, other->eden_start, other->eden_end};
    heap->mutator.free = heap->delta.allocated_from = heap->eden.start;
}

/* All of them, or none. */
static bool commit_all(eden_heap *heap, const struct page_range parts[YOUNG_SPACES]) {
    for (int i = 0; i < YOUNG_SPACES; i++) {
        if (!pages_commit(&heap->pages, &heap->system, parts[i].start, parts[i].end - parts[i].start, "new space")) {
            while (i-- > 0) {
                pages_decommit(&heap->pages, parts[i].start, parts[i].end - parts[i].start);
            }
            return false;
        }
    }
    return true;
}

bool new_space_prepare(eden_heap *heap, struct new_space *other) {
    uint64_t mapped = heap->new_space.bytes + heap->old.capacity, limit = heap->params.max_heap;
    size_t semispace = new_space_fifth(EDEN_POLICY_LEAST), all = all_bytes(EDEN_POLICY_LEAST);
    size_t reserved = heap->new_space.end - heap->new_space.start;
    *other = heap->new_space;
    const uintptr_t gap = old_space_gap(heap, reserved + SYSTEM_HUGE);
    other->start = system_huge_round(gap);
    other->end = other->start + reserved;
    if (gap == 0 || limit < mapped || limit - mapped < all) {
        return false;
    }
    place(other);
    const struct page_range parts[YOUNG_SPACES] = {
        {other->start, other->start + semispace},
        {other->start + other->semispace_most, other->start + other->semispace_most + semispace},
        {other->eden_start, other->eden_start + EDEN_POLICY_LEAST}};
    if (!commit_all(heap, parts)) {
        return false;
    }
    other->eden_end += EDEN_POLICY_LEAST;
    other->bytes = all;
    return true;
}

bool new_space_create(eden_heap *heap, eden_error *error) {
    size_t eden_bytes = system_page_round(heap->params.eden_size);
    if (heap->params.max_heap != EDEN_NO_LIMIT && heap->params.max_heap < all_bytes(eden_bytes)) {
        return error_fail(
            error, EDEN_BAD_PARAMETER,
            "max_heap=%llu: less than new space, which takes %zu bytes (7/5 of eden_size); raise max_heap or "
            "lower eden_size",
            (unsigned long long)heap->params.max_heap, all_bytes(eden_bytes));
    }
    uint64_t bytes = reserve_wanted(heap);
    size_t most = most_of_eden(heap, eden_bytes, bytes);
    bool reserved = reserve(heap, bytes, most, semispace_most(most, eden_bytes));
    while (!reserved && bytes / 2 >= OLD_RESERVE_LEAST) {
        bytes = bytes / 2 & ~4095ull;
        most = most_of_eden(heap, eden_bytes, bytes);
        reserved = reserve(heap, bytes, most, semispace_most(most, eden_bytes));
    }
    if (!reserved) {
        bytes += most + 2 * semispace_most(most, eden_bytes);
        return error_fail(error, EDEN_NO_MEMORY,
                          "cannot reserve %llu bytes of address space (ulimit -v, or -l after mlockall?)",
                          (unsigned long long)bytes);
    }
    place(&heap->new_space);
    new_space_turn(heap, &heap->new_space);
    new_space_move(heap, &heap->new_space);
    new_space_resize(heap, eden_bytes, new_space_fifth(eden_bytes));
    if (heap->new_space.bytes != all_bytes(eden_bytes)) {
        return error_fail(error, EDEN_NO_MEMORY, "no memory: cannot map %zu bytes for new space (eden_size)",
                          all_bytes(eden_bytes));
    }
    heap->eden.limit = heap->eden.start + heap->params.eden_size / 8 * 8;
    return true;
}
