/* Numbers for people: fixed, short forms that line up in columns. Each writes to `text` and returns it. */
#ifndef EDEN_FORMAT_H
#define EDEN_FORMAT_H

#include "eden_abi.h"
#include <stdbool.h>

#define FORMAT_MAX 32 /* room that every form fits in, NUL included */

char *format_count(char text[FORMAT_MAX], uint64_t value); /* 1,234,567 */
static inline const char *plural(uint64_t count) { return count == 1 ? "" : "s"; }
char *format_bytes(char text[FORMAT_MAX], uint64_t value); /* 512 B, 1.50 KiB, 16.0 MiB */
char *format_ns(char text[FORMAT_MAX], uint64_t value);    /* 980 ns, 1.23 us, 45.6 ms, 3.21 s */

char *format_change(char text[FORMAT_MAX], double before,
                    double after); /* 41% less, 9.1 times less, 3% more, the same */

enum figure_unit { UNIT_count, UNIT_bytes, UNIT_ns };
enum figure_kind { KIND_sum, KIND_max, KIND_gauge };

struct figure_description {
    const char *name;
    enum figure_kind kind;
    enum figure_unit unit;
    const char *meaning;
};
extern const struct figure_description figure_descriptions[EDEN_FIGURE_COUNT];

char *format_figure(char text[FORMAT_MAX], enum eden_figure figure, uint64_t value); /* by the figure's unit */

#endif
