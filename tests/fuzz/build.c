/* Events that build: single objects of each format, chains, arrays of ephemerons, weak objects, large objects. */
#include "fuzz.h"

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

void allocate(const struct event *e, size_t root) {
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
        if (error->status != EDEN_NO_MEMORY || strstr(error->message, "out of memory for an object of") == NULL) {
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

/* A chain of new pairs, each referring to the one before; ends where memory does. */
void grow_chain(const struct event *e) {
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
void put_ephemerons(const struct event *e) {
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

/* Moves a root's object to old space: by a pin, let go at once. */
static void make_root_old(size_t root) {
    eden_value place = eden_pin(fuzz.w.m, *root_slot(root));
    if (place == EDEN_NONE) {
        fuzz.lenient = true; /* eden_pin itself held the object for a while */
    } else {
        eden_unpin(fuzz.w.m, place);
    }
    compare_if_collected();
}

/* An ephemeron in five slots of a weak object, whose key is what the slot before them refers to, and nothing else. */
static bool put_ephemeron_often(size_t root, struct node *weak, size_t slot) {
    struct node *ephemeron = put_new(fuzz.ephemeron, root, weak, slot + 1);
    if (ephemeron == NULL) {
        return false;
    }
    eden_value holder = *root_slot(root);
    if (weak->slots[slot + 1].kind != VALUE_NODE || weak->slots[slot].kind != VALUE_NODE) {
        return true; /* a collection has cleared one */
    }
    eden_slot_set(fuzz.w.m, eden_slot(holder, slot + 1), KEY, eden_slot(holder, slot));
    ephemeron->slots[KEY] = weak->slots[slot];
    eden_slot_set(fuzz.w.m, holder, slot, EDEN_NONE);
    weak->slots[slot] = (struct value){.kind = VALUE_IMMEDIATE};
    for (size_t other = slot + 2; other < slot + 6; other++) {
        eden_slot_set(fuzz.w.m, holder, other, eden_slot(holder, slot + 1));
        weak->slots[other] = weak->slots[slot + 1];
    }
    return true;
}

/* A weak object, often large, with new objects that nothing else holds, and any others. */
void put_weak(const struct event *e) {
    size_t root = e->a % ROOTS, count = WEAK_FIXED + 1 + (e->b >> 4) % (e->b % 2 == 0 ? 30 : 700);
    uint32_t random = e->c;
    struct node *weak = put_new_array(fuzz.weak, root, count);
    if (weak != NULL && (e->b >> 16) % 3 == 0) {
        make_root_old(root);
    }
    for (uint32_t i = e->d % 40; weak != NULL && i != 0; i--) {
        random = random * 1664525u + 1013904223u;
        size_t slot = (random >> 4) % count;
        if ((random >> 20) % 2 == 0) {
            if (put_new(fuzz.w.pair, root, weak, slot) == NULL ||
                ((random >> 21) % 2 == 0 && slot + 6 < count && !put_ephemeron_often(root, weak, slot))) {
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
void scatter(const struct event *e) {
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

/* An array of raw objects that take a capped heap's room: until memory ends, or little is left of it. Overflows and
 * promotions then find old space full. */
void put_ballast(const struct event *e) {
    size_t root = e->a % ROOTS, bytes = 512 + e->b % 16000, count = 8;
    uint64_t cap = fuzz.w.heap->params.max_heap;
    if (cap <= 4u << 20) {
        count = cap / bytes;
    }
    struct node *array = put_new_array(fuzz.w.array, root, count);
    for (size_t i = 0; array != NULL && i < count; i++) {
        eden_value object = eden_new_raw(fuzz.w.m, fuzz.w.bytes, bytes);
        if (object == EDEN_NONE) {
            break;
        }
        compare_if_collected();
        struct node *node = new_node(fuzz.w.bytes, 0, (bytes + 7) / 8 * 8, bytes);
        fill_raw(node, object, bytes, e->d);
        eden_slot_set(fuzz.w.m, *root_slot(root), i, object);
        array->slots[i] = (struct value){.kind = VALUE_NODE, .node = node};
    }
    for (uint32_t i = e->c % 4; array != NULL && i-- > 0;) { /* some room again */
        size_t slot = (e->c >> 8) % count;
        eden_slot_set(fuzz.w.m, *root_slot(root), slot, EDEN_NONE);
        array->slots[slot] = (struct value){.kind = VALUE_IMMEDIATE};
    }
}
