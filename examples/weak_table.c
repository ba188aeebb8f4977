/* weak_table: a table from objects to values that keeps no key alive.
 *
 * Keys are slots of a weak object, which become EDEN_NONE when their objects die; values are slots of an array beside
 * it. After each collection, a hook drops the values of dead keys. A value that leads to its own key would keep it
 * alive: then each entry must be an ephemeron (ephemeron.c). */
#include <eden/eden.h>

#include <stdio.h>

enum { ENTRIES = 256 };

struct table {
    eden_value keys, values; /* roots; an entry never used has EDEN_NONE in both */
    int count;
};

/* The value of an entry whose key has died: a search goes on past it. */
static eden_value deleted(void) { return eden_char(0); }

/* The entry of the key, or the one to put it in; ENTRIES: the table is full. The identity hash moves with its object,
 * the address does not. */
static size_t find(eden_mutator *m, const struct table *table, eden_value key) {
    size_t at = eden_identity_hash(m, key) % ENTRIES, found = ENTRIES;
    for (size_t n = 0; n < ENTRIES; n++, at = (at + 1) % ENTRIES) {
        eden_value other = eden_slot(table->keys, at);
        if (other == key) {
            return at;
        }
        if (other == EDEN_NONE && found == ENTRIES) {
            found = at;
        }
        if (other == EDEN_NONE && eden_slot(table->values, at) == EDEN_NONE) {
            break;
        }
    }
    return found;
}

static bool put(eden_mutator *m, struct table *table, eden_value key, eden_value value) {
    size_t at = find(m, table, key);
    if (at == ENTRIES) {
        return false;
    }
    table->count += eden_slot(table->keys, at) != key;
    eden_slot_set(m, table->keys, at, key);
    eden_slot_set(m, table->values, at, value);
    return true;
}

/* The value of the key; EDEN_NONE: the key has none. */
static eden_value get(eden_mutator *m, const struct table *table, eden_value key) {
    size_t at = find(m, table, key);
    return at == ENTRIES || eden_slot(table->keys, at) != key ? EDEN_NONE : eden_slot(table->values, at);
}

/* A collection hook: it may read and store, but neither allocate nor collect. */
static void drop_dead(void *context, eden_mutator *m, enum eden_collection_kind kind) {
    struct table *table = context;
    (void)kind;
    for (size_t i = 0; table->keys != EDEN_NONE && i < ENTRIES; i++) {
        eden_value value = eden_slot(table->values, i);
        if (eden_slot(table->keys, i) == EDEN_NONE && value != EDEN_NONE && value != deleted()) {
            eden_slot_set(m, table->values, i, deleted());
            table->count--;
        }
    }
}

static bool run(eden_heap *heap, eden_mutator *m) {
    static struct table table; /* as long as the heap: its slots are roots */
    eden_class weak = eden_class_define(heap, &(eden_class_definition){"Keys", EDEN_FORMAT_WEAK, 0}, NULL);
    eden_class array = eden_class_define(heap, &(eden_class_definition){"Array", EDEN_FORMAT_VARIABLE, 0}, NULL);
    eden_class symbol = eden_class_define(heap, &(eden_class_definition){"Symbol", EDEN_FORMAT_EMPTY, 0}, NULL);
    if (weak == 0 || array == 0 || symbol == 0 || !eden_root_add(heap, &table.keys) ||
        !eden_root_add(heap, &table.values) || !eden_collection_hook_add(heap, drop_dead, &table)) {
        return false;
    }
    table.values = eden_new_slots(m, array, ENTRIES); /* first: the hook looks at them once there are keys */
    table.keys = eden_new_slots(m, weak, ENTRIES);
    EDEN_FRAME(m, local, 2);
    for (int64_t i = 0; table.keys != EDEN_NONE && i < 100; i++) {
        local[0] = eden_new(m, symbol);
        if (local[0] == EDEN_NONE || !put(m, &table, local[0], eden_int(i))) {
            return false;
        }
        local[1] = i == 42 ? local[0] : local[1]; /* the only key that is kept */
    }
    local[0] = EDEN_NONE;
    eden_full_collect(m);
    printf("%d entry, value %d\n", table.count, (int)eden_int_value(get(m, &table, local[1])));
    return table.count == 1;
}

int main(void) {
    eden_error error;
    eden_heap *heap = eden_heap_create(&(eden_options){.name = "weak_table"}, &error);
    eden_mutator *m = heap == NULL ? NULL : eden_mutator_attach(heap, &error);
    if (m == NULL) {
        fprintf(stderr, "weak_table: %s\n", error.message);
        return 1;
    }
    bool ok = run(heap, m);
    eden_heap_destroy(heap);
    return ok ? 0 : 1;
}
