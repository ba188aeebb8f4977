/* shoot_PROBE(arguments): fires a probe with any arguments, all as numbers. */
#ifndef EDEN_SHOOT_H
#define EDEN_SHOOT_H

#include "eden_probes.h"

#define DECLARE(name, kind, doc) eden_kind_##kind name = (eden_kind_##kind)(uintptr_t)*arg++;
#define EDEN_PROBE(name, doc, ...)                                                                                     \
    static inline void shoot_##name(const uint64_t *arg) {                                                             \
        EDEN_EACH(DECLARE, __VA_ARGS__)                                                                                \
        eden_fire_##name(EDEN_EACH_COMMA(EDEN_PASS, __VA_ARGS__));                                                     \
    }
#include "eden_probes.def"
#undef EDEN_PROBE
#undef DECLARE

#endif
