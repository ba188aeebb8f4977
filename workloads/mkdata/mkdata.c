/* mkdata: writes a CSV data set of six numeric columns, linear in the row with noise, as regression benchmarks use.
 *
 * Values are integers in units of 10^-decimals, so that the file is the same, byte for byte, on every machine; the
 * noise comes from splitmix64 (Steele, Lea and Flood 2014) with a given seed. Four columns have 16 significant digits
 * and two have 17, as printed doubles do: 113 bytes a row. */
#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct line {
    const char *name;
    int decimals;
    int64_t first; /* value at row 0 and at the last row, without the noise */
    int64_t last;
    int64_t noise; /* at most this much is added or taken away */
};

#define E16 1000000000000000 /* one unit of the first of sixteen digits */

static const struct line columns[] = {
    {"feature_a", 10, 1 * E16 + E16 / 2, 8 * E16, E16 / 4},
    {"feature_b", 10, -8 * E16, -2 * E16, E16 / 2},
    {"feature_c", 12, 2 * E16, 8 * E16, E16},
    {"feature_d", 11, -2 * E16, -8 * E16, E16 / 2},
    {"feature_e", 11, 15 * E16, 85 * E16, 4 * E16},
    {"target", 10, -85 * E16, -15 * E16, 4 * E16},
};
enum { COLUMNS = sizeof columns / sizeof columns[0], CELL_MAX = 24, BUFFER = 1 << 20 };

static uint64_t next_random(uint64_t *state) {
    uint64_t z = *state += 0x9e3779b97f4a7c15u;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
}

static char *write_number(char *to, int64_t value, int decimals) {
    char digits[CELL_MAX];
    int count = 0;
    uint64_t rest = value < 0 ? (uint64_t)-value : (uint64_t)value;
    while (rest > 0 || count <= decimals) {
        digits[count++] = (char)('0' + rest % 10);
        rest /= 10;
    }
    if (value < 0) {
        *to++ = '-';
    }
    while (count > 0) {
        if (count == decimals) {
            *to++ = '.';
        }
        *to++ = digits[--count];
    }
    return to;
}

static bool write_rows(FILE *out, int64_t rows, uint64_t seed) {
    for (int i = 0; i < COLUMNS; i++) {
        fprintf(out, "%s%s", columns[i].name, i + 1 < COLUMNS ? "," : "\n");
    }
    for (int64_t row = 0; row < rows; row++) {
        char text[COLUMNS * (CELL_MAX + 2)];
        char *to = text;
        for (int i = 0; i < COLUMNS; i++) {
            const struct line *line = &columns[i];
            int64_t noise = (int64_t)(next_random(&seed) % (uint64_t)(2 * line->noise + 1)) - line->noise;
            int64_t value = line->first + (line->last - line->first) / rows * row + noise;
            to = write_number(to, value, line->decimals);
            *to++ = i + 1 < COLUMNS ? ',' : '\n';
        }
        fwrite(text, 1, (size_t)(to - text), out);
    }
    return fflush(out) == 0 && !ferror(out);
}

static bool parse_count(const char *text, uint64_t max, uint64_t *value) {
    char *end = NULL;
    errno = 0;
    *value = strtoull(text, &end, 10);
    return text[0] >= '0' && text[0] <= '9' && *end == '\0' && errno == 0 && *value <= max;
}

int main(int argc, char **argv) {
    uint64_t rows = 0;
    uint64_t seed = 1;
    bool ok = (argc == 2 || argc == 3) && parse_count(argv[1], 1000000000000, &rows) &&
              (argc == 2 || parse_count(argv[2], UINT64_MAX, &seed));
    if (!ok) {
        fputs("usage: mkdata ROWS [SEED] >FILE.csv\n", stderr);
        return 2;
    }
    setvbuf(stdout, NULL, _IOFBF, BUFFER);
    if (!write_rows(stdout, (int64_t)rows, seed)) {
        fprintf(stderr, "mkdata: can't write: %m\n");
        return 1;
    }
    return 0;
}
