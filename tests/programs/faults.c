/* faults: the mistakes that an embedder makes, one a case, for the checked build to find (tests/e2e/test_faults.sh).
 *
 *     faults list             prints each case and what the checked build says of it
 *     faults CASE             makes the mistake
 *     faults CASE right       does the same without it, and prints "done"
 *
 * A case is a small program with the mistake in one place, `if (wrong)` or `wrong ? ... : ...`. Nothing of the runtime
 * but its public headers is used. */
#include <eden/eden.h>

#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>

struct program {
    eden_heap *heap;
    eden_mutator *m;
    eden_class pair, text, tail, table; /* 2 references; bytes; 1 reference and bytes; any number of references */
};

#define STALE "is not the start of a live object"

static struct fault {
    const char *name;
    void (*run)(struct program *p, bool wrong);
    const char *options; /* EDEN_OPTIONS that it needs; "-": none */
    const char *says;    /* "": only the address sanitizer and Valgrind see it */
    struct fault *next;
} * faults;

#define FAULT(id, needs, finding)                                                                                      \
    static void id(struct program *p, bool wrong);                                                                     \
    __attribute__((constructor)) static void add_##id(void) {                                                          \
        static struct fault fault = {#id, id, needs, finding, NULL};                                                   \
        fault.next = faults;                                                                                           \
        faults = &fault;                                                                                               \
    }                                                                                                                  \
    static void id(struct program *p, bool wrong)

static void stop(const char *what) {
    fprintf(stderr, "faults: %s\n", what);
    exit(2);
}

static eden_class define(const struct program *p, const char *name, enum eden_format format, uint32_t fixed) {
    eden_error error;
    const eden_class_definition definition = {name, format, fixed};
    eden_class of = eden_class_define(p->heap, &definition, &error);
    if (of == 0) {
        stop(error.message);
    }
    return of;
}

static void start(struct program *p, const char *name) {
    eden_error error;
    /* Everything is tenured when it has survived once. */
    const eden_options options = {.name = name,
                                  .parameters = "eden_size=256K,tenure_fill=0,tenure_proportion=1,grow_headroom=64K,"
                                                "compactor=planning,shrink_threshold=none"};
    p->heap = eden_heap_create(&options, &error);
    if (p->heap == NULL) {
        stop(error.message);
    }
    p->m = eden_mutator_attach(p->heap, &error);
    p->pair = define(p, "Pair", EDEN_FORMAT_FIXED, 2);
    p->text = define(p, "Text", EDEN_FORMAT_BYTES, 0);
    p->tail = define(p, "Tail", EDEN_FORMAT_COMPOUND, 1);
    p->table = define(p, "Table", EDEN_FORMAT_VARIABLE, 0);
}

/* Twice survived: in old space. */
static void make_old(const struct program *p) {
    for (int i = 0; i < 3; i++) {
        eden_scavenge(p->m);
    }
}

static eden_value new_text(const struct program *p, size_t bytes) {
    eden_value text = eden_new_raw(p->m, p->text, bytes);
    memset(eden_raw(text), 'a', bytes);
    return text;
}

/* Where no compiler sees that it is one of the header's. */
static void raw_store(eden_value object, size_t index, eden_value value) {
    ((volatile eden_value *)(uintptr_t)object)[1 + index] = value;
}

/* ---- rule 2 ------------------------------------------------------------------------------------------------------ */

FAULT(barrier_left_out, "-", "old Pair .* slot 1 refers to young .* rule 2") {
    EDEN_FRAME(p->m, local, 2);
    local[0] = eden_new(p->m, p->pair);
    make_old(p);
    eden_value young = eden_new(p->m, p->pair);
    if (wrong) {
        raw_store(local[0], 1, young);
    } else {
        eden_slot_set(p->m, local[0], 1, young);
    }
    eden_scavenge(p->m);
}

FAULT(barrier_of_large_table, "remembered_set=card", "old Table .* slot 70000 refers to young .* rule 2") {
    EDEN_FRAME(p->m, local, 2);
    local[0] = eden_new_slots(p->m, p->table, 100000);
    for (size_t i = 0; i < 100; i++) {
        eden_value young = eden_new(p->m, p->pair);
        if (wrong && i == 70) {
            raw_store(local[0], 1000 * i, young);
        } else {
            eden_slot_set(p->m, local[0], 1000 * i, young);
        }
    }
    eden_scavenge(p->m);
}

