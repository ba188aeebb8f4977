/* Stacks: from the addresses that the kernel program took to functions, and to the number of the stack.
 *
 * 1. Algorithm
 *     return addresses -> names (symbols.c), once an address -> without the collector's -> number (lifetimes/stacks.c)
 *
 * Addresses are named as they arrive, while the process is alive. The innermost functions are the collector's, from
 * eden_allocate_slow inwards; they are left out, and so are the inline functions of its header around it.
 *
 * 2. Invariants
 * I1. An address outside every mapped file is "[unknown]": generated code, or what a function compiled without a frame
 *     pointer left in the register. Several in a row are one.
 * I2. A stack of nothing but "[unknown]" is the unknown stack, number 0.
 * I3. At most MOST_ADDRESSES addresses are remembered. An address without a name is not: it may be mapped later. */
#include "attach/symbols.h"
#include "kernel/life_kernel.h"
#include "session/source_parts.h"
#include <search.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_ADDRESSES = 1 << 20 };
static const char unknown_name[] = "[unknown]";

struct known_address {
    struct process_key process;
    uint64_t address;
    uint32_t name;
};

struct stack_source {
    struct symbols *symbols;
    void *addresses; /* tree of struct known_address */
    size_t count;
};

static int by_address(const void *a, const void *b) {
    const struct known_address *x = a, *y = b;
    const uint64_t first[] = {x->address, x->process.pid, x->process.start_ns};
    const uint64_t second[] = {y->address, y->process.pid, y->process.start_ns};
    for (size_t i = 0; i < sizeof first / sizeof *first; i++) {
        if (first[i] != second[i]) {
            return first[i] < second[i] ? -1 : 1;
        }
    }
    return 0;
}

/* A name's number. What is not known now may be mapped later, so it is not remembered. */
static uint32_t name_of(struct source *source, const struct process_key *process, uint64_t address) {
    struct stack_source *from = source->life.stacks;
    struct known_address key = {*process, address, LIFE_NO_NAME};
    struct known_address *const *known = tfind(&key, &from->addresses, by_address);
    if (known) {
        return (*known)->name;
    }
    const char *name = symbols_find(from->symbols, process, address);
    key.name = life_stacks_name(source->options.stacks, name ? name : unknown_name);
    struct known_address *node =
        name && key.name != LIFE_NO_NAME && from->count < MOST_ADDRESSES ? malloc(sizeof *node) : NULL;
    if (node) {
        *node = key;
        if (tsearch(node, &from->addresses, by_address)) {
            from->count++;
        } else {
            free(node);
        }
    }
    return key.name;
}

enum { MOST_SYMBOL_FILES = 4096 };

/* How many of the innermost functions are the collector's. The first one is, in any case. */
static uint32_t own_functions(const struct life_stacks *stacks, const uint32_t *frame, uint32_t depth) {
    enum { DEEPEST = 12 };
    uint32_t own = 0;
    for (uint32_t i = 0; i < depth && i < DEEPEST && own == 0; i++) {
        own = strcmp(stacks->name[frame[i]], "eden_allocate_slow") == 0 ? i + 1 : 0;
    }
    own = own == 0 && depth != 0 && strncmp(stacks->name[frame[0]], "eden_", 5) == 0 ? 1 : own;
    while (own != 0 && own < depth && strncmp(stacks->name[frame[own]], "eden_", 5) == 0) {
        own++;
    }
    return own;
}

static uint32_t number_of(struct source *source, const struct process_key *process,
                          const struct life_stack_chunk *chunk) {
    uint32_t frame[LIFE_STACK_MOST], depth = 0, known = 0;
    struct life_stacks *stacks = source->options.stacks;
    uint32_t unknown = life_stacks_name(stacks, unknown_name);
    for (uint32_t i = 0; i < chunk->depth && i < LIFE_STACK_MOST; i++) {
        /* All but the innermost are return addresses, and a call may be the last instruction of its function. */
        uint32_t name = name_of(source, process, chunk->address[i] - (i != 0));
        if (name == LIFE_NO_NAME) {
            return 0;
        }
        if (depth == 0 || name != unknown || frame[depth - 1] != unknown) {
            frame[depth++] = name;
        }
    }
    uint32_t own = own_functions(stacks, frame, depth);
    for (uint32_t i = own; i < depth; i++) {
        known += frame[i] != unknown;
    }
    return known != 0 ? life_stacks_add(stacks, chunk->class_id, frame + own, depth - own) : 0;
}

bool source_take_stack(struct source *source, const struct life_chunk *head, struct life_batch *batch) {
    const struct life_stack_chunk *chunk = (const struct life_stack_chunk *)head;
    struct stack_source *from = source->life.stacks;
    if (!from) {
        from = source->life.stacks = calloc(1, sizeof *from);
        if (from) {
            from->symbols = symbols_open(source->inspect, MOST_SYMBOL_FILES);
        }
    }
    struct life_stack_record record = {
        .birth_bytes = chunk->birth_bytes, .bytes = chunk->bytes, .site = chunk->site, .class_id = chunk->class_id};
    if (from && from->symbols) {
        record.stack = number_of(source, &batch->process, chunk);
    }
    batch->records = &record;
    batch->record_bytes = sizeof record;
    return source->options.on_batch(source->options.batch_context, batch);
}

void source_clear_stacks(struct source *source) {
    struct stack_source *from = source->life.stacks;
    if (from) {
        tdestroy(from->addresses, free);
        symbols_close(from->symbols);
        free(from);
    }
    source->life.stacks = NULL;
}
