/* Heaps, mutators, classes, parameters, collections and figures.
 *
 * A process may hold many heaps. A thread uses a heap through a mutator; this version allows one mutator at a time.
 * Nothing here ends the process: a call that can fail returns an error that states what failed, where, and what to do.
 */
#ifndef EDEN_HEAP_H
#define EDEN_HEAP_H

#include "eden_abi.h"
#include "eden_version.h"
#include "value.h"
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct eden_heap eden_heap;
typedef struct eden_mutator eden_mutator;

enum eden_status {
    EDEN_OK = 0,
    EDEN_BAD_PARAMETER, /* a parameter is unknown, malformed or out of bounds; the message names it */
    EDEN_BAD_ARGUMENT,  /* the declaration of the call does not allow this argument, or this place */
    EDEN_NO_MEMORY,     /* max_heap or the system allows no more */
    EDEN_CORRUPT,       /* the verifier found a fault, or the runtime a broken invariant, which the message names */
    EDEN_BUSY,          /* the heap already has a mutator */
};

/* Filled by a call that fails, left alone by one that succeeds. The caller owns it. The message is one line of text,
 * cut to fit. */
typedef struct eden_error {
    enum eden_status status;
    char message[248];
} eden_error;

/* Returns the version of the library, as "0.1.0"; EDEN_VERSION is that of the headers. Does not collect. */
EDEN_API const char *eden_version(void);

/* Called before the runtime takes `bytes` of memory (mmap, malloc) for the purpose `what`; false makes that request
 * fail as if the system had refused. For tests of memory exhaustion and for programs with a budget. Must not call into
 * the heap. */
typedef bool (*eden_memory_hook)(void *context, size_t bytes, const char *what);

/* How to create a heap. Zero, or NULL, in each field selects the default. */
typedef struct eden_options {
    const char *name;       /* shown by tools; copied, cut to 63 bytes; NULL: "eden" */
    const char *parameters; /* as in EDEN_OPTIONS: "eden_size=64M,full_gc_ratio=2.5"; only read during creation */
    eden_memory_hook memory_hook;
    void *memory_hook_context;
} eden_options;

/* Creates a heap, which the caller owns and ends with eden_heap_destroy. EDEN_OPTIONS (unless secure_getenv hides it)
 * overrides options->parameters. options may be NULL. Returns NULL and fills error: EDEN_BAD_PARAMETER (also
 * for a file of parameter pretenure that can't be read) or EDEN_NO_MEMORY. Does not collect. */
EDEN_API eden_heap *eden_heap_create(const eden_options *options, eden_error *error);

/* Ends a heap and its mutator, frees all its memory, and writes EDEN_STATS. Close all frames before: the checked build
 * names those that are open. NULL is allowed. Can't fail, does not collect. */
EDEN_API void eden_heap_destroy(eden_heap *heap);

/* Sets a parameter of a heap in use, from the text that EDEN_OPTIONS would take. False and EDEN_BAD_PARAMETER: unknown,
 * malformed, out of bounds, or one that can't change (eden_size, remembered_set and pretenure, to whatever value, and
 * max_heap below what is mapped); the heap is as before. Does not collect. */
EDEN_API bool eden_heap_set(eden_heap *heap, const char *name, const char *value, eden_error *error);

/* Writes a parameter's value, as eden_heap_set would take it, to the caller's text: at most size bytes, NUL included,
 * and cut if that is too few. False: there is no such parameter. Does not collect. */
EDEN_API bool eden_heap_get(const eden_heap *heap, const char *name, char *text, size_t size);

/* Attaches the calling thread and returns its handle, which the heap owns. NULL and EDEN_BUSY: the heap has a mutator
 * already. Does not collect. */
EDEN_API eden_mutator *eden_mutator_attach(eden_heap *heap, eden_error *error);
/* Detaches a mutator; another thread may attach then. Close all its frames before. eden_heap_destroy detaches, too.
 * Can't fail, does not collect. */
EDEN_API void eden_mutator_detach(eden_mutator *mutator);
/* Returns the heap that a mutator is attached to. Can't fail, does not collect. */
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

/* A class or site, as allocation takes it: the header that its instances begin with (index, format, fixed slots), so
 * that allocation reads no table. Zero is no class. Equal values are the same class or site. Programs read its index
 * only (eden_class_index): the other bits also encode how to allocate (`pretenure`). */
typedef uint64_t eden_class;

typedef struct eden_class_definition {
    const char *name; /* copied; 1 to 4096 bytes */
    enum eden_format format;
    uint32_t fixed_slots; /* FIXED, FIXED_VARIABLE, WEAK, EPHEMERON and COMPOUND: references every instance has; at most
                             254 */
} eden_class_definition;

