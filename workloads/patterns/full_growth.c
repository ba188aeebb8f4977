/* full.growth: a log is read into memory and all of it stays.
 *
 * Every entry is tenured and none dies. Old space grows, each growth by a tenth starts a full collection, and each
 * marks all that has been read so far to free nothing. Cure: full_gc_ratio=4 (or full_gc_min_old above the log's size).
 *
 * The near miss reads the same log with a ratio of 9. In both, entries are tenured at their first scavenge, so that
 * scavenges cost no more than they must. */
#include "all.h"
#include "parts.h"

enum { ENTRIES = 450000, ENTRY_BYTES = 40, ROOT_LOG = 0, ROOTS };

static bool read_log(struct run *run) {
    EDEN_FRAME(run->mutator, roots, ROOTS);
    struct request parsing = {
        .site = part_site(run, CLASS_TEXT, "LogReader>>nextLine"), .texts = 5, .bytes = 120, .readings = 2};
    struct record_sites sites = record_sites(run, "Log>>add:", "LogReader>>readEntry");
    eden_class table = part_site(run, CLASS_ARRAY, "Log class>>new:");
    if (parsing.site == 0 || sites.record == 0 || sites.text == 0 || table == 0 ||
        !table_new(run, &roots[ROOT_LOG], table, ENTRIES)) {
        return false;
    }
    for (int i = 0; i < ENTRIES; i++) {
        eden_value entry = request_serve(run, &parsing) ? record_new(run, sites, ENTRY_BYTES, i) : EDEN_NONE;
        if (entry == EDEN_NONE) {
            return false;
        }
        eden_slot_set(run->mutator, roots[ROOT_LOG], (size_t)i, entry);
    }
    return index_check(run, roots[ROOT_LOG]) && program_verify(run->program, run->mutator);
}

const struct pattern full_growth = {"full.growth", "reads a log that stays in memory",
                                    "grow_headroom=4M,tenure_criterion=site,full_gc_ratio=0.1",
                                    "heap.grows program.allocates", read_log};
const struct pattern full_growth_near = {"full.growth-near", "the same log, with a ratio that lets old space grow",
                                         "grow_headroom=4M,tenure_criterion=site,full_gc_ratio=9", "program.allocates",
                                         read_log};
