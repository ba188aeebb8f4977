/* The events. Each is a number and four operands, which mean something in any state: so any sequence of events can be
 * run, and any subsequence of it. */
#include "fuzz.h"
#include "heap/policy.h"
#include "old/full.h"

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

/* Copies a range of slots by a bulk store, perhaps within one object. */
static void copy_many(const struct event *e) {
    eden_value to, from;
    struct node *node = find(e->a, e->b, &to), *source = find(e->c, e->d, &from);
    if (node == NULL || source == NULL || open_slots(node) == 0 || open_slots(source) == 0) {
        return;
    }
    size_t at = (e->b >> 8) % open_slots(node), start = (e->d >> 8) % open_slots(source);
    size_t room = open_slots(node) - at, count = open_slots(source) - start;
    count = count < room ? count : room;
    if (e->op % 128 < 64) {
        eden_slots_copy(fuzz.w.m, to, at, from, start, count);
    } else {
        eden_value *values = need(malloc(count * sizeof *values));
        memcpy(values, eden_words_(from) + 1 + start, count * sizeof *values);
        eden_slots_set(fuzz.w.m, to, at, values, count);
        free(values);
    }
    memmove(node->slots + at, source->slots + start, count * sizeof *node->slots);
}

/* Frees the collector's lists that are empty, so that they have to grow again. */
static void shrink_lists(void) {
    eden_heap *heap = fuzz.w.heap;
    if (heap->weak.count == 0) {
        free(heap->weak.objects);
        heap->weak = (struct weak_list){NULL, 0, 0};
    }
    if (heap->pending.count == 0) {
        free(heap->pending.keys);
        heap->pending = (struct pending_keys){NULL, 0, 0};
    }
    if (heap->cycle.left_count == 0) {
        free(heap->cycle.left);
        heap->cycle.left = NULL;
        heap->cycle.left_room = 0;
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
    static const char *const lists[] = {"weak objects", "waiting ephemerons", "mourners", "remembered set", "marking"};
    shrink_lists();
    fuzz.starved = lists[e->c % 5];
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

void unpin(struct pin *pin) {
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
        {"compat.tenured_scan", {"set-order", "latest-first", "set-order", "latest-first", "set-order", "set-order"}},
        {"compat.growth", {"refill", "needed", "refill", "needed", "needed", "needed"}},
        {"overhead_limit", {"0.98", "0", "1", "0.5", "0.98", "0.9"}},
        {"gc_threads", {"1", "2", "4", "unset", "3", "2"}},
        {"pause_goal", {"1", "0", "1", "0.1", "100", "1"}},
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

/* Ends a cycle, done or not, and keeps what has died since it began. */
static void end_cycle(void) {
    if (cycle_is_running(&fuzz.w.heap->cycle)) {
        full_collect(fuzz.w.heap, EDEN_FULL_RATIO, 0);
        compare(false);
    }
}

/* A cycle that runs is abandoned. */
void full(void) {
    eden_full_collect(fuzz.w.m);
    compare(true);
    fuzz.seen_seq = fuzz.w.heap->info.seq;
}

/* Of the stack of a cycle, which must not have more entries; its own memory is there when the first one begins. */
static size_t cycle_room(uint32_t choice) {
    const struct mark_stack *stack = &fuzz.w.heap->cycle.stack;
    size_t room = (size_t[]){1, 2, 3, 10, 100, 1000, 10000, 100000}[choice % 8];
    return stack->entries == NULL || room < stack->count ? stack->room : room;
}

/* Where a full collection has left something unswept. */
static void sweep_on(const struct event *e) {
    eden_error error = {EDEN_OK, ""};
    if (fuzz.w.heap->old.sweep.unswept == 0 || e->d % 4 != 0) {
        return;
    }
    lazy_sweep_bytes(fuzz.w.heap, (e->d >> 2) % 2 == 0 ? (e->d >> 3) % 3000 : (e->d >> 3) % 200000);
    fuzz.refusing = 0; /* the verifier needs memory */
    if (!eden_heap_verify(fuzz.w.heap, &error)) {
        broken("eden_heap_verify, after sweeping: %s", error.message);
    }
}

void run_event(const struct event *e) {
    size_t root = e->a % ROOTS, other = e->b % ROOTS;
    eden_value object;
    struct node *node;
    fuzz.refused_before = fuzz.refused;
    sweep_on(e);
    switch (e->op % 64) {
    case 0:
        fuzz.w.heap->is_mixed |= e->a % 4 == 0 && policy_kept_free(fuzz.w.heap) != 0; /* so all is promoted in place */
        eden_scavenge(fuzz.w.m);
        break;
    case 1:
        if (e->c % 2 == 0) {
            end_cycle();
        }
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
        fuzz.w.heap->alone_bytes = (uint64_t[]){0, 100, 4000, 0}[e->b % 4];
        fuzz.w.heap->cycle.step_objects = (uint64_t[]){1, 2, 5, 20, 100, 1000}[e->c % 6];
        fuzz.w.heap->cycle.stack.room = cycle_room(e->d);
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
    case 32:
        put_ballast(e);
        break;
    case 33:
        copy_many(e);
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
