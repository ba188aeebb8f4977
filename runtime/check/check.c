/* The checked build (make CHECKED=1 B=build/checked).
 *
 * 1. Purpose
 * Finds the embedder's mistakes, reports them in one line on standard error with the rule that was broken, and aborts,
 * so that a debugger shows where. No other build ends a process.
 *
 * 2. Terms
 * Stale reference: one to where an object was before a collection moved or freed it. Poison: POISON, a word that is
 * neither a value (no value has tag 7) nor an address.
 *
 * 3. Algorithm
 *     when                                                what is checked
 *     before and after each collection                    the heap, by the verifier (verify.c); frames; poison
 *     each allocation                                     the class, its format and slots; the newest frame
 *     eden_new, eden_new_slots, eden_new_raw,             it is the call for the format of the class, which the header
 *     under EDEN_CHECKED                                  alone does not show
 *     each call that takes an object; eden_slot,          the object is alive, the slot is one of its references,
 *     eden_slot_set and eden_raw under EDEN_CHECKED       a stored value belongs to the same heap
 *     destroying the heap, detaching the mutator          no frame is open
 *
 * Stale references: `starts` has a bit for the header of each live object; each collection sets them anew, each
 * allocation adds one (all allocations take the slow path here: `limit`). New objects would soon reuse the addresses of
 * eden. So allocation continues behind what was there, and returns to eden's start only when less than half is left
 * (eden_emptied).
 *
 * Poison fills what a scavenge leaves behind, and free chunks after a full collection, or when they are swept. If it
 * has changed when the memory is used again, or before the next collection, somebody wrote through a stale C pointer or
 * past the end of the object before it; a read through one finds no data. Poison, unlike mprotect, works below a page,
 * costs no system call, and lets the fault be named. Under the address sanitizer and Valgrind the same memory is also
 * inaccessible, and they report each access where it happens.
 *
 * Frames: a frame that a longjmp skipped lies below the running function, or its memory holds something else. Only
 * frames on the thread's own stack are compared by address: coroutines have stacks elsewhere.
 *
 * 4. Invariants
 * I1. A bit of `starts` is set if and only if a live object begins there, except while a collection runs.
 * I2. After each collection, what it left behind in new space is poison; after a full one, so are the bodies of free
 *     chunks.
 *
 * 5. Failure
 * A stale reference passes if another object begins at the same address by then: in old space, in a semispace, or in
 * eden after its start was reused. Without memory for `starts`, stale references are not found. */
#ifndef EDEN_CHECKED
#define EDEN_CHECKED 1 /* for tools that look at this file by itself */
#endif
#include "check/check.h"
#include "heap/poison.h"
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

/* ---- reporting --------------------------------------------------------------------------------------------------- */

static const char RULE_1[] =
    "anything needed after a call that may collect must be in a root (docs/embedding.md, rule 1)";
static const char RULE_2[] = "store references with eden_slot_set (docs/embedding.md, rule 2)";
static const char RULE_3[] = "a C pointer into an object is valid until the next call that may collect, for "
                             "eden_raw_count units (docs/embedding.md, rule 3)";
static const char VALUES[] = "a slot may hold references to objects of its own heap, immediates or EDEN_NONE; only raw "
                             "formats may hold raw data (docs/embedding.md, Values)";
static const char OBJECTS[] = "this call needs an object (docs/embedding.md, Values)";
static const char CALLS[] = "each format has one call that allocates it (docs/embedding.md, Classes and sites)";
static const char CLASSES[] = "an object must have a class or site defined in this heap, and the slots of its class "
                              "(docs/embedding.md, Classes and sites)";
static const char ROOTS[] = "leave each frame's block before you destroy the heap; with longjmp, call "
                            "eden_frames_restore (docs/embedding.md, Roots)";
static const char HOOKS[] = "a collection hook must not allocate, collect, change hooks or destroy the heap "
                            "(docs/embedding.md, Collection hooks)";

