/* The arguments of a probe by name, for everyone who reads them: made from eden_probes.def.
 *
 *   EDEN_AT(scavenge__done, duration)         the argument's position
 *   EDEN_ARG(args, scavenge__done, duration)  the element of an array of the probe's arguments; also to assign to
 *   EDEN_HAS(count, full__done, remembered_now)  whether `count` arguments include it: older runtimes pass fewer */
#ifndef EDEN_ARGS_H
#define EDEN_ARGS_H

#include "eden_abi.h"
#include <stddef.h>

#define EDEN_MEMBER(name, kind, doc) uint64_t name;
#define EDEN_PROBE(name, doc, ...)                                                                                     \
    struct eden_args_##name {                                                                                          \
        EDEN_EACH(EDEN_MEMBER, __VA_ARGS__)                                                                            \
    };
#include "eden_probes.def"
#undef EDEN_PROBE
#undef EDEN_MEMBER

#define EDEN_AT(probe, name) (offsetof(struct eden_args_##probe, name) / sizeof(uint64_t))
#define EDEN_ARG(args, probe, name) ((args)[EDEN_AT(probe, name)])
#define EDEN_HAS(count, probe, name) ((count) > EDEN_AT(probe, name))

_Static_assert(EDEN_AT(full__start, seq) == EDEN_AT(scavenge__start, seq) &&
                   EDEN_AT(full__start, cause) == EDEN_AT(scavenge__start, cause),
               "the start of a collection");
/* Every probe that ends a part of a collection passes the same arguments: consumers read them as those of mark__done.
 */
#define EDEN_PHASE(name, text, parent)                                                                                 \
    _Static_assert(EDEN_AT(name##__done, seq) == EDEN_AT(mark__done, seq) &&                                           \
                       EDEN_AT(name##__done, duration) == EDEN_AT(mark__done, duration),                               \
                   "collection: " text);
#define EDEN_PART(name, text, parent)                                                                                  \
    EDEN_PHASE(name, text, parent)                                                                                     \
    _Static_assert(EDEN_AT(name##__done, objects) == EDEN_AT(mark__done, objects) &&                                   \
                       EDEN_AT(name##__done, bytes) == EDEN_AT(mark__done, bytes),                                     \
                   "part of a collection: " text);
#include "eden_phases.def"
#undef EDEN_PHASE

#endif
