/* A table of option sets in which each value of an option stands beside each value of every other one.
 *
 * Faults of software with options come from one value, or from two together, in most cases (Kuhn, Wallace and Gallo
 * 2004). All combinations are too many; a table of all pairs has as many rows as the two longest columns have pairs,
 * and a few more. It is made greedily, always alike: a row begins with a pair that no row has yet, and each other
 * column takes the value that makes most new pairs with those that the row has. Ties go to another value from row to
 * row. */
#include "fuzz.h"

enum { COLUMNS = 19, VALUES = 9, MOST_ROWS = 128, MOST_OPTIONS = 512 };

/* Parts of EDEN_OPTIONS; an empty one leaves the default. Sizes and limits are one column, for not all go together. */
static const char *const columns[COLUMNS][VALUES] = {
    {"policy=fixed,eden_size=64K", "policy=fixed,eden_size=64K,max_heap=1M", "policy=fixed,eden_size=256K",
     "policy=fixed,eden_size=1M,max_heap=3M", "policy=auto", "policy=auto,max_heap=1M", "policy=auto,max_heap=3M",
     "policy=auto,max_heap=6M", "policy=auto,eden_size=64K,max_heap=2M"},
    {"gc_threads=1", "gc_threads=2", "gc_threads=4"},
    {"pause_goal=0", "pause_goal=1", "pause_goal=10"},
    {"compactor=none", "compactor=planning", "compactor=selective"},
    {"remembered_set=object", "remembered_set=card"},
    {"large_object=512K", "large_object=4096"},
    {"grow_headroom=16M", "grow_headroom=64K"},
    {"shrink_threshold=32M", "shrink_threshold=0", "shrink_threshold=none"},
    {"", "full_gc_ratio=0", "full_gc_ratio=0.1", "full_gc_ratio=inf"},
    {"", "tenure_fill=0", "tenure_fill=0.3"},
    {"", "tenure_proportion=0", "tenure_proportion=1"},
    {"", "tenure_criterion=remembered", "tenure_criterion=class", "tenure_criterion=site", "tenure_criterion=never"},
    {"compat.overflow=oldest", "compat.overflow=scan-order"},
    {"compat.tenured_scan=latest-first", "compat.tenured_scan=set-order"},
    {"compat.growth=needed", "compat.growth=refill"},
    {"pretenure=none", "pretenure=auto", "pretenure=tests/fixtures/pretenure.txt"},
    {"", "compat.threshold_bug=1", "stress=100", "full_gc_min_old=256K"},
};
enum { SAMPLING = COLUMNS - 2, SWEEPING = COLUMNS - 1 };
static const struct {
    const char *sampling;
    bool restless;
} samplings[] = {{NULL, false},     {"0x10011", false}, {"0x10000010", false}, {"0x43311", false},
                 {"0x10031", true}, {"0x100b1", true},  {"0x10131", true},     {"0x50212", true}};

static struct {
    size_t rows;
    unsigned char value[MOST_ROWS][COLUMNS];
    char options[MOST_ROWS][MOST_OPTIONS];
    struct option_set set[MOST_ROWS];
    bool has[COLUMNS][VALUES][COLUMNS][VALUES]; /* a row has these two */
} table;

static size_t values_of(size_t column) {
    size_t count = 0;
    if (column == SAMPLING || column == SWEEPING) {
        return column == SAMPLING ? sizeof samplings / sizeof samplings[0] : 2;
    }
    while (count < VALUES && columns[column][count] != NULL) {
        count++;
    }
    return count;
}

/* The first pair that no row has. */
static bool find_pair(size_t column[2], unsigned char value[2]) {
    for (column[0] = 0; column[0] < COLUMNS; column[0]++) {
        for (column[1] = column[0] + 1; column[1] < COLUMNS; column[1]++) {
            for (value[0] = 0; value[0] < values_of(column[0]); value[0]++) {
                for (value[1] = 0; value[1] < values_of(column[1]); value[1]++) {
                    if (!table.has[column[0]][value[0]][column[1]][value[1]]) {
                        return true;
                    }
                }
            }
        }
    }
    return false;
}

