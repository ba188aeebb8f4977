/* mkdata: writes a CSV data set of numeric and of text columns, the same for the same arguments.
 *
 * Numbers are linear in the row with noise, as regression benchmarks use them: integers in units of 10^-decimals, so
 * that the file is the same, byte for byte, on every machine. Of each six columns four have 16 significant digits and
 * two have 17, as printed doubles do: 113 bytes a row. Texts are cut from a text of random words, commas and quotes
 * among them, at random places. The random numbers come from splitmix64 (Steele, Lea and Flood 2014). */
#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char usage[] =
    "usage: mkdata --rows N [--columns N] [--text N] [--text-bytes N] [--empty N] [--seed N] >FILE.csv\n"
    "\n"
    "Writes a CSV file (RFC 4180) with a header.\n"
    "\n"
    "  --rows N        rows after the header\n"
    "  --columns N     columns in all (6)\n"
    "  --text N        how many of them are texts, the second column first (0)\n"
    "  --text-bytes N  mean length of a text, from half to one and a half of which lengths vary (200)\n"
    "  --empty N       of a hundred texts, so many are empty (0)\n"
    "  --seed N        of the random numbers (1)\n";

struct line {
    const char *name;
    int decimals;
    int64_t first; /* value at row 0 and at the last row, without the noise */
    int64_t last;
    int64_t noise; /* at most this much is added or taken away */
};

#define E16 1000000000000000 /* one unit of the first of sixteen digits */

static const struct line lines[] = {
    {"feature_a", 10, 1 * E16 + E16 / 2, 8 * E16, E16 / 4},
    {"feature_b", 10, -8 * E16, -2 * E16, E16 / 2},
    {"feature_c", 12, 2 * E16, 8 * E16, E16},
    {"feature_d", 11, -2 * E16, -8 * E16, E16 / 2},
    {"feature_e", 11, 15 * E16, 85 * E16, 4 * E16},
    {"target", 10, -85 * E16, -15 * E16, 4 * E16},
};
enum { LINES = sizeof lines / sizeof lines[0], CELL_MAX = 24, BUFFER = 1 << 20, WORDS = 1 << 16 };

struct data {
    uint64_t rows, columns, text, text_bytes, empty, seed;
    char *words; /* WORDS bytes, and as many as the longest text has */
};

static uint64_t next_random(uint64_t *state) {
    uint64_t z = *state += 0x9e3779b97f4a7c15u;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
}

static uint64_t random_below(uint64_t *state, uint64_t n) { return next_random(state) % n; }

/* These write at `to` and return where they end. */

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

static char *write_text(char *to, const struct data *data, uint64_t *state) {
    uint64_t random = next_random(state);
    if (random % 100 < data->empty) {
        return to;
    }
    size_t length = data->text_bytes / 2 + (size_t)(random >> 8) % (data->text_bytes + 1);
    const char *text = data->words + (random >> 40) % WORDS;
    *to++ = '"';
    for (size_t i = 0; i < length; i++) {
        *to++ = text[i];
        if (text[i] == '"') {
            *to++ = '"';
        }
    }
    *to++ = '"';
    return to;
}

/* The words that texts are cut from. False: no memory. */
static bool make_words(struct data *data) {
    size_t size = WORDS + data->text_bytes * 3 / 2;
    data->words = malloc(size);
    uint64_t state = data->seed;
    for (size_t i = 0; data->words != NULL && i < size; i++) {
        uint64_t random = random_below(&state, 160);
        data->words[i] = random == 0 ? '"' : random == 1 ? ',' : random < 26 ? ' ' : (char)('a' + random % 26);
    }
    return data->words != NULL;
}

static bool is_text(const struct data *data, uint64_t column) { return column >= 1 && column <= data->text; }

/* Which number a column has: those before it that are none do not count. */
static uint64_t number_of(const struct data *data, uint64_t column) { return column == 0 ? 0 : column - data->text; }