__attribute__((noreturn)) static void report(const eden_heap *heap, const char *when, const char *what,
                                             const char *rule) {
    char line[1024];
    int length = snprintf(line, sizeof line, "eden: checked build: heap '%s', %s: %s; %s\n",
                          heap == NULL ? "?" : heap->info.name, when, what, rule);
    if (length > 0 && write(STDERR_FILENO, line, (size_t)length < sizeof line ? (size_t)length : sizeof line - 1) < 0) {
        abort(); /* standard error is gone */
    }
    abort();
}

#define REPORT(heap, when, rule, ...)                                                                                  \
    do {                                                                                                               \
        char what_[512];                                                                                               \
        snprintf(what_, sizeof what_, __VA_ARGS__);                                                                    \
        report(heap, when, what_, rule);                                                                               \
    } while (0)

/* The rule that a fault of the verifier's breaks: by words of its message. */
static const char *broken_rule(const char *message) {
    static const struct {
        const char *words, *rule;
    } rules[] = {
        {"is not remembered", RULE_2},
        {"stale reference", RULE_1},
        {"but its class", CLASSES},
        {"has an invalid tag", VALUES},
        {"not an address of this heap", VALUES},
    };
    for (size_t i = 0; i < sizeof rules / sizeof rules[0]; i++) {
        if (strstr(message, rules[i].words) != NULL) {
            return rules[i].rule;
        }
    }
    return RULE_3; /* headers, free chunks and accounts: something wrote beyond an object */
}

static void verify(eden_heap *heap, const char *when) {
    eden_error error = {EDEN_OK, ""};
    /* The program's budget is not asked: checking must not change what it sees. */
    struct system system = heap->system;
    heap->system = (struct system){NULL, NULL};
    bool ok = eden_heap_verify(heap, &error);
    heap->system = system;
    if (!ok) {
        report(heap, when, error.message, broken_rule(error.message));
    }
}

/* ---- poison ------------------------------------------------------------------------------------------------------ */

static const char *const space_names[YOUNG_SPACES] = {"a survivor space", "a survivor space", "eden"};

static const struct observer_calls calls;

/* It has subscribed first. */
static struct check *check_of(const eden_heap *heap) {
    struct observer *at = heap->observers;
    while (at->calls != &calls) {
        at = at->next;
    }
    return (struct check *)at;
}

static const char *place(const eden_heap *heap, uintptr_t address) {
    return !heap_is_young(heap, address & ~(uintptr_t)7) ? "old space"
           : address >= check_of(heap)->eden_base        ? space_names[2]
                                                         : space_names[0];
}

static bool is_live(const eden_heap *heap, eden_value object) {
    const uint64_t *starts = check_of(heap)->starts;
    size_t word = (object - heap->reservation) / 8;
    return starts == NULL || (starts[word / 64] >> (word % 64) & 1) != 0;
}

/* " (Text 0x7f...)": the live object that ends nearest before an address, in the same page or the one before. */
static const char *object_before(const eden_heap *heap, uintptr_t address, char *text, size_t size) {
    enum { NEAR = 4096 };
    const uint64_t *starts = check_of(heap)->starts;
    text[0] = '\0';
    for (uintptr_t at = address - 8; starts != NULL && at >= heap->reservation && address - at <= NEAR; at -= 8) {
        if (is_live(heap, at)) {
            uint32_t index = eden_index_of(at);
            if (index != EDEN_CLASS_FREE && index < heap->next_class) {
                snprintf(text, size, " (%.60s %#" PRIxPTR ")", (const char *)(uintptr_t)heap_class(heap, index)->name,
                         at);
            }
            break;
        }
    }
    return text;
}

static void check_poison(const eden_heap *heap, const char *where, uintptr_t start, uintptr_t end) {
    const uint64_t *word = poison_overwritten(start, end);
    char before[100];
    if (word != NULL) {
        REPORT(heap, "seen later", RULE_3,
               "%#" PRIxPTR " in %s, left or freed by a collection, was overwritten with %#" PRIx64
               " through a stale C pointer, or past the end of the object before it%s",
               (uintptr_t)word, where, *word, object_before(heap, (uintptr_t)word, before, sizeof before));
    }
}

