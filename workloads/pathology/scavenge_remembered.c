/* scavenge.remembered: a table of 2 million slots, into which each request stores, in a heap that remembers whole
 * objects.
 *
 * One store of a young object makes the whole table part of the remembered set, and each scavenge scans its 16 MB to
 * find the few young objects in it. Cure: remembered_set=card.
 *
 * The near miss has the same table and stores into it once in a long while. */
#include "all.h"
#include "parts.h"

enum { SLOTS = 2 * 1024 * 1024, USED = 2000, REQUESTS = 30000 };
enum { ROOT_TABLE, ROOTS };

/* Slot i holds the text of the last request that was stored there; -1: none. */
static bool check(struct run *run, eden_value table, const int64_t *stored) {
    for (size_t i = 0; i < USED; i++) {
        eden_value text = eden_slot(table, i * (SLOTS / USED));
        if (stored[i] < 0 ? text != EDEN_NONE : !text_check(run, text, stored[i])) {
            return program_fail(run->program, "slot %zu of the table does not hold what was stored", i);
        }
    }
    return true;
}

static bool serve(struct run *run, int requests_a_store) {
    EDEN_FRAME(run->mutator, roots, ROOTS);
    struct request request = {
        .site = part_site(run, CLASS_TEXT, "Server>>answer:"), .texts = 50, .bytes = 200, .readings = 1};
    eden_class session = part_site(run, CLASS_TEXT, "SessionTable>>at:put:");
    eden_class table = part_site(run, CLASS_ARRAY, "SessionTable class>>new");
    int64_t stored[USED];
    for (size_t i = 0; i < USED; i++) {
        stored[i] = -1;
    }
    if (request.site == 0 || session == 0 || table == 0 || !table_new(run, &roots[ROOT_TABLE], table, SLOTS)) {
        return false;
    }
    for (int i = 0; i < REQUESTS; i++) {
        if (!request_serve(run, &request)) {
            return false;
        }
        if (i % requests_a_store == 0) {
            size_t slot = (size_t)(i / requests_a_store % USED);
            eden_value text = text_new(run, session, 64, i);
            if (text == EDEN_NONE) {
                return false;
            }
            eden_slot_set(run->mutator, roots[ROOT_TABLE], slot * (SLOTS / USED), text);
            stored[slot] = i;
        }
    }
    return check(run, roots[ROOT_TABLE], stored) && program_verify(run->program, run->mutator);
}

static bool serve_storing(struct run *run) { return serve(run, 1); }
static bool serve_reading(struct run *run) { return serve(run, REQUESTS); }

const struct pattern scavenge_remembered = {"scavenge.remembered", "stores into a large table with each request",
                                            "remembered_set=object,tenure_fill=0,tenure_proportion=1", NULL,
                                            serve_storing};
const struct pattern scavenge_remembered_near = {
    "scavenge.remembered-near", "has the same table and hardly stores into it",
    "remembered_set=object,tenure_fill=0,tenure_proportion=1", NULL, serve_reading};
