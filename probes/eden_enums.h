/* The enumerations of eden_enums.def as C declares them: `enum eden_TAG`, and how many values each has. Plain numbers,
 * for runtime, kernel programs and tool; eden_values.h has their names. */
#ifndef EDEN_ENUMS_H
#define EDEN_ENUMS_H

#include "eden_foreach.h"

#define EDEN_ENUMERATOR(constant, name, meaning) constant,
#define EDEN_ENUM(tag, kind, count, ...)                                                                               \
    enum eden_##tag{EDEN_EACH(EDEN_ENUMERATOR, __VA_ARGS__)};                                                          \
    enum { count = EDEN_COUNT(__VA_ARGS__) };
#include "eden_enums.def"

/* An enumeration by number: which one a parameter or a probe's argument has. */
enum eden_enum_id {
#define EDEN_ENUM(tag, kind, count, ...) EDEN_ENUM_##tag,
#include "eden_enums.def"
    EDEN_ENUM_none
};
enum { EDEN_ENUM_MOST = 12 };

#endif