/* How many new pairs a column's value makes with those that the row has. */
static size_t new_pairs(const unsigned char *row, const bool *is_set, size_t column, size_t value) {
    size_t count = 0;
    for (size_t other = 0; other < COLUMNS; other++) {
        count += is_set[other] && !table.has[column][value][other][row[other]];
    }
    return count;
}

static void fill_row(unsigned char *row, bool *is_set) {
    for (size_t column = 0; column < COLUMNS; column++) {
        size_t count = values_of(column), best = 0, most = 0;
        for (size_t i = 0; i < count && !is_set[column]; i++) {
            size_t value = (table.rows + i) % count, pairs = new_pairs(row, is_set, column, value);
            if (i == 0 || pairs > most) {
                best = value;
                most = pairs;
            }
        }
        if (!is_set[column]) {
            row[column] = (unsigned char)best;
            is_set[column] = true;
        }
    }
}

static void write_row(size_t number) {
    const unsigned char *row = table.value[number];
    size_t length = 0;
    for (size_t column = 0; column < SAMPLING; column++) {
        const char *part = columns[column][row[column]];
        if (part[0] != '\0') {
            length += (size_t)snprintf(table.options[number] + length, MOST_OPTIONS - length, "%s%s",
                                       length == 0 ? "" : ",", part);
        }
    }
    table.set[number] = (struct option_set){table.options[number], samplings[row[SAMPLING]].sampling,
                                            samplings[row[SAMPLING]].restless, row[SWEEPING] == 1};
}

static void make_table(void) {
    size_t column[2];
    unsigned char value[2];
    while (find_pair(column, value)) {
        unsigned char *row = table.value[table.rows];
        bool is_set[COLUMNS] = {false};
        for (size_t i = 0; i < 2; i++) {
            row[column[i]] = value[i];
            is_set[column[i]] = true;
        }
        fill_row(row, is_set);
        for (size_t i = 0; i < COLUMNS; i++) {
            for (size_t j = 0; j < COLUMNS; j++) {
                table.has[i][row[i]][j][row[j]] = true;
            }
        }
        write_row(table.rows++);
        if (table.rows == MOST_ROWS) {
            abort(); /* a column grew, and the table has too many rows */
        }
    }
}

size_t pair_rows(void) {
    if (table.rows == 0) {
        make_table();
    }
    return table.rows;
}

const struct option_set *pair_row(size_t number) { return number < pair_rows() ? &table.set[number] : NULL; }

/* How many seeds each value of an option has had. */
static void print_values(uint64_t seeds_a_row) {
    for (size_t column = 0; column < SAMPLING; column++) {
        for (size_t value = 0; value < values_of(column); value++) {
            uint64_t rows = 0;
            for (size_t row = 0; row < table.rows; row++) {
                rows += table.value[row][column] == value;
            }
            const char *name = columns[column][value];
            if (name[0] != '\0') {
                printf("%8llu seeds with %s\n", (unsigned long long)(rows * seeds_a_row), name);
            }
        }
    }
}

bool run_pairs(uint64_t first, uint64_t seeds, size_t events, size_t jobs) {
    const uint64_t a_row = (seeds + pair_rows() - 1) / pair_rows();
    for (size_t row = 0; row < table.rows; row++) {
        use_option_set(pair_row(row));
        if (!run_seeds(first + row * a_row, a_row, events, jobs)) {
            return false;
        }
    }
    print_values(a_row);
    printf("%llu seeds from %llu, %zu rows of %llu: no fault\n", (unsigned long long)(table.rows * a_row),
           (unsigned long long)first, table.rows, (unsigned long long)a_row);
    return true;
}