/* Marks what new space does not use. */
static void close_new_space(eden_heap *heap) {
    struct space *spaces[YOUNG_SPACES];
    heap_young_spaces(heap, spaces);
    poison_close(check_of(heap)->eden_base, heap->eden.start);
    for (int i = 0; i < YOUNG_SPACES; i++) {
        poison_close(spaces[i]->used, spaces[i]->limit);
    }
}

/* ---- live objects ------------------------------------------------------------------------------------------------ */

static void note_start(eden_heap *heap, eden_value object) {
    uint64_t *starts = check_of(heap)->starts;
    if (starts != NULL) {
        size_t word = (object - heap->reservation) / 8;
        starts[word / 64] |= 1ull << (word % 64);
    }
}

/* Parts of new space, and segments: pages, so whole words of the map. */
static void forget_starts(eden_heap *heap, uintptr_t start, uintptr_t end) {
    uint64_t *starts = check_of(heap)->starts;
    if (starts != NULL) {
        size_t from = (start - heap->reservation) / 512, to = (end - heap->reservation) / 512;
        memset(starts + from, 0, (to - from) * sizeof *starts);
    }
}

static void note_old(eden_heap *heap, uintptr_t from, uintptr_t to) {
    for (eden_value object = old_space_walk(heap, from); object != EDEN_NONE && object < to;
         object = old_space_walk(heap, object_end(object))) {
        if (!object_is_free(object)) {
            note_start(heap, object);
        }
    }
}

static void note_all(eden_heap *heap) {
    struct space *spaces[YOUNG_SPACES];
    heap_young_spaces(heap, spaces);
    for (int i = 0; i < 2; i++) {
        forget_starts(heap, heap->semi[i].start, heap->semi[i].limit);
    }
    forget_starts(heap, heap->new_space.eden_start, heap->new_space.eden_end);
    for (int i = 0; i < YOUNG_SPACES; i++) {
        for (uintptr_t at = spaces[i]->start; at < spaces[i]->used; at = object_end(object_at(at))) {
            if (!object_is_free(object_at(at))) {
                note_start(heap, object_at(at));
            }
        }
    }
    for (size_t i = 0; i < heap->old.segment_count; i++) {
        forget_starts(heap, heap->old.segments[i].start, heap->old.segments[i].limit);
    }
    note_old(heap, 0, UINTPTR_MAX);
}

/* ---- frames ------------------------------------------------------------------------------------------------------ */

/* Does the frame lie below `running`, on the stack of the thread that runs? */
static bool is_skipped(const eden_heap *heap, const struct eden_frame *frame, uintptr_t running) {
    struct check *check = check_of(heap);
    if (check->stack == 0 || !pthread_equal(check->thread, pthread_self())) {
        pthread_attr_t attributes;
        void *stack = NULL;
        size_t bytes = 0;
        check->thread = pthread_self();
        check->stack = check->stack_limit = UINTPTR_MAX;
        if (pthread_getattr_np(check->thread, &attributes) == 0) {
            if (pthread_attr_getstack(&attributes, &stack, &bytes) == 0) {
                check->stack = (uintptr_t)stack;
                check->stack_limit = (uintptr_t)stack + bytes;
            }
            pthread_attr_destroy(&attributes);
        }
    }
    uintptr_t at = (uintptr_t)frame;
    return running - check->stack < check->stack_limit - check->stack &&
           at - check->stack < check->stack_limit - check->stack && at < running;
}

/* Looks at the newest frame, or at all. running: an address of the stack above which all frames are. */
static void check_skipped(const eden_heap *heap, const char *call, bool all, uintptr_t running) {
    for (const struct eden_frame *frame = heap->mutator.frames; frame != NULL; frame = frame->previous) {
        bool skipped = is_skipped(heap, frame, running);
        if (skipped || frame->mutator != &heap->mutator) {
            REPORT(heap, call, ROOTS, "frame %p was never left, and %s: a longjmp skipped it", (const void *)frame,
                   skipped ? "its function has returned" : "its memory was reused");
        }
        if (!all) {
            return;
        }
    }
}