/* Only some of a range stored by hand. */
FAULT(barrier_of_a_copy, "-", "old Table .* slot 19 refers to young .* rule 2") {
    EDEN_FRAME(p->m, local, 2);
    local[0] = eden_new_slots(p->m, p->table, 20);
    make_old(p);
    local[1] = eden_new_slots(p->m, p->table, 20);
    eden_slot_set(p->m, local[1], 19, local[1]);
    if (wrong) {
        raw_store(local[0], 19, eden_slot(local[1], 19));
    } else {
        eden_slots_copy(p->m, local[0], 0, local[1], 0, 20);
    }
    eden_scavenge(p->m);
}

/* ---- rule 1 ------------------------------------------------------------------------------------------------------ */

/* Found where stress collects at the second allocation; without it nothing would go wrong today. */
FAULT(root_left_out, "stress=1", "eden_slot_set: slot 0 of Pair .*" STALE ".* rule 1") {
    EDEN_FRAME(p->m, local, 1);
    eden_value text = new_text(p, 8);
    local[0] = text;
    eden_value pair = eden_new(p->m, p->pair);
    eden_slot_set(p->m, pair, 0, wrong ? text : local[0]);
}

FAULT(stale_over_scavenge, "-", "eden_slot: .* in eden " STALE ".* rule 1") {
    EDEN_FRAME(p->m, local, 1);
    local[0] = eden_new(p->m, p->pair);
    eden_value kept = local[0];
    eden_scavenge(p->m);
    local[0] = eden_slot(wrong ? kept : local[0], 0);
}

FAULT(stale_holder, "-", "eden_slot_set: .* in eden " STALE ".* rule 1") {
    EDEN_FRAME(p->m, local, 2);
    local[0] = eden_new(p->m, p->pair);
    eden_value kept = local[0];
    local[1] = eden_new(p->m, p->pair);
    eden_scavenge(p->m);
    eden_slot_set(p->m, wrong ? kept : local[0], 0, local[1]);
}

static eden_value global;
FAULT(global_root_forgotten, "-", "eden_slot_set: .* in eden " STALE ".* rule 1") {
    global = EDEN_NONE;
    if (!wrong && !eden_root_add(p->heap, &global)) {
        stop("no root");
    }
    global = eden_new(p->m, p->pair);
    eden_scavenge(p->m);
    eden_slot_set(p->m, global, 0, eden_int(1));
}

FAULT(root_range_too_short, "-", "eden_slot_set: .* in eden " STALE ".* rule 1") {
    static eden_value range[3];
    if (!eden_root_range_add(p->heap, range, wrong ? 2 : 3)) {
        stop("no root");
    }
    for (size_t i = 0; i < 3; i++) {
        range[i] = eden_new(p->m, p->pair);
    }
    eden_scavenge(p->m);
    eden_slot_set(p->m, range[2], 0, eden_int(1));
}

FAULT(stale_value_in_a_bulk_store, "-", "eden_slots_set: slot 8 of Table .* in eden " STALE ".* rule 1") {
    EDEN_FRAME(p->m, local, 1);
    local[0] = eden_new_slots(p->m, p->table, 9);
    eden_value values[9] = {eden_int(1)};
    values[8] = local[0];
    eden_scavenge(p->m);
    eden_slots_set(p->m, local[0], 0, values, wrong ? 9 : 8);
}

FAULT(copy_from_a_stale_value, "-", "eden_slots_copy: .* in eden " STALE ".* rule 1") {
    EDEN_FRAME(p->m, local, 2);
    local[0] = eden_new(p->m, p->pair);
    local[1] = eden_new(p->m, p->pair);
    eden_value kept = local[1];
    eden_scavenge(p->m);
    eden_slots_copy(p->m, local[0], 0, wrong ? kept : local[1], 0, 2);
}

FAULT(class_test_of_a_stale_value, "-", "eden_is_a: .* in eden " STALE ".* rule 1") {
    EDEN_FRAME(p->m, local, 1);
    local[0] = eden_new(p->m, p->pair);
    eden_value kept = local[0];
    eden_scavenge(p->m);
    local[0] = eden_is_a(p->m, wrong ? kept : local[0], p->pair) ? local[0] : EDEN_NONE;
}

