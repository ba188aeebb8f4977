/* The class table: classes and sites by their 22-bit index, in pages that never move, so that a tool can read them
 * from outside while the program defines more.
 *
 * The value of a class, which the program holds, is made to be allocated by: the bits of a header, and in place of the
 * slot count the number of fixed slots. That of a class whose objects are born old has another form, which
 * pretenure/pretenure.c describes. */
#include "heap/class_table.h"
#include "heap/heap.h"
#include <stdlib.h>

enum { PAGE_ENTRIES = 1 << EDEN_CLASS_PAGE_SHIFT, PAGES = EDEN_CLASS_LIMIT >> EDEN_CLASS_PAGE_SHIFT };

/* The page of an index, mapped if need be. False: no memory. */
static bool map_page(eden_heap *heap, uint32_t index) {
    struct eden_class_info **page = &heap->class_pages[index >> EDEN_CLASS_PAGE_SHIFT];
    if (*page == NULL) {
        *page = system_map(&heap->system, PAGE_ENTRIES * sizeof(struct eden_class_info), "class table");
    }
    return *page != NULL;
}

uint32_t class_table_add(eden_heap *heap, const struct class_definition *definition, eden_error *error) {
    const char *name = definition->name;
    if (heap->next_class >= EDEN_CLASS_LIMIT - (heap->observer_class != 0)) {
        error_fail(error, EDEN_NO_MEMORY, "class '%.60s': all %d class and site indices are in use", name,
                   EDEN_CLASS_LIMIT - 1);
        return 0;
    }
    uint32_t index = heap->next_class, class_index = definition->of == 0 ? index : definition->of;
    size_t length = strlen(name);
    char *copy = map_page(heap, index) ? system_alloc(&heap->system, length + 1, "class name") : NULL;
    if (copy == NULL) {
        error_fail(error, EDEN_NO_MEMORY, "class '%.60s': out of memory for the class table", name);
        return 0;
    }
    memcpy(copy, name, length + 1); /* which also touches it: tools can't read a page that was never touched */
    *heap_class(heap, index) = (struct eden_class_info){
        .name = (uintptr_t)copy,
        .name_length = (uint32_t)length,
        .class_index = class_index,
        .format = (uint32_t)definition->format,
        .fixed_slots = definition->fixed_slots,
        .pretenured = definition->is_born_old ? EDEN_PRETENURED_BORN : EDEN_PRETENURED_NOT,
    };
    heap->has_born_old |= definition->is_born_old;
    heap->next_class = index + 1;
    __atomic_store_n(&heap->info.class_limit, index + 1, __ATOMIC_RELEASE);
    eden_fire_class__define(heap, index, copy, class_index);
    return index;
}

/* The last index, so that those of the program's classes are the same with and without it. */
bool class_table_add_observer_class(eden_heap *heap, const char *name, uint32_t fixed_slots) {
    const uint32_t index = EDEN_CLASS_LIMIT - 1;
    if (heap->observer_class != 0) {
        return true;
    }
    if (heap->next_class > index || !map_page(heap, index)) {
        return false;
    }
    *heap_class(heap, index) = (struct eden_class_info){
        .name = (uintptr_t)name,
        .name_length = (uint32_t)strlen(name),
        .class_index = index,
        .format = EDEN_FORMAT_EPHEMERON,
        .fixed_slots = fixed_slots,
    };
    heap->observer_class = index;
    eden_fire_class__define(heap, index, name, index);
    return true;
}

eden_class class_table_value(const eden_heap *heap, uint32_t index) {
    const struct eden_class_info *class = heap_class(heap, index);
    uint64_t format = class->format, fixed = class->fixed_slots;
    if (class->pretenured == EDEN_PRETENURED_BORN) {
        format = format >= EDEN_FORMAT_WORDS64 ? EDEN_FORMAT_BYTES : format;
        return index | format << EDEN_HEADER_FORMAT_SHIFT | fixed << EDEN_HEADER_HASH_SHIFT |
               (uint64_t)EDEN_SLOTS_OVERFLOW << EDEN_HEADER_SLOTS_SHIFT;
    }
    return index | format << EDEN_HEADER_FORMAT_SHIFT | fixed << EDEN_HEADER_SLOTS_SHIFT;
}

bool class_table_create(eden_heap *heap) {
    /* 4096 page addresses, touched as they come. */
    heap->class_pages = system_map(&heap->system, PAGES * sizeof(void *), "class table");
    heap->next_class = EDEN_CLASS_FIRST;
    heap->info.class_pages = (uintptr_t)heap->class_pages;
    heap->info.class_limit = heap->next_class;
    return heap->class_pages != NULL;
}

void class_table_destroy(eden_heap *heap) {
    if (heap->class_pages == NULL) {
        return;
    }
    for (uint32_t index = EDEN_CLASS_FIRST; index < heap->next_class; index++) {
        free((void *)(uintptr_t)heap_class(heap, index)->name);
    }
    for (size_t page = 0; page < PAGES; page++) {
        if (heap->class_pages[page] != NULL) { /* there may be a hole below observer_class */
            system_unmap(heap->class_pages[page], PAGE_ENTRIES * sizeof(struct eden_class_info));
        }
    }
    system_unmap(heap->class_pages, PAGES * sizeof(void *));
}
