/* The BTF of a file, by libbpf. */
#ifndef MODEL_SOURCE_H
#define MODEL_SOURCE_H

#include "program.h"
#include <bpf/btf.h>

/* Reads a file of BTF, raw or the section .BTF of an ELF object. NULL, with the reason noted, where that fails. The
 * caller frees it (btf__free). Touches no heap. */
struct btf *source_open(struct program *program, const char *file);

#endif