FAULT(count_of_a_stale_value, "-", "eden_slot_count: .* in eden " STALE ".* rule 1") {
    EDEN_FRAME(p->m, local, 1);
    local[0] = eden_new(p->m, p->pair);
    eden_value kept = local[0];
    eden_scavenge(p->m);
    local[0] = eden_slot_count(wrong ? kept : local[0]) == 2 ? local[0] : EDEN_NONE;
}

FAULT(count_of_an_integer, "-", "eden_slot_count: 0x39 is not an object, but an immediate.* Values") {
    EDEN_FRAME(p->m, local, 1);
    local[0] = eden_new(p->m, p->pair);
    eden_slot_count(wrong ? eden_int(7) : local[0]);
}

FAULT(raw_count_of_none, "-", "eden_raw_count: 0 is not an object, but EDEN_NONE.* Values") {
    EDEN_FRAME(p->m, local, 1);
    local[0] = eden_new_raw(p->m, p->text, 16);
    eden_raw_count(wrong ? EDEN_NONE : local[0]);
}

struct interpreter {
    eden_value stack[3];
    size_t visited;
};
static void visit(void *context, eden_visit *v) {
    struct interpreter *interpreter = context;
    eden_visit_slots(v, interpreter->stack, interpreter->visited);
}
FAULT(visitor_forgets_a_slot, "-", "eden_slot_set: .* in eden " STALE ".* rule 1") {
    struct interpreter interpreter = {.visited = wrong ? 2 : 3};
    if (!eden_visitor_add(p->heap, visit, &interpreter)) {
        stop("no visitor");
    }
    for (size_t i = 0; i < 3; i++) {
        interpreter.stack[i] = eden_new(p->m, p->pair);
    }
    eden_scavenge(p->m);
    for (size_t i = 0; i < 3; i++) {
        eden_slot_set(p->m, interpreter.stack[i], 0, eden_int(1));
    }
    eden_visitor_remove(p->heap, visit, &interpreter);
}

static void visit_once(void *context, eden_visit *v) {
    struct program *p = context;
    (void)v;
    eden_visitor_remove(p->heap, visit_once, p);
}
FAULT(visitor_removes_itself, "-", "a root visitor added or removed .* Roots") {
    if (wrong && !eden_visitor_add(p->heap, visit_once, p)) {
        stop("no visitor");
    }
    eden_scavenge(p->m);
}

FAULT(freed_old_object, "-", "eden_slot_set: .* in old space " STALE ".* rule 1") {
    EDEN_FRAME(p->m, local, 1);
    local[0] = eden_new(p->m, p->pair);
    make_old(p);
    eden_value dead = local[0];
    if (wrong) {
        local[0] = EDEN_NONE;
    }
    eden_full_collect(p->m);
    eden_slot_set(p->m, dead, 0, eden_int(1));
}

/* A visitor's slot that comes and goes: visited again after it was not, it leads to where its object was. */
FAULT(stale_root, "-", "before a scavenge: root at .*stale reference.* rule 1") {
    struct interpreter interpreter = {.visited = wrong ? 2 : 3};
    if (!eden_visitor_add(p->heap, visit, &interpreter)) {
        stop("no visitor");
    }
    interpreter.stack[2] = eden_new(p->m, p->pair);
    eden_scavenge(p->m);
    interpreter.visited = 3;
    eden_scavenge(p->m);
    eden_visitor_remove(p->heap, visit, &interpreter);
}

/* ---- rule 3 ------------------------------------------------------------------------------------------------------ */

FAULT(stale_raw_pointer, "-", "in eden, left or freed .* overwritten .* stale C pointer.* rule 3") {
    EDEN_FRAME(p->m, local, 1);
    local[0] = new_text(p, 64);
    volatile char *bytes = eden_raw(local[0]);
    eden_scavenge(p->m);
    if (!wrong) {
        bytes = eden_raw(local[0]);
    }
    bytes[10] = 'b';
    eden_scavenge(p->m);
}

/* Found when the memory is allocated again, long before the next scavenge. */
FAULT(stale_raw_pointer_reused, "-", "in eden, left or freed .* stale C pointer.* rule 3") {
    EDEN_FRAME(p->m, local, 1);
    local[0] = new_text(p, 64);
    volatile char *bytes = eden_raw(local[0]);
    for (int i = 0; i < 100; i++) {
        new_text(p, 1024);
    }
    eden_scavenge(p->m);
    for (int i = 0; i < 100; i++) {
        new_text(p, 1024);
    }
    eden_scavenge(p->m);
    if (!wrong) {
        bytes = eden_raw(local[0]);
    }
    bytes[10] = 'b';
    new_text(p, 2048);
}

