/* Heaps, mutators, classes, parameters, collections and figures.
 *
 * A process may hold many heaps; a heap is used through mutators, one a thread (today one at a time). Nothing here
 * ends the process: what can fail returns an error that says what, where and what to do. */
#ifndef EDEN_HEAP_H
#define EDEN_HEAP_H

#include "eden_abi.h"
#include "eden_version.h"
#include "value.h"
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

#define EDEN_API __attribute__((visibility("default")))

typedef struct eden_heap eden_heap;
typedef struct eden_mutator eden_mutator;

enum eden_status {
    EDEN_OK = 0,
    EDEN_BAD_PARAMETER, /* a parameter is unknown, malformed or out of bounds; the message names it */
    EDEN_BAD_ARGUMENT,  /* a call that its declaration does not allow */
    EDEN_NO_MEMORY,     /* max_heap, or the system, allows no more */
    EDEN_CORRUPT,       /* the heap verifier found a fault; the message names object and slot */
    EDEN_BUSY,          /* the heap already has a mutator */
    EDEN_SYSTEM,        /* a file could not be opened or written */
};

/* Filled by calls that take one; NULL may be passed where the reason does not matter. */
typedef struct eden_error {
    enum eden_status status;
    char message[248];
} eden_error;

/* Returns the version of the library, as "0.1.0"; EDEN_VERSION is that of the headers. Does not collect. */
EDEN_API const char *eden_version(void);

/* Asked before the runtime takes memory (mmap, malloc) for `what`; false makes that request fail as if the system had
 * refused. For tests of memory exhaustion and for embedders with a budget. Must not call into the heap. */
typedef bool (*eden_memory_hook)(void *context, size_t bytes, const char *what);

/* All zero is a good start: every parameter has a default. */
typedef struct eden_options {
    const char *name;       /* shown by tools; copied, at most 63 bytes; NULL: "eden" */
    const char *parameters; /* as EDEN_OPTIONS: "eden_size=64M,full_gc_ratio=2.5"; NULL: none */
    eden_memory_hook memory_hook;
    void *memory_hook_context;
} eden_options;

/* Creates a heap. EDEN_OPTIONS (unless secure_getenv hides it) overrides options->parameters. Returns NULL and fills
 * error where a parameter is refused or memory is. options may be NULL. The caller owns the heap. */
EDEN_API eden_heap *eden_heap_create(const eden_options *options, eden_error *error);

/* Ends a heap: its memory is gone, its mutators with it. EDEN_STATS is written here. NULL is allowed. */
EDEN_API void eden_heap_destroy(eden_heap *heap);

/* Sets a parameter of a living heap, from the text that EDEN_OPTIONS would take. eden_size, remembered_set,
 * pretenure and max_heap below what is in use can't change later: EDEN_BAD_PARAMETER. Does not collect. */
EDEN_API bool eden_heap_set(eden_heap *heap, const char *name, const char *value, eden_error *error);

/* Writes a parameter's value, as eden_heap_set would take it, to text (at most size bytes, NUL included). False: no
 * such parameter. */
EDEN_API bool eden_heap_get(const eden_heap *heap, const char *name, char *text, size_t size);

/* Gives the calling thread its door to the heap. NULL where the heap has a mutator already (EDEN_BUSY) or memory is
 * refused. Detached or destroyed with the heap. */
EDEN_API eden_mutator *eden_mutator_attach(eden_heap *heap, eden_error *error);
EDEN_API void eden_mutator_detach(eden_mutator *mutator);
EDEN_API eden_heap *eden_mutator_heap(const eden_mutator *mutator);

/* ---- classes ---------------------------------------------------------------------------------------------------- */

/* How an object's body is laid out. The numbers are those of the header; the low bits of the raw formats count unused
 * trailing units of the last word. */
enum eden_format {
    EDEN_FORMAT_EMPTY = 0,          /* no slots */
    EDEN_FORMAT_FIXED = 1,          /* a fixed number of references */
    EDEN_FORMAT_VARIABLE = 2,       /* any number of references */
    EDEN_FORMAT_FIXED_VARIABLE = 3, /* a fixed number, then any number */
    EDEN_FORMAT_WEAK = 4,           /* a fixed number of references, then any number that keep nothing alive */
    EDEN_FORMAT_EPHEMERON = 5,      /* a fixed number, which count only while the first (the key) lives elsewhere */
    EDEN_FORMAT_WORDS64 = 9,        /* raw 64-bit words */
    EDEN_FORMAT_WORDS32 = 10,       /* raw 32-bit words */
    EDEN_FORMAT_WORDS16 = 12,       /* raw 16-bit words */
    EDEN_FORMAT_BYTES = 16,         /* raw bytes */
    EDEN_FORMAT_COMPOUND = 24,      /* a fixed number of references, then raw bytes */
};

/* A class at a site, as allocation takes it: the header that its instances begin with (index, format, fixed slots), so
 * that allocating reads no table. Zero is no class. Equal values are the same class or site; of the parts only the
 * index is the embedder's to read (eden_class_index): the rest also says how to allocate (`pretenure`). */
typedef uint64_t eden_class;