void check_call(const eden_heap *heap, const char *call) {
    check_skipped(heap, call, true, (uintptr_t)__builtin_frame_address(0));
}

void eden_check_enter(eden_mutator *mutator) {
    check_skipped(mutator->heap, "EDEN_FRAME", false, (uintptr_t)__builtin_frame_address(0));
}

void eden_check_leave(const struct eden_frame *frame) {
    const eden_mutator *mutator = frame->mutator;
    if (mutator->frames != frame) {
        REPORT(mutator->heap, "the end of EDEN_FRAME's block", ROOTS,
               "frame %p is left, but the newest is %p: a longjmp skipped frames", (const void *)frame,
               (const void *)mutator->frames);
    }
}

void eden_check_restore(eden_mutator *mutator, const struct eden_frame *saved) {
    bool gone = saved != NULL && is_skipped(mutator->heap, saved, (uintptr_t)__builtin_frame_address(0));
    if (gone || (saved != NULL && saved->mutator != mutator)) {
        REPORT(mutator->heap, "eden_frames_restore", ROOTS, "frame %p %s", (const void *)saved,
               gone ? "was left after eden_frames_save" : "does not belong to this mutator");
    }
}

void check_frames(const eden_heap *heap, const char *call) {
    const struct eden_frame *frame = heap->mutator.frames;
    if (frame != NULL && pthread_equal(heap->thread, pthread_self())) {
        check_skipped(heap, call, true, (uintptr_t)__builtin_frame_address(0));
        REPORT(heap, call, ROOTS, "frame %p of %zu slots is still open", (const void *)frame, frame->count);
    }
}

static void roots_visited(struct observer *self, size_t ranges, size_t visitors) {
    const eden_heap *heap = self->heap;
    if (heap->roots.count != ranges || heap->roots.visitor_count != visitors) {
        REPORT(heap, "collection", ROOTS, "a root visitor added or removed roots or visitors");
    }
}

void check_hook(const eden_heap *heap, const char *call) { REPORT(heap, call, HOOKS, "called in a collection hook"); }

/* ---- allocation and collections ---------------------------------------------------------------------------------- */

static const char *format_name(uint32_t format) {
    switch ((enum eden_format)format) {
    case EDEN_FORMAT_EMPTY:
        return "EMPTY";
    case EDEN_FORMAT_FIXED:
        return "FIXED";
    case EDEN_FORMAT_VARIABLE:
        return "VARIABLE";
    case EDEN_FORMAT_FIXED_VARIABLE:
        return "FIXED_VARIABLE";
    case EDEN_FORMAT_WORDS64:
        return "WORDS64";
    case EDEN_FORMAT_WORDS32:
        return "WORDS32";
    case EDEN_FORMAT_WORDS16:
        return "WORDS16";
    case EDEN_FORMAT_BYTES:
        return "BYTES";
    case EDEN_FORMAT_WEAK:
        return "WEAK";
    case EDEN_FORMAT_EPHEMERON:
        return "EPHEMERON";
    case EDEN_FORMAT_COMPOUND:
        return "COMPOUND";
    }
    return "?";
}

static bool format_is_indexed(uint32_t format) {
    return format == EDEN_FORMAT_VARIABLE || format == EDEN_FORMAT_FIXED_VARIABLE || format == EDEN_FORMAT_WEAK;
}

void eden_check_new(const eden_mutator *mutator, eden_class of, const char *call) {
    const eden_heap *heap = mutator->heap;
    check_class_of(heap, of, call);
    const struct eden_class_info *class = heap_class(heap, eden_class_index(of));
    const char *right = class->format >= EDEN_FORMAT_WORDS64 ? "eden_new_raw"
                        : format_is_indexed(class->format)   ? "eden_new_slots"
                                                             : "eden_new";
    if (strcmp(call, right) != 0) {
        REPORT(heap, call, CALLS, "class '%.60s' is %s: allocate it with %s, not %s",
               (const char *)(uintptr_t) class->name, format_name(class->format), right, call);
    }
}