/* Old space has taken a part of eden, which left nothing behind there that could be looked at. */
FAULT(stale_raw_pointer_beside_returned_memory, "-",
      "in eden, left or freed .* overwritten .* stale C pointer.* rule 3") {
    (void)p;
    const eden_options options = {.name = "small", .parameters = "policy=auto,max_heap=8M"};
    struct program small = {.heap = eden_heap_create(&options, NULL)};
    small.m = eden_mutator_attach(small.heap, NULL);
    small.text = define(&small, "Text", EDEN_FORMAT_BYTES, 0);
    {
        EDEN_FRAME(small.m, large, 16);
        for (int i = 0; i < 60000; i++) {
            new_text(&small, 100);
        }
        eden_class text = small.text;
        for (int i = 0; i < 16 && (large[i] = eden_new_raw(small.m, text, 600000)) != EDEN_NONE; i++) {
        }
        eden_scavenge(small.m);
        large[0] = new_text(&small, 100);
        char *bytes = eden_raw(large[0]);
        eden_scavenge(small.m);
        (wrong ? bytes : (char *)eden_raw(large[0]))[10] = 'b';
        eden_scavenge(small.m);
    }
    eden_heap_destroy(small.heap);
}

FAULT(unpinned_used_as_pinned, "-", "in a free chunk of old space, .* stale C pointer.* rule 3") {
    EDEN_FRAME(p->m, local, 2);
    local[1] = new_text(p, 4000);
    make_old(p);
    local[0] = eden_pin(p->m, new_text(p, 2000));
    volatile char *bytes = eden_raw(local[0]);
    if (wrong) {
        eden_unpin(p->m, local[0]);
    }
    local[1] = EDEN_NONE;
    eden_full_collect(p->m); /* slides it down, if it may */
    bytes[1000] = 'b';
    eden_full_collect(p->m);
}

FAULT(header_overwritten, "-",
      "before a scavenge: object .* in eden: .* past the end of Text 0x.* before it.* rule 3") {
    EDEN_FRAME(p->m, local, 2);
    local[0] = new_text(p, 8);
    local[1] = eden_new(p->m, p->pair);
    volatile char *bytes = eden_raw(local[0]);
    for (int i = 0; i < (wrong ? 16 : 8); i++) {
        bytes[i] = 'x';
    }
    eden_scavenge(p->m);
}

/* Found when the next object is allocated, in memory that was used before. */
FAULT(written_past_the_end, "-", "eden, left .* past the end of the object before it .Text 0x[0-9a-f]*.; .* rule 3") {
    EDEN_FRAME(p->m, local, 1);
    for (int i = 0; i < 200; i++) {
        new_text(p, 1024);
    }
    eden_scavenge(p->m);
    for (int i = 0; i < 50; i++) {
        new_text(p, 1024);
    }
    eden_scavenge(p->m);
    local[0] = new_text(p, 64);
    volatile char *bytes = eden_raw(local[0]);
    bytes[wrong ? 64 : 63] = 'b';
    new_text(p, 64);
}

FAULT(chunk_overwritten, "-", "in old space: .* rule 3") {
    EDEN_FRAME(p->m, local, 1);
    local[0] = new_text(p, 1024);
    make_old(p);
    eden_full_collect(p->m);
    volatile char *bytes = eden_raw(local[0]);
    for (int i = 0; i < (wrong ? 1200 : 1024); i++) {
        bytes[i] = 'x';
    }
    eden_full_collect(p->m);
}

/* ---- values and classes ------------------------------------------------------------------------------------------ */

FAULT(raw_data_in_a_slot, "-", "Pair .*, slot 0: .* has an invalid tag.* Values") {
    EDEN_FRAME(p->m, local, 1);
    local[0] = wrong ? eden_new(p->m, p->pair) : eden_new_raw(p->m, p->text, 16);
    raw_store(local[0], 0, 0x10102464c457f);
    eden_scavenge(p->m);
}