typedef struct eden_class_definition {
    const char *name; /* copied; at most 4096 bytes */
    enum eden_format format;
    uint32_t fixed_slots; /* FIXED, FIXED_VARIABLE, WEAK, EPHEMERON and COMPOUND: references every instance has; at most
                             254 */
} eden_class_definition;

/* Defines a class. 0 and an error where the definition is wrong, the 4,194,303 indices are used up, or memory is
 * refused. Does not collect. Classes live as long as the heap. */
EDEN_API eden_class eden_class_define(eden_heap *heap, const eden_class_definition *definition, eden_error *error);

/* Defines a site: an index of its own for instances of `of` allocated at one place of the program, usable wherever a
 * class is. Tools tell allocations by it; eden_class_of sees through it. Name and errors as for classes. */
EDEN_API eden_class eden_site_define(eden_heap *heap, eden_class of, const char *name, eden_error *error);

/* The 22-bit index of a class or site, as probes report it. */
static inline uint32_t eden_class_index(eden_class of) { return (uint32_t)(of & (EDEN_CLASS_LIMIT - 1)); }

/* Chooses a class or site to be tenured at the next scavenge (or takes that back), where tenure_criterion says `class`
 * (objects of a chosen class, at whatever site) or `site` (objects of just this index). Does not collect. */
EDEN_API void eden_tenure_choose(eden_heap *heap, eden_class of, bool chosen);

/* The class (never a site) of an object, and the name of a class or site; the name lives as long as the heap. */
EDEN_API eden_class eden_class_of(const eden_heap *heap, eden_value object);
EDEN_API const char *eden_class_name(const eden_heap *heap, eden_class of);

/* ---- collections ------------------------------------------------------------------------------------------------ */

/* Collects new space, or everything (a scavenge, then old space). Objects move. */
EDEN_API void eden_scavenge(eden_mutator *mutator);
EDEN_API void eden_full_collect(eden_mutator *mutator);

/* Makes an object stay where it is until unpinned. May collect: a young object is promoted by a scavenge; returns the
 * object's address from now on, EDEN_NONE where it could not be promoted (eden_last_error). Immediates are returned
 * as they are. */
EDEN_API eden_value eden_pin(eden_mutator *mutator, eden_value object);
EDEN_API void eden_unpin(eden_mutator *mutator, eden_value object);

/* Ephemerons whose key has died stand in a queue of mourners, in the order in which collections found them, each now an
 * ordinary object that holds its key. Takes the next from the queue: EDEN_NONE where it is empty. Does not collect. */
EDEN_API eden_value eden_mourn_next(eden_mutator *mutator);

/* How many ephemerons eden_mourn_next has still to return. The queue keeps them, their keys and values alive: a program
 * that never drains it leaks. Does not collect. */
EDEN_API size_t eden_mourn_count(const eden_mutator *mutator);

enum eden_collection_kind {
    EDEN_COLLECTION_SCAVENGE = 0, /* of new space */
    EDEN_COLLECTION_FULL = 1,     /* of both spaces, right after a scavenge, which has called the hooks too */
};

/* Called after each collection, in the collecting thread, before the call that collected returns. Objects have moved,
 * weak slots of dead objects are EDEN_NONE, the queue of mourners and the figures are up to date; references are read
 * and stored as usual. A hook must return (no longjmp), must not allocate or collect, must not add or remove hooks, and
 * must not destroy the heap: allocations and eden_pin of young objects return EDEN_NONE there, the others do nothing
 * (eden_last_error: EDEN_BAD_ARGUMENT), and the checked build aborts. Its time is not part of the figures' pauses. */
typedef void (*eden_collection_hook)(void *context, eden_mutator *mutator, enum eden_collection_kind kind);

/* Adds a hook, called after those added before it until it is removed or the heap is destroyed. The context is the
 * caller's. False: memory is refused. Does not collect. */
EDEN_API bool eden_collection_hook_add(eden_heap *heap, eden_collection_hook hook, void *context);
/* Removes the hook added last with this context. False: there is none. Does not collect. */
EDEN_API bool eden_collection_hook_remove(eden_heap *heap, eden_collection_hook hook, void *context);

/* Checks the whole heap: every object's header, every reference, the remembered set, free lists and accounts. False,
 * with the first fault named, where something is wrong. Does not collect, changes nothing. */
EDEN_API bool eden_heap_verify(eden_heap *heap, eden_error *error);

/* Why the last allocation or pin of this mutator failed. Never NULL; status EDEN_OK where none has. */
EDEN_API const eden_error *eden_last_error(const eden_mutator *mutator);

/* Sets eden_last_error back to EDEN_OK, once the program has dealt with it: nothing else does. Does not collect. */
EDEN_API void eden_error_clear(eden_mutator *mutator);

/* ---- figures ---------------------------------------------------------------------------------------------------- */

typedef struct eden_figures {
#define EDEN_FIGURE(name, kind, unit, doc) uint64_t name;
#include "eden_figures.def"
#undef EDEN_FIGURE
    uint64_t full_by_cause[EDEN_FULL_CAUSES];
} eden_figures;

/* The heap's own counters, exact at this moment (gauges: as of the last collection). Does not collect. */
EDEN_API void eden_heap_figures(const eden_heap *heap, eden_figures *figures);

#ifdef __cplusplus
}
#endif
#endif
