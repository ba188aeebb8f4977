/* The probe sites: one function a probe, derived from eden_probes.def.
 *
 * - `noipa`: a clone of the function would be a second site with other operands; clang knows no noipa, but neither
 *   clones nor inlines across translation units without LTO, and noinline and optnone-free code keep one site.
 * - Operand constraint "nr", registers and constants only: with sdt.h's default the compiler may leave operands in
 *   memory (8@counter(%rip)), at which libbpf refuses to attach.
 * - The site is sdt.h's plain one-byte nop, see docs/internals.md.
 * - Semaphores are hidden symbols in section .probes: an interposed one would silence its probe. heap__create's is
 *   the first field of the registry, so that a tool which has found one has found both. */
#include "eden_probes.h"

struct eden_registry_info eden_registry __attribute__((section(".probes"))) = {
    .version = EDEN_ABI_VERSION,
    .magic = EDEN_REGISTRY_MAGIC,
    .next_id = 1,
};

#ifndef EDEN_NO_PROBES

#define SDT_USE_VARIADIC 1
#define _SDT_HAS_SEMAPHORES 1
#define STAP_SDT_ARG_CONSTRAINT nr
#include <sys/sdt.h>

#if defined(__clang__)
#define EDEN_ONE_SITE __attribute__((noinline))
#else
#define EDEN_ONE_SITE __attribute__((noipa))
#endif

/* The semaphores: heap__create's is an alias of the registry's first field, the others are variables. */
__asm__(".globl eden_heap__create_semaphore\n"
        ".hidden eden_heap__create_semaphore\n"
        ".set eden_heap__create_semaphore, eden_registry\n");

#define EDEN_IN_REGISTRY_heap__create ,
#define EDEN_SECOND_(a, b, ...) b
#define EDEN_SECOND(...) EDEN_SECOND_(__VA_ARGS__)
#define EDEN_SEMAPHORE(name) volatile unsigned short eden_##name##_semaphore __attribute__((section(".probes")));
#define EDEN_PROBE(name, doc, ...) EDEN_SECOND(EDEN_IN_REGISTRY_##name, EDEN_SEMAPHORE(name), )
#include "eden_probes.def"
#undef EDEN_PROBE

#define EDEN_PROBE(name, doc, ...)                                                                                     \
    EDEN_ONE_SITE void eden_probe_##name(EDEN_EACH_COMMA(EDEN_PARAMETER, __VA_ARGS__)) {                               \
        STAP_PROBEV(eden, name, EDEN_EACH_COMMA(EDEN_PASS, __VA_ARGS__));                                              \
    }
#include "eden_probes.def"
#undef EDEN_PROBE

#endif