FAULT(raw_slot_as_reference, "-", "slot 1 of Tail .* is raw data: only slot 0 is a reference; .* Classes") {
    EDEN_FRAME(p->m, local, 1);
    local[0] = eden_new_raw(p->m, p->tail, 16);
    eden_slot_set(p->m, local[0], wrong ? 1 : 0, eden_int(1));
}

FAULT(bytes_read_as_reference, "-", "eden_slot: slot 0 of Text .* is raw data: it has no reference slots; .* Classes") {
    EDEN_FRAME(p->m, local, 2);
    local[0] = wrong ? new_text(p, 16) : eden_new(p->m, p->pair);
    local[1] = eden_slot(local[0], 0);
}

FAULT(slot_out_of_bounds, "-", "slot 2 of Pair .* is out of bounds: slots 0 to 1 exist; .* Classes") {
    EDEN_FRAME(p->m, local, 1);
    local[0] = eden_new(p->m, p->pair);
    eden_slot_set(p->m, local[0], wrong ? 2 : 1, eden_int(1));
}

FAULT(bulk_store_out_of_bounds, "-", "eden_slots_set: slot 2 of Pair .* is out of bounds.* Classes") {
    EDEN_FRAME(p->m, local, 1);
    const eden_value values[2] = {eden_int(1), eden_int(2)};
    local[0] = eden_new(p->m, p->pair);
    eden_slots_set(p->m, local[0], wrong ? 1 : 0, values, 2);
}

FAULT(bulk_copy_of_raw_data, "-", "eden_slots_copy: slot 1 of Tail .* is raw data.* Classes") {
    EDEN_FRAME(p->m, local, 2);
    local[0] = eden_new(p->m, p->pair);
    local[1] = eden_new_raw(p->m, p->tail, 16);
    memset(eden_raw_after(p->tail, local[1]), 0, 16);
    eden_slots_copy(p->m, local[0], 0, local[1], 0, wrong ? 2 : 1);
}

FAULT(slot_of_none, "-", "eden_slot_set: 0 is not an object, but EDEN_NONE; this call needs an object .* Values") {
    EDEN_FRAME(p->m, local, 2);
    local[0] = eden_new(p->m, p->pair);
    if (!wrong) {
        eden_slot_set(p->m, local[0], 1, local[0]);
    }
    eden_slot_set(p->m, eden_slot(local[0], 1), 0, eden_int(1));
}

FAULT(slot_of_an_integer, "-",
      "eden_slot: 0x39 is not an object, but an immediate; this call needs an object .* Values") {
    EDEN_FRAME(p->m, local, 2);
    local[0] = eden_new(p->m, p->pair);
    local[1] = wrong ? eden_int(7) : local[0];
    eden_slot_set(p->m, local[0], 0, eden_slot(local[1], 0));
}

FAULT(raw_body_of_references, "-",
      "eden_raw: Pair 0x.* is FIXED: it holds references, and has no raw body; .* Classes") {
    EDEN_FRAME(p->m, local, 1);
    local[0] = wrong ? eden_new(p->m, p->pair) : eden_new_raw(p->m, p->text, 16);
    eden_raw(local[0]);
}

FAULT(integer_too_large, "-",
      "eden_int: 1152921504606846976 does not fit into 61 bits: call eden_int_fits first.* Values") {
    EDEN_FRAME(p->m, local, 1);
    local[0] = eden_int(EDEN_INT_MAX + (wrong ? 1 : 0));
}

FAULT(integer_stored_as_pointer, "-", "slot 0 of Pair .*: 0x1000 is neither a value.* Values") {
    EDEN_FRAME(p->m, local, 1);
    local[0] = eden_new(p->m, p->pair);
    eden_slot_set(p->m, local[0], 0, wrong ? 4096 : eden_int(4096));
}

FAULT(wild_value_in_a_root, "-", "root at .*: 0x1000 is not an address of this heap.* Values") {
    EDEN_FRAME(p->m, local, 1);
    local[0] = wrong ? 4096 : eden_int(4096);
    eden_scavenge(p->m);
}

FAULT(inner_reference, "-", "slot 0 of Pair .* in eden " STALE) {
    EDEN_FRAME(p->m, local, 1);
    local[0] = eden_new(p->m, p->pair);
    eden_slot_set(p->m, local[0], 0, wrong ? local[0] + 8 : local[0]);
}