/* Defines a class, which lasts as long as its heap. Two classes may have the same name. Returns 0 and fills error:
 * EDEN_BAD_ARGUMENT for a wrong definition, EDEN_NO_MEMORY also if the 4,194,303 indices are used up. Does not
 * collect. */
EDEN_API eden_class eden_class_define(eden_heap *heap, const eden_class_definition *definition, eden_error *error);

/* Defines a site: an index of its own for instances of `of` (a class, or a site of it) allocated at one place of the
 * program. It is used wherever a class is. Tools distinguish allocations by it; eden_class_of and eden_is_a see through
 * it. Name, errors and lifetime as for classes. Does not collect. */
EDEN_API eden_class eden_site_define(eden_heap *heap, eden_class of, const char *name, eden_error *error);

/* Returns the 22-bit index of a class or site, as probes report it. Can't fail, does not collect. */
static inline uint32_t eden_class_index(eden_class of) { return (uint32_t)(of & (EDEN_CLASS_LIMIT - 1)); }

/* Chooses a class or site to be tenured at each scavenge from now on, or takes that back. Has an effect if
 * tenure_criterion is `class` (objects of the class, at whatever site) or `site` (objects of just this index). Ignores
 * undefined classes. Can't fail, does not collect. */
EDEN_API void eden_tenure_choose(eden_heap *heap, eden_class of, bool chosen);

/* Returns the class (never a site) of an object of this heap. eden_is_a, inline, tests for a class faster. Can't fail,
 * does not collect. */
EDEN_API eden_class eden_class_of(const eden_heap *heap, eden_value object);
/* Returns the name of a class or site, which the heap owns; NULL: it is not defined. Does not collect. */
EDEN_API const char *eden_class_name(const eden_heap *heap, eden_class of);

/* ---- collections ------------------------------------------------------------------------------------------------ */

/* Collects new space, and then also old space if it has grown by full_gc_ratio. Collects: objects move. Can't fail. */
EDEN_API void eden_scavenge(eden_mutator *mutator);
/* Collects everything: a scavenge, then old space. Collects: objects move. Can't fail. */
EDEN_API void eden_full_collect(eden_mutator *mutator);

/* Makes an object stay where it is until it is unpinned, and returns where that is. A pin does not keep the object
 * alive, and does not nest: one unpin ends it. May collect: a young object is promoted by a scavenge. EDEN_NONE: no
 * memory to promote it (eden_last_error). Returns immediates and EDEN_NONE unchanged. */
EDEN_API eden_value eden_pin(eden_mutator *mutator, eden_value object);
/* Lets an object move again. Ignores immediates, EDEN_NONE and objects that are not pinned. Can't fail, does not
 * collect. */
EDEN_API void eden_unpin(eden_mutator *mutator, eden_value object);

/* Removes and returns the next ephemeron of the queue of mourners: those whose keys have died, in the order in which
 * collections found them, each now an ordinary object that holds key and value. The queue kept it alive until now: put
 * it into a root before the next call that may collect. EDEN_NONE: the queue is empty. Does not collect. */
EDEN_API eden_value eden_mourn_next(eden_mutator *mutator);

/* Returns the length of that queue, in ephemerons. The queue keeps them, their keys and values alive: a program that
 * never drains it leaks. Can't fail, does not collect. */
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

/* Checks the whole heap: every object's header, every reference, the remembered set, free lists and accounts. Changes
 * nothing; time and memory in proportion to the heap. False and EDEN_CORRUPT: the message names the first fault. Does
 * not collect. */
EDEN_API bool eden_heap_verify(eden_heap *heap, eden_error *error);

/* Returns why the last allocation, pin or refused call of this mutator failed. Never NULL; EDEN_OK if none has since
 * eden_error_clear. The heap owns it; the next failure overwrites it. Does not collect. */
EDEN_API const eden_error *eden_last_error(const eden_mutator *mutator);

/* Sets eden_last_error to EDEN_OK; successful calls leave it as it is. Can't fail, does not collect. */
EDEN_API void eden_error_clear(eden_mutator *mutator);

/* ---- figures ---------------------------------------------------------------------------------------------------- */

/* The counters and gauges of EDEN_STATS, by the same names. */
typedef struct eden_figures {
#define EDEN_FIGURE(name, kind, unit, doc) uint64_t name;
#include "eden_figures.def"
#undef EDEN_FIGURE
    uint64_t full_by_cause[EDEN_FULL_CAUSES];
} eden_figures;

/* Copies the heap's counters to the caller's struct: exact at this moment; gauges as of the last collection. Units are
 * in docs/figures.md. Can't fail, does not collect. */
EDEN_API void eden_heap_figures(const eden_heap *heap, eden_figures *figures);

#ifdef __cplusplus
}
#endif
#endif
