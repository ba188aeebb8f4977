/* A heap fuzzer, after Polito et al., "Heap Fuzzing" (ICST 2023): random events against a shadow model.
 *
 * The model knows the graph and every raw byte that the program could reach. Events (allocate in each format, store,
 * drop, pin, collect, change a parameter, let the system refuse memory) are done to heap and model alike. After each
 * collection the heap is verified and walked from the roots in step with the model: each object must be where exactly
 * one node says, with the same references, bytes, class, identity hash and pinned place. After a full collection the
 * heap must hold just as many objects as the model can reach.
 *
 * Weak slots and ephemerons: which of them a collection clears or fires depends on what else it keeps alive (a scavenge
 * keeps what dead old objects refer to), so the model takes that over from the heap, and checks it from both sides.
 * Nothing too early: what a cleared slot referred to is nowhere to be found, and the key of a fired ephemeron was out
 * of the model's reach before. Nothing too late: what an intact slot refers to, and the key of an ephemeron not fired,
 * are in reach of the model, or else, after a scavenge, old, or in reach of some old object; but a collection that was
 * refused memory may keep them. A fired ephemeron stands in the queue of mourners, once, and keeps what it refers to.
 *
 *     heap-fuzz                           the plan of `make test`: some seeds under each of several EDEN_OPTIONS
 *     heap-fuzz --first K --seeds N       N seeds from K on, under EDEN_OPTIONS as given
 *     heap-fuzz ... --events E            events a seed (default 1500)
 *     heap-fuzz ... --jobs N              in N processes at a time (default 1)
 *
 * Seeds run in child processes, so a crash is a finding like any other. A failing seed is shrunk: events are
 * numbers that mean something in any state, so any subsequence can be run; the shortest that still fails, as found by
 * removing ever smaller pieces, is printed. */
#include "support.h"
#include <fcntl.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <time.h>

enum { ROOTS = 24, FRAME_ROOTS = 10, GLOBAL_ROOTS = 8, PINS = 16, MAX_EVENTS = 100000, MAX_JOBS = 256 };
enum { WEAK_FIXED = 1, KEY = 0, VALUE = 1, ID = 3, EPHEMERON_SLOTS = 4 }; /* ID: a number that tells the node */

/* ---- the model ----------------------------------------------------------------------------------------------------
 */

enum value_kind { VALUE_IMMEDIATE, VALUE_NODE };

struct value {
    enum value_kind kind;
    union {
        uint64_t bits;     /* VALUE_IMMEDIATE: the value itself */
        struct node *node; /* VALUE_NODE */
    };
};

/* One piece of memory with its slots and raw bytes: walks over the model are bound by cache misses. */
struct node {
    uint64_t epoch;
    eden_value place; /* where the walk of `epoch` found it */
    uint64_t reached; /* by the walk, or reach(), number so many */
    eden_class of;
    uint32_t hash; /* 0: never asked for */
    unsigned pins;
    bool ephemeron;
    size_t references;
    size_t strong;    /* references that keep their referents alive: of weak nodes the first few */
    size_t raw_bytes; /* whole words of the body after the references */
    size_t raw_count; /* as eden_raw_count should say; SIZE_MAX: not asked */
    uint64_t fired;   /* the epoch that found it in the queue of mourners; 0: not fired */
    unsigned char *raw;
    struct node *next; /* of all nodes */
    struct value slots[];
};

/* A slot of a node. */
struct place {
    struct node *node;
    size_t slot;
};

/* A node, and the object that stands for it. */
struct pair {
    struct node *node;
    eden_value object;
};
struct pair_list {
    struct pair *at;
    size_t count, room;
};
struct place_list {
    struct place *at;
    size_t count, room;
};
struct value_list {
    eden_value *at;
    size_t count, room;
};

struct event {
    uint32_t op;
    uint32_t a, b, c, d;
};

struct pin {
    eden_value slot; /* a root of its own, so that a pinned object stays reachable */
    struct value value;
    eden_value place;
};

static struct fuzz {
    struct world w;
    eden_class sites[2]; /* of pair and compound */
    eden_class weak, ephemeron;
    eden_value globals[GLOBAL_ROOTS];
    eden_value visited[ROOTS - FRAME_ROOTS - GLOBAL_ROOTS];
    eden_value *frame;
    struct value roots[ROOTS];
    struct pin pins[PINS];
    struct node *nodes;
    uint64_t epoch;
    uint64_t seen_seq;
    long refusing; /* requests still to refuse; below 0: requests still to grant, of which every third is refused */
    const char *starved; /* what is refused whatever `refusing` says */
    uint64_t refused, refused_before;
    bool lenient;                      /* something outside of the model was alive for a while */
    size_t event;                      /* that runs, for messages */
    struct place_list ephemerons;      /* all, by their number */
    struct place_list mourning;        /* the queue */
    uint64_t mourned;                  /* ever */
    struct place_list cleared, intact; /* weak slots, and of the intact keys too, as the walk finds them */
    struct place_list waiting;
    uint64_t reaches;
    uint64_t reaching; /* the number that the walk gives to what it meets; 0: by now that is no longer alive */
    struct pair_list work;
    struct pair_list unproven;     /* met by the walk: ephemerons whose keys are not known to be alive */
    struct pair_list weak_holders; /* and objects with weak slots */
    struct value_list places;      /* where the walk has been */
} fuzz;

__attribute__((format(printf, 1, 2), noreturn)) static void broken(const char *format, ...) {
    char text[600];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    dprintf(STDOUT_FILENO, "event %zu: %s\n", fuzz.event, text);
    _exit(1);
}

static void *need(void *memory) {
    if (memory == NULL) {
        broken("the fuzzer itself has no memory");
    }
    return memory;
}

/* An array with room for one more. */
static void *grown(void *array, size_t count, size_t *room, size_t element) {
    if (count < *room) {
        return array;
    }
    *room = *room == 0 ? 1024 : *room * 2;
    return need(realloc(array, *room * element));
}

static void add_place(struct place_list *list, struct node *node, size_t slot) {
    list->at = grown(list->at, list->count, &list->room, sizeof *list->at);
    list->at[list->count++] = (struct place){node, slot};
}

static void add_value(struct value_list *list, eden_value v) {
    list->at = grown(list->at, list->count, &list->room, sizeof *list->at);
    list->at[list->count++] = v;
}

static eden_value *root_slot(size_t root) {
    if (root < FRAME_ROOTS) {
        return &fuzz.frame[root];
    }
    root -= FRAME_ROOTS;
    return root < GLOBAL_ROOTS ? &fuzz.globals[root] : &fuzz.visited[root - GLOBAL_ROOTS];
}

static void visit(void *context, eden_visit *v) {
    (void)context;
    eden_visit_slots(v, fuzz.visited, sizeof fuzz.visited / sizeof fuzz.visited[0]);
    for (size_t i = 0; i < PINS; i++) {
        eden_visit_slots(v, &fuzz.pins[i].slot, 1);
    }
}

static bool hook(void *context, size_t bytes, const char *what) {
    (void)context;
    (void)bytes;
    if (fuzz.starved != NULL && strcmp(fuzz.starved, what) == 0) {
        fuzz.refused++;
        return false;
    }
    if (fuzz.refusing > 0) {
        fuzz.refusing--;
        fuzz.refused++;
        return false;
    }
    if (fuzz.refusing < 0) {
        fuzz.refusing++;
        fuzz.refused += fuzz.refusing % 3 == 0;
        return fuzz.refusing % 3 != 0;
    }
    return true;
}

/* ---- comparing ----------------------------------------------------------------------------------------------------
 */