FAULT(reference_to_another_heap, "-", "is an object of another heap, 'other'.* Values") {
    struct program other;
    start(&other, "other");
    EDEN_FRAME(p->m, local, 1);
    local[0] = eden_new(p->m, p->pair);
    eden_slot_set(p->m, local[0], 0, wrong ? eden_new(other.m, other.pair) : eden_new(p->m, p->pair));
    eden_heap_destroy(other.heap);
}

FAULT(mutator_of_another_heap, "-", "another heap than the mutator, of heap 'other'") {
    struct program other;
    start(&other, "other");
    EDEN_FRAME(p->m, local, 1);
    local[0] = eden_new(p->m, p->pair);
    eden_slot_set(wrong ? other.m : p->m, local[0], 0, eden_int(1));
    eden_heap_destroy(other.heap);
}

FAULT(site_undefined, "-", "eden_new: class or site index 47.* is not defined.* Classes") {
    eden_new(p->m, wrong ? p->pair + 4711 : p->pair);
}

FAULT(class_of_another_heap, "-", "eden_new: class or site index 10.* is not defined") {
    struct program other;
    start(&other, "other");
    for (int i = 0; i < 100; i++) {
        other.pair = define(&other, "Later", EDEN_FORMAT_FIXED, 2);
    }
    eden_new(p->m, wrong ? other.pair : p->pair);
    eden_heap_destroy(other.heap);
}

FAULT(slots_of_a_fixed_class, "-", "allocation: class 'Pair' fixes 2 slots, but the program requested 5.* Classes") {
    /* As a program compiled without EDEN_CHECKED allocates with eden_new_slots. */
    eden_allocate_(p->m, eden_class_header_(p->pair), wrong ? 5 : 2, 2, false);
}

/* ---- the call for a format --------------------------------------------------------------------------------------- */

static void call_new(eden_mutator *m, eden_class of) { eden_new(m, of); }
static void call_slots(eden_mutator *m, eden_class of) { eden_new_slots(m, of, 16); }
static void call_raw(eden_mutator *m, eden_class of) { eden_new_raw(m, of, 16); }
#define NAME_new "eden_new"
#define NAME_slots "eden_new_slots"
#define NAME_raw "eden_new_raw"