static void allocating(struct observer *self, uint64_t header, size_t slots) {
    const eden_heap *heap = self->heap;
    uint32_t index = (uint32_t)(header & EDEN_HEADER_CLASS_MASK);
    check_class_of(heap, header, "allocation");
    const struct eden_class_info *class = heap_class(heap, index);
    uint32_t format = (uint32_t)(header >> EDEN_HEADER_FORMAT_SHIFT) & 31u;
    if ((format & ~((1u << object_unit_shift(class->format)) - 1)) != class->format) {
        REPORT(heap, "allocation", CLASSES,
               "index %u is class '%.60s' of format %u, but the program requested format %u", index,
               (const char *)(uintptr_t) class->name, class->format, format);
    }
    bool more = format_is_indexed(class->format) || class->format >= EDEN_FORMAT_WORDS64;
    if (slots < class->fixed_slots || (!more && slots != class->fixed_slots)) {
        REPORT(heap, "allocation", CLASSES, "class '%.60s' fixes %u slots, but the program requested %zu",
               (const char *)(uintptr_t) class->name, class->fixed_slots, slots);
    }
    check_skipped(heap, "allocation", false, (uintptr_t)__builtin_frame_address(0));
}

static void made(struct observer *self, eden_value object) { note_start(self->heap, object); }

/* All allocations take the slow path. */
static uintptr_t limit(struct observer *self, uintptr_t most) {
    uintptr_t free = self->heap->mutator.free;
    return free < most ? free : most;
}

static void before_scavenge(struct observer *self) {
    struct check *check = (struct check *)self;
    eden_heap *heap = self->heap;
    struct space *spaces[YOUNG_SPACES];
    check_call(heap, "before a scavenge");
    verify(heap, "before a scavenge");
    heap_young_spaces(heap, spaces);
    check_poison(heap, space_names[2], check->eden_base, heap->eden.start);
    for (int i = 0; i < YOUNG_SPACES; i++) {
        if (spaces[i]->used > check->high[i]) {
            check->high[i] = spaces[i]->used;
        }
        check_poison(heap, space_names[i], spaces[i]->used, check->high[i]);
        check->from[i] = spaces[i]->start;
        check->used[i] = spaces[i]->used;
        poison_open(spaces[i]->used, spaces[i]->limit);
    }
}

/* The space copied to so far will be left. */
static void second_pass(struct observer *self, const struct scavenge_pass *pass) {
    (void)pass;
    struct check *check = (struct check *)self;
    eden_heap *heap = self->heap;
    struct space *spaces[YOUNG_SPACES];
    heap_young_spaces(heap, spaces);
    for (int i = 0; i < YOUNG_SPACES; i++) {
        check->used[i] = spaces[i]->used > check->used[i] ? spaces[i]->used : check->used[i];
        check->high[i] = check->used[i] > check->high[i] ? check->used[i] : check->high[i];
    }
}

static void after_scavenge(struct observer *self) {
    struct check *check = (struct check *)self;
    eden_heap *heap = self->heap;
    struct space *spaces[YOUNG_SPACES];
    heap_young_spaces(heap, spaces);
    for (int i = 0; i < YOUNG_SPACES; i++) {
        /* Eden may have been rolled: then all that it had is left behind. */
        uintptr_t left = spaces[i]->start == check->from[i] ? spaces[i]->used : check->from[i];
        uintptr_t end = check->used[i] < spaces[i]->limit ? check->used[i] : spaces[i]->limit; /* it may have shrunk */
        poison_fill(left, end);
        check->high[i] = check->high[i] < spaces[i]->limit ? check->high[i] : spaces[i]->limit;
        if (spaces[i]->used > check->high[i]) {
            check->high[i] = spaces[i]->used;
        }
    }
    note_all(heap);
    close_new_space(heap);
    verify(heap, "after a scavenge");
}

static bool check_chunk_body(void *context, uintptr_t start, size_t bytes) {
    check_poison(context, "a free chunk of old space", poison_chunk_body(start, bytes), start + bytes);
    return true;
}

