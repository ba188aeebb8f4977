/* The source code of a company's software, made up: classes with attributes and methods, whose bodies name others.
 *
 * Entities are numbered: classes, then attributes, then methods. Each has a name of its own. One of its letters is not
 * Latin, so that Pharo holds all text in WideStrings. A text is words of such letters, with a space after each; a
 * statement ends with a full stop. */
#ifndef MOOSE_SOURCE_H
#define MOOSE_SOURCE_H

#include "random.h"

#include <stdbool.h>
#include <stddef.h>

enum { ATTRIBUTES_A_CLASS = 3, PAPER_CLASSES = 13521, PAPER_METHODS = 48087 };
enum { TEXT_SIZE = 4096 }; /* twice as long as any text */

struct source {
    size_t classes, attributes, methods;
    struct random random;
    size_t size;              /* letters of `text` */
    uint32_t text[TEXT_SIZE]; /* the newest */
    uint64_t named;           /* a sum over all names in bodies, and the methods they are in: source_named */
};

/* As many methods a class as the paper's company has. */
struct source source_make(size_t classes, uint64_t seed);

static inline size_t source_entities(const struct source *source) {
    return source->classes + source->attributes + source->methods;
}
/* The entity of a class's first method; that of class `classes` ends the methods. */
static inline size_t source_first_method(const struct source *source, size_t class) {
    return source->classes + source->attributes + class * source->methods / source->classes;
}
/* What a name in a method's body adds to the sum. */
static inline uint64_t source_named(size_t method, size_t entity) {
    return (method + 1) * (0x9E3779B97F4A7C15u ^ entity);
}

/* Puts a class's declaration into `text`: its name, its superclass's name except for class 0, its attributes' names; in
 * a second statement its methods' names. */
void source_declare(struct source *source, size_t class);
/* Puts the body of a method, by its entity, into `text`; of each method once, in their order. */
void source_body(struct source *source, size_t class, size_t method);

#endif
