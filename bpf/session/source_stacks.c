/* Stacks: from the addresses that the kernel program took to places, and at the end to functions.
 *
 * 1. Terms
 * Raw stack: the places (symbols.h) of a stack. Stack: the functions, as lifetimes/stacks.c has them.
 *
 * 2. Algorithm
 *     while observing: return addresses -> places -> number of the raw stack, in the batch
 *     at the end: all places -> functions, in a bounded time -> without the collector's -> number of the stack
 *
 * The innermost functions are the collector's, from eden_allocate_slow inwards; they are left out, and so are the
 * inline functions of its header around it. Several raw stacks may be one stack: calls in one function, or processes
 * that run one program.
 *
 * 3. Invariants
 * I1. An address outside every mapped file is "[unknown]": generated code, or what a function compiled without a frame
 *     pointer left in the register. Several in a row are one.
 * I2. A stack of nothing but "[unknown]" is the unknown stack, number 0.
 * I3. No symbols are read while the buffers are drained. */
#include "attach/symbols.h"
#include "kernel/life_kernel.h"
#include "session/source_parts.h"
#include <stdlib.h>
#include <string.h>

enum { MOST_SYMBOL_FILES = 4096 };
#define SYMBOLS_NS 5000000000ull /* for reading all symbols */
static const char unknown_name[] = "[unknown]";

struct stack_source {
    struct symbols *symbols;
    struct life_stacks raw; /* their frames are places; they have no names */
};

/* ---- while observing -------------------------------------------------------------------------------------------- */

static uint32_t number_of(struct stack_source *from, const struct process_key *process,
                          const struct life_stack_chunk *chunk) {
    uint32_t frame[LIFE_STACK_MOST], depth = 0;
    for (uint32_t i = 0; i < chunk->depth && i < LIFE_STACK_MOST; i++) {
        /* All but the innermost are return addresses, and a call may be the last instruction of its function. */
        uint32_t place = symbols_place(from->symbols, process, chunk->address[i] - (i != 0));
        if (depth == 0 || place != 0 || frame[depth - 1] != 0) {
            frame[depth++] = place;
        }
    }
    uint32_t number = life_stacks_find(&from->raw, chunk->class_id, frame, depth);
    return number == 0 && symbols_take_stack(from->symbols, process)
               ? life_stacks_add(&from->raw, chunk->class_id, frame, depth)
               : number;
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
        record.stack = number_of(from, &batch->process, chunk);
    }
    batch->records = &record;
    batch->record_bytes = sizeof record;
    return source->options.on_batch(source->options.batch_context, batch);
}

/* ---- at the end ------------------------------------------------------------------------------------------------- */

struct naming {
    struct life_stacks *stacks;
    uint32_t *name; /* by place; 0 is the unknown one */
};

static void on_function(void *context, uint32_t place, const char *name) {
    struct naming *naming = context;
    naming->name[place] = life_stacks_name(naming->stacks, name);
}

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

/* The number of a raw stack's functions; 0: the unknown stack. */
static uint32_t name_stack(const struct naming *naming, const struct life_stack *raw) {
    uint32_t frame[LIFE_STACK_MOST], depth = 0, known = 0;
    const uint32_t unknown = naming->name[0];
    for (uint32_t i = 0; i < raw->depth; i++) {
        uint32_t name = naming->name[raw->frame[i]];
        if (name == LIFE_NO_NAME) {
            return 0;
        }
        if (depth == 0 || name != unknown || frame[depth - 1] != unknown) {
            frame[depth++] = name;
        }
    }
    uint32_t own = own_functions(naming->stacks, frame, depth);
    for (uint32_t i = own; i < depth; i++) {
        known += frame[i] != unknown;
    }
    return known != 0 ? life_stacks_add(naming->stacks, raw->class_id, frame + own, depth - own) : 0;
}

bool source_name_stacks(struct source *source, struct stack_numbers *numbers, struct failure *why) {
    struct stack_source *from = source->life.stacks;
    if (!from || !from->symbols) {
        return true;
    }
    const size_t places = symbols_places(from->symbols);
    struct naming naming = {source->options.stacks, calloc(places + 1, sizeof *naming.name)};
    const uint32_t count = (uint32_t)from->raw.count + 1;
    *numbers = (struct stack_numbers){calloc(count, sizeof *numbers->of), count};
    bool named = naming.name && numbers->of;
    if (named) {
        const uint32_t unknown = life_stacks_name(naming.stacks, unknown_name);
        for (size_t i = 0; i <= places; i++) {
            naming.name[i] = unknown;
        }
        symbols_read(from->symbols, SYMBOLS_NS, on_function, &naming);
        for (uint32_t i = 1; i < numbers->count; i++) {
            numbers->of[i] = name_stack(&naming, life_stacks_get(&from->raw, i));
        }
    }
    free(naming.name);
    return named || failure_set(why, 1, "out of memory for the stacks");
}

void source_clear_stacks(struct source *source) {
    struct stack_source *from = source->life.stacks;
    if (from) {
        symbols_close(from->symbols);
        life_stacks_clear(&from->raw);
        free(from);
    }
    source->life.stacks = NULL;
}