static void write_header(FILE *out, const struct data *data) {
    for (uint64_t i = 0; i < data->columns; i++) {
        const char *comma = i == 0 ? "" : ",";
        uint64_t number = number_of(data, i);
        if (is_text(data, i)) {
            fprintf(out, "%stext_%" PRIu64, comma, i);
        } else if (number < LINES) {
            fprintf(out, "%s%s", comma, lines[number].name);
        } else {
            fprintf(out, "%s%s_%" PRIu64, comma, lines[number % LINES].name, number / LINES + 1);
        }
    }
    fputc('\n', out);
}

/* False: memory is refused, or the output. */
static bool write_rows(FILE *out, const struct data *data) {
    char *text = malloc(data->columns * (CELL_MAX + 3 * data->text_bytes + 4));
    uint64_t state = data->seed;
    int64_t rows = (int64_t)data->rows;
    for (int64_t row = 0; text != NULL && row < rows && !ferror(out); row++) {
        char *to = text;
        for (uint64_t i = 0; i < data->columns; i++) {
            if (is_text(data, i)) {
                to = write_text(to, data, &state);
            } else {
                const struct line *line = &lines[number_of(data, i) % LINES];
                int64_t noise = (int64_t)random_below(&state, (uint64_t)(2 * line->noise + 1)) - line->noise;
                to = write_number(to, line->first + (line->last - line->first) / rows * row + noise, line->decimals);
            }
            *to++ = i + 1 < data->columns ? ',' : '\n';
        }
        fwrite(text, 1, (size_t)(to - text), out);
    }
    bool ok = text != NULL && fflush(out) == 0 && !ferror(out);
    free(text);
    return ok;
}

static bool parse_count(const char *text, uint64_t least, uint64_t most, uint64_t *value) {
    char *end = NULL;
    errno = 0;
    *value = strtoull(text, &end, 10);
    return text[0] >= '0' && text[0] <= '9' && *end == '\0' && errno == 0 && *value >= least && *value <= most;
}

/* False after a message. */
static bool read_arguments(int argc, char **argv, struct data *data) {
    struct {
        struct option option;
        uint64_t least, most, *value;
    } numbers[] = {
        {{"rows", required_argument, NULL, 0}, 0, 1000000000000, &data->rows},
        {{"columns", required_argument, NULL, 1}, 1, 10000, &data->columns},
        {{"text", required_argument, NULL, 2}, 0, 9999, &data->text},
        {{"text-bytes", required_argument, NULL, 3}, 1, 1000000, &data->text_bytes},
        {{"empty", required_argument, NULL, 4}, 0, 100, &data->empty},
        {{"seed", required_argument, NULL, 5}, 0, UINT64_MAX, &data->seed},
    };
    enum { NUMBERS = sizeof numbers / sizeof numbers[0] };
    struct option options[NUMBERS + 1] = {{0}};
    for (int i = 0; i < NUMBERS; i++) {
        options[i] = numbers[i].option;
    }
    data->rows = UINT64_MAX;
    int option;
    /* One thread. NOLINTNEXTLINE(concurrency-mt-unsafe) */
    while ((option = getopt_long(argc, argv, "", options, NULL)) != -1) {
        if (option < 0 || option >= NUMBERS ||
            !parse_count(optarg, numbers[option].least, numbers[option].most, numbers[option].value)) {
            fputs(usage, stderr);
            return false;
        }
    }
    if (optind != argc || data->rows == UINT64_MAX || data->text >= data->columns) {
        fputs(usage, stderr);
        return false;
    }
    return true;
}

int main(int argc, char **argv) {
    struct data data = {.columns = LINES, .text_bytes = 200, .seed = 1};
    if (!read_arguments(argc, argv, &data)) {
        return 2;
    }
    setvbuf(stdout, NULL, _IOFBF, BUFFER);
    write_header(stdout, &data);
    if (!make_words(&data) || !write_rows(stdout, &data)) {
        fprintf(stderr, "mkdata: the data can't be written: %m\n");
        free(data.words);
        return 1;
    }
    free(data.words);
    return 0;
}
