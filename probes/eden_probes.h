/* The functions through which the runtime fires its probes, derived from eden_probes.def.
 *
 * For each probe: eden_watched_NAME() says whether somebody is attached (the semaphore that the kernel counts up), and
 * eden_fire_NAME(...) fires it then. Not watched, a fire is one load and one branch; the site itself stands in a cold
 * function of probes.c. Built with EDEN_NO_PROBES both vanish. */
#ifndef EDEN_PROBES_H
#define EDEN_PROBES_H

#include "eden_abi.h"
#include "eden_foreach.h"
#include <stdbool.h>

/* The C type of each kind of argument; an enumeration's number is a uint64_t. */
#define EDEN_KIND(name, type, doc) typedef type eden_kind_##name;
#define EDEN_ENUM(tag, kind, count, ...) typedef uint64_t eden_kind_##tag;
#include "eden_enums.def"

#define EDEN_PARAMETER(name, kind, doc) eden_kind_##kind name
#define EDEN_PASS(name, kind, doc) name

#ifdef EDEN_NO_PROBES
#define EDEN_PROBE(name, doc, ...)                                                                                     \
    static inline bool eden_watched_##name(void) { return false; }                                                     \
    static inline uint64_t eden_semaphore_##name(void) { return 0; }                                                   \
    __attribute__((unused)) static inline void eden_fire_##name(EDEN_EACH_COMMA(EDEN_PARAMETER_UNUSED, __VA_ARGS__)) {}
#define EDEN_PARAMETER_UNUSED(name, kind, doc) __attribute__((unused)) eden_kind_##kind name
#else
#define EDEN_PROBE(name, doc, ...)                                                                                     \
    extern volatile unsigned short eden_##name##_semaphore __attribute__((visibility("hidden")));                      \
    __attribute__((visibility("hidden"), cold)) void eden_probe_##name(EDEN_EACH_COMMA(EDEN_PARAMETER, __VA_ARGS__));  \
    static inline bool eden_watched_##name(void) {                                                                     \
        return __builtin_expect(__atomic_load_n(&eden_##name##_semaphore, __ATOMIC_RELAXED) != 0, 0);                  \
    }                                                                                                                  \
    static inline uint64_t eden_semaphore_##name(void) { return (uintptr_t)&eden_##name##_semaphore; }                 \
    static inline void eden_fire_##name(EDEN_EACH_COMMA(EDEN_PARAMETER, __VA_ARGS__)) {                                \
        if (eden_watched_##name()) {                                                                                   \
            eden_probe_##name(EDEN_EACH_COMMA(EDEN_PASS, __VA_ARGS__));                                                \
        }                                                                                                              \
    }
#endif
#include "eden_probes.def"
#undef EDEN_PROBE

/* The list of heaps, which a tool finds beside the heap__create semaphore. Guarded by a lock of the runtime's. */
extern struct eden_registry_info eden_registry __attribute__((visibility("hidden")));

#endif
