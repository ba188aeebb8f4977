#include "source.h"

enum { SUBCLASSES = 5 };

static void put(struct source *source, uint32_t letter) { source->text[source->size++] = letter; }

/* A capital Cyrillic letter, and the entity's number in syllables. */
static void put_name(struct source *source, size_t entity) {
    static const char consonants[] = "bcdfghjklmnpqrstvwxz", vowels[] = "aeiou";
    enum { CONSONANTS = sizeof consonants - 1, VOWELS = sizeof vowels - 1, SYLLABLES = 4, CAPITAL = 0x410 };
    put(source, CAPITAL + (uint32_t)(entity % 32));
    for (size_t i = 0, rest = entity; i < SYLLABLES || rest > 0; i++) {
        put(source, (unsigned char)consonants[rest % CONSONANTS]);
        rest /= CONSONANTS;
        put(source, (unsigned char)vowels[rest % VOWELS]);
        rest /= VOWELS;
    }
    put(source, ' ');
}

struct source source_make(size_t classes, uint64_t seed) {
    return (struct source){.classes = classes,
                           .attributes = ATTRIBUTES_A_CLASS * classes,
                           .methods = (classes * PAPER_METHODS + PAPER_CLASSES / 2) / PAPER_CLASSES,
                           .random = random_start(seed)};
}

void source_declare(struct source *source, size_t class) {
    source->size = 0;
    put_name(source, class);
    if (class > 0) {
        put_name(source, (class - 1) / SUBCLASSES);
    }
    for (size_t i = 0; i < ATTRIBUTES_A_CLASS; i++) {
        put_name(source, source->classes + class * ATTRIBUTES_A_CLASS + i);
    }
    put(source, '.');
    for (size_t i = source_first_method(source, class); i < source_first_method(source, class + 1); i++) {
        put_name(source, i);
    }
    put(source, '.');
}

/* Half of the names are methods, of any class; three in ten attributes of the method's class; the others classes. */
static size_t pick(struct source *source, size_t class) {
    int64_t of_ten = random_below(&source->random, 10);
    if (of_ten < 5) {
        return source->classes + source->attributes + (size_t)random_below(&source->random, (int64_t)source->methods);
    }
    if (of_ten < 8) {
        size_t attribute = (size_t)random_below(&source->random, ATTRIBUTES_A_CLASS);
        return source->classes + class * ATTRIBUTES_A_CLASS + attribute;
    }
    return (size_t)random_below(&source->random, (int64_t)source->classes);
}

void source_body(struct source *source, size_t class, size_t method) {
    source->size = 0;
    int64_t statements = 16 + random_within(&source->random, 4);
    for (int64_t i = 0; i < statements; i++) {
        int64_t names = 6 + random_within(&source->random, 2);
        for (int64_t j = 0; j < names; j++) {
            size_t entity = pick(source, class);
            source->named += source_named(method, entity);
            put_name(source, entity);
        }
        put(source, '.');
    }
}
