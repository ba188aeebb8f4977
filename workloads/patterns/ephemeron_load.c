/* ephemeron.load: a table of symbols that keeps none alive, in 60 weak arrays of 64 KB.
 *
 * Each request adds some symbols, so that most arrays refer to something young when a scavenge comes; and of a weak
 * array that does, every slot is looked at, to find out which symbols have died. That takes far more time than all
 * else in the scavenge. Cure: eden_size=64M (fewer scavenges); better, smaller weak arrays.
 *
 * The near miss has the same table and adds as much to it: symbols that are old already. */
#include "all.h"
#include "parts.h"

enum { PAGES = 60, PAGE_SLOTS = 8000, SYMBOLS = 60000, HELD = 500, REQUESTS = 80000, FIRST = REQUESTS / 10 };
enum { ROOT_PAGES, ROOT_SYMBOLS, ROOT_HELD, ROOTS };

struct symbols {
    struct run *run;
    eden_value *roots;
    eden_class lasting, passing; /* sites: symbols of the beginning, and of later */
    int64_t added;
    bool renews; /* adds new symbols; else those that there are, again */
};

/* Symbol i stands at a place that follows from i: a slot of a page. */
struct place {
    size_t page, slot;
};

static struct place place_of(int64_t i) {
    uint64_t place = (uint64_t)i * 0x9E3779B97F4A7C15u >> 20;
    return (struct place){place % PAGES, place / PAGES % PAGE_SLOTS};
}

static void intern(struct symbols *symbols, int64_t i, eden_value symbol) {
    struct place place = place_of(i);
    eden_slot_set(symbols->run->mutator, eden_slot(symbols->roots[ROOT_PAGES], place.page), place.slot, symbol);
}

static bool new_symbol(struct symbols *symbols, eden_class site, int64_t i, size_t root, size_t slot) {
    eden_value symbol = text_new(symbols->run, site, 24, i);
    if (symbol == EDEN_NONE) {
        return false;
    }
    eden_slot_set(symbols->run->mutator, symbols->roots[root], slot, symbol);
    return true;
}

static bool add(struct symbols *symbols) {
    int64_t i = symbols->added++;
    size_t held = (size_t)(i % HELD);
    if (!symbols->renews || i < SYMBOLS) {
        intern(symbols, i % SYMBOLS, eden_slot(symbols->roots[ROOT_SYMBOLS], (size_t)(i % SYMBOLS)));
        return true;
    }
    if (!new_symbol(symbols, symbols->passing, i, ROOT_HELD, held)) {
        return false;
    }
    intern(symbols, i, eden_slot(symbols->roots[ROOT_HELD], held));
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
        if (!new_symbol(symbols, symbols->lasting, i, ROOT_SYMBOLS, (size_t)i)) {
            return false;
        }
    }
    return true;
}

/* A symbol that was added lately and lives still stands in its place, or a later one does, which lives, too. */
static bool check_symbol(struct symbols *symbols, int64_t i, size_t root, size_t slot) {
    struct place place = place_of(i);
    bool there = eden_slot(eden_slot(symbols->roots[ROOT_PAGES], place.page), place.slot) != EDEN_NONE;
    return text_check(symbols->run, eden_slot(symbols->roots[root], slot), i) &&
           (there || program_fail(symbols->run->program, "symbol %lld is no more in its place", (long long)i));
}

static bool check(struct symbols *symbols) {
    for (int64_t i = 0; !symbols->renews && i < SYMBOLS; i++) {
        if (!check_symbol(symbols, i, ROOT_SYMBOLS, (size_t)i)) {
            return false;
        }
    }
    for (int64_t i = symbols->added - HELD; symbols->renews && i < symbols->added; i++) {
        if (!check_symbol(symbols, i, ROOT_HELD, (size_t)(i % HELD))) {
            return false;
        }
    }
    return program_verify(symbols->run->program, symbols->run->mutator);
}

/* Symbols are added from FIRST on, when pages and symbols of the beginning are old: those first. */
static bool serve(struct run *run, bool renews) {
    EDEN_FRAME(run->mutator, roots, ROOTS);
    struct request request = {
        .site = part_site(run, CLASS_TEXT, "Server>>answer:"), .texts = 50, .bytes = 200, .readings = 1};
    struct symbols symbols = {.run = run,
                              .roots = roots,
                              .lasting = part_site(run, CLASS_TEXT, "Symbol class>>initialize"),
                              .passing = part_site(run, CLASS_TEXT, "Symbol class>>intern:"),
                              .renews = renews};
    eden_class page = part_site(run, CLASS_WEAK_ARRAY, "SymbolTable>>addPage");
    eden_class table = part_site(run, CLASS_ARRAY, "SymbolTable class>>new");
    if (request.site == 0 || symbols.lasting == 0 || symbols.passing == 0 || page == 0 || table == 0) {
        return false;
    }
    eden_class stay[] = {symbols.lasting, page, table};
    for (size_t i = 0; i < sizeof stay / sizeof stay[0]; i++) {
        eden_tenure_choose(eden_mutator_heap(run->mutator), stay[i], true);
    }
    if (!make_pages(&symbols, page, table)) {
        return false;
    }
    for (int i = 0; i < REQUESTS; i++) {
        for (int j = 0; i >= FIRST && j < 20; j++) {
            if (!add(&symbols)) {
                return false;
            }
        }
        if (!request_serve(run, &request)) {
            return false;
        }
    }
    return check(&symbols);
}

static bool serve_new(struct run *run) { return serve(run, true); }
static bool serve_old(struct run *run) { return serve(run, false); }

static const char tenures_tables[] = "eden_size=8M,tenure_criterion=site";

const struct pattern ephemeron_load = {"ephemeron.load", "adds new symbols to weak arrays with each request",
                                       tenures_tables, "eden.small", serve_new};
const struct pattern ephemeron_load_near = {"ephemeron.load-near", "adds old symbols to the same weak arrays",
                                            tenures_tables, NULL, serve_old};
