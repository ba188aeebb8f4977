#include "util/format.h"
#include <inttypes.h>
#include <math.h>
#include <stdio.h>

const struct figure_description figure_descriptions[EDEN_FIGURE_COUNT] = {
#define EDEN_FIGURE(name, kind, unit, doc) {#name, KIND_##kind, UNIT_##unit, doc},
#include "eden_figures.def"
#undef EDEN_FIGURE
};

char *format_count(char text[FORMAT_MAX], uint64_t value) {
    char digits[24];
    int length = snprintf(digits, sizeof digits, "%" PRIu64, value);
    char *to = text;
    for (int i = 0; i < length; i++) {
        if (i > 0 && (length - i) % 3 == 0) {
            *to++ = ',';
        }
        *to++ = digits[i];
    }
    *to = 0;
    return text;
}

/* Three digits that count. */
static char *scaled(char text[FORMAT_MAX], double value, const char *unit) {
    snprintf(text, FORMAT_MAX, "%.*f %s", value < 9.995 ? 2 : value < 99.95 ? 1 : 0, value, unit);
    return text;
}

/* In the largest of `count` units, each of `step` times the one before, that keeps it below step: 1023.6 KiB would be
 * shown as 1024. */
static char *in_units(char text[FORMAT_MAX], uint64_t value, double step, const char *const *units, size_t count) {
    double scale = (double)value / step;
    size_t unit = 0;
    while (scale >= step - 0.5 && unit + 1 < count) {
        scale /= step;
        unit++;
    }
    return scaled(text, scale, units[unit]);
}

char *format_bytes(char text[FORMAT_MAX], uint64_t value) {
    static const char *const units[] = {"KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
    if (value < 1024) {
        snprintf(text, FORMAT_MAX, "%" PRIu64 " B", value);
        return text;
    }
    return in_units(text, value, 1024, units, sizeof units / sizeof *units);
}

char *format_ns(char text[FORMAT_MAX], uint64_t value) {
    static const char *const units[] = {"us", "ms", "s"};
    if (value < 1000) {
        snprintf(text, FORMAT_MAX, "%" PRIu64 " ns", value);
        return text;
    }
    return in_units(text, value, 1000, units, sizeof units / sizeof *units);
}

char *format_change(char text[FORMAT_MAX], double before, double after) {
    double percent = before > 0 ? 100 * (after / before - 1) : 0;
    if (after > 0 && before >= 2 * after) {
        snprintf(text, FORMAT_MAX, "%.3g times less", before / after);
    } else if (fabs(percent) < 0.5) {
        snprintf(text, FORMAT_MAX, "the same");
    } else {
        snprintf(text, FORMAT_MAX, "%.0f%% %s", fabs(percent), percent < 0 ? "less" : "more");
    }
    return text;
}

char *format_figure(char text[FORMAT_MAX], enum eden_figure figure, uint64_t value) {
    switch (figure_descriptions[figure].unit) {
    case UNIT_bytes:
        return format_bytes(text, value);
    case UNIT_ns:
        return format_ns(text, value);
    default:
        return format_count(text, value);
    }
}
