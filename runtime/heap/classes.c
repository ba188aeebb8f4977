/* The class table: classes and sites by their 22-bit index, in pages that never move, so that a tool can read them
 * from outside while the program defines more. */
#include "heap/private.h"
#include "profile/life_mechanism.h"
#include <stdlib.h>

enum {
    PAGE_ENTRIES = 1 << EDEN_CLASS_PAGE_SHIFT,
    PAGES = EDEN_CLASS_LIMIT >> EDEN_CLASS_PAGE_SHIFT,
    NAME_MAX_BYTES = 4096
};

static bool format_is_defined(enum eden_format format) {
    switch (format) {
    case EDEN_FORMAT_EMPTY:
    case EDEN_FORMAT_FIXED:
    case EDEN_FORMAT_VARIABLE:
    case EDEN_FORMAT_FIXED_VARIABLE:
    case EDEN_FORMAT_WORDS64:
    case EDEN_FORMAT_WORDS32:
    case EDEN_FORMAT_WORDS16:
    case EDEN_FORMAT_BYTES:
    case EDEN_FORMAT_WEAK:
    case EDEN_FORMAT_EPHEMERON:
    case EDEN_FORMAT_COMPOUND:
        return true;
    }
    return false;
}

static bool format_has_fixed(enum eden_format format) {
    return format == EDEN_FORMAT_FIXED || format == EDEN_FORMAT_FIXED_VARIABLE || format == EDEN_FORMAT_WEAK ||
           format == EDEN_FORMAT_EPHEMERON || format == EDEN_FORMAT_COMPOUND;
}

/* Takes the next index. of: the class's index for a site, 0 for a class. */
static eden_class define(eden_heap *heap, const char *name, uint32_t of, enum eden_format format, uint32_t fixed,
                         eden_error *error) {
    if (name == NULL || name[0] == '\0' || strnlen(name, NAME_MAX_BYTES + 1) > NAME_MAX_BYTES) {
        fail(error, EDEN_BAD_ARGUMENT, "a class or site needs a name of 1 to %d bytes", NAME_MAX_BYTES);
        return 0;
    }
    if (heap->next_class >= EDEN_CLASS_LIMIT - (heap->own_class != 0)) {
        fail(error, EDEN_NO_MEMORY, "class '%.60s': all %d class and site indices are used", name,
             EDEN_CLASS_LIMIT - 1);
        return 0;
    }
    uint32_t index = heap->next_class;
    struct eden_class_info **page = &heap->class_pages[index >> EDEN_CLASS_PAGE_SHIFT];
    if (*page == NULL) {
        *page = system_map(&heap->system, PAGE_ENTRIES * sizeof(struct eden_class_info), "class table");
    }
    size_t length = strlen(name);
    char *copy = *page == NULL ? NULL : system_alloc(&heap->system, length + 1, "class name");
    if (copy == NULL) {
        fail(error, EDEN_NO_MEMORY, "class '%.60s': no memory for the class table", name);
        return 0;
    }
    bool born_old = pretenure_is_named(heap, of != 0, name) ||
                    (of != 0 && heap_class(heap, of)->pretenured == EDEN_PRETENURED_BORN);
    memcpy(copy, name, length + 1); /* which also touches it: tools can't read a page that was never touched */
    *heap_class(heap, index) = (struct eden_class_info){
        .name = (uintptr_t)copy,
        .name_length = (uint32_t)length,
        .class_index = of == 0 ? index : of,
        .format = (uint32_t)format,
        .fixed_slots = fixed,
        .pretenured = born_old ? EDEN_PRETENURED_BORN : EDEN_PRETENURED_NOT,
    };
    heap->next_class = index + 1;
    __atomic_store_n(&heap->info.class_limit, index + 1, __ATOMIC_RELEASE);
    eden_fire_class__define(heap, index, copy, of == 0 ? index : of);
    return pretenure_value(heap, index);
}

