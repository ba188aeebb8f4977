/* sites HEAPS SITES: heaps with very many allocation sites, for test_lifetimes_sites.sh.
 *
 * Each heap, one after the other, defines SITES sites of one class, allocates one object at each in descending order of
 * their indices, and collects, so that all objects die. Exit status 1 if something fails. */
#include <eden/eden.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

static bool allocate(eden_heap *heap, eden_mutator *mutator, eden_class *site, size_t count, eden_error *error) {
    const eden_class_definition point = {"Point", EDEN_FORMAT_FIXED, 1};
    eden_class class = eden_class_define(heap, &point, error);
    bool good = class;
    for (size_t i = 0; good && i < count; i++) {
        char name[32];
        snprintf(name, sizeof name, "site %zu", i);
        site[i] = eden_site_define(heap, class, name, error);
        good = site[i];
    }
    eden_scavenge(mutator);
    for (size_t i = count; good && i > 0; i--) {
        good = eden_new(mutator, site[i - 1]);
    }
    eden_scavenge(mutator);
    eden_full_collect(mutator);
    return good;
}

int main(int argc, char **argv) {
    size_t heaps = argc == 3 ? strtoul(argv[1], NULL, 10) : 0, count = argc == 3 ? strtoul(argv[2], NULL, 10) : 0;
    eden_class *site = calloc(count + 1, sizeof *site);
    bool good = heaps && site;
    for (size_t i = 0; good && i < heaps; i++) {
        eden_error error = {0};
        const eden_options options = {.name = "sites", .parameters = "eden_size=16M,policy=fixed"};
        eden_heap *heap = eden_heap_create(&options, &error);
        eden_mutator *mutator = heap ? eden_mutator_attach(heap, &error) : NULL;
        good = mutator && allocate(heap, mutator, site, count, &error);
        if (!good) {
            fprintf(stderr, "sites: %s\n", error.message);
        }
        if (heap) {
            eden_heap_destroy(heap);
        }
    }
    free(site);
    return good ? 0 : 1;
}
