/* The functions of ELF files, by their symbol tables: of each file, at offsets all over it. */
#include "attach/inspect/functions.h"
#include "elf_image.h"
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

const unsigned reader_runs = 8000;

enum { PLACES = 64 };

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
    int fd = elf_image_file(bytes, size);
    struct stat file;
    struct functions *functions = functions_read(fd);
    if (!functions || fstat(fd, &file) != 0) {
        abort();
    }
    uint64_t step = (uint64_t)file.st_size / PLACES + 1;
    for (uint64_t i = 0; i <= PLACES + 1; i++) {
        char name[FUNCTION_NAME];
        uint64_t offset = i <= PLACES ? i * step : UINT64_MAX;
        if (functions_find(functions, fd, offset, name) && strlen(name) == 0) {
            abort();
        }
    }
    functions_free(functions);
    close(fd);
    return 0;
}

void reader_seeds(reader_seed_fn *seed) { elf_image_seeds(seed); }
