/* Classes and sites, as the program defines them. */
#include "api/instance.h"
#include "heap/class_table.h"

enum { NAME_MAX_BYTES = 4096 };

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

/* of: the class's index for a site, 0 for a class. */
static eden_class define(eden_heap *heap, const char *name, uint32_t of, enum eden_format format, uint32_t fixed,
                         eden_error *error) {
    const struct pretenure *pretenure = &instance_of(heap)->pretenure;
    if (name == NULL || name[0] == '\0' || strnlen(name, NAME_MAX_BYTES + 1) > NAME_MAX_BYTES) {
        error_fail(error, EDEN_BAD_ARGUMENT, "a class or site needs a name of 1 to %d bytes", NAME_MAX_BYTES);
        return 0;
    }
    bool born_old = pretenure_is_named(pretenure, of != 0, name) ||
                    (of != 0 && heap_class(heap, of)->pretenured == EDEN_PRETENURED_BORN);
    struct class_definition definition = {name, of, format, fixed, born_old};
    uint32_t index = class_table_add(heap, &definition, error);
    return index == 0 ? 0 : class_table_value(heap, index);
}

eden_class eden_class_define(eden_heap *heap, const eden_class_definition *definition, eden_error *error) {
    const char *name = definition->name == NULL ? "" : definition->name;
    if (!format_is_defined(definition->format)) {
        error_fail(error, EDEN_BAD_ARGUMENT, "class '%.60s': format %d is not supported by this version", name,
                   (int)definition->format);
        return 0;
    }
    if (definition->fixed_slots >= EDEN_SLOTS_OVERFLOW ||
        (definition->fixed_slots != 0 && !format_has_fixed(definition->format))) {
        error_fail(error, EDEN_BAD_ARGUMENT, "class '%.60s': %u fixed slots, where %s", name, definition->fixed_slots,
                   format_has_fixed(definition->format) ? "254 is the most" : "its format has none: give 0");
        return 0;
    }
    if (definition->format == EDEN_FORMAT_EPHEMERON && definition->fixed_slots == 0) {
        error_fail(error, EDEN_BAD_ARGUMENT, "class '%.60s': an ephemeron needs at least one slot, for its key", name);
        return 0;
    }
    return define(heap, definition->name, 0, definition->format, definition->fixed_slots, error);
}

eden_class eden_site_define(eden_heap *heap, eden_class of, const char *name, eden_error *error) {
    uint32_t index = eden_class_index(of);
    if (index == EDEN_CLASS_FREE || index >= heap->next_class) {
        error_fail(error, EDEN_BAD_ARGUMENT, "site '%.60s': %u is not a class of this heap", name == NULL ? "" : name,
                   index);
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
    return class_table_value(heap, heap_class(heap, eden_index_of(object))->class_index);
}

const char *eden_class_name(const eden_heap *heap, eden_class of) {
    uint32_t index = eden_class_index(of);
    if (index == EDEN_CLASS_FREE || index >= heap->next_class) {
        return NULL;
    }
    return (const char *)(uintptr_t)heap_class(heap, index)->name;
}
