/* Registry, headers and class tables in the memory of a process. The input is that memory, from address 0 on. */
#include "attach/heapinfo.h"
#include "reader.h"
#include <string.h>
#include <unistd.h>

const unsigned reader_runs = 20000;

enum { HEAPS = 8, REGISTRY_AT = 64 };

static bool on_class(void *context, uint32_t index, uint32_t class_index, const char *name) {
    size_t *bytes = context;
    *bytes += strlen(name) + (index == class_index);
    return true;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
    struct heapinfo list[HEAPS], found;
    const struct memory memory = {reader_file(bytes, size), -1};
    uint64_t unlisted;
    uint32_t unread = 0;
    int heaps = heapinfo_list(memory, REGISTRY_AT, list, HEAPS, &unlisted);
    size_t read = 0;
    for (int i = 0; i < heaps; i++) {
        uint32_t next = 0;
        while ((next = heapinfo_classes(memory, &list[i], next, on_class, &read, &unread)) != 0) {
        }
        heapinfo_find(memory, REGISTRY_AT, list[i].address, &found);
        struct heap_params params;
        char text[256];
        bool has_params = heapinfo_params(memory, list[i].address, list[i].id, &params);
        for (enum eden_param_id id = 0; has_params && id < EDEN_PARAM_COUNT; id++) {
            if (params.known >> id & 1) {
                heap_params_text(&params, id, text);
            }
        }
    }
    close(memory.mem);
    return 0;
}

void reader_seeds(reader_seed_fn *seed) {
    static struct {
        char nothing[REGISTRY_AT];
        struct eden_registry_info registry;
        struct eden_heap_info heaps[3];
        uint64_t pages[2];
        char names[128];
        double params[EDEN_PARAM_COUNT];
        struct eden_class_info classes[1 << EDEN_CLASS_PAGE_SHIFT];
    } memory;
#define AT(member) offsetof(__typeof__(memory), member)
    memory.registry =
        (struct eden_registry_info){.version = EDEN_ABI_VERSION, .magic = EDEN_REGISTRY_MAGIC, .first = AT(heaps)};
    for (uint32_t i = 0; i < 3; i++) {
        memory.heaps[i] = (struct eden_heap_info){.magic = EDEN_HEAP_MAGIC,
                                                  .version = EDEN_ABI_VERSION,
                                                  .bytes = sizeof *memory.heaps,
                                                  .heap_id = i + 1,
                                                  .next = i < 2 ? AT(heaps) + (i + 1) * sizeof *memory.heaps : 0,
                                                  .name = "seed",
                                                  .class_pages = AT(pages),
                                                  .class_limit = 40,
                                                  .params = AT(params),
                                                  .param_count = EDEN_PARAM_COUNT,
                                                  .params_set = 1 << EDEN_PARAM_pretenure,
                                                  .pretenure_file = AT(names),
                                                  .activity = EDEN_ACTIVITY_STOPPED,
                                                  .phase = EDEN_PHASE_mark,
                                                  .figure_count = EDEN_FIGURE_COUNT};
    }
    memory.pages[0] = AT(classes);
    for (uint32_t i = 1; i < 40; i++) {
        memory.classes[i] =
            (struct eden_class_info){.name = AT(names), .name_length = i, .class_index = i / 2 + 1, .fixed_slots = 1};
    }
    memset(memory.names, 'n', sizeof memory.names - 1);
    for (enum eden_param_id id = 0; id < EDEN_PARAM_COUNT; id++) {
        memory.params[id] = id == EDEN_PARAM_pretenure ? NAN : eden_param(id)->fallback;
    }
#undef AT
    seed(&memory, sizeof memory);
    memory.heaps[2].next = memory.registry.first;
    memory.heaps[1].bytes = 200;
    seed(&memory, offsetof(__typeof__(memory), classes) + 4096);
}
