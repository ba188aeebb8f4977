/* What ELF files say about their loader, their libraries and where these are. */
#include "attach/needs.h"
#include "elf_image.h"
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

const unsigned reader_runs = 20000;

static void check(const struct needs *needs, uint32_t at) {
    if (at >= needs->used || !memchr(needs->text + at, 0, needs->used - at)) {
        abort();
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
    static struct needs needs;
    int fd = elf_image_file(bytes, size);
    if (needs_read(fd, &needs) || needs_read_script(fd, &needs)) {
        check(&needs, needs.interpreter);
        check(&needs, needs.rpath);
        check(&needs, needs.runpath);
        for (uint32_t i = 0; i < needs.libraries; i++) {
            check(&needs, needs.library[i]);
        }
    }
    close(fd);
    return 0;
}

void reader_seeds(reader_seed_fn *seed) { elf_image_seeds(seed); }
