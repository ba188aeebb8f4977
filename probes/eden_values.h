/* Values as text, for runtime and tool: the names of enumerations (eden_enums.def), sizes, numbers. */
#ifndef EDEN_VALUES_H
#define EDEN_VALUES_H

#include "eden_abi.h"
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- enumerations ------------------------------------------------------------------------------------------------ */

/* The name of a value ("ratio"). NULL: the value has none. */
static inline const char *eden_enum_name(enum eden_enum_id id, uint64_t value) {
#define EDEN_ENUM_NAME(constant, name, meaning) name
#define EDEN_ENUM(tag, kind, count, ...) {EDEN_EACH_COMMA(EDEN_ENUM_NAME, __VA_ARGS__)},
    /* No pointers: a shared library need not relocate them. */
    static const char names[EDEN_ENUM_none][EDEN_ENUM_MOST][16] = {
#include "eden_enums.def"
    };
    return id < EDEN_ENUM_none && value < EDEN_ENUM_MOST && *names[id][value] ? names[id][value] : NULL;
}

/* What a value means, for a person. NULL: there is no such value. */
static inline const char *eden_enum_meaning(enum eden_enum_id id, uint64_t value) {
#define EDEN_ENUM_MEANING(constant, name, meaning) meaning
#define EDEN_ENUM(tag, kind, count, ...) {EDEN_EACH_COMMA(EDEN_ENUM_MEANING, __VA_ARGS__)},
    static const char *const meanings[EDEN_ENUM_none][EDEN_ENUM_MOST] = {
#include "eden_enums.def"
    };
    return id < EDEN_ENUM_none && value < EDEN_ENUM_MOST ? meanings[id][value] : NULL;
}

/* The names of all values, with blanks between. Returns text. */
static inline char *eden_enum_list(enum eden_enum_id id, char *text, size_t size) {
    const char *name;
    size_t length = 0;
    text[0] = '\0';
    for (uint64_t value = 0; length < size && (name = eden_enum_name(id, value)) != NULL; value++) {
        length += (size_t)snprintf(text + length, size - length, "%s%s", value == 0 ? "" : " ", name);
    }
    return text;
}

/* eden_full_cause_name(value), eden_full_cause_meaning(value), and so on. */
#define EDEN_ENUM(tag, kind, count, ...)                                                                               \
    static inline const char *eden_##tag##_name(uint64_t value) { return eden_enum_name(EDEN_ENUM_##tag, value); }     \
    static inline const char *eden_##tag##_meaning(uint64_t value) { return eden_enum_meaning(EDEN_ENUM_##tag, value); }
#include "eden_enums.def"

/* The value whose name is the first `length` bytes of text; -1: none. */
static inline int eden_enum_find(enum eden_enum_id id, const char *text, size_t length) {
    const char *name;
    for (int value = 0; (name = eden_enum_name(id, (uint64_t)value)) != NULL; value++) {
        if (strlen(name) == length && memcmp(name, text, length) == 0) {
            return value;
        }
    }
    return -1;
}

/* ---- sizes ------------------------------------------------------------------------------------------------------- */

/* A size in bytes: "64M", "1.5G", "4096"; K, M, G, T are powers of 1024; "none" is EDEN_NO_LIMIT. Reads a decimal
 * point: the locale must be "C". */
static inline bool eden_size_parse(const char *text, uint64_t *bytes) {
    static const char suffixes[] = "KMGT";
    if (strcmp(text, "none") == 0) {
        *bytes = EDEN_NO_LIMIT;
        return true;
    }
    if (!((text[0] >= '0' && text[0] <= '9') || text[0] == '.')) {
        return false;
    }
    char *end;
    uint64_t whole = strtoull(text, &end, 10);
    double number = (double)whole;
    bool exact = *end != '.' && number < 1.8e19;
    if (!exact) {
        number = strtod(text, &end);
    }
    const char *suffix = *end ? strchr(suffixes, *end & ~('a' - 'A')) : NULL;
    unsigned shift = suffix ? 10 * (unsigned)(suffix - suffixes + 1) : 0;
    if (end[suffix != NULL] != '\0' || !(ldexp(number, (int)shift) < 1.8e19)) {
        return false;
    }
    *bytes = exact ? whole << shift : (uint64_t)ldexp(number, (int)shift);
    return true;
}

enum { EDEN_SIZE_TEXT = 32 };

/* The size in the largest unit that gives a whole number, as eden_size_parse reads it. Returns text. */
static inline char *eden_size_text(char text[EDEN_SIZE_TEXT], uint64_t bytes) {
    static const char suffixes[] = " KMGT";
    int power = 0;
    if (bytes == EDEN_NO_LIMIT) {
        snprintf(text, EDEN_SIZE_TEXT, "none");
        return text;
    }
    while (power < 4 && bytes != 0 && bytes % 1024 == 0) {
        bytes /= 1024;
        power++;
    }
    snprintf(text, EDEN_SIZE_TEXT, "%llu%.*s", (unsigned long long)bytes, power != 0, &suffixes[power]);
    return text;
}

/* A decimal number that is not negative, or inf: without blanks, signs, hexadecimal and the other words of strtod. */
static inline bool eden_number_parse(const char *text, double *number) {
    char *end;
    if (strcmp(text, "inf") == 0) {
        *number = INFINITY;
        return true;
    }
    *number = strtod(text, &end);
    return ((text[0] >= '0' && text[0] <= '9') || text[0] == '.') && *end == '\0' &&
           strspn(text, "0123456789.eE+-") == strlen(text);
}

#endif
