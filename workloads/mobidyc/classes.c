#include "classes.h"

bool classes_define(struct program *program, eden_heap *heap, eden_class sites[SITES]) {
    enum {
#define CLASS(constant, name, format, slots) constant,
#include "classes.def"
        CLASSES
    };
    static const eden_class_definition definitions[CLASSES] = {
#define CLASS(constant, name, format, slots) {name, format, slots},
#include "classes.def"
    };
    static const struct program_site site_definitions[SITES] = {
#define SITE(constant, class, name) {class, name},
#include "classes.def"
    };
    eden_class classes[CLASSES];
    return program_define(program, heap, definitions, CLASSES, classes, site_definitions, SITES, sites);
}
