/* program.allocates: a parser. Every fifth of its objects stays for long, and is allocated where the others are, which
 * die at once.
 *
 * Each object that stays has to be copied out of eden once and marked now and then, whatever the parameters; they are
 * good already. No site is worth pretenuring: four of five objects of each die young. Cure: none but to allocate less.
 *
 * In the near miss one of 300 stays. */
#include "all.h"
#include "parts.h"

enum { KEPT = 700000, TEXT_BYTES = 40 };
enum { ROOT_RECENT, ROOTS };

struct shape {
    int tokens, one_in; /* one in so many is kept, until KEPT more are */
    struct request request;
};

static bool parse(struct run *run, const struct shape *shape) {
    EDEN_FRAME(run->mutator, roots, ROOTS);
    struct record_sites sites = record_sites(run, "Parser>>nextToken", "Parser>>tokenText");
    struct request request = shape->request;
    request.site = part_site(run, CLASS_TEXT, "Parser>>lookAhead");
    eden_class table = part_site(run, CLASS_ARRAY, "Parser>>recentTokens");
    if (sites.record == 0 || sites.text == 0 || request.site == 0 || table == 0 ||
        !table_new(run, &roots[ROOT_RECENT], table, KEPT)) {
        return false;
    }
    int64_t kept = 0;
    for (int i = 0; i < shape->tokens; i++) {
        bool keep = random_below(&run->random, shape->one_in) == 0;
        eden_value token = record_new(run, sites, TEXT_BYTES, keep ? kept : -1);
        if (token == EDEN_NONE) {
            return false;
        }
        checksum_word(&run->checksum, eden_slot(token, RECORD_NUMBER));
        if (keep) {
            eden_slot_set(run->mutator, roots[ROOT_RECENT], (size_t)(kept++ % KEPT), token);
        }
        if (!request_serve(run, &request)) {
            return false;
        }
    }
    for (int64_t i = kept > KEPT ? kept - KEPT : 0; i < kept; i++) {
        if (!record_check(run, eden_slot(roots[ROOT_RECENT], (size_t)(i % KEPT)), i)) {
            return false;
        }
    }
    return program_verify(run->program, run->mutator);
}

static bool parse_keeping(struct run *run) { return parse(run, &(struct shape){.tokens = 8000000, .one_in = 5}); }
static bool parse_dropping(struct run *run) {
    return parse(
        run, &(struct shape){.tokens = 1500000, .one_in = 300, .request = {.texts = 1, .bytes = 80, .readings = 4}});
}

static const char well_set[] = "eden_size=32M,tenure_criterion=site,full_gc_ratio=3";

const struct pattern program_allocates = {"program.allocates", "allocates what stays and what dies at the same places",
                                          well_set, NULL, parse_keeping};
const struct pattern program_allocates_near = {"program.allocates-near", "allocates the same, and little of it stays",
                                               well_set, NULL, parse_dropping};
