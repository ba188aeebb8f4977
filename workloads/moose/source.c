#include "source.h"

#include <bpf/libbpf.h>
#include <errno.h>
#include <stdio.h>

static int print_nothing(enum libbpf_print_level level, const char *format, va_list arguments) {
    (void)level;
    (void)format;
    (void)arguments;
    return 0;
}

/* libbpf returns one number for "no such section" and "no such file": whether the file can be read is checked here. */
static bool is_readable(struct program *program, const char *name) {
    FILE *file = fopen(name, "rbe");
    if (file == NULL) {
        return program_fail(program, "%s: can't be opened: %m", name);
    }
    int first = fgetc(file);
    bool failed = ferror(file) != 0;
    bool ok = failed      ? program_fail(program, "%s: can't be read: %m", name)
              : first < 0 ? program_fail(program, "%s: is empty", name)
                          : true;
    fclose(file);
    return ok;
}

struct btf *source_open(struct program *program, const char *file) {
    if (!is_readable(program, file)) {
        return NULL;
    }
    libbpf_print_fn_t before = libbpf_set_print(print_nothing);
    struct btf *btf = btf__parse(file, NULL);
    int error = errno;
    libbpf_set_print(before);
    if (btf != NULL) {
        return btf;
    }
    if (error == ENOENT || error == ENODATA) {
        program_fail(program, "%s: has no BTF: compile it with -g, for a target that has BTF (clang -target bpf)",
                     file);
    } else if (error == LIBBPF_ERRNO__FORMAT) {
        program_fail(program, "%s: is neither BTF nor an ELF object", file);
    } else {
        char reason[128] = "";
        libbpf_strerror(error, reason, sizeof reason);
        program_fail(program, "%s: the BTF is malformed or cut short: %s", file, reason);
    }
    return NULL;
}