static bool close_chunk(void *context, uintptr_t start, size_t bytes) {
    (void)context;
    poison_chunk_swept(start, bytes);
    return true;
}

static void before_full(struct observer *self) {
    eden_heap *heap = self->heap;
    lazy_sweep_all(heap); /* what is free then is poison */
    free_chunks_each(&heap->old.free, check_chunk_body, heap);
    for (size_t i = 0; i < heap->old.segment_count; i++) {
        poison_open(heap->old.segments[i].start, heap->old.segments[i].limit);
    }
}

static void after_full(struct observer *self) {
    eden_heap *heap = self->heap;
    free_chunks_each(&heap->old.free, close_chunk, heap);
    note_all(heap);
    verify(heap, "after a full collection");
}

/* After a scavenge that left nothing in eden: allocation goes on behind what was there, while half of eden is left
 * there, which is what the largest young object takes. */
static void eden_emptied(struct observer *self) {
    const struct check *check = (struct check *)self;
    struct space *eden = &self->heap->eden;
    uintptr_t next = check->used[YOUNG_SPACES - 1];
    eden->start =
        next < eden->limit && eden->limit - next >= (eden->limit - check->eden_base + 1) / 2 ? next : check->eden_base;
    eden->used = eden->start;
}

/* What is mapped there later has no poison. */
static void young_unmapped(struct observer *self, uintptr_t start, uintptr_t end) {
    struct check *check = (struct check *)self;
    poison_open(start, end);
    forget_starts(self->heap, start, end);
    for (int i = 0; i < YOUNG_SPACES; i++) {
        if (check->high[i] > start && check->high[i] <= end) {
            check->high[i] = start;
        }
    }
}

/* A new segment, of objects that live. Of what was new space, the dead and unused become free chunks, which young_moved
 * closes; of a segment that has lost its free end, after_full does. That may be after a step of lazy sweeping, too. */
static void adopted(struct observer *self, uintptr_t start, size_t bytes) {
    struct check *check = (struct check *)self;
    const struct new_space *new = &self->heap->new_space;
    poison_open(start, start + bytes);
    if (start - new->start < new->end - new->start) {
        check->adopted[check->adopted_count].start = start;
        check->adopted[check->adopted_count++].end = start + bytes;
    } else {
        note_old(self->heap, start, start + bytes);
    }
}

/* The others are closed: what they hold is checked before it is filled again. */
static bool close_adopted(void *context, uintptr_t start, size_t bytes) {
    const struct check *check = context;
    for (size_t i = 0; i < check->adopted_count; i++) {
        if (start >= check->adopted[i].start && start < check->adopted[i].end) {
            close_chunk(context, start, bytes);
        }
    }
    return true;
}

static void young_moved(struct observer *self) {
    struct check *check = (struct check *)self;
    struct space *spaces[YOUNG_SPACES];
    heap_young_spaces(self->heap, spaces);
    check->eden_base = self->heap->eden.start;
    for (int i = 0; i < YOUNG_SPACES; i++) {
        check->high[i] = check->from[i] = check->used[i] = spaces[i]->start;
    }
    free_chunks_each(&self->heap->old.free, close_adopted, check);
    check->adopted_count = 0;
}

static void segment(struct observer *self, bool mapped, uintptr_t start, size_t bytes) {
    poison_open(start, start + bytes);
    forget_starts(self->heap, start, start + bytes);
    if (mapped) {
        poison_fill(start, start + bytes);
        poison_close(start, start + bytes);
    }
}

static void taken(struct observer *self, uintptr_t start, size_t bytes) {
    uintptr_t high = ((struct check *)self)->high[YOUNG_SPACES - 1];
    check_poison(self->heap, space_names[2], start, start + bytes < high ? start + bytes : high);
    poison_used(start, bytes);
}

static void invariant_broken(struct observer *self, const char *name) {
    report(self->heap, "invariant", name, "the heap is corrupt: a fault of the runtime, or a write beyond an object");
}

