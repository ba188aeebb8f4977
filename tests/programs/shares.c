/* Linked into a program in place of a tool: counts the sampled objects of each class, as the batch probe reports them,
 * and writes "COUNT CLASS" lines to the file SHARES when the program ends. For test_lifetimes_shares.sh, which runs
 * programs a few hundred times; the heap samples as EDEN_SAMPLING says. The program has one heap. */
#include "eden_batches.h"
#include "eden_probes.h"
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 1 << 14 };

static struct {
    char name[64];
    uint32_t class_id;
    uint64_t count; /* of the class, its sites included */
} classes[MOST];

void __wrap_eden_probe_batch(const void *heap, uint64_t kind, const void *records, uint64_t count, uint64_t bytes);
void __wrap_eden_probe_class__define(const void *heap, uint64_t class_id, const char *name, uint64_t class_of);

__attribute__((constructor)) static void listen(void) { eden_batch_semaphore = eden_class__define_semaphore = 1; }

void __wrap_eden_probe_class__define(const void *heap, uint64_t class_id, const char *name, uint64_t class_of) {
    (void)heap;
    if (class_id >= MOST || class_of >= MOST) {
        fprintf(stderr, "shares: more than %d classes\n", MOST);
        abort();
    }
    snprintf(classes[class_id].name, sizeof classes[class_id].name, "%s", name);
    classes[class_id].class_id = (uint32_t)(class_of != 0 ? class_of : class_id);
}

void __wrap_eden_probe_batch(const void *heap, uint64_t kind, const void *records, uint64_t count, uint64_t bytes) {
    (void)heap;
    for (uint64_t i = 0; kind == EDEN_BATCH_BIRTHS && i < count; i++) {
        struct eden_birth_cell cell;
        memcpy(&cell, (const char *)records + i * bytes, sizeof cell);
        classes[classes[cell.site].class_id].count += cell.count;
    }
}

__attribute__((destructor)) static void write_shares(void) {
    FILE *file = fopen(getenv("SHARES"), "w");
    for (size_t i = 0; file != NULL && i < MOST; i++) {
        if (classes[i].count != 0) {
            fprintf(file, "%" PRIu64 " %s\n", classes[i].count, classes[i].name);
        }
    }
    if (file == NULL || fclose(file) != 0) {
        fprintf(stderr, "shares: SHARES names no file that can be written\n");
        abort();
    }
}