#define CALL_FAULT(id, format, fixed, right, other)                                                                    \
    FAULT(other##_of_##id, "-",                                                                                        \
          NAME_##other ": class 'Made' is " #format ": allocate it with " NAME_##right ", not " NAME_##other ";") {    \
        eden_class of = define(p, "Made", EDEN_FORMAT_##format, fixed);                                                \
        (wrong ? call_##other : call_##right)(p->m, of);                                                               \
        eden_scavenge(p->m);                                                                                           \
    }
#define CALL_FAULTS(id, format, fixed, right, other, third)                                                            \
    CALL_FAULT(id, format, fixed, right, other)                                                                        \
    CALL_FAULT(id, format, fixed, right, third)

CALL_FAULTS(empty, EMPTY, 0, new, slots, raw)
CALL_FAULTS(fixed, FIXED, 2, new, slots, raw)
CALL_FAULTS(fixed_of_none, FIXED, 0, new, slots, raw)
CALL_FAULTS(ephemeron, EPHEMERON, 2, new, slots, raw)
CALL_FAULTS(variable, VARIABLE, 0, slots, new, raw)
CALL_FAULTS(fixed_variable, FIXED_VARIABLE, 2, slots, new, raw)
CALL_FAULTS(weak, WEAK, 1, slots, new, raw)
CALL_FAULTS(words64, WORDS64, 0, raw, new, slots)
CALL_FAULTS(words32, WORDS32, 0, raw, new, slots)
CALL_FAULTS(words16, WORDS16, 0, raw, new, slots)
CALL_FAULTS(bytes, BYTES, 0, raw, new, slots)
CALL_FAULTS(compound, COMPOUND, 1, raw, new, slots)

/* ---- calls that take an object or a class ------------------------------------------------------------------------ */

FAULT(class_of_a_stale_value, "-", "eden_class_of: .* in eden " STALE ".* rule 1") {
    EDEN_FRAME(p->m, local, 1);
    local[0] = eden_new(p->m, p->pair);
    eden_value kept = local[0];
    eden_scavenge(p->m);
    local[0] = eden_class_of(p->heap, wrong ? kept : local[0]) == 0 ? EDEN_NONE : local[0];
}

FAULT(hash_of_an_integer, "-", "eden_identity_hash: 0x39 is not an object.* Values") {
    EDEN_FRAME(p->m, local, 1);
    local[0] = eden_new(p->m, p->pair);
    eden_identity_hash(p->m, wrong ? eden_int(7) : local[0]);
}

FAULT(unpin_of_a_stale_value, "-", "eden_unpin: .* in eden " STALE ".* rule 1") {
    EDEN_FRAME(p->m, local, 1);
    local[0] = eden_new(p->m, p->pair);
    eden_value kept = local[0];
    local[0] = eden_pin(p->m, local[0]);
    eden_unpin(p->m, wrong ? kept : local[0]);
}

FAULT(class_test_of_an_undefined_class, "-", "eden_is_a: .* is not defined.* Classes") {
    eden_is_a(p->m, eden_int(1), wrong ? p->pair + 4711 : p->pair);
}

FAULT(undefined_class_chosen, "-", "eden_tenure_choose: .* is not defined.* Classes") {
    eden_tenure_choose(p->heap, wrong ? p->pair + 4711 : p->pair, true);
}

/* ---- collection hooks -------------------------------------------------------------------------------------------- */

static void allocate_in_hook(void *context, eden_mutator *mutator, enum eden_collection_kind kind) {
    (void)kind;
    eden_new(mutator, ((struct program *)context)->pair);
}
static void collect_in_hook(void *context, eden_mutator *mutator, enum eden_collection_kind kind) {
    (void)context, (void)kind;
    eden_full_collect(mutator);
}
static void pin_in_hook(void *context, eden_mutator *mutator, enum eden_collection_kind kind) {
    (void)kind;
    eden_pin(mutator, *(const eden_value *)context);
}
static void remove_in_hook(void *context, eden_mutator *mutator, enum eden_collection_kind kind) {
    (void)kind;
    eden_collection_hook_remove(eden_mutator_heap(mutator), remove_in_hook, context);
}
static void destroy_in_hook(void *context, eden_mutator *mutator, enum eden_collection_kind kind) {
    (void)context, (void)kind;
    eden_heap_destroy(eden_mutator_heap(mutator));
}

static void collect_with(struct program *p, eden_collection_hook hook, void *context, bool wrong) {
    if (wrong && !eden_collection_hook_add(p->heap, hook, context)) {
        stop("no hook");
    }
    eden_scavenge(p->m);
}
FAULT(hook_allocates, "-", "allocation: called in a collection hook.* Collection hooks") {
    collect_with(p, allocate_in_hook, p, wrong);
}
FAULT(hook_collects, "-", "eden_full_collect: called in a collection hook.* Collection hooks") {
    collect_with(p, collect_in_hook, p, wrong);
}
FAULT(hook_removes_itself, "-", "eden_collection_hook_remove: called in a collection hook") {
    collect_with(p, remove_in_hook, p, wrong);
}
FAULT(hook_destroys_the_heap, "-", "eden_heap_destroy: called in a collection hook") {
    collect_with(p, destroy_in_hook, p, wrong);
}
FAULT(hook_pins_a_young_object, "-", "eden_pin of a young object: called in a collection") {
    EDEN_FRAME(p->m, local, 1);
    if (!eden_heap_set(p->heap, "tenure_proportion", "0", NULL) || !eden_heap_set(p->heap, "tenure_fill", "1", NULL)) {
        stop("no parameters");
    }
    eden_scavenge(p->m);
    local[0] = eden_new(p->m, p->pair);
    collect_with(p, pin_in_hook, local, wrong);
}

/* ---- frames ------------------------------------------------------------------------------------------------------ */

FAULT(frame_open_when_its_heap_goes, "-", "eden_heap_destroy: frame .* of 1 slots is still open.* Roots") {
    struct program other;
    (void)p;
    start(&other, "other");
    {
        EDEN_FRAME(other.m, local, 1);
        local[0] = eden_new(other.m, other.pair);
        if (wrong) {
            eden_heap_destroy(other.heap);
        }
    }
    if (!wrong) {
        eden_heap_destroy(other.heap);
    }
}

FAULT(frame_open_when_its_mutator_goes, "-", "eden_mutator_detach: frame .* is still open.* Roots") {
    {
        EDEN_FRAME(p->m, local, 1);
        local[0] = eden_new(p->m, p->pair);
        if (wrong) {
            eden_mutator_detach(p->m);
        }
    }
    if (!wrong) {
        eden_mutator_detach(p->m);
    }
}

__attribute__((noinline)) static void jump(struct program *p, jmp_buf *back) {
    EDEN_FRAME(p->m, local, 1);
    local[0] = eden_new(p->m, p->pair);
    longjmp(*back, 1);
}

__attribute__((noinline)) static void call_and_catch(struct program *p, bool wrong) {
    jmp_buf back;
    struct eden_frame *const saved = eden_frames_save(p->m);
    if (setjmp(back) == 0) {
        jump(p, &back);
    }
    if (!wrong) {
        eden_frames_restore(p->m, saved);
    }
}

__attribute__((noinline)) static struct eden_frame *save_in_a_frame(const struct program *p) {
    EDEN_FRAME(p->m, local, 1);
    local[0] = EDEN_NONE;
    struct eden_frame *volatile saved = eden_frames_save(p->m); /* gcc sees that it will dangle, as it is meant to */
    return saved;
}

FAULT(frames_restored_after_their_block, "-", "eden_frames_restore: frame .* was left after.* Roots") {
    struct eden_frame *saved = eden_frames_save(p->m);
    if (wrong) {
        saved = save_in_a_frame(p);
    }
    eden_frames_restore(p->m, saved);
}

FAULT(frames_of_another_mutator, "-", "eden_frames_restore: frame .* does not belong to this mutator.* Roots") {
    struct program other;
    start(&other, "other");
    EDEN_FRAME(p->m, local, 1);
    local[0] = eden_new(p->m, p->pair);
    eden_frames_restore(wrong ? other.m : p->m, eden_frames_save(p->m));
    eden_heap_destroy(other.heap);
}

FAULT(frame_skipped_by_longjmp, "-", "EDEN_FRAME: frame .* longjmp skipped.* Roots") {
    call_and_catch(p, wrong);
    EDEN_FRAME(p->m, local, 1);
    local[0] = eden_new(p->m, p->pair);
}

FAULT(frame_skipped_then_collected, "-", "scavenge: frame .* longjmp .* Roots") {
    call_and_catch(p, wrong);
    eden_scavenge(p->m);
}

FAULT(frame_skipped_then_outer_left, "-", "left, but the newest is .* longjmp .* Roots") {
    EDEN_FRAME(p->m, local, 1);
    local[0] = EDEN_NONE;
    call_and_catch(p, wrong);
}

/* ---- for the address sanitizer and Valgrind ---------------------------------------------------------------------- */

static volatile int seen;
FAULT(stale_raw_read, "-", "") {
    EDEN_FRAME(p->m, local, 1);
    local[0] = new_text(p, 64);
    const volatile char *bytes = eden_raw(local[0]);
    eden_scavenge(p->m);
    if (!wrong) {
        bytes = eden_raw(local[0]);
    }
    seen = bytes[10] == 'a';
}

FAULT(freed_raw_read, "-", "") {
    EDEN_FRAME(p->m, local, 1);
    local[0] = new_text(p, 4000);
    make_old(p);
    const volatile char *bytes = eden_raw(local[0]);
    if (wrong) {
        local[0] = EDEN_NONE;
    }
    eden_full_collect(p->m);
    seen = bytes[2000] == 'a';
}

FAULT(unallocated_eden_read, "-", "") {
    const volatile char *bytes = eden_raw(new_text(p, 64));
    seen = bytes[wrong ? 100 : 10] == 'a';
}

int main(int argc, char **argv) {
    if (argc == 2 && strcmp(argv[1], "list") == 0) {
        for (const struct fault *fault = faults; fault; fault = fault->next) {
            printf("%s\t%s\t%s\n", fault->name, fault->options, fault->says);
        }
        return 0;
    }
    for (const struct fault *fault = faults; argc >= 2 && fault; fault = fault->next) {
        if (strcmp(argv[1], fault->name) == 0) {
            struct program program;
            start(&program, "faults");
            fault->run(&program, argc == 2);
            eden_heap_destroy(program.heap);
            puts("done");
            return 0;
        }
    }
    fprintf(stderr, "usage: faults list | CASE [right]\n");
    return 2;
}