eden_class eden_class_define(eden_heap *heap, const eden_class_definition *definition, eden_error *error) {
    const char *name = definition->name == NULL ? "" : definition->name;
    if (!format_is_defined(definition->format)) {
        fail(error, EDEN_BAD_ARGUMENT, "class '%.60s': format %d is not one that this version can make", name,
             (int)definition->format);
        return 0;
    }
    if (definition->fixed_slots >= EDEN_SLOTS_OVERFLOW ||
        (definition->fixed_slots != 0 && !format_has_fixed(definition->format))) {
        fail(error, EDEN_BAD_ARGUMENT,
             "class '%.60s': %u fixed slots: at most 254, and none in formats EMPTY, VARIABLE and the raw ones", name,
             definition->fixed_slots);
        return 0;
    }
    if (definition->format == EDEN_FORMAT_EPHEMERON && definition->fixed_slots == 0) {
        fail(error, EDEN_BAD_ARGUMENT, "class '%.60s': an ephemeron needs at least one slot, for its key", name);
        return 0;
    }
    return define(heap, definition->name, 0, definition->format, definition->fixed_slots, error);
}

eden_class eden_site_define(eden_heap *heap, eden_class of, const char *name, eden_error *error) {
    uint32_t index = eden_class_index(of);
    if (index == EDEN_CLASS_FREE || index >= heap->next_class) {
        fail(error, EDEN_BAD_ARGUMENT, "site '%.60s': %u is no class of this heap", name == NULL ? "" : name, index);
        return 0;
    }
    const struct eden_class_info *class = heap_class(heap, heap_class(heap, index)->class_index);
    return define(heap, name, class->class_index, (enum eden_format) class->format, class->fixed_slots, error);
}

void eden_tenure_choose(eden_heap *heap, eden_class of, bool chosen) {
    uint32_t index = eden_class_index(of);
    check_class_of(heap, of, "eden_tenure_choose");
    if (index < heap->next_class) {
        heap_class(heap, index)->chosen = chosen;
    }
}

eden_class eden_class_of(const eden_heap *heap, eden_value object) {
    check_object_of(heap, object, "eden_class_of");
    return pretenure_value(heap, heap_class(heap, eden_index_of(object))->class_index);
}

const char *eden_class_name(const eden_heap *heap, eden_class of) {
    uint32_t index = eden_class_index(of);
    if (index == EDEN_CLASS_FREE || index >= heap->next_class) {
        return NULL;
    }
    return (const char *)(uintptr_t)heap_class(heap, index)->name;
}

/* The last index, so that those of the program's classes are the same with and without a profile. */
bool classes_define_own(eden_heap *heap) {
    static const char name[] = "(ephemeron of a profile)";
    const uint32_t index = EDEN_CLASS_LIMIT - 1;
    struct eden_class_info **page = &heap->class_pages[index >> EDEN_CLASS_PAGE_SHIFT];
    if (heap->own_class != 0) {
        return true;
    }
    if (heap->next_class > index) {
        return false;
    }
    if (*page == NULL) {
        *page = system_map(&heap->system, PAGE_ENTRIES * sizeof(struct eden_class_info), "class table");
    }
    if (*page == NULL) {
        return false;
    }
    *heap_class(heap, index) = (struct eden_class_info){
        .name = (uintptr_t)name,
        .name_length = sizeof name - 1,
        .class_index = index,
        .format = EDEN_FORMAT_EPHEMERON,
        .fixed_slots = OWN_EPHEMERON_SLOTS,
    };
    heap->own_class = index;
    eden_fire_class__define(heap, index, name, index);
    return true;
}

bool classes_create(eden_heap *heap) {
    /* 4096 page addresses, touched as they come. */
    heap->class_pages = system_map(&heap->system, PAGES * sizeof(void *), "class table");
    heap->next_class = EDEN_CLASS_FIRST;
    heap->info.class_pages = (uintptr_t)heap->class_pages;
    heap->info.class_limit = heap->next_class;
    return heap->class_pages != NULL;
}

void classes_destroy(eden_heap *heap) {
    if (heap->class_pages == NULL) {
        return;
    }
    for (uint32_t index = EDEN_CLASS_FIRST; index < heap->next_class; index++) {
        free((void *)(uintptr_t)heap_class(heap, index)->name);
    }
    for (size_t page = 0; page < PAGES; page++) {
        if (heap->class_pages[page] != NULL) { /* there may be a hole below own_class */
            system_unmap(heap->class_pages[page], PAGE_ENTRIES * sizeof(struct eden_class_info));
        }
    }
    system_unmap(heap->class_pages, PAGES * sizeof(void *));
}