static void add_pair(struct pair_list *list, struct node *node, eden_value object) {
    list->at = grown(list->at, list->count, &list->room, sizeof *list->at);
    list->at[list->count++] = (struct pair){node, object};
}

/* A bit for each word of the heap: is a node there? All clear between walks, so that heaps can share it. */
static struct {
    uint64_t *bits;
    size_t bytes;
} taken;

static void note_place(eden_value object) {
    const eden_heap *heap = fuzz.w.heap;
    size_t word = (object - heap->reservation) / 8;
    if (object - heap->reservation >= heap->reservation_bytes) {
        broken("%#llx is no address of the heap", (unsigned long long)object);
    }
    if (taken.bytes < heap->reservation_bytes / 64 + 8) {
        if (taken.bytes != 0) {
            munmap(taken.bits, taken.bytes);
        }
        taken.bytes = heap->reservation_bytes / 64 + 8;
        taken.bits =
            mmap(NULL, taken.bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        need(taken.bits == MAP_FAILED ? NULL : taken.bits);
    }
    if ((taken.bits[word / 64] >> (word % 64) & 1) != 0) {
        broken("two nodes at one place, %#llx", (unsigned long long)object);
    }
    taken.bits[word / 64] |= 1ull << (word % 64);
    add_value(&fuzz.places, object);
}

static void clear_places(void) {
    for (size_t i = 0; i < fuzz.places.count; i++) {
        taken.bits[(fuzz.places.at[i] - fuzz.w.heap->reservation) / 8 / 64] = 0;
    }
}

static void meet(const struct value *value, eden_value object, const char *where, size_t index) {
    if (value->kind == VALUE_IMMEDIATE) {
        if (object != value->bits) {
            broken("%s %zu: %#llx, should be the immediate %#llx", where, index, (unsigned long long)object,
                   (unsigned long long)value->bits);
        }
        return;
    }
    struct node *node = value->node;
    if (!eden_is_object(object)) {
        broken("%s %zu: %#llx, should be an object", where, index, (unsigned long long)object);
    }
    if (node->epoch == fuzz.epoch) {
        if (node->place != object) {
            broken("%s %zu: one node at two places, %#llx and %#llx", where, index, (unsigned long long)node->place,
                   (unsigned long long)object);
        }
        return;
    }
    node->epoch = fuzz.epoch;
    node->place = object;
    node->reached = fuzz.reaching;
    note_place(object);
    add_pair(&fuzz.work, node, object);
}

static void compare_object(const struct node *node, eden_value object) {
    size_t slots = node->references + node->raw_bytes / 8;
    if (eden_index_of(object) != eden_class_index(node->of)) {
        broken("object %#llx: class index %u, should be %u", (unsigned long long)object, eden_index_of(object),
               eden_class_index(node->of));
    }
    if (eden_slot_count(object) != slots) {
        broken("object %#llx: %zu slots, should be %zu", (unsigned long long)object, eden_slot_count(object), slots);
    }
    if (node->raw_count != SIZE_MAX && eden_raw_count(object) != node->raw_count) {
        broken("object %#llx: %zu units, should be %zu", (unsigned long long)object, eden_raw_count(object),
               node->raw_count);
    }
    if (node->hash != 0 && eden_identity_hash(fuzz.w.m, object) != node->hash) {
        broken("object %#llx: its identity hash has changed", (unsigned long long)object);
    }
    if (node->raw_bytes != 0 && memcmp(eden_words_(object) + 1 + node->references, node->raw, node->raw_bytes) != 0) {
        broken("object %#llx: its raw bytes have changed", (unsigned long long)object);
    }
    if (header_has(object, EDEN_HEADER_PINNED) != (node->pins != 0)) {
        broken("object %#llx: pinned %u times, its header is %#llx", (unsigned long long)object, node->pins,
               (unsigned long long)eden_header(object));
    }
    if (node->ephemeron && (eden_format_bits(object) == EDEN_FORMAT_FIXED) != (node->fired != 0)) {
        broken("ephemeron %#llx: format %u, and %s the queue", (unsigned long long)object, eden_format_bits(object),
               node->fired != 0 ? "was in" : "never in");
    }
}

static void meet_slots(const struct node *node, eden_value object, size_t end) {
    for (size_t i = 0; i < end; i++) {
        meet(&node->slots[i], eden_slot(object, i), "slot", i);
    }
}

static void meet_weak_slots(struct node *node, eden_value object) {
    for (size_t i = node->strong; i < node->references; i++) {
        if (node->slots[i].kind == VALUE_NODE) {
            if (eden_slot(object, i) == EDEN_NONE) {
                add_place(&fuzz.cleared, node, i);
                continue;
            }
            add_place(&fuzz.intact, node, i);
        }
        meet(&node->slots[i], eden_slot(object, i), "slot", i);
    }
}

/* The references of an object that the walk has come to: those that keep something alive. */
static void meet_strong_slots(struct node *node, eden_value object) {
    bool keyed = node->ephemeron && node->fired == 0 && node->slots[KEY].kind == VALUE_NODE;
    if (keyed) {
        add_place(&fuzz.intact, node, KEY);
    }
    if (keyed && fuzz.reaching != 0 && node->slots[KEY].node->epoch != fuzz.epoch) {
        add_pair(&fuzz.unproven, node, object);
        return;
    }
    meet_slots(node, object, node->strong);
    if (node->strong != node->references) {
        add_pair(&fuzz.weak_holders, node, object);
    }
}

static void meet_all_strong(void) {
    while (fuzz.work.count != 0) {
        struct pair at = fuzz.work.at[--fuzz.work.count];
        compare_object(at.node, at.object);
        meet_strong_slots(at.node, at.object);
    }
}

/* From what was met so far. First what is alive, which gets the number `reaches`; then the rest, which only weak slots
 * and ephemerons with dead keys still refer to. */
static void walk(void) {
    for (size_t before = SIZE_MAX; fuzz.work.count != 0 || fuzz.unproven.count < before;) {
        meet_all_strong();
        before = fuzz.unproven.count;
        size_t still = 0;
        for (size_t i = 0; i < before; i++) {
            struct pair at = fuzz.unproven.at[i];
            if (at.node->slots[KEY].node->epoch == fuzz.epoch) {
                meet_slots(at.node, at.object, at.node->references);
            } else {
                fuzz.unproven.at[still++] = at;
            }
        }
        fuzz.unproven.count = still;
    }
    fuzz.reaching = 0;
    for (size_t i = 0; i < fuzz.unproven.count; i++) {
        meet_slots(fuzz.unproven.at[i].node, fuzz.unproven.at[i].object, EPHEMERON_SLOTS);
    }
    while (fuzz.weak_holders.count != 0 || fuzz.work.count != 0) {
        meet_all_strong();
        while (fuzz.weak_holders.count != 0) {
            struct pair at = fuzz.weak_holders.at[--fuzz.weak_holders.count];
            meet_weak_slots(at.node, at.object);
        }
    }
}

/* ---- what is alive ------------------------------------------------------------------------------------------------
 */

static bool is_reached(const struct value *value) {
    return value->kind != VALUE_NODE || value->node->reached == fuzz.reaches;
}

static void reach_value(const struct value *value) {
    if (!is_reached(value)) {
        value->node->reached = fuzz.reaches;
        add_pair(&fuzz.work, value->node, EDEN_NONE);
    }
}

static void reach_slots(const struct node *node) {
    for (size_t i = 0; i < node->strong; i++) {
        reach_value(&node->slots[i]);
    }
}

/* Marks what the model can reach from roots, pins and queue; ephemerons fired at `epoch` or later count as not fired.
 */
static void reach(uint64_t epoch) {
    fuzz.reaches++;
    fuzz.waiting.count = 0;
    for (size_t i = 0; i < ROOTS; i++) {
        reach_value(&fuzz.roots[i]);
    }
    for (size_t i = 0; i < PINS; i++) {
        reach_value(&fuzz.pins[i].value);
    }
    for (size_t i = 0; i < fuzz.mourning.count; i++) {
        if (fuzz.mourning.at[i].node->fired < epoch) {
            reach_value(&(struct value){.kind = VALUE_NODE, .node = fuzz.mourning.at[i].node});
        }
    }
    while (fuzz.work.count != 0) {
        while (fuzz.work.count != 0) {
            struct node *node = fuzz.work.at[--fuzz.work.count].node;
            if (node->ephemeron && (node->fired == 0 || node->fired >= epoch)) {
                add_place(&fuzz.waiting, node, KEY);
            } else {
                reach_slots(node);
            }
        }
        size_t still = 0;
        for (size_t i = 0; i < fuzz.waiting.count; i++) {
            if (is_reached(&fuzz.waiting.at[i].node->slots[KEY])) {
                reach_slots(fuzz.waiting.at[i].node);
            } else {
                fuzz.waiting.at[still++] = fuzz.waiting.at[i];
            }
        }
        fuzz.waiting.count = still;
    }
}

/* What a scavenge may keep: what is in reach of roots and old objects, dead or alive. In the heap itself, since the
 * model does not know the dead. */
struct closure {
    eden_visit visit; /* first: root visitors get its address */
    unsigned char *kept;
    struct value_list work, waiting;
};

static bool is_kept(const struct closure *c, eden_value v) {
    return !heap_is_young(fuzz.w.heap, v) || c->kept[(v - fuzz.w.heap->reservation) / 8] != 0;
}

static void keep_slots(eden_visit *closure, eden_value *slots, size_t count) {
    struct closure *c = (struct closure *)closure;
    for (size_t i = 0; i < count; i++) {
        if (!is_kept(c, slots[i])) {
            c->kept[(slots[i] - fuzz.w.heap->reservation) / 8] = 1;
            add_value(&c->work, slots[i]);
        }
    }
}

static void keep_strong(struct closure *c, eden_value object) {
    if (eden_format_bits(object) == EDEN_FORMAT_EPHEMERON && !is_kept(c, eden_slot(object, KEY))) {
        add_value(&c->waiting, object);
        return;
    }
    keep_slots(&c->visit, eden_words_(object) + 1, strong_slots(fuzz.w.heap, object));
}

static void keep(struct closure *c) {
    eden_heap *heap = fuzz.w.heap;
    c->visit = (eden_visit){heap, keep_slots};
    c->kept = need(calloc(heap->info.new_bytes / 8, 1));
    roots_visit(&c->visit);
    for (eden_value object = old_walk(heap, 0); object != EDEN_NONE; object = old_walk(heap, object_end(object))) {
        if (!object_is_free(object)) {
            keep_strong(c, object);
        }
    }
    for (size_t waited = SIZE_MAX; c->work.count != 0 || c->waiting.count < waited;) {
        while (c->work.count != 0) {
            keep_strong(c, c->work.at[--c->work.count]);
        }
        struct value_list again = c->waiting;
        waited = again.count;
        c->waiting = (struct value_list){NULL, 0, 0};
        for (size_t i = 0; i < again.count; i++) {
            keep_strong(c, again.at[i]);
        }
        free(again.at);
    }
}

/* The queue of mourners: what the model knows to be there, then those that are new. */
static void meet_mourners(void) {
    const struct mourners *mourners = &fuzz.w.heap->mourners;
    size_t length = mourners->end - mourners->next;
    if (length < fuzz.mourning.count) {
        broken("the queue of mourners has %zu, had %zu", length, fuzz.mourning.count);
    }
    for (size_t i = 0; i < length; i++) {
        eden_value object = mourners->queue[mourners->next + i];
        if (i == fuzz.mourning.count) {
            if (!eden_is_object(object) || eden_index_of(object) != eden_class_index(fuzz.ephemeron)) {
                broken("mourner %zu: %#llx is no ephemeron", i, (unsigned long long)object);
            }
            struct node *node = fuzz.ephemerons.at[eden_int_value(eden_slot(object, ID))].node;
            if (node->fired != 0) {
                broken("ephemeron %#llx is mourned twice", (unsigned long long)object);
            }
            node->fired = fuzz.epoch;
            add_place(&fuzz.mourning, node, KEY);
            fuzz.mourned++;
        }
        meet(&(struct value){.kind = VALUE_NODE, .node = fuzz.mourning.at[i].node}, object, "mourner", i);
    }
    eden_figures figures = figures_of(&fuzz.w);
    if (figures.mourned != fuzz.mourned) {
        broken("%llu ephemerons were mourned, the figures say %llu", (unsigned long long)fuzz.mourned,
               (unsigned long long)figures.mourned);
    }
}

/* Nothing was cleared or fired while its referent was alive. Takes over what was. */
static void check_not_too_early(void) {
    const struct place_list *mourning = &fuzz.mourning, *cleared = &fuzz.cleared;
    if (mourning->count != 0 && mourning->at[mourning->count - 1].node->fired == fuzz.epoch) {
        reach(fuzz.epoch);
    }
    for (size_t i = mourning->count; i-- != 0 && mourning->at[i].node->fired == fuzz.epoch;) {
        const struct node *node = mourning->at[i].node;
        if (is_reached(&node->slots[KEY])) {
            broken("ephemeron %#llx: fired while its key was alive", (unsigned long long)node->place);
        }
    }
    for (size_t i = 0; i < cleared->count; i++) {
        const struct value *value = &cleared->at[i].node->slots[cleared->at[i].slot];
        if (value->node->epoch == fuzz.epoch) {
            broken("weak object %#llx, slot %zu: cleared, but its referent lives at %#llx",
                   (unsigned long long)cleared->at[i].node->place, cleared->at[i].slot,
                   (unsigned long long)value->node->place);
        }
    }
    for (size_t i = 0; i < cleared->count; i++) {
        cleared->at[i].node->slots[cleared->at[i].slot] = (struct value){.kind = VALUE_IMMEDIATE};
    }
}

/* Nothing dead is left in weak slots and keys. What the walk found alive has the number `alive`, or that of a reach()
 * since. */
static void check_not_too_late(bool exact, uint64_t alive) {
    const struct place_list *intact = &fuzz.intact;
    struct closure c = {.kept = NULL};
    if (intact->count == 0 || fuzz.lenient || fuzz.refused != fuzz.refused_before) {
        return;
    }
    for (size_t i = 0; i < intact->count; i++) {
        const struct node *holder = intact->at[i].node, *node = holder->slots[intact->at[i].slot].node;
        if (node->reached >= alive) {
            continue;
        }
        if (!exact && c.kept == NULL && heap_is_young(fuzz.w.heap, node->place)) {
            keep(&c);
        }
        if (exact || !is_kept(&c, node->place)) {
            broken("%s %#llx, slot %zu: still refers to %#llx, which is dead", holder->ephemeron ? "ephemeron" : "weak",
                   (unsigned long long)holder->place, intact->at[i].slot, (unsigned long long)node->place);
        }
    }
    free(c.kept);
    free(c.work.at);
    free(c.waiting.at);
}

static void compare(bool exact) {
    eden_error error = {EDEN_OK, ""};
    long refusing = fuzz.refusing;
    fuzz.refusing = 0;
    if (!eden_heap_verify(fuzz.w.heap, &error)) {
        broken("eden_heap_verify: %s", error.message);
    }
    fuzz.refusing = refusing;
    fuzz.epoch++;
    fuzz.work.count = fuzz.places.count = fuzz.cleared.count = fuzz.intact.count = 0;
    fuzz.unproven.count = fuzz.weak_holders.count = 0;
    const uint64_t alive = fuzz.reaching = ++fuzz.reaches;
    meet_mourners();
    for (size_t i = 0; i < ROOTS; i++) {
        meet(&fuzz.roots[i], *root_slot(i), "root", i);
    }
    for (size_t i = 0; i < PINS; i++) {
        meet(&fuzz.pins[i].value, fuzz.pins[i].slot, "pin", i);
        if (fuzz.pins[i].value.kind == VALUE_NODE && fuzz.pins[i].slot != fuzz.pins[i].place) {
            broken("pin %zu: moved from %#llx to %#llx", i, (unsigned long long)fuzz.pins[i].place,
                   (unsigned long long)fuzz.pins[i].slot);
        }
    }
    walk();
    clear_places();
    check_not_too_early();
    check_not_too_late(exact, alive);
    if (exact && count_objects(&fuzz.w) != fuzz.places.count) {
        broken("after a full collection: %zu objects in the heap, %zu are reachable", count_objects(&fuzz.w),
               fuzz.places.count);
    }
    fuzz.refused_before = fuzz.refused;
    fuzz.lenient = false;
}

static void compare_if_collected(void) {
    if (fuzz.w.heap->info.seq != fuzz.seen_seq) {
        compare(false);
        fuzz.seen_seq = fuzz.w.heap->info.seq;
    }
}

/* ---- events -------------------------------------------------------------------------------------------------------
 */

static struct node *new_node(eden_class of, size_t references, size_t raw_bytes, size_t raw_count) {
    struct node *node = need(calloc(1, sizeof *node + references * sizeof node->slots[0] + raw_bytes));
    node->next = fuzz.nodes;
    node->of = of;
    node->references = references;
    node->raw_bytes = raw_bytes;
    node->raw = (unsigned char *)&node->slots[references];
    node->raw_count = raw_count;
    node->strong = of == fuzz.weak ? WEAK_FIXED : references;
    node->ephemeron = of == fuzz.ephemeron;
    fuzz.nodes = node;
    return node;
}

/* References that events may store into: not the number of an ephemeron. */
static size_t open_slots(const struct node *node) { return node->ephemeron ? ID : node->references; }

/* A node reached from a root by a random path, and the object that it stands for; NULL: the root holds none. */
static struct node *find(uint32_t root, uint32_t path, eden_value *object) {
    const struct value *value = &fuzz.roots[root % ROOTS];
    *object = *root_slot(root % ROOTS);
    if (value->kind != VALUE_NODE) {
        return NULL;
    }
    struct node *node = value->node;
    for (uint32_t step = path & 3; step != 0 && node->references != 0; step--) {
        path = path * 1664525u + 1013904223u;
        size_t slot = (path >> 8) % node->references;
        if (node->slots[slot].kind != VALUE_NODE) {
            break;
        }
        *object = eden_slot(*object, slot);
        node = node->slots[slot].node;
    }
    return node;
}

static void set_root(size_t root, struct value value, eden_value object) {
    fuzz.roots[root] = value;
    *root_slot(root) = object;
}

static void fill_raw(struct node *node, eden_value object, size_t used, uint32_t seed) {
    uint64_t random = seed | 1ull << 40;
    for (size_t i = 0; i < used; i++) {
        node->raw[i] = (unsigned char)(next_random(&random) >> 56);
    }
    memcpy(eden_words_(object) + 1 + node->references, node->raw, node->raw_bytes);
}

/* How many indexed slots or units: mostly few, at times around where the header overflows, seldom many. */
static size_t pick_count(uint32_t r) {
    switch (r % 32) {
    case 0:
        return 250 + (r >> 8) % 10;
    case 1:
        return (r >> 8) % 3000;
    case 2:
        return (r >> 8) % 64 == 0 ? (r >> 8) % 90000 : (r >> 8) % 600;
    default:
        return (r >> 8) % 12;
    }
}

static void number_ephemeron(struct node *node, eden_value object) {
    eden_value id = eden_int((int64_t)fuzz.ephemerons.count);
    eden_slot_set(fuzz.w.m, object, ID, id);
    node->slots[ID] = (struct value){.kind = VALUE_IMMEDIATE, .bits = id};
    add_place(&fuzz.ephemerons, node, KEY);
}

static void allocate(const struct event *e, size_t root) {
    const struct world *w = &fuzz.w;
    size_t n = pick_count(e->c);
    struct node *node;
    eden_value object;
    size_t raw_used = 0;
    switch (e->b % 16) {
    case 0:
        node = new_node(w->empty, 0, 0, SIZE_MAX);
        object = eden_new(w->m, node->of);
        break;
    case 1:
    case 2:
        node = new_node(e->b % 32 == 1 ? fuzz.sites[0] : w->pair, 2, 0, SIZE_MAX);
        object = eden_new(w->m, node->of);
        break;
    case 3:
    case 4:
    case 5:
        node = new_node(w->array, n, 0, SIZE_MAX);
        object = eden_new_slots(w->m, node->of, n);
        break;
    case 6:
        node = new_node(w->mixed, n + 2, 0, SIZE_MAX);
        object = eden_new_slots(w->m, node->of, n);
        break;
    case 7:
        node = new_node(w->words64, 0, n * 8, n);
        raw_used = n * 8;
        object = eden_new_raw(w->m, node->of, n);
        break;
    case 8:
        node = new_node(w->words32, 0, (n + 1) / 2 * 8, n);
        raw_used = n * 4;
        object = eden_new_raw(w->m, node->of, n);
        break;
    case 9:
        node = new_node(w->words16, 0, (n + 3) / 4 * 8, n);
        raw_used = n * 2;
        object = eden_new_raw(w->m, node->of, n);
        break;
    case 10:
        node = new_node(w->bytes, 0, (n + 7) / 8 * 8, n);
        raw_used = n;
        object = eden_new_raw(w->m, node->of, n);
        break;
    case 11:
        node = new_node(e->b % 32 == 11 ? fuzz.sites[1] : w->compound, 3, (n + 7) / 8 * 8, n + 24);
        raw_used = n;
        object = eden_new_raw(w->m, node->of, n);
        break;
    case 12:
    case 13:
        node = new_node(fuzz.weak, n + WEAK_FIXED, 0, SIZE_MAX);
        object = eden_new_slots(w->m, node->of, n);
        break;
    default:
        node = new_node(fuzz.ephemeron, EPHEMERON_SLOTS, 0, SIZE_MAX);
        object = eden_new(w->m, node->of);
        break;
    }
    if (object == EDEN_NONE) {
        const eden_error *error = eden_last_error(w->m);
        if (error->status != EDEN_NO_MEMORY || strstr(error->message, "no memory for an object of") == NULL) {
            broken("a failed allocation left the error '%s'", error->message);
        }
        return;
    }
    for (size_t i = 0; i < node->references; i++) {
        if (eden_slot(object, i) != EDEN_NONE) {
            broken("a new object's slot %zu is not clear", i);
        }
    }
    fill_raw(node, object, raw_used, e->d);
    compare_if_collected(); /* before the model loses what it had at that time */
    if (node->ephemeron) {
        number_ephemeron(node, object);
    }
    set_root(root, (struct value){.kind = VALUE_NODE, .node = node}, object);
}

static uint64_t immediate(uint32_t r) {
    switch (r % 6) {
    case 0:
        return EDEN_NONE;
    case 1: /* bits that look like a young address */
        return (fuzz.w.heap->eden.start + (r >> 3) % 4096 * 8) | EDEN_TAG_INT;
    case 2: /* like an old one */
        return (fuzz.w.heap->old.start + (r >> 3) % 65536 * 8) | EDEN_TAG_CHAR;
    case 3:
        return eden_float((double)r / 7);
    default:
        return eden_int((int64_t)r);
    }
}

static void store(const struct event *e) {
    eden_value holder, object = EDEN_NONE;
    struct node *node = find(e->a, e->b, &holder);
    if (node == NULL || node->references == 0) {
        return;
    }
    size_t slot = e->d % open_slots(node);
    struct value value = {.kind = VALUE_IMMEDIATE, .bits = EDEN_NONE};
    struct node *target = e->c % 8 == 0 ? NULL : find(e->c >> 8, e->c >> 3, &object);
    if (target != NULL) {
        value = (struct value){.kind = VALUE_NODE, .node = target};
    } else {
        object = value.bits = immediate(e->d);
    }
    eden_slot_set(fuzz.w.m, holder, slot, object);
    node->slots[slot] = value;
}

/* Stores one target in many slots of a holder. */
static void store_many(const struct event *e) {
    eden_value holder, object;
    struct node *node = find(e->a, e->b, &holder), *target = find(e->c, e->d, &object);
    if (node == NULL || target == NULL) {
        return;
    }
    for (size_t i = e->d % 3; i < open_slots(node); i += 1 + e->d % 5) {
        eden_slot_set(fuzz.w.m, holder, i, object);
        node->slots[i] = (struct value){.kind = VALUE_NODE, .node = target};
    }
}

/* A chain of new pairs, each referring to the one before; ends where memory does. */
static void grow_chain(const struct event *e) {
    size_t root = e->a % ROOTS;
    for (uint32_t i = e->b % 1500; i != 0; i--) {
        eden_value pair = eden_new(fuzz.w.m, fuzz.w.pair);
        if (pair == EDEN_NONE) {
            return;
        }
        struct node *node = new_node(fuzz.w.pair, 2, 0, SIZE_MAX);
        eden_slot_set(fuzz.w.m, pair, i % 2, *root_slot(root));
        node->slots[i % 2] = fuzz.roots[root];
        set_root(root, (struct value){.kind = VALUE_NODE, .node = node}, pair);
        compare_if_collected();
    }
}

/* A new pair or ephemeron, stored into a slot of the object that a root holds. NULL: no memory. */
static struct node *put_new(eden_class of, size_t root, struct node *holder, size_t slot) {
    eden_value object = eden_new(fuzz.w.m, of);
    if (object == EDEN_NONE) {
        return NULL;
    }
    compare_if_collected();
    struct node *node = new_node(of, of == fuzz.ephemeron ? EPHEMERON_SLOTS : 2, 0, SIZE_MAX);
    if (node->ephemeron) {
        number_ephemeron(node, object);
    }
    eden_slot_set(fuzz.w.m, *root_slot(root), slot, object);
    holder->slots[slot] = (struct value){.kind = VALUE_NODE, .node = node};
    return node;
}

static struct node *put_new_array(eden_class of, size_t root, size_t references) {
    eden_value array = eden_new_slots(fuzz.w.m, of, of == fuzz.weak ? references - WEAK_FIXED : references);
    if (array == EDEN_NONE) {
        return NULL;
    }
    compare_if_collected();
    struct node *node = new_node(of, references, 0, SIZE_MAX);
    set_root(root, (struct value){.kind = VALUE_NODE, .node = node}, array);
    return node;
}

/* Gives the ephemeron in slot 2i + 1 of an array its key (the pair in slot 2i, one before it, the key of another, or
 * any object) and its value (one of the pairs). */
static void fill_ephemeron(struct node *array, eden_value holder, size_t i, uint32_t random) {
    struct node *ephemeron = array->slots[2 * i + 1].node, *key_node;
    size_t other = (random >> 20) % (i + 1);
    eden_value key, object = eden_slot(holder, 2 * i + 1);
    switch ((random >> 8) % 8) {
    case 0:
        key_node = find(random >> 11, random >> 17, &key);
        break;
    case 1:
    case 2: {
        const struct value *of_other = &array->slots[2 * other + 1].node->slots[KEY];
        key_node = of_other->kind == VALUE_NODE ? of_other->node : NULL;
        key = eden_slot(eden_slot(holder, 2 * other + 1), KEY);
        break;
    }
    case 3:
    case 4:
        other = i;
        __attribute__((fallthrough));
    default:
        key_node = array->slots[2 * other].node;
        key = eden_slot(holder, 2 * other);
        break;
    }
    if (key_node != NULL) {
        eden_slot_set(fuzz.w.m, object, KEY, key);
        ephemeron->slots[KEY] = (struct value){.kind = VALUE_NODE, .node = key_node};
    }
    other = (random >> 16) % (i + 1);
    eden_slot_set(fuzz.w.m, object, VALUE, eden_slot(holder, 2 * other));
    ephemeron->slots[VALUE] = array->slots[2 * other];
}

/* An array of pairs and ephemerons; then only the ephemerons hold some of the pairs. */
static void put_ephemerons(const struct event *e) {
    size_t root = e->a % ROOTS, count = 1 + (e->b >> 8) % 40;
    uint32_t random = e->c;
    struct node *array = put_new_array(fuzz.w.array, root, 2 * count);
    for (size_t i = 0; array != NULL && i < count; i++) {
        random = random * 1664525u + 1013904223u;
        if (put_new(fuzz.w.pair, root, array, 2 * i) == NULL ||
            put_new(fuzz.ephemeron, root, array, 2 * i + 1) == NULL) {
            return;
        }
        fill_ephemeron(array, *root_slot(root), i, random);
    }
    for (size_t i = 0; array != NULL && i < count; i++) {
        if ((e->d >> i % 32 & 1) != 0) {
            eden_slot_set(fuzz.w.m, *root_slot(root), 2 * i, EDEN_NONE);
            array->slots[2 * i] = (struct value){.kind = VALUE_IMMEDIATE};
        }
    }
}

/* A weak object, often large, with new objects that nothing else holds, and any others. */
static void put_weak(const struct event *e) {
    size_t root = e->a % ROOTS, count = WEAK_FIXED + 1 + (e->b >> 4) % (e->b % 2 == 0 ? 30 : 700);
    uint32_t random = e->c;
    struct node *weak = put_new_array(fuzz.weak, root, count);
    for (uint32_t i = e->d % 40; weak != NULL && i != 0; i--) {
        random = random * 1664525u + 1013904223u;
        size_t slot = (random >> 4) % count;
        if ((random >> 20) % 2 == 0) {
            if (put_new(fuzz.w.pair, root, weak, slot) == NULL) {
                return;
            }
            continue;
        }
        eden_value object;
        struct node *node = find(random >> 16, e->d, &object);
        if (node != NULL) {
            eden_slot_set(fuzz.w.m, *root_slot(root), slot, object);
            weak->slots[slot] = (struct value){.kind = VALUE_NODE, .node = node};
        }
    }
}

/* New pairs and ephemerons, stored here and there into a large object: one that a root holds, or a new array. */
static void scatter(const struct event *e) {
    size_t root = e->a % ROOTS;
    for (size_t i = 0; i < ROOTS; i++) {
        const struct value *value = &fuzz.roots[(e->a + i) % ROOTS];
        if (value->kind == VALUE_NODE && value->node->references >= EDEN_SLOTS_OVERFLOW) {
            root = (e->a + i) % ROOTS;
            break;
        }
    }
    struct node *holder = fuzz.roots[root].kind == VALUE_NODE ? fuzz.roots[root].node : NULL;
    if (holder == NULL || holder->references < EDEN_SLOTS_OVERFLOW) {
        holder = put_new_array(fuzz.w.array, root, EDEN_SLOTS_OVERFLOW + e->b % 2000);
    }
    uint32_t random = e->c;
    for (uint32_t i = e->d % 24; holder != NULL && i != 0; i--) {
        random = random * 1664525u + 1013904223u;
        size_t slot = (random >> 8) % holder->references, key = (random >> 4) % holder->references;
        struct node *node = put_new((random >> 20) % 3 == 0 ? fuzz.ephemeron : fuzz.w.pair, root, holder, slot);
        if (node == NULL) {
            return;
        }
        if (node->ephemeron && holder->slots[key].kind == VALUE_NODE) {
            eden_value object = *root_slot(root);
            eden_slot_set(fuzz.w.m, eden_slot(object, slot), KEY, eden_slot(object, key));
            node->slots[KEY] = holder->slots[key];
            if ((random & 1) != 0) {
                eden_slot_set(fuzz.w.m, object, key, EDEN_NONE);
                holder->slots[key] = (struct value){.kind = VALUE_IMMEDIATE};
            }
        }
    }
}

/* Frees the collector's lists that are empty, so that they have to grow again. */
static void shrink_lists(void) {
    eden_heap *heap = fuzz.w.heap;
    if (heap->weak.count == 0) {
        free(heap->weak.objects);
        heap->weak = (struct weak_list){NULL, 0, 0};
    }
    if (heap->waiting.count == 0) {
        free(heap->waiting.entries);
        heap->waiting = (struct waiting){NULL, 0, 0, 0};
    }
    if (heap->mourners.end == 0) {
        free(heap->mourners.queue);
        heap->mourners = (struct mourners){NULL, 0, 0, 0};
    }
    if (heap->remembered.count == 0) {
        free(heap->remembered.objects);
        heap->remembered.objects = NULL;
        heap->remembered.room = 0;
    }
    if (heap->remembered.card_count == 0) {
        free(heap->remembered.cards);
        heap->remembered.cards = NULL;
        heap->remembered.card_room = 0;
    }
}

/* Collections, and stores before, while one of the collector's lists can't grow. */
static void starve(const struct event *e) {
    static const char *const lists[] = {"weak objects", "waiting ephemerons", "mourners", "remembered set"};
    shrink_lists();
    fuzz.starved = lists[e->c % 4];
    scatter(e);
    for (uint32_t i = 1 + e->b % 3; i != 0; i--) {
        if ((e->d >> i & 1) != 0) {
            eden_full_collect(fuzz.w.m);
        } else {
            eden_scavenge(fuzz.w.m);
        }
        compare_if_collected();
    }
    fuzz.starved = NULL;
}

/* Takes some mourners from the queue. */
static void mourn(const struct event *e) {
    for (uint32_t i = e->a % 8; i != 0; i--) {
        eden_value object = eden_mourn_next(fuzz.w.m);
        if (fuzz.mourning.count == 0) {
            if (object != EDEN_NONE) {
                broken("eden_mourn_next answers %#llx where nothing is mourned", (unsigned long long)object);
            }
            return;
        }
        struct node *node = fuzz.mourning.at[0].node;
        if (object != node->place) {
            broken("eden_mourn_next answers %#llx, should be %#llx", (unsigned long long)object,
                   (unsigned long long)node->place);
        }
        fuzz.mourning.count--;
        memmove(fuzz.mourning.at, fuzz.mourning.at + 1, fuzz.mourning.count * sizeof *fuzz.mourning.at);
        if ((e->b >> i & 1) != 0) {
            set_root(e->c % ROOTS, (struct value){.kind = VALUE_NODE, .node = node}, object);
        }
    }
}

static void choose_for_tenure(const struct event *e) {
    const struct world *w = &fuzz.w;
    const eden_class of[] = {w->pair,     w->array,  w->mixed,       w->words64,    w->bytes,
                             w->compound, fuzz.weak, fuzz.ephemeron, fuzz.sites[0], fuzz.sites[1]};
    eden_tenure_choose(w->heap, of[e->a % (sizeof of / sizeof of[0])], e->b % 3 != 0);
}

/* Objects that nothing holds. */
static void litter(const struct event *e) {
    for (uint32_t i = e->a % 400; i != 0; i--) {
        if (eden_new_raw(fuzz.w.m, fuzz.w.bytes, (e->b >> (i % 16)) % 300) == EDEN_NONE) {
            return;
        }
    }
}

static void write_raw(const struct event *e) {
    eden_value object;
    struct node *node = find(e->a, e->b, &object);
    if (node == NULL || node->raw_bytes < 8 || node->raw_count == SIZE_MAX) {
        return;
    }
    size_t at = e->c % (node->raw_bytes / 8) * 8;
    if (at + 8 == node->raw_bytes) {
        return; /* the last word may have unused units, which stay zero */
    }
    memset(node->raw + at, (int)(e->d & 255), 8);
    memset((unsigned char *)(eden_words_(object) + 1 + node->references) + at, (int)(e->d & 255), 8);
}

static void unpin(struct pin *pin) {
    if (pin->value.kind == VALUE_NODE && --pin->value.node->pins == 0) {
        eden_unpin(fuzz.w.m, pin->slot);
    }
    pin->slot = EDEN_NONE;
    pin->value = (struct value){.kind = VALUE_IMMEDIATE};
}

static void do_pin(const struct event *e) {
    struct pin *pin = &fuzz.pins[e->d % PINS];
    unpin(pin);
    eden_value object;
    struct node *node = find(e->a, e->b, &object);
    if (node == NULL) {
        return;
    }
    eden_value place = eden_pin(fuzz.w.m, object);
    if (place == EDEN_NONE) {
        if (eden_last_error(fuzz.w.m)->status != EDEN_NO_MEMORY) {
            broken("eden_pin failed without an error");
        }
        fuzz.lenient = true; /* eden_pin itself held the object for a while */
        return;
    }
    if (!is_old(&fuzz.w, place)) {
        broken("eden_pin returned %#llx, which is not in old space", (unsigned long long)place);
    }
    *pin = (struct pin){place, {.kind = VALUE_NODE, .node = node}, place};
    node->pins++;
}

static void set_random_parameter(const struct event *e) {
    static const struct {
        const char *name;
        const char *values[6];
    } choices[] = {
        {"tenure_proportion", {"0", "0.1", "0.5", "1", "0.33", "0"}},
        {"survivors_to_keep", {"unset", "0", "100", "1000", "1e15", "10"}},
        {"tenure_fill", {"0", "0.5", "0.9", "1", "0.1", "0.99"}},
        {"full_gc_ratio", {"0", "0.33", "inf", "1", "0.01", "2.5"}},
        {"grow_headroom", {"64K", "256K", "1M", "16M", "100K", "64K"}},
        {"shrink_threshold", {"0", "64K", "1M", "none", "32M", "0"}},
        {"large_object", {"4096", "8K", "64K", "512K", "1M", "4100"}},
        {"compactor", {"planning", "none", "selective", "planning", "none", "selective"}},
        {"full_gc_min_old", {"0", "64K", "1M", "none", "0", "0"}},
        {"max_heap", {"none", "1M", "2M", "4M", "64M", "none"}},
        {"tenure_criterion", {"age", "remembered", "class", "site", "never", "age"}},
        {"compat.threshold_bug", {"0", "1", "0", "1", "0", "0"}},
        {"compat.overflow", {"oldest", "scan-order", "oldest", "scan-order", "oldest", "oldest"}},
    };
    size_t i = e->a % (sizeof choices / sizeof choices[0]);
    const char *value = choices[i].values[e->b % 6];
    eden_error error = {EDEN_OK, ""};
    if (!eden_heap_set(fuzz.w.heap, choices[i].name, value, &error) &&
        (strcmp(choices[i].name, "max_heap") != 0 || strstr(error.message, "max_heap") == NULL)) {
        broken("%s=%s: %s", choices[i].name, value, error.message);
    }
}

static void ask_hash(const struct event *e) {
    eden_value object;
    struct node *node = find(e->a, e->b, &object);
    if (node != NULL) {
        uint32_t hash = eden_identity_hash(fuzz.w.m, object);
        if (hash == 0 || (node->hash != 0 && node->hash != hash)) {
            broken("identity hash %u, was %u", hash, node->hash);
        }
        node->hash = hash;
    }
}

static void full(void) {
    eden_full_collect(fuzz.w.m);
    compare(true);
    fuzz.seen_seq = fuzz.w.heap->info.seq;
}

static void run_event(const struct event *e) {
    size_t root = e->a % ROOTS, other = e->b % ROOTS;
    eden_value object;
    struct node *node;
    fuzz.refused_before = fuzz.refused;
    switch (e->op % 64) {
    case 0:
        eden_scavenge(fuzz.w.m);
        break;
    case 1:
        full();
        break;
    case 2:
    case 3:
        do_pin(e);
        break;
    case 4:
        unpin(&fuzz.pins[e->a % PINS]);
        break;
    case 5:
        set_random_parameter(e);
        break;
    case 6:
        shrink_lists();
        fuzz.refusing = e->a % 4 == 0 ? (long)(e->b % 40) : 0;
        break;
    case 7:
        shrink_lists();
        fuzz.refusing = e->a % 2 == 0 ? -(long)(e->b % 60) : 0;
        break;
    case 8:
        ask_hash(e);
        break;
    case 9:
    case 10:
        grow_chain(e);
        break;
    case 11:
    case 12:
        litter(e);
        break;
    case 13:
    case 14:
    case 15:
        set_root(root, (struct value){.kind = VALUE_IMMEDIATE, .bits = immediate(e->b)}, immediate(e->b));
        break;
    case 16:
        set_root(root, fuzz.roots[other], *root_slot(other));
        break;
    case 17:
    case 18: /* down a path: what lay above may die */
        node = find(e->b, e->c | 3, &object);
        if (node != NULL) {
            set_root(root, (struct value){.kind = VALUE_NODE, .node = node}, object);
        }
        break;
    case 19:
    case 20:
        store_many(e);
        break;
    case 21:
    case 22:
        write_raw(e);
        break;
    case 23: /* a mark stack that overflows */
        fuzz.w.heap->mark_stack.room = (size_t[]){1, 2, 3, 10, 100, 1000}[e->a % 6];
        break;
    case 24:
    case 25:
        put_ephemerons(e);
        break;
    case 26:
        put_weak(e);
        break;
    case 27:
        mourn(e);
        break;
    case 28:
        choose_for_tenure(e);
        break;
    case 29:
    case 30:
        scatter(e);
        break;
    case 31:
        starve(e);
        break;
    default:
        if (e->op % 64 < 45) {
            store(e);
        } else {
            allocate(e, root);
        }
        break;
    }
    compare_if_collected();
}

/* ---- runs ---------------------------------------------------------------------------------------------------------
 */

/* Forgets the model, for the next run in this process. */
static void forget(void) {
    while (fuzz.nodes != NULL) {
        struct node *next = fuzz.nodes->next;
        free(fuzz.nodes);
        fuzz.nodes = next;
    }
    struct place_list *places[] = {&fuzz.ephemerons, &fuzz.mourning, &fuzz.cleared, &fuzz.intact, &fuzz.waiting};
    for (size_t i = 0; i < sizeof places / sizeof places[0]; i++) {
        free(places[i]->at);
    }
    struct pair_list *pairs[] = {&fuzz.work, &fuzz.unproven, &fuzz.weak_holders};
    for (size_t i = 0; i < sizeof pairs / sizeof pairs[0]; i++) {
        free(pairs[i]->at);
    }
    free(fuzz.places.at);
    memset(&fuzz, 0, sizeof fuzz);
}

static void run_events(const struct event *events, size_t count) {
    eden_options options = {.name = "fuzz", .parameters = NULL, .memory_hook = hook};
    world_make_with(&fuzz.w, &options);
    eden_error error = {EDEN_OK, ""};
    fuzz.sites[0] = eden_site_define(fuzz.w.heap, fuzz.w.pair, "pair site", &error);
    fuzz.sites[1] = eden_site_define(fuzz.w.heap, fuzz.w.compound, "compound site", &error);
    fuzz.weak = define_class(fuzz.w.heap, "Weak", EDEN_FORMAT_WEAK, WEAK_FIXED);
    fuzz.ephemeron = define_class(fuzz.w.heap, "Ephemeron", EDEN_FORMAT_EPHEMERON, EPHEMERON_SLOTS);
    for (size_t i = 0; i < GLOBAL_ROOTS; i++) {
        eden_root_add(fuzz.w.heap, &fuzz.globals[i]);
    }
    eden_visitor_add(fuzz.w.heap, visit, NULL);
    eden_visitor_add(fuzz.w.heap, visit, &fuzz); /* slots may be told twice */
    eden_root_add(fuzz.w.heap, &fuzz.globals[0]);
    const size_t stack_room = fuzz.w.heap->mark_stack.room;
    {
        EDEN_FRAME(fuzz.w.m, local, FRAME_ROOTS);
        fuzz.frame = local;
        for (size_t i = 0; i < count; i++) {
            fuzz.event = i;
            run_event(&events[i]);
        }
        fuzz.refusing = 0;
        fuzz.w.heap->mark_stack.room = stack_room;
        fuzz.event = count;
        full();
        for (size_t i = 0; i < ROOTS; i++) {
            set_root(i, (struct value){.kind = VALUE_IMMEDIATE}, EDEN_NONE);
        }
        for (size_t i = 0; i < PINS; i++) {
            unpin(&fuzz.pins[i]);
        }
        full();
        while (fuzz.mourning.count != 0) { /* their ephemerons may be mourned in turn */
            while (eden_mourn_next(fuzz.w.m) != EDEN_NONE) {
                fuzz.mourning.count--;
            }
            full();
        }
    }
    eden_heap_destroy(fuzz.w.heap);
    forget();
}

enum { SECONDS_A_RUN = 120 };

static pid_t fork_or_exit(void) {
    fflush(NULL);
    pid_t pid = fork();
    if (pid < 0) {
        perror("heap-fuzz");
        exit(2);
    }
    return pid;
}

static int wait_for(pid_t pid) {
    int status = 0;
    if (waitpid(pid, &status, 0) != pid) {
        perror("heap-fuzz");
        exit(2);
    }
    return status;
}

/* Does it fail? In a child; its message goes to standard output, or nowhere. */
static bool fails(const struct event *events, size_t count, bool quiet, char *how, size_t size) {
    pid_t pid = fork_or_exit();
    if (pid == 0) {
        if (quiet) {
            int null = open("/dev/null", O_WRONLY);
            dup2(null, STDOUT_FILENO);
            dup2(null, STDERR_FILENO);
        }
        alarm(SECONDS_A_RUN);
        run_events(events, count);
        _exit(0);
    }
    int status = wait_for(pid);
    if (WIFSIGNALED(status)) {
        snprintf(how, size, "signal %d (%s)", WTERMSIG(status), strsignal(WTERMSIG(status)));
    } else {
        snprintf(how, size, "exit status %d", WEXITSTATUS(status));
    }
    return status != 0;
}

/* Removes pieces, halving their size, as long as what is left still fails; at most `seconds`. */
static size_t shrink(struct event *events, size_t count, time_t seconds) {
    struct event *trial = need(malloc(count * sizeof *trial));
    char how[80];
    time_t end = time(NULL) + seconds;
    for (size_t piece = count / 2; piece != 0; piece /= 2) {
        for (size_t at = 0; at < count && time(NULL) < end;) {
            size_t gone = piece < count - at ? piece : count - at;
            memcpy(trial, events, at * sizeof *trial);
            memcpy(trial + at, events + at + gone, (count - at - gone) * sizeof *trial);
            if (fails(trial, count - gone, true, how, sizeof how)) {
                count -= gone;
                memcpy(events, trial, count * sizeof *trial);
            } else {
                at += gone;
            }
        }
    }
    free(trial);
    return count;
}

static void make_events(struct event *events, size_t count, uint64_t seed) {
    uint64_t random = seed * 0x9e3779b97f4a7c15ull + 1;
    for (size_t i = 0; i < count; i++) {
        uint64_t x = next_random(&random), y = next_random(&random), z = next_random(&random);
        events[i] =
            (struct event){(uint32_t)(x >> 32), (uint32_t)x, (uint32_t)(y >> 32), (uint32_t)y, (uint32_t)(z >> 32)};
    }
}

/* Shrinks a run that failed, and says what is left of it. */
static void explain(struct event *events, size_t count) {
    char how[80];
    count = shrink(events, count, 60);
    printf("shrunk to %zu events (op a b c d):\n", count);
    for (size_t i = 0; i < count && i < 60; i++) {
        printf("  %zu: %u %u %u %u %u\n", i, events[i].op % 64, events[i].a, events[i].b, events[i].c, events[i].d);
    }
    setenv("EDEN_LOG", "-", 1); /* the collections that lead there */
    fails(events, count, false, how, sizeof how);
    unsetenv("EDEN_LOG");
    printf("these end with %s\n", how);
}

/* What the processes of one run share. */
static struct shared {
    uint64_t seed; /* that runs in the child of process number so many */
    _Atomic bool failed;
} * shared;

struct range {
    uint64_t first, end, step;
    size_t events;
};

/* All seeds of a range, one after the other in this process. */
static void run_range(const struct range *range, struct shared *mine) {
    struct event *events = need(malloc(range->events * sizeof *events));
    for (uint64_t seed = range->first; seed < range->end && !shared->failed; seed += range->step) {
        mine->seed = seed;
        make_events(events, range->events, seed);
        alarm(SECONDS_A_RUN);
        run_events(events, range->events);
    }
}

/* A failing seed is run again by itself. */
static void report(const struct range *range, uint64_t seed) {
    struct event *events = need(malloc(range->events * sizeof *events));
    const char *options = getenv("EDEN_OPTIONS");
    char how[80];
    make_events(events, range->events, seed);
    options = options == NULL ? "" : options;
    if (fails(events, range->events, true, how, sizeof how)) {
        printf("seed %llu fails: %s. Again: EDEN_OPTIONS='%s' heap-fuzz --first %llu --seeds 1 --events %zu\n",
               (unsigned long long)seed, how, options, (unsigned long long)seed, range->events);
        explain(events, range->events);
    } else {
        printf("seed %llu fails, but not alone: EDEN_OPTIONS='%s', after seeds from %llu in steps of %llu, of %zu "
               "events\n",
               (unsigned long long)seed, options, (unsigned long long)range->first, (unsigned long long)range->step,
               range->events);
    }
    free(events);
}

/* Runs a range in a child. Of several processes, the first that finds a failure reports it. */
static bool run_in_child(const struct range *range, size_t number) {
    struct shared *mine = &shared[number];
    pid_t pid = fork_or_exit();
    if (pid == 0) {
        run_range(range, mine);
        _exit(0);
    }
    if (wait_for(pid) == 0) {
        return true;
    }
    if (!atomic_exchange(&shared->failed, true)) {
        report(range, mine->seed);
    }
    return false;
}

static bool run_seeds(uint64_t first, uint64_t seeds, size_t events, size_t jobs) {
    bool ok = true;
    pid_t pids[MAX_JOBS];
    jobs = jobs < seeds ? jobs : seeds;
    for (size_t i = 0; i < jobs; i++) {
        pids[i] = fork_or_exit();
        if (pids[i] == 0) {
            bool good = run_in_child(&(struct range){first + i, first + seeds, jobs, events}, i);
            fflush(NULL);
            _exit(good ? 0 : 1);
        }
    }
    for (size_t i = 0; i < jobs; i++) {
        ok = wait_for(pids[i]) == 0 && ok;
    }
    return ok;
}

static int run_plan(size_t jobs) {
    static const char *const plan[] = {
        "",
        "eden_size=64K",
        "eden_size=64K,large_object=4096,grow_headroom=64K,shrink_threshold=0",
        "eden_size=1M,compactor=none",
        "eden_size=64K,tenure_proportion=1,tenure_fill=0",
        "eden_size=64K,full_gc_ratio=0",
        "eden_size=64K,max_heap=1M",
        "eden_size=512K,max_heap=2M,compactor=none",
        "eden_size=64K,remembered_set=card",
        "eden_size=64K,remembered_set=card,large_object=4096,grow_headroom=64K,compactor=selective",
        "eden_size=64K,remembered_set=card,tenure_criterion=remembered",
        "eden_size=1M,remembered_set=card,max_heap=3M",
        "eden_size=1M,remembered_set=object",
        "eden_size=64K,tenure_criterion=remembered",
        "eden_size=64K,tenure_criterion=class",
        "eden_size=64K,tenure_criterion=site",
        "eden_size=64K,tenure_criterion=never",
        "eden_size=64K,compat.threshold_bug=1,tenure_fill=0.3",
        "eden_size=64K,compat.overflow=scan-order",
        "eden_size=1M,remembered_set=card,compat.threshold_bug=1",
    };
    const uint64_t seeds = TEST_SANITIZED ? 4 : 12;
    unsetenv("EDEN_STATS");
    unsetenv("EDEN_LOG");
    for (size_t i = 0; i < sizeof plan / sizeof plan[0]; i++) {
        setenv("EDEN_OPTIONS", plan[i], 1);
        if (!run_seeds(1, seeds, 1500, jobs)) {
            return 1;
        }
        printf("%llu seeds with '%s'\n", (unsigned long long)seeds, plan[i]);
    }
    return 0;
}

int main(int count, char **words) {
    unsigned long long first = 1, seeds = 0, events = 1500, jobs = 1;
    for (int i = 1; i < count; i++) {
        unsigned long long *number = strcmp(words[i], "--first") == 0    ? &first
                                     : strcmp(words[i], "--seeds") == 0  ? &seeds
                                     : strcmp(words[i], "--events") == 0 ? &events
                                     : strcmp(words[i], "--jobs") == 0   ? &jobs
                                                                         : NULL;
        if (number == NULL || i + 1 == count) {
            fprintf(stderr, "usage: heap-fuzz [--first K] [--seeds N] [--events E] [--jobs N]\n");
            return 2;
        }
        *number = strtoull(words[++i], NULL, 10);
    }
    if (events == 0 || events > MAX_EVENTS || jobs == 0 || jobs > MAX_JOBS) {
        fprintf(stderr, "heap-fuzz: --events must lie between 1 and %d, --jobs between 1 and %d\n", MAX_EVENTS,
                MAX_JOBS);
        return 2;
    }
    shared = mmap(NULL, MAX_JOBS * sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    need(shared == MAP_FAILED ? NULL : shared);
    if (seeds == 0) {
        return run_plan(jobs);
    }
    if (!run_seeds(first, seeds, events, jobs)) {
        return 1;
    }
    printf("%llu seeds from %llu: no fault\n", seeds, first);
    return 0;
}
