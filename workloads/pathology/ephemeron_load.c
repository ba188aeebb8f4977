/* ephemeron.load: a table of symbols that keeps none alive, in 100 weak arrays of 64 KB.
 *
 * Each request adds some symbols, so that most arrays refer to something young when a scavenge comes; and of a weak
 * array that does, every slot is looked at, to find out which symbols have died. That takes far more time than all
 * else in the scavenge. Cure: eden_size=128M (fewer scavenges); better, weak arrays that are smaller.
 *
 * The near miss has the same table and adds symbols at the beginning only. */
#include "all.h"
#include "parts.h"

enum { PAGES = 100, PAGE_SLOTS = 8000, SYMBOLS = 100000, HELD = 500, REQUESTS = 40000 };
enum { ROOT_PAGES, ROOT_SYMBOLS, ROOT_HELD, ROOTS };

struct symbols {
    struct run *run;
    eden_value *roots;
    eden_class symbol;
};

/* Symbol i stands at a place that follows from i; a table of those in use keeps it alive. */
static bool intern(struct symbols *symbols, int64_t i, size_t root, size_t slot) {
    struct run *run = symbols->run;
    eden_value symbol = text_new(run, symbols->symbol, 24, i);
    if (symbol == EDEN_NONE) {
        return false;
    }
    uint64_t place = (uint64_t)i * 0x9E3779B97F4A7C15u >> 20;
    eden_slot_set(run->mutator, eden_slot(symbols->roots[ROOT_PAGES], place % PAGES), place / PAGES % PAGE_SLOTS,
                  symbol);
    eden_slot_set(run->mutator, symbols->roots[root], slot, symbol);
    return true;
}

static bool make_pages(struct symbols *symbols, eden_class page, eden_class table) {
    struct run *run = symbols->run;
    if (!table_new(run, &symbols->roots[ROOT_PAGES], table, PAGES) ||
        !table_new(run, &symbols->roots[ROOT_SYMBOLS], table, SYMBOLS) ||
        !table_new(run, &symbols->roots[ROOT_HELD], table, HELD)) {
        return false;
    }
    for (size_t i = 0; i < PAGES; i++) {
        eden_value value = eden_new_slots(run->mutator, page, PAGE_SLOTS);
        if (value == EDEN_NONE) {
            return program_exhausted(run->program, run->mutator);
        }
        eden_slot_set(run->mutator, symbols->roots[ROOT_PAGES], i, value);
    }
    for (int64_t i = 0; i < SYMBOLS; i++) {
        if (!intern(symbols, i, ROOT_SYMBOLS, (size_t)i)) {
            return false;
        }
    }
    return true;
}

static bool check(struct symbols *symbols) {
    for (int64_t i = 0; i < SYMBOLS; i++) {
        if (!text_check(symbols->run, eden_slot(symbols->roots[ROOT_SYMBOLS], (size_t)i), i)) {
            return false;
        }
    }
    return program_verify(symbols->run->program, symbols->run->mutator);
}

static bool serve(struct run *run, int added) {
    EDEN_FRAME(run->mutator, roots, ROOTS);
    struct request request = {
        .site = part_site(run, CLASS_TEXT, "Server>>answer:"), .texts = 50, .bytes = 200, .readings = 0};
    struct symbols symbols = {
        .run = run, .roots = roots, .symbol = part_site(run, CLASS_TEXT, "Symbol class>>intern:")};
    eden_class page = part_site(run, CLASS_WEAK_ARRAY, "SymbolTable>>addPage");
    eden_class table = part_site(run, CLASS_ARRAY, "SymbolTable class>>new");
    if (request.site == 0 || symbols.symbol == 0 || page == 0 || table == 0 || !make_pages(&symbols, page, table)) {
        return false;
    }
    for (int i = 0; i < REQUESTS; i++) {
        for (int j = 0; j < added; j++) {
            int64_t number = SYMBOLS + (int64_t)i * added + j;
            if (!intern(&symbols, number, ROOT_HELD, (size_t)number % HELD)) {
                return false;
            }
        }
        if (!request_serve(run, &request)) {
            return false;
        }
    }
    return check(&symbols);
}

static bool serve_adding(struct run *run) { return serve(run, 2); }
static bool serve_finding(struct run *run) { return serve(run, 0); }

const struct pattern ephemeron_load = {"ephemeron.load", "adds symbols to weak arrays with each request",
                                       "tenure_fill=0,tenure_proportion=1", NULL, serve_adding};
const struct pattern ephemeron_load_near = {"ephemeron.load-near", "has the same weak arrays and adds nothing",
                                            "tenure_fill=0,tenure_proportion=1", NULL, serve_finding};
