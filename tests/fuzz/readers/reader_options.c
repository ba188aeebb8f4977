/* EDEN_OPTIONS, and what the embedder passes in its form. */
#include "heap/heap.h"
#include "reader.h"
#include <stdlib.h>

const unsigned reader_runs = 200000;

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
    struct params params;
    eden_error error;
    char *text = strndup((const char *)bytes, size);
    params_defaults(&params);
    params_parse(&params, text, "EDEN_OPTIONS", &error);
    free(text);
    return 0;
}

void reader_seeds(reader_seed_fn *seed) {
    static const char *const texts[] = {
        "",
        "eden_size=64M,full_gc_ratio=2.5",
        "compactor=planning,remembered_set=object,survivors_to_keep=none,pretenure=auto",
        "eden_size=18446744073709551615K,max_heap=none,tenure_criterion=class",
        "tenure_proportion=0.9,large_object=1e300,grow_headroom=-1,shrink_threshold=0x10",
        "pretenure=/dev/null,compat.overflow=scan-order, eden_size = 1M ,,=,x=,=y",
    };
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        seed(texts[i], strlen(texts[i]));
    }
}
