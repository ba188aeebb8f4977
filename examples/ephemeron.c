/* ephemeron: a property attached to an object from outside. It lives as long as the object, even though it refers to
 * the object: only an ephemeron can do that. */
#include <eden/eden.h>

#include <stdio.h>

enum { KEY, VALUE, EPHEMERON_SLOTS };

static bool run(eden_heap *heap, eden_mutator *m) {
    eden_class pair = eden_class_define(heap, &(eden_class_definition){"Pair", EDEN_FORMAT_FIXED, 2}, NULL);
    eden_class property =
        eden_class_define(heap, &(eden_class_definition){"Property", EDEN_FORMAT_EPHEMERON, EPHEMERON_SLOTS}, NULL);
    if (pair == 0 || property == 0) {
        return false;
    }
    EDEN_FRAME(m, local, 2); /* an object, and the ephemeron: something must keep it alive, too */
    local[0] = eden_new(m, pair);
    local[1] = local[0] == EDEN_NONE ? EDEN_NONE : eden_new(m, property);
    eden_value value = local[1] == EDEN_NONE ? EDEN_NONE : eden_new(m, pair);
    if (value == EDEN_NONE) {
        return false;
    }
    eden_slot_set(m, value, 0, eden_int(42));
    eden_slot_set(m, value, 1, local[0]); /* the value leads back to the key */
    eden_slot_set(m, local[1], KEY, local[0]);
    eden_slot_set(m, local[1], VALUE, value);

    eden_full_collect(m);
    printf("the object lives: property %d\n", (int)eden_int_value(eden_slot(eden_slot(local[1], VALUE), 0)));

    local[0] = EDEN_NONE; /* the object is reachable through the ephemeron alone, which does not count */
    eden_full_collect(m);
    eden_value dead = eden_mourn_next(m); /* an ordinary object now, which holds key and value */
    printf("the object has died: %s, property %d\n", dead == local[1] ? "mourned" : "not mourned",
           dead == EDEN_NONE ? 0 : (int)eden_int_value(eden_slot(eden_slot(dead, VALUE), 0)));
    return dead != EDEN_NONE;
}

int main(void) {
    eden_error error;
    eden_heap *heap = eden_heap_create(&(eden_options){.name = "ephemeron"}, &error);
    eden_mutator *m = heap == NULL ? NULL : eden_mutator_attach(heap, &error);
    if (m == NULL) {
        fprintf(stderr, "ephemeron: %s\n", error.message);
        return 1;
    }
    bool ok = run(heap, m);
    eden_heap_destroy(heap);
    return ok ? 0 : 1;
}
