/* /proc/PID/maps: paths in it are whatever the process wants. */
#include "attach/target.h"
#include "reader.h"
#include <string.h>
#include <unistd.h>

const unsigned reader_runs = 100000;

static bool on_mapping(void *context, const struct mapping *mapping) {
    size_t *mappings = context;
    *mappings += strnlen(mapping->path, sizeof mapping->path);
    return true;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
    struct target target = {.pid = 0, .memory = {-1, -1}, .maps = reader_file(bytes, size)};
    size_t mappings = 0;
    target_mappings(target.maps, on_mapping, &mappings);
    target_write(&target, 0x7ffff7fc0000, 0);
    close(target.maps);
    return 0;
}

void reader_seeds(reader_seed_fn *seed) {
    static const char *const texts[] = {
        "555555554000-555555557000 r--p 00000000 fe:00 5415729                    /work/program\n"
        "555555557000-55555556f000 r-xp 00003000 fe:00 5415729                    /work/program (deleted)\n",
        "7ffff7fc0000-7ffff7fc2000 rw-p 00000000 00:00 0 \n"
        "7ffff7fc6000-7ffff7fc8000 r--p 00000000 00:00 0                          [vvar]\n"
        "ffffffffff600000-ffffffffff601000 --xp 00000000 00:00 0                  [vsyscall]\n",
        "10000-20000 rwxs 7fffffffffffffff ffffffff:ffffffff 18446744073709551615 /a\\012b c\n",
        "1-2 r-xp 0 0:0 1 /",
    };
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        seed(texts[i], strlen(texts[i]));
    }
}