static const struct observer_calls calls = {
    .before_scavenge = before_scavenge,
    .second_pass = second_pass,
    .eden_emptied = eden_emptied,
    .after_scavenge = after_scavenge,
    .before_full = before_full,
    .after_full = after_full,
    .roots_visited = roots_visited,
    .invariant_broken = invariant_broken,
    .young_unmapped = young_unmapped,
    .segment = segment,
    .adopted = adopted,
    .young_moved = young_moved,
    .allocating = allocating,
    .taken = taken,
    .made = made,
    .limit = limit,
};

void check_subscribe(struct check *check, eden_heap *heap) {
    observer_subscribe(&check->observer, heap, &calls);
    observer_watch_allocation(&check->observer);
    struct space *spaces[YOUNG_SPACES];
    check->eden_base = heap->eden.start;
    heap_young_spaces(heap, spaces);
    for (int i = 0; i < YOUNG_SPACES; i++) {
        check->high[i] = spaces[i]->start;
    }
    check->starts_bytes = system_page_round(heap->reservation_bytes / 64);
    void *map =
        mmap(NULL, check->starts_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    check->starts = map == MAP_FAILED ? NULL : map;
    close_new_space(heap);
}

void check_destroy(struct check *check) {
    const eden_heap *heap = check->observer.heap;
    /* The addresses will be others' memory. */
    poison_open(heap->new_space.start, heap->new_space.end);
    for (size_t i = 0; i < heap->old.segment_count; i++) {
        poison_open(heap->old.segments[i].start, heap->old.segments[i].limit);
    }
    if (check->starts != NULL) {
        munmap(check->starts, check->starts_bytes);
    }
}

/* ---- called by the program --------------------------------------------------------------------------------------- */

/* The heap that an address lies in. The registry's readers need no lock (registry.c). */
static eden_heap *heap_of(eden_value object) {
    for (uint64_t at = __atomic_load_n(&eden_registry.first, __ATOMIC_ACQUIRE); at != 0;) {
        eden_heap *heap = (eden_heap *)(uintptr_t)at;
        if (object - heap->reservation < heap->reservation_bytes) {
            return heap;
        }
        at = heap->info.next;
    }
    return NULL;
}

/* Reports what is no live object. */
static eden_heap *check_object(eden_value object, const char *call) {
    if (!eden_is_object(object)) {
        REPORT(NULL, call, OBJECTS, "%#" PRIx64 " is not an object, but %s", object,
               object == EDEN_NONE ? "EDEN_NONE" : "an immediate");
    }
    eden_heap *heap = heap_of(object);
    if (heap == NULL) {
        REPORT(NULL, call, VALUES, "%#" PRIx64 " is not an address of any heap", object);
    }
    if (!is_live(heap, object)) {
        REPORT(heap, call, RULE_1,
               "%#" PRIx64 " in %s is not the start of a live object: a collection has moved or freed it, or it is an "
               "address within one",
               object, place(heap, object));
    }
    uint32_t index = eden_index_of(object);
    if (index == EDEN_CLASS_FREE || index >= heap->next_class) {
        REPORT(heap, call, RULE_3, "the header of object %#" PRIx64 " was overwritten with %#" PRIx64, object,
               eden_header(object));
    }
    return heap;
}

void check_object_of(const eden_heap *heap, eden_value object, const char *call) {
    const eden_heap *other = check_object(object, call);
    if (other != heap) {
        REPORT(heap, call, VALUES, "%#" PRIx64 " is an object of another heap, '%s'", object, other->info.name);
    }
}

void check_class_of(const eden_heap *heap, eden_class of, const char *call) {
    uint32_t index = eden_class_index(of);
    if (index == EDEN_CLASS_FREE || index >= heap->next_class) {
        REPORT(heap, call, CLASSES, "class or site index %u is not defined in this heap", index);
    }
}

static const char *class_name(const eden_heap *heap, eden_value object) {
    return eden_class_name(heap, eden_class_of(heap, object));
}

/* The object is alive, and slots [index, index + count) are references of its own. */
static eden_heap *check_range(eden_value object, size_t index, size_t count, const char *call) {
    eden_heap *heap = check_object(object, call);
    size_t references = heap_reference_slots(heap, object);
    if (count > references || index > references - count) {
        size_t bad = index < references ? references : index; /* the first that is none */
        bool raw = bad < eden_slot_count(object);
        char exist[64] = "it has no reference slots";
        if (references != 0) {
            snprintf(exist, sizeof exist, references == 1 ? "only slot 0 is a reference" : "slots 0 to %zu %s",
                     references - 1, raw ? "are references" : "exist");
        }
        REPORT(heap, call, CLASSES, "slot %zu of %.60s %#" PRIx64 " %s: %s", bad, class_name(heap, object), object,
               raw ? "is raw data" : "is out of bounds", exist);
    }
    return heap;
}

static void check_value(const eden_heap *heap, eden_value object, size_t index, eden_value value, const char *call) {
    uint64_t tag = value & EDEN_TAG_MASK;
    if (value == EDEN_NONE || tag == EDEN_TAG_INT || tag == EDEN_TAG_CHAR || tag == EDEN_TAG_FLOAT) {
        return;
    }
    const eden_heap *other = heap_of(value);
    if (tag != 0 || other == NULL) {
        REPORT(heap, call, VALUES,
               "slot %zu of %.60s %#" PRIx64 ": %#" PRIx64 " is neither a value nor an address of any heap", index,
               class_name(heap, object), object, value);
    }
    if (other != heap) {
        REPORT(heap, call, VALUES, "slot %zu of %.60s %#" PRIx64 ": %#" PRIx64 " is an object of another heap, '%s'",
               index, class_name(heap, object), object, value, other->info.name);
    }
    if (!is_live(heap, value)) {
        REPORT(heap, call, RULE_1,
               "slot %zu of %.60s %#" PRIx64 ": %#" PRIx64 " in %s is not the start of a live object: a collection has "
               "moved or freed it, or it is an address within one",
               index, class_name(heap, object), object, value, place(heap, value));
    }
}

void check_loads(eden_value object, size_t index, size_t count, const char *call) {
    check_range(object, index, count, call);
}

void check_stores(eden_mutator *mutator, eden_value object, size_t index, const eden_value *values, size_t count,
                  const char *call) {
    eden_heap *heap = check_range(object, index, count, call);
    if (heap != mutator->heap) {
        REPORT(heap, call, VALUES, "%.60s %#" PRIx64 " belongs to another heap than the mutator, of heap '%s'",
               class_name(heap, object), object, mutator->heap->info.name);
    }
    for (size_t i = 0; i < count; i++) {
        check_value(heap, object, index + i, values[i], call);
    }
}

void eden_check_load(eden_value object, size_t index) { check_range(object, index, 1, "eden_slot"); }

void eden_check_object(eden_value object, const char *call) { check_object(object, call); }

void eden_check_raw(eden_value object) {
    const eden_heap *heap = check_object(object, "eden_raw");
    const struct eden_class_info *class = heap_class(heap, eden_index_of(object));
    if (class->format < EDEN_FORMAT_WORDS64) {
        REPORT(heap, "eden_raw", CLASSES, "%.60s %#" PRIx64 " is %s: it holds references, and has no raw body",
               (const char *)(uintptr_t) class->name, object, format_name(class->format));
    }
}

void eden_check_int(int64_t n) {
    if (!eden_int_fits(n)) {
        REPORT(NULL, "eden_int", VALUES, "%" PRId64 " does not fit into 61 bits: call eden_int_fits first", n);
    }
}

void eden_check_store(eden_mutator *mutator, eden_value object, size_t index, eden_value value) {
    check_stores(mutator, object, index, &value, 1, "eden_slot_set");
}

void eden_check_is_a(const eden_mutator *mutator, eden_value value, eden_class of) {
    check_class_of(mutator->heap, of, "eden_is_a");
    if (eden_is_object(value)) {
        check_object_of(mutator->heap, value, "eden_is_a");
    }
}
