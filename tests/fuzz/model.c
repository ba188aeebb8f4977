/* The shadow graph: nodes, the roots that hold them, and the lists that walks need. */
#include "fuzz.h"

struct fuzz fuzz;
bool broken_aborts;

void broken(const char *format, ...) {
    char text[600];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    dprintf(STDOUT_FILENO, "event %zu: %s\n", fuzz.event, text);
    if (broken_aborts) {
        abort();
    }
    _exit(1);
}

void *need(void *memory) {
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

void add_place(struct place_list *list, struct node *node, size_t slot) {
    list->at = grown(list->at, list->count, &list->room, sizeof *list->at);
    list->at[list->count++] = (struct place){node, slot};
}

void add_pair(struct pair_list *list, struct node *node, eden_value object) {
    list->at = grown(list->at, list->count, &list->room, sizeof *list->at);
    list->at[list->count++] = (struct pair){node, object};
}

void add_value(struct value_list *list, eden_value v) {
    list->at = grown(list->at, list->count, &list->room, sizeof *list->at);
    list->at[list->count++] = v;
}

eden_value *root_slot(size_t root) {
    if (root < FRAME_ROOTS) {
        return &fuzz.frame[root];
    }
    root -= FRAME_ROOTS;
    return root < GLOBAL_ROOTS ? &fuzz.globals[root] : &fuzz.visited[root - GLOBAL_ROOTS];
}

void set_root(size_t root, struct value value, eden_value object) {
    fuzz.roots[root] = value;
    *root_slot(root) = object;
}

struct node *new_node(eden_class of, size_t references, size_t raw_bytes, size_t raw_count) {
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
size_t open_slots(const struct node *node) { return node->ephemeron ? ID : node->references; }

/* A node reached from a root by a random path, and the object that it stands for; NULL: the root holds none. */
struct node *find(uint32_t root, uint32_t path, eden_value *object) {
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

/* Forgets the model, for the next run in this process. */
void forget(void) {
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
