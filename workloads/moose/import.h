/* From BTF to a model. */
#ifndef MODEL_IMPORT_H
#define MODEL_IMPORT_H

#include "entity.h"
#include <bpf/btf.h>

/* Reads a file of BTF, raw or the section .BTF of an ELF object. NULL, with the reason noted, where that fails. The
 * caller frees it (btf__free). Touches no heap. */
struct btf *source_open(struct program *program, const char *file);

/* Makes the model, a root (ROOT_MODEL): entities (import.c), associations (link.c), and sizes and nesting (measure.c).
 * A file that is not as BTF must be is refused. May collect. */
bool model_import(struct model *model, const struct btf *btf);

/* The symbol of a name. May collect. */
eden_value symbol_intern(struct model *model, const char *name);

/* Notes that the file is malformed. Always false. */
bool import_fail(struct model *model, int64_t id, const char *what);
/* Makes the associations of all entities. May collect. */
bool model_link(struct model *model, const struct btf *btf);
/* Sets sizes and nesting of all types; refuses types that contain themselves. May collect. */
bool model_measure(struct model *model, const struct btf *btf);

#endif
